from __future__ import annotations

from collections import Counter

import pytest

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.regions import Region
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.structure.text_contains import contains_edits
from patchmgr.engines.structure.text_counts import is_possible
from patchmgr.engines.structure.text_renames import has_stale_use
from patchmgr.engines.structure.text_rules import Commute, never_commute, solve_region
from tests.tables import table


def any_order(_: object) -> bool:
    return True


C = never_commute
SOLVED = [
    pytest.param(C, "f(a);\n", "f(a, b);\n", "f(a,\n  b);\n", "same", "f(a, b);\n", id="same"),
    pytest.param(C, "f(a);\n", "f(a);\n", "f( a );\n", "same", "f( a );\n", id="same as the base"),
    pytest.param(
        C,
        "f(a, b);\n",
        "f(a,\n  b);\n",
        "f(a, c);\n",
        "layout",
        "f(a,\n  c);\n",
        id="layout",
    ),
    pytest.param(
        C,
        "f();\n",
        "f(a);\n",
        "f(a, b);\n",
        "absorbed",
        "f(a, b);\n",
        id="absorbed by the fork",
    ),
    pytest.param(
        C,
        "f();\n",
        "f(a, b);\n",
        "f(a);\n",
        "absorbed",
        "f(a, b);\n",
        id="absorbed by upstream",
    ),
    pytest.param(C, "f(a, b);\n", "g(a, b);\n", "f(a, c);\n", "apart", "g(a, c);\n", id="apart"),
    pytest.param(
        C,
        "a = 1;\nb = 1;\n",
        "a = 2;\nb = 1;\n",
        "a = 1;\nb = 2;\n",
        "apart",
        "a = 2;\nb = 2;\n",
        id="apart by line",
    ),
    pytest.param(
        C,
        "a(1, 2, 3);\n",
        "a(1, 2, 5);\n",
        "a(4, 2,\n  3);\n",
        "apart",
        "a(4, 2,\n  5);\n",
        id="the one who wraps is host",
    ),
    pytest.param(
        C,
        "f(a, b, c);\n",
        "f(a, b,\n  x);\n",
        "f(\n  y, b,\n  c);\n",
        "apart",
        "f(\n  y, b,\n  x);\n",
        id="the one who wraps more is host",
    ),
    pytest.param(
        C,
        "f(a);\ng(b);\nh(c);\n",
        "f(x);\ng(b);\nh(z);\n",
        "f(x);\ng(y);\nh(c);\n",
        "apart",
        "f(x);\ng(y);\nh(z);\n",
        id="one edit of both and others",
    ),
    pytest.param(any_order, "", "b;\n", "a;\n", "both insert", "a;\nb;\n", id="both insert"),
    pytest.param(
        any_order,
        "x;\n",
        "x;\n\nb;\n",
        "x;\n\na;\n",
        "both insert",
        "x;\n\na;\n\nb;\n",
        id="both insert with a blank line",
    ),
    pytest.param(
        any_order,
        "",
        "#define B 1\n",
        "#define A 1\n",
        "both insert",
        "#define A 1\n#define B 1\n",
        id="both insert macros",
    ),
    pytest.param(
        any_order,
        "",
        "#include <b>\n",
        "#define A 1\n",
        "both insert",
        "#define A 1\n#include <b>\n",
        id="a macro and a directive",
    ),
    pytest.param(
        any_order,
        "#define Z 1\n",
        "#define Z 1\nb;\n",
        "#define Z 1\na;\n",
        "both insert",
        "#define Z 1\na;\nb;\n",
        id="after a macro",
    ),
    pytest.param(
        any_order,
        "x;\n",
        "x; b;\n",
        "x;\na;\n",
        "both insert",
        "x;\na;\nb;\n",
        id="one in the line, one below",
    ),
]


@table(("commute", "base", "upstream", "fork", "rule", "expected"), SOLVED)
def test_a_region_is_solved_by_a_rule(
    commute: Commute, base: str, upstream: str, fork: str, rule: str, expected: str
) -> None:
    region = Region(lines_of(base), lines_of(upstream), lines_of(fork))

    answer = solve_region(region, commute)

    assert answer is not None
    assert (answer.rule, answer.text) == (rule, expected)


LONGER = f"int total = {' + '.join(f'part_{n}' for n in range(12))};\n"
LONG = "int total = first_of_all + second_of_all + third_of_all + fourth_of_all + fifth_of_all;\n"
REFUSED = [
    pytest.param(C, "x;\n", f"{LONGER}x;\n", f"x;\n{LONGER}y;\n", id="a run doubled"),
    pytest.param(C, "f(a, k, k, b);\n", "f(a, k, b);\n", "f(a, k, c, k, b);\n", id="one of two"),
    pytest.param(C, "x = a;\n", "x = b;\n", "x = c;\n", id="one value"),
    pytest.param(C, "x = a + b;\n", "x = a - b;\n", "x = a + c;\n", id="one expression"),
    pytest.param(C, "", "b;\n", "a;\n", id="both insert"),
    pytest.param(C, "f(n, n);\n", "f(n, n, n);\n", "f(m, n);\n", id="a place among equals"),
    pytest.param(C, "f(a);\n", "", "f(a, b);\n", id="a deletion against a modification"),
    pytest.param(C, "a;\nb;\n", "b;\n", "a;\nc;\nb;\n", id="a deletion beside an insertion"),
    pytest.param(C, "f();\n", "f(p.a);\n", "f(a);\n", id="another expression contains nothing"),
    pytest.param(any_order, "x;\n", f"{LONG}x;\n", f"x;\n{LONG}", id="doubled"),
    pytest.param(
        any_order,
        "x;\ny;\n",
        "a_long_name_of_a(b);\nx;\ny;\n",
        "x;\ny;\na_long_name_of_a(b);\n",
        id="a line doubled",
    ),
    pytest.param(C, "a; " * 20_000 + "\n", "b;\n", "c;\n", id="too large"),
]


