"""Parse Python, each text only once, and answer questions about single syntax nodes."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce

from patchmgr.formats.late_patterns import late_pattern

_ODD = re.compile("[\r\udc80-\udcff]")  # a CR, or a byte that is not UTF-8
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
Assigned = ast.Assign | ast.AnnAssign
Import = ast.Import | ast.ImportFrom
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_PYTHON_2 = tuple(
    (late_pattern(old), new)
    for old, new in (
        # `print; a, b` is the statement `print a, b` with the same names and brackets.
        (r"(?m)^(.*:|)([ \t]*)(print|exec)[ \t]+(?=[\w\"'`{\[])", r"\1\2\3; "),
        (r"(?m)^(.*:|)([ \t]*raise)[ \t]+(?=[\w.]+(?:\(.*\))?[ \t]*,)", r"\1\2; "),
        (r"(?m)^([ \t]*except\b.*|[^:\n]*\)),[ \t]*(\w+)[ \t]*:", r"\1 as \2:"),
        (r"\blambda[ \t]*\(([\w, ]+)\)[ \t]*:", r"lambda \1:"),
        (r"\basync\b(?![ \t]+(?:def|for|with)\b)", "async_"),
        (r"(?<![\w.])0+(?=[1-9]\d*\b(?![.]))", "0o"),
        (r"(?<![\w.])(\d\w*)[lL]\b", r"\1"),
        (r"\b[uU](?=[rR][\"'])", ""),
        (r"`([^`\n]+)`", r"(\1)"),
        ("<>", "!="),
    )
)
_PARSED = 16  # texts, because several checks parse the same one
_TREES = 4  # trees: those of three sides and of their merge


@lru_cache(maxsize=_PARSED)
def parse_python(text: str) -> ast.Module | None:
    """Return the syntax tree of a text, or None if it does not parse. Do not modify the tree.

    Python 2 is parsed, too: what Python 3 writes otherwise is replaced, without moving a line.
    """
    # 240 of 1,300 merged Python files of 14 projects were Python 2. Unchecked, merges got an `else`
    # before `except` (pulp 7c4b41b1df), and lost an import that the other side uses (3951966634).
    tree = parse_anew(text)
    if tree is None and (newer := reduce(_replace, _PYTHON_2, text)) != text:
        tree = parse_anew(newer)
    return tree


def _replace(text: str, rule: tuple[re.Pattern[str], str]) -> str:
    return rule[0].sub(rule[1], text)


def parse_anew(text: str) -> ast.Module | None:
    """Return a new syntax tree, which may be modified, or None if the text does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in upstream's strings
            # A CR without LF ends a line in Python but not in git, so it is no valid code.
            return ast.parse(_ODD.sub("\ufffd", text.replace("\r\n", "\n")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_expression(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression, or None if the text is not an expression."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def walk(*nodes: ast.AST) -> list[ast.AST]:
    """Return the given nodes and all nodes inside them, except those without fields."""
    # As `ast.walk` does, but in half the time.
    found = list(nodes)
    for node in found:  # the list grows during the loop
        found += children(node)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct child nodes of a node, except those without fields, such as `ast.Load`."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement, such as its body, its `else` and those of its `except`s."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value
            elif isinstance(value[0], (ast.ExceptHandler, ast.match_case)):
                yield from (part.body for part in value)


def statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements inside a node, at any depth. Expressions are skipped, to save time."""
    for block in blocks_of(node):
        for statement in block:
            yield statement
            yield from statements_in(statement)


def own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the syntax nodes of a body at any depth, except those inside definitions."""
    for node in body:
        yield node
        if not isinstance(node, (Definition, ast.Lambda)):
            yield from own_nodes(children(node))


def first_line(node: ast.stmt) -> int:
    """Return the line on which a statement, or the first of its decorators, begins."""
    made: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in made)])


def bound_by(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a node binds or deletes, without those of the nodes inside it."""
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0],)
    kind = "rest" if isinstance(node, ast.MatchMapping) else "name"
    name = getattr(node, "arg" if isinstance(node, ast.arg) else kind, None)
    return (name,) if isinstance(name, str) else ()


def targets_of(node: ast.AST) -> Sequence[ast.expr]:
    """Return the expressions to which a statement or a part of a `with` assigns."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [target for item in node.items for target in targets_of(item)]
    if isinstance(node, ast.Assign):
        return node.targets
    target = getattr(node, "optional_vars" if isinstance(node, ast.withitem) else "target", None)
    return () if target is None else (target,)


def parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters that a call can pass by position, each with its default, if any."""
    plain = [*arguments.posonlyargs, *arguments.args]
    missing: list[None] = [None] * (len(plain) - len(arguments.defaults))
    return [*zip(plain, [*missing, *arguments.defaults], strict=True)]


def keyword_parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters that a call can pass only by name, each with its default, if any."""
    return [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]


def module_of(node: ast.ImportFrom) -> str:
    """Return the module from which a statement imports, such as `..a` or `a.b`."""
    return "." * node.level + (node.module or "")


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted expression: `c` for `a.b.c`."""
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node).rpartition(".")[2]


def elements(node: ast.expr) -> list[ast.expr]:
    """Return the elements of a tuple, or any other expression as the only element."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def is_text(node: ast.AST | None) -> bool:
    """Return whether an expression is a string literal."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_named(node: ast.AST | None, name: str) -> bool:
    """Return whether an expression is the given name."""
    return isinstance(node, ast.Name) and bool(name) and node.id == name


@lru_cache(maxsize=_TREES)
def nodes_of(text: str) -> tuple[ast.Module, Sequence[ast.AST]] | None:
    """Return the tree and all nodes of a text, or None if unparsable. Do not modify them."""
    tree = parse_python(text)
    return None if tree is None else (tree, walk(tree))


@lru_cache(maxsize=64)
def compiles(text: str) -> bool:
    """Return whether a text compiles as a Python module."""
    tree = parse_python(text)
    if tree is None:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "<merged>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
