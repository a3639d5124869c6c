"""The files of one patch, applied to upstream's new files."""

from collections.abc import Collection, Mapping, Sequence

import pytest
from msgspec.structs import replace

from patchmgr.engines.rebase.carry import carry_rest, without_hunks
from patchmgr.engines.rebase.work import FileResult, NewSide, Tools
from patchmgr.engines.series.fold import FileStep, Overlay, step_patch
from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import How
from patchmgr.model.patch import FilePatch
from patchmgr.model.snapshot import REGULAR
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import (
    NOBODY,
    File,
    Files,
    Run,
    Upstream,
    binary,
    created,
    deleted,
    difference,
    edited,
    executable,
    link,
    moved,
    patch_of,
    submodule,
    text,
)
from tests.engines.tales import changed, swap
from tests.tables import table


def crlf(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


BASE = text("a b c d e f g h i j k l")
EARLY = text("a B c d e f g h i j k l")
LATE = text("a b c d e f g h i j K l")
BOTH = text("a B c d e f g h i j K l")
OTHER = text("a X c d e f g h i j k l")
NEAR = text("a b c d E f g h i j k l")
ONE, TWO, NEW = text("1"), text("2"), text("new")

EDIT = edited("f", BASE, EARLY)
EDIT_TWICE = edited("f", BASE, BOTH)
EDIT_AND_MODE = edited("f", BASE, executable(EARLY))
RENAME = moved("f", "g", BASE, BASE)
RENAME_EDIT = moved("f", "g", BASE, EARLY)
RENAME_MODE = moved("f", "g", BASE, executable(BASE))
RENAME_ALL = moved("f", "g", BASE, executable(EARLY))
DELETE = deleted("f", BASE)
MODE = edited("f", BASE, executable(BASE))
TO_LINK = (DELETE, created("f", link(b"to")))
SWAP = (moved("f", "g", BASE, BASE), moved("g", "f", ONE, ONE))
MOVED_TO_G = {"f": "g"}


@table(
    ("changes", "onto", "renames", "verdict", "answers", "files"),
    {
        "edit": ([EDIT], {"f": BASE}, {}, "unchanged", ["unchanged identical"], {"f": EARLY}),
        "edit-apart-and-creation": ([EDIT, created("n", NEW)], {"f": LATE}, {}, "unchanged",
            ["unchanged text", "unchanged identical"], {"f": BOTH, "n": NEW}),
        "edit-apart": ([EDIT], {"f": LATE}, {}, "unchanged", ["unchanged text"], {"f": BOTH}),
        "edit-near": ([EDIT], {"f": NEAR}, {}, "modified", ["modified text"],
            {"f": text("a B c d E f g h i j k l")}),
        "edit-there": ([EDIT], {"f": EARLY}, {}, "absorbed", ["absorbed exact"], {"f": EARLY}),
        "edit-half-there": ([EDIT_TWICE], {"f": EARLY}, {}, "partial",
            ["absorbed exact", "unchanged text"], {"f": BOTH}),
        "edit-of-a-file-converted-to-CR-LF": ([EDIT], {"f": crlf(LATE)}, {}, "modified",
            ["modified format"], {"f": crlf(BOTH)}),
        "edit-there-with-CR-LF": ([EDIT], {"f": crlf(EARLY)}, {}, "absorbed",
            ["absorbed whitespace"], {"f": crlf(EARLY)}),
        "edit-half-there-with-CR-LF": ([EDIT_TWICE], {"f": crlf(EARLY)}, {}, "partial",
            ["absorbed whitespace", "modified format"], {"f": crlf(BOTH)}),
        "edit-of-a-moved-file": ([EDIT], {"g": BASE}, MOVED_TO_G, "modified", ["modified moved"],
            {"g": EARLY}),
        "edit-of-a-moved-and-changed-file": ([EDIT], {"g": LATE}, MOVED_TO_G, "modified",
            ["modified moved"], {"g": BOTH}),
        "edit-there-in-a-moved-file": ([EDIT], {"g": EARLY}, MOVED_TO_G, "absorbed",
            ["absorbed exact"], {"g": EARLY}),
        "edit-half-there-in-a-moved-file": ([EDIT_TWICE], {"g": EARLY}, MOVED_TO_G, "partial",
            ["absorbed exact", "modified moved"], {"g": BOTH}),
        "edit-and-mode": ([EDIT_AND_MODE], {"f": BASE}, {}, "unchanged", ["unchanged identical"],
            {"f": executable(EARLY)}),
        "edit-there-mode-carried": ([EDIT_AND_MODE], {"f": EARLY}, {}, "partial",
            ["absorbed exact", "unchanged text"], {"f": executable(EARLY)}),
        "edit-there-and-more-mode-carried": ([EDIT_AND_MODE], {"f": BOTH}, {}, "partial",
            ["absorbed exact", "unchanged text"], {"f": executable(BOTH)}),
        "mode-there-edit-carried": ([EDIT_AND_MODE], {"f": executable(BASE)}, {}, "partial",
            ["unchanged identical", "absorbed exact"], {"f": executable(EARLY)}),
        "edit-and-mode-there": ([EDIT_AND_MODE], {"f": executable(EARLY)}, {}, "absorbed",
            ["absorbed exact"], {"f": executable(EARLY)}),
        "mode": ([MODE], {"f": BASE}, {}, "unchanged", ["unchanged identical"],
            {"f": executable(BASE)}),
        "mode-of-a-changed-file": ([MODE], {"f": LATE}, {}, "unchanged", ["unchanged text"],
            {"f": executable(LATE)}),
        "mode-there": ([MODE], {"f": executable(LATE)}, {}, "absorbed", ["absorbed exact"],
            {"f": executable(LATE)}),
        "mode-of-a-moved-file": ([MODE], {"g": BASE}, MOVED_TO_G, "modified", ["modified moved"],
            {"g": executable(BASE)}),
        "deletion": ([DELETE], {"f": BASE}, {}, "unchanged", ["unchanged identical"], {}),
        "deletion-there": ([DELETE], {"x": ONE}, {}, "absorbed", ["absorbed exact"], {"x": ONE}),
        "rename": ([RENAME], {"f": BASE}, {}, "unchanged", ["unchanged identical"], {"g": BASE}),
        "rename-of-a-changed-file": ([RENAME], {"f": LATE}, {}, "unchanged", ["unchanged text"],
            {"g": LATE}),
        "rename-there": ([RENAME], {"g": BASE}, MOVED_TO_G, "absorbed", ["absorbed exact"],
            {"g": BASE}),
        "rename-there-and-an-edit": ([RENAME], {"g": LATE}, MOVED_TO_G, "absorbed",
            ["absorbed exact"], {"g": LATE}),
        "rename-and-edit": ([RENAME_EDIT], {"f": BASE}, {}, "unchanged", ["unchanged identical"],
            {"g": EARLY}),
        "rename-and-edit-of-a-changed-file": ([RENAME_EDIT], {"f": LATE}, {}, "unchanged",
            ["unchanged text"], {"g": BOTH}),
        "edit-there-rename-carried": ([RENAME_EDIT], {"f": EARLY}, {}, "partial",
            ["absorbed exact", "unchanged text"], {"g": EARLY}),
        "rename-there-edit-carried": ([RENAME_EDIT], {"g": BASE}, MOVED_TO_G, "partial",
            ["unchanged identical", "absorbed exact"], {"g": EARLY}),
        "rename-there-edit-carried-apart": ([RENAME_EDIT], {"g": LATE}, MOVED_TO_G, "partial",
            ["unchanged text", "absorbed exact"], {"g": BOTH}),
        "rename-and-edit-there": ([RENAME_EDIT], {"g": EARLY}, MOVED_TO_G, "absorbed",
            ["absorbed exact"], {"g": EARLY}),
        "rename-and-edit-there-that-nobody-saw": ([RENAME_EDIT], {"g": EARLY}, {}, "absorbed",
            ["absorbed exact"], {"g": EARLY}),
        "rename-onto-the-same-file": ([RENAME], {"f": BASE, "g": BASE}, {}, "modified",
            ["modified text"], {"g": BASE}),
        "rename-and-edit-onto-the-same-file": ([RENAME_EDIT], {"f": BASE, "g": EARLY}, {},
            "modified", ["modified text"], {"g": EARLY}),
        "rename-there-mode-carried": ([RENAME_MODE], {"g": BASE}, MOVED_TO_G, "modified",
            ["modified text"], {"g": executable(BASE)}),
        "mode-there-rename-carried": ([RENAME_MODE], {"f": executable(BASE)}, {}, "modified",
            ["modified text"], {"g": executable(BASE)}),
        "edit-and-mode-there-rename-carried": ([RENAME_ALL], {"f": executable(EARLY)}, {},
            "partial", ["absorbed exact", "modified text"], {"g": executable(EARLY)}),
        "mode-there-rename-and-edit-carried": ([RENAME_ALL], {"f": executable(BASE)}, {},
            "modified", ["unchanged identical", "modified text"], {"g": executable(EARLY)}),
        "copy": ([replace(RENAME_EDIT, is_copy=True)], {"f": LATE}, {}, "unchanged",
            ["unchanged identical"], {"f": LATE, "g": EARLY}),
        "copy-there": ([replace(RENAME_EDIT, is_copy=True)], {"f": LATE, "g": EARLY}, {},
            "absorbed", ["absorbed exact"], {"f": LATE, "g": EARLY}),
        "creation": ([created("d/n", NEW)], {"f": BASE}, {}, "unchanged", ["unchanged identical"],
            {"f": BASE, "d/n": NEW}),
        "creation-there": ([created("n", NEW)], {"n": NEW}, {}, "absorbed", ["absorbed exact"],
            {"n": NEW}),
        "creation-on-an-empty-file": ([created("n", NEW)], {"n": b""}, {}, "modified",
            ["modified text"], {"n": NEW}),
        "creation-of-an-empty-file": ([created("n", b"")], {}, {}, "unchanged",
            ["unchanged identical"], {"n": b""}),
        "binary-creation": ([binary("n", None, b"\0")], {}, {}, "unchanged",
            ["unchanged identical"], {"n": b"\0"}),
        "binary": ([binary("f", BASE, b"\0")], {"f": BASE}, {}, "unchanged",
            ["unchanged identical"], {"f": b"\0"}),
        "binary-there": ([binary("f", BASE, b"\0")], {"f": b"\0"}, {}, "absorbed",
            ["absorbed exact"], {"f": b"\0"}),
        "binary-there-mode-carried": ([replace(binary("f", BASE, b"\0"), new_mode="100755")],
            {"f": b"\0"}, {}, "partial", ["absorbed exact", "unchanged text"],
            {"f": executable(b"\0")}),
        "mode-there-binary-carried": ([replace(binary("f", BASE, BOTH), new_mode="100755")],
            {"f": executable(BASE)}, {}, "partial", ["unchanged identical", "absorbed exact"],
            {"f": executable(BOTH)}),
        "file-to-link": (TO_LINK, {"f": BASE}, {}, "unchanged", ["unchanged identical"] * 2,
            {"f": link(b"to")}),
        "file-to-link-there": (TO_LINK, {"f": link(b"to")}, {}, "absorbed", ["absorbed exact"] * 2,
            {"f": link(b"to")}),
        "file-to-folder": ([moved("f", "f/g", BASE, BASE)], {"f": BASE}, {}, "unchanged",
            ["unchanged identical"], {"f/g": BASE}),
        "folder-in-place-of-a-file": ([DELETE, created("f/n", NEW)], {"f": BASE}, {}, "unchanged",
            ["unchanged identical"] * 2, {"f/n": NEW}),
        "copy-and-edit-of-its-source": (
            [edited("f", BASE, EARLY), moved("f", "g", BASE, LATE, is_copy=True)], {"f": BASE}, {},
            "unchanged", ["unchanged identical"] * 2, {"f": EARLY, "g": LATE}),
    },
)  # fmt: skip
def test_a_file_is_carried(
    changes: list[FilePatch],
    onto: Files,
    renames: Mapping[str, str],
    verdict: str,
    answers: list[str],
    files: Files,
) -> None:
    result = Run({"f": BASE}, onto).rebase(patch_of("p", *changes), renames=renames)
    assert result.answers() == answers
    assert result.verdicts == [verdict]
    assert result.files == files
    assert (result.outcomes[0].changes == {}) is (verdict == "absorbed")
    # The patch file stays where its own side is what upstream has; a copy is written anew.
    is_same = set(answers) == {"unchanged identical"} and not any(c.is_copy for c in changes)
    assert result.outcomes[0].reuses_diff is is_same


@table(
    ("changes", "base", "files"),
    {
        "swap": (SWAP, {"f": BASE, "g": ONE}, {"f": ONE, "g": BASE}),
        "row-of-renames": ([moved("f", "g", BASE, EARLY), moved("g", "h", ONE, ONE)],
            {"f": BASE, "g": ONE}, {"g": EARLY, "h": ONE}),
        "new-file-in-place-of-a-moved-one": ([moved("f", "g", BASE, BASE), created("f", NEW)],
            {"f": BASE}, {"f": NEW, "g": BASE}),
        "rename-onto-a-deleted-file": ([deleted("g", ONE), moved("f", "g", BASE, EARLY)],
            {"f": BASE, "g": ONE}, {"g": EARLY}),
        "file-in-place-of-a-folder": ([created("d", NEW), deleted("d/a", ONE), deleted("d/b", TWO)],
            {"d/a": ONE, "d/b": TWO}, {"d": NEW}),
        "rename-to-its-own-folder": ([moved("d/a", "d", ONE, ONE)], {"d/a": ONE}, {"d": ONE}),
        "nothing": ([], {"f": BASE}, {"f": BASE}),
    },
)  # fmt: skip
def test_files_of_a_patch_make_room(changes: list[FilePatch], base: Files, files: Files) -> None:
    result = Run(base, base).rebase(patch_of("p", *changes))
    assert result.files == files
    assert result.verdicts == ["unchanged"]
    assert result.outcomes[0].reuses_diff


@table(
    ("changes", "onto", "renames", "reason", "place"),
    {
        "text": ([EDIT], {"f": OTHER}, {}, "the same lines", "f"),
        "text-moved": ([EDIT], {"g": OTHER}, MOVED_TO_G, "the same lines", "g"),
        "deleted": ([EDIT], {}, {}, "upstream deleted the file", "f"),
        "type": ([EDIT], {"f": link(b"to")}, {}, "a different kind", "f"),
        "folder": ([EDIT], {"f/x": ONE}, {}, "upstream deleted the file", "f"),
        "deletion": ([DELETE], {"f": LATE}, {}, "the patch deletes", "f"),
        "deletion-moved": ([DELETE], {"g": BASE}, MOVED_TO_G, "moved the file that the patch", "g"),
        "rename-text-at-its-target": ([RENAME_EDIT], {"f": OTHER}, {}, "the same lines", "g"),
        "rename-of-nothing": ([RENAME], {}, {}, "upstream deleted the file", "g"),
        "both-rename": ([RENAME], {"h": BASE}, {"f": "h"}, "upstream moved the file to h", "h"),
        "both-rename-to-one-path": ([RENAME_EDIT], {"g": OTHER}, MOVED_TO_G, "the same lines", "g"),
        "rename-onto-a-file": ([RENAME], {"f": BASE, "g": ONE}, {}, "already has a file at g", "f"),
        "rename-onto-a-folder": ([RENAME], {"f": BASE, "g/x": ONE}, {},
            "upstream has g/x, which is in the way", "f"),
        "rename-below-a-file": ([moved("f", "d/g", BASE, BASE)], {"f": BASE, "d": ONE}, {},
            "upstream has d, which is in the way", "f"),
        "rename-below-itself": ([moved("f", "f/g", BASE, EARLY)], {"f": OTHER}, {},
            "the same lines", "f/g"),
        "add-add": ([created("n", NEW)], {"n": ONE}, {}, "added a different file", "n"),
        "add-on-a-folder": ([created("n", NEW)], {"n/x": ONE}, {},
            "upstream has n/x, which is in the way", "n"),
        "add-below-a-file": ([created("d/n", NEW)], {"d": ONE}, {},
            "upstream has d, which is in the way", "d/n"),
        "below-link": ([created("d/n", NEW)], {"d": link(b"x")}, {},
            "upstream has d, which is in the way", "d/n"),
        "copy-onto-a-file": ([replace(RENAME, is_copy=True)], {"f": BASE, "g": ONE}, {},
            "added a different file", "g"),
        "file-to-link": (TO_LINK, {"f": LATE}, {}, "that the patch replaces", "f"),
        "nothing-to-link": (TO_LINK, {}, {}, "that the patch replaces", "f"),
        "two-files-become-one": ([EDIT, created("g", NEW)], {"g": BASE}, MOVED_TO_G,
            "upstream moved the file to g, which the patch changes as well", "g"),
    },
)  # fmt: skip
def test_a_file_collides(
    changes: list[FilePatch], onto: Files, renames: Mapping[str, str], reason: str, place: str
) -> None:
    result = Run({"f": BASE}, onto).rebase(patch_of("p", *changes), renames=renames)
    assert result.verdicts == ["conflict"]
    assert reason in result.reasons()[0]
    conflict = result.outcomes[0].conflicts[0]
    assert (conflict.path, conflict.new_path) == (changes[-1 if place == "n" else 0].path, place)
    assert result.outcomes[0].changes == {}
    assert result.files == onto


def test_a_file_in_conflict_stays_in_the_way_of_others() -> None:
    patch = patch_of("p", DELETE, created("f/n", NEW), created("n", NEW))
    result = Run({"f": BASE}, {"f": LATE}).rebase(patch)
    assert result.reasons() == [
        "upstream changed the file that the patch deletes",
        "upstream has f, which is in the way",
    ]
    assert result.files == {"f": LATE, "n": NEW}


def test_renames_in_conflict_block_each_other() -> None:
    patch = patch_of("p", moved("f", "g", BASE, BASE), moved("g", "h", ONE, ONE))
    onto: Files = {"f": BASE, "g": ONE, "h": TWO}
    result = Run({"f": BASE, "g": ONE}, onto).rebase(patch)
    assert result.reasons() == [f"upstream already has a file at {path}" for path in "gh"]
    assert result.files == onto


def test_a_conflict_shows_its_three_sides() -> None:
    base: Files = {"f": BASE, "m": submodule("1"), "l": link(b"a")}
    onto: Files = {"f": OTHER, "m": submodule("2"), "l": link(b"b")}
    patch = patch_of(
        "p",
        EDIT,
        edited("m", submodule("1"), submodule("3")),
        edited("l", link(b"a"), link(b"c")),
        created("n", NEW),
    )
    result = Run(base, {**onto, "n": ONE}).rebase(patch)
    text_conflict, commit, target, both_added = result.outcomes[0].conflicts
    assert (text_conflict.base, text_conflict.ours, text_conflict.theirs) == (BASE, OTHER, EARLY)
    assert text_conflict.marked is not None
    assert commit.ours == b"Subproject commit %s\n" % (b"2" * 40)
    assert (target.base, target.ours, target.theirs) == (b"a", b"b", b"c")
    assert (both_added.base, both_added.ours, both_added.theirs) == (None, ONE, NEW)
    assert commit.marked is target.marked is None


@table(
    ("changes", "onto", "renames", "content", "verdict", "answers", "files"),
    {
        "text": ([EDIT], {"f": OTHER}, {}, NEW, "modified", ["modified recorded"], {"f": NEW}),
        "no-conflict-no-solution": ([EDIT], {"f": LATE}, {}, NEW, "unchanged", ["unchanged text"],
            {"f": BOTH}),
        "text-as-upstream": ([EDIT], {"f": OTHER}, {}, OTHER, "absorbed", ["absorbed decided"],
            {"f": OTHER}),
        "text-deleted": ([EDIT], {"f": OTHER}, {}, None, "modified", ["modified recorded"], {}),
        "text-and-absorbed": ([EDIT_TWICE], {"f": text("a X c d e f g h i j K l")}, {}, NEW,
            "partial", ["modified recorded", "absorbed exact"], {"f": NEW}),
        "text-and-mode": ([EDIT_AND_MODE], {"f": OTHER}, {}, NEW, "modified", ["modified recorded"],
            {"f": executable(NEW)}),
        "deleted-upstream-kept": ([EDIT], {}, {}, NEW, "modified", ["modified recorded"],
            {"f": NEW}),
        "deleted-upstream-agreed": ([EDIT], {}, {}, None, "absorbed", ["absorbed decided"], {}),
        "deletion-kept": ([DELETE], {"f": LATE}, {}, None, "modified", ["modified recorded"], {}),
        "deletion-given-up": ([DELETE], {"f": LATE}, {}, LATE, "absorbed", ["absorbed decided"],
            {"f": LATE}),
        "moved": ([EDIT], {"g": OTHER}, MOVED_TO_G, NEW, "modified", ["modified recorded"],
            {"g": NEW}),
        "rename-text": ([RENAME_EDIT], {"f": OTHER}, {}, NEW, "modified", ["modified recorded"],
            {"g": NEW}),
        "rename-text-as-upstream": ([RENAME_EDIT], {"f": OTHER}, {}, OTHER, "modified",
            ["modified recorded"], {"g": OTHER}),
        "rename-text-deleted": ([RENAME_EDIT], {"f": OTHER}, {}, None, "modified",
            ["modified recorded"], {}),
        "both-rename-upstreams-place": ([RENAME], {"h": BASE}, {"f": "h"}, BASE, "absorbed",
            ["absorbed decided"], {"h": BASE}),
        "both-rename-edited": ([RENAME], {"h": BASE}, {"f": "h"}, NEW, "modified",
            ["modified recorded"], {"h": NEW}),
        "add-add": ([created("n", NEW)], {"n": ONE}, {}, TWO, "modified", ["modified recorded"],
            {"n": TWO}),
        "add-on-a-folder-given-up": ([created("n", NEW)], {"n/x": ONE}, {}, None, "absorbed",
            ["absorbed decided"], {"n/x": ONE}),
        "file-to-link": (TO_LINK, {"f": LATE}, {}, b"to\n", "modified", ["modified recorded"] * 2,
            {"f": link(b"to")}),
        "file-to-link-given-up": (TO_LINK, {"f": LATE}, {}, LATE, "absorbed",
            ["absorbed decided"] * 2, {"f": LATE}),
    },
)  # fmt: skip
def test_a_persons_resolution_is_used(
    changes: list[FilePatch],
    onto: Files,
    renames: Mapping[str, str],
    content: bytes | None,
    verdict: str,
    answers: list[str],
    files: Files,
) -> None:
    solved = {("p", changes[0].path): content, ("other", "f"): ONE}
    run = Run({"f": BASE}, onto)
    result = run.rebase(patch_of("p", *changes), renames=renames, solved=solved)
    assert result.answers() == answers
    assert result.verdicts == [verdict]
    assert result.files == files
    assert not result.outcomes[0].reuses_diff or verdict == "absorbed"
    assert (result.outcomes[0].changes == {}) is (verdict == "absorbed")


@table(
    ("changes", "onto"),
    {
        "add-on-a-folder": ([created("n", NEW)], {"n/x": ONE}),
        "add-below-a-file": ([created("n/x", NEW)], {"n": ONE}),
        "edit-of-a-folder": ([edited("f", BASE, EARLY)], {"f/x": ONE}),
    },
)
def test_an_unwritable_resolution_is_refused(changes: list[FilePatch], onto: Files) -> None:
    solved = {("p", changes[0].path): NEW}
    with pytest.raises(PatchmgrError, match=r"cannot be created: upstream has .*in the way"):
        Run({"f": BASE}, onto).rebase(patch_of("p", *changes), solved=solved)


def test_a_resolution_of_a_submodule_must_be_a_commit() -> None:
    patch = patch_of("p", edited("m", submodule("1"), submodule("3")))
    run = Run({"m": submodule("1")}, {"m": submodule("2")})
    with pytest.raises(PatchmgrError, match="m: a submodule must name one commit"):
        run.rebase(patch, solved={("p", "m"): b"<<<<<<< ours\n"})


REST_BASE = text(" ".join(f"stay_{n:02}" for n in range(30)))
FIRST = ("stay_04", "stay_04 ours_04 ours_05")
SECOND = ("stay_14", "ours_14")
THIRD = ("stay_24", "")
ALL = swap(REST_BASE, FIRST, SECOND, THIRD)
EDITS = (FIRST, SECOND, THIRD)


def steps_of(blobs: MemoryBlobs, base: Files, *files: FilePatch) -> tuple[FileStep, ...]:
    return step_patch(Overlay(Upstream(blobs, base)), patch_of("p", *files), blobs)


@table("dropped", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], ids=str)
def test_dropped_hunks_become_part_of_the_base(dropped: Collection[int]) -> None:
    blobs = MemoryBlobs()
    (step,) = steps_of(blobs, {"f": REST_BASE}, edited("f", REST_BASE, ALL))
    rest = without_hunks(step, dropped, blobs)
    assert rest.base is not None
    base = blobs.read(rest.base.blob)
    assert base == swap(REST_BASE, *(EDITS[n] for n in dropped))
    applied = apply_hunks(base, rest.change.hunks)
    assert applied == Applied(ALL, rest.positions)
    assert rest.theirs == step.theirs
    assert [h.old_start - 1 for h in rest.change.hunks] == [*rest.positions]


