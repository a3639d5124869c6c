"""Rebase a series from its pin onto the files of an installed package or a wheel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace
from packaging.version import InvalidVersion, Version

from patchmgr.engines.rebase.rebase import Item
from patchmgr.engines.series.installed_paths import InstalledPaths
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.series_settings import PathMap
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.model.patch import FilePatch, Patch, own_author
from patchmgr.model.recorded_conflict import ReplayedResolution
from patchmgr.model.snapshot import FILE_MODES, GITLINK, REGULAR, SYMLINK, Entry, blob_id
from patchmgr.model.upstream import Pin, Resolved, SeriesRecord
from patchmgr.plumbing.applied import Content
from patchmgr.plumbing.history import GitHistory, ReleaseHistory
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.plumbing.work_tree import WorkFile
from patchmgr.services.carry import CarryOptions, RebasedSeries, carry, items_of
from patchmgr.services.decisions import decisions_on, keep_open_findings, save_undecided
from patchmgr.services.load import RebaseRun, rebase_run
from patchmgr.services.series import (
    LoadedSeries,
    needed_blobs,
    tell_strays,
    touched_paths,
    whole_series,
)
from patchmgr.services.session import Session, default_author, require_pin
from patchmgr.services.upstream_states import End

_TEXTS = (".py", ".pyi", ".txt", ".json", ".toml", ".yaml", ".yml", ".md", ".cfg", ".ini",
          ".h", ".hpp", ".cuh", ".cu", ".cpp", ".cc", ".c", ".inl", ".jinja", ".sh")  # fmt: skip


Read = Callable[[str], "WorkFile | None"]


class RepositoryFiles:
    """The files of upstream's repository, as known from trees or, without trees, from patches."""

    def __init__(self, trees: Sequence[StoredTree], patches: Iterable[Patch], read: Read) -> None:
        self._trees, self._read = trees, read
        self._named = {} if trees else _named(patches)
        self._installed: dict[str, str] = {}
        self._ids: dict[str, tuple[str, ...]] = {}

    @property
    def is_whole(self) -> bool:
        """Return whether all files of the repository are known, not only those in patches."""
        return bool(self._trees)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names of the known files directly in a folder."""
        if self._trees:
            return tuple(dict.fromkeys(n for tree in self._trees for n in tree.names(folder)))
        split = (path.rpartition("/") for path in self._named)
        return tuple(name for above, _, name in split if above == folder)

    def is_gone(self, folder: str) -> bool:
        """Return whether the release (or else the pin) has no file directly in a folder."""
        return not (self._trees[0].names(folder) if self._trees else self.names(folder))

    def files(self) -> Iterable[str]:
        """Return the paths of the files in the trees or, without trees, in the patches."""
        return dict.fromkeys(path for tree in self._trees for path in tree.files()) or self._named

    def is_same(self, path: str, place: str) -> bool:
        """Return whether `place` in the package and `path` in the repository have equal content."""
        found = self._blob(place)
        return bool(found) and any(found.startswith(known) for known in self._known(path))

    def _known(self, path: str) -> tuple[str, ...]:
        if path not in self._ids:
            entries = [tree.entry(path) for tree in self._trees]
            ids = {entry.blob for entry in entries if entry and entry.mode in FILE_MODES}
            self._ids[path] = tuple(ids or filter(None, [self._named.get(path)]))
        return self._ids[path]

    def _blob(self, place: str) -> str:
        """Return the blob id of a file in the package, or "" if it was edited or is unreadable."""
        if place not in self._installed:
            found = _readable(self._read, place)
            self._installed[place] = "" if found is None else blob_id(found.content)
        return self._installed[place]


def _readable(read: Read, place: str) -> WorkFile | None:
    try:
        return read(place)
    except PatchmgrError:  # raised again if a patch changes the file
        return None


def _named(patches: Iterable[Patch]) -> dict[str, str]:
    """Map each path in patches to the id (perhaps abbreviated, or "") of its old content."""
    found: dict[str, str] = {}
    for patch in patches:
        for file in patch.files:
            if file.old_path is not None:
                found.setdefault(file.old_path, (file.old_id or "").strip("0"))
            elif file.new_path is not None:
                found.setdefault(file.new_path, "")
    return found


def installed_tree(
    scratch: Scratch, base: StoredTree, layout: InstalledPaths, record: Iterable[str], read: Read
) -> dict[str, Entry | None]:
    """Return changes that replace files of the pin with the package's text files."""
    changes: dict[str, Entry | None] = {}
    places: dict[str, str] = {}
    for path in base.files():
        place = layout.find(path)
        if place is not None:
            places[place] = path
        # the package has other files of the same kind from the folder
        elif layout.is_missed(path):
            changes[path] = None
    for place in record:
        at = places.get(place) or layout.path_of(place)
        if at is None or not place.endswith(_TEXTS):
            continue
        found, entry = _readable(read, place), base.entry(at)
        if found is not None and (entry is None or entry.blob != blob_id(found.content)):
            changes[at] = Entry(found.mode, scratch.add(found.content))
    return changes


