"""What upstream made of the names that a file imports: calls, members, results and imports."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.interfaces import check_interfaces
from tests.engines.audit.audited import found
from tests.engines.series import Files
from tests.tables import table


def said(text: str, old: str, new: str) -> list[str]:
    """Return what is said of the calls of a new file that uses a module that upstream changed."""
    base = {"m.py": f"import os\n{old}".encode()}
    ours = {**base, "a.py": text.encode("utf-8", "surrogateescape")}
    findings = found([check_interfaces], base, ours, {"m.py": f"import os\n{new}".encode()})
    return [finding.text for finding in findings if finding.kind == "signature"]


ONE, TWO = "def f(a):\n    return a\n", "def f(a, b):\n    return a\n"
ONCE = "from m import f\n\nf(1)\n"
TOOL = "class Tool:\n    def run(self, a):\n        pass\n\n\n"
TOOL_TWO = "class Tool:\n    def run(self, a, b):\n        pass\n\n\n"
MADE = "tool = Tool()\n"
RUN = "from m import tool\n\ntool.run(1)\n"
BUILT = "class f:\n    def __init__(self, a):\n        pass\n"
BUILT_TWO = "class f:\n    def __init__(self, a, b):\n        pass\n"


@table(
    ("text", "old", "new", "sentence"),
    [
        pytest.param(ONCE, ONE, TWO, "`f` is called without `b`, which it needs.", id="new"),
        pytest.param(
            "from m import f\n\nf(1, b=2)\n", TWO, ONE,
            "`f` is called with `b`, which it does not take.", id="gone",
        ),
        pytest.param(
            "from m import f\n\nf(1, 2)\n", TWO, ONE,
            "`f` is called with more arguments than it takes.", id="fewer",
        ),
        pytest.param(
            'from m import f\n\nf("\\d \udc80")\n', ONE, TWO,
            "`f` is called without `b`, which it needs.", id="with-an-odd-string",
        ),
        pytest.param(
            f"\ufeff{ONCE}", ONE, TWO, "`f` is called without `b`, which it needs.", id="bom",
        ),
        pytest.param(
            "from m import \\\n    f\n\nf(1)\n", ONE, TWO,
            "`f` is called without `b`, which it needs.", id="imported-over-lines",
        ),
        pytest.param(
            "from m import f\n\nf(\n    (1),  # first )\n)\n", ONE, TWO,
            "`f` is called without `b`, which it needs.", id="over-lines",
        ),
        pytest.param(
            ONCE, BUILT, BUILT_TWO, "`f` is called without `b`, which it needs.", id="class"
        ),
        pytest.param(
            RUN, TOOL + MADE, TOOL_TWO + MADE,
            "`tool.run` is called without `b`, which it needs.", id="method-of-an-object",
        ),
        pytest.param(
            ONCE, f"async {ONE}", f"async {TWO}",
            "`f` is called without `b`, which it needs.", id="async",
        ),
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_any_more_is_named(
    text: str, old: str, new: str, sentence: str
) -> None:
    assert said(text, old, new) == [sentence]
    assert said(text, old, old) == []


@table(
    ("text", "old", "new"),
    [
        pytest.param(ONCE, ONE, "def f(a, b=None):\n    return a\n", id="with-a-default"),
        pytest.param(ONCE, TWO, "def f(a, b, c):\n    return a\n", id="never-fitted"),
        pytest.param(ONCE, ONE, f"@cached\n{TWO}", id="decorated"),
        pytest.param(ONCE, ONE, TWO + TWO, id="defined-twice"),
        pytest.param(ONCE, ONE, "f = make(2)\n", id="another-kind-of-thing"),
        pytest.param(ONCE, ONE, "class Tool:\n    pass\n", id="gone-altogether"),
        pytest.param(ONCE, ONE, "def f(a, b:\n", id="not-to-be-parsed"),
        pytest.param("from m import f\n\nx.f(1)\n", ONE, TWO, id="of-something-else"),
        pytest.param("from m import f\n\nf(*a)\n", ONE, TWO, id="with-a-star"),
        pytest.param("from m import f\n\nf(1\n", ONE, TWO, id="a-call-that-does-not-end"),
        pytest.param(f"{ONCE}f = 1\n", ONE, TWO, id="bound-again"),
        pytest.param(
            "from m import f\n\n\ndef g(x, f: int):\n    f(1)\n", ONE, TWO, id="an-argument"
        ),
        pytest.param(f"{ONCE}with x as f:\n    f(1)\n", ONE, TWO, id="a-target"),
        pytest.param("from m import f\n\nf(1)(2)\n", TWO, ONE, id="the-result-is-called"),
        pytest.param("from m import f\n", ONE, TWO, id="not-called"),
        pytest.param(f"from m import f\n\nf({'-' * 9000}1)\n", ONE, TWO, id="too-deep"),
        pytest.param(
            "from m import f as g\nfrom n import f\n\nf(1)\n", ONE, TWO,
            id="under-another-name",
        ),
        pytest.param(ONCE, TWO, TWO.replace("return a", "pass"), id="another-body"),
        pytest.param(RUN, TOOL + MADE, TOOL_TWO + "tool = None\n", id="made-of-nothing"),
        pytest.param(RUN, TOOL + MADE, "tool = tool()\n", id="made-of-itself"),
        pytest.param(
            RUN, TOOL + MADE,
            TOOL.replace("    def", "    @cached\n    def").replace("a)", "a, b)") + MADE,
            id="a-decorated-method",
        ),
        pytest.param(
            RUN, TOOL + MADE, "class Tool:\n    run = other\n\n\n" + MADE, id="no-method"
        ),
    ],
)  # fmt: skip
def test_what_is_not_sure_is_not_said(text: str, old: str, new: str) -> None:
    assert said(text, old, new) == []


def test_a_module_that_is_whole_says_as_much() -> None:
    text = "`m.f` is called without `b`, which it needs."
    assert said("import m\n\nm.f(1)\n", ONE, TWO) == [text]
    assert said("import other\n\nother.f(1)\n", ONE, TWO) == []


BASE = """class Base:
    limit = 8

    def run(self, n):
        return self.limit

    def stop(self):
        return None
