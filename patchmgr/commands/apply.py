"""`apply` and `unapply`, for a git checkout or an installed package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.overlays import start_check
from patchmgr.formats.shown import shown, typed
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.recorded_conflict import ReplayedResolution
from patchmgr.model.snapshot import GITLINK, REGULAR, Entry, blob_id
from patchmgr.model.upstream import Resolved, SeriesRecord
from patchmgr.plumbing.applied import AppliedFile, Content, Record
from patchmgr.plumbing.checkout import Checkout, FileStanding
from patchmgr.plumbing.checkout_changes import Goal, found_file, plan_exchange, plan_files
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.environments import Distribution, Environment, other_owners
from patchmgr.plumbing.installation import (
    Installation,
    PackageState,
    edited,
    original_reader,
    replaced_paths,
)
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.scratch_repository import Scratch, write_commits
from patchmgr.plumbing.target import Exchange, keep_hint
from patchmgr.plumbing.work_tree import WorkFile
from patchmgr.services.carry import CarryOptions, RebasedSeries, carry
from patchmgr.services.checkouts import (
    record_in_force,
    remember_target,
    series_digest,
    settled,
    unlike_head,
)
from patchmgr.services.edits import find_edits, keep_edits
from patchmgr.services.installed import (
    Location,
    find_installed,
    installed_package,
    own_record,
    package_digest,
)
from patchmgr.services.load import rebase_run
from patchmgr.services.packages import (
    PackageResult,
    carry_onto_package,
    is_same_release,
    keep_undecided,
)
from patchmgr.services.series import (
    LoadedSeries,
    needed_blobs,
    tell_strays,
    touched_paths,
    whole_series,
)
from patchmgr.services.session import Session, default_author, require_pin
from patchmgr.services.upstream_states import End


class Application(Struct, frozen=True):
    """The result of `apply` for a checkout or a package, and of `overlay`."""

    series: str
    target: Path  # the checkout, or the folder in which a package is installed
    paths: tuple[str, ...]  # files that now differ from the originals
    is_new: bool = False  # whether files had to be written
    patches: tuple[PatchOutcome, ...] = ()
    commits: tuple[str | None, ...] = ()  # of each patch; None for a patch without a commit
    head: str | None = None
    replayed: tuple[ReplayedResolution, ...] = ()  # conflicts resolved by recorded resolutions
    distribution: Distribution | None = None
    carried: PackageResult | None = None  # the rebase onto a package, if one was needed

    @property
    def has_conflicts(self) -> bool:
        """Return whether a patch failed to apply, in which case nothing was written."""
        return any(patch.is_left for patch in self.patches)


class _Target(Struct, frozen=True):
    """A checkout at the start of a command; `applied` records the series applied in it, if any."""

    checkout: Checkout
    head: str
    changed: tuple[str, ...]
    applied: Record | None

    @property
    def onto(self) -> str:
        """Return the commit on which the series is applied: HEAD, or the one below its commits."""
        has_commits = self.applied is not None and self.applied.head is not None
        return self.applied.onto if self.applied and has_commits else self.head


class _Request(Struct, frozen=True):
    record: SeriesRecord
    digest: str
    makes_commits: bool
    session: Session


def apply_to_checkout(session: Session, name: str, target: Path, *, commits: bool) -> Application:
    """Apply a whole series, or nothing, to a checkout at any commit.

    What was applied of the series before is replaced. Raises PatchmgrError "dirty-checkout" if
    another file differs from HEAD.
    """
    record = session.workspace.series_record(name)
    digest = series_digest(session, record, session.selected)
    request = _Request(record, digest, commits, session)
    with settled(session, Checkout(open_clone(target))) as checkout:
        found, root = _look(checkout), checkout.clone.root
        present = found.applied
        if present is not None and present.series != name:
            raise UsageError(
                f"the series {present.series} is applied in {root}",
                f"remove it with: patchmgr unapply {present.series} --to {typed(root)}",
            )
        if present is not None and _is_up_to_date(found, present, request):
            paths = tuple(file.path for file in present.files)
            return Application(name, root, paths, head=present.head)
        _refuse_edited_files(found)
        _refuse_buried(found, moves_head=commits)
        _refuse_changes(found)
        return _apply(found, request)


def _look(checkout: Checkout) -> _Target:
    head, changed = checkout.clone.head(), checkout.clone.changed_paths()
    return _Target(checkout, head, changed, record_in_force(checkout, head, set(changed)))


def _is_up_to_date(found: _Target, present: Record, request: _Request) -> bool:
    has_commits = present.head is not None
    if present.digest != request.digest or has_commits != request.makes_commits:
        return False
    if not has_commits and present.onto != found.head:
        return False
    return set(found.checkout.standings(present.files)) <= {FileStanding.PATCHED}


def _refuse_changes(found: _Target) -> None:
    """Raise PatchmgrError "dirty-checkout" if a file outside the series differs from HEAD."""
    root, present = found.checkout.clone.root, found.applied
    ours = {file.path for file in present.files} if present is not None else set[str]()
    changed = [path for path in found.changed if path not in ours]
    # A file that needs a filter cannot be compared; it is refused later if the series touches it.
    filtered = found.checkout.clone.conversion.filtered(changed)
    changed = [path for path in changed if path not in filtered]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise PatchmgrError(
            "dirty-checkout",
            f"{root} has changes that are not committed: {changed[0]}{more}",
            f"commit or stash them: git -C {typed(root)} stash",
        )


def _edited_files(found: _Target) -> tuple[AppliedFile, ...]:
    """Return the files of the applied series that a person edited afterwards."""
    files = found.applied.files if found.applied is not None else ()
    files = unlike_head(found.checkout, files, found.changed)
    stands = zip(files, found.checkout.standings(files), strict=True)
    return tuple(file for file, each in stands if each is FileStanding.EDITED)


def _refuse_edited_files(found: _Target) -> None:
    root, present = found.checkout.clone.root, found.applied
    for file in _edited_files(found):
        assert present is not None
        raise PatchmgrError(
            "dirty-checkout",
            f"{file.path} in {root} was edited after the series was applied",
            keep_hint(present.series, f"--to {typed(root)}"),
        )


def _refuse_buried(found: _Target, *, moves_head: bool) -> None:
    """Raise PatchmgrError if commits are on top of the series, or a merge or rebase is in progress.

    The latter is refused only if HEAD has to move.
    """
    clone, present = found.checkout.clone, found.applied
    if present is not None and present.head not in (None, found.head):
        onto, head = present.onto[:12], str(present.head)[:12]
        raise UsageError(
            f"{clone.root} has commits on top of those of {present.series}",
            "keep only your own commits with:"
            f" git -C {typed(clone.root)} rebase --onto {onto} {head}",
        )
    doing = clone.in_progress()
    if doing is not None and (moves_head or found.onto != found.head):
        hint = "finish or abort it, then run the command again"
        raise PatchmgrError("dirty-checkout", f"{clone.root} has {doing} in progress", hint)


def _apply(found: _Target, request: _Request) -> Application:
    session, record = request.session, request.record
    upstream = session.upstream_of(record)
    base, author = require_pin(upstream, record.pin), default_author(upstream, record.pin)
    patches, series_file = whole_series(session, record)
    tell_strays(session, record.name)
    now = session.workspace.series_record(record.name)
    if series_digest(session, now, session.selected) != request.digest:
        hint = "run the command again"
        raise PatchmgrError("busy", f"{record.name} was changed while the command ran", hint)
    clone = found.checkout.clone
    loaded = LoadedSeries(record, series_file, patches, upstream, base, author)
    options = CarryOptions(session.selected)
    with rebase_run(session, upstream.store, options, clone.git_dir) as run:
        old, onto = run.scratch.tree(base.commit), run.scratch.tree(found.onto)
        upstream.try_fetch_objects(needed_blobs([old], touched_paths(patches)), run.scratch)
        ends = End(base, old), End(Resolved(found.onto, found.onto), onto, clone.git_dir)
        carried = carry(run.carry_input(loaded, old, onto, ends))
        done = _write(run.scratch, found, request, carried, onto)
        return replace(done, replayed=run.memory.used())


def _write(
    scratch: Scratch,
    found: _Target,
    request: _Request,
    carried: RebasedSeries,
    onto: StoredTree,
) -> Application:
    """Write the result unless a patch is in conflict; a dry run stops before the last step."""
    checkout, name = found.checkout, request.record.name
    paths = tuple(sorted(carried.changes))
    none = (None,) * len(carried.outcomes)
    done = Application(name, checkout.clone.root, paths, True, carried.outcomes, none)
    if done.has_conflicts:
        return replace(done, paths=())
    written = write_commits(scratch, found.onto, carried.drafts()) if request.makes_commits else ()
    tip = written[-1] if written else found.onto
    head = tip if request.makes_commits else None
    exchange = plan_exchange(
        checkout,
        found.applied,
        {
            path: _content(scratch.read, path, entry, onto.entry(path))
            for path, entry in carried.changes.items()
        },
        Goal(onto, found.head, tip, makes_commits=request.makes_commits),
        Record(
            name,
            request.digest,
            tuple(sorted(request.session.selected)),
            found.onto,
            head,
            (),
            workspace=str(request.session.workspace.root),
        ),
    )
    if not request.session.is_dry_run:
        if written:
            checkout.clone.take(scratch.git_dir, written[-1], found.onto)
        # Recorded first, so that `status` knows this checkout even if the run is killed below.
        workspace = request.session.workspace
        remember_target(workspace, checkout.clone.root, checkout.clone.private)
        checkout.replace(exchange)
        files = exchange.record.files if exchange.record is not None else ()
        names = (file.path for file in files)
        _check_written(zip(names, checkout.standings(files), strict=True))
    ids = iter(written)
    commits = tuple(next(ids) if o.is_carried and written else None for o in carried.outcomes)
    return replace(done, head=head, commits=commits)


def _check_written(files: Iterable[tuple[str, Enum]]) -> None:
    """Raise PatchmgrError "not-written" unless the state of each (path, state) is "patched"."""
    for path, state in files:
        if state.value != "patched":
            what = f"{path} does not have the content that was written to it"
            raise PatchmgrError("not-written", what, "run the command again")


def _content(
    read: Callable[[str], bytes], path: str, entry: Entry | None, before: Entry | None = None
) -> Content | None:
    if any(one is not None and one.mode == GITLINK for one in (entry, before)):
        raise PatchmgrError(
            "unsupported",
            f"{path} is a submodule, which `patchmgr apply` does not change",
            "to make commits that change it: patchmgr branch --repo CLONE",
        )
    return None if entry is None else Content(entry, read(entry.blob))


class Removal(Struct, frozen=True):
    """The result of `unapply`; `paths` are the restored files."""

    series: str
    target: Path  # the checkout, or the folder of the package
    paths: tuple[str, ...]
    edits: Path | None = None  # the patch file that keeps a person's edits to the restored files


def unapply_from_checkout(session: Session, name: str, target: Path, *, is_forced: bool) -> Removal:
    """Restore the original files of a checkout.

    If a file was edited since, raises PatchmgrError "dirty-checkout" or, if `is_forced`, keeps the
    edits in a patch file.
    """
    with settled(session, Checkout(open_clone(target))) as checkout:
        found = _look(checkout)
        present = found.applied
        if present is None or present.series != name:
            raise UsageError(f"the series {name} is not applied in {checkout.clone.root}")
        if not is_forced:
            _refuse_edited_files(found)
        _refuse_buried(found, moves_head=False)
        edited = _edited_files(found)
        with ObjectReader(checkout.clone.git_dir) as reader:
            onto = StoredTree(reader, reader.tree_of(found.onto))
            goal = Goal(onto, found.head, found.onto, makes_commits=False)
            back = {
                file.path: _content(reader.blob, file.path, onto.entry(file.path))
                for file in edited
            }
            exchange = plan_exchange(checkout, present, {}, goal, None, back=back)
        old = {file.path: checkout.patched_file(file) for file in edited}
        new = {path: found_file(checkout, path) for path in old}
        edits = keep_edits(session, name, _as_git(checkout, old), _as_git(checkout, new))
        if not session.is_dry_run:
            checkout.replace(exchange)
        return Removal(name, checkout.clone.root, tuple(f.path for f in present.files), edits)


def _as_git(checkout: Checkout, files: Mapping[str, WorkFile | None]) -> dict[str, WorkFile | None]:
    """Return files of a checkout with the contents that git would store for them."""
    raw = checkout.clone.conversion.to_git({path: file for path, file in files.items() if file})
    return {path: file and replace(file, content=raw[path]) for path, file in files.items()}


def applied_to_package(
    name: str, distribution: Distribution, paths: Iterable[str], carried: PackageResult
) -> Application:
    """Return the result of applying a series to a package, or to copies of its files."""
    patches = carried.outcome.patches
    none = (None,) * len(patches)
    return Application(
        name, distribution.site, tuple(sorted(paths)), True, patches, none,
        replayed=carried.replayed, distribution=distribution, carried=carried,
    )  # fmt: skip


def apply_to_package(
    session: Session,
    name: str,
    where: Location,
    *,
    warns_at_start: bool | None,
) -> Application:
    """Apply a whole series, or nothing, to an installed package.

    What was applied of the series before is replaced. `warns_at_start` turns the check at Python's
    startup on or off (None: as before). Raises PatchmgrError "edited-package" if a patched file was
    edited since.
    """
    record = session.workspace.series_record(name)
    environment, distribution = find_installed(session, record, where)
    digest = package_digest(session, record, session.selected)
    _refuse_managed(environment, distribution, name, where)
    opened = settled(session, Installation(distribution))
    with _or_overlay(name, where), opened as target:
        present = own_record(session, target, name, where)
        warns = _has_check(target, present) if warns_at_start is None else warns_at_start
        if present is not None and _is_package_up_to_date(target, present, digest, warns=warns):
            paths = (file.path for file in present.files)
            ours = tuple(path for path in paths if not path.startswith("_patchmgr_check_"))
            return Application(name, target.root, ours, distribution=distribution)
        # Files that an installer has replaced since then are patched as they are now.
        done, originals = _carried(session, record, target, present)
        result = applied_to_package(name, distribution, done.files, done)
        keep_undecided(session, done)
        if result.has_conflicts:
            return replace(result, paths=())
        fresh = Record(
            name, digest, tuple(sorted(session.selected)), distribution.version, None, (),
            workspace=str(session.workspace.root),
        )  # fmt: skip
        exchange = _package_exchange(target, present, done, fresh, warns=warns, originals=originals)
        if not session.is_dry_run:
            remember_target(session.workspace, target.private)
            target.replace(exchange)
            written = exchange.record.files if exchange.record is not None else ()
            _check_written((f.path, target.state(f.path, f, is_current=True)) for f in written)
        return result


def _carried(
    session: Session, record: SeriesRecord, target: Installation, present: Record | None
) -> tuple[PackageResult, Mapping[str, WorkFile | None]]:
    """Rebase a series onto a package, and also return the originals of the package's edited files.

    Raises PatchmgrError "edited-package" if a file of the series was edited, unless the series
    makes the same change, as after `import --python`.
    """
    read = original_reader(target, present)
    try:
        _refuse_edited(target, present)
        package = installed_package(session, record.name, target, read)
        return carry_onto_package(session, record, package), {}
    except PatchmgrError as fault:
        is_pin = is_same_release(record.pin, target.distribution.version)
        if fault.kind != "edited-package" or not is_pin:
            raise
    edits = {edit.place: edit for edit in find_edits(session, record, target).known}
    originals = {place: edit.original for place, edit in edits.items()}
    package = installed_package(
        session, record.name, target, lambda at: originals[at] if at in originals else read(at)
    )
    done = carry_onto_package(session, record, package)
    named = {*done.files, *(file.path for file in (present.files if present is not None else ()))}
    for place in named.intersection(edits):
        made, now = done.files.get(place, originals[place]), edits[place].now
        if (made and made.content) != (now and now.content) and not done.outcome.has_conflicts:
            raise edited(target, place, present)
    return done, {place: originals[place] for place in named.intersection(edits)}


@contextmanager
def _or_overlay(name: str, where: Location) -> Iterator[None]:
    """Add a hint about `overlay` to the error for read-only files and for links to shared files."""
    try:
        yield
    except PatchmgrError as fault:
        if fault.kind not in ("unwritable", "unsafe-path"):
            raise
        hint = f"or make an overlay instead: patchmgr overlay {name} {where.words()} --out DIR"
        raise PatchmgrError(fault.kind, fault.message, *fault.hints, hint) from fault


def _refuse_managed(
    environment: Environment, distribution: Distribution, name: str, where: Location
) -> None:
    """Raise PatchmgrError "externally-managed" if the system owns the package (PEP 668)."""
    is_own = distribution.site not in environment.managed
    if environment.owner is None or is_own or where.breaks_system:
        return
    raise PatchmgrError(
        "externally-managed",
        f"{distribution.site} is managed by the system ({environment.owner})",
        "install the package into a virtual environment instead",
        f"or make an overlay: patchmgr overlay {name} {where.words()} --out DIR",
        "or give --break-system-packages, at your own risk",
    )


def _has_check(target: Installation, present: Record | None) -> bool:
    ours = {file.path for file in present.files} if present is not None else set[str]()
    return not ours.isdisjoint(start_check(target.distribution.name))


def _is_package_up_to_date(
    target: Installation, present: Record, digest: str, *, warns: bool
) -> bool:
    if present.digest != digest or present.onto != target.distribution.version:
        return False
    if _has_check(target, present) != warns:
        return False
    states = (target.state(file.path, file, is_current=True) for file in present.files)
    return all(state is PackageState.PATCHED for state in states)


def _edited_in_package(target: Installation, present: Record) -> Iterator[AppliedFile]:
    is_same = present.onto == target.distribution.version
    for file in _own_files(target, present):
        if target.state(file.path, file, is_current=is_same) is PackageState.EDITED:
            yield file


def _refuse_edited(target: Installation, present: Record | None) -> None:
    for file in _edited_in_package(target, present) if present is not None else ():
        raise edited(target, file.path, present)


def _package_exchange(
    target: Installation,
    present: Record | None,
    done: PackageResult,
    record: Record,
    *,
    warns: bool,
    originals: Mapping[str, WorkFile | None],
) -> Exchange:
    files = dict(done.files)
    for path, owner in other_owners(target.distribution, files.keys()).items():
        raise PatchmgrError(
            "shared-file",
            f"{path} belongs to {target.distribution.name} and to {owner}",
            "uninstall one of the two packages, and reinstall the other",
        )
    if warns:
        for path, content in start_check(target.distribution.name).items():
            files[path] = Content(Entry(REGULAR, blob_id(content)), content)
    return plan_files(target, _own_files(target, present), files, record, originals=originals)


def _own_files(target: Installation, present: Record | None) -> tuple[AppliedFile, ...]:
    """Return the files in a record, without those that an installer has replaced since."""
    files = () if present is None else present.files
    added = [file.path for file in files if file.before is None]
    # a file that the series added may be in another package by now
    others = {*replaced_paths(target, present), *other_owners(target.distribution, added)}
    return tuple(file for file in files if file.path not in others)


def unapply_from_package(
    session: Session, name: str, where: Location, *, is_forced: bool
) -> Removal:
    """Restore the original files of a package, except those that an installer has replaced since.

    If a file was edited, raises PatchmgrError "edited-package" or, if `is_forced`, keeps the edit
    in a patch file. A file is not restored if its saved original is from another build.
    """
    record = session.workspace.series_record(name)
    environment, distribution = find_installed(session, record, where, takes_left=True)
    _refuse_managed(environment, distribution, name, where)
    with settled(session, Installation(distribution)) as target:
        present = own_record(session, target, name, where)
        if present is None:
            raise UsageError(f"the series {name} is not applied to {distribution.name}")
        if not is_forced:
            _refuse_edited(target, present)
        is_same = present.onto == distribution.version
        found = tuple(_edited_in_package(target, present))
        old = {
            file.path: target.patched_file(file)
            for file in found
            if target.is_original(file.path, target.original_file(file), if_unhashed=is_same)
        }
        left = ", ".join(shown(file.path) for file in found if file.path not in old)
        if left:
            session.say(f"Not restored, because they belong to another build: {left}")
        exchange = plan_files(target, _own_files(target, present), {}, None, given_up=old)
        edits = keep_edits(session, name, old, {path: target.tree.read(path) for path in old})
        if not session.is_dry_run:
            target.replace(exchange)
        return Removal(name, target.root, tuple(file.path for file in exchange.files), edits)
