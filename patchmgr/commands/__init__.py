"""The commands, one module for each; a module is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchmgr.commands import (  # noqa: F401, I001 - names for the type checker
        applied, apply, audit, branch, check, conflicts, decide,
        diff, doctor, drop, edit, export, fold, forecast, help, import_patches, init,
        merge_driver, merge_file, mergetool, move, new, notes, overlay, plan, propose, push,
        rebase, refresh, report, resolve, resolver, series, sharing, show, split, status,
        sync, undo, upstream, upstreaming, wheel, why,
    )  # fmt: skip
else:

    def __getattr__(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")
