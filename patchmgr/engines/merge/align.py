"""Find which syntax nodes of two texts correspond."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from patchmgr.engines.merge.tree import Node, likeness
from patchmgr.engines.text.patience import anchors, singles

Nodes = tuple[Node, ...]
Pair = tuple[int, int]
_EQUAL = 4.0  # the score of equal nodes, more than that of any others
_SIMILAR = 0.6  # the least likeness of nodes that correspond but have no keys
_LARGEST = 40_000  # more pairs than this are not compared by likeness
_TOKENS = frozenset({"code", "tokens"})


@lru_cache(maxsize=1024)
def aligned(kind: str, one: Nodes, other: Nodes) -> list[Pair]:
    """Return the index pairs of corresponding syntax nodes in two sequences, in order."""
    if kind in _TOKENS:
        labels = [[_label(node) for node in side] for side in (one, other)]
        pairs = sorted(_patience(labels[0], labels[1], _same_label))
        return _significant(pairs, one, other)
    labels = [[f"{node.key}\0{node.normalized}" for node in side] for side in (one, other)]
    if kind == "words":  # a word matches only an equal word
        return sorted(_patience(labels[0], labels[1], _same_label))
    return sorted(_patience(labels[0], labels[1], lambda i, j: node_likeness(one[i], other[j])))


def _label(node: Node) -> str:
    is_inner = node.kind in ("list", "block", "code")
    return f"{node.kind}\0{node.key}" if is_inner else node.normalized or node.text


def _same_label(_i: int, _j: int) -> float:
    return 0.0  # equal labels have been matched before this is called


def node_likeness(one: Node, other: Node) -> float:
    """Return a score for how well two syntax nodes correspond; 0 means that they do not."""
    if one.normalized == other.normalized and one.normalized:
        return _EQUAL
    if one.kind != other.kind:
        return 0.0
    if one.key and one.key == other.key and one.key != "logical":
        return 3.0
    like = likeness(one.normalized, other.normalized)
    if one.key == "logical" == other.key:
        return 2.0 + like  # `like` tells a decorator's line from the line with the name
    least = 0.8 if one.key and other.key and one.kind != "line" else _SIMILAR
    return 1.0 + like if like >= least or one.kind == "block" else 0.0


def _patience(
    a: Sequence[str], b: Sequence[str], like: Callable[[int, int], float]
) -> Iterator[Pair]:
    """Yield the index pairs of nodes that correspond, as a patience diff finds them.

    These are equal nodes at the start and at the end, nodes that are equal and unique on both
    sides, and in small gaps between those, similar nodes.
    """
    todo = [(0, len(a), 0, len(b))]
    while todo:
        a0, a1, b0, b1 = todo.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            yield a0, b0
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            yield a1, b1
        if a0 == a1 or b0 == b1:
            continue
        places = zip(*anchors(singles(a[a0:a1]), singles(b[b0:b1])), strict=True)
        found = [(a0 + i, b0 + j) for i, j in places]
        if found:
            for at, to in [*found, (a1, b1)]:
                todo.append((a0, at, b0, to))
                a0, b0 = at, to
        elif (a1 - a0) * (b1 - b0) <= _LARGEST:
            yield from _best(a, b, (a0, a1, b0, b1), like)


def _best(
    a: Sequence[str],
    b: Sequence[str],
    box: tuple[int, int, int, int],
    like: Callable[[int, int], float],
) -> Iterator[Pair]:
    """Yield, in order, the index pairs of nodes for which the sum of their likeness is greatest."""
    a0, a1, b0, b1 = box
    rows, columns = a1 - a0, b1 - b0
    weight = [
        [_EQUAL if a[a0 + i] == b[b0 + j] else like(a0 + i, b0 + j) for j in range(columns)]
        for i in range(rows)
    ]
    table = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            here = table[i + 1][j + 1] + weight[i][j] if weight[i][j] else 0.0
            table[i][j] = max(here, table[i + 1][j], table[i][j + 1])
    i = j = 0
    while i < rows and j < columns:
        if weight[i][j] and table[i][j] == table[i + 1][j + 1] + weight[i][j]:
            yield a0 + i, b0 + j
            i, j = i + 1, j + 1
        elif table[i][j] == table[i + 1][j]:
            i += 1
        else:
            j += 1


def _weight(node: Node) -> int:
    """Return the number of words and punctuation marks in a node, plus 7 for a list or a block."""
    return node.normalized.count(" ") + (8 if node.kind in ("list", "block") else 1)


def _significant(pairs: list[Pair], one: Nodes, other: Nodes) -> list[Pair]:
    """Return the pairs without the runs that weigh no more than the edits on both sides of them."""
    weights = [[0, *accumulate(map(_weight, side))] for side in (one, other)]
    runs: list[list[Pair]] = []
    for pair in pairs:
        if runs and pair == (runs[-1][-1][0] + 1, runs[-1][-1][1] + 1):
            runs[-1].append(pair)
        else:
            runs.append([pair])
    at = 0
    while at < len(runs):
        before = runs[at - 1][-1] if at else (-1, -1)
        after = runs[at + 1][0] if at + 1 < len(runs) else (len(one), len(other))
        start, end = runs[at][0], runs[at][-1]
        left = max(w[s] - w[b + 1] for w, s, b in zip(weights, start, before, strict=True))
        right = max(w[n] - w[e + 1] for w, n, e in zip(weights, after, end, strict=True))
        weight = weights[0][end[0] + 1] - weights[0][start[0]]
        if left and right and weight <= left and weight <= right:
            del runs[at]
            at = max(at - 1, 0)
        else:
            at += 1
    return [pair for run in runs for pair in run]
