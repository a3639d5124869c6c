"""Find the gates that guard each Python statement, and the code that runs with all gates off."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.dataflow import dotted
from patchmgr.engines.audit.states import decoded
from patchmgr.engines.hardware_gates.conditions import Facts, GateFinder, Guards, is_boolean
from patchmgr.engines.hardware_gates.sites import PinAndHead, Side, Statement
from patchmgr.engines.ledger.texts import lines_of
from patchmgr.engines.structure.python_tree import (
    BLOCKS,
    Assigned,
    Definition,
    Function,
    bound_by,
    first_line,
    parse_anew,
    targets_of,
    walk,
)
from patchmgr.model.footprint import Gate

_ROUNDS = 4
_DEEPEST = 6
_SHORT = 4  # most statements of a function that only tests gates; a longer one does other things
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class PythonUnit(Struct, frozen=True):
    """A function; or a class or module without the functions and classes defined in it."""

    node: Definition | None
    body: Sequence[ast.stmt]
    guards: Guards = ()

    def arguments(self) -> frozenset[str]:
        """Return the names of the function's parameters, or none for a class or a module."""
        return _arguments(self.node) if isinstance(self.node, Function) else frozenset()


def python_sides(texts: PinAndHead, conditions: GateFinder) -> tuple[Side, Side]:
    """Return the old and the new version of a Python file, as statements with their gates.

    Only functions, classes and modules with changed lines are included. If either version does not
    parse, neither is split into statements.
    """
    old, new = files = [_File(content, conditions) for content in (texts.old, texts.new)]
    old_lines, new_lines = (
        {n for change in texts.changes() for n in range(change[at], change[at] + change[at + 1])}
        for at in (0, 2)
    )
    touched = {old.owner(n) for n in old_lines} | {new.owner(n) for n in new_lines}
    try:
        if all(file.is_read for file in files):
            return old.side(touched, old_lines), new.side(touched, new_lines)
    except RecursionError:
        pass  # the code is nested too deeply
    return old.unread(), new.unread()


class _File:
    """One version of a file, split into functions, classes and the rest of the module."""

    def __init__(self, content: bytes, conditions: GateFinder) -> None:
        self.lines = [line.decode("utf-8", "replace") for line in lines_of(content) or ()]
        self._owners: list[str | None] = [None] * (len(self.lines) + 2)
        self.units: dict[str | None, PythonUnit] = {}
        self._wholes: dict[str, tuple[int, int, int]] = {}
        self._conditions = conditions
        tree = parse_anew(decoded(content))
        self.is_read = tree is not None
        try:
            body = [] if tree is None else tree.body
            self.units[None] = PythonUnit(None, _own(body))
            self._cut(body, "", ())
        except RecursionError:
            self.is_read = False

    def _cut(self, body: Sequence[ast.stmt], outer: str, guards: Guards) -> None:
        """Record the functions and classes in a block, except those inside other functions."""
        for node in body:
            if isinstance(node, Definition):
                key = f"{outer}{node.name}"
                while key in self.units:
                    key += " again"
                own = node.body if isinstance(node, Function) else _own(node.body)
                self.units[key] = PythonUnit(node, own, guards)
                first, last = first_line(node), node.end_lineno or node.lineno
                self._wholes[key] = first, last, node.lineno
                self._owners[first : last + 1] = [key] * (last + 1 - first)
                if isinstance(node, ast.ClassDef):
                    self._cut(node.body, f"{key}.", guards)
            elif isinstance(node, ast.If):
                self._cut(node.body, outer, (*guards, (node.test, True)))
                self._cut(node.orelse, outer, (*guards, (node.test, False)))
            elif isinstance(node, (ast.Try, ast.With)):
                for _, block in _blocks(node):
                    self._cut(block, outer, guards)

    def owner(self, line: int) -> str | None:
        """Return the name of the function or class around a line, or None at module level."""
        return self._owners[line] if line < len(self._owners) else None

    def unread(self) -> Side:
        """Return this version as lines only, without statements and gates."""
        return Side(
            self.lines, lambda _: None, lambda _: None, symbols=frozenset({None}), is_read=False
        )

    def side(self, touched: set[str | None], changed: Container[int]) -> Side:
        """Return the statements and gates of the functions and classes named in `touched`."""
        held = _IndirectGates(self.units, self._conditions)
        own = {key: unit for key, unit in self.units.items() if key in touched}
        said: list[Statement] = []
        gates: dict[int, dict[Gate, None]] = {}
        asked: dict[str | None, list[Gate]] = {}
        ends: dict[int, int] = {}
        brings: dict[int, frozenset[str]] = {}
        for key, unit in own.items():
            asking = _StatementGates(held, unit, changed)
            asked[key] = asking.every(unit.body)
            for piece, node, guards in _pieces(_with_head(unit), unit.guards):
                if node is None:
                    continue
                said.append(piece)
                found = dict.fromkeys(asking.of(node, guards))
                for line in range(piece.first, piece.last + 1):
                    gates.setdefault(line, {}).update(found)
                if isinstance(node, ast.If):
                    ends[piece.first] = piece.end
                is_called = isinstance(unit.node, Function)
                brings[piece.first] = frozenset() if is_called else _definition_texts(node)

        def names(lines: Sequence[int]) -> frozenset[str] | None:
            found = [brings[line] for line in lines if line in brings]
            return frozenset().union(*found) if all(found) else None

        kept = {}
        for key, unit in own.items():  # this comes last, because it modifies the statements
            kept[key] = [piece for piece, _, _ in _pieces(_off(unit, self._conditions))]
        return Side(
            self.lines,
            self.owner,
            names,
            said=said,
            kept=kept,
            gates={line: tuple(found) for line, found in gates.items()},
            asked=asked,
            ends=ends,
            wholes=self._wholes,
            symbols=frozenset(self.units),
        )


