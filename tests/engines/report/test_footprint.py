"""The counts of a series."""

import pytest

from patchmgr.engines.report.footprint import Walk, footprint
from patchmgr.formats.patch_files import parse_patch
from patchmgr.model.footprint import (
    Area,
    Build,
    FileChange,
    FileFootprint,
    Footprint,
    Kind,
    PatchFile,
    Tally,
    Touch,
)
from patchmgr.model.patch import BinaryChange, FilePatch, Hunk, Patch
from patchmgr.model.snapshot import EXECUTABLE, GITLINK, REGULAR, SYMLINK
from patchmgr.model.upstream import Pin
from tests.engines.series import at
from tests.tables import table

PIN = Pin("v1", "1" * 40, "2" * 40)
ADD = Hunk(0, 0, 1, 1, b"", (b"+x\n",))


def change(
    path: str,
    *,
    old: str | None = REGULAR,
    new: str | None = REGULAR,
    before: bytes | None = b"a\n",
    after: bytes | None = b"b\n",
    source: str | None = None,
) -> FileChange:
    return FileChange(path, source, old, new, before, after)


def of(
    *changes: FileChange,
    net: dict[str, tuple[int, int] | None] | None = None,
    patches: tuple[Patch, ...] = (),
) -> Footprint:
    counts = {c.path: (1, 1) for c in changes} if net is None else net
    return footprint("s", PIN, patches, changes, counts)


def patch(*files: FilePatch, name: str = "a.patch") -> Patch:
    return Patch(name, b"", b"", b"", f"subject of {name}", b"", None, files, True)


@table(
    ("given", "counts", "expected"),
    [
        (change("a.py"), (1, 1), Kind.EDITED),
        (change("a.py", old=None, before=None), (1, 0), Kind.NEW),
        (change("a.py", old=None, before=None, after=b""), (0, 0), Kind.NEW),
        (change("a.py", new=None, after=None), (0, 1), Kind.DELETED),
        (change("a.py", source="b.py", after=b"a\n"), (0, 0), Kind.RENAMED),
        (change("a.py", source="b.py"), (1, 1), Kind.RENAMED),
        (change("a.py", new=EXECUTABLE, after=b"a\n"), (0, 0), Kind.MODE),
        (change("a.py", new=EXECUTABLE), (1, 1), Kind.EDITED),
        (change("a.py", new=SYMLINK), (1, 1), Kind.EDITED),
        (change("a.py", new=EXECUTABLE, before=None, after=None), (0, 0), Kind.MODE),
        (change("a.py", new=EXECUTABLE, before=None, after=None), (1, 0), Kind.EDITED),
        (change("a.py", before=None, after=None), (1, 0), Kind.EDITED),
        (change("a.py", before=None, after=None), None, Kind.EDITED),
        (change("sub", old=GITLINK, new=GITLINK, before=None, after=None), (1, 1), Kind.EDITED),
    ],
)
def test_kinds_of_change(given: FileChange, counts: tuple[int, int] | None, expected: Kind) -> None:
    result = of(given, net={given.path: counts})
    assert [file.kind for file in result.files] == [expected]
    assert [tally.name for tally in result.kinds] == [expected.value]


@table(
    ("path", "language", "area", "build"),
    [
        ("pkg/a.py", "Python", Area.CODE, Build.PYTHON),
        ("tests/test_a.py", "Python", Area.TESTS, Build.PYTHON),
        ("csrc/a.cu", "CUDA", Area.CODE, Build.REBUILD),
        ("third_party/tests/a.cc", "C++", Area.THIRD_PARTY, Build.REBUILD),
        ("setup.py", "Python", Area.CODE, Build.REBUILD),
        ("a.md", "Markdown", Area.CODE, Build.NEITHER),
    ],
)
def test_a_file_is_classified(path: str, language: str, area: Area, build: Build) -> None:
    (file,) = of(change(path)).files
    assert (file.language, file.area, file.build) == (language, area, build)


