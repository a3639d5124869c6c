"""Hunks on contents: exact, moved to the only place, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.engines.series.placement import (
    MOST_PLACES,
    Applied,
    Rejected,
    apply_hunks,
    apply_one,
    has_place,
    leads_to,
    split_lines,
)
from patchmgr.model.patch import Hunk
from tests.engines.series import at, hunks_between, text
from tests.tables import table

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"a\r\n", b"\n"]), max_size=12)
TAILS = st.sampled_from([b"", b"a", b"z", b"a\r"])
CONTENTS = st.builds(lambda lines, tail: b"".join(lines) + tail, LINES, TAILS)


@table(
    ("content", "lines"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"a\n", [b"a\n"], id="one"),
        pytest.param(b"a", [b"a"], id="no-last-newline"),
        pytest.param(b"\n\n", [b"\n", b"\n"], id="blank-lines"),
        pytest.param(b"a\rb\x0cc\x85\xe2\x80\xa8d\n", None, id="only-line-feeds-count"),
        pytest.param(b"a\r\nb\r\n", [b"a\r\n", b"b\r\n"], id="crlf"),
    ],
)
def test_lines_end_at_line_feeds_only(content: bytes, lines: list[bytes] | None) -> None:
    assert split_lines(content) == ([content] if lines is None else lines)


@table(
    ("content", "hunks", "after", "positions"),
    [
        pytest.param(text("a b c"), [], text("a b c"), (), id="no-hunks"),
        pytest.param(
            text("a b c"), [at(2, b"-b\n", b"+B\n")], text("a B c"), (1,), id="exact-place"
        ),
        pytest.param(
            text("a x a x"),
            [at(3, b" a\n", b"-x\n")],
            text("a x a"),
            (2,),
            id="exact-place-of-two",
        ),
        pytest.param(text("a b c"), [at(9, b"-b\n", b"+B\n")], text("a B c"), (1,), id="moved-up"),
        pytest.param(
            text("n n a b c d"), [at(2, b"-c\n")], text("n n a b d"), (4,), id="moved-down"
        ),
        pytest.param(
            text("n a b c x d"),
            [at(1, b"-a\n", b"+A\n"), at(4, b"-x\n", b"+X\n")],
            text("n A b c X d"),
            (1, 4),
            id="second-follows-the-drift",
        ),
        pytest.param(
            text("x n a x x"),
            [at(2, b"-a\n"), at(4, b"-x\n")],
            text("x n x"),
            (2, 4),
            id="drift-tells-two-places-apart",
        ),
        pytest.param(
            text("x a x"),
            [at(2, b"-a\n"), at(9, b"-x\n")],
            text("x"),
            (1, 2),
            id="places-above-earlier-hunks-do-not-count",
        ),
        pytest.param(text("a b"), [at(1, b"+n\n")], text("a n b"), (1,), id="u0-insert"),
        pytest.param(text("a b"), [at(0, b"+n\n")], text("n a b"), (0,), id="u0-insert-first"),
        pytest.param(text("a b"), [at(2, b"+n\n")], text("a b n"), (2,), id="u0-insert-last"),
        pytest.param(b"", [at(0, b"+n\n")], b"n\n", (0,), id="into-empty"),
        pytest.param(b"", [at(0, b"+n")], b"n", (0,), id="into-empty-without-newline"),
        pytest.param(text("a"), [at(1, b"-a\n")], b"", (0,), id="to-empty"),
        pytest.param(b"a\nb", [at(2, b"-b", b"+b\n")], b"a\nb\n", (1,), id="newline-added"),
        pytest.param(b"a\nb\n", [at(2, b"-b\n", b"+b")], b"a\nb", (1,), id="newline-removed"),
        pytest.param(
            b"a\nb", [at(1, b"-a\n", b"+A\n", b" b")], b"A\nb", (0,), id="no-newline-kept"
        ),
        pytest.param(
            b"a\r\nb\r\n", [at(1, b" a\r\n", b"+n\r\n")], b"a\r\nn\r\nb\r\n", (0,), id="crlf"
        ),
        pytest.param(b"a\r\nb\n", [at(1, b"-a\r\n", b"+a\n")], b"a\nb\n", (0,), id="crlf-to-lf"),
        pytest.param(
            text("n a b"), [at(1, b"+m\n", b" n\n", b" a\n")], text("m n a b"), (0,), id="at-start"
        ),
        pytest.param(
            text("x a b"), [at(1, b" a\n", b" b\n", b"+m\n")], text("x a b m"), (1,), id="at-end"
        ),
    ],
)
def test_hunks_apply(
    content: bytes, hunks: list[Hunk], after: bytes, positions: tuple[int, ...]
) -> None:
    assert apply_hunks(content, hunks) == Applied(after, positions)
    assert leads_to(content, hunks, after)


@table(
    ("content", "hunks", "index", "reason"),
    [
        pytest.param(text("a c"), [at(1, b" a\n", b"-b\n")], 0, "not there", id="missing-context"),
        pytest.param(text("a x b x"), [at(1, b"-x\n")], 0, "there 2 times", id="two-places"),
        pytest.param(
            text("x a"), [at(2, b"-a\n"), at(1, b"-x\n")], 1, "not there", id="place-is-behind"
        ),
        pytest.param(
            text("a b"),
            [at(1, b"-a\n"), at(2, b" a\n", b"-b\n")],
            1,
            "not there",
            id="overlapping-hunks",
        ),
        pytest.param(text("a"), [at(5, b"+n\n")], 0, "no context", id="u0-insert-past-the-end"),
        pytest.param(
            text("a b"), [at(2, b"-b\n"), at(0, b"+n\n")], 1, "no context", id="u0-insert-behind"
        ),
        pytest.param(b"", [at(1, b"-a\n")], 0, "not there", id="removal-from-empty"),
        pytest.param(b"a\r\n", [at(1, b"-a\n")], 0, "not there", id="lf-is-not-crlf"),
        pytest.param(b"a\n", [at(1, b"-a\r\n")], 0, "not there", id="crlf-is-not-lf"),
        pytest.param(b"a", [at(1, b"-a\n")], 0, "not there", id="newline-is-missing"),
        pytest.param(b"a\n", [at(1, b"-a")], 0, "not there", id="newline-is-too-much"),
        pytest.param(b"a", [at(1, b"+n\n")], 0, "line feed", id="insert-behind-no-newline"),
        pytest.param(
            text("a b"), [at(1, b"-a\n", b"+a")], 0, "line feed", id="no-newline-in-the-middle"
        ),
        pytest.param(text(" a b "), [at(0, b" a\n", b"-b\n")], 0, None, id="line-0-is-no-place"),
        pytest.param(
            text("n a b"), [at(1, b"+m\n", b" a\n", b" b\n")], 0, "not there", id="not-at-start"
        ),
        pytest.param(
            text("a b c"), [at(9, b" a\n", b" b\n", b"+m\n")], 0, "not there", id="not-at-end"
        ),
        pytest.param(
            text(" ".join(["x", "y"] * 150)),
            [at(2, b"-x\n")],
            0,
            f"there {MOST_PLACES} times",
            id="counting-ends",
        ),
    ],
)
def test_hunks_are_refused(
    content: bytes, hunks: list[Hunk], index: int, reason: str | None
) -> None:
    found = apply_hunks(content, hunks)
    if reason is None:
        assert isinstance(found, Applied)
        return
    assert isinstance(found, Rejected)
    assert found.index == index
    assert reason in found.reason


def test_a_line_0_with_old_lines_is_looked_for() -> None:
    assert apply_hunks(text("a b"), [at(0, b"-b\n")]) == Applied(text("a"), (1,))


@table(
    ("hunk", "expected"),
    [
        pytest.param(at(9, b" a\n", b"-x\n"), True, id="there"),
        pytest.param(at(1, b" x\n", b"-x\n"), False, id="not-there"),
        pytest.param(at(9, b"+n\n"), True, id="no-old-lines"),
    ],
)
def test_a_hunk_has_a_place_where_its_old_lines_are(hunk: Hunk, expected: bool) -> None:
    assert has_place(text("b a x a x"), hunk) is expected


def test_one_hunk_is_applied_where_told() -> None:
    hunk = at(1, b" a\n", b"-x\n", b"+y\n")
    assert apply_one(text("a x a x"), hunk, 2) == text("a x a y")
    assert apply_one(text("a x a x"), hunk, 0) == text("a y a x")


@table(
    ("content", "hunks", "result", "expected"),
    [
        pytest.param(text("a b"), [], text("a b"), True, id="nothing"),
        pytest.param(text("a b"), [], text("a c"), False, id="nothing-but-a-change"),
        pytest.param(
            text("a x a x"), [at(9, b" a\n", b"-x\n")], text("a x a"), True, id="second-of-two"
        ),
        pytest.param(
            text("a x a x"), [at(9, b" a\n", b"-x\n")], text("a a x"), True, id="first-of-two"
        ),
        pytest.param(text("a x b"), [at(2, b"-x\n")], text("a x"), False, id="other-line-gone"),
        pytest.param(
            text("x a x"), [at(1, b"-x\n"), at(3, b"-x\n")], text("a"), True, id="both-of-two"
        ),
        pytest.param(
            text("x a x"), [at(1, b"-x\n"), at(3, b"-x\n")], text("a x"), False, id="one-of-two"
        ),
        pytest.param(text("a b"), [at(1, b"-b\n"), at(2, b"-a\n")], b"", False, id="out-of-order"),
        pytest.param(
            text("q a q"), [at(1, b"-a\n", b"+b\n")], text("r b q"), False, id="more-than-the-hunk"
        ),
        pytest.param(text("a b"), [at(0, b"+n\n")], text("a n b"), True, id="insert-anywhere"),
        pytest.param(
            text("x a b x c"),
            [at(1, b"-x\n"), at(9, b"+n\n")],
            text("x a b n c"),
            True,
            id="only-the-second-of-two-goes-on",
        ),
        pytest.param(text("a b"), [at(0, b"+n\n")], text("a n c"), False, id="insert-and-more"),
        pytest.param(
            text("a a b"),
            [at(1, b"-a\n"), at(3, b"-b\n", b"+c\n")],
            text("a c"),
            True,
            id="either-of-two-and-another",
        ),
    ],
)
def test_a_result_is_that_of_the_hunks_as_they_stand(
    content: bytes, hunks: list[Hunk], result: bytes, expected: bool
) -> None:
    assert leads_to(content, hunks, result) is expected


@settings(deadline=None)
@given(CONTENTS, CONTENTS, st.integers(0, 3))
def test_a_diff_applied_to_its_base_gives_its_target(old: bytes, new: bytes, context: int) -> None:
    hunks = hunks_between(old, new, context)
    applied = apply_hunks(old, hunks)
    assert isinstance(applied, Applied)
    assert applied.content == new
    stated = tuple(h.old_start - (h.old_count > 0) for h in hunks)
    assert applied.positions == stated
    assert leads_to(old, hunks, new)


@settings(deadline=None)
@given(CONTENTS, CONTENTS, st.integers(0, 3), CONTENTS)
def test_a_diff_on_another_content_is_whole_or_refused(
    old: bytes, new: bytes, context: int, other: bytes
) -> None:
    hunks = hunks_between(old, new, context)
    applied = apply_hunks(other, hunks)
    if isinstance(applied, Applied):
        assert leads_to(other, hunks, applied.content)
        grown = sum(len(hunk.new()) - len(hunk.old()) for hunk in hunks)
        assert len(split_lines(applied.content)) == len(split_lines(other)) + grown
    else:
        assert 0 <= applied.index < len(hunks)


@settings(deadline=None)
@given(LINES, st.permutations("abcdefg"), st.permutations("abcdefg"), st.integers(0, 7))
def test_what_is_put_in_front_of_a_file_shifts_its_diff(
    front: list[bytes], old: list[str], new: list[str], size: int
) -> None:
    first = text("first second third")
    before, after = first + text(" ".join(old[:size])).upper(), first + text(" ".join(new)).upper()
    applied = apply_hunks(b"".join(front) + before, hunks_between(before, after))
    assert isinstance(applied, Applied)
    assert applied.content == b"".join(front) + after
