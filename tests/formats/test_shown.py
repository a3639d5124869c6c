"""Untrusted text in messages."""

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.shown import LIMIT, shown, typed
from tests.tables import table


@table(
    ("text", "expected"),
    {
        "plain": ("vllm/a b.py", "vllm/a b.py"),
        "printable unicode": ("é漢", "é漢"),
        "bytes": (b"\xc3\xa9", "é"),
        "stray byte": (b"\xe9", "\\xe9"),
        "terminal escape": ("a\x1b[31mb", "a\\x1b[31mb"),
        "line ends": ("a\nb\r", "a\\nb\\r"),
        "bidirectional control": ("a\u202eb", "a\\u202eb"),
        "just fits": ("x" * LIMIT, "x" * LIMIT),
        "too long": ("x" * (LIMIT + 1), "x" * LIMIT + "..."),
    },
)
def test_untrusted_text_becomes_one_printable_line(text: str | bytes, expected: str) -> None:
    assert shown(text) == expected


@given(st.text() | st.binary())
def test_anything_can_be_shown(text: str | bytes) -> None:
    assert shown(text).isprintable()


@table(
    ("path", "expected"),
    {
        "plain": ("/work/a-b.c", "/work/a-b.c"),
        "URL": ("file:///work/a", "file:///work/a"),
        "space": ("/my work", "'/my work'"),
        "quote": ("it's", "'it'\"'\"'s'"),
        "tilde": ("~a", "'~a'"),
    },
)
def test_a_path_is_printed_as_it_must_be_typed(path: str, expected: str) -> None:
    assert typed(path) == expected
