"""The gates in front of the pieces of one file's two versions."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from patchmgr.engines.gating_asked import Asked
from patchmgr.engines.gating_defaults import Defaults
from patchmgr.engines.gating_facts import held_names, nodes_in
from patchmgr.engines.gating_names import ENVIRONMENT, Kinds
from patchmgr.engines.gating_off import Off
from patchmgr.engines.gating_pieces import arguments, resolved, tests_in
from patchmgr.engines.gating_units import Piece, Unit
from patchmgr.model.gating import Gate

Units = Mapping[tuple[str | None, int], Unit]


def _affirmed(guard: tuple[ast.expr, bool]) -> tuple[ast.expr, bool]:
    """Return a condition without `not`, and whether it holds."""
    test, holds = guard
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    return test, holds


class Front:
    """Looks for gates; `changed` are the changed lines of the old and of the new text."""

    def __init__(
        self,
        kinds: Kinds,
        defaults: Defaults,
        new: Units,
        *,
        changed: tuple[set[int], set[int]],
    ) -> None:
        self._kinds, self._defaults = kinds, defaults
        self._asked = Asked(kinds, new)
        self._gone, self._come = changed
        self._news = {id(unit) for unit in new.values()}
        self._facts: dict[int, dict[str, ast.expr]] = {}
        self._known: dict[int, tuple[Piece, tuple[Gate, ...]]] = {}  # keeps ids from coming back

    def of(self, piece: Piece, unit: Unit) -> tuple[Gate, ...]:
        """Return the gates in front of a piece, and those that it asks itself."""
        key = id(piece)
        if key not in self._known:
            self._known[key] = (piece, self._found(piece, unit))
        return self._known[key][1]

    def _found(self, piece: Piece, unit: Unit) -> tuple[Gate, ...]:
        facts = self._facts.get(id(unit))
        if facts is None:
            facts = self._facts[id(unit)] = held_names(unit.body, arguments(unit))
        off = Off(self._kinds, self._defaults)
        found: list[Gate] = []
        for test, holds in map(_affirmed, piece.guards):
            truth = off.truth(resolved(test, facts))
            gates = self._asked.of(test, facts) if truth is not holds else []
            if holds:
                found += gates
            else:  # a variable may be on unless somebody turns it off
                is_off = truth is True
                turned = [g for g in gates if is_off or (truth is None and g.kind == ENVIRONMENT)]
                found += [Gate(gate.kind, f"not {gate.text}") for gate in turned]
        for test in tests_in(piece.node, self._come if id(unit) in self._news else self._gone):
            found += self._asked.of(test, facts)
        return tuple(dict.fromkeys(found))

    def every(self, unit: Unit) -> tuple[Gate, ...]:
        """Return every gate that a unit asks: one of them keeps out what has none in front."""
        tests = [node.test for node in nodes_in(*unit.body) if isinstance(node, ast.If)]
        facts = self._facts[id(unit)]
        return tuple(dict.fromkeys(gate for test in tests for gate in self._asked.of(test, facts)))