_UNAVAILABLE = ("unknown-ref", "unreachable-upstream")


class Ends(Struct, frozen=True):
    """The start and target of a rebase onto a package."""

    upstream: OpenUpstream
    base: Resolved | None  # the pin; None for the installed files
    onto: Resolved | None  # the installed release; None for the installed files
    history: GitHistory | ReleaseHistory | None = None
    needs_all: bool = False  # the release cannot be fetched, so all installed files must be read
    notes: tuple[str, ...] = ()  # what could not be checked

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the installed release differs from the pin."""
        return self.onto is not None or self.needs_all

    def resolved(self, pin: Pin, version: str) -> tuple[Resolved, Resolved]:
        """Return the start and the target; an end that is None is made from `pin` and `version`."""
        base = self.base or Resolved(pin.ref, pin.commit, pin.archive, pin.sha256, version)
        return base, self.onto or Resolved(f"v{version}", base.commit, base.archive, None, version)


def find_ends(upstream: OpenUpstream, pin: Pin, version: str) -> Ends:
    """Return the pin and the installed release as the start and target of a rebase."""
    if is_same_release(pin, version):
        is_there = upstream.reader.commit(pin.commit) is not None
        # the archive of the installed release is not downloaded
        if not is_there and pin.archive is not None:
            return Ends(upstream, None, None)
        return Ends(upstream, require_pin(upstream, pin), None)
    base = require_pin(upstream, pin)
    try:
        onto = upstream.resolve(f"v{version.partition('+')[0]}")
        history = upstream.history(base, onto)
        if isinstance(history, ReleaseHistory):
            for name in history.versions:
                history.lookup(name)
    except PatchmgrError as fault:
        if fault.kind not in _UNAVAILABLE:
            raise
        note = f"upstream's changes up to {version} could not be read: {fault.message}"
        return Ends(upstream, base, None, needs_all=True, notes=(note,))
    return Ends(upstream, base, onto, history)


def is_same_release(pin: Pin, version: str) -> bool:
    """Return whether the pinned release has this version, ignoring local parts (`+cu128`)."""
    try:
        return Version(pin.ref.removeprefix("v")).public == Version(version).public
    except InvalidVersion:
        return False


_ROUNDS = 4


class Package(Struct, frozen=True):
    """An installed package or a wheel."""

    name: str
    version: str
    record: Mapping[str, str]  # the hashes of the package's files, by path
    read: Callable[[str], WorkFile | None]  # returns a file as it was before patches were applied
    maps: PathMap  # from `[paths]` of series.toml


class PackageResult(Struct, frozen=True):
    """The result of rebasing a series onto a package."""

    outcome: SeriesOutcome
    files: Mapping[str, Content | None]  # changed files, by path in the package (None: deleted)
    # (patch, path) of what has no place in the package; "" for the rebase's result
    unreachable: tuple[tuple[str, str], ...]
    replayed: tuple[ReplayedResolution, ...]  # recorded resolutions that were used
    notes: tuple[str, ...]  # what could not be checked


def carry_onto_package(session: Session, record: SeriesRecord, package: Package) -> PackageResult:
    """Rebase a series onto the files of a package, just as `rebase` rebases it onto a release.

    Raises PatchmgrError "out-of-reach" if the package has none of the files that patches change.
    """
    options = CarryOptions(session.selected, wants_detail=session.wants_detail)
    with rebase_run(session, session.upstream_of(record).store, options) as run:
        return _Run(run, record, package).carry()


def keep_undecided(session: Session, done: PackageResult) -> None:
    """Save what a person must decide after a rebase, for `decide` and `conflicts accept`."""
    if any(patch.basis is not None or patch.open_findings for patch in done.outcome.patches):
        with session.writing():  # if there is nothing to save, the workspace may be read-only
            save_undecided(session.workspace, [done.outcome])
            keep_open_findings(session.workspace, [done.outcome])


def has_series(session: Session, record: SeriesRecord, package: Package) -> bool:
    """Return whether a package is identical to its release with the whole series applied."""
    options = CarryOptions(session.selected)
    with rebase_run(session, session.upstream_of(record).store, options) as run:
        # false if two patches change the same line: the first one then conflicts
        return _Run(run, record, package).is_done()


class _Run:
    def __init__(self, run: RebaseRun, record: SeriesRecord, package: Package) -> None:
        self.run, self.record, self.package = run, record, package
        session, scratch = self.session, self.scratch = run.session, run.scratch
        self.patches, self.series_file = whole_series(session, record)
        tell_strays(session, record.name)
        self.ends = find_ends(session.upstream_of(record), record.pin, package.version)
        pin, release = self.ends.base, self.ends.onto
        trees = [scratch.tree(end.commit) for end in (release, pin) if end is not None]
        source = RepositoryFiles(trees, self.patches, self.package.read)
        self.layout = InstalledPaths(self.package.record, self.package.maps, source)
        base = pin.commit if pin is not None else self._pristine_base()
        self.base = scratch.tree(base)
        self.onto_commit = base if release is None else release.commit
        if self.ends.needs_all:
            files = package.record
            self._replace_in_target(
                installed_tree(scratch, self.base, self.layout, files, package.read)
            )
        self.onto = scratch.tree(self.onto_commit)

    def _pristine_base(self) -> str:
        """Make a commit of the installed files that the patches touch, and use it as the pin."""
        files = {}
        for path in touched_paths(self.patches):
            # the hash in RECORD proves that this is the release's file
            found = self._read(path)
            if found is not None:
                files[path] = Entry(REGULAR, self.scratch.add(found.content))
        return write_commits(self.scratch, None, [Draft(own_author(), b"installed\n", files)])[0]

    def _read(self, path: str) -> WorkFile | None:
        place = self.layout.find(path)
        return None if place is None else self.package.read(place)

    def _replace_in_target(self, files: Mapping[str, Entry | None]) -> None:
        """Replace files of the target by the installed ones; None means that a file is missing."""
        if files:
            draft = Draft(own_author(), b"installed\n", files)
            self.onto_commit = write_commits(self.scratch, self.onto_commit, [draft])[0]
            self.onto = self.scratch.tree(self.onto_commit)

    def carry(self) -> PackageResult:
        """Rebase onto the installed content of the files that the patches name."""
        items, lost = self._reachable()
        paths = list(touched_paths([item.patch for item in items if item.refusal is None]))
        for _ in range(_ROUNDS):
            self._replace_in_target(self._differing(paths))
            carried = self._carry(items)
            # files in the result that differ from the installed ones: rebase again
            paths = list(self._differing(list(carried.changes)))
            if not paths:
                break
        files, beyond = self._placed(carried)
        return PackageResult(
            self._outcome(carried), files, (*lost, *beyond), self.run.memory.used(), self.ends.notes
        )

    def is_done(self) -> bool:
        """Return whether the package is its release with the series applied, as far as known."""
        if self.ends.base is None or self.ends.needs_all:
            return False
        carried = self._carry(self._reachable()[0])
        return not (carried.has_conflicts or self._placed(carried)[0])

    def _differing(self, paths: Sequence[str]) -> dict[str, Entry | None]:
        """Return the installed files that differ from the target, keyed by path."""
        found: dict[str, Entry | None] = {}
        for path in paths:
            installed, entry = self._read(path), self.onto.entry(path)
            if installed is None or (entry and entry.blob == blob_id(installed.content)):
                continue
            mode = entry.mode if entry is not None else installed.mode
            found[path] = Entry(mode, self.scratch.add(installed.content))
        return found

    def _reachable(self) -> tuple[tuple[Item, ...], tuple[tuple[str, str], ...]]:
        """Return the patches without their changes to files that the package lacks.

        Also returns these files, as (patch, path).
        """
        items: list[Item] = []
        lost: list[tuple[str, str]] = []
        made: set[str] = set()
        for item in items_of(self.patches, self.series_file, self.run.options.selected):
            patch = item.patch
            kept = tuple(file for file in patch.files if self._can_reach(file, made))
            made.update(file.new_path for file in kept if file.new_path is not None)
            gone = [file.path for file in patch.files if file not in kept]
            lost += [(patch.name, path) for path in gone if item.refusal is None]
            refusal = item.refusal
            if gone and not kept:
                refusal = refusal or f"not in the package: {', '.join(gone)}"
            items.append(replace(item, patch=replace(patch, files=kept), refusal=refusal))
        if lost and all(item.refusal is not None for item in items):
            raise PatchmgrError(
                "out-of-reach",
                f"{self.package.name} {self.package.version} has none of the files that the patches"
                f" change; for example, {lost[0][1]} is missing",
                "apply the series to a checkout, and build it: patchmgr apply --to CHECKOUT",
                "or map the files to paths in the package, under [paths] in series.toml",
            )
        return tuple(items), tuple(lost)

    def _can_reach(self, file: FilePatch, made: set[str]) -> bool:
        if file.old_path is None:
            return self._place(file.path) is not None
        if file.old_path in made or self.layout.find(file.old_path) is not None:
            return True
        is_gone = self.onto.entry(file.old_path) is None
        return is_gone and self.layout.place_new(file.old_path) is not None

    def _place(self, path: str) -> str | None:
        """Return the path that a repository file has, or would have, in the package, or None."""
        found = self.layout.find(path)
        if found is not None or self.onto.entry(path) is not None:
            return found
        return self.layout.place_new(path)

    def _carry(self, items: Sequence[Item]) -> RebasedSeries:
        ends, record, session = self.ends, self.record, self.session
        bring = partial(ends.upstream.try_fetch_objects, seen=self.scratch)
        bring(set(needed_blobs((self.base, self.onto), touched_paths(self.patches))))
        base, onto = ends.resolved(record.pin, self.package.version)
        author = own_author() if ends.base is None else default_author(ends.upstream, record.pin)
        loaded = LoadedSeries(record, self.series_file, self.patches, ends.upstream, base, author)
        states = End(base, self.base), End(onto, self.onto)
        decisions = decisions_on(session.workspace, record.name) if ends.is_elsewhere else ()
        given = self.run.carry_input(loaded, self.base, self.onto, states)
        return carry(
            replace(
                given, items=tuple(items), history=ends.history, bring=bring, decisions=decisions
            )
        )

    def _placed(
        self, carried: RebasedSeries
    ) -> tuple[dict[str, Content | None], tuple[tuple[str, str], ...]]:
        """Return the changed files by path in the package, and ("", path) for those without one."""
        files: dict[str, Content | None] = {}
        beyond: list[tuple[str, str]] = []
        places: dict[str, str] = {}
        for path, entry in carried.changes.items():
            place = self._place(path)
            if place is None:
                beyond.append(("", path))
                continue
            content = self._content(path, place, entry)
            if places.setdefault(place, path) != path:
                raise UsageError(
                    f"{places[place]} and {path} would both become {place} in {self.package.name}",
                    "map each to a different path in the package, under [paths] in series.toml",
                )
            found = self.package.read(place)
            same = None if found is None else (found.mode, found.content)
            if (None if content is None else (content.entry.mode, content.content)) != same:
                files[place] = content
        return files, tuple(beyond)

    def _content(self, path: str, place: str, entry: Entry | None) -> Content | None:
        if entry is None:
            return None
        if entry.mode in (GITLINK, SYMLINK):
            what = "a submodule" if entry.mode == GITLINK else "a symbolic link"
            raise PatchmgrError("unsupported", f"{path} is {what}, which no package can contain")
        start, found = self.onto.entry(path), self.package.read(place)
        if start is not None and start.mode == entry.mode and found is not None:
            entry = replace(entry, mode=found.mode)  # installers do not keep modes
        return Content(entry, self.scratch.read(entry.blob))

    def _outcome(self, carried: RebasedSeries) -> SeriesOutcome:
        record, ends = self.record, self.ends
        onto = Pin(f"v{self.package.version}", self.onto_commit, self.onto.id, self.package.name)
        count, back = ends.history.distance() if ends.history is not None else (0, 0)
        return SeriesOutcome(
            record.name, record.upstream, record.pin, onto, count,
            None, self.onto.id, carried.outcomes, (None,) * len(carried.outcomes),
            commits_back=back,
        )  # fmt: skip
