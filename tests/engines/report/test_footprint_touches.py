"""The symbols that patches touch, patch by patch."""

from __future__ import annotations

from patchmgr.engines.report.footprint import Walk
from patchmgr.model.footprint import FileChange, Touch
from patchmgr.model.patch import BinaryChange, FilePatch, Hunk, Patch
from patchmgr.model.snapshot import REGULAR


def hunk(old_start: int, new_start: int, *lines: bytes) -> Hunk:
    return Hunk(
        old_start,
        sum(line[:1] != b"+" for line in lines),
        new_start,
        sum(line[:1] != b"-" for line in lines),
        b"",
        lines,
    )


def patch(*files: FilePatch, name: str = "a.patch") -> Patch:
    return Patch(name, b"", b"", b"", "subject", b"", None, files, True)


def edit(*hunks: Hunk, path: str = "a.py") -> FilePatch:
    return FilePatch(path, path, hunks=hunks)


def pinned(content: bytes | None, path: str = "a.py") -> FileChange:
    return FileChange(path, None, REGULAR, REGULAR, content, content)


def touches(walk: Walk, change: FilePatch) -> tuple[Touch, ...]:
    return walk.step(patch(change))[0].touches


SOURCE = b"def f():\n    a()\n    b()\n\n\ndef g():\n    pass\n"


def test_each_changed_line_counts_for_its_symbol_on_its_own_side() -> None:
    change = edit(
        hunk(1, 1, b" def f():\n", b"-    a()\n", b"+    c()\n", b"+    d()\n", b"     b()\n"),
        hunk(6, 7, b" def g():\n", b"-    pass\n", b"+    return 1\n"),
    )
    step = Walk([pinned(SOURCE)]).step(patch(change))[0]
    assert step.is_upstream
    assert step.after == SOURCE.replace(b"a()", b"c()\n    d()").replace(b"pass", b"return 1")
    assert step.touches == (Touch("f", False, True, 2, 1), Touch("g", False, True, 1, 1))


def test_a_new_symbol_is_new_once_and_never_upstreams() -> None:
    walk = Walk([pinned(SOURCE)])
    add = hunk(3, 3, b"     b()\n", b"+\n", b"+\n", b"+def n():\n", b"+    pass\n", b" \n", b" \n")
    assert touches(walk, edit(add)) == (Touch("n", True, False, 4, 0),)
    again = hunk(6, 6, b" def n():\n", b"-    pass\n", b"+    n()\n", b" \n")
    assert touches(walk, edit(again)) == (Touch("n", False, False, 1, 1),)


def test_blank_lines_count_with_the_code_next_to_them() -> None:
    lines = (b"     b()\n", b"-\n", b"+    c()\n", b"+\n", b" \n", b" def g():\n")
    assert touches(Walk([pinned(SOURCE)]), edit(hunk(3, 3, *lines))) == (
        Touch("f", False, True, 2, 1),
    )


def test_blank_lines_alone_count_where_they_are() -> None:
    change = edit(hunk(3, 3, b"     b()\n", b"-\n", b" \n", b" def g():\n"))
    assert touches(Walk([pinned(SOURCE)]), change) == (Touch(None, False, True, 0, 1),)


def test_a_hunk_that_moved_counts_where_it_applies() -> None:
    walk = Walk([pinned(b"import os\n\n\n" + SOURCE)])
    change = edit(hunk(6, 6, b" def g():\n", b"-    pass\n", b"+    return 1\n"))
    assert touches(walk, change) == (Touch("g", False, True, 1, 1),)


def test_what_does_not_apply_has_no_symbols_from_there_on() -> None:
    walk = Walk([pinned(SOURCE)])
    other = edit(hunk(1, 1, b" def other():\n", b"-    a()\n", b"+    b()\n"))
    first = walk.step(patch(other))[0]
    assert first.after is None
    assert first.touches == (Touch("f", False, True, 0, 1), Touch(None, False, True, 1, 0))
    good = edit(hunk(6, 6, b" def g():\n", b"-    pass\n", b"+    return 1\n"))
    assert touches(walk, good) == (Touch(None, False, True, 1, 1),)


