"""The units of a text: its symbols, and the paragraphs outside of symbols."""

from patchmgr.engines.moved.units import Outline, indent_of, is_comment, joined, leaf_of, reindented
from tests.tables import table

PYTHON = b"""\
import os

# About f.
# More.
@once
def f(a):
    # Inner.
    return a


LIMIT = 1
class W:
    x = 1

    # About m.
    def m(self):
        def g():
            pass

        return g
    @m.setter
    def m(self):
        pass
"""
CXX = b"""\
#include <a>
// About f
template <class T>
int f(T a) {
  return a;
}
namespace n {
struct W {
  /* About m,
   * twice. */
  int m() { return 1; }
};
void W::z() {
}
}
"""
TEXT = b"Title\n=====\n\n\none\ntwo\n \nthree"


@table(
    ("path", "content", "units"),
    {
        "python": ("a.py", PYTHON,
            ["None 0-1", "f 2-8", "None 10-11", "W 11-23", "W.m 14-23", "W.m.g 16-18"]),
        "c++": ("a.cc", CXX,
            ["None 0-1", "f 1-6", "None 6-7", "W 7-14", "W::m 8-11", "W::z 12-14", "None 14-15"]),
        "text": ("a.txt", TEXT, ["None 0-2", "None 4-6", "None 7-8"]),
        "empty": ("a.py", b"", []),
        "broken": ("a.py", b"def f(:\n", ["None 0-1"]),
    },
)  # fmt: skip
def test_a_text_is_split_into_units(path: str, content: bytes, units: list[str]) -> None:
    outline = Outline(path, content)
    assert [f"{unit.name} {unit.start}-{unit.end}" for unit in outline.units] == units


def test_the_smallest_unit_is_found() -> None:
    outline = Outline("a.py", PYTHON)
    names = [unit.name if unit else "?" for n in (17, 12, 8, 0) if [unit := outline.around(n, n)]]
    assert names == ["W.m.g", "W", "f", None]
    assert outline.around(0, 22) is None
    assert [unit.outer for unit in outline.named("W.m")] == ["W"]
    assert outline.names["W.m"] == 1


@table(
    ("line", "language", "is_so"),
    {
        "python": (b"  # x\n", "Python", True),
        "slashes-in-python": (b"  // x\n", "Python", False),
        "slashes": (b"  // x\n", "C++", True),
        "star": (b"/* x */\n", "C++", True),
        "directive": (b"#if 1\n", "C++", False),
    },
)
def test_comments(line: bytes, language: str, is_so: bool) -> None:
    assert is_comment(line, language) is is_so


def test_names() -> None:
    assert [leaf_of(name) for name in ("f", "A.f", "A::B::f")] == ["f"] * 3
    assert [joined(outer, "f") for outer in ("A", "A.B", "A::B")] == ["A.f", "A.B.f", "A::B::f"]


def test_lines_are_reindented() -> None:
    lines = [b"\n", b"    def f():\n", b"        x\n", b"\n", b"#if\n", b"  \n"]
    assert indent_of(lines) == b"    "
    assert indent_of([b"\n"]) == b""
    assert reindented(lines, b"    ", b"") == [
        b"\n", b"def f():\n", b"    x\n", b"\n", b"#if\n", b"  \n",
    ]  # fmt: skip
    assert reindented([b"def f():\n", b"\n"], b"", b"\t") == [b"\tdef f():\n", b"\n"]
