"""Find the checkouts to which series are applied, and the state of the patches in them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from patchmgr.engines.text.differences import undone_changes
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.series_files import parse_series
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing import git_process
from patchmgr.plumbing.applied import AppliedFile, Record
from patchmgr.plumbing.checkout import Checkout, FileStanding
from patchmgr.plumbing.checkout_changes import found_file
from patchmgr.plumbing.clones import Clone, find_clone, open_clone
from patchmgr.plumbing.durable import BESIDE, replace_file
from patchmgr.plumbing.history import is_ancestor
from patchmgr.plumbing.linked_worktree import LinkedWorktree
from patchmgr.plumbing.target import Target
from patchmgr.services.session import Session
from patchmgr.workspace import LOCK, PRIVATE, Workspace

_TARGETS = f"{PRIVATE}/targets"


_Kind = TypeVar("_Kind", bound=Target)


NO_DIFF = hashlib.sha256(b"").hexdigest()


class Verification(Struct, frozen=True, rename={"is_applied": "applied", "is_current": "current"}):
    """The result of `verify` for a checkout or a package."""

    series: str
    target: Path
    is_applied: bool
    is_current: bool  # the series has not changed since it was applied
    files: tuple[tuple[str, FileStanding], ...]  # the paths that the series changes
    pushed: int | None = None  # the number of pushed patches; None if the whole series is applied

    @property
    def is_sound(self) -> bool:
        """Return whether the current state of the series is fully applied."""
        all_in = all(standing is FileStanding.PATCHED for _, standing in self.files)
        return self.is_applied and self.is_current and all_in


def series_digest(
    session: Session,
    record: SeriesRecord,
    selected: Collection[str],
    *,
    changes: Mapping[str, bytes | None] | None = None,
) -> str:
    """Return the sha256, in hex digits, of a series and those below it: pins, patches, selection.

    `changes` has, by path, new contents of workspace files that are not written yet.
    """

    def read(name: str) -> bytes:
        path = f"series/{record.name}/{name}"
        changed = (changes or {}).get(path)
        if changed is not None:
            return changed
        is_patch, workspace = name != "series", session.workspace
        return workspace.listed(record.name, name) if is_patch else workspace.read(path)

    digest = hashlib.sha256(f"{record.pin.commit}\n{sorted(selected)}\n".encode())
    if record.on is not None:
        lower = session.workspace.series_record(record.on)
        digest.update(series_digest(session, lower, selected, changes=changes).encode())
    digest.update(read("series"))
    settings = session.workspace.settings(record.name, changes=changes)
    for name in parse_series(read("series")).names():
        digest.update(hashlib.sha256(read(name)).digest())
        for group in settings.off_groups(name):
            digest.update(f"off {group}\n".encode())
    return digest.hexdigest()


@contextmanager
def settled(session: Session, target: _Kind, *, only_reads: bool = False) -> Iterator[_Kind]:
    """Lock a checkout or package, and complete an interrupted change to it.

    For a dry run or a command that only reads, lock it only if a change was interrupted.
    """
    if (session.is_dry_run or only_reads) and not target.is_interrupted:
        yield target
        return
    with target.held():
        said = target.recover()
        if said is not None:
            session.say(said)
        yield target


def record_in_force(checkout: Checkout, head: str, changed: Collection[str]) -> Record | None:
    """Return the record of the applied series, or None if it is no longer applied.

    A series applied as commits is applied as long as HEAD contains them. Any other series is
    applied if a file of it differs from HEAD and either is as the series left it, or was edited but
    still has a change of the series (for pushed patches, any edit will do). A series that changes
    no file is applied until HEAD moves.
    """
    record = checkout.record()
    if record is None:
        return None
    if record.head is not None:
        return record if is_ancestor(checkout.clone.git_dir, record.head, head) else None
    stands = dict(zip(record.files, checkout.standings(record.files), strict=True))
    is_in = any(
        stands[file] is FileStanding.PATCHED
        or (stands[file] is FileStanding.EDITED and (record.pushed or _is_patched(checkout, file)))
        for file in unlike_head(checkout, record.files, changed)
    )
    is_empty = not record.files and record.pushed != () and head == record.onto
    return record if is_in or is_empty else None


def _is_patched(checkout: Checkout, file: AppliedFile) -> bool:
    """Return whether an edited file still has a change that the patches made."""
    kept = checkout.original_file(file), checkout.patched_file(file)
    files = (*kept, found_file(checkout, file.path))
    modes = [found and found.mode for found in files]
    if None not in modes and modes[0] != modes[1] == modes[2]:
        return True
    old, patched, now = (b"" if found is None else found.content for found in files)
    return not all(undone_changes(old, patched, now))


def unlike_head(
    checkout: Checkout, files: Collection[AppliedFile], changed: Collection[str]
) -> tuple[AppliedFile, ...]:
    """Return the files in `changed` (they differ from HEAD), and those that git never compares."""
    index = checkout.clone.index()

    def may_differ(file: AppliedFile) -> bool:
        known = index.get(file.path)
        # git does not compare files marked skip-worktree or assume-unchanged
        return file.path in changed or (known.is_hidden if known else not file.before)

    return tuple(file for file in files if may_differ(file))


def applied_now(checkout: Checkout, head: str) -> Record | None:
    """Return the record of the applied series, or None if no series is applied.

    Pushed patches are applied until every file is as it was before them, or as in a new HEAD.
    """
    record = checkout.record()
    if record is not None and record.pushed is not None:
        stands = dict(zip(record.files, checkout.standings(record.files), strict=True))
        left = [file for file, each in stands.items() if each is not FileStanding.ORIGINAL]
        if head != record.onto and FileStanding.PATCHED not in stands.values():
            left = [*unlike_head(checkout, left, checkout.clone.changed_paths())]
        # edits that undo lower patches may be meant for an empty top patch
        has_empty_top = bool(record.pushed) and record.pushed[-1].digest == NO_DIFF
        return None if stands and not left and not has_empty_top else record
    if record is None:
        return None
    return record_in_force(checkout, head, set(checkout.clone.changed_paths()))


def verification_of(session: Session, record: SeriesRecord, checkout: Checkout) -> Verification:
    """Return the state of a series in an open checkout, file by file."""
    applied, target = checkout.record(), checkout.clone.root
    nothing = Verification(record.name, target, is_applied=False, is_current=False, files=())
    if applied is None or applied.series != record.name:
        return nothing
    paths = (file.path for file in applied.files)
    files = tuple(zip(paths, checkout.standings(applied.files), strict=True))
    # Patches that a person has committed are also applied, although their record is out of date.
    are_in = all(found is FileStanding.PATCHED for _, found in files)
    if not are_in and applied_now(checkout, checkout.clone.head()) is None:
        return nothing
    selected = session.selected or applied.selected
    is_current = applied.digest == series_digest(session, record, selected)
    is_part = applied.pushed is not None and not applied.digest
    pushed = len(applied.pushed or ()) if is_part else None
    return Verification(
        record.name, target, is_applied=True, is_current=is_current, files=files, pushed=pushed
    )


def remember_target(workspace: Workspace, target: Path, git_dir: Path | None = None) -> None:
    """Record where a series was applied, so that `status` can look there.

    `git_dir` is the checkout's own git directory, which `git worktree move` leaves in place.
    """
    raw = os.fsencode(target) + (b"" if git_dir is None else b"\0" + os.fsencode(git_dir))
    folder = workspace.root / _TARGETS
    with suppress(OSError):
        folder.parent.mkdir(exist_ok=True)
        if not folder.is_symlink() and not folder.parent.is_symlink():
            folder.mkdir(exist_ok=True)
            name = hashlib.sha256(raw.rpartition(b"\0")[2]).hexdigest()[:16]
            replace_file(folder / name, raw)


def known_applications(session: Session) -> tuple[Verification, ...]:
    """Return the state of each recorded checkout in which patches are applied."""
    found = []
    for _, checkout, applied in _noted_checkouts(session.workspace):
        with suppress(PatchmgrError):
            if applied.pushed != ():
                record = session.workspace.series_record(applied.series)
                verified = verification_of(session, record, checkout)
                found += [verified] if verified.is_applied else []
    return tuple(sorted(found, key=lambda v: (v.series, str(v.target))))


def _noted_checkouts(workspace: Workspace) -> Iterator[tuple[Path, Checkout, Record]]:
    """Yield the recorded checkouts that exist and in which a series was applied."""
    for target in known_targets(workspace):
        with suppress(PatchmgrError):
            checkout = None if target.parent.name == PRIVATE else Checkout(open_clone(target))
            record = None if checkout is None else checkout.record()
            if checkout is not None and record is not None:
                yield target, checkout, record


def known_targets(workspace: Workspace) -> Iterator[Path]:
    """Yield the recorded targets: checkouts, and for packages their `.patchmgr` folders."""
    found: dict[Path, None] = {}
    with suppress(OSError):
        for note in sorted((workspace.root / _TARGETS).iterdir()):
            if note.suffix != BESIDE and note.is_file():
                target, _, git_dir = git_process.text(note.read_bytes()[:8192]).partition("\0")
                moved = _moved_to(Path(git_dir)) if git_dir else None
                found[moved or Path(target)] = None
    yield from found


def _moved_to(git_dir: Path) -> Path | None:
    """Return where the linked worktree of a git directory is, or None if there is none."""
    with suppress(OSError):
        return Path(os.fsdecode((git_dir / "gitdir").read_bytes().rstrip(b"\n"))).parent
    return None


def only_series(session: Session, name: str | None = None) -> str:
    """Return the given series name, or the name of the only series in the workspace.

    Raises PatchmgrError "usage" if no name is given and there is not exactly one series.
    """
    if name:
        return session.workspace.series_record(name).name
    known = sorted(session.workspace.lock().series)
    if len(known) != 1:
        raise UsageError("name a series", f"series here: {', '.join(known) or 'none'}")
    return known[0]


def find_place(
    *, cwd: Path, named: Path | None, to: Path | None, begins: bool
) -> tuple[Path, Path | None]:
    """Return the folder from which to search for the workspace, and the checkout, if any.

    `named` and `to` are the workspace and the checkout that the user named. With `begins` (the
    command may push the first patch), the checkout around `cwd` always counts.
    """
    clone = _around(cwd) if to is None else _opened(to)
    checkout = to if to is not None or clone is None else clone.root
    noted = None if clone is None else _noted_workspace(clone)
    if to is None and noted is None and not begins:
        return named or cwd, None
    if named is not None or checkout is None:
        return named or cwd, checkout
    # else the search starts at the workspace that the checkout has recorded
    is_inside = to is not None and _workspace_around(cwd) is not None
    return cwd if noted is None or is_inside else noted, checkout


def _around(cwd: Path) -> Clone | None:
    """Return the checkout that contains a folder, unless the folder is in a workspace inside it."""
    clone = find_clone(cwd)
    workspace = _workspace_around(cwd)
    if clone is None or (workspace is not None and workspace.is_relative_to(clone.root)):
        return None
    return clone


def _opened(checkout: Path) -> Clone | None:
    try:
        return open_clone(checkout)
    except PatchmgrError:  # the command will report the same error
        return None


def _workspace_around(cwd: Path) -> Path | None:
    return next((at for at in (cwd, *cwd.parents) if (at / LOCK).is_file()), None)


def _noted_workspace(clone: Clone) -> Path | None:
    if clone.is_bare:
        return None
    record, shown = Checkout(clone).record(), LinkedWorktree(clone).stand()
    names = (one.workspace for one in (record, shown) if one is not None and one.workspace)
    return next((Path(name) for name in names if (Path(name) / LOCK).is_file()), None)


def pushed_targets(workspace: Workspace, series: str | None) -> tuple[tuple[Path, Record], ...]:
    """Return the checkouts in which patches of the workspace, or of one series, are applied."""
    root = str(workspace.root)
    return tuple(
        (target, record)
        for target, _, record in _noted_checkouts(workspace)
        if record.workspace == root and series in (None, record.series)
    )


def verify_checkout(session: Session, name: str, target: Path) -> Verification:
    """Return, file by file, whether the current state of a series is applied to a checkout."""
    record = session.workspace.series_record(name)
    with settled(session, Checkout(open_clone(target)), only_reads=True) as checkout:
        return verification_of(session, record, checkout)
