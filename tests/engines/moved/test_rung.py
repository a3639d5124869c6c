"""Hunks whose symbols or paragraphs upstream moved."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.moved.rung import Followed, MovedInput, follow_hunks
from patchmgr.engines.rebase.ladder import Collided, Merged, Sides, merge_file
from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.engines.text.line_endings import CRLF, line_ending
from patchmgr.model.snapshot import Entry
from tests.commands.constructed import (
    FORMS,
    Change,
    Document,
    Edit,
    Files,
    Form,
    Unit,
    add,
    body,
    both,
    call,
    delete,
    move,
    name_of,
    put,
    say,
    twenty,
)
from tests.engines.moved.relocations import MemoryElsewhere, Played, play
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import File, entry_of, executable, hunks_between, link, shown
from tests.long import examples
from tests.tables import table

FORM = pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])

FIX = put(10, 4, say(10, 4, variant=1), say(10, 4, variant=2))
SECOND = put(16, 5, say(16, 5, variant=1))
OWN = add("our_own", tuple(say(30, n) for n in range(6)), before=11)


def chained(*changes: Change) -> Change:
    def change(files: Files) -> Files:
        for one in changes:
            files = one(files)
        return files

    return change


def on(path: str, *edits: Edit) -> Change:
    return lambda files: {**files, path: both(*edits)(files[path])}


def gone(path: str) -> Change:
    return lambda files: {name: document for name, document in files.items() if name != path}


def copied(unit: int, old: str, new: str, *, before: int) -> Change:
    """Put a copy of a function into another file."""
    return lambda files: {**move(unit, old, new, before=before)(files), old: files[old]}


def down(unit: int, *, before: int) -> Edit:
    """Move a function within its file."""

    def edit(document: Document) -> Document:
        units = dict(document.units)
        lines = units.pop(unit)
        placed = add(unit, (), before=before)(replace(document, units=units))
        return replace(placed, units={**placed.units, unit: lines})

    return edit


def wrapped(document: Document) -> Document:
    """Put the functions of a file into a class."""
    return replace(document, is_wrapped=True)


class Stage:
    """Three files in one language, and the changes of both sides to them."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.start: Files = {"a": twenty(form)} | {
            path: twenty(form, offset=offset) for path, offset in (("b", 80), ("c", 100))
        }

    def texts(self, files: Files) -> dict[str, bytes]:
        return {path + self.form.suffix: d.text().encode() for path, d in files.items()}

    def play(self, ours: Edit, theirs: Change, collided: tuple[int, ...] = ()) -> Played:
        patched = self.texts(on("a", ours)(self.start))["a" + self.form.suffix]
        new = self.texts(theirs(self.start))
        path = "a" + self.form.suffix
        return play(self.texts(self.start), patched, new, path=path, collided=collided)

    def path(self, name: str) -> str:
        return name + self.form.suffix


TO_B = move(10, "a", "b", before=90)
TO_C = move(16, "a", "c", before=110)
NEAR_B = on("b", put(89, 0, say(46, 0), over=0))

CARRIED = [
    pytest.param(FIX, TO_B, on("b", FIX), "b", id="to-another-file"),
    pytest.param(FIX, chained(TO_B, gone("c")), on("b", FIX), "b", id="beside-other-changes"),
    pytest.param(FIX, chained(TO_B, NEAR_B), on("b", FIX), "b", id="beside-edits-of-that-file"),
    pytest.param(FIX, chained(TO_B, gone("a")), on("b", FIX), "b", id="with-the-old-file-gone"),
    pytest.param(FIX, on("a", down(10, before=18)), on("a", FIX), "a", id="down-its-file"),
    pytest.param(FIX, on("a", down(10, before=2)), on("a", FIX), "a", id="up-its-file"),
    pytest.param(both(FIX, SECOND), chained(TO_B, TO_C), chained(on("b", FIX), on("c", SECOND)),
                 "b c", id="to-two-files"),
    pytest.param(both(FIX, SECOND), TO_B, chained(on("b", FIX), on("a", SECOND)), "b",
                 id="half-of-it-stays"),
    pytest.param(both(FIX, SECOND), chained(TO_B, move(16, "a", "b", before=95)),
                 on("b", FIX, SECOND), "b b", id="both-to-one-file"),
    pytest.param(both(FIX, SECOND), chained(on("a", down(10, before=3)), TO_C),
                 chained(on("a", FIX), on("c", SECOND)), "a c", id="within-and-away"),
]  # fmt: skip