def test_a_shebang_is_read_on_the_side_that_exists() -> None:
    after = of(change("run", after=b"#!/bin/sh\n")).files[0]
    before = of(change("run", new=None, before=b"#!/bin/bash\n", after=None)).files[0]
    assert (after.language, before.language) == ("Shell", "Shell")


def test_links_and_submodules_have_no_language() -> None:
    link = change("a.py", old=None, new=SYMLINK, before=None, after=b"b.py")
    module = change("sub.py", old=GITLINK, new=GITLINK, before=b"1", after=b"2")
    assert [file.language for file in of(link, module).files] == ["other", "other"]


def test_a_binary_has_no_lines_and_is_counted() -> None:
    result = of(change("a.png"), change("b.md"), net={"a.png": None, "b.md": (2, 1)})
    assert result.total == Tally("total", files=2, binaries=1, added=2, removed=1)
    assert [file.is_binary for file in result.files] == [True, False]


def test_a_change_without_a_line_count_is_an_error() -> None:
    with pytest.raises(KeyError):
        of(change("a.py"), net={})


def test_a_path_that_ends_as_it_began_is_no_part_of_the_net_change() -> None:
    same = change("a.py", after=b"a\n")
    unread = change("b.py", before=None, after=None)
    given = patch(FilePatch("a.py", "a.py"), FilePatch("c.py", "c.py"))
    result = of(same, unread, change("c.py"), net={"c.py": (1, 1)}, patches=(given,))
    assert [file.path for file in result.files] == ["c.py"]
    assert result.passing == ("a.py",)


def test_files_name_their_patches_through_a_rename() -> None:
    patches = (
        patch(FilePatch("old.py", "old.py"), name="1"),
        patch(FilePatch("old.py", "new.py"), FilePatch("b.py", "b.py"), name="2"),
        patch(FilePatch("new.py", "new.py"), name="3"),
    )
    result = of(change("new.py", source="old.py"), change("b.py"), patches=patches)
    assert [file.patches for file in result.files] == [("1", "2", "3"), ("2",)]
    assert result.passing == ()


@table(
    ("paths", "expected"),
    [
        ([], []),
        (["a.py"], ["."]),
        (["p/a.py", "q/a.py"], ["p", "q"]),
        (["p/a.py", "p/b.py", "q/a.py", "q/b.py"], ["p", "q"]),
        (["p/x/a.py", "p/y/a.py", "p/a.py", "q/a.py"], ["p", "p/x", "p/y", "q"]),
        (["p/x/1/a.py", "p/x/2/b.py"], ["p/x"]),
        (["a.py", "b.py", "p/x/c.py"], [".", "p"]),
        (["vendor/a.py", "vendor/b.py", "p/a.py"], ["p", "third party"]),
        (["p/vendor/a.py", "p/x/b.py", "p/x/c.py"], ["p/x", "third party"]),
    ],
)
def test_a_folder_with_most_of_the_files_is_split(paths: list[str], expected: list[str]) -> None:
    result = of(*(change(path) for path in paths))
    assert sorted(tally.name for tally in result.folders) == expected


def test_groups_are_in_a_fixed_order_or_sorted_by_changed_lines() -> None:
    net: dict[FileChange, tuple[int, int]] = {
        change("vendor/a.cc"): (100, 0),
        change("tests/a.py", old=None, before=None): (5, 0),
        change("a.md"): (7, 7),
        change("b.toml"): (7, 7),
        change("pkg/a.py"): (1, 2),
        change("pkg/b.py", new=None, after=None): (0, 9),
    }
    result = of(*net, net={one.path: counts for one, counts in net.items()})
    assert [t.name for t in result.kinds] == ["new", "edited", "deleted"]
    assert [t.name for t in result.areas] == ["code", "tests", "third party"]
    assert [t.name for t in result.builds] == ["rebuild", "python", "neither"]
    assert [t.name for t in result.languages] == ["third party", "Python", "Markdown", "TOML"]
    assert result.languages[1] == Tally("Python", files=3, binaries=0, added=6, removed=11)
    for group in (result.kinds, result.areas, result.builds, result.languages, result.folders):
        assert sum(t.files for t in group) == result.total.files
        assert sum(t.added for t in group) == result.total.added
        assert sum(t.removed for t in group) == result.total.removed


