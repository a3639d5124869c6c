"""Replay their changes on our text, node by node.

Where one side alone touches something there is one answer. A place that both sides touch is open: a
policy decides it, and the place is recorded.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.align import aligned
from patchmgr.engines.merge.node_edits import (
    NodeEdit,
    clusters,
    edits_between,
    may_slide,
    nodes_between,
)
from patchmgr.engines.merge.tree import (
    SEQUENCES,
    Node,
    leaf,
    likeness,
    lines_node,
    said_of,
    tree,
    words_of,
)

Nodes = Sequence[Node]
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class Policy(Struct, frozen=True):
    """Which side an open place gets: alone, or before the other one where both can stand."""

    is_theirs: bool
    is_alone: bool = False


class Place(Struct, frozen=True):
    """A place where both sides changed something: in what, how, and how like their texts are.

    `is_open` says that there is more than one answer. `asks` says why a person must look at two
    insertions however likely they are right: one uses names that the other one binds, their order
    has a meaning, or what comes later is never reached.
    """

    kind: str
    how: str
    like: float = 0.0
    is_open: bool = True
    asks: str = ""


class Replay:
    """One replay under a policy; `places` are where the sides met."""

    def __init__(self, policy: Policy, *, is_python: bool = False) -> None:
        self.is_python = is_python
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
        if base.kind == "clause" and _is_under_new_condition(base, ours, theirs):
            self.places.append(Place("clause", "condition", is_open=False))
        if not ours.kind == base.kind == theirs.kind:
            return self._pick(ours, theirs, ours.kind, "kind")
        if base.kind in SEQUENCES or (base.parts and ours.parts and theirs.parts):
            parts = self.sequence(base.kind, base.parts, ours.parts, theirs.parts, bracket=base.key)
            if base.kind == "list" and base.key == "import":
                parts = list({p.said: p for p in parts[::-1]}.values())[::-1]
            parts = _spaced(parts, base, ours, theirs)
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
        return theirs if self.policy.is_theirs else ours

    # ---- sequences

    def sequence(
        self, kind: str, base: Nodes, ours: Nodes, theirs: Nodes, *, bracket: str = ""
    ) -> list[Node]:
        """Merge three sequences of nodes of a kind, a list's in its bracket."""
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
                bracket,
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
        if bracket != "import":  # whose names are a set
            self._note_doubled(kind, merged, ours, theirs)
        if kind in ("code", "tokens") and may_slide(tuple(base), tuple(ours), tuple(theirs)):
            self.places.append(Place(kind, "beside", is_open=False, asks="slides"))
        if len([place for place in self.places if place.how != "beside"]) == known:
            self.places.append(Place(kind, "meets", is_open=False))
        return merged

    def _note_doubled(self, kind: str, merged: Nodes, ours: Nodes, theirs: Nodes) -> None:
        """Note what is there more often than on either side."""
        if kind not in ("list", "block"):
            return
        counts = [Counter(p.said for p in side if p.said) for side in (merged, ours, theirs)]
        doubled = {
            said for said, n in counts[0].items() if n > max(counts[1][said], counts[2][said]) > 0
        }
        if doubled:
            self.places.append(Place(kind, "doubled", is_open=False, asks="doubled"))

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
        imports = self._imports(chunk)
        if imports is not None:
            return imports
        if not chunk.base:
            return self.join(chunk, chunk.ours, chunk.theirs)
        edits = (
            edits_between(chunk.base, chunk.ours, chunk.of_ours),
            edits_between(chunk.base, chunk.theirs, chunk.of_theirs),
        )
        merged: list[Node] = []
        last = (False, False, -1)
        for ones, twos, start, end in clusters(*edits):
            if start == last[2] and ((ones and last[1]) or (twos and last[0])):
                self.places.append(Place(chunk.kind, "beside", is_open=False, asks=_beside(chunk)))
            last = (bool(ones), bool(twos), end)
            merged += self._cluster(chunk, (ones, twos), start, end)
        return merged

    def _imports(self, chunk: _Chunk) -> Nodes | None:
        """Merge imports as the set of names of each module, None for other statements."""
        sides = (chunk.base, chunk.ours, chunk.theirs)
        if not all(p.kind == "import" for side in sides for p in side):
            return None
        is_by_module = all(len({p.key for p in side}) == len(side) for side in sides)
        key = _key if is_by_module else _said  # one import for each name
        base, ours, theirs = ({key(p): p for p in side} for side in sides)
        if not chunk.base and not ours.keys() & theirs.keys():
            return None
        is_moved = any(_moves_names(chunk.base, side) for side in (chunk.ours, chunk.theirs))
        self.places.append(Place("import", "moved" if is_moved else "set", is_open=False))
        gone = [_names_of(chunk.base) - _names_of(side) for side in (chunk.ours, chunk.theirs)]
        merged = [
            self._import(base.get(key(p)), p, theirs.get(key(p)))
            for p in chunk.ours
            if key(p) in base or not _names_of([p]) <= gone[1]
        ]
        done = [p for p in merged if p is not None]
        for n, part in enumerate(chunk.theirs):
            if key(part) in ours or (key(part) not in base and _names_of([part]) <= gone[0]):
                continue
            new = part if key(part) not in base else self._named(part, base[key(part)])
            before = {key(p) for p in chunk.theirs[:n]}
            at = max((k + 1 for k, p in enumerate(done) if key(p) in before), default=0)
            done[at:at] = [] if new is None else [new]
        return done

    def _import(self, base: Node | None, ours: Node, theirs: Node | None) -> Node | None:
        """Merge the imports of one module that ours has."""
        if theirs is None:
            return ours if base is None else self._named(ours, base)
        nothing = self._named(theirs, theirs, has_names=True)
        merged = self.node(base or nothing or ours, ours, theirs)
        return merged if merged.text else None

    def _named(self, side: Node, without: Node, has_names: bool = False) -> Node | None:
        """Return an import without the names of another one, None where it has no more."""
        if not self.is_python or (side.said == without.said and not has_names):
            return None
        code, other = side.parts[0], without.parts[0]
        known = {p.said for part in other.parts if part.kind == "list" for p in part.parts}
        at = next((n for n, part in enumerate(code.parts) if part.kind == "list"), None)
        if at is None:
            return None
        items = code.parts[at].parts
        rest = [p for p in items if p.said not in known]
        if not rest and not has_names:
            return None
        names = tree("list", _separated(rest, items), key=code.parts[at].key)
        names = replace(names, tail=code.parts[at].tail)
        parts = (*code.parts[:at], names, *code.parts[at + 1 :])
        return tree("import", (tree("code", parts, key="logical"),), key=side.key, lead=side.lead)

    def _cluster(
        self, chunk: _Chunk, edits: tuple[list[NodeEdit], list[NodeEdit]], start: int, end: int
    ) -> Nodes:
        ones, twos = edits
        base = chunk.base[start:end]
        ours = nodes_between(chunk.ours, chunk.of_ours, ones, start, end)
        theirs = nodes_between(chunk.theirs, chunk.of_theirs, twos, start, end)
        if not base:
            return self.join(chunk, ours, theirs)
        said = [[p.said for p in side] for side in (base, ours, theirs)]
        if said[2] in (said[0], said[1]):
            return ours
        if said[0] == said[1]:
            return theirs
        if chunk.bracket == "import":  # a set: what either side removes is gone
            gone = set(said[0]) - set(said[1]) & set(said[2])
            kept = ([p for p in side if p.said not in gone] for side in (ours, theirs))
            return self.join(chunk, *kept)
        if len(base) == len(ours) == len(theirs) == 1 and _may_recur(base[0], ours[0], theirs[0]):
            return [self.node(base[0], ours[0], theirs[0])]
        if not ours or not theirs:
            how = "delete" if not ones or not twos or not (ours or theirs) else "delete, replace"
        else:
            how = "replace"
        texts = ["".join(p.said for p in side) for side in (ours, theirs)]
        asks = "deleted" if how == "delete, replace" else ""
        self.places.append(Place(_kind_of(base, chunk.kind), how, likeness(*texts), asks=asks))
        return theirs if self.policy.is_theirs else ours

    def join(self, chunk: _Chunk, ours: Nodes, theirs: Nodes) -> Nodes:
        """Put what both sides insert at the same place in a row, each thing once."""
        if not ours or not theirs:
            return ours or theirs
        kind = _kind_of([*ours, *theirs], chunk.kind)
        known = {p.said for p in ours}
        again = {k for s in (ours, theirs) for k, n in Counter(p.key for p in s).items() if n > 1}
        keys = {p.key: p for p in ours if p.key and p.key not in again}
        rest = list(theirs)
        if chunk.kind != "code":
            rest = [p for p in theirs if p.kind == "blank" or p.said not in known]
            is_new = any(p.kind != "blank" for p in rest)
            if not is_new or {p.said for p in theirs} >= known:
                self.places.append(Place(kind, "within", is_open=False))
                return theirs if is_new else ours
        same = {p.key: p for p in rest if p.key in keys and keys[p.key].kind == p.kind}
        by = _order_of(chunk, ours, theirs)
        how = "same key" if same else "insert" if by is None else "insert sorted"
        like = likeness(*(" ".join(p.said for p in side) for side in (ours, rest)))
        runs = (rest, ours) if self.policy.is_theirs else (ours, rest)
        if self.policy.is_alone:
            kept, dropped = (theirs, ours) if self.policy.is_theirs else (ours, rest)
            gone = {p.said for p in dropped if p.kind == "import"} - {p.said for p in kept}
            lost = _words_in(dropped) - _words_in(kept)
            self.places.append(Place(kind, how, like, asks="loses" if gone or lost else ""))
            return kept
        own = [[p for p in run if p.key not in same] for run in runs]
        asks = self._asks(chunk, own[0], own[1])
        if any(p.kind == "entry" for p in same.values()):
            asks = "same key"
        self.places.append(Place(kind, how, like, asks=asks))
        if self.policy.is_theirs:
            ours = [same.get(p.key, p) for p in ours]
        rest = [p for p in rest if p.key not in same]
        if by is not None:
            return sorted([*ours, *rest], key=by)
        first, second = (rest, ours) if self.policy.is_theirs else (ours, rest)
        return _one_after_the_other(first, second)

    def _asks(self, chunk: _Chunk, earlier: Nodes, later: Nodes) -> str:
        """Say why two insertions at one place are a person's to order."""
        if chunk.kind == "code":
            return "order"
        if chunk.bracket in _IN_ORDER:  # what has its place stands before what has a name
            return "" if all(map(_is_named, later)) else "order"
        heads = [
            {p.parts[0].parts[0].said for p in run if p.kind == "compound" and p.parts[0].parts}
            for run in (earlier, later)
        ]
        if any(p.text.startswith("!") for p in (*earlier, *later)):
            return "order"  # an exception from the patterns before it
        if any(p.kind == "directive" and not p.text.startswith(_WHOLE) for p in (*earlier, *later)):
            return "order"
        ends = [words_of(p.said)[:1] for p in earlier if p.kind != "blank"][-1:]
        is_left = bool(ends and ends[0]) and ends[0][0] in _LEAVING
        has_case = any(words_of(p.said)[:1] in _CASES for p in (*earlier, *later))
        if heads[0] & heads[1] or is_left is not has_case:
            return "not reached"
        if self.is_python and _share_names(earlier, later):
            return "effects"
        return "uses" if _uses(earlier, later) or _uses(later, earlier) else ""


