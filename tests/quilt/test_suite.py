"""quilt's own tests, where they are at hand; and the counting, on lines made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quilt.suite import FOLDER, run_suite, suite
from tests.quilt.tally import BAR, Line, reasons, share, strict, unexplained

SOURCE = suite()
LEAST = 0.8


@pytest.mark.skipif(SOURCE is None, reason=f"{FOLDER} does not lead to quilt's tests")
def test_quilts_own_tests_pass_but_for_what_has_a_reason(tmp_path: Path) -> None:
    assert SOURCE is not None
    lines = run_suite(SOURCE, tmp_path)
    assert unexplained(lines) == ()
    assert share(lines) >= LEAST


def line(number: int, verb: str | None, *, is_passed: bool, test: str = "one") -> Line:
    """Return a line of a test."""
    return Line(test, number, f"quilt {verb}", verb, is_passed)


def test_only_commands_of_the_bar_are_counted() -> None:
    lines = [
        line(1, "push", is_passed=True),
        line(2, "mail", is_passed=False),
        line(3, None, is_passed=False),
        line(4, "pop", is_passed=False),
    ]
    assert share(lines) == 0.5


def test_a_careful_count_asks_the_lines_behind_a_command_too() -> None:
    lines = [
        line(1, "push", is_passed=True),
        line(2, None, is_passed=False),
        line(3, "pop", is_passed=True),
        line(4, None, is_passed=True),
        line(5, "push", is_passed=True),
        line(1, None, is_passed=False, test="other"),
    ]
    assert [each.is_passed for each in strict(lines) if each.is_counted] == [False, True, True]


def test_what_fails_has_a_reason_or_is_named() -> None:
    test, number = min(next(iter(reasons())).lines)
    known = Line(test, number, "quilt push", "push", is_passed=False)
    unknown = line(1, "push", is_passed=False, test="nowhere")
    assert unexplained([known, unknown, line(2, "pop", is_passed=True)]) == (unknown,)


def test_a_line_fails_for_one_reason() -> None:
    found = [at for reason in reasons() for at in reason.lines]
    assert len(found) == len(set(found))
    assert {reason.kind for reason in reasons()} <= {"on purpose", "quilt", "open"}
    assert "push" in BAR
