"""Which candidate is taken, how sure that is, and what the learned points look like."""

from __future__ import annotations

from math import exp

import pytest

from patchmgr.engines.merge.candidate import Candidate, FileCandidates
from patchmgr.engines.merge.choice import (
    Points,
    Step,
    Table,
    choose,
    likelihood_of,
    table,
    text_of,
)
from patchmgr.model.outcome import Reliability

KNOWN = Table(
    (
        Points({}, -1.0),
        Points({"rule": "union"}, 2.0),
        Points({"rule": "union", "kind": "import"}, 3.0),
        Points({"kind": "call"}, -9.0),
    ),
    {"other": (Step(0.8, 95, 100), Step(0.3, 140, 200))},
)


def made(text: str, rule: str = "union", fails: str = "no", **features: str) -> Candidate:
    return Candidate(text, rule, {"rule": rule, "fails": fails, "language": "c", **features})


@pytest.mark.parametrize(
    ("features", "points"),
    [
        ({}, -1.0),
        ({"rule": "union"}, 1.0),
        ({"rule": "union", "kind": "import"}, 4.0),
        ({"rule": "union", "kind": "call"}, -8.0),
        ({"kind": "import"}, -1.0),
    ],
)
def test_what_applies_is_added(features: dict[str, str], points: float) -> None:
    assert likelihood_of(features, KNOWN.points) == pytest.approx(1 / (1 + exp(-points)))


IMPORT, CALL = made("import\n", kind="import"), made("call\n", kind="call")
TORN = made("torn\n", fails="syntax", kind="import")
BASE = made("base\n", "base", kind="import")
PLAIN = made("plain\n", kind="class")


@pytest.mark.parametrize(
    ("candidates", "taken", "ranked"),
    [
        ((CALL, IMPORT), IMPORT, (IMPORT, CALL)),
        ((TORN, IMPORT), IMPORT, (IMPORT, TORN)),
        ((TORN,), None, (TORN,)),
        ((BASE,), None, (BASE,)),
        ((CALL, PLAIN), None, (PLAIN, CALL)),
        ((), None, ()),
    ],
)
def test_the_surest_candidate_is_taken_where_it_is_sure_enough_and_stands(
    candidates: tuple[Candidate, ...], taken: Candidate | None, ranked: tuple[Candidate, ...]
) -> None:
    (choice,) = choose(FileCandidates((candidates,)), known=KNOWN)
    assert (choice.taken and choice.taken.candidate) == taken
    assert tuple(one.candidate for one in choice.ranked) == ranked


@pytest.mark.parametrize(("least", "is_taken"), [(0.0, True), (0.88, True), (0.9, False)])
def test_the_line_is_the_share_that_was_right_of_those_as_sure_or_surer(
    least: float, is_taken: bool
) -> None:
    (choice,) = choose(FileCandidates(((PLAIN,),)), least=least, known=KNOWN)
    assert choice.ranked[0].reliability == Reliability("union", 101, 114)  # between the two steps
    assert (choice.taken is not None) is is_taken


def test_what_is_less_sure_than_all_that_was_measured_is_never_taken() -> None:
    (choice,) = choose(FileCandidates(((CALL,),)), least=0.0, known=KNOWN)
    assert choice.ranked[0].reliability == Reliability("union")
    assert choice.taken is None


def test_a_file_has_a_text_where_each_region_has_one() -> None:
    sure, asked = (IMPORT,), (CALL,)
    file = FileCandidates(("a\n", sure, "b\n", sure, "c\n"))
    assert text_of(file, choose(file, known=KNOWN)) == "a\nimport\nb\nimport\nc\n"
    half = FileCandidates(("a\n", sure, "b\n", asked))
    assert text_of(half, choose(half, known=KNOWN)) is None


def test_the_points_of_the_package_say_each_thing_once() -> None:
    known = table()
    assert all(len(one.when) <= 2 for one in known.points)
    assert len({frozenset(one.when.items()) for one in known.points}) == len(known.points)
    assert {"python", "c", "other"} == known.measured.keys()
    for steps in known.measured.values():
        least = [step.likelihood for step in steps]
        assert least == sorted(least, reverse=True)
        assert all(0 <= step.right <= step.of for step in steps)
