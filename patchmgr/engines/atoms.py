"""The telling lines of a change: what can be looked for in another version of a file.

Lines are compared without white space, and only lines that say something count: a brace or a
bare `return` is no evidence of anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.fold import FileStep
from patchmgr.model.patch import Patch

_SPACE = b" \t\r\f\v"
_BARE = frozenset(
    b"return return; break; continue continue; default: finally: private: public: protected: "
    b"#endif else: else{ }else{ template<> import pass; try: template passed returnNone "
    b"returnout returnTrue returnFalse returnresult importtorch result #pragmaonce".split()
)
_SHORTEST = 6
_LETTERS = re.compile(rb"(?:[^A-Za-z\x80-\xff]*[A-Za-z\x80-\xff]){3}")


def normal_lines(content: bytes) -> list[bytes]:
    """Return the lines without any white space."""
    return content.translate(None, _SPACE).split(b"\n")


def bare(line: bytes) -> bytes:
    """Return one line without any white space."""
    return line.translate(None, _SPACE + b"\n")


def is_telling(line: bytes) -> bool:
    """Say whether a line without white space says something."""
    if len(line) < _SHORTEST or line in _BARE:
        return False
    return _LETTERS.match(line, 0, 200) is not None


class HunkAtoms(Struct, frozen=True):
    """The lines that one hunk adds and removes, without white space.

    They are the telling ones, or all that are not empty where the hunk's side has none.
    `laid_out` are those of the added ones that only lay out anew what the hunk removes.
    """

    path: str
    added: frozenset[bytes]
    removed: frozenset[bytes]
    laid_out: frozenset[bytes] = frozenset()

    def __len__(self) -> int:
        """Count the lines."""
        return len(self.added) + len(self.removed)


class Folded(Struct, frozen=True):
    """A patch with what it does to the side that it is written against."""

    patch: Patch
    steps: tuple[FileStep, ...]


class PatchAtoms(Struct, frozen=True):
    """The lines of a patch, a hunk each, in the order of its files and hunks."""

    hunks: tuple[HunkAtoms, ...]
    is_telling: bool

    def __len__(self) -> int:
        """Count the lines."""
        return sum(len(hunk) for hunk in self.hunks)

    @property
    def paths(self) -> frozenset[str]:
        """Return the paths that the patch changes."""
        return frozenset(hunk.path for hunk in self.hunks)


def patch_atoms(patch: Patch) -> PatchAtoms:
    """Return the lines of every hunk; a change without hunks counts as one without lines.

    A side of a hunk (what it adds, what it removes) without any telling line is taken with all
    its lines.
    """
    whole = tuple(_hunks(patch))
    hunks = tuple(
        replace(h, added=_telling(h.added) or h.added, removed=_telling(h.removed) or h.removed)
        for h in whole
    )
    adds = any(hunk.added for hunk in whole)
    says = any(_telling(hunk.added if adds else hunk.removed) for hunk in whole)
    return PatchAtoms(hunks, is_telling=says)


def _telling(lines: frozenset[bytes]) -> frozenset[bytes]:
    return frozenset(line for line in lines if is_telling(line))


def _hunks(patch: Patch) -> Iterator[HunkAtoms]:
    for change in patch.files:
        if not change.hunks:
            yield HunkAtoms(change.path, frozenset(), frozenset())
        for hunk in change.hunks:
            new, old = (_side(hunk.lines, kind) for kind in (b"+", b"-"))
            added, removed = frozenset(new), frozenset(old)
            whole = b"".join(old)
            laid_out = frozenset(line for line in added if line.rstrip(b",") in whole)
            yield HunkAtoms(change.path, added - removed, removed - added, laid_out - removed)


def _side(lines: Sequence[bytes], kind: bytes) -> list[bytes]:
    found = normal_lines(b"".join(line[1:] for line in lines if line[:1] == kind))
    return [line for line in found if line]


class Interest(Struct, frozen=True):
    """The lines that any patch of a series adds to or removes from one path."""

    added: frozenset[bytes] = field(default_factory=frozenset)
    removed: frozenset[bytes] = field(default_factory=frozenset)


def interests(series: Sequence[PatchAtoms]) -> Mapping[str, Interest]:
    """Return by path what to look for in upstream's versions of it."""
    found: dict[str, tuple[set[bytes], set[bytes]]] = {}
    for patch in series:
        for hunk in patch.hunks:
            added, removed = found.setdefault(hunk.path, (set(), set()))
            added |= hunk.added
            removed |= hunk.removed
    return {path: Interest(*map(frozenset, sides)) for path, sides in found.items()}
