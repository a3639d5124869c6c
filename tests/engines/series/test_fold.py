"""Patches applied exactly as they are written, or refused."""

import pytest
from msgspec.structs import replace

from patchmgr.engines.series.fold import FileStep, Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import BinaryChange, FilePatch
from patchmgr.model.snapshot import (
    EMPTY_BLOB,
    EXECUTABLE,
    GITLINK,
    REGULAR,
    SYMLINK,
    Entry,
    blob_id,
)
from tests.engines.ports import MemoryBlobs
from tests.engines.series import (
    File,
    Files,
    Upstream,
    at,
    binary,
    created,
    deleted,
    edited,
    entry_of,
    executable,
    link,
    moved,
    patch_of,
    submodule,
    text,
)
from tests.tables import table

ONE, TWO, THREE = text("a b c"), text("a B c"), text("x y z")
EMPTY = FilePatch(None, "new", None, REGULAR)


class Side:
    """Some files, and the patches on top."""

    def __init__(self, files: Files) -> None:
        self.blobs = MemoryBlobs()
        self.overlay = Overlay(Upstream(self.blobs, files))

    def step(self, *files: FilePatch) -> tuple[FileStep, ...]:
        return step_patch(self.overlay, patch_of("p.patch", *files), self.blobs)

    def changes(self) -> dict[str, Entry | None]:
        return dict(self.overlay.changes())


def _entries(files: dict[str, File | None]) -> dict[str, Entry | None]:
    blobs = MemoryBlobs()
    return {p: None if f is None else entry_of(blobs, f) for p, f in files.items()}


@table(
    ("before", "changes", "after"),
    {
        "edit-that-changes-nothing": ({"f": ONE},
            [FilePatch("f", "f", hunks=(at(2, b"-b\n", b"+b\n"),))], {}),
        "creation-with-mode": ({}, [created("f", executable(ONE))], {"f": executable(ONE)}),
        "creation-without-mode": ({}, [FilePatch(None, "f", hunks=(at(0, b"+a\n"),))],
            {"f": text("a")}),
        "creation-that-only-its-hunk-tells": ({}, [FilePatch("f", "f", hunks=(at(0, b"+a\n"),))],
            {"f": text("a")}),
        "lines-for-an-empty-file": ({"f": b""}, [FilePatch("f", "f", hunks=(at(0, b"+a\n"),))],
            {"f": text("a")}),
        "deletion-of-an-empty-file": ({"f": b""}, [deleted("f", b"")], {"f": None}),
        "rename-and-mode": ({"f": ONE}, [moved("f", "g", ONE, executable(ONE))],
            {"f": None, "g": executable(ONE)}),
        "mode-back": ({"f": executable(ONE)}, [edited("f", executable(ONE), TWO)], {"f": TWO}),
        "mode-is-kept": ({"f": executable(ONE)},
            [FilePatch("f", "f", hunks=edited("f", ONE, TWO).hunks)], {"f": executable(TWO)}),
        "binary-deletion": ({"f": b"\0"}, [binary("f", b"\0", None)], {"f": None}),
        "binary-delta": ({"f": b"abc"},
            [FilePatch("f", "f", binary=BinaryChange("delta", b"\x03\x02\x91\x01\x02"))],
            {"f": b"bc"}),
        "old-id-of-an-empty-file": ({"f": ONE},
            [FilePatch("f", "f", hunks=edited("f", ONE, TWO).hunks, old_id="e69de29")], {"f": TWO}),
        "link-creation": ({}, [created("l", link(b"f"))], {"l": link(b"f")}),
        "link": ({"l": link(b"f")}, [edited("l", link(b"f"), link(b"g"))], {"l": link(b"g")}),
        "link-deleted": ({"l": link(b"f")}, [deleted("l", link(b"f"))], {"l": None}),
        "submodule-new": ({}, [created("m", submodule("1"))], {"m": submodule("1")}),
        "submodule": ({"m": submodule("1")}, [edited("m", submodule("1"), submodule("2"))],
            {"m": submodule("2")}),
        "submodule-renamed": ({"m": submodule("1")},
            [moved("m", "n", submodule("1"), submodule("1"))], {"m": None, "n": submodule("1")}),
        "submodule-gone": ({"m": submodule("1")}, [deleted("m", submodule("1"))], {"m": None}),
    },
)  # fmt: skip
def test_a_patch_changes_what_it_says(
    before: Files, changes: list[FilePatch], after: dict[str, File | None]
) -> None:
    side = Side(before)
    side.step(*changes)
    assert side.changes() == _entries(after)


