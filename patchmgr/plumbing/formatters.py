"""The formatters chosen by the settings files of a tree, ready to run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from patchmgr.errors import PatchmgrError
from patchmgr.model.ports import Blobs, Style, Tree
from patchmgr.model.snapshot import FILE_MODES
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.plain_files import read_plain

if TYPE_CHECKING:
    from patchmgr.plumbing.formatter_choice import ChosenFormatter

LARGEST_SETTINGS = 1 << 18  # bytes

Read = Callable[[str], "bytes | None"]


class TreeFormatter:
    """The formatters (`Formatter`) chosen by the settings files of one tree.

    Each settings file is read once.
    """

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

    def chosen(self, path: str) -> tuple[ChosenFormatter, ...]:
        """Return the formatters for the file at a path with their settings, the likeliest first."""
        from patchmgr.plumbing.formatter_choice import SettingsFiles

        return SettingsFiles(self._file).chosen(path)

    def _file(self, path: str) -> bytes | None:
        if path not in self._known:
            content = self._read(path)
            is_small = content is not None and len(content) <= LARGEST_SETTINGS
            self._known[path] = content if is_small else None
        return self._known[path]


def tree_reader(tree: Tree, blobs: Blobs, bring: Callable[[set[str]], None]) -> Read:
    """Return a function that reads regular files of the tree.

    The function returns None if there is no such file, or if the store lacks its content.
    """

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
    """Return a function that reads regular files in the git work tree around the folder `start`.

    The function returns None for a file that cannot be read. If there is no work tree, None is
    returned instead of a function.
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
