"""Find the gates that a condition tests, and the value of the condition with all gates off."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.audit.dataflow import dotted
from patchmgr.engines.hardware_gates.defaults import Defaults, Unknown
from patchmgr.engines.hardware_gates.words import (
    BROAD,
    CAPABILITY,
    ENVIRONMENT,
    PROBE,
    QUANTISATION,
    Words,
    has,
)
from patchmgr.engines.structure.python_tree import last_name
from patchmgr.formats.shown import cut
from patchmgr.model.footprint import Gate

Facts = Mapping[str, ast.expr]
"""The values of local names that are assigned only once, as expressions keyed by name."""

Guards = tuple[tuple[ast.expr, bool], ...]
"""The conditions around a statement, and the value that each of them has if the statement runs."""

_DEEPEST = 6  # most local names that are followed, one after the other, to a value
_LONGEST = 120  # most characters of a gate's text
_WORD = re.compile(r"[A-Za-z_]\w*")
_LOOKS = ("isinstance", "bool", "hasattr", "getattr", "type", "len")
_THROUGH = (
    "bool", "int", "str", "float", "any", "all", "getattr", "hasattr", "isinstance", "len",
    "tuple", "set", "issubclass",
)  # fmt: skip
_BOOLEAN = ("is_", "has_", "isinstance", "hasattr", "issubclass", "bool", "supports_", "support_")


class GateFinder(Struct, frozen=True):
    """Finds the gates that are tested by the conditions in one function."""

    words: Words
    defaults: Defaults
    is_cxx: bool = False  # reading a member counts as harmless
    facts: Facts = {}  # the expressions assigned to local names (C++: none)

    def gates(self, node: ast.expr) -> tuple[Gate, ...]:
        """Return every gate that a condition tests."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return tuple(map(_negated, self.gates(node.operand)))
        parts = node.values if isinstance(node, ast.BoolOp) else None
        if isinstance(node, ast.Call) and called(node) in ("bool", *self.words.through):
            parts = node.args
        if parts is not None:
            return tuple(dict.fromkeys(gate for part in parts for gate in self.gates(part)))
        gate = self.gate(node)
        return () if gate is None else (gate,)

    def gate(self, node: ast.expr) -> Gate | None:
        """Return the gate that a call, a name or a comparison tests, or None if there is none."""
        for name in self._names(node):
            kind = self.words.kind(name)
            if kind is not None and (kind != PROBE or self._is_probe(node)):
                text = getattr(node, "text", None) or ast.unparse(node)
                return Gate(kind, cut(text, _LONGEST))
        return None

    def in_front(
        self, guards: Guards, asked: Callable[[ast.expr], Sequence[Gate]] | None = None
    ) -> list[Gate]:
        """Return the gates that must be on for a statement to run, given the conditions around it.

        `asked` returns the gates that a condition tests, by default those of `gates`.
        """
        found: list[Gate] = []
        for test, holds in guards:
            if not self.is_cxx:
                test, holds = _affirmed(test, holds=holds)
            gates = (asked or self.gates)(test)
            truth = self.truth(test) if gates else None
            if holds and truth is not True:
                found += gates
            elif not holds:  # a variable with an unknown default may be on by default
                turned = (g for g in gates if truth or (truth is None and g.kind == ENVIRONMENT))
                found += map(_negated, turned)
        return found

    def _names(self, node: ast.expr) -> list[str]:
        """Return the names that an expression reads, the last part of a dotted name first."""
        inner: Iterable[ast.expr] = ()
        found: list[str] = []
        if isinstance(node, ast.Call):
            is_through = called(node) in (*_THROUGH, *self.words.through)
            if not is_through:
                # The arguments do not show what the call returns.
                return self._names(node.func)
            inner = node.args
        elif isinstance(node, ast.Attribute):
            found, inner = [node.attr], (node.value,)
        elif isinstance(node, ast.Name):
            return _WORD.findall(node.id)
        elif isinstance(node, ast.Compare):
            return [n for part in (node.left, *node.comparators) for n in self._names(part)]
        elif isinstance(node, (ast.Subscript, ast.NamedExpr)):
            return self._names(node.value)
        elif isinstance(node, ast.BinOp):
            return [*self._names(node.left), *self._names(node.right)]
        names = (name for part in inner for name in self._names(part))
        return [*found, *(name for name in names if name not in self.words.everywhere)]

    def _is_probe(self, node: ast.expr) -> bool:
        """Return whether an expression calls a function, or a method of a module or a platform."""
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return has(self.words.askers, last_name(node.func.value))
        return isinstance(node.func, ast.Name)

    def truth(self, node: ast.expr, depth: int = 0) -> bool | None:
        """Return the value that a condition has with all gates off, or None if it is unclear."""
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand, depth)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            absorbing = isinstance(node.op, ast.Or)
            is_sure = True
            for value in node.values:
                truth = self.truth(value, depth)
                if truth is absorbing:
                    return absorbing
                is_sure = is_sure and truth is not None
                if truth is None and not self.is_harmless(value):
                    return None  # it may have an effect besides its value
            return not absorbing if is_sure else None
        if isinstance(node, ast.Name) and node.id in self.facts and depth < _DEEPEST:
            return self.truth(self.facts[node.id], depth + 1)
        if isinstance(node, ast.Call) and called(node) == "bool" and len(node.args) == 1:
            return self.truth(node.args[0], depth)
        return self._truth_of_gate(self._spelled_out(node))

    def _spelled_out(self, node: ast.expr) -> ast.expr:
        """Replace the local name in a comparison such as `cap.major == 12` with its value."""
        left = node.left if isinstance(node, ast.Compare) else None
        if isinstance(left, ast.Attribute) and isinstance(left.value, ast.Name):
            value = self.facts.get(left.value.id)
            if value is not None and isinstance(node, ast.Compare):
                spelled = ast.Attribute(value, left.attr, left.ctx)
                return ast.Compare(spelled, node.ops, node.comparators)
        return node

    def _truth_of_gate(self, node: ast.expr) -> bool | None:
        gate = self.gate(node)
        if gate is None or gate.kind in BROAD:
            return None
        if gate.kind == ENVIRONMENT:
            try:
                return bool(self.defaults.of(node))
            except Unknown:
                return None
        if isinstance(node, ast.Compare):
            return self._truth_of_comparison(node, gate.kind)
        return False if self._is_off(node) else None

    def _is_off(self, node: ast.expr) -> bool:
        """Return whether a flag, judged by its name, is off by default."""
        name = called(node) if isinstance(node, ast.Call) else last_name(node)
        if self.is_cxx and isinstance(node, ast.Call) and node.args:
            return False
        kind = self.words.kind(name)
        if kind == PROBE and not self.words.is_own(name):
            is_plain = isinstance(node, ast.Call) and not node.args and not node.keywords
            return is_plain and self.words.is_installed(name)
        return kind is not None and (self.words.is_own(name) or self.words.is_flag(name))

    def _truth_of_comparison(self, node: ast.Compare, kind: str) -> bool | None:
        """Return the value of a comparison with all gates off, or None if it is unclear.

        It is clear only if the gate is compared with a fixed value that is not a usual one.
        """
        if len(node.ops) != 1 or (self.is_cxx and kind != CAPABILITY):
            return None
        sign, other = node.ops[0], node.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None:
            is_whole = last_name(node.left) in self.words.whole and kind == QUANTISATION
            is_identity = isinstance(sign, (ast.Is, ast.IsNot))
            return isinstance(sign, ast.Is) if is_whole and is_identity else None
        if isinstance(other, ast.Constant) and isinstance(other.value, bool):
            return None
        if not _is_fixed(other) or self._is_usual(other):
            return None
        if isinstance(sign, (ast.Eq, ast.In)):
            return False
        is_literal = not isinstance(other, (ast.Name, ast.Attribute))
        return True if isinstance(sign, (ast.NotEq, ast.NotIn)) and is_literal else None

    def _is_usual(self, node: ast.expr) -> bool:
        """Return whether a value is usual: a default, zero, None or a common number format."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return any(map(self._is_usual, node.elts))
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            return node.value in (0, -1, None)
        text = node.value if isinstance(node, ast.Constant) else last_name(node)
        return str(text).lower() in self.words.usual

    def is_harmless(self, node: ast.expr) -> bool:
        """Return whether evaluating an expression has no side effect and raises no error."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id.isidentifier()
        if isinstance(node, ast.BoolOp):
            return all(map(self.is_harmless, node.values))
        if isinstance(node, ast.UnaryOp):
            return self.is_harmless(node.operand)
        is_gate = self.gate(node) is not None
        if isinstance(node, ast.Attribute):
            return is_gate or (self.is_cxx and self.is_harmless(node.value))
        if isinstance(node, ast.Compare):
            is_plain = all(isinstance(s, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) for s in node.ops)
            return (is_plain or is_gate or self.is_cxx) and all(
                self.is_harmless(part) or isinstance(part, (ast.Tuple, ast.List, ast.Set))
                for part in (node.left, *node.comparators)
            )
        if not isinstance(node, ast.Call):
            return False
        if called(node) in _LOOKS:
            return all(map(self.is_harmless, node.args))
        is_plain = all(isinstance(a, (ast.Constant, ast.Name, ast.Tuple)) for a in node.args)
        return (is_gate and is_plain) or (self.is_cxx and not node.args)


