"""`apply`, `unapply` and `verify` on a git checkout."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from patchmgr.commands.carrying import Carried, Wishes, carry, items_of, touched_paths
from patchmgr.commands.session import Session, nobody, require_pin
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import PatchOutcome, Verdict
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.checkout import AppliedFile, Checkout, NewFile, Record, state_of
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.fast_import import write_commits
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Application:
    """What `apply` did; `is_new` is False where all was in place already."""

    series: str
    target: Path
    patches: tuple[PatchOutcome, ...]
    paths: tuple[str, ...]
    head: str | None
    is_new: bool

    @property
    def has_conflicts(self) -> bool:
        """Say whether a patch could not be applied; then nothing was written."""
        left = (Verdict.CONFLICT, Verdict.BLOCKED)
        return any(patch.verdict in left for patch in self.patches)


class Standing(str, Enum):
    """How a file of the target stands to what was applied."""

    PATCHED = "patched"
    ORIGINAL = "original"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found; `is_current` says that the series has not changed since."""

    series: str
    target: Path
    is_applied: bool
    is_current: bool
    files: tuple[tuple[str, Standing], ...]

    @property
    def is_sound(self) -> bool:
        """Say whether the present series is in, whole."""
        all_in = all(standing is Standing.PATCHED for _, standing in self.files)
        return self.is_applied and self.is_current and all_in


def series_digest(session: Session, record: SeriesRecord, wishes: Wishes) -> str:
    """Return the sha256 (64 hex) of pin, series file, selection and patch files."""
    workspace = session.workspace
    digest = hashlib.sha256(f"{record.pin.commit}\n{sorted(wishes.selected)}\n".encode())
    digest.update(workspace.read(f"series/{record.name}/series"))
    for name in workspace.series_file(record.name).names():
        digest.update(hashlib.sha256(workspace.read(f"series/{record.name}/{name}")).digest())
    return digest.hexdigest()


def apply_to_checkout(
    session: Session, name: str, target: Path, *, commits: bool, wishes: Wishes, is_dry_run: bool
) -> Application:
    """Apply a series to a checkout of any commit, all of it or nothing.

    Raises PatchmgrError "dirty-checkout" where tracked files differ from HEAD.
    """
    record = session.workspace.series_record(name)
    checkout = _open(session, target)
    digest = series_digest(session, record, wishes)
    applied = checkout.record()
    if applied is not None:
        if applied.series == name and applied.digest == digest:
            if all(_standing(checkout, f) is Standing.PATCHED for f in applied.files):
                paths = tuple(file.path for file in applied.files)
                return Application(name, target, (), paths, applied.head, is_new=False)
        if applied.series != name:
            raise PatchmgrError(
                "usage",
                f"the series {applied.series} is applied in {target}",
                (f"take it out with: patchmgr unapply {applied.series} --to {target}",),
            )
        if is_dry_run:
            raise PatchmgrError(
                "usage",
                f"another state of {name} is applied in {target}; --dry-run needs it taken out",
                (f"patchmgr unapply {name} --to {target}",),
            )
        unapply_from_checkout(session, name, target, is_dry_run=False)
    _require_clean(checkout, target)
    return _apply(session, record, checkout, digest, commits, wishes, is_dry_run)


def _open(session: Session, target: Path) -> Checkout:
    checkout = Checkout(open_clone(target))
    if checkout.recover():
        session.say(f"Finished the change that an interrupted command had begun in {target}.")
    return checkout


def _require_clean(checkout: Checkout, target: Path) -> None:
    changed = checkout.changed_paths()
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise PatchmgrError(
            "dirty-checkout",
            f"{target} has changes that are not committed: {changed[0]}{more}",
            (f"commit or stash them: git -C {target} stash",),
        )


def _apply(
    session: Session,
    record: SeriesRecord,
    checkout: Checkout,
    digest: str,
    commits: bool,
    wishes: Wishes,
    is_dry_run: bool,
) -> Application:
    side = session.side_of(record)
    base = require_pin(side, record.pin)
    patches = session.workspace.patches(record.name)
    clone, head = checkout.clone, checkout.clone.head()
    with Workbench([side.store, clone.git_dir]) as bench:
        old, onto = bench.tree(base.commit), bench.tree(head)
        if isinstance(side, GitUpstream):
            entries = [old.entry(path) for path in touched_paths(patches)]
            side.try_fetch_objects({e.blob for e in entries if e is not None})
        items = items_of(patches, session.workspace.series_file(record.name), wishes.selected)
        carried = carry(
            bench,
            record.name,
            items,
            old,
            onto,
            author=nobody(side, record.pin),
            wishes=wishes,
            progress=session.progress,
        )
        paths = tuple(sorted(carried.changes))
        result = Application(record.name, clone.root, carried.outcomes, paths, None, is_new=True)
        if result.has_conflicts or is_dry_run:
            return result
        new_head = _commit(bench, checkout, carried, head) if commits else None
        files = [_new_file(bench, path, carried.changes[path]) for path in paths]
        kept = [_kept(checkout, n, file) for n, file in enumerate(files)]
        state = Record(record.name, digest, head, new_head, tuple(kept))
        checkout.replace(files, state, (head, new_head) if new_head else None)
        _check_written(checkout, state)
    return Application(record.name, clone.root, carried.outcomes, paths, new_head, is_new=True)


