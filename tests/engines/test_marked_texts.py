"""Marked texts: what is clean, what is a region, and what cannot be told."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.engines.text.marked import has_marker, split_marked
from patchmgr.model.recorded import Region
from tests.engines.test_conflict_ids import INSERTS, ONE, marked
from tests.tables import table

SIDES = Region(b"b\n", b"o\n", b"t\n")


@table(
    ("text", "texts", "regions"),
    [
        pytest.param(b"", [b""], [], id="empty"),
        pytest.param(b"a\nb", [b"a\nb"], [], id="no-region"),
        pytest.param(ONE, [b"", b""], [SIDES], id="a-region-alone"),
        pytest.param(b"a\n" + ONE + b"z", [b"a\n", b"z"], [SIDES], id="text-around"),
        pytest.param(
            ONE + INSERTS, [b"", b"", b""], [SIDES, Region(b"", b"o\n", b"t\n")], id="two-in-a-row"
        ),
        pytest.param(
            marked(b"\n", b"", b"t\n"), [b"", b""], [Region(b"\n", b"", b"t\n")], id="blank-line"
        ),
        pytest.param(
            marked(b"b\r\n", b"o\r\n", b"t\r\n", b"\r\n"),
            [b"", b""],
            [Region(b"b\r\n", b"o\r\n", b"t\r\n")],
            id="crlf",
        ),
        pytest.param(b"x\n" + ONE[:-10], [b"x\n" + ONE[:-10]], [], id="cut-off"),
        pytest.param(b"=======\n" + ONE, [b"=======\n", b""], [SIDES], id="out-of-place"),
        pytest.param(b"a\rb\x0c\n" + ONE, [b"a\rb\x0c\n", b""], [SIDES], id="other-line-breaks"),
    ],
)
def test_a_text_is_taken_apart(text: bytes, texts: list[bytes], regions: list[Region]) -> None:
    found = split_marked(text)
    assert list(found.texts) == texts
    assert [one.region for one in found.regions] == regions
    assert found.with_each(tuple(one.raw for one in found.regions)) == text


@table(
    ("text", "is_sure"),
    [
        pytest.param(b"x\n" + ONE, True, id="plain"),
        pytest.param(b"=======\n" + ONE, False, id="marker-in-clean-text"),
        pytest.param(marked(b"b\n", b"A\n=======\n", b"t\n"), False, id="underline-in-ours"),
        pytest.param(marked(b"A\n=======\n", b"o\n", b"t\n"), False, id="underline-in-base"),
        pytest.param(b"<<<<<<< doc\n" + ONE, False, id="a-start-before-the-start"),
        pytest.param(ONE + b">>>>>>> end\n", False, id="an-end-behind-the-end"),
        pytest.param(marked(b"b\n", b"========\n", b"t\n"), True, id="eight-signs"),
    ],
)
def test_what_could_be_read_in_two_ways_is_not_sure(text: bytes, is_sure: bool) -> None:
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
def test_lines_like_markers_are_seen(text: bytes, expected: bool) -> None:
    assert has_marker(text) is expected


@settings(deadline=None)
@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_no_byte_is_lost(text: bytes, places: list[int]) -> None:
    signs = [b"\n<<<<<<< x\n", b"\n||||||| x\n", b"\n=======\n", b"\n>>>>>>> x\n"]
    for number, place in enumerate(places):
        text = text[:place] + signs[number % 4] + text[place:]
    found = split_marked(text)
    assert found.with_each(tuple(one.raw for one in found.regions)) == text
    assert len(found.texts) == len(found.regions) + 1
