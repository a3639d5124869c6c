"""What C++ relies on and its includes no longer declare so is told, and nothing else."""

from typing import Any

import pytest

from patchmgr.engines.audit import cxx_includes
from patchmgr.engines.audit.cxx import check_conditions, cxx_faults
from patchmgr.engines.audit.states import run_checks
from patchmgr.engines.languages.cxx_declarations import Declaration
from patchmgr.model.audit import AuditFinding
from patchmgr.model.outcome import Verdict
from tests.engines.audit.audited import audited, found
from tests.tables import table

HEADER = """\
#pragma once
#define CHECK(x) check_it(x)
#define HANDLE_FIELDS \\
  int width;          \\
  void* queue[2];
namespace ops {
enum class Kind { A, B, C };
enum Flag { kSlow, kFast };
template <typename T, int kSize> struct Tile { T* data; };
struct Options { int size = 1; int depth = 2; int run(int n); };
int scale(int x, int y = 2);
void launch(float* p, int n);
template <typename T> T clamp_to(T value, T most) { return value < most ? value : most; }
}
int plain(int x);
"""
PADS = "".join(f"int pad{n}(int a) {{\n  return a + {n};\n}}\n\n" for n in range(8))
USER = f'#include "k.h"\n{PADS}int use(int a) {{\n  int r = a;\n  return r;\n}}\n'

Files = dict[str, str]


def told_of(base: Files, ours: Files, upstream: Files) -> tuple[AuditFinding, ...]:
    """Return what is found; files that a side does not name are as in base."""
    sides = ({**base, **side} for side in ({}, ours, upstream))
    return found([cxx_faults], *({p: t.encode() for p, t in side.items()} for side in sides))


def using(line: str) -> Files:
    return {"src/k.cu": USER.replace("  int r = a;\n", f"  int r = a;\n  {line}\n")}


def header(old: str, new: str) -> Files:
    assert old in HEADER
    return {"src/k.h": HEADER.replace(old, new)}


BASE = {"src/k.h": HEADER, "src/k.cu": USER}
LOST = {
    "function": ("r = ops::scale(a, 2);", ("int scale(", "int rescale("), "scale", True),
    "its name, without a namespace": ("r = plain(a);", ("int plain(", "int simple("), "plain",
        True),
    "launch": ("ops::launch<<<1, 2>>>(0, a);", ("launch(", "start("), "launch", True),
    "template": ("r = ops::clamp_to<int>(a, 2);", ("clamp_to(", "clamped("), "clamp_to", True),
    "enumerator of a class": ("r = int(ops::Kind::B);", ("A, B, C", "A, B1, C"), "B", True),
    "enumerator": ("r = ops::kFast;", ("kSlow, kFast", "kSlow, kQuick"), "kFast", True),
    "type": ("ops::Options o;", ("Options", "Settings"), "Options", True),
    "macro": ("CHECK(a);", ("#define CHECK(x) check_it(x)\n", ""), "CHECK", True),
    "macro's parameters": ("CHECK(a);", ("CHECK(x)", "CHECK(x, y)"), "CHECK", True),
    "member": ("ops::Options o; r = o.depth;", ("int depth", "int levels"), "depth", False),
    "field of a macro": ("r = get(a)->width;", ("int width", "int breadth"), "width", False),
    "array of a macro": ("r = get(a)->queue[0];", ("void* queue[2]", "Q q"), "queue", False),
    "method": ("ops::Options o; r = o.run(a);", ("run(int n)", "run(int n, int m)"), "run", False),
    "a parameter more": ("r = ops::scale(a);", ("(int x, int y = 2)", "(int x, int y)"), "scale",
        True),
    "a parameter less": ("r = ops::scale(a, 3);", ("(int x, int y = 2)", "(int x)"), "scale", True),
    "order": ("r = ops::scale(a, 3);", ("(int x, int y = 2)", "(int y, int x)"), "scale", False),
    "type of a parameter": ("ops::launch(0, a);", ("float* p", "Tensor p"), "launch", False),
    "a template's parameter more": ("ops::Tile<float, 4> tile;",
        ("int kSize>", "int kSize, int kStages>"), "Tile", False),
    "beside a header of C++": ("r = plain(a);", ("int plain(int x);", "#include <vector>"), "plain",
        True),
    "perhaps in another project": ("r = plain(a);", ("int plain(int x);", "#include <a/more.h>"),
        "plain", False),
    "perhaps in what a macro names": ("r = plain(a);", ("int plain(int x);", "#include PLAIN"),
        "plain", False),
    "perhaps made by a macro": ("r = plain(a);",
        ("int plain(int x);", "#define MAKE(a) int pl##a(int x);\nMAKE(ain)"), "plain", False),
    "namespace": ("r = ops::scale(a);", ("namespace ops {", "namespace ops::detail {"), "scale",
        False),
}  # fmt: skip


