"""One file a verb: wires ports, calls an engine, returns a value.

The command line gets a module when it first asks for it: `--help` needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchmgr.commands import (  # noqa: F401, I001
        apply, arranging, audit, branch, check, conflicts, decide, diff, doctor,
        export, heading, help, history, import_patches, init_from_branch, installed, installs,
        listing, merge_driver, merge_file, mergetool, notes, overlay, pushing, rebase,
        rebase_table, refreshing, report, series_guard, status, status_of, wheel, why, workspaces,
    )  # fmt: skip
else:

    def __getattr__(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")
