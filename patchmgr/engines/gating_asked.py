"""The gates that a condition asks, through the names and attributes that hold one."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from patchmgr.engines.gating_facts import (
    Facts,
    dotted,
    held_names,
    nodes_in,
    single_assignments,
)
from patchmgr.engines.gating_names import Kinds
from patchmgr.engines.gating_units import Unit, is_comment
from patchmgr.model.gating import Gate

_DEEPEST = 6
_SHORT = 4
"""A function of so many statements says what it asks; a longer one does other things, too."""

_NO_FACTS: Facts = {}


def _asked(node: ast.AST) -> Sequence[ast.expr]:
    """Return the conditions and answers of a statement."""
    if isinstance(node, ast.Return):
        return () if node.value is None else (node.value,)
    return (node.test,) if isinstance(node, ast.If) else ()


class Asked:
    """Looks for gates in the conditions of one file."""

    def __init__(self, kinds: Kinds, units: Mapping[tuple[str | None, int], Unit]) -> None:
        self._kinds = kinds
        self._units = units
        self._held: dict[tuple[int, str], list[Gate]] = {}
        self._own: Mapping[str, Sequence[ast.expr]] | None = None
        self._top: Mapping[str, Sequence[ast.expr]] | None = None

    def of(self, test: ast.expr, facts: Facts, depth: int = 0) -> list[Gate]:
        """Return the gates of a condition, through names and attributes that hold one."""
        found = list(self._kinds.gates(test))
        if depth >= _DEEPEST:
            return found
        for child in nodes_in(test):
            if isinstance(child, ast.Name):
                found += self._of_name(child.id, facts, depth + 1)
            elif isinstance(child, ast.Attribute) and dotted(child.value) == "self":
                found += self._of_attribute(child.attr, depth + 1)
            elif isinstance(child, ast.Call):
                found += self._of_answer(child.func, depth + 1)
        return found

    def _of_attribute(self, name: str, depth: int) -> list[Gate]:
        key = (0, name)
        if key not in self._held:
            self._held[key] = []  # an attribute that is made of itself
            values = self._attributes().get(name, ())
            self._held[key] = [g for value in values for g in self.of(value, _NO_FACTS, depth)]
        return self._held[key]

    def _of_answer(self, function: ast.expr, depth: int) -> list[Gate]:
        """Return the gates of what a short function of the same file answers."""
        unit = self._function(function)
        if unit is None:
            return []
        key = (id(unit), "")
        if key not in self._held:
            self._held[key] = []  # a function that calls itself
            facts = held_names(unit.body, frozenset())
            asked = [value for node in nodes_in(*unit.body) for value in _asked(node)]
            self._held[key] = [gate for value in asked for gate in self.of(value, facts, depth)]
        return self._held[key]

    def _function(self, called: ast.expr) -> Unit | None:
        """Return the short function of the file that is called by its name, or on `self`."""
        name = dotted(called)
        if name.startswith("self."):
            ends = [u for (n, _), u in self._units.items() if n and n.endswith(name[4:])]
            unit = ends[0] if len(ends) == 1 else None
        else:
            unit = self._units.get((name, 0))
        if unit is None or not unit.is_function:
            return None
        says = [s for s in unit.body if not is_comment(s)]
        return unit if len(says) <= _SHORT else None

    def _of_name(self, name: str, facts: Facts, depth: int) -> list[Gate]:
        key = (id(facts), name)
        if key not in self._held:
            self._held[key] = []  # a name that is made of itself
            if name in facts:
                self._held[key] = self.of(facts[name], facts, depth)
            else:
                values = self._module_facts().get(name, ())
                self._held[key] = [g for value in values for g in self._kinds.gates(value)]
        return self._held[key]

    def _attributes(self) -> Mapping[str, Sequence[ast.expr]]:
        """Return what the file's methods put into attributes of `self`, once it is asked for."""
        if self._own is None:
            values: dict[str, list[ast.expr]] = {}
            for unit in self._units.values():
                for node in nodes_in(*unit.body) if unit.is_function else ():
                    if isinstance(node, ast.Assign) and len(node.targets) == 1:
                        target = node.targets[0]
                        if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                            values.setdefault(target.attr, []).append(node.value)
            self._own = values
        return self._own

    def _module_facts(self) -> Mapping[str, Sequence[ast.expr]]:
        """Return what the module's own statements assign, by name."""
        if self._top is None:
            facts = single_assignments(self._units[None, 0].body, frozenset())
            self._top = {name: (value,) for name, value in facts.items()}
        return self._top
