"""Resolutions learned from resolved files, and replayed."""

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.conflicts.ids import conflict_id, region_id
from patchmgr.engines.conflicts.memory import (
    Lesson,
    Missed,
    compare,
    fits_region,
    learn,
    recorded_fault,
    replay,
)
from patchmgr.engines.text.marked import sides_of
from patchmgr.model.recorded_conflict import Origin, Recorded, RecordKind, RegionSides, Resolution
from tests.engines.conflicts.test_ids import INSERTS, ONE, OTHER, SWAPPED, marked
from tests.long import examples
from tests.tables import table

HEAD, BETWEEN, TAIL = b"import a\nimport b\n\n", b"def f():\n    pass\n", b"end()\n"
TWO = HEAD + ONE + BETWEEN + OTHER + TAIL


class Known:
    """Recorded resolutions by the sides of their regions."""

    def __init__(self, known: Mapping[tuple[bytes, bytes, bytes], bytes]) -> None:
        self.known = {(b, *sorted((o, t))): text for (b, o, t), text in known.items()}
        self.asked = 0

    def find(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        self.asked += 1
        if base is None or ours is None or theirs is None:
            return None
        return self.known.get((base, *sorted((ours, theirs))))

    def find_file(
        self, base: bytes | None, ours: bytes | None, theirs: bytes | None
    ) -> Resolution | None:
        return None


KNOWN = Known({(b"b\n", b"o\n", b"t\n"): b"both\n"})


def lessons(text: bytes, resolved: bytes) -> list[bytes | None]:
    """Return the resolution of each region, or None if it is not certain."""
    return [one.resolution if isinstance(one, Lesson) else None for one in compare(text, resolved)]


@table(
    ("text", "resolved", "expected"),
    {
        "no-region": (HEAD + TAIL, HEAD + TAIL, []),
        "a-region-alone": (ONE, b"x\n", [b"x\n"]),
        "a-region-that-goes": (ONE, b"", [b""]),
        "between-texts": (HEAD + ONE + TAIL, HEAD + b"x\ny\n" + TAIL, [b"x\ny\n"]),
        "no-last-line-feed": (HEAD + ONE, HEAD + b"x", [b"x\n"]),
        "no-last-line-feed-behind": (HEAD + ONE + b"end", HEAD + b"x\nend", [b"x\n"]),
        "two": (TWO, HEAD + b"x\n" + BETWEEN + b"y\n" + TAIL, [b"x\n", b"y\n"]),
        "one-goes": (TWO, HEAD + BETWEEN + b"y\n" + TAIL, [b"", b"y\n"]),
        "what-is-between-could-be-at-two-places": (HEAD + ONE + b"}\n" + OTHER + TAIL,
            HEAD + b"x\n}\ny\n}\n" + TAIL, [None, None]),
        "what-is-between-is-at-one-place": (HEAD + ONE + b"}\n" + OTHER + TAIL,
            HEAD + b"x\n}\ny\n" + TAIL, [b"x\n", b"y\n"]),
        "text-between-is-gone": (TWO, HEAD + b"x\ny\n" + TAIL, [None, None]),
        "half-a-line-is-no-text": (HEAD + ONE + b"p()\n" + OTHER + TAIL,
            HEAD + b"xp()\n" + b"p()\n" + b"yp()\n" + TAIL, [b"xp()\n", b"yp()\n"]),
        "half-a-line-is-no-text-alone": (HEAD + ONE + b"p()\n" + OTHER + TAIL,
            HEAD + b"xp()\n" + b"yp()\n" + TAIL, [None, None]),
        "text-beside-one-region-changed": (TWO, HEAD + b"x\n" + BETWEEN + b"y\n" + b"done()\n",
            [b"x\n", None]),
        "text-elsewhere-changed": (HEAD + ONE + TAIL,
            b"import c\n" + HEAD + b"x\n" + TAIL + b"more()\n", [b"x\n"]),
        "text-elsewhere-changed-and-nothing-of-the-change-in-the-region": (HEAD + ONE + TAIL,
            b"changed_here()\n" + HEAD + b"o\n" + TAIL, [None]),
        "upstream's-text-taken": (HEAD + ONE + TAIL, HEAD + b"o\n" + TAIL, [b"o\n"]),
        "text-elsewhere-changed-and-an-end-at-two-places": (HEAD + ONE + TAIL,
            b"import c\n" + HEAD + b"x\n" + TAIL + TAIL, [None]),
        "first-and-changed-elsewhere": (ONE + HEAD + TAIL, b"x\n" + HEAD + b"done()\n", [b"x\n"]),
        "last-and-changed-elsewhere": (HEAD + ONE, b"import c\n" + HEAD + b"x\n", [b"x\n"]),
        "text-that-says-nothing-is-no-anchor": (b"{\n" + ONE + b"}\nz\n", b"a\n{\nx\n}\nz\ny\n",
            [None]),
        "text-in-another-order": (HEAD + ONE + TAIL, TAIL + HEAD, [None]),
        "all-gone": (HEAD + ONE + TAIL, b"", [None]),
        "regions-side-by-side": (ONE + ONE, b"x\nx\n", [None]),
        "twice-and-solved-alike": (ONE + HEAD + ONE, b"x\n" + HEAD + b"x\n", [b"x\n"]),
        "twice-and-solved-in-two-ways": (ONE + HEAD + SWAPPED, b"x\n" + HEAD + b"y\n", [None]),
        "not-solved": (ONE + TAIL, ONE + TAIL, [None]),
        "binary": (ONE + TAIL, b"x\0\n" + TAIL, [None]),
        "markers-elsewhere": (HEAD + ONE + TAIL, b">>>>>>> x\n" + HEAD + b"x\n" + TAIL, [None]),
        "half-solved": (ONE + TAIL, b"=======\n" + TAIL, [None]),
        "marker-in-the-text": (b"=======\n" + ONE, b"=======\nx\n", [None]),
        "underline": (marked(b"b\n", b"T\n=======\n", b"t\n") + TAIL, b"x\n" + TAIL, [None]),
        "whole-lines-only": (b"xend()\n" + ONE + TAIL, b"xend()\nend()\n" + TAIL, [b"end()\n"]),
        "no-words": (HEAD + marked(b"", b"}\n", b"\n") + TAIL, HEAD + b"}\n" + TAIL, [None]),
        "crlf": (marked(b"b\r\n", b"o\r\n", b"t\r\n", b"\r\n") + b"e\r\n", b"x\r\ne\r\n",
            [b"x\r\n"]),
    },
)  # fmt: skip
def test_resolution_is_cut_out(text: bytes, resolved: bytes, expected: list[bytes | None]) -> None:
    assert lessons(text, resolved) == expected
    found = [one.resolution for one in learn(text, resolved)]
    assert found == [e for e in expected if e is not None]


def test_a_lesson_has_the_id_of_its_own_region() -> None:
    (first, second) = learn(TWO, HEAD + b"x\n" + BETWEEN + b"y\n" + TAIL)
    assert first.id == conflict_id(None, None, None, ONE)
    assert second.id == region_id(b"b\n", b"o\n", b"T\n")
    assert first.region == RegionSides(b"b\n", b"o\n", b"t\n")


def test_a_missed_region_gives_the_reason() -> None:
    (missed,) = compare(ONE + TAIL, b"<<<<<<< x\n" + TAIL)
    assert isinstance(missed, Missed)
    assert missed.reason == "conflict markers are left in the file"


def test_blank_lines_and_no_lines_have_different_ids() -> None:
    ids = {region_id(base, b"o\n", b"t\n") for base in (b"", b"\n", b"\n\n")}
    assert len(ids) == 3


@table(
    ("text", "expected", "is_clean"),
    {
        "known": (HEAD + ONE + TAIL, HEAD + b"both\n" + TAIL, True),
        "the-other-order": (HEAD + SWAPPED + TAIL, HEAD + b"both\n" + TAIL, True),
        "one-of-two": (TWO, HEAD + b"both\n" + BETWEEN + OTHER + TAIL, False),
        "unknown": (INSERTS, INSERTS, False),
        "twice": (ONE + ONE, b"both\nboth\n", True),
        "not-sure": (b"=======\n" + ONE, b"=======\n" + ONE, False),
        "no-region": (HEAD, HEAD, True),
    },
)
def test_a_known_resolution_is_put_into_place(text: bytes, expected: bytes, is_clean: bool) -> None:
    found = replay(text, KNOWN.find)
    assert (found.marked, found.is_clean) == (expected, is_clean)
    name = conflict_id(None, None, None, ONE)
    assert set(found.used) <= {name}
    assert bool(found.used) is (expected != text)


def test_the_sides_of_a_remaining_conflict_agree_around_it() -> None:
    base, ours, theirs = sides_of(replay(TWO, KNOWN.find).marked)
    start = HEAD + b"both\n" + BETWEEN
    assert (base, ours, theirs) == tuple(start + side + TAIL for side in (b"b\n", b"o\n", b"T\n"))


@table(
    ("text", "ends", "expected"),
    {
        "with": (HEAD + ONE, True, HEAD + b"both\n"),
        "without": (HEAD + ONE, False, HEAD + b"both"),
        "text-behind": (ONE + b"end", False, b"both\nend"),
        "markers-behind": (ONE + OTHER, False, b"both\n" + OTHER),
    },
)
def test_the_last_line_feed_is_that_of_the_sides(text: bytes, ends: bool, expected: bytes) -> None:
    assert replay(text, KNOWN.find, ends_with_newline=ends).marked == expected


REGION = Recorded(region_id(b"b\n", b"o\n", b"t\n"), RecordKind.REGION, b"b\n", b"o\n", b"t\n")
FILE = Recorded(conflict_id(b"b", None, b"t", None), RecordKind.FILE, b"b", None, b"t")


def marked_file() -> Recorded:
    """Return the conflict of a file that has a line like a marker."""
    return Recorded(
        conflict_id(b"=======\n", None, b"t", None), RecordKind.FILE, b"=======\n", None, b"t"
    )


def solved(recorded: Recorded, content: bytes | None) -> Recorded:
    return replace(recorded, resolution=Resolution(content, Origin.RESOLVE))


@table(
    ("recorded", "is_sound"),
    {
        "open": (REGION, True),
        "solved": (solved(REGION, b"x\n"), True),
        "solved-by-nothing": (solved(REGION, b""), True),
        "another-id": (replace(REGION, theirs=b"T\n"), False),
        "half-a-line": (replace(REGION, theirs=b"t"), False),
        "a-side-with-markers": (replace(REGION, theirs=b"<<<<<<< x\n"), False),
        "a-binary-side": (replace(REGION, theirs=b"\0\n"), False),
        "half-a-line-of-resolution": (solved(REGION, b"x"), False),
        "markers-in-the-resolution": (solved(REGION, b"x\n>>>>>>> y\n"), False),
        "a-binary-resolution": (solved(REGION, b"\0\n"), False),
        "no-utf-8": (solved(REGION, b"\xff\n"), False),
        "file": (FILE, True),
        "deleted": (solved(FILE, None), True),
        "a-binary-file": (solved(FILE, b"\0\xff"), True),
        "markers-in-a-file": (solved(FILE, b"<<<<<<< x\na\n"), False),
        "markers-of-a-side": (solved(marked_file(), b"=======\na\n"), True),
        "another-id-of-a-file": (replace(FILE, ours=b"o"), False),
        "group": (Recorded("0" * 12, RecordKind.GROUP, parts=("1" * 12,)), True),
    },
)
def test_a_recorded_conflict_is_checked(recorded: Recorded, is_sound: bool) -> None:
    assert (recorded_fault(recorded) is None) is is_sound


def test_latin_1_may_be_solved_in_latin_1() -> None:
    sides = (b"\xe4\n", b"\xf6\n", b"\xfc\n")
    recorded = Recorded(region_id(*sides), RecordKind.REGION, *sides)
    assert recorded_fault(solved(recorded, b"\xdf\n")) is None


@table(
    ("text", "whole", "is_fitting"),
    {
        "a-line": (b"x\n", None, True),
        "nothing": (b"", None, True),
        "both-sides": (b"o\nt\n", HEAD + ONE + TAIL, True),
        "text-before": (HEAD + b"x\n", HEAD + ONE + TAIL, False),
        "text-behind": (b"x\n" + TAIL, HEAD + ONE + TAIL, False),
        "text-that-nobody-knows": (b"x\n" + TAIL, None, True),
        "another-text": (b"x\n" + TAIL, OTHER + TAIL, True),
        "too-much": (b"x\n" * 100, None, False),
        "markers": (ONE, None, False),
    },
)
def test_a_whole_file_fits_no_region(text: bytes, whole: bytes | None, is_fitting: bool) -> None:
    region = RegionSides(b"b\n", b"o\n", b"t\n")
    assert (fits_region(region, text, whole=whole) is None) is is_fitting


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"}\n", b"\n", b"x = 1\n"]), max_size=6)


@settings(deadline=None, max_examples=examples(300))
@given(st.lists(st.tuples(LINES, LINES, LINES, LINES), min_size=1, max_size=3), LINES)
def test_a_lesson_is_never_wrong_if_the_text_around_stays(
    rows: list[tuple[list[bytes], list[bytes], list[bytes], list[bytes]]], end: list[bytes]
) -> None:
    """Each row: clean text, two sides (numbered to be told apart), and the resolution."""
    text, resolved, expected = b"", b"", []
    for number, (clean, ours, theirs, solution) in enumerate(rows):
        sign = b"%d\n" % number
        region = marked(b"", b"".join(ours) + b"o" + sign, b"".join(theirs) + b"t" + sign)
        text += b"".join(clean) + region
        resolved += b"".join(clean) + b"".join(solution)
        expected.append(b"".join(solution))
    found = lessons(text + b"".join(end), resolved + b"".join(end))
    assert len(found) == len(expected)
    assert all(one in (None, want) for one, want in zip(found, expected, strict=True))