@table(
    ("before", "changes", "reason"),
    {
        "edit-of-nothing": ({}, [edited("f", ONE, TWO)], "f: the file does not exist"),
        "other-content": ({"f": THREE}, [edited("f", ONE, TWO)], "hunk 1 at line 1"),
        "the-hunk-is-named": ({"f": text("a b c d e f g h i j q")},
            [edited("f", text("a b c d e f g h i j k"), text("a X b c d e f g h i j"), context=1)],
            "hunk 2 at line 10: its lines were not found"),
        "creation": ({"f": ONE}, [created("f", TWO)], "that it creates already exists"),
        "lines-for-an-empty-file-that-has-some": ({"f": ONE},
            [FilePatch("f", "f", hunks=(at(0, b"+a\n"),), old_id="e69de29")],
            "fits only an empty file"),
        "lines-at-the-top-without-context-or-id": ({"f": ONE},
            [FilePatch("f", "f", hunks=(at(0, b"+a\n"),))], "fits only an empty file"),
        "rename-target": ({"f": ONE, "g": TWO}, [moved("f", "g", ONE, ONE)],
            "g: the file that it creates already exists"),
        "copy-target": ({"f": ONE, "g": TWO}, [moved("f", "g", ONE, ONE, is_copy=True)],
            "g: the file that it creates already exists"),
        "another-file-goes": ({"f": ONE, "g": ONE},
            [deleted("f", ONE), moved("f", "g", ONE, ONE, is_copy=True)],
            "g: the file that it creates already exists"),
        "below-a-file": ({"f": ONE}, [created("f/g", ONE)], "f is in the way"),
        "above-a-file": ({"d/e/f": ONE}, [created("d/e", ONE)], "d/e/f is in the way"),
        "below-a-link": ({"f": link(b"d")}, [created("f/g", ONE)], "f is in the way"),
        "mode": ({"f": executable(ONE)}, [edited("f", ONE, TWO)], "its mode is 100755, not 100644"),
        "deletion-leaves-lines": ({"f": ONE},
            [FilePatch("f", None, REGULAR, hunks=(at(1, b"-a\n", b"-b\n"),))],
            "does not delete all lines"),
        "deletion-without-lines": ({"f": ONE}, [FilePatch("f", None, REGULAR)],
            "does not delete all lines"),
        "binary-on-other-content": ({"f": b"\2"}, [binary("f", b"\0", b"\1")],
            "its content does not match the patch's `index` line"),
        "binary-deletion-of-other-content": ({"f": b"\2"}, [binary("f", b"\0", None)],
            "its content does not match the patch's `index` line"),
        "binary-result": ({"f": b"\0"}, [replace(binary("f", b"\0", b"\1"), new_id=blob_id(b"\2"))],
            "the result does not match the patch's `index` line"),
        "binary-delta-of-other-content": ({"f": b"ab"},
            [FilePatch("f", "f", binary=BinaryChange("delta", b"\x03\x02\x91\x01\x02"))], "delta"),
        "submodule-elsewhere": ({"m": submodule("3")},
            [edited("m", submodule("1"), submodule("2"))], "the submodule is not at the commit"),
        "submodule-deleted-elsewhere": ({"m": submodule("3")}, [deleted("m", submodule("1"))],
            "the submodule is not at the commit"),
        "submodule-deleted-in-silence": ({"m": submodule("1")}, [FilePatch("m", None, GITLINK)],
            "does not delete all lines"),
        "submodule-to-nothing": ({"m": submodule("1")},
            [replace(deleted("m", submodule("1")), new_path="m")], "must name exactly one commit"),
        "submodule-without-commit": ({}, [FilePatch(None, "m", None, GITLINK)],
            "must name exactly one commit"),
        "submodule-with-short-commit": ({},
            [FilePatch(None, "m", None, GITLINK, hunks=(at(0, b"+Subproject commit 1\n"),))],
            "must name exactly one commit"),
        "submodule-with-two-commits": ({},
            [FilePatch(None, "m", None, GITLINK, hunks=created("m", submodule("1")).hunks * 2)],
            "must name exactly one commit"),
    },
)  # fmt: skip
def test_a_misfit_is_refused(before: Files, changes: list[FilePatch], reason: str) -> None:
    with pytest.raises(PatchmgrError) as caught:
        Side(before).step(*changes)
    assert caught.value.kind == "bad-patch"
    assert reason in caught.value.message


