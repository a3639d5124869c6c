from __future__ import annotations

import pytest

from patchmgr.engines.structure.data import merge_data, merge_text
from patchmgr.engines.structure.sides import Texts
from tests.engines.structure.marked import Case, cases_in, conflict, merged_lines_stay, texts_of

CASES = cases_in("data_cases")


@pytest.mark.parametrize("case", [c for _, c in CASES], ids=[name for name, _ in CASES])
def test_a_conflicted_file_becomes_what_is_expected_or_is_refused(case: Case) -> None:
    solution = merge_data(case.texts, case.path, marked=case.marked)

    assert (None if solution is None else solution.text) == case.expected
    if solution is not None:
        assert merged_lines_stay(case, solution.text)
        assert solution.rules


@pytest.mark.parametrize(
    ("base", "upstream", "fork", "expected"),
    [
        pytest.param("a\n", "a b c\n", "a  b c\n", "a b c\n", id="same words"),
        pytest.param("a b\n", "a  b\n", "a b c\n", "a  b c\n", id="one side only reformats"),
        pytest.param("a\n", "a\nb\n", "a\nb\nc\n", "a\nb\nc\n", id="one side has it all"),
        pytest.param("a=1,b=1\n", "a=2,b=1\n", "a=1,b=2\n", None, id="edits apart are not sure"),
    ],
)
def test_a_text_of_no_known_kind_is_solved_by_the_safest_rules_only(
    base: str, upstream: str, fork: str, expected: str | None
) -> None:
    marked = conflict(base, upstream, fork)

    solution = merge_text(texts_of(marked), "notes", marked=marked)

    assert (None if solution is None else solution.text) == expected


def test_markers_that_do_not_fit_their_sides_are_refused() -> None:
    marked = conflict("a\n", "a\n", "a\n")

    assert merge_data(Texts("b\n", "a\n", "a\n"), "a.md", marked=marked) is None
