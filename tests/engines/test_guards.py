"""Guards: a condition with nothing but a way out."""

from __future__ import annotations

import pytest

from patchmgr.engines.guards import Guard, find_guards


def guards(source: str, language: str = "Python") -> list[Guard]:
    return list(find_guards(source.encode().splitlines(keepends=True), language))


def ways(source: str, language: str = "Python") -> list[tuple[int, int, str]]:
    return [(guard.line, guard.end, guard.way_out) for guard in guards(source, language)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param("if a:\n    continue\n", [(0, 2, "continue")], id="plain"),
        pytest.param("if a: return b\n", [(0, 1, "return b")], id="one-line"),
        pytest.param("x = 1\nelif a:\n    break\n", [(1, 3, "break")], id="elif"),
        pytest.param("if (\n    a\n    or b\n):\n    return\n", [(0, 5, "return")], id="brackets"),
        pytest.param("if a:  # why\n    # so\n    pass\n", [], id="no-way-out"),
        pytest.param("if a:\n\n    # so\n    return 1\n", [(0, 4, "return 1")], id="comments"),
        pytest.param("if a:\n", [], id="cut-off"),
        pytest.param("if (a\n", [], id="not-closed"),
        pytest.param("if '):' in a:\n    return\n", [(0, 2, "return")], id="string"),
        pytest.param(r'if "\"" in a:' + "\n    return\n", [(0, 2, "return")], id="escape"),
        pytest.param("if (a) and f(b):\n    return\n", [(0, 2, "return")], id="half-in-brackets"),
        pytest.param(
            "if a:\n    raise ValueError(\n        'no'\n    )\n", [(0, 2, "raise ValueError")],
            id="what-is-raised",
        ),
        pytest.param("if a[1:2]:\n    return\n", [(0, 2, "return")], id="slice"),
        pytest.param("iffy = 1\n", [], id="a-name"),
        pytest.param("if a:\n    x = 1\n    return\n", [], id="does-something"),
    ],
)  # fmt: skip
def test_guards_of_python(source: str, found: list[tuple[int, int, str]]) -> None:
    assert ways(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param("if (a) {\n  return;\n}\n", [(0, 2, "return")], id="braces"),
        pytest.param("if (a) return x;\n", [(0, 1, "return x")], id="one-line"),
        pytest.param("} else if (a(b)) {\n  break;\n}\n", [(0, 2, "break")], id="else-if"),
        pytest.param("if constexpr (a) { continue; }\n", [(0, 1, "continue")], id="constexpr"),
        pytest.param("if (a ||\n    b)\n  throw e(1);\n", [(0, 3, "throw e")], id="two-lines"),
        pytest.param("if (a)\n{\n  goto end;\n}\n", [(0, 3, "goto end")], id="brace-below"),
        pytest.param("if (a) {\n  x = 1;\n}\n", [], id="does-something"),
        pytest.param("if (a)\n", [], id="cut-off"),
    ],
)
def test_guards_of_cxx(source: str, found: list[tuple[int, int, str]]) -> None:
    assert ways(source, "C++") == found


def test_a_guard_knows_what_it_asks_for() -> None:
    (guard,) = guards(
        '    if name.endswith("x") and LIMIT < 12 and name not in known:\n        return\n'
    )
    assert guard.indentation == 4
    assert guard.names == {"name", "endswith", "x", "LIMIT", "known"}
    assert guard.constants == {'"x"', "LIMIT", "12"}


def test_a_long_condition_is_given_up() -> None:
    assert guards("if (\n" + "    a and\n" * 20 + "    b):\n    return\n") == []


@pytest.mark.parametrize(
    ("mine", "theirs", "excludes"),
    [
        pytest.param('k == "a"', 'k == "b"', True, id="other-constants"),
        pytest.param('k == "a"', 'k in ("a", "b")', False, id="one-in-common"),
        pytest.param('k == "a"', "k is None", False, id="none-there"),
        pytest.param("k is None", "not k", False, id="none-at-all"),
    ],
)
def test_choices_exclude_each_other(mine: str, theirs: str, excludes: bool) -> None:
    one, other = guards(f"if {mine}:\n  return\nif {theirs}:\n  return\n")
    assert one.excludes(other) is other.excludes(one) is excludes
