"""Which workspace and which checkout an authoring command is about."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.targets import known_targets
from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.checkout import Checkout
from patchmgr.plumbing.clones import find_top, open_clone
from patchmgr.store import LOCK, PRIVATE, Workspace


class Place(Struct, frozen=True):
    """Where a workspace is looked for, and the checkout that is meant, None where none is."""

    start: Path
    checkout: Path | None


def find_place(*, cwd: Path, named: Path | None, to: Path | None, begins: bool) -> Place:
    """Return what a command run in a folder is about.

    In a checkout that patches were pushed to, its record names the workspace; `named` is the
    workspace that a person named, and `to` the checkout. A command that `begins` to push makes
    one of any checkout around it.
    """
    checkout = to if to is not None else _around(cwd)
    noted = None if checkout is None else _noted_workspace(checkout)
    if to is None and noted is None and not begins:
        return Place(named or cwd, None)
    if named is not None or checkout is None:
        return Place(named or cwd, checkout)
    is_inside = to is not None and _workspace_around(cwd) is not None
    return Place(cwd if noted is None or is_inside else noted, checkout)


def _around(cwd: Path) -> Path | None:
    """Return the checkout around a folder; none where a workspace is nearer."""
    top = find_top(cwd)
    workspace = _workspace_around(cwd)
    if top is None or (workspace is not None and workspace.is_relative_to(top)):
        return None
    return top


def _workspace_around(cwd: Path) -> Path | None:
    return next((at for at in (cwd, *cwd.parents) if (at / LOCK).is_file()), None)


def _noted_workspace(checkout: Path) -> Path | None:
    try:
        clone = Checkout(open_clone(checkout))
    except PatchmgrError:  # the command itself says why
        return None
    record = clone.record()
    if record is None or record.workspace is None:
        return None
    noted = Path(record.workspace)
    return noted if (noted / LOCK).is_file() else None


def pushed_targets(workspace: Workspace, series: str | None) -> tuple[Path, ...]:
    """Return the checkouts with patches of this workspace pushed one by one."""
    found = []
    for target in known_targets(workspace):
        with suppress(PatchmgrError):
            if target.parent.name == PRIVATE:  # a package
                continue
            record = Checkout(open_clone(target)).record()
            is_ours = record is not None and record.workspace == str(workspace.root)
            if is_ours and record is not None and series in (None, record.series):
                found.append(target)
    return tuple(found)
