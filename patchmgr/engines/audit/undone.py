"""Find patches that revert an earlier patch, now that upstream has absorbed the earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.model.audit import AuditFinding
from patchmgr.model.patch import Hunk

_SIGNS = {b"+": b"-", b"-": b"+"}


def undone_patches(states: States) -> Iterator[Told]:
    """Find hunks that revert an earlier patch of the series which upstream has absorbed.

    On the base, the two patches cancel out, perhaps together with others between them. Once the
    first is absorbed, the last removes upstream's own lines. As this may be intended, the finding
    is a warning.
    """
    earlier: dict[str, list[tuple[str, Counter[bytes]]]] = {}
    for patch in states.patches:
        found: dict[str, list[str]] = {}
        for change in patch.files:
            for hunk in change.hunks:
                # Each earlier hunk is kept as the lines that are left to revert it.
                lines = rest = _lines(hunk)
                undone, kept = list[str](), list[tuple[str, Counter[bytes]]]()
                for other, left in reversed(earlier.get(change.path, [])):
                    reverted = rest & left
                    rest = rest - reverted
                    if left := left - reverted:
                        kept.append((other, left))
                    elif reverted == lines or any(line[:1] == b"+" for line in reverted):
                        undone.append(other)  # what only removes some of it may refine it
                if rest:
                    kept.insert(0, (patch.name, _reversed(rest)))
                earlier[change.path] = kept[::-1]
                home = patch.homes.get(change.path, change.path)
                is_revert = patch.is_carried and undone and not rest
                if is_revert and _is_upstreams(states, change.path, home, hunk):
                    for other in undone:
                        found.setdefault(other, []).append(home)
        for other, paths in found.items():
            text = f"this reverts {other}, and so takes away what upstream has of it by now"
            yield patch.name, AuditFinding("undone", False, paths[0], 0, None, text)


def _lines(hunk: Hunk) -> Counter[bytes]:
    """Return the lines that a hunk adds and removes, with their signs."""
    return Counter(line for line in hunk.lines if line[:1] in _SIGNS)


def _reversed(lines: Counter[bytes]) -> Counter[bytes]:
    return Counter({_SIGNS[line[:1]] + line[1:]: count for line, count in lines.items()})


def _is_upstreams(states: States, path: str, home: str, hunk: Hunk) -> bool:
    """Return whether a hunk takes back an edit that upstream made."""
    base, onto, merged = (
        _content(*place)
        for place in ((states.base, path), (states.onto, home), (states.merged, home))
    )
    added, removed = (
        Counter(line[1:] for line in hunk.lines if line[:1] == sign) for sign in (b"-", b"+")
    )
    is_made = added <= onto - base and removed <= base - onto
    return is_made and added <= onto - merged and removed <= merged - onto


def _content(files: Files, path: str) -> Counter[bytes]:
    return Counter((files.read(path) or b"").splitlines(keepends=True))
