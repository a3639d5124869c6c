"""Find what somebody edited in an installed package, and make a patch of it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.series.installed_paths import InstalledPaths, is_apart
from patchmgr.engines.text.differences import undone_changes
from patchmgr.errors import UsageError
from patchmgr.formats.overlays import start_check
from patchmgr.formats.paths import refusal
from patchmgr.model.patch import own_author
from patchmgr.model.snapshot import REGULAR, Entry
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.applied import Record
from patchmgr.plumbing.diffs import tree_diff
from patchmgr.plumbing.durable import write_synced, writes
from patchmgr.plumbing.environments import other_owners
from patchmgr.plumbing.installation import (
    Installation,
    PackageState,
    original_reader,
    replaced_paths,
)
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.plain_files import refuse_links
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.plumbing.target import keep_hint
from patchmgr.plumbing.work_tree import WorkFile
from patchmgr.services.carry import CarryOptions
from patchmgr.services.checkouts import settled
from patchmgr.services.installed import Location, find_installed, own_record, path_map
from patchmgr.services.load import series_at_pin
from patchmgr.services.packages import RepositoryFiles, is_same_release
from patchmgr.services.patch_sources import SourcePatch
from patchmgr.services.series import whole_series
from patchmgr.services.session import Session, require_pin
from patchmgr.workspace import PRIVATE

_COMPILED = ".pyc"


class EditedFile(Struct, frozen=True):
    """A file of a package that somebody edited."""

    place: str  # the path in the package
    path: str  # the path in the repository
    original: WorkFile | None  # the file in the wheel
    now: WorkFile | None  # None if it was deleted


class Edits(Struct, frozen=True):
    """The edited files of a package."""

    known: tuple[EditedFile, ...]
    unknown: tuple[str, ...]  # those whose original is not in the pin
    unfit: tuple[str, ...]  # added links, and unsafe names: no patch may have these


def find_edits(session: Session, record: SeriesRecord, target: Installation) -> Edits:
    """Return the files of a package that differ from both the wheel and the applied series.

    The originals come from the pin, which must be the installed release, and must match RECORD.
    """
    present = target.record()
    applied = {file.path: file for file in present.files} if present is not None else {}
    added = [*_added(target)]
    unfit = tuple(p for p in added if refusal(p) or os.path.islink(target.root / p))
    places = [
        place
        for place in dict.fromkeys((*_listed(target), *applied, *added))
        if target.state(place, applied.get(place), is_current=True) is PackageState.EDITED
        or (place not in applied and target.is_pristine(place, b"") is None)
    ]
    places = [place for place in places if place not in unfit] + _deleted(target, present)
    if not places:
        return Edits((), (), unfit)
    upstream = session.upstream_of(record)
    pin = require_pin(upstream, record.pin)
    known: list[EditedFile] = []
    unknown: list[str] = []
    with Scratch([upstream.store]) as scratch:
        tree = scratch.tree(pin.commit)
        paths = _repository_paths(session, record, target, present, tree, places)
        entries = [entry for path in paths.values() if (entry := tree.entry(path)) is not None]
        upstream.try_fetch_objects({entry.blob for entry in entries}, scratch)
        for place in places:
            path, now = paths.get(place), target.file(place)
            entry = None if path is None else tree.entry(path)
            original = None
            if place in applied:
                original = target.original_file(applied[place])
            elif entry is not None:
                content = scratch.read(entry.blob)  # the mode is the installer's, not upstream's
                original = replace(now or WorkFile(REGULAR, b"", 0o644), content=content)
            is_proven = place in applied or (
                place not in target.distribution.record
                if original is None
                else bool(target.is_pristine(place, original.content))
            )
            if path is None or not is_proven:
                # a file without a hash in RECORD is unknown unless the pin has the same file
                if original is None or now != original:
                    unknown.append(place)
            else:
                known.append(EditedFile(place, path, original, now))
    return Edits(tuple(known), tuple(unknown), unfit)


def _listed(target: Installation) -> Iterator[str]:
    """Yield the package's own files in RECORD, except for compiled modules."""
    for place in target.distribution.record:
        if not (is_apart(place) or place.endswith(_COMPILED)):
            yield place