def _beside(chunk: _Chunk) -> str:
    """Say why a person must look at two changes beside each other.

    An operator changes beside what it is for; or one item comes and one goes, and others move.
    """
    sides = (chunk.base, chunk.ours, chunk.theirs)
    items = [p for side in sides for p in side]
    if any(_is_operator(*two) for side in sides for two in pairwise((chunk.around[0], *side))):
        return "one expression"
    if any(p.text == "." for p in items) and not any(p.text == "." for p in chunk.base):
        return "one expression"  # `seed`, which becomes `read_seed` here and `params.seed` there
    is_even = len(chunk.base) == len(chunk.ours) == len(chunk.theirs)
    is_by_place = chunk.bracket in _IN_ORDER - {"list"} and not all(map(_is_named, items))
    return "order" if is_by_place and not is_even else ""


def _is_operator(before: Node | None, node: Node | None) -> bool:
    """Say whether a sign makes an expression of what is beside it: a decorator's does not."""
    if node is None or node.kind != "sign" or node.text in _NO_OPERATORS:
        return False
    return node.text != "@" or (before is not None and before.kind != "eol")


_NO_OPERATORS = ".,:;=()[]{}"
_IN_ORDER = frozenset({"(", "call", "parameters", "list", "tuple", "subscript"})
"""Brackets whose items have their places, where they have no names."""
_WHOLE = ("#define", "#include", "#undef", "#pragma")
_CASES = (("case",), ("default",))
_LEAVING = frozenset(("return", "raise", "throw", "break", "continue", "goto", "yield"))