@table(("line", "change", "symbol", "is_certain"), LOST)
def test_what_the_headers_no_longer_declare_so_is_told(
    line: str, change: tuple[str, str], symbol: str, is_certain: bool
) -> None:
    told = told_of(BASE, using(line), header(*change))
    assert [(one.symbol, one.is_certain) for one in told] == [(symbol, is_certain)]
    assert told[0].path == "src/k.cu"
    assert using(line)["src/k.cu"].splitlines()[told[0].line - 1].strip() == line


KEPT: dict[str, tuple[Any, ...]] = {
    "an overload more": ("r = ops::scale(a);", ("int scale(", "int scale(float x);\nint scale(")),
    "a default more": ("ops::launch(0, a);", ("int n)", "int n, int m = 0)")),
    "a restricted pointer": ("ops::launch(0, a);", ("float* p", "float* __restrict__ p")),
    "a type of another namespace": ("ops::launch(0, a);", ("float* p", "c10::optional<P> p"),
        ("float* p", "std::optional<P> p")),
    "a type with its key": ("ops::launch(0, a);", ("float* p", "struct P* p"),
        ("float* p", "P* p")),
    "a template now": ("ops::launch(0, a);",
        ("void launch(float* p", "template <class T>\nvoid launch(T p")),
    "a number's type": ("ops::launch(0, a);", ("int n", "long n")),
    "a template's default more": ("ops::Tile<float, 4> tile;",
        ("int kSize>", "int kSize, int kStages = 1>")),
    "a variable of a macro": ("r = width;", ("int width", "int breadth")),
    "another function": ("r = ops::scale(a);", ("launch(float* p, int n)", "launch(float* p)")),
    "renamed parameter": ("r = ops::scale(a, 2);", ("int x, int y", "int first, int second")),
    "inline namespace": ("r = ops::scale(a);",
        ("ops {\nenum", "ops { inline namespace v1 {} \nenum")),
    "in a comment": ("// scale\n  r = a;", ("int scale(", "int rescale(")),
    "in a string": ('log("scale");', ("int scale(", "int rescale(")),
    "a local name": ("int scale = a; r = scale;", ("int scale(", "int rescale(")),
    "the second of two local names": ("char *b, *depth = nullptr, c; r = *depth;",
        ("int depth = 2", "void* depth")),
    "the third of three": ("int b, *c, **depth; r = **depth;", ("int depth = 2", "void* depth")),
    "a member of something else": ("r = other.scale(a);", ("int scale(", "int rescale(")),
    "an alias stays": ("r = plain(a);",
        ("int plain(int x);", "#define plain simple\nint simple(int x);")),
    "moved in the header": ("r = plain(a);", ("#pragma once\n", "#pragma once\nint plain(int);\n")),
    "both branches": ("r = plain(a);",
        ("int plain(int x);", "#if X\nint plain(int x);\n#else\nint plain(long x);\n#endif")),
}  # fmt: skip