class _IndirectGates:
    """Finds gates that code tests indirectly: in variables, attributes and short functions."""

    def __init__(self, units: Mapping[str | None, PythonUnit], conditions: GateFinder) -> None:
        self._units = units
        self.conditions = conditions
        self._known: dict[tuple[int, str], list[Gate]] = {}
        self._top = _single_assignments(units[None].body, frozenset())
        self._own: dict[str, list[ast.expr]] | None = None
        self._facts: dict[str | None, Facts] = {}

    def asked(self, test: ast.expr, facts: Facts, depth: int = 0) -> list[Gate]:
        """Return the gates that a condition tests directly or through variables and functions."""
        found = list(self.conditions.gates(test))
        for child in walk(test) if depth < _DEEPEST else ():
            if isinstance(child, ast.Name):
                if child.id in facts:
                    found += self._behind(child.id, [facts[child.id]], facts, depth)
                elif child.id in self._top:
                    found += self.conditions.gates(self._top[child.id])
            elif isinstance(child, ast.Attribute) and dotted(child.value) == "self":
                values = self._attributes().get(child.attr, ())
                found += self._behind(f"self.{child.attr}", values, {}, depth)
            elif isinstance(child, ast.Call):
                key = self._function(dotted(child.func))
                if key is not None:
                    body = self._units[key].body
                    own = self._facts.setdefault(key, _held_names(body, frozenset()))
                    found += self._behind(f"{key}()", _answers(body), own, depth)
        return found

    def _behind(
        self, name: str, values: Sequence[ast.expr], facts: Facts, depth: int
    ) -> list[Gate]:
        key = (id(facts) if facts else 0, name)
        if key not in self._known:
            self._known[key] = []  # ends the recursion for a variable that is computed from itself
            self._known[key] = [g for value in values for g in self.asked(value, facts, depth + 1)]
        return self._known[key]

    def _function(self, name: str) -> str | None:
        """Return the key of the short function that `name` or `self.name` calls, or None."""
        found = [name]
        if name.startswith("self."):
            found = [key for key in self._units if key and key.endswith(name[4:])]
        unit = self._units.get(found[0]) if name and len(found) == 1 else None
        if unit is None or not isinstance(unit.node, Function):
            return None
        return found[0] if sum(not _is_comment(s) for s in unit.body) <= _SHORT else None

    def _attributes(self) -> Mapping[str, Sequence[ast.expr]]:
        """Return what the methods of the file assign to attributes of `self`."""
        if self._own is None:
            self._own = {}
            bodies = [u.body for u in self._units.values() if isinstance(u.node, Function)]
            for node in (node for body in bodies for node in walk(*body)):
                if isinstance(node, ast.Assign) and len(node.targets) == 1:
                    target = node.targets[0]
                    if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                        self._own.setdefault(target.attr, []).append(node.value)
        return self._own


