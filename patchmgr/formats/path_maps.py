"""Path maps of `series.toml`: where a package installs what its repository has elsewhere."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path
from patchmgr.formats.series_settings import MAX_SETTINGS
from patchmgr.formats.shown import shown
from patchmgr.formats.toml_text import read_toml

_TABLE = "paths"


class PathMap(Struct, frozen=True):
    """Pairs of a path of the repository and where it is installed.

    A folder ends in `/`; "" is the root of the repository, or the folder of packages.
    """

    pairs: tuple[tuple[str, str], ...] = ()

    def find(self, path: str) -> str | None:
        """Return where a path is installed, None where no pair says so; the longest one counts."""
        for source, place in sorted(self.pairs, key=lambda pair: -len(pair[0])):
            if path == source:
                return place
            if _is_folder(source) and path.startswith(source):
                return place + path[len(source) :]
        return None


def parse_path_map(raw: bytes) -> PathMap:
    """Read the table `[paths]` of series.toml; raise "broken-workspace", naming the key."""
    top = read_toml(raw, kind="broken-workspace", what="series.toml", limit=MAX_SETTINGS)
    table = top.get(_TABLE, {})
    if not isinstance(table, dict):
        raise PatchmgrError("broken-workspace", f"[{_TABLE}] of series.toml is no table")
    return PathMap(tuple(_pair(source, place) for source, place in sorted(table.items())))


def _pair(source: str, place: object) -> tuple[str, str]:
    what = f"series.toml, [{_TABLE}]:"
    if not isinstance(place, str) or _is_folder(source) != _is_folder(place):
        raise PatchmgrError(
            "broken-workspace",
            f"{what} {shown(source)} needs a path as its value, both with / at the end or none "
            '("" is the root)',
        )
    for path in filter(None, (source, place)):
        check_path(path.removesuffix("/"), what=what)
    return source, place


def _is_folder(path: str) -> bool:
    return not path or path.endswith("/")
