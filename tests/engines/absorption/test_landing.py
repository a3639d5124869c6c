"""What upstream has of a series, told as states of a few files."""

from collections.abc import Mapping, Sequence, Set
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.absorption.landing import find_absorbed
from patchmgr.engines.absorption.series import Series
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Step
from tests.engines.ports import MemoryBlobs
from tests.engines.series import (
    File,
    binary,
    difference,
    edited,
    entry_of,
    executable,
    link,
    moved,
    patch_of,
    submodule,
    text,
)
from tests.engines.tales import Changes, Tale, swap
from tests.long import examples
from tests.tables import table

NONE = b"\0"
BASE = text(" ".join(f"stay_{n:02}" for n in range(30)))


def base_with(*pairs: tuple[str, str]) -> bytes:
    return swap(BASE, *pairs)


AFTER_05 = ("stay_05", "stay_05 ours_one ours_two")
AT_20 = ("stay_20", "ours_late ours_last")
FIRST = base_with(AFTER_05)
LATE = base_with(AT_20)
FIVE = base_with(("stay_05", "ours_five"))
BOTH = base_with(AFTER_05, AT_20)
OTHER = base_with(("stay_28", "other_28"))
THEIRS = BOTH.replace(b"ours_", b"theirs_")
RELEASE = " ".join(f"release_{n}x" for n in range(12))
FOUR = base_with(("stay_05", "stay_05 ours_one ours_two ours_three ours_four"))
TWIN = base_with(("stay_20", "guard_it free_it clear_it"))
SHUT = base_with(("stay_10", ""), ("stay_20", "}"))
OPENED = base_with(("stay_20", "} }"))
THREE = FOUR.replace(b"ours_two\n", b"")
REWORDED = base_with(("stay_05", "stay_05 ours_one ours_two other_three other_four"))

MANY_05 = ("stay_05", f"stay_05 {RELEASE} ours_1st ours_2nd")
OTHER_05 = ("stay_05", f"stay_05 {RELEASE} theirs_1st theirs_2nd")
BOTH_ONE = base_with(("stay_05", "stay_05 ours_one ours_two"), ("stay_20", "ours_late"))


def tale(
    ours: list[Changes | Patch],
    *upstream: tuple[str, Changes],
    base: Mapping[str, File] | None = None,
    homes: Mapping[str, str] | None = None,
    jump: Changes | None = None,
) -> Tale:
    """Return a tale of the file `a`, or of more."""
    return Tale({"a": BASE} if base is None else base, ours, upstream, homes or {}, jump or {})


def a(*contents: bytes) -> list[Changes | Patch]:
    """Return a series on one file, by its states."""
    return [{"a": content} for content in contents]


def on_a(*contents: bytes, subject: str = "Work") -> list[tuple[str, Changes]]:
    """Return upstream's steps on one file, by its states."""
    return [(subject, {"a": content}) for content in contents]


def one(ours: bytes, *upstream: bytes) -> Tale:
    """Return a tale of one patch on one file, by the states of both sides."""
    return tale(a(ours), *on_a(*upstream))


def with_lines(content: bytes, words: str, *, after: str = "stay_28") -> bytes:
    return swap(content, (after, f"{after} {words}"))


MUCH = with_lines(BASE, " ".join(f"release_{n}x" for n in range(30)), after="stay_05")
COPIED = ("stay_25", "stay_25 stay_20")
OTHERWISE = ("stay_25", "stay_25 newer_way")
SWAPPED = base_with(("stay_05", "ours_a"), ("stay_20", "ours_b"))

PLUS, MINUS, TIMES = (text(" ".join(f"x{n}={s}{n}" for n in range(9))) for s in ("+", "-", "*"))

NUMBERS = [base_with(("stay_10", f"0.5.{n}")) for n in range(4)]

