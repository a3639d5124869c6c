"""Find the names that a shell can complete in a workspace, without loading the whole program."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.lock_files import parse_lock
from patchmgr.formats.series_files import parse_series
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import Lock, Upstream

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


class Candidates(Struct, frozen=True, dict=True):
    """The names for shell completion in a workspace; `about` are the words typed so far."""

    root: Path
    about: Collection[str] = ()

    @cached_property
    def _lock(self) -> Lock:
        return parse_lock((self.root / LOCK).read_bytes())

    def series(self) -> Iterable[str]:
        """Return the names of the series."""
        return sorted(self._lock.series)

    def upstreams(self) -> Iterable[str]:
        """Return the names of the upstreams."""
        return sorted(self._lock.upstreams)

    def patches(self) -> Iterable[str]:
        """Return the names of the patches, in series order."""
        return [name for file in self._files() for name in file.names()]

    def guards(self) -> Iterable[str]:
        """Return the symbols used in guards."""
        lines = (line for file in self._files() for line in file.lines)
        return sorted({guard.symbol for line in lines for guard in line.guards})

    def conflicts(self) -> Iterable[str]:
        """Return the ids of the recorded conflicts."""
        return sorted(os.listdir(self.root / "conflicts"))

    def refs(self) -> Iterable[str]:
        """Return the names of upstream states, as of the last fetch."""
        chosen = self._chosen()
        wanted = {self._lock.series[name].upstream for name in chosen} or set(self._lock.upstreams)
        found = dict.fromkeys(["upstream/main"])
        for name in sorted(wanted):
            found.update(dict.fromkeys(_states(self._lock.upstreams[name])))
        return found

    def _chosen(self) -> list[str]:
        return [name for name in self.about if name in self._lock.series]

    def _files(self) -> Iterable[SeriesFile]:
        for name in self._chosen() or self.series():
            with suppress(PatchmgrError, OSError):  # a broken series does not hide the others
                yield parse_series((self.root / "series" / name / "series").read_bytes())


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