@table(("commute", "base", "upstream", "fork"), REFUSED)
def test_a_region_that_is_not_sure_is_refused(
    commute: Commute, base: str, upstream: str, fork: str
) -> None:
    region = Region(lines_of(base), lines_of(upstream), lines_of(fork))

    assert solve_region(region, commute) is None


def test_more_edits_than_can_be_compared_are_refused() -> None:
    base, upstream, fork = (
        tuple(f"k{n} = {word};\n" for n in range(1_100)) for word in ("a", "b", "a")
    )

    assert solve_region(Region(base, upstream, ("z;\n", *fork)), C) is None


def test_an_answer_that_changes_merged_lines_is_refused() -> None:
    region = Region(("f(a);\n",), ("f(a,\n", "  b);\n"), ("f(a,\n", "  b);\n"), 0, 1)

    assert solve_region(region, C) is not None
    wide = Region(("a();\n",), ("b(\n", ");\n"), ("b( x\n", ");\n"), 0, 2)
    assert solve_region(wide, C) is None


@table(
    ("base", "large", "small", "is_contained"),
    [
        pytest.param("a ;", "a , b ;", "a , b ;", True, id="the same"),
        pytest.param("a ;", "a , b , c ;", "a , b ;", True, id="an element more"),
        pytest.param("a ;", "a ;", "a , b ;", False, id="an element less"),
        pytest.param("a , b ;", "a ;", "b ;", False, id="nothing added"),
        pytest.param("a ;", "", "b ;", False, id="nothing left"),
        pytest.param("a ;", "x y b z ;", "x b ;", False, id="in pieces"),
        pytest.param("a ;", "x , y , b , z ;", "x , z ;", True, id="elements between"),
        pytest.param("a ;", "x , p , y , q , z ;", "x , y , z ;", False, id="in small pieces"),
        pytest.param("a ;", "p . b ;", "b ;", False, id="part of an expression"),
        pytest.param("a , b ;", "c ;", "c , b ;", True, id="one removes more"),
        pytest.param("a , k ;", "b , a ;", "b ;", False, id="what was removed is back"),
        pytest.param("a ;", "b , d ;", "b c d ;", False, id="a part of it is taken out"),
        pytest.param("a , k ;", "b , a ;", "b , ;", False, id="a name that was removed is back"),
        pytest.param(
            "z ;",
            "f ( w , a1 + a2 , x , b1 + b2 , y ) ; z ;",
            "f ( a1 + a2 , b1 + b2 ) ; z ;",
            False,
            id="in many small pieces",
        ),
        pytest.param("x ; y ;", "n ; x ; y ;", "x ; n ; y ;", False, id="in another place"),
    ],
)
def test_one_side_contains_the_other(base: str, large: str, small: str, is_contained: bool) -> None:
    assert contains_edits(*(text.split() for text in (base, large, small))) is is_contained


MANY = "f(p.k, 1); g(p.k, 2); h(p.k, 3); i(p.k);"
REPLACED = "f(q, 1); g(q, 2); h(q, 3); i(p.k);"


@table(
    ("base", "upstream", "fork", "is_stale"),
    [
        pytest.param("a;", "b;", "a; a;", True, id="upstream renames, the fork uses"),
        pytest.param("a;", "a; a;", "b;", True, id="the fork renames, upstream uses"),
        pytest.param("a; a;", "a;", "a; a; a;", False, id="still there"),
        pytest.param("a;", "b;", "a; c;", False, id="not used anew"),
        pytest.param("1;", "2;", "1; 1;", False, id="numbers"),
        pytest.param(MANY, REPLACED, MANY + " j(p.k);", True, id="replaced all over"),
        pytest.param(MANY, REPLACED, MANY + " j(r);", False, id="replaced, not used anew"),
        pytest.param(
            "f(1); g(1); h(1);",
            "f(2); g(2); h(2);",
            "f(1); g(1); h(1); i(1);",
            False,
            id="numbers replaced",
        ),
        pytest.param(
            "f(k, 1); g(k, 2);",
            "f(q, 1); g(q, 2);",
            "f(k, 1); g(k, 2); k();",
            True,
            id="a name is gone",
        ),
    ],
)
def test_new_uses_of_what_the_other_side_did_away_with(
    base: str, upstream: str, fork: str, is_stale: bool
) -> None:
    assert has_stale_use(Texts(base, upstream, fork)) is is_stale


@table(
    ("now", "base", "upstream", "fork", "expected"),
    [
        pytest.param(1, 1, 1, 1, True, id="unchanged"),
        pytest.param(1, 0, 1, 0, True, id="added by one"),
        pytest.param(0, 0, 1, 0, False, id="lost"),
        pytest.param(2, 0, 1, 0, False, id="doubled"),
        pytest.param(0, 1, 1, 0, True, id="removed by one"),
        pytest.param(1, 1, 1, 0, False, id="brought back"),
        pytest.param(1, 0, 1, 1, True, id="added by both, once"),
        pytest.param(2, 0, 1, 1, True, id="added by both, twice"),
        pytest.param(3, 0, 1, 1, False, id="added by both, thrice"),
        pytest.param(0, 1, 0, 0, True, id="removed by both"),
    ],
)
def test_counts_come_of_the_edits_of_both(
    now: int, base: int, upstream: int, fork: int, expected: bool
) -> None:
    counts = [Counter({"x": n}) for n in (now, base, upstream, fork)]

    assert is_possible(counts[0], counts[1:]) is expected
