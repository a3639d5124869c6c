"""Hunks that surely apply, and hunks that must be merged."""

from patchmgr.engines.text.known_changes import surely_applies
from patchmgr.model.patch import Hunk
from tests.engines.text.test_separate_changes import BASE, Lines, changed, text_of
from tests.tables import table


def hunk_at(base: Lines, at: int, removed: int, *added: str) -> tuple[Hunk, int]:
    """Return a hunk with three lines of context, and the line where it starts."""
    start, end = max(0, at - 3), at + removed + 3
    marked = [(" ", base[start:at]), ("-", base[at : at + removed]), ("+", added)]
    marked.append((" ", base[at + removed : end]))
    lines = [f"{mark}{line}\n".encode() for mark, some in marked for line in some]
    return Hunk(start + 1, len(base[start:end]), start + 1, 0, b"", tuple(lines)), start


REPEATED = [*BASE[:5], *["again"] * 30, *BASE[5:]]

ASKED = {
    "far away": (BASE, changed(BASE, 35, 1, "ours"), (20, 1, "theirs"), True),
    "behind more lines": (BASE, changed(BASE, 2, 0, "ours", "more"), (20, 0, "theirs"), True),
    "an unchanged file": (BASE, BASE, (20, 1), True),
    "the same line": (BASE, changed(BASE, 20, 1, "ours"), (20, 1, "theirs"), False),
    "the first line of context": (BASE, changed(BASE, 17, 1, "ours"), (20, 1, "theirs"), False),
    "the last line of context": (BASE, changed(BASE, 23, 1, "ours"), (20, 1, "theirs"), False),
    "right before the context": (BASE, changed(BASE, 17, 0, "ours"), (20, 1, "theirs"), True),
    "within the context": (BASE, changed(BASE, 18, 0, "ours"), (20, 1, "theirs"), False),
    "right after the context": (BASE, changed(BASE, 24, 0, "ours"), (20, 1, "theirs"), True),
    "nothing changed": (BASE, changed(BASE, 35, 1, "ours"), (20, 1, BASE[20]), False),
    "a line from elsewhere": (BASE, changed(BASE, 35, 1, "ours"), (20, 1, BASE[5]), False),
    "near the start": (BASE, changed(BASE, 35, 1, "ours"), (0, 1, "theirs"), False),
    "near the end": (BASE, changed(BASE, 5, 1, "ours"), (39, 1, "theirs"), False),
    "repeated lines": (REPEATED, changed(REPEATED, 60, 1, "ours"), (3, 1, "theirs"), False),
    "only repeated lines": (["a"] * 30, ["a"] * 31, (15, 1, "theirs"), False),
}


@table(("base", "ours", "edit", "expected"), ASKED)
def test_a_hunk_surely_applies_only_far_from_changes(
    base: Lines, ours: Lines, edit: tuple[int, int, str], expected: bool
) -> None:
    hunk, position = hunk_at(base, *edit)
    assert surely_applies(text_of(base), text_of(ours), hunk, position) is expected
