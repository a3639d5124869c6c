"""Replay what theirs changed on what ours has become, node by node.

Where one side alone touches something there is one answer. A place that both sides touch is
open: a policy says what is taken there, and the place is noted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.align import Pair, aligned
from patchmgr.engines.merge.tree import SEQUENCES, Node, leaf, likeness, lines_node, tree, words_of

Nodes = Sequence[Node]
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class Policy(Struct, frozen=True):
    """What is taken at open places: the order of two insertions, the side of two edits.

    `join` is `ours, theirs`, `theirs, ours` or one side; `pick` is one side.
    """

    join: str
    pick: str


class Place(Struct, frozen=True):
    """A place where both sides changed something: in what, how, and how like their texts are.

    `is_open` says that there is more than one answer. Of two insertions, `sorts` says whether the
    one that comes first does so in the alphabet, and `uses` which one has names that the other
    one binds: the later or the earlier.
    """

    kind: str
    how: str
    like: float = 0.0
    is_open: bool = True
    sorts: str = "no"
    uses: str = "no"


class Replay:
    """One replay under a policy; `places` are where the sides met.

    `refine` reads a logical line by what knows its language best.
    """

    def __init__(self, policy: Policy, refine: Callable[[Node], Node] | None = None) -> None:
        self.refine = refine
        self.policy = policy
        self.places: list[Place] = []

    def node(self, base: Node, ours: Node, theirs: Node) -> Node:
        """Merge a node that all three have."""
        if ours.whole == theirs.whole or base.whole == theirs.whole:
            return ours
        if base.whole == ours.whole:
            return theirs
        lead = self._lead(base.lead, ours.lead, theirs.lead)
        tail = _chosen(base.tail, ours.tail, theirs.tail)
        core = self._core(base, ours, theirs)
        return replace(core, lead=lead, tail=ours.tail if tail is None else tail)

    def _core(self, base: Node, ours: Node, theirs: Node) -> Node:
        if base.text == theirs.text or ours.text == theirs.text:
            return ours
        if base.text == ours.text:
            return theirs
        if ours.said == theirs.said:
            return ours
        if base.said in (ours.said, theirs.said):
            edited = theirs if base.said == ours.said else ours
            self.places.append(Place(ours.kind, "layout", is_open=False))
            return _laid_out(base, ours, theirs, edited) or edited
        if base.key == ours.key == theirs.key == "logical" and self.refine is not None:
            base, ours, theirs = (self.refine(node) for node in (base, ours, theirs))
        if not ours.kind == base.kind == theirs.kind:
            return self._pick(ours, theirs, ours.kind, "kind")
        if base.kind in SEQUENCES or (base.parts and ours.parts and theirs.parts):
            parts = self.sequence(base.kind, base.parts, ours.parts, theirs.parts)
            parts = _spaced(base.kind, parts, ours.parts, theirs.parts)
            if any(p.kind == "list" and p.key == "import" and not p.parts for p in parts):
                parts = []  # each side removed what the other one kept
            return tree(ours.kind, parts, key=ours.key or theirs.key)
        return self._leaf(base, ours, theirs)

    def _leaf(self, base: Node, ours: Node, theirs: Node) -> Node:
        """Merge texts without parts: strings and comments by lines and words."""
        texts = (base.text, ours.text, theirs.text)
        if base.kind == "line" or (base.kind in ("string", "comment") and " " in ours.text):
            is_long = base.kind != "line" and all("\n" in text for text in texts)
            split = lines_node if is_long else _words_node
            sides = [split(text) for text in texts]
            parts = self.sequence(sides[0].kind, *(side.parts for side in sides))
            return leaf(ours.kind, "".join(p.whole for p in parts), key=ours.key)
        return self._pick(ours, theirs, base.kind, "edit")

    def _lead(self, base: str, ours: str, theirs: str) -> str:
        chosen = _chosen(base, ours, theirs)
        if chosen is not None:
            return chosen
        said = ["".join(text.split()) for text in (base, ours, theirs)]
        if said[2] in (said[0], said[1]):
            return ours
        if said[0] == said[1]:
            return theirs
        sides = [lines_node(text).parts for text in (base, ours, theirs)]
        return "".join(part.whole for part in self.sequence("lines", *sides))

    def _pick(self, ours: Node, theirs: Node, kind: str, how: str) -> Node:
        self.places.append(Place(kind, how, likeness(ours.said, theirs.said)))
        return ours if self.policy.pick == "ours" else theirs

    # ---- sequences

    def sequence(self, kind: str, base: Nodes, ours: Nodes, theirs: Nodes) -> list[Node]:
        """Merge three sequences of nodes of a kind."""
        pairs = aligned(kind, tuple(base), tuple(ours)), aligned(kind, tuple(base), tuple(theirs))
        mine, other = dict(pairs[0]), dict(pairs[1])
        merged: list[Node] = []
        known = len([place for place in self.places if place.how != "beside"])
        anchors = [(n, mine[n], other[n]) for n in range(len(base)) if n in mine and n in other]
        edges = [(-1, -1, -1), *anchors, (len(base), len(ours), len(theirs))]
        for (b0, o0, t0), (b1, o1, t1) in pairwise(edges):
            chunk = _Chunk(
                kind,
                base[b0 + 1 : b1],
                ours[o0 + 1 : o1],
                theirs[t0 + 1 : t1],
                {i - b0 - 1: mine[i] - o0 - 1 for i in range(b0 + 1, b1) if i in mine},
                {i - b0 - 1: other[i] - t0 - 1 for i in range(b0 + 1, b1) if i in other},
                (base[b0] if b0 >= 0 else None, base[b1] if b1 < len(base) else None),
            )
            if chunk.base or chunk.ours or chunk.theirs:
                beside = (
                    b0 >= 0 and base[b0].said != ours[o0].said,
                    b0 >= 0 and base[b0].said != theirs[t0].said,
                )
                self._note_near(kind, chunk, beside)
                merged += self._chunk(chunk)
            if b1 < len(base):
                merged.append(self.node(base[b1], ours[o1], theirs[t1]))
        if len([place for place in self.places if place.how != "beside"]) == known:
            self.places.append(Place(kind, "meets", is_open=False))
        return merged

    def _note_near(self, kind: str, chunk: _Chunk, beside: tuple[bool, bool]) -> None:
        """Note a change right behind one of the other side."""
        is_ours = [p.said for p in chunk.ours] != [p.said for p in chunk.base]
        is_theirs = [p.said for p in chunk.theirs] != [p.said for p in chunk.base]
        if (is_ours and beside[1] and not is_theirs) or (is_theirs and beside[0] and not is_ours):
            self.places.append(Place(kind, "beside", is_open=False))

    def _chunk(self, chunk: _Chunk) -> Nodes:
        """Merge what lies between two nodes that all three have."""
        said = [[p.said for p in side] for side in (chunk.base, chunk.ours, chunk.theirs)]
        if said[2] in (said[0], said[1]):
            return chunk.ours
        if said[0] == said[1]:
            return chunk.theirs
        if not chunk.base:
            return self.join(chunk, chunk.ours, chunk.theirs)
        edits = (
            _edits(chunk.base, chunk.ours, chunk.of_ours),
            _edits(chunk.base, chunk.theirs, chunk.of_theirs),
        )
        merged: list[Node] = []
        last = (False, False, -1)
        for ones, twos, start, end in _clusters(*edits):
            if start == last[2] and ((ones and last[1]) or (twos and last[0])):
                self.places.append(Place(chunk.kind, "beside", is_open=False))
            last = (bool(ones), bool(twos), end)
            merged += self._cluster(chunk, (ones, twos), start, end)
        return merged

    def _cluster(
        self, chunk: _Chunk, edits: tuple[list[_Edit], list[_Edit]], start: int, end: int
    ) -> Nodes:
        ones, twos = edits
        base = chunk.base[start:end]
        ours = _between(chunk.ours, chunk.of_ours, ones, start, end)
        theirs = _between(chunk.theirs, chunk.of_theirs, twos, start, end)
        if not base:
            return self.join(chunk, ours, theirs)
        said = [[p.said for p in side] for side in (base, ours, theirs)]
        if said[2] in (said[0], said[1]):
            return ours
        if said[0] == said[1]:
            return theirs
        if len(base) == len(ours) == len(theirs) == 1 and _may_recur(base[0], ours[0], theirs[0]):
            return [self.node(base[0], ours[0], theirs[0])]
        if not ours or not theirs:
            how = "delete" if not ones or not twos or not (ours or theirs) else "delete, replace"
        else:
            how = "replace"
        texts = ["".join(p.said for p in side) for side in (ours, theirs)]
        self.places.append(Place(_kind_of(base, chunk.kind), how, likeness(*texts)))
        if ours and theirs and self.policy.join in ("ours, theirs", "theirs, ours"):
            gone = {p.said for p in base}
            mine, other = ([p for p in s if p.said not in gone] for s in (ours, theirs))
            if chunk.kind != "code" and self.policy.pick == "both":
                return _in_order(self.policy.join, mine, other)
        return ours if self.policy.pick != "theirs" else theirs

    def join(self, chunk: _Chunk, ours: Nodes, theirs: Nodes) -> Nodes:
        """Put what both sides insert at one place after each other, each thing once."""
        if not ours or not theirs:
            return ours or theirs
        kind = _kind_of([*ours, *theirs], chunk.kind)
        known, keys = {p.said for p in ours}, {p.key: p for p in ours if p.key}
        rest = list(theirs)
        if chunk.kind != "code":
            rest = [p for p in theirs if p.said not in known]
            if not rest or {p.said for p in theirs} >= known:
                self.places.append(Place(kind, "within", is_open=False))
                return theirs if rest else ours
        same = {p.key: p for p in rest if p.key in keys and keys[p.key].kind == p.kind}
        by = _order_of(chunk, ours, theirs)
        how = "same key" if same else "insert" if by is None else "insert sorted"
        like = likeness(*(" ".join(p.said for p in side) for side in (ours, rest)))
        runs = (rest, ours) if self.policy.join.startswith("theirs") else (ours, rest)
        sorts = "yes" if runs[0][0].said.lower() <= runs[1][0].said.lower() else "no"
        self.places.append(Place(kind, how, like, True, sorts, _uses(runs[0], runs[1])))
        if self.policy.join in ("ours", "theirs"):
            return ours if self.policy.join == "ours" else theirs
        if self.policy.pick == "theirs":
            ours = [same.get(p.key, p) for p in ours]
        rest = [p for p in rest if p.key not in same]
        return (
            _in_order(self.policy.join, ours, rest)
            if by is None
            else sorted([*ours, *rest], key=by)
        )


def _order_of(chunk: _Chunk, ours: Nodes, theirs: Nodes) -> Callable[[Node], Any] | None:
    """Return the order that both sides keep with the nodes around, None where there is none."""
    if chunk.kind != "list" and not all(p.kind == "import" for p in (*ours, *theirs)):
        return None
    before, after = ([p] if p is not None and _has_order(p) else [] for p in chunk.around)
    if not before and not after:
        return None
    for by in _ORDERS:
        runs = [[by(p) for p in (*before, *side, *after)] for side in (ours, theirs)]
        if all(run == sorted(run) for run in runs):
            return by
    return None


def _has_order(node: Node) -> bool:
    return node.kind in ("code", "import")


def _name(node: Node) -> str:
    """Return what a node is sorted by: a module, or what an item says."""
    if node.kind != "import":
        return node.said
    words = node.key.split()
    return "".join(words[1:-1] if words[0] == "from" else words[1:])


_ORDERS: tuple[Callable[[Node], Any], ...] = (
    _name,
    lambda node: _name(node).lower(),
    lambda node: (not _name(node).isupper(), not _name(node)[:1].isupper(), _name(node)),
    lambda node: (node.text.startswith("from"), _name(node).lower()),
)


def _uses(earlier: Nodes, later: Nodes) -> str:
    """Say which of two runs of statements has names that the other one binds."""
    bound = [{word for p in run for word in p.key.split()[-1:]} for run in (earlier, later)]
    words = [{word for p in run for word in words_of(p.said)} for run in (earlier, later)]
    if bound[0] & words[1]:
        return "both" if bound[1] & words[0] else "later"
    return "earlier" if bound[1] & words[0] else "no"


def _in_order(join: str, ours: Nodes, theirs: Nodes) -> Nodes:
    both = [*ours, *theirs] if join == "ours, theirs" else [*theirs, *ours]
    main = [p for p in both if p.said.startswith("\x02 if __name__") or _is_main(p)]
    return [*(p for p in both if p not in main), *main] if main else both


def _is_main(node: Node) -> bool:
    return node.text.startswith("if __name__ ==")


def _may_recur(base: Node, ours: Node, theirs: Node) -> bool:
    return base.kind == ours.kind == theirs.kind and base.kind not in ("word", "sign", "eol")


def _kind_of(nodes: Nodes, otherwise: str) -> str:
    kinds = {node.kind for node in nodes} - {"blank", "eol"}
    if otherwise in ("list", "lines", "code", "tokens"):
        return otherwise
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else otherwise


def _chosen(base: str, ours: str, theirs: str) -> str | None:
    if theirs in (base, ours):
        return ours
    return theirs if base == ours else None


def _laid_out(base: Node, ours: Node, theirs: Node, edited: Node) -> Node | None:
    """Put the content of the side that edits into the layout of the other, where that is sure."""
    if not (base.parts and ours.parts and theirs.parts):
        return None
    trial = Replay(Policy("ours", "ours"))
    parts = trial.sequence(base.kind, base.parts, ours.parts, theirs.parts)
    parts = _spaced(base.kind, parts, ours.parts, theirs.parts)
    node = tree(ours.kind, parts, key=ours.key)
    return node if node.said == edited.said else None


@lru_cache(maxsize=256)
def _words_node(text: str) -> Node:
    return tree("tokens", [leaf("word", word) for word in _WORD.findall(text)])


def _spaced(kind: str, parts: list[Node], ours: Nodes, theirs: Nodes) -> list[Node]:
    """Give merged parts the commas and the white space that their places ask for."""
    if kind == "list":
        return _separated(parts, ours, theirs)
    for n in range(1, len(parts) if kind == "code" else 0):
        if _runs_together(parts[n - 1].text, parts[n].whole):
            parts[n] = replace(parts[n], lead=" ")
    return parts


def _runs_together(before: str, after: str) -> bool:
    return before[-1:].isidentifier() and (after[:1].isalnum() or after[:1] == "_")


def _separated(parts: Nodes, ours: Nodes, theirs: Nodes) -> list[Node]:
    """Give the items of a list the commas and the white space that their places ask for."""
    host = ours or theirs
    if not host:
        return list(parts)
    done: list[Node] = []
    for n, part in enumerate(parts):
        is_last = n == len(parts) - 1
        has_comma = "," in part.tail
        if not is_last and not has_comma:
            part = replace(part, tail="," + part.tail)
        elif is_last and has_comma and "," not in host[-1].tail and not part.tail.strip(", "):
            part = replace(part, tail="")
        elif is_last and not has_comma and "," in host[-1].tail:
            part = replace(part, tail="," + part.tail)
        done.append(part if part.lead.strip() else replace(part, lead=_lead_in(host, part, n)))
    return done


def _lead_in(host: Nodes, part: Node, at: int) -> str:
    """Return the white space before an item: as in the list that it stands in now."""
    if at == 0:
        return host[0].lead
    leads = [p.lead for p in host[1:] if not p.lead.strip()]
    if not leads:
        is_long = "\n" in host[0].lead
        return (
            host[0].lead if is_long else part.lead if "\n" not in part.lead and part.lead else " "
        )
    is_wrapped = ["\n" in lead for lead in leads]
    if all(is_wrapped) and "\n" not in part.lead:
        return leads[0]
    return " " if not any(is_wrapped) and ("\n" in part.lead or not part.lead) else part.lead


# ---- edits of a chunk


class _Chunk(Struct, frozen=True):
    """What lies between two nodes that all three have, and which of base's nodes a side has."""

    kind: str
    base: Nodes
    ours: Nodes
    theirs: Nodes
    of_ours: dict[int, int]
    of_theirs: dict[int, int]
    around: tuple[Node | None, Node | None] = (None, None)


