"""Settings of source formatters, read from a project and reduced to harmless keys.

Only known keys are passed to a formatter, so that a project cannot make it run a program or access
other files.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

from patchmgr.formats import toml_text

Table = Mapping[str, Any]

_RUFF = ("line-length", "indent-width", "target-version", "preview")
_RUFF_FORMAT = (
    "quote-style", "indent-style", "skip-magic-trailing-comma", "line-ending",
    "docstring-code-format", "docstring-code-line-length", "preview",
)  # fmt: skip
_BLACK = (
    "line-length", "target-version", "skip-string-normalization", "skip-magic-trailing-comma",
    "preview", "unstable", "enable-unstable-feature",
)  # fmt: skip
_YAPF_STYLES = ("pep8", "google", "yapf", "facebook")
_CLANG_STYLES = ("LLVM", "Google", "Chromium", "Mozilla", "WebKit", "Microsoft", "GNU")
# Keys to leave out: they would reorder includes, or contain styles of other languages.
_CLANG_UNUSED = ("IncludeCategories", "IncludeIsMainRegex", "RawStringFormats", "SortIncludes")
_HOOKS = {
    "ruff-format": "ruff",
    "black": "black",
    "black-jupyter": "black",
    "yapf": "yapf",
    "clang-format": "clang-format",
}


def read_table(content: bytes) -> Table:
    """Parse TOML; return an empty table if `content` is not TOML."""
    try:
        return toml_text.loads(content.decode())
    except (ValueError, RecursionError):
        return {}


def table_at(table: Table, *names: str) -> Table | None:
    """Return the table at these nested keys, or None if there is none."""
    found: Any = table
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def ruff_settings(table: Table, project: Table) -> bytes:
    """Return a `pyproject.toml` for `ruff format`.

    `table` is `[tool.ruff]`; `project` is a whole `pyproject.toml`, read for `requires-python`.
    """
    style = _scalars(table_at(table, "format") or {}, _RUFF_FORMAT)
    return _pyproject("ruff", {**_scalars(table, _RUFF), "format": style}, project)


def black_settings(table: Table, project: Table) -> bytes:
    """Return a `pyproject.toml` for black.

    `table` is `[tool.black]`; `project` is a whole `pyproject.toml`, read for `requires-python`.
    """
    return _pyproject("black", _scalars(table, _BLACK), project)


def _pyproject(tool: str, table: Table, project: Table) -> bytes:
    document: dict[str, Any] = {"tool": {tool: table}}
    python = (table_at(project, "project") or {}).get("requires-python")
    if isinstance(python, str):
        document["project"] = {"name": "formatted", "requires-python": python}
    return tomli_w.dumps(document).encode("utf-8", "replace")


def _scalars(table: Table, names: tuple[str, ...]) -> dict[str, Any]:
    found = {name: table[name] for name in names if name in table}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, (str, bool, int))
        or (isinstance(value, list) and all(isinstance(item, str) for item in value))
    }


def ini_table(content: bytes, section: str) -> Table | None:
    """Return a section of an ini file, or None if it is missing or the file is malformed."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(content.decode())
        return dict(parser[section]) if parser.has_section(section) else None
    except (ValueError, configparser.Error):
        return None


def yapf_settings(table: Table) -> bytes:
    """Return a style file for yapf with the settings of a `[yapf]` or `[style]` section."""
    base = str(table.get("based_on_style", "")).lower()
    base = base if base in _YAPF_STYLES else _YAPF_STYLES[0]
    lines = ["[style]", f"based_on_style = {base}"]
    for name, value in table.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        is_knob = re.fullmatch(r"[a-z][a-z0-9_]*", name) and name != "based_on_style"
        if is_knob and shown.isascii() and shown.isprintable() and len(shown) < 200:
            lines.append(f"{name} = {shown}")
    return "".join(f"{line}\n" for line in lines).encode()


_KEY = re.compile(r"([A-Z]\w*)[ \t]*:[ \t]*([^\n]*)")
_NESTED = re.compile(r"[ \t]+\S[^\n]*|-[ \t][^\n]*")


def clang_settings(content: bytes) -> bytes | None:
    """Return a `.clang-format` without the keys in `_CLANG_UNUSED`.

    Returns None if the base style is not built in, or if the file does not have one key per line
    with its values indented below the key.
    """
    lines: list[str] = []
    is_used = True
    for line in content.decode("utf-8", "replace").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key = _KEY.fullmatch(line)
        if key is not None:
            is_used = key[1] not in _CLANG_UNUSED
            word = key[2].partition(" #")[0].strip().strip("\"'")
            if key[1] == "BasedOnStyle" and word not in _CLANG_STYLES:
                return None
        elif re.fullmatch(r"(---|\.\.\.)\s*", line):
            is_used = True
        elif not _NESTED.fullmatch(line) or "BasedOnStyle" in line:
            return None
        if is_used:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines).encode()


_HOOK = re.compile(r"\s*-\s+(?:id|repo):\s*[\"']?([\w.:/@-]+)")
_LENGTH = re.compile(r"(?:--line-length|(?<![\w-])-l|column_limit)[\s\"'=:,]+(\d+)")
_STYLE = re.compile(r"(?:--style[\s\"'=,]+|based_on_style[\s:=]+)(\w+)")
_PLAIN_QUOTES = re.compile(r"--skip-string-normalization|(?<![\w-])-S(?![\w-])")


def hooked_tools(content: bytes) -> dict[str, Table]:
    """Map each formatter in a `.pre-commit-config.yaml` to the settings in its arguments."""
    found: dict[str, Table] = {}
    for hook, text in _hooks(content.decode("utf-8", "replace")):
        tool = _HOOKS.get(hook)
        if tool is not None:
            found.setdefault(tool, dict(_arguments(tool, text)))
    return found


def _hooks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each hook and repository, with the lines that follow it."""
    name, about = "", ""
    for line in text.splitlines():
        begins = _HOOK.match(line)
        if begins is not None:
            yield name, about
            name, about = begins[1], ""
        elif not line.lstrip().startswith("#"):
            about += line + "\n"
    yield name, about


def _arguments(tool: str, text: str) -> Iterator[tuple[str, Any]]:
    length, style = _LENGTH.search(text), _STYLE.search(text)
    if length is not None and len(length[1]) < 5:
        yield "column_limit" if tool == "yapf" else "line-length", int(length[1])
    if tool == "yapf" and style is not None:
        yield "based_on_style", style[1]
    if tool == "black" and _PLAIN_QUOTES.search(text):
        yield "skip-string-normalization", True
