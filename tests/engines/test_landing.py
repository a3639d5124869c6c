"""Which step landed which patches of a series."""

from __future__ import annotations

import pytest

from patchmgr.engines.arrivals import traffic
from patchmgr.engines.landing import find_landings, is_ours
from patchmgr.engines.presence import Count
from tests.engines.series import link, text
from tests.engines.tales import Changes, Tale, swap

BASE = text(" ".join(f"stay_{n:02}" for n in range(30)))
FIRST = swap(BASE, ("stay_05", "stay_05 ours_one ours_two"))
SECOND = swap(FIRST, ("stay_20", "ours_late ours_last"))
THIRD = swap(SECOND, ("stay_12", "ours_mid"))
OTHER = swap(BASE, ("stay_28", "other_28"))
MANY = " ".join(f"release_{n}x" for n in range(12))


def landed(told: Tale) -> dict[int, list[int]]:
    """Return by patch the steps that landed it."""
    search = told.search()
    found = find_landings(search, traffic(search))
    return {patch: [landing.number for landing in landings] for patch, landings in found.items()}


def tale(ours: list[bytes], *steps: bytes) -> Tale:
    upstream: list[tuple[str, Changes]] = [("Work", {"a": content}) for content in steps]
    return Tale({"a": BASE}, [{"a": content} for content in ours], upstream)


HALF = swap(BASE, ("stay_05", "stay_05 ours_one"))
REPLACED = swap(BASE, ("stay_05", "stay_05 new_one new_two"))
MUTE = swap(FIRST, ("ours_one", "{ ours_one"))
AFTER_MUTE = swap(MUTE, ("stay_20", "ours_late ours_last"))
UNDONE = swap(BASE, ("stay_20", "ours_late ours_last"))

NAMED = swap(BASE, ("stay_05", "stay_05 ours_1st ours_2nd ours_3rd ours_4th"))
MOVED = swap(BASE, ("stay_20", "stay_20 ours_1st ours_2nd newer_1 newer_2 newer_3 newer_4"))
LATE = ("stay_25", "ours_late ours_last")
FIVE = swap(BASE, ("stay_05", "stay_05 ours_1st ours_2nd ours_3rd ours_4th ours_5th"))
NEWER = swap(BASE, ("stay_05", "stay_05 ours_1st newer_2nd newer_3rd newer_4th newer_5th"))
NEWER_LATE, FIVE_LATE = swap(NEWER, LATE), swap(FIVE, LATE)
ONE_LATE = swap(BASE, ("stay_05", "stay_05 ours_1st"), LATE)
NOTED = swap(BASE, ("stay_05", "stay_05 old_one old_two old_three kept_1"))
RENOTED = swap(
    NOTED,
    ("old_one", "new_one"),
    ("old_two", "new_two"),
    ("old_three", "new_three"),
    ("stay_20", "stay_20 common_call"),
)
LISTED = swap(BASE, ("stay_05", 'stay_05 names=["one_1","two_2","three_3"]'))
SPREAD = 'names=[ "one_1", "two_2", "three_3", "{}", ]'
OURS_SPREAD, THEIRS_SPREAD = (
    swap(LISTED, ('names=["one_1","two_2","three_3"]', SPREAD.format(name)))
    for name in ("ours_4th", "theirs_4th")
)
ON_TOP = swap(RENOTED, ("new_three", "common_call"))
MORE = [
    swap(FIRST, *((f"stay_{10 + 4 * n}", f"more_{n}x more_{n}y") for n in range(last)))
    for last in range(1, 5)
]