class _StatementGates:
    """Finds the gates of the statements in one unit. `changed` has the numbers of changed lines."""

    def __init__(self, held: _IndirectGates, unit: PythonUnit, changed: Container[int]) -> None:
        self._held, self._changed = held, changed
        arguments = unit.arguments()
        self._facts = _held_names(unit.body, arguments)
        facts = _single_assignments(unit.body, arguments)
        self._conditions = replace(held.conditions, facts=facts)
        self._front: dict[Guards, list[Gate]] = {}

    def of(self, node: ast.stmt, guards: Guards) -> list[Gate]:
        """Return the gates that guard a statement, and those that the statement tests itself."""
        if guards not in self._front:
            self._front[guards] = self._conditions.in_front(guards, self._asked)
        tests = _tests(node, self._changed)
        return [*self._front[guards], *(gate for test in tests for gate in self._asked(test))]

    def every(self, body: Sequence[ast.stmt]) -> list[Gate]:
        """Return every gate that an `if` in the body of a function or class tests."""
        tests = [node.test for node in walk(*body) if isinstance(node, ast.If)]
        return list(dict.fromkeys(gate for test in tests for gate in self._asked(test)))

    def _asked(self, test: ast.expr) -> list[Gate]:
        return self._held.asked(test, self._facts)


def _pieces(
    body: Sequence[ast.stmt], guards: Guards = (), depth: int = 0
) -> Iterator[tuple[Statement, ast.stmt | None, Guards]]:
    """Yield the statements of a block, and the statements nested in them, in order.

    If the body of an `if` ends with `return`, `raise` or `continue`, the negated condition guards
    the statements after it.
    """
    for node in body:
        if _is_comment(node):
            continue
        text, last = _head(node)
        is_definition = isinstance(node, Definition) and not node.body
        end = last if is_definition else node.end_lineno or last
        yield Statement(f"{depth} {text}", first_line(node), last, end), node, guards
        for head, block in _blocks(node):
            inner = guards
            if isinstance(node, ast.If):
                inner = (*guards, (node.test, head is None))
            if head is not None:
                line = block[0].lineno
                stop = block[-1].end_lineno or line
                yield Statement(f"{depth} {head}", line, line, stop), None, guards
            yield from _pieces(block, inner, depth + 1)
        if isinstance(node, ast.If) and node.body and isinstance(node.body[-1], _JUMPS[:3]):
            guards = (*guards, (node.test, False))


def _blocks(node: ast.stmt) -> Iterator[tuple[str | None, Sequence[ast.stmt]]]:
    """Yield (heading, block) for each block of a statement; the heading of a body is None."""
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) and value else ():
            if isinstance(part, ast.stmt):
                yield None if name == "body" else name, value
                break
            if isinstance(part, (ast.ExceptHandler, ast.match_case)) and part.body:
                head = [ast.dump(v) for _, v in ast.iter_fields(part) if isinstance(v, ast.AST)]
                yield f"{name} {head}", part.body


def _head(node: ast.stmt) -> tuple[str, int]:
    """Return a statement without its blocks, as text, and the number of its last line."""
    parts, ends, is_whole = [type(node).__name__], [node.lineno], not isinstance(node, Definition)
    for name, value in ast.iter_fields(node):
        values = value if isinstance(value, list) else [value]
        if any(isinstance(v, BLOCKS) for v in values):
            is_whole = False
            continue
        parts += [name, *(ast.dump(v) if isinstance(v, ast.AST) else str(v) for v in values)]
        ends += [getattr(v, "end_lineno", None) or node.lineno for v in values]
    return " ".join(parts), (node.end_lineno or node.lineno) if is_whole else max(ends)


