"""Stories of patches that upstream seems to have and does not, each with its true twin."""

from msgspec import Struct

from patchmgr.model.outcome import PatchOutcome
from tests.engines.series import Run
from tests.engines.tales import Tale


class Story(Struct, frozen=True):
    """One file: the base, with our patch, and what upstream made of it.

    `truly` is upstream's file where it really has the patch.
    """

    id: str
    path: str
    base: str
    ours: str
    upstream: str
    truly: str


def judged(path: str, base: str, ours: str, *upstream: str) -> PatchOutcome:
    """Return what becomes of the patch from base to ours where upstream went step by step."""
    states = [(f"Work {n} (#{n})", {path: s.encode()}) for n, s in enumerate(upstream)]
    tale = Tale({path: base.encode()}, [{path: ours.encode()}], states)
    (patch,) = tale.patches()
    found = tale.absorbed()
    known = {patch.name: found[0]} if 0 in found else {}
    run = Run(tale.base, {path: upstream[-1].encode()})
    return run.rebase(patch, known=known, asks=True).outcomes[0]


def _told(id: str, path: str, frame: str, *places: str) -> Story:
    """Return a story of one place in a frame: base, ours, upstream, truly."""
    base, ours, upstream, truly = (frame.replace("@\n", place) for place in places)
    return Story(id, path, base, ours, upstream, truly + _END[path.rpartition(".")[2]])


# What else upstream did, so that the true twin is not our file byte for byte.
_END = {
    "py": "\n\ndef unrelated(value):\n    return value + 1\n",
    "cpp": "\nint unrelated(int value) { return value + 1; }\n",
    "rs": "\nfn unrelated(value: i32) -> i32 {\n    value + 1\n}\n",
    "txt": "\nAn unrelated last paragraph.\n",
    "sh": "\necho unrelated\n",
    "toml": "\n[unrelated]\nvalue = 1\n",
    "yaml": "unrelated:\n  value: last\n",
}

PY = """\
import torch


def run_kernel(query, page_table, scale):
    assert query.is_contiguous()
    size = query.shape[-1]
@
    page_table = page_table.to(query.device)
    output = torch.empty_like(query)
    launch(output, query, page_table, scale)
    return output
"""
CXX = """\
#include <torch/extension.h>

void run_kernel(Tensor query, Tensor page_table, float scale) {
  CHECK_CONTIGUOUS(query);
  const int size = query.size(-1);
@
  auto stream = current_stream(query);
  auto output = empty_like(query);
  launch(output, query, page_table, scale, stream);
}
"""
TXT = """\
Installing the kernels

First make sure that the driver is new enough for them.
@
Then build everything from a clean folder, which takes a while.
At last run the quick tests on one device.
"""
YAML = """\
jobs:
  build:
    runs-on: large-runner
    timeout-minutes: 90
@
    steps:
      - checkout: self
      - script: make all
"""
LOOP = """\
def flush_all(items):
    total = 0
    for item in items:
        total += item.size
        if total > item.limit:
            break
@
    report(total)
    keep(total)
    return total
"""
CALL = """\
def plan(self):
    return run(
        alpha,
        beta,
        gamma,
@
        page_size,
        window,
    )
"""
LIST = CALL.replace("return run(", "args = [").replace("    )\n", "    ]\n    return args\n")
PARAMETERS = """\
def plan(
    alpha,
    beta,
    gamma,
@
    page_size,
    window,
):
    return alpha
"""
CXX_CALL = """\
int plan(Context& self) {
  return run(
      alpha,
      beta,
      gamma,
@
      page_size,
      window);
}
"""
ENUM = """\
enum Kind {
  KIND_NONE,
  KIND_FIRST,
@
};

const char* name_of(Kind kind);
"""

_CHECK = "    check_size(size <= 256, 'at most 256 are supported')\n"
_CXX_CHECK = '  TORCH_CHECK(size <= 256, "head dimension must be at most 256");\n'
_STRIDES = """\
  // accumulator: (batch, heads, split, length)
  const long batch_stride = acc.stride(0);
  const long head_stride = acc.stride(1);
  const int split_stride = acc.stride(2);
"""
_GUARD = """\
    if size not in (64, 128):
        raise ValueError("unsupported size")
    if scale is None:
        scale = size ** -0.5
"""