@FORM
@pytest.mark.parametrize(("ours", "theirs", "expected", "homes"), CARRIED)
def test_hunks_follow(form: Form, ours: Edit, theirs: Change, expected: Change, homes: str) -> None:
    stage = Stage(form)
    played = stage.play(ours, theirs)
    assert played.files == stage.texts(expected(theirs(stage.start)))
    assert played.marked == ()
    assert [home.split(" ")[0] for home in played.homes()] == [
        stage.path(name) for name in homes.split()
    ]
    assert played.reasons() == []


CODE = pytest.mark.parametrize("form", FORMS[1:], ids=[form.name for form in FORMS[1:]])

EVOLVED = [
    pytest.param(put(10, 8, say(10, 8, variant=1)), id="one-line"),
    pytest.param(put(10, 7, *(say(36, n) for n in range(5)), over=0), id="more-lines"),
    pytest.param(put(10, 6, over=4), id="fewer-lines"),
]


@CODE
@pytest.mark.parametrize("edit", EVOLVED)
def test_a_moved_symbol_is_found_if_upstream_also_edited_it(form: Form, edit: Edit) -> None:
    stage = Stage(form)
    theirs = chained(on("a", edit), TO_B)
    played = stage.play(FIX, theirs)
    assert played.files == stage.texts(on("b", edit, FIX)(TO_B(stage.start)))
    assert played.homes() == [f"{stage.path('b')} {name_of(10)}"]


@table("edit", EVOLVED)
def test_a_moved_paragraph_is_found_only_if_unchanged(edit: Edit) -> None:
    stage = Stage(FORMS[0])
    played = stage.play(FIX, chained(on("a", edit), TO_B))
    assert played.homes() == []
    assert played.reasons() == ["upstream's a.txt no longer has these lines"]


@CODE
@pytest.mark.parametrize("place", ["b", "a"], ids=["method", "function"])
def test_a_function_becomes_a_method_and_a_method_a_function(form: Form, place: str) -> None:
    stage = Stage(form)
    stage.start = {**stage.start, place: wrapped(stage.start[place])}
    played = stage.play(FIX, TO_B)
    assert played.files == stage.texts(on("b", FIX)(TO_B(stage.start)))
    works = ("Works." if form.name == "python" else "Works::") if place == "b" else ""
    assert played.homes() == [f"{stage.path('b')} {works}{name_of(10)}"]


@CODE
def test_a_function_is_found_under_another_name(form: Form) -> None:
    stage = Stage(form)
    named = call(10, "quite_another")
    played = stage.play(FIX, chained(TO_B, on("b", named)))
    assert played.files == stage.texts(on("b", named, FIX)(TO_B(stage.start)))
    assert played.homes() == [f"{stage.path('b')} quite_another"]


@CODE
def test_an_addition_follows_both_of_its_neighbors(form: Form) -> None:
    stage = Stage(form)
    away = chained(TO_B, move(11, "a", "b", before=90))
    played = stage.play(both(FIX, OWN), away)
    assert played.files == stage.texts(on("b", FIX, OWN)(away(stage.start)))
    homes = [f"{stage.path('b')} {name_of(10)}", f"{stage.path('b')} our_own"]
    assert played.homes() in (homes, homes[:1])


@CODE
def test_an_addition_does_not_follow_its_neighbors_to_two_files(form: Form) -> None:
    stage = Stage(form)
    played = stage.play(OWN, chained(TO_B, move(11, "a", "c", before=110)))
    assert played.homes() == []
    assert played.reasons() == ["upstream moved the lines next to this hunk to several places"]


@CODE
def test_an_addition_stays_where_a_neighbor_stays(form: Form) -> None:
    stage = Stage(form)
    played = stage.play(OWN, TO_B)
    assert (played.homes(), played.reasons()) == ([], [])


def twice(files: Files) -> Files:
    return copied(10, "a", "c", before=110)(files)


