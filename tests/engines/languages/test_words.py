"""Words of source lines."""

from __future__ import annotations

import pytest

from patchmgr.engines.languages.words import (
    all_words,
    code_of,
    indentation,
    is_blank,
    is_import,
    parts_of,
    words_of,
)
from tests.tables import table


@table(
    ("line", "language", "code"),
    [
        pytest.param(b"  x = 1  # one\n", "Python", "x = 1", id="hash"),
        pytest.param(b"  # one\n", "Python", "", id="only-a-comment"),
        pytest.param(b'x = "#1"  # one\n', "Python", 'x = "#1"', id="hash-in-a-string"),
        pytest.param(b"don't # care\n", "Python", "don't", id="a-quote-alone"),
        pytest.param(b"#define X 1\n", "C++", "#define X 1", id="hash-elsewhere"),
        pytest.param(b"x = 1;  // one\n", "C++", "x = 1;", id="slashes"),
        pytest.param(b"x = 1;  /* one */\n", "CUDA", "x = 1;", id="slash-and-star"),
        pytest.param(b"x = a / b;\n", "C", "x = a / b;", id="a-division"),
        pytest.param(b" * in the middle of a comment\n", "C", "", id="star"),
        pytest.param(b'url = "http://x";\n', "C", 'url = "http://x";', id="slashes-in-a-string"),
        pytest.param(b"a # b // c\n", "Text", "a # b // c", id="no-comments"),
    ],
)
def test_code_is_a_line_without_its_comment(line: bytes, language: str, code: str) -> None:
    assert code_of(line, language) == code


@table(
    ("line", "words"),
    [
        pytest.param(b"if a.b_c <= 10:", ["if", "a", "b_c", "<=", "10"], id="names-and-numbers"),
        pytest.param(b'x = ".k_scale"', ["x", "'.", "k_scale"], id="string"),
        pytest.param(rb'r"\s*(\S+)"', ["r", r"'\s", "'*", "'(", r"'\S", "'+", "')"], id="pattern"),
        pytest.param(b"'flash-infer one'", ["flash-infer", "one"], id="dashes-and-spaces"),
        pytest.param(b"", [], id="empty"),
    ],
)
def test_words_of_a_line(line: bytes, words: list[str]) -> None:
    assert words_of(line, "Python") == words


def test_words_of_several_lines_follow_each_other() -> None:
    assert all_words([b"a b\n", b"c\n"], "Text") == ["a", "b", "c"]


@table(
    ("word", "parts"),
    [
        pytest.param("maybe_remap_kv_scales", ("maybe", "remap", "kv", "scale"), id="snake"),
        pytest.param("HTTPServerName2", ("http", "server", "name", "2"), id="camel"),
        pytest.param("class_bus_ids", ("class", "bus", "ids"), id="no-plural"),
        pytest.param("<=", (), id="sign"),
    ],
)
def test_a_name_is_made_of_words(word: str, parts: tuple[str, ...]) -> None:
    assert parts_of(word) == parts


@table(
    ("line", "found"),
    [
        pytest.param(b"  import x\n", True, id="import"),
        pytest.param(b"from x import y\n", True, id="from"),
        pytest.param(b"#include <x>\n", True, id="include"),
        pytest.param(b"using x::y;\n", True, id="using"),
        pytest.param(b"important = 1\n", False, id="a-name"),
        pytest.param(b"\n", False, id="blank"),
    ],
)
def test_imports_are_told_apart(line: bytes, found: bool) -> None:
    assert is_import(line) is found


def test_indentation_counts_a_tab_as_eight() -> None:
    assert [indentation(line) for line in (b"x", b"  x", b"\tx")] == [0, 2, 8]
    assert is_blank(b" \t\n") and not is_blank(b" x\n")
