"""What upstream made of the names that a file imports: calls, members, results and imports."""

import pytest

from patchmgr.engines.audit import interfaces
from patchmgr.engines.audit.interfaces import INTERFACES
from patchmgr.engines.audit.states import run_checks
from tests.engines.audit.audited import audited, found
from tests.engines.series import Files
from tests.tables import table

NEEDS_B = "`f` is called without `b`, which it needs."


def said(text: str, old: str, new: str) -> list[str]:
    """Return what is said of the calls of a new file that uses a module that upstream changed."""
    base = {"m.py": f"import os\n{old}".encode()}
    ours = {**base, "a.py": text.encode("utf-8", "surrogateescape")}
    findings = found(INTERFACES, base, ours, {"m.py": f"import os\n{new}".encode()})
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
    {
        "new": (ONCE, ONE, TWO, NEEDS_B),
        "gone": (
            "from m import f\n\nf(1, b=2)\n", TWO, ONE,
            "`f` is called with `b`, which it does not take.",
        ),
        "fewer": (
            "from m import f\n\nf(1, 2)\n", TWO, ONE,
            "`f` is called with more arguments than it takes.",
        ),
        "with-an-odd-string": ('from m import f\n\nf("\\d \udc80")\n', ONE, TWO, NEEDS_B),
        "bom": (f"\ufeff{ONCE}", ONE, TWO, NEEDS_B),
        "imported-over-lines": ("from m import \\\n    f\n\nf(1)\n", ONE, TWO, NEEDS_B),
        "over-lines": (
            "from m import f\n\nf(\n    (1),  # first )\n)\n", ONE, TWO,
            NEEDS_B,
        ),
        "class": (ONCE, BUILT, BUILT_TWO, NEEDS_B),
        "method-of-an-object": (
            RUN, TOOL + MADE, TOOL_TWO + MADE,
            "`tool.run` is called without `b`, which it needs.",
        ),
        "async": (ONCE, f"async {ONE}", f"async {TWO}", NEEDS_B),
    },
)  # fmt: skip
def test_a_call_that_no_longer_fits_is_told(text: str, old: str, new: str, sentence: str) -> None:
    assert said(text, old, new) == [sentence]
    assert said(text, old, old) == []


@table(
    ("text", "old", "new"),
    {
        "with-a-default": (ONCE, ONE, "def f(a, b=None):\n    return a\n"),
        "never-fitted": (ONCE, TWO, "def f(a, b, c):\n    return a\n"),
        "decorated": (ONCE, ONE, f"@cached\n{TWO}"),
        "defined-twice": (ONCE, ONE, TWO + TWO),
        "another-kind-of-thing": (ONCE, ONE, "f = make(2)\n"),
        "gone-altogether": (ONCE, ONE, "class Tool:\n    pass\n"),
        "not-to-be-parsed": (ONCE, ONE, "def f(a, b:\n"),
        "of-something-else": ("from m import f\n\nx.f(1)\n", ONE, TWO),
        "with-a-star": ("from m import f\n\nf(*a)\n", ONE, TWO),
        "a-call-that-does-not-end": ("from m import f\n\nf(1\n", ONE, TWO),
        "bound-again": (f"{ONCE}f = 1\n", ONE, TWO),
        "an-argument": ("from m import f\n\n\ndef g(x, f: int):\n    f(1)\n", ONE, TWO),
        "a-target": (f"{ONCE}with x as f:\n    f(1)\n", ONE, TWO),
        "the-result-is-called": ("from m import f\n\nf(1)(2)\n", TWO, ONE),
        "not-called": ("from m import f\n", ONE, TWO),
        "too-deep": (f"from m import f\n\nf({'-' * 9000}1)\n", ONE, TWO),
        "under-another-name": ("from m import f as g\nfrom n import f\n\nf(1)\n", ONE, TWO),
        "another-body": (ONCE, TWO, TWO.replace("return a", "pass")),
        "made-of-nothing": (RUN, TOOL + MADE, TOOL_TWO + "tool = None\n"),
        "made-of-itself": (RUN, TOOL + MADE, "tool = tool()\n"),
        "a-decorated-method": (
            RUN, TOOL + MADE,
            TOOL.replace("    def", "    @cached\n    def").replace("a)", "a, b)") + MADE,
        ),
        "no-method": (RUN, TOOL + MADE, "class Tool:\n    run = other\n\n\n" + MADE),
    },
)  # fmt: skip
def test_what_is_not_sure_is_not_said(text: str, old: str, new: str) -> None:
    assert said(text, old, new) == []


