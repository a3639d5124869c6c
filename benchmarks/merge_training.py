"""Learns which candidates are right from labelled ones, and says how well that was learned.

A logistic regression with an L1 penalty, which leaves few points, says which candidates are the
person's own text. What is looked at are features, and pairs of features that the features alone
leave unexplained.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import floor
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from benchmarks.merge_labels import Code
from patchmgr.engines.merge.candidate import Candidate, FileCandidates
from patchmgr.engines.merge.resolve import (
    Choice,
    Points,
    Step,
    Table,
    breaks,
    choose,
    likelihood_of,
)
from patchmgr.render.escape import share

PENALTY = 0.1  # the inverse strength of the penalty: how much a point must explain
PAIRS = 1500  # pairs of features that are looked at
SEEN = 30, 100  # candidates that a feature, or a pair, must be seen in
FOLDS = 5  # parts of the repositories, each judged by what the others teach
STEPS = 20  # in how many steps it is counted how many candidates as likely, or likelier, are right
REGIONS = 4  # of a file that are counted: one file is one person's taste
BUCKETS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)

Conditions = tuple[tuple[str, str], ...]
"""One feature with its value, or two."""


class Labelled(Struct, frozen=True):
    """A candidate without its text, and how near it comes to the person's."""

    rule: str
    features: dict[str, str]
    code: Code
    asks: str = ""

    def candidate(self, text: str) -> Candidate:
        """Return the candidate, with another text."""
        return Candidate(text, self.rule, self.features, self.asks)

    @property
    def is_persons(self) -> bool:
        """Say whether it is the person's, the order of what both insert aside."""
        is_in_turn = "in turn" in self.features["rule"]
        return self.code.is_persons or (is_in_turn and self.code is Code.PERMUTED)


class LabelledFile(Struct, frozen=True):
    """The candidates of a file's regions; `regions` is empty where the file was not read."""

    id: str
    repo: str
    language: str
    regions: tuple[tuple[Labelled, ...], ...]

    def candidates(self) -> FileCandidates:
        """Return the candidates as the engine gave them, their places for texts."""
        return FileCandidates(
            tuple(
                tuple(one.candidate(str(n)) for n, one in enumerate(some)) for some in self.regions
            )
        )


def learn(files: Iterable[LabelledFile]) -> tuple[Points, ...]:
    """Return the points of features and of pairs of them, those of one feature first."""
    rows = [one for file in files for region in file.regions for one in region if _is_asked(one)]
    own = np.array([one.is_persons for one in rows])
    counts = Counter(item for one in rows for item in one.features.items())
    singles = sorted(item for item, n in counts.items() if SEEN[0] <= n <= len(rows) - SEEN[0])
    places = {item: n for n, item in enumerate(singles)}
    matrix = np.zeros((len(rows), len(singles)), dtype=np.float32)
    for n, one in enumerate(rows):
        matrix[n, [places[item] for item in one.features.items() if item in places]] = 1
    conditions: list[Conditions] = [(item,) for item in singles]
    pairs = _unexplained(matrix, singles, own)
    conditions += [(singles[a], singles[b]) for a, b in pairs]
    products = [csr_matrix(matrix[:, [a]] * matrix[:, [b]]) for a, b in pairs]
    both = csr_matrix(hstack([csr_matrix(matrix), *products]))
    model = _fitted(both, own)
    weights = [float(model.intercept_[0]), *model.coef_[0].tolist()]
    rounded = zip([(), *conditions], (round(one, 3) for one in weights), strict=True)
    return tuple(Points(dict(condition), points) for condition, points in rounded if points)


def _is_asked(one: Labelled) -> bool:
    return not breaks(one.candidate(""))


def _fitted(matrix: Any, truth: Any) -> Any:
    return LogisticRegression(l1_ratio=1, solver="liblinear", C=PENALTY).fit(matrix, truth)


def _unexplained(
    matrix: Any, singles: Sequence[tuple[str, str]], own: Any
) -> list[tuple[int, int]]:
    """Return the pairs that tell most of what the features alone do not, by places."""
    seen = matrix.T @ matrix
    rest = own - _fitted(csr_matrix(matrix), own).predict_proba(csr_matrix(matrix))[:, 1]
    told = matrix.T @ (matrix * rest[:, None].astype(np.float32))
    best = np.abs(told) / np.sqrt(np.maximum(seen, 1))
    names = np.array([name for name, _ in singles])
    each = seen.diagonal()
    most = np.minimum(each[:, None], each[None, :]) - SEEN[0]
    best[(seen < SEEN[1]) | (seen > most) | (names[:, None] == names[None, :])] = 0
    order = np.argsort(-np.tril(best), axis=None, kind="stable")[:PAIRS]
    rows, columns = np.unravel_index(order, best.shape)
    return [(int(b), int(a)) for a, b in zip(rows, columns, strict=True) if best[a, b] > 0]


