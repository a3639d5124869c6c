"""Line endings, and versions of a file that upstream converted."""

from patchmgr.engines.text.line_endings import conversion, line_ending
from tests.tables import table

LF, CRLF = b"a\nb\n", b"a\r\nb\r\n"


@table(
    ("content", "ending"),
    {
        "LF": (LF, b"\n"),
        "CR LF": (CRLF, b"\r\n"),
        "the last line has none": (b"a\r\nb", b"\r\n"),
        "both": (b"a\r\nb\n", None),
        "a CR within a line": (b"a\rb\n", b"\n"),
        "one line without an end": (b"a", None),
        "nothing": (b"", None),
    },
)
def test_a_text_has_one_line_ending_or_none(content: bytes, ending: bytes | None) -> None:
    assert line_ending(content) == ending


@table(
    ("base", "ours", "theirs", "found"),
    {
        "to CR LF": (LF, CRLF, b"x\nb", CRLF[1:3]),
        "to LF": (CRLF, LF, b"x\r\nb\r\n", LF[1:2]),
        "ours has both": (LF, b"a\r\nb\n", LF, None),
        "base has both": (b"a\r\nb\n", LF, LF, None),
        "the patch converts it, too": (LF, CRLF, CRLF, None),
        "the patch adds the other one": (LF, CRLF, b"a\nb\nx\r\n", None),
        "not converted": (LF, b"a\nx\n", b"x\nb\n", None),
    },
)
def test_conversions_found(base: bytes, ours: bytes, theirs: bytes, found: bytes | None) -> None:
    assert conversion(base, ours, theirs) == found
