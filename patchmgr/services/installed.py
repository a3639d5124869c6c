"""Find an installed package, and determine whether a series is applied to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr import services
from patchmgr.engines.series.installed_paths import InstalledPaths
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.series_settings import PathMap, parse_path_map
from patchmgr.formats.shown import typed
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.applied import Record
from patchmgr.plumbing.checkout import FileStanding
from patchmgr.plumbing.environments import (
    Distribution,
    Environment,
    ask_environment,
    find_distribution,
    site_environment,
)
from patchmgr.plumbing.installation import (
    PRIVATE,
    Installation,
    PackageState,
    find_left,
    original_reader,
)
from patchmgr.plumbing.work_tree import WorkFile
from patchmgr.services.checkouts import Verification, known_targets, series_digest, settled
from patchmgr.services.series import whole_series
from patchmgr.services.session import Session
from patchmgr.workspace import Workspace

_STANDINGS = {
    PackageState.PATCHED: FileStanding.PATCHED,
    PackageState.PRISTINE: FileStanding.ORIGINAL,
    PackageState.REPLACED: FileStanding.ORIGINAL,
    PackageState.EDITED: FileStanding.EDITED,
}


WHEEL_MARK = "patchmgr."  # is in the local version of a wheel that `patchmgr wheel` built


class Location(Struct, frozen=True):
    """Where a package is installed, as the user gave it: an interpreter, or a folder."""

    python: str | None = None
    site: Path | None = None
    # its name, which must be given if the series' upstream has no package
    package: str | None = None
    breaks_system: bool = False  # may change packages that the operating system manages

    def words(self) -> str:
        """Return the command-line option that names the location."""
        if self.python is not None:
            return f"--python {typed(self.python)}"
        assert self.site is not None
        return f"--site {typed(self.site)}"


class InstalledState(Struct, frozen=True):
    """The result of `verify` for a package."""

    series: str
    distribution: Distribution
    state: str  # "patched", "outdated", "edited", "replaced", "partly" or "pristine"
    is_applied: bool
    is_current: bool
    applied_to: str | None  # the version that the series was applied to
    files: tuple[tuple[str, PackageState], ...]  # paths in the package

    @property
    def is_sound(self) -> bool:
        """Return whether the current state of the series is fully applied to the package."""
        return self.state == "patched"


def find_installed(
    session: Session, record: SeriesRecord, where: Location, *, takes_left: bool = False
) -> tuple[Environment, Distribution]:
    """Return the environment at a location, and the package there to which the series belongs.

    With `takes_left`, files left behind by an uninstalled patched package count as the package.
    Raises PatchmgrError "usage" without a package name, and "not-installed" without such a package.
    """
    package = where.package or session.workspace.upstream(record.upstream).package
    if package is None:
        raise UsageError(
            f"no package is set for the upstream {record.upstream}",
            "name the package: --package NAME",
        )
    if where.site is not None:
        environment = site_environment(where.site)
    else:
        assert where.python is not None
        environment = ask_environment(where.python)
    try:
        return environment, find_distribution(environment, package)
    except PatchmgrError as fault:
        left = find_left(environment, package) if takes_left else None
        if fault.kind != "not-installed" or left is None:
            raise
        return environment, left


def own_record(
    session: Session, target: Installation, name: str, where: Location, hint: str = ""
) -> Record | None:
    """Return the record of the series applied to a package, or None if none is applied.

    Raises PatchmgrError "usage" if the applied series is another one, or comes from another
    workspace. The name of the applied series is added to `hint`, the hint of the error.
    """
    remove = f"remove it with: patchmgr unapply {where.words()}"
    present = target.record()
    if present is not None and present.series != name:
        what = f"the series {present.series} is applied to {target.distribution.name}"
        raise UsageError(what, f"{hint or remove} {present.series}")
    if present is not None and present.workspace is not None:
        other = Workspace(Path(present.workspace))
        if _is_unlike(session, other, present):
            raise UsageError(
                f"the series {name} of the workspace {other.root} is applied to"
                f" {target.distribution.name}",
                f"remove it with: patchmgr -C {typed(other.root)} unapply {name} {where.words()}",
            )
    return present


def _is_unlike(session: Session, other: Workspace, present: Record) -> bool:
    """Return whether an applied series of `other` is not the series of that name here."""
    ours, name = session.workspace, present.series
    try:
        # after a move, the other workspace no longer has the series
        if ours.root.resolve() == other.root.resolve() or name not in other.lock().series:
            return False
        if package_digest(session, ours.series_record(name), present.selected) == present.digest:
            return False
        # one workspace is a copy of the other if they share a patch file
        return _patch_files(ours, name).isdisjoint(_patch_files(other, name))
    except (OSError, PatchmgrError):
        return False


def _patch_files(workspace: Workspace, name: str) -> set[bytes]:
    names = workspace.series_file(name).names()
    return {workspace.read(f"series/{name}/{patch}") for patch in names}


def path_map(session: Session, name: str) -> PathMap:
    """Read `[paths]` in series.toml, which maps repository paths to installed paths."""
    path = f"series/{name}/series.toml"
    if not (session.workspace.root / path).exists():
        return PathMap()
    return parse_path_map(session.workspace.read(path))


def installed_package(
    session: Session, name: str, target: Installation, read: Callable[[str], WorkFile | None]
) -> services.packages.Package:
    """Return a package as the target of a rebase; `read` reads the package's original files."""
    found, maps = target.distribution, path_map(session, name)
    return services.packages.Package(found.name, found.version, found.record, read, maps)


