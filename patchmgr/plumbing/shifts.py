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
from patchmgr.plumbing.conversion import Content
from patchmgr.plumbing.target import parents_of
from patchmgr.plumbing.work_tree import WorkFile, permissions_for


class Move(Struct, frozen=True):
    """One path: as it is below all patches, with those that are pushed, and as it is to be.

    All three are as git has them. `is_kept` says that the checkout has it as it is to be,
    `is_apart` that no patch made it, and `is_given_up` that an edit of it is lost.
    """

    path: str
    below: Content | None
    old: Content | None
    new: Content | None
    is_kept: bool = False
    is_apart: bool = False
    is_given_up: bool = False


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
    shown_as = _as_git(checkout, applied, moves, leaving)
    below, new = (_to_work_tree(checkout, moves, name) for name in ("below", "new"))
    files: list[Replacement] = []
    rows: list[AppliedFile] = []
    originals: dict[str, bytes] = {}
    for move in sorted(moves, key=lambda move: move.path):
        found = found_file(checkout, move.path, leaving)
        written = replace(move, below=below[move.path], new=new[move.path])
        bits = _permissions(move, known.get(move.path), found)
        if not move.is_kept and move.old != move.new:
            if not move.is_given_up:
                _refuse_edited(checkout, move, shown_as[move.path])
            files.append(_replacement(written, found, bits))
        if move.new != move.below and not move.is_apart:
            row = _row(written, known.get(move.path), found, originals)
            is_written = move.is_kept or move.old != move.new or move.path not in known
            after = row.after if is_written else known[move.path].after
            rows.append(replace(row, after=after))
    record = replace(record, files=tuple(rows))
    return Exchange(tuple(files), record, originals, head=(head, head))


def _to_work_tree(
    checkout: Checkout, moves: Collection[Move], name: str
) -> dict[str, Content | None]:
    """Return what is to be of each path as git writes it; what no patch made stays as it is."""
    contents = {move.path: getattr(move, name) for move in moves}
    ours = {move.path: contents[move.path] for move in moves if not move.is_apart}
    return {**contents, **checkout.clone.conversion.to_work_tree(ours)}


def _as_git(
    checkout: Checkout,
    applied: Record | None,
    moves: Collection[Move],
    leaving: Collection[str],
) -> dict[str, Content | None]:
    """Return what is found of each path that changes, as git has it."""
    moved = [m for m in moves if m.is_apart or (not m.is_kept and m.old != m.new)]
    apart = {m.path: as_content(found_file(checkout, m.path)) for m in moved if m.is_apart}
    found = {m.path: found_file(checkout, m.path, leaving) for m in moved if not m.is_apart}
    state = {move.path: move.old for move in moves if not move.is_apart}
    return {**apart, **checkout.clone.conversion.as_git(found, lambda: state, applied)}


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
    """Return a file of a checkout as it is."""
    if found is None:
        return None
    return Content(Entry(found.mode, blob_id(found.content)), found.content)


def _refuse_edited(checkout: Checkout, move: Move, found: Content | None) -> None:
    if found == move.old:
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
    after = _state(as_content(found) if move.is_kept else move.new)
    blob = None if move.new is None else move.new.entry.blob
    return AppliedFile(move.path, _state(move.below), after, name, bits, blob)


def _state(content: Content | None) -> FileState | None:
    return None if content is None else state_of(content.entry.mode, content.content)