REFUSED: list[tuple[str, Edit, Change, list[str]]] = [
    ("deleted", FIX, on("a", delete(10)), ["upstream's {a} no longer has {10}"]),
    ("deleted-with-its-file", FIX, gone("a"), ["upstream deleted the file with {10}"]),
    ("two-copies", FIX, chained(twice, TO_B),
     ["upstream has {10} in several places: {b}, {c} -> {b}"]),
    ("its-like-elsewhere", FIX,
     chained(on("a", delete(10)), on("b", add("their_own", body(10)[:3], before=90))),
     ["upstream's {a} no longer has {10}"]),
    ("our-lines-elsewhere", FIX,
     chained(on("a", delete(10)), on("b", put(90, 1, say(10, 4, 1), say(10, 4, 2), over=0))),
     ["upstream's {a} no longer has {10}"]),
]  # fmt: skip


@FORM
@pytest.mark.parametrize(
    ("ours", "theirs", "reasons"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED]
)
def test_no_home_has_a_reason(form: Form, ours: Edit, theirs: Change, reasons: list[str]) -> None:
    stage = Stage(form)
    played = stage.play(ours, theirs)
    called = "these lines" if form.name == "text" else name_of(10)
    names = {"a": stage.path("a"), "b": stage.path("b"), "c": stage.path("c")}
    expected = [reason.replace("{10}", called).format(**names) for reason in reasons]
    assert (played.homes(), played.reasons()) == ([], expected)
    assert played.files == stage.texts(theirs(stage.start))


STAYING: list[tuple[str, Edit, Change]] = [
    ("collides-in-place", FIX, on("a", put(10, 4, say(10, 4, variant=3)))),
    ("rewritten-in-place", FIX, on("a", put(10, 1, *(say(37, n) for n in range(9)), over=9))),
    ("copied-elsewhere", FIX,
     chained(copied(10, "a", "b", before=90), on("a", put(10, 4, say(10, 4, variant=3))))),
]  # fmt: skip


@CODE
@pytest.mark.parametrize(("ours", "theirs"), [pytest.param(*row[1:], id=row[0]) for row in STAYING])
def test_a_symbol_still_in_place_is_not_moved(form: Form, ours: Edit, theirs: Change) -> None:
    assert Stage(form).play(ours, theirs).relocation is None


@CODE
def test_a_symbol_that_upstream_moved_and_rewrote_is_only_proposed(form: Form) -> None:
    stage = Stage(form)
    other = on("b", put(10, 3, *(say(38, n) for n in range(9)), over=7))
    played = stage.play(FIX, chained(TO_B, other))
    path = stage.path("b")
    assert played.homes() == []
    gone_from = f"upstream's {stage.path('a')} no longer has {name_of(10)}"
    assert played.reasons() == [f"{gone_from}; {path} has one of that name -> {path}"]


@CODE
def test_a_conflict_in_the_new_home_stays_a_conflict(form: Form) -> None:
    stage = Stage(form)
    played = stage.play(FIX, chained(TO_B, on("b", put(10, 4, say(10, 4, variant=3)))))
    assert played.homes() == [f"{stage.path('b')} {name_of(10)}"]
    assert played.marked == (stage.path("b"),)


@CODE
def test_a_copy_that_existed_before_is_no_new_home(form: Form) -> None:
    stage = Stage(form)
    stage.start = copied(10, "a", "b", before=90)(stage.start)
    near = on("b", put(90, 0, say(46, 0), over=0))
    played = stage.play(FIX, chained(on("a", delete(10)), near))
    gone_from = f"upstream's {stage.path('a')} no longer has {name_of(10)}"
    path = stage.path("b")
    assert played.reasons() == [f"{gone_from}; {path} has one of that name -> {path}"]


def many(count: int) -> Callable[[Files], Files]:
    """Give a number of new files the function's text, under other names."""

    def change(files: Files) -> Files:
        form = files["a"].form
        lines: dict[Unit, tuple[str, ...]] = {10: files["a"].units[10]}
        new = {
            f"m{n}": Document(form, lines, heads={10: f"other_{n}"}, preamble="")
            for n in range(count)
        }
        return {**files, **new}

    return change


@CODE
def test_lines_that_many_files_share_are_no_evidence(form: Form) -> None:
    stage = Stage(form)
    stage.start = many(6)(stage.start)
    changed = chained(
        *(on(f"m{n}", put(10, 0, say(47, n), over=0)) for n in range(6)), on("a", delete(10))
    )
    played = stage.play(FIX, changed)
    assert played.reasons() == [f"upstream's {stage.path('a')} no longer has {name_of(10)}"]
    stage.start = {path: d for path, d in stage.start.items() if path[0] != "m"}
    played = stage.play(FIX, chained(many(6), on("a", delete(10))))
    assert played.reasons() == [f"upstream's {stage.path('a')} no longer has {name_of(10)}"]


