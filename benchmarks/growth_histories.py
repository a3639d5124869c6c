"""Histories that grow in one measure at a time: patches, commits, lines, touched files, files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from benchmarks.constructed import Commit, Constructed, Module

LINES = 5  # in a block of a module
TOUCHING = 5  # one upstream commit out of so many touches a file that has patches


@dataclass(frozen=True, slots=True)
class Measures:
    """How many there are of each; `busy` files of `lines` lines take the patches in turn.

    Each patch, and each upstream commit that touches such files, changes `together` of them.
    """

    patches: int = 10
    commits: int = 50
    lines: int = 200
    files: int = 300
    busy: int = 10
    together: int = 1

    def history(self) -> Constructed:
        """Return the history; patches and upstream change the two halves of a file."""
        theirs = self._modules()
        ours = {path: theirs[path].copy() for path in list(theirs)[: self.busy]}
        base = ((path, module.text()) for path, module in theirs.items())
        return Constructed(base, self._fork(ours), self._upstream(theirs))

    def _modules(self) -> dict[str, Module]:
        blocks = self.lines // LINES
        return {
            f"pkg/d{n // 100}/part_{n}.py": Module(f"part_{n}", blocks if n < self.busy else 4)
            for n in range(self.files)
        }

    def _fork(self, modules: dict[str, Module]) -> Iterator[Commit]:
        half, turn = self.lines // LINES // 2, _in_turn(list(modules))
        for number in range(self.patches):
            block = number * self.together // self.busy % half
            yield _edit(modules, list(islice(turn, self.together)), block, f"ours_{number}")

    def _upstream(self, modules: dict[str, Module]) -> Iterator[Commit]:
        paths = list(modules)
        busy, quiet = _in_turn(paths[: self.busy]), _in_turn(paths[self.busy :])
        half = self.lines // LINES // 2
        for number in range(self.commits):
            word = f"theirs_{number}"
            if number % TOUCHING:
                yield _edit(modules, [next(quiet)], number % 4, word)
            else:
                turns = number // TOUCHING * self.together // self.busy
                block = half + 2 + turns % (half - 2)
                yield _edit(modules, list(islice(busy, self.together)), block, word)


def _in_turn(paths: list[str]) -> Iterator[str]:
    while True:
        yield from paths


def _edit(modules: dict[str, Module], paths: list[str], block: int, word: str) -> Commit:
    for path in paths:
        modules[path].edit(block, word)
    return Commit(f"{paths[0]}: {word}", [(path, modules[path].text()) for path in paths])
