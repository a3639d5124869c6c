"""The gates that a condition asks, through the names and attributes that hold one."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from patchmgr.engines.gating_facts import Facts, dotted, single_assignments
from patchmgr.engines.gating_names import Kinds
from patchmgr.engines.gating_units import Unit
from patchmgr.model.gating import Gate

_DEEPEST = 4
_NO_FACTS: Facts = {}


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
        for child in ast.walk(test):
            if isinstance(child, ast.Name):
                found += self._of_name(child.id, facts, depth + 1)
            elif isinstance(child, ast.Attribute) and dotted(child.value) == "self":
                for value in self._attributes().get(child.attr, ()):
                    found += self.of(value, _NO_FACTS, depth + 1)
        return found

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
                for node in unit.body if unit.is_function else ():
                    for child in ast.walk(node):
                        if isinstance(child, ast.Assign) and len(child.targets) == 1:
                            target = child.targets[0]
                            if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                                values.setdefault(target.attr, []).append(child.value)
            self._own = values
        return self._own

    def _module_facts(self) -> Mapping[str, Sequence[ast.expr]]:
        """Return what the module's own statements assign, by name."""
        if self._top is None:
            facts = single_assignments(self._units[None, 0].body, frozenset())
            self._top = {name: (value,) for name, value in facts.items()}
        return self._top
