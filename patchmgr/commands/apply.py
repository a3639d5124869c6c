"""`apply` and `unapply` for a git checkout."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.recorded_conflict import Recalled
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.applied import Content, Record
from patchmgr.plumbing.checkout import Checkout, Standing
from patchmgr.plumbing.checkout_changes import Goal, plan_exchange
from patchmgr.plumbing.fast_import import write_commits
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.stores import Resolved
from patchmgr.services.carry import Carried, CarryInput, CarryOptions, carry, items_of
from patchmgr.services.memory import Memory
from patchmgr.services.series import needed_blobs, touched_paths, whole_series
from patchmgr.services.session import Session, nobody, require_pin
from patchmgr.services.targets import open_checkout, record_in_force, remember_target, series_digest
from patchmgr.services.upstream_states import End, UpstreamStates


class Application(Struct, frozen=True):
    """The result of `apply` for a checkout.

    `is_new` is true if anything had to be written. `paths` are the changed files. `commits` lists
    the commit of each patch, or None for a patch that has no commit. `replayed` are the conflicts
    that were resolved by a recorded resolution.
    """

    series: str
    target: Path
    patches: tuple[PatchOutcome, ...]
    paths: tuple[str, ...]
    head: str | None
    is_new: bool
    commits: tuple[str | None, ...] = ()
    replayed: tuple[Recalled, ...] = ()

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
        """Return the commit that the series is applied to.

        This is HEAD or, if the series is already applied as commits, the commit before these.
        """
        has_commits = self.applied is not None and self.applied.head is not None
        return self.applied.onto if self.applied and has_commits else self.head


class _Request(Struct, frozen=True):
    record: SeriesRecord
    digest: str
    options: CarryOptions
    makes_commits: bool
    is_dry_run: bool
    session: Session


def apply_to_checkout(
    session: Session,
    name: str,
    target: Path,
    *,
    commits: bool,
    options: CarryOptions,
    is_dry_run: bool,
) -> Application:
    """Apply a series to a checkout of any commit, completely or not at all.

    If an older state of the series is applied in the checkout, the files of that state are replaced
    in the same step. Raises PatchmgrError "dirty-checkout" if any other file differs from HEAD.
    """
    record = session.workspace.series_record(name)
    digest = series_digest(session, record, options.selected)
    request = _Request(record, digest, options, commits, is_dry_run, session)
    with open_checkout(session, target, is_dry_run=is_dry_run) as checkout:
        found, root = _look(checkout), checkout.clone.root
        present = found.applied
        if present is not None and present.series != name:
            raise UsageError(
                f"the series {present.series} is applied in {root}",
                f"remove it with: patchmgr unapply {present.series} --to {root}",
            )
        if present is not None and _is_up_to_date(found, present, request):
            paths = tuple(file.path for file in present.files)
            return Application(name, root, (), paths, present.head, is_new=False)
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
    return set(found.checkout.standings(present.files)) <= {Standing.PATCHED}


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
            f"commit or stash them: git -C {root} stash",
        )


def _refuse_buried(found: _Target, *, moves_head: bool) -> None:
    """Raise PatchmgrError if a person edited files of the series or committed on top of it."""
    clone, present = found.checkout.clone, found.applied
    files = present.files if present is not None else ()
    for file, stands in zip(files, found.checkout.standings(files), strict=True):
        if stands is Standing.EDITED and (file.path in found.changed or file.before is None):
            raise PatchmgrError(
                "dirty-checkout",
                f"{file.path} in {clone.root} was edited after the series was applied",
                "make a patch of that edit, or undo the edit",
            )
    if present is not None and present.head not in (None, found.head):
        onto, head = present.onto[:12], str(present.head)[:12]
        raise UsageError(
            f"{clone.root} has commits on top of those of {present.series}",
            f"keep only your own commits with: git -C {clone.root} rebase --onto {onto} {head}",
        )
    unfinished = clone.unfinished()
    if unfinished is not None and (moves_head or found.onto != found.head):
        raise PatchmgrError("dirty-checkout", f"{clone.root} has {unfinished} in progress")


def _apply(found: _Target, request: _Request) -> Application:
    session, record = request.session, request.record
    upstream = session.upstream_of(record)
    base = require_pin(upstream, record.pin)
    patches, series_file = whole_series(session, record)
    now = session.workspace.series_record(record.name)
    if series_digest(session, now, request.options.selected) != request.digest:
        hint = "run the command again"
        raise PatchmgrError("busy", f"{record.name} was changed while the command ran", hint)
    clone, memory = found.checkout.clone, Memory(session.workspace)
    lenders = (upstream.store, clone.git_dir)
    with Scratch(lenders) as scratch, Toolbox() as formatters:
        old, onto = scratch.tree(base.commit), scratch.tree(found.onto)
        upstream.try_fetch_objects(needed_blobs([old], touched_paths(patches)), scratch)
        ends = End(base, old), End(Resolved(found.onto, found.onto), onto, clone.git_dir)
        views = UpstreamStates(session).views(
            record.upstream, upstream, scratch, patches=patches, base=ends[0], onto=ends[1]
        )
        given = CarryInput(
            session,
            scratch,
            record.name,
            items_of(patches, series_file, request.options.selected),
            old,
            onto,
            nobody(upstream, record.pin),
            request.options,
            views,
            memory=memory,
            formatters=formatters,
        )
        return replace(_write(scratch, found, request, carry(given), onto), replayed=memory.used())


def _write(
    scratch: Scratch,
    found: _Target,
    request: _Request,
    carried: Carried,
    onto: StoredTree,
) -> Application:
    """Write the result unless a patch is in conflict; a dry run stops before the last step."""
    checkout, name = found.checkout, request.record.name
    paths = tuple(sorted(carried.changes))
    done = Application(name, checkout.clone.root, carried.outcomes, paths, None, is_new=True)
    if done.has_conflicts:
        return replace(done, paths=(), commits=(None,) * len(done.patches))
    written = write_commits(scratch, found.onto, carried.drafts()) if request.makes_commits else ()
    tip = written[-1] if written else found.onto
    head = tip if request.makes_commits else None
    exchange = plan_exchange(
        checkout,
        found.applied,
        {path: _content(scratch, path, entry) for path, entry in carried.changes.items()},
        Goal(onto, found.head, tip, makes_commits=request.makes_commits),
        Record(
            name,
            request.digest,
            tuple(sorted(request.options.selected)),
            found.onto,
            head,
            (),
            workspace=str(request.session.workspace.root),
        ),
    )
    if not request.is_dry_run:
        if written:
            checkout.clone.take(scratch.git_dir, written[-1], found.onto)
        # Noted first, so that `status` knows this checkout even if the run is killed below.
        workspace = request.session.workspace
        remember_target(workspace, checkout.clone.root, checkout.clone.private)
        checkout.replace(exchange)
        files = exchange.record.files if exchange.record is not None else ()
        for file, stands in zip(files, checkout.standings(files), strict=True):
            if stands is not Standing.PATCHED:
                what = f"{file.path} does not have the content that was written to it"
                raise PatchmgrError("not-written", what)
    ids = iter(written)
    commits = tuple(next(ids) if o.is_carried and written else None for o in carried.outcomes)
    return Application(name, done.target, done.patches, paths, head, is_new=True, commits=commits)


def _content(scratch: Scratch, path: str, entry: Entry | None) -> Content | None:
    if entry is None:
        return None
    if entry.mode == GITLINK:
        raise PatchmgrError(
            "unsupported", f"{path} is a submodule, which `patchmgr apply` does not change"
        )
    return Content(entry, scratch.read(entry.blob))


def unapply_from_checkout(
    session: Session, name: str, target: Path, *, is_dry_run: bool
) -> tuple[Path, tuple[str, ...]]:
    """Restore the original files; return the folder of the checkout and the restored paths.

    Raises PatchmgrError "dirty-checkout" if one of the files was edited after the series was
    applied.
    """
    with open_checkout(session, target, is_dry_run=is_dry_run) as checkout:
        found = _look(checkout)
        present = found.applied
        if present is None or present.series != name:
            raise UsageError(f"the series {name} is not applied in {checkout.clone.root}")
        _refuse_buried(found, moves_head=False)
        with ObjectReader(checkout.clone.git_dir) as reader:
            onto = StoredTree(reader, reader.tree_of(found.onto))
            goal = Goal(onto, found.head, found.onto, makes_commits=False)
            exchange = plan_exchange(checkout, present, {}, goal, None)
        if not is_dry_run:
            checkout.replace(exchange)
        return checkout.clone.root, tuple(file.path for file in present.files)
