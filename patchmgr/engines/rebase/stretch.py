"""Find how far a series carries in a single rebase, by trying few rebases."""

from __future__ import annotations

from collections.abc import Callable, Collection


def longest_stretch(
    start: int, end: int, is_clean: Callable[[int], bool], suspects: Callable[[], Collection[int]]
) -> int:
    """Return the last state tried to which the series at `start` carries.

    It is `start` only if `start + 1` was tried and does not carry. `suspects` are the states that
    conflicts so far name as their cause. Between a clean state and one in conflict, clean states
    and conflicts may alternate. The search therefore goes from suspect to suspect, tries one state
    after the first that breaks, and halves the range only if no suspect is named.
    """
    best, worst = start, end + 1
    while best + 1 < worst:
        named = sorted(n for n in suspects() if best < n <= min(worst, end))
        is_last = best > start and named[:1] == [best + 1]
        if is_last:
            rung = named[1] - 1 if named[1:] else (best + 1 + worst) // 2
        elif named:
            rung = max(named[0] - 1, best + 1)
        else:
            rung = end if worst > end else (best + worst) // 2
        if is_clean(rung):
            best = rung
        elif is_last:
            break
        else:
            worst = rung
    return best
