"""Parse Python; each text is parsed only once."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache

_SURROGATE = re.compile("[\udc80-\udcff]")
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_PARSED = 16  # texts: several checks read one
_TREES = 4  # kept: of three texts and what becomes of them


@lru_cache(maxsize=_PARSED)
def parse_python(text: str) -> ast.Module | None:
    """Return the syntax tree of a text, or None if it does not parse; do not modify the tree."""
    return parse_anew(text)


def parse_anew(text: str) -> ast.Module | None:
    """Return a syntax tree that may be modified, or None if the text does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about upstream's strings
            return ast.parse(_SURROGATE.sub("\ufffd", text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def walk(*nodes: ast.AST) -> list[ast.AST]:
    """Return the given nodes and all nodes inside them, as `ast.walk` does, in half its time.

    Nodes without fields, such as `ast.Load`, are left out.
    """
    found = list(nodes)
    for node in found:  # grows while it is walked
        found += children(node)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct child nodes of a node, except those without fields, such as `ast.Load`."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def blocks_in(node: ast.AST) -> list[ast.stmt | ast.ExceptHandler | ast.match_case]:
    """Return the statements, exception handlers and cases directly inside a node."""
    lists = (getattr(node, name, None) for name in node._fields)
    return [
        child
        for value in lists
        if type(value) is list
        for child in value
        if isinstance(child, BLOCKS)
    ]


@lru_cache(maxsize=_TREES)
def nodes_of(text: str) -> tuple[ast.Module, Sequence[ast.AST]] | None:
    """Return the syntax tree of a text and all its nodes, or None if the text does not parse.

    The nodes must not be modified.
    """
    tree = parse_python(text)
    return None if tree is None else (tree, walk(tree))


@lru_cache(maxsize=64)
def compiles(text: str) -> bool:
    """Return whether a text compiles as a Python module."""
    tree = parse_python(text)
    if tree is None:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "<merged>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
