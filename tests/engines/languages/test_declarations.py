"""The declarations of a C++ file, which do not depend on the bodies of its functions."""

from patchmgr.engines.languages.cxx_declarations import read_cxx, read_declarations
from tests.tables import table


@table(
    ("text", "names"),
    {
        "function": ("int f(int a) { g(a); if (a) { h(); } }\nint k;\n", "f k"),
        "qualifiers": ("struct S { int f() const noexcept { g(1); } int m; };", "S f m"),
        "struct-returned": ("struct t * f(struct t * a) { struct u { int x; }; }\nint k;\n", "f k"),
        "enum-returned": ("enum t f(int a) { g(a); }\nint h(void) { }\nint k;\n", "f h k"),
        "branches": ("void f() {\n#if A\nif (a) {\n#else\nif (b) {\n#endif\n}}\nint k;\n", "f k"),
        "first-branch": ("void f() {\n#if A\nif (a) {\n#else\n{{\n#endif\n}}\nint k;\n", "f k"),
        "attribute": ("struct __attribute__((packed)) S { int m; };\nint k;\n", "S m k"),
        "template": ("template <class T = decltype(g(1))> struct S { T m; };\nint k;\n", "S m k"),
        "initializers": ("struct S { S(int a) : m{a}, n(a) { g(); } int m, n; };", "S S m n"),
        "in-parentheses": ("int f(T a = {1}) { g(); }\nauto k = ([] { return 1; })();\n", "f k"),
        "namespace": ("namespace a { void f() { g(); }\nint k; }\n", "a f k"),
        "macro": ("API(int) f(int a);\nSTATIC(f)\nint k;\n", "f k"),
        "values": ("enum e { a, b = 2 };\nconst enum e m[] = { a, b };\nint k;\n", "e a b m k"),
        "typedef": ("typedef struct { int a; } s, *p;\ntypedef int f(int);\nint k;\n", "s p f k"),
        "cut-head": ("#if A\nint f(int a)\n#else\nint g(int a)\n#endif\n{ }\nint k;\n", "f g k"),
        "label": ("struct S { MACRO\npublic: S() { } int m; };\nint k;\n", "S m k"),
        "extern": ('extern "C" {\nvoid f(void) { g(); }\nint k;\n}\n', "f k"),
    },
)  # fmt: skip
def test_declarations_do_not_depend_on_function_bodies(text: str, names: str) -> None:
    found = read_declarations(text.encode())
    assert found == read_cxx(text.encode()).declarations
    assert {one.name for one in found} >= set(names.split())


@table(
    ("text", "kinds"),
    {
        "a-type-of-its-own": ("typedef struct { int a; } s;", {"s": "type", "a": "variable"}),
        "a-variable": ("static const enum e m[] = { a, b };", {"m": "variable"}),
        "neither-a-destructor": ("struct S { ~S(); };", {"S": "type"}),
        "nor-a-type-argument": ("std::function<T(int)> m;", {"m": "variable"}),
        "nor-a-macro": ("class C { MACRO(C)\npublic: int m; };", {"C": "type", "m": "variable"}),
    },
)  # fmt: skip
def test_what_a_statement_declares(text: str, kinds: dict[str, str]) -> None:
    assert {one.name: one.kind for one in read_declarations(text.encode())} == kinds


def test_parameters_that_depend_on_the_preprocessor_are_unknown() -> None:
    (found,) = read_declarations(b"int f(int a\n#if A\n, int b\n#else\n, long b\n#endif\n);\n")
    assert (found.name, found.parameters) == ("f", None)