def _affirmed(test: ast.expr, *, holds: bool) -> tuple[ast.expr, bool]:
    """Remove each `not` before a condition; return the rest and the value that it must have."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    return test, holds


def _negated(gate: Gate) -> Gate:
    """Return the gate with `not` added to its text, or removed from it."""
    is_not = gate.text.startswith("not ")
    return Gate(gate.kind, gate.text.removeprefix("not ") if is_not else f"not {gate.text}")


def called(node: ast.Call) -> str:
    """Return the last part of the called function's name, or "" if what is called has no name."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)


def is_boolean(node: ast.expr) -> bool:
    """Return whether the form of an expression shows that its value is True or False."""
    if isinstance(node, ast.BoolOp):
        return all(map(is_boolean, node.values))
    if isinstance(node, ast.Call):
        return called(node).startswith(_BOOLEAN)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    is_flag = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    return is_not or is_flag or isinstance(node, ast.Compare)


def _is_fixed(node: ast.expr) -> bool:
    """Return whether an expression is a literal or, by its spelling, a constant or class member."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_is_fixed, node.elts))
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if isinstance(node, ast.Attribute):
        is_type = isinstance(node.value, ast.Name) and node.value.id[:1].isupper()
        return node.attr.isupper() or is_type
    return isinstance(node, ast.Constant)