def _is_comment(node: ast.stmt) -> bool:
    """Return whether a statement is only a string, such as a docstring, or `pass`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return isinstance(node.value.value, str)
    return isinstance(node, ast.Pass)


def _own(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [node for node in body if not isinstance(node, Definition)]


def _with_head(unit: PythonUnit) -> list[ast.stmt]:
    """Return the statements of a unit, after a definition (`def` or `class`) without a body."""
    if unit.node is None:
        return list(unit.body)
    fields = {**dict(ast.iter_fields(unit.node)), "body": []}
    return [ast.copy_location(type(unit.node)(**fields), unit.node), *unit.body]


def _answers(body: Sequence[ast.stmt]) -> list[ast.expr]:
    """Return the values that a function returns, and the conditions of its `if` statements."""
    found = []
    for node in walk(*body):
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        elif isinstance(node, ast.If):
            found.append(node.test)
    return found


def _tests(node: ast.stmt, changed: Container[int]) -> Iterator[ast.expr]:
    """Yield the conditions of a statement, and the changed conditions inside its expressions."""
    if isinstance(node, ast.Assert):
        return
    for name, value in ast.iter_fields(node):
        if not isinstance(value, ast.expr):
            continue
        if name == "test" or (name == "value" and isinstance(value, (ast.Compare, ast.BoolOp))):
            yield value
            continue
        for part in walk(value):
            if isinstance(part, ast.IfExp) or (isinstance(part, ast.BoolOp) and is_boolean(part)):
                last = part.end_lineno or part.lineno
                if any(line in changed for line in range(part.lineno, last + 1)):
                    yield part.test if isinstance(part, ast.IfExp) else part


def _definition_texts(node: ast.stmt) -> frozenset[str]:
    """Return what an import or assignment defines, for comparison with another version.

    There is one text for each name, or for each entry of a dictionary.
    """
    if isinstance(node, ast.Import):
        return frozenset(f"{a.name} as {a.asname}" for a in node.names)
    if isinstance(node, ast.ImportFrom):
        return frozenset(f"{node.module}.{a.name} as {a.asname}" for a in node.names)
    if not isinstance(node, Assigned) or node.value is None:
        return frozenset()
    targets = targets_of(node)
    if not all(isinstance(target, ast.Name) for target in targets):
        return frozenset()
    names = " ".join(map(ast.unparse, targets))
    if isinstance(node.value, ast.Dict):
        items = zip(node.value.keys, node.value.values, strict=True)
        return frozenset(f"{names} {ast.dump(k) if k else ''} {ast.dump(v)}" for k, v in items)
    return frozenset({f"{names} {ast.dump(node.value)}"})


def _arguments(node: Function) -> frozenset[str]:
    return frozenset(a.arg for a in walk(node.args) if isinstance(a, ast.arg))


def _single_assignments(body: Sequence[ast.stmt], arguments: frozenset[str]) -> dict[str, ast.expr]:
    """Map each local name that exactly one statement assigns to the assigned value."""
    counts: Counter[str] = Counter(arguments)
    found: dict[str, ast.expr] = {}
    for node in walk(*body):
        counts.update(bound_by(node))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            counts.update([*node.names, *node.names])  # twice: never taken as assigned once
        target = _target(node)
        if target is not None:
            found[target[0]] = target[1]
    return {name: value for name, value in found.items() if counts[name] == 1}


def _held_names(body: Sequence[ast.stmt], arguments: frozenset[str]) -> dict[str, ast.expr]:
    """Map local names to expressions that show which gates they depend on, but not their values."""
    found: dict[str, ast.expr] = {}
    for node in walk(*body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names = [e.id for e in node.targets[0].elts if isinstance(e, ast.Name)]
            found.update((name, node.value) for name in names if name not in arguments)
    return {**found, **_single_assignments(body, arguments)}


def _target(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Return the name and value of an assignment to one name, or None for other statements."""
    if isinstance(node, Assigned) and node.value is not None:
        match targets_of(node):
            case [ast.Name(id=name)]:
                return name, node.value
    return None


