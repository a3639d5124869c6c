"""Merge lists of arguments, elements, parameters, imported names and decorators by their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from patchmgr.engines.structure.python_leads import Leads
from patchmgr.engines.structure.python_sequence import (
    EQUAL,
    Edit,
    How,
    merge_sequences,
)
from patchmgr.engines.structure.python_tokens import are_alike, likeness, tokens_of
from patchmgr.engines.structure.python_tree import Unsure

Merge = Callable[[Any, Any, Any], Any]
SIMILAR = 0.6
_CODES = 8192  # nodes are told apart by identity: each is rendered once


@lru_cache(maxsize=_CODES)
def code_of(node: Any) -> str:
    """Return the code of a node as it is in the file."""
    import libcst

    try:
        return libcst.Module([]).code_for_node(node)
    except SyntaxError:  # an annotation or a `from` does not stand alone
        return "".join(code_of(child) for child in node.children)


@lru_cache(maxsize=_CODES)
def bare_code(node: Any) -> str:
    """Return the code of a list item without its comma."""
    import libcst

    if isinstance(node, (libcst.Element, libcst.DictElement)):  # which end with their comma
        comma = node.comma
        behind = code_of(comma) if isinstance(comma, libcst.Comma) else ""
        return code_of(node).removesuffix(behind).strip()
    if hasattr(node, "comma"):
        node = node.with_changes(comma=libcst.MaybeSentinel.DEFAULT)
    return code_of(node).strip()


def merge_list(
    base: Sequence[Any],
    upstream: Sequence[Any],
    fork: Sequence[Any],
    merge: Merge,
    *,
    has_order: bool,
) -> Any:
    """Merge three lists of nodes; upstream's order and layout are kept.

    Where the items have an order, it cannot be told of what both sides insert at one place.
    """
    import libcst

    keyed = (
        libcst.Arg, libcst.BaseElement, libcst.BaseDictElement, libcst.Param, libcst.ImportAlias,
        libcst.Decorator,
    )  # fmt: skip
    sides = base, upstream, fork
    if not all(isinstance(node, keyed) for side in sides for node in side):
        if len({len(side) for side in sides}) != 1:
            raise Unsure
        return [merge(*nodes) for nodes in zip(*sides, strict=True)]
    _check_places(base, upstream, fork)
    join = _join_in_order if has_order else join_items
    how = How(_likeness, _is_same, _merge_item(merge), join, overlap_items, _refuse_beside)

    leads = Leads()
    bare = [leads.taken(side) for side in sides]
    merged = merge_sequences(bare[0], bare[1], bare[2], how)
    _check_doubled(base, upstream, fork, merged)
    return leads.put_back(with_commas(merged, bare[1], bare[2]))


def key_of(node: Any) -> str:
    """Return what tells the item from the others of its list."""
    import libcst

    if isinstance(node, libcst.Arg):
        return f"{node.keyword.value}=" if node.keyword else bare_code(node)
    if isinstance(node, libcst.DictElement):
        return code_of(node.key)
    if isinstance(node, libcst.Param):
        return node.star + node.name.value if isinstance(node.star, str) else node.name.value
    if isinstance(node, libcst.Decorator) and isinstance(node.decorator, libcst.Call):
        first = node.decorator.args[:1]
        named = [code_of(a) for a in first if isinstance(a.value, libcst.SimpleString)]
        return code_of(node.decorator.func) + "".join(named).rstrip(", ")
    if isinstance(node, libcst.Decorator):
        return code_of(node.decorator)
    return bare_code(node)


def _is_named(node: Any) -> bool:
    """Say whether the place of the item in its list does not tell what it is."""
    import libcst

    if isinstance(node, libcst.Arg):
        return node.keyword is not None
    return not isinstance(node, libcst.BaseElement) or isinstance(node, libcst.StarredElement)


def _likeness(one: Any, other: Any) -> float:
    codes = bare_code(one), bare_code(other)
    if codes[0] == codes[1]:
        return EQUAL
    if _is_named(one) != _is_named(other):
        return 0.0
    if _is_named(one):
        return 3.0 if key_of(one) == key_of(other) else 0.0
    like = likeness(tokens_of(codes[0]), tokens_of(codes[1]))
    return 1.0 + like if like >= SIMILAR else 0.0


def _is_same(one: Any, other: Any) -> bool:
    return tokens_of(bare_code(one)) == tokens_of(bare_code(other))


def _merge_item(merge: Merge) -> Merge:
    def merged(base: Any, upstream: Any, fork: Any) -> Any:
        if not hasattr(upstream, "comma"):
            return merge(base, upstream, fork)
        if code_of(base) == code_of(upstream) == code_of(fork):
            return upstream
        comma = _merged_comma(base.comma, upstream.comma, fork.comma)
        same = [node.with_changes(comma=comma) for node in (base, upstream, fork)]
        return merge(*same)

    return merged


def _merged_comma(base: Any, upstream: Any, fork: Any) -> Any:
    """Return upstream's comma, the fork's where only the fork changes the comment behind it."""
    said = [remark_of(_after(comma)) for comma in (base, upstream, fork)]
    if said[2] in (said[0], said[1]):
        return upstream
    if said[0] != said[1]:
        raise Unsure
    return fork


def remark_of(space: Any) -> str:
    """Return the comment that ends the line before white space, empty where there is none."""
    comment = _comment(space)
    return comment.value if comment is not None else ""


def _check_places(base: Sequence[Any], upstream: Sequence[Any], fork: Sequence[Any]) -> None:
    """Refuse where an item comes or goes whose like is in the list: its place cannot be told.

    Where only one side touches the items without names, their places are as on that side.
    """
    keys = [[key_of(n) for n in side if not _is_named(n)] for side in (base, upstream, fork)]
    if keys[0] in keys[1:] or keys[1] == keys[2]:
        return
    counts = [Counter(side) for side in keys]
    for key in set().union(*counts):
        numbers = [count[key] for count in counts]
        if max(numbers) > 1 and len(set(numbers)) > 1:
            raise Unsure


def _check_doubled(
    base: Sequence[Any], upstream: Sequence[Any], fork: Sequence[Any], merged: Sequence[Any]
) -> None:
    """Refuse what both sides bring in once, each at its own place."""
    old, *counts = (Counter(map(_words, side)) for side in (base, upstream, fork, merged))
    for key, count in counts[2].items():
        theirs, ours = counts[0][key], counts[1][key]
        if not old[key] and theirs and ours and count > max(theirs, ours):
            raise Unsure


def _words(node: Any) -> tuple[str, ...]:
    return tokens_of(key_of(node))


def join_items(upstream: Sequence[Any], fork: Sequence[Any]) -> Sequence[Any]:
    """Return what both sides insert at one place, each item once."""
    import libcst

    keys = {key_of(node): node for node in upstream}
    rest = []
    for node in fork:
        same = keys.get(key_of(node))
        if same is None:
            rest.append(node)
        elif not _is_same(same, node):
            raise Unsure
    if not rest:
        return upstream
    both = [*rest, *upstream]
    if any(are_alike(key_of(a), key_of(b)) for a in upstream for b in rest):
        raise Unsure
    if any(isinstance(n, libcst.Arg) and (n.keyword is None) for n in both):
        raise Unsure
    needed = [
        [isinstance(n, libcst.Param) and n.default is None for n in side]
        for side in (rest, upstream)
    ]
    if any(needed[0]) and any(needed[1]):
        raise Unsure
    return [*upstream, *rest] if any(needed[1]) else both


def _join_in_order(upstream: Sequence[Any], fork: Sequence[Any]) -> Sequence[Any]:
    """Return what one side inserts, where all that the other one inserts is in it."""
    keys = [[_words(node) for node in side] for side in (upstream, fork)]
    if is_within(keys[1], keys[0]):
        return upstream
    if is_within(keys[0], keys[1]):
        return fork
    raise Unsure


def is_within(some: Sequence[object], more: Sequence[object]) -> bool:
    """Say whether all of some items are among others, in the same order."""
    rest = iter(more)
    return all(item in rest for item in some)


def _refuse_beside(edit: Edit[Any]) -> None:
    """Refuse what takes the place of others, or goes, where it has no name."""
    if edit.gone and not all(_is_named(n) or (_is_text(n) and not edit.items) for n in edit.gone):
        raise Unsure
    if edit.gone and not all(map(_is_named, edit.items)):
        raise Unsure


def _is_text(node: Any) -> bool:
    """Say whether the item is a string of a list, not an argument."""
    import libcst

    return isinstance(node, libcst.Element) and isinstance(node.value, libcst.SimpleString)


def overlap_items(
    base: Sequence[Any], upstream: Sequence[Any], fork: Sequence[Any]
) -> Sequence[Any]:
    """Return imported names as the set that they are; refuse any other items."""
    import libcst

    if not all(isinstance(n, libcst.ImportAlias) for n in (*base, *upstream, *fork)):
        raise Unsure
    old, new = {key_of(n) for n in base}, {key_of(n) for n in fork}
    kept = [n for n in upstream if key_of(n) not in old or key_of(n) in new]
    have = {key_of(n) for n in upstream} | old
    return [*kept, *(n for n in fork if key_of(n) not in have)]


def with_commas(
    merged: Sequence[Any], upstream: Sequence[Any], fork: Sequence[Any]
) -> Sequence[Any]:
    """Return the items with commas in upstream's style."""
    import libcst

    if not merged or not hasattr(merged[0], "comma"):
        return merged
    between = next(
        (n.comma for s in (upstream, fork) for n in s[:-1] if isinstance(n.comma, libcst.Comma)),
        libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" ")),
    )
    last = upstream[-1] if upstream else fork[-1]
    ends = {id(side[-1].comma) for side in (upstream, fork) if side}
    result = []
    for number, node in enumerate(merged):
        is_last = number == len(merged) - 1
        if is_last and id(node.comma) != id(last.comma):
            node = _with_comma(node, last.comma, last)
        elif not is_last and (id(node.comma) in ends or not isinstance(node.comma, libcst.Comma)):
            node = _with_comma(node, between, upstream[0] if upstream else fork[0])
        result.append(node)
    return result


def _with_comma(node: Any, comma: Any, model: Any) -> Any:
    """Return the item with a comma like another one; a comment behind it stays with it."""
    import libcst

    old, new = _after(node.comma), _after(comma)
    comment = _comment(old)
    if comment is not None or _comment(new) is not None:
        if not isinstance(new, libcst.ParenthesizedWhitespace):
            raise Unsure
        model_line = old.first_line if comment is not None else libcst.TrailingWhitespace()
        comma = comma.with_changes(whitespace_after=new.with_changes(first_line=model_line))
    changes = {"comma": comma}
    for name in ("whitespace_after_arg", "whitespace_after_param"):
        if hasattr(node, name) and hasattr(model, name):
            if remark_of(getattr(node, name)) or remark_of(getattr(model, name)):
                raise Unsure
            changes[name] = getattr(model, name)
    return node.with_changes(**changes)


def _after(comma: Any) -> Any:
    return getattr(comma, "whitespace_after", None)


def _comment(space: Any) -> Any:
    line = getattr(space, "first_line", None)
    return line.comment if line is not None else None