SINGLE = {
    "picked": (one(BOTH, BOTH), "landed c0 exact"),
    "not-picked": (one(BOTH, OTHER), "-"),
    "short-lines-otherwise": (tale(a(MINUS), *on_a(TIMES), base={"a": PLUS}), "-"),
    "short-lines-picked": (tale(a(MINUS), *on_a(MINUS), base={"a": PLUS}), "landed c0 exact"),
    "short-lines-go": (tale(a(b"x=y\n"), *on_a(b""), base={"a": PLUS}), "-"),
    "shifted": (one(BOTH, text("on_top on_top_of_it") + BOTH), "landed c0 exact"),
    "only-shifted": (one(BOTH, text("on_top on_top_of_it") + BASE), "-"),
    "other-white-space": (one(BOTH, BOTH.replace(b"ours_one", b"\tours_one")),
        "landed c0 whitespace"),
    "only-other-white-space": (one(BOTH, BASE.replace(b"stay_05", b"\tstay_ 05")), "-"),
    "later-step": (one(BOTH, OTHER, BASE, BOTH), "landed c2 exact"),
    "later-target": (one(BOTH, BOTH, with_lines(BOTH, "more_one"), with_lines(BOTH, "more_two")),
        "landed c0 exact"),
    "later-target-without-it": (one(BOTH, OTHER, BASE), "-"),
    "target-beyond-the-last-step": (
        tale(a(BOTH), *on_a(BOTH), jump={"a": with_lines(BOTH, "more_one")}), "landed c0 exact"),
    "taken-back-in-two-commits": (one(SWAPPED, SWAPPED, base_with(("stay_20", "ours_b")), BASE),
        "-"),
    "taken-back-in-part-and-replaced-in-part": (
        one(SWAPPED, SWAPPED, base_with(("stay_20", "ours_b")), base_with(("stay_20", "theirs_b"))),
        "gone c0 by c1 history hunks 1"),
    "a-line-of-much-that-landed-taken-back": (
        one(base_with(MANY_05, AT_20), base_with(MANY_05, AT_20), base_with(MANY_05)),
        "evolved c0 by c1 history"),
    "reverted-many-times": (one(BOTH, *[BOTH, BASE] * 12), "reverted c22 by c23"),
    "landed-many-times": (one(BOTH, *[BOTH, BASE] * 12, BOTH), "landed c24 exact"),
    "says-nothing-and-came-with-no-step": (
        tale(a(base_with(("stay_10", "if"))), jump={"a": swap(OTHER, ("stay_10", "if"))}), "-"),
    "landed-with-a-line-gone-that-the-patch-replaces-by-a-common-one": (
        one(swap(FIRST, ("stay_20", "stay_10")), swap(FIRST, ("stay_20", ""))),
        "landed c0 exact hunks 0"),
    "landed-in-part-and-deleted-the-place-of-the-rest": (one(BOTH, swap(FIRST, ("stay_20", ""))),
        "landed c0 exact hunks 0"),
    "landed-but-for-a-line-that-it-deletes-beside-much": (
        one(swap(MUCH, ("stay_07", "")), swap(MUCH, ("release_3x", "other_3x"))),
        "landed c0 history"),
    "raised-a-number-and-raised-further": (
        tale(a(NUMBERS[1]), *on_a(NUMBERS[1], NUMBERS[2]), base={"a": NUMBERS[0]}),
        "gone c0 by c1 history"),
    "raised-a-number-otherwise": (
        tale(a(NUMBERS[1]), *on_a(NUMBERS[2], NUMBERS[3]), base={"a": NUMBERS[0]}), "-"),
    "raised-a-number-and-taken-back": (
        tale(a(NUMBERS[1]), *on_a(NUMBERS[1], NUMBERS[0]), base={"a": NUMBERS[0]}),
        "reverted c0 by c1"),
    "evolved": (one(BOTH, BOTH, BOTH.replace(b"ours_two", b"theirs_two")),
        "evolved c0 by c1 history"),
    "gone": (one(FIRST, FIRST, FIRST.replace(b"ours_one\nours_two\n", b"a_new_way\n")),
        "gone c0 by c1 history"),
    "evolved-nobody-knows-when": (
        tale(a(FIRST), *on_a(FIRST), jump={"a": FIRST.replace(b"ours_two", b"theirs_two")}),
        "evolved c0 history"),
    "file-deleted-after-landing": (tale(a(BOTH), *on_a(BOTH), ("Delete", {"a": None})),
        "gone c0 by c1 history"),
    "file-deleted-without-landing": (tale(a(BOTH), ("Delete", {"a": None})), "-"),
    "file-moved-after-landing": (
        tale(a(BOTH), *on_a(BOTH), ("Move", {"a": None, "b": BOTH}), homes={"a": "b"}),
        "landed c0 exact"),
    "file-moved-without-landing": (
        tale(a(BOTH), ("Move", {"a": None, "b": OTHER}), homes={"a": "b"}), "-"),
    "landed-at-the-new-home": (
        tale(a(BOTH), ("Move", {"a": None, "b": BASE}), ("Land", {"b": BOTH}), homes={"a": "b"}),
        "landed c1 exact"),
    "deletion-landed": (tale([{"a": None}], ("Delete", {"a": None})), "landed c0 exact"),
    "deletion-not-landed": (tale([{"a": None}], ("Shorten", {"a": BASE[:-80]})), "-"),
    "deletion-not-landed-but-a-stub": (tale([{"a": None}], ("Empty", {"a": text("stay_01")})), "-"),
    "creation": (tale([{"n": FIRST}], ("Create", {"n": FIRST}), base={}), "landed c0 exact"),
    "other-creation": (tale([{"n": FIRST}], ("Create", {"n": text(RELEASE)}), base={}), "-"),
    "nothing-touched": (tale(a(BOTH), ("Elsewhere", {"z": BOTH})), "-"),
    "no-steps": (tale(a(BOTH)), "-"),
}  # fmt: skip

REVERSALS = {
    "reverted": (tale(a(BOTH), *on_a(BOTH), ("Revert work", {"a": BASE})), "reverted c0 by c1"),
    "in-other-words": (one(BOTH, BOTH, BASE), "reverted c0 by c1"),
    "taken-away-by-a-rework-of-many-files": (
        tale(a(FIRST), *on_a(FIRST), ("Another way", {"a": BASE, "b": b"b\n", "c": b"c\n"})),
        "gone c0 by c1 history"),
    "reverted-among-other-edits": (
        tale(a(BOTH), *on_a(BOTH), ("Revert work", {"a": with_lines(BASE, "more_one more_two")})),
        "reverted c0 by c1"),
    "cleaned-up-among-other-edits": (one(FIRST, FIRST, with_lines(BASE, "more_one more_two")),
        "gone c0 by c1 history"),
    "something-else-reverted": (
        tale(a(BOTH), *on_a(BOTH),
             ("Revert something else", {"a": with_lines(BOTH, "back_again")})),
        "landed c0 exact"),
    "reverted-to-other-words": (
        tale(a(BOTH), *on_a(BOTH), ("Revert the name", {"a": BOTH.replace(b"ours_", b"theirs_")})),
        "gone c0 by c1 history"),
    "named-and-to-other-words": (
        tale(a(BOTH), ("Work (#5)", {"a": BOTH}), ("Redo (#6)\n\nReverts #5", {"a": THEIRS})),
        "reverted c0 by c1"),
    "named-and-rewritten-before": (
        tale(a(BOTH), ("Work (#5)", {"a": BOTH}), ("Other words", {"a": THEIRS}),
             ("Redo (#6)\n\nReverts #5", {"a": OTHER})),
        "reverted c0 by c2"),
    "another-one-named": (
        tale(a(BOTH), ("Work (#5)", {"a": BOTH}), ("Redo (#6)\n\nReverts #4", {"a": THEIRS})),
        "gone c0 by c1 history"),
    "named-and-still-there": (
        tale(a(FOUR), ("Work (#5)", {"a": FOUR}), ("Redo (#6)\n\nReverts #5", {"a": THREE})),
        "evolved c0 by c1 history"),
    "reverted-later-target": (one(BOTH, BOTH, BASE, OTHER), "reverted c0 by c1"),
    "relanded-but-for-a-line": (one(FOUR, FOUR, BASE, FOUR.replace(b"ours_two\n", b"")),
        "reverted c0 by c1"),
    "relanded-in-pieces": (
        one(FOUR, FOUR, BASE, base_with(("stay_05", "stay_05 ours_one")),
            base_with(("stay_05", "stay_05 ours_one ours_two"))),
        "reverted c0 by c1"),
    "relanded-in-too-small-a-piece": (
        one(with_lines(FOUR, "ours_five ours_six ours_seven"),
            with_lines(FOUR, "ours_five ours_six ours_seven"), BASE,
            base_with(("stay_05", "stay_05 ours_one"))),
        "reverted c0 by c1"),
}  # fmt: skip

