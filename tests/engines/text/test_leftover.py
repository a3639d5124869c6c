"""Conflict markers, syntax errors and line endings in a resolved file."""

from patchmgr.engines.text.leftover import leftover_marker, line_ending_problem, syntax_problem
from tests.tables import table

HEADING = b"Title\n=======\n"


@table(
    ("content", "sides", "found"),
    {
        "a separator": (b"a\n=======\n", [b"a\n"], (2, b"=======")),
        "no side is known": (b"a\n=======\n", [], (2, b"=======")),
        "indented, at the end": (b"a\n\t<<<<<<< x", [b"a\n"], (2, b"<<<<<<< x")),
        "a heading that a side has": (HEADING, [b"x", HEADING], None),
        "more or fewer than seven signs": (b"========\n======\n", [], None),
        "within a line": (b"x = '<<<<<<< '\n", [], None),
        "a word": (b">>>>>>>x\n", [], None),
        "nothing": (b"", [b""], None),
    },
)
def test_a_new_marker(content: bytes, sides: list[bytes], found: tuple[int, bytes] | None) -> None:
    assert leftover_marker(content, sides) == found


@table(
    ("path", "content", "sides", "line"),
    {
        "a bracket is open": ("a.py", b"x = 1\ny = (\n", [b"x = 1\n"], 2),
        "a null byte": ("a.py", b"x\0\n", [b"x\n"], 1),
        "it compiles": ("a.py", b"x = 2\n", [b"x = 1\n"], None),
        "no side did, another Python": ("a.py", b"print 1\n", [b"print 2\n"], None),
        "no Python": ("a.txt", b"(\n", [b"x\n"], None),
        "the sides are not known": ("a.py", b"(\n", [], None),
    },
)
def test_compiles_no_more(path: str, content: bytes, sides: list[bytes], line: int | None) -> None:
    found = syntax_problem(path, content, sides)
    assert (None if found is None else found[0]) == line


@table(
    ("content", "sides", "line"),
    {
        "an editor wrote CR LF": (b"a\r\nb\r\n", [b"a\n", b"b\n"], 1),
        "an editor wrote LF": (b"a\r\nb\n", [b"a\r\n", b"b\r\n"], 2),
        "one side has both": (b"a\r\nb\n", [b"a\r\nx\n", b"a\n"], None),
        "as the sides": (b"a\nb\n", [b"a\n", b"b\n"], None),
        "the last line has none": (b"a\nb", [b"a\nb"], None),
        "no side has one": (b"a\r\nb", [b"a"], None),
        "the sides are not known": (b"a\r\n", [], None),
        "a CR within a line": (b"a\rb\n", [b"a\n"], None),
    },
)
def test_a_new_line_ending_is_found(content: bytes, sides: list[bytes], line: int | None) -> None:
    found = line_ending_problem(content, sides)
    assert (None if found is None else found[0]) == line
