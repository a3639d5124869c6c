"""What `check` says in a terminal."""

from patchmgr.cli.root import text_of
from patchmgr.model.check import Checked, Problem, gate_of, skipped
from patchmgr.render.checks import checked_text
from patchmgr.render.view import Detail, View


def shown(*problems: Problem) -> list[str]:
    checked = Checked("s", None, ("a", "b", "c", "d"), (gate_of("header", 4, problems),))
    return [line.strip() for line in text_of(checked_text(checked, View())).splitlines()[2:-1]]


def test_what_is_said_of_many_patches_alike_is_said_once() -> None:
    alike = [Problem("header", "no reason", patch) for patch in ("a", "b", "c", "d")]
    other = Problem("header", "no exit criterion", "b")
    assert shown(*alike[:2], other, *alike[2:]) == [
        "no reason: 4 patches",
        "a, b, c and 1 more",
        "b: no exit criterion",
    ]


def test_a_problem_of_a_place_has_a_row_of_its_own() -> None:
    places = [Problem("header", "white space", "a", "f.py", line) for line in range(1, 6)]
    assert shown(*places) == [f"a: f.py:{line}: white space" for line in range(1, 6)]


def test_more_than_the_limit_is_counted() -> None:
    rows = shown(*(Problem("header", f"fault {n}", "a") for n in range(23)))
    assert (len(rows), rows[-1]) == (21, "3 more; to see all: --json")


def test_gates_that_were_passed_are_counted() -> None:
    gates = (gate_of("header", 4, ()), skipped("bytes", "no claims"))
    checked = Checked("s", None, ("a",), (*gates, gate_of("space", 1, (Problem("space", "tab"),))))
    assert text_of(checked_text(checked, View())).splitlines() == [
        "s  1 patch",
        "  failed  space  1 checked, 1 problem",
        "      tab",
        "  3 gates: 1 passed, 1 failed, 1 skipped",
    ]
    every = text_of(checked_text(checked, View(Detail.ALL))).splitlines()
    assert every[1:3] == ["  passed   header  4 checked", "  skipped  bytes   no claims"]
    line = text_of(checked_text(checked, View(Detail.LINE)))
    assert line == "s: 1 patch, 3 gates: 1 passed, 1 failed, 1 skipped\n"
