"""The forms of Python that gates are looked for in, one by one."""

from __future__ import annotations

import ast

import pytest

from patchmgr.commands.report import words_of
from patchmgr.engines.gating.conditions import Conditions, is_boolean
from patchmgr.engines.gating.defaults import Defaults, settings_defaults
from patchmgr.engines.gating.python import left
from patchmgr.engines.gating.sites import Texts
from patchmgr.engines.report.review import Judge
from patchmgr.model.gating import ChangedSite, Reach
from tests.tables import table

WORDS = words_of("", {})
CONDITIONS = Conditions(WORDS, Defaults())


def sites(before: str, after: str) -> tuple[ChangedSite, ...]:
    return Judge(WORDS)(Texts("a.py", before.encode(), after.encode()))


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@table(
    ("value", "default"),
    [
        pytest.param('os.getenv("A") or "b"', ["b"], id="or"),
        pytest.param('os.getenv("A") or ""', [""], id="or nothing"),
        pytest.param('"a" and os.getenv("A")', [None], id="and"),
        pytest.param('not os.getenv("A")', [True], id="not"),
        pytest.param('"a" if os.getenv("A") else "b"', ["b"], id="else"),
        pytest.param('os.getenv("A", "X").lower()', ["x"], id="method"),
        pytest.param("(1).lower()", [], id="method of no text"),
        pytest.param("f(1)", [], id="unknown function"),
        pytest.param('int("a")', [], id="no number"),
        pytest.param("a", [], id="name"),
    ],
)
def test_defaults_are_what_an_expression_says_with_nothing_set(
    value: str, default: list[object]
) -> None:
    table = f'{{"A": lambda: {value}, "B": 1, **c}}\n'.encode()
    assert list(settings_defaults([b"(", table]).values()) == default


@table(
    ("test", "truth"),
    [
        pytest.param("arch == 120", False, id="equal"),
        pytest.param("arch != 120", True, id="not equal"),
        pytest.param("0 < arch < 3", None, id="two"),
        pytest.param("arch is True", None, id="true"),
        pytest.param("arch is None", None, id="none of another kind"),
        pytest.param("quant_config is None", True, id="none"),
        pytest.param("arch == MODE", False, id="constant"),
        pytest.param("arch == mode", None, id="variable"),
    ],
)
def test_a_comparison_with_something_fixed(test: str, truth: bool | None) -> None:
    assert CONDITIONS.truth(expression(test)) is truth


@table(
    ("text", "is_sure"),
    [
        ("a == 1 and not b", True),
        ("a == 1 and b", False),
        ("isinstance(a, B)", True),
        ("f(a)", False),
        ("True", True),
    ],
)
def test_what_is_true_or_false_by_its_form(text: str, is_sure: bool) -> None:
    assert is_boolean(expression(text)) is is_sure


@table(
    ("test", "gates"),
    [
        pytest.param("quant_config['a']", ["quant_config['a']"], id="subscript"),
        pytest.param("(q := is_sm120())", ["(q := is_sm120())"], id="walrus"),
        pytest.param("bool(is_sm120() and n)", ["is_sm120()"], id="bool"),
        pytest.param("not not is_sm120()", ["is_sm120()"], id="not not"),
        pytest.param("n + 1", [], id="sum"),
        pytest.param("[n]", [], id="list"),
    ],
)
def test_gates_of_an_expression(test: str, gates: list[str]) -> None:
    assert [gate.text for gate in CONDITIONS.gates(expression(test))] == gates


@table(
    ("before", "after", "names"),
    [
        pytest.param(
            "def f(): pass\ndef f(): pass", "def f(): a\ndef f(): b", ["f", "f"], id="one name"
        ),
        pytest.param(
            "if a:\n    def f(): b\nelse:\n    def g(): b",
            "if a:\n    def f(): c\nelse:\n    def g(): c",
            ["f", "g"],
            id="if",
        ),
        pytest.param(
            "try:\n    def f(): b\nexcept E:\n    def g(): b\nfinally:\n    def h(): b",
            "try:\n    def f(): c\nexcept E:\n    def g(): c\nfinally:\n    def h(): c",
            ["f", "g", "h"],
            id="try",
        ),
        pytest.param(
            "with a:\n    class B:\n        def f(self): b",
            "with a:\n    class B:\n        def f(self): c",
            ["B.f"],
            id="with",
        ),
    ],
)
def test_a_site_names_its_function(before: str, after: str, names: list[str]) -> None:
    assert [site.symbol for site in sites(before, after)] == names


@table(
    ("before", "after", "is_new"),
    [
        pytest.param("", "import a", True, id="import"),
        pytest.param("from a import b", "from a import b, c", True, id="one more name"),
        pytest.param("from a import b", "from a import c", False, id="another name"),
        pytest.param("", "a: int = 1", True, id="annotated"),
        pytest.param("", "a.b = 1", False, id="attribute"),
        pytest.param("", "a: int", False, id="declared"),
        pytest.param("", "f()", False, id="call"),
        pytest.param("f()", "a = 1", False, id="call that goes"),
        pytest.param("a = {1: 2}", "a = {1: 2, **b}", True, id="table"),
    ],
)
def test_what_only_adds_names(before: str, after: str, is_new: bool) -> None:
    (site,) = sites(before, after)
    assert (site.reach is Reach.ADDED) is is_new


