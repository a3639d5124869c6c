"""The mutants of a module: each is its source with one small change that means something."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed source, and which line became which."""

    source: str
    old_line: str
    new_line: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield what cosmic-ray makes of a source, less what does not parse or says the same."""
    plugins: Any = import_module("cosmic_ray.plugins")  # has no types, not needed by the tests
    meant = meaning(source)
    for name in sorted(plugins.operator_names()):
        operator_class = plugins.get_operator(name)
        if not operator_class.arguments():
            for changed in _changed(source, operator_class()):
                found = meaning(changed)
                if found is not None and found != meant:
                    yield Mutant(changed, *differing(source, changed))


def _changed(source: str, operator: Any) -> Iterator[str]:
    """Yield the source with one place after the other changed by an operator."""
    visitor: Any = import_module("cosmic_ray.mutating").MutationVisitor
    number = 0
    while (changed := visitor.mutate_code(source, operator, number)) is not None:
        yield changed
        number += 1


def meaning(source: str) -> str | None:
    """Return the syntax tree without types and docstrings, None where the source is not Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    return ast.dump(_Meaning().visit(tree))


class _Meaning(ast.NodeTransformer):
    """Takes away what nobody evaluates, and how arguments may be passed."""

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        node.defaults += [default for default in node.kw_defaults if default is not None]
        node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        is_type = isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Tuple)
        return None if is_type else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant):
            return ast.Pass()
        return self.generic_visit(node)


def differing(old: str, new: str) -> tuple[str, str]:
    """Return the first line that differs, in both sources."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    one, other = next((a, b) for a, b in pairs if a != b)
    return one.strip(), other.strip()
