"""From where to where a series goes that is applied to a package: its pin, and a release."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.commands.session import require_pin
from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.model.upstream import Pin
from patchmgr.plumbing.history import GitHistory, ReleaseHistory
from patchmgr.plumbing.sides import Side
from patchmgr.plumbing.stores import Resolved

NOBODY = Author(COMMITTER_NAME, COMMITTER_EMAIL, "0 +0000")
_NOT_TO_BE_HAD = ("unknown-ref", "unreachable-upstream")


class Ends(Struct, frozen=True):
    """The states to start from and to go to; None where the files themselves stand for it.

    `needs_all` says that the release could not be had: the installed files are the new side.
    """

    side: Side
    base: Resolved | None
    onto: Resolved | None
    history: GitHistory | ReleaseHistory | None = None
    needs_all: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_elsewhere(self) -> bool:
        """Say whether the package is another release than the pin."""
        return self.onto is not None or self.needs_all

    def resolved(self, pin: Pin, version: str) -> tuple[Resolved, Resolved]:
        """Return both states for those who only ask for their names."""
        base = self.base or Resolved(pin.ref, pin.commit, pin.archive, pin.sha256, version)
        return base, self.onto or Resolved(f"v{version}", base.commit, base.archive, None, version)


def find_ends(side: Side, pin: Pin, version: str) -> Ends:
    """Find the pin and the release that is installed.

    Nothing is downloaded where the release is the pin: its files are there.
    """
    if is_same_release(pin, version):
        is_there = side.reader.commit(pin.commit) is not None
        if not is_there and pin.archive is not None:
            return Ends(side, None, None)
        return Ends(side, require_pin(side, pin), None)
    base = require_pin(side, pin)
    try:
        onto = side.resolve(f"v{_public(version)}")
        history = side.history(base, onto)
        if isinstance(history, ReleaseHistory):
            for name in history.versions:
                history.lookup(name)
    except PatchmgrError as fault:
        if fault.kind not in _NOT_TO_BE_HAD:
            raise
        note = f"what upstream did up to {version} could not be looked at: {fault.message}"
        return Ends(side, base, None, needs_all=True, notes=(note,))
    return Ends(side, base, onto, history)


def is_same_release(pin: Pin, version: str) -> bool:
    """Say whether a version is the release that is pinned; a local part does not count."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(pin.ref.removeprefix("v")).public == Version(version).public
    except InvalidVersion:
        return False


def _public(version: str) -> str:
    return version.partition("+")[0]
