"""`doctor`: report and repair what is outdated or broken in tools, stores and workspace."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from importlib import metadata

from msgspec import Struct
from packaging.requirements import Requirement

from patchmgr import __version__
from patchmgr.commands.conflicts import list_conflicts
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import typed
from patchmgr.plumbing.checkout import Checkout
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.namespaces import forget, gone
from patchmgr.plumbing.store_problems import (
    ProblemKind,
    StoreProblem,
    all_stores,
    git_state,
    mend,
    store_problems,
)
from patchmgr.plumbing.stores import cache_folder
from patchmgr.services.checkouts import known_targets
from patchmgr.services.session import Session
from patchmgr.services.work_area import read_in_progress
from patchmgr.workspace import LOCK, PRIVATE

MINIMUM_PYTHON = (3, 10)


class Health(str, Enum):
    """The state of an examined item: sound, worth noting, broken, or just repaired."""

    WELL = "well"
    NOTE = "note"
    BROKEN = "broken"
    MENDED = "mended"


class Diagnosis(Struct, frozen=True):
    """An examined item, its state, and commands that the user can run next (`hints`)."""

    area: str
    what: str
    health: Health
    text: str = ""
    hints: tuple[str, ...] = ()


def examine(
    session: Session | None, *, repairs: bool, prunes: bool, is_dry_run: bool
) -> tuple[Diagnosis, ...]:
    """Examine program, stores and workspace; on request, repair stores and delete leftovers."""
    found = [*_program(), *_stores(repairs=repairs, prunes=prunes, is_dry_run=is_dry_run)]
    if session is None:
        hint = "run the command in a workspace, or name a workspace with: patchmgr -C DIR doctor"
        found.append(Diagnosis("workspace", "none", Health.NOTE, "no workspace here", (hint,)))
    else:
        found += _workspace(session)
    return tuple(found)


def _program() -> Iterator[Diagnosis]:
    yield Diagnosis("program", f"patchmgr {__version__}", Health.WELL, platform.platform())
    words, will_do, problem = git_state()
    health = Health.BROKEN if not will_do else Health.NOTE if problem else Health.WELL
    hints = ("install git 2.39.4 or newer",) if problem else ()
    yield Diagnosis("program", words, health, problem, hints)
    python = f"Python {platform.python_version()}"
    if sys.version_info[:2] < MINIMUM_PYTHON:
        yield Diagnosis(
            "program", python, Health.BROKEN, "too old", ("install Python 3.10 or newer",)
        )
    else:
        yield Diagnosis("program", python, Health.WELL, sys.executable)
    yield from _packages()


def _packages() -> Iterator[Diagnosis]:
    """Yield a diagnosis for each missing or unsuitable package, or a single one if all are fine."""
    try:
        wanted = [Requirement(line) for line in metadata.requires("patchmgr") or ()]
    except metadata.PackageNotFoundError:
        yield Diagnosis("program", "packages", Health.NOTE, "patchmgr runs without being installed")
        return
    bad = []
    for one in wanted:
        marker = one.marker
        applies = (e for e in ("", "format") if marker is None or marker.evaluate({"extra": e}))
        extra = next(applies, None)
        if extra is None:
            continue
        try:
            version = metadata.version(one.name)
            problem = "" if one.specifier.contains(version, prereleases=True) else f"is {version}"
        except metadata.PackageNotFoundError:
            problem = "is missing"
        if problem:
            bad.append(one.name)
            health = Health.NOTE if extra else Health.BROKEN
            text = f"{problem}; patchmgr formats merged files with it" if extra else problem
            hint = f"{sys.executable} -m pip install '{one.name}{one.specifier}'"
            yield Diagnosis("program", one.name, health, text, (hint,))
    if not bad:
        yield Diagnosis("program", "packages", Health.WELL, "all installed, including extras")


def _stores(*, repairs: bool, prunes: bool, is_dry_run: bool) -> Iterator[Diagnosis]:
    cache, has_git = cache_folder(), git_state()[0] != "none"
    near = next(path for path in (cache, *cache.parents) if path.exists())
    if not os.access(near, os.W_OK | os.X_OK):
        hint = "set XDG_CACHE_HOME to a folder that you can write to"
        yield Diagnosis("stores", str(cache), Health.BROKEN, "cannot be written", (hint,))
        return
    number = 0
    for store in all_stores():
        number += 1
        try:
            problems = tuple(store_problems(store, has_git=has_git))
        except PatchmgrError as fault:  # git cannot read it at all
            hint = f"delete {store}; to create it again: patchmgr upstream fetch"
            yield Diagnosis("stores", store.name, Health.BROKEN, fault.message, (hint,))
            continue
        for problem in problems:
            is_wanted = repairs if problem.kind.is_broken else prunes
            yield _treated(problem, is_wanted=is_wanted, is_dry_run=is_dry_run)
        if not problems:
            yield Diagnosis("stores", store.name, Health.WELL)
    if prunes and not is_dry_run:
        for name in gone():
            forget(name)
    if not number:
        yield Diagnosis("stores", str(cache), Health.WELL, "no store yet")


_HINTS = {
    ProblemKind.MISSING_ALTERNATE: "to fetch all of upstream: patchmgr upstream fetch; to borrow "
    "the objects again: patchmgr upstream add NAME --git URL "
    "--reference DIR",
    ProblemKind.LOST_HISTORY: "to fetch all of upstream: patchmgr upstream fetch",
    ProblemKind.BROKEN_REF: "to restore an upstream ref: patchmgr upstream fetch; to restore the "
    "branch of a series: patchmgr branch",
    ProblemKind.BROKEN_STORE: "to fetch the missing objects: patchmgr upstream fetch",
}


def _treated(problem: StoreProblem, *, is_wanted: bool, is_dry_run: bool) -> Diagnosis:
    is_broken, name = problem.kind.is_broken, problem.store.name
    health = Health.BROKEN if is_broken else Health.NOTE
    text = f"{problem.kind.value} {problem.what}".removesuffix(" .")  # the store itself
    if not is_wanted:
        hint = f"patchmgr doctor {'--repair' if is_broken else '--prune'}"
        return Diagnosis("stores", name, health, text, (hint,))
    if is_dry_run:
        return Diagnosis("stores", name, health, f"would be repaired: {text}")
    mend(problem)
    after = _HINTS.get(problem.kind)
    hints = (after,) if after else ()
    return Diagnosis("stores", name, Health.MENDED, text, hints)


def _workspace(session: Session) -> Iterator[Diagnosis]:
    workspace = session.workspace
    root = str(workspace.root)
    try:
        lock = workspace.lock()
    except PatchmgrError as fault:
        yield Diagnosis("workspace", root, Health.BROKEN, fault.message, fault.hints)
        return
    broken = False
    for name in sorted(lock.series):
        try:
            workspace.patches(name)
            workspace.settings(name)
        except PatchmgrError as fault:
            broken = True
            yield Diagnosis(
                "workspace", f"series {name}", Health.BROKEN, fault.message, fault.hints
            )
    for listed in list_conflicts(session):
        if listed.recorded is None:
            broken = True
            hints = listed.hints or (f"patchmgr conflicts forget {listed.id}",)
            what = f"conflict {listed.id}"
            yield Diagnosis("workspace", what, Health.BROKEN, listed.fault, hints)
    yield from _private(session)
    if not broken:
        yield Diagnosis("workspace", root, Health.WELL)


def _private(session: Session) -> Iterator[Diagnosis]:
    """Yield a note on an interrupted change, a rebase in progress, and each missing checkout."""
    workspace = session.workspace
    if (workspace.root / PRIVATE / "journal.json").exists():
        text = "a command was interrupted; the next command finishes its change"
        yield Diagnosis("workspace", LOCK, Health.NOTE, text, ("patchmgr status",))
    try:
        in_progress = read_in_progress(workspace)
    except PatchmgrError as fault:
        yield Diagnosis("workspace", "rebase", Health.BROKEN, fault.message, fault.hints)
        in_progress = None
    if in_progress is not None:
        hints = ("patchmgr rebase --continue", "patchmgr rebase --abort")
        text = f"in progress onto {in_progress.onto}"
        yield Diagnosis("workspace", "rebase", Health.NOTE, text, hints)
    for target in known_targets(workspace):
        if not target.exists():
            text = "patches were applied there, but the folder no longer exists"
            yield Diagnosis("workspace", str(target), Health.NOTE, text)
        elif target.parent.name != PRIVATE:  # not a package
            with suppress(PatchmgrError):
                if Checkout(open_clone(target)).is_interrupted:
                    text = "a change was interrupted there; the next command completes or drops it"
                    hint = f"run that command again, or: patchmgr pop --to {typed(target)}"
                    yield Diagnosis("workspace", str(target), Health.NOTE, text, (hint,))
