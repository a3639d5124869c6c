"""A fork's commits as a linear series, and the upstream commit most similar to a tree."""

from random import Random

import pytest

from patchmgr.engines.series.linear import Line, closest
from patchmgr.model.merge import Clean, Merge
from patchmgr.model.snapshot import Changes, Entry
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge
from tests.tables import table

LINES = [f"line {n}\n".encode() for n in range(30)]
Files = dict[str, bytes]


def text(**edits: bytes) -> bytes:
    lines = list(LINES)
    for name, new in edits.items():
        lines[int(name[1:])] = new
    return b"".join(lines)


class Nothing:
    """Recorded resolutions, of which there are none."""

    def find(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        return None

    def find_file(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> None:
        return None


def between(old: MemoryTree, new: MemoryTree, paths: set[str]) -> Changes:
    rows = {path: (old.entry(path), new.entry(path)) for path in paths}
    return {path: row for path, row in rows.items() if row[0] != row[1]}


# id: base, own commit, upstream, what the merge became; patches as (commit, is rest); how resolved
MERGES = [
    pytest.param(text(l3=b"own\n"), text(l20=b"up\n"), text(l3=b"own\n", l20=b"up\n"),
                 [("own", False)], [], id="clean"),
    pytest.param(text(l3=b"own\n"), text(l3=b"up\n"), text(l3=b"both\n"),
                 [("own", False)], ["resolved as in the merge"], id="resolved"),
    pytest.param(text(l3=b"own\n"), text(l3=b"up\n"), text(l3=b"up\n"),
                 [], ["resolved as in the merge"], id="upstream-taken"),
    pytest.param(text(l3=b"own\n"), text(l20=b"up\n"), text(l3=b"own\n", l20=b"evil\n"),
                 [("own", False), ("merge", True)], [], id="evil"),
    pytest.param(text(l3=b"own\n"), text(l3=b"up\n"), b"all new\n",
                 [("merge", True)], ["resolved in the patch made for the merge"], id="rewritten"),
    pytest.param(text(l3=b"own\n"), None, None,
                 [], ["whole file taken from the merge"], id="deleted"),
    pytest.param(text(l3=b"own\n"), None, text(l3=b"own\n"),
                 [("own", False)], ["whole file taken from the merge"], id="kept"),
    pytest.param(text(l3=b"own\n"), text(l3=b"own\n"), text(l3=b"own\n"),
                 [], [], id="upstream-has-it"),
]  # fmt: skip


@table(("own", "up", "made", "patches", "how"), MERGES)
def test_a_commit_over_a_merge(
    own: bytes,
    up: bytes | None,
    made: bytes | None,
    patches: list[tuple[str, bool]],
    how: list[str],
) -> None:
    blobs = MemoryBlobs()
    paths = {"f"}
    base, fork, upstream, merge = (
        MemoryTree(blobs, {} if content is None else {"f": content})
        for content in (text(), own, up, made)
    )
    line = Line(base, blobs, PlainMerge(), Nothing())
    line.pick("own", between(base, fork, paths), fork)
    line.move(upstream, between(base, upstream, paths), {}, merge, "merge")
    line.settle("merge", between(upstream, merge, paths), merge, is_rest=True)
    assert line.entry("f") == merge.entry("f")
    assert [(piece.commit, piece.is_rest) for piece in line.pieces] == patches
    assert [remark.how for remark in line.remarks] == how
    assert line.dropped == ([] if ("own", False) in patches else ["own"])
    if not patches:
        later = MemoryTree(blobs, {"f": text(l25=b"later\n")})
        line.move(later, {"f"}, {}, later, "again")
        assert line.entry("f") == later.entry("f")


class CountedMerge(PlainMerge):
    """Counts the merges, and whether one was in conflict."""

    def __init__(self) -> None:
        self.done = 0
        self.is_clean = True

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        made = super().merge(base, ours, theirs)
        self.done += 1
        self.is_clean = self.is_clean and isinstance(made, Clean)
        return made


@pytest.mark.parametrize("seed", range(40))
def test_patches_that_keep_their_base_over_plain_merges_give_the_same_series(seed: int) -> None:
    random, blobs = Random(seed), MemoryBlobs()
    upstream, fork = list(LINES), list(LINES)

    def tree(lines: list[bytes]) -> MemoryTree:
        return MemoryTree(blobs, {"f": b"".join(lines)})

    counted = [CountedMerge(), CountedMerge()]
    late, early = (Line(tree(LINES), blobs, merge, Nothing()) for merge in counted)
    for step in range(30):
        old, name = tree(fork), f"c{step}"
        edit = f"{step}\n".encode()
        if random.random() < 0.3:
            fork[random.randrange(0, 30, 4)] = edit
            for line in (late, early):
                line.pick(name, between(old, tree(fork), {"f"}), tree(fork))
            continue
        where = random.randrange(0 if seed % 2 else 2, 30, 4)
        if fork[where] == upstream[where]:  # else the merge keeps the fork's line
            fork[where] = edit
        upstream[where] = edit
        if seed % 2 and random.random() < 0.1:
            fork[random.randrange(30)] = b"evil\n"
        for line in (late, early):
            line.move(tree(upstream), {"f"}, {}, tree(fork), name)
            line.settle(name, {"f"}, tree(fork), is_rest=True)
        early.finish(name, tree(fork))
    late.finish("end", tree(fork))
    assert late.entry("f") == early.entry("f") == tree(fork).entry("f")
    if counted[1].is_clean:
        assert late.pieces == early.pieces
        assert late.dropped == early.dropped
    assert counted[1].is_clean is (seed % 2 == 0)
    assert counted[0].done < counted[1].done


STEPS = [{"a": b"1", "b": b"1"}, {"b": b"2", "c": b"2"}, {"a": b"3"}, {"d": b"4"}]


@table(
    ("tree", "commit", "taken"),
    {
        "nothing-came": ({"x": b"0"}, None, set()),
        "two": ({"x": b"0", "a": b"1", "b": b"2", "c": b"2"}, 1, {"a", "b", "c"}),
        "own": ({"x": b"own", "a": b"3", "b": b"2", "c": b"2"}, 2, {"a", "b", "c"}),
        "edited": ({"x": b"0", "a": b"1", "b": b"own", "c": b"2"}, 1, {"a", "c"}),
        "one-far-commit": ({"x": b"0", "d": b"4"}, None, set()),
    },
)
def test_the_closest_state(tree: Files, commit: int | None, taken: set[str]) -> None:
    blobs = MemoryBlobs()
    start = MemoryTree(blobs, {"x": b"0"})
    steps: list[tuple[str, dict[str, Entry | None]]] = []
    for number, files in enumerate(STEPS):
        made = MemoryTree(blobs, files)
        steps.append((f"c{number}", {path: made.entry(path) for path in files}))
    best = closest(steps, start, MemoryTree(blobs, tree))
    if commit is None:
        assert best is None
    else:
        assert best is not None
        assert (best.commit, best.steps, set(best.taken)) == (f"c{commit}", commit + 1, taken)
