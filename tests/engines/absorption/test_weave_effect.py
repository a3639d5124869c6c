"""What a version of a file has of each hunk."""

from __future__ import annotations

import pytest

from patchmgr.engines.absorption.weave import Count, Fate, count_of, effect
from patchmgr.model.outcome import How
from tests.engines.absorption.test_weave import content, woven
from tests.tables import table

AROUND = ["before", "here_is_one", "here_is_two", "behind", "the_end"]
ADDED = ["before", "here_is_one", "ours_is_new", "here_is_two", "behind", "the_end"]
CHANGED = ["before", "here_is_one", "ours_is_other", "here_is_two", "behind", "the_end"]
TAKEN_OUT = ["before", "here_is_one", "behind", "the_end"]


def swapped(lines: list[str], old: str, *new: str) -> list[str]:
    at = lines.index(old)
    return [*lines[:at], *new, *lines[at + 1 :]]


@table(
    ("states", "upstream", "counts"),
    [
        pytest.param([AROUND, ADDED], ADDED, [Count(found=1)], id="there"),
        pytest.param([AROUND, ADDED], AROUND, [Count(open=1)], id="not-there"),
        pytest.param(
            [AROUND, ADDED], swapped(ADDED, "ours_is_new", "theirs_is_new"), [Count(taken=1)],
            id="in-other-words",
        ),
        pytest.param(
            [AROUND, ADDED], ["ours_is_new", *AROUND], [Count(open=1)], id="in-another-place"
        ),
        pytest.param(
            [AROUND, ADDED], swapped(ADDED, "ours_is_new", "  ours_is_new"), [Count(found=1)],
            id="with-other-white-space",
        ),
        pytest.param([AROUND, TAKEN_OUT], TAKEN_OUT, [Count(found=1)], id="deleted"),
        pytest.param([AROUND, TAKEN_OUT], AROUND, [Count(open=1)], id="not-deleted"),
        pytest.param(
            [AROUND, TAKEN_OUT], swapped(AROUND, "here_is_two", "here_is_2"), [Count(taken=1)],
            id="rewritten-not-deleted",
        ),
        pytest.param(
            [AROUND, TAKEN_OUT], swapped(TAKEN_OUT, "behind", "quite behind"), [Count(found=1)],
            id="deleted-beside-an-edited-line",
        ),
        pytest.param(
            [AROUND, ADDED, CHANGED], CHANGED, [Count(replaced=1), Count(found=1, replaced=1)],
            id="replaced-by-a-patch-that-is-there",
        ),
        pytest.param(
            [AROUND, ADDED, CHANGED], ADDED, [Count(found=1), Count(open=2)],
            id="the-first-of-two-on-one-line",
        ),
        pytest.param(
            [AROUND, ADDED, AROUND], ADDED, [Count(found=1), Count(open=1)], id="undone-and-wanted"
        ),
        pytest.param(
            [AROUND, ADDED, AROUND], AROUND, [Count(replaced=1), Count(replaced=1)],
            id="undone-by-the-series",
        ),
    ],
)  # fmt: skip
def test_each_line_of_a_hunk_has_a_fate(
    states: list[list[str]], upstream: list[str], counts: list[Count]
) -> None:
    found = effect(woven(states), content(upstream)).lines
    assert [count_of(found[patch, 0]) for patch in range(len(counts))] == counts


def test_a_state_of_the_series_is_compared_line_by_line() -> None:
    weave = woven([["it", "it", "so", "so"], ["it", "so"], ["it"]])
    assert effect(weave, content(["it", "so"]), known=0).lines[0, 0] == [(False, Fate.FOUND)] * 2


@table(("is_made", "fate"), [(True, Count(open=6)), (False, Count(taken=1))])
def test_a_file_that_is_gone_was_never_made_or_was_taken_away(is_made: bool, fate: Count) -> None:
    states = [[], ADDED] if is_made else [AROUND, ADDED]
    weave = woven(states)
    weave.is_made = is_made
    assert count_of(effect(weave, None).lines[0, 0]) == fate


def test_lines_that_the_file_has_elsewhere_too_make_a_superset() -> None:
    upstream = swapped(ADDED, "ours_is_new", "ours_is_new", "the_end")
    found = effect(woven([AROUND, ADDED]), content(upstream))
    assert (count_of(found.lines[0, 0]), found.ways) == (Count(found=1), {(0, 0): How.SUPERSET})
