"""What is wrong with the imports of a candidate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

_COMMENT = re.compile(r"#.*")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+)?import\b\s*(\([^)]*\)|(?:[^\n\\]|\\\n)*)", re.M
)


class FileImports(Struct, frozen=True):
    """What the three texts of a file of Python import, and what is so outside of its regions."""

    base: str
    ours: str
    theirs: str
    clean: str

    def fault(self, candidate: str) -> str:
        """Say what is wrong with the imports of a candidate, nothing where they are as they must.

        It imports a name once more than either side, or from a place that the other side left.
        """
        mine = Counter(name for _, name in imported(candidate))
        if mine:
            here, ours, theirs = (
                Counter(name for _, name in imported(text))
                for text in (self.clean, self.ours, self.theirs)
            )
            if any(here[n] + count > max(1, ours[n], theirs[n]) for n, count in mine.items()):
                return "imported twice"
            places = {_place(*one) for one in imported(candidate)}
            if places & self._left_behind():
                return "moved"
        return ""

    def _left_behind(self) -> set[str]:
        """Return what one side imports newly from where the other side took its imports from."""
        base, *sides = (set(imported(text)) for text in (self.base, self.ours, self.theirs))
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
            new = (_place(*each) for each in other - base)
            found |= {place for place in new if not left.isdisjoint(_parts(place))}
        return found


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
