"""Hunks: what is read, and what does not hold together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import PatchReader, split_lines
from patchmgr.formats.sections import is_hunk_head, read_hunks
from patchmgr.model.patch import Hunk
from tests.tables import table


def read(raw: bytes) -> tuple[Hunk, ...]:
    reader = PatchReader("x.patch", split_lines(raw))
    hunks = read_hunks(reader)
    assert reader.line is None
    return hunks


def test_a_hunk_keeps_numbers_heading_kinds_and_line_ends() -> None:
    raw = b"@@ -3,3 +3,4 @@ def f():\r\n a\r\n-b\x85\x0c\n+c\xff\n+\n \xc3\xbc\n"
    (hunk,) = read(raw)
    assert hunk == Hunk(
        3, 3, 3, 4, b"def f():\r", (b" a\r\n", b"-b\x85\x0c\n", b"+c\xff\n", b"+\n", b" \xc3\xbc\n")
    )
    assert (hunk.added(), hunk.removed()) == (2, 1)


@table(
    ("raw", "lines"),
    {
        "counts left out": (b"@@ -1 +1 @@\n-a\n+b\n", [b"-a\n", b"+b\n"]),
        "new file": (b"@@ -0,0 +1,2 @@\n+a\n+b\n", [b"+a\n", b"+b\n"]),
        "deleted file": (b"@@ -1 +0,0 @@\n-a\n", [b"-a\n"]),
        "empty context line": (b"@@ -1,2 +1,2 @@\n\n-a\n+b\n", [b" \n", b"-a\n", b"+b\n"]),
        "lines that look like headers": (
            b"@@ -1,2 +1 @@\n--- a\n-++ b\n+-- \n",
            [b"--- a\n", b"-++ b\n", b"+-- \n"],
        ),
        "no newline on both sides": (
            b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
            [b"-a", b"+b"],
        ),
        "marker in another language": (
            b"@@ -1,2 +1 @@\n-b\n a\n\\ Kein Zeilenumbruch.\n",
            [b"-b\n", b" a"],
        ),
        "CR without newline": (
            b"@@ -1 +1 @@\n-a\r\n+a\r\n\\ No newline at end of file",
            [b"-a\r\n", b"+a\r"],
        ),
    },
)
def test_hunks_are_read(raw: bytes, lines: list[bytes]) -> None:
    assert list(read(raw)[0].lines) == lines


BAD = {
    "no hunk": (b"", "a hunk is expected here"),
    "header damaged": (b"@@ -1 +1\n-a\n", "header cannot be read"),
    "header of a merge": (b"@@@ -1 -1 +1 @@@\n", "header cannot be read"),
    "header cut off": (b"@@ -0,0 +1 @@", "header cannot be read"),
    "signs in numbers": (b"@@ -1,-1 +1 @@\n", "header cannot be read"),
    "numbers too long": (b"@@ -1,99999999999 +1 @@\n", "header cannot be read"),
    "a billion lines": (b"@@ -1,1000000000 +1,1000000000 @@\n a\n", "ends inside a hunk"),
    "old line zero": (b"@@ -0 +1 @@\n-a\n+b\n", "count from 1"),
    "new line zero": (b"@@ -1 +0 @@\n-a\n+b\n", "count from 1"),
    "truncated": (b"@@ -1,2 +1,2 @@\n a\n-b\n", "ends inside a hunk"),
    "too long on the new side": (b"@@ -1,2 +1 @@\n a\n b\n", "more lines than its header counts"),
    "too short": (b"@@ -1,2 +1,2 @@\n a\n-b\n@@ -9 +9 @@\n", "fewer lines than its header counts"),
    "no kind": (b"@@ -1,2 +1,2 @@\n a\nx\n", "fewer lines than its header counts"),
    "bare CR line": (b"@@ -1,2 +1,2 @@\n\r\n-a\n+b\n", "fewer lines than its header counts"),
    "only context": (b"@@ -1 +1 @@\n a\n", "changes nothing"),
    "nothing in it": (b"@@ -1,0 +1,0 @@\n", "changes nothing"),
    "overlap": (b"@@ -1,2 +1 @@\n-a\n b\n@@ -2 +1 @@\n-b\n+c\n", "overlaps"),
    "out of order": (b"@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-b\n+c\n", "overlaps"),
    "marker first": (
        b"@@ -1 +1 @@\n\\ No newline at end of file\n",
        "fewer lines than its header counts",
    ),
    "marker before the end": (
        b"@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+c\n",
        "follows the last line",
    ),
    "hunk behind the end": (
        b"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -3 +3 @@\n-a\n+b\n",
        "follows the last line",
    ),
    "empty line without newline": (
        b"@@ -0,0 +1 @@\n+\n\\ No newline at end of file\n",
        "cannot lack its newline",
    ),
    "last line cut off": (b"@@ -1 +1 @@\n-a\n+b", "has no newline"),
}


@table(("raw", "problem"), BAD)
def test_a_hunk_that_does_not_hold_together_is_refused(raw: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        read(raw)
    assert caught.value.kind == "bad-patch"
    assert caught.value.message.startswith("Patch x.patch line ")


def test_a_hunk_ends_where_its_counts_say() -> None:
    reader = PatchReader("x.patch", split_lines(b"@@ -1,2 +1 @@\n-a\n b\n c\n"))
    assert read_hunks(reader)[0].lines == (b"-a\n", b" b\n")
    assert reader.line == b" c\n"


def test_hunks_that_touch_are_in_order() -> None:
    assert len(read(b"@@ -1 +1 @@\n-a\n+b\n@@ -2 +2 @@\n-c\n+d\n@@ -2,0 +3 @@\n+e\n")) == 3


def test_a_long_line_and_many_lines_are_read() -> None:
    (hunk,) = read(b"@@ -0,0 +1 @@\n+" + b"x" * 5_000_000 + b"\n")
    assert len(hunk.lines[0]) == 5_000_002
    (hunk,) = read(b"@@ -0,0 +1,50000 @@\n" + b"+x\n" * 50_000)
    assert hunk.added() == 50_000


def test_hunk_heads_are_known() -> None:
    assert is_hunk_head(b"@@ -1,2 +3 @@ f\n")
    assert not is_hunk_head(b" @@ -1,2 +3 @@\n")
    assert not is_hunk_head(b"@@ at all\n")


LINE = st.tuples(st.sampled_from([b" ", b"-", b"+"]), st.binary(max_size=5))


@given(st.lists(LINE, min_size=1), st.integers(1, 10**9), st.binary(max_size=9))
def test_what_is_written_is_read(parts: list[tuple[bytes, bytes]], at: int, tail: bytes) -> None:
    lines = [kind + text.replace(b"\n", b"") + b"\n" for kind, text in parts]
    old = sum(line[:1] != b"+" for line in lines)
    new = sum(line[:1] != b"-" for line in lines)
    head = b"@@ -%d,%d +%d,%d @@ " % (at, old, at, new) + tail.replace(b"\n", b"")
    raw = head + b"\n" + b"".join(lines)
    if old == new == sum(line[:1] == b" " for line in lines):
        with pytest.raises(PatchmgrError, match="changes nothing"):
            read(raw)
    else:
        (hunk,) = read(raw)
        assert hunk.lines == tuple(lines)
        assert (hunk.old_start, hunk.old_count, hunk.new_count) == (at, old, new)
        assert hunk.heading == tail.replace(b"\n", b"")


@given(st.lists(st.lists(LINE, min_size=1, max_size=8), min_size=1, max_size=4))
def test_unidiff_reads_the_same(parts: list[list[tuple[bytes, bytes]]]) -> None:
    raw, at = b"", 1
    for part in parts:
        lines = [kind + text.replace(b"\n", b"") + b"\n" for kind, text in [*part, (b"+", b"x")]]
        old, new = (sum(line[:1] != kind for line in lines) for kind in (b"+", b"-"))
        raw += b"@@ -%d,%d +%d,%d @@ f\n" % (at, old, at, new) + b"".join(lines)
        at += old + 1
    head = ["--- old\n", "+++ new\n"]
    (other,) = PatchSet(head + [line.decode("latin-1") for line in split_lines(raw)])
    assert [hunk.lines for hunk in read(raw)] == [
        tuple(f"{line.line_type}{line.value}".encode("latin-1") for line in hunk) for hunk in other
    ]
