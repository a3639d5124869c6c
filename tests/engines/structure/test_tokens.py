from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.structure.tokens import (
    Grammar,
    Kind,
    contents,
    counts_indentation,
    indents,
    text_of,
    tokens_of,
)

SIGNS = [
    "(",
    ")",
    "{",
    "}",
    ";",
    ",",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    '"',
    "'",
    '"""',
    "->",
    "::",
    "-",
    ')x"',
]
SPACES = [" ", "\n", "\r\n", "\t", "\u00a0"]
PIECES = st.sampled_from(["a", "1.5e-3f", "#define A", "#if B", 'R"x(', *SIGNS, *SPACES])


@pytest.mark.parametrize("grammar", Grammar)
@given(parts=st.lists(PIECES, max_size=30))
def test_the_tokens_of_any_text_give_it_again(grammar: Grammar, parts: list[str]) -> None:
    text = "".join(parts)

    tokens = tokens_of(text, grammar)

    assert text_of(tokens) == text
    assert tokens[-1].kind is Kind.END
    assert not any(token.gap.strip("\\ \t\r\n\f\u00a0") for token in tokens)


@pytest.mark.parametrize(
    ("grammar", "text", "expected"),
    [
        pytest.param(
            Grammar.C, 'f("a b", 1); // c', ["f", "(", '"a b"', ",", "1", ")", ";", "// c"], id="C"
        ),
        pytest.param(
            Grammar.C, "#if A && B // c\nx", ["#if A && B", "// c", "x"], id="a directive"
        ),
        pytest.param(
            Grammar.C,
            "#define A \\\n  b(#x)\nc",
            ["#define", "A", "b", "(", "#", "x", ")", "\n", "c"],
            id="a macro",
        ),
        pytest.param(Grammar.C, "#define A b", ["#define", "A", "b"], id="a macro at the end"),
        pytest.param(Grammar.C, "x #if", ["x", "#", "if"], id="no directive within a line"),
        pytest.param(
            Grammar.C, 'R"(a"b)" 1\'000', ['R"(a"b)"', "1'000"], id="raw strings, numbers"
        ),
        pytest.param(
            Grammar.PYTHON,
            "f(a,\n  b)\n\nc # d\n",
            ["f", "(", "a", ",", "b", ")", "\n", "c", "# d", "\n"],
            id="Python",
        ),
        pytest.param(Grammar.PYTHON, '"""a\nb"""\n', ['"""a\nb"""', "\n"], id="a docstring"),
        pytest.param(
            Grammar.HASH,
            "a: b-c # d\n\n- e\n",
            ["a", ":", "b-c", "# d", "\n", "-", "e", "\n"],
            id="lines",
        ),
        pytest.param(
            Grammar.FREE_HASH,
            "set(A\n  b.cu) # c\n",
            ["set", "(", "A", "b.cu", ")", "# c"],
            id="CMake",
        ),
        pytest.param(
            Grammar.PLAIN, "# A\n| -- |\n", ["#", "A", "\n", "|", "--", "|", "\n"], id="plain"
        ),
        pytest.param(Grammar.JSON, '{"a":\n 1.5}', ["{", '"a"', ":", "1.5", "}"], id="JSON"),
    ],
)
def test_a_text_splits_by_its_grammar(grammar: Grammar, text: str, expected: list[str]) -> None:
    assert list(contents(tokens_of(text, grammar))[:-1]) == expected


def test_each_line_has_its_indentation() -> None:
    assert indents(tokens_of("a\n  b c\n\n    d\n", Grammar.HASH)) == ("", "  ", "    ")


@pytest.mark.parametrize("grammar", Grammar)
def test_white_space_is_free_where_it_has_no_meaning(grammar: Grammar) -> None:
    free = {Grammar.C, Grammar.FREE_HASH, Grammar.JSON}

    assert counts_indentation(grammar) is (grammar not in free)
