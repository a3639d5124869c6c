"""What the last rebase found that a person can decide: kept for `decide`, never committed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import astuple

from patchmgr.model.decision import Passage
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.plumbing.durable import is_read_only, unwritable
from patchmgr.store import PRIVATE, Workspace

_FILE = f"{PRIVATE}/findings.json"


class Found(Struct, frozen=True, rename={"rows": "passages"}):
    """A patch that a rebase left in conflict, or to a decision: onto which commit, and why.

    `rows` are the passages in plain values. `commit` is the upstream commit that seems to have the
    patch, or that it collides with.
    """

    series: str
    patch: str
    onto: str
    change: str
    rows: tuple[tuple[str, int, str, int], ...]
    commit: str | None
    subject: str

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return upstream's text that it is about."""
        return tuple(Passage(*row) for row in self.rows)


def keep_findings(workspace: Workspace, outcomes: Sequence[SeriesOutcome]) -> None:
    """Remember what a rebase found in place of what an older one of the same series did."""
    again = {outcome.name for outcome in outcomes}
    found = [item for item in read_findings(workspace) if item.series not in again]
    found += [item for outcome in outcomes for item in _found(outcome)]
    if not found and not (workspace.root / _FILE).exists():
        return
    try:
        workspace.keep(_FILE, found)
    except OSError as fault:
        if not is_read_only(workspace.root, fault):  # where a dry run tells, and remembers nothing
            raise unwritable(_FILE, fault) from fault


def _found(outcome: SeriesOutcome) -> list[Found]:
    found: list[Found] = []
    for patch in outcome.patches:
        if patch.finding is None:
            continue
        known = [(likely.commit, likely.subject) for likely in patch.likely]
        sightings = (*patch.evidence, *patch.cause)
        known += [(sighting.commit, sighting.subject) for sighting in sightings]
        commit, subject = known[0] if known else (None, "")
        change, rows = patch.finding.change, tuple(map(astuple, patch.finding.passages))
        item = Found(outcome.name, patch.name, outcome.onto.commit, change, rows, commit, subject)
        found.append(item)
    return found


def read_findings(workspace: Workspace) -> tuple[Found, ...]:
    """Return what is remembered; what cannot be read is as good as nothing."""
    return workspace.kept(_FILE, tuple[Found, ...]) or ()
