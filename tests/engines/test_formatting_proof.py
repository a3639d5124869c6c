"""What differs in format alone."""

from __future__ import annotations

import pytest

from patchmgr.engines.rebase.formatting import is_same_cxx, is_same_python, notation_of
from tests.tables import table


@table(
    ("one", "other", "is_same"),
    [
        pytest.param("x = {'a':1}\n", 'x = {\n    "a": 1,\n}\n', True, id="quotes-and-commas"),
        pytest.param("x=1 #why\n", "x = 1  # why\n", True, id="a-comment-with-other-spaces"),
        pytest.param("x=1 # why\n", "x = 1\n", False, id="a-comment-lost"),
        pytest.param("x=1 # why\n", "x = 1  # who\n", False, id="a-comment-reworded"),
        pytest.param("x = u'a'\n", 'x = "a"\n', True, id="a-prefix-without-meaning"),
        pytest.param("x = b'a'\n", 'x = "a"\n', False, id="a-prefix-with-meaning"),
        pytest.param("del (a, b)\n", "del a, b\n", True, id="brackets-of-del"),
        pytest.param("x = ('a' 'b')\n", 'x = "ab"\n', True, id="joined-strings"),
        pytest.param("def f():\n  '''A.\n  B.'''\n", 'def f():\n    """A.\n    B."""\n', True,
                     id="a-docstring-laid-out"),
        pytest.param("def f():\n  '''A.'''\n", 'def f():\n    """B."""\n', False, id="reworded"),
        pytest.param("x = ' a'\n", "x = 'a'\n", False, id="white-space-in-a-string"),
        pytest.param("import b\nimport a\n", "import a\nimport b\n", False, id="imports-sorted"),
        pytest.param("if a:\n  b\nc\n", "if a:\n    b\n    c\n", False, id="indented"),
        pytest.param("x = (\n", "x = (\n\n", False, id="no-python"),
        pytest.param("x = 1\n", "x = (\n", False, id="no-python-any-more"),
        pytest.param("def f(): ...\n", "def f():\n    ...\n", True, id="a-body-that-is-no-text"),
        pytest.param("x = a" + "+a" * 1500, "x = a" + " + a" * 1500, False, id="too-long"),
        pytest.param("x = (" * 300, "x = ( " * 300, False, id="too-deep"),
    ],
)  # fmt: skip
def test_python(one: str, other: str, is_same: bool) -> None:
    assert is_same_python(one.encode(), other.encode()) is is_same
    assert is_same_python(one.encode(), one.encode())


@table(
    ("one", "other", "is_same"),
    [
        pytest.param("int  x=1 ;", "int x = 1;\n", True, id="spaces"),
        pytest.param("f(a,b);", "f(a,\n  b);", True, id="lines"),
        pytest.param("#define A(x)   \\\n  x\n", "#define A(x) \\\n x\n", True, id="a-macro"),
        pytest.param("# include <a>\n", "#include <a>\n", True, id="a-directive"),
        pytest.param("#include <b>\n#include <a>\n", "#include <a>\n#include <b>\n", False,
                     id="includes-sorted"),
        pytest.param("// one two\n// three\n", "// one\n// two three\n", True, id="comment-flow"),
        pytest.param("// one two\n", "// one\n", False, id="a-comment-lost"),
        pytest.param("namespace a {\n}\n", "namespace a {\n}  // namespace a\n", True,
                     id="the-end-of-a-namespace"),
        pytest.param('f("a b");', 'f("a" " b");', False, id="a-string-broken"),
        pytest.param("if (a) b;", "if (a) { b; }", False, id="braces"),
    ],
)  # fmt: skip
def test_cxx(one: str, other: str, is_same: bool) -> None:
    assert is_same_cxx(one.encode(), other.encode()) is is_same


@table(
    ("path", "is_known"),
    [("a.py", True), ("a.pyi", True), ("a.cu", True), ("a.h", True), ("a.md", False), ("", False)],
)
def test_the_language_is_told_by_the_name(path: str, is_known: bool) -> None:
    assert (notation_of(path) is not None) is is_known


@table(
    ("merged", "is_sound"),
    [(b"def f(a, b): ...\n", True), (b"def f(a, a): ...\n", False), (b"return\n", False)],
)
def test_a_merge_that_does_not_compile_is_not_sound(merged: bytes, is_sound: bool) -> None:
    notation = notation_of("a.py")
    assert notation is not None
    sides = (b"def f(a): ...\n", b"def f(a, b): ...\n", b"def f(a): ...\n")
    assert notation.is_sound(merged, *sides) is is_sound