@table("case", list(KEPT))
def test_what_is_still_declared_is_not_told(case: str) -> None:
    line, *old, new = KEPT[case]
    base = {**BASE, **(header(*old[0]) if old else {})}
    assert not told_of(base, using(line), header(*new))


def test_a_new_name_is_proposed() -> None:
    (told,) = told_of(BASE, using("r = plain(a);"), header("int plain(", "int simple("))
    assert told.proposal == "simple"
    assert told.sentence().endswith("`simple` is new there")


def test_what_went_to_another_included_header_is_there() -> None:
    upstream = header("int plain(int x);", '#include "../inc/more.h"')
    upstream |= {"inc/more.h": "int plain(int x);\n"}
    assert not told_of(BASE, using("r = plain(a);"), upstream)


def test_a_header_that_is_found_by_the_end_of_its_path_is_in_reach() -> None:
    base = {"csrc/a.cu": USER.replace('"k.h"', "<lib/k.h>"), "csrc/include/lib/k.h": HEADER}
    ours = {"csrc/a.cu": base["csrc/a.cu"].replace("r = a;", "r = plain(a);")}
    gone = {"csrc/include/lib/k.h": HEADER.replace("plain", "simple")}
    assert [one.symbol for one in told_of(base, ours, gone)] == ["plain"]


def test_a_file_that_does_not_include_the_header_is_left_alone() -> None:
    base = BASE | {"src/k.cu": USER.replace('#include "k.h"\n', "")}
    ours = {"src/k.cu": base["src/k.cu"].replace("r = a;", "r = plain(a);")}
    assert not told_of(base, ours, header("plain", "simple"))


def test_a_header_is_not_read_for_lines_of_files_that_do_not_include_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = BASE | {"src/far.cu": USER.replace('#include "k.h"\n', "")}
    ours = {
        "src/far.cu": base["src/far.cu"].replace("r = a;", "r = plain(a);"),
        "src/k.cu": USER.replace("return r;", "return r + 1;"),
    }
    read = list[bytes | None]()

    def read_outside(content: bytes | None) -> tuple[Declaration, ...]:
        read.append(content)
        return ()

    monkeypatch.setattr(cxx_includes, "read_outside", read_outside)
    assert not told_of(base, ours, header("plain", "simple"))
    assert HEADER.encode() not in read


def test_an_included_file_that_is_gone_is_told() -> None:
    base = {**BASE, "src/extra.h": "int extra();\n"}
    ours = {"src/k.cu": USER.replace('"k.h"\n', '"k.h"\n#include "extra.h"\n')}
    files = {path: text.encode() for path, text in base.items()}
    new = {path: text for path, text in files.items() if path != "src/extra.h"}
    told = found([cxx_faults], files, {**files, "src/k.cu": ours["src/k.cu"].encode()}, new)
    assert [(one.kind, one.is_certain, one.line) for one in told] == [("include", True, 2)]
    moved = {**new, "other/extra.h": files["src/extra.h"]}
    told = found([cxx_faults], files, {**files, "src/k.cu": ours["src/k.cu"].encode()}, moved)
    assert [(one.kind, one.is_certain, one.proposal) for one in told] in (
        [],  # some `-I` may name the folder
        [("include", False, "other/extra.h")],
    )


def test_upstream_s_new_call_of_what_the_series_renames_is_told() -> None:
    series = header("int plain(", "int simple(")
    (told,) = told_of(BASE, series, using("r = plain(a);"))
    assert (told.symbol, told.path, told.is_certain) == ("plain", "src/k.cu", True)
    assert not told_of(BASE, series, using("r = ops::scale(a);"))


def test_a_definition_that_is_no_longer_declared_so_is_told() -> None:
    ours = {"src/k.cu": USER + "\nint plain(int x) {\n  return x;\n}\n"}
    (told,) = told_of(BASE, ours, header("plain(int x)", "plain(int x, int y)"))
    assert (told.kind, told.symbol, told.is_certain) == ("signature", "plain", False)
    assert not told_of(BASE, ours, header("int y = 2", "int y = 3"))


