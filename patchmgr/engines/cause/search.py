"""Since which upstream step something about a file holds: the search, and what breaks a hunk.

The cause of a hunk is the first step after which it no longer applies as it did: it applied after
the step before, does not apply after this one, nor at the target. Where upstream took a disturbing
change back and made another one later, the later one counts. The search asks about a few versions
at a time, the merges of one round in one call, so that a hundred versions cost two rounds. That
finds the last such step where there are no more versions than one round asks for, or where the
hunk broke once; else it finds one of them, never a step that changed nothing for the hunk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from patchmgr.engines.rebase.ladder import Answer, judge_hunk
from patchmgr.engines.rebase.work import FileResult
from patchmgr.engines.series.placement import apply_one, has_place
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, Step, TextMerge
from patchmgr.model.snapshot import FILE_MODES, Entry

PROBES = 16  # versions that one round asks about


class Version(Struct, frozen=True):
    """An upstream file after a step (None: in the base tree), and where it is."""

    step: Step | None
    path: str
    entry: Entry | None


Claim = Callable[[Version], bool]
Claims = Callable[[Sequence[Version]], Iterable[bool]]
"""A claim about several versions, the newest first; older answers may not be asked for."""


def each(claim: Claim) -> Claims:
    """Return a claim about single versions as one about several."""
    return lambda versions: (claim(version) for version in versions)


def turning_point(versions: Sequence[Version], claims: Claims) -> Step | None:
    """Return the step after which a claim holds up to the last version, None where none.

    The claim holds after the step, does not hold after the step before, and holds at the end.
    """
    fails, holds = -1, len(versions)
    while holds - fails > 1:
        probes = _probes(fails, holds, is_first=holds == len(versions))
        answers = claims([versions[at] for at in probes])
        for at, is_so in zip(probes, answers, strict=True):
            if not is_so:
                fails = at
                break
            holds = at
        if holds == len(versions):
            return None
    return versions[holds].step if versions else None


def _probes(fails: int, holds: int, *, is_first: bool) -> list[int]:
    """Return the versions to ask about between two, newest first; first of all the last one."""
    inner = range(fails + 1, holds)
    if len(inner) <= PROBES:
        return list(reversed(inner))
    chosen = {fails + n * (holds - fails) // (PROBES + 1) for n in range(1, PROBES + 1)}
    if is_first:
        chosen.add(holds - 1)
    return sorted(chosen, reverse=True)


class UpstreamFiles(Struct, frozen=True):
    """Upstream's steps, the base's files that they touch, and what reads and merges contents."""

    steps: Sequence[Step]
    start: Mapping[str, Entry | None]
    blobs: Blobs
    text: TextMerge

    def text_of(self, entry: Entry | None) -> bytes | None:
        """Return the content of a file, None where there is none or it is a link."""
        if entry is None or entry.mode not in FILE_MODES:
            return None
        return self.blobs.read(entry.blob)


class FileHistory(Struct, frozen=True, dict=True):
    """A file that a patch changes, on upstream's way."""

    result: FileResult
    upstream: UpstreamFiles

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The file after each step that touches it, the base first, following its move."""
        change, home = self.result.step.change, self.result.home
        old = change.path if change.is_copy or change.old_path is None else change.old_path
        versions = [Version(None, old, self.upstream.start.get(old))]
        for step in self.upstream.steps:
            if step.changes.get(home) is not None:
                versions.append(Version(step, home, step.changes[home]))
            elif home in step.changes or (versions[-1].path == old and old in step.changes):
                versions.append(Version(step, old, step.changes.get(old)))
        return tuple(versions)

    def versions_shown(self, path: str) -> tuple[Version, ...]:
        """Return the versions of the file that is in conflict: this one, or where a hunk went."""
        if path == self.result.home:
            return self.versions
        start, steps = self.upstream.start.get(path), self.upstream.steps
        later = (Version(s, path, s.changes[path]) for s in steps if path in s.changes)
        return (Version(None, path, start), *later)

    @cached_property
    def content(self) -> bytes | None:
        """The text that the patch is written against, None where it is no file."""
        return self.upstream.text_of(self.result.step.base)

    def hunk(self, number: int) -> tuple[Hunk, int]:
        """Return a hunk, and the line (from 0) where it starts."""
        step = self.result.step
        return step.change.hunks[number], step.positions[number]

    def texts(self, versions: Sequence[Version]) -> list[bytes | None]:
        """Return versions with what the patches below do to the file, where that is clean."""
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

    def is_broken(self, number: int, versions: Sequence[Version]) -> list[bool]:
        """Say of each version whether a hunk does not apply to it but for positions."""
        hunk, _ = self.hunk(number)
        texts = self.texts(versions)
        # Without its lines a hunk cannot apply: no need to merge.
        asked = [ours for ours in texts if ours is not None and has_place(ours, hunk)]
        answers = self._judged(number, asked)
        return [ours not in answers or answers[ours][0] is not Verdict.UNCHANGED for ours in texts]

    def has(
        self, number: int, wanted: Collection[Answer], versions: Sequence[Version]
    ) -> list[bool]:
        """Say of each version whether merging a hunk into it has one of some answers."""
        texts = self.texts(versions)
        answers = self._judged(number, [ours for ours in texts if ours is not None])
        return [answers.get(ours) in wanted for ours in texts]

    def _judged(self, number: int, texts: Sequence[bytes]) -> dict[bytes | None, Answer]:
        (hunk, position), content = self.hunk(number), self.content
        assert content is not None
        theirs = apply_one(content, hunk, position)
        # All at once; after that each single one is known.
        self.upstream.text.merge_all([(content, ours, theirs) for ours in texts])
        text, path = self.upstream.text, self.result.step.change.path
        return {ours: judge_hunk(content, ours, hunk, position, text, path=path) for ours in texts}
