"""Put together what a reviewer asks for: parts, gated sites, hotspots and risks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from patchmgr.engines.gating import Lines, Texts, gated_sites
from patchmgr.engines.gating_defaults import settings_defaults
from patchmgr.engines.gating_names import Kinds
from patchmgr.engines.subsystems import Subsystems
from patchmgr.model.footprint import (
    Area,
    Build,
    FileChange,
    FileFootprint,
    Footprint,
    Kind,
    PatchFootprint,
)
from patchmgr.model.gating import ChangedSite, Reach
from patchmgr.model.review import Part

_SETTINGS = ("envs.py", "env.py", "environ.py", "environment.py", "env_vars.py")


def parts_of(files: Sequence[FileFootprint], rule: Subsystems) -> tuple[Part, ...]:
    """Return the subsystems, those with most changed lines first; their files add up to all."""
    groups: dict[str, list[FileFootprint]] = {}
    for file in files:
        own = Area.THIRD_PARTY.value if file.area is Area.THIRD_PARTY else rule.of(file.path)
        groups.setdefault(own, []).append(file)
    parts = []
    for name, group in groups.items():
        tests = [file for file in group if file.area is Area.TESTS]
        parts.append(
            Part(
                name,
                files=len(group),
                added=sum(f.added for f in group),
                removed=sum(f.removed for f in group),
                test_files=len(tests),
                test_added=sum(f.added for f in tests),
                test_removed=sum(f.removed for f in tests),
                rebuilt=sum(f.build is Build.REBUILD for f in group),
                languages=tuple(sorted({f.language for f in group})),
            )
        )
    return tuple(sorted(parts, key=lambda p: (-p.added - p.removed, p.name)))


def parts_of_patches(
    patches: Sequence[PatchFootprint], rule: Subsystems
) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Return the changed lines of each patch by part."""
    found = []
    for patch in patches:
        lines: dict[str, int] = {}
        for file in patch.files:
            own = Area.THIRD_PARTY.value if file.area is Area.THIRD_PARTY else rule.of(file.path)
            lines[own] = lines.get(own, 0) + file.added + file.removed
        found.append((patch.name, tuple(sorted(lines.items()))))
    return tuple(found)


def sites_of(
    footprint: Footprint,
    changes: Sequence[FileChange],
    hunks: Mapping[str, tuple[Lines, ...]],
    kinds: Kinds,
) -> tuple[ChangedSite, ...]:
    """Return the changed sites of upstream's Python files, tests aside; shared ones first."""
    by_path = {change.path: change for change in changes}
    files = [f for f in footprint.files if f.kind in (Kind.EDITED, Kind.RENAMED)]
    settings = [c for c in changes if c.path.rpartition("/")[2] in _SETTINGS]
    defaults = settings_defaults(c.after for c in settings if c.after is not None)
    owners = _owners(footprint)
    found: list[ChangedSite] = []
    for file in files:
        change = by_path[file.path]
        is_code = file.language == "Python" and file.area is Area.CODE
        if not is_code or change.before is None or change.after is None:
            continue
        texts = Texts(file.path, change.before, change.after, hunks.get(file.path))
        for site in gated_sites(texts, kinds, defaults):
            patches = owners.get((site.path, site.symbol)) or file.patches
            found.append(replace(site, patches=patches))
    order = list(Reach)
    return tuple(sorted(found, key=lambda s: (order.index(s.reach), s.path, s.line, s.is_removal)))


def _owners(footprint: Footprint) -> dict[tuple[str, str | None], tuple[str, ...]]:
    """Return the patches that touch each symbol of each file."""
    last = {f.renamed_from or f.path: f.path for f in footprint.files}
    found: dict[tuple[str, str | None], list[str]] = {}
    for patch in footprint.patches:
        for file in patch.files:
            for touch in file.touches:
                key = (last.get(file.path, file.path), touch.symbol)
                found.setdefault(key, []).append(patch.name)
    return {key: tuple(dict.fromkeys(names)) for key, names in found.items()}
