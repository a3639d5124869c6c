"""A weave has every state of a file in a series."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.absorption.weave import Weave
from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.engines.text.distinctive import bare
from tests.engines.series import difference
from tests.tables import table

States = list[list[str]]


def content(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def woven(states: States) -> Weave:
    """Return the weave of a file with a patch between each two of its states."""
    weave = Weave(content(states[0]))
    for patch, (old, new) in enumerate(itertools.pairwise(states)):
        if old == new:
            continue
        (change,) = difference("p", {"f": content(old)}, {"f": content(new)}, 1).files
        applied = apply_hunks(content(old), change.hunks)
        assert isinstance(applied, Applied)
        weave.apply(patch, 0, change.hunks, applied.positions)
    return weave


def of(weave: Weave, patch: int) -> bytes:
    return b"".join(node.text for node in weave.nodes if node.is_alive(patch))


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=1, max_size=6))
def test_every_state_of_the_series_is_in_the_weave(states: States) -> None:
    weave = woven(states)
    for patch, lines in enumerate(states, -1):
        assert of(weave, patch) == content(lines)


@table(
    ("states", "nodes"),
    [
        pytest.param([["a", "b"], ["a"], ["a", "b"]], 2, id="put-back-behind-its-neighbour"),
        pytest.param([["a", "b", "c"], ["a", "x", "c"], ["a", "b", "c"]], 4, id="changed-and-back"),
        pytest.param(
            [["a", "c"], ["a", "b", "c"], ["a", "c"], ["a", "b", "c"]], 3, id="added-twice"
        ),
        pytest.param([["a"], ["a", "b"], ["a", "b", "c"]], 3, id="nothing-comes-back"),
    ],
)
def test_a_line_that_comes_back_is_the_same_line(states: States, nodes: int) -> None:
    assert len(woven(states).nodes) == nodes


def test_a_run_has_the_lines_between_untouched_ones() -> None:
    weave = woven([["a", "b", "c", "d"], ["a", "x", "c", "d"], ["a", "y", "c", "d", "e"]])
    assert [(run.start, run.end, run.patches) for run in weave.runs] == [
        (1, 4, (0, 1)),
        (6, 7, (1,)),
    ]
    states = [weave.state(weave.runs[0], patch) for patch in (-1, 0, 1)]
    assert [[node.key for node in state] for state in states] == [[b"b"], [b"x"], [b"y"]]


def test_a_file_that_is_moved_away_has_no_line_left() -> None:
    weave = woven([["a", "b"], ["a", "x"]])
    weave.take_out((1, 0))
    assert weave.is_deleted
    assert of(weave, 0) == b"a\nx\n"


def test_a_file_that_comes_to_a_path_brings_no_news() -> None:
    weave = Weave(None)
    weave.carry_in(3, b"a b\n")
    assert [(node.key, node.is_alive(2)) for node in weave.nodes] == [(bare(b"ab"), True)]
