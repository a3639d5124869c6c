"""Choose a candidate for each conflict region by its likelihood, learned from people's merges.

`choice.json` assigns points to single features of a candidate and to pairs of features. The sum of
the points that apply is the logarithm of the odds that the candidate is the person's own text
(logistic regression). `measured` states how often candidates were right in repositories from which
no points were learned. `python -m benchmarks.merges --write` writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import exp
from pathlib import Path

import msgspec
from msgspec import Struct

from patchmgr.engines.merge.candidate import Candidate, Candidates, FileCandidates
from patchmgr.model.outcome import Reliability

FILE = Path(__file__).with_name("choice.json")
LEAST = 0.9  # a candidate is accepted if this share of equally likely ones was right
BREAKS = frozenset({"syntax", "undefined-name", "defined-twice", "key-twice", "never reached"})
"""Faults that the verification finds; a candidate with one of them is never proposed first."""


class Points(Struct, frozen=True):
    """The points that a candidate resolution gets if its features include all those in `when`."""

    when: dict[str, str]
    points: float


class Step(Struct, frozen=True):
    """A measurement of how many candidate resolutions with at least this likelihood were right.

    Of the `of` candidates with at least `likelihood`, `right` were right. A candidate is right if
    it is the person's text, or differs from it only in order or in what the person dropped.
    """

    likelihood: float
    right: int
    of: int


class Table(Struct, frozen=True):
    """What was learned from people's merges: points, and how often candidates were right.

    `points` holds the points for features. `measured` says, for each family of languages, how often
    candidate resolutions of at least some likelihood were right.
    """

    points: tuple[Points, ...]
    measured: dict[str, tuple[Step, ...]]


class Ranked(Struct, frozen=True):
    """A candidate resolution, its likelihood, and how often equally likely ones were right."""

    candidate: Candidate
    likelihood: float
    reliability: Reliability


class Choice(Struct, frozen=True):
    """The candidate resolutions of one conflict region, the best first.

    `taken` is the best one that no person must confirm, or None if that one is not likely enough.
    """

    ranked: tuple[Ranked, ...]
    taken: Ranked | None


@cache
def table() -> Table:
    """Return the points and measurements learned from people's merges, as in `choice.json`."""
    return msgspec.json.decode(FILE.read_bytes(), type=Table)


def likelihood_of(features: Mapping[str, str], points: tuple[Points, ...]) -> float:
    """Return the likelihood that a candidate with the given features is the person's own text."""
    items = features.items()
    return 1 / (1 + exp(-sum(one.points for one in points if one.when.items() <= items)))


def choose(
    file: FileCandidates, *, least: float = LEAST, known: Table | None = None
) -> tuple[Choice, ...]:
    """Rank the candidates for each conflict region, and accept the best if it is likely enough."""
    return tuple(_choice(region, least, known or table()) for region in file.regions)


def _choice(region: Candidates, least: float, known: Table) -> Choice:
    ranked = [_ranked(one, known) for one in region]
    ranked.sort(key=lambda one: (breaks(one.candidate), -one.likelihood))
    first = next((one for one in ranked if not one.candidate.asks), None)
    return Choice(tuple(ranked), first if first and _is_sure(first, least) else None)


def _ranked(one: Candidate, known: Table) -> Ranked:
    likelihood = likelihood_of(one.features, known.points)
    steps = known.measured.get(one.features["language"], known.measured["other"])
    measured = Reliability(one.rule)
    if not (one.asks or breaks(one)) and (step := reached(likelihood, steps)) is not None:
        measured = Reliability(one.rule, step.right, step.of)
    return Ranked(one, likelihood, measured)


def reached(likelihood: float, steps: Sequence[Step]) -> Step | None:
    """Return how many measured candidates were at least this likely, and how many were right.

    `steps` has these numbers for some likelihoods; between two steps, the numbers are interpolated.
    Returns None if the likelihood is lower than that of every step.
    """
    below = [step for step in steps if step.likelihood <= likelihood]
    above = [step for step in steps if step.likelihood > likelihood]
    if above and below:
        last, following = above[-1], below[0]
        part = (last.likelihood - likelihood) / (last.likelihood - following.likelihood)
        right, of = (
            round(old + part * (new - old))
            for old, new in ((last.right, following.right), (last.of, following.of))
        )
        below.append(Step(likelihood, right, of))
    return max(below, key=lambda step: step.right / step.of, default=None)


def breaks(one: Candidate) -> bool:
    """Return whether a candidate has a fault that keeps it from being proposed first."""
    return one.features["fails"] in BREAKS


def _is_sure(one: Ranked, least: float) -> bool:
    right, of = one.reliability.right or 0, one.reliability.of or 0
    return of > 0 and right / of >= least


def text_of(file: FileCandidates, choices: tuple[Choice, ...]) -> str | None:
    """Return the merged text of the file, or None if a person must resolve a conflict region."""
    taken = [one.taken for one in choices]
    texts = tuple(one.candidate.text for one in taken if one is not None)
    return file.joined(texts) if len(texts) == len(taken) else None