def test_deep_brackets_and_long_chains_of_includes_end() -> None:
    deep = HEADER + "int x = " + "(" * 20_000 + "1" + ")" * 20_000 + ";\n"
    base = {**BASE, "src/k.h": deep + '#include "k.h"\n'}
    ours = using("r = plain(a);")
    (told,) = told_of(base, ours, {"src/k.h": base["src/k.h"].replace("plain", "simple")})
    assert told.symbol == "plain"
    chain = {f"src/h{n}.h": f'#include "h{n + 1}.h"\n' for n in range(500)}
    base = {**BASE, **chain, "src/k.h": HEADER + '#include "h0.h"\n'}
    assert not told_of(base, ours, {"src/k.h": base["src/k.h"].replace("plain", "simple")})


def test_the_arguments_that_fit_are_counted_with_the_default_ones() -> None:
    changed = header("int scale(int x, int y = 2)", "int scale(int x, int z, int y = 2)")
    (one,) = told_of(BASE, using("r = ops::scale(a);"), changed)
    assert one.text == "this call of `scale` has 1 argument; it takes 2 to 3"


def test_what_a_patch_in_conflict_declares_may_still_come() -> None:
    declares = {"src/k.h": HEADER.replace("int depth = 2;", "int depth = 2; int wide = 3;")}
    uses = {"src/k.cu": USER.replace("  int r = a;\n", "  int r = ops::Options().wide;\n")}
    upstream = {"src/k.h": HEADER.replace("int depth = 2;", "long depth = 2;")}
    files = [{p: t.encode() for p, t in {**BASE, **side}.items()} for side in (
        {}, declares, upstream, {**declares, **uses},
    )]  # fmt: skip
    (declaring, using_it), states = audited(*files[:3], later=files[3:])
    assert (declaring.outcome.verdict, using_it.outcome.is_carried) == (Verdict.CONFLICT, True)
    assert run_checks(states, [cxx_faults]) == ()


def test_a_byte_order_mark_hides_no_include() -> None:
    ours, upstream = using("r = plain(a);"), header("int plain(", "int simple(")
    marked = (
        {path: f"\ufeff{text}" for path, text in side.items()} for side in (BASE, ours, upstream)
    )
    assert [finding.symbol for finding in told_of(*marked)] == ["plain"]


SHAPES = """\
#pragma once
enum Mode { kSlow, kFast };
template <typename T> struct Tile { T* at; };
class Pool {
 public:
  explicit Pool(int threads, int depth);
  void each(int count, const char* name);
};
int total(int key);
"""
SHAPED = {"src/k.h": SHAPES, "src/k.cu": USER}


def shapes(old: str, new: str) -> Files:
    assert old in SHAPES
    return {"src/k.h": SHAPES.replace(old, new)}


TOLD = {
    "an enum became a class": (using("r = kFast;"), ("enum Mode", "enum class Mode"), "kFast"),
    "a method's order": (using('pool->each(a, "x");'),
        ("(int count, const char* name)", "(const char* name, int count)"), "each"),
    "a constructor's parameter": (using("Pool pool(a, 4);"),
        ("int depth)", "int depth, int nodes)"), "Pool"),
    "a constructor behind make_unique": (using("auto pool = std::make_unique<Pool>(a, 4);"),
        ("int threads, int depth)", "int threads)"), "Pool"),
}  # fmt: skip


@table(("ours", "change", "symbol"), TOLD)
def test_another_declaration(ours: dict[str, str], change: tuple[str, str], symbol: str) -> None:
    told = told_of(SHAPED, ours, shapes(*change))
    assert [(one.symbol, one.is_certain) for one in told] == [(symbol, False)]


