"""Find faults in the imports of a candidate resolution."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

_COMMENT = re.compile(r"#.*")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+)?import\b\s*(\([^)]*\)|(?:[^\n\\]|\\\n)*)", re.M
)

_Imports = set[tuple[str, str]]
_PART = re.compile(r"^\.+|[^.]+")  # the dots of a relative import, or one name


class FileImports(Struct, frozen=True):
    """The sides of a Python file in conflict. `clean` is the text outside the conflict regions."""

    base: str
    ours: str
    theirs: str
    clean: str

    def fault(self, candidate: str) -> str:
        """Return the fault in a candidate's imports, or ""."""
        base, *sides = (set(imported(text)) for text in (self.base, self.ours, self.theirs))
        mine, here, *counts = (
            Counter(name for _, name in imported(text))
            for text in (candidate, self.clean, self.ours, self.theirs)
        )
        if any(here[n] + count > max(1, *(c[n] for c in counts)) for n, count in mine.items()):
            # It imports a name more often than either side does.
            return "imported twice"
        if any(name in mine and not (counts[0][name] and counts[1][name]) for _, name in base):
            return "removed"
        # wagtail/wagtail 0bcf6a110d has the import of a module that upstream moved in clean lines
        new = {*imported(candidate), *imported(self.clean)} - base
        if any(_is_invented(*one, base, sides) for one in new):
            return "moved"
        if any(_is_moved_back(*one, sides) for one in base.intersection(imported(candidate))):
            return "moved"
        is_moved = any(_is_from_a_replaced_module(new, base, side) for side in sides)
        return "moved" if is_moved else ""


def _is_invented(module: str, name: str, base: _Imports, sides: Sequence[_Imports]) -> bool:
    """Return whether a candidate has an import that no side has and that follows from no move.

    It follows from a move if one side imports a name from a new module instead of the old one, and
    the other side adds this name to its imports from the old module.
    """
    if any((module, name) in side for side in sides):
        return False
    # A move counts if only the other side imports `name` from the old module: upstream replaces
    # `is_tpu` from `vllm.utils` by `current_platform` from `vllm.platforms`, and the patch adds
    # `is_hpu` to the old import (HabanaAI/vllm-fork f3283497a3). It does not if both sides import
    # `utils` from the old package, and upstream moves other names (mitmproxy 2bc69a05f2). Nor does
    # it if the new module is of the standard library: `OrderedDict` of `kivy.utils` became that of
    # `collections` (kivy bea9afa389).
    return module.partition(".")[0] in sys.stdlib_module_names or not any(
        (origin, moved) in base
        for side, other in (sides, sides[::-1])
        for origin, imported_name in side - other
        if imported_name == name
        for new, moved in other
        if new == module
    )


def _is_moved_back(module: str, name: str, sides: Sequence[_Imports]) -> bool:
    """Return whether a side still imports a name, but no longer from this module."""
    # One side of gnuradio makes an import relative, the other puts it into a `try` (254fe5e894).
    return any(
        (module, name) not in side and any(name == other for _, other in side) for side in sides
    )


def _is_from_a_replaced_module(new: _Imports, base: _Imports, side: _Imports) -> bool:
    """Return whether a new import is from a module that a side no longer imports names from."""
    if _replaced_modules(base, side) & {place for one in new for place in _places(*one)}:
        return True
    # If a side now imports `tests.a` instead of `a`, `b` may have become `tests.b` as well.
    is_below = any(
        name == other and there.endswith(f".{module}")
        for module, name in base - side
        for there, other in side
    )
    known = {next(_places(module)) for module, _ in side} | sys.stdlib_module_names
    return is_below and any(next(_places(module)) not in known for module, _ in new)


def _replaced_modules(base: _Imports, side: _Imports) -> set[str]:
    """Return the modules and packages whose names a side now imports from other modules."""
    names = {name for _, name in side}
    moved = {place for module, name in base - side if name in names for place in _places(module)}
    return moved - {place for module, _ in side for place in _places(module)}


def _places(module: str, *name: str) -> Iterator[str]:
    """Yield the packages around a module (outermost first), the module, and a name in it."""
    words = [*_PART.findall(module), *name]
    yield from ("/".join(words[: n + 1]) for n in range(len(words)))


@lru_cache(maxsize=64)
def imported(text: str) -> tuple[tuple[str, str], ...]:
    """Return a pair for each imported name: its module, and the name that the import binds."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[tuple[str, str]]:
    for found in _IMPORT.finditer(text):
        names = _COMMENT.sub("", found[2]).replace("\\", " ").strip("() \t\n")
        for words in (item.split() for item in names.split(",")):
            if words:
                yield found[1] or words[0], words[-1]
