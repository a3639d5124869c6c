"""Charsets and encoded words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats.mail_text import decoded, decoded_words, repaired
from patchmgr.formats.paths import encode_path
from tests.tables import table


@table(
    ("raw", "charset", "text"),
    {
        "ASCII": (b"a", None, "a"),
        "UTF-8": (b"\xc3\xbc", None, "ü"),
        "UTF-8 that says so": (b"\xc3\xbc", "UTF-8", "ü"),
        "stray byte": (b"\xfc", None, "\udcfc"),
        "stray byte that claims to be UTF-8": (b"\xfc", "utf8", "\udcfc"),
        "Latin-1": (b"\xfc", "ISO-8859-1", "ü"),
        "Latin-9": (b"\xa4", "iso8859-15", "€"),
        "Windows": (b"\xdc", "windows-1252", "Ü"),
        "Japanese": (b"\x82\xa0", "Shift_JIS", "あ"),
    },
)
def test_a_line_is_decoded(raw: bytes, charset: str | None, text: str) -> None:
    assert decoded(raw, charset) == text


@table(
    "charset",
    [
        *("x-unknown", "zlib", "hex", "rot13", "idna", "punycode", "unicode-escape", "undefined"),
        *("", "a b", "../x", "x" * 99, "\0"),
    ],
)
def test_an_unknown_charset_is_refused(charset: str) -> None:
    with pytest.raises(PatchmgrError, match="is unknown") as caught:
        decoded(b"a", charset)
    assert caught.value.kind == "bad-patch"


@table(("raw", "charset"), [(b"\xff", "gb2312"), (b"+2AA-", "utf-7")])
def test_bytes_that_a_charset_does_not_have_are_refused(raw: bytes, charset: str) -> None:
    with pytest.raises(PatchmgrError, match="does not fit the text"):
        decoded(raw, charset)


@table(
    ("raw", "text"),
    {
        "none": (b"plain =? text ?=", "plain =? text ?="),
        "quoted": (b"=?UTF-8?q?=C3=BCber=20it?=", "über it"),
        "underscore": (b"=?utf-8?Q?a_b?= c", "a b c"),
        "base 64": (b"=?iso-8859-1?B?/A==?=", "ü"),
        "space between two": (b"x =?utf-8?q?a?=  =?utf-8?q?b?= y", "x ab y"),
        "text between two": (b"=?utf-8?q?a?= - =?utf-8?q?b?=", "a - b"),
        "a character in two words": (b"=?utf-8?q?=C3?= =?utf-8?q?=BC?=", "ü"),
        "bad base 64": (b"=?utf-8?b?a?=", "=?utf-8?b?a?="),
        "unknown method": (b"=?utf-8?x?a?=", "=?utf-8?x?a?="),
        "space in front": (b" =?utf-8?q?a?=", " a"),
        "bad hexadecimal": (b"=?utf-8?q?=ZZ?=", "=ZZ"),
    },
)
def test_encoded_words_are_decoded(raw: bytes, text: str) -> None:
    assert decoded_words(raw) == text


def test_an_encoded_word_of_an_unknown_charset_is_refused() -> None:
    with pytest.raises(PatchmgrError, match="charset k, which is unknown"):
        decoded_words(b"=?k?q?a?=")


def test_stray_bytes_are_repaired_and_the_rest_stays() -> None:
    assert repaired("ü\udce9 \udcff") == "üé ÿ"


@given(st.binary())
def test_bytes_survive(raw: bytes) -> None:
    assert encode_path(decoded(raw)) == raw
    repaired(decoded(raw)).encode()
