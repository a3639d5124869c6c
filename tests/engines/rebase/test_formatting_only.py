"""What differs in format alone."""

from __future__ import annotations

from patchmgr.engines.rebase.formatting import is_same_cxx, is_same_python, notation_of
from patchmgr.engines.structure.python_tree import compiles
from tests.tables import table


@table(
    ("one", "other", "is_same"),
    {
        "quotes-and-commas": ("x = {'a':1}\n", 'x = {\n    "a": 1,\n}\n', True),
        "a-comment-with-other-spaces": ("x=1 #why\n", "x = 1  # why\n", True),
        "a-comment-lost": ("x=1 # why\n", "x = 1\n", False),
        "a-comment-reworded": ("x=1 # why\n", "x = 1  # who\n", False),
        "a-prefix-without-meaning": ("x = u'a'\n", 'x = "a"\n', True),
        "a-prefix-with-meaning": ("x = b'a'\n", 'x = "a"\n', False),
        "brackets-of-del": ("del (a, b)\n", "del a, b\n", True),
        "joined-strings": ("x = ('a' 'b')\n", 'x = "ab"\n', True),
        "a-docstring-laid-out": ("def f():\n  '''A.\n  B.'''\n", 'def f():\n    """A.\n    B."""\n',
            True),
        "reworded": ("def f():\n  '''A.'''\n", 'def f():\n    """B."""\n', False),
        "white-space-in-a-string": ("x = ' a'\n", "x = 'a'\n", False),
        "imports-sorted": ("import b\nimport a\n", "import a\nimport b\n", False),
        "indented": ("if a:\n  b\nc\n", "if a:\n    b\n    c\n", False),
        "no-python": ("x = (\n", "x = (\n\n", False),
        "no-python-any-more": ("x = 1\n", "x = (\n", False),
        "a-body-that-is-no-text": ("def f(): ...\n", "def f():\n    ...\n", True),
        "too-long": ("x = a" + "+a" * 1500, "x = a" + " + a" * 1500, False),
        "too-deep": ("x = (" * 300, "x = ( " * 300, False),
    },
)  # fmt: skip
def test_python(one: str, other: str, is_same: bool) -> None:
    assert is_same_python(one.encode(), other.encode()) is is_same
    assert is_same_python(one.encode(), one.encode())


def test_a_compared_text_can_still_be_compiled() -> None:
    assert is_same_python(b'"""A."""\n', b'"""A.\n"""\n')
    assert compiles('"""A."""\n')


@table(
    ("one", "other", "is_same"),
    {
        "spaces": ("int  x=1 ;", "int x = 1;\n", True),
        "lines": ("f(a,b);", "f(a,\n  b);", True),
        "a-macro": ("#define A(x)   \\\n  x\n", "#define A(x) \\\n x\n", True),
        "a-directive": ("# include <a>\n", "#include <a>\n", True),
        "includes-sorted": ("#include <b>\n#include <a>\n", "#include <a>\n#include <b>\n", False),
        "comment-flow": ("// one two\n// three\n", "// one\n// two three\n", True),
        "a-comment-lost": ("// one two\n", "// one\n", False),
        "the-end-of-a-namespace": ("namespace a {\n}\n", "namespace a {\n}  // namespace a\n",
            True),
        "a-string-broken": ('f("a b");', 'f("a" " b");', False),
        "braces": ("if (a) b;", "if (a) { b; }", False),
    },
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


@table(
    ("merged", "is_sound"),
    {
        "both": ("{z}{u}{f}", True),
        "a-function-twice": ("{z}{u}{u}{f}", False),
        "a-brace-too-many": ("{z}{u}{f}}}\n", False),
        "an-open-branch": ("{z}{u}{f}#if A\n", False),
    },
)
def test_a_merge_of_cxx_has_each_definition_once(merged: str, is_sound: bool) -> None:
    names = {name: f"void {name}() {{\n  one();\n}}\n\n" for name in "zuf"}
    base, ours, theirs = (text.format(**names).encode() for text in ("{z}", "{z}{u}", "{z}{u}{f}"))
    notation = notation_of("a.cu")
    assert notation is not None
    assert notation.is_sound(merged.format(**names).encode(), base, ours, theirs) is is_sound
