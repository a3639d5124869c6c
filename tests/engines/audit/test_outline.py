"""Tests of the names that may mean something else, told from the texts of modules."""

import pytest

from patchmgr.engines.audit.outline import altered, blocks, lost_names
from tests.tables import table

CLASS = (
    "class C:\n    size: int\n\n    def get(self):\n        return 1\n\n"
    "    def put(self, x):\n        self.x = make(x)\n"
)
INIT = "class C:\n    def __init__(self, a):\n        pass\n"
USER = "class D:\n    def a(self):\n        f()\n\n    def b(self):\n        g()\n"


@table(
    ("old", "new", "names", "types"),
    [
        pytest.param("def f(a):\n    g(a)\n", "def f(a):\n    g(a)\n", "", "", id="same"),
        pytest.param("def f(a):\n    g(a)\n", "def f(a):\n    h(a)\n", "f", "", id="body"),
        pytest.param("def f(a):\n    g(a)\n", "def f(a, b):\n    g(a)\n", "f", "f", id="head"),
        pytest.param("def f(\n  a,\n):\n  g\n", "def f(\n  b,\n):\n  g\n", "f", "f", id="lines"),
        pytest.param("def f():\n    pass\n", "", "f", "", id="gone"),
        pytest.param("x = 1\n", "x = 2\n", "x", "", id="value"),
        pytest.param("x = f()\n", "x = g()\n", "x", "x", id="made"),
        pytest.param("T = {'a': 1}\n", "T = {'b': 1}\n", "T a b", "", id="table"),
        pytest.param("from m import a\n", "from m import b\n", "m a b", "m a b", id="import"),
        pytest.param("from os import a\n", "from os import b\n", "", "", id="import-of-python"),
        pytest.param('"""Old."""\n', '"""New."""\n', "", "", id="docstring"),
        pytest.param(CLASS, CLASS.replace("size: int", "size: str"), "C size", "", id="field"),
        pytest.param(CLASS, CLASS.replace("return 1", "return 2"), "get", "", id="member"),
        pytest.param(CLASS, CLASS.replace("make(", "give("), "put x", "x", id="attribute"),
        pytest.param(CLASS, CLASS.replace("C:", "C(B):"), "C", "C", id="bases"),
        pytest.param(CLASS, CLASS.replace("put", "__init__"), "C __init__ put x", "C x", id="made"),
        pytest.param("x = '''\ndef f\n'''\n", "x = '''\ndef g\n'''\n", "x", "", id="text"),
    ],
)  # fmt: skip
def test_blocks_that_differ_give_the_names(old: str, new: str, names: str, types: str) -> None:
    found = altered([(old, new)])
    assert (found.names, found.types) == (set(names.split()), set(types.split()))


@table(
    ("old", "new", "lost"),
    {
        "body": ("def f(a):\n    g(a)\n", "def f(a):\n    h(a)\n", ""),
        "decorator": ("def f(a): g(a)\n", "@d\ndef f(a): g(a)\n", "f"),
        "kind": ("def f(a): g(a)\n", "f = g\n", "f"),
        "new": ("def g(a): pass\n", "def f(a): pass\ndef g(a): pass\n", ""),
        "value": ("import a\nx = 1\ny = 2\n", "x = 3\n", "x y"),
        "condition": ("if a:\n    x = 1\n", "if a:\n    y = 1\n", "x"),
        "docstring": ('"""Old."""\n', "", ""),
        "field-to-give": (CLASS, CLASS.replace("size: int", "size: str"), "C size"),
        "attribute": (CLASS, CLASS.replace("self.x", "self.y"), "x"),
        "made-otherwise": (INIT, INIT.replace("a)", "a, b)"), "C"),
    },
)  # fmt: skip
def test_what_is_gone_or_has_another_head_is_lost(old: str, new: str, lost: str) -> None:
    assert lost_names(old, new) == set(lost.split())


@table(
    ("user", "lines"),
    {
        "by-name": ("f()\n\n\ndef h():\n    g()\n", {1, 2, 3, 4}),
        "by-alias": ("from m import f as g\n\n\ng()\nh()\n", {1, 2, 3, 4, 5}),
        "class": ("class D(f):\n    def a(self):\n        return 1\n", {1, 2, 3, 4}),
        "member": (USER, {2, 3, 4, 5}),
        "last": (USER.replace("f()", "h()").replace("g()", "f()"), {5, 6, 7}),
        "type-in-a-member": (USER.replace("f()", "t()"), {1, 2, 3, 4, 5, 6, 7}),
    },
)  # fmt: skip
def test_lines_are_of_the_parts_that_say_a_name(user: str, lines: set[int]) -> None:
    names = altered([("def f():\n    pass\n\n\nt = a()\n", "t = b()\n")], [user])
    assert set(names.suspects_in(user, set(range(1, 9))).lines) == lines


def test_blocks_hold_their_decorators_and_what_goes_on() -> None:
    text = "import a\n\n@b\ndef c():\n    d\nif e:\n    f\nelse:\n    g\n'''\nh\n'''\n"
    assert [first for first, _ in blocks(text)] == [1, 3, 6, 10]
    assert "".join(block for _, block in blocks(text)) == text


@table(
    ("text", "firsts"),
    {
        "brackets": ("x = [\n1,\n]\ny = 2\n", [1, 4]),
        "backslash": ("x = '(' + \\\ny\nz = 1\n", [1, 3]),
        "text-and-comment": ("def f():\n    '''\nx = (\n'''\n# )\ny = 1\n", [1, 6]),
        "decorators": ("@a(\n    b,\n)\n# c\n@d\ndef f(): pass\nx = 1\n", [1, 7]),
    },
)  # fmt: skip
def test_blocks_hold_whole_statements(text: str, firsts: list[int]) -> None:
    assert [first for first, _ in blocks(text)] == firsts
    assert "".join(block for _, block in blocks(text)) == text
