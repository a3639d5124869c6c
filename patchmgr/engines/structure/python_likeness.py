"""How much two statements, or two clauses, belong together."""

from __future__ import annotations

import ast
from functools import lru_cache

from patchmgr.engines.structure.python_sequence import EQUAL
from patchmgr.engines.structure.python_tokens import likeness, tokens_of
from patchmgr.engines.structure.python_tree import Clause, Statement

SIMILAR = 0.6
NAMED = ("def", "from", "import", "assign", "string")


@lru_cache(maxsize=4096)
def bare_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text, kept for the next time."""
    return tokens_of(text)


def _kind(node: ast.stmt) -> type[ast.stmt]:
    return ast.Assign if isinstance(node, ast.AnnAssign) else type(node)


def statement_likeness(one: Statement, other: Statement) -> float:
    """Return how much two statements belong together, 0 for not at all."""
    if one.text == other.text:
        return EQUAL if len(one.text.strip()) > 6 else EQUAL / 2
    if _kind(one.node) is not _kind(other.node):
        return 0.0
    if one.key == other.key and one.key[0] in NAMED:
        return 2.0 + likeness(bare_tokens(one.text), bare_tokens(other.text))
    if one.key[0] in ("from", "import"):
        return 0.0
    like = likeness(bare_tokens(one.text), bare_tokens(other.text), SIMILAR)
    if _have_one_head(one, other):
        return 1.5 + like
    if one.key[0] == other.key[0] == "assign" and _are_alike(one.key[1], other.key[1]):
        return 1.0 + like
    return 1.0 + like if like >= SIMILAR else 0.0


def are_about_one(one: Statement, other: Statement) -> bool:
    """Say whether two statements define, assign or call the same."""
    nodes = one.node, other.node
    if isinstance(nodes[0], ast.Expr) and isinstance(nodes[1], ast.Expr):
        calls = nodes[0].value, nodes[1].value
        if isinstance(calls[0], ast.Call) and isinstance(calls[1], ast.Call):
            return ast.dump(calls[0].func) == ast.dump(calls[1].func)
    return one.key == other.key and one.key[0] in NAMED


def _have_one_head(one: Statement, other: Statement) -> bool:
    """Say whether two statements with bodies start alike, and not just with a word."""
    if not one.clauses or not other.clauses:
        return False
    heads = bare_tokens(one.clauses[0].head), bare_tokens(other.clauses[0].head)
    return heads[0] == heads[1] and len(heads[0]) > 2


def _are_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and len(long) - len(short) < 3 < len(short)


def clause_likeness(one: Clause, other: Clause) -> float:
    """Return how much two clauses belong together, 0 for not at all."""
    if one.text == other.text:
        return EQUAL
    if one.kind != other.kind:
        return 0.0
    if one.head == other.head or one.kind not in ("elif", "except", "case"):
        return 3.0
    like = likeness(bare_tokens(one.text), bare_tokens(other.text))
    return 1.0 + like if like >= SIMILAR else 0.0
