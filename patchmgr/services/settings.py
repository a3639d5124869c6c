"""The settings of a series, and the patches that a person names to be in or out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from patchmgr.engines.series.picking import SUFFIX, pick
from patchmgr.model.settings import SeriesSettings
from patchmgr.services.carry import CarryOptions
from patchmgr.services.session import Session
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

    def members(given: str) -> Sequence[str]:
        if given not in groups:
            return (pick(given, names, series=series, what="patch or group"),)
        return [n for n in names if not {n, n.removesuffix(SUFFIX)}.isdisjoint(groups[given])]

    unwanted = {name for given in without for name in members(given)}
    wanted = {name for given in only for name in members(given)}
    found = {}
    for name in names:
        if name in unwanted:
            found[name] = "left out by --without"
        elif only and name not in wanted:
            found[name] = "left out by --only"
    return found


def with_confidence(session: Session, series: str, options: CarryOptions) -> CarryOptions:
    """Return wishes with the confidence that the series' settings ask for, if none was given."""
    if options.confidence is not None:
        return options
    return replace(options, confidence=read_settings(session.workspace, series).confidence)
