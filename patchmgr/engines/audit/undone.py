"""Find patches that revert an earlier patch, now that upstream has absorbed the earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.model.audit import AuditFinding

_Edit = tuple[tuple[bytes, ...], tuple[bytes, ...]]  # what a hunk removes, and what it adds


def undone_patches(states: States) -> Iterator[Told]:
    """Find hunks that revert an earlier patch of the series which upstream has absorbed.

    On the base, the two patches cancel out. Once the first is absorbed, the second removes
    upstream's own lines. As this may be intended, the finding is a warning.
    """
    seen: dict[str, dict[_Edit, str]] = {}
    for patch in states.patches:
        found: dict[str, list[str]] = {}
        for change in patch.files:
            edits = seen.setdefault(change.path, {})
            for hunk in change.hunks:
                removed, added = (
                    tuple(line[1:] for line in hunk.lines if line[:1] == sign)
                    for sign in (b"-", b"+")
                )
                other = edits.pop((added, removed), None)
                if other is None:
                    edits[removed, added] = patch.name
                elif patch.is_carried:
                    home = patch.homes.get(change.path, change.path)
                    if _is_upstreams(states, change.path, home, (added, removed)):
                        found.setdefault(other, []).append(home)
        for other, paths in found.items():
            text = f"this reverts {other}, and so takes away what upstream has of it by now"
            yield patch.name, AuditFinding("undone", False, paths[0], 0, None, text)


def _is_upstreams(states: States, path: str, home: str, edit: _Edit) -> bool:
    """Return whether upstream made an edit which the result no longer contains."""
    base, onto, merged = (
        _lines(*place)
        for place in ((states.base, path), (states.onto, home), (states.merged, home))
    )
    removed, added = (Counter(lines) for lines in edit)
    is_made = added <= onto - base and removed <= base - onto
    return is_made and added <= onto - merged and removed <= merged - onto


def _lines(files: Files, path: str) -> Counter[bytes]:
    return Counter((files.read(path) or b"").splitlines(keepends=True))
