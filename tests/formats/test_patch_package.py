"""Names of patch-package's files."""

from patchmgr.formats.patch_package import PackagePatch, names_folder, read_name, written_name
from tests.tables import table

# Each as getPackageDetailsFromPatchFilename of patch-package 8.0.1 reads it.
NAMES = {
    "left-pad+1.3.0.patch": PackagePatch(("left-pad",), "1.3.0"),
    "@scope+pkg+1.0.0-rc.1.patch": PackagePatch(("@scope/pkg",), "1.0.0-rc.1"),
    "pkg+1.0.0+001.patch": PackagePatch(("pkg",), "1.0.0", 1),
    "pkg+1.0.0+012+say-why.patch": PackagePatch(("pkg",), "1.0.0", 12, "say-why"),
    "a++@b+c+2.0.0.patch": PackagePatch(("a", "@b/c"), "2.0.0"),
    "@a+b++c++d+1.2.3+001+x.patch": PackagePatch(("@a/b", "c", "d"), "1.2.3", 1, "x"),
}
STRIPS = [3, 4, 3, 3, 6, 8]


@table(("name", "patch"), NAMES.items())
def test_a_name_is_read_and_written(name: str, patch: PackagePatch) -> None:
    assert read_name(name) == patch
    assert written_name(patch) == name


@table(("patch", "strip"), list(zip(NAMES.values(), STRIPS, strict=True)))
def test_the_strip_count_leads_into_the_package(patch: PackagePatch, strip: int) -> None:
    path = f"a/{patch.folder}/lib/x.js"
    assert path.split("/", strip)[-1] == "lib/x.js"
    assert patch.strip == strip


def test_a_patch_of_a_development_package() -> None:
    assert read_name("pkg+1.0.0.dev.patch") == PackagePatch(("pkg",), "1.0.0")


@table(
    "name",
    ["fix.patch", "pkg+1.0.patch", "pkg+1.0.0.diff", "a+b+c+1.0.0.patch", "+1.0.0.patch",
     "pkg+1.0.0+one.patch", "pkg+1.0.0+001+a+b.patch", "x/pkg+1.0.0.patch", "a+1.0.0++b.patch",
     "..+1.0.0.patch+", "a b+1.0.0.patch", "@+a+1.0.0.patch"],
)  # fmt: skip
def test_other_names(name: str) -> None:
    assert read_name(name) is None


FOLDER = "node_modules/@a/b"
DIFFS = {
    b"diff --git a/node_modules/@a/b/x b/node_modules/@a/b/x\n": True,
    b'diff --git "a/node_modules/@a/b/\\303" "b/node_modules/@a/b/\\303"\n': True,
    b"diff --git a/node_modules/@a/bc/x b/node_modules/@a/bc/x\n": False,
    b"diff --git a/x b/x\n": False,
    b"--- a/node_modules/@a/b/x\n": False,
}


@table(("diff", "wanted"), DIFFS.items())
def test_a_diff_is_of_a_package_if_all_its_files_are(diff: bytes, wanted: bool) -> None:
    assert names_folder(diff, FOLDER) is wanted
    assert not names_folder(diff + b"diff --git a/other b/other\n", FOLDER)
