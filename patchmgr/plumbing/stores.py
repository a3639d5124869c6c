"""Where upstream objects are kept: bare repositories in the user's cache directory."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import door

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Resolved:
    """An upstream state by id; version, archive and sha256 are a release's, None for git."""

    ref: str
    commit: str
    archive: str | None = None
    sha256: str | None = None
    version: str | None = None


def cache_folder() -> Path:
    """Return the folder of all stores and downloads: patchmgr's place in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base) / "patchmgr"
    from platformdirs import user_cache_path

    return user_cache_path("patchmgr", appauthor=False)


def store_path(kind: str, origin: str) -> Path:
    """Return the store of a git URL or a package, shared by all workspaces of the user."""
    digest = hashlib.sha256(f"{kind}:{origin}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
    last = _UNSAFE.sub("-", origin.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")) or "store"
    return cache_folder() / "stores" / f"{last[:60]}-{digest}.git"


def create_store(path: Path) -> Path:
    """Make an empty bare repository at the path unless there is one."""
    if (path / "HEAD").exists():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        door.output(["init", "--quiet", "--bare", "--template=", str(path)])
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise PatchmgrError(
            "cache", f"the store {path} cannot be made: {reason}", ("set XDG_CACHE_HOME",)
        ) from fault
    return path


def borrow(store: Path, lender: Path) -> None:
    """Let the store read another repository's objects in place.

    Raises PatchmgrError "usage" where there is no repository.
    """
    arguments = ["rev-parse", "--path-format=absolute", "--git-common-dir"]
    code, printed = door.run(arguments, cwd=_existing(lender), good=(0, 128))
    if code:
        raise PatchmgrError("usage", f"{lender} is no git repository")
    objects = Path(door.text(printed).rstrip("\n")) / "objects"
    alternates = store / "objects" / "info" / "alternates"
    known = alternates.read_text(errors="surrogateescape") if alternates.exists() else ""
    if str(objects) not in known.splitlines():
        alternates.parent.mkdir(parents=True, exist_ok=True)
        beside = alternates.with_name("alternates.new")
        beside.write_text(f"{known}{objects}\n", errors="surrogateescape")
        beside.replace(alternates)


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise PatchmgrError("usage", f"there is no folder {folder}")
    return folder


def references(store: Path, prefix: str) -> dict[str, str]:
    """Return ref name (below the prefix) to id; an annotated tag gives its commit."""
    form = "--format=%(refname) %(objectname) %(*objectname)"
    printed = door.text(door.output(["for-each-ref", form, prefix], git_dir=store))
    rows = [line.split(" ") for line in printed.splitlines()]
    return {row[0].removeprefix(prefix): row[2] or row[1] for row in rows}


@dataclass(frozen=True, slots=True)
class RefMove:
    """A ref to move by compare-and-swap; `old` None means whatever is there, `new` None deletes."""

    name: str
    new: str | None
    old: str | None = None


def move_refs(store: Path, moves: Sequence[RefMove]) -> None:
    """Move all refs in one transaction, or none."""
    if not moves:
        return
    lines = []
    for move in moves:
        old = f" {move.old}" if move.old else ""
        lines.append(
            f"update {move.name} {move.new}{old}\n" if move.new else f"delete {move.name}{old}\n"
        )
    data = door.raw("start\n" + "".join(lines) + "prepare\ncommit\n")
    door.output(["update-ref", "--stdin"], git_dir=store, data=data)


def adopt_pack(store: Path, bench: Path) -> None:
    """Move the packs of a bench into the store: the pack first, its index last."""
    target = store / "objects" / "pack"
    target.mkdir(parents=True, exist_ok=True)
    for index in sorted((bench / "objects" / "pack").glob("*.idx")):
        for suffix in (".pack", ".rev", ".idx"):
            source = index.with_suffix(suffix)
            if source.exists():
                _sync(source)
                source.replace(target / source.name)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
