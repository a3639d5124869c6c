from __future__ import annotations

import pytest

from patchmgr.engines.structure.cxx_inserts import commute_in_cxx
from patchmgr.engines.structure.cxx_items import items_of
from patchmgr.engines.structure.text_rules import Insertions
from patchmgr.engines.structure.tokens import Token, tokens_of
from tests.tables import table


def split(text: str) -> tuple[Token, ...]:
    return tokens_of(text)[:-1]


WHOLE = [
    pytest.param("int a = 1; // one\nint b;", [{"a"}, {"b"}], id="variables"),
    pytest.param("void f(int a) { return; }", [{"f"}], id="a function"),
    pytest.param("at::Tensor* g();", [{"g"}], id="a pointer"),
    pytest.param("auto f = [](int a) { return a; };", [{"f"}], id="a lambda"),
    pytest.param("template <typename T>\nvoid f(T a);", [{"f"}], id="a template"),
    pytest.param("map<int, vector<int>> m;", [{"m"}], id="template arguments"),
    pytest.param("struct A { int b; };", [{"A"}], id="a type"),
    pytest.param("enum class E : int { kA };", [{"E"}], id="an enumeration"),
    pytest.param("struct { int a; } b;", [set()], id="a type without a name"),
    pytest.param("namespace a::b { int c; }", [{"b"}], id="a namespace"),
    pytest.param("#include <a>\n#define B 1\nint c;", [{"#include <a>"}, {"B"}, {"c"}], id="lines"),
    pytest.param("#if A\nint a;\n#else\nint b;\n#endif", [{"#if A"}], id="branches"),
    pytest.param('m.def("a", &a);', [{'m.def("a",&a);'}], id="a call"),
    pytest.param("CHECK(a)\nint b;", [{"CHECK(a)"}, {"b"}], id="a macro without a semicolon"),
    pytest.param("if (a) { b(); } else { c(); }", [set()], id="a branch"),
    pytest.param("do { a(); } while (b);", [set()], id="a loop"),
    pytest.param("case A: a(); break; case B: return;", [{"caseA"}, {"caseB"}], id="cases"),
    pytest.param("case A { a(); break; }", [{"caseA{a();break;}"}], id="a case that is none"),
]


@table(("text", "names"), WHOLE)
def test_a_text_splits_into_whole_items(text: str, names: list[set[str]]) -> None:
    items = items_of(split(text))

    assert items is not None
    assert [set(item.names) for item in items] == names


@table(
    "text",
    [
        pytest.param("int a", id="no end"),
        pytest.param("f(a));", id="closes too much"),
        pytest.param("f(a];", id="closes another"),
        pytest.param("}\nvoid f() {", id="a piece of two"),
        pytest.param("#endif\nint a;", id="ends a branch"),
        pytest.param("#else\nint a;", id="another branch"),
        pytest.param("#if A\nint a;", id="an open branch"),
        pytest.param("else { a(); }", id="the rest of a branch"),
        pytest.param("return a;", id="a jump"),
        pytest.param("if (a) { break; }", id="a jump in a branch"),
        pytest.param("case A: a(); case B: b(); break;", id="falls through"),
        pytest.param("case A: a();", id="falls through at the end"),
        pytest.param("a(); case B: b(); break;", id="a case in between"),
    ],
)
def test_what_is_not_whole_is_none(text: str) -> None:
    assert items_of(split(text)) is None


@table(
    ("text", "writes"),
    [
        pytest.param("a.b->c = d;", [("a.b->c", "a", True)], id="a part"),
        pytest.param("a += 1;", [("a", "a", False)], id="a variable"),
        pytest.param("++a;", [("a", "a", False)], id="counted up"),
        pytest.param(
            "if (x) { a[i] = 1; b = 2; }",
            [("a[i]", "a", True), ("b", "b", False)],
            id="in a branch",
        ),
        pytest.param("(*a) = 1;", [], id="not clear"),
        pytest.param("f(a);", [], id="nothing"),
    ],
)
def test_a_statement_says_what_it_writes(text: str, writes: list[tuple[str, str, bool]]) -> None:
    items = items_of(split(text))

    assert items is not None
    assert [(w.target, w.root, w.is_part) for w in items[0].writes] == writes


