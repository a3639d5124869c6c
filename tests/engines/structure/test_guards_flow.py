"""Repeated statements and unreachable code in a merge."""

from patchmgr.engines.structure.guards_flow import doubled_statements, facts_of, newly_dead
from tests.tables import table

Texts = tuple[str, str, str]


def within(*lines: str) -> str:
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)


NONE_RETURNS = ("if a is None:", "    return 0")
NONE_RAISES = ("if a is None:", "    raise ValueError")


@table(
    ("upstream", "fork", "merged", "told"),
    {
        "two-guards-on-one-condition": (
            within(*NONE_RETURNS, "go()"),
            within(*NONE_RAISES, "go()"),
            within(*NONE_RETURNS, *NONE_RAISES, "go()"),
            ("The code under the second `if a is None` is never reached.",),
        ),
        "no-change-two-conditions": (
            within(*NONE_RETURNS, "go()"),
            within("if b is None:", "    raise ValueError", "go()"),
            within(*NONE_RETURNS, "if b is None:", "    raise ValueError", "go()"),
            (),
        ),
        "no-change-a-side-has-both": (
            within(*NONE_RETURNS, *NONE_RAISES),
            within("go()"),
            within(*NONE_RETURNS, *NONE_RAISES),
            (),
        ),
        "with-a-statement-between": (
            within(*NONE_RETURNS, "b()"),
            within("b()", *NONE_RAISES),
            within(*NONE_RETURNS, "b()", *NONE_RAISES),
            ("The code under the second `if a is None` is never reached.",),
        ),
        "no-change-the-name-gets-a-value-between": (
            within(*NONE_RETURNS, "a = b()"),
            within("a = b()", *NONE_RAISES),
            within(*NONE_RETURNS, "a = b()", *NONE_RAISES),
            (),
        ),
        "no-change-an-attribute-that-may-have-changed": (
            within("if a.x:", "    return 0", "b()"),
            within("b()", "if a.x:", "    return 1"),
            within("if a.x:", "    return 0", "b()", "if a.x:", "    return 1"),
            (),
        ),
        "no-change-the-first-leads-nowhere": (
            within("if a:", "    b()"),
            within(*NONE_RETURNS),
            within("if a:", "    b()", "if a:", "    return 0"),
            (),
        ),
        "no-change-the-first-does-something-else": (
            within("if a:", "    return 0", "else:", "    a = b"),
            within("if a:", "    return 1"),
            within("if a:", "    return 0", "else:", "    a = b", "if a:", "    return 1"),
            (),
        ),
        "two-branches-with-one-condition": (
            within("if a:", "    b(1)"),
            within("if b:", "    a(1)"),
            within("if b:", "    a(1)", "elif a:", "    b(1)", "elif b:", "    a(2)"),
            ("The code under the second `if b` is never reached.",),
        ),
        "behind-a-way-out": (
            within("return a"),
            within("go()"),
            within("return a", "go()"),
            ("`go()` is never reached.",),
        ),
        "no-change-a-way-out-of-another-block": (
            "for x in y:\n    try:\n        x()\n    except E:\n        continue\n    y()\n",
            "go()\n",
            "for x in y:\n    try:\n        x()\n    except E:\n        continue\n    y()\ngo()\n",
            (),
        ),
    },
)
def test_code_never_reached(upstream: str, fork: str, merged: str, told: tuple[str, ...]) -> None:
    facts = [facts_of(text) for text in (upstream, fork, merged)]
    assert newly_dead(*facts) == told  # type: ignore[arg-type]


ONCE = within("go(a)", "b()")


@table(
    ("texts", "merged", "told"),
    {
        "in-one-block": ((ONCE, ONCE, ONCE), within("go(a)", "b()", "go(a)"), ("go(a)",)),
        "in-two-branches": (
            (ONCE, ONCE, ONCE),
            within("if b:", "    go(a)", "else:", "    go(a)", "b()"),
            ("go(a)",),
        ),
        "no-change-a-side-has-it-twice": (
            (ONCE, within("go(a)", "go(a)", "b()"), ONCE),
            within("go(a)", "go(a)", "b()"),
            (),
        ),
        "both-bring-it-into-one-block": (
            (within("b()"), within("go(a)", "b()"), within("b()", "go(a)")),
            within("go(a)", "b()", "go(a)"),
            ("go(a)",),
        ),
        "no-change-each-in-a-branch-of-its-own": (
            (
                within("if a:", "    b()", "else:", "    a()"),
                within("if a:", "    b()", "    go()", "else:", "    a()"),
                within("if a:", "    b()", "else:", "    a()", "    go()"),
            ),
            within("if a:", "    b()", "    go()", "else:", "    a()", "    go()"),
            (),
        ),
        "no-change-in-two-functions": (
            (ONCE, ONCE, ONCE),
            ONCE + ONCE.replace("def f", "def g"),
            (),
        ),
        "no-change-two-in-a-line": (
            ("x = 1; y = 2\n", "x = 3; y = 2\n", "x = 1; y = 4\n"),
            "x = 3; y = 4\n",
            (),
        ),
        "no-change-laid-out-anew": ((ONCE, ONCE, ONCE), within("go(", "    a", ")", "b()"), ()),
    },
)
def test_a_statement_twice_in_the_merge(texts: Texts, merged: str, told: tuple[str, ...]) -> None:
    facts = [facts_of(text) for text in (*texts, merged)]
    assert doubled_statements(*facts) == list(told)  # type: ignore[arg-type]


def test_a_text_that_does_not_parse_has_no_facts() -> None:
    assert facts_of("def (\n") is None
