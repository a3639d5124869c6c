"""What a merge does twice, never does, or says to another parameter."""

from __future__ import annotations

import pytest

from patchmgr.engines.structure.guards import broken_rules
from patchmgr.engines.structure.guards_calls import misplaced
from patchmgr.engines.structure.guards_flow import (
    doubled_imports,
    doubled_statements,
    flow_of,
    newly_dead,
)
from tests.tables import table

Texts = tuple[str, str, str]


def within(*lines: str) -> str:
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)


NONE_RETURNS = ("if a is None:", "    return 0")
NONE_RAISES = ("if a is None:", "    raise ValueError")


@table(
    ("upstream", "fork", "merged", "told"),
    [
        pytest.param(
            within(*NONE_RETURNS, "go()"),
            within(*NONE_RAISES, "go()"),
            within(*NONE_RETURNS, *NONE_RAISES, "go()"),
            ("What is under the second `if a is None` is never reached.",),
            id="two-guards-on-one-condition",
        ),
        pytest.param(
            within(*NONE_RETURNS, "go()"),
            within("if b is None:", "    raise ValueError", "go()"),
            within(*NONE_RETURNS, "if b is None:", "    raise ValueError", "go()"),
            (),
            id="no-change-two-conditions",
        ),
        pytest.param(
            within(*NONE_RETURNS, *NONE_RAISES),
            within("go()"),
            within(*NONE_RETURNS, *NONE_RAISES),
            (),
            id="no-change-a-side-has-both",
        ),
        pytest.param(
            within(*NONE_RETURNS, "b()"),
            within("b()", *NONE_RAISES),
            within(*NONE_RETURNS, "b()", *NONE_RAISES),
            ("What is under the second `if a is None` is never reached.",),
            id="with-a-statement-between",
        ),
        pytest.param(
            within(*NONE_RETURNS, "a = b()"),
            within("a = b()", *NONE_RAISES),
            within(*NONE_RETURNS, "a = b()", *NONE_RAISES),
            (),
            id="no-change-the-name-gets-a-value-between",
        ),
        pytest.param(
            within("if a.x:", "    return 0", "b()"),
            within("b()", "if a.x:", "    return 1"),
            within("if a.x:", "    return 0", "b()", "if a.x:", "    return 1"),
            (),
            id="no-change-an-attribute-that-may-have-changed",
        ),
        pytest.param(
            within("if a:", "    b()"),
            within(*NONE_RETURNS),
            within("if a:", "    b()", "if a:", "    return 0"),
            (),
            id="no-change-the-first-leads-nowhere",
        ),
        pytest.param(
            within("if a:", "    return 0", "else:", "    a = b"),
            within("if a:", "    return 1"),
            within("if a:", "    return 0", "else:", "    a = b", "if a:", "    return 1"),
            (),
            id="no-change-the-first-does-something-else",
        ),
        pytest.param(
            within("if a:", "    b(1)"),
            within("if b:", "    a(1)"),
            within("if b:", "    a(1)", "elif a:", "    b(1)", "elif b:", "    a(2)"),
            ("What is under the second `if b` is never reached.",),
            id="two-branches-with-one-condition",
        ),
        pytest.param(
            within("return a"),
            within("go()"),
            within("return a", "go()"),
            ("`go()` is never reached.",),
            id="behind-a-way-out",
        ),
        pytest.param(
            "for x in y:\n    try:\n        x()\n    except E:\n        continue\n    y()\n",
            "go()\n",
            "for x in y:\n    try:\n        x()\n    except E:\n        continue\n    y()\ngo()\n",
            (),
            id="no-change-a-way-out-of-another-block",
        ),
    ],
)
def test_code_that_only_the_merge_never_reaches(
    upstream: str, fork: str, merged: str, told: tuple[str, ...]
) -> None:
    flows = [flow_of(text) for text in (upstream, fork, merged)]
    assert newly_dead(*flows) == told  # type: ignore[arg-type]
    assert ("dead code" in broken_rules("x()\n", upstream, fork, merged)) is bool(told)


ONCE = within("go(a)", "b()")


