"""Binary patches and deltas."""

import base64
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats import binary
from patchmgr.formats.binary import apply_binary, apply_delta, read_binary
from patchmgr.formats.reader import PatchReader, split_lines
from patchmgr.model.patch import BinaryChange
from tests.tables import table


def packed(content: bytes) -> bytes:
    """Return content as git writes it: zlib, base 85, 52 bytes a line."""
    stream, made = zlib.compress(content), bytearray()
    for at in range(0, len(stream), 52):
        part = stream[at : at + 52]
        letter = 64 + len(part) if len(part) <= 26 else 70 + len(part)
        made += bytes([letter]) + base64.b85encode(part, pad=True) + b"\n"
    return bytes(made)


def half(content: bytes, method: str = "literal") -> bytes:
    return f"{method} {len(content)}\n".encode() + packed(content) + b"\n"


def read(raw: bytes) -> tuple[BinaryChange, PatchReader]:
    reader = PatchReader("x.patch", split_lines(raw))
    return read_binary(reader), reader


# What git format-patch --binary wrote for 400 bytes with some inserted and some doubled.
GIT_DELTA = b"delta 18\nacmbQh{F8aYG*$*b*Kmf3)22;4aRLB7#0P@_\n\n"
GIT_REVERSE = b"delta 13\nVcmey#Jb`(_w28B)O`gh_0st%A1_b~B\n\n"


def test_a_delta_of_git_is_read_and_applied_both_ways() -> None:
    old = bytes(range(200)) * 2
    forward, _ = read(GIT_DELTA + GIT_REVERSE)
    backward, _ = read(GIT_REVERSE)
    new = apply_binary(forward, old)
    assert new == old[:150] + b"\0NEW\0" + old[150:300] + old[200:]
    assert apply_binary(backward, new) == old


@given(st.binary(max_size=300), st.none() | st.binary(max_size=40))
def test_a_literal_survives_and_its_reverse_is_dropped(new: bytes, old: bytes | None) -> None:
    raw = half(new) + (half(old) if old is not None else b"") + b"diff --git a/x b/x\n"
    change, reader = read(raw)
    assert change == BinaryChange("literal", new)
    assert reader.line == b"diff --git a/x b/x\n"
    assert apply_binary(change, b"old") == new


def test_a_literal_replaces_whatever_there_was() -> None:
    assert apply_binary(BinaryChange("literal", b"new"), b"old") == b"new"


def test_the_last_blank_line_may_be_missing() -> None:
    assert read(half(b"x").removesuffix(b"\n"))[0].payload == b"x"


BAD = {
    "nothing": (b"", "literal or delta line is expected"),
    "another method": (b"bsdiff 3\n", "literal or delta line is expected"),
    "no size": (b"literal x\n", "literal or delta line is expected"),
    "a size too large": (b"literal 999999999999\n", "is too large"),
    "no data": (b"literal 3\n\n", "stated size"),
    "a size too small": (half(b"abc").replace(b" 3", b" 2"), "stated size"),
    "a size too big": (half(b"abc").replace(b" 3", b" 4"), "stated size"),
    "no length letter": (b"literal 3\n0cmZQ\n\n", "cannot be read"),
    "a letter beyond ASCII": (b"literal 3\n\xaacmZQ\n\n", "cannot be read"),
    "line too short": (b"literal 3\nKcmZQz\n\n", "cannot be read"),
    "line too long": (half(b"abc").replace(b"\n\n", b"00000\n\n"), "cannot be read"),
    "a wrong character": (b'literal 3\nDcm"Qz\n\n', "cannot be read"),
    "a number too large": (b"literal 3\nD~~~~~\n\n", "cannot be read"),
    "no zlib": (b"literal 3\nD00000\n\n", "does not decompress"),
    "data behind": (b"literal 0\n" + packed(b"") + packed(b"") + b"\n", "stated size"),
    "a bad reverse": (half(b"a") + b"literal 3\n\n", "stated size"),
}


@table(("raw", "problem"), BAD)
def test_a_damaged_binary_patch_is_refused(raw: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        read(raw)
    assert caught.value.kind == "bad-patch"


def test_a_bomb_is_not_unpacked_beyond_its_stated_size() -> None:
    with pytest.raises(PatchmgrError, match="stated size"):
        read(b"literal 10\n" + packed(b"\0" * 10_000_000) + b"\n")


DELTAS = {
    "insert": (b"\x00\x03\x03abc", b"", b"abc"),
    "copy all": (b"\x03\x03\x90\x03", b"abc", b"abc"),
    "copy a part": (b"\x03\x01\x91\x01\x01", b"abc", b"b"),
    "copy and insert": (b"\x03\x04\x90\x03\x01d", b"abc", b"abcd"),
    "copy 65536 bytes": (b"\x80\x80\x04\x80\x80\x04\x80", b"x" * 65536, b"x" * 65536),
    "to nothing": (b"\x03\x00", b"abc", b""),
}


@table(("delta", "old", "new"), DELTAS)
def test_a_delta_is_applied(delta: bytes, old: bytes, new: bytes) -> None:
    assert apply_delta(delta, old) == new


BAD_DELTAS = {
    "empty": (b"", "ends too early"),
    "cut in a size": (b"\x03\x80", "ends too early"),
    "cut in a copy": (b"\x03\x03\x90", "ends too early"),
    "cut in an insert": (b"\x03\x03\x03ab", "ends too early"),
    "another old size": (b"\x04\x03\x90\x03", "made for a file of 4 bytes, but the old file has 3"),
    "copy from beyond": (b"\x03\x03\x91\x01\x03", "from beyond the end of the old content"),
    "a short result": (b"\x03\x04\x90\x03", "makes a file whose size differs"),
    "a long result": (b"\x03\x02\x90\x03\x90\x03", "makes a file whose size differs"),
    "the reserved code": (b"\x03\x03\x00", "unknown instruction"),
    "an endless size": (b"\xff" * 20, "impossible size"),
    "a huge result": (b"\x03\xff\xff\xff\xff\x7f\x90\x03", "too large"),
}


@table(("delta", "problem"), BAD_DELTAS)
def test_a_delta_that_does_not_fit_is_refused(delta: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        apply_delta(delta, b"abc")
    assert caught.value.kind == "bad-patch"


def test_a_delta_cannot_make_more_than_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "MAX_CONTENT", 10)
    with pytest.raises(PatchmgrError, match="too large"):
        apply_delta(b"\x03\x0b\x90\x03", b"abc")


@given(st.binary(max_size=40), st.binary(max_size=10))
def test_any_delta_applies_or_is_refused(delta: bytes, old: bytes) -> None:
    with suppress(PatchmgrError):
        apply_delta(bytes([len(old)]) + delta, old)