DELETIONS = [
    _told("bound", "a.py", PY, _CHECK, "", _CHECK.replace("256", "512"), ""),
    _told(
        "block", "a.py", PY, _GUARD, "",
        _GUARD.replace("(64, 128)", "SIZES").replace("scale is None", "scale is None or not scale")
        .replace("unsupported size", "unsupported head size"), "",
    ),
    _told(
        "short", "a.py", PY, "    bm = 64\n", "", "    bm = 128\n", "",
    ),
    _told(
        "method", "a.py", PY, "    def causal():\n        mask = True\n", "",
        "    def causal(value):\n        mask = value\n", "",
    ),
    _told(
        "other-call", "a.py", PY,
        "    os.system(f'{exe} {folder}/generate.py -d forward --out b')\n", "",
        "    subprocess.run([exe, f'{folder}/generate.py', '-d', 'forward', '--out', 'b'])\n", "",
    ),
    _told(
        "option", "a.py", PY, "    options = {'wheel': {'limited_api': 'cp39'}}\n", "",
        "    options = {'wheel': {'limited_api': 'cp310'}}\n", "",
    ),
    _told("cxx-bound", "a.cpp", CXX, _CXX_CHECK, "", _CXX_CHECK.replace("256", "512"), ""),
    _told(
        "cxx-block", "a.cpp", CXX, _STRIDES, "",
        _STRIDES.replace("(batch, heads, split, length)", "(split, batch, length, heads)")
        .replace("stride(2)", "stride(9)").replace("stride(0)", "stride(2)")
        .replace("stride(1)", "stride(3)"), "",
    ),
    _told(
        "cxx-macro", "a.cpp", CXX, "  THCudaCheck(setMathMode(handle, TENSOR_OP_MATH));\n", "",
        "  TORCH_CUDA_CHECK(setMathMode(handle, TENSOR_OP_MATH));\n", "",
    ),
    _told(
        "text-version", "a.txt", TXT, "Driver 535.104 or newer is needed.\n", "",
        "Driver 550.54 or newer is needed.\n", "",
    ),
    _told(
        "text-words", "a.txt", TXT,
        "Do not install it as root, because of the cache.\n", "",
        "Never install it as root, because of the build cache.\n", "",
    ),
    _told(
        "yaml", "a.yaml", YAML, "    container: image-12.4\n", "",
        "    container: image-12.6\n", "",
    ),
    Story(
        "moved", "a.py", PY.replace("@\n", _GUARD), PY.replace("@\n", ""),
        PY.replace("@\n", "").replace("    return output\n", _GUARD + "    return output\n"),
        PY.replace("@\n", "") + _END["py"],
    ),
    Story(
        "cxx-moved", "a.cpp", CXX.replace("@\n", _CXX_CHECK), CXX.replace("@\n", ""),
        CXX.replace("@\n", "").replace("  launch(", _CXX_CHECK + "  launch("),
        CXX.replace("@\n", "") + _END["cpp"],
    ),
]  # fmt: skip


def _swapped(id: str, path: str, frame: str, line: str, more: str) -> Story:
    """Return a story in which upstream put a line before the one that we put it behind."""
    return _told(id, path, frame, line, line + more, more + line, line + more)


