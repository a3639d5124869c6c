"""The checks of an audit, in the order in which their findings are told."""

from __future__ import annotations

from patchmgr.engines.audit.states import Check

CHECKS: tuple[Check, ...] = ()
