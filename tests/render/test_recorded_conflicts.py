"""Conflicts on record, for a terminal."""

from patchmgr.cli.root import text_of
from patchmgr.commands.conflicts import Listed, ShownConflict, SideEdits
from patchmgr.model.recorded_conflict import (
    Origin,
    Recorded,
    RecordKind,
    ReplayedResolution,
    Resolution,
)
from patchmgr.render.recorded_conflicts import (
    LONGEST,
    conflict_text,
    conflicts_text,
    learned_text,
    replayed_text,
    resolution_lines,
)
from patchmgr.render.view import View
from patchmgr.services.learning import Learned, LearnedFile
from tests.tables import table

REGION = Recorded("a" * 12, RecordKind.REGION, b"b\n", b"o\n", b"t\n", path="f", seen="s/p.patch")


def solved(content: bytes | None, recorded: Recorded = REGION) -> Recorded:
    resolution = Resolution(content, Origin.LEARN, "0" * 40)
    sides = recorded.base, recorded.ours, recorded.theirs
    return Recorded(recorded.id, recorded.kind, *sides, resolution=resolution)


def test_a_conflict_is_shown_in_markers_with_what_became_of_it() -> None:
    assert text_of(conflict_text(ShownConflict((solved(b"o\nx\n"),)))) == (
        f"aaaaaaaaaaaa  solved  by learn {'0' * 40}\n"
        "<<<<<<< ours\no\n||||||| base\nb\n=======\nt\n>>>>>>> theirs\n"
        "--- ours\n+++ resolution\n@@ -1 +1,2 @@\n o\n+x\n"
    )


@table(
    ("recorded", "expected"),
    {
        "ours": (solved(b"o\n"), ["resolution: same as ours"]),
        "theirs": (solved(b"t\n"), ["resolution: same as theirs"]),
        "deleted": (solved(None), ["resolution: the file is deleted"]),
        "binary": (solved(b"\0x"), ["resolution: 2 bytes, binary"]),
        "escapes": (
            solved(b"\x1b[2J\xff\n"),
            ["--- ours", "+++ resolution", "@@ -1 +1 @@", "-o", "+\\u001b[2J\\xff"],
        ),
    },
)
def test_a_resolution_is_shown_as_a_diff(recorded: Recorded, expected: list[str]) -> None:
    assert list(resolution_lines(recorded)) == expected


def test_no_side_is_too_long_or_binary_for_a_terminal() -> None:
    sides = (None, b"\0" * 9, b"x\n" * (LONGEST + 1))
    shown = conflict_text(ShownConflict((Recorded("a" * 12, RecordKind.FILE, *sides),)))
    lines = text_of(shown).splitlines()
    assert lines[1:5] == [
        "<<<<<<< ours",
        "(9 bytes, binary)",
        "||||||| base",
        "(there is no such file)",
    ]
    assert lines[-2:] == ["... 1 more line", ">>>>>>> theirs"]


def test_the_edits_of_both_sides_are_told_and_no_more_than_a_dozen() -> None:
    edits = SideEdits(("add `\x1b[2J`",), tuple(f"add `{n}`" for n in range(14)))
    lines = text_of(conflict_text(ShownConflict((REGION,), (), (edits,)))).splitlines()
    assert lines[1:3] == ["  ours: add `\\u001b[2J`", "  theirs: add `0`"]
    assert lines[13:15] == ["  theirs: add `11`", "  theirs: 2 more edits"]


def test_a_list_has_a_line_each() -> None:
    group = Recorded("b" * 12, RecordKind.GROUP, parts=("a" * 12,), path="\u202ef")
    listed = [Listed(one.id, one) for one in (REGION, group)] + [Listed("c" * 12, None, "is \x07")]
    assert text_of(conflicts_text(listed, (), View())) == (
        "aaaaaaaaaaaa  open     f  seen in s/p.patch\n"
        "bbbbbbbbbbbb  parts    \\u202ef  aaaaaaaaaaaa\n"
        "cccccccccccc  broken   is \\u0007\n"
    )
    narrow = text_of(conflicts_text(listed, (), View(width=30))).splitlines()
    assert narrow[:2] == ["aaaaaaaaaaaa  open     f  seen", "  in s/p.patch"]
    assert text_of(conflicts_text([], [], View())) == "No conflict is recorded.\n"


def test_a_replay_names_the_patches_that_met_it() -> None:
    recalled = ReplayedResolution(solved(b"o\n"), ("s/one.patch", "s/two.patch"))
    assert text_of(replayed_text([recalled])) == (
        f"  recorded  aaaaaaaaaaaa  by learn {'0' * 40}\n"
        "    in s/one.patch\n    in s/two.patch\n    resolution: same as ours\n"
    )


def test_what_was_learned_is_counted_once() -> None:
    files = (
        LearnedFile("1" * 40, "a", (REGION, REGION)),
        LearnedFile("1" * 40, "b", (), ("it is binary",)),
    )
    assert text_of(learned_text(Learned(1, files), View())) == (
        "111111111111  a  learned 2\n111111111111  b  nothing learned\n  it is binary\n"
        "Learned 1 resolution (1 merge, 2 files in conflict).\n"
    )
