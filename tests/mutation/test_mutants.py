"""Which changes of a source count as mutants, and that what is known of them still holds."""

import pytest

from tests.mutation.engines import ROOT, TESTS, equivalents, module_path, path_of_tests
from tests.mutation.mutants import differing, meaning

SOURCE = "def f(a: int | None, *, b: int = 1) -> bool:\n    'Say it.'\n    return a == b\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("int | None", "int + None", id="type-of-an-argument"),
        pytest.param("-> bool", "-> None", id="type-of-the-result"),
        pytest.param("*,", "/,", id="how-arguments-are-passed"),
        pytest.param("Say it.", "Say more.", id="docstring"),
    ],
)
def test_what_nobody_evaluates_is_no_mutant(old: str, new: str) -> None:
    assert old in SOURCE
    assert meaning(SOURCE.replace(old, new)) == meaning(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("==", "!=", id="operator"),
        pytest.param("= 1", "= 2", id="default"),
        pytest.param("a: int", "c: int", id="name"),
    ],
)
def test_what_is_evaluated_makes_a_mutant(old: str, new: str) -> None:
    changed = SOURCE.replace(old, new)
    assert meaning(changed) not in (None, meaning(SOURCE))
    assert differing(SOURCE, changed)[0] != differing(SOURCE, changed)[1]


def test_what_does_not_parse_is_no_mutant() -> None:
    assert meaning("def f(a, +, b): pass") is None


@pytest.mark.parametrize("name", TESTS)
def test_what_is_known_is_about_lines_that_are_there(name: str) -> None:
    lines = {line.strip() for line in (ROOT / module_path(name)).read_text().splitlines()}
    assert {old for engine, old, _ in equivalents() if engine == name} <= lines
    for test in TESTS[name]:
        assert (ROOT / path_of_tests(test)).is_file()