def test_each_file_has_at_least_one_verdict() -> None:
    blobs = MemoryBlobs()
    files = (edited("f", REST_BASE, ALL), binary("b", b"\0", b"\0x"))
    steps = steps_of(blobs, {"f": REST_BASE, "b": b"\0"}, *files)
    assert [step.size for step in steps] == [3, 1]


def carry(
    base: Files, onto: Files, dropped: Collection[int], *files: FilePatch
) -> tuple[tuple[FileResult, ...], Files]:
    """Apply a patch without the dropped hunks; return the results and the files."""
    blobs = MemoryBlobs()
    side = NewSide(Overlay(Upstream(blobs, onto)), {})
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    steps = steps_of(blobs, base, *files)
    results = carry_rest("p", steps, dropped, How.RANGE, side, tools)
    assert [result.step for result in results] == [*steps]
    found: dict[str, File | None] = {}
    for path, entry in (item for result in results for item in result.changes.items()):
        content = b"" if entry is None else blobs.read(entry.blob)
        is_plain = entry is not None and entry.mode == REGULAR
        found[path] = None if entry is None else content if is_plain else (entry.mode, content)
    return results, changed(onto, found)


def answers(results: Sequence[FileResult]) -> list[list[str]]:
    return [[f"{v.value} {h.value if h else '-'}" for v, h in r.answers] for r in results]


