"""The forms of Python that gates are looked for in, one by one."""

import ast

from patchmgr.commands.report import words_of
from patchmgr.engines.hardware_gates.conditions import GateFinder, is_boolean
from patchmgr.engines.hardware_gates.defaults import Defaults, settings_defaults
from patchmgr.engines.hardware_gates.python import left
from patchmgr.engines.hardware_gates.sites import PinAndHead
from patchmgr.engines.report.review import Judge
from patchmgr.model.footprint import ChangedSite, Reach
from tests.tables import table

WORDS = words_of("", {})
CONDITIONS = GateFinder(WORDS, Defaults())


def sites(before: str, after: str) -> tuple[ChangedSite, ...]:
    return Judge(WORDS)(PinAndHead("a.py", before.encode(), after.encode()))


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@table(
    ("value", "default"),
    {
        "or": ('os.getenv("A") or "b"', ["b"]),
        "or nothing": ('os.getenv("A") or ""', [""]),
        "and": ('"a" and os.getenv("A")', [None]),
        "not": ('not os.getenv("A")', [True]),
        "else": ('"a" if os.getenv("A") else "b"', ["b"]),
        "method": ('os.getenv("A", "X").lower()', ["x"]),
        "method of no text": ("(1).lower()", []),
        "unknown function": ("f(1)", []),
        "no number": ('int("a")', []),
        "name": ("a", []),
    },
)
def test_defaults_are_what_holds_with_nothing_set(value: str, default: list[object]) -> None:
    table = f'{{"A": lambda: {value}, "B": 1, **c}}\n'.encode()
    assert list(settings_defaults([b"(", table]).values()) == default


@table(
    ("test", "truth"),
    {
        "equal": ("arch == 120", False),
        "not equal": ("arch != 120", True),
        "two": ("0 < arch < 3", None),
        "true": ("arch is True", None),
        "none of another kind": ("arch is None", None),
        "none": ("quant_config is None", True),
        "constant": ("arch == MODE", False),
        "variable": ("arch == mode", None),
    },
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
    {
        "subscript": ("quant_config['a']", ["quant_config['a']"]),
        "walrus": ("(q := is_sm120())", ["(q := is_sm120())"]),
        "bool": ("bool(is_sm120() and n)", ["is_sm120()"]),
        "not not": ("not not is_sm120()", ["is_sm120()"]),
        "sum": ("n + 1", []),
        "list": ("[n]", []),
    },
)
def test_gates_of_an_expression(test: str, gates: list[str]) -> None:
    assert [gate.text for gate in CONDITIONS.gates(expression(test))] == gates


@table(
    ("before", "after", "names"),
    {
        "one name": ("def f(): pass\ndef f(): pass", "def f(): a\ndef f(): b", ["f", "f"]),
        "if": ("if a:\n    def f(): b\nelse:\n    def g(): b",
            "if a:\n    def f(): c\nelse:\n    def g(): c", ["f", "g"]),
        "try": ("try:\n    def f(): b\nexcept E:\n    def g(): b\nfinally:\n    def h(): b",
            "try:\n    def f(): c\nexcept E:\n    def g(): c\nfinally:\n    def h(): c",
            ["f", "g", "h"]),
        "with": ("with a:\n    class B:\n        def f(self): b",
            "with a:\n    class B:\n        def f(self): c", ["B.f"]),
    },
)  # fmt: skip
def test_a_site_names_its_function(before: str, after: str, names: list[str]) -> None:
    assert [site.symbol for site in sites(before, after)] == names


def test_a_form_feed_ends_no_line() -> None:
    before = "\f\n\f\ndef f():\n    a()\n    return b\n"
    assert [site.text for site in sites(before, before.replace("b\n", "c\n"))] == ["return c"]


@table(
    ("before", "after", "is_new"),
    {
        "import": ("", "import a", True),
        "one more name": ("from a import b", "from a import b, c", True),
        "another name": ("from a import b", "from a import c", False),
        "annotated": ("", "a: int = 1", True),
        "attribute": ("", "a.b = 1", False),
        "declared": ("", "a: int", False),
        "call": ("", "f()", False),
        "call that goes": ("f()", "a = 1", False),
        "table": ("a = {1: 2}", "a = {1: 2, **b}", True),
    },
)
def test_what_only_adds_names(before: str, after: str, is_new: bool) -> None:
    (site,) = sites(before, after)
    assert (site.reach is Reach.ADDED) is is_new


@table(
    ("body", "left_over"),
    {
        "bool": ("ok = bool(is_sm120())\nif ok: n()", ""),
        "dead number": ("a = -1\nif is_sm120(): n(a)", ""),
        "dead length": ("a = len(b)\nif is_sm120(): n(a)", ""),
        "dead call": ("a = f()\nif is_sm120(): n(a)", "a = f()"),
        "dead list": ("a = [f()]\nif is_sm120(): n(a)", "a = [f()]"),
        "global": ("global a\na = 1", "global a\na = 1"),
        "locals": ("a = 1\nn(locals())", "a = 1\nn(locals())"),
        "inner function": ("def h():\n    if is_sm120(): n()", "def h():"),
        "handler": ("try:\n    m()\nexcept E:\n    if is_sm120(): n()", "try:\n    m()\nexcept E:"),
        "choice without a gate": ("n(a if b else c)", "n(a if b else c)"),
        "choice of a gate": ("n(a if is_sm120() else c)", "n(c)"),
        "name of a gate": ("y = is_sm120()\nwhile y: n()", "while False:\n    n()"),
        "one gate of two": ("while is_sm120() or f(): n()", "while f():\n    n()"),
        "two gates": ("while is_sm120() or is_sm121(): n()", "while False:\n    n()"),
        "names of names": ("a = 1\nb = a\nc = b\nd = c", ""),
        "more names of names": ("a = 1\nb = a\nc = b\nd = c\ne = d", "a = 1"),
    },
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
    {
        "answer": ("def new(): return is_sm120()", ["is_sm120()"]),
        "if": ("def new():\n    if is_sm120(): return 1\n    return", ["is_sm120()"]),
        "long": ("def new():\n    a\n    b\n    c\n    d\n    return is_sm120()", []),
        "itself": ("def new(): return is_sm120() and new()", ["is_sm120()"]),
        "class": ("class new: pass", []),
        "a method": ("class A:\n    def new(self): return is_sm120()", ["is_sm120()"]),
    },
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
        Judge(WORDS)(PinAndHead("a.py", *texts, hunks))[0].line for hunks in (None, ((1, 0, 2, 1),))
    ]
    assert lines == [3, 2]


def test_a_text_that_is_nested_too_deep_is_shared() -> None:
    deep = "def f():\n    x" + ".y" * 3000 + "\n"
    assert {site.reach for site in sites(deep, deep.replace("x.y", "z.y"))} == {Reach.SHARED}
