"""Sequences, statements and imports: how they are matched and merged."""

from __future__ import annotations

import pytest

from patchmgr.engines.structure.python_imports import has_imports_of, merge_imports
from patchmgr.engines.structure.python_likeness import are_about_one
from patchmgr.engines.structure.python_names import acted_on
from patchmgr.engines.structure.python_sequence import (
    LARGEST_TABLE,
    Edit,
    How,
    matched,
    merge_sequences,
    refuse_deletion,
)
from patchmgr.engines.structure.python_tree import Statement, Unsure, block_of
from tests.tables import table


def statements(text: str) -> tuple[Statement, ...]:
    block = block_of(text)
    assert block is not None
    return block.statements


def alike(one: str, other: str) -> float:
    return 9.0 if one == other else 0.0


def told(base: list[str], upstream: list[str], fork: list[str]) -> list[str]:
    """Return what is between the sides where their edits do not stand alone."""
    return ["|".join("".join(side) for side in (base, upstream, fork))]


HOW: How[str] = How(
    alike,
    lambda one, other: one == other,
    lambda base, upstream, fork: base,
    lambda upstream, fork: [*fork, *upstream],
    told,  # type: ignore[arg-type]
    refuse_deletion,
)


@table(
    ("base", "upstream", "fork", "merged"),
    [
        pytest.param("abcd", "aXbcd", "abcYd", "aXbcYd", id="apart"),
        pytest.param("abcd", "aXbcd", "aYbcd", "aYXbcd", id="at one place"),
        pytest.param("abcd", "XcY", "aZ", "abcd|XcY|aZ", id="two edits in one"),
        pytest.param("abcd", "abXd", "abcd", "abXd", id="replaced by one side"),
    ],
)
def test_edits_are_told_apart(base: str, upstream: str, fork: str, merged: str) -> None:
    assert "".join(merge_sequences(list(base), list(upstream), list(fork), HOW)) == merged


def test_a_deletion_is_refused_and_a_replacement_is_not() -> None:
    refuse_deletion(Edit(0, 1, ("new",), ("old",)))
    with pytest.raises(Unsure):
        refuse_deletion(Edit(0, 1, (), ("old",)))


def test_too_many_items_are_not_compared() -> None:
    count = int(LARGEST_TABLE**0.5) + 1
    one, other = ([f"{side}{n}" for n in range(count)] for side in "ab")
    with pytest.raises(Unsure):
        matched(one, other, alike)


@table(
    ("one", "other", "are"),
    [
        pytest.param("f(1)", "f(2)", True, id="call"),
        pytest.param("f(1)", "g(1)", False, id="another call"),
        pytest.param("'a'", "'b'", True, id="docstring"),
        pytest.param("f(1)", "'b'", False, id="call and docstring"),
        pytest.param("a = 1", "a = 2", True, id="assignment"),
        pytest.param("for a in b: pass", "for a in b: pass", False, id="loop"),
    ],
)
def test_statements_about_one_thing(one: str, other: str, are: bool) -> None:
    assert are_about_one(*statements(f"{one}\n{other}\n")) is are


def test_methods_that_are_called_for_their_effect() -> None:
    text = "async def f():\n    await q.put(1)\n    q.clear()\n    x = q.get()\n    g()\n"
    assert acted_on(statements(text)) == {"q": {"put", "clear"}}


def test_imports_in_no_order_stay_where_they_are() -> None:
    texts = [f"import z\nimport b\n{more}" for more in ("", "import a\n", "import c\n")]
    merged = merge_imports(*map(statements, texts))
    assert "".join(s.text for s in merged) == "import z\nimport b\nimport c\nimport a\n"


OLD = "from core import clear\nfrom env import *\n\nrun()\n"
MORE = OLD.replace("clear", "clear, flags")
APART = "from core import build as build\nfrom core import clear as clear\n{}\nrun(1)\n"


@table(
    ("upstream", "fork", "has"),
    [
        pytest.param(APART.format("from core import flags as flags\n"), MORE, True, id="apart"),
        pytest.param(APART.format(""), MORE, False, id="not there"),
        pytest.param(APART.format("from shop import flags\n"), MORE, False, id="from elsewhere"),
        pytest.param(APART.format("from core import flags as f\n"), MORE, False, id="as another"),
        pytest.param(MORE, MORE.replace("run()", "run(2)"), False, id="more than imports"),
        pytest.param(MORE, MORE.replace("env import *", "env import a"), False, id="one of two"),
        pytest.param(
            MORE, MORE.replace("flags\n", "flags  # keep\n"), False, id="a comment that is missing"
        ),
        pytest.param("run(\n", MORE, False, id="does not parse"),
        pytest.param(MORE, OLD.replace("from env import *\n", ""), False, id="removed"),
        pytest.param(MORE + "# end\n", MORE + "# end\n", False, id="a comment at the end"),
        pytest.param(MORE + "del flags\n", MORE, False, id="deleted again"),
        pytest.param(MORE + "from shop import flags\n", MORE, False, id="bound again"),
        pytest.param(
            MORE.replace("\n\n", "\nimport os\n\n"),
            OLD.replace("\n\n", "\nimport os\n\n"),
            False,
            id="a module more, which does something",
        ),
        pytest.param(MORE, MORE.replace("flags\n", "flags; go()\n"), False, id="semicolon"),
        pytest.param(MORE + "a" + ".b" * 3000 + " = 1\n", MORE, False, id="too deep to read"),
        pytest.param(MORE + "a" + ".b" * 1200 + " = 1\n", MORE, False, id="too deep to tell"),
        pytest.param(
            MORE.replace("flags", "flags as flags"), MORE, True, id="for others to import"
        ),
        pytest.param(
            MORE,
            MORE.replace("clear, flags", "clear as clear, flags"),
            False,
            id="no more for others",
        ),
    ],
)
def test_upstream_has_the_imports_of_a_fork(upstream: str, fork: str, has: bool) -> None:
    assert has_imports_of(OLD, upstream, fork) is has
