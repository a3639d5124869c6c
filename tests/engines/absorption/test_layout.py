"""How lines hang together: what their order means, and where strings and comments are."""

from __future__ import annotations

import pytest

from patchmgr.engines.absorption.layout import Layout, Order
from tests.tables import table


@table(
    ("path", "before", "after", "order"),
    [
        pytest.param("m.py", "x = {\n", "    B(1, 2),\n}\ny = {1: 2}\n", Order.NONE, id="set"),
        pytest.param("m.py", "}\nx = [\n", "    B,\n]\n", Order.LINED, id="list"),
        pytest.param("m.py", "x in [\n", "    B,\n]\n", Order.NONE, id="list-that-is-searched"),
        pytest.param("m.py", "f(\n", "    B,\n)\n", Order.NUMBERED, id="call"),
        pytest.param("m.cc", "x = {\n", "    B,\n};\n", Order.LINED, id="braces-of-cxx"),
        pytest.param("m.cc", "enum x {\n", "    B,\n};\n", Order.NUMBERED, id="enumerators"),
        pytest.param("m.py", "x = {}\n", "B\n", Order.LINED, id="statements"),
    ],
)
def test_what_stands_around_a_line_says_what_its_order_means(
    path: str, before: str, after: str, order: Order
) -> None:
    layout = Layout(path, f"{before}    A,\n{after}".encode())
    assert layout.order_at(before.count("\n")) is order


def test_a_mapping_is_told_from_a_set_by_its_members() -> None:
    assert Layout("m.py", b"x = {\n    A: f(1, 2),\n}\n").order_at(1) is Order.LINED


PYTHON = """\
if a:
    call(
      one,
        two)
    text = '''one
  two'''
    # remark

def f():
    \"\"\"Say
    it.\"\"\"
"""
CXX = """\
int f() {
    // no { here
  g("{");
#if A
        h();
#endif
  }
"""


@table(
    ("path", "content", "literal", "inside", "depths"),
    [
        pytest.param("a.py", PYTHON, {5}, {5, 10}, None, id="python"),
        pytest.param("a.cpp", CXX, set(), set(), [0, 1, 1, 1, 2, 1, 0, 0], id="cxx"),
        pytest.param("a.cpp", "}\n}\nf\n", set(), set(), [-1, -2, -2, -2], id="cxx-cut"),
        pytest.param("a.cpp", "/* a\n{ */\nf\n", set(), {1}, [0, 0, 0, 0], id="cxx-comment"),
        pytest.param("a.txt", "a (\n{\n", set(), set(), [0, 0, 0], id="text"),
    ],
)
def test_strings_comments_and_braces_are_told_apart(
    path: str, content: str, literal: set[int], inside: set[int], depths: list[int] | None
) -> None:
    found = Layout(path, content.encode()).scanned
    assert (found.literal, found.inside) == (literal, inside)
    assert depths in (None, found.depths)


BRANCHES = """\
int f(int kind) {
  switch (kind) {
    case 1:
      g();
      break;
    default:
      h();
  }
  if (kind)
    i();
  j();
#ifdef A
  k();
#else
  l();
#endif
}
"""


@table(
    ("path", "content", "blocks"),
    [
        pytest.param(
            "a.cpp", BRANCHES,
            [-1, 0, 1, 2, 2, 1, 5, -1, 0, 8, 0, 0, 11, 11, 13, 0, -1], id="cxx",
        ),
        pytest.param(
            "a.rs", "#[cfg(a)]\nfn f() {\n  g();\n}\nh\n", [-1, 0, 1, -1, -1], id="rust"
        ),
        pytest.param("a.py", "if a:\n  b\n\n  c\nd\n", [-1, 0, -1, 0, -1], id="python"),
        pytest.param("a.toml", "[a]\nb = 1\n[a.b]\nc = 1\n", [-1, 0, -1, 2], id="toml"),
        pytest.param("a.md", "# A\n## B\nc\n# D\n", [-1, 0, 1, -1], id="markdown"),
        pytest.param("a.txt", "a\n  b\n", [-1, -1], id="text"),
    ],
)  # fmt: skip
def test_a_line_stands_in_the_block_that_another_begins(
    path: str, content: str, blocks: list[int]
) -> None:
    assert Layout(path, content.encode()).blocks == blocks
