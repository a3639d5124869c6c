"""How often upstream changed what a series touches: where the next conflict will come from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from patchmgr.model.footprint import PatchFootprint
from patchmgr.model.review import Hotspot

_NAMES = (
    re.compile(r"\b(?:class|def|struct|namespace)\s+(\w+)"),
    re.compile(r"([\w~]+)\s*\("),
    re.compile(r"(\w+)"),
)


def hotspots(
    patches: Sequence[PatchFootprint],
    changes: Sequence[tuple[str, str, str]],
    names: Mapping[str, str],
) -> tuple[Hotspot, ...]:
    """Return the touched symbols of upstream, those that changed most often first.

    `changes` are commits, paths and hunk headings, `names` the last path of each file.
    """
    touched: dict[tuple[str, str | None], list[str]] = {}
    for patch in patches:
        for file in patch.files:
            for touch in file.touches if file.is_upstream else ():
                if touch.is_upstream:
                    path = file.renamed_from or file.path
                    touched.setdefault((path, touch.symbol), []).append(patch.name)
    by_file: dict[str, set[str]] = {}
    by_name: dict[tuple[str, str], set[str]] = {}
    for commit, path, heading in changes:
        by_file.setdefault(path, set()).add(commit)
        by_name.setdefault((path, heading_name(heading)), set()).add(commit)
    found = [
        Hotspot(
            names.get(path, path),
            symbol,
            len(by_name.get((path, _last(symbol)), ())),
            len(by_file.get(path, ())),
            tuple(dict.fromkeys(own)),
        )
        for (path, symbol), own in touched.items()
    ]
    return tuple(sorted(found, key=lambda h: (-h.commits, -h.file_commits, h.path, h.symbol or "")))


def heading_name(heading: str) -> str:
    """Return the name that a hunk's heading is about, empty where it has none."""
    found = (pattern.search(heading) for pattern in _NAMES)
    return next((match[1] for match in found if match is not None), "")


def _last(symbol: str | None) -> str:
    return "" if symbol is None else re.split(r"\.|::", symbol)[-1]
