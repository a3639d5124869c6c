"""Replay the edits of theirs on ours, one syntax node after the other.

If both sides changed a node, the merge has the text of the preferred side, or both texts with the
preferred side's first. `Replay.places` lists these nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.align import Pair, aligned
from patchmgr.engines.merge.node_edits import (
    NodeEdit,
    clusters,
    edits_between,
    may_slide,
    nodes_between,
)
from patchmgr.engines.merge.order import (
    Chunk,
    adjacent_reason,
    one_after_the_other,
    operators_in,
    order_of,
    order_reason,
)
from patchmgr.engines.merge.tree import (
    SEQUENCES,
    Node,
    leaf,
    lines_node,
    normalized,
    tree,
    words_of,
)

Nodes = Sequence[Node]
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_NUMBER = re.compile(r"\d[\w .]*")


class Place(Struct, frozen=True):
    """A node that both sides of a merge changed: its kind, and how it was merged."""

    kind: str
    how: str


class Replay:
    """A merge of two syntax trees. Where both sides changed a node, it prefers one side."""

    def __init__(self, *, is_theirs: bool, is_python: bool = False) -> None:
        self.is_python = is_python
        self.is_theirs = is_theirs
        self.places: list[Place] = []  # nodes that both sides changed
        self.asks: list[str] = []  # why a person must confirm the result

    def node(self, base: Node, ours: Node, theirs: Node) -> Node:
        """Merge the three versions of a syntax node: base, ours and theirs."""
        if ours.whole == theirs.whole or base.whole == theirs.whole:
            return ours
        if base.whole == ours.whole:
            return theirs
        lead = self._lead(base.lead, ours.lead, theirs.lead)
        tail = _chosen(base.tail, ours.tail, theirs.tail)
        comments = [normalized(node.tail.lstrip(", \t")) for node in (base, ours, theirs)]
        if tail is None and comments[2] not in comments[:2]:
            self.asks.append("loses")
        core = self._core(base, ours, theirs)
        return replace(core, lead=lead, tail=ours.tail if tail is None else tail)

    def _core(self, base: Node, ours: Node, theirs: Node) -> Node:
        if base.text == theirs.text or ours.text == theirs.text:
            return ours
        if base.text == ours.text:
            return theirs
        if ours.normalized == theirs.normalized:
            return ours
        if base.normalized in (ours.normalized, theirs.normalized):
            edited = theirs if base.normalized == ours.normalized else ours
            return _laid_out(base, ours, theirs, edited) or edited
        if not ours.kind == base.kind == theirs.kind:
            return self._pick(ours, theirs, ours.kind, "kind")
        if base.kind in SEQUENCES or (base.parts and ours.parts and theirs.parts):
            parts = self.sequence(base.kind, base.parts, ours.parts, theirs.parts, bracket=base.key)
            if base.kind == "list" and base.key == "import":
                parts = list({p.normalized: p for p in parts[::-1]}.values())[::-1]
            parts = spaced(parts, base, ours, theirs)
            if base.key == ours.key == "tuple" and len(parts) == 1 < len(ours.parts):
                parts = [replace(parts[0], tail=",")]  # without it, `(a)` is no tuple
            if any(p.kind == "list" and p.key == "import" and not p.parts for p in parts):
                parts = []  # each side removed what the other one kept
            return tree(ours.kind, parts, key=ours.key or theirs.key)
        return self._leaf(base, ours, theirs)

    def _leaf(self, base: Node, ours: Node, theirs: Node) -> Node:
        """Merge nodes without parts. Strings and comments are merged by lines or by words."""
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
        texts = ["".join(text.split()) for text in (base, ours, theirs)]
        if texts[2] in (texts[0], texts[1]):
            return ours
        if texts[0] == texts[1]:
            return theirs
        sides = [lines_node(text).parts for text in (base, ours, theirs)]
        return "".join(part.whole for part in self.sequence("lines", *sides))

    def _pick(self, ours: Node, theirs: Node, kind: str, how: str) -> Node:
        self.places.append(Place(kind, how))
        return theirs if self.is_theirs else ours

    # ---- sequences

    def sequence(
        self, kind: str, base: Nodes, ours: Nodes, theirs: Nodes, *, bracket: str = ""
    ) -> list[Node]:
        """Merge three versions of a node's children; `bracket` is the key if the node is a list."""
        pairs = aligned(kind, tuple(base), tuple(ours)), aligned(kind, tuple(base), tuple(theirs))
        mine, other = dict(pairs[0]), dict(pairs[1])
        merged: list[Node] = []
        anchors = [(n, mine[n], other[n]) for n in range(len(base)) if n in mine and n in other]
        edges = [(-1, -1, -1), *anchors, (len(base), len(ours), len(theirs))]
        for (b0, o0, t0), (b1, o1, t1) in pairwise(edges):
            chunk = Chunk(
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
                merged += self._chunk(chunk)
            if b1 < len(base):
                merged.append(self.node(base[b1], ours[o1], theirs[t1]))
        if bracket != "import":  # the names of an import are a set
            self._note_doubled(kind, merged, ours, theirs)
            if kind == "list" and _is_of_older_form(base, ours, theirs):
                self.asks.append("older form")
        # `(1, 3, 2)` becomes `(1, 4, 1)` here and `(1, 4, 2)` there (qutebrowser 0666da432b).
        # `for x in a` becomes `for x in a.values()` here and `for n in a` there (4c36433d36).
        is_version = kind == "list" and len(base) > 1 and _are_numbers(base, ours, theirs)
        is_head = self.is_python and kind == "code" and [p.text for p in base[:1]] == ["for"]
        if (is_version or (is_head and _differ(merged, ours, theirs))) and _differ(
            base, ours, theirs
        ):
            self.asks.append("one expression")
        if kind in ("code", "tokens") and may_slide(tuple(base), tuple(ours), tuple(theirs)):
            self.asks.append("slides")
        return merged

    def _note_doubled(self, kind: str, merged: Nodes, ours: Nodes, theirs: Nodes) -> None:
        """Ask a person about a node that occurs more often in the merge than on either side."""
        if kind not in ("list", "block"):
            return
        counts = [
            Counter(p.normalized for p in side if p.normalized and p.kind not in _REPEATED)
            for side in (merged, ours, theirs)
        ]
        if any(n > max(counts[1][node], counts[2][node]) > 0 for node, n in counts[0].items()):
            self.asks.append("doubled")

    def _chunk(self, chunk: Chunk) -> Nodes:
        """Merge the nodes between two nodes that all three sides have."""
        texts = [[p.normalized for p in side] for side in (chunk.base, chunk.ours, chunk.theirs)]
        if texts[2] in (texts[0], texts[1]):
            return chunk.ours
        if texts[0] == texts[1]:
            return chunk.theirs
        imports = merged_imports((chunk.base, chunk.ours, chunk.theirs), self.node)
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
                self.asks += filter(None, [adjacent_reason(chunk, start, merged)])
            last = (bool(ones), bool(twos), end)
            merged += self._cluster(chunk, (ones, twos), start, end)
        return merged

    def _cluster(
        self, chunk: Chunk, edits: tuple[list[NodeEdit], list[NodeEdit]], start: int, end: int
    ) -> Nodes:
        ones, twos = edits
        base = chunk.base[start:end]
        ours = nodes_between(chunk.ours, chunk.of_ours, ones, start, end)
        theirs = nodes_between(chunk.theirs, chunk.of_theirs, twos, start, end)
        if not base:
            return self.join(chunk, ours, theirs)
        texts = [[p.normalized for p in side] for side in (base, ours, theirs)]
        if texts[2] in (texts[0], texts[1]):
            return ours
        if texts[0] == texts[1]:
            return theirs
        if chunk.bracket == "import":  # a set: a name that either side removes is gone
            gone = set(texts[0]) - set(texts[1]) & set(texts[2])
            kept = ([p for p in side if p.normalized not in gone] for side in (ours, theirs))
            return self.join(chunk, *kept)
        if len(base) == len(ours) == len(theirs) == 1 and _may_recur(base[0], ours[0], theirs[0]):
            return [self.node(base[0], ours[0], theirs[0])]
        if not ours or not theirs:
            how = "delete" if not ones or not twos or not (ours or theirs) else "delete, replace"
        else:
            how = "replace"
        if how == "delete, replace" and sum(len(words_of(p.normalized)) for p in base) <= _SHORT:
            self.asks.append("undone")  # `f(1, 2)` becomes `f(1)` here and `f(1, 20)` there
        if how == "replace" and chunk.kind == "code" and _drops_a_word(texts[0], texts[1:]):
            self.asks.append("undone")
        if len(base) == 1 and operators_in(ours) != operators_in(theirs) and ours and theirs:
            self.asks.append("one expression")  # `x[0]` becomes `x[1]` here and `x[-1]` there
        self.places.append(Place(_kind_of(base, chunk.kind), how))
        return theirs if self.is_theirs else ours

    def join(self, chunk: Chunk, ours: Nodes, theirs: Nodes) -> Nodes:
        """Return the insertions of both sides at one position, without duplicate nodes."""
        if not ours or not theirs:
            return ours or theirs
        kind = _kind_of([*ours, *theirs], chunk.kind)
        if chunk.kind == "code" or any(p.kind in _ATOMS for p in (*ours, *theirs)):
            return self._join_tokens(kind, ours, theirs)
        known = {p.normalized for p in ours}
        rest = [p for p in theirs if p.kind in _REPEATED or p.normalized not in known]
        is_new = any(p.kind != "blank" for p in rest)
        if not is_new or {p.normalized for p in theirs} >= known:
            if any(p.kind == "line" for p in ours) and not _is_at_an_end(ours, theirs):
                self.asks.append("two wordings")
            return theirs if is_new else ours
        if shared := _shared(chunk.kind, ours, theirs):
            return self._join_around(chunk, ours, theirs, shared)
        again = {k for s in (ours, theirs) for k, n in Counter(p.key for p in s).items() if n > 1}
        keys = {p.key: p for p in ours if p.key and p.key not in again}
        same = {p.key: p for p in rest if p.key in keys and keys[p.key].kind == p.kind}
        by = order_of(chunk, ours, theirs)
        how = "same key" if same else "insert" if by is None else "insert sorted"
        runs = (rest, ours) if self.is_theirs else (ours, rest)
        own = [[p for p in run if p.key not in same] for run in runs]
        asks = order_reason(chunk, own[0], own[1], is_python=self.is_python)
        if any(p.kind in ("entry", "code") for p in same.values()):
            asks = "same key"
        self.places.append(Place(kind, how))
        is_doubled = any(a and a == b for a, b in zip(*map(_head_and_block, own), strict=True))
        self.asks += filter(None, [asks, "doubled" if is_doubled else ""])
        if self.is_theirs:
            ours = [same.get(p.key, p) for p in ours]
        rest = [p for p in rest if p.key not in same]
        if by is not None:
            return sorted([*ours, *rest], key=by)
        first, second = (rest, ours) if self.is_theirs else (ours, rest)
        return one_after_the_other(first, second)

    def _join_tokens(self, kind: str, ours: Nodes, theirs: Nodes) -> Nodes:
        """Return both insertions into a statement, or one if it begins or ends with the other."""
        if _is_at_an_end(ours, theirs):
            return max(ours, theirs, key=len)
        self.places.append(Place(kind, "insert"))
        # A token that both insert is kept twice: two enumerators of curl would have had one comma
        # between them (62fefb0a00).
        self.asks.append("order")
        return [*theirs, *ours] if self.is_theirs else [*ours, *theirs]

    def _join_around(
        self, chunk: Chunk, ours: Nodes, theirs: Nodes, shared: Sequence[Pair]
    ) -> Nodes:
        """Merge two insertions that have statements in common, as versions of one text."""
        merged: list[Node] = []
        at = to = 0
        for n, (i, j) in enumerate([*shared, (len(ours), len(theirs))]):
            one, other = ours[at:i], theirs[to:j]
            names = [
                {p.key or p.normalized for p in run if p.kind != "blank"} for run in (one, other)
            ]
            is_before = n < len(shared) and (n > 0 or ours[i].kind not in ("def", "class"))
            # Otherwise, two calls in Go would share one `if err != nil {` (ollama 3060abbdbd).
            if is_before and all(names) and names[0].isdisjoint(names[1]):
                self.asks.append("two wordings")
                merged += other if self.is_theirs else one
            else:
                merged += self.join(chunk, one, other)
            merged += ours[i : i + 1]
            at, to = i + 1, j + 1
        return merged


def _drops_a_word(base: Sequence[str], sides: Sequence[Sequence[str]]) -> bool:
    """Return whether one side only removes words of a text that the other side replaces."""
    # One side removes a package, and the other one names all of another release (supercollider
    # 905c2bd270).
    return any(
        not Counter(side) - Counter(base)
        and any(map(str.isidentifier, Counter(base) - Counter(side)))
        for side in sides
    )


def _is_of_older_form(base: Nodes, ours: Nodes, theirs: Nodes) -> bool:
    """Return whether one side changes all items of a list, and the other side only adds some.

    For example, ours changes `[1, 2]` to `[(1, 0), (2, 0)]`, and theirs to `[1, 2, 3]`.
    """
    old, *sides = ({p.normalized for p in side} for side in (base, ours, theirs))
    return len(old) > 1 and any(
        old.isdisjoint(one) and len(one) >= len(old) and old < other
        for one, other in (sides, sides[::-1])
    )


def _are_numbers(*sides: Nodes) -> bool:
    """Return whether all versions of a list have the same number of items, all of them numbers."""
    items = (p.normalized for side in sides for p in side)
    return len({len(side) for side in sides}) == 1 and all(map(_NUMBER.fullmatch, items))


def _differ(*sides: Nodes) -> bool:
    """Return whether no two versions of a node's children have the same words."""
    return len({tuple(p.normalized for p in side) for side in sides}) == len(sides)


def _is_at_an_end(ours: Nodes, theirs: Nodes) -> bool:
    """Return whether the longer of two insertions begins or ends with the shorter one."""
    sides = ([p.normalized for p in side if p.normalized] for side in (ours, theirs))
    few, many = sorted(sides, key=len)
    return few in (many[: len(few)], many[-len(few) :])


_SHORT = 3  # words and punctuation: an item, or an operator such as `&&` and its operand
_ATOMS = frozenset({"word", "sign", "eol"})
_REPEATED = ("blank", "fragment")  # each side has its own, such as the `@Test` of each test


def _shared(kind: str, ours: Nodes, theirs: Nodes) -> list[Pair]:
    """Return the index pairs of the statements that both sides insert, in order."""
    if kind == "list":
        return []
    pairs = aligned(kind, tuple(ours), tuple(theirs))
    same = [(i, j) for i, j in pairs if ours[i].normalized == theirs[j].normalized]
    return [(i, j) for i, j in same if ours[i].kind not in (*_REPEATED, "import")]


def _head_and_block(nodes: Nodes) -> tuple[list[str], list[str]]:
    """Return the header and the block of the first statement if it is an `if` or a loop."""
    # One block under two conditions is one statement in two versions (vuejs/core f6e3f2bc08).
    first = next((p for p in nodes if p.kind != "blank"), None)
    parts = first.parts if first is not None and first.kind == "compound" else ()
    end = next((n for n, p in enumerate(parts) if p.kind == "block"), len(parts))
    return [p.normalized for p in parts[:end]], [p.normalized for p in parts[end : end + 1]]


def _may_recur(base: Node, ours: Node, theirs: Node) -> bool:
    # An edit to a variable does not apply to the one that replaced it (apex: TEST_DIRS replaced
    # ROCM_BLACKLIST).
    is_one = base.kind != "assignment" or base.key == ours.key == theirs.key
    return is_one and base.kind == ours.kind == theirs.kind and base.kind not in _ATOMS


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
    """Return the node `edited` in the layout of the other side, or None if that is uncertain."""
    if not (base.parts and ours.parts and theirs.parts):
        return None
    trial = Replay(is_theirs=False)
    parts = trial.sequence(base.kind, base.parts, ours.parts, theirs.parts)
    parts = spaced(parts, base, ours, theirs)
    node = tree(ours.kind, parts, key=ours.key)
    return node if node.normalized == edited.normalized else None


@lru_cache(maxsize=256)
def _words_node(text: str) -> Node:
    return tree("tokens", [leaf("word", word) for word in _WORD.findall(text)])


# ---- adjacent imports, as sets of names for each module


_Merge = Callable[[Node, Node, Node], Node]


def merged_imports(sides: tuple[Nodes, Nodes, Nodes], merge: _Merge) -> Nodes | None:
    """Merge imports as a set of names for each module, or return None if that is not possible."""
    if not all(p.kind == "import" for side in sides for p in side):
        return None
    is_by_module = all(len({p.key for p in side}) == len(side) for side in sides)
    # Otherwise there is one import per name.
    key: Callable[[Node], str] = attrgetter("key" if is_by_module else "normalized")
    base, ours, theirs = ({key(p): p for p in side} for side in sides)
    if not base and not ours.keys() & theirs.keys():
        return None
    gone = [_names_of(sides[0]) - _names_of(side) for side in sides[1:]]
    merged = [
        _merged_import(base.get(key(p)), p, theirs.get(key(p)), merge)
        for p in sides[1]
        if key(p) in base or not _names_of([p]) <= gone[1]
    ]
    done = [p for p in merged if p is not None]
    for n, part in enumerate(sides[2]):
        if key(part) in ours or (key(part) not in base and _names_of([part]) <= gone[0]):
            continue
        new = part if key(part) not in base else _named(part, base[key(part)])
        before = {key(p) for p in sides[2][:n]}
        at = max((k + 1 for k, p in enumerate(done) if key(p) in before), default=0)
        done[at:at] = [] if new is None else [new]
    return done


def _merged_import(
    base: Node | None, ours: Node, theirs: Node | None, merge: _Merge
) -> Node | None:
    """Merge the versions of an import that ours has, or return None if no name is left."""
    if theirs is None:
        return ours if base is None else _named(ours, base)
    nothing = _named(theirs, theirs, has_names=True) or ours
    if theirs.lead.strip():  # a comment that theirs adds
        nothing = replace(nothing, lead=ours.lead)
    merged = merge(base or nothing, ours, theirs)
    return merged if merged.text else None


def _named(side: Node, without: Node, has_names: bool = False) -> Node | None:
    """Return the import `side` without the names that `without` imports; None if none is left."""
    if side.normalized == without.normalized and not has_names:
        return None
    code, other = side.parts[0], without.parts[0]
    known = {p.normalized for part in other.parts if part.kind == "list" for p in part.parts}
    at = next((n for n, part in enumerate(code.parts) if part.kind == "list"), None)
    if at is None:
        return None
    items = code.parts[at].parts
    rest = [p for p in items if p.normalized not in known]
    if not rest and not has_names:
        return None
    names = tree("list", separated(rest, items), key=code.parts[at].key)
    names = replace(names, tail=code.parts[at].tail)
    parts = (*code.parts[:at], names, *code.parts[at + 1 :])
    return tree("import", (tree("code", parts, key="logical"),), key=side.key, lead=side.lead)


def _names_of(imports: Nodes) -> set[str]:
    return {word for p in imports for word in words_of(p.normalized.partition("import ")[2])} - {
        *"(,)"
    }


# ---- the commas and the white space between merged parts


def spaced(parts: list[Node], base: Node, ours: Node, theirs: Node) -> list[Node]:
    """Return the parts of a merged syntax node, with commas and white space between them."""
    if base.kind == "list":
        is_long = [any("\n" in p.lead for p in node.parts) for node in (base, ours, theirs)]
        is_theirs = is_long[2] != is_long[0] == is_long[1] or not ours.parts
        return separated(parts, (theirs if is_theirs else ours).parts)
    firsts = {id(node.parts[0]): node for node in (base, ours, theirs) if node.parts}
    leads = {id(a): b.lead for node in (ours, theirs) for a, b in pairwise(node.parts)}
    for n in range(1, len(parts)):
        side = firsts.get(id(parts[n]))
        if side is not None and not parts[n].lead:  # its white space is that of the statement
            lead = side.lead[len(side.lead.rstrip()) :]
            if parts[n].kind in _ATOMS:  # or that after the words that the other side puts before
                lead = leads.get(id(parts[n - 1]), lead)
            parts[n] = replace(parts[n], lead=lead)
        if base.kind == "code" and _runs_together(parts[n - 1].text, parts[n].whole):
            parts[n] = replace(parts[n], lead=" ")
    return parts


def _runs_together(before: str, after: str) -> bool:
    return before[-1:].isidentifier() and (after[:1].isalnum() or after[:1] == "_")


def separated(parts: Nodes, host: Nodes) -> list[Node]:
    """Return the items of a merged list, with commas and white space as in the list `host`."""
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
    """Return the white space to put before an item, in the style of the list `host`."""
    if at == 0:
        return host[0].lead
    leads = {p.lead for p in host[1:] or host if not p.lead.strip()}
    if len(leads) == 1 and (len(host) > 1 or leads != {""}):
        return leads.pop()
    is_own = any(p.whole == part.whole for p in host[1:])
    return part.lead if is_own else part.lead or " "
