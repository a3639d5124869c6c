"""Applies a patch to one file of a new upstream state, as a rebase does after a conflict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from patchmgr.engines.languages.file_types import language
from patchmgr.engines.moved.rung import Relocation, relocate
from patchmgr.engines.rebase.ladder import CONFLICT, judge_hunks
from patchmgr.engines.series.placement import Applied, PatchedFile, apply_hunks
from patchmgr.model.merge import Clean
from tests.engines.ports import PlainMerge
from tests.engines.series import hunks_between

Texts = Mapping[str, bytes]


@dataclass(frozen=True)
class MemoryElsewhere:
    """Upstream's changed files, from dictionaries."""

    old: Texts
    new: Texts

    def paths(self, wanted: str) -> Sequence[str]:
        changed = (path for path, content in self.new.items() if content != self.old.get(path))
        return sorted(path for path in changed if language(path) == wanted)

    def before(self, path: str) -> bytes | None:
        return self.old.get(path)

    def after(self, path: str) -> bytes | None:
        return self.new.get(path)


@dataclass(frozen=True)
class Played:
    """The result: the files after the rebase, and those that have conflict markers."""

    relocation: Relocation | None
    files: Texts
    marked: tuple[str, ...]

    def homes(self) -> list[str]:
        """Return `path symbol` of each hunk that moved, in order."""
        places = {} if self.relocation is None else self.relocation.places
        return [f"{places[n].path} {places[n].symbol or ''}".strip() for n in sorted(places)]

    def reasons(self) -> list[str]:
        """Return why hunks have no certain position, and after an arrow the likely home."""
        uncertain = {} if self.relocation is None else self.relocation.uncertain
        found = [uncertain[n] for n in sorted(uncertain)]
        return [a.reason + (f" -> {a.likely.path}" if a.likely else "") for a in found]


def play(
    old: Texts,
    patched: bytes,
    new: Texts,
    *,
    path: str,
    home: str | None = None,
    collided: Sequence[int] = (),
) -> Played:
    """Rebase a patch that turns the old file at a path into the patched one.

    If `collided` is not given, a text merge decides which hunks are in conflict.
    """
    text, at = PlainMerge(), home or path
    base, ours = old[path], new.get(at)
    hunks = hunks_between(base, patched)
    applied = apply_hunks(base, hunks)
    assert isinstance(applied, Applied)
    file = PatchedFile(path, base, patched, hunks, applied.positions)
    answers = (CONFLICT,) * len(hunks)
    if ours is not None:
        merge = text.merge(base, ours, patched)
        content = merge.content if isinstance(merge, Clean) else None
        answers = judge_hunks(file, ours, content, text)
    found = relocate(
        file,
        home=at,
        ours=ours,
        collided=collided or [n for n, answer in enumerate(answers) if answer == CONFLICT],
        elsewhere=MemoryElsewhere(old, new),
    )
    files, marked = dict(new), []
    for part in found.parts if found is not None else ():
        applied = apply_hunks(part.base, part.hunks)
        assert isinstance(applied, Applied)
        assert (applied.content, applied.positions) == (part.theirs, part.positions)
        merge = text.merge(part.base, new[part.path], part.theirs)
        if isinstance(merge, Clean):
            files[part.path] = merge.content
        else:
            marked.append(part.path)
    return Played(found, files, tuple(marked))
