"""`log`, `undo`, `redo`: list, undo and redo changes to a workspace and its checkouts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.shown import shown, typed
from patchmgr.model.operation import KeptFile, Operation, OperationKind, TargetChange
from patchmgr.plumbing.applied import FileState, content_of, read_record, state_of
from patchmgr.plumbing.checkout import Checkout, CheckoutStep, serves
from patchmgr.plumbing.checkout_changes import found_file, refuse_in_the_way
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.objects import object_named
from patchmgr.plumbing.operation_log import LOG, record_digest
from patchmgr.plumbing.target import Exchange, Replacement
from patchmgr.services.checkouts import settled
from patchmgr.services.session import Session
from patchmgr.workspace import Change, LogEntry, RefPlan, Workspace


class UndoResult(Struct, frozen=True):
    """The result of `undo` or `redo`."""

    kind: OperationKind
    operations: tuple[Operation, ...]
    files: tuple[str, ...]  # workspace files that changed
    # checkouts, each with the number of files that changed there
    targets: tuple[tuple[str, int], ...]


class Logged(Struct, frozen=True):
    """The log, oldest first; `undone` lists the numbers of operations that are undone now."""

    operations: tuple[Operation, ...]
    undone: frozenset[int]

    def only(self, number: int) -> Logged:
        """Return the log with only this operation; raise PatchmgrError "usage" if there is none."""
        found = tuple(o for o in self.operations if o.number == number)
        if not found:
            raise UsageError(f"the log has no entry {number}", "patchmgr log")
        return Logged(found, self.undone)

    def newest(self, most: int) -> Logged:
        """Return the log with only the last `most` operations; 0 stands for all."""
        return Logged(self.operations[-most:] if most else self.operations, self.undone)


def read_log(session: Session) -> Logged:
    """Return all operations of the workspace."""
    operations = tuple(session.workspace.log.operations())
    return Logged(operations, frozenset(o.number for o in _sides(operations)[1]))


def _sides(operations: Sequence[Operation]) -> tuple[list[Operation], list[Operation]]:
    """Return the operations that can be undone, and those that can be redone, next one last."""
    by_number = {operation.number: operation for operation in operations}
    done: list[Operation] = []
    undone: list[Operation] = []
    for operation in operations:
        if operation.kind is OperationKind.DONE:
            done.append(operation)
            undone.clear()
            continue
        named = [by_number[number] for number in operation.of if number in by_number]
        source, target = (done, undone) if operation.kind is OperationKind.UNDO else (undone, done)
        for each in named:
            if each in source:
                source.remove(each)
            target.append(each)
    return done, undone


def undo(session: Session, *, count: int, to: int | None) -> UndoResult:
    """Undo the last `count` changes that are not undone yet, or all after operation `to`.

    Raises PatchmgrError "edited" if a file was edited since, "nothing-to-undo" if the log has fewer
    changes, and "usage" if there is no operation `to`.
    """
    with session.writing():
        operations = tuple(session.workspace.log.operations())
        if to is not None:
            known = {operation.number for operation in operations} | {0}
            if to not in known:
                raise UsageError(f"the log has no entry {to}", "patchmgr log")
            chosen, kind = _after(operations, to)
        else:
            chosen, kind = _sides(operations)[0][-count:], OperationKind.UNDO
            if len(chosen) < count:
                raise PatchmgrError("nothing-to-undo", _too_few(len(chosen), "undo"))
        if not chosen:
            raise PatchmgrError("nothing-to-undo", _too_few(0, "undo"))
        chosen.reverse()
        return _turn(session, chosen, kind)


def _after(operations: Sequence[Operation], to: int) -> tuple[list[Operation], OperationKind]:
    """Return the operations to undo to get back to operation `to`, and the kind to log."""
    later = [operation for operation in operations if operation.number > to]
    done = [operation for operation in _sides(operations)[0] if operation.number > to]
    if done and all(number > to for operation in later for number in operation.of):
        return done, OperationKind.UNDO
    # An undo or redo of something older is taken back, too. `redo` cannot repeat that, so it is
    # logged as a new change.
    return later, OperationKind.DONE


def redo(session: Session, *, count: int) -> UndoResult:
    """Redo the `count` operations that were undone last; raise the same errors as `undo`."""
    with session.writing():
        undone = _sides(tuple(session.workspace.log.operations()))[1]
        chosen = undone[-count:]
        chosen.reverse()
        if len(chosen) < count:
            raise PatchmgrError("nothing-to-undo", _too_few(len(chosen), "redo"))
        return _turn(session, chosen, OperationKind.REDO)


def _too_few(found: int, verb: str) -> str:
    return f"there is nothing to {verb}" if not found else f"{verb} -n can be at most {found}"


def _turn(session: Session, chosen: Sequence[Operation], kind: OperationKind) -> UndoResult:
    is_back = kind is not OperationKind.REDO
    with ExitStack() as held:
        change = Change(files=_files(session, chosen, is_back=is_back))
        targets = _Targets(session, held)
        for operation in chosen:
            for target in operation.targets:
                targets.turn(target, is_back=is_back)
        steps = tuple(targets.steps())
        change.steps += steps
        change.refs += _refs(session.workspace, chosen, is_back=is_back)
        words = session.workspace.command or kind.value
        told = LogEntry(
            words, kind, tuple(o.number for o in chosen) if kind.value != "done" else ()
        )
        session.workspace.make(change, told=told)
        paths = tuple(sorted(p for p in change.files if not p.startswith(f"{LOG}/")))
        counts = tuple((str(step.checkout.root), len(step.exchange.files)) for step in steps)
        return UndoResult(kind, tuple(chosen), paths, counts)


def _files(
    session: Session, chosen: Sequence[Operation], *, is_back: bool
) -> dict[str, bytes | None]:
    """Return the content to restore by path (None: delete); raise "edited" for an edited file."""
    root, log = session.workspace.root, session.workspace.log
    now: dict[str, str | None] = {}
    for operation in chosen:
        for file in operation.files:
            if file.path not in now:
                place = root / file.path
                content = place.read_bytes() if place.is_file() else None
                now[file.path] = None if content is None else hashlib.sha256(content).hexdigest()
            old, new = (file.after, file.before) if is_back else (file.before, file.after)
            if now[file.path] != old:
                raise _edited(shown(file.path), operation, is_back=is_back)
            now[file.path] = new
    return {path: None if sha is None else log.contents.read(sha) for path, sha in now.items()}


def _edited(path: str, operation: Operation, *, is_back: bool) -> PatchmgrError:
    done, verb = ("", "undo") if is_back else (" was undone", "redo")
    return PatchmgrError(
        "edited",
        f"{path} was edited after entry {operation.number} of the log{done}:"
        f" {shown(operation.command)}",
        f"copy the edit elsewhere and restore the file, or do not {verb} entry {operation.number}",
    )


def _refs(workspace: Workspace, chosen: Sequence[Operation], *, is_back: bool) -> list[RefPlan]:
    """Return the branches to move, without those that were moved or deleted in the meantime.

    A branch whose commit is missing, because the store was created again, is left out, too.
    """
    ends: dict[tuple[str, str], tuple[str | None, str | None]] = {}
    for operation in chosen:
        for ref in operation.refs:
            old, new = (ref.after, ref.before) if is_back else (ref.before, ref.after)
            first = ends.get((ref.store, ref.name), (old, None))[0]
            ends[ref.store, ref.name] = (first, new)
    return [
        RefPlan(store, name, new, old)
        for (store, name), (old, new) in ends.items()
        if new is not None and new != old and _can_move(workspace, Path(store), name, old, new)
    ]


def _can_move(workspace: Workspace, store: Path, name: str, old: str | None, new: str) -> bool:
    if not (store / "HEAD").exists():
        return False
    is_at_old = object_named(store, workspace.ref_at(store, name)) == old
    return is_at_old and object_named(store, f"{new}^{{commit}}") is not None


class _Targets:
    """The checkouts that an undo or redo changes, and the state that each has reached."""

    def __init__(self, session: Session, held: ExitStack) -> None:
        self._session, self._held = session, held
        self._checkouts: dict[str, Checkout | None] = {}
        self._now: dict[tuple[str, str], KeptFile | None] = {}
        self._found: dict[tuple[str, str], KeptFile | None] = {}
        self._records: dict[str, str | None] = {}

    def turn(self, target: TargetChange, *, is_back: bool) -> None:
        """Undo or redo one operation in a checkout; raise an "edited" error for an edited file."""
        if target.root not in self._checkouts:
            self._checkouts[target.root] = self._opened(target.root)
        checkout = self._checkouts[target.root]
        if checkout is None:
            return
        old, new = (target.after, target.before) if is_back else (target.before, target.after)
        if self._records[target.root] != old:
            message = f"other patches have been pushed or popped in {target.root} since that change"
            hint = "to see what this workspace did there: patchmgr log"
            raise PatchmgrError("edited", message, hint)
        self._records[target.root] = new
        for file in target.files:
            before, after = (file.after, file.before) if is_back else (file.before, file.after)
            key = (target.root, file.path)
            if key not in self._now:
                self._now[key] = self._found[key] = self._look(checkout, file.path)
            now = self._now[key]
            if not (now is before if before is None else before.is_like(now)):
                message = f"{shown(file.path)} in {target.root} has been edited since that change"
                hint = "put the edit into a patch with patchmgr refresh, or restore the file"
                raise PatchmgrError("edited", message, hint)
            self._now[key] = after

    def _opened(self, root: str) -> Checkout | None:
        """Open a checkout, or return None if it no longer exists.

        Raises PatchmgrError "unsafe-path" unless the user allowed this workspace to change it.
        """
        if not Path(root).is_dir():
            self._session.say(f"{root} no longer exists; nothing is changed there.")
            return None
        checkout = Checkout(open_clone(Path(root)))
        if not serves(checkout, self._session.workspace.root):
            message = f"this workspace has never applied patches to {root}"
            raise PatchmgrError("unsafe-path", message, f"patchmgr push --to {typed(root)}")
        self._held.enter_context(settled(self._session, checkout))
        self._records[root] = record_digest(checkout.record())
        return checkout

    def _look(self, checkout: Checkout, path: str) -> KeptFile | None:
        found = found_file(checkout, path)
        if found is None:
            return None
        state = state_of(found.mode, found.content)
        return KeptFile(state.mode, state.sha256, found.permissions)

    def steps(self) -> Iterator[CheckoutStep]:
        contents = self._session.workspace.log.contents
        for root, checkout in self._checkouts.items():
            if checkout is None:
                continue
            files = []
            leaving = {path for (at, path), now in self._now.items() if at == root and now is None}
            for (at, path), now in self._now.items():
                found = self._found[at, path]
                is_same = now == found if now is None else now.is_like(found)
                if at == root and not is_same:
                    if now is not None:
                        refuse_in_the_way(checkout, path, leaving)
                    files.append(_replacement(path, found, now, contents.read))
            sha = self._records[root]
            record = None if sha is None else read_record(parse_json(contents.read(sha)))
            originals = {
                name: contents.read(state.sha256)
                for file in (record.files if record is not None else ())
                for name, state in file.kept().items()
            }
            head = checkout.clone.head()
            yield CheckoutStep(
                checkout, Exchange(tuple(files), record, originals, head=(head, head))
            )


def _replacement(
    path: str, found: KeptFile | None, now: KeptFile | None, read: Callable[[str], bytes]
) -> Replacement:
    before = None if found is None else FileState(found.mode, found.sha256)
    if now is None:
        return Replacement(path, before, None)
    return Replacement(path, before, content_of(now.mode, read(now.sha256)), now.permissions)
