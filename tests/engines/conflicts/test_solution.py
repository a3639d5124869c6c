"""The checks of a proposed resolution that need only texts."""

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.conflicts.solution import Fitted, fit, text_failures
from patchmgr.engines.conflicts.work_order import in_place
from patchmgr.engines.text.marked import split_marked
from patchmgr.model.outcome import ConflictKind, FileConflict
from patchmgr.model.work_order import Failure
from tests.tables import table

HEAD, TAIL = b"first = 1\nsecond = 2\n", b"third = 3\nlast = 4\n"


def conflict(base: bytes, ours: bytes, theirs: bytes, path: str = "a") -> FileConflict:
    """Return one region between two texts."""
    marked = b"<<<<<<< ours\n%b||||||| base\n%b=======\n%b>>>>>>> theirs\n" % (ours, base, theirs)
    sides = (base, ours, theirs)
    old, mine, new = (HEAD + side + TAIL for side in sides)
    return FileConflict("", path, path, "", old, mine, new, HEAD + marked + TAIL)


def failures(given: FileConflict, content: bytes | None) -> list[str]:
    """Return the checks that a resolution does not pass."""
    found = fit(given, content, "", lambda base, ours, theirs: None)
    told = [found] if isinstance(found, Failure) else text_failures(given, found)
    return [one.check for one in told]


SET = b"  x = base\n", b"  x = ours\n", b"  x = theirs\n"
BASE, OURS, THEIRS = b"call(x)\n", b"call(x.new)\n", b"call(x, mine)\n"


@table(
    "text, checks",
    {
        "both": (b"call(x.new, mine)\n", []),
        "in other words": (b"called(mine, of=new)\n", []),
        "ours": (OURS, ["ledger"]),
        "theirs": (THEIRS, ["ledger"]),
        "base": (BASE, ["ledger", "ledger"]),
        "nothing": (b"", ["ledger", "ledger"]),
        "white space": (b"call(x.new, mine) \n", ["whitespace"]),
        "a marker": (b"call(x.new, mine)\n>>>>>>> theirs\n", ["markers"]),
        "an indented marker": (b"  =======\ncall(x.new, mine)\n", ["markers"]),
        "much": (b"call(x.new, mine)\n" * 999, ["size"]),
    },
)
def test_a_resolution_fails_the_checks_it_does_not_satisfy(text: bytes, checks: list[str]) -> None:
    assert failures(conflict(BASE, OURS, THEIRS), HEAD + text + TAIL) == checks


@table(
    "base, ours, theirs, text, checks",
    {
        "a deletion is undone": (b"old()\n", b"old()\nnew()\n", b"", b"old()\nnew()\n", ["ledger"]),
        "a deletion is made": (b"old()\n", b"old()\nnew()\n", b"", b"new()\n", []),
        "two insertions": (b"", b"ours()\n", b"mine()\n", b"mine()\nours()\n", []),
        "numbers of both": (b"ninja\n", b"ninja>=1.5\n", b"ninja<2\n", b"ninja>=1.5,<2\n", []),
        "one after the other": (*SET, SET[1] + SET[2], ["ledger"]),
        "in the other order": (*SET, SET[2] + SET[1], ["ledger"]),
        "in a row, as on one side": (
            b"x = 0\n",
            b"x = 0\nx = 1\n",
            b"x = 0\nx = 2\n",
            b"x = 0\nx = 1\nx = 2\n",
            [],
        ),
        "with the first value": (SET[0], SET[1], b"x = f(x)\n", SET[1] + b"x = f(x)\n", []),
        "in two branches": (*SET, SET[1] + b"else:\n" + SET[2], []),
        "of other names": (b"", b"x = 1\n", b"y = 1\n", b"x = 1\ny = 1\n", []),
        "one number": (b"x = 1\n", b"x = y * 1\n", b"x = 1 + 7\n", b"x = y * 2\n", ["ledger"]),
    },
)
def test_the_changes_of_each_side_count(
    base: bytes, ours: bytes, theirs: bytes, text: bytes, checks: list[str]
) -> None:
    assert failures(conflict(base, ours, theirs), HEAD + text + TAIL) == checks