@table(
    "text",
    {
        "star": "from p.m import *\n\nf(1)\n",
        "two-modules-of-a-package": "import p.m\nimport p.n\n\np.m.f(1)\n",
        "two-modules-in-a-function": (
            "def g():\n    import p.m\n    import p.n\n    p.m.f(1)\n\n\ng()\n"
        ),
    },
)
def test_an_import_of_any_kind_leads_to_the_module(text: str) -> None:
    base = {"p/__init__.py": b"", "p/m.py": ONE.encode(), "p/n.py": b"x = 1\n"}
    upstream = {**base, "p/m.py": TWO.encode()}
    (told,) = found(INTERFACES, base, {**base, "a.py": text.encode()}, upstream)
    assert told.text.endswith("is called without `b`, which it needs.")


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


NO_LIMIT = "`self.limit` no longer works: `A` has no `limit`. Its new name may be `most`."
GONE = "`self.base.limit` no longer works: `Base` has no `limit`. Its new name may be `most`."


@table(
    ("text", "edits", "sentence"),
    {
        "inherited-attribute": (
            "class A(Base):\n    def go(self):\n        return self.limit\n", [("limit", "most")],
            NO_LIMIT,
        ),
        "override-of-nothing": (
            "class A(Base):\n    def stop(self):\n        return 1\n", [("stop", "halt")],
            "`A.stop` no longer overrides anything: no base class has `stop`."
            " Its new name may be `halt`.",
        ),
        "override-of-another-signature": (
            "class A(Base):\n    def run(self, n):\n        return 1\n", [("n)", "n, way)")],
            "`A.run` no longer fits the method that it overrides: "
            "`run` is called with `way`, which it does not take.",
        ),
        "super": (
            "class A(Base):\n    def go(self):\n        super().stop()\n", [("stop", "halt")],
            "`super().stop` no longer works: `A` has no `stop`. Its new name may be `halt`.",
        ),
        "annotated": (
            "def go(base: Base):\n    return base.run(1)\n", [("n)", "n, way)")],
            "`base.run` is called without `way`, which it needs.",
        ),
        "made-here": (
            "def go():\n    base = Base()\n    return base.run(1)\n", [("n)", "*, way)")],
            "`base.run` is called with more arguments than it takes. "
            "`base.run` is called without `way`, which it needs.",
        ),
        "kept-parameter": (
            "class A:\n    def __init__(self, base: Base):\n        self.base = base\n\n"
            "    def go(self):\n        return self.base.limit\n", [("limit", "most")],
            GONE,
        ),
        "kept-attribute-of-a-parameter": (
            "class Box:\n    base: Base\n\n\nclass A:\n    def __init__(self, box: Box):\n"
            "        self.base = box.base\n\n    def go(self):\n        return self.base.limit\n",
            [("limit", "most")],
            GONE,
        ),
        "parameter-that-is-set-again": (
            "class A:\n    def __init__(self, base: Base):\n        base = wrap(base)\n"
            "        self.base = base\n\n    def go(self):\n        return self.base.limit\n",
            [("limit", "most")], None,
        ),
        "async": (
            "async def go():\n    Base().stop()\n", [("    def stop", "    async def stop")],
            "`Base().stop` is called without `await`, but is now a coroutine.",
        ),
        "another-value": (
            "class A(Base):\n    def go(self):\n        return self.limit\n",
            [("limit = 8", "limit = 9")], None,
        ),
        "asked-for": (
            "def go(base):\n    return getattr(base, 'limit', 1)\n", [("limit", "most")], None,
        ),
        "decorated": (
            "@config\nclass A(Base):\n    def go(self):\n        return self.limit\n",
            [("limit", "most")],
            NO_LIMIT,
        ),
        "of-a-decorator": (
            "@config\nclass A(Base):\n    def go(self):\n        return self.made\n",
            [("limit", "most")], None,
        ),
        "its-own": (
            "class A(Base):\n    limit = 1\n\n    def go(self):\n        return self.limit\n",
            [("limit", "most")], None,
        ),
    },
)  # fmt: skip
def test_members_stay_unsure(text: str, edits: list[tuple[str, str]], sentence: str | None) -> None:
    new = BASE
    for old, replacement in edits:
        new = new.replace(old, replacement)
    base = {"m.py": BASE.encode()}
    ours = {**base, "a.py": f"from m import Base\n\n\n{text}".encode()}
    findings = found(INTERFACES, base, ours, {"m.py": new.encode()})
    assert [f.text for f in findings] == ([] if sentence is None else [sentence])
    assert not any(f.is_certain for f in findings)


