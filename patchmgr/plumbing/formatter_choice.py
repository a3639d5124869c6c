"""Determine from the settings files of a tree which formatters upstream uses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

from patchmgr.engines.languages.file_types import CXX, PYTHON
from patchmgr.formats.formatter_settings import (
    Table,
    black_settings,
    clang_settings,
    hooked_tools,
    ini_table,
    read_table,
    ruff_settings,
    table_at,
    yapf_settings,
)
from patchmgr.formats.paths import folders_around

_PLACES = {
    "black": (("pyproject.toml", "black"),),
    "yapf": ((".style.yapf", "style"), ("setup.cfg", "yapf"), ("pyproject.toml", "yapf")),
}
_MOST_EXTENDED = 4  # settings files that extend each other


class ChosenFormatter(Struct, frozen=True):
    """A formatter and the content of its settings file.

    `is_sure` is true if it is certain that upstream uses the formatter.
    """

    tool: str
    settings: bytes
    is_sure: bool = True


class SettingsFiles(Struct, frozen=True):
    """The settings files of a tree; `read` returns the content of a file, or None if unreadable."""

    read: Callable[[str], bytes | None]

    def chosen(self, path: str) -> tuple[ChosenFormatter, ...]:
        """Return the formatters for the file at a path, the likeliest first."""
        hooks = hooked_tools(self.read(".pre-commit-config.yaml") or b"")
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
            content = self.read(f"{folder}.clang-format")
            if content is None:
                content = self.read(f"{folder}_clang-format")
            if content is not None:
                settings = clang_settings(content)
                if settings is not None:
                    yield ChosenFormatter("clang-format", settings)
                return

    def _ruff(self, path: str, hooks: Collection[str]) -> Iterator[ChosenFormatter]:
        project = read_table(self.read("pyproject.toml") or b"")
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
        content = self.read(path)
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
        project = read_table(self.read("pyproject.toml") or b"")
        for tool, places in _PLACES.items():
            found = self._section(path, places)
            if found is not None or tool in hooks:
                table = {**(found or {}), **hooks.get(tool, {})}
                is_black = tool == "black"
                settings = black_settings(table, project) if is_black else yapf_settings(table)
                yield ChosenFormatter(tool, settings)

    def _section(self, path: str, places: tuple[tuple[str, str], ...]) -> Table | None:
        """Return a formatter's section from the nearest settings file that contains it, or None.

        In TOML files, the section is below `tool`.
        """
        for folder in folders_around(path):
            for name, section in places:
                content = self.read(folder + name)
                if content is None:
                    continue
                is_toml = name.endswith(".toml")
                found = (
                    table_at(read_table(content), "tool", section)
                    if is_toml
                    else ini_table(content, section)
                )
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
