"""Find each side's edits to a sequence of syntax nodes, and group the edits that overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from patchmgr.engines.merge.align import Pair, aligned
from patchmgr.engines.merge.tree import Node, leaf, words_of

Nodes = Sequence[Node]


class NodeEdit(Struct, frozen=True):
    """An edit that replaces nodes `start` to `end` of base by nodes `first` to `last` of a side."""

    start: int
    end: int
    first: int
    last: int


def edits_between(base: Nodes, side: Nodes, of: dict[int, int]) -> list[NodeEdit]:
    """Return the edits that turn base into a side; `of` maps nodes of base to those of the side."""
    edits: list[NodeEdit] = []
    start = first = 0
    pairs: list[Pair] = [*sorted(of.items()), (len(base), len(side))]
    for at, to in pairs:
        if at > start or to > first:
            edits.append(NodeEdit(start, at, first, to))
        if at < len(base) and base[at].normalized != side[to].normalized:
            edits.append(NodeEdit(at, at + 1, to, to + 1))
        start, first = at + 1, to + 1
    return edits


def token_edits(base: Node, side: Node) -> list[NodeEdit]:
    """Return the edits that turn the tokens of one syntax node into those of another node."""
    pairs = aligned("code", base.parts, side.parts)
    return edits_between(base.parts, side.parts, dict(pairs))


@lru_cache(maxsize=256)
def may_slide(base: tuple[Node, ...], ours: tuple[Node, ...], theirs: tuple[Node, ...]) -> bool:
    """Return whether one side's insertion or deletion can slide to where the other side edits.

    An edit can slide if this does not change its side's text: in `f(self.ids)`, adding `more(self.`
    after `self.` gives the same text as adding `self.more(` before it.
    """
    lists = [sum(p.kind == "list" for p in nodes) for nodes in (base, ours, theirs)]
    has_own = len(set(lists)) > 1  # if not, the content of each list is compared separately
    old, *sides = (_flat(nodes, has_own) for nodes in (base, ours, theirs))
    edits = [edits_between(old, side, dict(aligned("words", old, side))) for side in sides]
    return any(
        (low <= other.start and other.end <= high)
        or (has_names and other.start <= high and low <= other.end)
        for n, side in enumerate(sides)
        for low, high, has_names in _slides(old, side, edits[n])
        for other in edits[1 - n]
    )


def _flat(nodes: Nodes, has_lists: bool) -> tuple[Node, ...]:
    return tuple(
        leaf("word", word)
        for node in nodes
        for word in (words_of(node.normalized) if has_lists or node.kind != "list" else ("",))
    )


def _slides(base: Nodes, side: Nodes, edits: list[NodeEdit]) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, has names) for each range in which an insertion or deletion can slide.

    If the range has no names, as in `x()`, only edits strictly inside it count, so its ends are
    left out.
    """
    old = [p.normalized for p in base]
    for edit in edits:
        if edit.start < edit.end and edit.first < edit.last:
            continue
        run = [p.normalized for p in side[edit.first : edit.last]] or old[edit.start : edit.end]
        low, high = edit.start, edit.end
        while low > 0 and old[low - 1] == run[(low - edit.start - 1) % len(run)]:
            low -= 1
        while high < len(old) and old[high] == run[(high - edit.end) % len(run)]:
            high += 1
        if any(map(str.isidentifier, (*old[low : edit.start], *old[edit.end : high]))):
            yield low, high, True
        else:
            yield low + 1, edit.start - 1, False
            yield edit.end + 1, high - 1, False


_Cluster = tuple[list[NodeEdit], list[NodeEdit], int, int]


def clusters(ours: list[NodeEdit], theirs: list[NodeEdit]) -> list[_Cluster]:
    """Group the edits of both sides that overlap; return each group with its range in base."""
    groups: list[tuple[list[NodeEdit], list[NodeEdit]]] = []
    both = sorted(
        [(e.start, e.end, 0, e) for e in ours] + [(e.start, e.end, 1, e) for e in theirs],
        key=lambda x: x[:3],
    )
    for _, _, side, edit in both:
        last = groups[-1] if groups else ([], [])
        if any(_meet(edit, other) for other in last[1 - side]):
            last[side].append(edit)
        else:
            groups.append(([edit], []) if side == 0 else ([], [edit]))
    return [
        (one, two, min(e.start for e in (*one, *two)), max(e.end for e in (*one, *two)))
        for one, two in groups
    ]


def _meet(one: NodeEdit, other: NodeEdit) -> bool:
    """Return whether two edits overlap, or insert at the same position."""
    if one.start == one.end == other.start == other.end:
        return True
    return max(one.start, other.start) < min(one.end, other.end) or (
        one.start < other.start == other.end < one.end
        or other.start < one.start == one.end < other.end
    )


def nodes_between(
    side: Nodes, of: dict[int, int], edits: list[NodeEdit], start: int, end: int
) -> Nodes:
    """Return the nodes of one side that correspond to the nodes `start` to `end` of base."""
    found: list[Node] = []
    at = start
    for edit in edits:
        found += [side[of[n]] for n in range(at, edit.start) if n in of]
        found += side[edit.first : edit.last]
        at = edit.end
    return found + [side[of[n]] for n in range(at, end) if n in of]
