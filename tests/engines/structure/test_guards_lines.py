"""New lines in a form that the other side replaced everywhere."""

from patchmgr.engines.structure.guards_lines import growths, outdated_lines
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

OLD, NEW = "  Arguments args{scale};\n", "  Arguments args{scale, {}, {}};\n"
OTHER = "  return Result{args, bias};\n"


def base(line: str, *, end: str = "") -> str:
    return "".join(f"struct S{n} {{\n{line}}};\n" for n in range(2)) + "// more\n" * 4 + end


def told(upstream: str, fork: str, merged: str, *, old: str = base(OLD)) -> tuple[str, ...]:
    texts = Texts(old, upstream, fork)
    return outdated_lines(texts, growths(texts, merged))


@table(("whose", "indent"), [("upstream", ""), ("the patch", "  ")])
def test_a_new_copy_of_a_line_replaced_everywhere_is_reported(whose: str, indent: str) -> None:
    more = f"struct S2 {{\n{indent}{OLD}}};\n"
    sides = (base(NEW), base(OLD, end=more))
    expected = f"`Arguments args{{scale}};` is new, although {whose} replaced every copy of it."
    merged = base(NEW, end=more)
    assert told(*(sides if whose == "upstream" else sides[::-1]), merged) == (expected,)


def test_two_lines_that_one_side_replaced_once_are_reported_together() -> None:
    old, new = OLD + OTHER, "  return make(scale);\n"
    expected = (
        "`Arguments args{scale};` (and 1 more like it) is new,"
        " although upstream replaced every copy of it."
    )
    assert told("a\n" + new, old + "b\n" + old, new + "b\n" + old, old=old) == (expected,)


@table(
    ("upstream", "fork", "merged"),
    {
        "upstream-still-has-one": (NEW + OLD, OLD * 3, NEW + OLD * 2),
        "nobody-brings-one": (NEW * 2, OLD * 2 + "x\n", NEW * 2 + "x\n"),
        "the-merge-has-none": (NEW * 2, OLD * 3, NEW * 2),
    },
)
def test_other_lines_are_not_reported(upstream: str, fork: str, merged: str) -> None:
    assert told(upstream, fork, merged, old=OLD * 2) == ()


@table("line", ["  }\n", "  return x\n", "    ...........;\n"])
def test_a_line_that_is_not_distinctive_is_not_reported(line: str) -> None:
    assert told("new\n", line * 3, "new\n" + line, old=line * 2) == ()


def test_one_replaced_line_is_not_enough_to_report() -> None:
    assert told("new\n", OLD * 2, "new\n" + OLD, old=OLD) == ()


def test_a_long_line_is_cut() -> None:
    line = f"call({'argument, ' * 20})\n"
    [warning] = told("new\n", line * 3, "new\n" + line, old=line * 2)
    assert "…`" in warning and len(warning) < 170
