"""A merge in which operators of both sides compete for an operand is left to a person.

A row of `operators.txt` is a path, a line in base, ours and theirs, and the merge that is taken.
"""

from pathlib import Path

from patchmgr.engines.merge.languages import language_of
from patchmgr.engines.merge.operators import competing
from patchmgr.engines.merge.resolve import resolve
from patchmgr.engines.structure.sides import Texts
from tests.cases import sections
from tests.engines.merge.marked import marked
from tests.tables import table

ASKED, TAKEN = (
    [tuple(row.split("   ")) for row in text.splitlines()]
    for text in sections(Path(__file__).with_name("operators.txt")).values()
)


def _merged(path: str, base: str, ours: str, theirs: str) -> str | None:
    sides = marked(f"{base}\n", f"{ours}\n", f"{theirs}\n")
    found = resolve(Texts(*sides[:3]), path, sides[3].encode())
    assert found is not None
    return found.text


@table(("path", "base", "ours", "theirs"), ASKED)
def test_competing_operators_ask_a_person(path: str, base: str, ours: str, theirs: str) -> None:
    assert _merged(path, base, ours, theirs) is None
    assert _merged(path, base, theirs, ours) is None


@table(("path", "base", "ours", "theirs", "merged"), TAKEN)
def test_operators_apart_merge(path: str, base: str, ours: str, theirs: str, merged: str) -> None:
    assert _merged(path, base, ours, theirs) == f"{merged}\n"
    assert _merged(path, base, theirs, ours) == f"{merged}\n"


@table(
    ("path", "text", "pairs"),
    {
        "by precedence": ("a.py", "a + b * c == d and e", [("+", "*"), ("+", "==")]),
        "either first": ("a.c", "a + b + c", []),
        "not either first": ("a.c", "a - b - c", [("-", "-")]),
        "brackets": ("a.c", "a * (b + c)", [("*", "()"), ("* (", "+")]),
        "a cast": ("a.c", "(int)a / b", [("()", "/")]),
        "a call, and a type": ("a.cc", "vector<int> &a = f(b, *c);", [("", "* ")]),
        "postfix": ("a.rs", "f()? && g()", []),
        "statements": ("a.go", "a := b +\n\tc\n*d = e * f\n", [("", "* ")]),
        "strings": ("a.py", 'f("a"\n  "b")', [('"a"', '"b"')]),
        "imports of Go": ("a.go", 'import (\n\t"a"\n\t"b"\n)\n', []),
        "a missing comma": ("a.c", "{\n A = 1\n B = 2,\n}", [("", "")]),
        "lines of a macro": ("a.c", 'F(a, "a")\nF(b, "b")\n', []),
    },
)
def test_rival_operators_are_counted(path: str, text: str, pairs: list[tuple[str, str]]) -> None:
    assert sorted(competing(text, language_of(path)).elements()) == sorted(pairs)
