"""Calls that fitted what a file imports, and do not fit what upstream made of it."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.interfaces import check_interfaces
from tests.engines.audit.audited import found


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
