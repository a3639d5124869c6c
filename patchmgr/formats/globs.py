"""Globs of CODEOWNERS and labelers, matched in time that no glob can blow up.

A glob is matched part by part, between slashes. Within a part `*` and `?` are Python's `fnmatch`,
which never tries a star twice; `**` as a part stands for any number of parts.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from msgspec import Struct

_ANY = "**"


class _Glob(Struct, frozen=True):
    """The parts of a glob: an expression each, None for any number of parts."""

    parts: tuple[re.Pattern[str] | None, ...]
    is_folder: bool


class Globs:
    """Several globs; a path matches where one of them is the path or a folder that it is in."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._globs = tuple(map(_parsed, globs))

    def match(self, path: str) -> bool:
        """Say whether one of the globs matches a path."""
        names = path.split("/")
        return any(_matches(glob, names) for glob in self._globs)


def _parsed(glob: str) -> _Glob:
    text = glob.strip().lstrip("/")
    if text.endswith(f"/{_ANY}") and text.strip("*/"):
        text = text[: -len(_ANY)]  # all that is in the folder
    parts = text.rstrip("/").split("/")
    return _Glob(tuple(None if p == _ANY else _expression(p) for p in parts), text.endswith("/"))


def _expression(part: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(part.replace("[", "[[]")))


def _matches(glob: _Glob, names: Sequence[str]) -> bool:
    """Follow all ways through the parts at once: `reached` are numbers of parts that matched."""
    end = len(glob.parts)
    reached = _through(glob, {0})
    for at, name in enumerate(names):
        following: set[int] = set()
        for number in reached:
            part = glob.parts[number] if number < end else None
            if part is None:
                following.add(number)  # any number of parts, or what is in a folder that matched
            elif part.match(name):
                following.add(number + 1)
        reached = _through(glob, following)
        if end in reached and (not glob.is_folder or at + 1 < len(names)):
            return True
        if not reached:
            return False
    return False


def _through(glob: _Glob, reached: set[int]) -> set[int]:
    """Add what is reached by letting `**` stand for nothing."""
    for number in sorted(reached):
        while number < len(glob.parts) and glob.parts[number] is None:
            number += 1
            reached.add(number)
    return reached