def _is_named(item: Node) -> bool:
    """Say whether an argument or parameter has a name or a default: others have their place."""
    return item.kind == "blank" or "=" in words_of(item.said)[1:] or item.said.startswith("* *")


def _order_of(chunk: _Chunk, ours: Nodes, theirs: Nodes) -> Callable[[Node], Any] | None:
    """Return the order that both sides keep with the nodes around, None where there is none."""
    if chunk.kind != "list" and not all(p.kind == "import" for p in (*ours, *theirs)):
        return None
    before, after = ([p] if p is not None and _has_order(p) else [] for p in chunk.around)
    if not (before or after or chunk.kind != "list" or chunk.bracket == "import"):
        return None
    for by in _ORDERS:
        runs = [[by(p) for p in (*before, *side, *after)] for side in (ours, theirs)]
        if all(run == sorted(run) for run in runs):
            return by
    return None


def _key(node: Node) -> str:
    return node.key


def _said(node: Node) -> str:
    return node.said


def _has_order(node: Node) -> bool:
    return node.kind in ("code", "import")


def _name(node: Node) -> str:
    """Return what a node is sorted by: a module, or what an item says."""
    if node.kind != "import":
        return node.said
    words = node.key.split()
    return "".join(words[1:-1] if words[0] == "from" else words[1:])


