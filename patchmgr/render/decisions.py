"""Decisions as text and as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patchmgr.model.decision import Decision
from patchmgr.render.clean import clean
from patchmgr.render.machine import fields


def decisions_text(decisions: Sequence[Decision]) -> str:
    """Return a line a decision."""
    lines = [_line(decision) for decision in decisions]
    return "".join(f"{line}\n" for line in lines) or "Nothing is decided.\n"


def decided_text(
    added: Sequence[Decision], removed: Sequence[Decision], *, is_dry_run: bool
) -> str:
    """Return what was decided, and what was forgotten for it."""
    would = "Would keep" if is_dry_run else "Kept"
    lines = [f"{would}: {_line(decision)}" for decision in added]
    would = "Would forget" if is_dry_run else "Forgot"
    lines += [f"{would}: {_line(decision)}" for decision in removed]
    return "".join(f"{line}\n" for line in lines)


def _line(decision: Decision) -> str:
    told = [f"{clean(decision.series)}/{clean(decision.patch)}  {decision.ruling.value}"]
    if decision.by:
        told.append(f"by {clean(decision.by)}")
    if decision.commit is not None:
        told.append(f"in {decision.commit[:12]} {clean(decision.subject)}".rstrip())
    return "  ".join(told)


def decided_value(added: Sequence[Decision], removed: Sequence[Decision]) -> dict[str, Any]:
    """Return decisions that are in force now, and those that are not any more, in plain values."""
    return {"decisions": [*map(_value, added)], "forgotten": [*map(_value, removed)]}


def _value(decision: Decision) -> dict[str, Any]:
    return fields(
        decision,
        "series",
        "patch",
        "commit",
        "pull",
        verdict=decision.ruling,
        by=decision.by or None,
        subject=decision.subject or None,
        paths=sorted({passage.path for passage in decision.passages}),
    )
