"""Which workspace and which checkout an authoring command is about."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.checkout import Checkout
from patchmgr.plumbing.clones import Clone, find_clone, open_clone
from patchmgr.services.targets import known_targets
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
    clone = _around(cwd) if to is None else _opened(to)
    checkout = to if to is not None or clone is None else clone.root
    noted = None if clone is None else _noted_workspace(clone)
    if to is None and noted is None and not begins:
        return Place(named or cwd, None)
    if named is not None or checkout is None:
        return Place(named or cwd, checkout)
    is_inside = to is not None and _workspace_around(cwd) is not None
    return Place(cwd if noted is None or is_inside else noted, checkout)


def _around(cwd: Path) -> Clone | None:
    """Return the checkout around a folder; none where a workspace is nearer."""
    clone = find_clone(cwd)
    workspace = _workspace_around(cwd)
    if clone is None or (workspace is not None and workspace.is_relative_to(clone.root)):
        return None
    return clone


def _opened(checkout: Path) -> Clone | None:
    try:
        return open_clone(checkout)
    except PatchmgrError:  # the command itself says why
        return None


def _workspace_around(cwd: Path) -> Path | None:
    return next((at for at in (cwd, *cwd.parents) if (at / LOCK).is_file()), None)


def _noted_workspace(clone: Clone) -> Path | None:
    record = Checkout(clone).record()
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
