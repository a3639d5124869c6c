"""The engines' ports on dictionaries: a whole rebase without git."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from patchmgr.engines.rebase.ladder import Answer, judge_hunk
from patchmgr.engines.series.placement import apply_one, split_lines
from patchmgr.model.merge import Clean, Conflicted, Merge
from patchmgr.model.patch import Hunk
from patchmgr.model.snapshot import REGULAR, Entry, blob_id


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
        merged: list[bytes] = []
        done, is_clean = 0, True
        for start, end in _regions([*left, *right]):
            merged += lines[done:start]
            old = lines[start:end]
            mine, yours = (_applied(lines, edits, start, end) for edits in (left, right))
            if mine == yours or yours == old:
                merged += mine
            elif mine == old:
                merged += yours
            else:
                merged += _marked(old, mine, yours)
                is_clean = False
            done = end
        content = b"".join([*merged, *lines[done:]])
        return Clean(content) if is_clean else Conflicted(content)

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> Sequence[Merge]:
        return [self.merge(*sides) for sides in texts]


def judged_alone(base: bytes, ours: bytes, hunk: Hunk, position: int) -> Answer:
    """Return the verdict of a hunk that is merged alone."""
    merge = PlainMerge().merge(base, ours, apply_one(base, hunk, position))
    return judge_hunk(ours, hunk, merge)


class Binary(PlainMerge):
    """A merge that can do nothing, as git's on binaries."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Conflicted(None)


def _regions(edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """Return the stretches of the base that edits of either side cover, joined where they touch."""
    found: list[tuple[int, int]] = []
    for start, end, _ in sorted(edits):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _applied(lines: list[bytes], edits: Sequence[Edit], start: int, end: int) -> list[bytes]:
    """Return one side's lines for a stretch of the base."""
    side: list[bytes] = []
    for first, last, new in edits:
        if start <= first and last <= end:
            side += lines[start:first] + new
            start = last
    return side + lines[start:end]


def _marked(old: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """Return a conflict as zdiff3 shows it: what both sides begin and end with is outside."""
    head = _shared(ours, theirs)
    tail = _shared(ours[head:][::-1], theirs[head:][::-1])
    parts = ((b"<<<<<<< ours\n", ours), (b"||||||| base\n", old), (b"=======\n", theirs))
    marked = ours[:head]
    for marker, side in parts:
        kept = side if side is old else side[head : len(side) - tail]
        marked += [marker, *(line.rstrip(b"\n") + b"\n" for line in kept)]
    return [*marked, b">>>>>>> theirs\n", *ours[len(ours) - tail :]]


def _shared(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _edits(old: list[bytes], new: list[bytes]) -> list[Edit]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i1, i2, new[j1:j2]) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]