@table("kind", [ConflictKind.BINARY, ConflictKind.MODE, ConflictKind.RENAME])
def test_a_kind_that_no_check_can_judge_does_not_pass(kind: ConflictKind) -> None:
    whole = FileConflict("", "a", "a", "", b"\0a", b"\0b", b"\0c", None, kind=kind)
    assert "kind" in failures(whole, b"\0bc")


def test_a_file_that_is_kept_or_deleted_gives_up_a_side() -> None:
    gone = FileConflict("", "a", "a", "", b"a\n", None, b"a\nb\n", None)
    assert failures(gone, b"a\nb\n") == failures(gone, None) == ["ledger"]
    mode_alone = FileConflict("", "a", "a", "", b"a\n", None, b"a\n", None)
    assert (failures(mode_alone, b"a\n"), failures(mode_alone, None)) == (["ledger"], [])


LINE = st.sampled_from(
    [b"call(x)", b"mine", b"x = new", b"", b"}", b"return y", b"=", b"first = 1"]
)
TEXT = st.lists(LINE, max_size=6).map(lambda lines: b"".join(line + b"\n" for line in lines))
MARKER = st.sampled_from([b"<<<<<<< ours", b"||||||| base", b"=======", b">>>>>>> theirs"])


@given(TEXT, TEXT, TEXT, st.one_of(TEXT, st.binary(max_size=60)), st.booleans())
def test_a_fitted_resolution_leaves_the_rest_unchanged(
    base: bytes, ours: bytes, theirs: bytes, content: bytes, is_whole: bool
) -> None:
    made = conflict(base, ours, theirs)
    assert made.marked is not None
    found = fit(made, HEAD + content + TAIL if is_whole else content, "", lambda *sides: None)
    if isinstance(found, Fitted):
        parts = tuple(lesson.resolution for lesson in found.lessons)
        whole = split_marked(made.marked).with_each(parts)
        assert found.content is not None
        assert whole.rstrip(b"\n") == found.content.rstrip(b"\n")


@given(TEXT, TEXT, TEXT, TEXT, MARKER, st.integers(0, 9))
def test_a_resolution_with_a_marker_is_never_accepted(
    base: bytes, ours: bytes, theirs: bytes, text: bytes, marker: bytes, at: int
) -> None:
    lines = (HEAD + text + TAIL).splitlines(keepends=True)
    lines.insert(at, marker + b"\n")
    assert failures(conflict(base, ours, theirs), b"".join(lines))


@given(TEXT, TEXT, TEXT, st.integers(0, 2))
def test_no_version_alone_is_accepted(base: bytes, ours: bytes, theirs: bytes, which: int) -> None:
    said = [set(side.split()) for side in (base, ours, theirs)]
    if said[0] == said[1] or said[0] == said[2] or said[1] == said[2]:
        return
    side = (base, ours, theirs)[which]
    assert failures(conflict(base, ours, theirs), HEAD + side + TAIL)


@table(
    "text, placed",
    {
        "the region alone": (b"call(x.new, mine)\n", b"call(x.new, mine)\n"),
        "with lines around": (b"second = 2\ncall(new)\nthird = 3\n", b"call(new)\n"),
        "with more of them": (HEAD + b"call(new)\n" + TAIL, b"call(new)\n"),
        "which it changes": (b"second = 3\ncall(new)\nthird = 3\n", b"second = 3\ncall(new)\n"),
    },
)
def test_a_candidate_with_more_lines_is_cut_to_the_region(text: bytes, placed: bytes) -> None:
    marked = conflict(BASE, OURS, THEIRS).marked
    assert marked is not None
    assert in_place(split_marked(marked), 0, text) == placed


def test_a_failure_names_the_region_where_there_are_several() -> None:
    one = conflict(BASE, OURS, THEIRS).marked or b""
    two = FileConflict("", "a", "a", "", b"x" * 999, b"", b"", one + one.replace(b"call", b"run"))
    both = HEAD + b"call(x.new, mine)\n" + TAIL + HEAD
    found = fit(two, both + b"run(x, mine)\n" + TAIL, "", lambda base, ours, theirs: None)
    assert isinstance(found, Fitted)
    told = [failure.text for failure in text_failures(two, found)]
    assert told == ["it has none of upstream's changes in region 2"]
