"""The merge ladder on single files: every rung, and a verdict for each hunk."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.rebase.ladder import (
    ABSORBED_EXACT,
    ABSORBED_SUPERSET,
    CARRIED_IDENTICAL,
    CARRIED_MOVED,
    CARRIED_TEXT,
    CONFLICT,
    DRIFTED_TEXT,
    Answer,
    Collided,
    Merged,
    Sides,
    judge_hunks,
    merge_file,
)
from patchmgr.engines.series.placement import Applied, PatchedFile, apply_hunks
from patchmgr.model.merge import Clean, Merge
from patchmgr.model.patch import Hunk
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, Entry
from tests.engines.ports import Binary, MemoryBlobs, PlainMerge, judged_alone
from tests.engines.series import (
    File,
    at,
    entry_of,
    executable,
    hunks_between,
    kind,
    link,
    shown,
    submodule,
    text,
)
from tests.long import examples
from tests.tables import table

BASE = text("a b c d e f g h i j k l")
EARLY = text("a B c d e f g h i j k l")
LATE = text("a b c d e f g h i j K l")
BOTH = text("a B c d e f g h i j K l")
OTHER = text("a X c d e f g h i j k l")
PUSHED = text("n n a b c d e f g h i j k l")
BLOBS = MemoryBlobs()


def sides(base: File | None, ours: File | None, theirs: File | None, context: int = 3) -> Sides:
    """Return the sides of one file, with the hunks from base to theirs."""
    old, new = (b"" if file is None else shown(file) for file in (base, theirs))
    hunks = hunks_between(old, new, context)
    applied = apply_hunks(old, hunks)
    assert isinstance(applied, Applied)
    states = entry(base), entry(ours), entry(theirs)
    return Sides(*states, hunks, applied.positions, path="m.py")


def entry(file: File | None) -> Entry | None:
    return None if file is None else entry_of(BLOBS, file)


class Fixed(PlainMerge):
    """A text merge whose results depend on theirs."""

    def __init__(self, answers: dict[bytes, bytes]) -> None:
        self._answers = answers

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Clean(self._answers[theirs])


@table(
    ("given_sides", "after", "answers"),
    {
        "same-link": (sides(link(b"a"), link(b"b"), link(b"b")), link(b"b"), [ABSORBED_EXACT]),
        "creation-of-less": (sides(None, BASE, b""), BASE, [ABSORBED_EXACT]),
        "upstream-changed-only-the-mode": (sides(BASE, executable(BASE), EARLY), executable(EARLY),
            [CARRIED_IDENTICAL]),
        "upstream-took-the-mode-away": (sides(executable(BASE), BASE, executable(BOTH)), BOTH,
            [CARRIED_IDENTICAL] * 2),
        "moved-and-mode": (replace(sides(BASE, executable(BASE), EARLY), is_moved=True),
            executable(EARLY), [CARRIED_MOVED]),
        "positions-only": (sides(BASE, PUSHED, EARLY), text("n n a B c d e f g h i j k l"),
            [CARRIED_TEXT]),
        "partial-and-drifted": (sides(BASE, text("a B c d e f g h X j k l"), BOTH),
            text("a B c d e f g h X j K l"), [ABSORBED_EXACT, DRIFTED_TEXT]),
        "upstream-did-more": (sides(BASE, BOTH, EARLY), BOTH, [ABSORBED_EXACT]),
        "lines-behind-the-context": (
            sides(text("x x x a x x x a x x x"), text("x x x a x x x a x x x Q"),
                  text("x x x a x x x A x x x")),
            text("x x x a x x x A x x x Q"), [CARRIED_TEXT]),
        "one-of-two-equal-places-shifted": (
            sides(text("x x x a x x x x a x x x"), text("q q x x x a x x x x a x x x"),
                  text("x x x a x x x x A x x x")),
            text("q q x x x a x x x x A x x x"), [CARRIED_TEXT]),
        "last-newline-added": (sides(b"a\nb\nc\nd", b"A\nb\nc\nd", b"a\nb\nc\nd\n"),
            b"A\nb\nc\nd\n", [DRIFTED_TEXT]),
        "crlf": (
            sides(BASE.replace(b"\n", b"\r\n"), PUSHED.replace(b"\n", b"\r\n"),
                  EARLY.replace(b"\n", b"\r\n")),
            text("n n a B c d e f g h i j k l").replace(b"\n", b"\r\n"), [CARRIED_TEXT]),
    },
)  # fmt: skip
def test_rungs_give_verdicts(given_sides: Sides, after: File | None, answers: list[Answer]) -> None:
    merged = merge_file(given_sides, blobs=BLOBS, text=PlainMerge())
    assert isinstance(merged, Merged)
    assert merged.entry == entry(after)
    assert list(merged.answers) == answers


@table(
    ("given_sides", "reason"),
    {
        "add-add-mode": (sides(None, BASE, executable(BASE)), "upstream added a different file"),
        "add-add-link": (sides(None, link(b"a"), link(b"b")), "upstream added a different file"),
        "add-add-link-and-file": (sides(None, link(b"a"), BASE), "upstream added a different file"),
        "upstream-deleted-mode": (sides(BASE, None, executable(BASE)), "upstream deleted"),
        "we-deleted-mode": (sides(BASE, executable(BASE), None), "that the patch deletes"),
        "upstream-made-the-link-a-file": (sides(link(b"f"), b"f", link(b"g")),
            "a different kind of file"),
        "upstream-made-the-link-a-submodule": (sides(link(b"f"), submodule("1"), link(b"g")),
            "a different kind of file"),
        "link": (sides(link(b"a"), link(b"b"), link(b"c")), "the same link"),
        "submodule": (sides(submodule("1"), submodule("2"), submodule("3")), "same submodule"),
    },
)  # fmt: skip
def test_a_conflict_of_whole_files_has_no_text(given_sides: Sides, reason: str) -> None:
    collided = merge_file(given_sides, blobs=BLOBS, text=PlainMerge())
    assert isinstance(collided, Collided)
    assert reason in collided.reason
    assert (collided.answers, collided.marked) == ((CONFLICT,), None)


@table(
    ("ours", "other"),
    {
        "in-one-hunk": ("a X c d e f g h i j k l", CARRIED_TEXT),
        "beside-an-absorbed-hunk": ("a X c d e f g h i j K l", ABSORBED_EXACT),
        "beside-a-drifted-hunk": ("a X c d e f g h I j k l", DRIFTED_TEXT),
    },
)
def test_a_conflict_of_lines_has_a_text(ours: str, other: Answer) -> None:
    collided = merge_file(sides(BASE, text(ours), BOTH), blobs=BLOBS, text=PlainMerge())
    assert isinstance(collided, Collided)
    assert "the same lines" in collided.reason
    assert collided.answers == (CONFLICT, other)
    assert collided.marked is not None


@table("hunks", {"binary": (), "text": hunks_between(BASE, EARLY)})
def test_a_binary_conflict_has_no_text(hunks: tuple[Hunk, ...]) -> None:
    given_sides = replace(sides(BASE, OTHER, EARLY), hunks=hunks, positions=(0,) * len(hunks))
    collided = merge_file(given_sides, blobs=BLOBS, text=Binary())
    assert collided == Collided("both sides are binary", None, (CONFLICT,))


def placed(base: bytes, hunks: tuple[Hunk, ...], at: tuple[int, ...] = (0, 7)) -> PatchedFile:
    """Return the hunks of a patch at lines of a file."""
    return PatchedFile("", base, b"", hunks, at)


@table(
    ("ours", "merged", "answer"),
    {
        "carried": (LATE, BOTH, DRIFTED_TEXT),
        "absorbed": (BOTH, BOTH, ABSORBED_EXACT),
        "conflict": (OTHER, None, CONFLICT),
    },
)
def test_no_hunks_have_one_verdict(ours: bytes, merged: bytes | None, answer: Answer) -> None:
    assert judge_hunks(placed(BASE, (), ()), ours, merged, PlainMerge()) == (answer,)


class Ours(PlainMerge):
    """A text merge that always gives ours."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Clean(ours)


