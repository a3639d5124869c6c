"""Learns how reliable candidates are from labelled ones, and says how well that was learned."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log

from msgspec import Struct

from benchmarks.merge_labels import Code
from patchmgr.engines.merge.candidate import Candidate, FileCandidates, RegionCandidates
from patchmgr.engines.merge.choice import Choice, Node, Reliability, Table, choose
from patchmgr.render.clean import share

SMALLEST = 25  # candidates at a node that is asked for
DEEPEST = 4  # questions
PRICE = 4.0  # what a question must gain, in nats: less is chance
BUCKETS = (0.0, 0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)


Counts = tuple[int, int, int]
"""How many are right, how many the person's own, of how many."""


class Labelled(Struct, frozen=True):
    """A candidate without its text, and how near it comes to the person's."""

    rule: str
    features: dict[str, str]
    code: Code


class LabelledFile(Struct, frozen=True):
    """The candidates of a file's regions; `regions` is empty where the file was not read.

    `rules` are those by which the merge by rules made the whole file, `code` how near it came.
    """

    id: str
    repo: str
    language: str
    regions: tuple[tuple[Labelled, ...], ...]
    rules: tuple[str, ...] = ()
    code: Code | None = None

    def candidates(self) -> FileCandidates:
        """Return the candidates as the engine gave them, their places for texts."""
        return FileCandidates(
            tuple(
                RegionCandidates(
                    tuple(Candidate(str(n), one.rule, one.features) for n, one in enumerate(some))
                )
                for some in self.regions
            )
        )


def learn(files: Iterable[LabelledFile], *, deepest: int = DEEPEST, price: float = PRICE) -> Table:
    """Return the tree of each rule."""
    rules = defaultdict[str, list[Labelled]](list)
    for file in files:
        for region in file.regions:
            for one in region:
                rules[one.rule].append(one)
    return {rule: _grown(some, deepest, price) for rule, some in sorted(rules.items())}


def _grown(some: Sequence[Labelled], deepest: int, price: float) -> Node:
    """Ask what parts the candidates best, and then each part."""
    counts = _counted(some)
    question = _best_question(some, counts, price) if deepest else None
    if question is None:
        return Node(*counts)
    name, value = question
    yes = [one for one in some if one.features.get(name, "") == value]
    no = [one for one in some if one.features.get(name, "") != value]
    below = (_grown(part, deepest - 1, price) for part in (yes, no))
    return Node(*counts, name, value, *below)


def _best_question(
    some: Sequence[Labelled], counts: Counts, price: float
) -> tuple[str, str] | None:
    """Return the feature and the value of it that tell most, None where nothing pays."""
    gains: dict[tuple[str, str], float] = {}
    for name in sorted({name for one in some for name in one.features}):
        parts = defaultdict[str, list[Labelled]](list)
        for one in some:
            parts[one.features.get(name, "")].append(one)
        for value, part in sorted(parts.items()):
            if SMALLEST <= len(part) <= len(some) - SMALLEST:
                yes = _counted(part)
                right, own, of = (every - mine for every, mine in zip(counts, yes, strict=True))
                gains[name, value] = _loss(*counts) - _loss(*yes) - _loss(right, own, of) - price
    best = max(gains, key=lambda question: gains[question], default=None)
    return best if best is not None and gains[best] > 0 else None


def _counted(some: Sequence[Labelled]) -> Counts:
    right = sum(one.code.is_right for one in some)
    return right, sum(one.code.is_persons for one in some), len(some)


def _loss(right: int, own: int, of: int) -> float:
    """Return what it costs, in nats, to say of all the share that holds for them together."""
    return _entropy(right, of) + _entropy(own, of)


def _entropy(part: int, of: int) -> float:
    return -sum(n * log(n / of) for n in (part, of - part) if n)


class Score(Struct, frozen=True):
    """How well the reliability of candidates is known, and what comes of it, on some files.

    `loss` and `own_loss` are nats a candidate; `codes` those of solved files; of `asked` regions
    the person's text is among the first three in `in_three`.
    """

    loss: float
    own_loss: float
    files: int
    codes: Counter[Code]
    asked: int
    in_three: int
    buckets: tuple[tuple[int, int], ...]

    @property
    def solved(self) -> int:
        """Return how many files are solved."""
        return sum(self.codes.values())

    @property
    def right(self) -> int:
        """Return how many of these are right."""
        return sum(count for code, count in self.codes.items() if code.is_right)

    @property
    def own(self) -> int:
        """Return how many of these are the person's."""
        return sum(count for code, count in self.codes.items() if code.is_persons)


def measure(files: Sequence[LabelledFile], trees: Table, *, least: float) -> Score:
    """Return how well files are judged by some trees."""
    tally = _Tally()
    codes = Counter[Code]()
    for file in files:
        choices = choose(file.candidates(), least=least, trees=trees)
        taken = [tally.add(*row) for row in zip(file.regions, choices, strict=True)]
        sure = [code for code in taken if code is not None]
        if taken and len(sure) == len(taken):
            codes[max(sure, key=list(Code).index)] += 1
    count = max(1, sum(tally.of))
    return Score(
        tally.loss / count, tally.own_loss / count, len(files), codes, tally.asked,
        tally.in_three, tuple(zip(tally.right, tally.of, strict=True)),
    )  # fmt: skip


class _Tally:
    """What is counted over regions."""

    def __init__(self) -> None:
        self.loss = self.own_loss = 0.0
        self.asked = self.in_three = 0
        self.right, self.of = ([0] * (len(BUCKETS) - 1) for _ in range(2))

    def add(self, region: Sequence[Labelled], choice: Choice) -> Code | None:
        """Count a region and return the code of the candidate that is taken."""
        ranked = _each(region, choice)
        for one, reliability in ranked:
            self.loss += _surprise(one.code.is_right, reliability.share)
            self.own_loss += _surprise(one.code.is_persons, reliability.own)
            bucket = _bucket(reliability.share)
            self.right[bucket] += one.code.is_right
            self.of[bucket] += 1
        if choice.taken is not None:
            return region[int(choice.taken.candidate.text)].code
        self.asked += 1
        self.in_three += any(one.code.is_persons for one, _ in ranked[:3])
        return None


def _each(region: Sequence[Labelled], choice: Choice) -> list[tuple[Labelled, Reliability]]:
    return [(region[int(one.candidate.text)], one.reliability) for one in choice.ranked]


def _surprise(is_so: bool, stated: float) -> float:
    stated = min(max(stated, 0.005), 0.995)
    return -log(stated if is_so else 1 - stated)


def _bucket(stated: float) -> int:
    return max(n for n, low in enumerate(BUCKETS[:-1]) if stated >= low)


def score_row(name: str, score: Score) -> str:
    """Return a row of the table that compares models."""

    solved = share(score.solved, score.files)
    right, own = share(score.right, score.solved), share(score.own, score.solved)
    three = share(score.in_three, score.asked)
    losses = f"{score.loss:.3f} | {score.own_loss:.3f}"
    return f"| {name} | {losses} | {solved} | {right} | {own} | {three} |"


def bucket_rows(score: Score) -> Iterator[str]:
    """Yield a row for each step of the stated share: how many candidates, how many right."""
    for (low, high), (right, of) in zip(pairwise(BUCKETS), score.buckets, strict=True):
        yield f"| {100 * low:.0f} to {100 * high:.0f} % | {of} | {share(right, of)} |"