_ORDERS: tuple[Callable[[Node], Any], ...] = (
    lambda node: (node.text.startswith("from "), _name(node)),  # as isort and ruff do by default
    lambda node: (node.text.startswith("from "), _name(node).lower()),
    _name,
    lambda node: _name(node).lower(),
    lambda node: (not _name(node).isupper(), not _name(node)[:1].isupper(), _name(node)),
)


def _moves_names(base: Nodes, side: Nodes) -> bool:
    """Say whether a side imports names of base from other modules."""
    old, new = (
        {(p.key, word) for p in run for word in words_of(p.said)[1:] if word.isidentifier()}
        for run in (base, side)
    )
    gone, come = (
        {word for key, word in names if word not in key} for names in (old - new, new - old)
    )
    return bool(gone & come)


def _names_of(imports: Nodes) -> set[str]:
    """Return the words behind `import` of some imports."""
    return {word for p in imports for word in words_of(p.said.partition("import ")[2])} - {*"(,)"}


def _is_under_new_condition(base: Node, ours: Node, theirs: Node) -> bool:
    """Say whether one side changes the head of a clause, and the other one what is under it."""
    heads, bodies = (
        [[p.said for p in node.parts[cut]] for node in (base, ours, theirs)]
        for cut in (slice(0, 1), slice(1, None))
    )
    return (heads[0] != heads[1] and bodies[0] != bodies[2]) or (
        heads[0] != heads[2] and bodies[0] != bodies[1]
    )


