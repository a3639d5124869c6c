"""Merge adjacent imports as sets: for each module, the set of its imported names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from patchmgr.engines.merge.spacing import separated
from patchmgr.engines.merge.tree import Node, tree, words_of

Nodes = Sequence[Node]
Merge = Callable[[Node, Node, Node], Node]


def merged_imports(sides: tuple[Nodes, Nodes, Nodes], merge: Merge) -> Nodes | None:
    """Merge imports as sets of names per module, or return None if a statement is no import."""
    if not all(p.kind == "import" for side in sides for p in side):
        return None
    is_by_module = all(len({p.key for p in side}) == len(side) for side in sides)
    key = _key if is_by_module else _said  # one import for each name
    base, ours, theirs = ({key(p): p for p in side} for side in sides)
    if not base and not ours.keys() & theirs.keys():
        return None
    gone = [_names_of(sides[0]) - _names_of(side) for side in sides[1:]]
    merged = [
        _merged(base.get(key(p)), p, theirs.get(key(p)), merge)
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


def _merged(base: Node | None, ours: Node, theirs: Node | None, merge: Merge) -> Node | None:
    """Merge the imports from one module that ours imports from."""
    if theirs is None:
        return ours if base is None else _named(ours, base)
    nothing = _named(theirs, theirs, has_names=True) or ours
    if theirs.lead.strip():  # a comment that theirs brings
        nothing = replace(nothing, lead=ours.lead)
    merged = merge(base or nothing, ours, theirs)
    return merged if merged.text else None


def _named(side: Node, without: Node, has_names: bool = False) -> Node | None:
    """Return an import without the names of another one, or None if no name is left."""
    if side.said == without.said and not has_names:
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
    names = tree("list", separated(rest, items), key=code.parts[at].key)
    names = replace(names, tail=code.parts[at].tail)
    parts = (*code.parts[:at], names, *code.parts[at + 1 :])
    return tree("import", (tree("code", parts, key="logical"),), key=side.key, lead=side.lead)


def _names_of(imports: Nodes) -> set[str]:
    """Return the words after `import` in some imports."""
    return {word for p in imports for word in words_of(p.said.partition("import ")[2])} - {*"(,)"}


def _key(node: Node) -> str:
    return node.key


def _said(node: Node) -> str:
    return node.said