class Judged(Struct, frozen=True):
    """The first candidate of a region, judged by points of other repositories than its own.

    `family` is that of the language of its file.
    """

    family: str
    likelihood: float
    code: Code


def judged(files: Sequence[LabelledFile]) -> Iterator[tuple[LabelledFile, Table]]:
    """Yield each file with what all repositories but those of its part teach."""
    parts = [[f for f in files if part_of(f.repo) == n] for n in range(FOLDS)]
    for part in parts:
        if part:
            known = Table(learn(f for f in files if f not in part), NOT_MEASURED)
            yield from ((file, known) for file in part)


def part_of(repo: str) -> int:
    """Return the part of the repositories that one belongs to."""
    return zlib.crc32(repo.encode()) % FOLDS


NOT_MEASURED: dict[str, tuple[Step, ...]] = {"other": (Step(0.0, 1, 1),)}


def firsts(file: LabelledFile, known: Table) -> list[Judged]:
    """Return the first candidates of the first regions of a file that need no person."""
    found = []
    for region in file.regions:
        asked = [one for one in region if _is_asked(one) and not one.asks]
        rows = [(likelihood_of(one.features, known.points), one) for one in asked]
        if rows:
            likelihood, one = max(rows, key=lambda row: row[0])
            found.append(Judged(FAMILIES[file.language], likelihood, one.code))
    return found[:REGIONS]


FAMILIES = {"python": "python", "c++": "c", "other": "other"}
"""What the reader of tokens calls the languages."""


def measured(some: Iterable[Judged]) -> dict[str, tuple[Step, ...]]:
    """Count by family how many are right of those that are as likely, or likelier."""
    known = list(some)
    return {
        family: tuple(_steps([one for one in known if one.family == family]))
        for family in FAMILIES.values()
    }


def _steps(known: Sequence[Judged]) -> Iterator[Step]:
    likely = sorted((one.likelihood for one in known), reverse=True)
    size = len(known) // STEPS + 1
    for least in sorted({floor(1000 * x) / 1000 for x in (*likely[size - 1 :: size], 0)})[::-1]:
        codes = [one.code for one in known if one.likelihood >= least]
        if codes:
            yield Step(least, sum(code.is_right for code in codes), len(codes))


class Score(Struct):
    """What comes of a table on some files: files, codes of solved ones, regions asked."""

    files: int = 0
    regions: int = 0
    asked: int = 0
    in_three: int = 0
    codes: Counter[Code] = Counter()

    def row(self, name: str) -> str:
        """Return a row of a table: the files, solved, right, the person's, among three."""
        solved = sum(self.codes.values())
        right, own = (
            sum(n for code, n in self.codes.items() if is_so(code)) for is_so in (_right, _persons)
        )
        shares = (share(right, solved), share(own, solved), share(self.in_three, self.asked))
        return f"| {name} | {self.files} | {share(solved, self.files)} | {' | '.join(shares)} |"


_right: Callable[[Code], bool] = lambda code: code.is_right  # noqa: E731
_persons: Callable[[Code], bool] = lambda code: code.is_persons  # noqa: E731


def scored(rows: Iterable[tuple[LabelledFile, Table]], *, least: float) -> Score:
    """Return what comes of files, each with the table that it is judged by."""
    score = Score(codes=Counter())
    for file, known in rows:
        choices = choose(file.candidates(), least=least, known=known)
        score.files += 1
        score.regions += len(choices)
        taken = [_code(file.regions[n], choice) for n, choice in enumerate(choices)]
        sure = [code for code in taken if code is not None]
        if taken and len(sure) == len(taken):
            score.codes[max(sure, key=list(Code).index)] += 1
        for region, choice, code in zip(file.regions, choices, taken, strict=True):
            if code is None:
                first = [region[int(one.candidate.text)] for one in choice.ranked[:3]]
                score.asked += 1
                score.in_three += any(one.code.is_persons for one in first)
    return score


def _code(region: Sequence[Labelled], choice: Choice) -> Code | None:
    return None if choice.taken is None else region[int(choice.taken.candidate.text)].code


def written(known: Table) -> bytes:
    """Return a table as the package keeps it, an entry on each line."""
    points = _lines(known.points)
    steps = ",\n".join(
        f' "{name}": [\n  {_lines(some)}\n ]' for name, some in known.measured.items()
    )
    return f'{{"points": [\n  {points}\n],\n"measured": {{\n{steps}\n}}}}\n'.encode()


def _lines(entries: Iterable[Struct]) -> str:
    return ",\n  ".join(msgspec.json.encode(one).decode() for one in entries)