def _added(target: Installation) -> Iterator[str]:
    """Yield the files and links in the package's folders that no installed package lists."""
    found: list[str] = []
    for top in sorted({place.partition("/")[0] for place in _listed(target) if "/" in place}):
        for folder, folders, names in os.walk(target.root / top):
            links = {name for name in folders if os.path.islink(os.path.join(folder, name))}
            folders[:] = sorted({*folders} - {*links, "__pycache__", ".git"})
            around = os.path.relpath(folder, target.root)
            new = sorted({*names, *links} - {".git"})
            found += [f"{around}/{name}" for name in new if not name.endswith(_COMPILED)]
    found = [place for place in found if place not in target.distribution.record]
    others = other_owners(target.distribution, found) if found else {}
    yield from (place for place in found if place not in others)


def _deleted(target: Installation, present: Record | None) -> list[str]:
    """Return the files that the series added and that somebody deleted."""
    if present is None or present.onto != target.distribution.version:
        return []
    replaced = replaced_paths(target, present)
    files = [file for file in present.files if file.path in replaced]
    # files of the wheel were replaced as well, so an installer may have deleted them
    if any(file.before is not None for file in files):
        return []
    checks = start_check(target.distribution.name)
    return [f.path for f in files if f.path not in checks and target.file(f.path) is None]


def _repository_paths(
    session: Session,
    record: SeriesRecord,
    target: Installation,
    present: Record | None,
    tree: StoredTree,
    places: list[str],
) -> dict[str, str]:
    """Map installed files to their paths in the repository, as far as these are known."""
    patches, _ = whole_series(session, record)
    read = original_reader(target, present, is_for_writing=False)
    source = RepositoryFiles([tree], patches, read)
    layout = InstalledPaths(target.distribution.record, path_map(session, record.name), source)
    names = {place.rpartition("/")[2] for place in places}
    made = (f.new_path for p in patches for f in p.files if f.new_path is not None)
    found: dict[str, str] = {}
    for path in dict.fromkeys((*tree.files(), *made)):
        if path.rpartition("/")[2] in names:
            is_new = tree.entry(path) is None
            place = layout.place_new(path) if is_new else layout.find(path)
            if place is not None:
                found.setdefault(place, path)
    paths = {place: found.get(place) or layout.path_of(place) for place in places}
    return {place: path for place, path in paths.items() if path is not None}


def read_edits(
    session: Session, record: SeriesRecord, where: Location, say: Callable[[str], None]
) -> SourcePatch:
    """Return the edits to an installed package as one patch on top of the series.

    Raises PatchmgrError "usage" if the installed release is not the pin, if nothing was edited, or
    if the series has changed since it was applied.
    """
    _, distribution = find_installed(session, record, where)
    what = f"{distribution.name} {distribution.version}"
    if not is_same_release(record.pin, distribution.version):
        raise UsageError(
            f"{what} is installed, but {record.name} is written against {record.pin.ref}",
            f"patchmgr rebase {record.name} --onto v{distribution.version.partition('+')[0]}",
        )
    with settled(session, Installation(distribution), only_reads=True) as target:
        hint = "add the edits to that series: --series"
        own_record(session, target, record.name, where, hint)
        edits = find_edits(session, record, target)
        lost = f"neither RECORD nor the pin identifies the original of {', '.join(edits.unknown)}"
        if not edits.known:
            but = f"; {lost}" if edits.unknown else ""
            raise UsageError(f"no edited file of {what} was found{but}")
        if edits.unknown:
            say(f"Left out, because {lost}")
        if edits.unfit:
            say(f"Left out, because they are links or have unsafe names: {', '.join(edits.unfit)}")
        diff = _diff(session, record, target, edits, where.words())
    say(f"The edits stay in place. Now run: patchmgr apply {record.name} {where.words()}")
    return SourcePatch(diff, f"the edits of {what}", f"{distribution.name}-edits.patch")


