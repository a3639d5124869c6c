"""Find, with few trial rebases, the newest upstream state onto which a series rebases cleanly."""

from __future__ import annotations

from collections.abc import Callable, Collection


def longest_stretch(
    start: int, end: int, is_clean: Callable[[int], bool], suspects: Callable[[], Collection[int]]
) -> int:
    """Return the number of the newest upstream state onto which a series rebases cleanly.

    The states are numbered; the series is on state `start`. Returns `start` only if a trial rebase
    to `start + 1` gave a conflict. `suspects` returns the states that earlier conflicts name as
    their causes. A state after a conflict may be clean again, and a bisection could miss it. So the
    search tries the state before each suspect and, if that state is clean, a state after the
    suspect. It halves the range only if there are no other suspects.
    """
    best, worst = start, end + 1
    while best + 1 < worst:
        named = sorted(n for n in suspects() if best < n <= min(worst, end))
        is_last = best > start and named[:1] == [best + 1]
        if is_last:
            number = named[1] - 1 if named[1:] else (best + 1 + worst) // 2
        elif named:
            number = max(named[0] - 1, best + 1)
        else:
            number = end if worst > end else (best + worst) // 2
        if is_clean(number):
            best = number
        elif is_last:
            break
        else:
            worst = number
    return best
