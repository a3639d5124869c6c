"""The symbol around each line.

In the tables, what stands behind the bar at the end of a line is the expected symbol of that
line; a line without one has none.
"""

from __future__ import annotations

import ast
import time
from pathlib import Path

import patchmgr
from patchmgr.engines.languages.symbols import SymbolIndex, enclosing_symbol
from tests.long import LONG
from tests.tables import table


def check(path: str, annotated: str) -> None:
    lines = [line.partition(" ¦ ") for line in annotated.strip("\n").split("\n")]
    content = "\n".join(source.rstrip(" ") for source, _, _ in lines).encode()
    index = SymbolIndex(path, content)
    found = [index.at(number) for number in range(1, len(lines) + 1)]
    assert found == [expected.strip() or None for _, _, expected in lines]


PYTHON = {
    "functions, classes and methods": """
import os
class A(Base): ¦ A
    x = 1 ¦ A
    def f(self): ¦ A.f
        return 1 ¦ A.f
    y = 2 ¦ A
async def g(): ¦ g
    await h() ¦ g
z = 3
""",
    "functions in functions": """
def f(): ¦ f
    def g(): ¦ f.g
        pass ¦ f.g
    return g ¦ f
""",
    "decorators belong to their definition": """
@first
@second( ¦
    1,
)
def f(): ¦ f
    pass ¦ f
""".replace("@first\n@second( ¦\n    1,\n)", "@first ¦ f\n@second( ¦ f\n    1, ¦ f\n) ¦ f"),
    "comments between a decorator and its definition": """
class A: ¦ A
    @first ¦ A.f
 ¦ A.f
    # why ¦ A.f
    def f(self): pass ¦ A.f
    x = 1 ¦ A
""",
    "a decorator without a definition": """
@first
x = 1
def f(): ¦ f
    pass ¦ f
""",
    "a parameter list of several lines": """
def f( ¦ f
    a, ¦ f
b, ¦ f
) -> int: ¦ f
    return a ¦ f
x = 1
""",
    "brackets that lead back to the margin": """
def f(): ¦ f
    x = [ ¦ f
1, ¦ f
    ] ¦ f
    return x ¦ f
""",
    "strings of several lines": '''
def f(): ¦ f
    """Text. ¦ f
def g(): ¦ f
    """ ¦ f
    x = \'\'\' ¦ f
class A: ¦ f
    "\'\'\' ¦ f
    return x ¦ f
y = """
def h():
    pass
"""
''',
    "quotes in strings and comments": """
def f(): ¦ f
    x = "it's \\" #(" # don't ( ¦ f
    y = r'\\'' + '"' ¦ f
    z = "" + '' ¦ f
    return x ¦ f
# it's
""",
    "lines continued by a backslash": """
def f(): ¦ f
    x = 1 + \\ ¦ f
2 ¦ f
    y = 'a\\ ¦ f
def g():\\ ¦ f
' ¦ f
    return y ¦ f
""",
    "blank lines and comments": """
def f(): ¦ f
    a() ¦ f
 ¦ f
# at the margin, inside ¦ f
    b() ¦ f
    # behind, indented ¦ f

# about g
def g(): ¦ g
    pass ¦ g

    # last ¦ g
""",
    "comments between methods": """
class A: ¦ A
    def f(self): ¦ A.f
        pass ¦ A.f

    # about g ¦ A
    def g(self): ¦ A.g
        pass ¦ A.g
""".replace("pass ¦ A.f\n\n", "pass ¦ A.f\n ¦ A\n"),
    "definitions under a condition": """
if x:
    def f(): ¦ f
        pass ¦ f
else:
    def f(): pass ¦ f
    y = 1
""",
    "words that only begin like definitions": """
default = 1
classes = 2
x.class_ = 3
""",
    "letters of other alphabets": """
def größe(): ¦ größe
    pass ¦ größe
""",
    "tabs": """
class A: ¦ A
\tdef f(self): ¦ A.f
\t    pass ¦ A.f
        # eight columns are a tab ¦ A.f
\tx = 1 ¦ A
""".replace("        # eight columns are a tab ¦ A.f", "        # eight columns are a tab ¦ A"),
    "f-strings with quotes of their own kind": """
def f(): ¦ f
    x = f"{a["b"]}" ¦ f
    return x ¦ f
""",
}


