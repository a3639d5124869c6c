"""Texts with conflict markers, split into clean text and regions."""

from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.engines.text.marked import has_marker, split_marked
from patchmgr.model.recorded_conflict import RegionSides
from tests.engines.conflicts.test_ids import INSERTS, ONE, marked
from tests.tables import table

SIDES = RegionSides(b"b\n", b"o\n", b"t\n")


@table(
    ("text", "texts", "regions"),
    {
        "empty": (b"", [b""], []),
        "no-region": (b"a\nb", [b"a\nb"], []),
        "a-region-alone": (ONE, [b"", b""], [SIDES]),
        "text-around": (b"a\n" + ONE + b"z", [b"a\n", b"z"], [SIDES]),
        "two-in-a-row": (ONE + INSERTS, [b"", b"", b""], [SIDES, RegionSides(b"", b"o\n", b"t\n")]),
        "blank-line": (marked(b"\n", b"", b"t\n"), [b"", b""], [RegionSides(b"\n", b"", b"t\n")]),
        "crlf": (
            marked(b"b\r\n", b"o\r\n", b"t\r\n", b"\r\n"),
            [b"", b""],
            [RegionSides(b"b\r\n", b"o\r\n", b"t\r\n")],
        ),
        "cut-off": (b"x\n" + ONE[:-10], [b"x\n" + ONE[:-10]], []),
        "out-of-place": (b"=======\n" + ONE, [b"=======\n", b""], [SIDES]),
        "other-line-breaks": (b"a\rb\x0c\n" + ONE, [b"a\rb\x0c\n", b""], [SIDES]),
    },
)
def test_regions_are_split_off(text: bytes, texts: list[bytes], regions: list[RegionSides]) -> None:
    found = split_marked(text)
    assert list(found.texts) == texts
    assert [one.region for one in found.regions] == regions
    assert found.with_each(tuple(one.raw for one in found.regions)) == text


@table(
    ("text", "is_sure"),
    {
        "plain": (b"x\n" + ONE, True),
        "marker-in-clean-text": (b"=======\n" + ONE, False),
        "underline-in-ours": (marked(b"b\n", b"A\n=======\n", b"t\n"), False),
        "underline-in-base": (marked(b"A\n=======\n", b"o\n", b"t\n"), False),
        "a-start-before-the-start": (b"<<<<<<< doc\n" + ONE, False),
        "an-end-behind-the-end": (ONE + b">>>>>>> end\n", False),
        "eight-signs": (marked(b"b\n", b"========\n", b"t\n"), True),
    },
)
def test_markers_that_can_be_read_in_two_ways_are_not_sure(text: bytes, is_sure: bool) -> None:
    found = split_marked(text)
    assert (found.is_sure and all(one.is_sure for one in found.regions)) is is_sure


@table(
    ("text", "expected"),
    [
        (b"", False), (b"<<<<<<< x\n", True), (b"a\n>>>>>>> x", True), (b"||||||| x\n", True),
        (b"=======\n", True), (b"=======\r\n", True), (b"=======", True), (b"======= x\n", False),
        (b" <<<<<<< x\n", False), (b"<<<<<<<x\n", False), (b"a <<<<<<< x\n", False),
    ],
)  # fmt: skip
def test_lines_that_look_like_markers_are_found(text: bytes, expected: bool) -> None:
    assert has_marker(text) is expected


@settings(deadline=None)
@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_splitting_a_marked_text_loses_no_byte(text: bytes, places: list[int]) -> None:
    signs = [b"\n<<<<<<< x\n", b"\n||||||| x\n", b"\n=======\n", b"\n>>>>>>> x\n"]
    for number, place in enumerate(places):
        text = text[:place] + signs[number % 4] + text[place:]
    found = split_marked(text)
    assert found.with_each(tuple(one.raw for one in found.regions)) == text
    assert len(found.texts) == len(found.regions) + 1