ORDERS = [
    _swapped("list", "a.py", LIST, "        tokens,\n", "        window_left,\n"),
    _swapped("call", "a.py", CALL, "        tokens,\n", "        window_left,\n"),
    _swapped("parameters", "a.py", PARAMETERS, "    tokens,\n", "    window_left,\n"),
    _swapped("statements", "a.py", PY, "    sync(query)\n", "    flush_cache(page_table)\n"),
    _swapped("cxx-call", "a.cpp", CXX_CALL, "      tokens,\n", "      window_left,\n"),
    _swapped("cxx-statements", "a.cpp", CXX, "  sync(query);\n", "  flush_cache(page_table);\n"),
    _swapped("enumerators", "a.cpp", ENUM, "  KIND_SECOND,\n", "  KIND_PAGED,\n"),
    _swapped("text", "a.txt", TXT, "Unpack the archive.\n", "Check its signature with the key.\n"),
    _told(
        "two-in-a-list", "a.py", LIST, "", "        tokens,\n        window_left,\n",
        "        window_left,\n        tokens,\n", "        tokens,\n        window_left,\n",
    ),
    _told(
        "two-in-a-call", "a.py", CALL, "", "        tokens,\n        window_left,\n",
        "        window_left,\n        tokens,\n", "        tokens,\n        window_left,\n",
    ),
    _told(
        "two-statements", "a.cpp", CXX, "", "  sync(query);\n  flush_cache(page_table);\n",
        "  flush_cache(page_table);\n  sync(query);\n",
        "  sync(query);\n  flush_cache(page_table);\n",
    ),
    _told(
        "another-argument-before", "a.py", CALL, "", "        window_left,\n",
        "        causal_mask,\n        window_left,\n", "        window_left,\n",
    ),
    _told(
        "another-enumerator-before", "a.cpp", ENUM, "", "  KIND_PAGED,\n",
        "  KIND_RAGGED,\n  KIND_PAGED,\n", "  KIND_PAGED,\n",
    ),
    _told(
        "one-line", "a.py", PY, "    plan(query, tokens)\n", "    plan(query, tokens, window)\n",
        "    plan(query, window, tokens)\n", "    plan(query, tokens, window)\n",
    ),
]  # fmt: skip

ORDERS += [
    _told(
        f"on-one-line-{id}", path, PY if path == "a.py" else CXX,
        *(line.replace("alpha", x) for x in (
            "alpha", "alpha, beta", "alpha, gamma, beta", "alpha, beta, gamma"
        )),
    )
    for id, path, line in (
        ("tuple", "a.py", "    size = (alpha)\n"),
        ("list", "a.py", "    size = [alpha]\n"),
        ("call-of-what-a-call-gives", "a.py", "    size = table(1)(alpha)\n"),
        ("behind-another-call", "a.py", "    size = plan(table(1), alpha)\n"),
        ("without-brackets", "a.py", "    one, two = alpha\n"),
        ("template", "a.cpp", "  int size = plan<int>(alpha);\n"),
        ("array", "a.cpp", "  int size[] = {alpha};\n"),
        ("row", "a.cpp", "  {alpha},\n"),
        ("initializer", "a.cpp", "  Point size{alpha};\n"),
    )
]  # fmt: skip

WHITE_SPACE = [
    _told(
        "into-the-loop", "a.py", LOOP, "",
        "    flush_cache(total)\n", "        flush_cache(total)\n",
        "    flush_cache(total)\n",
    ),
    _told(
        "under-a-condition", "a.py", PY, "", "    trace_kernel(query)\n",
        "    if DEBUG:\n        trace_kernel(query)\n", "    trace_kernel(query)\n",
    ),
    _told(
        "out-of-the-loop", "a.py", LOOP, "",
        "        flush_cache(total)\n", "    flush_cache(total)\n",
        "        flush_cache(total)\n",
    ),
    _told(
        "string", "a.py", PY, "", "    need('torch==1.3 ')\n", "    need('torch==1.3')\n",
        "    need( 'torch==1.3 ' )\n",
    ),
    _told(
        "words-in-a-string", "a.py", PY, "", '    say("kernel is  slow", size)\n',
        '    say("kernel is slow", size)\n', '    say("kernel is  slow",size)\n',
    ),
    _told(
        "long-string", "a.py", PY, "",
        '    run(\n        """select *\n  from kernels_run"""\n    )\n',
        '    run(\n        """select *\n        from kernels_run"""\n    )\n',
        '    run(\n      """select *\n  from kernels_run"""\n    )\n',
    ),
    _told(
        "cxx-string", "a.cpp", CXX, "", '  say("kernel is slow ", size);\n',
        '  say("kernel is slow", size);\n', '    say( "kernel is slow ", size );\n',
    ),
    _told(
        "cxx-under-a-condition", "a.cpp", CXX, "", "  trace_kernel(query);\n",
        "  if (debug) {\n    trace_kernel(query);\n  }\n", "\ttrace_kernel( query );\n",
    ),
    _told(
        "cxx-switched-off", "a.cpp", CXX, "", "  trace_kernel(query);\n",
        "#ifdef DEBUG\n  trace_kernel(query);\n#endif\n", "    trace_kernel(query);\n",
    ),
    _told(
        "yaml-deeper", "a.yaml", YAML, "", "    retry-count: 3\n",
        "    options:\n      retry-count: 3\n", "    retry-count: 3\n",
    ),
    _told(
        "text-quoted", "a.txt", TXT, "", "Set the name to 'kernel 1' before.\n",
        "Set the name to 'kernel1' before.\n", "Set  the name to 'kernel 1'   before.\n",
    ),
    _told(
        "joined-words", "a.cpp", CXX, "", "  unsigned count_of(query);\n",
        "  unsignedcount_of(query);\n", "  unsigned  count_of( query );\n",
    ),
]  # fmt: skip

