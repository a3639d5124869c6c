"""Calls that fitted what a file imports, and do not fit what upstream made of it."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.interfaces import check_interfaces
from tests.engines.audit.audited import found
from tests.tables import table


def said(text: str, old: str, new: str, name: str = "f", module: str = "m") -> list[str]:
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
    ("text", "old", "new", "name", "sentence"),
    [
        pytest.param(ONCE, ONE, TWO, "f", "`f` is called without `b`, which it needs.", id="new"),
        pytest.param(
            "from m import f\n\nf(1, b=2)\n", TWO, ONE, "f",
            "`f` is called with `b`, which it does not take.", id="gone",
        ),
        pytest.param(
            "from m import f\n\nf(1, 2)\n", TWO, ONE, "f",
            "`f` is called with more arguments than it takes.", id="fewer",
        ),
        pytest.param(
            'from m import f\n\nf("\\d \udc80")\n', ONE, TWO, "f",
            "`f` is called without `b`, which it needs.", id="with-an-odd-string",
        ),
        pytest.param(
            f"\ufeff{ONCE}", ONE, TWO, "f", "`f` is called without `b`, which it needs.", id="bom",
        ),
        pytest.param(
            "from m import \\\n    f\n\nf(1)\n", ONE, TWO, "f",
            "`f` is called without `b`, which it needs.", id="imported-over-lines",
        ),
        pytest.param(
            "from m import f\n\nf(\n    (1),  # first )\n)\n", ONE, TWO, "f",
            "`f` is called without `b`, which it needs.", id="over-lines",
        ),
        pytest.param(
            ONCE, BUILT, BUILT_TWO, "f", "`f` is called without `b`, which it needs.", id="class"
        ),
        pytest.param(
            RUN, TOOL + MADE, TOOL_TWO + MADE, "tool",
            "`tool.run` is called without `b`, which it needs.", id="method-of-an-object",
        ),
        pytest.param(
            ONCE, f"async {ONE}", f"async {TWO}", "f",
            "`f` is called without `b`, which it needs.", id="async",
        ),
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_any_more_is_named(
    text: str, old: str, new: str, name: str, sentence: str
) -> None:
    assert said(text, old, new, name) == [sentence]
    assert said(text, old, old, name) == []


@table(
    ("text", "old", "new", "name"),
    [
        pytest.param(ONCE, ONE, "def f(a, b=None):\n    return a\n", "f", id="with-a-default"),
        pytest.param(ONCE, TWO, "def f(a, b, c):\n    return a\n", "f", id="never-fitted"),
        pytest.param(ONCE, ONE, f"@cached\n{TWO}", "f", id="decorated"),
        pytest.param(ONCE, ONE, TWO + TWO, "f", id="defined-twice"),
        pytest.param(ONCE, ONE, "f = make(2)\n", "f", id="another-kind-of-thing"),
        pytest.param(ONCE, ONE, "class Tool:\n    pass\n", "f", id="gone-altogether"),
        pytest.param(ONCE, ONE, "def f(a, b:\n", "f", id="not-to-be-parsed"),
        pytest.param("from m import f\n\nx.f(1)\n", ONE, TWO, "f", id="of-something-else"),
        pytest.param("from m import f\n\nf(*a)\n", ONE, TWO, "f", id="with-a-star"),
        pytest.param("from m import f\n\nf(1\n", ONE, TWO, "f", id="a-call-that-does-not-end"),
        pytest.param(f"{ONCE}f = 1\n", ONE, TWO, "f", id="bound-again"),
        pytest.param(
            "from m import f\n\n\ndef g(x, f: int):\n    f(1)\n", ONE, TWO, "f", id="an-argument"
        ),
        pytest.param(f"{ONCE}with x as f:\n    f(1)\n", ONE, TWO, "f", id="a-target"),
        pytest.param("from m import f\n\nf(1)(2)\n", TWO, ONE, "f", id="the-result-is-called"),
        pytest.param("from m import f\n", ONE, TWO, "f", id="not-called"),
        pytest.param(f"from m import f\n\nf({'-' * 9000}1)\n", ONE, TWO, "f", id="too-deep"),
        pytest.param(
            "from m import f as g\nfrom n import f\n\nf(1)\n", ONE, TWO, "f",
            id="under-another-name",
        ),
        pytest.param(ONCE, TWO, TWO.replace("return a", "pass"), "f", id="another-body"),
        pytest.param(RUN, TOOL + MADE, TOOL_TWO + "tool = None\n", "tool", id="made-of-nothing"),
        pytest.param(RUN, TOOL + MADE, "tool = tool()\n", "tool", id="made-of-itself"),
        pytest.param(
            RUN, TOOL + MADE,
            TOOL.replace("    def", "    @cached\n    def").replace("a)", "a, b)") + MADE, "tool",
            id="a-decorated-method",
        ),
        pytest.param(
            RUN, TOOL + MADE, "class Tool:\n    run = other\n\n\n" + MADE, "tool", id="no-method"
        ),
    ],
)  # fmt: skip
def test_what_is_not_sure_is_not_said(text: str, old: str, new: str, name: str) -> None:
    assert said(text, old, new, name) == []


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
