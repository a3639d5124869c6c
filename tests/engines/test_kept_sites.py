"""Sites as plain values, and the numbers of lines on both sides of a change."""

from __future__ import annotations

import json

import pytest

from patchmgr.engines.gating_pieces import Lines, across
from patchmgr.engines.kept_sites import sites_of_value, sites_value
from patchmgr.model.gating import ChangedSite, Gate, Reach

SITE = ChangedSite(
    "a.py", "A.f", 3, 4, False, "x = 1", Reach.GATED, (Gate("model", "is_x()"),), "why"
)


def test_sites_are_the_same_after_a_round_trip() -> None:
    value = json.loads(json.dumps(sites_value([SITE])))
    assert sites_of_value("a.py", value) == (SITE,)
    assert sites_of_value("a.py", []) == ()


@pytest.mark.parametrize(
    "value", [None, 3, [[1]], [["f", 1, 2, 0, "x", "nobody", [], ""]]], ids=str
)
def test_what_is_no_list_of_sites_is_judged_again(value: object) -> None:
    assert sites_of_value("a.py", value) is None


@pytest.mark.parametrize(
    ("changes", "there", "back"),
    [
        ((), {1: 1, 9: 9}, {1: 1}),
        (((3, 0, 4, 2),), {3: 3, 4: 6}, {6: 4, 4: None}),
        (((3, 2, 2, 0),), {2: 2, 3: None, 4: None, 5: 3}, {3: 5, 2: 2}),
        (((3, 1, 3, 2), (8, 1, 9, 1)), {2: 2, 3: None, 5: 6, 8: None, 9: 10}, {10: 9}),
    ],
    ids=["nothing", "more", "less", "two"],
)
def test_lines_are_found_on_the_other_side(
    changes: tuple[Lines, ...], there: dict[int, int | None], back: dict[int, int | None]
) -> None:
    for line, other in there.items():
        assert across([line], changes) == ({other} if other else set())
    for line, other in back.items():
        assert across([line], changes, is_back=True) == ({other} if other else set())
