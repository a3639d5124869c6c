"""The results of rebases, hunk by hunk, which the workspace saves for `notes`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from patchmgr.model.outcome import SeriesOutcome
from patchmgr.model.recorded import Recalled, Recorded
from patchmgr.render.machine import series_value
from patchmgr.store import PRIVATE, Workspace

FOLDER = f"{PRIVATE}/syncs"
MOST = 12
FORMAT = 1


def keep_syncs(
    workspace: Workspace,
    outcomes: Sequence[SeriesOutcome],
    *,
    is_dry_run: bool,
    old_heads: Mapping[str, str | None],
    known: Sequence[Recorded | Recalled],
) -> list[dict[str, Any]]:
    """Save the results of a rebase, replacing those of a rebase between the same states.

    `old_heads` maps each series to its previous head, and `known` lists the conflicts with a
    resolution. A failed write is ignored, because the results can be computed again. Returns the
    results of each series in the form of `read_syncs`.
    """
    found: list[dict[str, Any]] = []
    for outcome in outcomes:
        old_head = old_heads.get(outcome.name)
        ends = outcome.base.commit, outcome.onto.commit
        rest = [row for row in read_syncs(workspace, outcome.name) if ends_of(row) != ends]
        found.append(sync_facts(outcome, is_dry_run=is_dry_run, old_head=old_head, known=known))
        with suppress(OSError):
            workspace.keep(f"{FOLDER}/{outcome.name}.json", (found[-1], *rest[: MOST - 1]))
    return found


def sync_facts(
    outcome: SeriesOutcome,
    *,
    is_dry_run: bool,
    old_head: str | None,
    known: Sequence[Recorded | Recalled],
) -> dict[str, Any]:
    """Return the results of a rebase as the JSON value that `keep_syncs` saves."""
    value = {
        "format": FORMAT,
        "dry_run": is_dry_run,
        "old_head": old_head,
        "outcome": series_value(outcome),
        "solutions": dict(_solution(one) for one in known),
    }
    facts: dict[str, Any] = json.loads(json.dumps(value, default=str))
    return facts


def _solution(one: Recorded | Recalled) -> tuple[str, dict[str, str]]:
    recorded = one.recorded if isinstance(one, Recalled) else one
    where = recorded.seen or recorded.path
    return recorded.id, {"path": recorded.path, "seen": where, "solution": solved_as(recorded)}


def ends_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the commit ids of the start and the target of a saved rebase."""
    outcome = row["outcome"]
    return str(outcome["base"]["commit"]), str(outcome["onto"]["commit"])


def read_syncs(workspace: Workspace, series: str) -> list[dict[str, Any]]:
    """Return the saved rebases of a series, newest first, or none if the file is unreadable."""
    try:
        rows = workspace.kept(f"{FOLDER}/{series}.json", list[dict[str, Any]]) or []
        kept = [row for row in rows if row["format"] == FORMAT]
        for row in kept:
            ends_of(row)
            assert isinstance(row["outcome"]["patches"], list)
    except (KeyError, TypeError, AssertionError):
        return []
    return kept


OPEN = "not solved yet"
DELETED = "the file was deleted"
UPSTREAM = "upstream's text was taken"
PATCH = "the patch's text was taken"
BASE = "the old text was put back"
BOTH = "both changes were kept"
UNION = "both sides' lines were united"
ANEW = "new text was written"


def solved_as(recorded: Recorded) -> str:
    """Return a phrase that describes how a conflict was resolved."""
    resolution = recorded.resolution
    if resolution is None:
        return OPEN
    if resolution.content is None:
        return DELETED
    found = resolution.content
    for side, words in (
        (recorded.ours, UPSTREAM),
        (recorded.theirs, PATCH),
        (recorded.base, BASE),
    ):
        if side is not None and side == found:
            return words
    if recorded.ours is None or recorded.theirs is None:
        return ANEW
    base, ours, theirs, now = (
        _lines(text) for text in (recorded.base or b"", recorded.ours, recorded.theirs, found)
    )
    new = (ours - base) + (theirs - base)
    if not new - now and new:
        is_union = now == ours | theirs
        return UNION if is_union and not base else BOTH
    return ANEW


def _lines(text: bytes) -> Counter[bytes]:
    return Counter(line for line in map(bytes.strip, text.splitlines()) if line)
