"""What the reader of tokens makes of each language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.merge.languages import cxx_tokens, language_of, lex
from tests.tables import table

_SIGNS = ["(", ")", "{", "}", ";", ",", "#", "//", "/*", "*/", "\\", '"', "'", '"""', "->", "-"]
_PIECES = st.sampled_from(
    [
        "a",
        "1.5e-3f",
        "#define A",
        "#if B",
        'R"x(',
        *_SIGNS,
        ')x"',
        'r#"',
        "'a",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\u00a0",
    ]
)


@given(parts=st.lists(_PIECES, max_size=30), name=st.sampled_from(["a.cc", "a.rs", "a.py", "a.md"]))
def test_the_tokens_of_any_text_give_it_again(parts: list[str], name: str) -> None:
    text = "".join(parts)
    readings = [list(lex(text, language_of(name))), list(cxx_tokens(text))]
    for tokens in readings:
        assert "".join(token.lead + token.text for token in tokens) == text
        assert tokens[-1].kind == "end"
        assert not any(token.lead.strip("\\ \t\r\n\f\u00a0") for token in tokens)


@table(
    ("name", "text", "expected"),
    [
        pytest.param("a.cc", 'f("a b", 1); // c', ["f", "(", '"a b"', ",", "1", ")", ";", "// c"],
                     id="C"),
        pytest.param("a.cc", "#if A && B // c\nx", ["#if A && B ", "// c", "x"], id="directive"),
        pytest.param("a.cc", '#define A "//" b\nc', ['#define A "//" b', "c"], id="a macro"),
        pytest.param("a.cc", "x #if", ["x", "#", "if"], id="no directive within a line"),
        pytest.param("a.td", 'a # "b"\n#c', ["a", "#", '"b"', "#c"], id="pasted in TableGen"),
        pytest.param("a.cc", 'R"(a"b)" 1\'000', ['R"(a"b)"', "1'000"], id="raw strings, numbers"),
        pytest.param("a.rs", "<'a, T: 'a>", ["<", "'", "a", ",", "T", ":", "'", "a", ">"],
                     id="a lifetime is no character"),
        pytest.param("a.rs", "'x' '\\'' '\\u{1F}'", ["'x'", "'\\''", "'\\u{1F}'"],
                     id="characters of Rust"),
        pytest.param("a.rs", 'br#"a"b"# "a\nb"', ['br#"a"b"#', '"a\nb"'], id="strings of Rust"),
        pytest.param("a.js", "'a, b'", ["'a, b'"], id="single quotes elsewhere"),
        pytest.param("a.css", "#id { a: b }", ["#", "id", "{", "a", ":", "b", "}"], id="CSS"),
        pytest.param("a.rb", "a.nil? 'b' # c", ["a", ".", "nil?", "'b'", "# c"], id="Ruby"),
        pytest.param("Dockerfile.rocm", "a-b # c", ["a-b", "# c"], id="a name before the dot"),
        pytest.param("a.mts", "a // 'b", ["a", "// 'b"], id="a module of TypeScript"),
    ],
)  # fmt: skip
def test_a_text_splits_into_tokens(name: str, text: str, expected: list[str]) -> None:
    assert [token.text for token in lex(text, language_of(name))][:-1] == expected


@table(
    ("text", "expected"),
    [
        pytest.param("#define A \\\n  b(#x)\nc", ["#define", "A", "b", "(", "#", "x", ")", "", "c"],
                     id="with what follows"),
        pytest.param("#define A b", ["#define", "A", "b", ""], id="at the end"),
        pytest.param("#if A\nb", ["#if A", "b"], id="of a condition they are one"),
    ],
)  # fmt: skip
def test_the_tokens_of_a_macro_are_told(text: str, expected: list[str]) -> None:
    assert [token.text for token in cxx_tokens(text)][:-1] == expected
