"""One file: git's text, what was solved before, and what is left."""

from __future__ import annotations

from patchmgr.engines.conflicts.ids import region_id
from patchmgr.engines.conflicts.memory import Resolutions
from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.rebase.rungs import Solved, Unsolved, has_last_newline, solve_text
from patchmgr.engines.rebase.work import Mergers
from patchmgr.model.outcome import How
from tests.engines.conflicts.test_memory import KNOWN
from tests.engines.ports import Binary, PlainMerge
from tests.tables import table

BASE, OURS, THEIRS = b"h\nb\nz\n", b"h\no\nz\n", b"h\nt\nz\n"
NAME = region_id(b"b\n", b"o\n", b"t\n")


def solve(
    base: bytes, upstream: bytes, fork: bytes, recall: Resolutions | None, *, ours: bool = True
) -> Solved | Unsolved:
    mergers = Mergers(text=PlainMerge(), recall=recall)
    return solve_text(base, upstream, fork, "f", mergers=mergers, is_upstream_ours=ours)


def test_a_clean_merge_has_the_bytes_of_git_and_asks_nobody() -> None:
    asked = KNOWN.asked
    found = solve(BASE, b"x\n" + BASE, THEIRS, KNOWN)
    assert found == Solved(b"x\n" + THEIRS, How.TEXT)
    assert KNOWN.asked == asked


@table("ours", [True, False])
def test_what_was_solved_is_replayed_and_named(ours: bool) -> None:
    assert solve(BASE, OURS, THEIRS, KNOWN, ours=ours) == Solved(
        b"h\nboth\nz\n", How.RECORDED, (NAME,)
    )


@table("ours", [True, False])
def test_what_nobody_solved_has_markers_in_the_order_of_the_caller(ours: bool) -> None:
    found = solve(BASE, OURS, b"h\nT\nz\n", KNOWN, ours=ours)
    assert isinstance(found, Unsolved)
    assert found.marked is not None
    first, second = (b"o\n", b"T\n") if ours else (b"T\n", b"o\n")
    assert b"<<<<<<< ours\n" + first in found.marked
    assert second + b">>>>>>> theirs\n" in found.marked


def test_without_memory_nothing_is_replayed() -> None:
    found = solve(BASE, OURS, THEIRS, None)
    assert isinstance(found, Unsolved)
    assert found.used == ()


@table("ours", [True, False])
def test_what_is_known_is_in_what_is_left(ours: bool) -> None:
    more = b"1\n2\n3\n"
    sides = [BASE + more + b"B\n", OURS + more + b"O\n", THEIRS + more + b"T\n"]
    found = solve(sides[0], sides[1], sides[2], KNOWN, ours=ours)
    assert isinstance(found, Unsolved)
    assert found.used == (NAME,)
    assert found.marked is not None
    assert found.marked.startswith(b"h\nboth\nz\n" + more + b"<<<<<<< ours\n")


def test_a_pointer_of_lfs_is_not_put_together_from_two() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize %b\n"
    sides = [pointer % pair for pair in ((b"a", b"1"), (b"b", b"1"), (b"a", b"2"))]
    mergers = Mergers(text=PlainMerge(), structure=lambda *_: Resolved("merged\n"))
    found = solve_text(sides[0], sides[1], sides[2], "f", mergers=mergers)
    assert isinstance(found, Unsolved)


def test_binaries_are_left() -> None:
    found = solve_text(b"", b"\0", b"\1", "f", mergers=Mergers(text=Binary(), recall=KNOWN))
    assert found == Unsolved(None)


@table(
    ("base", "ours", "theirs", "expected"),
    [
        (b"a\n", b"a\n", b"a\n", True), (b"a\n", b"a", b"a\n", False),
        (b"a\n", b"a\n", b"a", False),
        (b"a", b"a\n", b"a", True), (b"a", b"a", b"a\n", True), (b"", b"a", b"a", False),
        (b"", b"a\n", b"a", False),
    ],
)  # fmt: skip
def test_the_last_line_feed_is_merged_too(
    base: bytes, ours: bytes, theirs: bytes, expected: bool
) -> None:
    assert has_last_newline(base, ours, theirs) is expected
