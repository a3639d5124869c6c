"""Find the upstream commit that absorbed a hunk, or after which it no longer applies.

The commit that broke a hunk is the first one after which the hunk never applied again. If the hunk
broke more than once, and the search tests only some versions, the result may be an earlier commit,
but never one that made no difference to the hunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, groupby

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.absorption.proposal import Comparison, Proposal
from patchmgr.engines.absorption.verdict import Event
from patchmgr.engines.cause.pulls import merged_pull, pull_number
from patchmgr.engines.moved.files import versions_of
from patchmgr.engines.rebase.ladder import ABSORBED_EXACT, CONFLICT, Answer, judge_alone
from patchmgr.engines.rebase.rebase import Judged
from patchmgr.engines.rebase.work import FileResult
from patchmgr.engines.series.placement import apply_one, has_place, split_lines
from patchmgr.engines.structure.imports import has_imports_of
from patchmgr.engines.text.distinctive import bare, is_distinctive
from patchmgr.engines.text.known_changes import changes_of, text_of
from patchmgr.engines.text.marked import split_marked
from patchmgr.model.decision import Decision, Ruling
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import FileConflict, How, Likely, Resemblance, UpstreamCommit, Verdict
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, History, Step, TextMerge
from patchmgr.model.snapshot import Entry, file_content

PROBES = 16  # versions that one round of the search tests, at most
AT_ONCE = 4  # versions that are tested in one call; a round ends with the first that fails


class Version(Struct, frozen=True):
    """A version of an upstream file: the commit that made it, its path and its tree entry."""

    step: Step | None  # None: in the base
    path: str
    entry: Entry | None  # None: no file


VersionTest = Callable[[Version], bool]
"""A function that says whether one version of a file passes a test."""
VersionTests = Callable[[Sequence[Version]], Iterable[bool]]
"""A function that tests several versions, newest first. The caller may stop after any answer."""


def each(test: VersionTest) -> VersionTests:
    """Turn a test of one version of a file into a test of several versions."""
    return lambda versions: (test(version) for version in versions)


def turning_point(versions: Sequence[Version], tests: VersionTests) -> Step | None:
    """Return the commit after which a file passes a test, or None. Not all versions are tested."""
    fails, holds = -1, len(versions)
    while holds - fails > 1:
        probes = _probes(fails, holds, is_first=holds == len(versions))
        groups = (probes[n : n + AT_ONCE] for n in range(0, len(probes), AT_ONCE))
        answers = (zip(some, tests([versions[at] for at in some]), strict=True) for some in groups)
        for at, is_so in chain.from_iterable(answers):
            if not is_so:
                fails = at
                break
            holds = at
        if holds == len(versions):
            return None
    return versions[holds].step if versions else None


def _probes(fails: int, holds: int, *, is_first: bool) -> list[int]:
    """Return the indices of versions to test next, between a failing and a passing one.

    The newest version comes first.
    """
    inner = range(fails + 1, holds)
    if len(inner) <= PROBES:
        return list(reversed(inner))
    chosen = {fails + n * (holds - fails) // (PROBES + 1) for n in range(1, PROBES + 1)}
    if is_first:
        chosen.add(holds - 1)
    return sorted(chosen, reverse=True)


class UpstreamFiles(Struct, frozen=True):
    """Upstream's commits, the base versions of the files that they touch, and a reader of blobs."""

    steps: Sequence[Step]
    start: Mapping[str, Entry | None]
    read: Callable[[str], bytes]
    text: TextMerge

    def text_of(self, entry: Entry | None) -> bytes | None:
        """Return the content of a file, or None if there is no file or it is a link."""
        return file_content(entry, self.read)


