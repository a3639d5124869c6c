"""Conflict ids: equal sides give equal ids."""

from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.engines.conflicts.ids import conflict_id, conflict_regions
from patchmgr.engines.text.marked import sides_of
from tests.tables import table

SIDES = st.none() | st.binary(max_size=6)


def marked(base: bytes, ours: bytes, theirs: bytes, end: bytes = b"\n") -> bytes:
    """Return one conflict as git writes it; sides are whole lines."""
    return b"".join(
        (
            b"<<<<<<< ours" + end, ours, b"||||||| base" + end, base, b"=======" + end, theirs,
            b">>>>>>> theirs" + end,
        )
    )  # fmt: skip


ONE = marked(b"b\n", b"o\n", b"t\n")
SWAPPED = marked(b"b\n", b"t\n", b"o\n")
OTHER = marked(b"b\n", b"o\n", b"T\n")
INSERTS = marked(b"", b"o\n", b"t\n")


@table(
    ("text", "regions"),
    {
        "empty": (b"", []),
        "no-marker": (b"a\nb\n", []),
        "one": (ONE, [(b"b", b"o", b"t")]),
        "text-around": (b"a\n" + ONE + b"z", [(b"b", b"o", b"t")]),
        "two": (ONE + b"a\n" + INSERTS, [(b"b", b"o", b"t"), (b"", b"o", b"t")]),
        "crlf": (marked(b"b\r\n", b"o\r\n", b"t\r\n", b"\r\n"), [(b"b\r", b"o\r", b"t\r")]),
        "underlined-titles": (marked(b"", b"A title\n=======\n", b"Another\n=======\n"),
            [(b"", b"A title\n=======", b"Another\n=======")]),
        "markers-in-the-text": (marked(b"b\n", b"<<<<<<< x\n>>>>>>> y\n", b"t\n"),
            [(b"b", b"<<<<<<< x\n>>>>>>> y", b"t")]),
        "markers-out-of-place": (b"=======\n>>>>>>> x\n||||||| y\n", []),
        "cut-off": (b"<<<<<<< ours\na\n||||||| base\nb\n", []),
        "no-markers-of-git": (b"<<<<<<<< 8\n|||||||x\n", []),
    },
)  # fmt: skip
def test_markers_delimit_regions(text: bytes, regions: list[tuple[bytes, bytes, bytes]]) -> None:
    assert list(conflict_regions(text)) == regions


@table(
    ("left", "right", "is_same"),
    {
        "itself": (ONE, ONE, True),
        "other-order": (ONE, SWAPPED, True),
        "other-place": (ONE, b"a\nb\n" + ONE + b"c\n", True),
        "other-side": (ONE, OTHER, False),
        "other-base": (ONE, INSERTS, False),
        "two-regions": (ONE + INSERTS, b"x\n" + SWAPPED + b"y\n" + INSERTS, True),
        "regions-in-another-order": (ONE + INSERTS, INSERTS + ONE, False),
        "once-and-twice": (ONE, ONE + ONE, False),
    },
)
def test_an_id_depends_on_the_regions(left: bytes, right: bytes, is_same: bool) -> None:
    ids = [conflict_id(b"B", b"O", b"T", text) for text in (left, right)]
    assert (ids[0] == ids[1]) is is_same


def test_the_text_outside_of_regions_does_not_change_the_id() -> None:
    assert conflict_id(b"B", b"O", b"T", ONE) == conflict_id(b"x", None, b"", ONE)


@table("text", {"no-text": None, "no-region": b"no region\n"})
def test_the_whole_sides_make_the_id_if_there_is_no_region(text: bytes | None) -> None:
    found = conflict_id(b"b", b"o", b"t", text)
    assert found == conflict_id(b"b", b"t", b"o", None)
    assert found != conflict_id(b"o", b"b", b"t", None)
    assert found != conflict_id(None, b"o", b"t", None)


def test_an_id_is_the_same_on_every_machine() -> None:
    assert conflict_id(b"b", b"o", b"t", ONE) == "4f08e2008bf8"
    assert conflict_id(None, b"", None, None) == "214735d58c45"


@table(
    ("text", "settled"),
    {
        "no-region": (b"a\nb", b"a\nb"),
        "one-region": (b"a\n" + ONE + b"z\n", b"a\no\nz\n"),
        "two-regions": (INSERTS + ONE, b"o\no\n"),
        "empty-side": (marked(b"b\n", b"", b"t\n") + b"z", b"z"),
        "marker-out-of-place": (b"=======\n" + ONE, b"=======\no\n"),
    },
)
def test_all_regions_can_be_replaced_with_ours(text: bytes, settled: bytes) -> None:
    assert sides_of(text)[1] == settled


@settings(deadline=None)
@given(st.tuples(SIDES, SIDES, SIDES), st.tuples(SIDES, SIDES, SIDES))
def test_different_sides_have_different_ids(
    left: tuple[bytes | None, bytes | None, bytes | None],
    right: tuple[bytes | None, bytes | None, bytes | None],
) -> None:
    is_same = left[0] == right[0] and left[1:] in (right[1:], right[:0:-1])
    ids = [conflict_id(base, ours, theirs, None) for base, ours, theirs in (left, right)]
    assert (ids[0] == ids[1]) is is_same


@settings(deadline=None)
@given(st.binary())
def test_any_text_can_be_read(text: bytes) -> None:
    hostile = text.replace(b"\0", b"\n<<<<<<< ours\n")
    assert conflict_regions(hostile) == ()
    assert len(conflict_id(None, None, None, hostile)) == 12
