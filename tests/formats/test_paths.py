"""Paths that are let in, and paths that are not."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import (
    MAX_PATH,
    check_link,
    check_path,
    decode_path,
    encode_path,
    refusal,
)
from tests.tables import table

GOOD = [
    "a",
    "vllm/v1/core/block_pool.py",
    "with space/and more.txt",
    "umlaut/ü/漢字.py",
    decode_path(b"latin/\xe9\xff.txt"),
    ".gitignore",
    ".gitmodules",
    ".gitattributes",
    ".github/workflows/x.yml",
    "git/x",
    "a.git/x",
    ".gitx",
    "git~2",
    "sub/-dashed",
    "sub/--upload-pack=x",
    "...",
    "a..b",
    "..a",
    "upstream.lock",
    "x/.patchmgrs",
    "back\\slash",
    "deep/C:/x",
    "name:stream",
    "sitecustomize.py",
    "/".join(["x" * 255] * 15),
    "~/x",
]
BAD = [
    ("", "is empty"),
    ("/etc/passwd", "is absolute"),
    ("//host/share", "is absolute"),
    ("\\\\host\\share", "is absolute"),
    ("\\x", "is absolute"),
    ("C:/x", "is absolute"),
    ("1:", "is absolute"),
    ("c:x", "is absolute"),
    ("..", "has a .. component"),
    ("../x", "has a .. component"),
    ("a/../b", "has a .. component"),
    ("a/..", "has a .. component"),
    ("a\\..\\b", "has a .. component"),
    (".", "has a . component"),
    ("./x", "has a . component"),
    ("a/./b", "has a . component"),
    ("a//b", "has an empty component"),
    ("a/", "has an empty component"),
    ("a\0b", "has a control character"),
    ("a\nb", "has a control character"),
    ("a\r", "has a control character"),
    ("a\tb", "has a control character"),
    ("a\x7f", "has a control character"),
    ("a\x85", "has a control character"),
    ("-rf", "begins with a dash"),
    ("--upload-pack=x/y", "begins with a dash"),
    ("x" * (MAX_PATH + 1), "is longer than 4096 bytes"),
    ("a/" + "x" * 256, "has a component longer than 255 bytes"),
    ("é" * 128 + "/b", "has a component longer than 255 bytes"),
    ("\ud800", "has a code point that no file name can hold"),
    (".git", "contains the reserved name .git"),
    (".git/config", "contains the reserved name .git"),
    ("sub/.git/config", "contains the reserved name .git"),
    (".GIT/config", "contains the reserved name .git"),
    ("sub/.Git", "contains the reserved name .git"),
    ("git~1/config", "contains the reserved name .git"),
    ("GIT~1", "contains the reserved name .git"),
    (".git /x", "contains the reserved name .git"),
    (".git./x", "contains the reserved name .git"),
    (".git . ./x", "contains the reserved name .git"),
    (".git::$INDEX_ALLOCATION/x", "contains the reserved name .git"),
    ("git~1 .:x", "contains the reserved name .git"),
    ("sub\\.git\\config", "contains the reserved name .git"),
    (".g\u200cit/x", "contains the reserved name .git"),
    ("\ufeff.git/x", "contains the reserved name .git"),
    (".git\u202e/x", "contains the reserved name .git"),
    (".patchmgr", "contains the reserved name .patchmgr"),
    ("a/.PatchMgr/journal", "contains the reserved name .patchmgr"),
    (".patchmgr. /x", "contains the reserved name .patchmgr"),
    ("PATCHM~1/x", "contains the reserved name .patchmgr"),
    (".patch\u200dmgr/x", "contains the reserved name .patchmgr"),
]


@table("path", GOOD, ids=[ascii(path)[:40] for path in GOOD])
def test_a_path_that_upstreams_have_is_let_in_unchanged(path: str) -> None:
    assert check_path(path, what="The path") == path


@table(("path", "reason"), BAD, ids=[ascii(path)[:40] for path, _ in BAD])
def test_a_path_that_could_leave_its_place_is_refused(path: str, reason: str) -> None:
    assert refusal(path) == reason
    with pytest.raises(PatchmgrError) as caught:
        check_path(path, what="Patch x.patch line 3: the path")
    assert caught.value.kind == "unsafe-path"
    assert caught.value.message.startswith("Patch x.patch line 3: the path ")
    assert caught.value.message.isprintable()


@table(
    ("path", "mode"),
    {
        "at the top": (".gitmodules", "120000"),
        "below, other case": ("sub/.GitModules", "120000"),
        "windows end": (".gitmodules .", "120000"),
        "short name": ("GITMOD~1", "120000"),
        "hashed short name": ("gi7eba~1", "120000"),
        "ignored on HFS": (".git\u200dmodules", "120000"),
    },
)
def test_a_link_for_gitmodules_is_refused(path: str, mode: str) -> None:
    with pytest.raises(PatchmgrError, match="must not be a symbolic link"):
        check_link(path, mode, what="the path")


@table(
    ("path", "mode"),
    {
        "a file": (".gitmodules", "100644"),
        "no mode known": (".gitmodules", None),
        "another name": (".gitignore", "120000"),
        "no dot": ("gitmodules", "120000"),
    },
)
def test_other_links_and_files_stay(path: str, mode: str | None) -> None:
    check_link(path, mode, what="the path")


@given(st.binary())
def test_path_bytes_survive_decoding(raw: bytes) -> None:
    assert encode_path(decode_path(raw)) == raw


@given(st.text(alphabet="ab./\\:~ -git~1CP\u200c", max_size=12))
def test_what_is_let_in_stays_inside_on_any_system(path: str) -> None:
    if refusal(path) is None:
        for pure in (PurePosixPath(path), PureWindowsPath(path)):
            assert not pure.is_absolute()
            assert not pure.drive
            assert ".." not in pure.parts
            assert not {part.casefold() for part in pure.parts} & {".git", "git~1"}
