from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.structure.tokens_align import edits_between
from tests.tables import table

WORDS = st.lists(st.sampled_from(["a", "b", "c", ",", ";", "(", ")", "// a b c"]), max_size=25)


@given(base=WORDS, other=WORDS)
def test_the_edits_lead_from_one_to_the_other(base: list[str], other: list[str]) -> None:
    made: list[str] = []
    at = to = 0
    for edit in edits_between(base, other):
        assert at <= edit.start <= edit.end
        assert edit.low <= edit.start
        assert edit.end <= edit.high
        assert base[at : edit.start] == other[to : edit.first]
        made += base[at : edit.start] + other[edit.first : edit.last]
        at, to = edit.end, edit.last
    assert made + base[at:] == other


@table(
    ("base", "other", "expected"),
    [
        pytest.param("f ( a )", "f ( a )", [], id="nothing"),
        pytest.param("f ( a )", "f ( b )", [(2, 3, ("b",))], id="a word"),
        pytest.param("f ( a , b )", "f ( a , c , b )", [(4, 4, ("c", ","))], id="a whole element"),
        pytest.param("a ; b ;", "a ; x ; b ;", [(2, 2, ("x", ";"))], id="a whole statement"),
        pytest.param(
            "a b c , d e f",
            "u v w , x y z",
            [(0, 7, ("u", "v", "w", ",", "x", "y", "z"))],
            id="a sign in common joins nothing",
        ),
    ],
)
def test_edits_are_of_whole_elements(
    base: str, other: str, expected: list[tuple[int, int, tuple[str, ...]]]
) -> None:
    words = other.split()

    found = edits_between(base.split(), words)

    assert [(e.start, e.end, tuple(words[e.first : e.last])) for e in found] == expected


def test_a_place_among_equals_is_uncertain() -> None:
    (edit,) = edits_between(
        ["f", "(", "n", ",", "n", ")"], ["f", "(", "n", ",", "n", ",", "n", ")"]
    )

    assert (edit.low, edit.high) == (2, 5)


def test_what_is_too_large_to_compare_is_one_edit() -> None:
    base, other = ["a", "b"] * 400, ["b", "a", "c"] * 300

    assert len(edits_between(base, other)) == 1
