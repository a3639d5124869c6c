"""`check --ledger`: a branch or a checkout, held to the lines of a series later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from patchmgr.commands.carrying import Wishes
from patchmgr.commands.prepared import in_place, prepare
from patchmgr.commands.session import Session
from patchmgr.commands.touched import touched_paths
from patchmgr.engines.audit.states import Files
from patchmgr.engines.fold import Overlay
from patchmgr.engines.ledger import Claimed, State, balance
from patchmgr.errors import PatchmgrError
from patchmgr.model.check import Checked, Problem, gate_of
from patchmgr.model.snapshot import FILE_MODES
from patchmgr.plumbing.applied import Content
from patchmgr.plumbing.clones import Clone, open_clone
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.work_tree import WorkFile, WorkTree

Read = Callable[[str], bytes]


def check_ledger(
    session: Session, name: str, target: Path, *, branch: str | None, wishes: Wishes
) -> Checked:
    """Hold the files of a checkout, or of a branch in it, to the ledger of a series on its pin."""
    clone = open_clone(target)
    with in_place(session, prepare(session, name), wishes) as placed:
        patches, tree, bench = placed.patches, placed.tree, placed.bench
        pin = Files(Overlay(tree), bench.read)
        claimed = [Claimed(p.name, p.diff, is_reversed=p.is_reversed) for p in patches]
        paths = touched_paths(patches)
        with _files(clone, branch, paths, tree, bench.read) as (head, files):
            ledger = balance(claimed, pin, pin, files, cited=lambda commit, path: ())
    problems = tuple(
        Problem("ledger", fault.text, patch, fault.path, fault.line or None)
        for patch, fault in ledger.faults
    )
    lines = ledger.added.total + ledger.removed.total
    gate = gate_of("ledger", lines, problems)
    return Checked(name, head, tuple(patch.name for patch in patches), (gate,))


@contextmanager
def _files(
    clone: Clone, branch: str | None, paths: Collection[str], below: StoredTree, read: Read
) -> Iterator[tuple[str | None, State]]:
    """Open the files of a branch, together with its commit, or those that are there now."""
    if branch is None and not clone.is_bare:
        yield None, _WorkFiles(clone, paths, below, read)
        return
    with closing(ObjectReader(clone.git_dir)) as reader:
        commit = reader.commit(f"refs/heads/{branch}" if branch else "HEAD")
        if commit is None:
            raise PatchmgrError("usage", f"{clone.root} has no branch {branch or 'HEAD'}")
        tree = StoredTree(reader, reader.tree_of(commit))
        yield commit, Files(Overlay(tree), reader.blob)


class _WorkFiles:
    """The files of a work tree as a state, as git has them; those of `paths` are read at once."""

    def __init__(self, clone: Clone, paths: Collection[str], below: StoredTree, read: Read) -> None:
        self._clone, self._below, self._read = clone, below, read
        self._known: dict[str, Content | None] = {}
        self._look(paths)

    def _look(self, paths: Collection[str]) -> None:
        found = {path: self._found(path) for path in paths}
        self._known |= self._clone.conversion.as_git(found, lambda: self._state(paths))

    def _found(self, path: str) -> WorkFile | None:
        try:
            return WorkTree(self._clone.root).read(path)
        except PatchmgrError:  # a folder, or a file in the place of one
            return None

    def _state(self, paths: Collection[str]) -> dict[str, Content | None]:
        entries = {path: self._below.entry(path) for path in paths}
        return {p: Content(e, self._read(e.blob)) for p, e in entries.items() if e is not None}

    def _now(self, path: str) -> Content | None:
        if path not in self._known:
            self._look([path])
        return self._known[path]

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, None where there is no such file."""
        known = self._now(path)
        return None if known is None else known.entry.blob

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file."""
        known = self._now(path)
        return known.content if known is not None and known.entry.mode in FILE_MODES else None
