"""The forms of Python that gates are looked for in, one by one."""

from __future__ import annotations

import ast

import pytest

from patchmgr.engines import gating_pieces
from patchmgr.engines.gating import Texts, gated_sites
from patchmgr.engines.gating_asked import Asked
from patchmgr.engines.gating_comparison import truth_of_comparison
from patchmgr.engines.gating_defaults import settings_defaults
from patchmgr.engines.gating_facts import held_names, is_boolean, single_assignments
from patchmgr.engines.gating_names import CAPABILITY, QUANTISATION, Kinds
from patchmgr.engines.gating_off import Off
from patchmgr.engines.gating_pieces import (
    head_of,
    is_addition,
    resolved,
    said,
    text_key,
)
from patchmgr.engines.gating_units import Piece, pieces_of, units_of
from patchmgr.model.gating import Reach

KINDS = Kinds.of({})


def statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def expression(text: str) -> ast.expr:
    node = statement(text)
    assert isinstance(node, ast.Expr)
    return node.value


def piece(text: str) -> Piece:
    return Piece(0, text, 1, 1, statement(text))


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("test", "kind", "truth"),
    [
        pytest.param("a == 120", CAPABILITY, False, id="equal"),
        pytest.param("a != 120", CAPABILITY, True, id="not equal"),
        pytest.param("0 < a < 3", CAPABILITY, None, id="two"),
        pytest.param("a is True", CAPABILITY, None, id="true"),
        pytest.param("a is None", CAPABILITY, None, id="none of another kind"),
        pytest.param("quant_config is None", QUANTISATION, True, id="none"),
        pytest.param("a == MODE", CAPABILITY, False, id="constant"),
        pytest.param("a == mode", CAPABILITY, None, id="variable"),
    ],
)
def test_a_comparison_with_something_fixed(test: str, kind: str, truth: bool | None) -> None:
    node = expression(test)
    assert isinstance(node, ast.Compare)
    assert truth_of_comparison(node, kind) is truth


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param("a = 1", ["a"], id="once"),
        pytest.param("a = 1\na = 2", [], id="twice"),
        pytest.param("a: int = 1", ["a"], id="annotated"),
        pytest.param("a: int", [], id="declared"),
        pytest.param("def f():\n    global a\na = 1", [], id="global"),
        pytest.param("a = 1\ndef a(): pass", [], id="function"),
        pytest.param("a = 1\ndef f(a): pass", [], id="argument of another"),
        pytest.param("a = 1\nimport a.b", [], id="import"),
        pytest.param("a = 1\ntry: pass\nexcept E as a: pass", [], id="exception"),
        pytest.param("a.b = 1\nc = d = 1", [], id="no name alone"),
        pytest.param("x = 1", [], id="own argument"),
    ],
)
def test_names_that_one_statement_alone_assigns(body: str, names: list[str]) -> None:
    assert list(single_assignments(ast.parse(body).body, frozenset({"x"}))) == names


def test_names_that_share_an_assignment_are_about_what_it_assigns() -> None:
    held = held_names(ast.parse("a, b.c, x = f()").body, frozenset({"x"}))
    assert {name: ast.unparse(value) for name, value in held.items()} == {"a": "f()"}


@pytest.mark.parametrize(
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
    assert [gate.text for gate in KINDS.gates(expression(test))] == gates


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("def f(): pass\ndef f(): pass", [("f", 0), ("f", 1)], id="one name"),
        pytest.param(
            "if a:\n    def f(): pass\nelse:\n    def g(): pass", [("f", 0), ("g", 0)], id="if"
        ),
        pytest.param(
            "try:\n    def f(): pass\nexcept E:\n    def g(): pass\nfinally:\n    def h(): pass",
            [("f", 0), ("g", 0), ("h", 0)],
            id="try",
        ),
        pytest.param(
            "with a:\n    class B:\n        def f(self): pass", [("B", 0), ("B.f", 0)], id="with"
        ),
        pytest.param("for a in b:\n    def f(): pass", [], id="for"),
    ],
)
def test_units_of_a_module(text: str, names: list[tuple[str, int]]) -> None:
    found = units_of(ast.parse(text), len(text.split("\n")))
    assert sorted((name, n) for name, n in found if name is not None) == names


def test_a_module_has_no_head() -> None:
    assert head_of(units_of(ast.parse("a = 1\n"), 1)[None, 0]) == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        pytest.param("'doc'\npass\na", ["0 a"], id="what nothing reads"),
        pytest.param("1", ["0 1"], id="a number"),
        pytest.param(
            "for a in b:\n    c\nelse:\n    d",
            ["0 for a in b:", "1 c", "0 orelse", "1 d"],
            id="for and else",
        ),
        pytest.param("f(a,\n  b)", ["0 f(a,\nb)"], id="more lines"),
    ],
)
def test_pieces_of_a_block(text: str, keys: list[str]) -> None:
    lines = text.split("\n")
    found = pieces_of(ast.parse(text).body, lambda node: text_key(node, lines, set()))
    assert [piece.dump for piece in found] == keys


