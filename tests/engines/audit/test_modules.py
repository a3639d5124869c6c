"""Tests of modules whose definitions are parsed as they are asked for."""

import ast

from patchmgr.engines.audit.python_modules import Module, read_module
from tests.tables import table

TEXT = (
    "import a.b\nfrom c import d as e, f\nfrom g import *\n\n"
    "if f:\n    def h(): pass\nelse:\n    h = e\n\n"
    "@overload\ndef i(x: int): ...\n@f.overload\ndef i(x: str): ...\ndef i(x):\n    global j\n\n"
    "@k\nasync def l():\n    '''\ndef m(): pass\n'''\n    return n\n\n"
    "class O(p):\n    '''Say global q.'''\n    r = 1\nclass O: pass\ns, t = u"
)
BROKEN = "def f():\n    x = = 1\ndef g(): pass\n"


def read(text: str) -> Module:
    module = read_module("m.py", text)
    assert module is not None
    return module


def test_a_module_binds_what_its_tree_does() -> None:
    module, tree = read(TEXT), ast.parse(TEXT)
    assert module.bound == set("*aefhijlOst")
    assert module.imports == {"a": ("a", ""), "e": ("c", "d"), "f": ("c", "f")}
    assert (module.stars, module.is_open) == (("g",), False)
    assert {name: n for name, n in module.counts.items() if n > 1} == {"h": 2, "O": 2}
    dumped = [ast.dump(node, include_attributes=True) for node in tree.body]
    every = module.statements_on(range(1, TEXT.count("\n") + 2))
    assert [ast.dump(node, include_attributes=True) for node in every] == dumped
    assert ast.dump(module.node, include_attributes=True) == ast.dump(tree, include_attributes=True)


@table(
    ("text", "name", "line"),
    {
        "decorated": (TEXT, "l", 18),
        "after-overloads": (TEXT, "i", 14),
        "in-a-text": (TEXT, "m", None),
        "below-what-does-not-parse": (BROKEN, "g", 3),
        "does-not-parse": (BROKEN, "f", None),
    },
)  # fmt: skip
def test_a_definition_is_read_by_its_name(text: str, name: str, line: int | None) -> None:
    assert getattr(read(text).member(name), "lineno", None) == line


def test_a_module_whose_other_statements_do_not_parse_is_not_read() -> None:
    assert read_module("m.py", "def f(): pass\nx = = 1\n") is None
