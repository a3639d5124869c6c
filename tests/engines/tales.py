"""A series and what upstream did meanwhile, both told as states of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from patchmgr.engines.absorption.landing import find_absorbed
from patchmgr.engines.absorption.series import Folded, Series, Way
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.moved.files import ChangedFiles
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.engines.series.follow_ups import reverted
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Step
from patchmgr.model.snapshot import Entry
from tests.engines.ports import MemoryBlobs
from tests.engines.series import File, Files, Upstream, difference, entry_of

Changes = Mapping[str, "File | None"]


def swap(content: bytes, *pairs: tuple[str, str]) -> bytes:
    """Return the content with one line each replaced by lines, given as words."""
    for line, words in pairs:
        old = f"\n{line}\n".encode()
        assert (b"\n" + content).count(old) == 1, line
        new = "".join(f"{word}\n" for word in words.split()).encode()
        content = (b"\n" + content).replace(old, b"\n" + new)[1:]
    return content


class Tale(Struct, frozen=True):
    """A base, a series on it, and upstream's steps to the target.

    A patch is one, or the files that it changes (None: deletes); a step is a message and the
    files that it changes, numbered unless it is called "Unrelated". The target is the last
    step's state, with `jump` on top.
    """

    base: Files
    ours: Sequence[Changes | Patch]
    upstream: Sequence[tuple[str, Changes]]
    homes: Mapping[str, str] = field(default_factory=dict)
    jump: Changes = field(default_factory=dict)
    context: int = 3

    def patches(self) -> list[Patch]:
        """Return the series as patches."""
        made: list[Patch] = []
        state = dict(self.base)
        for number, item in enumerate(self.ours):
            if isinstance(item, Patch):
                made.append(item)
                continue
            after = changed(state, item)
            made.append(difference(f"p{number}", state, after, self.context))
            state = after
        return made

    def told(self) -> _Told:
        """Return what the search is given."""
        blobs = MemoryBlobs()
        old = Overlay(Upstream(blobs, self.base))
        folded = [Folded(patch, step_patch(old, patch, blobs)) for patch in self.patches()]
        paths = dict.fromkeys(path for item in folded for path in item.patch.paths())
        base = Upstream(blobs, self.base)
        steps: list[Step] = []
        state = dict(self.base)
        number = 0
        for message, changes in self.upstream:
            subject, _, body = message.partition("\n")
            entries = {
                path: None if file is None else entry_of(blobs, file)
                for path, file in changes.items()
            }
            commit = "unrelated" if subject == "Unrelated" else f"c{number}"
            number += commit != "unrelated"
            named = reverted(subject, body)
            steps.append(Step(commit, subject, "A. Author", entries, named))
            state = changed(state, changes)
        end = Upstream(blobs, changed(state, self.jump))
        target = {path: end.entry(self.homes.get(path, path)) for path in paths}
        start = {path: base.entry(path) for path in paths}
        return _Told(blobs, folded, start, target, self.homes, steps)

    def absorbed(self) -> Mapping[int, Absorption]:
        return find_absorbed(self.series())

    def _others(self, told: _Told) -> Mapping[str, tuple[Entry | None, Entry]]:
        """Return the files beside the series that upstream changed, before and after."""
        state = dict(self.base)
        for _, changes in (*self.upstream, ("", self.jump)):
            state = changed(state, changes)
        sides = {p: (self.base.get(p), f) for p, f in state.items() if self.base.get(p) != f}
        return {
            path: (None if old is None else entry_of(told.blobs, old), entry_of(told.blobs, new))
            for path, (old, new) in sides.items()
            if path not in told.start
        }

    def verdicts(self) -> list[str]:
        """Return what is found about each patch, in words."""
        found = self.absorbed()
        return [_words(found.get(number)) for number in range(len(self.ours))]

    def series(self) -> Series:
        """Return the series on upstream's way."""
        told = self.told()
        way = Way(told.start, told.target, told.homes, told.steps)
        files = ChangedFiles(lambda language: (self._others(told), True), told.blobs)
        return Series(told.folded, way, told.blobs, elsewhere=files)


class _Told(Struct, frozen=True):
    blobs: MemoryBlobs
    folded: Sequence[Folded]
    start: Mapping[str, Entry | None]
    target: Mapping[str, Entry | None]
    homes: Mapping[str, str]
    steps: Sequence[Step]


def changed(state: Files, changes: Changes) -> dict[str, File]:
    """Return the files of a state after changes."""
    both = {**state, **changes}
    return {path: file for path, file in both.items() if file is not None}


def _words(found: Absorption | None) -> str:
    """Say what was found: event, step, the step that came after, way; hunks of a part."""
    if found is None:
        return "-"
    words = [found.event.value, found.step.commit]
    if found.since is not None:
        words += ["by", found.since.commit]
    if found.event is not Event.REVERTED:
        words.append(found.how.value)
        if not found.is_whole:
            words.append("hunks " + ",".join(map(str, sorted(found.hunks))))
    return " ".join(words)
