"""`export`: write a series in another tool's format; the same series gives the same bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.series import show_series
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.exports import FORMS, ExportedFile, ExportItem, Form, Pinned
from patchmgr.formats.shown import shown
from patchmgr.formats.upstream_status import backported
from patchmgr.model.patch import own_author
from patchmgr.model.series import SkippedPatch
from patchmgr.model.snapshot import REGULAR, SYMLINK
from patchmgr.plumbing.applied import AppliedFile, Record, content_of, found_state, state_of
from patchmgr.plumbing.diffs import commit_diffs, tree_diff
from patchmgr.plumbing.durable import make_folders, remove_empty, writes
from patchmgr.plumbing.plain_files import refuse_links
from patchmgr.plumbing.scratch_repository import Scratch, write_commits
from patchmgr.plumbing.target import Exchange, Replacement, Target
from patchmgr.plumbing.work_tree import WorkFile, permissions_for
from patchmgr.services.carry import RebasedSeries
from patchmgr.services.load import series_at_pin
from patchmgr.services.session import Session
from patchmgr.services.upstreaming import first_releases
from patchmgr.workspace import PRIVATE


class ExportedPatch(Struct, frozen=True):
    """An exported patch; `kept` is true if the patch file was copied byte for byte."""

    name: str
    kept: bool


class Exported(Struct, frozen=True):
    """The result of an export."""

    series: str
    form: str
    out: Path  # the folder or file that was written
    files: tuple[str, ...]  # all files of the export
    written: tuple[str, ...]  # files that this run wrote
    deleted: tuple[str, ...]
    left: tuple[str, ...]  # files of an earlier export that were kept because a person edited them
    patches: tuple[ExportedPatch, ...]
    skipped: tuple[SkippedPatch, ...]


def export(
    session: Session, name: str, wanted: str, place: Path, *, package: str | None, is_forced: bool
) -> Exported:
    """Export a series in the `wanted` format; patches that fit the format are copied unchanged.

    `place` is the folder or file to write, and `package` the name of an npm package, if the format
    needs one. Raises PatchmgrError "in-the-way", before it writes, if a file that patchmgr did not
    write would be replaced.
    """
    form = _form(wanted)
    root = session.workspace.root
    _check_place(root, place)
    exported_files, skipped, files = _Export(session, name, form, package).made()
    private = root / PRIVATE / "exports"
    refuse_links(root, f"{PRIVATE}/exports")
    delivery = ExportTarget(place, private, name, is_file=form.is_file)
    delivered = delivery.deliver(files, is_forced=is_forced, is_dry_run=session.is_dry_run)
    for exported in exported_files:
        for clause in form.losses(exported):
            session.say(f"warning: {shown(exported.item.patch.name)} {clause}")
    for path in delivered.left:
        session.say(f"Kept, because it was edited: {delivery.root / path}")
    if delivered.beside:
        listed = shown(", ".join(delivered.beside))
        session.say(f"Other patches stay in {place}; delete those that are obsolete: {listed}")
    return Exported(
        name,
        wanted,
        place,
        tuple(sorted(path or place.name for path in files)),
        delivered.written,
        delivered.deleted,
        delivered.left,
        tuple(
            ExportedPatch(exported.item.patch.name, exported.is_kept) for exported in exported_files
        ),
        skipped,
    )


def _form(name: str) -> Form:
    if name not in FORMS:
        close = get_close_matches(name, FORMS, n=1)
        hint = (f"nearest: --as {close[0]}",) if close else ()
        message = f"--as must be one of {', '.join(FORMS)}"
        raise UsageError(message if not name else f"{message}, not {name}", *hint)
    return FORMS[name]


def _check_place(root: Path, place: Path) -> None:
    """Raise PatchmgrError "usage" if the export would be among the workspace's own files."""
    own = [root / name for name in ("series", "conflicts", PRIVATE)]
    if place == root or any(folder in (place, *place.parents) for folder in own):
        message = f"{place} is where the workspace keeps its own files"
        raise UsageError(message, "name another place with --out")


Made = tuple[tuple[ExportedFile, ...], tuple[SkippedPatch, ...], Mapping[str, bytes]]


