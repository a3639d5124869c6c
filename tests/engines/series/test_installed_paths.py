"""Where the files of a repository are in an installed package."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from patchmgr.engines.series.installed_paths import InstalledPaths
from patchmgr.formats.series_settings import PathMap
from tests.tables import table

Files = Mapping[str, str]


@dataclass(frozen=True)
class Memory:
    """A repository and a package, as contents by path; unless `is_whole`, not all are known."""

    repository: Files
    package: Files
    is_whole: bool = True

    def names(self, folder: str) -> tuple[str, ...]:
        split = (path.rpartition("/") for path in self.repository)
        return tuple(name for above, _, name in split if above == folder)

    def is_gone(self, folder: str) -> bool:
        return not self.names(folder)

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
    """Return files with different contents."""
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
    {
        "src": (SRC, "src/pkg/a.py", "pkg/a.py"),
        "src-empty-file": (SRC, "src/pkg/__init__.py", "pkg/__init__.py"),
        "src-deep": (SRC, "src/pkg/sub/__init__.py", "pkg/sub/__init__.py"),
        "another-empty-file": (SRC, "tests/__init__.py", None),
        "tests": (SRC, "tests/test_a.py", None),
        "setup": (SRC, "setup.py", None),
        "generated": (SRC, "src/pkg/_version.py", "pkg/_version.py"),
        "lib3": (TWO_LIBS, "lib3/yaml/a.py", "yaml/a.py"),
        "lib-that-is-not-built": (TWO_LIBS, "lib/yaml/a.py", None),
        "source-of-a-compiled-module": (TWO_LIBS, "yaml/_yaml.pyx", None),
        "python": (RENAMED, "python/triton/jit.py", "triton/jit.py"),
        "renamed-folder": (RENAMED, "third_party/nvidia/backend/driver.py",
            "triton/backends/nvidia/driver.py"),
        "renamed-folder-empty-file": (RENAMED, "third_party/nvidia/backend/__init__.py",
            "triton/backends/nvidia/__init__.py"),
        "not-built": (RENAMED, "third_party/amd/backend/__init__.py", None),
        "module": (MODULE, "six.py", "six.py"),
        "beside-a-module": (MODULE, "setup.py", None),
        "module-by-name": (LONE, "src/typed.py", "typed.py"),
        "beside-a-module-by-name": (LONE, "src/test_typed.py", None),
        "itself": (COPIES, "pkg/a.py", "pkg/a.py"),
        "copy": (COPIES, "include/x.h", "pkg/data/include/x.h"),
        "outside": (COPIES, "include/z.h", None),
        "not-installed": (COPIES, "csrc/k.cu", None),
        "package-dir": (PACKAGE_DIR, "source/a.py", "pkg/a.py"),
        "namespace": (NAMESPACE, "src/google/auth/a.py", "google/auth/a.py"),
        "all-differ": (BUILT, "src/pkg/a.py", "pkg/a.py"),
        "twin": (TWIN_TESTS, "src/pkg/__init__.py", "pkg/__init__.py"),
        "twin-in-tests": (TWIN_TESTS, "tests/pkg/__init__.py", None),
        "in-a-wheel": (IN_WHEEL, "src/pkg/a.py", "pkg-1.data/purelib/pkg/a.py"),
        "vendored": (VENDORED, "tests/vendor/six.py", None),
    },
)  # fmt: skip
def test_files_match_by_content(files: tuple[Files, Files], path: str, place: str | None) -> None:
    assert layout(*files).find(path) == place


@table(
    ("files", "path", "place"),
    {
        "beside": (SRC, "src/pkg/new.py", "pkg/new.py"),
        "new-folder": (SRC, "src/pkg/new/deep.py", "pkg/new/deep.py"),
        "another-package": (SRC, "src/other/new.py", None),
        "another-module": (SRC, "src/new.py", None),
        "tests": (SRC, "tests/new.py", None),
        "top": (SRC, "new.py", None),
        "source-of-a-compiled-module": (TWO_LIBS, "yaml/new.pyx", None),
        "lib3": (TWO_LIBS, "lib3/yaml/new.py", "yaml/new.py"),
        "python": (RENAMED, "python/triton/new.py", "triton/new.py"),
        "renamed-folder": (RENAMED, "third_party/nvidia/backend/new.py",
            "triton/backends/nvidia/new.py"),
        "no-sibling-is-installed": (RENAMED, "python/src/new.cc", None),
        "beside-a-module": (MODULE, "seven.py", "seven.py"),
        "no-module-beside-a-module": (MODULE, "NOTES.md", None),
        "copy": (COPIES, "include/new.h", "pkg/data/include/new.h"),
        "not-installed": (COPIES, "csrc/new.cu", None),
        "copies": (COPIES, "include/new/deep.h", "pkg/data/include/new/deep.h"),
        "new-top": (COPIES, "other/new.h", None),
        "outside": (COPIES, "../x", None),
        "in-a-wheel": (IN_WHEEL, "src/pkg/new.py", "pkg-1.data/purelib/pkg/new.py"),
        "metadata": (SRC, "pkg-1.dist-info/x", None),
    },
)  # fmt: skip
def test_new_files_join_neighbors(files: tuple[Files, Files], path: str, place: str | None) -> None:
    assert layout(*files).place_new(path) == place


@table(
    ("path", "place"),
    {
        "content": ("src/pkg/a.py", "pkg/a.py"),
        "beside": ("src/pkg/edited.py", "pkg/edited.py"),
        "not-installed": ("src/pkg/none.py", None),
    },
)
def test_the_files_that_patches_name_suffice_if_need_be(path: str, place: str | None) -> None:
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
    {
        "itself": (SRC, "pkg/a.py", "src/pkg/a.py"),
        "generated": (SRC, "pkg/_version.py", "src/pkg/_version.py"),
        "renamed-folder": (RENAMED, "triton/backends/nvidia/new.py",
            "third_party/nvidia/backend/new.py"),
        "metadata": (SRC, "pkg-1.dist-info/RECORD", None),
        "outside": (COPIES, "../../../share/include/z.h", None),
    },
)  # fmt: skip
def test_paths_of_installed_files(files: tuple[Files, Files], place: str, path: str | None) -> None:
    assert layout(*files).path_of(place) == path


@table(
    ("path", "is_missed"),
    [("src/pkg/gone.py", True), ("src/pkg/a.py", False), ("src/pkg/x.c", False),
     ("tests/test_a.py", False)],
)  # fmt: skip
def test_a_file_is_missed_if_similar_files_are_installed(path: str, is_missed: bool) -> None:
    repository = {**SRC[0], **same("src/pkg/gone.py", "src/pkg/x.c")}
    assert layout(repository, SRC[1]).is_missed(path) == is_missed
