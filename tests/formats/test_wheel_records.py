"""RECORD."""

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.wheel_records import (
    RecordRow,
    digests,
    is_known_digest,
    parse_record,
    record_digest,
    row_of,
    write_record,
)
from tests.tables import table

EMPTY = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"


@table(
    ("raw", "rows"),
    {
        "empty": (b"", ()),
        "row": (b"a.py,sha256=x,3\n", (RecordRow("a.py", "sha256=x", "3"),)),
        "no-hash": (b"a.py,,\r\n", (RecordRow("a.py", "", ""),)),
        "short": (b"a.py\n\n", (RecordRow("a.py", "", ""),)),
        "quoted": (b'"a,b.py",,\n', (RecordRow("a,b.py", "", ""),)),
        "no-utf-8": (b"\xff.py,,\n", (RecordRow("\udcff.py", "", ""),)),
        "long": (b"a,b,c,d\n", (RecordRow("a", "b", "c"),)),
    },
)
def test_rows_are_read(raw: bytes, rows: tuple[RecordRow, ...]) -> None:
    assert parse_record(raw) == rows


@table("path", ["a.py", "a,b.py", 'a"b.py', "a\rb.py", "\udcff.py", "a b.py"])
def test_what_is_written_is_read_again(path: str) -> None:
    rows = (row_of(path, b""), RecordRow("x/RECORD", "", ""))
    assert parse_record(write_record(rows)) == rows


def test_a_file_that_is_no_csv_is_refused() -> None:
    with pytest.raises(PatchmgrError, match="RECORD cannot be read"):
        parse_record(b'"' + b"x" * 200_000)


def test_hashes_are_those_of_wheels() -> None:
    assert record_digest(b"") == EMPTY
    assert is_known_digest(EMPTY)
    assert not is_known_digest("md5=x")
    assert not is_known_digest("")
    assert row_of("a", b"") == RecordRow("a", EMPTY, "0")
    assert digests([RecordRow("a", "1", ""), RecordRow("a", "2", "")]) == {"a": "2"}