PARTS = {
    "first-hunk": (one(BOTH, FIRST), "landed c0 exact hunks 0"),
    "second-hunk": (one(BOTH, LATE), "landed c0 exact hunks 1"),
    "hunk-after-hunk": (one(BOTH, FIRST, BOTH), "landed c1 exact"),
    "test-hunk-only": (
        tale([{"a": FIRST, "test": FIRST}], ("Test only", {"test": FIRST}),
             base={"a": BASE, "test": BASE}),
        "landed c0 exact hunks 1"),
    "part-of-a-hunk": (one(FOUR, base_with(("stay_05", "stay_05 ours_one"))), "-"),
    "half-of-a-hunk": (one(FOUR, FIRST), "-"),
}  # fmt: skip

WORDINGS = {
    "two-of-four-lines-are-too-few": (one(FOUR, REWORDED), "-"),
    "later-wording-in-a-release": (one(FOUR, with_lines(REWORDED, RELEASE)), "-"),
    "in-a-release": (one(FOUR, with_lines(FOUR, RELEASE)), "landed c0 exact"),
    "mostly-other-words": (
        one(swap(FOUR, AT_20), swap(REWORDED, ("stay_20", "theirs_late theirs_last"))), "-"),
    "other-version": (one(base_with(("stay_05", "version_2")), base_with(("stay_05", "version_3"))),
        "-"),
    "our-version": (one(base_with(("stay_05", "version_2")), base_with(("stay_05", "version_2"))),
        "landed c0 exact"),
    "our-version-and-the-next": (
        one(base_with(("stay_05", "version_2")), base_with(("stay_05", "version_2")),
            base_with(("stay_05", "version_3"))),
        "gone c0 by c1 history"),
    "mute-and-landed": (one(base_with(("stay_05", "}")), base_with(("stay_05", "}"))),
        "landed c0 exact"),
    "mute-and-not-landed": (
        one(base_with(("stay_05", "stay_05 }")), base_with(("stay_05", "stay_05 )"))), "-"),
    "mute-and-half-landed": (
        one(base_with(("stay_05", "stay_05 {"), ("stay_20", "stay_20 }")),
            base_with(("stay_05", "stay_05 {"))),
        "-"),
    "a-line-that-stands-elsewhere": (
        one(base_with(("stay_05", "stay_05 stay_20")), base_with(("stay_25", "stay_25 stay_20"))),
        "-"),
    "our-lines-at-another-place-only": (one(FIRST, with_lines(BASE, "ours_one ours_two")), "-"),
    "beside-a-line-that-stands-elsewhere": (
        one(base_with(("stay_05", "stay_05 stay_20"), ("stay_25", "stay_25 ours_one")),
            base_with(("stay_25", "stay_25 ours_one"))),
        "landed c0 exact hunks 1"),
    "all-but-a-small-hunk": (
        one(swap(with_lines(BASE, RELEASE, after="stay_05"), ("stay_25", "stay_25 guard_it")),
            with_lines(BASE, RELEASE, after="stay_05")),
        "landed c0 exact hunks 0"),
    "a-later-wording-without-a-small-hunk": (
        one(base_with(MANY_05, ("stay_25", "stay_25 ours_1st+ours_2nd")), base_with(OTHER_05)),
        "landed c0 history"),
    "a-line-that-stands-elsewhere-in-later-words": (one(swap(MUCH, COPIED), swap(MUCH, OTHERWISE)),
        "landed c0 history"),
    "a-line-that-stands-elsewhere-in-words-of-somebody-else": (
        one(swap(MUCH, COPIED), base_with(OTHERWISE), swap(MUCH, OTHERWISE)), "landed c1 history"),
    "a-later-wording-that-leaves-a-file-alone": (
        tale([{"a": base_with(MANY_05), "b": base_with(("stay_25", "stay_25 guard_it"))}],
             *on_a(base_with(OTHER_05)), base={"a": BASE, "b": BASE}),
        "landed c0 history hunks 0"),
    "one-of-two-hunks-taken-back": (
        one(base_with(("stay_05", "stay_05 ours_one ours_two"), ("stay_20", "ours_late")), BOTH_ONE,
            base_with(("stay_05", "stay_05 ours_one ours_two"))),
        "evolved c0 by c1 history hunks 0"),
}  # fmt: skip


@table(("told", "verdict"), {**SINGLE, **REVERSALS, **PARTS, **WORDINGS})
def test_one_patch_is_judged(told: Tale, verdict: str) -> None:
    assert told.verdicts() == [verdict]


