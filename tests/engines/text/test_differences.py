"""The matching lines of two texts."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.engines.text import differences
from patchmgr.engines.text.differences import Block, changed_blocks, matched_lines
from tests.long import examples
from tests.tables import table


def lines(words: str) -> list[bytes]:
    return [word.encode() for word in words.split()]


@table(
    ("old", "new", "blocks"),
    {
        "same": ("a b c", "a b c", []),
        "empty": ("", "", []),
        "all-new": ("", "a", [(0, 0, 0, 1)]),
        "all-gone": ("a", "", [(0, 1, 0, 0)]),
        "replaced": ("a b c", "a x c", [(1, 2, 1, 2)]),
        "inserted": ("a c", "a b c", [(1, 1, 1, 2)]),
        "deleted": ("a b c", "a c", [(1, 2, 1, 1)]),
        "two": ("a b c d e", "a x c d y e", [(1, 2, 1, 2), (4, 4, 4, 5)]),
        "singular-lead": ("a p q b r", "x p q y r", [(0, 1, 0, 1), (3, 4, 3, 4)]),
        "nothing-in-common": ("a b", "x y", [(0, 2, 0, 2)]),
        "moved": ("u v w x", "w x u v", [(0, 2, 0, 0), (4, 4, 2, 4)]),
        "no-line-is-singular": ("r r s r r", "r r r t r r", [(2, 3, 2, 4)]),
        "runs": ("x b b a b b", "y b c b a b z", [(0, 1, 0, 1), (2, 2, 2, 3), (5, 6, 6, 7)]),
    },
)
def test_blocks_of_differences(old: str, new: str, blocks: list[tuple[int, int, int, int]]) -> None:
    assert changed_blocks(lines(old), lines(new)) == tuple(Block(*block) for block in blocks)


def test_a_large_gap_without_unique_lines_is_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "LARGEST_GAP", 10)
    old, new = lines("x b b a a b b"), lines("y a a b b a a")
    assert changed_blocks(old, new) == (Block(0, 7, 0, 7),)


def test_equal_lines_nested_too_deeply_are_still_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "DEEPEST", 0)
    assert changed_blocks(lines("a b c"), lines("x b y")) == (Block(0, 1, 0, 1), Block(2, 3, 2, 3))


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=12)


@settings(deadline=None, max_examples=examples(300))
@given(LINES, LINES)
def test_pairs_are_equal_and_increase(old: list[bytes], new: list[bytes]) -> None:
    pairs = matched_lines(old, new)
    assert all(old[i] == new[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    made: list[bytes] = []
    at = 0
    for block in changed_blocks(old, new):
        made += old[at : block.old_start] + new[block.new_start : block.new_end]
        at = block.old_end
    assert made + old[at:] == new
