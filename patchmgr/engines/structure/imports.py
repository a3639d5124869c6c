"""Tell whether upstream already has the imports that a patch adds to a Python file."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.guards_imports import imported_names
from patchmgr.engines.structure.python_tree import bound_by, nodes_of

_COMMENT = re.compile(r"#[^\r\n]*")
_IN_IMPORT = re.compile(r"[\w\s,.()*\\]*(?:#.*\s*)?")  # may be a part of an import
Name = tuple[str, str, str]
"""A module, an imported name, and the name after `as`; each is empty if it is not given."""


def has_imports_of(base: str, upstream: str, fork: str) -> bool:
    """Return whether a patch only adds imported names, all of which upstream imports as well.

    Returns False if a text does not parse.
    """
    changed = set(lines_of(base)).symmetric_difference(lines_of(fork))
    if not all(map(_IN_IMPORT.fullmatch, changed)):
        return False  # without parsing, which is slow
    read = [nodes_of(text) for text in (base, upstream, fork)]
    if read[0] is None or read[1] is None or read[2] is None:
        return False
    (old, _), (there, nodes), (new, _) = read[0], read[1], read[2]
    rest = _without_names(base, old)
    if rest is None or rest != _without_names(fork, new):
        return False
    before, after = (
        [_names(n) for n in tree.body if isinstance(n, ast.ImportFrom)] for tree in (old, new)
    )
    pairs = [(was, now) for was, now in zip(before, after, strict=True) if was != now]
    if not all(was < now and "*" not in {name[1] for name in now} for was, now in pairs):
        return False
    added = _bound(now for _, now in pairs) - _bound(map(_names, old.body))
    bound = Counter(n for node in nodes if not isinstance(node, ast.arg) for n in bound_by(node))
    return added <= _bound(map(_names, there.body)) and all(bound[name] == 1 for *_, name in added)


def _without_names(text: str, tree: ast.Module) -> str | None:
    """Return a text without the names in its imports, or None if statements share a line."""
    if any(a.end_lineno == b.lineno for a, b in pairwise(tree.body)):
        return None
    lines = list(lines_of(text))
    for node in tree.body[::-1]:
        if isinstance(node, ast.ImportFrom):
            place = slice(node.lineno - 1, node.end_lineno)
            comments = _COMMENT.findall("".join(lines[place]))
            lines[place] = [f"from {'.' * node.level}{node.module or ''} {comments}\n"]
    return "".join(lines)


def _names(node: ast.stmt) -> frozenset[Name]:
    return frozenset(imported_names(node))


def _bound(imports: Iterable[frozenset[Name]]) -> frozenset[Name]:
    """Return all imports in one set, each with the name that it binds."""
    return frozenset((m, name, alias or name or m) for names in imports for m, name, alias in names)