@table(
    ("ours", "merged", "merge", "answers"),
    {
        "a-conflict-that-no-hunk-has-alone-is-one-of-all": (PUSHED, None, PlainMerge(),
            (CONFLICT, CONFLICT)),
        "conflict-alone-and-merge-together": (OTHER, text("a B X e f g h i j K l"), PlainMerge(),
            (DRIFTED_TEXT, CARRIED_TEXT)),
        "add-nothing-alone-but-something-together": (OTHER, text("together"),
            Fixed({EARLY: OTHER, LATE: OTHER}), (DRIFTED_TEXT, DRIFTED_TEXT)),
        "not-asked-about-alone-where-they-apply-as-they-stand": (PUSHED,
            text("n n a B c d e f g h i j K l"), Ours(), (CARRIED_TEXT, CARRIED_TEXT)),
    },
)  # fmt: skip
def test_hunks_are_judged_together(
    ours: bytes, merged: bytes | None, merge: PlainMerge, answers: tuple[Answer, ...]
) -> None:
    assert judge_hunks(placed(BASE, hunks_between(BASE, BOTH)), ours, merged, merge) == answers


@table(
    ("ours", "answer"),
    {
        "nothing-changed": (BASE, CARRIED_TEXT),
        "shifted": (PUSHED, CARRIED_TEXT),
        "there": (EARLY, ABSORBED_EXACT),
        "other-change": (OTHER, CONFLICT),
        "other-context": (text("a b c d E f g h i j k l"), DRIFTED_TEXT),
    },
)
def test_a_hunk_is_judged_alone(ours: bytes, answer: Answer) -> None:
    (hunk,) = hunks_between(BASE, EARLY)
    assert judged_alone(BASE, ours, hunk, 0) == answer


