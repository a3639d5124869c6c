"""Find patches that revert an earlier patch of the series, when upstream has the earlier patch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count

from msgspec import Struct

from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.distinctive import bare, is_distinctive
from patchmgr.model.audit import AuditFinding
from patchmgr.model.patch import Hunk

_SIGNS = {b"+": b"-", b"-": b"+"}


class _EarlierHunk(Struct):
    """An earlier hunk; `left` counts the lines that must still be added or removed to revert it."""

    number: int
    patch: str
    left: Counter[bytes]


def undone_patches(states: States) -> Iterator[Told]:
    """Find hunks that revert an earlier patch of the series, when upstream has the earlier patch.

    The later patch then undoes upstream's own edit. This may be intended, so it is only a warning.
    """
    # Only in a file that upstream changed can a hunk revert an edit by upstream.
    changed = {
        change.path
        for patch in states.patches
        for change in patch.files
        if states.base.blob(change.path)
        != states.onto.blob(patch.homes.get(change.path, change.path))
    }
    earlier, numbers = defaultdict[str, dict[bytes, list[_EarlierHunk]]](dict), count()
    for patch in states.patches:
        found: dict[str, list[str]] = {}
        for change, hunk in ((c, h) for c in patch.files if c.path in changed for h in c.hunks):
            lines = Counter(line for line in hunk.lines if line[:1] in _SIGNS)
            undone = _undone(lines, earlier[change.path], next(numbers), patch.name)
            home = patch.homes.get(change.path, change.path)
            # Upstream may add or delete a blank line anywhere (neuralmagic/vllm cad6c392b0).
            is_telling = any(is_distinctive(bare(line[1:])) for line in lines)
            is_revert = patch.is_carried and undone and is_telling
            if is_revert and _undoes_upstream(states, change.path, home, hunk):
                for other in undone:
                    found.setdefault(other, []).append(home)
        for other, paths in found.items():
            text = f"this reverts {other}, and so also undoes upstream's version of that patch"
            yield patch.name, AuditFinding("undone", False, paths[0], 0, None, text)


def _undone(
    lines: Counter[bytes], by_line: dict[bytes, list[_EarlierHunk]], number: int, patch: str
) -> list[str]:
    """Return the earlier patches that a hunk reverts, and add the hunk to `by_line`.

    Returns [] if the hunk also makes other changes.
    """
    rest, undone = lines, list[str]()
    for line in lines.keys() & by_line.keys():
        by_line[line] = [kept for kept in by_line[line] if line in kept.left]
    sharers = {kept.number: kept for line in lines for kept in by_line.get(line, ())}
    for _, kept in sorted(sharers.items(), reverse=True):
        reverted = rest & kept.left
        rest, kept.left = rest - reverted, kept.left - reverted
        is_all = not kept.left and reverted
        if is_all and (reverted == lines or any(x[:1] == b"+" for x in reverted)):
            undone.append(kept.patch)  # otherwise the hunk may be a refinement
    kept = _EarlierHunk(number, patch, _reversed(rest))
    for line in kept.left:
        by_line.setdefault(line, []).append(kept)
    return [] if rest else undone


def _reversed(lines: Counter[bytes]) -> Counter[bytes]:
    return Counter({_SIGNS[line[:1]] + line[1:]: often for line, often in lines.items()})


def _undoes_upstream(states: States, path: str, home: str, hunk: Hunk) -> bool:
    """Return whether a hunk undoes an edit that upstream made."""
    edits = states.once(f"edits {path} {home}", lambda: _edits(states, path, home))
    added, removed = (
        Counter(line[1:] for line in hunk.lines if line[:1] == sign) for sign in (b"-", b"+")
    )
    return all(some <= edit for some, edit in zip((added, removed) * 2, edits, strict=True))


def _edits(states: States, path: str, home: str) -> tuple[Counter[bytes], ...]:
    """Return the lines that upstream adds and removes, and that the result removes and adds."""
    base, onto, merged = (
        _content(*place)
        for place in ((states.base, path), (states.onto, home), (states.merged, home))
    )
    return onto - base, base - onto, onto - merged, merged - onto


def _content(files: Files, path: str) -> Counter[bytes]:
    return Counter(split_lines(files.read(path) or b""))
