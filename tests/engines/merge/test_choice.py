"""Which candidate is taken, how sure that is, and what the measured table looks like."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from patchmgr.engines.merge.candidate import Candidate, FileCandidates, RegionCandidates
from patchmgr.engines.merge.choice import (
    FILE,
    NOT_MEASURED,
    PRIOR,
    Node,
    choose,
    read_table,
    reliability,
    text_of,
    written,
)

CALLS = Node(20, 5, 40, "order", "ours", Node(18, 5, 25), Node(2, 0, 15))
KINDS = Node(
    60,
    40,
    100,
    "kind",
    "import",
    Node(30, 29, 30),
    Node(30, 11, 70, "kind", "call", CALLS, Node(10, 6, 30)),
)
TREES = {"union": KINDS, "ours": Node(1, 1, 4)}


def made(text: str, rule: str = "union", **features: str) -> Candidate:
    return Candidate(text, rule, features)


def drawn(right: int, of: int, above: float) -> float:
    return (right + PRIOR * above) / (of + PRIOR)


NOT_IMPORTS = drawn(30, 70, 0.6)
OF_CALLS = drawn(20, 40, NOT_IMPORTS)


@pytest.mark.parametrize(
    ("candidate", "right", "of", "share"),
    [
        pytest.param(made("", "ours"), 1, 4, 0.25, id="a rule without questions"),
        pytest.param(made("", kind="import"), 30, 30, drawn(30, 30, 0.6), id="yes"),
        pytest.param(made("", kind="class"), 10, 30, drawn(10, 30, NOT_IMPORTS), id="twice no"),
        pytest.param(made(""), 10, 30, drawn(10, 30, NOT_IMPORTS), id="no such feature"),
        pytest.param(
            made("", kind="call", order="ours"), 18, 25, drawn(18, 25, OF_CALLS), id="no, yes, yes"
        ),
        pytest.param(
            made("", kind="call", order="theirs"), 2, 15, drawn(2, 15, OF_CALLS), id="no, yes, no"
        ),
        pytest.param(made("", "unheard of"), 0, 0, 0.0, id="a rule that nobody measured"),
    ],
)
def test_reliability_is_what_was_measured_of_candidates_alike(
    candidate: Candidate, right: int, of: int, share: float
) -> None:
    found = reliability(candidate, TREES)
    assert (found.right, found.of) == (right, of)
    assert found.share == pytest.approx(share)


def test_what_nobody_measured_is_never_taken() -> None:
    file = FileCandidates((RegionCandidates((made("a\n", "unheard of"),)),))
    (choice,) = choose(file, least=0.0, trees=TREES)
    assert choice.ranked[0].reliability == NOT_MEASURED
    assert choice.taken is None


IMPORT, CALL = made("import\n", kind="import"), made("call\n", kind="call", order="ours")
OURS = made("ours\n", "ours")


@pytest.mark.parametrize(
    ("candidates", "taken", "ranked"),
    [
        pytest.param((OURS, IMPORT), IMPORT, (IMPORT, OURS), id="the sure one"),
        pytest.param((OURS, CALL), None, (OURS, CALL), id="none is sure, the person's first"),
        pytest.param((), None, (), id="no candidate"),
    ],
)
def test_the_surest_candidate_is_taken_alone_where_it_is_sure_enough(
    candidates: tuple[Candidate, ...], taken: Candidate | None, ranked: tuple[Candidate, ...]
) -> None:
    (choice,) = choose(FileCandidates((RegionCandidates(candidates),)), trees=TREES)
    assert (choice.taken and choice.taken.candidate) == taken
    assert tuple(one.candidate for one in choice.ranked) == ranked


def test_a_file_has_a_text_where_each_region_has_one() -> None:
    sure, open_one = RegionCandidates((IMPORT,)), RegionCandidates((OURS,))
    file = FileCandidates(("a\n", sure, "b\n", sure, "c\n"))
    assert text_of(file, choose(file, trees=TREES)) == "a\nimport\nb\nimport\nc\n"
    half = FileCandidates(("a\n", sure, "b\n", open_one))
    assert text_of(half, choose(half, trees=TREES)) is None


def test_a_table_is_written_as_it_is_read() -> None:
    assert read_table(written(TREES)) == TREES
    assert written(read_table(written(TREES))) == written(TREES)


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for below in (node.yes, node.no):
        if below is not None:
            yield from nodes(below)


def test_each_node_of_the_measured_table_has_counts_that_add_up() -> None:
    trees = read_table(FILE.read_bytes())
    assert written(trees) == FILE.read_bytes()
    for rule, tree in trees.items():
        for node in nodes(tree):
            assert 0 <= node.own <= node.right <= node.of, rule
            assert node.of > 0, rule
            assert (node.yes is None) is (node.no is None) is not bool(node.asks), rule
            if node.yes is not None and node.no is not None:
                assert node.yes.of + node.no.of == node.of, rule
                assert node.yes.right + node.no.right == node.right, rule
                assert node.yes.own + node.no.own == node.own, rule
