"""Which upstream commit explains a hunk: the one that absorbed it, or that broke it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.absorption.likeness import Comparison, find_likeness
from patchmgr.engines.absorption.proposal import Proposal
from patchmgr.engines.cause.search import (
    Claim,
    Claims,
    Probe,
    Version,
    each,
    is_disturbed,
    text_of,
    turning_point,
    versions_of,
    with_below,
)
from patchmgr.engines.rebase.ladder import ABSORBED_EXACT, ABSORBED_REWORDED, CONFLICT, Answer
from patchmgr.engines.rebase.rebase import FileResult, Judged
from patchmgr.engines.series.placement import apply_one, split_lines
from patchmgr.model.decision import Decision, Ruling
from patchmgr.model.outcome import (
    FileConflict,
    How,
    Likely,
    Resemblance,
    Sighting,
    Verdict,
    Wording,
)
from patchmgr.model.ports import Blobs, History, Step, TextMerge
from patchmgr.model.snapshot import Entry

_PULL = re.compile(r"\(#([0-9]{1,18})\)\s*$")


class _Tools(Struct, frozen=True):
    blobs: Blobs
    text: TextMerge

    def text_of(self, entry: Entry | None) -> bytes | None:
        """Return the content of a file, None where there is none or it is a link."""
        return text_of(entry, self.blobs)


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
    there = None if result.conflict is None else result.conflict.new_path
    names = (change.old_path, change.new_path, result.home, there)
    return tuple(p for p in names if p is not None)


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
    tools = _Tools(blobs, text)
    return tuple(_explain_patch(patch, steps, start, tools) for patch in judged)


def _explain_patch(
    patch: Judged, steps: Sequence[Step], start: Mapping[str, Entry | None], tools: _Tools
) -> Judged:
    if not patch.outcome.hunks:
        return patch
    evidence: list[Sighting] = []
    cause: list[Sighting] = []
    likely: list[Likely] = []
    wordings = list(patch.outcome.superseded)
    hunks = list(patch.outcome.hunks)
    conflicts = {conflict.id: conflict for conflict in patch.outcome.conflicts}
    at = 0
    for result in patch.files:
        versions = versions_of(result, steps, start)
        likely += _likely(result, versions, tools)
        wordings += _wordings(result, tools)
        since: dict[int, Step] = {}
        for index, answer in enumerate(result.answers):
            step = _explaining_step(patch, result, index, versions, tools)
            if step is not None:
                since[index] = step
                found = _sighting(step, answer, (hunks[at].new_path,))
                (evidence if answer[0] is Verdict.ABSORBED else cause).append(found)
                if answer[0] is Verdict.ABSORBED:
                    hunks[at] = replace(hunks[at], evidence=step.commit)
            at += 1
        if result.conflict is not None and result.conflict.id in conflicts:
            there = result.conflict.new_path
            beside = versions if there == result.home else _versions_at(there, steps, start)
            conflict, nearer = _explained(result, since, versions, beside, tools)
            conflicts[conflict.id] = conflict
            likely += nearer
    outcome = replace(
        patch.outcome,
        hunks=tuple(hunks),
        evidence=_decided(_joined(evidence), patch.decision),
        cause=_joined(cause),
        likely=_joined_likely(likely),
        conflicts=tuple(conflicts.values()),
        superseded=tuple(wordings),
    )
    return replace(patch, outcome=outcome)


def _versions_at(
    path: str, steps: Sequence[Step], start: Mapping[str, Entry | None]
) -> tuple[Version, ...]:
    """Return a file that a hunk was moved to, in the base and after each step that touches it."""
    later = (Version(s, path, s.changes[path]) for s in steps if path in s.changes)
    return (Version(None, path, start.get(path)), *later)


def _explained(
    result: FileResult,
    since: Mapping[int, Step],
    versions: Sequence[Version],
    beside: Sequence[Version],
    tools: _Tools,
) -> tuple[FileConflict, list[Likely]]:
    """Return a conflict with the steps that wrote what it shows, and what was nearer on the way.

    `beside` has the versions of the file in conflict, `versions` those of the patch's own.
    """
    from patchmgr.engines.cause.shown import nearer_likeness, shown_from

    conflict = result.conflict
    assert conflict is not None
    shown = tuple(
        None if step is None else _sighting(step, CONFLICT, (conflict.new_path,))
        for step in shown_from(conflict, beside, tools.blobs)
    )
    known = {one.hunk for one in result.proposals}
    hunks = result.step.change.hunks
    stuck = [n for n, _ in enumerate(hunks) if result.answers[n] == CONFLICT]
    likely: list[Likely] = []
    resemblances = list(conflict.resemblances)
    for number in stuck:
        if number in known or conflict.marked is None:
            continue
        found = nearer_likeness(
            result, number, since.get(number), versions, tools.blobs, tools.text
        )
        if found is not None:
            step, content, likeness = found
            known.add(number)
            pull, sure = pull_number(step.subject), likeness.confidence
            likely.append(Likely(step.commit, step.subject, pull, sure, (result.home,)))
            lines = b"".join(split_lines(content)[likeness.start : likeness.end])
            added = hunks[number].added_text()
            resemblances.append(Resemblance(sure, likeness.start + 1, lines, added, step.commit))
    is_all = bool(likely) and known.issuperset(stuck)
    proposal = Ruling.ABSORBED.value if is_all else conflict.proposal
    conflict = replace(conflict, shown=shown, proposal=proposal, resemblances=tuple(resemblances))
    return conflict, likely


def _decided(sightings: tuple[Sighting, ...], decision: Decision | None) -> tuple[Sighting, ...]:
    """Add the pull request that a person named, which a release does not name."""
    if decision is None or decision.pull is None:
        return sightings
    return tuple(replace(sighting, pull=decision.pull) for sighting in sightings)


def _likely(result: FileResult, versions: Sequence[Version], tools: _Tools) -> Iterator[Likely]:
    """Yield the step that brought each text that resembles a hunk of a file."""
    for one in _proposals(result, is_landed=False):
        step = turning_point(versions, each(_is_alike(result, one, versions[0], tools)))
        if step is not None:
            pull, confidence = pull_number(step.subject), one.likeness.confidence
            yield Likely(step.commit, step.subject, pull, confidence, (result.home,))


def _proposals(result: FileResult, *, is_landed: bool) -> Iterator[Proposal]:
    """Yield the proposals about hunks that landed in other words for sure, or of the others."""
    answers = result.answers
    return (a for a in result.proposals if (answers[a.hunk] == ABSORBED_REWORDED) is is_landed)


def _wordings(result: FileResult, tools: _Tools) -> Iterator[Wording]:
    """Yield both texts of each hunk that landed in other words."""
    content = tools.text_of(result.changes.get(result.home))
    lines = split_lines(content or b"")
    for one in _proposals(result, is_landed=True):
        likeness, hunk = one.likeness, result.step.change.hunks[one.hunk]
        upstream = b"".join(lines[likeness.start : likeness.end])
        yield Wording(result.home, upstream, hunk.added_text())


def _is_alike(result: FileResult, one: Proposal, start: Version, tools: _Tools) -> Claim:
    """Return the claim that an upstream version has a hunk in other words."""
    hunk, position = result.step.change.hunks[one.hunk], result.step.positions[one.hunk]
    content, pristine = tools.text_of(result.step.base), tools.text_of(start.entry)
    assert content is not None

    def is_alike(version: Version) -> bool:
        ours = tools.text_of(version.entry)
        if pristine is not None:
            (ours,) = with_below(pristine, [ours], content, tools.text)
        if ours is None:
            return False
        comparison = Comparison(result.home, content, ours)
        return find_likeness(comparison, hunk, position, is_clean=one.is_clean) is not None

    return is_alike


def _joined_likely(found: Sequence[Likely]) -> tuple[Likely, ...]:
    """Return one entry a commit, with the least confidence and the paths of all."""
    joined: dict[str, Likely] = {}
    for one in found:
        before = joined.get(one.commit, one)
        joined[one.commit] = replace(
            one,
            confidence=min(one.confidence, before.confidence),
            paths=tuple(dict.fromkeys(before.paths + one.paths)),
        )
    return tuple(joined.values())


def _explaining_step(
    patch: Judged, result: FileResult, index: int, versions: Sequence[Version], tools: _Tools
) -> Step | None:
    """Return the step that absorbed a hunk or broke it, None where none is known."""
    absorption = patch.absorption
    if absorption is not None and result.answers[index] == (Verdict.ABSORBED, absorption.how):
        return absorption.step
    landed = next((a for a in _proposals(result, is_landed=True) if a.hunk == index), None)
    if landed is not None:
        return turning_point(versions, each(_is_alike(result, landed, versions[0], tools)))
    claims = _claims(result, index, versions[0], tools)
    return None if claims is None else turning_point(versions, claims)


def _claims(result: FileResult, index: int, start: Version, tools: _Tools) -> Claims | None:
    """Return the claim about an upstream version that turned true with the commit in question."""
    answer, change, base = result.answers[index], result.step.change, result.step.base
    if answer[0] is Verdict.UNCHANGED:
        return None
    is_absorbed, content = answer[0] is Verdict.ABSORBED, tools.text_of(base)
    if is_absorbed and result.step.theirs is None:
        return each(lambda version: version.entry is None)
    if index >= len(change.hunks) or change.is_copy or content is None:
        return each(_has_effect(result, index) if is_absorbed else _is_changed(start))
    return _hunk_claims(result, index, content, start, tools)


def _hunk_claims(
    result: FileResult, index: int, content: bytes, start: Version, tools: _Tools
) -> Claims:
    """Return the claim that upstream has a hunk, or that it does not apply as it did."""
    hunk, position = result.step.change.hunks[index], result.step.positions[index]
    verdict, how = result.answers[index]
    pristine = tools.text_of(start.entry)
    path = result.step.change.path
    probe = Probe(hunk, position, content, pristine, tools.text, tools.blobs, path)
    if verdict is not Verdict.ABSORBED:
        return is_disturbed(probe, how, start)
    if how is How.SYNTAX:
        return each(_has_imports(result, index, content, tools))
    wanted: set[Answer | None] = {(verdict, how)}
    if how is How.SUPERSET:
        # What has become a superset may have landed as it is.
        wanted.add(ABSORBED_EXACT)
    return lambda versions: [answer in wanted for answer in probe.answers(versions)]


def _has_imports(result: FileResult, index: int, content: bytes, tools: _Tools) -> Claim:
    """Return the claim that an upstream version imports what a hunk does."""
    from patchmgr.engines.structure.python_imports import has_imports_of

    theirs = apply_one(content, result.step.change.hunks[index], result.step.positions[index])
    before, after = (side.decode("utf-8", "surrogateescape") for side in (content, theirs))

    def has_imports(version: Version) -> bool:
        upstream = tools.text_of(version.entry)
        return upstream is not None and has_imports_of(
            before, upstream.decode("utf-8", "surrogateescape"), after
        )

    return has_imports


def _is_changed(start: Version) -> Claim:
    return lambda version: (version.path, version.entry) != (start.path, start.entry)


def _has_effect(result: FileResult, index: int) -> Claim:
    """Return the claim that a change without hunks, or a whole new file, is there."""
    change, base, theirs = result.step.change, result.step.base, result.step.theirs
    assert theirs is not None
    if base is None or change.is_copy:
        return lambda version: version.entry == theirs
    has_content = bool(change.hunks) or change.binary is not None
    if has_content and index < max(1, len(change.hunks)):
        return lambda version: version.entry is not None and version.entry.blob == theirs.blob
    path = change.new_path if change.is_rename else None
    mode = theirs.mode if theirs.mode != base.mode else None
    return lambda version: (
        version.entry is not None
        and path in (None, version.path)
        and mode in (None, version.entry.mode)
    )


def _sighting(step: Step, answer: Answer, paths: tuple[str, ...]) -> Sighting:
    how = answer[1] if answer[0] is Verdict.ABSORBED else None
    return Sighting(step.commit, step.subject, pull_number(step.subject), how, paths, step.author)


def _joined(sightings: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """Return one sighting a commit and how, with the paths of all."""
    joined: dict[tuple[str, object], Sighting] = {}
    for sighting in sightings:
        key = (sighting.commit, sighting.how)
        before = joined.get(key)
        paths = sighting.paths if before is None else before.paths + sighting.paths
        joined[key] = replace(sighting, paths=tuple(dict.fromkeys(paths)))
    return tuple(joined.values())
