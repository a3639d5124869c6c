from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.structure.tokens import Kind, contents, text_of, tokens_of
from tests.tables import table

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


@given(parts=st.lists(PIECES, max_size=30))
def test_the_tokens_of_any_text_give_it_again(parts: list[str]) -> None:
    text = "".join(parts)

    tokens = tokens_of(text)

    assert text_of(tokens) == text
    assert tokens[-1].kind is Kind.END
    assert not any(token.gap.strip("\\ \t\r\n\f\u00a0") for token in tokens)


@table(
    ("text", "expected"),
    [
        pytest.param('f("a b", 1); // c', ["f", "(", '"a b"', ",", "1", ")", ";", "// c"], id="C"),
        pytest.param("#if A && B // c\nx", ["#if A && B", "// c", "x"], id="a directive"),
        pytest.param(
            "#define A \\\n  b(#x)\nc",
            ["#define", "A", "b", "(", "#", "x", ")", "\n", "c"],
            id="a macro",
        ),
        pytest.param("#define A b", ["#define", "A", "b"], id="a macro at the end"),
        pytest.param("x #if", ["x", "#", "if"], id="no directive within a line"),
        pytest.param('R"(a"b)" 1\'000', ['R"(a"b)"', "1'000"], id="raw strings, numbers"),
    ],
)
def test_a_text_splits_into_tokens(text: str, expected: list[str]) -> None:
    assert list(contents(tokens_of(text))[:-1]) == expected
