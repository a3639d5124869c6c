"""Which candidate a conflict gets, and how sure that is: a table learned from people's merges.

`choice.json` has a tree of questions for each rule. A question is whether a feature of a candidate
has one value; each node says how many candidates like this one were right, and how many the
person's own text, of how many in public merges. `python -m benchmarks.merges --write` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from patchmgr.engines.merge.candidate import Candidate, FileCandidates, RegionCandidates

FILE = Path(__file__).with_name("choice.json")
LEAST = 0.9  # share of right results that a candidate must have to be taken alone
LEAST_OWN = 0.7  # share of these that must be the person's own text
PRIOR = 8  # candidates that the parent's share counts for at a node


class Node(Struct, frozen=True, omit_defaults=True):
    """Candidates that look alike: how many were right and the person's own, `of` how many.

    `yes` are those of them where the feature `asks` is `value`, `no` all others.
    """

    right: int
    own: int
    of: int
    asks: str = ""
    value: str = ""
    yes: Node | None = None
    no: Node | None = None


Table = Mapping[str, Node]
"""The tree of each rule."""


class Reliability(Struct, frozen=True):
    """How often candidates like this one were right: `right` of `of`, 0 of 0 if not measured.

    Right means the person's text, or that text but for an order or for what the person dropped.
    `share` is the estimate from these, drawn towards the candidates that are alike in less;
    `own` is the same for the person's own text.
    """

    right: int
    of: int
    share: float
    own: float


NOT_MEASURED = Reliability(0, 0, 0.0, 0.0)


class Ranked(Struct, frozen=True):
    """A candidate and how reliable it is."""

    candidate: Candidate
    reliability: Reliability


class Choice(Struct, frozen=True):
    """The candidates of one region, the one to propose first at the head.

    `taken` is the one that is sure enough to be taken alone, None where a person is asked.
    """

    ranked: tuple[Ranked, ...]
    taken: Ranked | None


@cache
def table() -> Table:
    """Return what was measured, as the package has it."""
    return read_table(FILE.read_bytes())


def read_table(content: bytes) -> Table:
    """Read the trees of all rules."""
    return msgspec.json.decode(content, type=dict[str, Node])


def written(trees: Table) -> bytes:
    """Return the trees as the package keeps them, a leaf on one line."""
    lines = [
        f"{msgspec.json.encode(rule).decode()}: {_shown(trees[rule], 1)}" for rule in sorted(trees)
    ]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def reliability(candidate: Candidate, trees: Table | None = None) -> Reliability:
    """Return how often candidates like this one were right."""
    node = (table() if trees is None else trees).get(candidate.rule)
    if node is None:
        return NOT_MEASURED
    share, own = node.right / node.of, node.own / node.of
    while (below := _below(node, candidate)) is not None:
        node = below
        share = (node.right + PRIOR * share) / (node.of + PRIOR)
        own = (node.own + PRIOR * own) / (node.of + PRIOR)
    return Reliability(node.right, node.of, share, own)


def _below(node: Node, candidate: Candidate) -> Node | None:
    return node.yes if candidate.features.get(node.asks, "") == node.value else node.no


def choose(
    file: FileCandidates, *, least: float = LEAST, trees: Table | None = None
) -> tuple[Choice, ...]:
    """Return for each region its candidates by rank, and the one that is sure enough."""
    return tuple(_choice(region, least, trees) for region in file.regions)


def _choice(region: RegionCandidates, least: float, trees: Table | None) -> Choice:
    ranked = [Ranked(one, reliability(one, trees)) for one in region.candidates]
    ranked.sort(key=lambda one: (-one.reliability.own, -one.reliability.share))
    sure = (one for one in ranked if _is_sure(one.reliability, least))
    return Choice(tuple(ranked), next(sure, None))


def _is_sure(measured: Reliability, least: float) -> bool:
    return measured.of > 0 and measured.share >= least and measured.own >= LEAST_OWN


def text_of(file: FileCandidates, choices: Sequence[Choice]) -> str | None:
    """Return the whole text, None where a region is left to a person."""
    taken = [one.taken for one in choices]
    texts = tuple(one.candidate.text for one in taken if one is not None)
    return file.joined(texts) if len(texts) == len(taken) else None


def _shown(node: Node, depth: int) -> str:
    counts = f'"right": {node.right}, "own": {node.own}, "of": {node.of}'
    if node.yes is None or node.no is None:
        return f"{{{counts}}}"
    asks, value = (msgspec.json.encode(word).decode() for word in (node.asks, node.value))
    start = "\n" + " " * depth
    below = f'{start}"yes": {_shown(node.yes, depth + 1)},{start}"no": {_shown(node.no, depth + 1)}'
    return f'{{{counts}, "asks": {asks}, "value": {value},{below}}}'