COUNTED = """\
enum Kind {
  A = 0,
@
};
"""
TABLE = """\
#include "kernels.h"

static const Entry table[N] = {
  {"none", none_kernel},
@
};
"""
APART = """\
SCHEMA_VERSION = 3


def describe(schema):
    for name in schema:
        show(name)


def count(schema):
    return len(schema)


def migrations():
    return [
        first_migration,
@
    ]
"""


def _apart(more: str) -> str:
    apart = APART.replace("VERSION = 3", "VERSION = 4") if more else APART
    return apart.replace("@\n", more)


COINCIDENCES = [
    _told("short", "a.cpp", COUNTED, "  COUNT = 1\n", "  B = 1,\n  COUNT = 2\n",
          "  C = 1,\n  COUNT = 2\n", "  B = 1,\n  COUNT = 2\n"),
    _told("long", "a.cpp", COUNTED, "  KIND_COUNT = 1\n", "  KIND_PAGED = 1,\n  KIND_COUNT = 2\n",
          "  KIND_RAGGED = 1,\n  KIND_COUNT = 2\n", "  KIND_PAGED = 1,\n  KIND_COUNT = 2\n"),
    _told("size", "a.cpp", TABLE.replace("N", "KERNEL_TABLE_SIZE"),
          "};\nstatic const int kernel_table_entries[1] = {\n",
          "  {\"b\", b},\n};\nstatic const int kernel_table_entries[2] = {\n",
          "  {\"c\", c},\n};\nstatic const int kernel_table_entries[2] = {\n",
          "  {\"b\", b},\n};\nstatic const int kernel_table_entries[2] = {\n"),
    Story("apart", "a.py", _apart(""), _apart("        add_pages,\n"),
          _apart("        add_windows,\n"), _apart("        add_pages,\n") + _END["py"]),
    _told("python", "a.py", PY, "    TOTAL_KINDS = 3\n", "    PAGED = 3\n    TOTAL_KINDS = 4\n",
          "    RAGGED = 3\n    TOTAL_KINDS = 4\n", "    PAGED = 3\n    TOTAL_KINDS = 4\n"),
    _told("text", "a.txt", TXT, "There are 3 steps before that:\n",
          "Log in.\nThere are 4 steps before that:\n", "Sign on.\nThere are 4 steps before that:\n",
          "Log in.\nThere are 4 steps before that:\n"),
    _told("yaml", "a.yaml", YAML, "    shards-of-tests: 2\n", "    x: c\n    shards-of-tests: 3\n",
          "    y: d\n    shards-of-tests: 3\n", "    x: c\n    shards-of-tests: 3\n"),
]  # fmt: skip

IF_PY = "def run(query):\n    if query:\n        launch(query)\n@\n    return query\n"
IF_CXX = "void run(Tensor query) {\n  if (query) {\n    launch(query);\n@\n  }\n}\n"
TWO_CXX = "struct Query {\n  int size;\n@\n};\n\nstruct Last {\n  int last;\n};\n"
SECTIONS = "[tool.first]\nsize = 1\n@\n\n[tool.last]\nlast = 1\n"
COMMANDS = "echo first\nmake first\n@\necho last\nmake last\n"