class FileHistory(Struct, frozen=True, dict=True):
    """A file that a patch changes, and its upstream versions."""

    result: FileResult
    upstream: UpstreamFiles

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The file in the base, and after each upstream commit that touches the file."""
        change, home = self.result.step.change, self.result.home
        old = change.path if change.is_copy or change.old_path is None else change.old_path
        steps, start = self.upstream.steps, self.upstream.start.get(old)
        later = (Version(steps[n], path, entry) for n, path, entry in versions_of(steps, old, home))
        return (Version(None, old, start), *later)

    def versions_shown(self, path: str) -> tuple[Version, ...]:
        """Return the upstream versions of the file at `path`; a hunk may have moved there."""
        if path == self.result.home:
            return self.versions
        start, steps = self.upstream.start.get(path), self.upstream.steps
        later = (Version(s, path, s.changes[path]) for s in steps if path in s.changes)
        return (Version(None, path, start), *later)

    @cached_property
    def content(self) -> bytes | None:
        """The file that the hunks apply to as written, or None if there is no such file."""
        return self.upstream.text_of(self.result.step.base)

    @cached_property
    def compared(self) -> Callable[[bytes], Comparison]:
        """A function that compares a text with `content`; its results are cached."""
        assert self.content is not None
        return cache(partial(Comparison, self.result.home, self.content))

    def hunk(self, number: int) -> tuple[Hunk, int]:
        """Return the file's hunk with this index, and the line (from 0) where the hunk starts."""
        step = self.result.step
        return step.change.hunks[number], step.positions[number]

    def texts(self, versions: Sequence[Version]) -> list[bytes | None]:
        """Return the text of each upstream version, with earlier patches applied if possible."""
        texts = [self.upstream.text_of(version.entry) for version in versions]
        pristine, content = self.upstream.text_of(self.versions[0].entry), self.content
        if pristine is None or content is None or pristine == content:
            return texts
        asked = [(pristine, ours, content) for ours in texts if ours is not None]
        merges = iter(self.upstream.text.merge_all(asked))
        below = (None if ours is None else next(merges) for ours in texts)
        return [
            merge.content if isinstance(merge, Clean) else ours
            for ours, merge in zip(texts, below, strict=True)
        ]

    def is_broken(self, number: int, versions: Sequence[Version]) -> Iterator[bool]:
        """Yield, for each version of the file, whether a hunk of the patch fails to apply to it."""
        hunk, _ = self.hunk(number)
        # A version without the lines of the hunk need not be merged.
        possible = [version for version in versions if self._may_have(hunk, version)]
        entries = (version.entry for version in possible)
        texts = dict(zip(entries, self.texts(possible), strict=True))
        for ours in (texts.get(version.entry) for version in versions):
            if ours is None or not has_place(ours, hunk):
                yield True
            else:
                yield self._judged(number, [ours])[ours][0] is not Verdict.UNCHANGED

    def _may_have(self, hunk: Hunk, version: Version) -> bool:
        """Return whether a version with the earlier patches may have all old lines of a hunk."""
        ours, brought = self.upstream.text_of(version.entry), self._brought
        if ours is None or brought is None:
            return ours is not None
        # Lines that earlier patches leave alone are consecutive in the version, too.
        parts = groupby(hunk.old(), brought.__contains__)
        return all(is_brought or b"".join(lines) in ours for is_brought, lines in parts)

    @cached_property
    def _brought(self) -> frozenset[bytes] | None:
        """The lines that earlier patches may have added, and their neighbors; None if unknown."""
        pristine, content = self.upstream.text_of(self.versions[0].entry), self.content
        if pristine is None or content is None or pristine == content:
            return frozenset()
        changes, lines = changes_of(pristine, content), text_of(content).lines
        if changes is None:
            return None
        parts = (lines[max(0, start - 1) : end + 1] for _, _, start, end in changes)
        return frozenset(chain.from_iterable(parts))

    def has(
        self, number: int, wanted: Collection[Answer], versions: Sequence[Version]
    ) -> list[bool]:
        """Return for each version whether a merge with only this hunk has a verdict in `wanted`."""
        target = self.upstream.text_of(self.versions[-1].entry)
        is_enough = target is not None and self._judged(number, [target])[target] in wanted
        plain = [self.upstream.text_of(version.entry) for version in versions]
        # Earlier patches are left out if the target gives the verdict without them: upstream may
        # have them.
        texts = plain if is_enough else self.texts(versions)
        answers = self._judged(number, [ours for ours in texts if ours is not None])
        return [answers.get(ours) in wanted for ours in texts]

    def _judged(self, number: int, texts: Sequence[bytes]) -> dict[bytes | None, Answer]:
        assert self.content is not None
        asked = [(ours, *self.hunk(number)) for ours in texts]
        return dict(zip(texts, judge_alone(self.content, asked, self.upstream.text), strict=True))


