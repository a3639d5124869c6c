from __future__ import annotations

from typing import Any

import pytest

from patchmgr.engines.structure.data_inserts import commute_in
from patchmgr.engines.structure.data_kinds import DataKind, data_kind, grammar_of
from patchmgr.engines.structure.data_proof import agrees, is_sound
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.structure.text_rules import Insertions
from patchmgr.engines.structure.tokens import tokens_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param("a/b.json", DataKind.JSON, id="JSON"),
        pytest.param("pyproject.toml", DataKind.TOML, id="TOML"),
        pytest.param(".github/a.YML", DataKind.YAML, id="YAML"),
        pytest.param("requirements/test.in", DataKind.REQUIREMENTS, id="requirements"),
        pytest.param("constraints.txt", DataKind.REQUIREMENTS, id="constraints"),
        pytest.param("csrc/CMakeLists.txt", DataKind.CMAKE, id="CMake"),
        pytest.param("a.cmake", DataKind.CMAKE, id="a CMake module"),
        pytest.param("docs/a.rst", DataKind.MARKUP, id="markup"),
        pytest.param("a.sh", DataKind.SCRIPT, id="shell"),
        pytest.param("docker/Dockerfile.cpu", DataKind.SCRIPT, id="Dockerfile"),
        pytest.param(".gitignore", DataKind.PATTERNS, id="ignored files"),
        pytest.param(".github/CODEOWNERS", DataKind.PATTERNS, id="owners"),
        pytest.param("notes.txt", DataKind.OTHER, id="text"),
        pytest.param("Makefile", DataKind.OTHER, id="no suffix"),
        pytest.param(".toml", DataKind.OTHER, id="only a suffix"),
    ],
)
def test_a_path_says_the_kind(path: str, kind: DataKind) -> None:
    assert data_kind(path) is kind


LINES = [
    pytest.param(DataKind.REQUIREMENTS, "a==1\n", "b\n# c\n", True, id="packages"),
    pytest.param(DataKind.REQUIREMENTS, "-r a.txt\n", "b\n", False, id="an option"),
    pytest.param(DataKind.TOML, "a = [1, 2]\n", 'b = "x"\n', True, id="TOML keys"),
    pytest.param(DataKind.TOML, "a = [\n", "b = 1\n", False, id="an open array"),
    pytest.param(DataKind.TOML, 'a = """\n', "b = 1\n", False, id="an open string"),
    pytest.param(DataKind.TOML, "[a]\n", "b = 1\n", False, id="a table"),
    pytest.param(DataKind.TOML, '"a>=1",\n', '"A >=2",\n', False, id="one package in an array"),
    pytest.param(DataKind.TOML, '"./a",\n', '"./b",\n', True, id="strings in an array"),
    pytest.param(DataKind.YAML, "a: 1\n", "b:\n  c: 2\n", True, id="YAML keys"),
    pytest.param(DataKind.YAML, "- a.py\n", "- b.py # c\n", True, id="YAML words"),
    pytest.param(DataKind.YAML, "- run: a\n", "- run: b\n", False, id="items without names"),
    pytest.param(DataKind.YAML, "  a: 1\nb: 2\n", "c: 3\n", False, id="the end of a mapping"),
    pytest.param(DataKind.YAML, "# a\n", "b: 1\n", False, id="a comment alone"),
    pytest.param(DataKind.MARKUP, "- a\n", "* b\n", True, id="items of two kinds"),
    pytest.param(DataKind.MARKUP, "- a\n  b\n", "- c\n", False, id="an item of two lines"),
    pytest.param(DataKind.PATTERNS, "a/\n", "b/\n", True, id="patterns"),
    pytest.param(DataKind.JSON, '"a": 1,', '"b": {"c": [1, 2]},', True, id="members"),
    pytest.param(DataKind.JSON, ', "a": 1', ', "b": 2', True, id="members at the end"),
    pytest.param(DataKind.JSON, '"a": 1, "a": 2,', '"b": 2,', False, id="a member twice"),
    pytest.param(DataKind.JSON, '"a": 1, "c": 2', '"b": 2,', False, id="no comma at an end"),
    pytest.param(DataKind.JSON, '"a": 1', '"b": 2', False, id="no comma"),
    pytest.param(DataKind.JSON, '"a": {', '"b": 2,', False, id="an open member"),
    pytest.param(DataKind.CMAKE, "a.cu b.cpp", '"c.h" # d', True, id="sources"),
    pytest.param(DataKind.CMAKE, "a.cu", "a.cu", False, id="one source"),
    pytest.param(DataKind.CMAKE, "-O2", "a.cu", False, id="an option of CMake"),
    pytest.param(DataKind.SCRIPT, "a\n", "b\n", False, id="commands"),
]


@pytest.mark.parametrize(("kind", "fork", "upstream", "expected"), LINES)
def test_insertions_commute_where_they_are_distinct_and_free_of_order(
    kind: DataKind, fork: str, upstream: str, expected: bool
) -> None:
    mine, other = (tokens_of(text, grammar_of(kind))[:-1] for text in (fork, upstream))

    assert commute_in(kind)(Insertions(mine, other, (), ())) is expected


def test_insertions_within_a_line_do_not_commute() -> None:
    words = tokens_of("a b\n", grammar_of(DataKind.REQUIREMENTS))

    assert not commute_in(DataKind.REQUIREMENTS)(Insertions(words, words, words[:1], ()))
    assert not commute_in(DataKind.REQUIREMENTS)(Insertions(words[:1], words, (), ()))


