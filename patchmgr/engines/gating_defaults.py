"""What an expression gives where no environment variable is set: only what is sure."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any


class Unknown(Exception):
    """The expression cannot be computed."""


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

_VARIABLE = re.compile(
    rb"\b(?:getenv|environ\.(?:get|pop|setdefault))\(\s*[\"']([A-Za-z_]\w*)[\"']"
    rb"|\benviron\[\s*[\"']([A-Za-z_]\w*)[\"']\s*\]"
    rb"|[\"']([A-Za-z_]\w*)[\"']\s+(?:not\s+)?in\s+(?:os\.)?environ\b"
)

Defaults = Mapping[str, object]
"""The values of settings by name, where nothing is set."""


def default_of(node: ast.expr, known: Defaults) -> object:
    """Return the value of an expression of environment variables; raise Unknown."""
    try:
        return _value(node, known)
    except (ValueError, TypeError, AttributeError, RecursionError) as fault:
        raise Unknown from fault


def _value(node: ast.expr, known: Defaults) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return tuple(_value(element, known) for element in node.elts)
    if isinstance(node, ast.BoolOp):
        return _bool_op(node, known)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, known)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, known) else node.orelse, known)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        compare = _COMPARISONS[type(node.ops[0])]
        return compare(_value(node.left, known), _value(node.comparators[0], known))
    if isinstance(node, ast.Attribute) and _is_settings(node.value) and node.attr in known:
        return known[node.attr]
    if isinstance(node, ast.Call) and not node.keywords:
        return _call(node, known)
    raise Unknown


def _bool_op(node: ast.BoolOp, known: Defaults) -> Any:
    value: Any = None
    for part in node.values:
        value = _value(part, known)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _call(node: ast.Call, known: Defaults) -> Any:
    name = ast.unparse(node.func)
    if name in ("os.getenv", "getenv", "os.environ.get", "environ.get") and node.args:
        return _value(node.args[1], known) if len(node.args) == 2 else None
    if name in _CASTS and len(node.args) == 1:
        return _CASTS[name](_value(node.args[0], known))
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and not node.args:
        text = _value(node.func.value, known)
        if isinstance(text, str):
            return getattr(text, node.func.attr)()
    raise Unknown


def _is_settings(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("envs", "env")


def settings_defaults(modules: Iterable[bytes]) -> dict[str, object]:
    """Return the defaults of settings that modules keep as `"NAME": lambda: …` in a table."""
    found: dict[str, object] = {}
    for content in modules:
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Dict):
                continue
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Lambda):
                    try:
                        found[str(key.value)] = default_of(value.body, {})
                    except Unknown:
                        continue
    return found


def variables_in(content: bytes) -> frozenset[str]:
    """Return the environment variables that a Python text reads or writes by a literal name."""
    found = (match[1] or match[2] or match[3] for match in _VARIABLE.finditer(content))
    return frozenset(name.decode() for name in found)