@FORM
@pytest.mark.parametrize(
    ("unit", "before"), [(20, 3), (1, 15), (10, 1), (10, None), (1, None)], ids=str
)
def test_a_unit_moves_from_or_to_a_files_end(form: Form, unit: int, before: int | None) -> None:
    stage = Stage(form)
    fix = put(unit, 2, say(unit, 2, variant=1))

    def edit(document: Document) -> Document:
        if before is not None:
            return down(unit, before=before)(document)
        units = dict(document.units)
        lines = units.pop(unit)
        return replace(document, units={**units, unit: lines})

    played = stage.play(fix, on("a", edit))
    assert played.files == stage.texts(on("a", edit, fix)(stage.start))
    assert played.marked == ()


@CODE
def test_two_units_that_swapped_places_are_followed(form: Form) -> None:
    stage = Stage(form)
    few: dict[Unit, tuple[str, ...]] = {n: stage.start["a"].units[n] for n in (1, 2)}
    stage.start = {"a": replace(stage.start["a"], units=few)}
    ours = both(put(1, 2, say(1, 2, variant=1)), put(2, 2, say(2, 2, variant=1)))
    swap = on("a", down(2, before=1))
    played = stage.play(ours, swap)
    assert played.files == stage.texts(on("a", ours)(swap(stage.start)))
    # Where both collided, nothing else in the file tells where they are.
    assert stage.play(ours, swap, collided=(0, 1)).relocation is None


@CODE
def test_an_addition_at_the_end_follows_the_last_symbol(form: Form) -> None:
    stage = Stage(form)
    lines = tuple(say(30, n) for n in range(6))

    def append(document: Document) -> Document:
        return replace(document, units={**document.units, "our_own": tuple(map(form.line, lines))})

    away = chained(move(20, "a", "b", before=90), gone("a"))
    played = stage.play(append, away)
    after = add("our_own", lines, before=90)
    assert played.files == stage.texts(on("b", after)(away(stage.start)))
    assert played.homes() == [f"{stage.path('b')} our_own"]


@CODE
def test_an_addition_to_a_deleted_file_is_a_conflict(form: Form) -> None:
    played = Stage(form).play(OWN, gone("a"))
    assert played.reasons() == ["upstream deleted the file"]


@CODE
def test_a_method_that_a_moved_class_no_longer_has_is_a_conflict_there(form: Form) -> None:
    stage = Stage(form)
    stage.start = {"a": wrapped(stage.start["a"])}

    def whole(files: Files) -> Files:
        return {"b": delete(10)(files["a"])}

    played = stage.play(FIX, whole)
    assert played.homes() == [f"{stage.path('b')} Works"]
    assert played.marked == (stage.path("b"),)


