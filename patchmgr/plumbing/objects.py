"""Read objects of a repository through one `git cat-file --batch-command` process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.closing import Closing

TREE_MODE = "40000"
_FETCH = "fetch it, if upstream still has it: patchmgr upstream fetch"
_BATCH_COMMAND = (2, 36)
_Answer = tuple["subprocess.Popen[bytes]", "list[bytes] | None"]
_AT_ONCE = 64  # questions; they, and their answers, fit into the smallest pipe buffer (a page)


class Found(Struct, frozen=True):
    """An object: its id, its kind ("blob", "commit", ...) and its content."""

    id: str
    kind: str
    content: bytes


class ObjectReader(Closing):
    """Reads objects by name; the git process starts at the first read."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._asker = os.getpid()
        self._is_split = False
        self._trees: dict[str, dict[str, tuple[str, str]]] = {}

    def close(self) -> None:
        """End the git processes; a later read starts new ones."""
        for process in self._processes.values():
            assert process.stdin and process.stdout
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            process.kill()
            process.wait()
        self._processes.clear()

    def find(self, name: str) -> Found | None:
        """Return the object with this name (an id or a revision), or None if there is none."""
        if "\n" in name or not name:
            return None
        ((process, words),) = self._answers("contents", [name])
        if words is None:
            return None
        assert process.stdout
        content = process.stdout.read(int(words[2]))
        if process.stdout.read(1) != b"\n":  # git prints a large file while it reads it
            self.close()
            raise _unreadable(name)
        return Found(words[0].decode(), words[1].decode(), content)

    def kinds(self, ids: Iterable[str]) -> dict[str, str]:
        """Map the ids of existing objects to their kinds ("blob", "commit", ...)."""
        return {name: words[1].decode() for name, words in self._facts(ids)}

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """Map the ids of existing objects to their sizes in bytes."""
        return {name: int(words[2]) for name, words in self._facts(ids)}

    def _facts(self, ids: Iterable[str]) -> Iterator[tuple[str, list[bytes]]]:
        """Yield each id whose object exists, with the words that git prints: id, kind and size."""
        wanted = list(ids)
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            for name, (_, words) in zip(some, self._answers("info", some), strict=True):
                if words is not None:
                    yield name, words

    def _answers(self, verb: str, names: Sequence[str]) -> Iterator[_Answer]:
        """Yield, for each name, the git process and its answer: id, kind and size, or None."""
        process = self._ask(verb, names)
        assert process.stdout
        for number, name in enumerate(names):
            head = process.stdout.readline()
            if not head:
                self.close()
                if number or self._is_split or git_process.git_version() >= _BATCH_COMMAND:
                    raise _unreadable(name)
                self._is_split = True
                yield from self._answers(verb, names)
                return
            words = head.split()
            is_there = len(words) == 3 and words[-1] not in (b"missing", b"ambiguous")
            yield process, words if is_there else None

    def _ask(self, verb: str, names: Sequence[str]) -> subprocess.Popen[bytes]:
        """Write requests to a git process; with an old git, each verb has its own process."""
        option, word = ("--batch-command", f"{verb} ")
        if self._is_split:
            option, word = ("--batch" if verb == "contents" else "--batch-check", "")
        if self._asker != os.getpid():  # a forked process starts its own git processes
            self._asker, self._processes = os.getpid(), {}
        if option not in self._processes:
            self._processes[option] = git_process.spawn(["cat-file", option], git_dir=self.git_dir)
        process = self._processes[option]
        assert process.stdin
        with suppress(BrokenPipeError):  # the missing answer is noticed when it is read
            process.stdin.write(git_process.raw("".join(f"{word}{name}\n" for name in names)))
            process.stdin.flush()
        return process

    def commit(self, name: str) -> str | None:
        """Return the id of the commit with this name, or None if there is none."""
        found = self.find(f"{name}^{{commit}}")
        return found.id if found is not None and found.kind == "commit" else None

    def tree_of(self, commit: str) -> str:
        """Return the tree id of a commit; raise a "missing-object" error for a missing commit."""
        found = self.find(commit)
        if found is None or found.kind != "commit":
            raise PatchmgrError("missing-object", f"commit {commit} is not in the store", _FETCH)
        return found.content[5:45].decode()

    def blob(self, blob: str) -> bytes:
        """Return the content of a blob; raise PatchmgrError if it is missing."""
        found = self.find(blob)
        if found is None:
            raise PatchmgrError("missing-object", f"blob {blob} is not in the store", _FETCH)
        return found.content

    def listing(self, tree: str) -> dict[str, tuple[str, str]]:
        """Map the name of each entry of a tree to its mode and id.

        Raises PatchmgrError "missing-object" if there is no such tree.
        """
        known = self._trees.get(tree)
        if known is None:
            found = self.find(tree)
            if found is None or found.kind != "tree":
                raise PatchmgrError("missing-object", f"tree {tree} is not in the store", _FETCH)
            known = self._trees[tree] = dict(_tree_entries(found.content))
        return known


