"""`overlay`: write patched copies of a package's modules into a separate folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.apply import Application, applied_to_package
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.overlays import is_of_overlay, module_name, overlay_files
from patchmgr.plumbing.environments import Distribution
from patchmgr.plumbing.installation import Installation, original_reader
from patchmgr.plumbing.outputs import check_ours, refresh_folder
from patchmgr.services.installed import Location, find_installed, installed_package
from patchmgr.services.packages import Package, PackageResult, carry_onto_package, keep_undecided
from patchmgr.services.session import Session


class Overlaid(Struct, frozen=True):
    """The result of `overlay`; `left` lists the changed files that are not modules."""

    application: Application
    place: Path
    left: tuple[str, ...]


def make_overlay(session: Session, name: str, where: Location, place: Path) -> Overlaid:
    """Make an overlay that patches a package; raise "out-of-reach" if no module changes."""
    record = session.workspace.series_record(name)
    _, distribution = find_installed(session, record, where)
    check_ours(place, is_ours=is_of_overlay)
    package = _package(session, name, distribution, where)
    done = carry_onto_package(session, record, package)
    keep_undecided(session, done)
    files, left = _modules(package, done)
    application = applied_to_package(name, distribution, files, done)
    result = Overlaid(application, place, left)
    if result.application.has_conflicts or session.is_dry_run:
        return result
    if done.files and not files:
        raise PatchmgrError(
            "out-of-reach",
            f"{name} changes no module of {distribution.name}; an overlay cannot contain {left[0]}",
            f"make a patched wheel: patchmgr wheel {name} --from WHEEL",
        )
    content = overlay_files(name, str(distribution.site), files)
    refresh_folder(place, content, is_ours=is_of_overlay)
    return result


def _package(session: Session, name: str, distribution: Distribution, where: Location) -> Package:
    target = Installation(distribution)
    present = target.record()
    if present is not None:
        raise UsageError(
            f"the series {present.series} is applied to {distribution.name} itself",
            f"remove it first: patchmgr unapply {present.series} {where.words()}",
        )
    read = original_reader(target, None, is_for_writing=False)
    return installed_package(session, name, target, read)


def _modules(
    package: Package, done: PackageResult
) -> tuple[dict[str, tuple[str | None, bytes]], tuple[str, ...]]:
    """Return the changed modules by path, and the paths of other files that change.

    A module is (sha256 of the original, or None if the module is new; new content).
    """
    files: dict[str, tuple[str | None, bytes]] = {}
    left: list[str] = []
    for path, content in sorted(done.files.items()):
        if content is None or module_name(path) is None:
            left.append(path)
            continue
        found = package.read(path)
        before = None if found is None else hashlib.sha256(found.content).hexdigest()
        files[path] = (before, content.content)
    return files, tuple(left)
