"""Merge the statements of a body, and a statement's head and clauses."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.python_comments import merge_lead, merge_lines
from patchmgr.engines.structure.python_import_names import aliases_of, is_sorted
from patchmgr.engines.structure.python_imports import (
    Name,
    check_imports,
    check_merged,
    is_import,
    left_by,
    merge_imports,
    without_shared,
)
from patchmgr.engines.structure.python_join import join_statements
from patchmgr.engines.structure.python_likeness import (
    are_about_one,
    bare_tokens,
    clause_likeness,
    statement_likeness,
)
from patchmgr.engines.structure.python_nodes import merge_code
from patchmgr.engines.structure.python_sequence import (
    How,
    merge_sequences,
    refuse_deletion,
    refuse_replacement,
)
from patchmgr.engines.structure.python_tokens import (
    is_part_of,
    is_same_code,
    likeness,
    tokens_of,
)
from patchmgr.engines.structure.python_tree import (
    Block,
    Clause,
    Statement,
    Unsure,
    block_of,
    is_string,
)

T = TypeVar("T")
_CONDITIONS = frozenset({"If", "elif", "While"})


class BodyMerge(Struct, frozen=True):
    """Merges of blocks, noting the rules that they take."""

    rules: set[str]

    def block(self, base: Block, upstream: Block, fork: Block) -> Block:
        """Merge three blocks of statements."""
        texts = base.text, upstream.text, fork.text
        if texts[0] == texts[1] or texts[1] == texts[2]:
            return fork
        if texts[0] == texts[2]:
            return upstream
        left = left_by(base.statements, upstream.statements, fork.statements)
        check_imports(base.statements, upstream.statements, fork.statements, left)
        ours = without_shared(base.statements, upstream.statements, fork.statements)
        how = How(
            statement_likeness,
            _is_same,
            self.statement,
            self._join,
            partial(self._overlap, left),
            refuse_replacement,
        )
        merged = merge_sequences(base.statements, upstream.statements, ours, how)
        check_merged(base.statements, upstream.statements, fork.statements, merged)
        return Block(tuple(merged), merge_lead(base.tail, upstream.tail, fork.tail))

    def _join(
        self, upstream: Sequence[Statement], fork: Sequence[Statement]
    ) -> Sequence[Statement]:
        rule, joined = join_statements(upstream, fork)
        self.rules.add(rule)
        return joined

    def _overlap(
        self,
        left: frozenset[Name],
        base: Sequence[Statement],
        upstream: Sequence[Statement],
        fork: Sequence[Statement],
    ) -> Sequence[Statement]:
        if all(is_import(s) for s in (*base, *upstream, *fork)):
            self.rules.add("imports")
            return merge_imports(base, upstream, fork, left=left)
        if len(base) == len(upstream) == len(fork) == 1 and (
            are_about_one(base[0], upstream[0]) and are_about_one(base[0], fork[0])
        ):
            return (self.statement(base[0], upstream[0], fork[0]),)
        lines = [lines_of("".join(s.whole for s in run)) for run in (base, upstream, fork)]
        if is_part_of(lines[0], lines[2], lines[1]):
            self.rules.add("absorbed")
            return upstream
        if is_part_of(lines[0], lines[1], lines[2]):
            self.rules.add("absorbed")
            return fork
        raise Unsure

    def statement(self, base: Statement, upstream: Statement, fork: Statement) -> Statement:
        """Merge a statement that all three have."""
        if base.whole == upstream.whole or upstream.whole == fork.whole:
            return fork
        if base.whole == fork.whole:
            return upstream
        lead = merge_lead(base.lead, upstream.lead, fork.lead)
        return replace(self._without_lead(base, upstream, fork), lead=lead)

    def _without_lead(self, base: Statement, upstream: Statement, fork: Statement) -> Statement:
        chosen = _chosen(base.text, upstream.text, fork.text)
        if chosen is not None:
            return (base, upstream, fork)[chosen]
        chosen = _layout(base, upstream, fork, _is_same)
        if chosen is not None:
            self.rules.add("layout")
            return self._in_parts(base, upstream, fork) or (base, upstream, fork)[chosen]
        if base.clauses and upstream.clauses and fork.clauses:
            return self._compound(base, upstream, fork)
        if any(s.clauses for s in (base, upstream, fork)):
            raise Unsure
        if all(is_import(s) for s in (base, upstream, fork)):
            return self._import(base, upstream, fork)
        return replace(upstream, text=self._simple(base, upstream, fork))

    def _in_parts(self, base: Statement, upstream: Statement, fork: Statement) -> Statement | None:
        """Keep upstream's layout of what the other side leaves alone; None where not sure."""
        if not (base.clauses and upstream.clauses and fork.clauses):
            return None
        rules: set[str] = set()
        try:
            merged = BodyMerge(rules)._compound(base, upstream, fork)
        except Unsure:
            return None
        return merged if rules <= {"layout"} else None

    def _import(self, base: Statement, upstream: Statement, fork: Statement) -> Statement:
        self.rules.add("imports")
        bare = [(replace(s, lead=""),) for s in (base, upstream, fork)]  # leads are merged apart
        merged = merge_imports(*bare)
        if len(merged) > 1:
            raise Unsure
        if not merged:
            return replace(upstream, text="")
        return self._in_place(merged[0], (base, upstream, fork)) or merged[0]

    def _in_place(
        self, merged: Statement, sides: tuple[Statement, Statement, Statement]
    ) -> Statement | None:
        """Return unsorted names each in its place, None where that says something else."""
        if not isinstance(merged.node, ast.ImportFrom) or all(is_sorted(s) for s in sides[1:]):
            return None
        try:
            text = merge_code(sides[0].text, sides[1].text, sides[2].text, "")
        except Unsure:
            return None
        block = block_of(text.lstrip())
        if block is None or _names(block.statements[0]) != _names(merged):
            return None
        return replace(merged, text=text, node=block.statements[0].node)

    def _compound(self, base: Statement, upstream: Statement, fork: Statement) -> Statement:
        how = How(
            clause_likeness,
            _is_same_clause,
            self.clause,
            _join_clauses,
            _overlap_clauses,
            refuse_deletion,
        )
        clauses = merge_sequences(base.clauses, upstream.clauses, fork.clauses, how)
        return replace(upstream, text="".join(c.text for c in clauses), clauses=tuple(clauses))

    def clause(self, base: Clause, upstream: Clause, fork: Clause) -> Clause:
        """Merge a clause that all three have.

        A condition that one side changes does not hold for what the other one does under it.
        """
        if upstream.kind in _CONDITIONS:
            for mine, other in ((upstream, fork), (fork, upstream)):
                is_new = not is_same_code(base.head, mine.head) and is_same_code(
                    base.head, other.head
                )
                if is_new and not is_same_code(base.body.text, other.body.text):
                    raise Unsure
        head = self._code(base.head, upstream.head, fork.head, upstream.kind)
        return Clause(upstream.kind, head, self.block(base.body, upstream.body, fork.body))

    def _simple(self, base: Statement, upstream: Statement, fork: Statement) -> str:
        if all(is_string(s.node) for s in (base, upstream, fork)):
            self.rules.add("docstring")
            return merge_lines(base.text, upstream.text, fork.text)
        return self._code(base.text, upstream.text, fork.text, "")

    def _code(self, base: str, upstream: str, fork: str, kind: str) -> str:
        chosen = _chosen(base, upstream, fork)
        if chosen is None:
            chosen = _layout(base, upstream, fork, is_same_code)
            self.rules.add("layout" if chosen is not None else "disjoint")
        if chosen is not None:
            return (base, upstream, fork)[chosen]
        tokens = tokens_of(base), tokens_of(upstream), tokens_of(fork)
        if is_part_of(tokens[0], tokens[2], tokens[1]):
            self.rules.add("absorbed")
            return upstream
        if is_part_of(tokens[0], tokens[1], tokens[2]):
            self.rules.add("absorbed")
            return fork
        return merge_code(base, upstream, fork, kind)