def test_a_content_that_nobody_read_has_no_symbols() -> None:
    change = edit(hunk(2, 2, b"-    a()\n", b"+    b()\n"))
    for walk in (Walk([]), Walk([pinned(None)])):
        step = walk.step(patch(change))[0]
        assert step.is_upstream
        assert step.touches == (Touch(None, False, True, 1, 1),)


def test_a_file_of_the_series_is_not_upstreams() -> None:
    walk = Walk([FileChange("n.py", None, None, REGULAR, None, b"x")])
    new = FilePatch(None, "n.py", hunks=(hunk(0, 1, b"+def f():\n", b"+    a()\n"),))
    step = walk.step(patch(new))[0]
    assert (step.before, step.is_upstream, step.touches) == (b"", False, ())
    change = edit(hunk(1, 1, b" def f():\n", b"-    a()\n", b"+    b()\n"), path="n.py")
    assert touches(walk, change) == (Touch("f", False, False, 1, 1),)


def test_renames_carry_the_file_and_can_cross() -> None:
    walk = Walk([pinned(b"def a(): pass\n", "a.py"), pinned(b"def b(): pass\n", "b.py")])
    there = FilePatch("a.py", "b.py", hunks=(hunk(1, 1, b"-def a(): pass\n", b"+def a(): x\n"),))
    back = FilePatch("b.py", "a.py")
    first, second = walk.step(patch(there, back))
    assert (first.after, second.after) == (b"def a(): x\n", b"def b(): pass\n")
    assert first.touches == (Touch("a", False, True, 1, 1),)
    assert second.touches == ()
    moved = edit(hunk(1, 1, b"-def a(): x\n", b"+def a(): y\n"), path="b.py")
    assert touches(walk, moved) == (Touch("a", False, True, 1, 1),)


def test_a_copy_is_a_new_file_and_leaves_its_source() -> None:
    walk = Walk([pinned(SOURCE)])
    copy = FilePatch("a.py", "c.py", is_copy=True)
    step = walk.step(patch(copy))[0]
    assert (step.after, step.is_upstream, step.touches) == (SOURCE, False, ())
    change = edit(hunk(2, 2, b"-    a()\n", b"+    c()\n"))
    assert touches(walk, change) == (Touch("f", False, True, 1, 1),)


def test_a_file_deleted_and_created_again_is_upstreams() -> None:
    walk = Walk([pinned(b"def f(): pass\n")])
    line = b"def f(): pass\n"
    gone = walk.step(patch(FilePatch("a.py", None, hunks=(hunk(1, 0, b"-" + line),))))[0]
    assert (gone.before, gone.is_upstream, gone.touches) == (line, True, ())
    new = FilePatch(None, "a.py", hunks=(hunk(0, 1, b"+" + line, b"+def g(): pass\n"),))
    assert walk.step(patch(new))[0].is_upstream
    change = edit(hunk(1, 1, b"-" + line, b"+def f(): x\n", b"-def g(): pass\n"))
    assert touches(walk, change) == (Touch("f", False, True, 1, 1), Touch("g", False, False, 0, 1))


def test_a_series_rename_starts_at_the_old_path() -> None:
    walk = Walk([FileChange("new.py", "old.py", REGULAR, REGULAR, SOURCE, SOURCE)])
    step = walk.step(patch(FilePatch("old.py", "new.py")))[0]
    assert (step.after, step.is_upstream) == (SOURCE, True)


def test_a_binary_has_no_touches_and_an_unknown_content() -> None:
    change = FilePatch("a.bin", "a.bin", binary=BinaryChange("literal", b"x"))
    step = Walk([pinned(b"\0", "a.bin")]).step(patch(change))[0]
    assert (step.before, step.after, step.touches) == (b"\0", None, ())
