"""Regular expressions: what is read, and what is refused at which index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.regexes import LARGEST, LONGEST, RegexError, parse_regex
from patchmgr.model.regex import Fork, Hold, Instruction, Jump, Mark, Place, Take

A, B = Take((("a", "a"),)), Take((("b", "b"),))


@pytest.mark.parametrize(
    ("text", "program", "groups"),
    [
        pytest.param("", (), 0, id="empty"),
        pytest.param("ab", (A, B), 0, id="in-a-row"),
        pytest.param("a|b", (Fork(1, 3), A, Jump(2), B), 0, id="either"),
        pytest.param(
            "a|b|a", (Fork(1, 3), A, Jump(5), Fork(1, 3), B, Jump(2), A), 0, id="one-of-three"
        ),
        pytest.param("a*", (Fork(1, 3), A, Jump(-2)), 0, id="any-number"),
        pytest.param("a*?", (Fork(3, 1), A, Jump(-2)), 0, id="any-number-lazily"),
        pytest.param("a+", (A, Fork(1, 3), A, Jump(-2)), 0, id="one-or-more"),
        pytest.param("a?", (Fork(1, 2), A), 0, id="maybe"),
        pytest.param("a??", (Fork(2, 1), A), 0, id="maybe-lazily"),
        pytest.param("a{2}", (A, A), 0, id="twice"),
        pytest.param("a{0}b", (B,), 0, id="never"),
        pytest.param("a{1,3}", (A, Fork(1, 4), A, Fork(1, 2), A), 0, id="from-to"),
        pytest.param("a{,1}", (Fork(1, 2), A), 0, id="up-to"),
        pytest.param("a{,}", (Fork(1, 3), A, Jump(-2)), 0, id="no-bounds"),
        pytest.param("a{1,}", (A, Fork(1, 3), A, Jump(-2)), 0, id="at-least"),
        pytest.param("(a)(?:b)", (Mark(0), A, Mark(1), B), 1, id="groups"),
        pytest.param("((a))", (Mark(0), Mark(2), A, Mark(3), Mark(1)), 2, id="nested-groups"),
        pytest.param("()", (Mark(0), Mark(1)), 1, id="empty-group"),
        pytest.param(
            r"^\b\B$",
            (Hold(Place.START), Hold(Place.EDGE), Hold(Place.NO_EDGE), Hold(Place.END)),
            0,
            id="places",
        ),
        pytest.param(".", (Take((), True),), 0, id="any"),
        pytest.param(r"\d", (Take((("0", "9"),)),), 0, id="digit"),
        pytest.param(r"\D", (Take((("0", "9"),), True),), 0, id="no-digit"),
        pytest.param(r"\.\(\"\t", tuple(Take(((c, c),)) for c in '.("\t'), 0, id="escapes"),
        pytest.param("}]", tuple(Take(((c, c),)) for c in "}]"), 0, id="closers-that-open-nothing"),
        pytest.param("[ab]", (Take((("a", "a"), ("b", "b"))),), 0, id="set"),
        pytest.param("[^a]", (Take((("a", "a"),), True),), 0, id="negated-set"),
        pytest.param("[a-c0-9]", (Take((("a", "c"), ("0", "9"))),), 0, id="ranges"),
        pytest.param("[]a]", (Take(((("]", "]")), ("a", "a"))),), 0, id="bracket-first"),
        pytest.param("[a-]", (Take((("a", "a"), ("-", "-"))),), 0, id="dash-last"),
        pytest.param("[-a]", (Take((("-", "-"), ("a", "a"))),), 0, id="dash-first"),
        pytest.param(
            r"[\d\]\-]", (Take((("0", "9"), ("]", "]"), ("-", "-"))),), 0, id="escapes-in-a-set"
        ),
        pytest.param(r"[\d-]", (Take((("0", "9"), ("-", "-"))),), 0, id="class-and-dash"),
    ],
)  # fmt: skip
def test_a_regular_expression_becomes_a_program(
    text: str, program: tuple[Instruction, ...], groups: int
) -> None:
    regex = parse_regex(text)
    assert (regex.text, regex.program, regex.groups) == (text, program, groups)


@pytest.mark.parametrize(
    ("text", "at", "problem"),
    [
        ("(a", 0, "the ( is not closed"),
        ("a)", 1, "the ) closes nothing"),
        ("a[b", 1, "the [ is not closed"),
        ("a[]", 1, "the [ is not closed"),
        ("a\\", 1, "the \\ escapes nothing"),
        ("[\\", 1, "the \\ escapes nothing"),
        ("*a", 0, "nothing that can be repeated is before this"),
        ("a|+", 2, "nothing that can be repeated is before this"),
        ("a**", 2, "nothing that can be repeated is before this"),
        ("a{2}{3}", 4, "nothing that can be repeated is before this"),
        ("a*??", 3, "nothing that can be repeated is before this"),
        ("{a}", 0, "nothing that can be repeated is before this"),
        ("a{b}", 1, r"a repeat is {n}, {n,} or {n,m}; write \{ for a brace"),
        ("a{2", 1, r"a repeat is {n}, {n,} or {n,m}; write \{ for a brace"),
        ("a{3,2}", 1, "the repeat ends before it begins"),
        (r"(a)\1", 3, r"\1 is not supported (there are no back references)"),
        (r"a\z", 1, r"\z is not supported"),
        ("(?=a)", 0, "of the groups that begin with (? only (?: is supported"),
        ("(?P<n>a)", 0, "of the groups that begin with (? only (?: is supported"),
        ("(?i)a", 0, "of the groups that begin with (? only (?: is supported"),
        ("[b-a]", 0, "a range in the set ends before it begins"),
        (r"[a-\d]", 0, "a range in the set ends before it begins"),
        (r"[a\D]", 2, "a set cannot hold the opposite of a class"),
        ("(" * 51, 50, "groups are nested deeper than 50"),
        ("a" * (LONGEST + 1), LONGEST, "the regular expression is longer than 1000 characters"),
    ],
)  # fmt: skip
def test_what_is_no_regular_expression_is_refused_at_its_place(
    text: str, at: int, problem: str
) -> None:
    with pytest.raises(RegexError) as caught:
        parse_regex(text)
    assert (caught.value.at, caught.value.problem) == (at, problem)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a{1001}", 0),
        ("ba{99999999999}", 3),
        ("(a{100}){100}", 0),
        ("((a{30}){30}){30}", 1),
        ("a{,999}", 0),
        ("|".join(["a" * 300] * 3 + ["a{200}"]), 0),
        ("a{400}b{400}a{400}", 0),
    ],
)
def test_what_would_grow_too_large_is_refused(text: str, at: int) -> None:
    with pytest.raises(RegexError) as caught:
        parse_regex(text)
    assert caught.value.at == at
    assert caught.value.problem == "the regular expression is too large (more than 1000 steps)"


@given(st.text(alphabet="ab()[]{}|*+?^$.\\-,0123dwsbé\n", max_size=30) | st.text(max_size=40))
def test_any_text_is_a_program_or_a_refusal(text: str) -> None:
    program: tuple[Instruction, ...] = ()
    at = 0
    try:
        program = parse_regex(text).program
    except RegexError as fault:
        at = fault.at
    assert 0 <= at <= len(text)
    size = len(program)
    assert size <= LARGEST
    for place, step in enumerate(program):
        if isinstance(step, Fork):
            assert 0 <= place + step.first <= size
            assert 0 <= place + step.second <= size
        elif isinstance(step, Jump):
            assert 0 <= place + step.by <= size