GONE = "absorbed range"
KEPT = "unchanged identical"
TEXT = "unchanged text"


@table(
    ("onto", "dropped", "expected", "after"),
    {
        "nothing-dropped": (REST_BASE, [], [KEPT] * 3, ALL),
        "first": (swap(REST_BASE, FIRST), [0], [GONE, KEPT, KEPT], ALL),
        "second": (swap(REST_BASE, SECOND), [1], [KEPT, GONE, KEPT], ALL),
        "third": (swap(REST_BASE, THIRD), [2], [KEPT, KEPT, GONE], ALL),
        "first-and-third": (swap(REST_BASE, FIRST, THIRD), [0, 2], [GONE, KEPT, GONE], ALL),
        "all": (ALL, [0, 1, 2], [GONE] * 3, ALL),
        "first-on-a-changed-file": (swap(REST_BASE, FIRST, ("stay_29", "other_29")), [0],
            [GONE, "unchanged text", "unchanged text"], swap(ALL, ("stay_29", "other_29"))),
        "the-rest-collides": (swap(REST_BASE, FIRST, ("stay_14", "theirs_14")), [0],
            [GONE, "conflict -", "unchanged text"],
            swap(REST_BASE, FIRST, ("stay_14", "theirs_14"))),
    },
)  # fmt: skip
def test_the_rest_of_a_file_is_carried(
    onto: bytes, dropped: Collection[int], expected: list[str], after: bytes
) -> None:
    results, files = carry({"f": REST_BASE}, {"f": onto}, dropped, edited("f", REST_BASE, ALL))
    assert answers(results) == [expected]
    assert files == {"f": after}


