"""Render results as text and as JSON data; each module is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchmgr.render import (  # noqa: F401, I001 - names for the type checker
        applied, authoring, checks, conflicts, cyclonedx, escape, inspecting, listings, machine,
        manual, notes, plans, rebase, recorded_conflicts, report_html,
        report_markdown, report_terminal, reports, resolving, sync, view, work_order,
    )  # fmt: skip
else:

    def __getattr__(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")