def keep_edits(
    session: Session,
    name: str,
    old: Mapping[str, WorkFile | None],
    new: Mapping[str, WorkFile | None],
) -> Path | None:
    """Write edits of files (`old` to `new`) to a new patch file, and return its path.

    Returns None if no file was edited.
    """
    if not old:
        return None
    with (
        tempfile.TemporaryDirectory(prefix="patchmgr-") as folder,
        Scratch((), folder=Path(folder)) as scratch,
    ):
        drafts = []
        for side in (old, new):
            blobs = {p: scratch.add(file.content) for p, file in side.items() if file is not None}
            entries = {p: None if f is None else Entry(f.mode, blobs[p]) for p, f in side.items()}
            drafts.append(Draft(own_author(), b"edits\n", entries))
        diff = tree_diff(scratch.git_dir, *write_commits(scratch, None, drafts))
    names = (f"{PRIVATE}/{name}-edits{f'-{n}' if n else ''}.patch" for n in count())
    root = session.workspace.root
    place = root / next(each for each in names if not os.path.lexists(root / each))
    if not session.is_dry_run:
        refuse_links(root, PRIVATE)
        with writes(str(place)):
            place.parent.mkdir(exist_ok=True)
            write_synced(place, diff)
    # Said before the files are restored, because Ctrl-C ends the command right after that.
    kept = "Would keep your edits in" if session.is_dry_run else "Your edits are in"
    session.say(f"{kept} {place}")
    return place


def _diff(
    session: Session, record: SeriesRecord, target: Installation, edits: Edits, where: str
) -> bytes:
    """Return the diff from the pin, or from the applied series, to the edited files."""
    present = target.record()
    quantify = any if replaced_paths(target, present) else all
    options = CarryOptions(frozenset(present.selected if present is not None else ()))
    with series_at_pin(session, record.name, options) as at_pin:
        scratch, base, applied = at_pin.scratch, at_pin.base, at_pin.carried.changes
        if present is None:
            base, applied = record.pin.commit, {}
        before = Overlay(scratch.tree(base))
        for path, new in applied.items():
            before.set(path, new)
        files = present.files if present is not None else ()
        after = {file.path: file.after and file.after.sha256 for file in files}
        changes: dict[str, Entry | None] = {}
        for edit in edits.known:
            entry = before.entry(edit.path)
            content = None if entry is None else scratch.read(entry.blob)
            digest = None if content is None else hashlib.sha256(content).hexdigest()
            if edit.place in after and after[edit.place] != digest:
                raise UsageError(
                    f"{record.name} was changed after it was applied to {edit.place}",
                    keep_hint(record.name, where),
                )
            if edit.place in after and edit.original is not None and edit.now is not None:
                undone = undone_changes(edit.original.content, content or b"", edit.now.content)
                if undone and quantify(undone):
                    name = target.distribution.name
                    raise UsageError(
                        f"{edit.place} was edited, and does not have the changes of {record.name}:"
                        f" {name} was installed again after the series was applied",
                        f"keep a copy of {edit.place}, install {name} again, and run:"
                        f" patchmgr apply {record.name} {where}",
                        "then edit the patched file, and import the edit",
                    )
            changes[edit.path] = None
            if edit.now is not None:
                mode = entry.mode if entry is not None else edit.now.mode
                changes[edit.path] = Entry(mode, scratch.add(edit.now.content))
        drafts = [Draft(own_author(), b"edits\n", some) for some in (applied, changes)]
        return tree_diff(scratch.git_dir, *write_commits(scratch, base, drafts))
