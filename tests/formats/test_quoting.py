"""Names in double quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.sections import unquote
from tests.tables import table


@table(
    ("raw", "expected"),
    [
        pytest.param(b'"a"', (b"a", b""), id="plain"),
        pytest.param(b'"a b" rest', (b"a b", b" rest"), id="with a rest"),
        pytest.param(b'""', (b"", b""), id="empty"),
        pytest.param(b'"\\303\\274"', (b"\xc3\xbc", b""), id="octal"),
        pytest.param(b'"\\a\\b\\t\\n\\v\\f\\r\\"\\\\"', (b'\a\b\t\n\v\f\r"\\', b""), id="escapes"),
        pytest.param(b"a", None, id="not quoted"),
        pytest.param(b"", None, id="nothing"),
        pytest.param(b'"a', None, id="not closed"),
        pytest.param(b'"\\x41"', None, id="unknown escape"),
        pytest.param(b'"\\777"', None, id="more than a byte"),
        pytest.param(b'"\\30', None, id="cut off"),
        pytest.param(b'"a\nb"', None, id="newline"),
    ],
)
def test_quoted_names_are_read_as_git_writes_them(
    raw: bytes, expected: tuple[bytes, bytes] | None
) -> None:
    assert unquote(raw) == expected


@given(st.binary())
def test_every_name_survives_octal_quoting(name: bytes) -> None:
    quoted = "".join(f"\\{byte:03o}" for byte in name)
    assert unquote(f'"{quoted}"x'.encode()) == (name, b"x")
