"""The stores of upstream objects: bare repositories in the user's cache folder."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from platformdirs import user_cache_path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import git_process
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.durable import replace_file, synced

_ALTERNATES = "objects/info/alternates"
_DAY = 24 * 60 * 60
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def cache_folder() -> Path:
    """Return patchmgr's folder in the user's cache, which contains all stores and downloads."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base) / "patchmgr"
    return user_cache_path("patchmgr", appauthor=False)


def store_path(kind: str, origin: str) -> Path:
    """Return the path of the store that all of the user's workspaces share for an upstream.

    `kind` is "git", "package" or "archive"; `origin` is a URL, a package name or a path.
    """
    digest = hashlib.sha256(f"{kind}:{origin}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
    last = _UNSAFE.sub("-", origin.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")) or "store"
    return cache_folder() / "stores" / f"{last[:60]}-{digest}.git"


def create_store(path: Path) -> Path:
    """Make an empty bare repository at the path unless one exists, and return the path."""
    if (path / "HEAD").exists():
        for left in filter(is_left, (path / "tmp").glob("scratch-*")):
            shutil.rmtree(left, ignore_errors=True)
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="new-", dir=path.parent) as folder:
            fresh = Path(folder) / "store"
            git_process.output(["init", "--quiet", "--bare", "--template=", str(fresh)])
            try:
                fresh.rename(path)
            except OSError:
                if not (path / "HEAD").exists():  # unless another run made it first
                    raise
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise PatchmgrError(
            "cache",
            f"the store {path} cannot be created: {reason}",
            "set XDG_CACHE_HOME to a writable folder",
        ) from fault
    return path


def is_left(path: Path) -> bool:
    """Return whether a temporary file or folder is a day old and no process holds a lock on it.

    The age alone is not enough: the clock may have been set forward, or the computer have slept.
    """
    with suppress(OSError):
        if time.time() - path.stat().st_mtime <= _DAY:
            return False
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        finally:
            os.close(descriptor)
        return True
    return False


def borrow(store: Path, lender: Path) -> None:
    """Let the store read another repository's objects through git's alternates.

    Raises PatchmgrError "usage" if the lender is not a repository, and "git" if it is a shallow
    clone.
    """
    objects, known = str(objects_of(lender)), lenders(store)
    if objects not in known:
        alternates = store / _ALTERNATES
        alternates.parent.mkdir(parents=True, exist_ok=True)
        replace_file(alternates, os.fsencode("".join(f"{one}\n" for one in (*known, objects))))


def objects_of(lender: Path) -> Path:
    """Return the object folder of a repository to borrow from; raise the errors of `borrow`."""
    git_dir = find_git_dir(lender).resolve()
    refuse_shallow(str(lender), git_dir)
    return git_dir / "objects"


def lenders(store: Path) -> list[str]:
    """Return the object folders that a store borrows from."""
    with suppress(OSError):
        return git_process.lines(os.fsdecode((store / _ALTERNATES).read_bytes()))
    return []


def gone_lenders(store: Path) -> list[str]:
    """Return the object folders that a store borrows from and that no longer exist."""
    return [lender for lender in lenders(store) if not os.path.isdir(lender)]


def forget_upstream(store: Path) -> None:
    """Stop borrowing objects, and delete upstream's refs; the next fetch gets everything."""
    (store / _ALTERNATES).unlink(missing_ok=True)
    refs = listed(store, "refs/upstream/")
    move_refs(store, [RefMove(name, None) for name, _, target in refs if not target])


def refuse_shallow(name: str, git_dir: Path) -> None:
    """Raise "git" for a shallow clone, which may lack commits between a pin and upstream's tip."""
    if (git_dir / "shallow").exists():
        raise PatchmgrError(
            "git",
            f"{name} is a shallow clone, which lacks older commits",
            f"fetch them: git --git-dir={shlex.quote(str(git_dir))} fetch --unshallow",
        )


def is_ref_name(name: str) -> bool:
    """Return whether git accepts this as the full name of a ref."""
    return git_process.run(["check-ref-format", name], good=(0, 1))[0] == 0


def references(store: Path, prefix: str) -> dict[str, str]:
    """Map the name of each ref below a prefix, without the prefix, to its id."""
    return {name.removeprefix(prefix): commit for name, commit, _ in listed(store, prefix)}


def listed(store: Path, prefix: str) -> list[tuple[str, str, str]]:
    """Return the name, id and target ("": not symbolic) of each ref below a prefix."""
    form = "--format=%(refname) %(objectname) %(symref)"
    printed = git_process.ask(store, "for-each-ref", form, prefix)
    rows = (line.split(" ") for line in git_process.lines(printed))
    return [(name, commit, target) for name, commit, target in rows]


class RefMove(Struct, frozen=True):
    """A ref to set to the id `new`, or to delete if `new` is None.

    Its id must still be `old`: None allows any, and forty zeros mean that the ref must not exist.
    """

    name: str
    new: str | None
    old: str | None = None


def move_refs(store: Path, moves: Sequence[RefMove]) -> None:
    """Update the refs in one transaction: all of them, or none."""
    if not moves:
        return
    rows = (("update" if m.new else "delete", m.name, m.new, m.old) for m in moves)
    lines = (" ".join(filter(None, row)) for row in rows)
    data = git_process.words(["start", *lines, "prepare", "commit"])
    git_process.output(["update-ref", "--stdin"], git_dir=store, data=data)


def adopt_pack(store: Path, scratch: Path) -> None:
    """Move the packs of a temporary repository into the store, each pack before its index."""
    target = store / "objects" / "pack"
    target.mkdir(parents=True, exist_ok=True)
    for index in sorted((scratch / "objects" / "pack").glob("*.idx")):
        for suffix in (".pack", ".rev", ".idx"):
            source = index.with_suffix(suffix)
            if source.exists():
                synced(source)
                source.replace(target / source.name)