class _Export(Struct, frozen=True):
    session: Session
    name: str
    form: Form
    package: str | None

    def made(self) -> Made:
        """Return the exported patches, the skipped ones, and the files to write, keyed by path."""
        if self.form.takes_all:
            view = show_series(self.session, self.name)
            record, lines = view.record, view.file.lines
            pinned = Pinned(record.pin.commit, record.pin.ref, lines, self.package)
            nobody = own_author()
            items = [ExportItem(one, view.file.line(one.name), nobody) for one in view.patches]
            self.form.check(items, pinned)
            exported_files = tuple(ExportedFile(item, item.patch.raw) for item in items)
            return exported_files, (), self.form.files(exported_files, pinned)
        return self._carried()

    def _carried(self) -> Made:
        """Apply the series to its pin, and export the carried patches in git's format."""
        with series_at_pin(self.session, self.name) as at_pin:
            scratch, carried, base = at_pin.scratch, at_pin.carried, at_pin.base
            loaded = at_pin.loaded
            lines, ref = loaded.file.lines, loaded.record.pin.ref
            pinned = Pinned(base, ref, lines, self.package)
            if self.form.names_releases:
                git = self.session.workspace.upstream(loaded.record.upstream).git or ""
                names = map(backported, loaded.patches)
                landed = first_releases(self.session, loaded.record, names)
                pinned = replace(pinned, repository=git, landed=landed)
            outcomes = {o.name: o for o in carried.outcomes}
            items = tuple(
                ExportItem(patch, loaded.file.line(patch.name), outcomes[patch.name].author)
                for patch in loaded.patches
                if outcomes[patch.name].is_carried
            )
            self.form.check(items, pinned)
            moved = _moved_from_start(carried)
            kept = [
                is_kept and item.patch.name not in moved
                for item, is_kept in zip(items, self.form.kept(items, pinned), strict=True)
            ]
            if all(kept):
                diffs: Mapping[str, bytes] = {}
            else:
                commits = write_commits(scratch, base, carried.drafts())
                diffs = self._diffs(scratch, base, commits, items, pinned)

        def content(item: ExportItem) -> bytes:
            return self.form.rewritten(item, diffs[item.patch.name], pinned)

        exported_files = tuple(
            ExportedFile(item, item.patch.raw if as_it_is else content(item))
            for item, as_it_is in zip(items, kept, strict=True)
        )
        skipped = tuple(
            SkippedPatch(o.name, o.reason or "it is not carried")
            for o in carried.outcomes
            if not o.is_carried
        )
        return exported_files, skipped, self.form.files(exported_files, pinned)

    def _diffs(
        self,
        scratch: Scratch,
        base: str,
        commits: Sequence[str],
        items: Sequence[ExportItem],
        pinned: Pinned,
    ) -> Mapping[str, bytes]:
        """Return the diff of each patch or, if the format has only one diff, that of the series."""
        if self.form.is_whole:
            whole = tree_diff(scratch.git_dir, base, commits[-1])
            return {item.patch.name: whole for item in items}
        shape = self.form.shape(pinned)
        found = commit_diffs(
            scratch.git_dir, commits, finds_renames=shape.finds_renames, folder=shape.folder
        )
        return {item.patch.name: found[commit] for item, commit in zip(items, commits, strict=True)}


def _moved_from_start(carried: RebasedSeries) -> set[str]:
    """Return the names of patches in which a hunk at line 1 of a file has moved down."""
    return {
        patch.outcome.name
        for patch in carried.judged
        for file in patch.files
        for hunk, at in zip(file.step.change.hunks, file.step.positions, strict=True)
        if hunk.old_start <= 1 and at > 0
    }


class ExportResult(Struct, frozen=True):
    """The files that an export wrote, deleted, or kept because a person edited them."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    left: tuple[str, ...]
    # other patch files that the folder had before the first export to it
    beside: tuple[str, ...] = ()


class ExportTarget(Target):
    """The folder to which a series is exported. Several series may share it."""

    fault = "edited-export"
    mending = ("delete that file; the next export then needs --force",)
    settling = ("save that edit elsewhere, then run the command again",)

    def __init__(self, place: Path, private: Path, series: str, *, is_file: bool) -> None:
        digest = hashlib.sha256(os.fsencode(place) + b"\0" + series.encode()).hexdigest()[:16]
        root = place.parent if is_file else place
        super().__init__(root, private / digest)
        self._name, self._series = place.name if is_file else "", series

    def deliver(
        self, files: Mapping[str, bytes], *, is_forced: bool, is_dry_run: bool
    ) -> ExportResult:
        """Write files by path, and delete those of the last export that are no longer part of it.

        Raises PatchmgrError "in-the-way" for a file that patchmgr did not write, unless
        `is_forced`.
        """
        wanted = {path or self._name: content for path, content in files.items()}
        if is_dry_run:
            return self._plan_files(wanted, is_forced)[1]
        made: list[Path] = []
        try:
            with writes(str(self.root)):
                if not os.path.lexists(self.root):
                    make_folders(self.root, made)
            self.private.parent.mkdir(parents=True, exist_ok=True)
            with self.held():
                self.recover()
                exchange, delivered = self._plan_files(wanted, is_forced)
                self.replace(exchange)
        except BaseException:
            remove_empty(made)
            raise
        return delivered

    def _plan_files(
        self, wanted: Mapping[str, bytes], is_forced: bool
    ) -> tuple[Exchange, ExportResult]:
        record = self.record()
        known = {} if record is None else {file.path: file.after for file in record.files}
        rows: list[Replacement] = []
        left: list[str] = []
        for path in sorted({*wanted, *known}):
            found = self._found(path)
            state = found_state(found)
            is_ours = state is None or state == known.get(path)
            if path not in wanted:
                if is_ours and state is not None:
                    rows.append(Replacement(path, state, None))
                elif not is_ours:
                    left.append(path)
            elif found is None or found.mode == SYMLINK or found.content != wanted[path]:
                if not (is_ours or is_forced):
                    place, series = f"{shown(path)} in {self.root}", self._series
                    message = (
                        f"{place} was not written by an export of {series}, or has been edited"
                    )
                    hints = ("name another place with --out", "or replace the file: --force")
                    raise PatchmgrError("in-the-way", message, *hints)
                new = content_of(REGULAR, wanted[path])
                rows.append(Replacement(path, state, new, permissions_for(REGULAR, found)))
        noted = (
            AppliedFile(path, None, state_of(REGULAR, content), None, None)
            for path, content in sorted(wanted.items())
        )
        fresh = Record(self._series, "export", (), "", None, tuple(noted))
        gone = tuple(row.path for row in rows if row.wanted is None)
        there = tuple(row.path for row in rows if row.wanted is not None)
        beside = self._patches() - wanted.keys() if record is None and not self._name else ()
        delivered = ExportResult(there, gone, tuple(left), tuple(sorted(beside)))
        return Exchange(tuple(rows), fresh, {}), delivered

    def _patches(self) -> set[str]:
        names = os.listdir(self.root) if self.root.is_dir() else []
        return {name for name in names if name.endswith((".patch", ".diff"))}

    def _found(self, path: str) -> WorkFile | None:
        if not os.path.lexists(self.root):
            return None
        if not self.root.is_dir():
            raise UsageError(f"{self.root} is not a folder")
        return self.tree.read(path)
