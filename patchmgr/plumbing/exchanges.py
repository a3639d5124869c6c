"""Plan what changes in a checkout: an old application out, a new one in, and nobody's work lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.model.ids import blob_id
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.applied import AppliedFile, FileState, Record, state_of
from patchmgr.plumbing.checkout import Checkout, Standing
from patchmgr.plumbing.clones import Indexed
from patchmgr.plumbing.conversion import Content, is_attributes
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.same_names import refuse_same_names
from patchmgr.plumbing.target import Exchange, Replacement, Target
from patchmgr.plumbing.work_tree import WorkFile, permissions_for


class Goal(Struct, frozen=True):
    """Where HEAD is and is to be; `onto` are the files below the series that is to be in."""

    onto: StoredTree
    old_head: str
    new_head: str
    makes_commits: bool


class _Row(Struct, frozen=True):
    """One path: what is there, what was there before any series, and what is to be there."""

    path: str
    found: WorkFile | None
    original: WorkFile | None
    wanted: Content | None
    is_restored: bool
    is_folder: bool

    def before(self) -> FileState | None:
        """Return the state that is found."""
        return _state(self.found)

    def after(self) -> FileState | None:
        """Return the state that is wanted."""
        if self.wanted is None:
            return None
        return state_of(self.wanted.entry.mode, self.wanted.content)

    def permissions(self) -> int | None:
        """Return the bits for the file that is wanted."""
        if self.wanted is None:
            return None
        return permissions_for(self.wanted.entry.mode, self.original)

    def is_there(self) -> bool:
        """Say whether nothing is to be done."""
        if self.before() != self.after():
            return False
        bits = self.permissions()
        return self.found is None or bits is None or bits == self.found.permissions


def plan_exchange(
    checkout: Checkout,
    applied: Record | None,
    wanted: Mapping[str, Content | None],
    goal: Goal,
    record: Record | None,
) -> Exchange:
    """Plan to put the wanted files in place of what the applied record names.

    Raises PatchmgrError "dirty-checkout" where a file is in the way that git does not know, or
    was told not to look at. `record` is the new record, without its files.
    """
    index = checkout.clone.index()
    old = {file.path: file for file in applied.files} if applied is not None else {}
    around = _going_back(checkout, old, wanted)
    wanted = checkout.clone.conversion.to_work_tree(wanted, around=around)
    leaving = _leaving(checkout, old, wanted)
    there = [path for path, content in wanted.items() if content is not None]
    refuse_same_names(checkout.root, there, leaving, goal.onto)
    rows = []
    stands = zip(old, checkout.standings(tuple(old.values())), strict=True)
    applied_now = {path for path, standing in stands if standing is Standing.PATCHED}
    for path in sorted({*wanted, *old}):
        row = _row(checkout, path, old.get(path), wanted, leaving, is_in=path in applied_now)
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
    applied: Record | None,
    wanted: Mapping[str, Content | None],
    record: Record | None,
    *,
    replaced: Collection[str],
) -> Exchange:
    """Plan the same where there are but files.

    Those `replaced` are originals of their own: somebody put them there since.
    """
    files = applied.files if applied is not None else ()
    old = {file.path: file for file in files if file.path not in replaced}
    leaving = _leaving(target, old, wanted)
    refuse_same_names(target.root, [p for p, content in wanted.items() if content is not None])
    rows = [_row(target, path, old.get(path), wanted, leaving) for path in sorted({*wanted, *old})]
    for row in rows:
        if row.wanted is not None and row.is_folder:
            raise _dirty(f"{row.path} is a folder in {target.root}, and a file of the series")
    return _exchange(rows, record)


def _exchange(rows: Collection[_Row], record: Record | None) -> Exchange:
    """Return what changes of the files, and what is kept of those that were there."""
    originals: dict[str, bytes] = {}
    kept = tuple(_kept(row, originals) for row in rows if not row.is_restored)
    return Exchange(
        files=tuple(
            Replacement(
                row.path,
                row.before(),
                row.wanted.entry if row.wanted else None,
                row.wanted.content if row.wanted else None,
                row.permissions(),
            )
            for row in rows
            if not row.is_there()
        ),
        record=None if record is None else replace(record, files=kept),
        originals=originals,
    )


def _leaving(
    checkout: Target, old: Mapping[str, AppliedFile], wanted: Mapping[str, Content | None]
) -> set[str]:
    """Return the paths that will have no file."""
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
    is_free = _is_below_leaving(checkout, path, leaving)
    is_folder = not is_free and checkout.tree.is_folder(path)
    found = None if is_free or is_folder else checkout.tree.read(path)
    original = found
    if old is not None and (is_in or _state(found) in (old.before, old.after)):
        original = _original(checkout, old)
    if path in wanted:
        return _Row(path, found, original, wanted[path], is_restored=False, is_folder=is_folder)
    back = _as_content(original)
    return _Row(path, found, original, back, is_restored=True, is_folder=is_folder)


def _going_back(
    checkout: Checkout, old: Mapping[str, AppliedFile], wanted: Mapping[str, Content | None]
) -> dict[str, Content | None]:
    """Return the .gitattributes files that go back to what they were."""
    back = (f for path, f in old.items() if path not in wanted and is_attributes(path))
    return {file.path: _as_content(_original(checkout, file)) for file in back}


def _as_content(file: WorkFile | None) -> Content | None:
    if file is None:
        return None
    return Content(Entry(file.mode, blob_id(file.content)), file.content)


def _is_below_leaving(checkout: Target, path: str, leaving: Collection[str]) -> bool:
    """Say whether a file that leaves is still where a folder of the path will be."""
    parts = path.split("/")
    parents = ("/".join(parts[:end]) for end in range(1, len(parts)))
    return any(p in leaving and not checkout.tree.is_folder(p) for p in parents)


def _original(checkout: Target, file: AppliedFile) -> WorkFile | None:
    if file.before is None or file.original is None:
        return None
    content = checkout.original(file.original)
    if state_of(file.before.mode, content) != file.before:
        raise PatchmgrError("broken-target", f"the kept original of {file.path} has changed")
    return WorkFile(file.before.mode, content, file.permissions or 0o644)


def _refuse_in_the_way(
    checkout: Checkout,
    row: _Row,
    is_ours: bool,
    indexed: Indexed | None,
    leaving: Collection[str],
) -> None:
    root = checkout.clone.root
    if row.wanted is not None and row.is_folder:
        for below, is_folder in checkout.tree.below(row.path):
            if not is_folder and below not in leaving:
                raise _dirty(f"{below} is in {root}, where the series has the file {row.path}")
            if is_folder and not any(path.startswith(below + "/") for path in leaving):
                raise _dirty(f"{below} is in {root}, where the series has the file {row.path}")
    if row.found is None or is_ours:
        return
    if indexed is None:
        raise _dirty(f"{row.path} is in {root} already, but not tracked")
    if indexed.is_hidden and not _has_blob(checkout, row.path, row.found, indexed.entry.blob):
        raise _dirty(f"{row.path} in {root} was edited, and git was told not to look at it")


def _dirty(message: str) -> PatchmgrError:
    return PatchmgrError("dirty-checkout", message, ("move it away, or commit it",))


def _kept(row: _Row, originals: dict[str, bytes]) -> AppliedFile:
    name = None
    if row.original is not None:
        name = str(len(originals))
        originals[name] = row.original.content
    bits = None if row.original is None else row.original.permissions
    blob = None if row.wanted is None else row.wanted.entry.blob
    return AppliedFile(row.path, _state(row.original), row.after(), name, bits, blob)


def _index_after(
    checkout: Checkout,
    rows: Collection[_Row],
    wanted: Mapping[str, Content | None],
    goal: Goal,
    index: Mapping[str, Indexed],
) -> dict[str, Entry | None]:
    """Return the index entries to change: all of them where HEAD moves.

    Else only those of files that go back, and that somebody staged as the series had left them.
    """
    entries: dict[str, Entry | None] = {}
    for row in rows:
        final = goal.onto.entry(row.path)
        if goal.makes_commits and row.path in wanted:
            content = wanted[row.path]
            final = None if content is None else content.entry
        present = index.get(row.path)
        entry = present.entry if present is not None else None
        if entry != final and (goal.old_head != goal.new_head or _is_staged(checkout, row, entry)):
            entries[row.path] = final
    return entries


def _is_staged(checkout: Checkout, row: _Row, entry: Entry | None) -> bool:
    """Say whether a file that goes back is in the index as it stands."""
    if not row.is_restored or row.found is None or entry is None:
        return row.is_restored and row.found is None and entry is None
    is_same = entry.mode == row.found.mode
    return is_same and _has_blob(checkout, row.path, row.found, entry.blob)


def _has_blob(checkout: Checkout, path: str, found: WorkFile, blob: str) -> bool:
    """Say whether a file is a blob, as it is or as git would add it."""
    if blob_id(found.content) == blob:
        return True
    return blob_id(checkout.clone.conversion.to_git({path: found})[path]) == blob


def _state(found: WorkFile | None) -> FileState | None:
    return None if found is None else state_of(found.mode, found.content)
