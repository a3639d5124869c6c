"""Runs of changed lines, the units that they belong to, and hunks made from them."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.moved.runs import apply_runs, changes_of, hunks_of
from patchmgr.engines.moved.units import Outline
from patchmgr.engines.series.placement import Applied, apply_hunks
from tests.engines.series import hunks_between, text
from tests.long import examples
from tests.tables import table

BASE = b"""\
import os

LIMIT = 1


def f(a):
    b = a
    return b


class C:
    x = 1

    def m(self):
        return 1

    def n(self):
        return 2


def g(a):
    return a
"""


def _told(old: bytes, new: bytes, path: str = "a.py") -> list[str]:
    """Return each change as `start: unit`, or as `start: +names` with the units that it adds."""
    base, theirs = Outline(path, old), Outline(path, new)
    hunks = hunks_between(old, new)
    applied = apply_hunks(old, hunks)
    assert isinstance(applied, Applied)
    found: list[str] = []
    for change in changes_of(base, theirs, hunks, applied.positions):
        names = "+" + " ".join(unit.name or "-" for unit in change.brings)
        one = change.unit and (change.unit.name or "-")
        found.append(f"{change.start}: {names if change.brings else one}")
    return found


@table(
    ("old", "new", "told"),
    {
        "a-line-of-a-function": (b"b = a", b"b = 2", ["6: f"]),
        "a-line-less": (b"    b = a\n", b"", ["6: f"]),
        "at-its-end": (b"return b\n", b"return b\n    # more\n    c()\n", ["8: f"]),
        "its-name": (b"def f", b"def other", ["5: f"]),
        "a-member": (b"x = 1\n", b"x = 1\n    y = 2\n", ["12: C"]),
        "the-last-member": (b"return 2\n", b"return 2\n\n    y = 2\n", ["19: C"]),
        "a-method": (b"    def n", b"    def k(self):\n        pass\n\n    def n", ["16: +C.k"]),
        "functions": (b"def g", b"def k(self):\n    pass\n\n\ndef h(self):\n    pass\n\n\ndef g",
            ["20: +k h"]),
        "a-class": (b"def g", b"class K:\n    def m(self):\n        pass\n\n\ndef g", ["20: +K"]),
        "a-constant": (b"LIMIT = 1\n", b"LIMIT = 1\nOTHER = 2\n", ["3: -"]),
        "a-constant-apart": (b"LIMIT = 1\n", b"LIMIT = 1\n\nOTHER = 2\n", ["3: +-"]),
        "a-blank-line": (b"b = a\n", b"b = a\n\n", ["7: f"]),
        "blank-lines": (b"LIMIT = 1\n", b"LIMIT = 1\n\n\n\n", ["3: -"]),
        "what-two-methods-share": (b"        return 1\n\n    def n(self):\n", b"        pass\n",
            ["14: C"]),
        "blank-lines-less": (b"return b\n\n\nclass C:\n", b"return b\nclass D:\n", ["8: None"]),
    },
)  # fmt: skip
def test_a_change_belongs_to_the_smallest_unit(old: bytes, new: bytes, told: list[str]) -> None:
    assert BASE.count(old) == 1
    assert _told(BASE, BASE.replace(old, new)) == told


def test_an_inserted_function_is_found_although_the_diff_slid() -> None:
    old = b"def f(a):\n    go()\n    return a\n\n\ndef g(a):\n    return a\n"
    new = old.replace(b"def g", b"def k(a):\n    stop()\n    return a\n\n\ndef g")
    base, theirs = Outline("a.py", old), Outline("a.py", new)
    for start in (2, 5):
        lines = new.splitlines(keepends=True)
        added = [b"+" + line for line in lines[start : start + 5]]
        hunk = hunks_between(old, new)[0]
        before = [b" " + line for line in lines[:start]]
        after = [b" " + line for line in lines[start + 5 :]]
        slid = replace(hunk, old_start=1, lines=(*before, *added, *after))
        (change,) = changes_of(base, theirs, [slid], [0])
        assert [unit.name for unit in change.brings] == ["k"]


def test_added_lines_of_two_paragraphs_belong_to_no_unit() -> None:
    assert _told(b"a\nb\n", b"a\nx\n\ny\nb\n", "a.txt") == ["1: None"]


LINES = st.lists(st.sampled_from("abc"), max_size=12).map(lambda words: text(" ".join(words)))


@settings(deadline=None, max_examples=examples(200))
@given(LINES, LINES)
def test_runs_and_hunks_give_the_same_text(old: bytes, new: bytes) -> None:
    hunks = hunks_between(old, new)
    applied = apply_hunks(old, hunks)
    assert isinstance(applied, Applied)
    base, theirs = Outline("a.txt", old), Outline("a.txt", new)
    changes = changes_of(base, theirs, hunks, applied.positions)
    runs = [(change.number, change.run) for change in changes]
    assert apply_runs(base.lines, runs) == new
    made, positions, numbers = hunks_of(base.lines, runs)
    again = apply_hunks(old, made)
    assert isinstance(again, Applied)
    assert (again.content, again.positions) == (new, positions)
    assert set(numbers) == set(range(len(hunks)))