_PARTS = re.compile(rb"[A-Z]?[a-z]{2,}|[A-Z]{2,}|[0-9]+")  # the words of a name, and numbers
# The number of versions of a file that a hunk is compared with: the first to which it does not
# apply, and some later ones. A comparison takes 30 ms for a file of 2,000 lines.
MOST_VERSIONS = 3


def explained_paths(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Return the paths of files whose upstream history can explain the verdicts on the patches."""
    wanted: dict[str, None] = {}
    for result in (result for patch in judged for result in patch.files):
        if any(answer[0] is not Verdict.UNCHANGED for answer in result.answers):
            change = result.step.change
            there = None if result.conflict is None else result.conflict.new_path
            names = (change.old_path, change.new_path, result.home, there)
            wanted.update((name, None) for name in names if name is not None)
    return tuple(wanted)


def explain(
    judged: Sequence[Judged],
    history: History,
    start: Mapping[str, Entry | None],
    *,
    blobs: Blobs,
    text: TextMerge,
) -> tuple[Judged, ...]:
    """Add evidence or causes to the results of all patches, except those that are unchanged.

    `start` maps each of the `explained_paths` to its entry in the base tree.
    """
    paths = explained_paths(judged)
    if not paths:
        return tuple(judged)
    read = lru_cache(maxsize=PROBES)(blobs.read)  # all hunks of a file read the same versions
    upstream = UpstreamFiles(history.steps(paths), start, read, text)
    return tuple(_explained(one, upstream) if one.outcome.hunks else one for one in judged)


def _explained(patch: Judged, upstream: UpstreamFiles) -> Judged:
    outcome = patch.outcome
    evidence, cause, likely = list[UpstreamCommit](), list[UpstreamCommit](), list[Likely]()
    hunks = list(outcome.hunks)
    conflicts = {conflict.id: conflict for conflict in outcome.conflicts}
    first = 0
    for result in patch.files:
        file = FileHistory(result, upstream)
        likely += _likely(file)
        since = _explaining_steps(file, patch)
        for number, step in since.items():
            answer, hunk = result.answers[number], hunks[first + number]
            absorption = patch.absorption if answer[0] is Verdict.ABSORBED else None
            inner = absorption.inner if absorption and absorption.step == step else None
            found = _explaining(step, answer, (hunk.new_path,), inner)
            if answer[0] is Verdict.ABSORBED:
                evidence.append(found)
                hunks[first + number] = replace(hunk, evidence=found.commit)
            else:
                cause.append(found)
        first += len(result.answers)
        if result.conflict is not None and result.conflict.id in conflicts:
            absorbed = patch.absorption
            asks = absorbed is None or absorbed.event is not Event.REVERTED
            conflict, nearer = _explained_conflict(file, result.conflict, since, asks=asks)
            conflicts[conflict.id] = conflict
            likely += nearer
    outcome = replace(
        outcome,
        hunks=tuple(hunks),
        evidence=_decided(_joined(evidence), patch.decision),
        cause=_joined(cause),
        likely=_joined_likely(likely),
        conflicts=tuple(conflicts.values()),
    )
    return replace(patch, outcome=outcome)


def _explained_conflict(
    file: FileHistory, conflict: FileConflict, since: Mapping[int, Step], *, asks: bool
) -> tuple[FileConflict, list[Likely]]:
    """Return a conflict with the commits that wrote upstream's lines, and with similar text.

    If `asks`, earlier upstream versions are searched for text that resembles the hunks in conflict.
    Also returns the commits that introduced such text.
    """
    result, likely, resemblances = file.result, list[Likely](), list(conflict.resemblances)
    shown = tuple(
        None if step is None else _explaining(step, CONFLICT, (conflict.new_path,))
        for step in _writers(file, conflict)
    )
    known = {one.hunk for one in result.proposals}
    hunks = result.step.change.hunks
    stuck = [n for n, _ in enumerate(hunks) if result.answers[n] == CONFLICT]
    is_text = asks and conflict.marked is not None and file.content is not None
    for number in stuck if is_text else ():
        step = since.get(number)
        found = None if number in known or step is None else _nearer(file, number, step)
        if found is not None:
            step, near = found
            known.add(number)
            likely.append(_likely_commit(file, step, near))
            resemblances.append(replace(near, commit=step.commit))
    is_all = bool(likely) and known.issuperset(stuck)
    proposal = Ruling.ABSORBED.value if is_all else conflict.proposal
    conflict = replace(conflict, shown=shown, proposal=proposal, resemblances=tuple(resemblances))
    return conflict, likely


def _decided(
    found: tuple[UpstreamCommit, ...], decision: Decision | None
) -> tuple[UpstreamCommit, ...]:
    """Replace the pull request of the evidence with the one that a person named, if any."""
    if decision is None or decision.pull is None:
        return found
    return tuple(replace(one, pull=decision.pull) for one in found)


def _likely(file: FileHistory) -> Iterator[Likely]:
    """Yield the commit that introduced upstream's similar text, for each hunk with a proposal."""
    for one in file.result.proposals:
        step = turning_point(file.versions, each(_is_alike(file, one)))
        if step is not None:
            yield _likely_commit(file, step, one.resemblance)


def _likely_commit(file: FileHistory, step: Step, found: Resemblance) -> Likely:
    pull, path = pull_number(step.subject), file.result.home
    return Likely(step.commit, step.subject, pull, found.confidence, (path,))


def _is_alike(file: FileHistory, one: Proposal) -> VersionTest:
    """Return a test for whether a version of a file has a hunk in a different form."""

    def is_alike(version: Version) -> bool:
        (ours,) = file.texts([version])
        if ours is None:
            return False
        return _resemblance(file, one.hunk, ours, is_clean=one.is_clean) is not None

    return is_alike


def _resemblance(
    file: FileHistory, number: int, ours: bytes, *, is_clean: bool
) -> Resemblance | None:
    return file.compared(ours).find_resemblance(*file.hunk(number), is_clean=is_clean)


def _joined_likely(found: Sequence[Likely]) -> tuple[Likely, ...]:
    """Join the entries of each commit into one, with the lowest confidence and all paths."""
    joined: dict[str, Likely] = {}
    for one in found:
        before = joined.get(one.commit, one)
        joined[one.commit] = replace(
            one,
            confidence=min(one.confidence, before.confidence),
            paths=tuple(dict.fromkeys(before.paths + one.paths)),
        )
    return tuple(joined.values())


def _explaining_steps(file: FileHistory, patch: Judged) -> dict[int, Step]:
    """Map the index of each hunk to the commit that absorbed or broke it, if that is known."""
    absorption = patch.absorption
    found: dict[int, Step | None] = {}
    for number, answer in enumerate(file.result.answers):
        if absorption is not None and answer == (Verdict.ABSORBED, absorption.how):
            found[number] = absorption.step
        elif answer[0] is not Verdict.UNCHANGED:
            found[number] = turning_point(file.versions, _tests(file, number))
    return {number: step for number, step in found.items() if step is not None}


def _tests(file: FileHistory, number: int) -> VersionTests:
    """Return a test that only the versions since the commit that explains a hunk pass."""
    (verdict, how), step = file.result.answers[number], file.result.step
    is_absorbed, start = verdict is Verdict.ABSORBED, file.versions[0]
    if is_absorbed and step.theirs is None:
        return each(lambda version: version.entry is None)
    if number >= len(step.change.hunks) or step.change.is_copy or file.content is None:
        if is_absorbed:
            return each(_has_effect(file.result, number))
        return each(lambda version: (version.path, version.entry) != (start.path, start.entry))
    if not is_absorbed:
        return lambda versions: _is_disturbed(file, number, versions)
    if how is How.SYNTAX:
        assert file.content is not None
        theirs = apply_one(file.content, *file.hunk(number))
        before, after = (x.decode("utf-8", "surrogateescape") for x in (file.content, theirs))

        def has_imports(version: Version) -> bool:
            ours = file.upstream.text_of(version.entry)
            if ours is None:
                return False
            return has_imports_of(before, ours.decode("utf-8", "surrogateescape"), after)

        return each(has_imports)
    # Upstream may first have had exactly these lines, and a superset of them only later.
    wanted = {(verdict, how), *([ABSORBED_EXACT] if how is How.SUPERSET else [])}
    return lambda versions: file.has(number, wanted, versions)


def _is_disturbed(file: FileHistory, number: int, versions: Sequence[Version]) -> Iterator[bool]:
    """Yield, for each version, whether a hunk that applies to base does not apply to it.

    It also counts if upstream moved the lines of the hunk away from the file.
    """
    is_moved = file.result.answers[number][1] is How.MOVED
    moved = [is_moved and version.path != file.versions[0].path for version in versions]
    staying = [version for version, is_gone in zip(versions, moved, strict=True) if not is_gone]
    broken = file.is_broken(number, staying)
    return (is_gone or next(broken) for is_gone in moved)


def _has_effect(result: FileResult, number: int) -> VersionTest:
    """Return a test for the effect of a change without hunks, such as a new mode or path."""
    change, base, theirs = result.step.change, result.step.base, result.step.theirs
    assert theirs is not None
    if base is None or change.is_copy:
        return lambda version: version.entry == theirs
    has_content = bool(change.hunks) or change.binary is not None
    if has_content and number < max(1, len(change.hunks)):
        return lambda version: version.entry is not None and version.entry.blob == theirs.blob
    path = change.new_path if change.is_rename else None
    mode = theirs.mode if theirs.mode != base.mode else None
    return lambda version: (
        version.entry is not None
        and path in (None, version.path)
        and mode in (None, version.entry.mode)
    )


def _explaining(
    step: Step, answer: Answer, paths: tuple[str, ...], inner: Step | None = None
) -> UpstreamCommit:
    """Return the evidence or cause that names `step`, or `inner` if it is given."""
    how, pull = answer[1] if answer[0] is Verdict.ABSORBED else None, pull_number(step.subject)
    if inner is not None:
        step, pull = inner, pull_number(inner.subject) or merged_pull(step.subject)
    return UpstreamCommit(step.commit, step.subject, pull, how, paths, step.author)


def _joined(found: Sequence[UpstreamCommit]) -> tuple[UpstreamCommit, ...]:
    """Join the entries with the same commit and kind of proof into one that has all their paths."""
    joined: dict[tuple[str, object], UpstreamCommit] = {}
    for one in found:
        key = (one.commit, one.how)
        before = joined.get(key)
        paths = one.paths if before is None else before.paths + one.paths
        joined[key] = replace(one, paths=tuple(dict.fromkeys(paths)))
    return tuple(joined.values())


def _writers(file: FileHistory, conflict: FileConflict) -> Iterator[Step | None]:
    """Yield the commit (or None) that wrote upstream's text, for each region or the whole file."""
    versions = file.versions_shown(conflict.new_path)
    if conflict.marked is None:
        yield versions[-1].step
        return
    texts = [file.upstream.text_of(version.entry) or b"" for version in versions]
    for part in _parts(conflict.marked):
        first = len(texts)
        while first and part in texts[first - 1]:
            first -= 1
        yield versions[first].step if first < len(texts) else None


def _parts(marked: bytes) -> Iterator[bytes]:
    """Yield upstream's lines of each region; the lines around them, too, if none is distinctive."""
    found = split_marked(marked)
    before = b""
    for number, region in enumerate(found.regions):
        before += found.texts[number]
        part = region.region.ours
        if any(is_distinctive(bare(line)) for line in split_lines(part)):
            yield part
        else:
            behind = split_lines(found.texts[number + 1])
            yield b"".join((*split_lines(before)[-1:], part, *behind[:1]))
        before += part


def _nearer(file: FileHistory, number: int, since: Step) -> tuple[Step, Resemblance] | None:
    """Return the first commit after which upstream seems to have a hunk, and the similar text.

    The search begins with `since`, the commit that broke the hunk. Returns None if nothing is
    found.
    """
    # Upstream may have landed the hunk in another form and rewritten it since.
    steps = [version.step for version in file.versions]
    later = file.versions[steps.index(since) : -1] if since in steps else ()
    count = min(MOST_VERSIONS, len(later))
    some = [later[n * len(later) // count] for n in range(count)]
    new = _words(file.hunk(number)[0].added_text()) - _words(file.content or b"")
    for version, ours in zip(some, file.texts(some), strict=True):
        if ours is None or version.step is None or (new and new.isdisjoint(_words(ours))):
            continue  # the version has none of the words that are new in the patch
        found = _resemblance(file, number, ours, is_clean=False)
        if found is not None:
            return version.step, found
    return None


@lru_cache(maxsize=8)  # all hunks of a file are compared with the same versions
def _words(text: bytes) -> frozenset[bytes]:
    """Return the lower-case words in the names of a text: `file` and `name` for `FileName`."""
    return frozenset(map(bytes.lower, {*_PARTS.findall(text)}))
