"""What is wrong with the imports of a candidate."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache

from msgspec import Struct

_COMMENT = re.compile(r"#.*")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+)?import\b\s*(\([^)]*\)|(?:[^\n\\]|\\\n)*)", re.M
)


class FileImports(Struct, frozen=True):
    """The imports in the three texts of a Python file, and those outside its regions."""

    base: str
    ours: str
    theirs: str
    clean: str

    def fault(self, candidate: str) -> str:
        """Return what is wrong with the imports of a candidate, or nothing if they are right.

        It imports a name once more than either side, one that a side does not import any more, one
        from a module that no side imports from, or from a place that the other side left.
        """
        mine = Counter(name for _, name in imported(candidate))
        if mine:
            here, ours, theirs = (
                Counter(name for _, name in imported(text))
                for text in (self.clean, self.ours, self.theirs)
            )
            if any(here[n] + count > max(1, ours[n], theirs[n]) for n, count in mine.items()):
                return "imported twice"
            old, *sides = ({name for _, name in imported(text)} for text in self._texts())
            if any(mine.keys() & (old - side) for side in sides):
                return "removed"
            new = set(imported(candidate))
            known = {module for text in self._texts() for module, _ in imported(text)}
            if not {module for module, _ in new} <= known:
                return "no module"
            if {_place(*one) for one in new} & self._left_behind():
                return "moved"
        return ""

    def _left_behind(self) -> set[str]:
        """Return what one side imports newly from where the other side took its imports from."""
        base, *sides = (set(imported(text)) for text in self._texts())
        found: set[str] = set()
        for one, other in ((sides[0], sides[1]), (sides[1], sides[0])):
            names = {name for _, name in one}
            kept = {part for each in one for part in _parts(_place(*each))}
            left = {
                part
                for module, name in base - one
                if name in names
                for part in _parts(module)
                if part not in kept
            }
            new = {_place(*each) for each in other - base}
            found |= {place for place in new if not left.isdisjoint(_parts(place))}
            if any(_is_below(module, name, one) for module, name in base - one):
                known = {next(_parts(module)) for module, _ in one} | sys.stdlib_module_names
                found |= {place for place in new if next(_parts(place)) not in known}
        return found

    def _texts(self) -> tuple[str, str, str]:
        return self.base, self.ours, self.theirs


@lru_cache(maxsize=64)
def imported(text: str) -> tuple[tuple[str, str], ...]:
    """Return the module of each import of a text, and the name that is bound."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[tuple[str, str]]:
    for found in _IMPORT.finditer(text):
        names = _COMMENT.sub("", found[2]).replace("\\", " ").strip("() \t\n")
        for words in (item.split() for item in names.split(",")):
            if words:
                yield found[1] or words[0], words[-1]


def _is_below(module: str, name: str, side: Collection[tuple[str, str]]) -> bool:
    """Say whether a side has a name from its module within a package: `a` is `tests.a` now."""
    return any(name == other and there.endswith(f".{module}") for there, other in side)


def _place(module: str, name: str) -> str:
    """Return the full name of what is imported."""
    return module if module == name else f"{module}{'' if module.endswith('.') else '.'}{name}"


def _parts(module: str) -> Iterator[str]:
    """Yield the packages of a module, the outermost first, and itself."""
    name = module.lstrip(".")
    level = module[: len(module) - len(name)]
    if level:
        yield level
    words = name.split(".")
    yield from (level + ".".join(words[: n + 1]) for n in range(len(words)) if name)
