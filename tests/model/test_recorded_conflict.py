"""Conflicts on record."""

from patchmgr.model.recorded_conflict import Recorded, RecordKind
from tests.tables import table

RECORDED = Recorded("0" * 12, RecordKind.FILE, b"b", b"o", None)


@table(
    ("sides", "expected"),
    [
        ((b"b", b"o", None), True),
        ((b"b", None, b"o"), True),
        ((b"b", b"o", b"o"), False),
        ((None, b"o", None), False),
        ((b"o", b"b", None), False),
    ],
)
def test_the_order_of_the_sides_makes_no_difference(
    sides: tuple[bytes | None, bytes | None, bytes | None], expected: bool
) -> None:
    assert RECORDED.is_about(*sides) is expected
