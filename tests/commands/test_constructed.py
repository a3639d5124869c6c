"""The constructed cases A to T, and their look-alikes that upstream does not have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.commands.constructed import (
    Edit,
    Say,
    Story,
    add,
    body,
    delete,
    mention,
    put,
    rename,
    respace,
    say,
)

OLD, SECOND_OLD = say(10, 4), say(16, 5)
ONE, TWO, THREE = (say(10, 4, variant=n) for n in (1, 2, 3))
FIX = put(10, 4, ONE, TWO)
INSERT = put(10, 5, ONE, TWO, over=0)
REMOVE = put(10, 4, over=2)
SECOND = put(16, 5, say(16, 5, variant=1))
OTHER = put(7, 3, say(7, 3, variant=1), say(7, 3, variant=2))
EDITS = pytest.mark.parametrize(
    "fix",
    [
        pytest.param(FIX, id="replace"),
        pytest.param(INSERT, id="insert"),
        pytest.param(REMOVE, id="remove"),
    ],
)
NEW_WORDS = pytest.mark.parametrize(
    "fix", [pytest.param(FIX, id="replace"), pytest.param(INSERT, id="insert")]
)


@EDITS
def test_a_picked_at_shifted_lines(story: Story, fix: Edit) -> None:
    """A: upstream picked our patch, at shifted lines."""
    story.patch(fix)
    story.upstream(7, fix)
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #7"]
    assert told.evidence() == [7]
    assert told.history() == ["landed #7"]
    assert told.tree == story.tree()


@NEW_WORDS
def test_b_picked_with_other_white_space(story: Story, fix: Edit) -> None:
    """B: the same with other white space."""
    story.patch(fix)
    story.upstream(7, fix, respace(10, 5))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed whitespace #7"]
    assert told.evidence() == [7]
    assert told.tree == story.tree()


@EDITS
def test_c_inside_a_squash(story: Story, fix: Edit) -> None:
    """C: the same inside a squash with other edits, here and in another file."""
    story.patch(fix)
    story.upstream(7, fix, SECOND, OTHER, n=put(50, 1, say(50, 1, variant=9)))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #7"]
    assert told.evidence() == [7]
    assert told.tree == story.tree()


def test_d_landed_and_evolved(story: Story) -> None:
    """D: upstream landed it, then edited the same line again."""
    story.patch(FIX)
    story.upstream(7, FIX)
    story.upstream(9, put(10, 5, THREE))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed history #7"]
    assert told.evidence() == [7]
    assert told.history() == ["landed #7", "evolved #9"]
    assert told.tree == story.tree()


def test_d_landed_and_gone(story: Story) -> None:
    """D: upstream landed it, then deleted the function."""
    story.patch(FIX)
    story.upstream(7, FIX)
    story.upstream(9, delete(10))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed history #7"]
    assert told.history() == ["landed #7", "gone #9"]
    assert told.tree == story.tree()


def test_e_a_squash_of_two_patches_on_one_line(story: Story) -> None:
    """E: one squash of our two patches, both on one line."""
    story.patch(put(10, 4, ONE))
    story.patch(put(10, 4, TWO))
    story.upstream(7, put(10, 4, TWO))
    told = story.rebase()
    assert told.verdicts() == ["absorbed", "absorbed"]
    assert told.hunks(0) == ["absorbed range #7"]
    assert told.hunks(1) == ["absorbed range #7"]
    assert told.evidence(0) == told.evidence(1) == [7]
    assert told.tree == story.tree()


def test_f_one_of_two_hunks(story: Story) -> None:
    """F: upstream landed one of our two hunks."""
    story.patch(FIX, SECOND)
    story.upstream(7, FIX)
    told = story.rebase()
    assert told.verdicts() == ["partial"]
    assert told.hunks() == ["absorbed exact #7", "unchanged text"]
    assert told.evidence() == [7]
    assert told.tree == story.tree(SECOND)


def test_f_the_other_of_two_hunks_in_a_squash(story: Story) -> None:
    """F: upstream landed the second of our two hunks, with edits of its own."""
    story.patch(FIX, SECOND)
    story.upstream(7, SECOND, OTHER)
    told = story.rebase()
    assert told.verdicts() == ["partial"]
    assert told.hunks() == ["unchanged text", "absorbed exact #7"]
    assert told.evidence() == [7]
    assert told.tree == story.tree(FIX)


@EDITS
def test_g_landed_with_an_edited_neighbour(story: Story, fix: Edit) -> None:
    """G: upstream landed it, and edited the neighbouring line."""
    story.patch(fix)
    story.upstream(7, fix, put(10, 3, say(10, 3, variant=1)))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #7"]
    assert told.evidence() == [7]
    assert told.tree == story.tree()


@EDITS
def test_g_landed_and_the_neighbour_edited_later(story: Story, fix: Edit) -> None:
    """G: upstream landed it, and edited the neighbouring line later."""
    story.patch(fix)
    story.upstream(7, fix)
    story.upstream(9, put(10, 3, say(10, 3, variant=1)))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #7"]
    assert told.history() == ["landed #7"]
    assert told.tree == story.tree()


def _with_local(name: str) -> Edit:
    return put(
        10, 5, Say(name, "weigh", "hinge", 10400), Say(name, "drain", "crate", 10420), over=0
    )


def test_h_landed_with_a_renamed_local(story: Story) -> None:
    """H: upstream landed it with a renamed local variable."""
    story.patch(_with_local("limit"))
    story.upstream(7, _with_local("bound"))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    assert told.hunks() == ["conflict"]
    assert told.evidence() == []
    patch = told.series["patches"][0]
    assert [likely["pull"] for likely in patch["likely"]] == [7]
    assert 0.5 <= patch["likely"][0]["confidence"] < 1
    assert patch["conflicts"][0]["proposal"] is not None
    assert told.tree == story.tree()


def test_h_the_decision_is_kept(story: Story) -> None:
    """H: a person decides, and later runs use it as long as the text is there."""
    story.patch(_with_local("limit"))
    story.upstream(7, _with_local("bound"))
    story.rebase(code=3)
    story.run("decide", "ours-change-1.patch", "absorbed", "--by", "7")
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed decided #7"]
    story.upstream(9, SECOND)
    assert story.rebase().verdicts() == ["absorbed"]
    story.upstream(11, put(10, 5, over=2))
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.tree == story.tree(_with_local("limit"))


@EDITS
@pytest.mark.parametrize("subject", ['Revert "Rework (#7)"', "Go another way"])
def test_i_landed_then_reverted(story: Story, fix: Edit, subject: str) -> None:
    """I: upstream landed it, then reverted it; git drops it and loses the code."""
    story.patch(fix)
    story.upstream(7, fix)
    undo = [put(10, at, *(say(10, n) for n in old), over=over) for at, old, over in _UNDO[fix]]
    story.upstream(9, *undo, subject=subject)
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.hunks() == ["unchanged text"]
    assert told.history() == ["landed #7", "reverted #9"]
    assert told.tree == story.tree(fix)


_UNDO: dict[Edit, list[tuple[int, tuple[int, ...], int]]] = {
    FIX: [(4, (4,), 2)],
    INSERT: [(5, (), 2)],
    REMOVE: [(4, (4, 5), 0)],
}


def test_i_reverted_inside_a_squash(story: Story) -> None:
    """I: the revert is part of a commit that does other things, too."""
    story.patch(FIX)
    story.upstream(7, FIX)
    story.upstream(9, put(10, 4, OLD, over=2), SECOND, OTHER, subject="Revert #7, and clean up")
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.history() == ["landed #7", "reverted #9"]
    assert told.tree == story.tree(FIX)


def test_i_reverted_and_landed_again(story: Story) -> None:
    """I: upstream landed it, reverted it, and landed it once more."""
    story.patch(FIX)
    story.upstream(7, FIX)
    story.upstream(9, put(10, 4, OLD, over=2), subject='Revert "Rework (#7)"')
    story.upstream(11, FIX, subject="Reland")
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #11"]
    assert told.evidence() == [11]
    assert told.tree == story.tree()


@pytest.mark.parametrize("unit", [5, 9, 11, 14])
def test_j_our_lines_in_another_function_only(story: Story, unit: int) -> None:
    """J: upstream put our exact lines into another function only, far away or next door."""
    story.patch(INSERT)
    elsewhere = put(unit, 3, ONE, TWO, over=0)
    story.upstream(7, elsewhere)
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.hunks() == ["unchanged text"]
    assert told.evidence() == []
    assert told.tree == story.tree(INSERT)


@NEW_WORDS
def test_k_the_function_deleted(story: Story, fix: Edit) -> None:
    """K: upstream deleted the function."""
    story.patch(fix)
    story.upstream(7, delete(10))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    assert told.hunks() == ["conflict"]
    assert told.cause() == [7]
    assert told.evidence() == []
    assert told.tree == story.tree()


def test_q_upstream_made_the_change_that_we_undo(story: Story) -> None:
    """Q: our series takes a change and then undoes it on purpose; upstream made the change."""
    story.patch(FIX)
    story.patch(put(10, 4, OLD, over=2))
    story.upstream(7, FIX)
    told = story.rebase()
    assert told.verdicts() == ["absorbed", "unchanged"]
    assert told.hunks(0) == ["absorbed exact #7"]
    assert told.evidence(1) == []
    assert told.tree == story.tree(put(10, 4, OLD, over=2))


def test_q_upstream_makes_the_change_again_that_we_undo(story: Story) -> None:
    """Q: upstream took back what we undo, and then made the very change again."""
    undo = put(10, 4, OLD, over=2)
    story.start(FIX)
    story.patch(undo)
    story.upstream(7, undo, subject="Try without")
    story.upstream(9, FIX, subject="Once more")
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.history() == ["landed #7", "reverted #9"]
    assert told.tree == story.tree(undo)


def test_q_upstream_makes_the_change_that_we_undo_elsewhere_too(story: Story) -> None:
    """Q: what we undo in one function, upstream also does in another."""
    undo = put(10, 4, OLD, over=2)
    story.start(FIX)
    story.patch(undo)
    story.upstream(7, put(14, 4, ONE, TWO))
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.evidence() == []
    assert told.tree == story.tree(undo)


def test_r_the_test_hunk_landed_but_not_the_code_hunk(story: Story) -> None:
    """R: upstream landed the test hunk, not the code hunk."""
    test = put(50, 3, say(50, 3, variant=1), say(50, 3, variant=2), over=0)
    story.patch(FIX, n=test)
    story.upstream(7, n=test)
    told = story.rebase()
    assert told.verdicts() == ["partial"]
    assert told.hunks() == ["unchanged text", "absorbed exact #7"]
    assert told.evidence() == [7]
    assert told.tree == story.tree(FIX)


@pytest.mark.parametrize("before", [10, 11, 4, 18])
def test_s_a_copy_of_the_function(story: Story, before: int) -> None:
    """S: upstream has two identical places where our hunk could go: the one in our function."""
    story.patch(FIX)
    story.upstream(7, add("twin_of_ten", body(10), before=before))
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.hunks() == ["unchanged text"]
    assert told.tree == story.tree(FIX)


def test_s_two_copies_and_no_original(story: Story) -> None:
    """S: upstream has two identical places where our hunk could go, and none is our function."""
    twins = [add(name, body(10), before=10) for name in ("twin_of_ten", "other_of_ten")]
    story.patch(FIX)
    story.upstream(7, *twins, delete(10))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    assert told.hunks() == ["conflict"]


def test_t_renamed_and_landed_at_once(story: Story) -> None:
    """T: upstream renamed the file and landed our patch there."""
    story.patch(FIX)
    story.commit(7, rename("a", "m", FIX))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #7"]
    assert told.homes() == [story.path("m")]
    assert told.evidence() == [7]
    assert told.tree == story.tree()


def test_t_renamed_then_landed(story: Story) -> None:
    """T: the rename is a commit of its own before the landing."""
    story.patch(FIX)
    story.commit(5, rename("a", "m"))
    story.upstream(7, m=FIX)
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #7"]
    assert told.homes() == [story.path("m")]
    assert told.evidence() == [7]
    assert told.tree == story.tree()


def test_t_landed_then_renamed(story: Story) -> None:
    """T: the rename is a commit of its own after the landing."""
    story.patch(FIX)
    story.upstream(5, FIX)
    story.commit(7, rename("a", "m"))
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed exact #5"]
    assert told.homes() == [story.path("m")]
    assert told.evidence() == [5]
    assert told.tree == story.tree()


# Look-alikes: what upstream does not have, though its lines say otherwise.


def test_an_edited_neighbour_alone_is_drift(story: Story) -> None:
    story.patch(FIX)
    story.upstream(7, put(10, 2, say(10, 2, variant=1)))
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified text"]
    assert told.cause() == [7]
    assert told.tree == story.tree(FIX)


def test_a_rename_alone_is_followed(story: Story) -> None:
    story.patch(FIX)
    story.commit(7, rename("a", "m", SECOND))
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified moved"]
    assert told.homes() == [story.path("m")]
    assert told.cause() == [7]
    assert told.tree == story.tree(m=FIX)


def test_our_lines_in_a_comment_are_not_our_lines(story: Story) -> None:
    story.patch(INSERT)
    story.upstream(7, mention(10, 5, ONE, TWO))
    is_solved = story.path("a").endswith(".py")
    told = story.rebase(code=0 if is_solved else 3)
    assert told.verdicts() == ["modified" if is_solved else "conflict"]
    assert told.cause() == [7]
    assert told.tree == (story.tree(INSERT) if is_solved else story.tree())


@pytest.mark.parametrize("line", [pytest.param(ONE, id="first"), pytest.param(TWO, id="second")])
def test_half_of_an_insertion_is_not_the_insertion(story: Story, line: Any) -> None:
    story.patch(INSERT)
    story.upstream(7, put(10, 5, line, over=0))
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified structural"]
    assert told.cause() == [7]
    rest = put(10, 6, TWO, over=0) if line is ONE else put(10, 5, ONE, over=0)
    assert told.tree == story.tree(rest)


def test_the_removal_alone_is_not_the_replacement(story: Story) -> None:
    story.patch(FIX)
    story.upstream(7, put(10, 4))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    assert told.cause() == [7]
    assert told.tree == story.tree()


def test_another_number_is_not_our_number(story: Story) -> None:
    story.patch(put(10, 4, ONE))
    story.upstream(7, put(10, 4, TWO))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    assert told.cause() == [7]
    assert told.tree == story.tree()


def test_our_lines_at_another_place_of_the_function_are_not_our_change(story: Story) -> None:
    story.patch(put(10, 8, ONE, TWO, over=0))
    story.upstream(7, put(10, 1, ONE, TWO, over=0))
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.evidence() == []
    assert told.tree == story.tree(put(10, 10, ONE, TWO, over=0))


def test_an_insertion_into_a_deleted_function_is_a_conflict_after_edits_of_it(
    story: Story,
) -> None:
    story.patch(INSERT)
    story.upstream(5, put(10, 1, THREE))
    story.upstream(7, delete(10))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    assert told.cause() == [7]
    assert told.tree == story.tree()


@pytest.mark.each_form
def test_a_deletion_that_upstream_did_not_do_is_carried(story: Story) -> None:
    story.patch(REMOVE)
    story.upstream(7, SECOND, OTHER)
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.tree == story.tree(REMOVE)


def test_a_line_that_the_file_had_elsewhere_all_along_is_no_evidence(story: Story) -> None:
    story.start(put(5, 2, ONE, TWO, over=0))
    story.patch(INSERT)
    story.upstream(7, SECOND)
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.evidence() == []
    assert told.tree == story.tree(INSERT)


def test_one_of_two_equal_hunks_is_one_hunk(story: Story) -> None:
    here, there = (put(unit, 4, ONE, TWO, over=0) for unit in (10, 16))
    story.patch(here, there)
    story.upstream(7, there)
    told = story.rebase()
    assert told.verdicts() == ["partial"]
    assert told.hunks() == ["unchanged text", "absorbed exact #7"]
    assert told.tree == story.tree(here)


def test_the_same_lines_in_another_file_are_no_evidence(story: Story) -> None:
    story.patch(INSERT)
    story.upstream(7, n=put(50, 3, ONE, TWO, over=0))
    told = story.rebase()
    assert told.verdicts() == ["unchanged"]
    assert told.evidence() == []
    assert told.tree == story.tree(INSERT)


def test_a_landing_elsewhere_with_the_removal_here_is_not_our_change(story: Story) -> None:
    story.patch(FIX)
    story.upstream(7, put(10, 4), put(16, 2, ONE, TWO, over=0))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    assert told.cause() == [7]
    assert told.tree == story.tree()


def test_a_do_and_an_undo_are_carried_where_upstream_has_neither(story: Story) -> None:
    story.patch(FIX)
    story.patch(put(10, 4, OLD, over=2))
    story.upstream(7, SECOND)
    told = story.rebase()
    assert told.verdicts() == ["unchanged", "unchanged"]
    assert told.evidence(0) == told.evidence(1) == []
    assert told.tree == story.tree()


def test_two_patches_of_which_one_landed_are_told_apart(story: Story) -> None:
    story.patch(FIX)
    story.patch(SECOND)
    story.upstream(7, SECOND)
    told = story.rebase()
    assert told.verdicts() == ["unchanged", "absorbed"]
    assert told.hunks(1) == ["absorbed exact #7"]
    assert told.tree == story.tree(FIX)


def test_a_reverted_half_is_carried_and_the_other_half_absorbed(story: Story) -> None:
    story.patch(FIX, SECOND)
    story.upstream(7, FIX, SECOND)
    story.upstream(9, put(10, 4, OLD, over=2))
    told = story.rebase()
    assert told.verdicts() == ["partial"]
    assert told.hunks() == ["unchanged text", "absorbed history #7"]
    assert told.tree == story.tree(FIX)
