"""Hunks applied at their line or at the only place where they fit, or refused."""

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
    {
        "empty": (b"", []),
        "one": (b"a\n", [b"a\n"]),
        "no-last-newline": (b"a", [b"a"]),
        "blank-lines": (b"\n\n", [b"\n", b"\n"]),
        "only-line-feeds-count": (b"a\rb\x0cc\x85\xe2\x80\xa8d\n", None),
        "crlf": (b"a\r\nb\r\n", [b"a\r\n", b"b\r\n"]),
    },
)
def test_lines_end_at_line_feeds_only(content: bytes, lines: list[bytes] | None) -> None:
    assert split_lines(content) == ([content] if lines is None else lines)


@table(
    ("content", "hunks", "after", "positions"),
    {
        "no-hunks": (text("a b c"), [], text("a b c"), ()),
        "exact-place": (text("a b c"), [at(2, b"-b\n", b"+B\n")], text("a B c"), (1,)),
        "exact-place-of-two": (text("a x a x"), [at(3, b" a\n", b"-x\n")], text("a x a"), (2,)),
        "moved-up": (text("a b c"), [at(9, b"-b\n", b"+B\n")], text("a B c"), (1,)),
        "moved-down": (text("n n a b c d"), [at(2, b"-c\n")], text("n n a b d"), (4,)),
        "second-follows-the-drift": (text("n a b c x d"),
            [at(1, b"-a\n", b"+A\n"), at(4, b"-x\n", b"+X\n")], text("n A b c X d"), (1, 4)),
        "drift-tells-two-places-apart": (text("x n a x x"), [at(2, b"-a\n"), at(4, b"-x\n")],
            text("x n x"), (2, 4)),
        "places-above-earlier-hunks-do-not-count": (text("x a x"), [at(2, b"-a\n"), at(9, b"-x\n")],
            text("x"), (1, 2)),
        "u0-insert": (text("a b"), [at(1, b"+n\n")], text("a n b"), (1,)),
        "u0-insert-first": (text("a b"), [at(0, b"+n\n")], text("n a b"), (0,)),
        "u0-insert-last": (text("a b"), [at(2, b"+n\n")], text("a b n"), (2,)),
        "into-empty": (b"", [at(0, b"+n\n")], b"n\n", (0,)),
        "into-empty-without-newline": (b"", [at(0, b"+n")], b"n", (0,)),
        "to-empty": (text("a"), [at(1, b"-a\n")], b"", (0,)),
        "newline-added": (b"a\nb", [at(2, b"-b", b"+b\n")], b"a\nb\n", (1,)),
        "newline-removed": (b"a\nb\n", [at(2, b"-b\n", b"+b")], b"a\nb", (1,)),
        "no-newline-kept": (b"a\nb", [at(1, b"-a\n", b"+A\n", b" b")], b"A\nb", (0,)),
        "crlf": (b"a\r\nb\r\n", [at(2, b" b\r\n", b"+n\r\n")], b"a\r\nb\r\nn\r\n", (1,)),
        "crlf-to-lf": (b"a\r\nb\n", [at(1, b"-a\r\n", b"+a\n")], b"a\nb\n", (0,)),
        "at-start": (text("n a b"), [at(1, b"+m\n", b" n\n", b" a\n")], text("m n a b"), (0,)),
        "at-end": (text("x a b"), [at(1, b" a\n", b" b\n", b"+m\n")], text("x a b m"), (1,)),
    },
)  # fmt: skip
def test_hunks_apply(
    content: bytes, hunks: list[Hunk], after: bytes, positions: tuple[int, ...]
) -> None:
    assert apply_hunks(content, hunks) == Applied(after, positions)
    assert leads_to(content, hunks, after)


