"""The longest stretch: which states are tried, and what is said of them."""

from functools import partial
from itertools import product
from typing import Any

from patchmgr.commands.plan import longest_stretch
from tests.tables import table

END = 40
ROWS = {
    # clean states, suspects by the state that names them, the states tried, what is found
    "the target": (range(1, 41), {}, [40], 40),
    "before the one that is named": (range(1, 12), {40: {12}}, [40, 11, 26], 11),
    "the rung behind the first that breaks": (range(1, 12), {40: {12, 30}}, [40, 11, 29], 11),
    "clean again behind a conflict": (
        {*range(1, 12), *range(20, 30)}, {40: {12, 30}}, [40, 11, 29, 35], 29,
    ),
    "the first commit breaks": ((), {40: {1}}, [40, 1], 0),
    "a suspect that is none": (range(1, 30), {40: {1, 30}}, [40, 1, 29, 35], 29),
    "a conflict names an earlier one": (
        range(1, 5), {40: {20}, 19: {5}}, [40, 19, 4, 12], 4,
    ),
    "nobody is named": (range(1, 12), {}, [40, 20, 10, 15, 12, 11], 11),
    "nobody is named, and the first breaks": ((), {}, [40, 20, 10, 5, 2, 1], 0),
}  # fmt: skip


@table(("clean", "named", "tried", "found"), ROWS)
def test_what_is_tried(
    clean: set[int], named: dict[int, set[int]], tried: list[int], found: int
) -> None:
    suspects, asked = set[int](), list[int]()

    def is_clean(state: int) -> bool:
        asked.append(state)
        if state not in clean:
            suspects.update(named.get(state, ()))
        return state in clean

    assert (longest_stretch(0, END, is_clean, lambda: suspects), asked) == (found, tried)


def test_what_is_found_was_tried_whatever_breaks() -> None:
    every = range(1, 9)
    for broken, again, suspect in product(every, every, every):
        asked = dict[int, bool]()

        def is_clean(n: int, broken: range = range(broken, again + 1), to: Any = asked) -> bool:
            to[n] = n not in broken
            return n not in broken

        found = longest_stretch(0, 8, is_clean, partial(set, {suspect}))
        assert asked[found] if found else not asked[1]
