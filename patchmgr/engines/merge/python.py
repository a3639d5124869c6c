"""Read a logical line of Python by libcst: arguments, parameters, elements, imported names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from msgspec.structs import replace

from patchmgr.engines.merge.languages import PYTHON, lex
from patchmgr.engines.merge.tree import Node, leaf, lines_of, tree, with_comments

_BEFORE = {
    "else": "if 1:\n pass\n",
    "elif": "if 1:\n pass\n",
    "except": "try:\n pass\n",
    "finally": "try:\n pass\n",
    "case": "match 1:\n ",
}
_BEHIND = {"try": " pass\nfinally:\n pass\n", "match": " case 1:\n  pass\n", "@": "def f(): pass\n"}
_PARAMETERS = ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg")


def with_parts(node: Node) -> Node:
    """Return a logical line with the parts that libcst sees, as it is where that cannot parse."""
    return _refined(node.text, node.lead) or node


@lru_cache(maxsize=256)
def _refined(text: str, lead: str) -> Node | None:
    bare = text.lstrip(" \t")
    first = bare[:1] if bare.startswith("@") else "".join(_first_word(bare))
    is_head = bare.rstrip().rpartition("\n")[2].partition("#")[0].rstrip().endswith(":")
    before = _BEFORE.get(first, "") if is_head else ""
    behind = _BEHIND.get(first, "  pass\n") if is_head or first == "@" else ""
    if not bare.endswith("\n"):
        return None
    module = _parsed(before + bare + behind)
    if module is None:
        return None
    reader = _Reader(module, before + bare + behind)
    start, end = len(before), len(before) + len(bare)
    parts = reader.parts(module, start, end)
    if parts:
        indent = text[: len(text) - len(bare)]
        parts[0] = replace(parts[0], lead=indent + parts[0].lead)
    found = tree("code", parts, key="logical", lead=lead)
    return found if found.text == text else None


def _first_word(text: str) -> str:
    end = 0
    while end < len(text) and text[end].isidentifier():
        end += 1
    return text[:end]


def _parsed(text: str) -> cst.Module | None:
    try:
        return cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError, ValueError, UnicodeError):
        return None


class _Reader:
    """The lists of a module, by where they stand in its text."""

    def __init__(self, module: cst.Module, text: str) -> None:
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self._positions = wrapper.resolve(PositionProvider)
        self._starts = [0]
        for line in lines_of(text):
            self._starts.append(self._starts[-1] + len(line))
        self._text = text

    def _span(self, node: Any) -> tuple[int, int]:
        start, end = self._positions[node].start, self._positions[node].end
        # A parameter's own position ends with its name.
        for part in (getattr(node, "annotation", None), getattr(node, "default", None)):
            if part is not None and part in self._positions:
                end = self._positions[part].end
        return (
            self._starts[start.line - 1] + start.column,
            self._starts[end.line - 1] + end.column,
        )

    def parts(self, node: Any, start: int, end: int) -> list[Node]:
        """Return tokens and lists of a stretch of the text that a node covers."""
        parts: list[Node] = []
        at = start
        for kind, items in _lists(node):
            first = self._span(items[0])[0]
            if not at <= first < end:
                continue
            before = self._tokens(at, first)
            if before[0].text == "__all__":
                kind = "set"  # names to export have no order
            listed, at = self._listed(kind, items, before.pop().lead, end)
            parts += [*before, listed]
        last = self._tokens(at, end)
        if not last[-1].lead:
            last.pop()
        return with_comments(_with_empty([*parts, *last]))

    def _tokens(self, start: int, end: int) -> list[Node]:
        tokens = lex(self._text[start:end], PYTHON)
        return [leaf(t.kind, t.text, lead=t.lead) for t in tokens]

    def _listed(self, kind: str, items: Sequence[Any], lead: str, end: int) -> tuple[Node, int]:
        """Return the list of some items, and where it ends."""
        spans = [self._span(item) for item in items]
        nodes: list[Node] = []
        for item, (first, last), after in zip(items, spans, [*spans[1:], None], strict=True):
            stop = self._behind(last, end) if after is None else after[0]
            between = self._text[last:stop]
            tail, behind = (between, "") if after is None else _cut_tail(between)
            nodes.append(
                tree("code", self.parts(item, first, last), lead=lead, tail=tail, key=_key(item))
            )
            lead = behind
        return tree("list", nodes, key=kind), stop

    def _behind(self, at: int, end: int) -> int:
        """Return the end of a comma behind the last item, and of a comment on its line."""
        rest = self._text[at:end]
        bare = rest.lstrip()
        if not bare.startswith(","):
            return at
        at += len(rest) - len(bare) + 1
        line = self._text[at:end].partition("\n")[0]
        return at + len(line) if line.lstrip().startswith("#") else at


def _with_empty(parts: list[Node]) -> list[Node]:
    """Return parts with an empty list where a bracket holds nothing."""
    done: list[Node] = []
    for part in parts:
        if part.text in (")", "]", "}") and done and done[-1].text in ("(", "[", "{"):
            done.append(tree("list", (), key=_EMPTY[part.text]))
        done.append(part)
    return done


_EMPTY = {")": "call", "]": "list", "}": "dict"}


def _cut_tail(text: str) -> tuple[str, str]:
    """Cut what is between two items into comma and comment, and the lead of the next one."""
    at = text.find(",") + 1
    line = text[at:].partition("\n")[0]
    at += len(line) if line.lstrip().startswith("#") else 0
    return text[:at], text[at:]


def _lists(node: Any) -> list[tuple[str, Sequence[Any]]]:
    """Return the outermost lists below a node, with their items, in order."""
    found: list[tuple[str, Sequence[Any]]] = []
    for child in node.children:
        kind, items = _items(child)
        if items:
            found += [*(_lists(child.func) if kind == "call" else ()), (kind, items)]
            if kind == "subscript":
                found[-1:-1] = _lists(child.value)
        else:
            found += _lists(child)
    return found


def _items(node: Any) -> tuple[str, Sequence[Any]]:
    """Return what kind of list a node is, and its items; none of what is no list."""
    if isinstance(node, cst.Call):
        return "call", node.args
    if isinstance(node, cst.List | cst.Tuple | cst.Set | cst.Dict):
        return type(node).__name__.lower(), node.elements
    if isinstance(node, cst.Parameters):
        groups = [getattr(node, name) for name in _PARAMETERS]
        return "parameters", [
            p
            for group in groups
            for p in (group if isinstance(group, tuple | list) else [group])
            if isinstance(p, cst.Param)
        ]
    if isinstance(node, cst.ImportFrom | cst.Import):
        names = node.names
        return "import", names if isinstance(names, tuple | list) else ()
    if isinstance(node, cst.Subscript):
        return "subscript", node.slice
    return "", ()


def _key(item: Any) -> str:
    """Return what tells the item from the others of its list, nothing where its place does."""
    if isinstance(item, cst.Arg):
        return f"{item.keyword.value}=" if item.keyword else ""
    if isinstance(item, cst.DictElement):
        return _code(item.key)
    if isinstance(item, cst.Param):
        return item.name.value
    if isinstance(item, cst.ImportAlias):
        return _code(item)
    return ""


def _code(node: Any) -> str:
    if isinstance(node, cst.ImportAlias):
        node = node.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return cst.Module([]).code_for_node(node).strip()
