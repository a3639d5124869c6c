"""Where the files of a repository are in an installed package."""

from __future__ import annotations

import pytest

from patchmgr.engines.installed_paths import InstalledPaths
from patchmgr.formats.path_maps import PathMap

KNOWN = (
    "pkg/a.py",
    "pkg/data/include/x.h",
    "pkg/data/include/other.h",
    "pkg/one/y.h",
    "pkg/two/y.h",
    "pkg/kernels/k.cu",
    "top.py",
    "../../../bin/pkg",
    "../../../share/include/z.h",
    "pkg-1.dist-info/RECORD",
)
MAPS = PathMap((("csrc/", "pkg/kernels/"), ("absent/", "pkg/absent/")))


def layout(*, other: str = "pkg/data/include/other.h") -> InstalledPaths:
    return InstalledPaths(KNOWN, MAPS, lambda path, place: place != other)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        pytest.param("pkg/a.py", "pkg/a.py", id="itself"),
        pytest.param("top.py", "top.py", id="module"),
        pytest.param("include/x.h", "pkg/data/include/x.h", id="copy"),
        pytest.param("include/other.h", None, id="other-content"),
        pytest.param("y.h", None, id="two-places"),
        pytest.param("include/z.h", None, id="outside"),
        pytest.param("csrc/k.cu", "pkg/kernels/k.cu", id="mapped"),
        pytest.param("csrc/none.cu", None, id="mapped-to-nothing"),
        pytest.param("tests/test_a.py", None, id="not-installed"),
    ],
)
def test_a_file_is_found(path: str, place: str | None) -> None:
    found = layout()
    assert found.find(path) == place
    assert found.find(path) == place


@pytest.mark.parametrize(
    ("path", "siblings", "place"),
    [
        pytest.param("pkg/new.py", (), "pkg/new.py", id="package"),
        pytest.param("pkg/deep/new.py", (), "pkg/deep/new.py", id="folder"),
        pytest.param("csrc/new.cu", (), "pkg/kernels/new.cu", id="mapped"),
        pytest.param(
            "include/n.h", ("include/none.h", "include/x.h"), "pkg/data/include/n.h", id="beside"
        ),
        pytest.param("include/n.h", ("include/other.h",), None, id="no-sibling"),
        pytest.param("new.py", (), None, id="top"),
        pytest.param("new.py", ("top.py",), None, id="top-beside"),
        pytest.param("tests/new.py", ("tests/a.py",), None, id="not-installed"),
        pytest.param("pkg-1.dist-info/x", (), None, id="metadata"),
        pytest.param("../x", (), None, id="outside"),
    ],
)
def test_a_new_file_has_a_place(path: str, siblings: tuple[str, ...], place: str | None) -> None:
    assert layout().place_new(path, siblings) == place
