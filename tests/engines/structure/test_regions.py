from __future__ import annotations

import pytest

from patchmgr.engines.structure.regions import Clean, Region, joined, pieces_of, regions_of
from patchmgr.engines.structure.regions_widen import keeps_merged, widened
from patchmgr.engines.structure.sides import Texts
from tests.engines.structure.marked import conflict, texts_of
from tests.tables import table


def test_a_marked_text_comes_apart_into_clean_stretches_and_regions() -> None:
    marked = conflict("b\n", "u\n", "f\n", before="x\n", after="y\n")

    pieces = pieces_of(marked, texts_of(marked))

    region = Region(("b\n",), ("u\n",), ("f\n",))
    assert pieces == (Clean(("x\n",)), region, Clean(("y\n",)))
    assert list(regions_of(pieces)) == [region]


@table(
    "marked",
    [
        pytest.param("<<<<<<< upstream\nu\n||||||| base\n", id="no end"),
        pytest.param("<<<<<<< HEAD\nx\n", id="a marker that is text"),
        pytest.param("x\n>>>>>>> fork\n", id="an end without a beginning"),
    ],
)
def test_a_text_whose_markers_are_not_clear_is_none(marked: str) -> None:
    assert pieces_of(marked, Texts(marked, marked, marked)) is None


def test_a_title_underlined_in_seven_signs_is_text() -> None:
    marked = conflict("b\n", "u\n", "f\n", before="Title!!\n=======\n")

    assert pieces_of(marked, texts_of(marked)) is not None


def test_an_underline_inside_of_a_region_is_refused_where_it_misleads() -> None:
    marked = conflict("Title!!\n=======\nb\n", "u\n", "f\n")

    assert pieces_of(marked, Texts("Title!!\n=======\nb\n", "u\n", "f\n")) is None


@table(
    ("ends", "expected"),
    [
        pytest.param(("b\n", "u\n", "f\n"), "s\n", id="all end"),
        pytest.param(("b\n", "u", "f\n"), "s", id="upstream takes it off"),
        pytest.param(("b\n", "u\n", "f"), "s", id="the fork takes it off"),
        pytest.param(("b", "u\n", "f"), "s\n", id="upstream adds it"),
        pytest.param(("b", "u", "f"), "s", id="none ends"),
    ],
)
def test_the_last_line_ends_as_the_side_that_changed_this_has_it(
    ends: tuple[str, str, str], expected: str
) -> None:
    texts = Texts(*ends)
    pieces = pieces_of(conflict("b\n", "u\n", "f\n"), texts)

    assert pieces is not None
    assert joined(pieces, ["s\n"], texts) == expected


def test_clean_lines_at_the_end_stay_as_they_are() -> None:
    texts = Texts("b\ny", "u\ny", "f\ny")
    pieces = pieces_of(conflict("b\n", "u\n", "f\n", after="y"), texts)

    assert pieces is not None
    assert joined(pieces, ["s\n"], texts) == "s\ny"


WIDE = [
    pytest.param(
        "a {\n}\nb {\n}\nz;\n",
        conflict("", "  u;\n", "  f;\n", before="a {\n}\nn {\n", after="}\nb {\n}\nz;\n"),
        (1, 1),
        id="on both sides",
    ),
    pytest.param(
        "a;\nb;\nc;\n",
        conflict("b;\n", "u;\n", "f;\n", before="a;\n", after="d;\nc;\n"),
        (0, 1),
        id="after",
    ),
    pytest.param(
        "b;\n",
        conflict("b;\n", "u;\n", "f;\n", before="d;\n"),
        (1, 0),
        id="all lines before",
    ),
    pytest.param(
        "b;\n", conflict("b;\n", "u;\n", "f;\n", after="d;\n"), (0, 1), id="all lines after"
    ),
    pytest.param(
        "a;\nb;\nc;\n",
        conflict("b;\n", "u;\n", "f;\n", before="a;\n", after="c;\n"),
        (0, 0),
        id="nothing was taken",
    ),
    pytest.param(
        "other\n", conflict("", "u;\n", "f;\n", before="a;\n", after="c;\n"), (0, 0), id="no place"
    ),
]


@table(("base", "marked", "taken"), WIDE)
def test_a_region_gets_back_what_both_sides_share_and_the_base_lacks(
    base: str, marked: str, taken: tuple[int, int]
) -> None:
    sides = texts_of(marked)
    texts = Texts(base, sides.upstream, sides.fork)
    pieces = pieces_of(marked, texts)
    assert pieces is not None

    wide = widened(pieces, texts)

    region = next(regions_of(wide))
    assert (region.before, region.after) == taken
    assert joined(wide, ["".join(region.fork)], texts) == sides.fork


def test_lines_that_a_side_has_not_are_not_taken() -> None:
    marked = conflict("b;\n", "u;\n", "f;\n", before="a;\n", after="d;\nc;\n")
    texts = Texts("a;\nb;\nc;\n", "a;\nu;\nd;\nc;\n", "a;\nf;\nc;\n")
    pieces = pieces_of(marked, texts)
    assert pieces is not None

    assert widened(pieces, texts) == pieces


def test_two_regions_in_a_row_share_no_lines() -> None:
    marked = conflict("b\n", "u\n", "f\n") + conflict("c\n", "v\n", "g\n")
    texts = texts_of(marked)
    pieces = pieces_of(marked, texts)
    assert pieces is not None

    assert widened(pieces, texts) == pieces


@table(
    ("text", "is_kept"),
    [
        pytest.param("{\nx\n}\n", True, id="kept"),
        pytest.param("{\n}\n", True, id="nothing between"),
        pytest.param("x\n}\n", False, id="no beginning"),
        pytest.param("{\nx\n", False, id="no end"),
        pytest.param("{\n", False, id="too short"),
    ],
)
def test_an_answer_must_have_the_lines_that_were_merged(text: str, is_kept: bool) -> None:
    region = Region((), ("{\n", "u\n", "}\n"), ("{\n", "f\n", "}\n"), 1, 1)

    assert keeps_merged(region, text) is is_kept


def test_lines_far_away_are_not_looked_at() -> None:
    far = "".join(f"line_{n};\n" for n in range(1_000))
    marked = conflict("b;\n", "u;\n", "f;\n", before=far, after=far)
    sides = texts_of(marked)
    texts = Texts("b;\n", sides.upstream, sides.fork)
    pieces = pieces_of(marked, texts)
    assert pieces is not None

    assert widened(pieces, texts) == pieces
