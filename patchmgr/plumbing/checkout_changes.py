"""Plan the changes that `apply`, `push` and `pop` make in a checkout, without losing edits.

`plan_exchange` replaces one applied series with another. `plan_shift` goes from one state of a
series to another; it does not touch files that are the same in both.
"""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import parents_of
from patchmgr.formats.shown import shown, typed
from patchmgr.model.snapshot import Entry, blob_id
from patchmgr.plumbing import git_process
from patchmgr.plumbing.applied import AppliedFile, Content, Record, content_of, found_state
from patchmgr.plumbing.checkout import Checkout, FileStanding
from patchmgr.plumbing.clones import Indexed
from patchmgr.plumbing.conversion import is_attributes
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.target import Exchange, Replacement, Target, keep_hint
from patchmgr.plumbing.work_tree import WorkFile, permissions_for


class FileShift(Struct, frozen=True):
    """A file to change: without patches (`below`), as pushed now (`old`), and as wanted (`new`)."""

    path: str
    # contents as git stores them
    below: Content | None
    old: Content | None
    new: Content | None
    is_kept: bool = False  # the checkout already has the wanted content
    is_apart: bool = False  # the wanted content does not come from a patch
    is_given_up: bool = False  # an edit of the file may be overwritten


def plan_shift(
    checkout: Checkout,
    applied: Record | None,
    moves: Collection[FileShift],
    record: Record,
    *,
    head: str,
) -> Exchange:
    """Plan the change after which every file in `moves` has its wanted content.

    `record` is the new record, whose `files` are filled in here. Raises PatchmgrError "edited" if a
    file to be changed was edited since the patches were pushed.
    """
    known = {file.path: file for file in applied.files} if applied is not None else {}
    leaving = {move.path for move in moves if move.new is None}
    shown_as = _as_git(checkout, applied, moves)
    below, new = (_to_work_tree(checkout, moves, name) for name in ("below", "new"))
    files: list[Replacement] = []
    rows: list[AppliedFile] = []
    originals: dict[str, bytes] = {}
    for move in sorted(moves, key=lambda move: move.path):
        found = found_file(checkout, move.path)
        written = replace(move, below=below[move.path], new=new[move.path])
        bits = _permissions(move, known.get(move.path), found)
        if not move.is_kept and move.old != move.new:
            if not move.is_given_up:
                _refuse_edited(checkout, move, shown_as[move.path], record.series)
            if written.new is not None:
                refuse_in_the_way(checkout, move.path, leaving)
            if found is not None or written.new is not None:
                files.append(Replacement(move.path, found_state(found), written.new, bits))
        if move.new != move.below and not move.is_apart:
            row = _shifted_row(written, known.get(move.path), found, originals)
            is_written = move.is_kept or move.old != move.new or move.path not in known
            if not is_written and row.after != known[move.path].after:
                row = replace(row, after=known[move.path].after, patched=None)
            rows.append(row)
    record = replace(record, files=tuple(rows))
    return Exchange(tuple(files), record, originals, head=(head, head))


def _to_work_tree(
    checkout: Checkout, moves: Collection[FileShift], name: str
) -> dict[str, Content | None]:
    """Return each moved file in the state `name` ("below" or "new"), as git would write it."""
    contents = {move.path: getattr(move, name) for move in moves}
    # What does not come from a patch is not converted.
    ours = {move.path: contents[move.path] for move in moves if not move.is_apart}
    return {**contents, **checkout.clone.conversion.to_work_tree(ours)}


def _as_git(
    checkout: Checkout, applied: Record | None, moves: Collection[FileShift]
) -> dict[str, Content | None]:
    """Return the current content of each file that will change, in the form that git stores."""
    moved = [m for m in moves if m.is_apart or (not m.is_kept and m.old != m.new)]
    apart = {m.path: as_content(found_file(checkout, m.path)) for m in moved if m.is_apart}
    found = {m.path: found_file(checkout, m.path) for m in moved if not m.is_apart}
    state = {move.path: move.old for move in moves if not move.is_apart}
    return {**apart, **checkout.clone.conversion.as_git(found, lambda: state, applied)}


def found_file(checkout: Checkout, path: str) -> WorkFile | None:
    """Return the file that git would see at a path of the checkout, or None if there is none."""
    if checkout.is_below_file(path, tuple(parents_of(path))) or checkout.tree.is_folder(path):
        return None
    return checkout.tree.read(path)