@table(
    ("texts", "merged", "told"),
    [
        pytest.param(
            (ONCE, ONCE, ONCE), within("go(a)", "b()", "go(a)"), ("go(a)",), id="in-one-block"
        ),
        pytest.param(
            (ONCE, ONCE, ONCE),
            within("if b:", "    go(a)", "else:", "    go(a)", "b()"),
            ("go(a)",),
            id="in-two-branches",
        ),
        pytest.param(
            (ONCE, within("go(a)", "go(a)", "b()"), ONCE),
            within("go(a)", "go(a)", "b()"),
            (),
            id="no-change-a-side-has-it-twice",
        ),
        pytest.param(
            (within("b()"), within("go(a)", "b()"), within("b()", "go(a)")),
            within("go(a)", "b()", "go(a)"),
            ("go(a)",),
            id="both-bring-it-into-one-block",
        ),
        pytest.param(
            (
                within("if a:", "    b()", "else:", "    a()"),
                within("if a:", "    b()", "    go()", "else:", "    a()"),
                within("if a:", "    b()", "else:", "    a()", "    go()"),
            ),
            within("if a:", "    b()", "    go()", "else:", "    a()", "    go()"),
            (),
            id="no-change-each-in-a-branch-of-its-own",
        ),
        pytest.param(
            (ONCE, ONCE, ONCE),
            ONCE + ONCE.replace("def f", "def g"),
            (),
            id="no-change-in-two-functions",
        ),
        pytest.param(
            ("x = 1; y = 2\n", "x = 3; y = 2\n", "x = 1; y = 4\n"),
            "x = 3; y = 4\n",
            (),
            id="no-change-two-in-a-line",
        ),
        pytest.param(
            (ONCE, ONCE, ONCE), within("go(", "    a", ")", "b()"), (), id="no-change-laid-out-anew"
        ),
    ],
)
def test_a_statement_that_only_the_merge_has_twice(
    texts: Texts, merged: str, told: tuple[str, ...]
) -> None:
    flows = [flow_of(text) for text in (*texts, merged)]
    assert doubled_statements(*flows) == told  # type: ignore[arg-type]
    assert ("doubled statement" in broken_rules(*texts, merged)) is bool(told)


@table(
    ("upstream", "fork", "merged", "told"),
    [
        pytest.param(
            "import re\nx = 1\n",
            "x = 1\nimport re\n",
            "import re\nx = 1\nimport re\n",
            ("re",),
            id="twice-at-the-top",
        ),
        pytest.param(
            "from a import b as c\nx = 1\n",
            "if x:\n    from a import b as c\n",
            "from a import b as c\nif x:\n    from a import b as c\n",
            ("c",),
            id="under-a-condition",
        ),
        pytest.param(
            within("import re"),
            within("pass").replace("def f", "def g") + "    import re\n",
            within("import re") + within("pass").replace("def f", "def g") + "    import re\n",
            (),
            id="no-change-in-two-functions",
        ),
        pytest.param(
            "import re\nimport re\n", "x = 1\n", "import re\nimport re\n", (), id="no-change"
        ),
    ],
)
def test_an_import_that_only_the_merge_has_twice(
    upstream: str, fork: str, merged: str, told: tuple[str, ...]
) -> None:
    flows = [flow_of(text) for text in (upstream, fork, merged)]
    assert doubled_imports(*flows) == told  # type: ignore[arg-type]


OWN = "def sell(item, count=1, price=0): ...\n"
BOTH = "def sell(item, count=1, reason=None, price=0): ...\n"
MADE = "class Shop:\n    def __init__(self, name, {}size=0): ...\n    def sell(self, {}n=1): ...\n"


@table(
    ("side", "merged", "count"),
    [
        pytest.param(OWN + "sell(1, 2, 3)\n", BOTH + "sell(1, 2, 3)\n", 1, id="by-place"),
        pytest.param(OWN + "sell(1, 2, price=3)\n", BOTH + "sell(1, 2, price=3)\n", 0,
                     id="no-change-by-name"),
        pytest.param(OWN + "sell(1, 2, 3)\n", OWN.replace("price", "cost") + "sell(1, 2, 3)\n", 0,
                     id="no-change-renamed"),
        pytest.param(OWN + "sell(1, 2)\n", OWN.replace("count=1, ", "") + "sell(1, 2)\n", 1,
                     id="one-before-it-went"),
        pytest.param(OWN + "sell(1, 2)\n", BOTH + "sell(1, 2)\n", 0, id="no-change-before-it"),
        pytest.param(OWN + "sell(1, 2, 3)\n", BOTH + "sell(1, 2, None, 3)\n", 0,
                     id="no-change-the-call-was-mended"),
        pytest.param(OWN + "m.sell(1, 2, 3)\n", BOTH + "m.sell(1, 2, 3)\n", 1,
                     id="of-something"),
        pytest.param(OWN + OWN + "sell(1, 2, 3)\n", BOTH + "sell(1, 2, 3)\n", 0,
                     id="no-change-defined-twice"),
        pytest.param(MADE.format("", "") + "Shop(1, 2)\ns.sell(3)\n",
                     MADE.format("a=1, ", "b=2, ") + "Shop(1, 2)\ns.sell(3)\n", 2,
                     id="class-and-method"),
        pytest.param("def (\n", BOTH, 0, id="no-change-does-not-parse"),
        pytest.param(OWN + "go()(1)\n", BOTH + "go()(1)\n", 0, id="no-change-a-call-of-a-call"),
    ],
)  # fmt: skip
def test_an_argument_that_goes_to_another_parameter(side: str, merged: str, count: int) -> None:
    assert len(misplaced(side, merged)) == count


def test_a_text_that_does_not_parse_has_no_flow() -> None:
    assert flow_of("def (\n") is None