"""


GONE = "`self.base.limit` finds nothing any more: `Base` has no `limit`. It may be `most` now."


@table(
    ("text", "edits", "sentence"),
    [
        pytest.param(
            "class A(Base):\n    def go(self):\n        return self.limit\n", [("limit", "most")],
            "`self.limit` finds nothing any more: `A` has no `limit`. It may be `most` now.",
            id="inherited-attribute",
        ),
        pytest.param(
            "class A(Base):\n    def stop(self):\n        return 1\n", [("stop", "halt")],
            "`A.stop` overrides nothing any more: no base has `stop`. It may be `halt` now.",
            id="override-of-nothing",
        ),
        pytest.param(
            "class A(Base):\n    def run(self, n):\n        return 1\n", [("n)", "n, way)")],
            "`A.run` overrides a method that takes `way`, but does not take it itself.",
            id="override-of-another-signature",
        ),
        pytest.param(
            "class A(Base):\n    def go(self):\n        super().stop()\n", [("stop", "halt")],
            "`super().stop` finds nothing any more: `A` has no `stop`. It may be `halt` now.",
            id="super",
        ),
        pytest.param(
            "def go(base: Base):\n    return base.run(1)\n", [("n)", "n, way)")],
            "`base.run` is called without `way`, which it needs.", id="annotated",
        ),
        pytest.param(
            "def go():\n    base = Base()\n    return base.run(1)\n", [("n)", "*, way)")],
            "`base.run` is called with more arguments than it takes. "
            "`base.run` is called without `way`, which it needs.", id="made-here",
        ),
        pytest.param(
            "class A:\n    def __init__(self, base: Base):\n        self.base = base\n\n"
            "    def go(self):\n        return self.base.limit\n", [("limit", "most")],
            GONE,
            id="kept-parameter",
        ),
        pytest.param(
            "class Box:\n    base: Base\n\n\nclass A:\n    def __init__(self, box: Box):\n"
            "        self.base = box.base\n\n    def go(self):\n        return self.base.limit\n",
            [("limit", "most")],
            GONE,
            id="kept-attribute-of-a-parameter",
        ),
        pytest.param(
            "class A:\n    def __init__(self, base: Base):\n        base = wrap(base)\n"
            "        self.base = base\n\n    def go(self):\n        return self.base.limit\n",
            [("limit", "most")], None, id="parameter-that-is-set-again",
        ),
        pytest.param(
            "async def go():\n    Base().stop()\n", [("    def stop", "    async def stop")],
            "`Base().stop` is called without `await`, but is a coroutine now.", id="async",
        ),
        pytest.param(
            "class A(Base):\n    def go(self):\n        return self.limit\n",
            [("limit = 8", "limit = 9")], None, id="another-value",
        ),
        pytest.param(
            "def go(base):\n    return getattr(base, 'limit', 1)\n", [("limit", "most")], None,
            id="asked-for",
        ),
        pytest.param(
            "@config\nclass A(Base):\n    def go(self):\n        return self.limit\n",
            [("limit", "most")],
            "`self.limit` finds nothing any more: `A` has no `limit`. It may be `most` now.",
            id="decorated",
        ),
        pytest.param(
            "@config\nclass A(Base):\n    def go(self):\n        return self.made\n",
            [("limit", "most")], None, id="of-a-decorator",
        ),
        pytest.param(
            "class A(Base):\n    limit = 1\n\n    def go(self):\n        return self.limit\n",
            [("limit", "most")], None, id="its-own",
        ),
    ],
)  # fmt: skip
def test_members_are_looked_at_and_never_certain(
    text: str, edits: list[tuple[str, str]], sentence: str | None
) -> None:
    new = BASE
    for old, replacement in edits:
        new = new.replace(old, replacement)
    base = {"m.py": BASE.encode()}
    ours = {**base, "a.py": f"from m import Base\n\n\n{text}".encode()}
    findings = found([check_interfaces], base, ours, {"m.py": new.encode()})
    assert [f.text for f in findings] == ([] if sentence is None else [sentence])
    assert not any(f.is_certain for f in findings)


@table(
    ("base_text", "ours", "told"),
    [
        pytest.param(ONE, "def g(a):\n    return a\n", True, id="renamed"),
        pytest.param(ONE, "def f(a, *, b=1):\n    return a\n", False, id="fits"),
        pytest.param(ONE, TWO, True, id="needs-more"),
        pytest.param(f"{ONE}\n{TOOL}", f"{TWO}\n{TOOL}", True, id="beside-what-is-the-same"),
        pytest.param(BUILT, BUILT_TWO, True, id="made-otherwise"),
    ],
)
def test_new_code_of_upstream_is_looked_at_as_well(base_text: str, ours: str, told: bool) -> None:
    base = {"m.py": base_text.encode(), "n.py": b"x = 1\n"}
    upstream = {**base, "n.py": b"x = 1\n\nfrom m import f\n\nf(2)\n"}
    findings = found([check_interfaces], base, {**base, "m.py": ours.encode()}, upstream)
    assert [f.path for f in findings if f.is_certain] == ["n.py"] * told


@table(
    "head",
    [
        pytest.param("def go(box: Base):\n    box.start()\n", id="parameter"),
        pytest.param("def go():\n    box = Base()\n    box.start()\n", id="variable"),
    ],
)
def test_a_type_that_only_another_line_of_the_function_names_is_known(head: str) -> None:
    body = "class Base:\n    def start(self):\n        pass\n\n"
    old = f"{body}    def size(self):\n        return 1\n"
    new = f"{body}    @property\n    def size(self):\n        return 1\n"
    text = f"from m import Base\n\n\n{head}"
    base = {"m.py": old.encode(), "a.py": text.encode()}
    ours = {**base, "a.py": f"{text}    return box.size()\n".encode()}
    findings = found([check_interfaces], base, ours, {**base, "m.py": new.encode()})
    assert [f.text for f in findings] == ["`box.size` is called, but is a property now."]


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


ROOT = "class Base:\n    end = '.a'\n\n    def stop(self):\n        return 1\n\n"
CALLS = "    def run(self):\n        return self.stop(), self.end\n"
OURS = "from m import Base\n\n\nclass A(Base):\n    end = '.b'\n\n    def stop(self): ...\n"
NO_STOP = "class Base:\n    end = '.a'\n\n    def run(self):\n        return self.end\n"


@table(
    ("text", "old", "new", "words"),
    [
        pytest.param(OURS, ROOT + CALLS, NO_STOP, "`A.stop` overrides nothing", id="was-called"),
        pytest.param(OURS, ROOT, NO_STOP, None, id="nobody-called-it"),
        pytest.param(
            f"{OURS}\n    def go(self):\n        return self.stop()\n", ROOT + CALLS, NO_STOP, None,
            id="calls-its-own",
        ),
        pytest.param(
            OURS, ROOT + CALLS, (ROOT + CALLS).replace("end", "suffix"), "`A.end` overrides",
            id="attribute",
        ),
        pytest.param(OURS, ROOT + CALLS, (ROOT + CALLS).replace(".a", ".c"), None, id="value"),
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
PAIRS = "from collections import namedtuple\n\nP = namedtuple('P', 'x y')\n"
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
            "from m import P\n\n\ndef g(p: P):\n    return p.x\n", PAIRS,
            PAIRS.replace("x y", "u y"),
            "`P` has no `x`", id="namedtuple",
        ),
        pytest.param(
            "from m import P\n\n\ndef g(p: P):\n    return p.y\n", PAIRS,
            PAIRS.replace("x y", "u y"),
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


SHOP = {
    "shop/__init__.py": "from .cart import Cart\n",
    "shop/cart.py": "class Cart: ...\nif True:\n    spare = 1\n",
    "shop/price.py": "def price(): ...\n",
    "src/lib/tool.py": "def hammer():\n    global nail\n",
}


@table(
    ("text", "merged", "said"),
    [
        pytest.param("from shop.cart import Cart\n", {}, (), id="resolves"),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "class Basket: ...\n"},
            ("from shop.cart import Cart",),
            id="name gone",
        ),
        pytest.param(
            "from .cart import Cart, spare\n",
            {"shop/cart.py": "class Cart: ...\n"},
            ("from .cart import spare",),
            id="relative",
        ),
        pytest.param(
            "import shop.price\n", {"shop/price.py": None}, ("import shop.price",), id="module gone"
        ),
        pytest.param("from shop import price\n", {}, (), id="submodule"),
        pytest.param("from . import price\n", {}, (), id="submodule, relative"),
        pytest.param("from lib.tool import hammer, nail\n", {}, (), id="below src"),
        pytest.param("from torch import nothing\n", {}, (), id="outside of the tree"),
        pytest.param("from shop.cart import never\n", {}, (), id="did not resolve before either"),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from torch import *\n"},
            (),
            id="may come from a star",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "def __getattr__(name): ...\n"},
            (),
            id="may be made when asked for",
        ),
        pytest.param(
            "from shop.cart import Cart\n", {"shop/cart.py": "class (\n"}, (), id="not parsed"
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "x = 1\nclass CartOf: ...\nclass Cart: ...\n"},
            (),
            id="below a longer name",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "@made\ndef make(\n    a,\n):\n    with a:\n        global Cart\n"},
            (),
            id="global in a block",
        ),
        pytest.param("from (\n", {"shop/cart.py": None}, (), id="text does not parse"),
        pytest.param("from ....shop import cart\n", {}, (), id="above the tree"),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import (\n    price,\n    Basket as Cart,  # it\n)\n"},
            (),
            id="imported under the name",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import (\n    Cart as Basket,\n)\n"},
            ("from shop.cart import Cart",),
            id="imported under another name",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import price  # Cart\n"},
            ("from shop.cart import Cart",),
            id="in a comment behind an import",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "CartOf = 1\nif CartOf:\n    Cart = 2\n"},
            (),
            id="bound below a condition",
        ),
    ],
)
def test_an_import_that_resolved_before_is_said(
    text: str, merged: dict[str, str | None], said: tuple[str, ...]
) -> None:
    base: Files = {path: content.encode() for path, content in SHOP.items()}
    changed = {path: t for path, t in {**SHOP, **merged}.items() if t is not None}
    upstream = {path: content.encode() for path, content in changed.items()}
    findings = found([check_interfaces], base, {**base, "shop/use.py": text.encode()}, upstream)
    assert all(finding.kind == "removed" and finding.is_certain for finding in findings)
    assert tuple(finding.text.split("`")[1] for finding in findings) == said