COMMUTE = [
    pytest.param("int alpha;", "int beta;", True, id="two variables"),
    pytest.param("int alpha;", "long alpha;", False, id="one name"),
    pytest.param("int alpha;", "use(alpha);", False, id="one uses the other"),
    pytest.param("p.a = 1;", "p.b = 2;", True, id="two parts"),
    pytest.param("p.a = 1;", "p.a += 2;", False, id="one part"),
    pytest.param("p.a = 1;", "f(p.a);", False, id="a part that is read"),
    pytest.param("p.a = 1;", "f(p);", False, id="the whole is read"),
    pytest.param("a = 1;", "f(a);", False, id="a variable that is read"),
    pytest.param("(*a1) = 1;", "f(a1);", False, id="what is written is not clear"),
    pytest.param("for (;; a1 = (b1)) {}", "f(c1);", True, id="written in brackets"),
    pytest.param('if (a1) { = "x"; }', "f(c1);", True, id="no target"),
    pytest.param("a = 1;", "b = 2;", True, id="two variables written"),
    pytest.param("start(stream);", "stop(stream);", False, id="two calls on one thing"),
    pytest.param("start(one);", "stop(two);", True, id="two calls on two things"),
    pytest.param("CHECK(stream);", "start(stream);", True, id="a check"),
    pytest.param("start(1, stream.a);", "stop(2, stream.b);", True, id="parts of one thing"),
    pytest.param("f(p.seed, a);", "f(seed, a);", False, id="much alike"),
    pytest.param("", "int beta;", False, id="nothing"),
    pytest.param("// What this is.\nint a1;", "// What this is.\nint b1;", False, id="one remark"),
    pytest.param("} // namespace", "int b;", False, id="a piece"),
    pytest.param("int a1; // one", "int b1; // one", True, id="a short remark"),
    pytest.param("a1 < b1;", "c1 < d1;", True, id="a comparison like an open template"),
]


@table(("fork", "upstream", "expected"), COMMUTE)
def test_insertions_commute_where_neither_is_about_the_other(
    fork: str, upstream: str, expected: bool
) -> None:
    inserted = Insertions(split(fork), split(upstream), split("void g() {"), ())

    assert commute_in_cxx(inserted) is expected


@table(
    ("before", "expected"),
    [
        pytest.param("", True, id="the beginning"),
        pytest.param("a; // b", True, id="after a statement and its comment"),
        pytest.param("#if A", True, id="after a directive"),
        pytest.param("f(a,", False, id="between arguments"),
    ],
)
def test_insertions_begin_where_a_statement_does(before: str, expected: bool) -> None:
    inserted = Insertions(split("int a1;"), split("int b1;"), split(before), ())

    assert commute_in_cxx(inserted) is expected


@table(
    ("before", "fork", "upstream", "expected"),
    [
        pytest.param("std::set<int> x = {", "1, f(2, 3),", "4,", True, id="a set"),
        pytest.param("std::set<int> x = { // of", "1,", "1,", False, id="one member"),
        pytest.param("f(); std::map<A, B> x = {", "{a, 1},", "{b, 2},", True, id="a map"),
        pytest.param("std::vector<int> x = {", "1,", "4,", False, id="a vector"),
        pytest.param("std::set<int> x = {", "f(1,", "4,", False, id="an open bracket"),
        pytest.param("std::set<int> x = {", "1};", "4,", False, id="more than members"),
        pytest.param("std::set<int> x = {", "// none\n", "4,", False, id="no member"),
    ],
)
def test_members_commute_in_what_has_no_order(
    before: str, fork: str, upstream: str, expected: bool
) -> None:
    inserted = Insertions(split(fork), split(upstream), split(before), ())

    assert commute_in_cxx(inserted) is expected


def test_very_many_items_are_refused() -> None:
    one, two = (split("".join(f"int {name}{n};" for n in range(200))) for name in "ab")

    assert not commute_in_cxx(Insertions(one, two, (), ()))
