"""Merge imports as the sets of names that they are, in the order of the file."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from patchmgr.engines.structure.python_import_names import aliases_of, with_names_of, with_only
from patchmgr.engines.structure.python_tokens import comments_of, has_comment
from patchmgr.engines.structure.python_tree import Block, Statement, Unsure, block_of

_WORD = re.compile(r"\w+")
Run = Sequence[Statement]
Name = tuple[str, str, str]
"""A module, a name in it (empty for the module itself), the name that it gets here."""


def is_import(statement: Statement) -> bool:
    """Say whether the statement is an import."""
    return isinstance(statement.node, (ast.Import, ast.ImportFrom))


def join_imports(upstream: Run, fork: Run) -> Run:
    """Return the imports that both sides insert, each name once."""
    return merge_imports((), upstream, fork)


def merge_imports(
    base: Run, upstream: Run, fork: Run, *, left: frozenset[Name] = frozenset()
) -> Run:
    """Return upstream's imports with what the fork adds and without what it removes.

    Those in `left` go, wherever they moved.
    """
    check_imports(base, upstream, fork, left)
    old, theirs, ours = names_of(base), names_of(upstream), names_of(fork)
    added, removed = ours - old - theirs - left, (old - ours) & theirs | left
    merged = [kept for s in upstream for kept in _without(s, removed)]
    for number, statement in enumerate(fork):
        for new in _only(statement, added):
            merged = _inserted(merged, new, fork[:number])
    if _is_sorted(upstream) and _is_sorted(fork):
        merged.sort(key=_order)
    if not _remarks(fork) - _remarks(base) <= _remarks(merged):
        raise Unsure
    return merged


def has_imports_of(base: str, upstream: str, fork: str) -> bool:
    """Say whether a fork only imports more names from modules, and upstream imports these, too.

    Upstream must bind each of them once, by that import. Texts that do not parse have nothing.
    """
    try:
        before, there, after = (block_of(text) for text in (base, upstream, fork))
    except RecursionError:
        return False
    if before is None or there is None or after is None or before.tail != after.tail:
        return False
    if len(before.statements) != len(after.statements):
        return False
    if not all(map(_imports_more, before.statements, after.statements)):
        return False
    added = names_of(after.statements) - names_of(before.statements)
    bound = _bindings(there)
    return added <= names_of(there.statements) and all(bound[name] == 1 for *_, name in added)


def _imports_more(old: Statement, new: Statement) -> bool:
    """Say whether a statement is the same, or imports more names from the same module."""
    if old.whole == new.whole:
        return True
    is_same = old.lead == new.lead and old.key == new.key and old.key[0] == "from"
    if not is_same or "*" in {name[1] for name in _names(new.node)}:
        return False
    kept = set(_marked_names(old)) <= set(_marked_names(new))
    return kept and list(comments_of(old.text)) == list(comments_of(new.text))


def _marked_names(statement: Statement) -> list[tuple[str, str | None]]:
    return [(alias.name, alias.asname) for alias in aliases_of(statement)]


def _bindings(block: Block) -> Counter[str]:
    """Count by name how often something in a file binds or deletes it."""
    nodes = (node for statement in block.statements for node in ast.walk(statement.node))
    return Counter(name for node in nodes if (name := _bound_by(node)))


def _bound_by(node: ast.AST) -> str | None:
    if isinstance(node, ast.alias):
        return node.asname or node.name
    if isinstance(node, ast.Name):
        return None if isinstance(node.ctx, ast.Load) else node.id
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
    return node.name if isinstance(node, named) else None


def without_shared(base: Run, upstream: Run, fork: Run) -> Run:
    """Return the fork with those imports as they were to which it adds what upstream adds, too."""
    old = names_of(base)
    first = takewhile(lambda s: is_import(s) or isinstance(s.node, ast.Expr), upstream)
    shared = (names_of(fork) - old) & names_of(tuple(first))
    if not shared:
        return fork
    before = {(s.lead, s.key, frozenset(_names(s.node))): s for s in base if is_import(s)}
    remarks = _remarks(base)
    found = []
    for statement in fork:
        names = frozenset(_names(statement.node)) if is_import(statement) else frozenset()
        kept = (statement.lead, statement.key, names - shared)
        is_plain = names & shared and _remarks([statement]) <= remarks
        found.append(before.get(kept, statement) if is_plain else statement)
    return tuple(found)


def _remarks(run: Run) -> frozenset[str]:
    return frozenset(remark.strip() for s in run for remark in comments_of(s.whole))


def names_of(run: Run) -> frozenset[Name]:
    """Return the names that the statements import."""
    return frozenset(n for statement in run if is_import(statement) for n in _names(statement.node))


def _names(node: ast.stmt) -> list[Name]:
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    if isinstance(node, ast.Import):
        return [(a.name, "", a.asname or a.name) for a in node.names]
    module = "." * node.level + (node.module or "")
    return [(module, a.name, a.asname or a.name) for a in node.names]


def check_imports(base: Run, upstream: Run, fork: Run, left: frozenset[Name] = frozenset()) -> None:
    """Refuse a name from two modules, one that moves here and goes there, and what a move leaves.

    Those in `left` may go. Where one side gives modules new names, what the other side adds may
    need one, too.
    """
    old, theirs, ours = names_of(base), names_of(upstream), names_of(fork)
    if old in (theirs, ours) or theirs == ours:
        return
    added = {name[2] for name in ours - old - theirs}
    if added.intersection(name[2] for name in theirs - old - ours):
        raise Unsure
    moves = _moved(old, theirs), _moved(old, ours)
    if moves[0] != moves[1] and (
        _may_move(old, theirs, moves[0], ours - old) or _may_move(old, ours, moves[1], theirs - old)
    ):
        raise Unsure
    if not left_by(base, upstream, fork) <= left:
        raise Unsure


def check_merged(base: Run, upstream: Run, fork: Run, merged: Run) -> None:
    """Refuse a merge whose imports are not both sides' as sets, or bind a name from two modules.

    Where one side gave a module another name, what the other one adds may be from there. What one
    side moved and the other one left may go only where no word of it is left.
    """
    old, theirs, ours = names_of(base), names_of(upstream), names_of(fork)
    left = left_by(base, upstream, fork)
    wanted = (theirs | ours) - (old - theirs) - (old - ours) - left
    kept = [statement for statement in merged if statement.text]
    homes = {home for side in (theirs, ours) for home in _renamed(old, side)}
    missing, more = wanted - names_of(kept), names_of(kept) - wanted
    if len(missing) != len(more) or not more <= {
        (new, *name[1:]) for name in missing for home, new in homes if name[0] == home
    }:
        raise Unsure
    if _ambiguous(wanted) - _ambiguous(theirs) - _ambiguous(ours):
        raise Unsure
    words = set(_WORD.findall("".join(s.whole for s in kept))) if left else set()
    if words & {name[2] for name in left}:
        raise Unsure


def _homes(old: frozenset[Name], side: frozenset[Name]) -> set[tuple[str, str]]:
    """Return the modules that a side gives names new homes in, each with the old one before it."""
    moved = _moved(old, side)
    return {(left[0], new[0]) for new in moved for left in old - side if left[2] == new[2]}


def _renamed(old: frozenset[Name], side: frozenset[Name]) -> set[tuple[str, str]]:
    """Return the modules that a side has under another name alone, which is a new one."""
    before, after = {name[0] for name in old}, {name[0] for name in side}
    homes = _homes(old, side)
    return {(home, new) for home, new in homes if home not in after and new not in before}


def _ambiguous(names: frozenset[Name]) -> set[str]:
    """Return the names that are bound from more than one place."""
    counts = Counter(name[2] for name in names)
    return {name for name, count in counts.items() if count > 1}


def left_by(base: Run, upstream: Run, fork: Run) -> frozenset[Name]:
    """Return the names that one side imports from a new home, and the other one not any more."""
    old, theirs, ours = names_of(base), names_of(upstream), names_of(fork)
    found: set[Name] = set()
    for one, other in ((theirs, ours), (ours, theirs)):
        kept = {name[2] for name in other}
        found.update(name for name in _moved(old, one) if name[2] not in kept)
    return frozenset(found)


def _moved(old: frozenset[Name], new: frozenset[Name]) -> frozenset[Name]:
    """Return the names that a side imports from another module than base."""
    bound = {name[2] for name in old - new}
    return frozenset(name for name in new - old if name[2] in bound)


def _may_move(
    old: frozenset[Name], side: frozenset[Name], moved: frozenset[Name], added: frozenset[Name]
) -> bool:
    """Say whether what the other side adds may need the new home that a side gives to names.

    It may if it comes from their old home, or from beside what was renamed, unless the side still
    imports from there.
    """
    stayed = {name[0] for name in old} & {name[0] for name in side}
    for home, new in _homes(old, side):
        beside = _beside(home, new)
        for module, name, _ in added:
            whole = f"{module}{name}." if module.endswith(".") else f"{module}.{name}."
            is_relative = module.startswith(".") or home.startswith(".")
            top = module.partition(".")[0]
            is_standard = top in sys.stdlib_module_names and top != home.partition(".")[0]
            is_within = is_relative or (whole.startswith(beside) and not is_standard)
            if whole.startswith(f"{home}.") or (is_within and module not in stayed):
                return True
    return False


def _beside(home: str, new: str) -> str:
    """Return the package around what was renamed from one module name to another, with a dot."""
    old, later = home.split("."), new.split(".")
    while old and later and old[-1] == later[-1]:
        old, later = old[:-1], later[:-1]
    return "".join(f"{part}." for part in old[:-1])


def _without(statement: Statement, removed: frozenset[Name]) -> list[Statement]:
    names = _names(statement.node)
    if not removed.intersection(names):
        return [statement]
    if removed.issuperset(names):
        if has_comment(statement.whole):
            raise Unsure
        return []
    return [with_only(statement, {n[1:] for n in names if n not in removed})]


def _only(statement: Statement, added: frozenset[Name]) -> list[Statement]:
    names = _names(statement.node)
    if added.issuperset(names):
        return [statement]
    kept = {name[1:] for name in names if name in added}
    return [with_only(statement, kept)] if kept else []


def _inserted(run: list[Statement], new: Statement, before: Run) -> list[Statement]:
    """Return the imports with a new one: in that of its module, or behind those it stood behind."""
    for number, old in enumerate(run):
        if old.key == new.key and isinstance(old.node, ast.ImportFrom) and not is_single(run, old):
            return [*run[:number], with_names_of(old, new), *run[number + 1 :]]
    keys = [statement.key for statement in before]
    places = [n + 1 for n, statement in enumerate(run) if statement.key in keys]
    place = max(places, default=0)
    return [*run[:place], new, *run[place:]]


def is_single(run: Run, statement: Statement) -> bool:
    """Say whether each name of the module has a statement of its own."""
    same = [s for s in run if s.key == statement.key]
    return len(same) > 1 or any(a.asname == a.name for s in same for a in aliases_of(s))


def _order(statement: Statement) -> tuple[bool, str]:
    return statement.key[0] == "from", statement.key[1]


def _is_sorted(run: Run) -> bool:
    keys = [_order(statement) for statement in run]
    return keys == sorted(keys)
