"""A folder of our own files that somebody may be reading: each is replaced by a rename."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.durable import sync_folder, unwritable, write_synced

_BESIDE = ".patchmgr-new"


def refresh_folder(
    place: Path, files: Mapping[str, bytes], *, is_ours: Callable[[str], bool]
) -> None:
    """Write the files in their order, then delete what else is there.

    A run that is killed leaves the first of the files new and the others as they were. Raises
    PatchmgrError "usage" where the folder has a name that is not ours.
    """
    check_ours(place, is_ours=is_ours)
    try:
        for path, content in files.items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(target.name + _BESIDE)
            write_synced(beside, content)
            os.replace(beside, target)
        sync_folder(place)
        tops = {path.partition("/")[0] for path in files}
        for name in sorted(set(os.listdir(place)) - tops):
            _delete(place / name)
    except OSError as fault:
        raise unwritable(str(place), fault, left="a part was; run it again") from fault


def check_ours(place: Path, *, is_ours: Callable[[str], bool]) -> None:
    """Refuse a place where something else is."""
    if not os.path.lexists(place):
        return
    is_free = place.is_dir() and not place.is_symlink()
    if not is_free or not all(is_ours(n.removesuffix(_BESIDE)) for n in os.listdir(place)):
        raise PatchmgrError(
            "usage", f"{place} is there already, and is no overlay", ("name another --out",)
        )


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
