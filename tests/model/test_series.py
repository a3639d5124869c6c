"""Guards and series files as values."""

from patchmgr.model.series import Guard, SeriesFile, SeriesLine
from tests.tables import table

NEEDS_A, NEEDS_B = Guard("a", is_positive=True), Guard("b", is_positive=True)
NOT_A, NOT_B = Guard("a", is_positive=False), Guard("b", is_positive=False)


@table(("guard", "text"), {"positive": (NEEDS_A, "#+a"), "negative": (NOT_B, "#-b")})
def test_a_guard_is_written_as_mq_does(guard: Guard, text: str) -> None:
    assert str(guard) == text


@table(
    ("guards", "selected", "refusal"),
    {
        "no-guard-nothing-selected": ((), "", None),
        "no-guard": ((), "a", None),
        "needed-and-selected": ((NEEDS_A,), "a", None),
        "needed-not-selected": ((NEEDS_A,), "", "its guard is #+a, and a is not selected"),
        "another-selected": ((NEEDS_A,), "b", "its guard is #+a, and a is not selected"),
        "one-of-two-is-enough": ((NEEDS_A, NEEDS_B), "b", None),
        "none-of-two": ((NEEDS_A, NEEDS_B), "c", "its guard is #+a, and a is not selected"),
        "forbidden-not-selected": ((NOT_A,), "", None),
        "forbidden-another-selected": ((NOT_A,), "b", None),
        "forbidden-and-selected": ((NOT_A,), "a", "its guard is #-a, and a is selected"),
        "needed-wins-without-the-forbidden": ((NEEDS_A, NOT_B), "a", None),
        "forbidden-beats-needed": ((NEEDS_A, NOT_B), "ab", "its guard is #-b, and b is selected"),
        "neither-selected": ((NEEDS_A, NOT_B), "", "its guard is #+a, and a is not selected"),
    },
)
def test_guards_are_as_in_mq(guards: tuple[Guard, ...], selected: str, refusal: str | None) -> None:
    assert SeriesLine(b"p.patch\n", "p.patch", guards=guards).refusal(set(selected)) == refusal


@table(
    ("lines", "names"),
    {
        "empty": ((), ()),
        "comments": ((SeriesLine(b"# note\n"), SeriesLine(b"\n")), ()),
        "order-is-kept": (
            (
                SeriesLine(b"b.patch\n", "b.patch"),
                SeriesLine(b"# note\n"),
                SeriesLine(b"a.patch -p0\n", "a.patch", strip=0),
            ),
            ("b.patch", "a.patch"),
        ),
    },
)
def test_names_are_those_of_patches(lines: tuple[SeriesLine, ...], names: tuple[str, ...]) -> None:
    assert SeriesFile(lines).names() == names