def refuse_in_the_way(checkout: Checkout, path: str, leaving: Collection[str]) -> None:
    """Raise PatchmgrError "dirty-checkout" if a folder is at the path of a file to be written.

    A folder is no obstacle if deleting the files in `leaving` empties it.
    """
    if checkout.is_below_file(path, leaving) or not checkout.tree.is_folder(path):
        return
    below = [*checkout.tree.below(path), (path, True)]
    gone = [at for at, _ in below if at in leaving]
    for at, is_folder in below:
        goes = any(each.startswith(f"{at}/") for each in gone)
        if not (goes if is_folder else at in leaving):
            where = f"{shown(at)} is in the way in {checkout.root}"
            raise _dirty(f"{where}: the series has a file at {shown(path)}")


def as_content(found: WorkFile | None) -> Content | None:
    """Return a file that was read from the checkout as a file to write (None: no file)."""
    return None if found is None else content_of(found.mode, found.content)


def _refuse_edited(checkout: Checkout, move: FileShift, found: Content | None, series: str) -> None:
    if found == move.old:
        return
    where = f"{shown(move.path)} in {checkout.root}"
    if move.old is None:
        message = f"{where} is in the way: a patch creates a file there"
        raise PatchmgrError("edited", message, "move that file aside, then run the command again")
    if move.old == move.below:
        message = f"{where} differs from the pin"
        hint = "make a patch of that edit: patchmgr new NAME, then patchmgr refresh"
        raise PatchmgrError("edited", message, hint, "or undo it with git")
    message = f"{where} was edited since the last refresh"
    keeping = f"or {keep_hint(series, f'--to {typed(checkout.root)}')}"
    raise PatchmgrError("edited", message, "put the edit into a patch: patchmgr refresh", keeping)


def _permissions(move: FileShift, known: AppliedFile | None, found: WorkFile | None) -> int | None:
    """Return the permission bits (for a restored file, its old ones), or None for the default."""
    if move.new is None:
        return None
    if move.below is not None and known is not None and known.permissions is not None:
        original = WorkFile(move.below.mode, b"", known.permissions)
        return permissions_for(move.new.mode, original)
    return permissions_for(move.new.mode, found)


def _shifted_row(
    move: FileShift, known: AppliedFile | None, found: WorkFile | None, originals: dict[str, bytes]
) -> AppliedFile:
    """Return a moved path's entry in the new record; add its contents to `originals`."""
    bits = None
    if move.below is not None:
        bits = known.permissions if known is not None else None
        bits = permissions_for(move.below.mode, found) if bits is None else bits
    after = as_content(found) if move.is_kept else move.new
    blob = None if move.new is None else move.new.entry.blob
    return _applied_file(move.path, move.below, after, bits, blob, originals)


def _applied_file(
    path: str,
    before: Content | WorkFile | None,
    after: Content | None,
    permissions: int | None,
    blob: str | None,
    originals: dict[str, bytes],
) -> AppliedFile:
    """Return a path's entry in the new record; add its old and new content to `originals`."""
    names: list[str | None] = []
    for content in (before, after):
        names.append(None if content is None else str(len(originals)))
        if content is not None:
            originals[str(len(originals))] = content.content
    states = found_state(before), found_state(after)
    return AppliedFile(path, *states, names[0], permissions, blob, names[1])


def refuse_same_names(
    root: Path,
    there: Collection[str],
    leaving: Collection[str] = (),
    below: StoredTree | None = None,
) -> None:
    """Raise PatchmgrError "same-name" if the file system would treat two planned paths as one.

    The files of the tree `below`, without those in `leaving`, are checked as well.
    """
    # Some file systems cannot hold two names that differ only in case or Unicode form.
    for one, other in _alike(there, leaving, below):
        if not _holds_apart(root, one, other):
            raise PatchmgrError(
                "same-name",
                f"{shown(one)} and {shown(other)} would be one file in {root}: "
                "its file system does not distinguish their names",
                "use a checkout on a case-sensitive file system (on macOS: on a disk image)",
            )