@table("source", PYTHON)
def test_python_symbols(source: str) -> None:
    check("a.py", source)


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    lines = ["def f():", "    '''a", "    '''", "", "    # b", "    return 1 + \\", "2", "x"]
    index = SymbolIndex("a.py", b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert [index.at(line) for line in range(1, 9)] == ["f"] * 7 + [None]


def test_a_name_keeps_bytes_that_are_no_utf_8() -> None:
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


CXX = {
    "functions": """
#include <vector>
static int a = 1;
int f(int x) { ¦ f
  return x; ¦ f
} ¦ f

void declared(int);
void* g(void) ¦ g
{ ¦ g
} ¦ g
int& h(std::vector<std::pair<int, int>>& x) { return x; } ¦ h
""",
    "namespaces are not symbols": """
namespace a::b {
namespace {
int f() { return 1; } ¦ f
}  // namespace
}  // namespace a::b
extern "C" {
void g() {} ¦ g
}
extern "C" void h() {} ¦ h
inline namespace v1 { struct S { int x; }; } ¦ S
using namespace a;
namespace c = a::b;
""",
    "types and their members": """
class A : public B<int> { ¦ A
 public: ¦ A
  A() : x_(1), y_{2}, z_(3) { ¦ A::A
    run(); ¦ A::A
  } ¦ A::A
  explicit A(int x) : B<int>{x} {} ¦ A::A
  ~A() { stop(); } ¦ A::~A
  int get() const noexcept override { return x_; } ¦ A::get
  struct Inner { ¦ A::Inner
    int f() { return 1; } ¦ A::Inner::f
  }; ¦ A::Inner
 private: ¦ A
  int x_; ¦ A
}; ¦ A
int after = 1;
""",
    "members defined outside": """
namespace ours {
A::A(int x) : x_(x) {} ¦ A::A
A::~A() {} ¦ A::~A
int A::get() const { return 1; } ¦ A::get
int ours::free(int x) { return x; } ¦ free
int theirs::free(int x) { return x; } ¦ theirs::free
template <typename T> ¦ Box::put
void Box<T>::put(T x) {} ¦ Box::put
}
""",
    "templates": """
template <typename T, int N = 3> ¦ f
T f(T x) { return x; } ¦ f
template <typename T, std::enable_if_t<(N > 3), int> = 0> ¦ g
void g(T x) {} ¦ g
template <> ¦ f
int f<int>(int x) { return 1; } ¦ f
template <class T> struct S<T, (1 > 0)> { int x; }; ¦ S
template <template <class> class C> class D {}; ¦ D
template <typename T> requires std::integral<T> ¦ h
T h(T x) { return x; } ¦ h
void k(auto x) requires (sizeof(x) > 4) {} ¦ k
template <int N> struct E : std::bool_constant<N == 3> {}; ¦ E
template <int N> struct F : std::bool_constant<N <= 3> {}; ¦ F
""",
    "CUDA kernels": """
__global__ void k(float* x) { ¦ k
  f<<<1, 2>>>(x); ¦ k
} ¦ k
template <int N> ¦ k2
__global__ void __launch_bounds__(N) ¦ k2
    k2(float* __restrict__ x) { ¦ k2
} ¦ k2
__global__ __cluster_dims__(1, 2, 1) void __launch_bounds__(256, 1) k3() {} ¦ k3
struct __align__(16) Vec { float x; }; ¦ Vec
static __device__ __forceinline__ float4 load(const void* p) { ¦ load
} ¦ load
__global__ void k4(int x) __launch_bounds__(256) {} ¦ k4
""",
    "macros": """
#define KERNEL(name) \\
  void name() { \\
  }
DECLARE(x)
DECLARE(y)
void f() {} ¦ f
TORCH_LIBRARY(a, m) {
  m.def("x");
}
FOO(a) BAR(b) {
}
void (*pick(int))(int) {
}
CUTLASS_DEVICE void g() {} ¦ g
MACRO(x) int h() { return 1; } ¦ h
void LAUNCH(256) k(int x) {} ¦ k
class EXPORT A final : B { int x; }; ¦ A
int i() NOTHROW { return 1; } ¦ i
DECLARE(z)
namespace n {
int j() { return 1; } ¦ j
}
""",
    "operators": """
struct A { ¦ A
  A& operator=(const A& o) { return *this; } ¦ A::operator=
  bool operator==(const A& o) const { return true; } ¦ A::operator==
  int operator()(int x) { return x; } ¦ A::operator()
  int& operator[](int x) { return x_; } ¦ A::operator[]
  operator bool() const { return true; } ¦ A::operator bool
  bool operator<(const A& o) const = delete; ¦ A
}; ¦ A
bool A::operator!=(const A& o) { return true; } ¦ A::operator!=
bool (ns)::operator+(const A& o) {
}
int operator {
}
bool ::operator-(const A& o) {
}
::operator-(const A& o) {
}
void ::f(int x) {
}
""",
    "what is no code": """
// void f() {
/* struct A {
*/
const char* s = "void g() {";
const char* r = R"x(} " {
)" })x";
char c = '{', d = '\\'';
int n = 1'000'000 + 0x1p-3 + .5e+3;
#define OPEN { /* {
*/ "{" // {
void f() { ¦ f
  char q = '}'; ¦ f
  // } ¦ f
  auto t = u8R"({)"; ¦ f
} ¦ f
""",
    "initializers and enums": """
static const int table[] = { 1, 2 };
std::vector<int> v{
  1,
};
auto fn = [](int x) {
  return x;
};
void f(std::vector<int> x = {1, {2}}) { ¦ f
} ¦ f
enum class Kind : int { ¦ Kind
  One, ¦ Kind
}; ¦ Kind
enum { Two };
struct { int x; } anonymous;
struct point origin{1};
union U { ¦ U
  int x; ¦ U
}; ¦ U
typedef struct T { int x; } T; ¦ T
struct node* make(int x) { return 0; } ¦ make
[[nodiscard]] int g() { return 1; } ¦ g
int [[maybe_unused]] h() { return 1; } ¦ h
auto k() -> std::vector<int> { return {}; } ¦ k
{
}
""",
    "branches of the preprocessor": """
#if A
void f(int x) { ¦ f
#else
void f() { ¦ f
#endif
  run(); ¦ f
#ifdef B
  if (x) { ¦ f
#elif C
  if (y) { ¦ f
#else
  { ¦ f
#endif
  } ¦ f
} ¦ f
int after() { return 1; } ¦ after
""".replace("#else\nvoid f()", "#else ¦ f\nvoid f()")
    .replace("#endif\n  run", "#endif ¦ f\n  run")
    .replace("#ifdef B", "#ifdef B ¦ f")
    .replace("#elif C", "#elif C ¦ f")
    .replace("#else\n  {", "#else ¦ f\n  {")
    .replace("#endif\n  }", "#endif ¦ f\n  }"),
    "a brace opened and closed under the same condition": """
#ifdef __cplusplus
extern "C" {
#endif
void f() { ¦ f
#ifdef A ¦ f
  if (x) { ¦ f
#endif ¦ f
    run(); ¦ f
#ifdef A ¦ f
  } ¦ f
#endif ¦ f
} ¦ f
#ifdef __cplusplus
}
#endif
""",
    "two symbols on a line": """
int f() { return 1; } int g() {
  return 2; ¦ g
} ¦ g
struct A { int f() { return 1; } }; ¦ A
struct B { ¦ B
  int f() { return 1; } int g() { return 2; } ¦ B
}; ¦ B
""",
    "two definitions with one head": """
template <typename T>
#if X
void f(T x) {
#else
void g(T x) { ¦ g
#endif
  run(); ¦ g
} ¦ g
""".replace("#endif\n", "#endif ¦ g\n"),
    "macros before, in and after a head": """
API(int) f(int a) { return 1; } ¦ f
static int g(void) REQUIRES(mutex) { ¦ g
} ¦ g
class CAPABILITY("mutex") Lock { ¦ Lock
  int size() const& IF_PLAIN(noexcept) { return 1; } ¦ Lock::size
}; ¦ Lock
""",
    "a label after a macro without a semicolon": """
class A { ¦ A
  MACRO ¦ A
public: ¦ A
  A() { } ¦ A::A
}; ¦ A
""",
    "types and calls in angle brackets": """
std::vector<struct s*> f() { ¦ f
} ¦ f
Vec<float, up(1, 2)> g(int a) { ¦ g
} ¦ g
struct B : L::template apply<C> { ¦ B
  int a() { } ¦ B::a
}; ¦ B
""",
    "braces that do not match behind a doubtful branch": """
void f() { ¦ f
} ¦ f
#if A
void g(int x) {
#endif
#if !A
void g() {
#endif
}
""",
    "a branch that closes more than the other": """
void f() { ¦ f
} ¦ f
void g() { ¦ g
#if A ¦
} ¦
#else
  run(); }
}
#endif
""".replace("#if A ¦\n} ¦\n", "#if A\n}\n"),
}


@table("source", CXX)
def test_cxx_symbols(source: str) -> None:
    check("a.cu", source)


@table("path", ["a.c", "a.cc", "a.h", "a.cuh", "a.hip", "a.cu"])
def test_all_of_the_c_family_has_symbols(path: str) -> None:
    assert enclosing_symbol(path, b"int f() {\r\n return 1;\r\n}\r\n", 2) == "f"


BRACES = {
    "a.rs": """
use a::b;
// fn not() {
#[derive(Debug)] ¦ Point
pub struct Point<T: Into<u8>> { ¦ Point
    x: [u8; 4], ¦ Point
} ¦ Point

impl<'a, T: Fn(u8) -> u8> Show<'a> for a::Point<T> where T: Clone { ¦ Point
    pub fn show(&'a self, c: [u8; 2], f: impl Fn() -> u8) -> String { ¦ Point::show
        let q = '{'; let s = r#"}"#; let t = "}{"; ¦ Point::show
        match c { [1, 2] => foo(|| { 1 }), _ => Bar { a: 1 } } ¦ Point::show
    } ¦ Point::show
    const A: u8 = 1; ¦ Point
} ¦ Point
unsafe impl Send for Point<u8> {} ¦ Point
mod tests { ¦ tests
    #[test] ¦ tests::works
    fn works() { let f: impl Fn() = || { 1 }; } ¦ tests::works
} ¦ tests
extern "C" { fn g(); }
fn last<const N: usize>(a: [u8; N]) ¦ last
where ¦ last
    u8: Copy, ¦ last
{ ¦ last
} ¦ last
""",
    "a.go": """
package a
import (
    "fmt"
)
var x = map[string]int{"a": 1}
// Server {
type Server[T any] struct { ¦ Server
    f func() struct{ a int } ¦ Server
} ¦ Server
func (s *Server[T]) Run(o struct{ a int }) error { ¦ Server.Run
    go func() { ¦ Server.Run
        fmt.Println(`}`, '{', "{") ¦ Server.Run
    }() ¦ Server.Run
    for i := 0; i < 3; i++ { ¦ Server.Run
    } ¦ Server.Run
} ¦ Server.Run
type Runs interface { ¦ Runs
    Run() ¦ Runs
} ¦ Runs
func main() { ¦ main
} ¦ main
""",
}


@table(("path", "source"), list(BRACES.items()), ids=str)
def test_symbols_of_rust_and_go(path: str, source: str) -> None:
    check(path, source)


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
        "a head that is all angles": (
            "a.cu",
            "template <int N\nstruct S {\n};\n> > > (x) {\n}\n",
        ),
        "a declaration without end": ("a.cc", "void f() {}\n" + "a " * 10_000),
        "an open body": ("a.rs", "fn f() {"),
        "a brace too many": ("a.rs", "fn f() {}\n}"),
        "an open comment": ("a.rs", "/* fn f() {}"),
        "an open string of Rust": ("a.rs", 'fn f() { "'),
        "deep nesting": ("a.rs", "{" * 101 + "}" * 101),
    },
)
def test_what_does_not_hold_together_has_no_symbols(path: str, source: str) -> None:
    index = SymbolIndex(path, source.encode())
    assert {index.at(line) for line in range(1, source.count("\n") + 2)} == {None}
    assert index.names == frozenset()


@table("path", ["a.java", "a.md", "a", "Dockerfile"])
def test_other_languages_have_no_symbols(path: str) -> None:
    assert enclosing_symbol(path, b"def f(): pass\n", 1) is None


def test_a_script_without_suffix_is_known_by_its_shebang() -> None:
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
def test_hostile_sources_take_no_time(path: str, content: bytes) -> None:
    start = time.process_time()
    SymbolIndex(path, content).at(1)
    assert time.process_time() - start < 5