@table(
    ("content", "hunks", "index", "reason"),
    {
        "missing-context": (text("a c"), [at(1, b" a\n", b"-b\n")], 0, "not found"),
        "two-places": (text("a x b x"), [at(1, b"-x\n")], 0, "occur 2 times"),
        "place-is-behind": (text("x a"), [at(2, b"-a\n"), at(1, b"-x\n")], 1, "not found"),
        "overlapping-hunks": (text("a b"), [at(1, b"-a\n"), at(2, b" a\n", b"-b\n")], 1,
            "not found"),
        "u0-insert-past-the-end": (text("a"), [at(5, b"+n\n")], 0, "no context"),
        "u0-insert-behind": (text("a b"), [at(2, b"-b\n"), at(0, b"+n\n")], 1, "no context"),
        "removal-from-empty": (b"", [at(1, b"-a\n")], 0, "not found"),
        "lf-is-not-crlf": (b"a\r\n", [at(1, b"-a\n")], 0, "not found"),
        "crlf-is-not-lf": (b"a\n", [at(1, b"-a\r\n")], 0, "not found"),
        "newline-is-missing": (b"a", [at(1, b"-a\n")], 0, "not found"),
        "newline-is-too-much": (b"a\n", [at(1, b"-a")], 0, "not found"),
        "insert-behind-no-newline": (b"a", [at(1, b"+n\n")], 0, "line feed"),
        "no-newline-in-the-middle": (text("a b"), [at(1, b"-a\n", b"+a")], 0, "line feed"),
        "line-0-is-no-place": (text(" a b "), [at(0, b" a\n", b"-b\n")], 0, None),
        "not-at-start": (text("n a b"), [at(1, b"+m\n", b" a\n", b" b\n")], 0, "not found"),
        "not-at-end": (text("a b c"), [at(9, b" a\n", b" b\n", b"+m\n")], 0, "not found"),
        "not-at-end-at-its-line": (text("a b c"), [at(1, b" a\n", b" b\n", b"+m\n")], 0,
            "not found at the end of the file"),
        "counting-ends": (text(" ".join(["x", "y"] * 150)), [at(2, b"-x\n")], 0,
            f"occur {MOST_PLACES} times"),
    },
)  # fmt: skip
def test_refused_hunks(content: bytes, hunks: list[Hunk], index: int, reason: str | None) -> None:
    found = apply_hunks(content, hunks)
    if reason is None:
        assert isinstance(found, Applied)
        return
    assert isinstance(found, Rejected)
    assert found.index == index
    assert reason in found.reason


def test_a_hunk_at_line_0_with_old_lines_is_searched_for() -> None:
    assert apply_hunks(text("a b"), [at(0, b"-b\n")]) == Applied(text("a"), (1,))


@table(
    ("hunk", "expected"),
    {
        "there": (at(9, b" a\n", b"-x\n"), True),
        "not-there": (at(1, b" x\n", b"-x\n"), False),
        "no-old-lines": (at(9, b"+n\n"), True),
    },
)
def test_a_hunk_has_a_place_if_its_old_lines_occur(hunk: Hunk, expected: bool) -> None:
    assert has_place(text("b a x a x"), hunk) is expected


def test_one_hunk_is_applied_at_the_given_line() -> None:
    hunk = at(1, b" a\n", b"-x\n", b"+y\n")
    assert apply_one(text("a x a x"), hunk, 2) == text("a x a y")
    assert apply_one(text("a x a x"), hunk, 0) == text("a y a x")


@table(
    ("content", "hunks", "result", "expected"),
    {
        "nothing": (text("a b"), [], text("a b"), True),
        "nothing-but-a-change": (text("a b"), [], text("a c"), False),
        "second-of-two": (text("a x a x"), [at(9, b" a\n", b"-x\n")], text("a x a"), True),
        "first-of-two": (text("a x a x"), [at(9, b" a\n", b"-x\n")], text("a a x"), True),
        "other-line-gone": (text("a x b"), [at(2, b"-x\n")], text("a x"), False),
        "both-of-two": (text("x a x"), [at(1, b"-x\n"), at(3, b"-x\n")], text("a"), True),
        "one-of-two": (text("x a x"), [at(1, b"-x\n"), at(3, b"-x\n")], text("a x"), False),
        "out-of-order": (text("a b"), [at(1, b"-b\n"), at(2, b"-a\n")], b"", False),
        "more-than-the-hunk": (text("q a q"), [at(1, b"-a\n", b"+b\n")], text("r b q"), False),
        "insert-anywhere": (text("a b"), [at(0, b"+n\n")], text("a n b"), True),
        "only-the-second-of-two-goes-on": (text("x a b x c"), [at(1, b"-x\n"), at(9, b"+n\n")],
            text("x a b n c"), True),
        "insert-and-more": (text("a b"), [at(0, b"+n\n")], text("a n c"), False),
        "either-of-two-and-another": (text("a a b"), [at(1, b"-a\n"), at(3, b"-b\n", b"+c\n")],
            text("a c"), True),
    },
)  # fmt: skip
def test_leads_to_tells_whether_unchanged_hunks_give_a_result(
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
def test_a_diff_is_whole_or_refused(old: bytes, new: bytes, context: int, other: bytes) -> None:
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
def test_lines_added_at_the_start_of_a_file_shift_its_diff(
    front: list[bytes], old: list[str], new: list[str], size: int
) -> None:
    first = text("first second third")
    before, after = first + text(" ".join(old[:size])).upper(), first + text(" ".join(new)).upper()
    applied = apply_hunks(b"".join(front) + before, hunks_between(before, after))
    assert isinstance(applied, Applied)
    assert applied.content == b"".join(front) + after
