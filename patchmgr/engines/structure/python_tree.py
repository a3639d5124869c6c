"""A Python file as statements with their comments, byte for byte, parsed where it is needed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from patchmgr.engines.merge.tree import lines_of

_SURROGATE = re.compile("[\udc80-\udcff]")
_PARSED = 16  # texts: several checks read one
_TREES = 4  # kept: of three texts and what becomes of them
_LONE_RETURN = re.compile("\r(?!\n)")

Key = tuple[str, ...]


class Unsure(Exception):
    """The merge is left to a person."""


class Clause(Struct, frozen=True):
    """A head (`if x:`, `else:`, `def f():` with its decorators) and its body."""

    kind: str
    head: str
    body: Block

    @property
    def text(self) -> str:
        """The clause as it is in the file."""
        return self.head + self.body.text


class Statement(Struct, frozen=True):
    """A statement: the blank lines and comments before it, itself, and its clauses if it has any.

    `key` tells what the statement is about: what it defines, imports or assigns.
    """

    lead: str
    text: str
    clauses: tuple[Clause, ...]
    node: ast.stmt
    key: Key

    @property
    def whole(self) -> str:
        """The statement with what stands before it."""
        return self.lead + self.text


class Block(Struct, frozen=True):
    """Statements one after the other, and the comments and blank lines behind the last one."""

    statements: tuple[Statement, ...]
    tail: str

    @property
    def text(self) -> str:
        """The block as it is in the file."""
        return "".join(statement.whole for statement in self.statements) + self.tail


@lru_cache(maxsize=_PARSED)
def parse_python(text: str) -> ast.Module | None:
    """Return the syntax tree of the text, to be read only; None where it has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about upstream's strings
            return ast.parse(_SURROGATE.sub("\ufffd", text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=_TREES)
def nodes_of(text: str) -> tuple[ast.Module, Sequence[ast.AST]] | None:
    """Return the syntax tree of the text and all of its nodes, to be read only."""
    tree = parse_python(text)
    return None if tree is None else (tree, tuple(ast.walk(tree)))


def block_of(text: str) -> Block | None:
    """Read a whole file, None where it does not parse or is laid out in an unknown way."""
    tree = parse_python(text)
    if tree is None or _LONE_RETURN.search(text) or "\f" in text:
        return None
    lines = lines_of(text)
    block = _block(tree.body, lines, 0, len(lines), 0)
    return block if block.text == text else None


def _block(
    nodes: Sequence[ast.stmt], lines: Sequence[str], start: int, end: int, column: int
) -> Block:
    statements: list[Statement] = []
    firsts = [*(_first_line(node) for node in nodes), end]
    at = start
    for number, node in enumerate(nodes):
        first, last = firsts[number], node.end_lineno or 0
        if first < at:  # behind a semicolon
            joined = statements.pop()
            text = joined.text + "".join(lines[at:last])
            statements.append(Statement(joined.lead, text, (), joined.node, ("joined", text)))
            at = max(at, last)
            continue
        clauses: tuple[Clause, ...] = ()
        if hasattr(node, "body") or isinstance(node, ast.Match):
            last = _with_comments(lines, last, max(firsts[number + 1], last), column)
            clauses = _clauses(node, lines, first, last)
        lead, text = "".join(lines[at:first]), "".join(lines[first:last])
        statements.append(Statement(lead, text, clauses, node, key_of(node, text)))
        at = last
    return Block(tuple(statements), "".join(lines[at:end]))


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", ())
    return int(min([node.lineno, *(d.lineno for d in decorators)])) - 1


def _with_comments(lines: Sequence[str], end: int, limit: int, column: int) -> int:
    """Return the end of a statement with the comments behind it that are further in."""
    for number in range(end, limit):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= column:
            break
        if line.strip():
            end = number + 1
    return end


def _clauses(node: ast.AST, lines: Sequence[str], first: int, last: int) -> tuple[Clause, ...]:
    """Return the clauses of a statement on its lines, none where one is in one line."""
    heads = _heads(node, lines, first)
    if heads is None:
        return ()
    clauses: list[Clause] = []
    for (kind, start, body), end in zip(heads, [*(h[1] for h in heads[1:]), last], strict=True):
        if not body:  # match
            clauses.append(Clause(kind, "".join(lines[start:end]), Block((), "")))
            continue
        inner = _first_line(body[0])
        while inner > start + 1 and lines[inner - 1].strip()[:1] in ("", "#"):
            inner -= 1
        if inner <= start:
            return ()
        column = body[0].col_offset
        head = "".join(lines[start:inner])
        clauses.append(Clause(kind, head, _block(body, lines, inner, end, column)))
    return tuple(clauses)


_Head = tuple[str, int, Sequence[ast.stmt]]


def _heads(node: ast.AST, lines: Sequence[str], first: int) -> list[_Head] | None:
    """Return kind, first line and body of every clause, None where one has no line of its own."""
    if isinstance(node, ast.Match):
        cases: list[_Head] = [("case", c.pattern.lineno - 1, c.body) for c in node.cases]
        return [("match", first, ()), *cases]
    heads: list[_Head] = [(type(node).__name__, first, getattr(node, "body", ()))]
    for handler in getattr(node, "handlers", ()):
        heads.append(("except", handler.lineno - 1, handler.body))
    rest: Sequence[ast.stmt] = getattr(node, "orelse", ())
    column = getattr(node, "col_offset", 0)
    while rest:
        only = rest[0]
        if isinstance(only, ast.If) and len(rest) == 1 and _is_elif(only, lines, column):
            heads.append(("elif", only.lineno - 1, only.body))
            rest = only.orelse
            continue
        heads.append(("else", _word_before(lines, rest[0], "else"), rest))
        break
    final: Sequence[ast.stmt] = getattr(node, "finalbody", ())
    if final:
        heads.append(("finally", _word_before(lines, final[0], "finally"), final))
    return None if any(start < 0 for _, start, _ in heads) else heads


def _is_elif(node: ast.If, lines: Sequence[str], column: int) -> bool:
    return node.col_offset == column and lines[node.lineno - 1].lstrip().startswith("elif")


def _word_before(lines: Sequence[str], node: ast.stmt, word: str) -> int:
    """Return the line before the statement that starts with the word, -1 for none."""
    at = _first_line(node) - 1
    while at >= 0 and lines[at].strip()[:1] in ("", "#"):
        at -= 1
    return at if at >= 0 and re.match(rf"\s*{word}\s*:", lines[at]) else -1


def key_of(node: ast.stmt, text: str) -> Key:
    """Return what a statement is about; its own text where that is all."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return ("def", node.name)
    if isinstance(node, ast.ImportFrom):
        return ("from", "." * node.level + (node.module or ""))
    if isinstance(node, ast.Import):
        return ("import", *(alias.name for alias in node.names))
    if isinstance(node, ast.Assign):
        return ("assign", *(ast.unparse(target) for target in node.targets))
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return ("assign", ast.unparse(node.target))
    if is_string(node):
        return ("string",)
    return (type(node).__name__, text)


def is_string(node: ast.stmt) -> bool:
    """Say whether the statement is nothing but a string: a docstring, mostly."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
