"""Find the names that a shell can complete in a workspace, without loading the whole program."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.lock_files import parse_lock
from patchmgr.formats.series_files import parse_series
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import Upstream

LOCK = "upstream.lock"
_REFS = (("refs/upstream/heads/", "upstream/"), ("refs/upstream/tags/", ""))
_RELEASES = "refs/upstream/releases/"


def workspace_around(folder: Path) -> Path | None:
    """Return the workspace around a folder, or else the one recorded in the checkout around it."""
    absolute = folder.absolute()
    for place in (absolute, *absolute.parents):
        if (place / LOCK).is_file():
            return place
    from patchmgr.services.checkouts import find_place

    noted, _ = find_place(cwd=absolute, named=None, to=None, begins=False)
    return noted if (noted / LOCK).is_file() else None


def names_of(kind: str, root: Path, about: Collection[str]) -> Iterable[str]:
    """Return the names of a kind in a workspace; `about` are the words typed so far.

    The kinds are "series", "upstreams", "refs", "patches", "guards", "signed guards" and
    "conflicts".
    """
    if kind == "conflicts":
        return sorted(os.listdir(root / "conflicts"))
    lock = parse_lock((root / LOCK).read_bytes())
    chosen = [name for name in about if name in lock.series]
    if kind == "series":
        return sorted(lock.series)
    if kind == "upstreams":
        return sorted(lock.upstreams)
    if kind == "refs":
        followed = {lock.series[name].upstream for name in chosen} or set(lock.upstreams)
        states = (_states(lock.upstreams[name]) for name in sorted(followed))
        return dict.fromkeys(chain(["upstream/main"], *states))
    files = list(_series_files(root, chosen or sorted(lock.series)))
    if kind == "patches":
        return [name for file in files for name in file.names()]
    guards = sorted({g.symbol for file in files for line in file.lines for g in line.guards})
    return guards if kind == "guards" else [sign + name for name in guards for sign in "+-"]


def _series_files(root: Path, names: Iterable[str]) -> Iterator[SeriesFile]:
    for name in names:
        with suppress(PatchmgrError, OSError):  # a broken series does not hide the others
            yield parse_series((root / "series" / name / "series").read_bytes())


def _states(upstream: Upstream) -> list[str]:
    from patchmgr.plumbing.stores import references, store_path

    found: list[str] = []
    sides = (("git", upstream.git), ("package", upstream.package), ("archive", upstream.archive))
    for store in (store_path(kind, origin) for kind, origin in sides if origin is not None):
        if not (store / "HEAD").exists():
            continue
        for prefix, shown in _REFS:
            found += [shown + name for name in references(store, prefix)]
        found += [f"v{name}" for name in reversed(list(references(store, _RELEASES)))]
    return found