def mute_tale(line: str, after: bytes) -> Tale:
    """Tell of three patches whose second adds a line that its file has elsewhere, too."""
    second = swap(FIRST, ("stay_15", f"stay_15 {line}"))
    contents = [BASE, FIRST, second, swap(second, LATE), after]
    start, *ours, theirs = [text("stay_0 }") + content for content in contents]
    return Tale({"a": start}, [{"a": content} for content in ours], [("Work", {"a": theirs})])


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param(tale([FIRST], FIRST), {0: [0]}, id="one"),
        pytest.param(tale([FIRST], OTHER), {}, id="something-else"),
        pytest.param(tale([FIRST]), {}, id="no-steps"),
        pytest.param(tale([FIRST], OTHER, FIRST), {0: [1]}, id="second-step"),
        pytest.param(tale([FIRST], FIRST, BASE, FIRST), {0: [0, 2]}, id="twice"),
        pytest.param(
            tale([FIRST], FIRST, BASE, FIRST, BASE, FIRST, BASE, FIRST, BASE, FIRST),
            {0: [0, 2, 4, 6]},
            id="more-often-than-is-looked-at",
        ),
        pytest.param(tale([FIRST, SECOND], SECOND), {0: [0], 1: [0]}, id="squash"),
        pytest.param(tale([FIRST, SECOND, THIRD], SECOND), {0: [0], 1: [0]}, id="first-two"),
        pytest.param(tale([NAMED, MOVED], NAMED), {0: [0]}, id="one-whose-lines-a-later-one-has"),
        pytest.param(
            tale([NAMED, MOVED], NAMED, MOVED), {0: [0], 1: [1]}, id="lines-of-both-in-turn"
        ),
        pytest.param(tale([FIRST, SECOND], FIRST, SECOND), {0: [0], 1: [1]}, id="in-turn"),
        pytest.param(
            tale([FIRST], HALF),
            {},
            id="half-of-a-hunk",
        ),
        pytest.param(
            tale([FIRST, REPLACED], REPLACED), {0: [0], 1: [0]}, id="superseded-and-landed"
        ),
        pytest.param(tale([FIRST, REPLACED], FIRST), {}, id="superseded-leaves-nothing-to-land"),
        pytest.param(
            tale([FIVE, NEWER, NEWER_LATE], ONE_LATE), {2: [0]}, id="half-replaced-and-not-landed"
        ),
        pytest.param(
            tale([FIVE, NEWER, NEWER_LATE], FIVE_LATE),
            {0: [0], 2: [0]},
            id="half-replaced-and-landed-before",
        ),
        pytest.param(
            tale([FIVE, NEWER, NEWER_LATE], NEWER_LATE),
            {0: [0], 1: [0], 2: [0]},
            id="half-replaced-and-all-landed",
        ),
        pytest.param(
            tale([NOTED, RENOTED, ON_TOP], RENOTED), {0: [0], 1: [0]}, id="one-more-on-its-lines"
        ),
        pytest.param(
            Tale({"a": LISTED}, [{"a": OURS_SPREAD}], [("Work", {"a": THEIRS_SPREAD})]),
            {},
            id="the-same-layout-with-another-member",
        ),
        pytest.param(
            Tale({"a": LISTED}, [{"a": OURS_SPREAD}], [("Work", {"a": OURS_SPREAD})]),
            {0: [0]},
            id="the-same-layout-with-the-same-member",
        ),
        pytest.param(tale([FIRST, *MORE], FIRST), {0: [0]}, id="first-of-more-than-are-tried"),
        pytest.param(tale([FIRST, REPLACED], OTHER), {}, id="superseded-none-landed"),
        pytest.param(
            tale([FIRST, MUTE, AFTER_MUTE], AFTER_MUTE),
            {0: [0], 1: [0], 2: [0]},
            id="mute-between-two",
        ),
        pytest.param(
            tale([FIRST, SECOND, UNDONE], UNDONE),
            {0: [0], 1: [0], 2: [0]},
            id="undone-around-one",
        ),
        pytest.param(tale([FIRST, BASE], OTHER), {}, id="undone-none-landed"),
        pytest.param(tale([FIRST, BASE], FIRST), {}, id="undone-leaves-nothing-to-land"),
        pytest.param(
            mute_tale("}", swap(FIRST, LATE)), {0: [0], 1: [0], 2: [0]}, id="mute-beside-ours"
        ),
        pytest.param(
            mute_tale("}", swap(FIRST, LATE, ("stay_28", f"stay_28 {MANY}"))),
            {0: [0], 2: [0]},
            id="mute-in-a-release",
        ),
        pytest.param(mute_tale("}", FIRST), {0: [0]}, id="mute-behind-the-last"),
        pytest.param(
            mute_tale("stay_20", swap(FIRST, LATE)),
            {0: [0], 2: [0]},
            id="a-line-that-stands-elsewhere",
        ),
    ],
)
def test_steps_land_patches(told: Tale, expected: dict[int, list[int]]) -> None:
    assert landed(told) == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(BASE, True, id="nothing"),
        pytest.param(FIRST, True, id="all"),
        pytest.param(swap(FIRST, ("stay_28", "other_28 other_29")), True, id="half"),
        pytest.param(swap(FIRST, ("stay_28", "other_28 other_29 other_30")), False, id="less"),
        pytest.param(OTHER, False, id="something-else"),
    ],
)
def test_a_step_is_mostly_ours_or_not(after: bytes, expected: bool) -> None:
    assert is_ours(tale([FIRST], after).search(), 0) is expected


def test_lines_in_a_file_that_we_add_nothing_to_are_not_ours() -> None:
    told = Tale(
        {"a": BASE, "l": link(b"here")},
        [{"a": FIRST, "l": link(b"there")}],
        [("Work", {"a": FIRST, "l": text(MANY)})],
    )
    assert not is_ours(told.search(), 0)


def test_a_landing_says_what_it_is_seen_by() -> None:
    search = tale([FIRST, SECOND], SECOND).search()
    (landing,) = find_landings(search, traffic(search))[0]
    assert landing.last == 1
    assert landing.count == Count(found=2)
    assert landing.view is search.view(1, 0)