ROWS = "f = {'k': 1, 'j': 2}\n"
ENTRY = "from collections import namedtuple\n\nf = namedtuple('f', 'a')\n"


@table(
    ("text", "old", "new"),
    {
        "alias": ("from m import f as g\n\ng(1)\n", ONE, TWO),
        "called-by-a-derived-class": (
            "from m import f\n\n\nclass D(f):\n    def __init__(self):\n"
            "        super().__init__(1)\n",
            BUILT,
            BUILT_TWO,
        ),
        "derived": ("from m import f\n\n\nclass D(f): ...\n\n\nD(1)\n", BUILT, BUILT_TWO),
        "key": ("from m import f\n\nf['k']\n", ROWS, "f = {'j': 2}\n"),
        "field": ("from m import f\n\nf(1)\n", ENTRY, ENTRY.replace("'a'", "'a b'")),
        "kind": ("from m import f\n\nf.items()\n", ROWS, ONE),
    },
)
def test_new_code_of_upstream_uses_what_the_series_changes(text: str, old: str, new: str) -> None:
    base = {"m.py": old.encode(), "n.py": b"import os\n"}
    upstream = {**base, "n.py": text.encode()}
    (told,) = found(INTERFACES, base, {**base, "m.py": new.encode()}, upstream)
    assert told.path == "n.py"


@table(
    ("base_text", "ours", "told"),
    {
        "renamed": (ONE, "def g(a):\n    return a\n", True),
        "fits": (ONE, "def f(a, *, b=1):\n    return a\n", False),
        "needs-more": (ONE, TWO, True),
        "beside-what-is-the-same": (f"{ONE}\n{TOOL}", f"{TWO}\n{TOOL}", True),
        "made-otherwise": (BUILT, BUILT_TWO, True),
    },
)
def test_new_code_of_upstream_is_looked_at_as_well(base_text: str, ours: str, told: bool) -> None:
    base = {"m.py": base_text.encode(), "n.py": b"x = 1\n"}
    upstream = {**base, "n.py": b"x = 1\n\nfrom m import f\n\nf(2)\n"}
    findings = found(INTERFACES, base, {**base, "m.py": ours.encode()}, upstream)
    assert [f.path for f in findings if f.is_certain] == ["n.py"] * told


