"""Guards and series files as values."""

from __future__ import annotations

import pytest

from patchmgr.model.series import Guard, SeriesFile, SeriesLine
from tests.tables import table

NEEDS_A, NEEDS_B = Guard("a", is_positive=True), Guard("b", is_positive=True)
NOT_A, NOT_B = Guard("a", is_positive=False), Guard("b", is_positive=False)


@table(
    ("guard", "text"),
    [pytest.param(NEEDS_A, "#+a", id="positive"), pytest.param(NOT_B, "#-b", id="negative")],
)
def test_a_guard_is_written_as_mq_does(guard: Guard, text: str) -> None:
    assert str(guard) == text


@table(
    ("guards", "selected", "refusal"),
    [
        pytest.param((), "", None, id="no-guard-nothing-selected"),
        pytest.param((), "a", None, id="no-guard"),
        pytest.param((NEEDS_A,), "a", None, id="needed-and-selected"),
        pytest.param((NEEDS_A,), "", "guard #+a and a is not selected", id="needed-not-selected"),
        pytest.param((NEEDS_A,), "b", "guard #+a and a is not selected", id="another-selected"),
        pytest.param((NEEDS_A, NEEDS_B), "b", None, id="one-of-two-is-enough"),
        pytest.param((NEEDS_A, NEEDS_B), "c", "guard #+a and a is not selected", id="none-of-two"),
        pytest.param((NOT_A,), "", None, id="forbidden-not-selected"),
        pytest.param((NOT_A,), "b", None, id="forbidden-another-selected"),
        pytest.param((NOT_A,), "a", "guard #-a and a is selected", id="forbidden-and-selected"),
        pytest.param((NEEDS_A, NOT_B), "a", None, id="needed-wins-without-the-forbidden"),
        pytest.param(
            (NEEDS_A, NOT_B), "ab", "guard #-b and b is selected", id="forbidden-beats-needed"
        ),
        pytest.param(
            (NEEDS_A, NOT_B), "", "guard #+a and a is not selected", id="neither-selected"
        ),
    ],
)
def test_guards_follow_the_rule_of_mq(
    guards: tuple[Guard, ...], selected: str, refusal: str | None
) -> None:
    assert SeriesLine(b"p.patch\n", "p.patch", guards=guards).refusal(set(selected)) == refusal


@table(
    ("lines", "names"),
    [
        pytest.param((), (), id="empty"),
        pytest.param((SeriesLine(b"# note\n"), SeriesLine(b"\n")), (), id="comments"),
        pytest.param(
            (
                SeriesLine(b"b.patch\n", "b.patch"),
                SeriesLine(b"# note\n"),
                SeriesLine(b"a.patch -p0\n", "a.patch", strip=0),
            ),
            ("b.patch", "a.patch"),
            id="order-is-kept",
        ),
    ],
)
def test_names_are_those_of_patches(lines: tuple[SeriesLine, ...], names: tuple[str, ...]) -> None:
    assert SeriesFile(lines).names() == names