def crlf(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


@CODE
def test_hunks_do_not_move_to_a_file_with_other_line_endings(form: Form) -> None:
    stage = Stage(form)
    old, new = stage.texts(stage.start), stage.texts(TO_B(stage.start))
    patched = stage.texts(on("a", FIX)(stage.start))[stage.path("a")]
    path = stage.path("b")
    played = play(old, patched, {**new, path: crlf(new[path])}, path=stage.path("a"))
    (reason,) = played.reasons()
    assert reason == f"upstream moved these lines to a file with different line endings -> {path}"
    away = chained(TO_B, move(11, "a", "b", before=90))
    for theirs, ours in ((TO_B, (FIX,)), (away, (FIX, OWN))):
        patched = stage.texts(on("a", *ours)(stage.start))[stage.path("a")]
        every = [
            {p: crlf(t) for p, t in side.items()}
            for side in (old, stage.texts(theirs(stage.start)))
        ]
        played = play(every[0], crlf(patched), every[1], path=stage.path("a"))
        assert played.homes()[0] == f"{path} {name_of(10)}"
        assert played.marked == ()
        assert {line_ending(content) for content in played.files.values()} == {CRLF}


def test_a_multiline_string_is_not_reindented() -> None:
    stage = Stage(FORMS[1])
    stage.start = {**stage.start, "b": wrapped(stage.start["b"])}
    old, new = stage.texts(stage.start), stage.texts(TO_B(stage.start))
    patched = stage.texts(on("a", FIX)(stage.start))["a.py"]
    patched = patched.replace(b"wedge, 10082)", b'"""a\nb""")')
    played = play(old, patched, new, path="a.py")
    reason = (
        "upstream changed the indentation of these lines, and the patch adds a string "
        "that spans several lines"
    )
    assert played.reasons() == [f"{reason} -> b.py"]


SEVERAL = b"".join(b"    plant.level_%d(floor)\n" % n for n in range(9))


def test_two_functions_that_upstream_joined_have_no_home() -> None:
    first, second = (b"def %s(plant, floor):\n" % name + SEVERAL for name in (b"one", b"two"))
    second = second.replace(b"level", b"speed")
    old = {"a.py": first + b"\n\n" + second, "b.py": b"import os\n"}
    joined = b"def one(plant, floor):\n" + SEVERAL
    inner = b"    " + second.replace(b"\n", b"\n    ").rstrip(b" ")
    new = {"b.py": b"import os\n\n\n" + joined + inner}
    patched = old["a.py"].replace(b"level_4", b"level_44").replace(b"speed_6", b"speed_66")
    played = play(old, patched, new, path="a.py")
    reason = "upstream merged several symbols into one -> b.py"
    assert (played.homes(), played.reasons()) == ([], [reason, reason])


def test_a_change_to_a_list_of_imports_counts_as_imports() -> None:
    head = b"from works import (\n    drain,\n    rinse,\n)\n\n\n"
    own = b"def weigh(plant, floor):\n" + SEVERAL
    old = {"a.py": head + own, "b.py": b"import os\n\n\n"}
    pinned = own.replace(b"level_7(", b"pin(").replace(b"plant.pin", b"pin")
    patched = head.replace(b"    rinse", b"    pin,\n    rinse") + pinned
    played = play(old, patched, {"b.py": old["b.py"] + own}, path="a.py")
    assert played.homes() == ["b.py weigh"]
    assert b"from works import pin\n" in played.files["b.py"]


def test_blank_lines_have_no_home() -> None:
    old = {"a.py": b"\n\n\n\nX = 1\n"}
    for new, reasons in (({"a.py": b"Y = 1\n"}, []), ({}, ["upstream deleted the file"])):
        played = play(old, b"\n\nX = 1\n", new, path="a.py", collided=(0,))
        assert (played.homes(), played.reasons()) == ([], reasons)


def test_imports_in_a_file_that_does_not_parse_are_ordinary_lines() -> None:
    old = {"a.py": b"import os\nx = = 1\n"}
    played = play(old, b"import os, (\n    sys)\nx = = 1\n", {}, path="a.py")
    assert played.reasons() == ["upstream deleted the file with these lines"]


@table("path", ["a.txt", "a.py"])
def test_a_paragraph_that_upstream_changed_has_not_moved(path: str) -> None:
    lines = [b"LEVEL_%d = level(%d)\n" % (n, n) for n in range(9)]
    content = b"".join(lines)
    ours, theirs = content.replace(b"(4)", b"(44)"), content.replace(b"(4)", b"(40)")
    assert play({path: content}, ours, {path: theirs}, path=path).relocation is None
    played = play({path: content}, ours, {path: b"OTHER = 1\n"}, path=path)
    assert played.reasons() == [f"upstream's {path} no longer has these lines"]


UNITS = st.integers(1, 20)
EDITS = st.lists(
    st.tuples(UNITS, st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=3,
    unique_by=lambda edit: edit[0],
)  # fmt: skip
MOVES = st.lists(
    st.tuples(UNITS, st.sampled_from(["a", "b", "c", "deleted", "edited"]), UNITS),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one[0],
)


def _moved_about(files: Files, moves: Sequence[tuple[int, str, int]], ours: set[int]) -> Files:
    for unit, to, where in moves:
        if unit not in files["a"].units or (to in ("deleted", "edited") and unit in ours):
            continue
        if to == "deleted":
            files = on("a", delete(unit))(files)
        elif to == "edited":
            files = on("a", put(unit, where % 5, say(unit, where % 5, variant=4)))(files)
        elif to != "a":
            before = where + (80 if to == "b" else 100)
            files = move(unit, "a", to, before=before)(files)
        elif where in files["a"].units and where != unit:
            files = on("a", down(unit, before=where))(files)
    return files


@FORM
@settings(deadline=None, max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(edits=EDITS, moves=MOVES, is_wrapped=st.booleans())
def test_a_moved_hunk_gives_the_text_a_person_would_write(
    form: Form,
    edits: list[tuple[int, int, int]],
    moves: list[tuple[int, str, int]],
    is_wrapped: bool,
) -> None:
    stage = Stage(form)
    if is_wrapped:
        stage.start = {**stage.start, "b": wrapped(stage.start["b"])}
    puts = {unit: put(unit, at, say(unit, at, variant=n)) for unit, at, n in edits}
    new = _moved_about(stage.start, moves, set(puts))
    played = stage.play(both(*puts.values()), lambda files: new)
    if played.relocation is None or not played.relocation.parts:
        return
    expected = new
    for unit, edit in puts.items():
        (path,) = (path for path, document in new.items() if unit in document.units)
        expected = on(path, edit)(expected)
    assert played.reasons() == []
    whole = stage.texts(expected)
    assert {path: whole[path] for path in whole if path not in played.marked} == {
        path: content for path, content in played.files.items() if path not in played.marked
    }


def function(name: str, changed: Mapping[int, str] | None = None) -> bytes:
    lines = [f"    plant.turn_{name}_{n}(floor)" for n in range(12)]
    for number, line in (changed or {}).items():
        lines[number] = f"    plant.{line}(floor)"
    return "\n".join([f"def {name}(plant, floor):", *lines, "", "", ""]).encode()


F, G, H, K = (function(name) for name in "fghk")
F_OURS, G_OURS = function("f", {3: "ours"}), function("g", {3: "ours"})
BASE = F + G + H


class Followed_:
    """One file of a patch, rebased onto a new state."""

    def __init__(
        self,
        new: Mapping[str, File],
        *,
        old: Mapping[str, File] | None = None,
        patched: File = F_OURS + G_OURS + H,
        busy: tuple[str, ...] = (),
    ) -> None:
        blobs, text = MemoryBlobs(), PlainMerge()
        before = {"a.py": BASE, **(old or {})}
        files = {path: entry_of(blobs, file) for path, file in new.items()}
        base, theirs = entry_of(blobs, before["a.py"]), entry_of(blobs, patched)
        hunks = hunks_between(shown(before["a.py"]), shown(patched))
        applied = apply_hunks(shown(before["a.py"]), hunks)
        assert isinstance(applied, Applied)
        sides = Sides(base, files.get("a.py"), theirs, hunks, applied.positions)
        self.climbed: list[str] = []

        def climb(path: str, part: Sides) -> Merged | Collided:
            self.climbed.append(path)
            return merge_file(part, blobs=blobs, text=text)

        first = climb("a.py", sides)
        assert isinstance(first, Collided)
        self.first = first
        elsewhere = MemoryElsewhere(
            {path: shown(file) for path, file in before.items()},
            {path: shown(file) for path, file in new.items()},
        )
        side = MovedInput(elsewhere, files.get, busy, climb, blobs)
        self.found = follow_hunks("a.py", sides, first, home="a.py", side=side)
        self.blobs = blobs

    def followed(self) -> Followed:
        assert isinstance(self.found, Followed)
        return self.found

    def reason(self) -> str:
        assert isinstance(self.found, Collided)
        assert (self.found.answers, self.found.marked) == (self.first.answers, self.first.marked)
        return self.found.reason

    def answers(self) -> list[str]:
        found = self.followed()
        return [f"{v.value} {how.value if how else '-'}" for v, how in found.answers]

    def texts(self) -> dict[str, bytes]:
        return {path: self.text(entry) for path, entry in self.followed().changes.items()}

    def text(self, entry: Entry) -> bytes:
        return self.blobs.read(entry.blob)


def test_hunks_go_to_two_files() -> None:
    played = Followed_({"a.py": H, "b.py": K + F, "c.py": executable(G + K)})
    assert played.texts() == {"b.py": K + F_OURS, "c.py": G_OURS + K}
    assert played.answers() == ["modified moved"] * 2
    assert [place.path for place in played.followed().places.values()] == ["b.py", "c.py"]
    assert played.followed().collision is None
    assert played.followed().changes["c.py"].mode == "100755"
    assert played.climbed == ["a.py", "b.py", "c.py"]


def test_hunks_that_do_not_move_are_merged_as_before() -> None:
    played = Followed_({"a.py": G + H, "b.py": K + F})
    assert played.texts() == {"a.py": G_OURS + H, "b.py": K + F_OURS}
    assert played.answers() == ["modified moved", "unchanged text"]


def test_a_hunk_that_upstream_has_at_the_new_home_is_absorbed() -> None:
    played = Followed_({"a.py": G + H, "b.py": K + F_OURS})
    assert played.answers() == ["absorbed exact", "unchanged text"]


def test_a_single_conflict_is_reported_at_the_new_home() -> None:
    other = function("g", {3: "theirs"})
    played = Followed_({"a.py": H, "b.py": K + F, "c.py": other + K})
    found = played.followed()
    assert found.collision is not None
    path, sides, collided = found.collision
    assert (path, collided.reason) == ("c.py", "upstream changed the same lines")
    assert sides.base and sides.ours and sides.theirs
    sides_texts = [played.text(entry) for entry in (sides.base, sides.ours, sides.theirs)]
    assert sides_texts == [G + K, other + K, G_OURS + K]
    assert played.texts() == {"b.py": K + F_OURS}
    assert played.answers() == ["modified moved", "conflict -"]


def test_two_conflicts_are_reported_as_one_in_the_old_file() -> None:
    new = {"b.py": K + function("f", {3: "x"}), "c.py": function("g", {3: "y"}) + K}
    assert Followed_({"a.py": H, **new}).reason() == "upstream moved these lines to b.py, c.py"


def test_a_hunk_without_home_keeps_the_file_in_conflict() -> None:
    played = Followed_({"b.py": K + F})
    assert played.reason() == "upstream moved these lines to b.py; upstream deleted the file with g"
    played = Followed_({"a.py": H, "b.py": K + F})
    assert played.followed().collision is not None
    assert played.answers() == ["modified moved", "conflict -"]
    reason = "upstream changed the same lines; upstream's a.py no longer has g"
    assert played.followed().collision[2].reason == reason  # type: ignore[index]


def test_a_deleted_symbol_is_named() -> None:
    reason = "upstream's a.py no longer has f; upstream's a.py no longer has g"
    assert Followed_({"a.py": H}).reason() == reason


def test_a_home_that_the_patch_also_changes_is_not_used() -> None:
    new = {"a.py": G + H, "b.py": K + F}
    reason = "upstream moved these lines to b.py, which the patch changes as well"
    assert Followed_(new, busy=("b.py",)).reason() == reason
    assert Followed_(new, busy=("a.py", "c.py")).answers()[0] == "modified moved"


@table(
    ("new", "patched", "old"),
    {
        "in-place": (function("f", {3: "x"}) + G + H, F_OURS + G + H, BASE),
        "with-a-mode": (H, executable(F_OURS + G + H), BASE),
        "a-link-upstream": (link(b"to"), F_OURS + G + H, BASE),
        "links": (link(b"x"), link(b"y"), link(b"z")),
        "binary": (b"1\0", b"2\0", b"3\0"),
    },
)
def test_a_conflict_whose_lines_did_not_move_stays(new: File, patched: File, old: File) -> None:
    played = Followed_({"a.py": new, "b.py": K + F}, old={"a.py": old}, patched=patched)
    assert played.found == played.first


def test_an_import_of_a_deleted_file_counts_as_moved() -> None:
    head = b"import os\n\n\n"
    stopped = function("f", {9: "stop(sys.argv)"}).replace(b"plant.stop", b"stop")
    patched = b"import os\nimport sys\n\n\n" + stopped
    played = Followed_({"b.py": head + F}, old={"a.py": head + F, "b.py": head}, patched=patched)
    assert set(played.answers()) == {"modified moved"}
    assert b"import sys" in played.texts()["b.py"]


def test_a_hunk_in_two_symbols_gets_the_worse_verdict() -> None:
    f, g = (b"".join(function(name).splitlines(keepends=True)[:9]) for name in "fg")
    f_ours, g_ours = f.replace(b"turn_f_7(", b"ours("), g.replace(b"turn_g_0(", b"ours(")
    told: list[list[str]] = []
    for home in (g, g_ours, g.replace(b"turn_g_0(", b"theirs(")):
        new = {"b.py": K + f, "c.py": K + home}
        played = Followed_(new, old={"a.py": f + g}, patched=f_ours + g_ours)
        assert played.texts()["b.py"] == K + f_ours
        told.append(played.answers())
    assert told == [["modified moved"], ["modified moved"], ["conflict -"]]
