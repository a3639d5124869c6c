"""How often each name stands in a file, for one version of it after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import compress
from operator import ne

NAMES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_BLANKED = bytes(c if c in NAMES else 32 for c in range(256))


class NameCounts:
    """Counts the names of texts; of one that is like the last, only the lines that differ."""

    def __init__(self) -> None:
        self._lines: Counter[bytes] = Counter()
        self._names: Counter[bytes] = Counter()

    def of(self, lines: Sequence[bytes]) -> Counter[bytes]:
        """Return how often each name is in the lines, which the caller does not change."""
        now, before = Counter(lines), self._lines
        is_other = map(ne, now.values(), map(before.get, now))
        changed = {*compress(now, is_other), *(before.keys() - now.keys())}
        if len(changed) < len(now) // 2:
            names = self._names.copy()
            for line in changed:
                more = now[line] - before[line]
                for name in line.translate(_BLANKED).split():
                    names[name] += more
        else:
            names = Counter(b"".join(lines).translate(_BLANKED).split())
        self._lines, self._names = now, names
        return names
