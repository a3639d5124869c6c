"""The engines' ports on dictionaries: a whole rebase without git."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from patchmgr.engines.placement import split_lines
from patchmgr.model.ids import blob_id
from patchmgr.model.merge import Clean, Conflicted, Merge
from patchmgr.model.snapshot import REGULAR, Entry


class MemoryBlobs:
    """Contents by id."""

    def __init__(self) -> None:
        self._known: dict[str, bytes] = {}

    def read(self, blob: str) -> bytes:
        return self._known[blob]

    def add(self, content: bytes) -> str:
        name = blob_id(content)
        self._known[name] = content
        return name


class MemoryTree:
    """A tree of contents."""

    def __init__(
        self, blobs: MemoryBlobs, files: Mapping[str, bytes], modes: Mapping[str, str] | None = None
    ) -> None:
        chosen = modes or {}
        self._entries = {
            path: Entry(chosen.get(path, REGULAR), blobs.add(content))
            for path, content in files.items()
        }

    def entry(self, path: str) -> Entry | None:
        return self._entries.get(path)

    def is_directory(self, path: str) -> bool:
        return any(name.startswith(f"{path}/") for name in self._entries)

    def files_below(self, path: str) -> Iterator[str]:
        return (name for name in self._entries if name.startswith(f"{path}/"))


Edit = tuple[int, int, list[bytes]]


class PlainMerge:
    """A three-way merge by difflib: edits that touch or overlap and differ are a conflict."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        lines = split_lines(base)
        left, right = _edits(lines, split_lines(ours)), _edits(lines, split_lines(theirs))
        merged: list[Edit] = list(left)
        for edit in right:
            if edit in left:
                continue
            if any(edit[0] <= other[1] and other[0] <= edit[1] for other in left):
                return Conflicted(b"<<<<<<< ours\n||||||| base\n=======\n>>>>>>> theirs\n")
            merged.append(edit)
        for start, end, new in sorted(merged, reverse=True):
            lines[start:end] = new
        return Clean(b"".join(lines))

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> Sequence[Merge]:
        return [self.merge(*sides) for sides in texts]


def _edits(old: list[bytes], new: list[bytes]) -> list[Edit]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i1, i2, new[j1:j2]) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]
