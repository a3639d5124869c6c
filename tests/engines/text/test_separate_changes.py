"""Merges of changes that lie far apart; the others are left to git."""

from collections.abc import Callable

from patchmgr.engines.text.separate_changes import Text, changes_between, merge_apart
from tests.tables import table

Lines = list[str]


def text_of(lines: Lines) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    old, mine, wanted = Text(base), Text(ours), Text(theirs)
    changes = changes_between(old, mine), changes_between(old, wanted)
    return merge_apart(old, mine, wanted, *changes)


def numbered(count: int) -> Lines:
    return [f"line {number}" for number in range(count)]


def changed(lines: Lines, at: int, removed: int, *added: str) -> Lines:
    return [*lines[:at], *added, *lines[at + removed :]]


BASE = numbered(40)

APART = {
    "a change each": (changed(BASE, 5, 1, "ours"), changed(BASE, 30, 1, "theirs")),
    "theirs comes first": (changed(BASE, 30, 2, "ours"), changed(BASE, 5, 0, "theirs")),
    "two changes around one": (
        changed(changed(BASE, 35, 1, "late"), 3, 1, "early"),
        changed(BASE, 20, 1, "middle"),
    ),
    "a deletion": (changed(BASE, 4, 3), changed(BASE, 30, 1, "theirs")),
    "at both ends": (["first", *BASE], [*BASE, "last"]),
}


@table(("ours", "theirs"), APART)
def test_changes_far_apart_are_both_in_the_merge(ours: Lines, theirs: Lines) -> None:
    found = merged(text_of(BASE), text_of(ours), text_of(theirs))
    assert found is not None
    lines = found.decode().splitlines()
    assert [line for line in lines if line in BASE] == [
        line for line in BASE if line in ours and line in theirs
    ]
    assert set(lines) - set(BASE) == {*ours, *theirs} - set(BASE)


LEFT = {
    "the same place": (BASE, changed(BASE, 9, 1, "ours"), changed(BASE, 9, 1, "theirs")),
    "lines that touch": (BASE, changed(BASE, 9, 1, "ours"), changed(BASE, 10, 1, "theirs")),
    "nothing but repeated lines": (["a"] * 30, ["a"] * 29, ["a"] * 31),
    "an empty base": ([], ["ours"], ["theirs"]),
    "a side that is all new": (BASE, [f"new {line}" for line in BASE], changed(BASE, 9, 1)),
    "a run shorter than what repeats": (
        [*numbered(3), *["same"] * 9, *numbered(6)[3:]],
        [*numbered(3), *["same"] * 8, *numbered(6)[3:]],
        ["theirs", *numbered(3), *["same"] * 9, *numbered(6)[3:]],
    ),
}


@table(("base", "ours", "theirs"), LEFT)
def test_changes_that_are_unclear_are_left_to_git(base: Lines, ours: Lines, theirs: Lines) -> None:
    assert merged(text_of(base), text_of(ours), text_of(theirs)) is None


def test_texts_that_git_treats_as_binary_are_left_to_git() -> None:
    base, ours, theirs = (
        text_of(lines) + b"\0"
        for lines in (BASE, changed(BASE, 5, 1, "ours"), changed(BASE, 30, 1, "theirs"))
    )
    assert merged(base, ours, theirs) is None


MOVED = {
    "a block that moved by itself": ((*BASE[:2], *BASE[20:24], *BASE[2:20], *BASE[24:]),
        [(2, 2), (20, 24)]),
    "a run that is no longer than the moved block": (
        (*BASE[:10], *BASE[13:16], *BASE[10:13], *BASE[16:]), [(10, 16)]),
}  # fmt: skip


@table(("moved", "expected"), MOVED)
def test_a_short_run_counts_as_changed(moved: Lines, expected: list[tuple[int, int]]) -> None:
    found = changes_between(Text(text_of(BASE)), Text(text_of(moved)))
    assert found is not None
    assert [change[:2] for change in found] == expected


@table("end", {"ended": lambda text: text, "open": lambda text: text[:-1]})
def test_the_last_line_feed_is_kept(end: Callable[[bytes], bytes]) -> None:
    ours = changed(BASE, 5, 1, "ours")
    theirs = changed(BASE, 25, 1, "theirs")
    both = changed(ours, 25, 1, "theirs")
    assert merged(*(end(text_of(lines)) for lines in (BASE, ours, theirs))) == end(text_of(both))