def _share_names(one: Nodes, other: Nodes) -> bool:
    """Say whether a run does something with what the other one has names of.

    An assignment does so with its target alone, any other statement with all that it names.
    """
    return any(
        not _names_in(a, of_targets=True).isdisjoint(_names_in(b, of_targets=False))
        for a, b in ((one, other), (other, one))
    )


def _names_in(run: Nodes, *, of_targets: bool) -> set[str]:
    said = (
        said_of(p.key) if of_targets and p.kind == "assignment" else p.said
        for p in run
        if p.kind in _DONE
    )
    words = {word for text in said for word in words_of(text)}
    return {word for word in words if word.isidentifier() and word not in _KEYWORDS}


_DONE = frozenset({"statement", "assignment", "compound"})
_KEYWORDS = frozenset((*keyword.kwlist, "self", "cls"))


def _words_in(nodes: Nodes) -> set[str]:
    return {word for node in nodes for word in words_of(node.said)}


def _uses(one: Nodes, other: Nodes) -> bool:
    """Say whether a run of statements has names that only the other one binds."""
    if all(node.kind in ("import", "blank") for node in (*one, *other)):
        return False
    mine, bound = ({word for p in run for word in p.key.split()[-1:]} for run in (one, other))
    return any(word in bound - mine for p in one for word in words_of(p.said))


def _one_after_the_other(first: Nodes, second: Nodes) -> Nodes:
    """Join two runs, blank lines between them as behind them; what runs a script comes last."""
    if any(map(_is_main, first)) and not any(map(_is_main, second)):
        first, second = second, first
    ends = [run[-1] for run in (first, second) if run and run[-1].kind == "blank"]
    rest = list(second)
    if ends and rest and rest[0].kind != "blank" and not ends[0].whole.strip():
        gap = "" if rest[0].lead.startswith(ends[0].whole + "\n") else ends[0].whole
        rest[0] = replace(rest[0], lead=gap + rest[0].lead)
    return [*(p for p in first if p.kind != "blank" or not rest), *rest]


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
    trial = Replay(Policy(is_theirs=False, is_alone=True))
    parts = trial.sequence(base.kind, base.parts, ours.parts, theirs.parts)
    parts = _spaced(parts, base, ours, theirs)
    node = tree(ours.kind, parts, key=ours.key)
    return node if node.said == edited.said else None


@lru_cache(maxsize=256)
def _words_node(text: str) -> Node:
    return tree("tokens", [leaf("word", word) for word in _WORD.findall(text)])


def _spaced(parts: list[Node], base: Node, ours: Node, theirs: Node) -> list[Node]:
    """Give merged parts the commas and the white space that their places ask for."""
    if base.kind == "list":
        is_long = [any("\n" in p.lead for p in node.parts) for node in (base, ours, theirs)]
        is_theirs = is_long[2] != is_long[0] == is_long[1] or not ours.parts
        return _separated(parts, (theirs if is_theirs else ours).parts)
    for n in range(1, len(parts) if base.kind == "code" else 0):
        if _runs_together(parts[n - 1].text, parts[n].whole):
            parts[n] = replace(parts[n], lead=" ")
    return parts


def _runs_together(before: str, after: str) -> bool:
    return before[-1:].isidentifier() and (after[:1].isalnum() or after[:1] == "_")


def _separated(parts: Nodes, host: Nodes) -> list[Node]:
    """Give the items of a list the commas and the white space of a list of a side."""
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
    bracket: str = ""