def test_patches_build_on_one_another() -> None:
    side = Side({"f": ONE, "gone": ONE})
    side.step(edited("f", ONE, TWO), deleted("gone", ONE))
    (step,) = side.step(edited("f", TWO, THREE))
    assert step.base == entry_of(side.blobs, TWO)
    assert step.theirs == entry_of(side.blobs, THREE)
    side.step(created("gone", TWO))
    assert side.changes() == _entries({"f": THREE, "gone": TWO})


def test_a_folder_that_earlier_patches_filled_or_emptied_is_current() -> None:
    side = Side({"full/f": ONE})
    side.step(deleted("full/f", ONE), created("new/f", ONE))
    side.step(created("full", TWO))
    with pytest.raises(PatchmgrError, match="new: new/f is in the way"):
        side.step(created("new", TWO))


@table(
    ("change", "base", "theirs", "positions"),
    {
        "shifted-hunks": (FilePatch("f", "f", hunks=(at(1, b"-b\n"), at(2, b"-c\n"))),
            (REGULAR, blob_id(ONE)), (REGULAR, blob_id(text("a"))), (1, 2)),
        "deletion": (deleted("f", ONE), (REGULAR, blob_id(ONE)), None, (0,)),
        "copy": (moved("f", "g", ONE, TWO, is_copy=True), (REGULAR, blob_id(ONE)),
            (REGULAR, blob_id(TWO)), (0,)),
        "creation": (created("g", ONE), None, (REGULAR, blob_id(ONE)), (0,)),
        "link": (created("g", link(b"f")), None, (SYMLINK, blob_id(b"f")), (0,)),
        "submodule": (created("g", submodule("1")), None, (GITLINK, "1" * 40), (0,)),
        "empty-file": (EMPTY, None, (REGULAR, EMPTY_BLOB), ()),
        "mode": (edited("f", ONE, executable(ONE)), (REGULAR, blob_id(ONE)),
            (EXECUTABLE, blob_id(ONE)), ()),
    },
)  # fmt: skip
def test_a_step_has_the_file_before_and_after(
    change: FilePatch,
    base: tuple[str, str] | None,
    theirs: tuple[str, str] | None,
    positions: tuple[int, ...],
) -> None:
    (step,) = Side({"f": ONE}).step(change)
    entries = [None if entry is None else Entry(*entry) for entry in (base, theirs)]
    assert step == FileStep(change, entries[0], entries[1], positions)


@table(
    ("path", "leaving", "obstacle"),
    {
        "free": ("new", (), None),
        "in-a-folder": ("dir/new", (), None),
        "below-a-file": ("file/new", (), "file"),
        "far-below-a-file": ("file/a/b", (), "file"),
        "below-a-file-that-leaves": ("file/new", ("file",), None),
        "folder": ("dir", (), "dir/one"),
        "folder-with-one-left": ("dir", ("dir/one",), "dir/two"),
        "folder-that-is-left": ("dir", ("dir/one", "dir/two"), None),
        "a-prefix-is-no-parent": ("fil", (), None),
    },
)
def test_obstacles_are_found(path: str, leaving: tuple[str, ...], obstacle: str | None) -> None:
    side = Side({"file": ONE, "dir/one": ONE})
    side.overlay.set("dir/two", Entry(REGULAR, blob_id(ONE)))
    assert side.overlay.obstacle(path, leaving) == obstacle
