"""Markers that are left in a resolved file, and files that compile no more."""

from __future__ import annotations

import pytest

from patchmgr.engines.text.leftover import leftover_marker, syntax_problem
from tests.tables import table

HEADING = b"Title\n=======\n"


@table(
    ("content", "sides", "found"),
    [
        pytest.param(b"a\n=======\n", [b"a\n"], (2, b"======="), id="a separator"),
        pytest.param(b"a\n=======\n", [], (2, b"======="), id="no side is known"),
        pytest.param(b"a\n\t<<<<<<< x", [b"a\n"], (2, b"<<<<<<< x"), id="indented, at the end"),
        pytest.param(HEADING, [b"x", HEADING], None, id="a heading that a side has"),
        pytest.param(b"========\n======\n", [], None, id="more or fewer than seven signs"),
        pytest.param(b"x = '<<<<<<< '\n", [], None, id="within a line"),
        pytest.param(b">>>>>>>x\n", [], None, id="a word"),
        pytest.param(b"", [b""], None, id="nothing"),
    ],
)
def test_a_marker_is_a_line_that_no_side_has(
    content: bytes, sides: list[bytes], found: tuple[int, bytes] | None
) -> None:
    assert leftover_marker(content, sides) == found


@table(
    ("path", "content", "sides", "line"),
    [
        pytest.param("a.py", b"x = 1\ny = (\n", [b"x = 1\n"], 2, id="a bracket is open"),
        pytest.param("a.py", b"x\0\n", [b"x\n"], 1, id="a null byte"),
        pytest.param("a.py", b"x = 2\n", [b"x = 1\n"], None, id="it compiles"),
        pytest.param("a.py", b"print 1\n", [b"print 2\n"], None, id="no side did, another Python"),
        pytest.param("a.txt", b"(\n", [b"x\n"], None, id="no Python"),
        pytest.param("a.py", b"(\n", [], None, id="the sides are not known"),
    ],
)
def test_a_file_compiles_no_more_where_a_side_did(
    path: str, content: bytes, sides: list[bytes], line: int | None
) -> None:
    found = syntax_problem(path, content, sides)
    assert (None if found is None else found[0]) == line
