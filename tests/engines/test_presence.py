"""What became of a patch's lines in one upstream state."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.atoms import HunkAtoms, PatchAtoms, interests, patch_atoms
from patchmgr.engines.presence import Count, Fate, PathView, View, look
from patchmgr.model.merge import Conflicted, Merge
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import File, difference, entry_of, executable, link, text
from tests.engines.tales import swap

BASE = text(" ".join(f"stay_{n:02}" for n in range(12)))
OURS = swap(BASE, ("stay_03", "ours_one ours_two"))
BLOBS = MemoryBlobs()

FOUND = "found"
NEEDED = "needed"
REWORDED = "reworded"
SUPERSEDED = "superseded"


class Binary(PlainMerge):
    """A merge that can do nothing."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Conflicted(None)


def seen(
    start: File | None, end: File | None, upstream: File | None, text: PlainMerge | None = None
) -> View:
    """Compare one file of upstream with what a series makes of it."""
    sides = (None if side is None else entry_of(BLOBS, side) for side in (start, end, upstream))
    old, new, theirs = sides
    return look(
        lambda _: old,
        lambda _: new,
        lambda _: theirs,
        ["f"],
        blobs=BLOBS,
        text=text or PlainMerge(),
    )


def hunk(added: str = "", removed: str = "") -> HunkAtoms:
    new, old = (frozenset(word.encode() for word in words.split()) for words in (added, removed))
    return HunkAtoms("f", new, old)


def fates(view: View, atoms: HunkAtoms) -> dict[str, str]:
    """Return by line, with its kind in front, what became of it."""
    found = view.fates(atoms)
    return {f"{'-+'[is_new]}{line.decode()}": fate.value for (is_new, line), fate in found.items()}


def both(added: str, removed: str) -> dict[str, str]:
    return {"+ours_one": added, "+ours_two": added, "-stay_03": removed}


@pytest.mark.parametrize(
    ("upstream", "expected"),
    [
        pytest.param(BASE, both(NEEDED, NEEDED), id="untouched"),
        pytest.param(swap(BASE, ("stay_09", "other_09")), both(NEEDED, NEEDED), id="other-edit"),
        pytest.param(OURS, both(FOUND, FOUND), id="the-same"),
        pytest.param(executable(OURS), both(FOUND, FOUND), id="executable"),
        pytest.param(
            swap(OURS, ("stay_09", "other_09")), both(FOUND, FOUND), id="the-same-and-another"
        ),
        pytest.param(
            swap(BASE, ("stay_03", "theirs_one")), both(REWORDED, FOUND), id="other-words"
        ),
        pytest.param(
            swap(BASE, ("stay_03", "ours_one theirs_two")),
            {"+ours_one": FOUND, "+ours_two": REWORDED, "-stay_03": FOUND},
            id="half-in-other-words",
        ),
        pytest.param(
            swap(BASE, ("stay_03", "stay_03 theirs_one")),
            both(REWORDED, REWORDED),
            id="other-words-beside-the-old",
        ),
        pytest.param(
            swap(BASE, ("stay_03", ""), ("stay_04", "")), both(REWORDED, FOUND), id="place-is-gone"
        ),
        pytest.param(None, both(REWORDED, REWORDED), id="file-is-gone"),
        pytest.param(link(b"there"), both(REWORDED, REWORDED), id="became-a-link"),
        pytest.param(
            swap(BASE, ("stay_09", "stay_09 ours_one ours_two")),
            both(NEEDED, NEEDED),
            id="our-lines-elsewhere",
        ),
    ],
)
def test_the_lines_of_an_edit_have_fates(upstream: File | None, expected: dict[str, str]) -> None:
    view = seen(BASE, OURS, upstream)
    assert fates(view, hunk("ours_one ours_two", "stay_03")) == expected


@pytest.mark.parametrize(
    ("start", "end", "upstream", "expected"),
    [
        pytest.param(None, b"ours_1\n", None, {"+ours_1": NEEDED}, id="creation-needed"),
        pytest.param(None, b"ours_1\n", b"ours_1\n", {"+ours_1": FOUND}, id="creation-found"),
        pytest.param(None, b"ours_1\n", b"theirs\n", {"+ours_1": REWORDED}, id="creation-reworded"),
        pytest.param(b"stay_1\n", None, b"stay_1\n", {"-stay_1": NEEDED}, id="deletion-needed"),
        pytest.param(b"stay_1\n", None, None, {"-stay_1": FOUND}, id="deletion-found"),
        pytest.param(b"stay_1\n", None, b"theirs\n", {"-stay_1": FOUND}, id="deletion-other-text"),
        pytest.param(
            b"\0\nstay_1\n", b"\0\nours_1\n", b"\0\nstay_1\n",
            {"+ours_1": NEEDED, "-stay_1": NEEDED}, id="binary-needed",
        ),
        pytest.param(
            b"\0\nstay_1\n", b"\0\nours_1\n", b"\0\nours_1\n",
            {"+ours_1": FOUND, "-stay_1": FOUND}, id="binary-found",
        ),
        pytest.param(
            b"\0\nstay_1\n", b"\0\nours_1\n", b"\0\ntheirs\n",
            {"+ours_1": REWORDED, "-stay_1": FOUND}, id="binary-reworded",
        ),
    ],
)  # fmt: skip
def test_the_lines_of_a_file_that_comes_or_goes_have_fates(
    start: File | None, end: File | None, upstream: File | None, expected: dict[str, str]
) -> None:
    added = " ".join(line[1:] for line in expected if line[0] == "+")
    removed = " ".join(line[1:] for line in expected if line[0] == "-")
    assert fates(seen(start, end, upstream), hunk(added, removed)) == expected