@pytest.mark.parametrize(
    ("gone", "come", "is_new"),
    [
        pytest.param([], ["import a"], True, id="import"),
        pytest.param(["from a import b"], ["from a import b, c"], True, id="one more name"),
        pytest.param(["from a import b"], ["from a import c"], False, id="another name"),
        pytest.param([], ["a: int = 1"], True, id="annotated"),
        pytest.param([], ["a.b = 1"], False, id="attribute"),
        pytest.param([], ["a: int"], False, id="declared"),
        pytest.param([], ["f()"], False, id="call"),
        pytest.param(["f()"], ["a = 1"], False, id="call that goes"),
        pytest.param(["a = {1: 2}"], ["a = {1: 2, **b}"], True, id="table"),
    ],
)
def test_what_only_adds_names(gone: list[str], come: list[str], is_new: bool) -> None:
    assert is_addition(list(map(piece, come)), list(map(piece, gone))) is is_new


def test_an_else_says_nothing_by_itself() -> None:
    assert said(None) == frozenset()


@pytest.mark.parametrize(
    ("body", "left"),
    [
        pytest.param("ok = bool(is_sm120())\nif ok: n()", "", id="bool"),
        pytest.param("a = -1\nif is_sm120(): n(a)", "", id="dead number"),
        pytest.param("a = len(b)\nif is_sm120(): n(a)", "", id="dead length"),
        pytest.param("a = f()\nif is_sm120(): n(a)", "a = f()", id="dead call"),
        pytest.param("a = [f()]\nif is_sm120(): n(a)", "a = [f()]", id="dead list"),
        pytest.param("global a\na = 1", "global a\na = 1", id="global"),
        pytest.param("a = 1\nn(locals())", "a = 1\nn(locals())", id="locals"),
        pytest.param("def h():\n    if is_sm120(): n()", "def h():\n    pass", id="inner function"),
        pytest.param(
            "try:\n    m()\nexcept E:\n    if is_sm120(): n()",
            "try:\n    m()\nexcept E:\n    pass",
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
def test_a_function_with_all_gates_off(body: str, left: str) -> None:
    kept = Off(KINDS, {}).block(ast.parse(body).body, frozenset())
    assert "\n".join(map(ast.unparse, kept)) == left


def test_the_names_of_a_module_are_for_others_to_read() -> None:
    body = ast.parse("a = 1\nif is_sm120(): b = 1").body
    kept = Off(KINDS, {}, is_function=False).block(body, frozenset())
    assert list(map(ast.unparse, kept)) == ["a = 1"]


@pytest.mark.parametrize(
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
    ],
)
def test_gates_behind_a_function_of_the_file(answer: str, gates: list[str]) -> None:
    asked = Asked(KINDS, units_of(ast.parse(answer), 9))
    assert [gate.text for gate in asked.of(expression("new()"), {})] == gates


def test_gates_behind_a_method_of_the_file() -> None:
    text = "class A:\n    def new(self): return is_sm120()\n"
    asked = Asked(KINDS, units_of(ast.parse(text), 2))
    assert [gate.text for gate in asked.of(expression("self.new()"), {})] == ["is_sm120()"]


def test_names_of_names_are_followed_for_some_steps() -> None:
    facts = {f"n{i}": expression(f"n{i + 1}") for i in range(9)} | {"n9": expression("is_sm120()")}
    units = units_of(ast.parse(""), 0)
    found = [len(Asked(KINDS, units).of(expression(f"n{i}"), facts)) for i in (9, 5, 0)]
    assert found == [1, 1, 0]
    assert ast.unparse(resolved(expression("n0"), facts)) == "n4"


def test_a_choice_is_asked_about_where_it_changed() -> None:
    node = statement("n(a if is_sm120() else b,\n  c if is_sm121() else d)")
    assert [ast.unparse(test) for test in gating_pieces.tests_in(node, {2})] == ["is_sm121()"]


def test_a_class_that_is_new_is_one_site() -> None:
    after = "x = 1\nclass A:\n    def f(self):\n        pass\n"
    (site,) = gated_sites(Texts("a.py", b"x = 1\n", after.encode()), KINDS, {})
    assert (site.reach, site.symbol, site.line, site.last) == (Reach.ADDED, "A", 2, 4)


def test_hunks_of_the_caller_are_kept_to() -> None:
    texts = (b"a()\na()\n", b"a()\na()\na()\n")
    lines = [
        gated_sites(Texts("a.py", *texts, hunks), KINDS, {})[0].line
        for hunks in (None, ((1, 0, 2, 1),))
    ]
    assert lines == [3, 2]
