"""What a series does to the lines of a file: no sign of what upstream did there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from patchmgr.engines.telling import bare
from patchmgr.model.patch import Patch


class Own(Struct, frozen=True):
    """Lines of a file, without white space: those that a series adds, those of several patches."""

    added: frozenset[bytes] = frozenset()
    shared: frozenset[bytes] = frozenset()


NOTHING = Own()


def own_lines(patches: Iterable[Patch]) -> Mapping[str, Own]:
    """Return by path what a series itself does: it is no sign of what upstream did."""
    added: dict[str, set[bytes]] = {}
    touched: dict[str, Counter[bytes]] = {}
    for patch in patches:
        lines: dict[str, set[bytes]] = {}
        for change in patch.files:
            whole = [line for hunk in change.hunks for line in hunk.lines if line[:1] != b" "]
            lines.setdefault(change.path, set()).update(bare(line[1:]) for line in whole)
            new = (bare(line[1:]) for line in whole if line[:1] == b"+")
            added.setdefault(change.path, set()).update(new)
        for path, here in lines.items():
            touched.setdefault(path, Counter()).update(here)
    return {
        path: Own(frozenset(added[path]), frozenset(n for n, count in seen.items() if count > 1))
        for path, seen in touched.items()
    }
