"""Find where the files of a repository are in an installed package.

Folder names such as `src/` are not interpreted. A file is taken to be the installed file with the
same content, if there is only one and no other file fits it better. A new or changed file is
installed next to the files that are next to it in the repository.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Protocol

from patchmgr.formats.series_settings import PathMap

_METADATA = (".dist-info", ".data", ".egg-info")
_LIBRARIES = ("purelib/", "platlib/")
_LOOKED_AT = 200  # most files that are examined in and below a folder
_ENOUGH = 8  # once this many installed files are found, no more are examined
_NAMESAKES = 16  # most installed files of the same name that are compared


class FileSource(Protocol):
    """The files of a repository: all of them if `is_whole`, or else those that patches name."""

    @property
    def is_whole(self) -> bool:
        """Whether all files of the repository are known."""

    def names(self, folder: str) -> Collection[str]:
        """Return the names of the files directly in a folder."""

    def is_gone(self, folder: str) -> bool:
        """Return whether the newest known state of the repository has no file in a folder."""

    def files(self) -> Iterable[str]:
        """Yield the paths of all files, as far as they are known."""

    def is_same(self, path: str, place: str) -> bool:
        """Return whether the installed file `place` equals the file `path` of the repository."""


class InstalledPaths:
    """Maps the files of a repository to the installed files of its package (`known`), and back."""

    def __init__(self, known: Iterable[str], maps: PathMap, source: FileSource) -> None:
        self._known = frozenset(path for path in known if not is_apart(path))
        self._maps = maps
        self._source = source
        self._tops = {path.partition("/")[0] for path in self._known if "/" in path}
        self._by_name = cache(lambda: _by_name(self._known))
        self._files = cache(lambda: tuple(source.files()))
        self._files_by_name = cache(lambda: _by_name(self._files()))
        self._place = cache(self._find_place)
        self._pair = cache(self._find_pair)
        self._home = cache(self._find_home)
        self._folders = cache(self._find_folders)
        self._origins = cache(self._find_origins)

    def find(self, path: str) -> str | None:
        """Return the installed path of a repository file, or None if the file is not installed."""
        return self._place(path)

    def _find_place(self, path: str) -> str | None:
        mapped = self._maps.find(path)
        if mapped is not None:
            return mapped if mapped in self._known else None
        return self._pair(path) or self._beside(path) or self._named(path)

    def place_new(self, path: str) -> str | None:
        """Return the path at which to install a file that a patch creates, or None if unknown."""
        mapped = self._maps.find(path)
        if mapped is not None:
            return mapped
        folder, name = _split(path)
        home = self._home(folder)
        if home is None:
            return None
        place = _join(home, name)
        if "/" in place:
            return place if place.partition("/")[0] in self._tops else None
        return place if self._has_like(place, folder) else None

    def is_missed(self, path: str) -> bool:
        """Return whether a file is not installed, although others of its folder and suffix are."""
        folder = _split(path)[0]
        is_known = self._home(folder) is not None
        return is_known and self.find(path) is None and self._has_like(path, folder)

    def _has_like(self, path: str, folder: str) -> bool:
        """Return whether a folder has an installed file with the suffix of `path`."""
        kind = path.rpartition(".")[2]
        names = (name for name in self._source.names(folder) if name.rpartition(".")[2] == kind)
        return any(self.find(_join(folder, name)) is not None for name in names)

    def path_of(self, place: str) -> str | None:
        """Return the repository path of an installed file, or None if that is not known."""
        folder, name = _split(place)
        home = self._folders().get(folder)
        return None if home is None else _join(home, name)

    def _find_folders(self) -> dict[str, str]:
        """Map each installed folder to the repository folder that it comes from."""
        votes: dict[str, list[str]] = defaultdict(list)
        for path in self._files():
            place = self.find(path)
            if place is not None:
                votes[_split(place)[0]].append(_split(path)[0])
        ranked = {folder: _most(found, folder) for folder, found in votes.items()}
        return {folder: most for folder, most in ranked.items() if most is not None}

    def _find_pair(self, path: str) -> str | None:
        """Return the installed file with the name and content of `path`, or None if unclear."""
        if path in self._known and self._source.is_same(path, path):
            return path
        for end in _ends(path):
            if end in self._known and self._source.is_same(path, end):
                return end if self._origins(end) == [path] else None
        found: list[str] = []
        depth = 0
        namesakes = self._by_name().get(_split(path)[1], ())
        for place in sorted(namesakes, key=lambda one: (-_shared(path, one), one))[:_NAMESAKES]:
            if found and _shared(path, place) < depth:
                break
            if self._source.is_same(path, place):
                found.append(place)
                depth = _shared(path, place)
        return found[0] if len(found) == 1 and self._origins(found[0]) == [path] else None

    def _find_origins(self, place: str) -> list[str]:
        """Return the repository files equal to `place` whose paths are most similar to it."""
        if self._source.is_same(place, place):
            return [place]
        named = self._files_by_name().get(_split(place)[1], ())
        same = [path for path in named if self._source.is_same(path, place)]
        most = max((_shared(path, place) for path in same), default=0)
        return [path for path in same if _shared(path, place) == most]

    def _is_anothers(self, path: str, place: str) -> bool:
        """Return whether an installed file comes from a repository file other than `path`."""
        origins = self._origins(place)
        depth = _shared(path, place)
        return path not in origins and any(_shared(one, place) >= depth for one in origins)

    def _beside(self, path: str) -> str | None:
        """Return the installed file with the same name and neighbors as `path`, or None."""
        folder, name = _split(path)
        home = self._home(folder)
        place = None if home is None else _join(home, name)
        return None if place not in self._known or self._is_anothers(path, place) else place

    def _named(self, path: str) -> str | None:
        """Return the only installed path that `path` is or ends with, or None if unclear."""
        ends = [end for end in (path, *_ends(path)) if end in self._known]
        ends = ends[:1] if path in self._known else ends
        if len(ends) != 1 or self._is_anothers(path, ends[0]):
            return None
        rivals = self._files_by_name().get(_split(path)[1], ())
        is_unsure = path != ends[0] and any(
            one != path and (one == ends[0] or one.endswith("/" + ends[0])) for one in rivals
        )
        return None if is_unsure else ends[0]

    def _find_home(self, folder: str) -> str | None:
        """Return the installed folder that holds the files of a repository folder, or None."""
        names = self._source.names(folder)
        beside = [_join(folder, name) for name in islice(names, _LOOKED_AT)]
        home = self._voted(beside, self._pair, folder)
        if home is None and folder:  # not for the root: most files below it are not installed
            prefix = folder + "/"
            below = islice((one for one in self._files() if one.startswith(prefix)), _LOOKED_AT)
            home = _most(self._heads(below, prefix), folder)
        if home is None:
            home = self._voted(beside, self._named, folder)
        if home is None and not self._source.is_whole:
            home = self._folder_named(folder)
        above, name = _split(folder)
        if home is not None or not above:
            return home
        home = self._home(above)
        if home is None:
            return None
        home = _join(home, name)
        is_there = any(_join(home, one) in self._known for one in names)
        return home if is_there or self._source.is_gone(folder) else None

    def _voted(
        self, paths: Iterable[str], look: Callable[[str], str | None], folder: str
    ) -> str | None:
        return _most((_split(place)[0] for path in paths if (place := look(path))), folder)

    def _heads(self, paths: Iterable[str], prefix: str) -> Iterator[str]:
        for path in paths:
            place, rest = self._pair(path), path.removeprefix(prefix)
            if place == rest:
                yield ""
            elif place is not None and place.endswith("/" + rest):
                yield place[: -len(rest) - 1]

    def _folder_named(self, folder: str) -> str | None:
        """Return a folder's path from the name of an installed package on, or None."""
        parts = folder.split("/")
        for start, part in enumerate(parts):
            if part in self._tops:
                return "/".join(parts[start:])
        return None


def is_apart(path: str) -> bool:
    """Return whether a path in RECORD belongs to metadata, or is outside the folder of packages."""
    top, _, rest = path.partition("/")
    if ".." in path.split("/") or path.startswith("/"):
        return True
    is_library = top.endswith(".data") and rest.startswith(_LIBRARIES)
    return top.endswith(_METADATA) and not is_library


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[_split(path)[1]].append(path)
    return found


def _most(votes: Iterable[str], folder: str) -> str | None:
    """Return the most frequent of `votes` or, in a tie, the one most similar to `folder`."""
    counts = Counter(islice(votes, _ENOUGH))
    ranked = sorted(((n, _shared(one, folder), one) for one, n in counts.items()), reverse=True)
    is_tie = len(ranked) > 1 and ranked[0][:2] == ranked[1][:2]
    return None if not ranked or is_tie else ranked[0][2]


def _shared(one: str, other: str) -> int:
    """Return the number of components that two paths have in common at their ends."""
    count = 0
    for left, right in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if left != right:
            break
        count += 1
    return count


def _ends(path: str) -> Iterator[str]:
    """Yield a path without its first folder, then without its first two, and so on."""
    while "/" in path:
        path = path.partition("/")[2]
        yield path


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
