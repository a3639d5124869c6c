"""A disk that loses what was not synced: every state that a power cut may leave."""

import builtins
import io
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec import Struct

Tree = dict[str, int | None]
"""Paths below the root: the number of a file's content, None for a folder."""

State = Mapping[str, bytes | None]
"""What is left: the content of each file, None for a folder."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux for paths")
Seen = TypeVar("Seen")


class _Entry(Struct, frozen=True):
    """A change to the entries of a folder: `path` goes, or comes with what `new` has below it."""

    path: str
    new: Tree | None = None
    source: str | None = None

    def folders(self) -> set[str]:
        """Return the folders whose sync brings this to disk."""
        return {os.path.dirname(path) for path in (self.path, self.source) if path is not None}

    def apply(self, tree: Tree) -> None:
        """Make the change."""
        going = self.path if self.new is None else self.source
        for path in [path for path in tree if f"{path}/".startswith(f"{going}/")]:
            del tree[path]
        tree.update({self.path + below: number for below, number in (self.new or {}).items()})


class Disk:
    """What is on disk below a folder while a function changes files there.

    An entry of a folder is on disk once the folder was synced, before that perhaps. A file has its
    content once it was synced, before that a part of it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._contents = [b"torn"]
        self._synced: Tree = {}
        for path in sorted(root.rglob("*")):
            if path.is_file():
                self._contents.append(path.read_bytes())
            number = len(self._contents) - 1 if path.is_file() else None
            self._synced[str(path.relative_to(root))] = number
        self._now = dict(self._synced)
        self._waiting: list[_Entry] = []
        self._seen: dict[str, State] = {}

    def left_during(self, run: Callable[[], object]) -> list[State]:
        """Run a function; return each state that a cut at any moment of it may leave."""
        self._seen.clear()
        with pytest.MonkeyPatch.context() as patched:
            early = getattr(pathlib, "_NormalAccessor", None)  # Python 3.10 took them from os
            for name in ("replace", "rename", "unlink", "rmdir", "mkdir"):
                wrapped = self._wrapped(name, getattr(os, name))
                patched.setattr(os, name, wrapped)
                if hasattr(early, name):
                    patched.setattr(early, name, staticmethod(wrapped))
            patched.setattr(os, "open", self._wrapped("open", os.open))
            for module in (builtins, io):
                patched.setattr(module, "open", self._wrapped("file", open))
            patched.setattr(os, "fsync", self._sync)
            run()
        return list(self._seen.values())

    def left(self) -> list[State]:
        """Return each state that a cut may leave now."""
        self._seen.clear()
        self._look()
        return list(self._seen.values())

    def flush(self) -> None:
        """Bring all entries to disk, as the system does from time to time."""
        self._synced = dict(self._now)
        self._waiting.clear()

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **options: Any) -> Any:
            done = real(path, *rest, **options)
            at = self._below(path, options.get("dir_fd", options.get("src_dir_fd")))
            if at is None:
                return done
            if name in ("unlink", "rmdir"):
                self._note(_Entry(at))
            elif name == "mkdir":
                self._note(_Entry(at, {"": None}))
            elif name in ("replace", "rename"):
                to = self._below(rest[0], options.get("dst_dir_fd"))
                assert to is not None
                moved = [path for path in self._now if f"{path}/".startswith(f"{at}/")]
                self._note(_Entry(to, {path[len(at) :]: self._now[path] for path in moved}, at))
            elif rest and (rest[0] & os.O_CREAT if name == "open" else rest[0][0] in "wx"):
                self._contents.append(b"torn")
                self._note(_Entry(at, {"": len(self._contents) - 1}))
            return done

        return call

    def _below(self, path: Any, folder: int | None) -> str | None:
        """Return a path as the model names it, None for one outside the root."""
        if isinstance(path, int):
            return None
        top = "" if folder is None else os.readlink(f"/proc/self/fd/{folder}")
        whole = os.path.join(top, os.fsdecode(path))
        return os.path.relpath(whole, self.root) if whole.startswith(f"{self.root}/") else None

    def _note(self, entry: _Entry) -> None:
        entry.apply(self._now)
        self._waiting.append(entry)
        self._look()

    def _sync(self, descriptor: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        at = "" if place == self.root else os.path.relpath(place, self.root)
        number = self._now.get(at)
        if number is not None:
            self._contents[number] = place.read_bytes()
        else:
            for entry in [e for e in self._waiting if at in e.folders()]:
                entry.apply(self._synced)
                self._waiting.remove(entry)
        self._look()

    def _look(self) -> None:
        for tree in self._trees():
            state: dict[str, bytes | None] = {}
            for path, number in sorted(tree.items()):
                if os.path.dirname(path) in {"", *state}:  # a folder that is lost loses all in it
                    state[path] = None if number is None else self._contents[number]
            self._seen.setdefault(repr(state), state)

    def _trees(self) -> Iterator[Tree]:
        """Yield what is synced with what waits in some of the folders, or in all, or in none."""
        folders = sorted({os.path.dirname(entry.path) for entry in self._waiting})
        for size in range(len(folders) + 1):
            for chosen in combinations(folders, size):
                tree = dict(self._synced)
                for entry in self._waiting:
                    if os.path.dirname(entry.path) in chosen:
                        entry.apply(tree)
                yield tree


def after_cuts(states: Iterable[State], look: Callable[[Path], Seen]) -> list[Seen]:
    """Return what is seen in a folder with each of the states, each once."""
    seen: list[Seen] = []
    for state in states:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            for path, content in sorted(state.items()):
                if content is None:
                    (folder / path).mkdir()
                else:
                    (folder / path).write_bytes(content)
            found = look(folder)
        if found not in seen:
            seen.append(found)
    return seen
