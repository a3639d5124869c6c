"""Members of displays."""

from __future__ import annotations

import pytest

from patchmgr.engines.displays import (
    DEEPEST_DISPLAY,
    Group,
    is_among,
    members_around,
    read_rows,
    rows_of_lines,
)

A, B, C = ("A",), ("B",), ("C",)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param("", (), id="empty"),
        pytest.param("A, B", (A, B), id="bare"),
        pytest.param("A,\nB,\n", (A, B), id="last-comma"),
        pytest.param("x = {A, B}", (("x", "=", Group("{", False, (A, B))),), id="set"),
        pytest.param(
            "f(A)[B]", (("f", Group("(", True, (A,)), Group("[", False, (B,))),), id="call"
        ),
        pytest.param("f_(A)", (("f_", Group("(", True, (A,))),), id="call-of-a-name"),
        pytest.param("'a, b', 1.5", (("'a, b'",), ("1.5",)), id="string-and-number"),
        pytest.param("A]", None, id="closed-too-much"),
        pytest.param("(A", None, id="not-closed"),
        pytest.param("(A]", None, id="other-bracket"),
        pytest.param("{(A]}", None, id="other-bracket-inside"),
        pytest.param("(" * (DEEPEST_DISPLAY + 2) + ")" * (DEEPEST_DISPLAY + 2), None, id="deep"),
    ],
)  # fmt: skip
def test_rows_are_split_at_commas(text: str, rows: object) -> None:
    assert read_rows(text.encode()) == rows


def test_members_are_among_others_in_order() -> None:
    assert is_among((A, C), (A, B, C))
    assert not is_among((C, A), (A, B, C))
    assert is_among((), ())


SOURCE = b"x = {\n    A,\n    B(1, 2),\n    C,\n}\ny = 1\n".splitlines(keepends=True)


@pytest.mark.parametrize(
    ("line", "members"),
    [
        pytest.param(1, ["A", "B", "C"], id="at-the-start"),
        pytest.param(4, ["A", "B", "C"], id="at-the-end"),
        pytest.param(0, None, id="before"),
        pytest.param(5, None, id="behind"),
    ],
)
def test_members_around_a_line(line: int, members: list[str] | None) -> None:
    found = members_around(SOURCE, line)
    assert members == (None if found is None else [row[0] for row in found])


def test_a_display_without_end_has_no_members() -> None:
    assert members_around(SOURCE[:4], 2) is None
    assert members_around([b"}\n", b"x = {\n", b"A,\n", b"}\n"], 2) == (A,)


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        pytest.param([b"  A,\n", b"  B,\n"], (A, B), id="members"),
        pytest.param([b"  A,\n", b"\n"], (A,), id="blank-line"),
        pytest.param([b"  A\n"], None, id="no-comma"),
        pytest.param([b"f(\n", b"  A,\n"], None, id="opens"),
        pytest.param([b"\n"], None, id="nothing"),
        pytest.param([], None, id="no-line"),
        pytest.param([b"A),\n"], None, id="closes"),
    ],
)
def test_lines_may_hold_members_only(lines: list[bytes], rows: object) -> None:
    assert rows_of_lines(lines) == rows