def _off(unit: PythonUnit, conditions: GateFinder) -> list[ast.stmt]:
    """Return a unit's definition and the (modified) statements that run with all gates off."""
    head = _with_head(unit)[: unit.node is not None]
    is_function = isinstance(unit.node, Function)
    body = left(list(unit.body), conditions, unit.arguments(), is_function=is_function)
    return [*head, *body]


def left(
    body: list[ast.stmt],
    conditions: GateFinder,
    arguments: frozenset[str],
    *,
    is_function: bool = True,
) -> list[ast.stmt]:
    """Return the statements of a block that run with all gates off. The block is modified."""
    for _ in range(_ROUNDS):
        facts = _single_assignments(body, arguments) if is_function else {}
        off = _Off(replace(conditions, facts=facts))
        body = off.block(body)
        if is_function:
            body = _DeadStores(off, body).block(body)
        if not off.folds:
            break
    return body


class _Simplifier(ast.NodeTransformer):
    """Simplifies blocks in place, and counts the removed nodes in `folds`."""

    folds = 0

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Simplify a block, and remove the statements after one that leaves the block."""
        left: list[ast.stmt] = []
        for number, statement in enumerate(body, 1):
            found = self.visit(statement)
            left += found if isinstance(found, list) else [found] if found is not None else []
            if left and isinstance(left[-1], _JUMPS):
                self.folds += number < len(body)
                break
        return left

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value))
            elif isinstance(value, list):
                value[:] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.test(value) if name == "test" else self.visit(value))
        return node

    def test(self, node: ast.AST) -> Any:
        """Simplify a condition. Its truth value stays the same, but its exact value may change."""
        return self.visit(node)


class _Off(_Simplifier):
    """Removes code that runs only with a gate on, except for conditions with a side effect."""

    def __init__(self, conditions: GateFinder) -> None:
        self.conditions = conditions

    def visit_If(self, node: ast.If | ast.IfExp) -> Any:
        truth = self.conditions.truth(node.test)
        if truth is None:
            return self.generic_visit(node)
        self.folds += 1
        left = node.body if truth else node.orelse
        return self.block(left) if isinstance(left, list) else self.visit(left)

    visit_IfExp = visit_If

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = left(node.body, self.conditions, _arguments(node))
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # alike

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self._constant(node, is_sure=is_boolean(node)) or self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        return self._several(node, is_plain=all(map(is_boolean, node.values)))

    def test(self, node: ast.AST) -> Any:
        if isinstance(node, ast.BoolOp):
            return self._several(node, is_plain=True)
        found = self._constant(node, is_sure=True) if isinstance(node, ast.Name) else None
        return found or super().test(node)

    def _constant(self, node: ast.expr, *, is_sure: bool) -> ast.AST | None:
        truth = self.conditions.truth(node) if is_sure else None
        if truth is None:
            return None
        self.folds += 1
        return ast.copy_location(ast.Constant(value=truth), node)

    def _several(self, node: ast.BoolOp, *, is_plain: bool) -> ast.AST:
        """Return an `and` or `or` without the operands that cannot change its value."""
        found = self._constant(node, is_sure=is_plain)
        if found is not None:
            return found
        is_or = isinstance(node.op, ast.Or)
        left = node.values
        if is_plain:
            left = [v for v in left if self.conditions.truth(v) is not (not is_or)]
        self.folds += len(left) < len(node.values)
        node.values = [self.test(v) if is_plain else self.visit(v) for v in left]
        return node.values[0] if len(left) == 1 else node


class _DeadStores(_Simplifier):
    """Removes harmless assignments to local names that nothing reads."""

    def __init__(self, off: _Off, body: Sequence[ast.stmt]) -> None:
        self._off = off
        self._read: set[str] = set()
        for node in walk(*body):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                self._read.add(node.id)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                self._read.update(node.names)

    def visit(self, node: ast.AST) -> ast.AST | None:
        if "locals" in self._read or isinstance(node, (ast.expr, Definition)):
            return node
        target = _target(node)
        is_dead = target is not None and target[0] not in self._read
        if target is not None and is_dead and self._off.conditions.is_harmless(target[1]):
            self._off.folds += 1
            return None
        return self.generic_visit(node)
