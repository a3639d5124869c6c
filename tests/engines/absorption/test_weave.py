"""A weave has every state of a file in a series."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.absorption.weave import Change, Count, Fate, Weave
from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.model.patch import Hunk
from tests.engines.series import difference
from tests.tables import table

States = list[list[str]]


def content(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def woven(states: States) -> Weave:
    """Return the weave of a file with a patch between each two of its states."""
    weave = Weave(content(states[0]))
    for patch, (old, new) in enumerate(itertools.pairwise(states)):
        if old == new:
            continue
        (change,) = difference("p", {"f": content(old)}, {"f": content(new)}, 1).files
        applied = apply_hunks(content(old), change.hunks)
        assert isinstance(applied, Applied)
        weave.apply(patch, 0, change.hunks, applied.positions)
    return weave


def of(weave: Weave, patch: int) -> bytes:
    return b"".join(node.text for node in weave.nodes if node.is_alive(patch))


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=1, max_size=6))
def test_every_state_of_the_series_is_in_the_weave(states: States) -> None:
    weave = woven(states)
    for patch, lines in enumerate(states, -1):
        assert of(weave, patch) == content(lines)


AROUND = ["before", "here_is_one", "here_is_two", "behind", "the_end"]
ADDED = ["before", "here_is_one", "ours_is_new", "here_is_two", "behind", "the_end"]
BLOCK = [
    "before", "unless_it_is", "  here_is_one", "  here_is_two", "end_of_it", "behind", "the_end",
]  # fmt: skip
TAIL = ["tail_is_one", "tail_is_two", "tail_is_three", "tail_is_four"]
CHANGED = ["before", "here_is_one", "ours_is_other", "here_is_two", "behind", "the_end"]
TAKEN_OUT = ["before", "here_is_one", "behind", "the_end"]


def swapped(lines: list[str], old: str, *new: str) -> list[str]:
    at = lines.index(old)
    return [*lines[:at], *new, *lines[at + 1 :]]


@table(
    ("states", "upstream", "counts"),
    {
        "there": ([AROUND, ADDED], ADDED, [Count(found=1)]),
        "not-there": ([AROUND, ADDED], AROUND, [Count(open=1)]),
        "in-other-words": (
            [AROUND, ADDED], swapped(ADDED, "ours_is_new", "theirs_is_new"), [Count(taken=1)],
        ),
        "in-another-place": ([AROUND, ADDED], ["ours_is_new", *AROUND], [Count(open=1)]),
        "with-other-white-space": (
            [AROUND, ADDED], swapped(ADDED, "ours_is_new", "  ours_is_new"), [Count(found=1)],
        ),
        "in-a-block,-edited": (
            [AROUND + TAIL, BLOCK + TAIL, BLOCK],
            swapped(BLOCK, "end_of_it", "end_of_it", "theirs_is_new") + TAIL,
            [Count(found=6), Count(open=4)],
        ),
        "not-in-a-block,-edited": (
            [AROUND, BLOCK, BLOCK + TAIL],
            swapped(AROUND, "here_is_two", "here_is_two", "theirs_is_new") + TAIL,
            [Count(taken=6), Count(found=4)],
        ),
        "deleted": ([AROUND, TAKEN_OUT], TAKEN_OUT, [Count(found=1)]),
        "not-deleted": ([AROUND, TAKEN_OUT], AROUND, [Count(open=1)]),
        "rewritten-not-deleted": (
            [AROUND, TAKEN_OUT], swapped(AROUND, "here_is_two", "here_is_2"), [Count(taken=1)],
        ),
        "deleted-beside-an-edited-line": (
            [AROUND, TAKEN_OUT], swapped(TAKEN_OUT, "behind", "quite behind"), [Count(found=1)],
        ),
        "replaced-by-a-patch-that-is-there": (
            [AROUND, ADDED, CHANGED], CHANGED, [Count(replaced=1), Count(found=1, replaced=1)],
        ),
        "the-first-of-two-on-one-line": (
            [AROUND, ADDED, CHANGED], ADDED, [Count(found=1), Count(open=2)],
        ),
        "undone-and-wanted": ([AROUND, ADDED, AROUND], ADDED, [Count(found=1), Count(open=1)]),
        "undone-by-the-series": (
            [AROUND, ADDED, AROUND], AROUND, [Count(replaced=1), Count(replaced=1)],
        ),
    },
)  # fmt: skip
def test_fates_of_lines(states: list[list[str]], upstream: list[str], counts: list[Count]) -> None:
    found = woven(states).effect(content(upstream)).lines
    assert [Count.of(found[patch, 0]) for patch in range(len(counts))] == counts


@table(("is_made", "fate"), [(True, Count(open=6)), (False, Count(taken=1))])
def test_a_file_that_is_gone_was_never_made_or_was_taken_away(is_made: bool, fate: Count) -> None:
    states = [[], ADDED] if is_made else [AROUND, ADDED]
    weave = woven(states)
    weave.is_made = is_made
    assert Count.of(weave.effect(None).lines[0, 0]) == fate


WHEELS = ("wheel_0", "wheel_1", "wheel_2")


@pytest.mark.parametrize(
    ("block", "new", "after", "made"),
    [
        (("open", *WHEELS, ")"), ("name", "source"), "open", ("made",)),
        (("name", "dep", *WHEELS, "source"), ("name", "source"), "open", ("dep", "source")),
    ],
    ids=["moved-context", "repeated-lines"],
)
def test_lines_that_upstream_still_has_have_not_landed(
    block: tuple[str, ...], new: tuple[str, ...], after: str, made: tuple[str, ...]
) -> None:
    """Upstream landed one hunk. Its other lines may look like those that the next hunks add."""
    other, mine = (tuple(f"{side}_{n}" for n in range(9)) for side in ("old", "new"))
    changes = [(0, other, mine), (10, block, new), (11 + len(block), (), made)]
    weave = Weave(content([*other, "stay", *block, after, "end"]))
    weave.apply(0, 0, [replaced(*change) for change in changes], [at for at, _, _ in changes])
    fates = weave.effect(content([*mine, "stay", *block, after, "end"])).fates
    removed = [change for change in fates if not change.adds and fates[change] is Fate.FOUND]
    assert {*other, *WHEELS}.intersection(text_of(one) for one in removed) == {*other}


def text_of(change: Change) -> str:
    return change.node.text.decode().strip()


def replaced(at: int, old: Sequence[str], new: Sequence[str]) -> Hunk:
    """Return a hunk without context."""
    lines = [f"-{line}\n".encode() for line in old] + [f"+{line}\n".encode() for line in new]
    return Hunk(at + 1, len(old), at + 1, len(new), b"", tuple(lines))