def test_only_a_patch_that_is_carried_whole_is_untouched() -> None:
    patch = edited("f", REST_BASE, ALL)
    for dropped in ([], [0]):
        (result,), _ = carry({"f": REST_BASE}, {"f": REST_BASE}, dropped, patch)
        assert result.is_untouched is (dropped == [])


FIRST_BOTH = {"f": REST_BASE, "g": REST_BASE}
REST = {"f": swap(REST_BASE, FIRST, SECOND), "g": REST_BASE}


@table(
    ("dropped", "expected", "after"),
    {
        "first-file": ([0, 1, 2], [[GONE] * 3, [KEPT]], {"f": REST_BASE}),
        "second-file": ([3], [[KEPT] * 3, [GONE]], {"g": REST_BASE}),
        "across-files": ([2, 3], [[TEXT, TEXT, GONE], [GONE]], REST),
    },
)
def test_hunks_count_on(dropped: Collection[int], expected: list[list[str]], after: Files) -> None:
    second = swap(REST_BASE, SECOND)
    files = (edited("f", REST_BASE, ALL), edited("g", REST_BASE, second))
    results, found = carry(FIRST_BOTH, FIRST_BOTH, dropped, *files)
    assert answers(results) == expected
    assert found == {"f": ALL, "g": second, **after}


