"""The log of operations: what each change to a workspace replaced, up to a size limit."""

from __future__ import annotations

import hashlib
import json
import re
import time
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.paths import check_path
from patchmgr.model.operation import (
    KeptFile,
    Operation,
    OperationKind,
    RefChange,
    TargetChange,
    TargetFileChange,
    WorkspaceFileChange,
)
from patchmgr.plumbing.applied import read_record, record_document
from patchmgr.plumbing.durable import BESIDE, all_synced, write_unlinked
from patchmgr.plumbing.journal import PRIVATE, Change
from patchmgr.plumbing.plain_files import folder_names, read_plain, refuse_links
from patchmgr.plumbing.work_tree import permissions_for

if TYPE_CHECKING:
    from patchmgr.plumbing.applied import Content, Record
    from patchmgr.plumbing.checkout import CheckoutEdit, CheckoutStep
    from patchmgr.plumbing.work_tree import WorkFile

FORMAT = 1
# The only private files that an operation may change.
_WORK = ".patchmgr/rebase/"
_BEGUN = f"{_WORK}state.json"


def write_operation(operation: Operation) -> bytes:
    """Return the content of the file that describes an operation in the log."""
    document = {"format": FORMAT, **msgspec.to_builtins(operation)}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def read_operation(raw: bytes, *, name: str) -> Operation:
    """Parse the file of an operation in the log; error messages call this file `name`.

    The log may be somebody else's, so its content is not trusted. Raises PatchmgrError
    "broken-workspace" if the file is malformed.
    """
    try:
        document = parse_json(raw)
        if document["format"] != FORMAT:
            raise ValueError("format")
        operation = msgspec.convert(document, Operation)
        paths = [file.path.removeprefix(_WORK) for file in operation.files]
        for path in (*paths, *(file.path for one in operation.targets for file in one.files)):
            check_path(path, what="the path")
    except (ValueError, KeyError, TypeError, PatchmgrError) as fault:
        hint = "delete .patchmgr/log; earlier commands can then no longer be undone"
        raise PatchmgrError("broken-workspace", f"{name} cannot be read", hint) from fault
    return operation


_LEVEL = 1  # of compression: contents are rarely read again
LARGEST = 1 << 30