def _two(*heads: str, first: str = "", second: str = "") -> str:
    """Return two functions with like bodies, and a line more in one of them."""
    body = "(query, table):\n    check(query)\n    size = query.shape\n{}    launch(query)\n\n\n"
    return "".join(head + body.format(x) for head, x in zip(heads, (first, second), strict=False))


BLOCKS = [
    _told(
        "else", "a.py", IF_PY, "", "        trace_kernel(query)\n",
        "    else:\n        trace_kernel(query)\n",
        "        trace_kernel(query)\n    else:\n        stop()\n",
    ),
    _told(
        "beside", "a.py", IF_PY, "", "        trace_kernel(query)\n",
        "    for query in rest:\n        trace_kernel(query)\n",
        "        check(query)\n        trace_kernel(query)\n",
    ),
    _told(
        "string", "a.py", IF_PY, "", "        trace_kernel(query)\n",
        '        """\n        trace_kernel(query)\n        """\n',
        '        """Text of\n        its own."""\n        trace_kernel(query)\n',
    ),
    _told(
        "cxx-else", "a.cpp", IF_CXX, "", "    trace_kernel(query);\n",
        "  } else {\n    trace_kernel(query);\n",
        "    trace_kernel(query);\n  } else {\n    stop();\n",
    ),
    _told(
        "cxx-without-braces", "a.cpp", IF_CXX, "", "    trace_kernel(query);\n",
        "    if (debug)\n      trace_kernel(query);\n",
        "    if (debug)\n      stop();\n    trace_kernel(query);\n",
    ),
    _told(
        "cxx-comment", "a.cpp", IF_CXX, "", "    trace_kernel(query);\n",
        "    /*\n    trace_kernel(query);\n    */\n",
        "    /* Text of\n       its own. */\n    trace_kernel(query);\n",
    ),
    _told(
        "cxx-preprocessor", "a.cpp", IF_CXX, "", "#ifdef A\n    trace_kernel(query);\n#endif\n",
        "#ifdef A\n#else\n    trace_kernel(query);\n#endif\n",
        "#ifdef A\n    trace_kernel(query);\n#else\n    stop();\n#endif\n",
    ),
    _told(
        "cxx-struct", "a.cpp", TWO_CXX, "", "  float scale_factor;\n",
        "};\n\nstruct Other {\n  float scale_factor;\n", "  int other;\n  float scale_factor;\n",
    ),
    _told(
        "cxx-case", "a.cpp", IF_CXX.replace("if (query)", "switch (query)"), "",
        "    trace_kernel(query);\n", "    case 2:\n    trace_kernel(query);\n",
        "    trace_kernel(query);\n    case 2:\n    stop();\n",
    ),
    _told(
        "attribute", "a.rs", "fn run() {\n    launch();\n@\n    done();\n}\n", "",
        "    trace_kernel();\n", "    #[cfg(debug)]\n    trace_kernel();\n",
        "    #[cfg(debug)]\n    stop();\n    trace_kernel();\n",
    ),
    _told(
        "another-loop", "a.py", IF_PY, "", "        for x in rest:\n            trace(x)\n",
        "        while busy():\n            for x in rest:\n                trace(x)\n",
        "        while busy():\n            wait()\n        for x in rest:\n            trace(x)\n",
    ),
    Story(
        "functions-changed-places", "a.py", _two("def one", "def two"),
        _two("def one", "def two", first="    trace_kernel(query)\n"),
        _two("def two", "def one", first="    trace_kernel(query)\n"),
        _two("def one", "def two", first="    trace_kernel(query)\n") + _END["py"],
    ),
    Story(
        "copied-function", "a.py", _two("def one"),
        _two("def one", first="    trace_kernel(query)\n"),
        _two("def two", "def one", first="    trace_kernel(query)\n"),
        _two("def one", first="    trace_kernel(query)\n") + _END["py"],
    ),
    Story(
        "another-function", "a.py", _two("def one", "def two"),
        _two("def one", "def two", second="    trace_kernel(query)\n"),
        _two("def two", "def one", first="    trace_kernel(query)\n"),
        _two("def one", "def two", second="    trace_kernel(query)\n") + _END["py"],
    ),
    _told(
        "section", "a.toml", SECTIONS, "", 'name = "kernel"\n',
        '\n[tool.other]\nname = "kernel"\n', 'other = 2\nname = "kernel"\n',
    ),
    _told(
        "script", "a.sh", COMMANDS, "", "check_kernel --all\n",
        "if test $DEBUG; then\ncheck_kernel --all\nfi\n",
        "if test $DEBUG; then\nstop\nfi\ncheck_kernel --all\n",
    ),
    _told(
        "here-document", "a.sh", COMMANDS, "", "check_kernel --all\n",
        "cat <<EOF\ncheck_kernel --all\nEOF\n", "cat <<EOF\nText\nEOF\ncheck_kernel --all\n",
    ),
    _told(
        "member-behind-a-star", "a.py", "def run(@\n):\n    pass\n", "query", "query, scale=1",
        "query, *, scale=1", "query, scale=1, more=2",
    ),
]  # fmt: skip

