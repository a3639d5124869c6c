"""Since which upstream step something about a file holds: the search, and what breaks a hunk.

The cause of a hunk is the first step after which it no longer applies as it did: it applied after
the step before, does not apply after this one, nor at the target. Where upstream took a disturbing
change back and made another one later, the later one counts. The search asks about a few versions
at a time, the merges of one round in one call, so that a hundred versions cost two rounds. That
finds the last such step where there are no more versions than one round asks for, or where the
hunk broke once; else it finds one of them, never a step that changed nothing for the hunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.rebase.ladder import Answer, judge_hunk
from patchmgr.engines.rebase.rebase import FileResult
from patchmgr.engines.series.placement import apply_one, has_place
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import How, Verdict
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


def versions_of(
    result: FileResult, steps: Sequence[Step], start: Mapping[str, Entry | None]
) -> tuple[Version, ...]:
    """Return the file after each step that touches it, the base first, following its move."""
    change, home = result.step.change, result.home
    old = change.path if change.is_copy or change.old_path is None else change.old_path
    versions = [Version(None, old, start.get(old))]
    for step in steps:
        if step.changes.get(home) is not None:
            versions.append(Version(step, home, step.changes[home]))
        elif home in step.changes or (versions[-1].path == old and old in step.changes):
            versions.append(Version(step, old, step.changes.get(old)))
    return tuple(versions)


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


class Probe(Struct, frozen=True):
    """One hunk, asked about in upstream's versions of its file.

    `content` is the side that the patch is written against, `pristine` the base's file. `path`
    tells the language.
    """

    hunk: Hunk
    position: int
    content: bytes
    pristine: bytes | None
    text: TextMerge
    blobs: Blobs
    path: str = ""

    def answers(self, versions: Sequence[Version]) -> list[Answer | None]:
        """Return what merging the hunk into each version answers, None where there is no text."""
        texts = self._upstream(versions)
        theirs = apply_one(self.content, self.hunk, self.position)
        # All at once; after that each single one is known.
        self.text.merge_all([(self.content, ours, theirs) for ours in texts if ours is not None])
        return [None if ours is None else self._judged(ours) for ours in texts]

    def is_broken(self, versions: Sequence[Version]) -> list[bool]:
        """Say of each version whether the hunk does not apply to it but for positions."""
        texts = self._upstream(versions)
        # Without its lines a hunk cannot apply: no need to merge.
        asked = [ours for ours in texts if ours is not None and has_place(ours, self.hunk)]
        theirs = apply_one(self.content, self.hunk, self.position)
        self.text.merge_all([(self.content, ours, theirs) for ours in asked])
        judged = {ours: self._judged(ours) for ours in asked}
        return [ours not in judged or judged[ours][0] is not Verdict.UNCHANGED for ours in texts]

    def _judged(self, ours: bytes) -> Answer:
        sides = self.content, ours
        return judge_hunk(*sides, self.hunk, self.position, self.text, path=self.path)

    def _upstream(self, versions: Sequence[Version]) -> list[bytes | None]:
        """Return the versions with what the patches below do to the file, where that is clean."""
        texts = [text_of(version.entry, self.blobs) for version in versions]
        if self.pristine is None:
            return texts
        return with_below(self.pristine, texts, self.content, self.text)


def is_disturbed(probe: Probe, how: How | None, start: Version) -> Claims:
    """Return the claim that a hunk does not apply as it did in the base."""

    def claims(versions: Sequence[Version]) -> list[bool]:
        moved = [how is How.MOVED and version.path != start.path for version in versions]
        staying = [v for v, is_moved in zip(versions, moved, strict=True) if not is_moved]
        broken = iter(probe.is_broken(staying))
        return [is_moved or next(broken) for is_moved in moved]

    return claims


def text_of(entry: Entry | None, blobs: Blobs) -> bytes | None:
    """Return the content of a file, None where there is none or it is a link."""
    if entry is None or entry.mode not in FILE_MODES:
        return None
    return blobs.read(entry.blob)


def with_below(
    pristine: bytes, texts: Sequence[bytes | None], content: bytes, text: TextMerge
) -> list[bytes | None]:
    """Return upstream versions with what the patches below do to the file, if that is clean."""
    asked = [(pristine, ours, content) for ours in texts if ours is not None]
    merges = iter(text.merge_all(asked))
    found: list[bytes | None] = []
    for ours in texts:
        merge = None if ours is None else next(merges)
        found.append(merge.content if isinstance(merge, Clean) else ours)
    return found