def _alike(
    there: Collection[str], leaving: Collection[str], below: StoredTree | None
) -> Iterator[tuple[str, str]]:
    """Yield pairs of paths that some file systems would treat as the same path."""
    known: dict[str, str] = {}
    for path in sorted(there):
        other = known.setdefault(_folded(path), path)
        if other != path:
            yield other, path
        for found in below.alike(path, _folded) if below is not None else ():
            if found not in leaving and found not in there:
                yield found, path


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _holds_apart(root: Path, one: str, other: str) -> bool:
    """Return whether the file system of a folder can hold both paths as different files."""
    pairs = zip(one.split("/"), other.split("/"), strict=True)
    first, second = next(pair for pair in pairs if pair[0] != pair[1])
    with suppress(OSError), tempfile.TemporaryDirectory(prefix=".patchmgr-", dir=root) as folder:
        place = os.path.join(os.fsencode(folder), git_process.raw(first))
        with open(place, "xb"):
            return not os.path.lexists(os.path.join(os.fsencode(folder), git_process.raw(second)))
    return True


class Goal(Struct, frozen=True):
    """The current and the wanted HEAD of a checkout, and the tree that the series is applied to."""

    onto: StoredTree
    old_head: str
    new_head: str
    makes_commits: bool


class _Row(Struct, frozen=True):
    """A path with its current file, its original file without patches, and its wanted file."""

    path: str
    found: WorkFile | None
    original: WorkFile | None
    wanted: Content | None
    is_restored: bool
    is_folder: bool

    def permissions(self) -> int | None:
        wanted = self.wanted
        return None if wanted is None else permissions_for(wanted.mode, self.original)

    def is_there(self) -> bool:
        """Return whether the current file is already as wanted."""
        if found_state(self.found) != found_state(self.wanted):
            return False
        bits = self.permissions()
        return self.found is None or bits is None or bits == self.found.permissions


def plan_exchange(
    checkout: Checkout,
    applied: Record | None,
    wanted: Mapping[str, Content | None],
    goal: Goal,
    record: Record | None,
    back: Mapping[str, Content | None] | None = None,
) -> Exchange:
    """Plan how to replace the applied files with the wanted ones in a checkout.

    `record` is the new record, whose `files` are filled in here; `back` maps edited files to the
    contents to restore. Raises PatchmgrError "dirty-checkout" if the change would overwrite a file
    that is untracked, or an edited file that is marked skip-worktree or assume-unchanged.
    """
    index = checkout.clone.index()
    old = {file.path: file for file in applied.files} if applied is not None else {}
    # The .gitattributes files that are restored affect the conversion as well.
    gone = (file for path, file in old.items() if path not in wanted and is_attributes(path))
    around = {file.path: as_content(checkout.original_file(file)) for file in gone}
    back = checkout.clone.conversion.to_work_tree(back or {}, around=around)
    wanted = checkout.clone.conversion.to_work_tree(wanted, around=around)
    leaving = _leaving(old, wanted)
    there = [path for path, content in wanted.items() if content is not None]
    refuse_same_names(checkout.root, there, leaving, goal.onto)
    rows = []
    stands = zip(old, checkout.standings(tuple(old.values())), strict=True)
    applied_now = {path for path, standing in stands if standing is FileStanding.PATCHED}
    for path in sorted({*wanted, *old}):
        row = _row(checkout, path, old.get(path), wanted, leaving, is_in=path in applied_now)
        row = replace(row, wanted=back.get(path, row.wanted))
        _refuse_in_the_way(checkout, row, path in old, index.get(path), leaving)
        rows.append(row)
    return replace(
        _exchange(rows, record),
        head=(goal.old_head, goal.new_head),
        index=_index_after(checkout, rows, wanted, goal, index),
        hidden=frozenset(
            row.path
            for row in rows
            if row.is_restored and row.wanted is None and goal.onto.entry(row.path) is not None
        ),
    )


def plan_files(
    target: Target,
    applied: Collection[AppliedFile],
    wanted: Mapping[str, Content | None],
    record: Record | None,
    *,
    originals: Mapping[str, WorkFile | None] | None = None,
    given_up: Collection[str] = (),
) -> Exchange:
    """Plan how to replace the applied files of an installed package with the `wanted` ones.

    `applied` has the patched files that no other program has written since. `originals` has the old
    contents of files that somebody has edited; edits to the files in `given_up` are overwritten.
    """
    old = {file.path: file for file in applied}
    leaving = _leaving(old, wanted)
    refuse_same_names(target.root, [p for p, content in wanted.items() if content is not None])
    rows = [
        _row(target, path, old.get(path), wanted, leaving, is_in=path in given_up)
        for path in sorted({*wanted, *old})
    ]
    known = originals or {}
    rows = [replace(row, original=known.get(row.path, row.original)) for row in rows]
    for row in rows:
        if row.wanted is not None and row.is_folder:
            raise _dirty(f"{row.path} is a folder in {target.root}, but a file in the series")
    return _exchange(rows, record)