@table(
    ("given", "expected"),
    [
        (FilePatch(None, "a.py", hunks=(ADD,)), Kind.NEW),
        (FilePatch("b.py", "a.py", is_copy=True), Kind.NEW),
        (FilePatch("a.py", None), Kind.DELETED),
        (FilePatch("b.py", "a.py", hunks=(ADD,)), Kind.RENAMED),
        (FilePatch("a.py", "a.py", hunks=(ADD,)), Kind.EDITED),
        (FilePatch("a.py", "a.py", binary=BinaryChange("literal", b"")), Kind.EDITED),
        (FilePatch("a.py", "a.py", old_mode=REGULAR, new_mode=EXECUTABLE), Kind.MODE),
    ],
)
def test_the_kind_of_a_change_in_a_patch(given: FilePatch, expected: Kind) -> None:
    (file,) = of(patches=(patch(given),)).patches[0].files
    assert (file.path, file.kind) == ("a.py", expected)
    assert file.renamed_from == ("b.py" if expected is Kind.RENAMED else None)
    assert file.is_binary == (given.binary is not None)


def test_a_patch_counts_its_own_lines_and_symbols() -> None:
    lines = (b" def f():\n", b"-    a()\n", b"+    b()\n", b"+    c()\n")
    edit = FilePatch("pkg/a.py", "pkg/a.py", hunks=(Hunk(1, 2, 1, 3, b"", lines),))
    script = FilePatch(None, "run", hunks=(Hunk(0, 0, 1, 1, b"", (b"+#!/bin/sh\n",)),))
    gone = FilePatch("old", None, hunks=(Hunk(1, 1, 0, 0, b"", (b"-#!/bin/sh\n",)),))
    changes = (
        change("pkg/a.py", before=b"def f():\n    a()\n", after=b"def f():\n    b()\n    c()\n"),
        change("run", old=None, before=None, after=b"#!/bin/sh\n"),
        change("old", new=None, before=b"#!/bin/sh\n", after=None),
    )
    result = of(*changes, patches=(patch(edit, script, gone),))
    (found,) = result.patches
    assert (found.name, found.subject) == ("a.patch", "subject of a.patch")
    assert (found.added, found.removed, found.languages) == (3, 2, ("Python", "Shell"))
    assert (result.patch_added, result.patch_removed) == (3, 2)
    assert found.files[0] == PatchFile(
        "pkg/a.py", None, kind=Kind.EDITED, is_binary=False, is_upstream=True, language="Python",
        area=Area.CODE, added=2, removed=1,
        touches=(Touch("f", is_new=False, is_upstream=True, added=2, removed=1),),
    )  # fmt: skip
    assert [file.language for file in found.files] == ["Python", "Shell", "Shell"]


def test_an_empty_series_is_all_zero() -> None:
    result = of()
    assert result.total == Tally("total", 0, 0, 0, 0)
    assert (result.files, result.patches, result.kinds, result.passing) == ((), (), (), ())


def test_a_file_footprint_is_complete() -> None:
    given = patch(FilePatch("old.py", "new.py"))
    result = of(change("new.py", source="old.py"), net={"new.py": (3, 4)}, patches=(given,))
    assert result.files == (FileFootprint(
        "new.py", "old.py", kind=Kind.RENAMED, is_binary=False, language="Python",
        area=Area.CODE, build=Build.PYTHON, added=3, removed=4, patches=("a.patch",),
    ),)  # fmt: skip