SAME = {
    "an enum of a type": (using("r = kFast;"), ("enum Mode", "enum Mode : int")),
    "an enumerator behind its type": (using("auto m = Mode::kFast;"),
        ("enum Mode", "enum class Mode")),
    "using enum": (using("using enum Mode; auto m = kFast;"), ("enum Mode", "enum class Mode")),
    "a template with defaults": (using("Tile<int> t;"),
        ("<typename T> struct Tile", "<typename T, int n = 1> struct Tile")),
    "a template of another name": (using("Tile<int> t;"),
        ("struct Tile { T* at; }", "using Tile = Other<T>")),
    "a template from elsewhere": (using("Tile<int> t;"),
        ("template <typename T> struct Tile { T* at; }", "using std::Tile")),
    "a constructor's default": (using("Pool pool(a, 4);"),
        ("int depth)", "int depth, int nodes = 1)")),
    "another constructor beside": (using("Pool pool(a, 4);"),
        ("  explicit Pool(", "  Pool(int only);\n  explicit Pool(")),
    "a copy": (using("Pool other(pool);"), ("int depth)", "int depth, int nodes)")),
}  # fmt: skip


@table(("ours", "change"), SAME)
def test_what_is_declared_as_before_is_fine(ours: dict[str, str], change: tuple[str, str]) -> None:
    assert not told_of(SHAPED, ours, shapes(*change))


REACHED = {
    "src/all.h": '#include "src/k.h"\n#include "src/more.h"\n',
    "src/k.h": SHAPES,
    "src/more.h": "int more(int a);\n",
    "src/k.cu": USER.replace('"k.h"', '"src/all.h"'),
}


@table(
    ("upstream", "expected"),
    {
        "no-longer-included": ({"src/all.h": '#include "src/more.h"\n'}, ["total"]),
        "another-one": ({"src/all.h": '#include "src/k.h"\n'}, []),
        "by-another-way": (
            {"src/all.h": '#include "src/more.h"\n', "src/more.h": '#include "src/k.h"\n'},
            [],
        ),
    },
)
def test_what_the_includes_no_longer_lead_to_is_told(upstream: Files, expected: list[str]) -> None:
    ours = {"src/k.cu": REACHED["src/k.cu"].replace("  int r = a;\n", "  int r = total(a);\n")}
    told = told_of(REACHED, ours, upstream)
    assert [(one.symbol, one.is_certain) for one in told] == [(name, False) for name in expected]


LINES = "".join(f"int f{n}(void);\n" for n in range(9))
CR = "\r"
GUARDED = f"#ifndef M_H\n#define M_H\n{LINES}#endif\n"
OFF = GUARDED.replace("int f3", "#if 0\nint f3").replace("int f7", "#endif\nint f7")


@table(
    ("base", "upstream", "said"),
    {
        "switched-off": (GUARDED, OFF, ["this line is now inside `#if 0`"]),
        "no-longer-switched-off": (
            OFF, GUARDED, ["this line is no longer inside an `#if` (it was inside `#if 0`)"],
        ),
        "another-one": (
            OFF, OFF.replace("#if 0", "#ifdef A"),
            ["this line is now inside `#ifdef A` (it was inside `#if 0`)"],
        ),
        "the-guard-of-a-header": (GUARDED, f"#pragma once\n{LINES}", []),
        "the-same": (GUARDED, GUARDED.replace("f0", "g0"), []),
        "below-carriage-returns": (
            f"//{CR * 40}\n{GUARDED}", f"//{CR * 40}\n{OFF}", ["this line is now inside `#if 0`"],
        ),
    },
)  # fmt: skip
def test_a_line_that_is_in_another_if_is_told(base: str, upstream: str, said: list[str]) -> None:
    ours = base.replace("int f5(void);\n", "int f5(void);\nint mine(void);\n")
    findings = found([check_conditions], *({"m.h": x.encode()} for x in (base, ours, upstream)))
    assert [finding.text for finding in findings] == said