def _unreadable(name: str) -> PatchmgrError:
    hint = "to check the store: patchmgr doctor"
    return PatchmgrError("missing-object", f"git cannot read object {name}", hint)


def object_named(git_dir: Path, name: str) -> str | None:
    """Return the id of the object with this name (perhaps a tag object), or None if unknown."""
    arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", name]
    return git_process.answer(git_dir, *arguments, good=(0, 1, 128))


def _tree_entries(content: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        mode, name = content[at:space].decode(), git_process.text(content[space + 1 : end])
        yield name, (mode, content[end + 1 : end + 21].hex())
        at = end + 21


class StoredTree:
    """The files of a tree in a repository; a folder is read when it is first needed."""

    def __init__(self, reader: ObjectReader, tree: str) -> None:
        self.id = tree
        self._reader = reader
        self._keys: dict[str, dict[str, list[str]]] = {}

    def entry(self, path: str) -> Entry | None:
        """Return the file at the path, or None if there is no file."""
        found = self._find(path)
        return None if found is None or found[0] == TREE_MODE else Entry(*found)

    def is_directory(self, path: str) -> bool:
        """Return whether the path is a directory."""
        found = self._find(path)
        return found is not None and found[0] == TREE_MODE

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names of the files directly in a folder ("" is the root)."""
        found = self._find(folder) if folder else (TREE_MODE, self.id)
        if found is None or found[0] != TREE_MODE:
            return ()
        listed = self._reader.listing(found[1]).items()
        return tuple(name for name, (mode, _) in listed if mode != TREE_MODE)

    def files(self) -> Iterator[str]:
        """Yield the paths of all files in the tree."""
        return self._walk(self.id, "")

    def files_below(self, path: str) -> Iterator[str]:
        """Yield the paths of all files in a directory and its subdirectories."""
        found = self._find(path)
        assert found is not None
        yield from self._walk(found[1], path + "/")

    def alike(self, path: str, key: Callable[[str], str]) -> Iterator[str]:
        """Yield the other files whose paths equal `path` once `key` is applied to every name."""
        found = [("", TREE_MODE, self.id)]
        for name in path.split("/"):
            found = [
                (f"{prefix}/{each}".removeprefix("/"), *self._reader.listing(tree)[each])
                for prefix, mode, tree in found
                if mode == TREE_MODE
                for each in self._keyed(tree, key).get(key(name), ())
            ]
        yield from (other for other, mode, _ in found if mode != TREE_MODE and other != path)

    def _keyed(self, tree: str, key: Callable[[str], str]) -> dict[str, list[str]]:
        known = self._keys.get(tree)
        if known is None:
            known = self._keys[tree] = {}
            for name in self._reader.listing(tree):
                known.setdefault(key(name), []).append(name)
        return known

    def _walk(self, tree: str, prefix: str) -> Iterator[str]:
        left: list[tuple[str, str | None]] = [(prefix, tree)]  # not by recursion: it may be deep
        while left:
            path, child = left.pop()
            if child is None:
                yield path
                continue
            for name, (mode, each) in reversed(self._reader.listing(child).items()):
                is_tree = mode == TREE_MODE
                left.append((f"{path}{name}/", each) if is_tree else (f"{path}{name}", None))

    def _find(self, path: str) -> tuple[str, str] | None:
        at: tuple[str, str] | None = (TREE_MODE, self.id)
        for part in path.split("/"):
            if at is None or at[0] != TREE_MODE:
                return None
            at = self._reader.listing(at[1]).get(part)
        return at
