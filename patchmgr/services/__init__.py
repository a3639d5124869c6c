"""Code that several commands share; each module is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchmgr.services import (  # noqa: F401, I001 - names for the type checker
        bill_of_materials, carry, checkouts, completion_names, decisions, installed, learning, load,
        open_series, packages, session, work_area, work_orders,
    )  # fmt: skip
else:

    def __getattr__(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")
