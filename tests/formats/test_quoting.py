"""Names in double quotes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.sections import unquote
from tests.tables import table


@table(
    ("raw", "expected"),
    {
        "plain": (b'"a"', (b"a", b"")),
        "with a rest": (b'"a b" rest', (b"a b", b" rest")),
        "empty": (b'""', (b"", b"")),
        "octal": (b'"\\303\\274"', (b"\xc3\xbc", b"")),
        "escapes": (b'"\\a\\b\\t\\n\\v\\f\\r\\"\\\\"', (b'\a\b\t\n\v\f\r"\\', b"")),
        "not quoted": (b"a", None),
        "nothing": (b"", None),
        "not closed": (b'"a', None),
        "unknown escape": (b'"\\x41"', None),
        "more than a byte": (b'"\\777"', None),
        "cut off": (b'"\\30', None),
        "newline": (b'"a\nb"', None),
    },
)
def test_quoted_names_are_read_as_git_writes_them(
    raw: bytes, expected: tuple[bytes, bytes] | None
) -> None:
    assert unquote(raw) == expected


@given(st.binary())
def test_every_name_survives_octal_quoting(name: bytes) -> None:
    quoted = "".join(f"\\{byte:03o}" for byte in name)
    assert unquote(f'"{quoted}"x'.encode()) == (name, b"x")
