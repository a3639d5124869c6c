"""Save the results of rebases, hunk by hunk, for `notes`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from patchmgr.model.documents import SolutionDocument, SyncDocument
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.model.recorded_conflict import Recorded, ReplayedResolution
from patchmgr.render.machine import series_document
from patchmgr.workspace import PRIVATE, Workspace

FOLDER = f"{PRIVATE}/syncs"
MOST = 12


def keep_syncs(
    workspace: Workspace,
    outcomes: Sequence[SeriesOutcome],
    *,
    is_dry_run: bool,
    old_heads: Mapping[str, str | None],
    known: Sequence[Recorded | ReplayedResolution],
) -> list[SyncDocument]:
    """Save and return the results of a rebase, one for each series.

    Earlier results between the same states are replaced. `old_heads` maps each series to its
    previous head, and `known` has the conflicts that have a resolution.
    """
    found: list[SyncDocument] = []
    for outcome in outcomes:
        old_head = old_heads.get(outcome.name)
        sync = sync_document(outcome, is_dry_run=is_dry_run, old_head=old_head, known=known)
        saved = read_syncs(workspace, outcome.name)
        rest = [one for one in saved if one.outcome.ends != sync.outcome.ends]
        found.append(sync)
        # the results can be computed again
        with suppress(OSError):
            workspace.keep(f"{FOLDER}/{outcome.name}.json", (sync, *rest[: MOST - 1]))
    return found


def sync_document(
    outcome: SeriesOutcome,
    *,
    is_dry_run: bool,
    old_head: str | None,
    known: Sequence[Recorded | ReplayedResolution],
) -> SyncDocument:
    """Return the results of a rebase in the form that `keep_syncs` saves."""
    solutions = dict(map(_solution, known))
    return SyncDocument(is_dry_run, old_head, series_document(outcome), solutions)


def _solution(one: Recorded | ReplayedResolution) -> tuple[str, SolutionDocument]:
    recorded = one.recorded if isinstance(one, ReplayedResolution) else one
    where = recorded.seen or recorded.path
    return recorded.id, SolutionDocument(recorded.path, where, solved_as(recorded))


def read_syncs(workspace: Workspace, series: str) -> list[SyncDocument]:
    """Return the saved rebases of a series, newest first; none if the file cannot be read."""
    return workspace.kept(f"{FOLDER}/{series}.json", list[SyncDocument]) or []


OPEN = "not resolved yet"
DELETED = "the file was deleted"
UPSTREAM = "upstream's text was taken"
PATCH = "the patch's text was taken"
BASE = "the old text was restored"
BOTH = "both changes were kept"
UNION = "the lines of both sides were kept"
ANEW = "new text was written"


def solved_as(recorded: Recorded) -> str:
    """Return a phrase that describes how a conflict was resolved."""
    resolution = recorded.resolution
    if resolution is None:
        return OPEN
    if resolution.content is None:
        return DELETED
    found = resolution.content
    for side, words in ((recorded.ours, UPSTREAM), (recorded.theirs, PATCH), (recorded.base, BASE)):
        if side is not None and side == found:
            return words
    if recorded.ours is None or recorded.theirs is None:
        return ANEW
    base, ours, theirs, now = (
        Counter(line for line in map(bytes.strip, text.splitlines()) if line)
        for text in (recorded.base or b"", recorded.ours, recorded.theirs, found)
    )
    new = (ours - base) + (theirs - base)
    if not new - now and new:
        is_union = now == ours | theirs
        return UNION if is_union and not base else BOTH
    return ANEW