@table(
    ("base", "change", "expected", "after"),
    {
        "rename": ({"f": REST_BASE}, moved("f", "g", REST_BASE, ALL), [KEPT] * 3, {"g": ALL}),
        "copy": ({"f": REST_BASE}, moved("f", "g", REST_BASE, ALL, is_copy=True), [KEPT] * 3,
            {"f": REST_BASE, "g": ALL}),
        "mode": ({"f": REST_BASE}, edited("f", REST_BASE, executable(ALL)), [KEPT] * 3,
            {"f": executable(ALL)}),
        "creation": ({}, created("f", ALL), [KEPT], {"f": ALL}),
        "deletion": ({"f": REST_BASE}, deleted("f", REST_BASE), [KEPT], {}),
        "binary": ({"b": b"\0"}, binary("b", b"\0", b"\0x"), [KEPT], {"b": b"\0x"}),
    },
)  # fmt: skip
def test_no_hunk_is_dropped_from_a_file_that_is_created_deleted_moved_or_changes_mode(
    base: Files, change: FilePatch, expected: list[str], after: Files
) -> None:
    beside = {"s": REST_BASE}
    other = edited("s", REST_BASE, swap(REST_BASE, SECOND))
    both = {**base, **beside}
    results, files = carry(both, both, [0, len(expected)], change, other)
    assert answers(results) == [expected, [GONE]]
    assert files == {**after, **beside}