@table(
    ("body", "left_over"),
    [
        pytest.param("ok = bool(is_sm120())\nif ok: n()", "", id="bool"),
        pytest.param("a = -1\nif is_sm120(): n(a)", "", id="dead number"),
        pytest.param("a = len(b)\nif is_sm120(): n(a)", "", id="dead length"),
        pytest.param("a = f()\nif is_sm120(): n(a)", "a = f()", id="dead call"),
        pytest.param("a = [f()]\nif is_sm120(): n(a)", "a = [f()]", id="dead list"),
        pytest.param("global a\na = 1", "global a\na = 1", id="global"),
        pytest.param("a = 1\nn(locals())", "a = 1\nn(locals())", id="locals"),
        pytest.param("def h():\n    if is_sm120(): n()", "def h():", id="inner function"),
        pytest.param(
            "try:\n    m()\nexcept E:\n    if is_sm120(): n()",
            "try:\n    m()\nexcept E:",
            id="handler",
        ),
        pytest.param("n(a if b else c)", "n(a if b else c)", id="choice without a gate"),
        pytest.param("n(a if is_sm120() else c)", "n(c)", id="choice of a gate"),
        pytest.param("y = is_sm120()\nwhile y: n()", "while False:\n    n()", id="name of a gate"),
        pytest.param("while is_sm120() or f(): n()", "while f():\n    n()", id="one gate of two"),
        pytest.param(
            "while is_sm120() or is_sm121(): n()", "while False:\n    n()", id="two gates"
        ),
        pytest.param("a = 1\nb = a\nc = b\nd = c", "", id="names of names"),
        pytest.param("a = 1\nb = a\nc = b\nd = c\ne = d", "a = 1", id="more names of names"),
    ],
)
def test_a_function_with_all_gates_off(body: str, left_over: str) -> None:
    kept = left(ast.parse(body).body, CONDITIONS, frozenset())
    assert "\n".join(map(ast.unparse, kept)) == left_over


def test_the_names_of_a_module_are_for_others_to_read() -> None:
    body = ast.parse("a = 1\nif is_sm120(): b = 1").body
    kept = left(body, CONDITIONS, frozenset(), is_function=False)
    assert list(map(ast.unparse, kept)) == ["a = 1"]


def gates_of(text: str) -> list[str]:
    """Return the gates in front of a statement that comes into a function, behind a text."""
    before = f"{text}\ndef f(self):\n    g()\n"
    after = f"{text}\ndef f(self):\n    if self.new() or new():\n        n()\n    g()\n"
    return [gate.text for gate in sites(before, after)[0].gates]


@table(
    ("answer", "gates"),
    [
        pytest.param("def new(): return is_sm120()", ["is_sm120()"], id="answer"),
        pytest.param(
            "def new():\n    if is_sm120(): return 1\n    return", ["is_sm120()"], id="if"
        ),
        pytest.param(
            "def new():\n    a\n    b\n    c\n    d\n    return is_sm120()", [], id="long"
        ),
        pytest.param("def new(): return is_sm120() and new()", ["is_sm120()"], id="itself"),
        pytest.param("class new: pass", [], id="class"),
        pytest.param(
            "class A:\n    def new(self): return is_sm120()", ["is_sm120()"], id="a method"
        ),
    ],
)
def test_gates_behind_a_function_of_the_file(answer: str, gates: list[str]) -> None:
    assert gates_of(answer) == gates


@table(("steps", "is_found"), [(1, True), (5, True), (9, False)])
def test_names_of_names_are_followed_for_some_steps(steps: int, is_found: bool) -> None:
    names = "".join(f"    n{n} = n{n + 1}\n" for n in range(steps)) + f"    n{steps} = is_sm120()\n"
    before = f"def f():\n{names}    g()\n"
    found = sites(before, before.replace("    g()", "    if n0 and x:\n        n()\n    g()"))
    assert any(site.gates for site in found) is is_found


def test_a_choice_is_asked_about_where_it_changed() -> None:
    before = "def f():\n    n(a if is_sm120() else b,\n      c)\n"
    (site,) = sites(before, before.replace("      c)", "      c if is_sm121() else d)"))
    assert [gate.text for gate in site.gates] == ["is_sm121()"]


def test_a_class_that_is_new_is_one_site() -> None:
    (site,) = sites("x = 1\n", "x = 1\nclass A:\n    def f(self):\n        pass\n")
    assert (site.reach, site.symbol, site.line, site.last) == (Reach.ADDED, "A", 2, 4)


def test_hunks_of_the_caller_are_kept_to() -> None:
    texts = (b"a()\na()\n", b"a()\na()\na()\n")
    lines = [
        Judge(WORDS)(Texts("a.py", *texts, hunks))[0].line for hunks in (None, ((1, 0, 2, 1),))
    ]
    assert lines == [3, 2]


def test_a_text_that_is_nested_too_deep_is_shared() -> None:
    deep = "def f():\n    x" + ".y" * 3000 + "\n"
    assert {site.reach for site in sites(deep, deep.replace("x.y", "z.y"))} == {Reach.SHARED}
