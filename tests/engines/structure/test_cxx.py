from __future__ import annotations

from patchmgr.engines.structure.cxx import merge_cxx
from patchmgr.engines.structure.sides import Texts
from tests.engines.structure.marked import Case, cases_in, conflict, merged_lines_stay, texts_of
from tests.tables import table

CASES = cases_in("cxx_cases")


@table("case", [c for _, c in CASES], ids=[name for name, _ in CASES])
def test_a_conflicted_file_becomes_what_is_expected_or_is_refused(case: Case) -> None:
    solution = merge_cxx(case.texts, case.path, marked=case.marked)

    assert (None if solution is None else solution.text) == case.expected
    if solution is not None:
        assert merged_lines_stay(case, solution.text)
        assert solution.rules


def test_a_text_without_a_region_has_nothing_to_solve() -> None:
    assert merge_cxx(Texts("a;\n", "a;\n", "a;\n"), "a.cu", marked="a;\n") is None


def test_markers_that_do_not_fit_their_sides_are_refused() -> None:
    marked = conflict("a();\n", "a();\n", "a();\n")

    assert merge_cxx(Texts("b();\n", "a();\n", "a();\n"), "a.cu", marked=marked) is None


def test_a_lost_definition_stops_a_merge() -> None:
    marked = conflict("", "void b();\n", "void a();\n", before="int x;\n", after="}\n")

    assert merge_cxx(texts_of(marked), "a.cu", marked=marked) is not None
    texts = Texts("int x;\n}\n", "int x;\nvoid b();\nvoid gone();\n}\n", "int x;\nvoid a();\n}\n")
    assert merge_cxx(texts, "a.cu", marked=marked) is None


def test_line_endings_and_a_missing_last_one_stay() -> None:
    upstream, fork = "  f(a, b);\r\n", "  g(a);\r\n"
    marked = conflict("  f(a);\n", "  f(a, b);\n", "  g(a);\n").replace("\n", "\r\n")
    texts = Texts("  f(a);\r\n", upstream.rstrip(), fork.rstrip())

    solution = merge_cxx(texts, "a.cu", marked=marked)

    assert solution is not None
    assert solution.text == "  g(a, b);"
