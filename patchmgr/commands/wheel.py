"""`wheel`: a wheel with a series in it, under a local version of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.wheel_records import normalised_name
from patchmgr.plumbing.wheel_files import Wheel
from patchmgr.services.carry import CarryOptions
from patchmgr.services.installed import path_map
from patchmgr.services.packages import Package, PackageResult, carry_onto_package
from patchmgr.services.session import Session

_DIGEST = re.compile(r"[a-f][0-9a-f]{9}")  # a local part of digits alone would be a number


class PatchedWheel(Struct, frozen=True):
    """What `wheel` made: the file is None where conflicts are left."""

    series: str
    source: Path
    place: Path | None
    version: str
    paths: tuple[str, ...]
    carried: PackageResult


def make_wheel(
    session: Session,
    name: str,
    source: Path,
    folder: Path,
    *,
    options: CarryOptions,
    is_dry_run: bool,
) -> PatchedWheel:
    """Write a patched wheel into a folder: the same bytes for the same wheel and series."""
    record = session.workspace.series_record(name)
    with Wheel(source) as wheel:
        wanted = session.workspace.upstream(record.upstream).package
        if wanted is not None and normalised_name(wheel.name) != normalised_name(wanted):
            raise PatchmgrError(
                "usage", f"{source.name} is no wheel of {wanted}", ("name another --from",)
            )
        package = Package(
            normalised_name(wheel.name), wheel.version, wheel.record, wheel.read,
            path_map(session, name),
        )  # fmt: skip
        done = carry_onto_package(session, record, package, options=options)
        changes = {path: None if c is None else c.content for path, c in done.files.items()}
        version = local_version(wheel.version, changes) if changes else wheel.version
        result = PatchedWheel(
            name, source, folder / wheel.patched_name(version), version,
            tuple(sorted(changes)), done,
        )  # fmt: skip
        if done.outcome.has_conflicts:
            return PatchedWheel(name, source, None, wheel.version, (), done)
        if not changes:
            raise PatchmgrError(
                "nothing-to-do",
                f"{source.name} has all of {name} already, or none of its files",
                ("use it as it is",),
            )
        if not is_dry_run:
            assert result.place is not None
            result.place.parent.mkdir(parents=True, exist_ok=True)
            wheel.write(result.place, version, changes)
        return result


def local_version(version: str, changes: Mapping[str, bytes | None]) -> str:
    """Return the version with a local part that is a digest of what changes."""
    whole = hashlib.sha256()
    for path, content in sorted(changes.items()):
        part = b"-" if content is None else hashlib.sha256(content).digest()
        whole.update(path.encode("utf-8", "surrogateescape") + b"\0" + part)
    found = _DIGEST.search(whole.hexdigest())
    digest = found[0] if found is not None else f"x{whole.hexdigest()[:9]}"
    return f"{version}{'.' if '+' in version else '+'}patchmgr.{digest}"
