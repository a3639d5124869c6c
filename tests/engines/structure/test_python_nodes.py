"""Statements that three texts have, merged part by part."""

from __future__ import annotations

import libcst
import pytest

from patchmgr.engines.structure.python_nodes import Frame, merge_code
from patchmgr.engines.structure.python_tree import Unsure
from tests.tables import table


def lines(*items: str, ends: str = "()") -> str:
    """Return a call or a display with an item a line."""
    return f"f{ends[0]}\n" + "".join(f"    {item}\n" for item in items) + ends[1]


@table(
    ("base", "upstream", "fork", "merged"),
    [
        pytest.param(
            "f(x=a(1), y=1)",
            "f(x=a(1, 2), y=2)",
            "f(x=a(1,2), y=1, z=3)",
            "f(x=a(1, 2), y=2, z=3)",
            id="a part that both change alike",
        ),
        pytest.param(
            "f(x=a(1, 2), y=1)",
            "f(x=a(1,2), y=2)",
            "f(x=a(3), y=1)",
            "f(x=a(3), y=2)",
            id="a part that upstream lays out anew",
        ),
        pytest.param("a: int", "a: int = 1", "a: str", "a: str = 1", id="a value comes"),
        pytest.param(
            "f(k=0)",
            "f(k=0, a=1, b=2)",
            "f(k=9, a=1, c=3)",
            "f(k=9, c=3, a=1, b=2)",
            id="one argument of two alike",
        ),
        pytest.param(
            "f(k=0)",
            "f(k=0, a=1, b=2)",
            "f(k=9, a=1)",
            "f(k=9, a=1, b=2)",
            id="all arguments alike",
        ),
        pytest.param(
            "from a import c, b",
            "from a import c, x",
            "from a import c, y",
            "from a import c, x, y",
            id="one name for another",
        ),
        pytest.param(
            "from a import c, b",
            "from a import c, x",
            "from a import b",
            "from a import x",
            id="names that go",
        ),
        pytest.param(
            lines("a=1,"),
            lines("a=1,", "b=2,  # b"),
            lines("a=1,", "c=3,  # c"),
            lines("a=1,", "c=3,  # c", "b=2,  # b"),
            id="arguments with comments",
        ),
        pytest.param(
            "f(a=1)",
            lines("a=1,", "c=3,  # c"),
            "f(a=1, b=2)",
            lines("a=1,", "b=2,", "c=3,  # c"),
            id="a line each",
        ),
        pytest.param(
            lines("g(a=1),", "h(b=2),  # h", ends="[]"),
            lines("g(a=1),", "h(b=3),  # h", ends="[]"),
            lines("g(a=9),", "h(b=2),  # h", ends="[]"),
            lines("g(a=9),", "h(b=3),  # h", ends="[]"),
            id="a comment behind the last item that stays",
        ),
        pytest.param("if a:\n", "if a(b=1):\n", "if a:  # c\n", "if a(b=1):  # c\n", id="comment"),
    ],
)
def test_parts_of_a_statement_are_merged(base: str, upstream: str, fork: str, merged: str) -> None:
    assert merge(base, upstream, fork) == merged


@table(
    ("base", "upstream", "fork"),
    [
        pytest.param("x = not (a())", "x = not(a(j=1))", "x = not a(k=2)", id="what is no code"),
        pytest.param("a: int", "a: int = 1", "a: str = 2", id="two values"),
        pytest.param("from a import b", "from a import b, c", "from a import *", id="a star"),
        pytest.param("f(k=0)", "f(k=0, a=1, b=2)", "f(k=9, a=3)", id="two values of an argument"),
        pytest.param("f(a=1, b=2)", "f(a=9, b=2)", "f(a=1, *args)", id="all arguments for one"),
        pytest.param(
            lines("a=1,", "# end"),
            lines("a=1,", "b=2,", "# end"),
            lines("a=3,", "# end"),
            id="a comment behind all",
        ),
        pytest.param(
            lines("a=1,", "# x", "b=2,", "c=3,"),
            lines("a=1,", "# x", "b=2,", "c=4,"),
            lines("b=2,", "c=3,"),
            id="a comment that gets first",
        ),
        pytest.param(
            lines("a=1,", "b=2,"),
            lines("a=1,", "# x", "b=3,"),
            lines("a=4,", "# y", "b=2,"),
            id="two comments for one argument",
        ),
        pytest.param(
            "f(a=1, b=2)", "f(a=1, b=3)", lines("a=4,", "# y", "b=2,"), id="a comment in one line"
        ),
        pytest.param(
            "f(a=1)",
            "f(a=1, b=2)",
            lines("a=1,", "c=3,  # three"),
            id="a comment behind an argument in one line",
        ),
        pytest.param(
            lines("a=1"),
            lines("a=1,", "b=2"),
            lines("a=1,", "c=3  # three"),
            id="a comment behind the last argument",
        ),
        *(
            pytest.param(
                lines("1,", ends=ends),
                lines("1,", "'abc',", ends=ends),
                lines("1,", "'xyz',  # xyz", ends=ends),
                id=f"comment before {ends[1]}",
            )
            for ends in ("[]", "()")
        ),
        pytest.param(
            lines("1,", ends="[]"),
            lines("1,  # one", ends="[]"),
            lines("1,", "'abc',", ends="[]"),
            id="a comment behind another last item",
        ),
    ],
)
def test_parts_that_do_not_go_together_are_refused(base: str, upstream: str, fork: str) -> None:
    with pytest.raises(Unsure):
        merge(base, upstream, fork)


def merge(*texts: str) -> str:
    """Merge statements, displays as values, and heads."""
    kind = "if" if texts[0].startswith("if") else ""
    shown = [text.replace("f[", "x = [").replace("f(\n    1", "x = (\n    1") for text in texts]
    ends = ["" if text.endswith("\n") else "\n" for text in shown]
    base, upstream, fork = (text + end for text, end in zip(shown, ends, strict=True))
    found = merge_code(base, upstream, fork, kind)
    found = found if texts[0].endswith("\n") else found.removesuffix("\n")
    return found.replace("x = [", "f[")


def test_a_piece_that_lost_its_frame_is_refused() -> None:
    with pytest.raises(Unsure):
        Frame("try:\n    pass\n", "").piece(libcst.parse_module("a\n"))
