"""`check --ledger`: a branch or a checkout, held to the lines of a series later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from patchmgr.commands.carrying import Wishes
from patchmgr.commands.outlook import Outlook
from patchmgr.commands.prepared import carry_in_place, prepare
from patchmgr.commands.session import Session
from patchmgr.engines.audit.states import Files
from patchmgr.engines.fold import Overlay
from patchmgr.engines.ledger import Claimed, State, balance
from patchmgr.errors import PatchmgrError
from patchmgr.model.check import Checked, Problem, gate_of
from patchmgr.model.ids import blob_id
from patchmgr.model.outcome import Verdict
from patchmgr.model.snapshot import FILE_MODES
from patchmgr.plumbing.clones import Clone, open_clone
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.work_tree import WorkTree
from patchmgr.plumbing.workbench import Workbench


def check_ledger(
    session: Session, name: str, target: Path, *, branch: str | None, wishes: Wishes
) -> Checked:
    """Hold the files of a checkout, or of a branch in it, to the ledger of a series on its pin."""
    clone = open_clone(target)
    ready = prepare(session, session.workspace.series_record(name))
    with Workbench([ready.side.store]) as bench:
        carried, tree = carry_in_place(session, ready, bench, Outlook(session), wishes=wishes)
        out = {o.name for o in carried.outcomes if o.verdict is Verdict.SKIPPED}
        patches = [patch for patch in ready.patches if patch.name not in out]
        pin = Files(Overlay(tree), bench.read)
        claimed = [Claimed(p.name, p.diff, is_reversed=p.is_reversed) for p in patches]
        with _files(clone, branch) as (head, files):
            ledger = balance(claimed, pin, pin, files, cited=lambda commit, path: ())
    problems = tuple(
        Problem("ledger", fault.text, patch, fault.path, fault.line or None)
        for patch, fault in ledger.faults
    )
    lines = ledger.added.total + ledger.removed.total
    gate = gate_of("ledger", lines, problems)
    return Checked(name, head, tuple(patch.name for patch in patches), (gate,))


@contextmanager
def _files(clone: Clone, branch: str | None) -> Iterator[tuple[str | None, State]]:
    """Open the files of a branch, together with its commit, or those that are there now."""
    if branch is None and not clone.is_bare:
        yield None, _WorkFiles(WorkTree(clone.root))
        return
    with closing(ObjectReader(clone.git_dir)) as reader:
        commit = reader.commit(f"refs/heads/{branch}" if branch else "HEAD")
        if commit is None:
            raise PatchmgrError("usage", f"{clone.root} has no branch {branch or 'HEAD'}")
        tree = StoredTree(reader, reader.tree_of(commit))
        yield commit, Files(Overlay(tree), reader.blob)


class _WorkFiles:
    """The files of a work tree as a state."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self._known: dict[str, tuple[str, bytes] | None] = {}

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, None where there is no such file."""
        if path not in self._known:
            try:
                found = self._tree.read(path)
            except PatchmgrError:  # a folder, or a file in the place of one
                found = None
            self._known[path] = None if found is None else (found.mode, found.content)
        known = self._known[path]
        return None if known is None else blob_id(known[1])

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file."""
        self.blob(path)
        known = self._known[path]
        return known[1] if known is not None and known[0] in FILE_MODES else None
