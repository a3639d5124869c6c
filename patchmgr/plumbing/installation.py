"""An installed package as a target of `apply`: a folder to which pip and uv write, too.

The record and the journal are in `.patchmgr/<name>/` of the folder with the package. No installer
lists or removes this folder, and it is deleted together with the environment.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import refusal
from patchmgr.formats.shown import typed
from patchmgr.formats.wheel_records import is_known_digest, normalized_name, record_digest
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, SYMLINK
from patchmgr.plumbing.applied import AppliedFile, Record, found_state
from patchmgr.plumbing.durable import held_briefly
from patchmgr.plumbing.environments import Distribution, Environment
from patchmgr.plumbing.target import PlannedExchange, Target, keep_hint
from patchmgr.plumbing.work_tree import WorkFile

PRIVATE = ".patchmgr"
_COPIES = ("install with copies: uv pip install --link-mode copy --reinstall",)


class PackageState(str, Enum):
    """The state of an installed file: as in the wheel, patched, replaced or edited."""

    PRISTINE = "pristine"
    PATCHED = "patched"
    REPLACED = "replaced"
    EDITED = "edited"


class Installation(Target):
    """The files of one installed distribution, to which series are applied."""

    fault = "edited-package"
    mending = ("install the package again, then delete the unreadable file",)
    settling = ("install the package again, then run the command again",)

    def __init__(self, distribution: Distribution) -> None:
        super().__init__(distribution.site, distribution.site / PRIVATE / distribution.name)
        self.distribution = distribution

    def held(self) -> AbstractContextManager[None]:
        """Hold a lock on the package during the `with` block; then delete empty private folders."""
        return held_briefly(self.private, what=str(self.root))

    def seen(self, path: str) -> WorkFile | None:
        """Return the file that an import would read (links are followed), or None."""
        if refusal(path) is not None:
            return self.file(path)
        try:
            with open(self.root / path, "rb") as file:
                bits = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o777
                return WorkFile(EXECUTABLE if bits & 0o100 else REGULAR, file.read(), bits)
        except OSError:
            return self.file(path)

    def file(self, path: str) -> WorkFile | None:
        """Return an installed file, or None; raise an "unsafe-path" error for a symbolic link."""
        reason = refusal(path)
        if reason is not None:
            raise PatchmgrError("unsafe-path", f"{path!a} {reason}")
        try:
            found = self.tree.read(path)
        except PatchmgrError as fault:
            raise PatchmgrError(fault.kind, fault.message, *_COPIES) from fault
        if found is not None and found.mode == SYMLINK:
            message = f"{path} in {self.root} is a symbolic link to a file that may be shared"
            raise PatchmgrError("unsafe-path", message, *_COPIES)
        return found

    def is_pristine(self, path: str, content: bytes) -> bool | None:
        """Return whether a file has the wheel's content, or None if RECORD has no digest of it."""
        digest = self.distribution.record.get(path, "")
        return record_digest(content) == digest if is_known_digest(digest) else None

    def is_original(self, path: str, file: WorkFile | None, *, if_unhashed: bool) -> bool:
        """Return whether a file is as in the wheel; `if_unhashed` if RECORD has no hash of it."""
        is_listed = path in self.distribution.record
        if file is None:
            return not is_listed
        pristine = self.is_pristine(path, file.content)
        return is_listed and if_unhashed if pristine is None else pristine

    def state(self, path: str, applied: AppliedFile | None, *, is_current: bool) -> PackageState:
        """Return the state of a file, given its entry in the record (None: no series changed it).

        `is_current` is true if the installed version is the one that was patched.
        """
        try:
            found = self.seen(path)
        except PatchmgrError:
            return PackageState.EDITED
        now, is_other = found_state(found), applied is None or not is_current
        # Without a hash, only the version can tell.
        is_original = self.is_original(path, found, if_unhashed=is_other)
        if applied is None:
            return PackageState.PRISTINE if is_original else PackageState.EDITED
        old, new = (state and state.sha256 for state in (applied.before, applied.after))
        # A wheel that already has what the patches do may be a rebuild of the same version.
        is_wheels = is_original and (not is_current or old != new)
        if now == applied.after and not is_wheels:
            return PackageState.PATCHED
        is_back = is_original or (is_current and now == applied.before)
        return PackageState.REPLACED if is_back else PackageState.EDITED

    def _finish_more(self, journal: PlannedExchange, *, is_fresh: bool) -> None:
        """Delete the `.pyc` files of changed modules, because Python may not notice the change."""
        for path in (row.path for row in journal.files):
            for compiled in compiled_files(self.root, path):
                self.tree.remove(compiled)
            if path.endswith(".py"):
                self.tree.remove_folder(_cache_of(path))


def compiled_files(root: Path, path: str) -> Iterator[str]:
    """Yield the paths of the `.pyc` files that any version of Python wrote for a module."""
    stem, _, kind = path.rpartition("/")[2].rpartition(".")
    if kind != "py":
        return
    cache = _cache_of(path)
    try:
        names = sorted(os.listdir(root / cache))
    except OSError:
        return
    for found in names:
        if found.startswith(f"{stem}.") and found.endswith(".pyc"):
            yield f"{cache}/{found}"


def _cache_of(path: str) -> str:
    return f"{path.rpartition('/')[0]}/__pycache__".removeprefix("/")


def replaced_paths(target: Installation, record: Record | None) -> Collection[str]:
    """Return the paths of the patched files that an installer has since replaced."""
    is_current = record is not None and record.onto == target.distribution.version
    return {
        file.path
        for file in (record.files if record is not None else ())
        if target.state(file.path, file, is_current=is_current) is PackageState.REPLACED
    }


def find_left(environment: Environment, package: str) -> Distribution | None:
    """Return a package that was uninstalled but still has a record of patchmgr, or None."""
    name = normalized_name(package)
    for site in environment.sites:
        if (site / PRIVATE / name).is_dir():
            return Distribution(name, "", site, "", {})
    return None


Read = Callable[[str], "WorkFile | None"]


def original_reader(
    target: Installation, record: Record | None, *, is_for_writing: bool = True
) -> Read:
    """Return a function that reads a file of the package as it was before the series was applied.

    The function raises PatchmgrError "edited-package" for a file that somebody else edited, and, if
    `is_for_writing`, "unsafe-path" for a symbolic link.
    """
    look = target.file if is_for_writing else target.seen
    gone = replaced_paths(target, record)
    ours = {f.path: f for f in record.files if f.path not in gone} if record is not None else {}

    def read(path: str) -> WorkFile | None:
        found, applied = look(path), ours.get(path)
        if applied is not None:
            if found_state(found) != applied.after:
                raise edited(target, path, record)
            return target.original_file(applied)
        is_listed = path in target.distribution.record
        if is_listed is (found is None):
            raise edited(target, path)
        if found is not None and target.is_pristine(path, found.content) is False:
            raise edited(target, path)
        return found

    return read


def edited(target: Installation, path: str, record: Record | None = None) -> PatchmgrError:
    """Return the error for a file that somebody edited; `record` is that of the series, if any."""
    site, series = f"--site {typed(target.root)}", record.series if record is not None else "S"
    name, is_listed = target.distribution.name, path in target.distribution.record
    mending = f"install {name} again" if is_listed else "move the file out of the way"
    mending += " and repeat the command"
    return PatchmgrError(
        "edited-package",
        f"{path} in {target.root} has content that is neither from {name} "
        f"{target.distribution.version} nor from a series",
        f"make a patch of the edit: patchmgr import {site} --series {series}",
        f"or {keep_hint(series, site) if record else mending}",
    )