def _commit(bench: Workbench, checkout: Checkout, carried: Carried, head: str) -> str:
    commits = write_commits(bench, head, carried.drafts())
    new_head = commits[-1] if commits else head
    checkout.clone.take(bench.git_dir, new_head, head)
    return new_head


def _new_file(bench: Workbench, path: str, entry: Entry | None) -> NewFile:
    if entry is not None and entry.mode == GITLINK:
        raise PatchmgrError("usage", f"{path} is a submodule, which apply cannot change")
    return NewFile(path, entry, None if entry is None else bench.read(entry.blob))


def _kept(checkout: Checkout, number: int, file: NewFile) -> AppliedFile:
    """Note the file before and after; refuse where the work tree has not what HEAD says."""
    found = checkout.tree.read(file.path)
    original = None if found is None else checkout.keep_original(number, found[1])
    after = None
    if file.entry is not None and file.content is not None:
        after = state_of((file.entry.mode, file.content))
    if found is not None and file.entry is not None and not _is_tracked(checkout, file.path):
        raise PatchmgrError(
            "dirty-checkout", f"{file.path} is in {checkout.clone.root} already, but not tracked"
        )
    return AppliedFile(file.path, state_of(found), after, original)


def _is_tracked(checkout: Checkout, path: str) -> bool:
    from patchmgr.plumbing import door

    arguments = ["--literal-pathspecs", "ls-files", "--error-unmatch", "-z", "--", path]
    return door.run(arguments, cwd=checkout.clone.root, good=(0, 1))[0] == 0


def _check_written(checkout: Checkout, record: Record) -> None:
    for file in record.files:
        if _standing(checkout, file) is not Standing.PATCHED:
            raise PatchmgrError("not-written", f"{file.path} is not what was written to it")


def _standing(checkout: Checkout, file: AppliedFile) -> Standing:
    found = state_of(checkout.tree.read(file.path))
    if found == file.after:
        return Standing.PATCHED
    return Standing.ORIGINAL if found == file.before else Standing.EDITED


def unapply_from_checkout(
    session: Session, name: str, target: Path, *, is_dry_run: bool
) -> tuple[str, ...]:
    """Put the original files back; refuse where somebody edited them since."""
    checkout = _open(session, target)
    record = checkout.record()
    if record is None or record.series != name:
        raise PatchmgrError("usage", f"the series {name} is not applied in {target}")
    edited = [f.path for f in record.files if _standing(checkout, f) is Standing.EDITED]
    if edited:
        raise PatchmgrError(
            "dirty-checkout",
            f"{edited[0]} in {target} was edited after the series was applied",
            ("commit or undo that edit first",),
        )
    head = checkout.clone.head()
    if record.head is not None and head != record.head:
        raise PatchmgrError(
            "usage",
            f"{target} has commits after those of {name}",
            (f"git -C {target} revert {record.onto[:12]}..{record.head[:12]}",),
        )
    if not is_dry_run:
        files = [_old_file(checkout, record, file) for file in record.files]
        moved = (record.head, record.onto) if record.head is not None else None
        checkout.replace(files, None, moved)
    return tuple(file.path for file in record.files)


def _old_file(checkout: Checkout, record: Record, file: AppliedFile) -> NewFile:
    if file.before is None or file.original is None:
        return NewFile(file.path, None, None)
    content = checkout.original(file.original)
    from patchmgr.model.ids import blob_id

    return NewFile(file.path, Entry(file.before.mode, blob_id(content)), content)


def verify_checkout(session: Session, name: str, target: Path, *, wishes: Wishes) -> Verification:
    """Say whether the present series is in the checkout, file by file."""
    record = session.workspace.series_record(name)
    checkout = _open(session, target)
    applied = checkout.record()
    if applied is None or applied.series != name:
        return Verification(name, target, is_applied=False, is_current=False, files=())
    files = tuple((f.path, _standing(checkout, f)) for f in applied.files)
    is_current = applied.digest == series_digest(session, record, wishes)
    return Verification(name, target, is_applied=True, is_current=is_current, files=files)


def only_series(session: Session, names: Sequence[str]) -> str:
    """Return the one series that is meant: the named one, or the only one of the workspace."""
    if names:
        return names[0]
    known = sorted(session.workspace.lock().series)
    if len(known) != 1:
        raise PatchmgrError(
            "usage", "name a series", (f"series here: {', '.join(known) or 'none'}",)
        )
    return known[0]