@table(
    ("told", "verdict"),
    {
        "binary": (
            tale([patch_of("p", binary("b", NONE, b"\0ours"))], ("Bin", {"b": b"\0ours"}),
                 base={"b": NONE}),
            "landed c0 exact"),
        "mode": (tale([{"a": executable(BASE)}], ("Mode", {"a": executable(BASE)})),
            "landed c0 exact"),
        "link": (
            tale([{"l": link(b"ours_there")}], ("Link", {"l": link(b"ours_there")}),
                 base={"l": link(b"here")}),
            "landed c0 exact"),
        "submodule": (
            tale([{"m": submodule("2")}], ("Module", {"m": submodule("2")}),
                 base={"m": submodule("1")}),
            "landed c0 exact"),
        "submodule-that-goes": (
            tale([{"m": None}], ("Module", {"m": None}), base={"m": submodule("1")}),
            "landed c0 exact"),
        "submodule-that-stays": (
            tale([{"m": None}], ("Module", {"m": submodule("2")}), base={"m": submodule("1")}),
            "-"),
        "rename": (
            tale([patch_of("p", moved("a", "b", BASE, BASE))], ("Move", {"a": None, "b": BASE}),
                 homes={"a": "b"}),
            "landed c0 exact"),
        "rename-with-an-edit": (
            tale([patch_of("p", moved("a", "b", BASE, FIRST))], ("Move", {"a": None, "b": FIRST}),
                 homes={"a": "b"}),
            "landed c0 exact"),
        "binary-taken-back": (
            tale([patch_of("p", binary("b", NONE, b"\0ours"))], ("Bin", {"b": b"\0ours"}),
                 ("Revert", {"b": NONE}), base={"b": NONE}),
            "reverted c0 by c1"),
        "binary-replaced": (
            tale([patch_of("p", binary("b", NONE, b"\0ours"))], ("Bin", {"b": b"\0ours"}),
                 ("More", {"b": b"\0more"}), base={"b": NONE}),
            "gone c0 by c1 history"),
        "mode-taken-back": (
            tale([{"a": executable(BASE)}], ("Mode", {"a": executable(BASE)}),
                 ("Revert", {"a": BASE}), ("Edit", {"a": FIRST})),
            "reverted c0 by c1"),
        "mode-of-a-file-that-is-edited": (
            tale([{"a": executable(BASE)}], ("Mode", {"a": executable(BASE)}),
                 ("Edit", {"a": executable(FIRST)})),
            "landed c0 exact"),
        "link-that-a-clean-up-deletes": (
            tale([{"l": link(b"ours_there")}], ("Link", {"l": link(b"ours_there")}),
                 ("Tidy", {"l": None, "b": b"b\n", "c": b"c\n"}), base={}),
            "gone c0 by c1 history"),
        "submodule-taken-back-and-raised": (
            tale([{"m": submodule("2")}], ("Module", {"m": submodule("2")}),
                 ("Revert", {"m": submodule("1")}), ("Module", {"m": submodule("3")}),
                 base={"m": submodule("1")}),
            "reverted c0 by c1"),
        "submodule-raised-further": (
            tale([{"m": submodule("2")}], ("Module", {"m": submodule("2")}),
                 ("Module", {"m": submodule("3")}), base={"m": submodule("1")}),
            "gone c0 by c1 history"),
        "moved-of-what-upstream-copies": (
            tale([patch_of("p", moved("a", "b", BASE, BASE))], ("Copy", {"b": BASE})),
            "-"),
        "moved-and-edited-of-what-upstream-copies": (
            tale([patch_of("p", moved("a", "b", BASE, MUCH))], ("Copy", {"b": MUCH})),
            "landed c0 history hunks 0"),
        "rename-taken-back": (
            tale([patch_of("p", moved("a", "b", BASE, BASE))], ("Move", {"a": None, "b": BASE}),
                 ("Revert", {"a": BASE, "b": None})),
            "reverted c0 by c1"),
        "rename-of-a-file-that-is-edited": (
            tale([patch_of("p", moved("a", "b", BASE, BASE))], ("Move", {"a": None, "b": BASE}),
                 ("Edit", {"b": FIRST}), homes={"a": "b"}),
            "landed c0 exact"),
        "became-a-link": (tale([{"a": FIRST}], ("Link", {"a": link(b"elsewhere")})), "-"),
        "edit-and-mode": (tale([{"a": executable(FIRST)}], ("All", {"a": executable(FIRST)})),
            "landed c0 exact"),
    },
)  # fmt: skip
def test_what_has_no_lines_of_text_is_judged(told: Tale, verdict: str) -> None:
    assert told.verdicts() == [verdict]


WAS: Mapping[str, File] = {
    "a": BASE, "bin": b"\0base", "l": link(b"here"), "m": submodule("1"), "e": b"", "g": MUCH,
    "c": b"c\n", "d": b"d\n",
}  # fmt: skip
CONTENTS: Mapping[str, File | None] = {
    "text": b"another_one another_two\n", "base": BASE, "first": FIRST, "binary": b"\0ours",
    "other-binary": b"\0theirs", "link": link(b"there"), "other-link": link(b"else"),
    "module": submodule("2"), "other-module": submodule("3"), "empty": b"", "none": None,
    "executable": executable(BASE), "executable-text": executable(b"another_one another_two\n"),
}  # fmt: skip