@table(
    "head",
    {
        "parameter": "def go(box: Base):\n    box.start()\n",
        "variable": "def go():\n    box = Base()\n    box.start()\n",
    },
)
def test_a_type_that_only_another_line_of_the_function_names_is_known(head: str) -> None:
    body = "class Base:\n    def start(self):\n        pass\n\n"
    old = f"{body}    def size(self):\n        return 1\n"
    new = f"{body}    @property\n    def size(self):\n        return 1\n"
    text = f"from m import Base\n\n\n{head}"
    base = {"m.py": old.encode(), "a.py": text.encode()}
    ours = {**base, "a.py": f"{text}    return box.size()\n".encode()}
    findings = found(INTERFACES, base, ours, {**base, "m.py": new.encode()})
    assert [f.text for f in findings] == ["`box.size` is called, but is now a property."]


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
    {
        "next-of-a-list": ("next(f(1))", YIELDS, LISTS, "no longer a g"),
        "next-of-a-name": ("x = f(1)\ny = next(x)", YIELDS, LISTS, "no longer a g"),
        "a-list-of-a-list": ("list(f(1))", YIELDS, LISTS, None),
        "len-of-a-generator": ("len(f(1))", LISTS, YIELDS, "`f` is now a generator"),
        "item-of-a-generator": ("f(1)[0]", LISTS, YIELDS, "`f` is now a generator"),
        "for-of-a-generator": ("for x in f(1):\n    pass", LISTS, YIELDS, None),
        "pair": ("x = f(1)\nx[0]", LISTS, PAIR, "now returns several values"),
        "pair-that-nobody-reads": ("f(1)", LISTS, PAIR, None),
        "still-a-pair": ("x = f(1)[0]", PAIR, PAIR.replace("len(", "sum("), None),
        "bare": ("@f\ndef g():\n    pass", BARE, FACTORY, "`@f` must now be called"),
        "plain": ("@f(1)\ndef g():\n    pass", FACTORY, BARE, "now a plain decorator"),
        "decorator-that-wraps": ("@f\ndef g():\n    pass", BARE, WRAPPER, None),
        "decorator-of-two": (
            "@f\ndef g():\n    pass", BARE, BARE.replace("(g)", "(g, h)"),
            "`f` is called without `h`",
        ),
        "isinstance": ("isinstance(1, f)", CLASS, FUNCTION, "`f` is passed to"),
        "class": ("isinstance(1, f)", CLASS, CLASS.replace("pass", "a = 1"), None),
        "default": (
            "f()", "def f(a=True):\n    pass\n", "def f(a=False):\n    pass\n",
            "omits `a`, whose default was `True` and is now `False`.",
        ),
        "not-left-out": ("f(a=1)", "def f(a=1):\n    pass\n", "def f(a=2):\n    pass\n", None),
        "default-none": ("f()", "def f(a=1):\n    pass\n", "def f(a=None):\n    pass\n", None),
        "table": ("f", TABLE, TABLE.replace("'f': 1, ", ""), "has no `f`"),
        "another-row": ("f", TABLE, TABLE.replace("'g': 2", "'h': 2"), None),
    },
)  # fmt: skip
def test_uses_are_held_to_upstreams_code(text: str, old: str, new: str, words: str | None) -> None:
    assert_said(f"from m import f\n\n{text}\n", old, new, words)


@table(
    ("text", "old", "new", "words"),
    {
        "base": (TRIES, RAISES, RAISES.replace("(E)", "(OSError)"), "`f` raises"),
        "another": (TRIES, RAISES, RAISES.replace("D(a)", "KeyError"), "KeyError"),
        "caught-as-well": (TRIES, RAISES, RAISES.replace("D(a)", "E(a)"), None),
        "star": ("from m import *\n\nf(1)\n", YIELDS, YIELDS.replace("f(", "g("), "`f` is used"),
        "star-beside-a-parameter-of-that-name": (
            "from m import *\n\nf(1)\n\n\ndef g(f): ...\n", YIELDS, YIELDS.replace("f(", "g("),
            "`f` is used",
        ),
        "star-with-an-alias": (
            "from m import *\n\nf(1)\n", YIELDS, YIELDS.replace("f(", "g(") + "\n\nf = g\n", None,
        ),
        "star-that-lists": (
            "from m import *\n\nf(1)\n", YIELDS, YIELDS + "\n\n__all__ = ['g']\n", "`f` is used",
        ),
    },
)  # fmt: skip
def test_a_file_is_held_to_its_imports(text: str, old: str, new: str, words: str | None) -> None:
    assert_said(text, old, new, words)


CAUGHT = "match x:\n        case {}:\n            f(1)\n"
KEYED = "class f:\n    a = 1\n"


@table(
    ("text", "old", "new"),
    {
        "comprehension": ("x = [f(1) for f in y]", ONE, TWO),
        "comprehension-in-a-class": ("class A:\n    x = {f(1) for f in y}", ONE, TWO),
        "assignment-expression": ("if f := x:\n    f(1)", ONE, TWO),
        "handler": ("try:\n    pass\nexcept E as f:\n    f(1)", ONE, TWO),
        "class-body": ("class A:\n    def f(a): ...\n    x = f(1)", ONE, TWO),
        "global": ("def g():\n    global f\n    f = x\n\n\nf(1)", ONE, TWO),
        "pattern": (f"def g(x):\n    {CAUGHT.format('[f]')}", ONE, TWO),
        "pattern-of-the-rest": (f"def g(x):\n    {CAUGHT.format('[*f]')}", ONE, TWO),
        "pattern-of-other-keys": (f"def g(x):\n    {CAUGHT.format('{**f}')}", ONE, TWO),
        "pattern-of-the-module": (f"if x:\n    {CAUGHT.format('int() as f')}", ONE, TWO),
        "asked-for-in-the-same-expression": ("hasattr(f, 'a') and f.a", KEYED, BUILT),
        "set-below-the-class": ("f.a", KEYED, f"{BUILT}\n\nf.a = 1\n"),
        "set-by-name-below-the-class": ("f.a", KEYED, f"{BUILT}\n\nsetattr(f, 'a', 1)\n"),
        "fields-by-name-only": (
            "f(b=1)", "@dataclass\nclass f:\n    b: int\n",
            "@dataclass\nclass f:\n    _: KW_ONLY\n    b: int\n",
        ),
    },
)  # fmt: skip
def test_a_name_that_may_be_another_one_is_not_told(text: str, old: str, new: str) -> None:
    assert_said(f"from m import f\n\n\n{text}\n", old, new, None)