def _exchange(rows: Collection[_Row], record: Record | None) -> Exchange:
    """Return the changes to make to files, and the original contents to keep."""
    originals: dict[str, bytes] = {}
    kept = tuple(_kept(row, originals) for row in rows if not row.is_restored)
    return Exchange(
        files=tuple(
            Replacement(row.path, found_state(row.found), row.wanted, row.permissions())
            for row in rows
            if not row.is_there()
        ),
        record=None if record is None else replace(record, files=kept),
        originals=originals,
    )


def _leaving(old: Mapping[str, AppliedFile], wanted: Mapping[str, Content | None]) -> set[str]:
    """Return the paths at which no file will remain."""
    gone = {path for path, content in wanted.items() if content is None}
    return gone | {p for p, file in old.items() if p not in wanted and file.before is None}


def _row(
    checkout: Target,
    path: str,
    old: AppliedFile | None,
    wanted: Mapping[str, Content | None],
    leaving: Collection[str],
    *,
    is_in: bool = False,
) -> _Row:
    is_free = checkout.is_below_file(path, leaving)
    is_folder = not is_free and checkout.tree.is_folder(path)
    found = None if is_free or is_folder else checkout.tree.read(path)
    original = found
    if old is not None and (is_in or found_state(found) in (old.before, old.after)):
        original = checkout.original_file(old)
    is_back = path not in wanted
    new = as_content(original) if is_back else wanted[path]
    return _Row(path, found, original, new, is_restored=is_back, is_folder=is_folder)


def _refuse_in_the_way(
    checkout: Checkout, row: _Row, is_ours: bool, indexed: Indexed | None, leaving: Collection[str]
) -> None:
    root = checkout.clone.root
    if row.wanted is not None:
        refuse_in_the_way(checkout, row.path, leaving)
    if row.found is None or is_ours:
        return
    if indexed is None:
        raise _dirty(f"{row.path} is untracked in {root} and would be overwritten")
    if indexed.is_hidden and not _has_blob(checkout, row.path, row.found, indexed.entry.blob):
        raise _dirty(
            f"{row.path} in {root} was edited, but is marked skip-worktree or assume-unchanged"
        )


def _dirty(message: str) -> PatchmgrError:
    return PatchmgrError("dirty-checkout", message, "move it out of the way, or commit it")


def _kept(row: _Row, originals: dict[str, bytes]) -> AppliedFile:
    bits = None if row.original is None else row.original.permissions
    blob = None if row.wanted is None else row.wanted.entry.blob
    return _applied_file(row.path, row.original, row.wanted, bits, blob, originals)


def _index_after(
    checkout: Checkout,
    rows: Collection[_Row],
    wanted: Mapping[str, Content | None],
    goal: Goal,
    index: Mapping[str, Indexed],
) -> dict[str, Entry | None]:
    """Return the index entries to change."""
    entries: dict[str, Entry | None] = {}
    for row in rows:
        final = goal.onto.entry(row.path)
        if goal.makes_commits and row.path in wanted:
            content = wanted[row.path]
            final = None if content is None else content.entry
        present = index.get(row.path)
        entry = present.entry if present is not None else None
        # If HEAD stays, only the entries of restored files change whose patches were staged.
        if entry != final and (goal.old_head != goal.new_head or _is_staged(checkout, row, entry)):
            entries[row.path] = final
    return entries


def _is_staged(checkout: Checkout, row: _Row, entry: Entry | None) -> bool:
    if not row.is_restored or row.found is None or entry is None:
        return row.is_restored and row.found is None and entry is None
    is_same = entry.mode == row.found.mode
    return is_same and _has_blob(checkout, row.path, row.found, entry.blob)


def _has_blob(checkout: Checkout, path: str, found: WorkFile, blob: str) -> bool:
    """Return whether a file has the content of a blob, as it is or after git's conversion."""
    if blob_id(found.content) == blob:
        return True
    return blob_id(checkout.clone.conversion.to_git({path: found})[path]) == blob
