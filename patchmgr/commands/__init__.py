"""One file a verb: wires ports, calls an engine, returns a value.

The command line gets a module when it first asks for it: `--help` needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchmgr.commands import (  # noqa: F401, I001
        apply, arranging, audit, branch, candidates, carrying, check, conflicts, decide, desk, diff,
        doctor, exports, findings, from_branch, guarding, heading, history, imports, installed,
        installs, learn, listing, manual, merge_driver, merge_file, mergetool, notes, overlay,
        patched_wheel, places, pushing, rebase, rebase_table, recognise, refreshing, report,
        session, settings, status, targets, why, work_area, workspaces,
    )  # fmt: skip
else:

    def __getattr__(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")
