"""Path maps of series.toml."""

from __future__ import annotations

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.series_settings import PathMap, parse_path_map
from tests.tables import table

MAP = b'[paths]\n"csrc/" = "pkg/kernels/"\n"csrc/deep/" = "pkg/deep/"\n"one" = "pkg/one.py"\n'


@table(
    ("path", "place"),
    [
        ("csrc/k.cu", "pkg/kernels/k.cu"),
        ("csrc/deep/k.cu", "pkg/deep/k.cu"),
        ("csrc", None),
        ("csrcs/k.cu", None),
        ("one", "pkg/one.py"),
        ("one/two", None),
        ("pkg/a.py", None),
    ],
)
def test_the_longest_pair_counts(path: str, place: str | None) -> None:
    assert parse_path_map(MAP).find(path) == place


@table(
    ("pairs", "path", "place"),
    {
        "out-of-a-folder": (b'"src/" = ""', "src/pkg/a.py", "pkg/a.py"),
        "elsewhere": (b'"src/" = ""', "pkg/a.py", None),
        "the-whole-repository": (b'"" = "pkg/"', "a/b.py", "pkg/a/b.py"),
        "as-it-is": (b'"" = ""', "a/b.py", "a/b.py"),
        "the-longer-one": (b'"" = "pkg/"\n"src/" = ""', "src/a.py", "a.py"),
    },
)
def test_an_empty_path_is_the_root(pairs: bytes, path: str, place: str | None) -> None:
    assert parse_path_map(b"[paths]\n" + pairs).find(path) == place


@table("raw", [b"", b"[groups]\nx = []\n", b"[paths]\n"])
def test_a_file_without_pairs_maps_nothing(raw: bytes) -> None:
    assert parse_path_map(raw) == PathMap()


@table(
    "raw",
    [
        b"[paths\n",
        b"\xff",
        b"paths = 1\n",
        b'[paths]\n"a/" = "b"\n',
        b'[paths]\n"a" = "b/"\n',
        b'[paths]\n"a" = 1\n',
        b'[paths]\n"a" = "../b"\n',
        b'[paths]\n"../a" = "b"\n',
        b'[paths]\n"a/" = "/etc/"\n',
        b'[paths]\n"a" = ".git/config"\n',
        b'[paths]\n"src" = ""\n',
        b'[paths]\n"" = "pkg"\n',
        b'[paths]\n"/" = ""\n',
    ],
)
def test_what_is_no_map_is_refused(raw: bytes) -> None:
    with pytest.raises(PatchmgrError) as error:
        parse_path_map(raw)
    assert error.value.kind in ("broken-workspace", "unsafe-path")
