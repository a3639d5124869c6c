"""Refs of a remote: what they are, and how they are moved by compare-and-swap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.plumbing import door
from patchmgr.plumbing.conversion import AS_THE_USER
from patchmgr.plumbing.stores import RefMove


def remote_refs(git_dir: Path, remote: str, names: Sequence[str]) -> Mapping[str, str]:
    """Return the ids of those of the refs that a remote has; raise PatchmgrError "push"."""
    printed = _ask(git_dir, remote, ["ls-remote", "--", remote, *names])
    rows = (line.split("\t") for line in door.text(printed).splitlines())
    return {name: commit for commit, name in rows if name in names}


def push_refs(git_dir: Path, remote: str, moves: Sequence[RefMove]) -> None:
    """Move refs of a remote, all or none, if each is still what it was; raise "push"."""
    leases = [f"--force-with-lease={move.name}:{move.old or ''}" for move in moves]
    specs = [f"{move.new}:{move.name}" for move in moves]
    atomic = ["--atomic"] if len(moves) > 1 else []
    arguments = ["push", "--quiet", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]
    _ask(git_dir, remote, [*arguments, "--no-signed", *atomic, *leases, "--", remote, *specs])


def _ask(git_dir: Path, remote: str, arguments: Sequence[str]) -> bytes:
    try:
        return door.run(arguments, git_dir=git_dir, env=AS_THE_USER, for_network=True)[1]
    except PatchmgrError as fault:
        if fault.kind != "git":
            raise
        raise PatchmgrError(
            "push",
            f"{shown(remote)} does not take it: {fault.message}",
            ("nothing was moved, here or there; look with: git remote -v, git ls-remote REMOTE",),
        ) from fault
