"""Find statements that one side put into the body of a new statement."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.structure.python_regions import lines_of
from patchmgr.engines.structure.python_tokens import likeness, tokens_of
from patchmgr.engines.structure.python_tree import Block, Clause, Statement, block_of

Run = Sequence[Statement]
SIMILAR = 0.8
VARIANT = 0.5


class Wrapping(Struct, frozen=True):
    """The new statement, which of its clauses has the old ones, and these on the other sides."""

    statement: Statement
    clause: int
    base: Block
    other: Block


def wrapping_of(base: Run, wrapping: Run, other: Run) -> Wrapping | None:
    """Return how a side wraps all of base's statements, None where it does not.

    Nor where two clauses have them, each in its way: the other side's change may belong in both.
    """
    if len(wrapping) != 1 or not base or not wrapping[0].clauses:
        return None
    texts = ["".join(statement.whole for statement in run) for run in (base, other)]
    if any(mark in text for mark in ('"""', "'''", "\\\n") for text in texts):
        return None
    statement = wrapping[0]
    if any(s.clauses and s.clauses[0].head == statement.clauses[0].head for s in base):
        return None
    wanted = tokens_of(texts[0])
    bodies = [clause.body for clause in statement.clauses]
    like = [likeness(wanted, tokens_of(b.text)) if b.statements else 0.0 for b in bodies]
    number = like.index(max(like))
    if like[number] < SIMILAR:
        return None
    gone = _lines(texts[0]) - _lines(texts[1])
    for body, each in zip(bodies, like, strict=True):
        is_variant = each >= SIMILAR or (each >= VARIANT and gone & _lines(body.text))
        if is_variant and body is not bodies[number]:
            return None
    indent = _indent(bodies[number].statements[0].text)
    blocks = [_block(text, _indent(base[0].text), indent) for text in texts]
    if blocks[0] is None or blocks[1] is None:
        return None
    return Wrapping(statement, number, blocks[0], blocks[1])


def with_clause(statement: Statement, number: int, clause: Clause) -> Statement:
    """Return the statement with another clause in the place of one."""
    clauses = (*statement.clauses[:number], clause, *statement.clauses[number + 1 :])
    return replace(statement, text="".join(c.text for c in clauses), clauses=clauses)


def _lines(text: str) -> set[str]:
    return {line.strip() for line in lines_of(text)}


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _block(text: str, old: str, new: str) -> Block | None:
    """Return the statements further in, None where they cannot be moved."""
    lines = lines_of(text)
    if not new.startswith(old) or any(x.strip() and not x.startswith(old) for x in lines):
        return None
    moved = "".join(new + x[len(old) :] if x.strip() else x for x in lines)
    whole = block_of("if 1:\n" + moved)
    if whole is None or len(whole.statements) != 1 or not whole.statements[0].clauses:
        return None
    body = whole.statements[0].clauses[0].body
    return Block(body.statements, body.tail + whole.tail)
