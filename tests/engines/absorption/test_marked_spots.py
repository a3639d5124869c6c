"""A clean merge shown as a conflict."""

from __future__ import annotations

import pytest

from patchmgr.engines.absorption.proposal import Spot, marked_spots
from patchmgr.engines.conflicts.ids import conflict_regions, resolved_to_ours
from patchmgr.model.merge import Conflicted, Merge
from tests.engines.ports import PlainMerge
from tests.engines.series import text

BASE = text("a b c d e f g h i j k l")
OURS = text("a b c U d e f g h i j k l")
THEIRS = text("a b c d T e f g h i j k l")


def marked(
    base: bytes, ours: bytes, theirs: bytes, *spots: tuple[int, int, int, int]
) -> bytes | None:
    return marked_spots(base, ours, theirs, [Spot(*spot) for spot in spots], PlainMerge())


def regions(content: bytes | None) -> list[list[str]]:
    assert content is not None
    return [
        [" ".join(side.decode().split()) for side in region] for region in conflict_regions(content)
    ]


@pytest.mark.parametrize(
    ("sides", "spots", "found"),
    [
        pytest.param(
            (BASE, OURS, THEIRS), [(4, 4, 3, 4)], [["d", "U d", "d T"]], id="between-two-lines"
        ),
        pytest.param(
            (BASE, text("U a b c d e f g h i j k l"), text("T a b c d e f g h i j k l")),
            [(0, 0, 0, 1)], [["", "U", "T"]], id="at-the-start",
        ),
        pytest.param(
            (BASE, text("a b c d e f g h i j k l U"), text("a b c d e f g h i j k T l")),
            [(11, 11, 12, 13)], [["l", "l U", "T l"]], id="at-the-end",
        ),
        pytest.param(
            (BASE, text("a U c d e f g h i j k l"), text("a b T d e f g h i j k l")),
            [(2, 3, 1, 2)], [["b c", "U c", "b T"]], id="replaced-lines",
        ),
        pytest.param(
            (BASE, text("a U b c d e f V g h i j k l"), text("a b T c d e f g S h i j k l")),
            [(2, 2, 1, 2), (7, 7, 7, 8)], [["b", "U b", "b T"], ["g", "V g", "g S"]], id="two",
        ),
        pytest.param(
            (BASE, text("a U b c V d e f g h i j k l"), text("a b T c d S e f g h i j k l")),
            [(2, 2, 1, 2), (4, 4, 4, 5)],
            [["b", "U b", "b T"], ["d", "V d", "d S"]], id="two-near",
        ),
        pytest.param(
            (BASE, text("a U b c d e f g h i j k l"), text("a b T c S d e f g h i j k l")),
            [(2, 2, 1, 2), (3, 3, 1, 2)], [["b c", "U b c", "b T c S"]], id="two-in-one",
        ),
    ],
)  # fmt: skip
def test_the_region_holds_both_texts(
    sides: tuple[bytes, bytes, bytes],
    spots: list[tuple[int, int, int, int]],
    found: list[list[str]],
) -> None:
    content = marked(*sides, *spots)
    assert regions(content) == found
    assert content is not None
    assert resolved_to_ours(content) == sides[1]


def test_all_else_is_merged() -> None:
    ours = text("a b c U d e f g h i j k X")
    theirs = text("Y b c d T e f g h i j k l")
    content = marked(BASE, ours, theirs, (4, 4, 3, 4))
    assert content is not None
    assert resolved_to_ours(content) == text("Y b c U d e f g h i j k X")
    assert regions(content) == [["d", "U d", "d T"]]


def test_what_collides_elsewhere_stays_a_collision() -> None:
    content = marked(BASE, OURS.replace(b"k", b"x"), THEIRS.replace(b"k", b"y"), (4, 4, 3, 4))
    assert regions(content) == [["d", "U d", "d T"], ["k", "x", "y"]]


def test_a_side_without_a_last_line_feed_gets_one() -> None:
    content = marked(b"a", b"a\nu", b"t\na", (0, 0, 1, 2))
    assert content == (b"<<<<<<< ours\na\nu\n||||||| base\na\n=======\nt\na\n>>>>>>> theirs\n")


class Binary(PlainMerge):
    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Conflicted(None)


def test_binaries_are_not_shown() -> None:
    assert marked_spots(BASE, OURS, THEIRS, [Spot(4, 4, 3, 4)], Binary()) is None
