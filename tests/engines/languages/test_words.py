"""Words of source lines."""

from patchmgr.engines.languages.words import (
    all_words,
    code_of,
    indentation,
    is_blank,
    is_import,
    words_of,
)
from tests.tables import table


@table(
    ("line", "language", "code"),
    {
        "hash": (b"  x = 1  # one\n", "Python", "x = 1"),
        "only-a-comment": (b"  # one\n", "Python", ""),
        "hash-in-a-string": (b'x = "#1"  # one\n', "Python", 'x = "#1"'),
        "a-quote-alone": (b"don't # care\n", "Python", "don't"),
        "hash-elsewhere": (b"#define X 1\n", "C++", "#define X 1"),
        "slashes": (b"x = 1;  // one\n", "C++", "x = 1;"),
        "slash-and-star": (b"x = 1;  /* one */\n", "CUDA", "x = 1;"),
        "a-division": (b"x = a / b;\n", "C", "x = a / b;"),
        "star": (b" * in the middle of a comment\n", "C", ""),
        "slashes-in-a-string": (b'url = "http://x";\n', "C", 'url = "http://x";'),
        "no-comments": (b"a # b // c\n", "Text", "a # b // c"),
    },
)
def test_code_is_a_line_without_its_comment(line: bytes, language: str, code: str) -> None:
    assert code_of(line, language) == code


@table(
    ("line", "words"),
    {
        "names-and-numbers": (b"if a.b_c <= 10:", ["if", "a", "b_c", "<=", "10"]),
        "string": (b'x = ".k_scale"', ["x", "'.", "k_scale"]),
        "pattern": (rb'r"\s*(\S+)"', ["r", r"'\s", "'*", "'(", r"'\S", "'+", "')"]),
        "dashes-and-spaces": (b"'flash-infer one'", ["flash-infer", "one"]),
        "empty": (b"", []),
    },
)
def test_words_of_a_line(line: bytes, words: list[str]) -> None:
    assert words_of(line, "Python") == words


def test_the_words_of_several_lines_form_one_list() -> None:
    assert all_words([b"a b\n", b"c\n"], "Text") == ["a", "b", "c"]


@table(
    ("line", "found"),
    {
        "import": (b"  import x\n", True),
        "from": (b"from x import y\n", True),
        "include": (b"#include <x>\n", True),
        "using": (b"using x::y;\n", True),
        "a-name": (b"important = 1\n", False),
        "blank": (b"\n", False),
    },
)
def test_lines_of_imports_are_recognized(line: bytes, found: bool) -> None:
    assert is_import(line) is found


def test_indentation_counts_a_tab_as_eight() -> None:
    assert [indentation(line) for line in (b"x", b"  x", b"\tx")] == [0, 2, 8]
    assert is_blank(b" \t\n") and not is_blank(b" x\n")
