"""A line of a function whose variable or `#if` the other side changed is told."""

from __future__ import annotations

from patchmgr.engines.audit.functions import check_functions
from tests.engines.audit.audited import found
from tests.tables import table

STEPS = "".join(f"  step{n}(c);\n" for n in range(6))
FIRST = "int first(ctx *c) {\n  int n = 1;\n  return n;\n}\n\n"
BASE = f"{FIRST}int run(ctx *c, int len) {{\n  int n = count(c);\n{STEPS}  return 0;\n}}\n"
DECLARED = "  int n = count(c);\n"


@table(
    ("old", "new", "added", "said"),
    {
        "renamed": (DECLARED, "  int items = count(c);\n", "  if (n > 3) stop(c);\n",
            "`n` is used here, but upstream no longer has it in `run`."),
        "its-own": (DECLARED, "  int items = count(c);\n", "  int n = 2;\n", None),
        "a-field": (DECLARED, "  int items = count(c);\n", "  c->n = 2;\n", None),
        "a-call": (DECLARED, "  int items = count(c);\n", "  n(c);  // n\n", None),
        "another-value": (DECLARED, "  int n = count(c) / 4;\n", "  if (n > 3) stop(c);\n",
            "`n`, which this line reads, is now `count(c) / 4` (it was `count(c)`)"),
        "passed-on": (DECLARED, "  int n = count(c) / 4;\n", "  show(n);\n", None),
        "laid-out-anew": (DECLARED, "  int n =  count(c);\n", "  if (n > 3) stop(c);\n", None),
        "of-another-function": ("int n = 1;\n", "int m = 1;\n", "  if (n > 3) stop(c);\n", None),
        "switched-off": ("  step1(c);\n", "#if 0\n  step1(c);\n", "  fix(c);\n",
            "this line is now inside `#if 0`"),
    },
)  # fmt: skip
def test_what_a_new_line_relies_on_is_told(
    old: str, new: str, added: str, said: str | None
) -> None:
    end = "  step5(c);\n"
    ours = BASE.replace("  step4(c);\n", f"  step4(c);\n{added}")
    upstream = BASE.replace(old, new, 1)
    if "#if" in new:
        upstream = upstream.replace(end, f"{end}#endif\n")
    findings = found([check_functions], *({"m.c": x.encode()} for x in (BASE, ours, upstream)))
    assert [finding.text for finding in findings] == ([] if said is None else [said])


def test_a_value_that_the_series_changes_is_changed_on_purpose() -> None:
    ours = BASE.replace(DECLARED, "  int n = 0;\n")
    upstream = BASE.replace("  step4(c);\n", "  step4(c);\n  if (n > 3) stop(c);\n")
    assert not found([check_functions], *({"m.c": x.encode()} for x in (BASE, ours, upstream)))


@table("kind", {"guarded": True, "once": False})
def test_the_guard_of_a_header_is_no_condition(kind: bool) -> None:
    lines = "".join(f"int f{n}(void);\n" for n in range(9))
    base = f"#ifndef M_H\n#define M_H\n{lines}#endif\n"
    upstream = f"#pragma once\n{lines}" if kind else base.replace("f0", "g0")
    ours = base.replace("int f5(void);\n", "int f5(void);\nint mine(void);\n")
    assert not found([check_functions], *({"m.h": x.encode()} for x in (base, ours, upstream)))
