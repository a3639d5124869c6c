"""Find the formatters that upstream uses, and their settings, in the settings files of a tree.

Settings are reduced to known keys, so that a project cannot make a formatter run a program or
access other files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import tomli_w
from msgspec import Struct

from patchmgr.engines.languages.file_types import CXX, PYTHON
from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.formats.paths import folders_around
from patchmgr.model.ports import Blobs, Style, Tree
from patchmgr.model.snapshot import FILE_MODES
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.plain_files import read_plain

LARGEST_SETTINGS = 1 << 18  # bytes

Read = Callable[[str], "bytes | None"]

_PLACES = {
    "black": (("pyproject.toml", "black"),),
    "yapf": ((".style.yapf", "style"), ("setup.cfg", "yapf"), ("pyproject.toml", "yapf")),
}
_MOST_EXTENDED = 4  # settings files that extend each other


class ChosenFormatter(Struct, frozen=True):
    """A formatter and the content of its settings file."""

    tool: str
    settings: bytes
    is_sure: bool = True  # upstream definitely uses the formatter


class TreeFormatter:
    """The formatters that the settings files of one tree call for."""

    def __init__(self, read: Read, tools: Toolbox) -> None:
        self._read = read
        self._tools = tools
        self._known: dict[str, bytes | None] = {}

    def styles(self, path: str) -> tuple[Style, ...]:
        """Return the installed formatters for a file, each as a function from text to text."""
        found: list[Style] = []
        for chosen in self.chosen(path):
            if self._tools.find(chosen.tool) is not None:
                found.append(partial(self._tools.run, chosen.tool, chosen.settings, path))
            elif chosen.is_sure:
                self._tools.miss(chosen.tool, path)
        return tuple(found)

    def _file(self, path: str) -> bytes | None:
        if path not in self._known:
            content = self._read(path)
            is_small = content is not None and len(content) <= LARGEST_SETTINGS
            self._known[path] = content if is_small else None
        return self._known[path]

    def chosen(self, path: str) -> tuple[ChosenFormatter, ...]:
        """Return the formatters for the file at a path, with their settings, likeliest first."""
        hooks = hooked_tools(self._file(".pre-commit-config.yaml") or b"")
        if path.endswith(CXX):
            return tuple(self._clang(path))
        if not path.endswith(PYTHON):
            return ()
        found = [*self._ruff(path, hooks), *self._black_or_yapf(path, hooks)]
        names = list(hooks)
        order = {tool: place for place, tool in enumerate(names)}
        # Formatters that run before each commit come first, those that may only check style last.
        return tuple(sorted(found, key=lambda c: (order.get(c.tool, len(names)), not c.is_sure)))

    def _clang(self, path: str) -> Iterator[ChosenFormatter]:
        for folder in folders_around(path):
            content = self._file(f"{folder}.clang-format")
            if content is None:
                content = self._file(f"{folder}_clang-format")
            if content is not None:
                settings = clang_settings(content)
                if settings is not None:
                    yield ChosenFormatter("clang-format", settings)
                return

    def _ruff(self, path: str, hooks: Collection[str]) -> Iterator[ChosenFormatter]:
        project = read_table(self._file("pyproject.toml") or b"")
        for folder in folders_around(path):
            for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
                table = self._ruff_table(folder + name)
                if table is not None:
                    is_sure = "ruff" in hooks or table_at(table, "format") is not None
                    yield ChosenFormatter("ruff", ruff_settings(table, project), is_sure)
                    return
        if "ruff" in hooks:
            yield ChosenFormatter("ruff", ruff_settings({}, project))

    def _ruff_table(self, path: str, depth: int = 0) -> Table | None:
        content = self._file(path)
        if content is None or depth == _MOST_EXTENDED:
            return None
        table: Table | None = read_table(content)
        if path.endswith("pyproject.toml"):
            table = table_at(table or {}, "tool", "ruff")
        other = _extended(path, (table or {}).get("extend"))
        below = None if other is None else self._ruff_table(other, depth + 1)
        if table is None or below is None:
            return table
        style = {**(table_at(below, "format") or {}), **(table_at(table, "format") or {})}
        return {**below, **table, **({"format": style} if style else {})}

    def _black_or_yapf(self, path: str, hooks: Mapping[str, Table]) -> Iterator[ChosenFormatter]:
        project = read_table(self._file("pyproject.toml") or b"")
        for tool, places in _PLACES.items():
            found = self._section(path, places)
            if found is not None or tool in hooks:
                table = {**(found or {}), **hooks.get(tool, {})}
                is_black = tool == "black"
                settings = black_settings(table, project) if is_black else yapf_settings(table)
                yield ChosenFormatter(tool, settings)

    def _section(self, path: str, places: tuple[tuple[str, str], ...]) -> Table | None:
        """Return a formatter's section from the nearest settings file that contains it, or None."""
        for folder in folders_around(path):
            for name, section in places:
                content = self._file(folder + name)
                if content is None:
                    continue
                if name.endswith(".toml"):
                    found = table_at(read_table(content), "tool", section)
                else:
                    found = ini_table(content, section)
                if found is not None:
                    return found
        return None


