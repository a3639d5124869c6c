"""Where the files of a repository are in an installed package."""

from __future__ import annotations

from collections.abc import Callable, Collection

from patchmgr.formats.path_maps import PathMap

_METADATA = (".dist-info", ".data", ".egg-info")


class InstalledPaths:
    """The places of a distribution's files, as its RECORD lists them.

    A path is where the path map says; else at the same path; else, for copies that a package
    keeps with its data, at the one place that ends in it and `is_same`: the content proves it.
    """

    def __init__(
        self, known: Collection[str], maps: PathMap, is_same: Callable[[str, str], bool]
    ) -> None:
        self._known = frozenset(known)
        self._maps = maps
        self._is_same = is_same
        self._found: dict[str, str | None] = {}
        self._tops = {path.partition("/")[0] for path in self._known}
        self._tops -= {top for top in self._tops if top.endswith(_METADATA)}

    def find(self, path: str) -> str | None:
        """Return where a file of the repository is installed, None where it is not."""
        if path not in self._found:
            self._found[path] = self._search(path)
        return self._found[path]

    def _search(self, path: str) -> str | None:
        mapped = self._maps.find(path)
        if mapped is not None:
            return mapped if mapped in self._known else None
        if path in self._known:
            return path
        places = [known for known in self._known if known.endswith("/" + path)]
        if len(places) != 1 or ".." in places[0].split("/"):
            return None
        if not self._is_same(path, places[0]):
            return None
        return places[0]

    def place_new(self, path: str, siblings: Collection[str]) -> str | None:
        """Return where a new file belongs, None where nothing of its kind is installed.

        It goes where one of its siblings (files beside it in the repository) is.
        """
        mapped = self._maps.find(path)
        if mapped is not None:
            return mapped
        if self.has_top_of(path):
            return path
        for sibling in siblings:
            place = self.find(sibling)
            if place is not None and place.endswith("/" + sibling):
                return place[: -len(sibling)] + path
        return None

    def has_top_of(self, path: str) -> bool:
        """Say whether the distribution installs a folder that the path would be in."""
        top, slash, _ = path.partition("/")
        return bool(slash) and top in self._tops and top != ".."
