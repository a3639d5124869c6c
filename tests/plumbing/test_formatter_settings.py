"""Settings of formatters: what is taken from a file, and what is not."""

from typing import Any

from patchmgr.plumbing.formatters import (
    black_settings,
    clang_settings,
    hooked_tools,
    ini_table,
    read_table,
    ruff_settings,
    table_at,
    yapf_settings,
)
from tests.tables import table


@table(
    ("table", "taken"),
    {
        "a-number": ({"line-length": 99}, {"line-length": 99, "format": {}}),
        "format-alone": (
            {"format": {"quote-style": "single", "exclude": ["x"]}, "lint": {"select": ["I"]}},
            {"format": {"quote-style": "single"}},
        ),
        "nothing-that-leads-elsewhere": (
            {"extend": "/etc/passwd", "cache-dir": "/", "required-version": "1", "fix": True},
            {"format": {}},
        ),
        "absurd-values": ({"line-length": {"a": 1}, "preview": 1.5}, {"format": {}}),
    },
)
def test_ruff(table: dict[str, Any], taken: dict[str, Any]) -> None:
    project = {"project": {"requires-python": ">=3.9", "dependencies": ["x"]}}
    made = read_table(ruff_settings(table, project))
    assert made["tool"]["ruff"] == taken
    assert made["project"] == {"name": "formatted", "requires-python": ">=3.9"}
    assert "project" not in read_table(ruff_settings(table, {"project": {"requires-python": 3}}))


def test_black() -> None:
    table = {"line-length": 79, "target-version": ["py310"], "include": "x", "force-exclude": "y"}
    made = read_table(black_settings(table, {}))
    assert made == {"tool": {"black": {"line-length": 79, "target-version": ["py310"]}}}


@table(
    ("table", "lines"),
    [
        ({}, ["based_on_style = pep8"]),
        ({"based_on_style": "Google"}, ["based_on_style = google"]),
        ({"based_on_style": "/etc/passwd"}, ["based_on_style = pep8"]),
        ({"column_limit": 80}, ["based_on_style = pep8", "column_limit = 80"]),
        ({"a": [1, 2]}, ["based_on_style = pep8", "a = 1, 2"]),
        ({"a": "x\n[other]", "B c": 1, "d": "é", "e": "x" * 300}, ["based_on_style = pep8"]),
    ],
)
def test_yapf(table: dict[str, Any], lines: list[str]) -> None:
    assert yapf_settings(table).decode().splitlines() == ["[style]", *lines]


@table(
    ("content", "table"),
    [
        (b"[yapf]\ncolumn_limit = 80\n", {"column_limit": "80"}),
        (b"[other]\nx = 1\n", None),
        (b"column_limit = 80\n", None),
        (b"\xff\xfe", None),
        (b"[yapf]\nx = %(y)s\n", {"x": "%(y)s"}),
    ],
)
def test_sections_of_ini_files(content: bytes, table: dict[str, str] | None) -> None:
    assert ini_table(content, "yapf") == table


@table(
    ("content", "kept"),
    {
        "plain": ("BasedOnStyle: Google\nColumnLimit: 80\n",
            "BasedOnStyle: Google\n"
                     "ColumnLimit: 80\n"),
        "comments": ("# why\n\nBasedOnStyle: 'LLVM' # why\n", "BasedOnStyle: 'LLVM' # why\n"),
        "documents": ("---\nLanguage: Cpp\n...\n", "---\nLanguage: Cpp\n...\n"),
        "nested": ("BraceWrapping:\n  AfterClass: true\n", "BraceWrapping:\n  AfterClass: true\n"),
        "order-of-includes": (
            "IncludeCategories:\n  - Regex: '^<'\n    Priority: 4\nUseTab: Never\n",
            "UseTab: Never\n"),
        "sorting": ("SortIncludes: true\n", ""),
        "inherits": ("BasedOnStyle: InheritParentConfig\n", None),
        "inherits-from": ("BasedOnStyle: InheritParentConfig=/etc\n", None),
        "a-file": ("BasedOnStyle: file:/etc/passwd\n", None),
        "an-escape": ('"Based\\u004fnStyle": file\n', None),
        "a-flow": ("{BasedOnStyle: InheritParentConfig}\n", None),
        "an-alias": ("<<: *x\n", None),
        "another-style": ("RawStringFormats:\n  - BasedOnStyle: file\n", None),
        "binary": ("\0\1\2", None),
        "another-file": ("root:x:0:0\n", None),
    },
)  # fmt: skip
def test_clang_format(content: str, kept: str | None) -> None:
    made = clang_settings(content.encode())
    assert made == (None if kept is None else kept.encode())


HOOKS = """\
exclude: 'x'
repos:
# - repo: none
#   hooks:
#   - id: black
- repo: https://github.com/google/yapf
  rev: v0.43.0
  hooks:
  - id: yapf
    args: [--in-place, "--style={based_on_style: google, column_limit: 90}"]
- repo: https://github.com/astral-sh/ruff-pre-commit
  hooks:
  - id: ruff
    args: [--line-length, 70]
  - id: 'ruff-format'
    args:
      - --line-length=120
  - id: "clang-format"
"""


@table(
    ("text", "tools"),
    [
        (HOOKS, {"yapf": {"column_limit": 90, "based_on_style": "google"},
                 "ruff": {"line-length": 120}, "clang-format": {}}),
        ("- id: black\n  args: [-l, 99, -S]\n",
         {"black": {"line-length": 99, "skip-string-normalization": True}}),
        ("- id: black\n  args: [--line-length=99999999999]\n", {"black": {}}),
        ("- id: ruff\n- id: isort\n", {}),
        ("\0", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_hooks_tell_which_formatters_are_in_force(text: str, tools: dict[str, Any]) -> None:
    assert hooked_tools(text.encode()) == tools
    assert list(hooked_tools(text.encode())) == list(tools)


@table("content", [b"\xff", b"a = ", b"[" * 5000, b"a = " + b"[" * 5000, b"root:x:0:0\n"])
def test_what_is_no_toml_is_an_empty_table(content: bytes) -> None:
    assert read_table(content) == {}


def test_a_table_in_a_table() -> None:
    table = {"tool": {"ruff": {"format": {}}, "black": 3}}
    assert table_at(table, "tool", "ruff") == {"format": {}}
    assert table_at(table, "tool", "black") is None
    assert table_at(table, "other", "black") is None
