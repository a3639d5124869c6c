"""A Python block as those run it whom no gate lets in: gates are off, dead code is left out.

What is equal in this form for the old and the new text is inert for everyone else. Nothing is
assumed about a condition that is no gate, and nothing is left out that might have an effect.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct, field

from patchmgr.engines.gating_comparison import truth_of_comparison
from patchmgr.engines.gating_defaults import Defaults, Unknown, default_of
from patchmgr.engines.gating_facts import (
    Facts,
    arguments_of,
    called,
    dotted,
    is_boolean,
    nodes_in,
    only_target,
    single_assignments,
)
from patchmgr.engines.gating_names import BROAD, ENVIRONMENT, Kinds

_ROUNDS = 4
_DEEPEST = 6
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)

_Node = TypeVar("_Node", bound=ast.AST)


class Off(Struct):
    """Simplifies blocks with every gate off; `steady` are attributes that a block reads anyway.

    `folds` counts what was left out so far.
    """

    kinds: Kinds
    defaults: Defaults
    steady: frozenset[str | None] = frozenset()
    is_function: bool = True
    folds: int = 0
    _facts: Facts = field(default_factory=dict)

    def block(self, body: Sequence[ast.stmt], arguments: frozenset[str]) -> list[ast.stmt]:
        """Return the statements of a function or a module that are left."""
        left = list(body)
        for _ in range(_ROUNDS):
            before = self.folds
            self._facts = single_assignments(left, arguments) if self.is_function else {}
            left = _without_dead_stores(self._block(left), self)
            if self.folds == before:
                break
        return left

    def truth(self, node: ast.expr, depth: int = 0) -> bool | None:
        """Return whether a condition holds with all gates off, None where that is not sure."""
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand, depth)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            return self._truth_of_several(node, depth)
        if isinstance(node, ast.Name) and node.id in self._facts and depth < _DEEPEST:
            return self.truth(self._facts[node.id], depth + 1)
        if isinstance(node, ast.Call) and called(node) == "bool" and len(node.args) == 1:
            return self.truth(node.args[0], depth)
        return self._truth_of_gate(self._spelled_out(node))

    def _spelled_out(self, node: ast.expr) -> ast.expr:
        """Return `cap.major == 12` with what the local name `cap` stands for."""
        left = node.left if isinstance(node, ast.Compare) else None
        if not isinstance(left, ast.Attribute) or not isinstance(left.value, ast.Name):
            return node
        value = self._facts.get(left.value.id)
        return node if value is None else _with(node, left=_with(left, value=value))

    def _truth_of_several(self, node: ast.BoolOp, depth: int) -> bool | None:
        """Return the truth of `and` and `or`: what is asked before the answer must be harmless."""
        absorbing = isinstance(node.op, ast.Or)
        is_sure = True
        for value in node.values:
            truth = self.truth(value, depth)
            if truth is absorbing:
                return absorbing
            is_sure = is_sure and truth is not None
            if truth is None and not self.is_harmless(value):
                return None
        return not absorbing if is_sure else None

    def _truth_of_gate(self, node: ast.expr) -> bool | None:
        gate = self.kinds.gate(node)
        if gate is None or gate.kind in BROAD:
            return None
        if gate.kind == ENVIRONMENT:
            try:
                return bool(default_of(node, self.defaults))
            except Unknown:
                return None
        if isinstance(node, ast.Compare):
            return truth_of_comparison(node, gate.kind)
        return False if self.kinds.is_off(node) else None

    def is_harmless(self, node: ast.expr) -> bool:
        """Say whether to compute an expression has no effect, and cannot fail."""
        if isinstance(node, (ast.Constant, ast.Name)):
            return True
        if isinstance(node, ast.Attribute):
            return (dotted(node) or None) in self.steady or self.kinds.gate(node) is not None
        if isinstance(node, ast.BoolOp):
            return all(map(self.is_harmless, node.values))
        if isinstance(node, ast.UnaryOp):
            return self.is_harmless(node.operand)
        if isinstance(node, ast.Compare):
            is_plain = all(
                isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) for op in node.ops
            )
            parts = (node.left, *node.comparators)
            return (is_plain or self.kinds.gate(node) is not None) and all(
                self.is_harmless(part) or isinstance(part, (ast.Tuple, ast.List, ast.Set))
                for part in parts
            )
        if isinstance(node, ast.Call):
            if called(node) in ("isinstance", "bool", "hasattr", "getattr", "type", "len"):
                return all(map(self.is_harmless, node.args))
            is_gate = self.kinds.gate(node) is not None
            return is_gate and all(
                isinstance(a, (ast.Constant, ast.Name, ast.Tuple)) for a in node.args
            )
        return False

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        left: list[ast.stmt] = []
        for number, statement in enumerate(body, 1):
            left += self._statement(statement)
            if left and isinstance(left[-1], _JUMPS):
                self.folds += number < len(body)
                break
        return left

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.If):
            truth = self.truth(node.test)
            if truth is not None:
                self.folds += 1
                return self._block(node.body if truth else node.orelse)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = Off(self.kinds, self.defaults, self.steady)
            return [
                _with(node, body=inner.block(node.body, arguments_of(node)) or [_nothing(node)])
            ]
        changed: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                changed[name] = self._block(value) or ([_nothing(node)] if name == "body" else [])
            elif isinstance(value, list) and value and isinstance(value[0], ast.excepthandler):
                changed[name] = [
                    _with(h, body=self._block(h.body) or [_nothing(h)])
                    for h in value
                    if isinstance(h, ast.ExceptHandler)
                ]
            elif isinstance(value, ast.expr):
                changed[name] = self.expression(value, is_test=name == "test")
        return [_with(node, **changed)]

    def expression(self, node: ast.expr, *, is_test: bool = False) -> ast.expr:
        """Return an expression without the parts that gates keep out."""
        if isinstance(node, ast.IfExp):
            truth = self.truth(node.test)
            if truth is not None:
                self.folds += 1
                return self.expression(node.body if truth else node.orelse, is_test=is_test)
        if isinstance(node, ast.BoolOp):
            return self._several(node, is_test)
        if isinstance(node, ast.Call) and is_boolean(node) and self.truth(node) is not None:
            self.folds += 1
            return ast.Constant(value=self.truth(node))
        if isinstance(node, ast.Name) and is_test and self.truth(node) is not None:
            self.folds += 1
            return ast.Constant(value=self.truth(node))
        return _Inner(self).visit_children(node)

    def _several(self, node: ast.BoolOp, is_test: bool) -> ast.expr:
        """Return `and` and `or` without the operands that change nothing."""
        absorbing = isinstance(node.op, ast.Or)
        is_plain = is_test or all(map(is_boolean, node.values))
        truth = self.truth(node)
        if truth is not None and is_plain:
            self.folds += 1
            return ast.Constant(value=truth)
        left = [
            self.expression(value, is_test=is_test)
            for value in node.values
            if not (is_plain and self.truth(value) is (not absorbing))
        ]
        self.folds += len(left) < len(node.values)
        if len(left) == 1:
            return left[0]
        is_same = all(a is b for a, b in zip(left, node.values, strict=False))
        return node if is_same and len(left) == len(node.values) else ast.BoolOp(node.op, left)


class _Inner(ast.NodeTransformer):
    """Simplifies the expressions within an expression."""

    def __init__(self, off: Off) -> None:
        self._off = off

    def visit_children(self, node: ast.expr) -> ast.expr:
        """Return the node, a copy where something in it has changed."""
        changed: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                changed[name] = self._off.expression(value, is_test=name == "test")
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                changed[name] = [
                    self._off.expression(v) if isinstance(v, ast.expr) else v for v in value
                ]
        found = _with(node, **changed)
        assert isinstance(found, ast.expr)
        return found


def _with(node: _Node, **changed: object) -> _Node:
    """Return a copy of a node with other fields, at the same place; itself if they are its own."""
    if all(_is_same(getattr(node, name, None), value) for name, value in changed.items()):
        return node
    fields = {**dict(ast.iter_fields(node)), **changed}
    made = type(node)(**fields)
    vars(made)["is_made"] = True
    return ast.copy_location(made, node)


def _is_same(old: object, new: object) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
    return old is new


def _nothing(node: ast.AST) -> ast.stmt:
    """Return a statement in the place of a body that has none left."""
    return ast.copy_location(ast.Pass(), node)


def _without_dead_stores(body: list[ast.stmt], off: Off) -> list[ast.stmt]:
    """Leave out harmless assignments to local names that nothing reads."""
    read: set[str] = set()
    for node in nodes_in(*body):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Store):
                read.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            read.update(node.names)
    if "locals" in read or not off.is_function:
        return body
    return _DeadStores(read, off).left(body)


class _DeadStores(Struct, frozen=True):
    """Takes harmless assignments out of blocks."""

    kept: set[str]
    off: Off

    def left(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the block without them."""
        found: list[ast.stmt] = []
        for node in body:
            target = only_target(node)
            if (
                target is not None
                and target[0] not in self.kept
                and self.off.is_harmless(target[1])
            ):
                self.off.folds += 1
                continue
            changed = {
                name: self.left(value) or ([_nothing(node)] if name == "body" else [])
                for name, value in ast.iter_fields(node)
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt)
            }
            is_scope = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            found.append(_with(node, **changed) if changed and not is_scope else node)
        return found
