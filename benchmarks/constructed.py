"""Histories made of nothing, as large as is asked for, as a stream for git fast-import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clones import output

FILES = 600
BLOCKS = 24  # of five lines each, in a file of the long walk


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit says, and the files that it writes."""

    subject: str
    files: Iterable[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Constructed:
    """A base, the fork's commits on it, and upstream's; all are made when they are read."""

    base: Iterable[tuple[str, bytes]]
    fork: Iterable[Commit]
    upstream: Iterable[Commit]

    def stream(self) -> Iterator[bytes]:
        """Yield the whole, once, for git fast-import: branches `base`, `fork` and `main`."""
        yield from _commit("base", "", Commit("base", self.base))
        for branch, commits in (("fork", self.fork), ("main", self.upstream)):
            for number, commit in enumerate(commits):
                yield from _commit(branch, "" if number else "base", commit)


def write_history(history: Constructed, root: Path, environment: Mapping[str, str]) -> None:
    """Make a bare repository of a history."""
    place = root.parent
    output(
        ["git", "init", "--quiet", "--bare", "--initial-branch=main", str(root)], place, environment
    )
    stream = place / "stream"
    with stream.open("wb") as out:
        out.writelines(history.stream())
    output(["sh", "-c", f"git --git-dir={root} fast-import --quiet < {stream}"], place, environment)
    stream.unlink()


def _commit(branch: str, parent: str, commit: Commit) -> Iterator[bytes]:
    who = b"A. Author <author@localhost> 1700000000 +0000"
    yield b"commit refs/heads/%s\nauthor %s\ncommitter %s\n" % (branch.encode(), who, who)
    yield _data(commit.subject.encode() + b"\n")
    if parent:
        yield b"from refs/heads/%s\n" % parent.encode()
    for path, content in commit.files:
        yield b"M 100644 inline %s\n" % path.encode()
        yield _data(content)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


class Module:
    """A Python module of functions; each edit is one more statement in a function."""

    def __init__(self, name: str, blocks: int) -> None:
        self._name = name
        self._edits: list[list[str]] = [[] for _ in range(blocks)]

    def copy(self) -> Module:
        """Return the same module, to be edited by somebody else."""
        other = Module(self._name, 0)
        other._edits = [list(edits) for edits in self._edits]
        return other

    def edit(self, block: int, word: str) -> None:
        """Add a statement to a function."""
        self._edits[block].append(word)

    def text(self) -> bytes:
        """Return the module's text: five lines a function, and one for each edit."""
        lines: list[str] = []
        for number, edits in enumerate(self._edits):
            name = f"{self._name}_{number}"
            lines += [f"def {name}(first, second):", f"    {name}_sum = first + second"]
            lines += [f"    {name}_{word} = {name}_sum" for word in edits]
            lines += [f"    return {name}_sum", "", ""]
        return "".join(f"{line}\n" for line in lines).encode()


def long_walk(patches: int, commits: int) -> Constructed:
    """Return so many patches over so many commits, in the same files, apart from one another.

    Every hundredth commit takes a patch.
    """
    theirs = {f"pkg/part_{n}.py": Module(f"part_{n}", BLOCKS) for n in range(FILES)}
    ours = {path: module.copy() for path, module in theirs.items()}
    paths = list(theirs)
    base = ((path, module.text()) for path, module in theirs.items())
    places = [(paths[n * 7 % FILES], n * 5 % (BLOCKS // 2)) for n in range(patches)]
    fork = (_edited(ours, *place, f"ours_{n}") for n, place in enumerate(places))

    def step(number: int) -> Commit:
        if number % 100 == 50:
            taken = number // 100
            return _edited(theirs, *places[taken], f"ours_{taken}")
        block = BLOCKS // 2 + 2 + number % (BLOCKS // 2 - 2)
        return _edited(theirs, paths[number * 11 % FILES], block, f"theirs_{number}")

    return Constructed(base, fork, map(step, range(commits)))


def _edited(modules: dict[str, Module], path: str, block: int, word: str) -> Commit:
    modules[path].edit(block, word)
    return Commit(f"{path}: {word}", [(path, modules[path].text())])


def big_file(path: str, lines: int, patches: int = 10, commits: int = 50) -> Constructed:
    """Return a file of so many lines that patches and upstream change at twenty places each."""
    blocks = lines // 5
    theirs = Module("big", blocks)
    ours = theirs.copy()
    base = [(path, theirs.text())]
    spread = blocks // 20

    def commits_of(module: Module, who: str, count: int, at: int) -> Iterator[Commit]:
        for number in range(count):
            places = range(at + number * 4, blocks, spread)
            yield _everywhere(module, path, places, f"{who}_{number}")

    return Constructed(
        base, commits_of(ours, "ours", patches, 0), commits_of(theirs, "theirs", commits, 2)
    )


def _everywhere(module: Module, path: str, blocks: range, word: str) -> Commit:
    for block in blocks:
        module.edit(block, word)
    return Commit(f"{path}: {word}", [(path, module.text())])


def many_paths(count: int, patches: int = 4) -> Constructed:
    """Return patches that touch so many paths together, of which upstream changes a tenth.

    The last patch makes its files, the others change theirs.
    """
    share = count // patches
    ours = {f"d{n // 100}/part_{n}.py": Module(f"part_{n}", 4) for n in range(count)}
    paths = list(ours)
    theirs = {path: ours[path].copy() for path in paths[: count - share]}
    base = ((path, module.text()) for path, module in theirs.items())
    fork = (_many(ours, paths[n * share : (n + 1) * share], 0, f"ours_{n}") for n in range(patches))
    upstream = (_many(theirs, list(theirs)[n::50], 3, f"theirs_{n}") for n in range(5))
    return Constructed(base, fork, upstream)


def _many(modules: dict[str, Module], paths: Sequence[str], block: int, word: str) -> Commit:
    for path in paths:
        modules[path].edit(block, word)
    return Commit(f"many: {word}", ((path, modules[path].text()) for path in paths))
