"""The numbers of lines on both sides of a change."""

from patchmgr.engines.hardware_gates.sites import Lines, across
from tests.tables import table


@table(
    ("changes", "there", "back"),
    {
        "nothing": ((), {1: 1, 9: 9}, {1: 1}),
        "more": (((3, 0, 4, 2),), {3: 3, 4: 6}, {6: 4, 4: None}),
        "less": (((3, 2, 2, 0),), {2: 2, 3: None, 4: None, 5: 3}, {3: 5, 2: 2}),
        "two": (((3, 1, 3, 2), (8, 1, 9, 1)), {2: 2, 3: None, 5: 6, 8: None, 9: 10}, {10: 9}),
    },
)
def test_lines_are_found_on_the_other_side(
    changes: tuple[Lines, ...], there: dict[int, int | None], back: dict[int, int | None]
) -> None:
    for line, other in there.items():
        assert across([line], changes) == ({other} if other else set())
    for line, other in back.items():
        assert across([line], changes, is_back=True) == ({other} if other else set())