def test_counts_of_a_patch_file_are_those_of_git_apply_numstat() -> None:
    raw = (
        b"From 0 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n"
        b"Subject: all kinds\n\n---\n"
        b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
        b"@@ -1,3 +1,4 @@\n x\n-y\n+z\n+z\n w\n@@ -9 +10,0 @@\n-last\n"
        b"diff --git a/n.sh b/n.sh\nnew file mode 100755\n--- /dev/null\n+++ b/n.sh\n"
        b"@@ -0,0 +1 @@\n+#!/bin/sh\n\\ No newline at end of file\n"
        b"diff --git a/o b/p\nsimilarity index 100%\nrename from o\nrename to p\n"
        b"diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
    )
    (found,) = of(patches=(parse_patch(raw, name="a.patch"),)).patches
    assert [(f.path, f.kind, f.added, f.removed) for f in found.files] == [
        ("a.py", Kind.EDITED, 2, 2), ("n.sh", Kind.NEW, 1, 0), ("p", Kind.RENAMED, 0, 0),
        ("m", Kind.MODE, 0, 0),
    ]  # fmt: skip


def hunk(old: int, new: int, *lines: bytes) -> Hunk:
    return at(old, *lines, new=new)


def edit(*hunks: Hunk, path: str = "a.py") -> FilePatch:
    return FilePatch(path, path, hunks=hunks)


def pinned(content: bytes | None, path: str = "a.py") -> FileChange:
    return FileChange(path, None, REGULAR, REGULAR, content, content)


def touches(walk: Walk, change: FilePatch) -> tuple[Touch, ...]:
    return walk.step(patch(change))[0].touches


SOURCE = b"def f():\n    a()\n    b()\n\n\ndef g():\n    pass\n"


def test_each_changed_line_counts_for_its_symbol_on_its_own_side() -> None:
    change = edit(
        hunk(1, 1, b" def f():\n", b"-    a()\n", b"+    c()\n", b"+    d()\n", b"     b()\n"),
        hunk(6, 7, b" def g():\n", b"-    pass\n", b"+    return 1\n"),
    )
    step = Walk([pinned(SOURCE)]).step(patch(change))[0]
    assert step.is_upstream
    assert step.after == SOURCE.replace(b"a()", b"c()\n    d()").replace(b"pass", b"return 1")
    assert step.touches == (Touch("f", False, True, 2, 1), Touch("g", False, True, 1, 1))


def test_a_new_symbol_is_new_once_and_never_upstreams() -> None:
    walk = Walk([pinned(SOURCE)])
    add = hunk(3, 3, b"     b()\n", b"+\n", b"+\n", b"+def n():\n", b"+    pass\n", b" \n", b" \n")
    assert touches(walk, edit(add)) == (Touch("n", True, False, 4, 0),)
    again = hunk(6, 6, b" def n():\n", b"-    pass\n", b"+    n()\n", b" \n")
    assert touches(walk, edit(again)) == (Touch("n", False, False, 1, 1),)


@table(
    ("content", "change", "touch"),
    {
        "blank-lines-with-the-code-next-to-them": (SOURCE,
            hunk(3, 3, b"     b()\n", b"-\n", b"+    c()\n", b"+\n", b" \n", b" def g():\n"),
            Touch("f", False, True, 2, 1)),
        "blank-lines-alone": (SOURCE, hunk(3, 3, b"     b()\n", b"-\n", b" \n", b" def g():\n"),
            Touch(None, False, True, 0, 1)),
        "a-hunk-that-moved": (b"import os\n\n\n" + SOURCE,
            hunk(6, 6, b" def g():\n", b"-    pass\n", b"+    return 1\n"),
            Touch("g", False, True, 1, 1)),
    },
)  # fmt: skip
def test_lines_count_where_they_are(content: bytes, change: Hunk, touch: Touch) -> None:
    assert touches(Walk([pinned(content)]), edit(change)) == (touch,)


def test_a_file_has_no_symbols_after_a_patch_that_does_not_apply() -> None:
    walk = Walk([pinned(SOURCE)])
    other = edit(hunk(1, 1, b" def other():\n", b"-    a()\n", b"+    b()\n"))
    first = walk.step(patch(other))[0]
    assert first.after is None
    assert first.touches == (Touch("f", False, True, 0, 1), Touch(None, False, True, 1, 0))
    good = edit(hunk(6, 6, b" def g():\n", b"-    pass\n", b"+    return 1\n"))
    assert touches(walk, good) == (Touch(None, False, True, 1, 1),)


