"""What the ladder compares, and what it asks of the text merge."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from patchmgr.engines.rebase.ladder import (
    ABSORBED_EXACT,
    CARRIED_IDENTICAL,
    CARRIED_TEXT,
    DRIFTED_TEXT,
    Collided,
    Merged,
    judge_hunks,
    merge_file,
)
from patchmgr.model.merge import Clean, Merge
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, Entry
from tests.engines.ports import Binary, PlainMerge
from tests.engines.rebase.test_ladder import BLOBS, entry, listed, placed, sides
from tests.engines.series import executable, hunks_between, link, text
from tests.tables import table

BASE = text("a b c d e f g h i j k l")
BOTH = text("a B c d e f g h i j K l")
PUSHED = text("n n a b c d e f g h i j k l")


class Ours(PlainMerge):
    """A merge that finds everything there already."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Clean(ours)


def test_hunks_that_apply_as_they_stand_are_not_asked_about_alone() -> None:
    hunks, merged = hunks_between(BASE, BOTH), text("n n a B c d e f g h i j K l")
    answers = judge_hunks(placed(BASE, hunks), PUSHED, merged, Ours())
    assert answers == (CARRIED_TEXT, CARRIED_TEXT)


def test_a_link_that_both_made_is_there() -> None:
    both = sides(None, link(b"a"), link(b"a"))
    assert merge_file(both, blobs=BLOBS, text=Binary()) == Merged(both.ours, (ABSORBED_EXACT,))


def test_a_binary_that_both_made_alike_gets_the_mode_of_the_patch() -> None:
    both = sides(BASE, BOTH, executable(BOTH))
    merged = merge_file(both, blobs=BLOBS, text=Binary())
    assert merged == Merged(both.theirs, (ABSORBED_EXACT,) * 2)


def test_a_mode_that_git_tells_again_is_the_same_mode() -> None:
    given = sides(BASE, BOTH, executable(BASE))
    assert given.base is not None and given.ours is not None
    told = Entry(REGULAR.encode().decode(), given.base.blob)
    merged = merge_file(replace(given, base=told), blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(Entry(EXECUTABLE, given.ours.blob), (CARRIED_TEXT,))


CONTENTS = [BASE + text(f"more_{number}") for number in range(8)]


@table("content", CONTENTS, ids=range(8))
def test_no_verdict_depends_on_which_id_a_content_has(content: bytes) -> None:
    on_mode = sides(BASE, executable(BASE), content)
    merged = merge_file(on_mode, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(executable(content)), (CARRIED_IDENTICAL,))
    mode_on = sides(BASE, content, executable(BASE))
    merged = merge_file(mode_on, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(executable(content)), (CARRIED_TEXT,))
    alike = sides(BASE, content, executable(content))
    merged = merge_file(alike, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(executable(content)), (ABSORBED_EXACT,))


def test_a_mode_that_upstream_took_away_stays_away() -> None:
    given = sides(executable(BASE), BASE, executable(BOTH))
    merged = merge_file(given, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(BOTH), (CARRIED_IDENTICAL,) * 2)


def test_a_member_that_alone_adds_nothing_is_carried_where_all_apply() -> None:
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


def test_files_that_both_made_merge_where_their_modes_are_equal() -> None:
    given = sides(None, b"", BASE)
    assert given.ours is not None
    told = replace(given, ours=Entry(REGULAR.encode().decode(), given.ours.blob))
    merged = merge_file(told, blobs=BLOBS, text=PlainMerge())
    assert merged == Merged(entry(BASE), (DRIFTED_TEXT,))
    apart = merge_file(sides(None, executable(BASE), BASE), blobs=BLOBS, text=PlainMerge())
    assert isinstance(apart, Collided)
