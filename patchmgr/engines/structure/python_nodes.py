"""Merge a simple statement or the head of a clause on its libcst tree, part by part."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from patchmgr.engines.structure.python_leads import check_end
from patchmgr.engines.structure.python_lists import Merge, code_of, merge_list
from patchmgr.engines.structure.python_tokens import is_same_code
from patchmgr.engines.structure.python_tree import Unsure

if TYPE_CHECKING:
    import libcst as cst

_BEFORE = {"except": "{indent}try:\n{indent}    pass\n", "case": "match 1:\n"}
_BEHIND = {"match": "{indent}    case 1:\n{indent}        pass\n"}
_TAKE_SETS = ("set", "frozenset", "isinstance", "issubclass", "parametrize")
_WITHOUT_BODY = ("else", "finally", "Try", "TryStar")


class Frame(Struct, frozen=True):
    """What a piece of code needs around it to be a module."""

    before: str
    behind: str

    def module(self, text: str) -> cst.Module:
        """Parse the piece within its frame."""
        import libcst

        try:
            return libcst.parse_module(self.before + text + self.behind)
        except (libcst.ParserSyntaxError, RecursionError, ValueError) as error:
            raise Unsure from error

    def piece(self, module: cst.Module) -> str:
        """Return the piece of a module without its frame."""
        code = module.code
        if not code.startswith(self.before) or not code.endswith(self.behind):
            raise Unsure
        return code[len(self.before) : len(code) - len(self.behind)]


def frame_of(text: str, kind: str) -> Frame:
    """Return the frame for a head of that kind, for a simple statement where there is no kind."""
    if kind in _WITHOUT_BODY:
        raise Unsure
    line = text.lstrip("\r\n")
    indent = line[: len(line) - len(line.lstrip())]
    end = "\r\n" if "\r\n" in text else "\n"
    before = _BEFORE.get(kind, "").format(indent=indent)
    behind = _BEHIND.get(kind, "{indent}    pass\n" if kind else "").format(indent=indent)
    if indent and kind != "case":
        before = "if 1:\n" + before
    return Frame(before.replace("\n", end), behind.replace("\n", end))


def merge_code(base: str, upstream: str, fork: str, kind: str) -> str:
    """Merge three versions of one piece; raise `Unsure` where both change one part of it."""
    pieces = [base, upstream, fork]
    if kind == "elif":
        pieces = [piece.replace("elif", "if", 1) for piece in pieces]
    frames = {frame_of(piece, kind) for piece in pieces}
    if len(frames) != 1 or not all(piece.endswith("\n") for piece in pieces):
        raise Unsure
    frame = frames.pop()
    modules = [frame.module(piece) for piece in pieces]
    try:
        merged = merge_node(*modules)
    except SyntaxError as error:  # nodes that do not go together
        raise Unsure from error
    assert isinstance(merged, type(modules[0]))
    piece = frame.piece(merged)
    return piece.replace("if", "elif", 1) if kind == "elif" else piece


def merge_node(base: Any, upstream: Any, fork: Any, *, is_set: bool = False) -> Any:
    """Merge three nodes of one type, the unchanged side yielding in each part.

    With `is_set`, a list or a tuple is used as a set: its elements have no order.
    """
    if type(base) is type(upstream) is type(fork) and isinstance(base, _wrappers()):
        return _merge_parts(base, upstream, fork, is_set=is_set)
    codes = code_of(base), code_of(upstream), code_of(fork)
    if codes[0] == codes[1] or codes[1] == codes[2]:
        return fork
    if codes[0] == codes[2]:
        return upstream
    if is_same_code(codes[1], codes[2]) or is_same_code(codes[0], codes[2]):
        return upstream
    if is_same_code(codes[0], codes[1]):
        return fork
    if not type(base) is type(upstream) is type(fork):
        raise Unsure
    if isinstance(base, _whole_nodes()):
        raise Unsure
    return _merge_parts(base, upstream, fork, is_set=is_set)


def _merge_parts(base: Any, upstream: Any, fork: Any, *, is_set: bool) -> Any:
    import libcst

    check_end(base, upstream, fork)
    has_order = isinstance(upstream, libcst.List | libcst.Tuple) and not is_set
    holds_set = _uses_as_set(upstream) or (is_set and isinstance(upstream, libcst.Arg))
    merge = partial(merge_node, is_set=holds_set)
    changes = {}
    for field in dataclasses.fields(base):
        parts = [getattr(node, field.name) for node in (base, upstream, fork)]
        changes[field.name] = _merge_field(*parts, merge=merge, has_order=has_order)
    return upstream.with_changes(**changes)


def _uses_as_set(node: Any) -> bool:
    """Say whether the order of a list or a tuple right in the node has no meaning."""
    import libcst

    if isinstance(node, libcst.ComparisonTarget):
        return isinstance(node.operator, libcst.In | libcst.NotIn)
    if isinstance(node, libcst.Call):
        return code_of(node.func).rpartition(".")[2] in _TAKE_SETS
    if isinstance(node, libcst.Assign):
        return code_of(node.targets[0].target) == "__all__"
    if isinstance(node, libcst.AugAssign):
        return code_of(node.target) == "__all__"
    return isinstance(node, libcst.ExceptHandler)


def _wrappers() -> tuple[type, ...]:
    """Return the types of what is little more than its parts: to compare those is enough."""
    import libcst

    return libcst.Module, libcst.SimpleStatementLine, libcst.Assign, libcst.AnnAssign, libcst.Expr


def _whole_nodes() -> tuple[type, ...]:
    """Return the types of what has no parts; white space that differs has comments."""
    import libcst

    spaces = libcst.BaseParenthesizableWhitespace, libcst.TrailingWhitespace
    return *spaces, libcst.Name, libcst.BaseString, libcst.BaseNumber


def _merge_field(base: Any, upstream: Any, fork: Any, *, merge: Merge, has_order: bool) -> Any:
    import libcst

    values = base, upstream, fork
    if all(isinstance(value, libcst.CSTNode) for value in values):
        return merge(base, upstream, fork)
    if all(isinstance(value, tuple | list) for value in values):
        return _merge_nodes(base, upstream, fork, merge=merge, has_order=has_order)
    codes = [_said(value) for value in values]
    if codes[0] == codes[1] or codes[1] == codes[2]:
        return fork
    if codes[0] == codes[2]:
        return upstream
    raise Unsure


def _merge_nodes(base: Any, upstream: Any, fork: Any, *, merge: Merge, has_order: bool) -> Any:
    codes = [[code_of(node) for node in nodes] for nodes in (base, upstream, fork)]
    if codes[0] == codes[1] or codes[1] == codes[2]:
        return fork
    if codes[0] == codes[2]:
        return upstream
    return merge_list(base, upstream, fork, merge, has_order=has_order)


def _said(value: Any) -> Any:
    import libcst

    if isinstance(value, libcst.CSTNode):
        return code_of(value)
    if isinstance(value, tuple | list):
        return [code_of(node) for node in value]
    return value