VALUES = [
    pytest.param({"a": 2, "b": 3}, {"a": 1}, {"a": 2}, {"a": 1, "b": 3}, True, id="keys of both"),
    pytest.param({"a": 2}, {"a": 1}, {"a": 2}, {"a": 1, "b": 3}, False, id="a key is lost"),
    pytest.param(
        {"a": 1}, {"a": 1, "b": 1}, {"a": 1}, {"a": 1, "b": 2}, False, id="removed, changed"
    ),
    pytest.param([3, 1, 2], [1], [1, 2], [3, 1], True, id="items of both"),
    pytest.param([1, 2, 2], [1], [1, 2], [2, 1], False, id="an item twice"),
    pytest.param([1, 2], [1], [1, 2], [3, 1], False, id="an item is lost"),
    pytest.param(2, 1, 2, 3, False, id="one value"),
    pytest.param("abc", "a", "abc", "ab", True, id="a string that has both"),
    pytest.param("ab", "a", "ab", "ac", False, id="a string that has one"),
]


@pytest.mark.parametrize(("now", "base", "upstream", "fork", "expected"), VALUES)
def test_values_agree_key_by_key(
    now: Any, base: Any, upstream: Any, fork: Any, expected: bool
) -> None:
    assert agrees(now, base, upstream, fork) is expected


def yaml(*names: str) -> str:
    return "".join(f"{name}: 1\n" for name in names)


PROOFS = [
    pytest.param(DataKind.JSON, "[1, 2]", "[1]", "[1, 2]", "[1]", True, id="JSON"),
    pytest.param(DataKind.JSON, "[1, 2", "[1]", "[1, 2]", "[1]", False, id="JSON that is broken"),
    pytest.param(
        DataKind.JSON, '{"a":1,"a":1}', "{}", '{"a":1}', '{"a":1}', False, id="a member twice"
    ),
    pytest.param(DataKind.JSON, *['{"a":1,"a":1}'] * 4, False, id="a member twice in all"),
    pytest.param(DataKind.JSON, "{1}", "{", "{1", "{}", False, id="sides that are broken"),
    pytest.param(DataKind.YAML, yaml("a", "b"), "", yaml("a"), yaml("b"), True, id="YAML"),
    pytest.param(DataKind.YAML, yaml("a", "a"), "", yaml("a"), yaml("a"), False, id="a key twice"),
    pytest.param(
        DataKind.YAML,
        "a:\n  b: 1\nc:\n  b: 1\n",
        "",
        "a:\n  b: 1\n",
        "c:\n  b: 1\n",
        True,
        id="a key in two mappings",
    ),
    pytest.param(
        DataKind.YAML,
        "- b: 1\n  c: 1\n- b: 1\n# d\n\ntext\n",
        "",
        "- b: 1\n  c: 1\n# d\n\n",
        "- b: 1\ntext\n",
        True,
        id="a key in two items",
    ),
    pytest.param(
        DataKind.YAML,
        "- a:\n    b: 1\n  a: 1\n",
        "",
        "- a:\n    b: 1\n",
        "  a: 1\n",
        False,
        id="a key twice in an item",
    ),
    pytest.param(
        DataKind.YAML,
        "a: &x 1\nb: *x\n",
        "a: 1\n",
        "a: &x 1\n",
        "a: 1\nb: *x\n",
        True,
        id="an anchor and its alias",
    ),
    pytest.param(
        DataKind.YAML,
        "b: *x\na: &x 1\n",
        "c: &x 1\n",
        "c: &x 1\nb: *x\n",
        "a: &x 1\n",
        False,
        id="an alias before its anchor",
    ),
    pytest.param(
        DataKind.REQUIREMENTS, "a==1\nb\n", "b\n", "a==1\nb\n", "b\n", True, id="packages"
    ),
    pytest.param(
        DataKind.REQUIREMENTS, "a==1\na>2\n", "", "a==1\n", "a>2\n", False, id="a package twice"
    ),
    pytest.param(
        DataKind.SCRIPT, "if a; then\n b\nfi\n", "", "if a; then\n b\nfi\n", "", True, id="a script"
    ),
    pytest.param(
        DataKind.SCRIPT,
        "if a; then\n b\nif c\nfi\n",
        "",
        "if a; then\n b\nfi\n",
        "if c\nfi\n",
        False,
        id="an open if",
    ),
    pytest.param(
        DataKind.SCRIPT,
        "f() {\n}\nf() {\n}\n",
        "",
        "f() {\n}\n",
        "f() {\n}\n",
        False,
        id="a function twice",
    ),
    pytest.param(DataKind.CMAKE, "a(b)\nc(d)\n", "", "a(b)\n", "c(d)\n", True, id="CMake"),
    pytest.param(DataKind.CMAKE, "a(b\nc(d)\n", "", "a(b)\n", "c(d)\n", False, id="an open call"),
    pytest.param(DataKind.MARKUP, "a\n", "", "a\n", "b\n", False, id="something lost"),
]


@pytest.mark.parametrize(("kind", "merged", "base", "upstream", "fork", "expected"), PROOFS)
def test_a_merged_text_is_proved(
    kind: DataKind, merged: str, base: str, upstream: str, fork: str, expected: bool
) -> None:
    assert is_sound(merged, Texts(base, upstream, fork), kind) is expected
