"""Which upstream commit explains a hunk: the one that absorbed it, or that broke it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from patchmgr.engines.ladder import ABSORBED_EXACT, Answer, judge_hunk
from patchmgr.engines.placement import Applied, apply_hunks
from patchmgr.engines.rebase import FileResult, Judged
from patchmgr.model.outcome import HunkOutcome, Sighting, Verdict
from patchmgr.model.ports import Blobs, History, Step, TextMerge
from patchmgr.model.snapshot import FILE_MODES, Entry

_PULL = re.compile(r"\(#(\d+)\)\s*$")

Versions = Sequence[tuple["Step | None", "Entry | None"]]


def pull_number(subject: str) -> int | None:
    """Return N of a subject that ends in `(#N)`."""
    match = _PULL.search(subject)
    return int(match[1]) if match else None


def explained_paths(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Return the paths whose upstream history is needed to explain all verdicts."""
    wanted: dict[str, None] = {}
    for patch in judged:
        for result in patch.files:
            if any(answer[0] is not Verdict.UNCHANGED for answer in result.answers):
                wanted.update(dict.fromkeys(_names(result)))
    return tuple(wanted)


def _names(result: FileResult) -> tuple[str, ...]:
    change = result.step.change
    return tuple(p for p in (change.old_path, change.new_path, result.home) if p is not None)


def explain(
    judged: Sequence[Judged],
    history: History,
    start: Mapping[str, Entry | None],
    *,
    blobs: Blobs,
    text: TextMerge,
) -> tuple[Judged, ...]:
    """Add evidence and cause to every patch that did not come through unchanged.

    `start` holds the explained paths as they are in the base tree.
    """
    paths = explained_paths(judged)
    if not paths:
        return tuple(judged)
    steps = history.steps(paths)
    return tuple(_explain_patch(patch, steps, start, blobs, text) for patch in judged)


def _explain_patch(
    patch: Judged,
    steps: Sequence[Step],
    start: Mapping[str, Entry | None],
    blobs: Blobs,
    text: TextMerge,
) -> Judged:
    evidence: list[Sighting] = []
    cause: list[Sighting] = []
    hunks = list(patch.outcome.hunks)
    at = 0
    for result in patch.files:
        versions = _versions(result, steps, start)
        for index, answer in enumerate(result.answers):
            step = _turning_point(versions, _holds(result, index, answer, blobs, text))
            if step is not None and patch.outcome.hunks:
                found = _sighting(step, answer, hunks[at])
                (evidence if answer[0] is Verdict.ABSORBED else cause).append(found)
                if answer[0] is Verdict.ABSORBED:
                    hunks[at] = replace(hunks[at], evidence=step.commit)
            at += 1
    outcome = replace(
        patch.outcome,
        hunks=tuple(hunks),
        evidence=_joined(evidence),
        cause=_joined(cause),
    )
    return replace(patch, outcome=outcome)


def _versions(
    result: FileResult, steps: Sequence[Step], start: Mapping[str, Entry | None]
) -> Versions:
    """Return the file after each step that touches it, the base first, following its move."""
    old, home = result.step.change.old_path or result.step.change.path, result.home
    current = start.get(old)
    versions: list[tuple[Step | None, Entry | None]] = [(None, current)]
    for step in steps:
        if home in step.changes or old in step.changes:
            current = step.changes.get(home) or step.changes.get(old)
            versions.append((step, current))
    return versions


Claim = Callable[["Entry | None"], bool]


def _holds(
    result: FileResult, index: int, answer: Answer, blobs: Blobs, text: TextMerge
) -> Claim | None:
    """Return the claim about an upstream version that turned true with the commit in question."""
    base = result.step.base
    if answer[0] is Verdict.UNCHANGED:
        return None
    if answer[0] is Verdict.ABSORBED and (base is None or result.step.theirs is None):
        theirs = result.step.theirs
        return lambda version: version == theirs
    hunks = result.step.change.hunks
    if base is None or not hunks or base.mode not in FILE_MODES:
        return lambda version: version != base
    content, hunk, position = blobs.read(base.blob), hunks[index], result.step.positions[index]

    def is_absorbed(version: Entry | None) -> bool:
        if version is None or version.mode not in FILE_MODES:
            return False
        found = judge_hunk(content, blobs.read(version.blob), hunk, position, text)
        return found == ABSORBED_EXACT

    def is_disturbed(version: Entry | None) -> bool:
        if version is None or version.mode not in FILE_MODES:
            return True
        return not isinstance(apply_hunks(blobs.read(version.blob), (hunk,)), Applied)

    return is_absorbed if answer[0] is Verdict.ABSORBED else is_disturbed


def _turning_point(versions: Versions, claim: Claim | None) -> Step | None:
    """Return the step after which the claim holds up to the last version, None where none."""
    found: Step | None = None
    if claim is None:
        return None
    for step, version in reversed(versions):
        if not claim(version):
            return found
        found = step
    return found


def _sighting(step: Step, answer: Answer, hunk: HunkOutcome) -> Sighting:
    how = answer[1] if answer[0] is Verdict.ABSORBED else None
    pull = pull_number(step.subject)
    return Sighting(step.commit, step.subject, pull, how, (hunk.new_path,), step.author)


def _joined(sightings: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """Return one sighting a commit and how, with the paths of all."""
    joined: dict[tuple[str, object], Sighting] = {}
    for sighting in sightings:
        key = (sighting.commit, sighting.how)
        before = joined.get(key)
        paths = sighting.paths if before is None else before.paths + sighting.paths
        joined[key] = replace(sighting, paths=tuple(dict.fromkeys(paths)))
    return tuple(joined.values())
