"""The telling lines of a patch."""

from __future__ import annotations

import pytest

from patchmgr.engines.atoms import (
    HunkAtoms,
    Interest,
    PatchAtoms,
    bare,
    interests,
    is_telling,
    normal_lines,
    patch_atoms,
)
from patchmgr.model.patch import FilePatch, Hunk
from tests.engines.series import at, binary, deleted, difference, edited, patch_of, text

NOTHING: frozenset[bytes] = frozenset()


def lines(*found: bytes) -> frozenset[bytes]:
    return frozenset(found)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", [b""], id="empty"),
        pytest.param(b"a b\n\tc\n", [b"ab", b"c", b""], id="white-space"),
        pytest.param(b"a\r\nb", [b"a", b"b"], id="carriage-returns"),
        pytest.param(b"ab\nc\n", [b"ab", b"c", b""], id="nothing-to-take-out"),
    ],
)
def test_lines_lose_their_white_space(content: bytes, expected: list[bytes]) -> None:
    assert normal_lines(content) == expected
    assert [bare(line) for line in content.splitlines(keepends=True)] == [x for x in expected if x]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(b"call_it()", True, id="call"),
        pytest.param(b"", False, id="empty"),
        pytest.param(b"}", False, id="brace"),
        pytest.param(b"abcde", False, id="short"),
        pytest.param(b"abcdef", True, id="just-long-enough"),
        pytest.param(b"a1=b22", False, id="too-few-letters"),
        pytest.param(b"a1=bc2", True, id="just-letters-enough"),
        pytest.param("größe1".encode(), True, id="letters-beyond-ascii"),
        pytest.param(b"return;", False, id="bare-return"),
        pytest.param(b"returnNone", False, id="return-none"),
        pytest.param(b"returnit", True, id="return-of-something"),
        pytest.param(b"1" * 200 + b"abc", False, id="letters-far-out"),
    ],
)
def test_a_line_says_something_or_not(line: bytes, expected: bool) -> None:
    assert is_telling(line) is expected


@pytest.mark.parametrize(
    ("hunk", "added", "removed", "says"),
    [
        pytest.param(
            at(1, b" stay_here\n", b"-old_words\n", b"+new_words\n"),
            lines(b"new_words"),
            lines(b"old_words"),
            True,
            id="both-sides",
        ),
        pytest.param(
            at(1, b"-\told words\n", b"+old  words\n"), NOTHING, NOTHING, False, id="white-space"
        ),
        pytest.param(
            at(1, b"+new_words\n", b"+}\n", b"+\n"), lines(b"new_words"), NOTHING, True,
            id="a-brace-beside-words",
        ),
        pytest.param(at(1, b"+}\n", b"+ \n"), lines(b"}"), NOTHING, False, id="only-a-brace"),
        pytest.param(
            at(1, b"-old_words\n", b"+}\n"), lines(b"}"), lines(b"old_words"), False,
            id="words-for-a-brace",
        ),
        pytest.param(
            at(1, b"-}\n", b"+new_words\n"), lines(b"new_words"), lines(b"}"), True,
            id="a-brace-for-words",
        ),
        pytest.param(
            at(1, b"-old_words\n"), NOTHING, lines(b"old_words"), True, id="only-words-removed"
        ),
        pytest.param(at(1, b"-}\n"), NOTHING, lines(b"}"), False, id="only-a-brace-removed"),
        pytest.param(
            at(1, b"-old_words\n", b"-}\n", b"+old_words\n", b"+new_words\n"),
            lines(b"new_words"),
            lines(b"}"),
            True,
            id="a-line-that-moves-in-the-hunk",
        ),
    ],
)  # fmt: skip
def test_a_hunk_is_told_by_its_lines(
    hunk: Hunk, added: frozenset[bytes], removed: frozenset[bytes], says: bool
) -> None:
    patch = patch_of("p", FilePatch("f", "f", hunks=(hunk,)))
    assert patch_atoms(patch) == PatchAtoms((HunkAtoms("f", added, removed),), says)
    assert len(patch_atoms(patch)) == len(added) + len(removed)


def test_lines_that_only_lay_out_anew_are_known() -> None:
    removed = b'-names = ["one", "two"]\n', b"-call(first)\n", b"-call(second)\n"
    added = b"+names = [\n", b'+  "one",\n', b'+  "two",\n', b'+  "three",\n', b"+]\n"
    joined = b"+call(first) call(second)\n", b"+call(third)\n"
    patch = patch_of("p", FilePatch("f", "f", hunks=(at(1, *removed, *added, *joined),)))
    (hunk,) = patch_atoms(patch).hunks
    known = {b"names=[", b'"one",', b'"two",', b"call(first)call(second)", b"]"}
    assert hunk.laid_out == known


def test_every_hunk_and_every_change_without_hunks_counts() -> None:
    base = text("stay_1st mid_1st mid_2nd mid_3rd mid_4th mid_5th mid_6th mid_7th stay_2nd")
    after = base.replace(b"stay_1st", b"ours_1st").replace(b"stay_2nd", b"}")
    patch = patch_of(
        "p", edited("f", base, after), binary("b", b"\0", b"\0x"), deleted("d", b"gone_line\n")
    )
    atoms = patch_atoms(patch)
    assert atoms.hunks == (
        HunkAtoms("f", lines(b"ours_1st"), lines(b"stay_1st")),
        HunkAtoms("f", lines(b"}"), lines(b"stay_2nd")),
        HunkAtoms("b", NOTHING, NOTHING),
        HunkAtoms("d", NOTHING, lines(b"gone_line")),
    )
    assert atoms.paths == {"f", "b", "d"}
    assert len(atoms) == 5


def test_interest_is_what_any_patch_does_to_a_path() -> None:
    one = difference("p", {"f": b"old_line\n"}, {"f": b"mid_line\n", "g": b"new_file\n"})
    other = difference("q", {"f": b"mid_line\n"}, {"f": b"new_line\n"})
    found = interests([patch_atoms(one), patch_atoms(other)])
    assert found == {
        "f": Interest(lines(b"mid_line", b"new_line"), lines(b"old_line", b"mid_line")),
        "g": Interest(lines(b"new_file"), NOTHING),
    }
    assert interests([]) == {}
