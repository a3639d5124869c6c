"""StGit's records of a stack, old and new."""

import json

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_package import Stack, read_stack
from tests.tables import table

A, B, C, D = ("abcd"[n] * 40 for n in range(4))
STACK = Stack((("one", A), ("two", B)), (("three", C),), (("four", D),))
LINES = f"""\
Version: 1
Previous: {D}
Head: {B}
Applied:
  one: {A}
  two: {B}
Unapplied:
  three: {C}
Hidden:
  four: {D}
"""
DOCUMENT = {
    "version": 5,
    "prev": None,
    "head": B,
    "applied": ["one", "two"],
    "unapplied": ["three"],
    "hidden": ["four"],
    "patches": {"one": {"oid": A}, "two": {"oid": B}, "three": {"oid": C}, "four": {"oid": D}},
}


@table("text", {"lines": LINES, "json": json.dumps(DOCUMENT)})
def test_a_stack_is_read(text: str) -> None:
    assert read_stack(text.encode()) == STACK


def test_an_empty_stack() -> None:
    text = "Version: 1\nPrevious: None\nHead: x\nApplied:\nUnapplied:\nHidden:\n"
    assert read_stack(text.encode()) == Stack((), (), ())


@table(
    "raw",
    [
        b"\xff", b"what\n", b"Applied:\n  one: abc\n", b"  one: " + A.encode(), b"{", b"{}",
        b'{"patches": []}', json.dumps({**DOCUMENT, "applied": ["none"]}).encode(),
        json.dumps({**DOCUMENT, "applied": {}}).encode(),
        json.dumps(DOCUMENT).replace(A, "--help").encode(),
        json.dumps(DOCUMENT).replace(f'"{A}"', "1").encode(), b"{" + b'"a":[' * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_stack_is_refused(raw: bytes) -> None:
    with pytest.raises(PatchmgrError, match="cannot be read") as caught:
        read_stack(raw)
    assert caught.value.kind == "bad-stack"