HEAD = b"from works.model import (\n    Field,\n    Model,\n    validator,\n)\n\n\n"
SHORT = b"from works.model import (\n    Field,\n    Model,\n)\n\n\n"
LEAN = b"from works.model import Field\n\n\n"
PLANT = b"class Plant:\n    level = Field(int)\n    floor = Field(int)\n    scale = Field(int)\n"
DRY = PLANT.replace(b"floor = Field(int)", b"floor = Field(str)")
TAIL = b"\n\ndef use(plant):\n    plant.open()\n    plant.close()\n    return plant\n"
CHECK = b"\n    @validator\n    def check(self):\n        return self.level\n"
OLD, PATCHED = HEAD + PLANT + TAIL, HEAD + PLANT + CHECK + TAIL
TYPES = (
    b"from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from works.model import %s\n\n\n"
)


def _rebased(
    base: bytes, patched: bytes, ours: bytes, renames: Mapping[str, str], path: str
) -> tuple[object, list[str]]:
    run = Run({"m.py": base}, {path: ours})
    result = run.rebase(difference("p", {"m.py": base}, {"m.py": patched}), renames=renames)
    return result.files[path], result.answers()


@table(
    ("base", "patched", "ours", "expected"),
    {
        "in-the-list": (OLD, PATCHED, SHORT + PLANT + TAIL, HEAD + PLANT + CHECK + TAIL),
        "in-the-line": (OLD, PATCHED, LEAN + PLANT + TAIL,
            b"from works.model import Field, validator\n\n\n" + PLANT + CHECK + TAIL),
        "beside-another-edit": (OLD, PATCHED, LEAN + DRY + TAIL,
            b"from works.model import Field, validator\n\n\n" + DRY + CHECK + TAIL),
        "for-types": (TYPES % b"Field, Mode" + PLANT + TAIL,
            TYPES % b"Field, Mode" + PLANT + b"    mode: Mode\n" + TAIL,
            TYPES % b"Field" + PLANT + TAIL,
            TYPES % b"Field\n    from works.model import Mode" + PLANT + b"    mode: Mode\n" + TAIL,
        ),
    },
)  # fmt: skip
@table(("path", "answer"), [("m.py", "modified structural"), ("new/m.py", "modified moved")])
def test_a_needed_import_is_added(
    base: bytes, patched: bytes, ours: bytes, expected: bytes, path: str, answer: str
) -> None:
    renames = {} if path == "m.py" else {"m.py": path}
    assert _rebased(base, patched, ours, renames, path) == (expected, [answer])


