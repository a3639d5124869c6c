"""`import` of patches, all or none, from files, folders, git ranges, StGit stacks or upstream."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.engines.series.needs import check_promise, missing_on
from patchmgr.engines.series.placement import Rejected, apply_hunks, nearest_places
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import IMPORTED_FROM
from patchmgr.formats.mailbox import slug
from patchmgr.formats.patch_files import parse_listed
from patchmgr.formats.rewriting import with_places
from patchmgr.formats.series_files import with_ended_lines, write_series
from patchmgr.formats.shown import shown, typed
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Blobs
from patchmgr.model.series import SeriesFile, SeriesLine
from patchmgr.model.snapshot import EMPTY_BLOB, GITLINK, REGULAR, Entry
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.forks import with_fetch_hint
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.render.escape import cut_off
from patchmgr.services.carry import CarryOptions
from patchmgr.services.edits import read_edits
from patchmgr.services.forks import Fork, read_fork
from patchmgr.services.installed import Location
from patchmgr.services.load import SeriesRun
from patchmgr.services.patch_sources import (
    SUFFIXES,
    Reading,
    SourcePatch,
    read_commit,
    read_pull,
    read_range,
    read_stack,
    readable,
)
from patchmgr.services.series import LoadedSeries, load_series, needed_blobs, touched_paths
from patchmgr.services.session import Session
from patchmgr.services.upstream_states import End, UpstreamStates
from patchmgr.workspace import Change


class Imported(Struct, frozen=True):
    """An imported patch."""

    patch: Patch
    risks: tuple[str, ...]  # paths of the patch that a person should look at (`risks_of`)
    is_rest: bool = False  # it has the changes that the fork made in a merge commit itself


class Import(Struct, frozen=True):
    """The imported patches."""

    patches: tuple[Imported, ...]
    fork: Fork | None = None  # set if the merges of a fork were converted to patches


class Sources(Struct, frozen=True):
    """What to import: files and folders, a git range, a stack, commits or pull requests."""

    paths: Sequence[Path] = ()
    git: tuple[Path, str] | None = None  # a repository and a range
    merges: str | None = None  # how to import a range with merges
    stack: tuple[Path, str | None] | None = None  # a repository and a branch
    strip: int | None = None  # N of the user's -pN; None finds it out for each source
    is_reversed: bool = False  # import the reverse of each patch
    pulls: Sequence[str] = ()
    commits: Sequence[str] = ()
    without: Sequence[str] = ()  # names of patches to leave out
    edited: Location | None = None  # an installed package; its edits become a patch

    def read(
        self, session: Session, record: SeriesRecord, say: Callable[[str], None]
    ) -> tuple[list[SourcePatch | SeriesLine], Fork | None]:
        """Return the patches and series lines in order, and the fork they come from, if any."""
        reading = Reading(say, self.strip)
        found = [item for path in self.paths for item in reading.read(path)]
        fork = None
        if self.git is not None:
            with with_fetch_hint(*self.git):
                fork = read_fork(session, record, *self.git, self.merges)
                found += fork.patches if fork is not None else read_range(*self.git, say)
        if self.stack is not None:
            found += read_stack(*self.stack, say)
        found += [read_commit(session, record, name) for name in self.commits]
        found += [read_pull(session, record, name) for name in self.pulls]
        found += [] if self.edited is None else [read_edits(session, record, self.edited, say)]
        return [_reversed(item) for item in found] if self.is_reversed else found, fork


def _reversed(item: SourcePatch | SeriesLine) -> SourcePatch | SeriesLine:
    """Return the reverse of a patch; raise a "usage" error if it comes from a series file."""
    if isinstance(item, SeriesLine) or item.line is None:
        return item if isinstance(item, SeriesLine) else replace(item, is_reversed=True)
    raise UsageError(f"-R cannot be used here: {shown(item.label)} is listed in a series file")


def import_patches(session: Session, sources: Sources, *, series: str) -> Import:
    """Append patches to a series; each must apply to the pin after the patches before it."""
    commits = sources.git or sources.stack or sources.pulls or sources.commits
    if not (sources.paths or commits or sources.edited):
        hint = "or name commits: --git REPO A..B, --commit SHA, --pull N"
        raise UsageError("name a file or a folder", hint)
    with session.writing():
        workspace = session.workspace
        record = workspace.series_record(series)
        notes: list[str] = []  # messages for the user, printed once the import is certain
        found, fork = sources.read(session, record, notes.append)
        if not any(isinstance(item, SourcePatch) for item in found):
            clones = [path for path in sources.paths if (path / ".git").exists()]
            hints = [
                f"for commits of {path}: patchmgr import --git {typed(path)} A..B"
                for path in clones
            ]
            raise UsageError("the named sources have no patches", *notes, *hints)
        loaded = load_series(session, series)
        present = loaded.file
        with Scratch([loaded.upstream.store]) as scratch:
            run = SeriesRun(session, CarryOptions(), scratch, UpstreamStates(session))
            place = _Place(run, loaded, scratch.tree(run.base_commit(loaded)[0]))
            lines, patches = _named(place, found, frozenset(sources.without), notes)
            if not patches:
                raise UsageError(f"{series} already has all of these patches")
            new = SeriesFile((*with_ended_lines(present).lines, *lines))
            stands_alone = record.on is None and not present.names()
            becomes = fork.files if fork is not None and fork.is_whole and stands_alone else None
            patches = _check_fold(place, new, patches, becomes, notes)
        for note in notes:
            session.say(note)
        change = Change({f"series/{series}/{p.name}": p.raw for p in patches})
        change.files[f"series/{series}/series"] = write_series(new)
        change.files.update(fork.lessons if fork is not None else {})
        workspace.make(change)
    rests = fork.rests if fork is not None else ()
    imported = (Imported(patch, risks_of(patch), n in rests) for n, patch in enumerate(patches))
    return Import(tuple(imported), fork)


class _Place(Struct, frozen=True):
    """The series to append to, and the tree that its first patch applies to."""

    run: SeriesRun
    loaded: LoadedSeries
    tree: StoredTree


def _named(
    place: _Place, found: Sequence[SourcePatch | SeriesLine], without: Set[str], notes: list[str]
) -> tuple[tuple[SeriesLine, ...], tuple[Patch, ...]]:
    """Return the new lines of the series file, and the patches, each with an unused name.

    A patch is left out if the series has one from the same commit. Raises PatchmgrError
    "changed-patch" if these two differ, and "usage" if a name in `without` matches no patch. Adds
    to `notes` how patches were changed.
    """
    session, known = place.run.session, place.loaded.patches
    names = {*place.loaded.file.names(), "series", "series.toml"}
    names |= session.workspace.names_beside(place.loaded.record.name).keys()
    commits = {patch.says(IMPORTED_FROM): patch for patch in known}
    files = Overlay(place.tree)
    for patch in known:
        _note_files(files, patch)
    lines: list[SeriesLine] = []
    patches: list[Patch] = []
    left_out: set[str] = set()
    for each in found:
        if isinstance(each, SeriesLine):
            lines.append(each)
            continue
        if not without.isdisjoint({each.label, each.wish}):
            left_out |= without & {each.label, each.wish}
            continue
        for item, draft in readable(each, lambda path: files.entry(path) is not None, notes):
            if not draft.files and item.line is None:
                hint = "export it with git format-patch, or with git diff --no-color --binary"
                raise PatchmgrError("bad-patch", f"{item.label} has no diff", hint)
            commit = draft.says(IMPORTED_FROM)
            if commit is not None and commit in commits:
                _check_same(item, draft, commits[commit], commit)
                name = shown(commits[commit].name)
                notes.append(f"Left out {item.label}: {commit[:12]} is already in {name}.")
                continue
            is_taken = partial(_is_taken, session, place.loaded.record.name, names, item.raw)
            name = _name(item, draft, is_taken)
            if name in without:
                left_out.add(name)
                continue
            names.add(name)
            lines.append(item.listed(name))
            patches.append(parse_listed(item.raw, lines[-1]))
            _note_files(files, draft)
    if without - left_out:
        unknown = shown(", ".join(sorted(without - left_out)))
        raise UsageError(f"--without: the named sources have no patch {unknown}")
    return tuple(lines), tuple(patches)


def _note_files(files: Overlay, patch: Patch) -> None:
    """Record which files exist after a patch, but not their contents."""
    for change in patch.files:
        if change.old_path is not None and change.old_path != change.new_path:
            files.set(change.old_path, files.entry(change.old_path) if change.is_copy else None)
        if change.new_path is not None:
            files.set(change.new_path, Entry(REGULAR, EMPTY_BLOB))


def _check_same(item: SourcePatch, draft: Patch, patch: Patch, commit: str) -> None:
    """Raise an error if a patch differs from an earlier patch made from the same commit."""
    if item.commit != commit and _changes(draft.diff) != _changes(patch.diff):
        name = shown(patch.name)
        raise PatchmgrError(
            "changed-patch",
            f"{item.label} and {name} are both from {commit[:12]}, but they differ",
            f"to see the patch: patchmgr show {name}",
            "add the differences with patchmgr refresh; do not import this commit again",
        )


def _changes(diff: bytes) -> list[bytes]:
    """Return the lines of a diff without line numbers, context and blob ids."""
    # An empty line is context, or between two mails: the last mail of a range has none at its end.
    no_change = (b"index ", b"@@ ", b" ")
    return [line for line in diff.splitlines() if line and not line.startswith(no_change)]


def _name(item: SourcePatch, draft: Patch, is_taken: Callable[[str], bool]) -> str:
    """Return an unused file name, if possible the requested one."""
    if item.line is not None and item.wish is not None and not is_taken(item.wish):
        return item.wish
    return _free_name(item.wish or f"{slug(draft.subject)}.patch", is_taken)


def _is_taken(session: Session, series: str, names: Set[str], raw: bytes, name: str) -> bool:
    return name in names or not session.workspace.is_free(series, name, raw)


def _free_name(wish: str, is_taken: Callable[[str], bool]) -> str:
    folder, slash, last = wish.rpartition("/")
    stem, dot, suffix = last.rpartition(".")
    if not dot or f".{suffix}" not in SUFFIXES:
        stem, suffix = last, "patch"
    stem = folder + slash + (re.sub(r"[\s#]+", "-", stem).lstrip("-.") or "patch")
    name, number = f"{stem}.{suffix}", 1
    while is_taken(name):
        number += 1
        name = f"{stem}-{number}.{suffix}"
    return name


def _check_fold(
    place: _Place,
    order: SeriesFile,
    new: Sequence[Patch],
    becomes: Mapping[str, Entry | None] | None,
    notes: list[str],
) -> tuple[Patch, ...]:
    """Apply all patches to the pin in memory, and return the new ones.

    If a hunk fits in several places, the patch gets the line numbers that `git apply` and `patch`
    choose, and `notes` says so. A patch with guards must apply with at least one of their symbols.
    Raises PatchmgrError if a patch does not apply, and AssertionError if the patches of a fork do
    not result in the files in `becomes`.
    """
    session, scratch, tree = place.run.session, place.run.scratch, place.tree
    upstream, record = place.loaded.upstream, place.loaded.record
    lines = {line.name: line for line in order.lines}
    symbols = sorted({guard.symbol for line in order.lines for guard in line.guards})
    known = set(place.loaded.file.names())
    patches = [*place.loaded.patches, *new]
    upstream.try_fetch_objects(needed_blobs([tree], touched_paths(patches)), scratch)
    pin = End(place.loaded.base, tree)
    views = place.run.upstreams.views(record.upstream, upstream, scratch, patches=patches, base=pin)
    missing = missing_on(patches, views.base, views.states) if views is not None else {}
    for name in sorted(missing.keys() - known):
        session.say(f"{name} is in the series, but left out on the series' pin: {missing[name]}")
    unproven = {patch.name for patch in patches} - (missing.keys() & known)
    faults: list[PatchmgrError] = []
    for selected in (frozenset[str](), *(frozenset({symbol}) for symbol in symbols)):
        let_in = [p for p in patches if lines[p.name].refusal(selected) is None]
        let_in = [p for p in let_in if p.name not in missing or p.name not in known]
        overlay = Overlay(tree)
        found: list[PatchmgrError] = []
        for patch in let_in:
            side = Overlay(overlay) if patch.name in missing else overlay
            try:
                applied = _applied(patch, lines[patch.name], side, scratch, may_move=patch in new)
                if patch.name not in missing and views is not None and patch.name not in known:
                    check_promise(applied, overlay, views)
            except PatchmgrError as fault:
                found.append(fault)
                continue
            if applied is not patch:
                patches[patches.index(patch)] = applied
                notes.append(_MOVED.format(shown(patch.name)))
            if not found:
                unproven.discard(patch.name)
        if found and not selected:
            raise _with_others(found, is_alone=len(new) == 1)
        faults += found
        if becomes is not None and not missing and overlay.changes() != becomes:
            raise AssertionError("the patches do not result in the tree of the fork")
    if unproven and faults:
        raise faults[0]
    return tuple(patches[len(place.loaded.patches) :])


_MOVED = (
    "{} has hunks that fit in several places; its line numbers are now those that git apply and "
    "patch choose."
)


_MOST_FAULTS = 9  # a patch that fails early makes many after it fail


def _with_others(faults: Sequence[PatchmgrError], *, is_alone: bool) -> PatchmgrError:
    """Return the first error; its hints name the other errors, and say how to import the rest."""
    first, *others = faults
    hints = list(first.hints)
    if others:
        hints.append("these do not apply either:")
        lines = [f"  {fault.message.replace(' does not apply', '')}" for fault in others]
        hints += cut_off(lines, _MOST_FAULTS, "  and {}")
    if "were not found" in first.message:
        hints.append(
            "if `patch` applies it with fuzz: commit the result, then patchmgr import --git CLONE "
            "PIN..HEAD"
        )
    if not is_alone:
        hints.append("to import the others: --without NAME (repeatable)")
    return PatchmgrError(first.kind, first.message, *hints)


def _applied(
    patch: Patch, line: SeriesLine, side: Overlay, blobs: Blobs, *, may_move: bool
) -> Patch:
    """Apply a patch and return it; with `may_move`, place ambiguous hunks as git and `patch` do."""
    try:
        step_patch(side, patch, blobs)
    except PatchmgrError:
        placed = _placed(patch, line, side, blobs) if may_move else None
        if placed is None:
            raise
        step_patch(side, placed, blobs)
        return placed
    return patch


def _placed(patch: Patch, line: SeriesLine, side: Overlay, blobs: Blobs) -> Patch | None:
    """Place a patch's ambiguous hunks as git and `patch` do; return None if that cannot be done."""
    places: dict[int, Sequence[int]] = {}
    for index, change in enumerate(patch.files):
        entry = side.entry(change.old_path) if change.old_path is not None else None
        if entry is not None and entry.mode != GITLINK and change.hunks:
            content = blobs.read(entry.blob)
            applied = apply_hunks(content, change.hunks)
            if isinstance(applied, Rejected) and applied.is_ambiguous:
                nearest = nearest_places(content, change.hunks)
                places.update({index: nearest} if nearest is not None else {})
    if not places or patch.is_reversed:
        return None
    return parse_listed(with_places(patch, places), line)


_RUNS_BY_BEING_THERE = frozenset(
    {"sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", ".gitmodules",
     ".gitattributes", "pyproject.toml", "setup.cfg", "Makefile"}
)  # fmt: skip


def risks_of(patch: Patch) -> tuple[str, ...]:
    """Return the paths of binary files, and of files that tools run by themselves (Makefile)."""
    return tuple(
        change.path
        for change in patch.files
        if change.path.rsplit("/", 1)[-1] in _RUNS_BY_BEING_THERE
        or change.path.endswith(".pth")
        or change.binary is not None
    )
