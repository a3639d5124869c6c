"""The patches of a series around a given one."""

from pathlib import Path

from patchmgr.commands.applied import Listing, Mark, Row, neighbor
from tests.tables import table

SERIES = Listing(
    "s",
    Path("checkout"),
    tuple(
        Row(name, number, mark, "", (), "no +x" if mark is Mark.HIDDEN else None)
        for number, (name, mark) in enumerate(
            [("a", Mark.TOP), ("b", Mark.HIDDEN), ("c", Mark.UNPUSHED), ("d", Mark.UNPUSHED)], 1
        )
    ),
)


@table(
    "given, step, expected",
    [(None, 1, "c"), ("a", 1, "c"), ("c", -1, "a"), ("b", 1, "c"), ("b", -1, "a"), ("c", 1, "d")],
)
def test_the_patch_before_or_after_is_shown(given: str | None, step: int, expected: str) -> None:
    assert neighbor(SERIES, given, step=step) == expected
