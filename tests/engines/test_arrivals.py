"""Which lines came into upstream's files with which step, and which left."""

from __future__ import annotations

import pytest

from patchmgr.engines.arrivals import traffic
from tests.engines.series import link, text
from tests.engines.tales import Changes, Tale, swap

BASE = text("stay_one stay_two stay_three stay_four")
ADDED = swap(BASE, ("stay_two", "stay_two ours_one ours_two"))
SWAPPED = swap(BASE, ("stay_two", "ours_one"))
Counts = dict[int, int]


@pytest.mark.parametrize(
    ("ours", "steps", "came", "left"),
    [
        pytest.param([ADDED], [ADDED], [{0: 2}], [{}], id="added"),
        pytest.param([ADDED], [BASE + b"more_lines\n"], [{}], [{}], id="something-else"),
        pytest.param([ADDED], [], [{}], [{}], id="no-steps"),
        pytest.param([ADDED], [ADDED, BASE], [{0: 2}], [{1: 2}], id="added-and-taken-away"),
        pytest.param([ADDED], [ADDED, ADDED + b"more\n"], [{0: 2}], [{}], id="added-and-kept"),
        pytest.param([ADDED], [ADDED, None, ADDED], [{0: 2, 2: 2}], [{1: 2}], id="deleted-file"),
        pytest.param([ADDED], [ADDED, link(b"there")], [{0: 2}], [{1: 2}], id="became-a-link"),
        pytest.param([SWAPPED], [SWAPPED], [{0: 2}], [{}], id="replaced"),
        pytest.param([SWAPPED], [SWAPPED, BASE], [{0: 2}], [{1: 2}], id="replaced-and-back"),
        pytest.param(
            [ADDED], [swap(BASE, ("stay_two", "stay_two ours_one"))], [{0: 1}], [{}], id="half"
        ),
        pytest.param(
            [SWAPPED, swap(SWAPPED, ("ours_one", "ours_two"))],
            [SWAPPED],
            [{0: 2}, {}],
            [{}, {0: 1}],
            id="what-a-later-patch-removes",
        ),
        pytest.param(
            [SWAPPED, BASE], [SWAPPED], [{0: 2}, {}], [{}, {0: 2}], id="what-a-later-patch-undoes"
        ),
    ],
)
def test_lines_come_and_go(
    ours: list[bytes], steps: list[bytes | None], came: list[Counts], left: list[Counts]
) -> None:
    series = [{"a": content} for content in ours]
    upstream: list[tuple[str, Changes]] = [("Work", {"a": content}) for content in steps]
    seen = traffic(Tale({"a": BASE}, series, upstream).search())
    assert (seen.came, seen.left) == (came, left)


def test_a_line_belongs_to_every_patch_that_names_it_in_its_file() -> None:
    series = [{"a": ADDED}, {"b": ADDED}, {"a": BASE}, {"a": ADDED}]
    told = Tale({"a": BASE, "b": BASE}, series, [("Work", {"a": ADDED})])
    seen = traffic(told.search())
    assert seen.came == [{0: 2}, {}, {}, {0: 2}]
    assert seen.left == [{}, {}, {0: 2}, {}]


def test_a_path_that_has_moved_goes_on() -> None:
    told = Tale(
        {"a": BASE},
        [{"a": ADDED}],
        [("Move", {"a": None, "b": BASE}), ("Land", {"b": ADDED}), ("Anew", {"a": ADDED})],
        homes={"a": "b"},
    )
    assert traffic(told.search()).came == [{1: 2}]


def test_a_path_without_lines_of_the_series_is_not_read() -> None:
    told = Tale({"a": BASE}, [{"a": ADDED}], [("Work", {"z": ADDED})])
    assert traffic(told.search()).came == [{}]