class ContentStore:
    """A folder that stores contents, each in a file named after the content's sha256."""

    def __init__(self, root: Path, path: str) -> None:
        self._root, self._path = root, path
        self._folder = root / path
        self._new: dict[str, Path] = {}

    def keep(self, content: bytes) -> str:
        """Write content to a temporary file for `save` to move into place; return its sha256."""
        name = hashlib.sha256(content).hexdigest()
        if not self.has(name):
            place = self._place(name)
            refuse_links(self._root, f"{self._path}/{name[:2]}")
            place.parent.mkdir(parents=True, exist_ok=True)
            self._new[name] = place.with_name(place.name + BESIDE)
            write_unlinked(self._new[name], zlib.compress(content, _LEVEL))
        return name

    def save(self) -> None:
        """Move the contents that `keep` wrote into place, each as a whole even after a crash."""
        all_synced([*self._new.values()])
        for name, beside in self._new.items():
            beside.replace(self._place(name))
        self._new.clear()

    def has(self, name: str) -> bool:
        """Return whether content with this sha256 has been saved, or written by `keep`."""
        return name in self._new or self._place(name).exists()

    def read(self, name: str) -> bytes:
        """Return the content with this sha256; raise "forgotten" if it is missing or damaged."""
        try:
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(self._place(name).read_bytes(), LARGEST)
        except (OSError, zlib.error) as fault:
            raise _forgotten(name) from fault
        if hashlib.sha256(content).hexdigest() != name:
            raise _forgotten(name)
        return content

    def size(self) -> int:
        """Return the size of all contents on disk, in bytes."""
        return sum(path.stat().st_size for path in self._files())

    def keep_only(self, names: Collection[str]) -> None:
        """Delete all contents except those whose sha256 is in `names`."""
        for path in list(self._files()):
            if path.name not in names:
                with suppress(OSError):
                    path.unlink()

    def _place(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _files(self) -> Iterator[Path]:
        with suppress(OSError):
            for folder in sorted(self._folder.iterdir()):
                if not folder.is_symlink():
                    yield from folder.iterdir()


def _forgotten(name: str) -> PatchmgrError:
    message = f"the log no longer has the earlier content of a file ({name[:12]})"
    return PatchmgrError(
        "forgotten", message, "to list the operations that can still be undone: patchmgr log"
    )


BY_HAND = "(edits by hand)"
LOG = f"{PRIVATE}/log"
MOST_OPERATIONS = 10_000
MOST_BYTES = 256 * 1024 * 1024
_EVERY = 64  # operations between two checks of the limits
_MANY = 4 * MOST_OPERATIONS
_LONGEST = 64 * 1024 * 1024
_ENTRY = re.compile(r"(\d{1,9})\.json")


class LogEntry(Struct, frozen=True):
    """How the log describes a change; `of` lists the operations that it undoes or redoes."""

    command: str
    kind: OperationKind = OperationKind.DONE
    of: tuple[int, ...] = ()


class OperationLog:
    """The log of operations of one workspace."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.contents = ContentStore(root, f"{LOG}/contents")

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of all operations, oldest first."""
        names = folder_names(self._root, LOG, limit=_MANY)
        return tuple(sorted(int(m[1]) for name in names if (m := _ENTRY.fullmatch(name))))

    def read(self, number: int) -> Operation:
        """Return the operation with this number."""
        path = _path(number)
        return read_operation(read_plain(self._root, path, limit=_LONGEST) or b"", name=path)

    def operations(self) -> Iterator[Operation]:
        """Yield all operations, oldest first."""
        return (self.read(number) for number in self.numbers())

    def note(self, change: Change, told: LogEntry) -> None:
        """Log a change that is about to be made, and save what it replaces.

        A person's edits in the work area of a rebase or in a checkout get a separate entry.
        """
        files = tuple(self._turned_files(change))
        targets = tuple(self._turned_target(step) for step in change.steps)
        refs = tuple(RefChange(r.store, r.name, r.old, r.new) for r in change.refs)
        if not (files or targets or refs):
            return
        number = max(self.numbers(), default=0) + 1
        now = int(time.time())
        edited = tuple(self._edited_files(files)), tuple(self._edited_targets(change))
        self.contents.save()
        if any(edited):
            edits = Operation(number, now, BY_HAND, OperationKind.DONE, (), *edited)
            change.files[_path(number)] = write_operation(edits)
            number += 1
        operation = Operation(number, now, told.command, told.kind, told.of, files, targets, refs)
        change.files[_path(number)] = write_operation(operation)

    def _edited_files(self, files: Sequence[WorkspaceFileChange]) -> Iterator[WorkspaceFileChange]:
        """Yield people's edits in the work area of a rebase that are not logged yet."""
        # Without them, undo could not go back past a rebase whose conflicts a person resolved.
        now = {f.path: f.before for f in files if f.path.startswith(_WORK) and f.before is not None}
        seen, has_begun = set[str](), not now
        for number in () if has_begun else reversed(self.numbers()):
            for file in self.read(number).files:
                is_first = file.path.startswith(_WORK) and file.path not in seen
                seen.add(file.path)
                if is_first and (file.path in now or not (self._root / file.path).exists()):
                    found = now.pop(file.path, None)
                    if found != file.after:
                        yield WorkspaceFileChange(file.path, file.after, found)
                has_begun |= file.path == _BEGUN and file.before is None
            if has_begun and not now:
                return

    def _edited_targets(self, change: Change) -> Iterator[TargetChange]:
        """Yield the edits that people made in checkouts, so that undo can also undo these edits."""
        for step in change.steps:
            root = str(step.checkout.root)
            edits = (self._edited_file(root, edit) for edit in step.edits)
            files = tuple(edit for edit in edits if edit is not None)
            if files:
                record = step.checkout.record()
                sha256 = None if record is None else self.keep_record(record)
                yield TargetChange(root, files, sha256, sha256)

    def _edited_file(self, root: str, edit: CheckoutEdit) -> TargetFileChange | None:
        """Return the log entry for a checkout edit, or None if the edit is logged already."""
        found, old = edit.found, None
        new = None if found is None else self._kept(found, found.permissions)
        known = self._last(root, edit.path)
        if known is not None:
            old = known.after
        elif edit.before is not None:
            old = self._kept(edit.before, permissions_for(edit.before.mode, found))
        is_known = new is None if old is None else old.is_like(new)
        return None if is_known else TargetFileChange(edit.path, old, new)

    def _last(self, root: str, path: str) -> TargetFileChange | None:
        """Return the last logged change of a file in a target, or None if there is none."""
        words = json.dumps(path).encode()
        for number in reversed(self.numbers()):
            raw = read_plain(self._root, _path(number), limit=_LONGEST) or b""
            if words not in raw:
                continue
            for target in read_operation(raw, name=_path(number)).targets:
                for file in target.files if target.root == root else ():
                    if file.path == path:
                        return file
        return None

    def _turned_files(self, change: Change) -> Iterator[WorkspaceFileChange]:
        gone = {path: None for path in change.spent if (self._root / path).is_file()}
        for path, content in {**gone, **change.files}.items():
            found = self._root / path
            before = found.read_bytes() if found.is_file() else None
            if before != content:
                kept = (
                    None if raw is None else self.contents.keep(raw) for raw in (before, content)
                )
                yield WorkspaceFileChange(path, *kept)

    def _turned_target(self, step: CheckoutStep) -> TargetChange:
        checkout, exchange = step.checkout, step.exchange
        before = checkout.record()
        for row in before.files if before is not None else ():
            for name, state in row.kept().items():
                if not self.contents.has(state.sha256):
                    self.contents.keep(checkout.original(name))
        for content in exchange.originals.values():
            self.contents.keep(content)
        files = []
        for file in exchange.files:
            found = checkout.tree.read(file.path) if file.before is not None else None
            old = None if found is None else self._kept(found, found.permissions)
            new = None if file.wanted is None else self._kept(file.wanted, file.permissions)
            files.append(TargetFileChange(file.path, old, new))
        ends = (None if r is None else self.keep_record(r) for r in (before, exchange.record))
        return TargetChange(str(checkout.root), tuple(files), *ends)

    def _kept(self, file: WorkFile | Content, permissions: int | None) -> KeptFile:
        return KeptFile(file.mode, self.contents.keep(file.content), permissions)

    def keep_record(self, record: Record) -> str:
        """Save the record of a checkout or package as JSON, and return the sha256 of the JSON."""
        return self.contents.keep(_record_bytes(record))

    def prune(self) -> None:
        """Delete the oldest operations if there are too many, or if they take too much space."""
        numbers = self.numbers()
        if not numbers or numbers[-1] % _EVERY:
            return
        surplus = len(numbers) - MOST_OPERATIONS
        size = self.contents.size()
        if surplus <= 0 and size <= MOST_BYTES:
            return
        if size > MOST_BYTES:  # the size of one operation is not known, so delete the older half
            surplus = max(surplus, len(numbers) // 2)
        for number in numbers[:surplus]:
            with suppress(OSError):
                (self._root / _path(number)).unlink()
        kept = [operation.contents() for operation in self.operations()]
        originals = [self._originals(sha) for names in kept for sha in names]
        self.contents.keep_only(frozenset().union(*kept, *originals))

    def _originals(self, sha256: str) -> frozenset[str]:
        """Return the sha256 of each original that a saved record needs.

        If the saved content is not a record, nothing is returned.
        """
        try:
            raw = self.contents.read(sha256)
            files = read_record(parse_json(raw)).files if raw.startswith(_RECORD_START) else ()
        except (PatchmgrError, ValueError, KeyError, TypeError):  # gone, or some other JSON
            return frozenset()
        return frozenset(state.sha256 for file in files for state in file.kept().values())


_RECORD_START = b'{"digest": "'


def _record_bytes(record: Record) -> bytes:
    return json.dumps(record_document(record), sort_keys=True).encode()


def record_digest(record: Record | None) -> str | None:
    """Return the sha256 of a record's JSON, or None if there is no record."""
    return None if record is None else hashlib.sha256(_record_bytes(record)).hexdigest()


def _path(number: int) -> str:
    return f"{LOG}/{number:06}.json"
