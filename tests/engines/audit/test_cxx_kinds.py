"""What C++ relies on beside names and counts: types, bases, constants, what includes lead to."""

from __future__ import annotations

import pytest

from tests.engines.audit.test_cxx import USER, Files, told_of
from tests.tables import table

HEADER = """\
#pragma once
enum Mode { kSlow, kFast };
constexpr int kWidth = 8;
struct Shape { int rows; float* data; int area(int by); };
template <typename T> struct Tile { T* at; };
struct Plain { int n; };
class Pool {
 public:
  explicit Pool(int threads, int depth);
  void each(int count, const char* name);
};
class Base {
 public:
  virtual ~Base() = default;
  virtual void run(int n) = 0;
  virtual void stop() {}
};
int* find(int key);
int total(int key);
int area_of(int by);
"""
BASE = {"src/k.h": HEADER, "src/k.cu": USER}


def using(line: str) -> Files:
    return {"src/k.cu": USER.replace("  int r = a;\n", f"  int r = a;\n  {line}\n")}


def beside(text: str) -> Files:
    return {"src/k.cu": f"{USER}\n{text}"}


def header(old: str, new: str) -> Files:
    assert old in HEADER
    return {"src/k.h": HEADER.replace(old, new)}


DERIVED = "struct Mine : public Base {\n  void run(int n) override;\n};\n"
STOPPING = "struct Mine : Base {\n  void run(int n) override {}\n  void stop() override {}\n};\n"
PURE = ("virtual void stop() {}", "virtual void stop() {}\n  virtual int size() const = 0;")
TOLD = {
    "an enum became a class": (using("r = kFast;"), ("enum Mode", "enum class Mode"), "kFast"),
    "a method's order": (
        using('pool->each(a, "x");'),
        ("(int count, const char* name)", "(const char* name, int count)"),
        "each",
    ),
    "a type became a template": (
        using("Plain p; r = p.n;"),
        ("struct Plain", "template <typename T> struct Plain"),
        "Plain",
    ),
    "a template became a type": (
        using("Tile<int> t;"),
        ("template <typename T> struct Tile { T* at; }", "struct Tile { int* at; }"),
        "Tile",
    ),
    "a constructor's parameter": (
        using("Pool pool(a, 4);"),
        ("int depth)", "int depth, int nodes)"),
        "Pool",
    ),
    "a constructor behind make_unique": (
        using("auto pool = std::make_unique<Pool>(a, 4);"),
        ("int threads, int depth)", "int threads)"),
        "Pool",
    ),
    "a base that asks for more": (beside(DERIVED), PURE, "Base"),
    "an override of what was renamed": (beside(STOPPING), ("void stop()", "void halt()"), "stop"),
    "an override of another signature": (
        beside(DERIVED),
        ("virtual void run(int n) = 0", "virtual void run(float* n) = 0"),
        "run",
    ),
    "a function returns something else": (
        using("r = *find(a);"),
        ("int* find(", "std::optional<int> find("),
        "find",
    ),
    "a member of another type": (
        using("Shape s; r = s.data[0];"),
        ("float* data", "Tensor data"),
        "data",
    ),
    "no constant any more": (
        using("float rows[kWidth];"),
        ("constexpr int kWidth = 8;", "extern int kWidth;"),
        "kWidth",
    ),
    "a function became a method": (
        using("r = area_of(a);"),
        ("int area_of(int by);", "struct Areas { int area_of(int by); };"),
        "area_of",
    ),
    "a method whose name a parameter keeps": (
        using("Shape s; r = s.area(a);"),
        ("int area(int by); };", "int by(int area); };"),
        "area",
    ),
    "a method became a function": (
        using("Shape s; r = s.area(a);"),
        (" int area(int by); };", " };\nint area(int by);"),
        "area",
    ),
}


@table(("ours", "change", "symbol"), TOLD)
def test_what_is_declared_as_something_else_is_told(
    ours: dict[str, str], change: tuple[str, str], symbol: str
) -> None:
    told = told_of(BASE, ours, header(*change))
    assert [(one.symbol, one.is_certain) for one in told] == [(symbol, False)]


