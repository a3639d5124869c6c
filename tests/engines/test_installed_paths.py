"""Where the files of a repository are in an installed package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pytest

from patchmgr.engines.series.installed_paths import InstalledPaths
from patchmgr.formats.series_settings import PathMap
from tests.tables import table

Files = Mapping[str, str]


@dataclass(frozen=True)
class Memory:
    """A repository and a package as contents by path; without all files, those of patches."""

    repository: Files
    package: Files
    is_whole: bool = True

    def names(self, folder: str) -> tuple[str, ...]:
        split = (path.rpartition("/") for path in self.repository)
        return tuple(name for above, _, name in split if above == folder)

    def files(self) -> Iterable[str]:
        return self.repository

    def is_same(self, path: str, place: str) -> bool:
        found = self.repository.get(path)
        return found is not None and found == self.package.get(place)


def layout(
    repository: Files, package: Files, *pairs: tuple[str, str], is_whole: bool = True
) -> InstalledPaths:
    return InstalledPaths(package, PathMap(pairs), Memory(repository, package, is_whole))


def same(*paths: str, **moved: str) -> dict[str, str]:
    """Return files, each with a content of its own."""
    return {path: f"content of {path.rpartition('/')[2]}" for path in paths}


# As the sdists have it (file lists shortened): requests, PyYAML 5, triton, six, flashinfer,
# and a package with `package_dir`, made up.
SRC = (
    {**same("src/pkg/a.py", "src/pkg/b.py", "src/pkg/sub/c.py", "setup.py", "tests/test_a.py"),
     "src/pkg/__init__.py": "", "src/pkg/sub/__init__.py": "", "tests/__init__.py": ""},
    {**same("pkg/a.py", "pkg/b.py", "pkg/sub/c.py"),
     "pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/_version.py": "generated",
     "pkg/_speed.so": "compiled", "pkg-1.dist-info/RECORD": ""},
)  # fmt: skip
TWO_LIBS = (
    {**same("lib3/yaml/a.py", "lib3/yaml/b.py", "yaml/_yaml.pyx"),
     "lib/yaml/a.py": "for 2", "lib/yaml/b.py": "content of b.py"},
    {**same("yaml/a.py", "yaml/b.py"), "yaml/_yaml.so": "compiled"},
)  # fmt: skip
RENAMED = (
    {**same("python/triton/jit.py", "third_party/nvidia/backend/driver.py",
            "third_party/nvidia/language/cuda/lib.py", "python/src/ir.cc"),
     "third_party/nvidia/backend/__init__.py": "", "python/triton/__init__.py": "",
     "third_party/nvidia/language/cuda/__init__.py": "", "third_party/amd/backend/__init__.py": ""},
    {**same("triton/jit.py", "triton/backends/nvidia/driver.py",
            "triton/language/extra/cuda/lib.py"),
     "triton/__init__.py": "", "triton/backends/nvidia/__init__.py": "",
     "triton/language/extra/cuda/__init__.py": ""},
)  # fmt: skip
MODULE = (same("six.py", "setup.py", "test_six.py"), same("six.py"))
LONE = (same("src/typed.py", "src/test_typed.py"), {"typed.py": "of another release"})
COPIES = (
    same("pkg/a.py", "include/x.h", "include/y.h", "csrc/k.cu"),
    {**same("pkg/a.py", "pkg/data/include/x.h", "pkg/data/include/y.h", "pkg/one/y.h"),
     **same("../../../share/include/z.h")},
)  # fmt: skip
PACKAGE_DIR = (same("source/a.py", "source/b.py"), same("pkg/a.py", "pkg/b.py"))
NAMESPACE = (
    same("src/google/auth/a.py", "src/google/auth/b.py"),
    same("google/auth/a.py", "google/auth/b.py"),
)
BUILT = (  # no file is as the repository has it
    same("src/pkg/a.py", "src/pkg/b.py", "tests/pkg/c.py"),
    {"pkg/a.py": "built", "pkg/b.py": "built", "pkg/c.py": "built"},
)
TWIN_TESTS = (
    {**same("src/pkg/a.py"), "src/pkg/__init__.py": "one", "tests/pkg/__init__.py": "one"},
    {**same("pkg/a.py"), "pkg/__init__.py": "one"},
)
IN_WHEEL = (  # as a wheel has it whose root is the other library
    same("src/pkg/a.py"),
    same("pkg-1.data/purelib/pkg/a.py", "pkg-1.data/scripts/a.py", "pkg-1.dist-info/a.py"),
)
VENDORED = (same("six.py", "tests/vendor/six.py"), same("six.py"))


@table(
    ("files", "path", "place"),
    [
        pytest.param(SRC, "src/pkg/a.py", "pkg/a.py", id="src"),
        pytest.param(SRC, "src/pkg/__init__.py", "pkg/__init__.py", id="src-empty-file"),
        pytest.param(SRC, "src/pkg/sub/__init__.py", "pkg/sub/__init__.py", id="src-deep"),
        pytest.param(SRC, "tests/__init__.py", None, id="another-empty-file"),
        pytest.param(SRC, "tests/test_a.py", None, id="tests"),
        pytest.param(SRC, "setup.py", None, id="setup"),
        pytest.param(SRC, "src/pkg/_version.py", "pkg/_version.py", id="generated"),
        pytest.param(TWO_LIBS, "lib3/yaml/a.py", "yaml/a.py", id="lib3"),
        pytest.param(TWO_LIBS, "lib/yaml/a.py", None, id="lib-that-is-not-built"),
        pytest.param(TWO_LIBS, "yaml/_yaml.pyx", None, id="source-of-a-compiled-module"),
        pytest.param(RENAMED, "python/triton/jit.py", "triton/jit.py", id="python"),
        pytest.param(
            RENAMED, "third_party/nvidia/backend/driver.py", "triton/backends/nvidia/driver.py",
            id="renamed-folder",
        ),
        pytest.param(
            RENAMED, "third_party/nvidia/backend/__init__.py", "triton/backends/nvidia/__init__.py",
            id="renamed-folder-empty-file",
        ),
        pytest.param(RENAMED, "third_party/amd/backend/__init__.py", None, id="not-built"),
        pytest.param(MODULE, "six.py", "six.py", id="module"),
        pytest.param(MODULE, "setup.py", None, id="beside-a-module"),
        pytest.param(LONE, "src/typed.py", "typed.py", id="module-by-name"),
        pytest.param(LONE, "src/test_typed.py", None, id="beside-a-module-by-name"),
        pytest.param(COPIES, "pkg/a.py", "pkg/a.py", id="itself"),
        pytest.param(COPIES, "include/x.h", "pkg/data/include/x.h", id="copy"),
        pytest.param(COPIES, "include/z.h", None, id="outside"),
        pytest.param(COPIES, "csrc/k.cu", None, id="not-installed"),
        pytest.param(PACKAGE_DIR, "source/a.py", "pkg/a.py", id="package-dir"),
        pytest.param(NAMESPACE, "src/google/auth/a.py", "google/auth/a.py", id="namespace"),
        pytest.param(BUILT, "src/pkg/a.py", "pkg/a.py", id="all-differ"),
        pytest.param(TWIN_TESTS, "src/pkg/__init__.py", "pkg/__init__.py", id="twin"),
        pytest.param(TWIN_TESTS, "tests/pkg/__init__.py", None, id="twin-in-tests"),
        pytest.param(IN_WHEEL, "src/pkg/a.py", "pkg-1.data/purelib/pkg/a.py", id="in-a-wheel"),
        pytest.param(VENDORED, "tests/vendor/six.py", None, id="vendored"),
    ],
)  # fmt: skip
def test_a_file_is_found_by_content(
    files: tuple[Files, Files], path: str, place: str | None
) -> None:
    assert layout(*files).find(path) == place


@table(
    ("files", "path", "place"),
    [
        pytest.param(SRC, "src/pkg/new.py", "pkg/new.py", id="beside"),
        pytest.param(SRC, "src/pkg/new/deep.py", "pkg/new/deep.py", id="new-folder"),
        pytest.param(SRC, "src/other/new.py", None, id="another-package"),
        pytest.param(SRC, "src/new.py", None, id="another-module"),
        pytest.param(SRC, "tests/new.py", None, id="tests"),
        pytest.param(SRC, "new.py", None, id="top"),
        pytest.param(TWO_LIBS, "yaml/new.pyx", None, id="source-of-a-compiled-module"),
        pytest.param(TWO_LIBS, "lib3/yaml/new.py", "yaml/new.py", id="lib3"),
        pytest.param(RENAMED, "python/triton/new.py", "triton/new.py", id="python"),
        pytest.param(
            RENAMED, "third_party/nvidia/backend/new.py", "triton/backends/nvidia/new.py",
            id="renamed-folder",
        ),
        pytest.param(RENAMED, "python/src/new.cc", None, id="no-sibling-is-installed"),
        pytest.param(MODULE, "seven.py", "seven.py", id="beside-a-module"),
        pytest.param(MODULE, "NOTES.md", None, id="no-module-beside-a-module"),
        pytest.param(COPIES, "include/new.h", "pkg/data/include/new.h", id="copy"),
        pytest.param(COPIES, "csrc/new.cu", None, id="not-installed"),
        pytest.param(COPIES, "include/new/deep.h", "pkg/data/include/new/deep.h", id="copies"),
        pytest.param(COPIES, "other/new.h", None, id="new-top"),
        pytest.param(COPIES, "../x", None, id="outside"),
        pytest.param(
            IN_WHEEL, "src/pkg/new.py", "pkg-1.data/purelib/pkg/new.py", id="in-a-wheel"
        ),
        pytest.param(SRC, "pkg-1.dist-info/x", None, id="metadata"),
    ],
)  # fmt: skip
def test_a_new_file_goes_where_the_files_beside_it_are(
    files: tuple[Files, Files], path: str, place: str | None
) -> None:
    assert layout(*files).place_new(path) == place


@table(
    ("path", "place"),
    {
        "content": ("src/pkg/a.py", "pkg/a.py"),
        "beside": ("src/pkg/edited.py", "pkg/edited.py"),
        "not-installed": ("src/pkg/none.py", None),
    },
)
def test_patches_alone_tell_it_where_nothing_else_is_there(path: str, place: str | None) -> None:
    named = {**same("src/pkg/a.py"), "src/pkg/edited.py": "", "src/pkg/none.py": "x"}
    package = {**same("pkg/a.py"), "pkg/edited.py": "edited"}
    found = layout(named, package, is_whole=False)
    assert found.find(path) == place
    assert found.place_new("src/pkg/new.py") == "pkg/new.py"
    assert layout({}, package, is_whole=False).place_new("src/pkg/new.py") == "pkg/new.py"
    assert layout({}, package, is_whole=False).place_new("tests/new.py") is None


@table(
    ("path", "place"),
    {
        "mapped": ("csrc/k.cu", "pkg/kernels/k.cu"),
        "mapped-to-nothing": ("csrc/none.cu", None),
        "not-mapped": ("pkg/a.py", "pkg/a.py"),
    },
)
def test_a_path_map_comes_first(path: str, place: str | None) -> None:
    package = same("pkg/a.py", "pkg/kernels/k.cu", "other/none.cu")
    found = layout(same("pkg/a.py", "csrc/none.cu"), package, ("csrc/", "pkg/kernels/"))
    assert found.find(path) == place
    assert found.place_new("csrc/new.cu") == "pkg/kernels/new.cu"


@table(
    ("files", "place", "path"),
    [
        pytest.param(SRC, "pkg/a.py", "src/pkg/a.py", id="itself"),
        pytest.param(SRC, "pkg/_version.py", "src/pkg/_version.py", id="generated"),
        pytest.param(RENAMED, "triton/backends/nvidia/new.py", "third_party/nvidia/backend/new.py",
                     id="renamed-folder"),
        pytest.param(SRC, "pkg-1.dist-info/RECORD", None, id="metadata"),
        pytest.param(COPIES, "../../../share/include/z.h", None, id="outside"),
    ],
)  # fmt: skip
def test_an_installed_file_has_a_path_of_the_repository(
    files: tuple[Files, Files], place: str, path: str | None
) -> None:
    assert layout(*files).path_of(place) == path


@table(
    ("path", "is_missed"),
    [("src/pkg/gone.py", True), ("src/pkg/a.py", False), ("src/pkg/x.c", False),
     ("tests/test_a.py", False)],
)  # fmt: skip
def test_what_is_missed_has_its_like_beside_it(path: str, is_missed: bool) -> None:
    repository = {**SRC[0], **same("src/pkg/gone.py", "src/pkg/x.c")}
    assert layout(repository, SRC[1]).is_missed(path) == is_missed