@table(
    "text",
    {
        "suppressed": "from contextlib import suppress\n\nwith suppress(ImportError):\n    {}",
        "tried": "try:\n    {}\nexcept ImportError:\n    pass\n",
    },
)
def test_an_import_that_may_fail_is_not_told(text: str) -> None:
    assert_said(text.format("from m import f\n"), ONE, "x = 1\n", None)
    assert_said("if x:\n    from m import f\n", ONE, "x = 1\n", "has no `f`")


def test_a_module_that_replaces_itself_may_have_any_name() -> None:
    assert_said("from m import f\n", ONE, "import sys\n\nsys.modules[__name__] = x\n", None)


def test_what_a_decorator_may_add_is_unsure() -> None:
    new = f"@adds\n{BUILT}"
    base = {"m.py": KEYED.encode(), "a.py": b""}
    ours = {**base, "a.py": b"from m import f\n\nf.a\n"}
    findings = found(INTERFACES, base, ours, {**base, "m.py": new.encode()})
    assert [finding.is_certain for finding in findings] == [False]


ROOT = "class Base:\n    end = '.a'\n\n    def stop(self):\n        return 1\n\n"
CALLS = "    def run(self):\n        return self.stop(), self.end\n"
OURS = "from m import Base\n\n\nclass A(Base):\n    end = '.b'\n\n    def stop(self): ...\n"
NO_STOP = "class Base:\n    end = '.a'\n\n    def run(self):\n        return self.end\n"


@table(
    ("text", "old", "new", "words"),
    {
        "was-called": (OURS, ROOT + CALLS, NO_STOP, "`A.stop` no longer overrides"),
        "nobody-called-it": (OURS, ROOT, NO_STOP, None),
        "calls-its-own": (
            f"{OURS}\n    def go(self):\n        return self.stop()\n", ROOT + CALLS, NO_STOP, None,
        ),
        "attribute": (
            OURS, ROOT + CALLS, (ROOT + CALLS).replace("end", "suffix"), "`A.end` no longer",
        ),
        "value": (OURS, ROOT + CALLS, (ROOT + CALLS).replace(".a", ".c"), None),
    },
)  # fmt: skip
def test_an_override_is_held_to_its_use(text: str, old: str, new: str, words: str | None) -> None:
    assert_said(text, old, new, words)


def test_a_class_in_a_function_has_what_its_base_has() -> None:
    text = (
        "from m import Base\n\n\ndef use():\n    class A(Base):\n        def go(self):\n"
        "            return self.limit\n"
    )
    assert_said(text, BASE, BASE.replace("limit", "most"), "`A` has no `limit`")
    assert_said(text, BASE, BASE.replace("stop", "halt"), None)


def test_a_member_that_is_only_read_beside_its_class_is_gone() -> None:
    pads = "".join(f"pad{n} = {n}\n" for n in range(8))
    base = f"import os\n\n\n{KEYED}\n\n{pads}"
    sides = (base, f"{base}x = f.a\n", base.replace("    a = 1\n", "    b = 1\n"))
    (told,) = found(INTERFACES, *({"m.py": text.encode()} for text in sides))
    assert (told.symbol, told.is_certain) == ("f.a", True)