def package_digest(session: Session, record: SeriesRecord, selected: Collection[str]) -> str:
    """Return the sha256, in hex digits, of a series and of `[paths]` in its series.toml."""
    digest = series_digest(session, record, selected)
    pairs = path_map(session, record.name).pairs
    return hashlib.sha256(f"{digest}{pairs}".encode()).hexdigest() if pairs else digest


def package_state(name: str, target: Installation, applied: Record, digest: str) -> InstalledState:
    """Return the state of each file of a package to which a series was applied."""
    distribution = target.distribution
    is_same = applied.onto == distribution.version
    files = tuple(
        (file.path, target.state(file.path, file, is_current=is_same)) for file in applied.files
    )
    is_current = applied.digest == digest
    state = _word({state for _, state in files}, is_same=is_same, is_current=is_current)
    return InstalledState(name, distribution, state, True, is_current, applied.onto, files)


def _word(states: Collection[PackageState], *, is_same: bool, is_current: bool) -> str:
    if PackageState.EDITED in states:
        return "edited"
    if PackageState.REPLACED in states:
        return "partly" if PackageState.PATCHED in states else "replaced"
    if not is_same:
        return "replaced"
    return "patched" if is_current else "outdated"


def unpatched_state(session: Session, record: SeriesRecord, target: Installation) -> InstalledState:
    """Return the state of a package without the series, from the files that its patches name."""
    patches, _ = whole_series(session, record)
    read = original_reader(target, None, is_for_writing=False)
    source = services.packages.RepositoryFiles((), patches, read)
    layout = InstalledPaths(target.distribution.record, path_map(session, record.name), source)
    named = dict.fromkeys(path for patch in patches for path in patch.paths())
    paths = [place for path in named if (place := layout.find(path)) is not None]
    files = tuple((path, target.state(path, None, is_current=True)) for path in paths)
    state = "edited" if any(s is PackageState.EDITED for _, s in files) else "pristine"
    return InstalledState(record.name, target.distribution, state, False, False, None, files)


def known_packages(session: Session) -> tuple[Verification, ...]:
    """Return the state of each installed package to which a series is applied."""
    found = []
    for private in known_targets(session.workspace):
        if private.parent.name != PRIVATE:
            continue
        with suppress(PatchmgrError):
            site = site_environment(private.parent.parent)
            target = Installation(find_distribution(site, private.name))
            applied = target.record()
            if applied is not None:
                record = session.workspace.series_record(applied.series)
                digest = package_digest(session, record, applied.selected)
                found.append(_as_verification(package_state(record.name, target, applied, digest)))
    return tuple(sorted(found, key=lambda v: (v.series, str(v.target))))


def _as_verification(state: InstalledState) -> Verification:
    files = tuple((path, _STANDINGS[file]) for path, file in state.files)
    is_current = state.is_current and state.applied_to == state.distribution.version
    return Verification(state.series, state.distribution.site, True, is_current, files)


def verify_package(session: Session, name: str, where: Location) -> InstalledState:
    """Return, file by file, whether the current state of a series is applied to a package."""
    record = session.workspace.series_record(name)
    _, distribution = find_installed(session, record, where)
    with settled(session, Installation(distribution), only_reads=True) as target:
        applied = target.record()
        if applied is None or applied.series != name:
            unpatched = unpatched_state(session, record, target)
            return _state_in_wheel(session, unpatched, target)
        digest = package_digest(session, record, session.selected or applied.selected)
        return package_state(name, target, applied, digest)


def _state_in_wheel(
    session: Session, state: InstalledState, target: Installation
) -> InstalledState:
    """Return the state of a package; "patched" if `patchmgr wheel` built it with this series."""
    package = target.distribution
    if WHEEL_MARK not in package.version or state.state == "edited":
        return state
    record, packages = session.workspace.series_record(state.series), services.packages
    original = original_reader(target, None, is_for_writing=False)
    refused: list[str] = []

    def read(path: str) -> WorkFile | None:
        try:
            return original(path)
        except PatchmgrError:
            refused.append(path)
            raise

    found = installed_package(session, record.name, target, read)
    try:
        done = packages.carry_onto_package(session, record, found)
        is_left = done.files or done.outcome.has_conflicts
        if is_left and not packages.has_series(session, record, found):
            return state
    except PatchmgrError as fault:
        if fault.kind == "edited-package":
            files = tuple({**dict(state.files), refused[-1]: PackageState.EDITED}.items())
            return replace(state, state="edited", files=files)
        # A file that a patch deletes is not in the wheel.
        patches = whole_series(session, record)[0]
        is_gone = any(file.new_path is None for patch in patches for file in patch.files)
        if fault.kind != "out-of-reach" or not is_gone:
            raise
    files = tuple((path, PackageState.PATCHED) for path, _ in state.files)
    return InstalledState(record.name, package, "patched", True, True, package.version, files)
