"""Merge conflict regions of `#include` lines as sets, in the order style of the block."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from patchmgr.engines.structure.regions import Region
from patchmgr.engines.structure.text_rules import Answer

_INCLUDE = re.compile(r"\s*#\s*include\s*([<\"][^>\"]+[>\"])")


def merge_includes(region: Region) -> Answer | None:
    """Take the includes that both sides leave or add; None where a region has other lines."""
    sides = (region.base, region.upstream, region.fork)
    if region.before or region.after or not all(map(_is_block, sides)):
        return None
    old, mine, other = ([_name(line) for line in side] for side in sides)
    lines = {
        name: line for side in sides for name, line in zip(map(_name, side), side, strict=True)
    }
    merged = [name for name in mine if name in other or name not in old]
    added = [name for name in other if name not in old and name not in mine]
    for name in added:
        merged.insert(_place(name, merged, mine, other), name)
    return Answer("".join(lines[name] for name in merged), "includes") if merged else None


def _is_block(lines: Sequence[str]) -> bool:
    names = [_INCLUDE.match(line) for line in lines]
    return all(names) and len({n[1] for n in names if n is not None}) == len(lines)


def _name(line: str) -> str:
    found = _INCLUDE.match(line)
    return found[1] if found is not None else line


def _place(name: str, merged: list[str], mine: list[str], other: list[str]) -> int:
    """Find where to put a name: by order in a sorted block, else after what it followed."""
    if mine == sorted(mine) and other == sorted(other):
        return bisect_left(merged, name)
    before = other[: other.index(name)]
    known = [merged.index(n) + 1 for n in before if n in merged]
    return max(known, default=0)
