"""Which patch and which conflict a word means."""

from __future__ import annotations

import pytest

from patchmgr.engines.series.picking import matching, matching_ids
from tests.tables import table

NAMES = ("fix-a.patch", "fix-b.patch", "net/fix.diff", "0007-old.patch", "s/odd.patch", "3d.patch")


@table(
    ("given", "wanted"),
    [
        pytest.param("fix-a.patch", ["fix-a.patch"], id="name"),
        pytest.param("fix-a", ["fix-a.patch"], id="no-suffix"),
        pytest.param("net/fix", ["net/fix.diff"], id="other-suffix"),
        pytest.param("net", ["net/fix.diff"], id="start"),
        pytest.param("fix", ["fix-a.patch", "fix-b.patch"], id="start-of-several"),
        pytest.param("2", ["fix-b.patch"], id="number"),
        pytest.param("3", ["net/fix.diff"], id="number-before-start"),
        pytest.param("3d", ["3d.patch"], id="start-with-a-digit"),
        pytest.param("7", [], id="number-too-high"),
        pytest.param("0007", ["0007-old.patch"], id="number-of-format-patch"),
        pytest.param("0", ["0007-old.patch"], id="zero"),
        pytest.param("s/fix-a", ["fix-a.patch"], id="as-printed"),
        pytest.param("series/s/fix-a.patch", ["fix-a.patch"], id="path"),
        pytest.param("series/s/net", ["net/fix.diff"], id="start-of-path"),
        pytest.param("s/odd", ["s/odd.patch"], id="folder-named-as-the-series"),
        pytest.param("t/fix-a", [], id="other-series"),
        pytest.param("s/", [], id="no-name-either"),
        pytest.param("series/s/", [], id="no-name"),
        pytest.param("", [], id="empty"),
        pytest.param("x", [], id="unknown"),
    ],
)
def test_a_word_for_a_patch(given: str, wanted: list[str]) -> None:
    assert list(matching(given, NAMES, series="s")) == wanted


@table(
    ("given", "wanted"),
    [("4f08", ["4f08e2008bf8"]), ("4f0", []), ("", []), ("91c0", ["91c0d2aa37e5", "91c0ffffffff"])],
)
def test_the_beginning_of_an_id(given: str, wanted: list[str]) -> None:
    ids = ("4f08e2008bf8", "91c0d2aa37e5", "91c0ffffffff")
    assert list(matching_ids(given, ids)) == wanted