def test_a_class_that_seems_to_be_its_own_base_says_nothing() -> None:
    case = (
        "import unittest as u\n\n\nclass Base(u.TestCase):\n    pass\n\n\n"
        "class Case(Base):\n    size = 1\n"
    )
    shop = b"from shop.case import Case as TestCase\n"
    base = {"shop/__init__.py": b"", "shop/unittest.py": shop, "shop/case.py": case.encode()}
    text = "from shop.case import Case\n\n\nclass Mine(Case):\n    pass\n"
    ours = {**base, "shop/mine.py": text.encode()}
    upstream = {**base, "shop/case.py": case.replace("size = 1", "size = 2").encode()}
    assert not found(INTERFACES, base, ours, upstream)


def assert_said(text: str, old: str, new: str, words: str | None) -> None:
    base = {"m.py": f"import os\n\n\n{old}".encode()}
    ours = {**base, "a.py": text.encode()}
    upstream = {"m.py": f"import os\n\n\n{new}".encode()}
    said = [finding.text for finding in found(INTERFACES, base, ours, upstream)]
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
    {
        "length": (
            "from m import C\n\nlen(C())\n", LEN, LEN.replace("__len__", "size"), "`__len__`",
        ),
        "has-it": ("from m import C\n\nlen(C())\n", LEN, LEN.replace("limit", "most"), None),
        "set": (
            "from m import C\n\nc = C()\nc.limit = 5\n", LEN, LEN.replace("limit", "most"),
            "`c.limit` is set",
        ),
        "set-of-its-own": (
            "from m import C\n\nc = C()\nc.own = 5\n", LEN, LEN.replace("limit", "most"), None,
        ),
        "narrowed": (NARROW, LEN, LEN.replace("limit", "most"), "`c.limit` no longer works"),
        "namedtuple": (
            "from m import P\n\n\ndef g(p: P):\n    return p.x\n", PAIRS,
            PAIRS.replace("x y", "u y"),
            "`P` has no `x`",
        ),
        "other-field": (
            "from m import P\n\n\ndef g(p: P):\n    return p.y\n", PAIRS,
            PAIRS.replace("x y", "u y"),
            None,
        ),
        "value-of-an-enumeration": (
            "from m import M\n\nM('fast')\n", ENUM, ENUM.replace("'fast'", "'quick'"),
            "`M` no longer has `fast`",
        ),
        "row": (
            "from m import T\n\nT['a']\n", ROWS, ROWS.replace("'a'", "'c'"),
            "`T` no longer has `a`",
        ),
        "row-that-is-set-below": (
            "from m import T\n\nT['a']\n", ROWS, ROWS.replace("'a'", "'c'") + "T['a'] = 3\n", None,
        ),
        "with": (
            "from m import f\n\nwith f():\n    pass\n", WITH, "def f():\n    return 1\n",
            "no longer returns a context manager",
        ),
        "named-by-a-text": (
            "import m\n\nsetattr(m, 'f', 1)\n", BARE, BARE.replace("f(g)", "h(g)"), "has no `f`",
        ),
        "asked-with-a-default": (
            "import m\n\ngetattr(m, 'f', 1)\n", BARE, BARE.replace("f(g)", "h(g)"), None,
        ),
        "by-place-only": (
            "from m import f\n\nf(g=1)\n", BARE, BARE.replace("(g)", "(g, /)"),
            "now positional-only",
        ),
    },
)  # fmt: skip
def test_statements_fit_class_and_table(text: str, old: str, new: str, words: str | None) -> None:
    assert_said(text, old, new, words)


SHOP = {
    "shop/__init__.py": "from .cart import Cart\n",
    "shop/cart.py": "class Cart: ...\nif True:\n    spare = 1\n",
    "shop/price.py": "def price(): ...\n",
    "src/lib/tool.py": "def hammer():\n    global nail\n",
}


