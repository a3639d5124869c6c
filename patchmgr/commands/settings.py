"""The settings of a series, and the patches that a person names to be in or out."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.settings import SeriesSettings
from patchmgr.store import Workspace


def settings_path(series: str) -> str:
    """Return the path of a series' settings in the workspace."""
    return f"series/{series}/series.toml"


def read_settings(workspace: Workspace, series: str) -> SeriesSettings:
    """Return the settings of a series, the defaults where it has no file."""
    return workspace.settings(series)


def left_out(
    workspace: Workspace, series: str, *, without: Sequence[str], only: Sequence[str]
) -> dict[str, str]:
    """Return the patches that are not wanted, each with the reason; a name may be a group's."""
    if not without and not only:
        return {}
    names = workspace.series_file(series).names()
    groups = read_settings(workspace, series).groups
    unwanted = {n for given in without for n in _named(given, names, groups.get(given))}
    wanted = {n for given in only for n in _named(given, names, groups.get(given))}
    found = {}
    for name in names:
        if name in unwanted:
            found[name] = "left out by --without"
        elif only and name not in wanted:
            found[name] = "left out by --only"
    return found


def _named(given: str, names: Sequence[str], group: Sequence[str] | None) -> tuple[str, ...]:
    if group is not None:
        return tuple(name for member in group for name in _named(member, names, None))
    found = [name for name in names if given in (name, name.removesuffix(".patch"))]
    if not found:
        from difflib import get_close_matches

        close = get_close_matches(given, names, n=3, cutoff=0.4)
        hint = f"nearest names: {', '.join(close)}" if close else "patchmgr series show lists them"
        raise PatchmgrError("unknown-patch", f"there is no patch or group {shown(given)}", (hint,))
    return tuple(found)
