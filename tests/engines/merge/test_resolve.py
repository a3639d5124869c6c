"""A file in conflict is merged if that is likely enough, or gets suggestions for its regions."""

from math import exp

import pytest

from patchmgr.engines.merge.candidate import Candidate, FileCandidates
from patchmgr.engines.merge.resolve import (
    Points,
    Step,
    Table,
    choose,
    learned_table,
    likelihood_of,
    resolve,
    text_of,
)
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.outcome import Reliability
from tests.engines.merge.marked import marked
from tests.tables import table

BASE = "import a\nimport z\n"
OURS = "import a\nimport b\nimport z\n"
THEIRS = "import a\nimport c\nimport z\n"
UNITED = "import a\nimport b\nimport c\nimport z\n"
MARKED = (
    "import a\n<<<<<<< ours\nimport b\n||||||| base\n=======\nimport c\n>>>>>>> theirs\nimport z\n"
)
NEVER = 1.01  # more than every candidate is right


def test_an_unresolved_region_gets_suggestions_the_likeliest_first() -> None:
    found = resolve(Texts(BASE, OURS, THEIRS), "a.py", MARKED.encode(), NEVER)
    assert found is not None
    assert (found.text, found.reliability) == (None, ())
    (region,) = found.suggestions
    texts = [one.text for one in region]
    assert len(texts) == len({*texts})
    assert b"import b\nimport c\n" in texts[:3]
    assert {b"import b\n", b"import c\n"} <= {*texts}


def test_a_merge_says_how_often_such_merges_were_right() -> None:
    found = resolve(Texts(BASE, OURS, THEIRS), "a.py", MARKED.encode(), 0.5)
    assert found is not None
    assert found.text == UNITED
    (known,) = found.reliability
    assert known.right is not None
    assert known.of is not None
    assert 0 < known.right <= known.of


@table("least", [0.5, NEVER])
def test_line_ends_are_kept(least: float) -> None:
    texts = Texts(*(text.replace("\n", "\r\n") for text in (BASE, OURS, THEIRS)))
    found = resolve(texts, "a.py", MARKED.replace("\n", "\r\n").encode(), least)
    assert found is not None
    made = [found.text.encode()] if found.text else [one.text for one in found.suggestions[0]]
    assert made
    assert all(text.count(b"\n") == text.count(b"\r\n") for text in made)


def test_a_last_line_without_a_line_feed_stays_without_one() -> None:
    sides = ["from a import b", "from a import b, c", "from a import b, d"]
    shown = "<<<<<<< ours\n{1}\n||||||| base\n{0}\n=======\n{2}\n>>>>>>> theirs\n".format(*sides)
    found = resolve(Texts(*sides), "a.py", shown.encode(), 0.0)
    assert found is not None
    assert found.text == "from a import b, c, d"


def test_a_line_that_looks_like_a_marker_is_left_to_a_person() -> None:
    title = "Title!!\n=======\n"
    texts = Texts(f"{title}a\n", f"{title}b\n", f"{title}c\n")
    marked = f"<<<<<<< ours\n{title}b\n||||||| base\n{title}a\n=======\n{title}c\n>>>>>>> theirs\n"
    assert resolve(texts, "a.rst", marked.encode(), 0.0) is None


def test_a_candidate_is_taken_if_it_reaches_the_least_share() -> None:
    sides = ["sell(kind, price, 1)\n", "sell(-1, price, 1)\n", "sell(kind, price / size, 1)\n"]
    shown = "<<<<<<< ours\n{1}||||||| base\n{0}=======\n{2}>>>>>>> theirs\n".format(*sides)
    asked = [resolve(Texts(*sides), "a.py", shown.encode(), least) for least in (None, 0.8, NEVER)]
    assert [one and one.text for one in asked] == [*["sell(-1, price / size, 1)\n"] * 2, None]


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
def test_the_points_that_apply_are_added_up(features: dict[str, str], points: float) -> None:
    assert likelihood_of(features, KNOWN.points) == pytest.approx(1 / (1 + exp(-points)))


IMPORT, CALL = made("import\n", kind="import"), made("call\n", kind="call")
TORN = made("torn\n", fails="syntax", kind="import")
UNIT = made("base\n", "base", kind="import")
PLAIN = made("plain\n", kind="class")


@pytest.mark.parametrize(
    ("candidates", "taken", "ranked"),
    [
        ((CALL, IMPORT), IMPORT, (IMPORT, CALL)),
        ((TORN, IMPORT), IMPORT, (IMPORT, TORN)),
        ((TORN,), None, (TORN,)),
        ((UNIT,), None, (UNIT,)),
        ((CALL, PLAIN), None, (PLAIN, CALL)),
        ((), None, ()),
    ],
)
def test_the_likeliest_candidate_without_a_fault_is_taken_if_likely_enough(
    candidates: tuple[Candidate, ...], taken: Candidate | None, ranked: tuple[Candidate, ...]
) -> None:
    (choice,) = choose(FileCandidates((candidates,)), known=KNOWN)
    assert (choice.taken and choice.taken.candidate) == taken
    assert tuple(one.candidate for one in choice.ranked) == ranked


@pytest.mark.parametrize(("least", "is_taken"), [(0.0, True), (0.88, True), (0.9, False)])
def test_the_least_share_is_that_of_likelier_candidates(least: float, is_taken: bool) -> None:
    (choice,) = choose(FileCandidates(((PLAIN,),)), least=least, known=KNOWN)
    assert choice.ranked[0].reliability == Reliability("union", 101, 114)  # between the two steps
    assert (choice.taken is not None) is is_taken


def test_a_candidate_less_likely_than_any_measured_one_is_never_taken() -> None:
    (choice,) = choose(FileCandidates(((CALL,),)), least=0.0, known=KNOWN)
    assert choice.ranked[0].reliability == Reliability("union")
    assert choice.taken is None


def test_a_file_has_a_merged_text_only_if_each_region_has_one() -> None:
    sure, asked = (IMPORT,), (CALL,)
    file = FileCandidates(("a\n", sure, "b\n", sure, "c\n"))
    assert text_of(file, choose(file, known=KNOWN)) == "a\nimport\nb\nimport\nc\n"
    half = FileCandidates(("a\n", sure, "b\n", asked))
    assert text_of(half, choose(half, known=KNOWN)) is None


def test_the_shipped_table_is_consistent() -> None:
    known = learned_table()
    assert all(len(one.when) <= 2 for one in known.points)
    assert len({frozenset(one.when.items()) for one in known.points}) == len(known.points)
    assert {"python", "c", "other"} == known.measured.keys()
    for steps in known.measured.values():
        least = [step.likelihood for step in steps]
        assert least == sorted(least, reverse=True)
        assert all(0 <= step.right <= step.of for step in steps)


@table(("path", "line"), [("a.c", " " * 9_000 + "x();\n"), ("a.txt", "a." * 4_500 + "\n")])
def test_a_very_long_line_is_merged_quickly(path: str, line: str) -> None:
    *texts, text = marked("one();\n", "two();\n", f"{line}one();\n")
    assert resolve(Texts(*texts), path, text.encode()) is not None


@table(("length", "is_merged"), [(9_000, True), (70_000, False)])
def test_very_long_names_on_both_sides_are_merged_quickly(length: int, is_merged: bool) -> None:
    *texts, text = marked("", f"one({'a' * length});\n", f"two({'b' * length});\n")
    assert (resolve(Texts(*texts), "a.c", text.encode()) is not None) is is_merged