@pytest.mark.parametrize(
    ("upstream", "expected"),
    [
        pytest.param(OURS, both(FOUND, FOUND), id="there"),
        pytest.param(BASE, both(REWORDED, REWORDED), id="not-there"),
    ],
)
def test_what_cannot_be_merged_is_told_by_what_is_there(
    upstream: bytes, expected: dict[str, str]
) -> None:
    view = seen(BASE, OURS, upstream, Binary())
    assert fates(view, hunk("ours_one ours_two", "stay_03")) == expected


def test_a_line_that_the_range_does_not_keep_is_superseded() -> None:
    view = seen(BASE, OURS, OURS)
    atoms = hunk("ours_one mid_one", "stay_03 mid_two")
    expected = {"+ours_one": FOUND, "+mid_one": SUPERSEDED}
    assert fates(view, atoms) == {**expected, "-stay_03": FOUND, "-mid_two": SUPERSEDED}
    assert view.count(atoms) == Count(found=2, superseded=2)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param(BASE, BASE, id="undone"),
        pytest.param(None, None, id="no-file"),
        pytest.param(link(b"here"), link(b"there"), id="link"),
        pytest.param(BASE, executable(BASE), id="mode"),
    ],
)
def test_a_path_without_a_net_change_has_no_fates(start: File | None, end: File | None) -> None:
    view = seen(start, end, OURS)
    assert fates(view, hunk("ours_one")) == {}
    assert view.count(hunk("ours_one")) == Count()


def test_counts_add_up() -> None:
    one = Count(found=1, needed=2, reworded=3, superseded=4)
    assert one + one == Count(2, 4, 6, 8)
    assert one.total == 6


def patch(*hunks: HunkAtoms) -> PatchAtoms:
    return PatchAtoms(hunks, is_telling=True)


@pytest.mark.parametrize(
    ("atoms", "is_left"),
    [
        pytest.param(patch(hunk("ours_one")), True, id="what-it-adds"),
        pytest.param(patch(hunk("mid_one")), False, id="not-what-it-adds"),
        pytest.param(patch(hunk("mid_one", "stay_03")), False, id="only-what-it-removes"),
        pytest.param(patch(hunk("", "stay_03")), True, id="removes-alone"),
        pytest.param(patch(hunk("", "mid_one")), False, id="not-what-it-removes-alone"),
        pytest.param(patch(hunk("mid_one"), hunk("ours_one")), True, id="of-one-hunk"),
        pytest.param(patch(), False, id="nothing"),
    ],
)
def test_something_of_a_patch_is_left_or_not(atoms: PatchAtoms, is_left: bool) -> None:
    assert seen(BASE, OURS, BASE).is_left(atoms) is is_left


def test_a_state_is_counted_by_hunk_by_patch_and_by_path() -> None:
    view = seen(BASE, OURS, swap(BASE, ("stay_03", "ours_one theirs_two")))
    atoms = patch_atoms(difference("p", {"f": BASE}, {"f": OURS}))
    expected = Count(found=2, reworded=1)
    assert view.count_patch(atoms) == view.count_paths(interests([atoms])) == expected
    assert view.count_added(atoms) == Count(found=1, reworded=1)
    assert view.count_paths({}) == Count()


SOME = st.frozensets(st.sampled_from([b"one", b"two", b"three", b"four", b"five"]))


@given(st.builds(PathView, SOME, SOME, SOME, SOME, SOME, SOME, SOME, st.booleans()), SOME, SOME)
def test_the_count_is_that_of_the_fates(
    view: PathView, added: frozenset[bytes], removed: frozenset[bytes]
) -> None:
    each = Counter([*map(view.added, added), *map(view.removed, removed)])
    counted = view.count(added, removed)
    assert counted == Count(*(each[fate] for fate in Fate))


TEXTS = st.lists(st.sampled_from(["line_a", "line_b", "line_c"]), max_size=5).map(
    lambda words: text(" ".join(words))
)


@given(TEXTS, TEXTS)
def test_all_is_needed_in_the_base_and_found_in_the_end(start: bytes, end: bytes) -> None:
    atoms = patch_atoms(difference("p", {"f": start}, {"f": end}))
    for upstream, other in ((start, "found"), (end, "needed")):
        count = seen(start, end, upstream).count_patch(atoms)
        assert getattr(count, other) == count.reworded == 0
