"""The symbol around each line.

In `symbols.txt`, what stands behind the bar at the end of a line is the expected symbol of that
line; a line without one has none.
"""

import ast
import time
from pathlib import Path

import patchmgr
from patchmgr.engines.languages.symbols import SymbolIndex, enclosing_symbol
from tests.cases import sections
from tests.long import LONG
from tests.tables import table


def check(path: str, annotated: str) -> None:
    lines = [line.partition(" ¦ ") for line in annotated.strip("\n").split("\n")]
    content = "\n".join(source.rstrip(" ") for source, _, _ in lines).encode()
    index = SymbolIndex(path, content)
    found = [index.at(number) for number in range(1, len(lines) + 1)]
    assert found == [expected.strip() or None for _, _, expected in lines]


SOURCES = sections(Path(__file__).with_name("symbols.txt"))


@table(("title", "annotated"), SOURCES.items())
def test_each_line_has_its_symbol(title: str, annotated: str) -> None:
    check(title.partition(":")[0], annotated)


def test_a_byte_order_mark_and_cr_lf_do_not_change_symbols() -> None:
    lines = ["def f():", "    '''a", "    '''", "", "    # b", "    return 1 + \\", "2", "x"]
    index = SymbolIndex("a.py", b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert [index.at(line) for line in range(1, 9)] == ["f"] * 7 + [None]


def test_a_name_keeps_bytes_that_are_not_utf_8() -> None:
    assert enclosing_symbol("a.py", b"def f\xff(): pass\n", 1) == "f\udcff"


def test_python_symbols_are_those_of_the_syntax_tree() -> None:
    for path in sorted(Path(patchmgr.__file__).parent.rglob("*.py"))[:: 1 if LONG else 8]:
        content = path.read_bytes()
        index = SymbolIndex(path.name, content)
        for line, expected in _parsed_symbols(content).items():
            assert index.at(line) == expected, f"{path}:{line}"


def _parsed_symbols(content: bytes) -> dict[int, str | None]:
    """Return the symbol of each line that starts a statement, by `ast`."""
    found: dict[int, str | None] = {}

    def walk(node: ast.AST, outer: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = child.name if outer is None else f"{outer}.{child.name}"
                found.update((d.lineno, name) for d in child.decorator_list)
            if isinstance(child, ast.stmt):
                found[child.lineno] = name
            walk(child, name)

    walk(ast.parse(content), None)
    return found


@table("path", ["a.c", "a.cc", "a.h", "a.cuh", "a.hip", "a.cu"])
def test_all_languages_of_the_c_family_have_symbols(path: str) -> None:
    assert enclosing_symbol(path, b"int f() {\r\n return 1;\r\n}\r\n", 2) == "f"


@table(
    ("path", "source"),
    {
        "an open bracket": ("a.py", "def f():\n    x = (1\n"),
        "a closed bracket": ("a.py", "def f():\n    x = 1)\n"),
        "an open string": ("a.py", "def f():\n    x = '''a\n"),
        "a lone quote": ("a.py", "def f(): '\n"),
        "an open comment at the end": ("a.cu", "void f() {\n}\n/* and so on\n"),
        "braces that do not match": ("a.cu", "void f() {\n}\n}\n"),
        "a file that stops within a body": ("a.cu", "void f() {\n}\nvoid g() {\n"),
        "brackets that do not match": ("a.cu", "void f(int x] {\n}\n"),
        "a bracket that closes nothing": ("a.cu", ")\nvoid f() {\n}\n"),
        "an #else without an #if": ("a.cu", "void f() {\n}\n#else\n"),
        "an #endif without an #if": ("a.cu", "void f() {\n}\n#endif\n"),
        "an #if without an #endif": ("a.cu", "#if A\nvoid f() {\n}\n"),
        "open angles": ("a.cu", "template <int N, bool = (N < 3\nstruct S {\n};\n"),
        "a head that is all angles": ("a.cu", "template <int N\nstruct S {\n};\n> > > (x) {\n}\n"),
        "a declaration without end": ("a.cc", "void f() {}\n" + "a " * 10_000),
        "an open body": ("a.rs", "fn f() {"),
        "a brace too many": ("a.rs", "fn f() {}\n}"),
        "an open comment": ("a.rs", "/* fn f() {}"),
        "an open string of Rust": ("a.rs", 'fn f() { "'),
        "deep nesting": ("a.rs", "{" * 101 + "}" * 101),
    },
)
def test_unbalanced_code_has_no_symbols(path: str, source: str) -> None:
    index = SymbolIndex(path, source.encode())
    assert {index.at(line) for line in range(1, source.count("\n") + 2)} == {None}
    assert index.names == frozenset()


@table("path", ["a.java", "a.md", "a", "Dockerfile"])
def test_other_languages_have_no_symbols(path: str) -> None:
    assert enclosing_symbol(path, b"def f(): pass\n", 1) is None


def test_a_script_without_suffix_is_recognized_by_its_shebang() -> None:
    assert enclosing_symbol("run", b"#!/usr/bin/python3\ndef f(): pass\n", 2) == "f"


@table("line", [-1, 0, 3, 99])
def test_a_line_outside_of_the_file_has_no_symbol(line: int) -> None:
    assert enclosing_symbol("a.py", b"def f():\n    pass", line) is None


def test_names_are_all_symbols_of_the_file() -> None:
    index = SymbolIndex("a.py", b"class A:\n    def f(self): pass\nx = 1\n")
    assert index.names == {"A", "A.f"}
    assert index.names is index.names


@table(
    ("path", "content"),
    [
        ("a.py", b'"' * 25_001),
        ("a.py", b"'''\\" * 25_000),
        ("a.py", b"(" * 50_000),
        ("a.py", b"def f():\n" * 10_000),
        ("a.py", b"#" * 250_000),
        ("a.cc", b"{" * 50_000),
        ("a.cc", b"(" * 50_000),
        ("a.cc", b"a<" * 2_000 + b"{"),
        ("a.cc", b"#if A\n" * 10_000),
        ("a.cc", b"/*" * 50_000),
        ("a.cc", b"struct A { void f() { } " * 2_500),
        ("a.cc", b'R"' * 25_000),
        ("a.rs", b"fn f() {" * 10_000),
        ("a.rs", b"(;" * 50_000),
        ("a.rs", b"impl<" * 10_000 + b"{"),
        ("a.rs", b"/*" * 50_000),
        ("a.rs", b"r#" * 25_000),
        ("a.go", b"func (" * 10_000 + b"{}"),
        ("a.go", b"type a\n" * 25_000 + b"{"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value[:8]),
)
def test_hostile_sources_are_read_quickly(path: str, content: bytes) -> None:
    start = time.process_time()
    SymbolIndex(path, content).at(1)
    assert time.process_time() - start < 5