def _extended(path: str, other: Any) -> str | None:
    """Return the settings file that another one extends, or None if it is outside the tree."""
    if not isinstance(other, str) or other.startswith(("/", "~")) or "$" in other:
        return None
    parts = path.split("/")[:-1]
    for part in other.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or None


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
    """Return the `pyproject.toml` for ruff, given `[tool.ruff]` and the project's file."""
    style = _scalars(table_at(table, "format") or {}, _RUFF_FORMAT)
    return _pyproject("ruff", {**_scalars(table, _RUFF), "format": style}, project)


def black_settings(table: Table, project: Table) -> bytes:
    """Return the `pyproject.toml` for black, given `[tool.black]` and the project's file."""
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
    import configparser  # few projects have such a file

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


_KEY = late_pattern(r"([A-Z]\w*)[ \t]*:[ \t]*([^\n]*)")
_NESTED = late_pattern(r"[ \t]+\S[^\n]*|-[ \t][^\n]*")


def clang_settings(content: bytes) -> bytes | None:
    """Return a `.clang-format` without the keys that sort includes or are for other languages.

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


_HOOK = late_pattern(r"\s*-\s+(?:id|repo):\s*[\"']?([\w.:/@-]+)")
_LENGTH = late_pattern(r"(?:--line-length|(?<![\w-])-l|column_limit)[\s\"'=:,]+(\d+)")
_STYLE = late_pattern(r"(?:--style[\s\"'=,]+|based_on_style[\s:=]+)(\w+)")
_PLAIN_QUOTES = late_pattern(r"--skip-string-normalization|(?<![\w-])-S(?![\w-])")


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


def tree_reader(tree: Tree, blobs: Blobs, bring: Callable[[set[str]], None]) -> Read:
    """Return a function that reads a file of the tree, and returns None if it is unreadable."""

    def read(path: str) -> bytes | None:
        entry = tree.entry(path)
        if entry is None or entry.mode not in FILE_MODES:
            return None
        try:
            bring({entry.blob})
            return blobs.read(entry.blob)
        except PatchmgrError:
            return None

    return read


def work_tree_reader(start: Path) -> Read | None:
    """Return a function that reads files in the work tree around a folder, or None without one.

    The function returns None for a file that cannot be read.
    """
    root = next((p for p in (start, *start.parents) if (p / ".git").exists()), None)
    if root is None:
        return None

    def read(path: str) -> bytes | None:
        if not {"", ".", ".."}.isdisjoint(path.split("/")):
            return None
        try:
            return read_plain(root, path, limit=LARGEST_SETTINGS)
        except (PatchmgrError, OSError, ValueError):
            return None

    return read
