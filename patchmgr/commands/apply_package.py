"""`apply` and `unapply` for an installed package."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.overlays import start_check
from patchmgr.model.ids import blob_id
from patchmgr.model.snapshot import REGULAR, Entry
from patchmgr.plumbing.applied import Content, Record
from patchmgr.plumbing.checkout_changes import plan_files
from patchmgr.plumbing.environments import Distribution, Environment, other_owners
from patchmgr.plumbing.installation import (
    FileState,
    Installation,
    edited,
    original_reader,
    replaced_paths,
)
from patchmgr.services.carry import CarryOptions
from patchmgr.services.decisions import keep_findings
from patchmgr.services.installed import Location, find_installed, package_digest, path_map
from patchmgr.services.packages import Package, PackageResult, carry_onto_package
from patchmgr.services.session import Session
from patchmgr.services.targets import remember_target, settled


class PackageApplication(Struct, frozen=True):
    """The result of `apply` for an installed package.

    `is_new` is true if anything had to be written. `paths` are the files that now differ from those
    in the package's wheel. `carried` is the result of the rebase onto the package, or None if no
    rebase was needed.
    """

    series: str
    distribution: Distribution
    paths: tuple[str, ...]
    is_new: bool
    carried: PackageResult | None = None

    @property
    def has_conflicts(self) -> bool:
        """Return whether a patch failed to apply, in which case nothing was written."""
        return self.carried is not None and self.carried.outcome.has_conflicts


def apply_to_package(
    session: Session,
    name: str,
    where: Location,
    *,
    options: CarryOptions,
    warns_at_start: bool | None,
    is_dry_run: bool,
) -> PackageApplication:
    """Apply a series to an installed package of any release, completely or not at all.

    If an older state of the series is applied to the package, the files of that state are replaced
    in the same step. Files that an installer has replaced since then are patched in their current
    state. `warns_at_start` turns the check at Python's startup on or off; None leaves the check as
    it is. Raises PatchmgrError "edited-package" if a patched file was edited afterwards.
    """
    record = session.workspace.series_record(name)
    environment, distribution = find_installed(session, record, where)
    digest = package_digest(session, record, options.selected)
    _refuse_managed(environment, distribution, name, where)
    opened = settled(session, Installation(distribution), is_dry_run=is_dry_run)
    with _or_overlay(name, where), opened as target:
        present = _present(target, name, where)
        warns = _has_check(target, present) if warns_at_start is None else warns_at_start
        if present is not None and _is_up_to_date(target, present, digest, warns=warns):
            paths = (file.path for file in present.files)
            ours = tuple(path for path in paths if not path.startswith("_patchmgr_check_"))
            return PackageApplication(name, distribution, ours, is_new=False)
        _refuse_edited(target, present)
        package = Package(
            distribution.name, distribution.version, distribution.record,
            original_reader(target, present), path_map(session, name),
        )  # fmt: skip
        done = carry_onto_package(session, record, package, options=options)
        result = PackageApplication(name, distribution, tuple(sorted(done.files)), True, done)
        if any(patch.finding is not None for patch in done.outcome.patches):
            with session.writing():  # without findings, the workspace may be read-only
                keep_findings(session.workspace, [done.outcome])
        if result.has_conflicts:
            return replace(result, paths=())
        fresh = Record(
            name, digest, tuple(sorted(options.selected)), distribution.version, None, ()
        )
        if not is_dry_run:
            remember_target(session.workspace, target.private)
        _write(target, present, done, fresh, warns=warns, is_dry_run=is_dry_run)
        return result


@contextmanager
def _or_overlay(name: str, where: Location) -> Iterator[None]:
    """Add a hint about `overlay` to an error about files that cannot safely be written.

    Such files are read-only, or links to files that other environments share.
    """
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


def _present(target: Installation, name: str, where: Location) -> Record | None:
    present = target.record()
    if present is not None and present.series != name:
        raise UsageError(
            f"the series {present.series} is applied to {target.distribution.name}",
            f"remove it with: patchmgr unapply {present.series} {where.words()}",
        )
    return present


def _has_check(target: Installation, present: Record | None) -> bool:
    ours = {file.path for file in present.files} if present is not None else set[str]()
    return not ours.isdisjoint(start_check(target.distribution.name))


def _is_up_to_date(target: Installation, present: Record, digest: str, *, warns: bool) -> bool:
    if present.digest != digest or present.onto != target.distribution.version:
        return False
    if _has_check(target, present) != warns:
        return False
    states = (target.state(file.path, file, is_current=True) for file in present.files)
    return all(state is FileState.PATCHED for state in states)


def _refuse_edited(target: Installation, present: Record | None) -> None:
    is_same = present is not None and present.onto == target.distribution.version
    for file in present.files if present is not None else ():
        if target.state(file.path, file, is_current=is_same) is FileState.EDITED:
            raise edited(target, file.path)


def _write(
    target: Installation,
    present: Record | None,
    done: PackageResult,
    record: Record,
    *,
    warns: bool,
    is_dry_run: bool,
) -> None:
    files = dict(done.files)
    _refuse_in_the_way(target, present, files)
    if warns:
        for path, content in start_check(target.distribution.name).items():
            files[path] = Content(Entry(REGULAR, blob_id(content)), content)
    replaced = replaced_paths(target, present)
    exchange = plan_files(target, present, files, record, replaced=replaced)
    if is_dry_run:
        return
    target.replace(exchange)
    for file in exchange.record.files if exchange.record is not None else ():
        if target.state(file.path, file, is_current=True) is not FileState.PATCHED:
            what = f"{file.path} does not have the content that was written to it"
            raise PatchmgrError("not-written", what)


def _refuse_in_the_way(
    target: Installation, present: Record | None, files: Collection[str]
) -> None:
    """Raise PatchmgrError if a file at one of the paths belongs to another package, or to none."""
    for path, owner in other_owners(target.distribution, files).items():
        raise PatchmgrError(
            "shared-file",
            f"{path} belongs to {target.distribution.name} and to {owner}",
            "uninstall one of the two packages, and reinstall the other",
        )
    ours = {file.path for file in present.files} if present is not None else set[str]()
    for path in files:
        is_known = path in target.distribution.record or path in ours
        if not is_known and target.tree.read(path) is not None:
            raise PatchmgrError(
                "edited-package",
                f"{path} is already in {target.root}, but belongs to no package",
                "move the file out of the way, then run the command again",
            )


def unapply_from_package(
    session: Session, name: str, where: Location, *, is_dry_run: bool
) -> tuple[Path, tuple[str, ...]]:
    """Restore the original files; return the folder of the package and the restored paths.

    Files that an installer replaced after the series was applied are left as they are.
    """
    record = session.workspace.series_record(name)
    environment, distribution = find_installed(session, record, where, takes_left=True)
    _refuse_managed(environment, distribution, name, where)
    with settled(session, Installation(distribution), is_dry_run=is_dry_run) as target:
        present = _present(target, name, where)
        if present is None:
            raise UsageError(f"the series {name} is not applied to {distribution.name}")
        _refuse_edited(target, present)
        replaced = replaced_paths(target, present)
        exchange = plan_files(target, present, {}, None, replaced=replaced)
        if not is_dry_run:
            target.replace(exchange)
        return target.root, tuple(file.path for file in exchange.files)