class _Edit(Struct, frozen=True):
    """Nodes `start` to `end` of base become the side's nodes `first` to `last`."""

    start: int
    end: int
    first: int
    last: int


def _edits(base: Nodes, side: Nodes, of: dict[int, int]) -> list[_Edit]:
    """Return what a side changed: what it modified counts as replaced by itself."""
    edits: list[_Edit] = []
    start = first = 0
    pairs: list[Pair] = [*sorted(of.items()), (len(base), len(side))]
    for at, to in pairs:
        if at > start or to > first:
            edits.append(_Edit(start, at, first, to))
        if at < len(base) and base[at].said != side[to].said:
            edits.append(_Edit(at, at + 1, to, to + 1))
        start, first = at + 1, to + 1
    return edits


_Cluster = tuple[list[_Edit], list[_Edit], int, int]


def _clusters(ours: list[_Edit], theirs: list[_Edit]) -> list[_Cluster]:
    """Group the edits that meet; what neither side changed is not there, for all was changed."""
    clusters: list[tuple[list[_Edit], list[_Edit]]] = []
    both = sorted(
        [(e.start, e.end, 0, e) for e in ours] + [(e.start, e.end, 1, e) for e in theirs],
        key=lambda x: x[:3],
    )
    for _, _, side, edit in both:
        last = clusters[-1] if clusters else ([], [])
        if any(_meet(edit, other) for other in last[1 - side]):
            last[side].append(edit)
        else:
            clusters.append(([edit], []) if side == 0 else ([], [edit]))
    return [
        (one, two, min(e.start for e in (*one, *two)), max(e.end for e in (*one, *two)))
        for one, two in clusters
    ]


def _meet(one: _Edit, other: _Edit) -> bool:
    """Say whether two edits overlap, or insert at one place."""
    if one.start == one.end == other.start == other.end:
        return True
    return max(one.start, other.start) < min(one.end, other.end) or (
        one.start < other.start == other.end < one.end
        or other.start < one.start == one.end < other.end
    )


def _between(side: Nodes, of: dict[int, int], edits: list[_Edit], start: int, end: int) -> Nodes:
    """Return a side's nodes in the place of some of base, with these of its edits."""
    found: list[Node] = []
    at = start
    for edit in edits:
        found += [side[of[n]] for n in range(at, edit.start) if n in of]
        found += side[edit.first : edit.last]
        at = edit.end
    return found + [side[of[n]] for n in range(at, end) if n in of]
