"""What the last rebase found that a person can decide: kept for `decide`, never committed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.model.decision import Passage
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.plumbing.durable import is_read_only, replace_file, unwritable
from patchmgr.plumbing.plain_files import read_json
from patchmgr.store import PRIVATE, Workspace

_FILE = f"{PRIVATE}/findings.json"


class Found(Struct, frozen=True):
    """A patch that a rebase left in conflict, or to a decision: onto which commit, and why.

    `commit` is the upstream commit that seems to have the patch, or that it collides with.
    """

    series: str
    patch: str
    onto: str
    change: str
    passages: tuple[Passage, ...]
    commit: str | None
    subject: str


def keep_findings(workspace: Workspace, outcomes: Sequence[SeriesOutcome]) -> None:
    """Remember what a rebase found in place of what an older one of the same series did."""
    again = {outcome.name for outcome in outcomes}
    found = [item for item in read_findings(workspace) if item.series not in again]
    found += [item for outcome in outcomes for item in _found(outcome)]
    path = workspace.root / _FILE
    if not found and not path.exists():
        return
    try:
        replace_file(path, json.dumps([_value(item) for item in found], indent=1).encode())
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
        change, passages = patch.finding.change, patch.finding.passages
        item = Found(
            outcome.name, patch.name, outcome.onto.commit, change, passages, commit, subject
        )
        found.append(item)
    return found


def _value(item: Found) -> dict[str, Any]:
    passages = [[p.path, p.lines, p.digest, p.times] for p in item.passages]
    return {
        "series": item.series,
        "patch": item.patch,
        "onto": item.onto,
        "change": item.change,
        "passages": passages,
        "commit": item.commit,
        "subject": item.subject,
    }


def read_findings(workspace: Workspace) -> tuple[Found, ...]:
    """Return what is remembered; what cannot be read is as good as nothing."""
    try:
        document = read_json(workspace.root, _FILE)
        return tuple(_item(value) for value in document)
    except (PatchmgrError, OSError, ValueError, KeyError, TypeError):
        return ()


def _item(value: dict[str, Any]) -> Found:
    passages = tuple(
        Passage(str(path), int(lines), str(digest), int(times))
        for path, lines, digest, times in value["passages"]
    )
    commit = None if value["commit"] is None else str(value["commit"])
    words = (str(value[key]) for key in ("series", "patch", "onto", "change"))
    series, patch, onto, change = words
    return Found(series, patch, onto, change, passages, commit, str(value["subject"]))
