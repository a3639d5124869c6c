"""The tokens of each language."""

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.merge.languages import code_lines, cxx_tokens, language_of, lex
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
def test_the_tokens_of_any_text_join_to_the_text(parts: list[str], name: str) -> None:
    text = "".join(parts)
    readings = [list(lex(text, language_of(name))), list(cxx_tokens(text))]
    for tokens in readings:
        assert "".join(token.lead + token.text for token in tokens) == text
        assert tokens[-1].kind == "end"
        assert not any(token.lead.strip("\\ \t\r\n\f\u00a0") for token in tokens)


@table(
    ("name", "text", "expected"),
    {
        "C": ("a.cc", 'f("a b", 1); // c', ["f", "(", '"a b"', ",", "1", ")", ";", "// c"]),
        "directive": ("a.cc", "#if A && B // c\nx", ["#if A && B ", "// c", "x"]),
        "a macro": ("a.cc", '#define A "//" b\nc', ['#define A "//" b', "c"]),
        "no directive within a line": ("a.cc", "x #if", ["x", "#", "if"]),
        "pasted in TableGen": ("a.td", 'a # "b"\n#c', ["a", "#", '"b"', "#c"]),
        "raw strings, numbers": ("a.cc", 'R"(a"b)" 1\'000', ['R"(a"b)"', "1'000"]),
        "a lifetime is no character": ("a.rs", "<'a, T: 'a>",
            ["<", "'", "a", ",", "T", ":", "'", "a", ">"]),
        "characters of Rust": ("a.rs", "'x' '\\'' '\\u{1F}'", ["'x'", "'\\''", "'\\u{1F}'"]),
        "strings of Rust": ("a.rs", 'br#"a"b"# "a\nb"', ['br#"a"b"#', '"a\nb"']),
        "single quotes elsewhere": ("a.js", "'a, b'", ["'a, b'"]),
        "CSS": ("a.css", "#id { a: b }", ["#", "id", "{", "a", ":", "b", "}"]),
        "Ruby": ("a.rb", "a.nil? 'b' # c", ["a", ".", "nil?", "'b'", "# c"]),
        "a name before the dot": ("Dockerfile.rocm", "a-b # c", ["a-b", "# c"]),
        "a module of TypeScript": ("a.mts", "a // 'b", ["a", "// 'b"]),
    },
)  # fmt: skip
def test_a_text_splits_into_tokens(name: str, text: str, expected: list[str]) -> None:
    assert [token.text for token in lex(text, language_of(name))][:-1] == expected


@table(
    ("name", "text", "expected"),
    {
        "C": ("a.cc", 'a // b\nf("//", u8"/*") /* c\nd */ e /* f', ["a ", 'f("//", u8"/*")  e ']),
        "raw": ("a.cc", 'LR"x(" // )x" // a', ['LR"x(" // )x" ']),
        "Python": ("a.py", "a = rb'#' # b", ["a = rb'#' "]),
        "three quotes": ("a.py", 'f"""\'# a""" # b', ['f"""\'# a""" ']),
        "Rust": ("a.rs", 'br#"\\"# // a', ['br#"\\"# ']),
        "Go": ("a.go", "`// a` // b", ["`// a` "]),
        "JavaScript": ("a.js", 'a = /"/ // b', ['a = /"/ ']),
        "Ruby": ("a.rb", "a#b # c", ["a#b "]),
        "text": ("a.md", "# a 'b' // c", ["# a 'b' // c"]),
    },
)
def test_comments_are_taken_out_of_lines(name: str, text: str, expected: list[str]) -> None:
    assert code_lines((text,), language_of(name)) == expected


@table(
    ("text", "expected"),
    {
        "with what follows": ("#define A \\\n  b(#x)\nc",
            ["#define", "A", "b", "(", "#", "x", ")", "", "c"]),
        "at the end": ("#define A b", ["#define", "A", "b", ""]),
        "of a condition they are one": ("#if A\nb", ["#if A", "b"]),
    },
)  # fmt: skip
def test_the_body_of_a_macro_is_split_into_tokens(text: str, expected: list[str]) -> None:
    assert [token.text for token in cxx_tokens(text)][:-1] == expected
