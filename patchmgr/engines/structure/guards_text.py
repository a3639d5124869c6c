"""What a Python text defines, imports and states, for comparing texts."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from patchmgr.engines.structure.python_tree import nodes_of

Names = frozenset[str]
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Facts(Struct, frozen=True):
    """The facts of one text: how often it has each thing, and the names that it uses."""

    definitions: Counter[str]
    imports: Counter[tuple[str, str]]
    statements: Counter[str]
    keys: Counter[str]
    names: Names
    bound: Counter[str]
    assigned: Counter[tuple[str, str]]


@lru_cache(maxsize=8)
def facts_of(text: str) -> Facts | None:
    """Return the facts of a text, None if it does not parse."""
    parsed = nodes_of(text)
    if parsed is None:
        return None
    tree, nodes = parsed
    return Facts(
        Counter(_definitions(tree, "")),
        Counter(
            said for node in nodes for each in imported_names(node) for said in _imports(*each)
        ),
        Counter(head_of(n) for n in nodes if isinstance(n, ast.stmt) and not _aliases(n)),
        Counter(key for node in nodes if isinstance(node, ast.Dict) for key in _doubled(node)),
        frozenset(name for node in nodes for name in _said(node)),
        Counter(name for node in nodes for name in _bound(node)),
        Counter(_assigned(tree, "")),
    )


def _assigned(node: ast.AST, scope: str) -> Iterator[tuple[str, str]]:
    """Yield each local variable that a statement of a function assigns to, with the function."""
    for child in ast.iter_child_nodes(node):
        inner = f"{scope}.{child.name}" if isinstance(child, _Definition) else scope
        if scope and isinstance(child, (ast.Assign, ast.AnnAssign)):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            yield from ((scope, t.id) for t in targets if isinstance(t, ast.Name))
        yield from _assigned(child, inner)


def compiles(text: str) -> bool:
    """Return whether the text is a valid module."""
    parsed = nodes_of(text)
    if parsed is None:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(parsed[0], "<merged>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=8)
def unused_imports(text: str) -> Names:
    """Return the names that imports bind and nothing else uses, not even `__all__`."""
    parsed = nodes_of(text)
    if parsed is None:
        return frozenset()
    nodes = parsed[1]
    read = {n.id for n in nodes if isinstance(n, ast.Name)}
    read |= {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    bound = {
        (alias.asname or alias.name).partition(".")[0] for node in nodes for alias in _aliases(node)
    }
    return frozenset(bound - read)


def _definitions(node: ast.AST, scope: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield scope + child.name
            yield from _definitions(child, f"{scope}{child.name}.")
        elif isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from _definitions(child, scope)


def imported_names(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Yield module, name and new name of each import of a statement; empty if there is none."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "", alias.asname or "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from ((module, alias.name, alias.asname or "") for alias in node.names)


def _imports(module: str, name: str, bound: str) -> Iterator[tuple[str, str]]:
    """Yield what an import says: `a as a` says `a`, and that others are to see it, too."""
    yield name or module, bound
    if name and bound == name:
        yield name, ""


def head_of(node: ast.stmt) -> str:
    """Return the statement without its layout and without the statements in it."""
    parts = []
    for name, value in ast.iter_fields(node):
        values = value if isinstance(value, list) else [value]
        if any(isinstance(v, (ast.stmt, ast.ExceptHandler, ast.match_case)) for v in values):
            continue
        parts += [name, *(ast.dump(v) if isinstance(v, ast.AST) else str(v) for v in values)]
    return " ".join([type(node).__name__, *parts])


def line_of(text: str, head: str) -> str:
    """Return the first line of the statement with such a head, as it is written."""
    parsed = nodes_of(text)
    statements = (n for n in (parsed[1] if parsed else ()) if isinstance(n, ast.stmt))
    number = next(n.lineno for n in statements if head_of(n) == head)
    return re.split(r"\r\n?|\n", text)[number - 1].strip()


def _doubled(node: ast.Dict) -> Iterator[str]:
    keys = Counter(ast.dump(key) for key in node.keys if isinstance(key, ast.Constant))
    return (key for key, count in keys.items() if count > 1)


def _aliases(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else []


def _said(node: ast.AST) -> Iterator[str]:
    """Yield the names in a node, those of attributes and keywords too."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, (ast.arg, ast.keyword)):
        yield node.arg or ""
    elif isinstance(node, _Definition):
        yield node.name
    elif isinstance(node, ast.alias):
        yield from (*node.name.split("."), node.asname or "")


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node gives a meaning."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield node.attr
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, _Definition):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.rpartition(".")[2]
