"""A line around which upstream changed the `#if` is told."""

from __future__ import annotations

from patchmgr.engines.audit.conditions import check_conditions
from tests.engines.audit.audited import found
from tests.tables import table

LINES = "".join(f"int f{n}(void);\n" for n in range(9))
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
    },
)  # fmt: skip
def test_a_line_that_is_in_another_if_is_told(base: str, upstream: str, said: list[str]) -> None:
    ours = base.replace("int f5(void);\n", "int f5(void);\nint mine(void);\n")
    findings = found([check_conditions], *({"m.h": x.encode()} for x in (base, ours, upstream)))
    assert [finding.text for finding in findings] == said