@table(
    ("base", "patched", "ours", "expected"),
    {
        "it-is-there": (OLD, PATCHED, HEAD + TAIL.lstrip() + b"\n\n" + PLANT, None),
        "the-patch-needs-another": (OLD,
            HEAD + PLANT + CHECK.replace(b"@validator", b"@other") + TAIL, LEAN + PLANT + TAIL,
            LEAN + PLANT + CHECK.replace(b"@validator", b"@other") + TAIL),
        "bound-otherwise": (OLD, PATCHED, LEAN + b"validator = print\n" + PLANT + TAIL,
            LEAN + b"validator = print\n" + PLANT + CHECK + TAIL),
        "star": (OLD, PATCHED, LEAN + b"from works.checks import *\n" + PLANT + TAIL,
            LEAN + b"from works.checks import *\n" + PLANT + CHECK + TAIL),
        "no-import-there": (b"validator = print\n" + LEAN + PLANT + TAIL,
            b"validator = print\n" + LEAN + PLANT + CHECK + TAIL, LEAN + PLANT + TAIL,
            LEAN + PLANT + CHECK + TAIL),
        "in-a-string": (OLD, HEAD + PLANT + b"    check = 'validator'\n" + TAIL,
            LEAN + PLANT + TAIL, LEAN + PLANT + b"    check = 'validator'\n" + TAIL),
    },
)  # fmt: skip
def test_no_import_is_added_for_a_name_that_is_bound_or_was_not_imported(
    base: bytes, patched: bytes, ours: bytes, expected: bytes | None
) -> None:
    files, _ = _rebased(base, patched, ours, {}, "m.py")
    assert expected is None or files == expected
    assert isinstance(files, bytes)
    assert files.count(b"import") == ours.count(b"import")