def test_an_insertion_that_upstream_has_is_absorbed_even_if_it_applies_again() -> None:
    insert = at(1, b" x\n", b"+x\n")
    assert judged_alone(text("x"), text("x x"), insert, 0) == ABSORBED_EXACT


TEXTS = st.lists(st.sampled_from("ab"), max_size=6).map(lambda words: text(" ".join(words)))
FILES = st.none() | TEXTS | TEXTS.map(executable) | st.sampled_from([link(b"a"), link(b"b")])


@settings(deadline=None, max_examples=examples(300))
@given(FILES, FILES, FILES, st.integers(0, 3))
def test_the_ladder_never_drops_or_invents(
    base: File | None, ours: File | None, theirs: File | None, context: int
) -> None:
    assume(base != theirs)
    assume(base is None or theirs is None or kind(base) == kind(theirs))
    given_sides = sides(base, ours, theirs, context)
    merged = merge_file(given_sides, blobs=BLOBS, text=PlainMerge())
    assert len(merged.answers) == max(1, len(given_sides.hunks))
    if isinstance(merged, Collided):
        assert CONFLICT in merged.answers
        return
    assert CONFLICT not in merged.answers
    absorbed = {ABSORBED_EXACT, ABSORBED_SUPERSET}
    if merged.entry == given_sides.ours:
        assert set(merged.answers) <= absorbed
    elif set(merged.answers) <= absorbed:
        # Then only a mode is left to carry, which the caller answers for.
        assert merged.entry is not None
        assert given_sides.ours is not None
        assert merged.entry.blob == given_sides.ours.blob
    if given_sides.ours == given_sides.base:
        assert merged.entry == given_sides.theirs


def listed(*names: str, edits: str = "a b c d e f g h i j k l") -> bytes:
    """Return a text with a set of one, and of more, between its third and fourth line."""
    words = edits.split()
    lines = [*words[:3], "names = {", "  one,", *(f"  {n}," for n in names), "}", *words[3:]]
    return "".join(f"{line}\n" for line in lines).encode()


LAST = "a b c d e f g h i j K l"


@table(
    ("base", "ours", "theirs", "after", "answers"),
    {
        "all-of-it": (listed(), listed("two", "three"), listed("two"), listed("two", "three"),
            [ABSORBED_SUPERSET]),
        "and-more": (listed(), listed("two", "three"), listed("two", edits=LAST),
            listed("two", "three", edits=LAST), [ABSORBED_SUPERSET, CARRIED_TEXT]),
        "all-in": (listed(), listed("two", "three", edits=LAST), listed("two", edits=LAST),
            listed("two", "three", edits=LAST), [ABSORBED_SUPERSET, ABSORBED_EXACT]),
        "and-drifted": (listed(), listed("two", "three", edits="a b c d e f g h I j k l"),
            listed("two", edits=LAST), listed("two", "three", edits="a b c d e f g h I j K l"),
            [ABSORBED_SUPERSET, DRIFTED_TEXT]),
    },
)  # fmt: skip
def test_a_hunk_of_which_upstream_has_a_superset_is_left_out(
    base: bytes, ours: bytes, theirs: bytes, after: bytes, answers: list[Answer]
) -> None:
    merged = merge_file(sides(base, ours, theirs), blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(after), tuple(answers))


def test_the_remaining_hunks_may_conflict() -> None:
    ours = listed("two", "three", edits="a b c d e f g h i j X l")
    given_sides = sides(listed(), ours, listed("two", edits=LAST))
    merged = merge_file(given_sides, blobs=BLOBS, text=PlainMerge())
    assert isinstance(merged, Collided)
    assert merged.answers == (ABSORBED_SUPERSET, CONFLICT)
    assert merged.marked is not None
    assert b"three" not in merged.marked.partition(b"<<<<<<<")[2]
    assert merged.texts == (listed("two"), ours, listed("two", edits=LAST))