@table(
    ("patch", "path", "done"),
    {
        "rename": (patch_of("p", moved("a", "b", BASE, BASE)), "b", {"base"}),
        "rename-and-edit": (patch_of("p", moved("a", "b", BASE, FIRST)), "b", {"first"}),
        "binary": (patch_of("p", binary("bin", b"\0base", b"\0ours")), "bin", {"binary"}),
        "mode": ({"a": executable(BASE)}, "a", {"executable", "executable-text"}),
        "link": ({"l": link(b"there")}, "l", {"link"}),
        "new-link": ({"n": link(b"there")}, "n", {"link"}),
        "module": ({"m": submodule("2")}, "m", {"module"}),
        "module-that-goes": ({"m": None}, "m", {"none"}),
        "empty-file": ({"n": b""}, "n", {"empty"}),
        "empty-file-that-goes": ({"e": None}, "e", {"none"}),
        "file-that-goes": ({"g": None}, "g", {"none"}),
    },
)
@pytest.mark.parametrize("is_alone", [True, False])
def test_what_has_no_lines_is_in_upstream_if_its_path_is_as_the_patch_has_it(
    patch: Changes | Patch, path: str, done: Set[str], is_alone: bool
) -> None:
    first: Changes = {"c": b"ours_c1 ours_c2\n"}
    last: Changes = {"d": b"ours_d1 ours_d2\n"}
    series = [patch] if is_alone else [first, patch, last]
    landed = set()
    for name, content in CONTENTS.items():
        if content is None and path not in WAS:
            continue
        gone: Changes = {"a": None} if path == "b" else {}
        told = tale(series, ("Work", {**gone, **first, **last, path: content}), base=WAS)
        landed |= {name} if told.verdicts()[len(series) // 2] != "-" else set()
    assert landed == done


@table(
    ("base", "patch"),
    {
        "binary": ({"a": BASE, "b": NONE},
            patch_of("p", edited("a", BASE, MUCH), binary("b", NONE, b"\0ours"))),
        "mode-of-the-file": ({"a": BASE}, {"a": executable(MUCH)}),
        "mode-of-another-file": ({"a": BASE, "s": b"x\n"}, {"a": MUCH, "s": executable(b"x\n")}),
        "link": ({"a": BASE, "l": link(b"here")}, {"a": MUCH, "l": link(b"there")}),
        "submodule": ({"a": BASE, "m": submodule("1")}, {"a": MUCH, "m": submodule("2")}),
        "empty-file": ({"a": BASE}, {"a": MUCH, "n": b""}),
        "rename": ({"a": BASE, "s": b"x\n"},
            patch_of("p", edited("a", BASE, MUCH), moved("s", "t", b"x\n", b"x\n"))),
        "deletion": ({"a": BASE, "d": text("gone_one gone_two")}, {"a": MUCH, "d": None}),
        "creation": ({"a": BASE}, {"a": MUCH, "n": text("ours_new ours_newer")}),
    },
)  # fmt: skip
@table("later", {"as-it-was": (), "rewritten": on_a(swap(MUCH, ("release_7x", "later_7x")))})
def test_what_upstream_did_not_do_is_no_part_of_the_absorbed(
    base: Mapping[str, File], patch: Changes | Patch, later: Sequence[tuple[str, Changes]]
) -> None:
    absorption = tale([patch], *on_a(MUCH), *later, base=base).absorbed().get(0)
    assert absorption is None or (not absorption.is_whole and absorption.hunks == {0})


REPLACED = base_with(("stay_05", "stay_05 later_one later_two"))
BRACED = swap(FIRST, ("ours_one", "{ ours_one"))
CLOSED = swap(BRACED, ("stay_20", "ours_late"))
TWICE = base_with(("stay_20", "stay_20 stay_28 stay_20b"))
FEWER = base_with(("stay_20", "stay_20 stay_20b"))
OTHER_TWICE = swap(TWICE, ("stay_10", "other_10"))
DOUBLED = base_with(("stay_05", "stay_05 stay_28"))
SERIES = {
    "a-move-to-a-path-where-upstream-has-another-file": (
        tale(
            [
                {"c": b"ours_c1 ours_c2\n"},
                patch_of("p", moved("a", "b", BASE, BASE)),
                {"d": b"ours_d1 ours_d2\n"},
            ],
            (
                "Work",
                {
                    "c": b"ours_c1 ours_c2\n",
                    "d": b"ours_d1 ours_d2\n",
                    "a": None,
                    "b": b"another_one another_two\n",
                },
            ),
            base={"a": BASE, "c": b"c\n", "d": b"d\n"},
        ),
        ["landed c0 exact", "-", "landed c0 exact"],
    ),
    "a-file-without-lines-that-came-with-another-patch": (
        tale([{"n": b""}, {"n": b"}\n"}], ("Work", {"n": b"}\n"}), base={}),
        ["landed c0 range", "landed c0 exact"]),
    "a-line-that-says-nothing-beside-one-that-landed": (
        tale([{"n": b""}, {"n": b"}\n"}, {"n": b"}\n}\n"}],
             *[("Work", {"n": b"}\n" * count}) for count in (1, 2)], base={}),
        ["landed c0 range", "landed c0 exact", "landed c1 exact"]),
    "what-a-patch-undoes-that-did-not-land": (
        tale([{"v": LATE}, {"a": FIRST}, {"c": FIRST}, {"v": BASE}], ("Work", {"a": FIRST}),
             base={"a": BASE, "c": BASE, "v": BASE}),
        ["-", "landed c0 exact", "-", "-"]),
    "a-file-that-is-made-and-deleted": (
        tale([{"a": None}, {"a": b"if\n"}, {"a": None}], ("Work", {"a": None})),
        ["landed c0 exact", "landed c0 range", "landed c0 range"]),
    "a-file-that-is-made-twice": (
        tale([{"n": b""}, {"n": None}, {"n": b"}\n"}], *[("Work", {"n": n}) for n in (b"", b"}\n")],
             base={}),
        ["landed c0 exact", "landed c1 exact", "landed c1 exact"]),
    "a-binary-file-of-two-changes-is-taken-back": (
        tale([{"a": BOTH}, patch_of("p", binary("b", NONE, b"\0ours"))],
             ("Work", {"a": BOTH, "b": b"\0ours"}), ("Revert", {"b": NONE}),
             base={"a": BASE, "b": NONE}),
        ["landed c0 exact", "reverted c0 by c1"]),
    "a-file-that-is-made-and-moved": (
        tale([{"n": FIRST}, patch_of("p", moved("n", "m", FIRST, FIRST))], ("Work", {"m": FIRST}),
             base={}),
        ["landed c0 range", "landed c0 exact"]),
    "squash-of-two": (tale(a(FIRST, BOTH), *on_a(BOTH)), ["landed c0 exact"] * 2),
    "first-of-two": (tale(a(FIRST, BOTH), *on_a(FIRST)), ["landed c0 exact", "-"]),
    "second-of-two": (tale(a(FIRST, BOTH), *on_a(LATE)), ["-", "landed c0 exact"]),
    "none-of-two": (tale(a(FIRST, BOTH), *on_a(OTHER)), ["-", "-"]),
    "one-after-the-other": (tale(a(FIRST, BOTH), *on_a(FIRST, BOTH)),
        ["landed c0 exact", "landed c1 exact"]),
    "squash-reverted": (tale(a(FIRST, BOTH), *on_a(BOTH, BASE)), ["reverted c0 by c1"] * 2),
    "one-of-two-reverted": (tale(a(FIRST, BOTH), *on_a(FIRST, BOTH, FIRST)),
        ["landed c0 exact", "reverted c1 by c2"]),
    "half-of-a-squash-reverted": (
        tale(a(FIRST, BOTH), *on_a(BOTH), ("Revert a half", {"a": FIRST})),
        ["landed c0 exact", "reverted c0 by c1"]),
    "superseded-both-landed": (tale(a(FIRST, REPLACED), *on_a(REPLACED)), ["landed c0 range"] * 2),
    "superseded-first-landed": (tale(a(FIRST, REPLACED), *on_a(FIRST)), ["landed c0 exact", "-"]),
    "superseded-neither-landed": (tale(a(FIRST, REPLACED), *on_a(OTHER)), ["-", "-"]),
    "superseded-both-reverted": (tale(a(FIRST, REPLACED), *on_a(REPLACED, BASE)),
        ["reverted c0 by c1"] * 2),
    "superseded-landed-in-turn": (tale(a(FIRST, REPLACED), *on_a(FIRST, REPLACED)),
        ["landed c0 exact", "landed c1 range"]),
    "emptied-by-one-that-landed": (
        tale([{"c": text("ours_one")}, {"c": b""}], ("Create", {"c": b""}), base={}), ["-", "-"]),
    "undone-neither-landed": (tale(a(FIRST, BASE), *on_a(OTHER)), ["-", "-"]),
    "undone-first-landed": (tale(a(FIRST, BASE), *on_a(FIRST)), ["landed c0 exact", "-"]),
    "undone-both-landed": (tale(a(FIRST, BASE), *on_a(FIRST, BASE)), ["landed c0 exact", "-"]),
    "lines-that-the-file-has-elsewhere": (
        tale(a(swap(TWIN, ("stay_05", "stay_05 guard_it free_it clear_it"))),
             *on_a(swap(TWIN, ("stay_05", "stay_05 guard_it free_it clear_it"))),
             *on_a(swap(TWIN, ("stay_05", "stay_05 when_closed free_it clear_it"))),
             base={"a": TWIN}),
        ["evolved c0 by c1 history"]),
    "undone-with-one-that-landed": (
        tale([{"a": SHUT}, {"a": OPENED, "b": FIRST}], *on_a(SHUT), ("Second", {"b": FIRST}),
             *on_a(OPENED), base={"a": OPENED, "b": BASE}),
        ["landed c0 exact", "landed c2 range"]),
    "undone-behind-one-that-landed": (tale(a(LATE, BOTH, LATE), *on_a(LATE)),
        ["landed c0 exact", "landed c0 range", "landed c0 range"]),
    "undone-around-one-that-landed": (tale(a(FIRST, BOTH, LATE), *on_a(LATE)),
        ["landed c0 range", "landed c0 exact", "landed c0 range"]),
    "undone-behind-one-first-landed": (tale(a(LATE, BOTH, LATE), *on_a(BOTH)),
        ["landed c0 exact", "landed c0 exact", "-"]),
    "mute-between-two": (tale(a(FIRST, BRACED, CLOSED), *on_a(CLOSED)), ["landed c0 exact"] * 3),
    "mute-between-two-not-landed": (
        tale(a(FIRST, BRACED, CLOSED), *on_a(swap(FIRST, ("stay_20", "ours_late")))),
        ["landed c0 exact", "-", "landed c0 exact"]),
    "a-line-that-stands-elsewhere-between-two": (
        tale(
            a(
                FIRST,
                swap(FIRST, ("stay_12", "stay_12 stay_28")),
                swap(BOTH, ("stay_12", "stay_12 stay_28")),
            ),
            *on_a(BOTH),
        ),
        ["landed c0 exact", "-", "landed c0 exact"],
    ),
    "one-of-two-equal-lines-removed": (
        tale(a(swap(TWICE, ("stay_05", "ours_05")), swap(FEWER, ("stay_05", "ours_05"))),
             *on_a(OTHER_TWICE, FEWER), base={"a": TWICE}),
        ["-", "landed c1 exact"]),
    "replaced-with-the-file-whole": (tale(a(DOUBLED, FIRST), *on_a(FIRST)),
        ["landed c0 range"] * 2),
    "replaced-with-the-file-in-part": (
        tale(a(DOUBLED, FIRST), *on_a(swap(FIRST, ("ours_two", "theirs_two")))), ["-", "-"]),
    "two-topics-one-landed": (
        tale([{"a": FIRST}, {"b": FIRST}, {"a": BOTH}, {"b": BOTH}], ("Topic a", {"a": BOTH}),
             base={"a": BASE, "b": BASE}),
        ["landed c0 exact", "-", "landed c0 exact", "-"]),
    "two-topics-both-landed": (
        tale([{"a": FIRST}, {"b": FIRST}, {"a": BOTH}, {"b": BOTH}], ("Topic a", {"a": BOTH}),
             ("Topic b", {"b": BOTH}), base={"a": BASE, "b": BASE}),
        ["landed c0 exact", "landed c1 exact"] * 2),
    "two-topics-in-one-file": (
        tale(
            [
                {"a": FIRST},
                {"a": swap(FIRST, ("stay_12", "topic_b"))},
                {"a": swap(BOTH, ("stay_12", "topic_b"))},
            ],
            ("Topic a", {"a": BOTH}),
        ),
        ["landed c0 exact", "-", "landed c0 exact"],
    ),
}  # fmt: skip


@table(("told", "verdicts"), SERIES)
def test_a_series_is_judged(told: Tale, verdicts: list[str]) -> None:
    assert told.verdicts() == verdicts


SLOTS = tuple((path, number) for path in "ab" for number in range(3))
Slot = tuple[str, int]
Variants = Mapping[Slot, str]
VARIANTS = {"old": "{0}_old", "ours": "{0}_ours_one {0}_ours_two", "theirs": "{0}_theirs"}


def files_of(variants: Variants) -> dict[str, File]:
    """Return two files of three slots each, far apart."""
    found: dict[str, bytes] = {}
    for path, number in SLOTS:
        name = f"slot_{path}_{number}"
        words = VARIANTS[variants.get((path, number), "old")].format(name)
        around = " ".join(f"around_{name}_{n}" for n in range(8))
        found[path] = found.get(path, b"") + text(f"{around} {words}")
    return dict(found)


@st.composite
def plots(draw: st.DrawFn) -> tuple[list[list[Slot]], list[dict[Slot, str]]]:
    """Draw which slots each patch changes, and what upstream makes of slots step by step."""
    slots = draw(st.permutations(SLOTS))
    ends = sorted(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True)))
    ours = [list(slots[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    step = st.dictionaries(
        st.sampled_from(SLOTS), st.sampled_from(list(VARIANTS)), min_size=1, max_size=4
    )
    return ours, draw(st.lists(step, min_size=1, max_size=4))


Plot = tuple[list[list[Slot]], list[dict[Slot, str]]]


def played(plot: Plot) -> Tale:
    ours, upstream = plot
    mine: dict[Slot, str] = {}
    series: list[Changes | Patch] = []
    for slots in ours:
        mine.update(dict.fromkeys(slots, "ours"))
        series.append(files_of(mine))
    theirs: dict[Slot, str] = {}
    steps: list[tuple[str, Changes]] = []
    for changes in upstream:
        theirs.update(changes)
        steps.append(("Work", files_of(theirs)))
    return Tale(files_of({}), series, steps)


@settings(deadline=None, max_examples=examples(120))
@given(plots())
def test_what_never_came_is_not_absorbed_and_what_is_there_is(plot: Plot) -> None:
    ours, upstream = plot
    ever = {slot for step in upstream for slot, variant in step.items() if variant == "ours"}
    last = {slot: variant for step in upstream for slot, variant in step.items()}
    found = played(plot).absorbed()
    for patch, slots in enumerate(ours):
        if not ever & set(slots):
            assert patch not in found
        if all(last.get(slot) == "ours" for slot in slots):
            assert found[patch].is_whole


LINES = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=4)


@settings(deadline=None, max_examples=examples(300))
@given(LINES, LINES)
def test_a_patch_with_a_line_of_its_own_is_never_replaced(
    ours: list[list[str]], upstream: list[list[str]]
) -> None:
    mine, theirs = ([text(" ".join(lines)) for lines in states] for states in (ours, upstream))
    series = tale(a(*mine), *on_a(*theirs), base={"a": text("a b c d")}).series()
    for patch in filter(series.is_lasting, range(len(series.folded))):
        for number in range(series.end + 1):
            assert series.count(patch, number).total


def test_a_later_wording_comes_with_both_texts() -> None:
    told = one(base_with(MANY_05, ("stay_25", "stay_25 ours_1st+ours_2nd")), base_with(OTHER_05))
    wording, without = told.absorbed()[0].wordings
    assert wording.path == "a"
    assert wording.upstream.split() == [b"theirs_1st", b"theirs_2nd"]
    assert wording.patch.split() == [b"ours_1st", b"ours_2nd"]
    assert (without.upstream, without.patch.split()) == (b"", [b"ours_1st+ours_2nd"])


def test_a_landing_as_it_is_has_no_other_wording() -> None:
    assert one(BOTH, BOTH).absorbed()[0].wordings == ()


def test_a_hunk_says_whose_lines_it_takes_away() -> None:
    ours: list[Changes | Patch] = [{"a": FIRST, "b": FIRST}, {"a": LATE}]
    told = tale(ours, *on_a(LATE), base={"a": BASE, "b": BASE})
    assert told.verdicts() == ["-", "landed c0 range"]
    (found,) = told.absorbed().values()
    assert found.undoes == {0: {"p0"}}
    assert found.without_undoing({"p1"}) == found
    left = found.without_undoing({"p0"})
    assert (left.hunks, left.is_whole) == (found.hunks - {0}, False)


def test_a_move_says_whose_file_it_takes_away() -> None:
    move = patch_of("p", moved("n", "m", LATE, LATE))
    told = tale([{"a": FIRST, "n": LATE}, move], *on_a(OTHER), ("Create", {"m": LATE}))
    assert told.verdicts() == ["-", "landed c1 exact"]
    assert told.absorbed()[1].undoes == {0: {"p0"}}


def test_lines_that_come_with_a_move_are_of_no_patch_before_it() -> None:
    move = patch_of("p", moved("a", "b", BASE, FIVE))
    told = tale([{"c": FIRST}, move], ("Move", {"a": None, "b": FIVE}), base={"a": BASE, "c": BASE})
    assert told.verdicts() == ["-", "landed c0 range"]
    assert told.absorbed()[1].undoes == {}


MOVED = text("far_one far_two stay_04 stay_05 ours_one ours_two far_three")


@table(
    ("elsewhere", "event", "now_in"),
    {
        "moved": ({"b.py": MOVED}, "evolved", "b.py"),
        "to-one-of-two": ({"b.py": MOVED, "c.py": MOVED}, "evolved", None),
        "none-beside": ({"b.py": text("ours_one ours_two")}, "gone", None),
        "only-a-part": ({"b.py": text("far_one stay_05 ours_one")}, "gone", None),
        "nowhere": ({}, "gone", None),
    },
)
def test_what_moved_away_is_not_gone(elsewhere: Changes, event: str, now_in: str | None) -> None:
    gone = base_with(("stay_05", "stay_05 other_one"))
    steps: list[tuple[str, Changes]] = [("Land", {"a.py": FIRST})]
    steps.append(("Move", {"a.py": gone, **elsewhere}))
    (found,) = Tale({"a.py": BASE}, [{"a.py": FIRST}], steps).absorbed().values()
    assert (found.event.value, found.now_in) == (event, now_in)


AT_12 = ("stay_12", "stay_12 ours_1st ours_2nd ours_3rd")
AT_25 = ("stay_25", "stay_25 last_one last_two")
GONE = ("again_x", "")
PIECES = " ".join(f"piece_{number}" for number in range(10))
MANY = swap(BASE, ("stay_05", f"stay_05 again_x {PIECES}"))
SHORT = swap(BASE, ("stay_05", "stay_05 again_x ours_one ours_two"))
NEVER = swap(BASE, ("stay_05", "stay_05 again_x never_1 never_2"))
STATES = [BASE, MANY, swap(MANY, AT_12), swap(MANY, AT_12, GONE)]
BACK = ("stay_28", "stay_28 again_x")


def folder(path: str) -> str:
    """Return a path that is a text of its own each time."""
    return "/".join(["folder", path])


@table(
    ("told", "verdicts"),
    {
        "upstream-has-it-again-elsewhere": (
            tale(a(swap(BASE, AT_25), swap(SHORT, AT_25), swap(FIRST, AT_25)),
                 *on_a(FIRST, swap(FIRST, BACK))),
            ["-", "landed c0 range", "landed c0 range"]),
        "another-patch-landed-later": (
            tale(a(swap(BASE, AT_25), swap(SHORT, AT_25), swap(FIRST, AT_25)),
                 *on_a(FIRST, swap(FIRST, AT_25))),
            ["landed c1 exact", "landed c0 range", "landed c0 range"]),
        "a-patch-that-is-not-in-brings-it-to-other-files": (
            tale([dict.fromkeys("Ab", NEVER), {"a": SHORT}, {"a": FIRST}],
                 *on_a(FIRST, swap(FIRST, BACK)), base=dict.fromkeys("Aab", BASE)),
            ["-", "landed c0 range", "landed c0 range"]),
        "what-brings-it-landed-later": (
            Tale(
                {folder("a"): BASE},
                [
                    difference(f"p{number}", {folder("a"): old}, {folder("a"): new})
                    for number, (old, new) in enumerate(pairwise(STATES))
                ],
                [("Work", {folder("a"): state}) for state in (swap(BASE, AT_12), STATES[2])],
            ),
            ["landed c1 exact", "landed c0 exact", "-"],
        ),
    },
)  # fmt: skip
def test_a_removal_is_needed_if_what_it_removes_comes_late(told: Tale, verdicts: list[str]) -> None:
    assert told.verdicts() == verdicts


MAIN = swap(BOTH, ("stay_28", "other_28"))
State = bytes | Sequence[bytes]


def named(ours: bytes, merged: bytes, branch: Sequence[State]) -> str | None:
    """Return the commit that is named inside of a merge.

    `branch` has the file as the branch found it, and as its commits make it; one that is a merge
    has the same for its branch. Commits are numbered in the order in which they stand there.
    """
    series = tale(a(ours), *on_a(merged)).series()
    blobs, inside = series.blobs, dict[str, Sequence[Step]]()
    assert isinstance(blobs, MemoryBlobs)
    count = iter(range(99))

    def steps(states: Sequence[State]) -> list[Step]:
        made = list[Step]()
        for state in states:
            content = state if isinstance(state, bytes) else state[-1]
            assert isinstance(content, bytes)
            commit, entry = f"b{next(count)}", entry_of(blobs, content)
            made.append(Step(commit, "", "", {"a": entry}, is_merge=content is not state))
            if not isinstance(state, bytes):
                inside[commit] = steps(state)
        return made

    (merge,) = series.way.steps
    inside[merge.commit] = steps(branch)
    way = replace(series.way, steps=[replace(merge, is_merge=True)], inside=lambda merges: inside)
    whole = Series(series.folded, way, series.blobs, elsewhere=series.elsewhere)
    (found,) = find_absorbed(whole).values()
    assert found.step.commit == "c0"
    return None if found.inner is None else found.inner.commit


def test_a_file_that_upstream_left_alone_is_not_compared() -> None:
    both = {"a": BASE, "b": BASE}
    series = tale([{"a": BOTH}, {"b": BOTH}], *on_a(OTHER), base=both).series()
    assert not find_absorbed(series)
    assert series.weave.cache_info().currsize == 1


@table(
    ("ours", "merged", "branch", "commit"),
    {
        "first-commit": (FIRST, BOTH, [BASE, FIRST, BOTH], "b1"),
        "last-commit": (LATE, BOTH, [BASE, FIRST, BOTH], "b2"),
        "undone-on-the-way": (FIRST, BOTH, [BASE, OTHER, FIRST, BOTH], "b2"),
        "main-went-on-meanwhile": (FIRST, MAIN, [BASE, FIRST, BOTH], "b1"),
        "half-and-then-the-rest": (FOUR, FOUR, [BASE, FIRST, FOUR], None),
        "most-and-then-the-rest": (FOUR, FOUR, [BASE, THREE, FOUR], None),
        "there-when-it-began": (FIRST, BOTH, [FIRST, BOTH], None),
        "merge-in-the-branch": (FIRST, BOTH, [BASE, [BASE, FIRST, BOTH]], "b3"),
        "nothing-of-the-file": (FIRST, BOTH, [], None),
    },
)
def test_the_commit_that_brought_a_patch_is_named_inside_of_its_merge(
    ours: bytes, merged: bytes, branch: Sequence[State], commit: str | None
) -> None:
    assert named(ours, merged, branch) == commit


def test_a_patch_that_a_later_one_replaces_has_its_own_commit_in_the_merge() -> None:
    last = swap(BASE, ("stay_05", "stay_05 end_1"))
    states = [FIRST, swap(FIRST, ("ours_one", "ours_own")), last]
    told = tale(a(*states), *on_a(states[-1])).series()
    assert isinstance(told.blobs, MemoryBlobs)
    entries = [entry_of(told.blobs, state) for state in (BASE, *states)]
    steps = [Step(f"b{n}", "", "", {"a": entry}) for n, entry in enumerate(entries)]
    merge = replace(told.way.steps[0], is_merge=True)
    way = replace(told.way, steps=[merge], inside=lambda merges: {merge.commit: steps})
    found = find_absorbed(Series(told.folded, way, told.blobs, elsewhere=told.elsewhere))
    assert [one.inner and one.inner.commit for one in found.values()] == ["b1", "b2", "b3"]


def test_a_move_that_only_deletes_a_line_lands_with_the_patches_around_it() -> None:
    cut = base_with(("stay_10", ""))
    move = patch_of("p", moved("a", "b", BASE, cut))
    ours = {"c": b"ours_c1 ours_c2\n"}, {"d": b"ours_d1 ours_d2\n"}
    work = {"a": None, "b": cut, **ours[0], **ours[1]}
    base = {"a": BASE, "c": b"c\n", "d": b"d\n"}
    found = tale([ours[0], move, ours[1]], ("Work", work), base=base)
    assert "-" not in found.verdicts()
