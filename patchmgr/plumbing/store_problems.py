"""Faults and leftover files in a store, and how to repair or delete them."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import git_process, namespaces
from patchmgr.plumbing.durable import replace_file
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.stores import (
    RefMove,
    cache_folder,
    forget_upstream,
    gone_lenders,
    is_left,
    listed,
    move_refs,
)

_HOUR = 60 * 60
_DAY = 24 * _HOUR
_REF = re.compile(rb"[0-9a-f]{40}\n?|ref: refs/[^\n]+\n?")
_OLD_HEADS = "refs/heads/patchmgr/"  # where all workspaces kept their branches until 2026


class ProblemKind(str, Enum):
    """The kinds of fault (repaired by --repair) and of leftover files (deleted by --prune)."""

    BROKEN_STORE = "broken store"
    MISSING_ALTERNATE = "missing alternate"
    LOST_HISTORY = "upstream's history lacks commits"
    BROKEN_REF = "broken ref"
    STALE_LOCK = "stale lock"
    TEMPORARY = "temporary files"
    GONE_WORKSPACE = "ref of a workspace that is gone"
    OLD_REF = "ref left by an older patchmgr"

    @property
    def is_broken(self) -> bool:
        """Return whether this kind is a fault, not a leftover."""
        return self not in _LEFT_OVER


_LEFT_OVER = (ProblemKind.TEMPORARY, ProblemKind.GONE_WORKSPACE, ProblemKind.OLD_REF)


class StoreProblem(Struct, frozen=True):
    """A fault or leftover in a store."""

    kind: ProblemKind
    store: Path
    what: str  # a ref, a path in the store, or the folder that it borrows from


def all_stores() -> Iterator[Path]:
    """Yield the paths of the user's stores, including incomplete ones."""
    with suppress(OSError):
        yield from sorted(path for path in (cache_folder() / "stores").iterdir() if path.is_dir())


def store_problems(store: Path, *, has_git: bool) -> Iterator[StoreProblem]:
    """Yield the problems of a store; its refs are checked in full only if git is installed."""
    if not store.name.endswith(".git"):
        if _is_older(store, _DAY):
            yield StoreProblem(ProblemKind.TEMPORARY, store, ".")
        return
    if not (store / "objects").is_dir():
        yield StoreProblem(ProblemKind.BROKEN_STORE, store, ".")
        return
    if not (store / "HEAD").is_file():
        yield StoreProblem(ProblemKind.BROKEN_STORE, store, "HEAD")
        return
    missing = gone_lenders(store)
    for lender in missing:
        yield StoreProblem(ProblemKind.MISSING_ALTERNATE, store, lender)
    files = sorted(path for path in store.iterdir() if path.is_file())
    for folder in ("refs", "objects/info", "objects/pack"):
        files += sorted(path for path in (store / folder).rglob("*") if path.is_file())
    for path in files:
        name = path.relative_to(store).as_posix()
        if path.name.endswith(".lock") and _is_older(path, _HOUR):
            yield StoreProblem(ProblemKind.STALE_LOCK, store, name)
        elif name.startswith("refs/") and not _REF.fullmatch(path.read_bytes()[:4096]):
            yield StoreProblem(ProblemKind.BROKEN_REF, store, name)
    for pattern in ("tmp/scratch-*", "objects/pack/tmp_*", "objects/tmp_*", "objects/??/tmp_*"):
        for path in sorted(store.glob(pattern)):
            if is_left(path):
                name = path.relative_to(store).as_posix()
                yield StoreProblem(ProblemKind.TEMPORARY, store, name)
    if has_git:
        yield from _ref_problems(store, lacks_objects=bool(missing))


def _ref_problems(store: Path, *, lacks_objects: bool) -> Iterator[StoreProblem]:
    """Yield broken refs, refs of deleted workspaces or an older patchmgr, and gaps in the history.

    If `lacks_objects`, missing objects may come back, so they are not reported.
    """
    gone = set(namespaces.gone())
    rows = listed(store, "refs/")
    with ObjectReader(store) as reader:
        there = reader.kinds({commit for _, commit, _ in rows})
    for name, commit, target in rows:
        space = name.split("/") if name.startswith(namespaces.REFS) else []
        if commit not in there and not target:
            if not lacks_objects:
                yield StoreProblem(ProblemKind.BROKEN_REF, store, name)
        elif name.startswith(_OLD_HEADS):
            yield StoreProblem(ProblemKind.OLD_REF, store, name)
        # Tags are kept: the heads that they name cannot be built again.
        elif space and space[2] in gone and space[3] != "tags":
            yield StoreProblem(ProblemKind.GONE_WORKSPACE, store, name)
    tips = [commit for name, commit, _ in rows if name.startswith("refs/upstream/")]
    data = git_process.words(commit for commit in tips if commit in there)
    line = ["rev-list", "--count", "--stdin"]
    if git_process.run(line, git_dir=store, good=(0, 128), data=data)[0] and not lacks_objects:
        yield StoreProblem(ProblemKind.LOST_HISTORY, store, ".")


def mend(problem: StoreProblem) -> None:
    """Repair a fault or delete a leftover; raise "cache" if the store cannot be written."""
    store, what = problem.store, problem.what
    try:
        if problem.kind is ProblemKind.BROKEN_STORE and what == "HEAD":
            replace_file(store / what, b"ref: refs/heads/main\n")
        elif problem.kind in (ProblemKind.BROKEN_STORE, ProblemKind.TEMPORARY):
            path = store / what
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        elif problem.kind is ProblemKind.STALE_LOCK:
            (store / what).unlink(missing_ok=True)
        elif problem.kind in (ProblemKind.MISSING_ALTERNATE, ProblemKind.LOST_HISTORY):
            forget_upstream(store)
        elif (store / what).is_file() and not _REF.fullmatch((store / what).read_bytes()[:4096]):
            (store / what).unlink()  # git deletes no ref that it cannot read
        else:
            move_refs(store, [RefMove(what, None)])
    except OSError as fault:
        reason = fault.strerror or str(fault)
        message = f"{store / what} cannot be repaired: {reason}"
        raise PatchmgrError(
            "cache", message, "check the owner and the permissions of the cache folder"
        ) from fault


def _is_older(path: Path, seconds: float) -> bool:
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > seconds
    return False


def git_state() -> tuple[str, bool, str]:
    """Return git's version, whether it is new enough, and a problem with git, or ""."""
    try:
        version = git_process.git_version()
    except PatchmgrError as fault:
        works = "only verify and unapply on packages work without git"
        return "none", False, f"{fault.message}; {works}"
    if version < git_process.MINIMUM_GIT:
        return git_process.git_words(), False, (
            "too old to merge: rebase, conflicts learn and branch --repo need 2.39; "
            "apply, unapply, verify, push, pop, status, report, import and export work"
        )  # fmt: skip
    if not git_process.is_safe_git(version):
        return git_process.git_words(), True, (
            "it does not know GIT_NO_LAZY_FETCH, so a partial clone cannot be an upstream; "
            "2.39.4, 2.43.4, and 2.45 or newer know it"
        )  # fmt: skip
    return git_process.git_words(), True, ""
