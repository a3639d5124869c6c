"""Compute the value that an expression has if no environment variable is set."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from patchmgr.engines.audit.syntax import parsed_python
from patchmgr.engines.structure.python_tree import walk


class Unknown(Exception):
    """Raised when the value of an expression cannot be computed."""


_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_CASTS: Mapping[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": bool, "str": str}
_METHODS = frozenset({"lower", "upper", "strip", "casefold"})
_GETS = frozenset({"os.getenv", "getenv", "os.environ.get", "environ.get", "std.getenv"})

_VARIABLE = re.compile(
    rb"\b(?:getenv|environ\.(?:get|pop|setdefault))\s*\(\s*[\"']([A-Za-z_]\w*)[\"']"
    rb"|\benviron\[\s*[\"']([A-Za-z_]\w*)[\"']\s*\]"
    rb"|[\"']([A-Za-z_]\w*)[\"']\s+(?:not\s+)?in\s+(?:os\.)?environ\b"
)


class Defaults(Struct, frozen=True):
    """The values that a project's settings have if no environment variable is set."""

    values: Mapping[str, object] = {}
    modules: Collection[str] = ()  # names of the settings' module in code

    def of(self, node: ast.expr) -> object:
        """Return the value that an expression has with these defaults, or raise Unknown."""
        try:
            return self._value(node)
        except (ValueError, TypeError, AttributeError, RecursionError) as fault:
            raise Unknown from fault

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return tuple(map(self._value, node.elts))
        if isinstance(node, ast.BoolOp):
            for part in node.values:
                value = self._value(part)
                if bool(value) is isinstance(node.op, ast.Or):
                    break
            return value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self._value(node.operand)
        if isinstance(node, ast.IfExp):
            return self._value(node.body if self._value(node.test) else node.orelse)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            compare = _COMPARISONS[type(node.ops[0])]
            return compare(self._value(node.left), self._value(node.comparators[0]))
        if isinstance(node, ast.Attribute) and node.attr in self.values:
            if ast.unparse(node.value) in self.modules:
                return self.values[node.attr]
            raise Unknown
        if isinstance(node, ast.Call) and not node.keywords:
            return self._call(node, ast.unparse(node.func))
        raise Unknown

    def _call(self, node: ast.Call, name: str) -> Any:
        if name in _GETS and node.args:
            return self._value(node.args[1]) if len(node.args) == 2 else None
        if name in _CASTS and len(node.args) == 1:
            return _CASTS[name](self._value(node.args[0]))
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and not node.args:
            text = self._value(node.func.value)
            if isinstance(text, str):
                return getattr(text, node.func.attr)()
        raise Unknown


def settings_defaults(modules: Iterable[bytes]) -> dict[str, object]:
    """Return the default of each setting, read from tables of `"NAME": lambda: …` in modules."""
    found: dict[str, object] = {}
    for content in modules:
        nodes = walk(parsed_python(content) or ast.Module([], []))
        tables = [node for node in nodes if isinstance(node, ast.Dict)]
        for key, value in (pair for t in tables for pair in zip(t.keys, t.values, strict=True)):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Lambda):
                try:
                    found[str(key.value)] = Defaults().of(value.body)
                except Unknown:
                    continue
    return found


def variables_in(content: bytes) -> frozenset[str]:
    """Return the environment variables that a text reads or sets by a literal name."""
    found = (match[1] or match[2] or match[3] for match in _VARIABLE.finditer(content))
    return frozenset(name.decode() for name in found)