def _names(statement: Statement) -> list[str]:
    return sorted(ast.dump(alias) for alias in aliases_of(statement))


def _chosen(base: str, upstream: str, fork: str) -> int | None:
    """Return which of the three says it all: 1 for upstream, 2 for the fork; None for neither."""
    if base == upstream or upstream == fork:
        return 2
    return 1 if base == fork else None


def _layout(base: T, upstream: T, fork: T, is_same: Callable[[T, T], bool]) -> int | None:
    """Return the side that edits where the other one only reformats, None where both edit."""
    if is_same(upstream, fork) or is_same(base, fork):
        return 1
    return 2 if is_same(base, upstream) else None


def _is_same(one: Statement, other: Statement) -> bool:
    return one.text == other.text or (
        is_same_code(one.text, other.text) and ast.dump(one.node) == ast.dump(other.node)
    )


def _is_same_clause(one: Clause, other: Clause) -> bool:
    return one.text == other.text


def _join_clauses(upstream: Sequence[Clause], fork: Sequence[Clause]) -> Sequence[Clause]:
    kinds = {clause.kind for clause in (*upstream, *fork)}
    if len(kinds) != 1 or not kinds <= {"elif", "except", "case"}:
        raise Unsure
    if any(
        likeness(bare_tokens(a.head), bare_tokens(b.head)) > 0.9 for a in upstream for b in fork
    ):
        raise Unsure
    return [*upstream, *fork]


def _overlap_clauses(
    base: Sequence[Clause], upstream: Sequence[Clause], fork: Sequence[Clause]
) -> Sequence[Clause]:
    raise Unsure
