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
    "a", "vllm/v1/core/block_pool.py", "with space/and more.txt", "umlaut/ü/漢字.py",
    decode_path(b"latin/\xe9\xff.txt"), ".gitignore", ".gitmodules", ".gitattributes",
    ".github/workflows/x.yml", "git/x", "a.git/x", ".gitx", "git~2", "sub/-dashed",
    "sub/--upload-pack=x", "...", "a..b", "..a", "upstream.lock", "x/.patchmgrs", "back\\slash",
    "deep/C:/x", "name:stream", "sitecustomize.py", "/".join(["x" * 255] * 15), "~/x",
]  # fmt: skip
REFUSED = {
    "is empty": [""],
    "is absolute": ["/etc/passwd", "//host/share", "\\\\host\\share", "\\x", "C:/x", "1:", "c:x"],
    "has a .. component": ["..", "../x", "a/../b", "a/..", "a\\..\\b"],
    "has a . component": [".", "./x", "a/./b"],
    "has an empty component": ["a//b", "a/"],
    "has a control character": ["a\0b", "a\nb", "a\r", "a\tb", "a\x7f", "a\x85"],
    "begins with a dash": ["-rf", "--upload-pack=x/y"],
    "is longer than 4096 bytes": ["x" * (MAX_PATH + 1)],
    "has a component longer than 255 bytes": ["a/" + "x" * 256, "é" * 128 + "/b"],
    "has a code point that no file name can hold": ["\ud800"],
    "contains the reserved name .git": [
        ".git", ".git/config", "sub/.git/config", ".GIT/config", "sub/.Git", "git~1/config",
        "GIT~1", ".git /x", ".git./x", ".git . ./x", ".git::$INDEX_ALLOCATION/x", "git~1 .:x",
        "sub\\.git\\config", ".g\u200cit/x", "\ufeff.git/x", ".git\u202e/x",
    ],
    "contains the reserved name .patchmgr": [
        ".patchmgr", "a/.PatchMgr/journal", ".patchmgr. /x", "PATCHM~1/x", ".patch\u200dmgr/x",
    ],
}  # fmt: skip
BAD = [(path, reason) for reason, paths in REFUSED.items() for path in paths]


@table("path", GOOD, ids=[ascii(path)[:40] for path in GOOD])
def test_a_path_that_upstreams_have_is_let_in_unchanged(path: str) -> None:
    assert check_path(path, what="The path") == path


@table(("path", "reason"), BAD, ids=[ascii(path)[:40] for path, _ in BAD])
def test_a_path_that_could_leave_its_place_is_refused(path: str, reason: str) -> None:
    assert refusal(path) == reason
    with pytest.raises(PatchmgrError) as caught:
        check_path(path, what="patch x.patch line 3: the path")
    assert caught.value.kind == "unsafe-path"
    assert caught.value.message.startswith("patch x.patch line 3: the path ")
    assert caught.value.message.isprintable()


@table(
    "path",
    [
        ".gitmodules",
        "sub/.GitModules",
        ".gitmodules .",
        "GITMOD~1",
        "gi7eba~1",
        ".git\u200dmodules",
    ],
)
def test_a_link_for_gitmodules_is_refused(path: str) -> None:
    with pytest.raises(PatchmgrError, match="must not be a symbolic link"):
        check_link(path, "120000", what="the path")


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
