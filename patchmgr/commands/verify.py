"""`verify`: check whether a series is in a checkout or an installed package."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from patchmgr.plumbing.installation import Installation
from patchmgr.services.installed import (
    InstalledState,
    Location,
    find_installed,
    package_digest,
    package_state,
    unpatched_state,
)
from patchmgr.services.session import Session
from patchmgr.services.targets import (
    Verification,
    open_checkout,
    settled,
    verification_of,
)


def verify_checkout(
    session: Session, name: str, target: Path, *, selected: Collection[str] = ()
) -> Verification:
    """Check file by file whether the checkout has the present series.

    Without a selection, the one it was applied with is used.
    """
    record = session.workspace.series_record(name)
    with open_checkout(session, target, is_dry_run=True) as checkout:
        return verification_of(session, record, checkout, selected)


def verify_package(
    session: Session, name: str, where: Location, *, selected: Collection[str] = ()
) -> InstalledState:
    """Check file by file whether an installed package has the present series."""
    record = session.workspace.series_record(name)
    _, distribution = find_installed(session, record, where)
    with settled(session, Installation(distribution), is_dry_run=True) as target:
        applied = target.record()
        if applied is None or applied.series != name:
            return unpatched_state(session, record, target)
        digest = package_digest(session, record, selected or applied.selected)
        return package_state(name, target, applied, digest)
