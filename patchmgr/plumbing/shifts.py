"""Plan what changes in a checkout when pushed patches do: from one state of the series to another.

Unlike `apply`, this leaves alone what does not change between the two, edited or not.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.ids import blob_id
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.applied import AppliedFile, FileState, Record, state_of
from patchmgr.plumbing.checkout import Checkout, Exchange, Replacement
from patchmgr.plumbing.exchanges import Content
from patchmgr.plumbing.replacements import parents_of
from patchmgr.plumbing.work_tree import WorkFile, permissions_for


class Move(Struct, frozen=True):
    """One path: as it is below all patches, with those that are pushed, and as it is to be.

    `is_kept` says that the checkout has it as it is to be, and `is_apart` that no patch made it.
    """

    path: str
    below: Content | None
    old: Content | None
    new: Content | None
    is_kept: bool = False
    is_apart: bool = False


def plan_shift(
    checkout: Checkout,
    applied: Record | None,
    moves: Collection[Move],
    record: Record,
    *,
    head: str,
) -> Exchange:
    """Plan the exchange that makes every path what it is to be, and the record that says so.

    Raises PatchmgrError "edited" where a file that changes is not what the pushed patches made
    of it: it is a person's.
    """
    known = {file.path: file for file in applied.files} if applied is not None else {}
    leaving = {move.path for move in moves if move.new is None}
    files: list[Replacement] = []
    rows: list[AppliedFile] = []
    originals: dict[str, bytes] = {}
    for move in sorted(moves, key=lambda move: move.path):
        found = found_file(checkout, move.path, leaving)
        bits = _permissions(move, known.get(move.path), found)
        if not move.is_kept and move.old != move.new:
            _refuse_edited(checkout, move, found)
            files.append(_replacement(move, found, bits))
        if move.new != move.below and not move.is_apart:
            rows.append(_row(move, known.get(move.path), found, originals))
    record = replace(record, files=tuple(rows))
    return Exchange(tuple(files), record, originals, head=(head, head))


def found_file(checkout: Checkout, path: str, leaving: Collection[str] = ()) -> WorkFile | None:
    """Return a file of the checkout, None where there is none, or a file that leaves above it."""
    if any(p in leaving and not checkout.tree.is_folder(p) for p in parents_of(path)):
        return None
    if checkout.tree.is_folder(path) and _is_leaving(checkout, path, leaving):
        return None
    return checkout.tree.read(path)


def _is_leaving(checkout: Checkout, folder: str, leaving: Collection[str]) -> bool:
    files = [path for path, is_folder in checkout.tree.below(folder) if not is_folder]
    return bool(files) and all(path in leaving for path in files)


def as_content(found: WorkFile | None) -> Content | None:
    """Return a file of a checkout as git would have it."""
    if found is None:
        return None
    return Content(Entry(found.mode, blob_id(found.content)), found.content)


def _refuse_edited(checkout: Checkout, move: Move, found: WorkFile | None) -> None:
    if as_content(found) == move.old:
        return
    where = f"{shown(move.path)} in {checkout.root}"
    if move.old is None:
        message = f"{where} is in the way: a patch makes a file there"
        raise PatchmgrError("edited", message, ("move it away",))
    if move.old == move.below:
        message = f"{where} is not as in the pin"
        hints = ("make a patch of that edit: patchmgr new NAME, then patchmgr refresh",)
        raise PatchmgrError("edited", message, (*hints, "or undo it with git"))
    message = f"{where} was edited since the last refresh"
    raise PatchmgrError("edited", message, ("take the edit into a patch: patchmgr refresh",))


def _replacement(move: Move, found: WorkFile | None, bits: int | None) -> Replacement:
    before = None if found is None else state_of(found.mode, found.content)
    if move.new is None:
        return Replacement(move.path, before, None, None)
    return Replacement(move.path, before, move.new.entry, move.new.content, bits)


def _permissions(move: Move, known: AppliedFile | None, found: WorkFile | None) -> int | None:
    """Return the bits for the file that is to be: those of the file below where it comes back."""
    if move.new is None:
        return None
    if move.below is not None and known is not None and known.permissions is not None:
        original = WorkFile(move.below.entry.mode, b"", known.permissions)
        return permissions_for(move.new.entry.mode, original)
    return permissions_for(move.new.entry.mode, found)


def _row(
    move: Move,
    known: AppliedFile | None,
    found: WorkFile | None,
    originals: dict[str, bytes],
) -> AppliedFile:
    """Return what the record says of a path, and keep what is below the patches."""
    name, bits = None, None
    if move.below is not None:
        name = str(len(originals))
        originals[name] = move.below.content
        bits = known.permissions if known is not None else None
        bits = permissions_for(move.below.entry.mode, found) if bits is None else bits
    return AppliedFile(move.path, _state(move.below), _state(move.new), name, bits)


def _state(content: Content | None) -> FileState | None:
    return None if content is None else state_of(content.entry.mode, content.content)