_BUDGET = "page_budget.remaining < requested_pages"
_STRICT = f"    if {_BUDGET} and eviction.is_strict:\n        raise BudgetError(page_budget)\n"
_RELEASED = """\
    for page in page_budget.pages(eviction):
        page.release(tenant_quota, requested_pages)
"""
MORE_WORDS = [
    _told(
        "weaker-condition", "a.py", PY, "", _STRICT,
        _STRICT.replace("and eviction", "and tenant_quota.is_known and eviction"), _STRICT,
    ),
    _told(
        "other-condition", "a.py", PY, "", _STRICT,
        _STRICT.replace("and eviction", "and tenant_quota.is_known or eviction"), _STRICT,
    ),
    _told(
        "argument-before", "a.py", PY, "",
        "    allocate_pages(requested_pages, eviction_policy, page_budget, tenant_quota)\n",
        "    allocate_pages(requested_pages, owner, eviction_policy, page_budget, tenant_quota)\n",
        "    allocate_pages(requested_pages, eviction_policy, page_budget, tenant_quota)\n",
    ),
    _told(
        "condition-around", "a.py", PY, "", _RELEASED,
        _RELEASED.replace("        page.", "        if page.is_dirty:\n            page."),
        _RELEASED,
    ),
    _told(
        "cxx-weaker-condition", "a.cpp", CXX, "",
        f"  if ({_BUDGET} && eviction.strict) {{\n    throw BudgetError(page_budget);\n  }}\n",
        f"  if ({_BUDGET} && tenant_quota.known && eviction.strict) {{\n"
        "    throw BudgetError(page_budget);\n  }\n",
        f"  if ({_BUDGET} && eviction.strict) {{\n    throw BudgetError(page_budget);\n  }}\n",
    ),
]  # fmt: skip

_PARTS = "".join(
    f"Part {n}\n\nThe size is one here.\n{{{n}}}The name is it.\n\n" for n in ("one", "two", "last")
)
_MODE = "The mode is two in this part.\n"


def _parts(*, two: str = "", last: str = "") -> str:
    return _PARTS.format(one="", two=two, last=last)


_SIZE, _NAME, _RETRY = "  size: 1\n", "  name: it\n", "  retry-count: 2\n"
_JOBS = "".join(f"{x}:\n{_SIZE}{_NAME}" for x in ("one", "two"))
COPIES = [
    Story(
        f"a-copy-behind-the-part-{path}", path, _parts(), _parts(two=_MODE),
        _parts() + _parts(two=_MODE).replace("Part two", "Part more"), _parts(two=_MODE) + "End\n",
    )
    for path in ("a.txt", "a.md")
] + [
    Story(
        "parts-changed-places", "a.yaml", _JOBS, _JOBS.replace(_SIZE, _SIZE + _RETRY, 1),
        "".join(x + _SIZE + more + _NAME for x, more in (("two:\n", _RETRY), ("one:\n", ""))),
        _JOBS.replace(_SIZE, _SIZE + _RETRY, 1) + "last:\n  size: 2\n",
    )
]  # fmt: skip

STORIES = {
    "deletion": DELETIONS,
    "order": ORDERS,
    "white-space": WHITE_SPACE,
    "coincidence": COINCIDENCES,
    "block": BLOCKS,
    "copy": COPIES,
    "more-words": MORE_WORDS,
}
