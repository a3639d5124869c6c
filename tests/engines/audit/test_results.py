"""What calls give and raise, decorators, defaults, stars and tables, as upstream changes them."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.interfaces import check_interfaces
from tests.engines.audit.audited import found
from tests.tables import table

YIELDS = "def f(a):\n    for x in a:\n        yield x\n"
LISTS = "def f(a):\n    found = []\n    found.extend(a)\n    return found\n"
PAIR = "def f(a):\n    found = []\n    found.extend(a)\n    return found, len(found)\n"
BARE = "def f(g):\n    g.known = True\n    return g\n"
FACTORY = "def f(name, g=None):\n    def keep(g):\n        return g\n\n    return keep\n"
WRAPPER = "def f(g):\n    def inner(*a):\n        return g(*a)\n\n    return inner\n"
ERRORS = "class E(Exception):\n    pass\n\n\nclass D(E):\n    pass\n\n\n"
RAISES = ERRORS + "def f(a):\n    if a:\n        raise D(a)\n"
TRIES = "from m import D, E, f\n\ntry:\n    f(1)\nexcept E:\n    pass\n"
TABLE = "_ALL = {'f': 1, 'g': 2}\n\n\ndef __getattr__(name):\n    return _ALL[name]\n"
CLASS = "class f:\n    pass\n"
FUNCTION = "def f():\n    return 1\n"


@table(
    ("text", "old", "new", "words"),
    [
        pytest.param("next(f(1))", YIELDS, LISTS, "no longer a g", id="next-of-a-list"),
        pytest.param("x = f(1)\ny = next(x)", YIELDS, LISTS, "no longer a g", id="next-of-a-name"),
        pytest.param("list(f(1))", YIELDS, LISTS, None, id="a-list-of-a-list"),
        pytest.param("len(f(1))", LISTS, YIELDS, "`f` is a generator", id="len-of-a-generator"),
        pytest.param("f(1)[0]", LISTS, YIELDS, "`f` is a generator now", id="item-of-a-generator"),
        pytest.param("for x in f(1):\n    pass", LISTS, YIELDS, None, id="for-of-a-generator"),
        pytest.param("x = f(1)\nx[0]", LISTS, PAIR, "returns several values now", id="pair"),
        pytest.param("f(1)", LISTS, PAIR, None, id="pair-that-nobody-reads"),
        pytest.param("x = f(1)[0]", PAIR, PAIR.replace("len(", "sum("), None, id="still-a-pair"),
        pytest.param("@f\ndef g():\n    pass", BARE, FACTORY, "`@f` has to be called", id="bare"),
        pytest.param("@f(1)\ndef g():\n    pass", FACTORY, BARE, "plain decorator now", id="plain"),
        pytest.param("@f\ndef g():\n    pass", BARE, WRAPPER, None, id="decorator-that-wraps"),
        pytest.param(
            "@f\ndef g():\n    pass", BARE, BARE.replace("(g)", "(g, h)"),
            "`f` is called without `h`", id="decorator-of-two",
        ),
        pytest.param("isinstance(1, f)", CLASS, FUNCTION, "`f` is asked about", id="isinstance"),
        pytest.param("isinstance(1, f)", CLASS, CLASS.replace("pass", "a = 1"), None, id="class"),
        pytest.param(
            "f()", "def f(a=True):\n    pass\n", "def f(a=False):\n    pass\n",
            "omits `a`, whose default was `True` and is `False` now.", id="default",
        ),
        pytest.param(
            "f(a=1)", "def f(a=1):\n    pass\n", "def f(a=2):\n    pass\n", None, id="not-left-out"
        ),
        pytest.param(
            "f()", "def f(a=1):\n    pass\n", "def f(a=None):\n    pass\n", None, id="default-none"
        ),
        pytest.param("f", TABLE, TABLE.replace("'f': 1, ", ""), "has no `f`", id="table"),
        pytest.param("f", TABLE, TABLE.replace("'g': 2", "'h': 2"), None, id="another-row"),
    ],
)  # fmt: skip
def test_uses_are_held_to_what_upstream_made(
    text: str, old: str, new: str, words: str | None
) -> None:
    assert_said(f"from m import f\n\n{text}\n", old, new, words)


@table(
    ("text", "old", "new", "words"),
    [
        pytest.param(TRIES, RAISES, RAISES.replace("(E)", "(OSError)"), "`f` raises", id="base"),
        pytest.param(TRIES, RAISES, RAISES.replace("D(a)", "KeyError"), "KeyError", id="another"),
        pytest.param(TRIES, RAISES, RAISES.replace("D(a)", "E(a)"), None, id="caught-as-well"),
        pytest.param(
            "from m import *\n\nf(1)\n", YIELDS, YIELDS.replace("f(", "g("), "`f` is used",
            id="star",
        ),
        pytest.param(
            "from m import *\n\nf(1)\n", YIELDS, YIELDS.replace("f(", "g(") + "\n\nf = g\n", None,
            id="star-with-an-alias",
        ),
        pytest.param(
            "from m import *\n\nf(1)\n", YIELDS, YIELDS + "\n\n__all__ = ['g']\n", "`f` is used",
            id="star-that-lists",
        ),
    ],
)  # fmt: skip
def test_a_file_is_held_to_what_it_imports(
    text: str, old: str, new: str, words: str | None
) -> None:
    assert_said(text, old, new, words)


BASE = "class Base:\n    end = '.a'\n\n    def stop(self):\n        return 1\n\n"
CALLS = "    def run(self):\n        return self.stop(), self.end\n"
OURS = "from m import Base\n\n\nclass A(Base):\n    end = '.b'\n\n    def stop(self): ...\n"
NO_STOP = "class Base:\n    end = '.a'\n\n    def run(self):\n        return self.end\n"


@table(
    ("text", "old", "new", "words"),
    [
        pytest.param(OURS, BASE + CALLS, NO_STOP, "`A.stop` overrides nothing", id="was-called"),
        pytest.param(OURS, BASE, NO_STOP, None, id="nobody-called-it"),
        pytest.param(
            f"{OURS}\n    def go(self):\n        return self.stop()\n", BASE + CALLS, NO_STOP, None,
            id="calls-its-own",
        ),
        pytest.param(
            OURS, BASE + CALLS, (BASE + CALLS).replace("end", "suffix"), "`A.end` overrides",
            id="attribute",
        ),
        pytest.param(OURS, BASE + CALLS, (BASE + CALLS).replace(".a", ".c"), None, id="value"),
    ],
)  # fmt: skip
def test_an_override_is_held_to_what_used_it(
    text: str, old: str, new: str, words: str | None
) -> None:
    assert_said(text, old, new, words)


def assert_said(text: str, old: str, new: str, words: str | None) -> None:
    base = {"m.py": f"import os\n\n\n{old}".encode()}
    ours = {**base, "a.py": text.encode()}
    upstream = {"m.py": f"import os\n\n\n{new}".encode()}
    said = [finding.text for finding in found([check_interfaces], base, ours, upstream)]
    assert len(said) == (words is not None), said
    assert words is None or words in said[0]


LEN = (
    "class C:\n    def __init__(self):\n        self.limit = 1\n\n"
    "    def __len__(self):\n        return 1\n"
)
MADE = "from collections import namedtuple\n\nP = namedtuple('P', 'x y')\n"
ENUM = "from enum import Enum\n\n\nclass M(Enum):\n    FAST = 'fast'\n"
ROWS = "T = {'a': 1, 'b': 2}\n"
WITH = "from contextlib import contextmanager\n\n\n@contextmanager\ndef f():\n    yield 1\n"
NARROW = "from m import C\n\n\ndef g(c):\n    if isinstance(c, C):\n        return c.limit\n"


@table(
    ("text", "old", "new", "words"),
    [
        pytest.param(
            "from m import C\n\nlen(C())\n", LEN, LEN.replace("__len__", "size"), "`__len__`",
            id="length",
        ),
        pytest.param(
            "from m import C\n\nlen(C())\n", LEN, LEN.replace("limit", "most"), None, id="has-it"
        ),
        pytest.param(
            "from m import C\n\nc = C()\nc.limit = 5\n", LEN, LEN.replace("limit", "most"),
            "`c.limit` is set", id="set",
        ),
        pytest.param(
            "from m import C\n\nc = C()\nc.own = 5\n", LEN, LEN.replace("limit", "most"), None,
            id="set-of-its-own",
        ),
        pytest.param(NARROW, LEN, LEN.replace("limit", "most"), "`c.limit` finds", id="narrowed"),
        pytest.param(
            "from m import P\n\n\ndef g(p: P):\n    return p.x\n", MADE, MADE.replace("x y", "u y"),
            "`P` has no `x`", id="namedtuple",
        ),
        pytest.param(
            "from m import P\n\n\ndef g(p: P):\n    return p.y\n", MADE, MADE.replace("x y", "u y"),
            None, id="other-field",
        ),
        pytest.param(
            "from m import M\n\nM('fast')\n", ENUM, ENUM.replace("'fast'", "'quick'"),
            "`M` no longer has `fast`", id="value-of-an-enumeration",
        ),
        pytest.param(
            "from m import T\n\nT['a']\n", ROWS, ROWS.replace("'a'", "'c'"),
            "`T` no longer has `a`", id="row",
        ),
        pytest.param(
            "from m import T\n\nT['a']\n", ROWS, ROWS.replace("'a'", "'c'") + "T['a'] = 3\n", None,
            id="row-that-is-set-below",
        ),
        pytest.param(
            "from m import f\n\nwith f():\n    pass\n", WITH, "def f():\n    return 1\n",
            "no longer returns a context manager", id="with",
        ),
        pytest.param(
            "import m\n\nsetattr(m, 'f', 1)\n", BARE, BARE.replace("f(g)", "h(g)"), "`m.f` is",
            id="named-by-a-text",
        ),
        pytest.param(
            "import m\n\ngetattr(m, 'f', 1)\n", BARE, BARE.replace("f(g)", "h(g)"), None,
            id="asked-with-a-default",
        ),
        pytest.param(
            "from m import f\n\nf(g=1)\n", BARE, BARE.replace("(g)", "(g, /)"),
            "by its place only", id="by-place-only",
        ),
    ],
)  # fmt: skip
def test_statements_are_held_to_what_a_class_and_a_table_have(
    text: str, old: str, new: str, words: str | None
) -> None:
    assert_said(text, old, new, words)
