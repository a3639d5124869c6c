"""Untrusted text in messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.shown import LIMIT, shown
from tests.tables import table


@table(
    ("text", "expected"),
    [
        pytest.param("vllm/a b.py", "vllm/a b.py", id="plain"),
        pytest.param("é漢", "é漢", id="printable unicode"),
        pytest.param(b"\xc3\xa9", "é", id="bytes"),
        pytest.param(b"\xe9", "\\xe9", id="stray byte"),
        pytest.param("a\x1b[31mb", "a\\x1b[31mb", id="terminal escape"),
        pytest.param("a\nb\r", "a\\nb\\r", id="line ends"),
        pytest.param("a\u202eb", "a\\u202eb", id="bidirectional control"),
        pytest.param("x" * LIMIT, "x" * LIMIT, id="just fits"),
        pytest.param("x" * (LIMIT + 1), "x" * LIMIT + "...", id="too long"),
    ],
)
def test_untrusted_text_becomes_one_printable_line(text: str | bytes, expected: str) -> None:
    assert shown(text) == expected


@given(st.text() | st.binary())
def test_anything_can_be_shown(text: str | bytes) -> None:
    assert shown(text).isprintable()