def test_a_file_with_unknown_content_has_no_symbols() -> None:
    change = edit(hunk(2, 2, b"-    a()\n", b"+    b()\n"))
    for walk in (Walk([]), Walk([pinned(None)])):
        step = walk.step(patch(change))[0]
        assert step.is_upstream
        assert step.touches == (Touch(None, False, True, 1, 1),)


def test_a_file_of_the_series_is_not_upstreams() -> None:
    walk = Walk([FileChange("n.py", None, None, REGULAR, None, b"x")])
    new = FilePatch(None, "n.py", hunks=(hunk(0, 1, b"+def f():\n", b"+    a()\n"),))
    step = walk.step(patch(new))[0]
    assert (step.before, step.is_upstream, step.touches) == (b"", False, ())
    change = edit(hunk(1, 1, b" def f():\n", b"-    a()\n", b"+    b()\n"), path="n.py")
    assert touches(walk, change) == (Touch("f", False, False, 1, 1),)


def test_renames_carry_the_file_and_can_cross() -> None:
    walk = Walk([pinned(b"def a(): pass\n", "a.py"), pinned(b"def b(): pass\n", "b.py")])
    there = FilePatch("a.py", "b.py", hunks=(hunk(1, 1, b"-def a(): pass\n", b"+def a(): x\n"),))
    back = FilePatch("b.py", "a.py")
    first, second = walk.step(patch(there, back))
    assert (first.after, second.after) == (b"def a(): x\n", b"def b(): pass\n")
    assert first.touches == (Touch("a", False, True, 1, 1),)
    assert second.touches == ()
    moved = edit(hunk(1, 1, b"-def a(): x\n", b"+def a(): y\n"), path="b.py")
    assert touches(walk, moved) == (Touch("a", False, True, 1, 1),)


def test_a_copy_is_a_new_file_and_leaves_its_source() -> None:
    walk = Walk([pinned(SOURCE)])
    copy = FilePatch("a.py", "c.py", is_copy=True)
    step = walk.step(patch(copy))[0]
    assert (step.after, step.is_upstream, step.touches) == (SOURCE, False, ())
    change = edit(hunk(2, 2, b"-    a()\n", b"+    c()\n"))
    assert touches(walk, change) == (Touch("f", False, True, 1, 1),)


def test_a_file_deleted_and_created_again_is_upstreams() -> None:
    walk = Walk([pinned(b"def f(): pass\n")])
    line = b"def f(): pass\n"
    gone = walk.step(patch(FilePatch("a.py", None, hunks=(hunk(1, 0, b"-" + line),))))[0]
    assert (gone.before, gone.is_upstream, gone.touches) == (line, True, ())
    new = FilePatch(None, "a.py", hunks=(hunk(0, 1, b"+" + line, b"+def g(): pass\n"),))
    assert walk.step(patch(new))[0].is_upstream
    change = edit(hunk(1, 1, b"-" + line, b"+def f(): x\n", b"-def g(): pass\n"))
    assert touches(walk, change) == (Touch("f", False, True, 1, 1), Touch("g", False, False, 0, 1))


def test_a_series_rename_starts_at_the_old_path() -> None:
    walk = Walk([FileChange("new.py", "old.py", REGULAR, REGULAR, SOURCE, SOURCE)])
    step = walk.step(patch(FilePatch("old.py", "new.py")))[0]
    assert (step.after, step.is_upstream) == (SOURCE, True)


def test_a_binary_has_no_touches_and_an_unknown_content() -> None:
    change = FilePatch("a.bin", "a.bin", binary=BinaryChange("literal", b"x"))
    step = Walk([pinned(b"\0", "a.bin")]).step(patch(change))[0]
    assert (step.before, step.after, step.touches) == (b"\0", None, ())
