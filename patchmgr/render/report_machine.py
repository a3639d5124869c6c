"""The footprint as JSON, format 1 of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patchmgr.model.footprint import (
    FileFootprint,
    Footprint,
    PatchFile,
    PatchFootprint,
    Tally,
    Touch,
)
from patchmgr.render.machine import document, pin_value
from patchmgr.render.review_machine import review_value


def report_json(footprints: Sequence[Footprint]) -> str:
    """Return the document of `report --json`."""
    return document("report", series=[footprint_value(footprint) for footprint in footprints])


def footprint_value(footprint: Footprint) -> dict[str, Any]:
    """Return the footprint of one series; lines of a binary are null."""
    return {
        "name": footprint.series,
        "base": pin_value(footprint.pin),
        "total": _tally(footprint.total),
        "by_patch": {"added": footprint.patch_added, "removed": footprint.patch_removed},
        "kinds": _tallies(footprint.kinds),
        "areas": _tallies(footprint.areas),
        "builds": _tallies(footprint.builds),
        "languages": _tallies(footprint.languages),
        "folders": _tallies(footprint.folders),
        "files": [_file(file) for file in footprint.files],
        "patches": [_patch(patch) for patch in footprint.patches],
        "passing": list(footprint.passing),
        "skipped": [{"name": name, "reason": reason} for name, reason in footprint.skipped],
        **({} if footprint.review is None else review_value(footprint.review)),
    }


def _tally(tally: Tally) -> dict[str, int]:
    return {
        "files": tally.files,
        "binaries": tally.binaries,
        "added": tally.added,
        "removed": tally.removed,
    }


def _tallies(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    return [{"name": tally.name, **_tally(tally)} for tally in tallies]


def _common(file: FileFootprint | PatchFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "renamed_from": file.renamed_from,
        "kind": file.kind.value,
        "binary": file.is_binary,
        "language": file.language,
        "area": file.area.value,
        "added": None if file.is_binary else file.added,
        "removed": None if file.is_binary else file.removed,
    }


def _file(file: FileFootprint) -> dict[str, Any]:
    return {**_common(file), "build": file.build.value, "patches": list(file.patches)}


def _patch(patch: PatchFootprint) -> dict[str, Any]:
    return {
        "name": patch.name,
        "subject": patch.subject,
        "added": patch.added,
        "removed": patch.removed,
        "languages": list(patch.languages),
        "files": [_patch_file(file) for file in patch.files],
    }


def _patch_file(file: PatchFile) -> dict[str, Any]:
    touches = [_touch(touch) for touch in file.touches]
    return {**_common(file), "upstream": file.is_upstream, "touches": touches}


def _touch(touch: Touch) -> dict[str, Any]:
    return {
        "symbol": touch.symbol,
        "new": touch.is_new,
        "upstream": touch.is_upstream,
        "added": touch.added,
        "removed": touch.removed,
    }
