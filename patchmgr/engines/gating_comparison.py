"""What a comparison with something fixed says of those who are of another kind."""

from __future__ import annotations

import ast
import re

from patchmgr.engines.gating_names import QUANTISATION

_IS_GATE = (ast.Eq, ast.In)
_IS_NO_GATE = (ast.NotEq, ast.NotIn)
_ABSENT = re.compile(r"\b(?:quant_config|quantization_config|quantization)$")
_USUAL = frozenset(
    {"auto", "default", "none", "", "unquantized", "half", "float"}
    | {"float16", "bfloat16", "float32", "fp16", "bf16", "fp32"}
)


def truth_of_comparison(node: ast.Compare, kind: str) -> bool | None:
    """Return the truth of a comparison with something fixed: others are of another kind."""
    if len(node.ops) != 1:
        return None
    operation, other = node.ops[0], node.comparators[0]
    if isinstance(other, ast.Constant) and (other.value is None or isinstance(other.value, bool)):
        is_about_none = other.value is None and isinstance(operation, (ast.Is, ast.IsNot))
        if not is_about_none or kind != QUANTISATION:
            return None
        is_whole = _ABSENT.search(ast.unparse(node.left)) is not None
        return isinstance(operation, ast.Is) if is_whole else None
    if not _is_fixed(other) or _is_usual(other):
        return None
    if isinstance(operation, _IS_GATE):
        return False
    is_literal = not isinstance(other, (ast.Name, ast.Attribute))
    return True if isinstance(operation, _IS_NO_GATE) and is_literal else None


def _is_usual(node: ast.expr) -> bool:
    """Say whether a value is what most have: a default, nothing, a plain number format."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return any(map(_is_usual, node.elts))
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, str):
            return node.value in (0, -1, None)
        return node.value.lower() in _USUAL
    return ast.unparse(node).rpartition(".")[2].lower() in _USUAL


def _is_fixed(node: ast.expr) -> bool:
    """Say whether an expression is a literal, a constant by its name, or a member of one."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_is_fixed, node.elts))
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if isinstance(node, ast.Attribute):
        return node.attr.isupper() or (
            isinstance(node.value, ast.Name) and node.value.id[:1].isupper()
        )
    return isinstance(node, ast.Constant)