KEPT = {
    "an enum of a type": (using("r = kFast;"), ("enum Mode", "enum Mode : int")),
    "an enumerator behind its type": (
        using("auto m = Mode::kFast;"),
        ("enum Mode", "enum class Mode"),
    ),
    "using enum": (using("using enum Mode; auto m = kFast;"), ("enum Mode", "enum class Mode")),
    "a method that a macro defines now": (
        using("Shape s; r = s.area(a);"),
        ("int area(int by); };", "GETTER(int, area) };"),
    ),
    "a method that a base may have": (
        using("Shape s; r = s.area(a);"),
        (
            "struct Shape { int rows; float* data; int area(int by); };",
            "struct Shape : Sized { int rows; float* data; int by(int area); };",
        ),
    ),
    "another method": (using("Shape s; r = s.area(a);"), ("each(int count", "each(long count")),
    "a template with defaults": (
        using("Tile<int> t;"),
        ("<typename T> struct Tile", "<typename T, int n = 1> struct Tile"),
    ),
    "a template of another name": (
        using("Tile<int> t;"),
        ("struct Tile { T* at; }", "using Tile = Other<T>"),
    ),
    "a template from elsewhere": (
        using("Tile<int> t;"),
        ("template <typename T> struct Tile { T* at; }", "using std::Tile"),
    ),
    "a type from elsewhere": (
        using("Plain p; r = p.n;"),
        ("struct Plain { int n; }", "using std::Plain; struct Other { int n; }"),
    ),
    "a constructor's default": (
        using("Pool pool(a, 4);"),
        ("int depth)", "int depth, int nodes = 1)"),
    ),
    "another constructor beside": (
        using("Pool pool(a, 4);"),
        ("  explicit Pool(", "  Pool(int only);\n  explicit Pool("),
    ),
    "a copy": (using("Pool other(pool);"), ("int depth)", "int depth, int nodes)")),
    "a base that offers more": (
        beside(DERIVED),
        ("void stop() {}", "void stop() {}\n  virtual int size() const { return 0; }"),
    ),
    "a base asks for what is there": (
        beside(DERIVED.replace("};", "  int size() const override;\n};")),
        PURE,
    ),
    "another number": (using("r = total(a);"), ("int total(", "long total(")),
    "a return value that nobody takes": (using("total(a);"), ("int total(", "void total(")),
    "attributes": (using("r = *find(a);"), ("int* find(", "[[nodiscard]] inline int* find(")),
    "a constant of another value": (using("float r[kWidth];"), ("kWidth = 8", "kWidth = 16")),
    "a constant that is const": (
        using("float r[kWidth];"),
        ("constexpr int kWidth", "static const int kWidth"),
    ),
    "a variable that is none": (
        using("r = kWidth;"),
        ("constexpr int kWidth = 8;", "extern int kWidth;"),
    ),
}


@table(("ours", "change"), KEPT)
def test_what_is_declared_as_before_is_not_told(
    ours: dict[str, str], change: tuple[str, str]
) -> None:
    assert not told_of(BASE, ours, header(*change))


REACHED = {
    "src/all.h": '#include "src/k.h"\n#include "src/more.h"\n',
    "src/k.h": HEADER,
    "src/more.h": "int more(int a);\n",
    "src/k.cu": USER.replace('"k.h"', '"src/all.h"'),
}


@table(
    ("upstream", "expected"),
    [
        pytest.param({"src/all.h": '#include "src/more.h"\n'}, ["total"], id="no-longer-included"),
        pytest.param({"src/all.h": '#include "src/k.h"\n'}, [], id="another-one"),
        pytest.param(
            {"src/all.h": '#include "src/more.h"\n', "src/more.h": '#include "src/k.h"\n'},
            [],
            id="by-another-way",
        ),
    ],
)
def test_what_the_includes_no_longer_lead_to_is_told(upstream: Files, expected: list[str]) -> None:
    ours = {"src/k.cu": REACHED["src/k.cu"].replace("  int r = a;\n", "  int r = total(a);\n")}
    told = told_of(REACHED, ours, upstream)
    assert [(one.symbol, one.is_certain) for one in told] == [(name, False) for name in expected]