@table(
    ("text", "merged", "said"),
    {
        "resolves": ("from shop.cart import Cart\n", {}, ()),
        "name gone": ("from shop.cart import Cart\n", {"shop/cart.py": "class Basket: ...\n"},
            ("from shop.cart import Cart",)),
        "relative": ("from .cart import Cart, spare\n", {"shop/cart.py": "class Cart: ...\n"},
            ("from .cart import spare",)),
        "module gone": ("import shop.price\n", {"shop/price.py": None}, ("import shop.price",)),
        "submodule": ("from shop import price\n", {}, ()),
        "submodule, relative": ("from . import price\n", {}, ()),
        "below src": ("from lib.tool import hammer, nail\n", {}, ()),
        "outside of the tree": ("from torch import nothing\n", {}, ()),
        "did not resolve before either": ("from shop.cart import never\n", {}, ()),
        "may come from a star": ("from shop.cart import Cart\n",
            {"shop/cart.py": "from torch import *\n"}, ()),
        "may be made when asked for": ("from shop.cart import Cart\n",
            {"shop/cart.py": "def __getattr__(name): ...\n"}, ()),
        "not parsed": ("from shop.cart import Cart\n", {"shop/cart.py": "class (\n"}, ()),
        "below a longer name": ("from shop.cart import Cart\n",
            {"shop/cart.py": "x = 1\nclass CartOf: ...\nclass Cart: ...\n"}, ()),
        "global in a block": ("from shop.cart import Cart\n",
            {"shop/cart.py": "@made\ndef make(\n    a,\n):\n    with a:\n        global Cart\n"},
            ()),
        "text does not parse": ("from (\n", {"shop/cart.py": None}, ()),
        "above the tree": ("from ....shop import cart\n", {}, ()),
        "imported under the name": (
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import (\n    price,\n    Basket as Cart,  # it\n)\n"},
            (),
        ),
        "imported under another name": ("from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import (\n    Cart as Basket,\n)\n"},
            ("from shop.cart import Cart",)),
        "in a comment behind an import": (
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import price  # Cart\n"},
            ("from shop.cart import Cart",),
        ),
        "bound below a condition": ("from shop.cart import Cart\n",
            {"shop/cart.py": "CartOf = 1\nif CartOf:\n    Cart = 2\n"}, ()),
    },
)  # fmt: skip
def test_an_import_is_lost(text: str, merged: dict[str, str | None], said: tuple[str, ...]) -> None:
    base: Files = {path: content.encode() for path, content in SHOP.items()}
    changed = {path: t for path, t in {**SHOP, **merged}.items() if t is not None}
    upstream = {path: content.encode() for path, content in changed.items()}
    findings = found(INTERFACES, base, {**base, "shop/use.py": text.encode()}, upstream)
    assert all(finding.kind == "removed" and finding.is_certain for finding in findings)
    assert tuple(finding.text.split("`")[1] for finding in findings) == said


@table(
    ("said", "gone", "fresh", "is_certain"),
    {
        "the-package-stays": ("from p.m import f", "p/m.py", "p/n.py", [True]),
        "relative": ("from .m import f", "p/m.py", "q/n.py", [True]),
        "the-package-left-the-project": ("from v.m import f", "v/m.py", "p/n.py", [False]),
        "the-package-went-below-a-folder": ("from v.m import f", "v/m.py", "lib/v/m.py", []),
    },
)
def test_a_lost_module_may_be_installed(
    said: str, gone: str, fresh: str, is_certain: list[bool]
) -> None:
    base = {"p/a.py": b"import os\n", gone: ONE.encode()}
    upstream = {"p/a.py": base["p/a.py"], fresh: f"import sys\n\n\n{ONE}".encode()}
    ours = {**base, "p/a.py": f"import os\n{said}\n".encode()}
    findings = found(INTERFACES, base, ours, upstream)
    assert [finding.is_certain for finding in findings] == is_certain


@table(
    ("path", "proposal"),
    {"a-module": ("tools/n.py", "tools.n.f"), "a-script": ("my-tools/n.py", None)},
)
def test_a_new_name_can_be_imported(path: str, proposal: str | None) -> None:
    base = {"m.py": f"{ONE}\n\nx = 1\n".encode(), "a.py": b"import os\n"}
    upstream = {**base, "m.py": b"x = 1\n", path: ONE.encode()}
    (told,) = found(INTERFACES, base, {**base, "a.py": ONCE.encode()}, upstream)
    assert told.proposal == proposal


def test_what_the_series_lost_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    base = {"m.py": ONE.encode(), "a.py": b"import os\n"}
    _, states = audited(base, base | {"m.py": TWO.encode()}, base | {"a.py": ONCE.encode()})
    monkeypatch.delattr(interfaces, "lost_names")
    (told,) = run_checks(states, INTERFACES)
    assert told[1].text.startswith(NEEDS_B)