def test_a_moved_file_may_have_a_superset() -> None:
    given_sides = sides(listed(), listed("two", "three"), listed("two", edits=LAST))
    merged = merge_file(replace(given_sides, is_moved=True), blobs=BLOBS, text=PlainMerge())
    assert merged.answers == (ABSORBED_SUPERSET, CARRIED_MOVED)


def test_an_item_that_upstream_added_elsewhere_is_carried() -> None:
    names = [f"n{number}" for number in range(9)]
    given_sides = sides(listed(*names), listed(*names, "two"), listed("two", *names))
    merged = merge_file(given_sides, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(listed("two", *names, "two")), (CARRIED_TEXT,))


def test_the_remaining_hunks_are_judged_again_without_those_upstream_has() -> None:
    """Found by fuzzing: a hunk was judged absorbed, but was applied nevertheless."""
    top, middle = b"]\n\n\na\n", b"x = {\n\nx = {\nx = {\nc\n}\nb\n    e,\n"
    end = b"\n\n    d,\n\n    d,\n\n"
    base = top + middle + b"a\n" + end + b"\n]\n}\n    e,\n"
    start = top + b"    e,\n" + middle + b"    e,\na\n"
    ours = start + b"    e,\n" + end + b"\n    e,\n]\n}\n    e,\n"
    theirs = start + end + b"\n\n]\n}\n    e,\n"
    merged = merge_file(sides(base, ours, theirs), blobs=BLOBS, text=PlainMerge())
    after = ours.replace(b"    e,\na\n", b"    e,\n    e,\na\n")
    assert merged == Merged(entry(after), (ABSORBED_EXACT, DRIFTED_TEXT, ABSORBED_SUPERSET))


def test_a_link_that_both_sides_create_is_absorbed() -> None:
    both = sides(None, link(b"a"), link(b"a"))
    assert merge_file(both, blobs=BLOBS, text=Binary()) == Merged(both.ours, (ABSORBED_EXACT,))


def test_a_binary_that_both_sides_change_alike_gets_the_mode_of_the_patch() -> None:
    both = sides(BASE, BOTH, executable(BOTH))
    merged = merge_file(both, blobs=BLOBS, text=Binary())
    assert merged == Merged(both.theirs, (ABSORBED_EXACT,) * 2)


def test_equal_modes_need_not_be_the_same_object() -> None:
    given = sides(BASE, BOTH, executable(BASE))
    assert given.base is not None and given.ours is not None
    told = Entry(REGULAR.encode().decode(), given.base.blob)
    merged = merge_file(replace(given, base=told), blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(Entry(EXECUTABLE, given.ours.blob), (CARRIED_TEXT,))


CONTENTS = [BASE + text(f"more_{number}") for number in range(8)]


@table("content", CONTENTS, ids=range(8))
def test_verdicts_do_not_depend_on_blob_ids(content: bytes) -> None:
    on_mode = sides(BASE, executable(BASE), content)
    merged = merge_file(on_mode, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(executable(content)), (CARRIED_IDENTICAL,))
    mode_on = sides(BASE, content, executable(BASE))
    merged = merge_file(mode_on, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(executable(content)), (CARRIED_TEXT,))
    alike = sides(BASE, content, executable(content))
    merged = merge_file(alike, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(executable(content)), (ABSORBED_EXACT,))


def test_a_hunk_that_alone_adds_nothing_is_carried_if_all_hunks_apply() -> None:
    names = [f"n{number}" for number in range(9)]
    base, ours = listed(*names), listed(*names, "two")
    hunks = hunks_between(base, listed("two", *names))
    merged = listed("two", *names, "two")
    (position,) = sides(base, ours, listed("two", *names)).positions
    assert judge_hunks(placed(base, hunks, (position,)), ours, merged, Ours()) == (CARRIED_TEXT,)


class Silent(PlainMerge):
    """A broken merge that gives no answers."""

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> Sequence[Merge]:
        return ()


def test_hunks_without_a_position_or_an_answer_are_an_error() -> None:
    hunks = hunks_between(BASE, BOTH)
    with pytest.raises(ValueError, match="shorter"):
        judge_hunks(placed(BASE, hunks, (0,)), PUSHED, None, PlainMerge())
    with pytest.raises(ValueError, match="shorter"):
        judge_hunks(placed(BASE, hunks), PUSHED, None, Silent())


def test_files_that_both_sides_create_merge_if_their_modes_are_equal() -> None:
    given = sides(None, b"", BASE)
    assert given.ours is not None
    told = replace(given, ours=Entry(REGULAR.encode().decode(), given.ours.blob))
    merged = merge_file(told, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(BASE), (DRIFTED_TEXT,))
    apart = merge_file(sides(None, executable(BASE), BASE), blobs=BLOBS, text=PlainMerge())
    assert isinstance(apart, Collided)
