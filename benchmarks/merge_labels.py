"""What a person wrote in the place of a conflict, and how near a candidate comes to it."""

from __future__ import annotations

import ast
import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby
from typing import Any

from msgspec import Struct

from patchmgr.engines.text.differences import matched_lines

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_TOKEN = re.compile(r"\w+|\S")
_CLOSING = {")", "]", "}"}
_NOT_CODE = {"ctx", "type_comment", "type_ignores", "kind"}


class Code(Enum):
    """How a merged region, or file, relates to the person's; the order is from best to worst."""

    EXACT = "x"
    WHITE_SPACE = "w"
    TREE = "a"  # the same Python tree
    ORDER = "o"  # the same but for an order that has no meaning
    REGIONS = "r"  # the same in each region; the person also edited elsewhere
    EQUAL = "e"  # of a region alone: the same but for layout or such an order
    PERMUTED = "p"  # the same lines or tokens in another order
    SIDE = "s"  # the person dropped one side; this keeps what both added
    DIFFERENT = "d"
    BROKEN = "b"  # does not parse, though both sides do

    @property
    def is_persons(self) -> bool:
        """Say whether it is the person's text, as far as its meaning goes."""
        return self in _PERSONS

    @property
    def is_right(self) -> bool:
        """Say whether a person has at most an order to change, or something to drop."""
        return self not in (Code.DIFFERENT, Code.BROKEN)


_PERSONS = {Code.EXACT, Code.WHITE_SPACE, Code.TREE, Code.ORDER, Code.REGIONS, Code.EQUAL}


class Sides(Struct, frozen=True):
    """What the three sides have in the place of a region."""

    base: str
    ours: str
    theirs: str


class Frame:
    """The clean lines around the regions of a merge, and where the regions are in them."""

    def __init__(self, clean: Iterable[str]) -> None:
        """Take the clean texts before, between and after the regions: one more than regions."""
        texts = list(clean)
        if any(text and not text.endswith("\n") for text in texts[:-1]):
            raise ValueError("a region does not begin at a line's start")
        lines = [_encoded(text) for text in texts]
        self._lines = [line for some in lines for line in some]
        sizes = [len(some) for some in lines]
        self._places = [sum(sizes[: n + 1]) for n in range(len(sizes) - 1)]

    def regions(self, text: str) -> tuple[str, ...]:
        """Return what a text has in the place of each region."""
        lines = _LINE.findall(text)
        matched = matched_lines(self._lines, [_bytes(line) for line in lines])
        before = [i for i, _ in matched]
        found = []
        for place in self._places:
            at = bisect_left(before, place)
            start = matched[at - 1][1] + 1 if at else 0
            end = matched[at][1] if at < len(matched) else len(lines)
            found.append("".join(lines[start:end]))
        return tuple(found)

    def sides(self, base: str, ours: str, theirs: str) -> tuple[Sides, ...]:
        """Return what the sides have in the place of each region."""
        texts = (self.regions(side) for side in (base, ours, theirs))
        return tuple(Sides(*three) for three in zip(*texts, strict=True))


def region_code(sides: Sides, person: str, text: str, *, is_python: bool) -> Code:
    """Return how a candidate for a region relates to the person's."""
    if is_same(person, text, is_python=is_python):
        return Code.EQUAL
    if is_permuted(person, text):
        return Code.PERMUTED
    return Code.SIDE if keeps_both(sides, person, text) else Code.DIFFERENT


def file_code(frame: Frame, three: Sides, expected: str, merged: str, *, is_python: bool) -> Code:
    """Return how a merged file relates to the person's; `three` are the whole texts."""
    if merged == expected:
        return Code.EXACT
    made = parsed(merged) if is_python else None
    if is_python and made is None and None not in (parsed(three.ours), parsed(three.theirs)):
        return Code.BROKEN
    is_spaced = _squeezed(merged) == _squeezed(expected)
    if not is_python and is_spaced:
        return Code.WHITE_SPACE
    wanted = parsed(expected) if made is not None else None
    if made is not None and wanted is not None:
        if ast.dump(made) == ast.dump(wanted):
            return Code.WHITE_SPACE if is_spaced else Code.TREE
        if ordered(made) == ordered(wanted):
            return Code.ORDER
    return _by_regions(frame, three, expected, merged, is_python=is_python)


def _by_regions(frame: Frame, three: Sides, expected: str, merged: str, *, is_python: bool) -> Code:
    rows = zip(
        frame.sides(three.base, three.ours, three.theirs),
        frame.regions(expected),
        frame.regions(merged),
        strict=True,
    )
    codes = {region_code(*row, is_python=is_python) for row in rows}
    worst = max(codes, key=list(Code).index, default=Code.DIFFERENT)
    if worst is Code.EQUAL:
        return Code.REGIONS
    if worst is Code.DIFFERENT and is_permuted(expected, merged):
        return Code.PERMUTED
    return worst


def is_same(one: str, other: str, *, is_python: bool) -> bool:
    """Say whether two texts are equal but for layout, and in Python an order without meaning."""
    if one == other:
        return True
    if is_python:
        trees = [parsed(textwrap.dedent(text)) for text in (one, other)]
        if all(tree is not None and tree.body for tree in trees):
            return _indent(one) == _indent(other) and ordered(trees[0]) == ordered(trees[1])
    return tokens(one) == tokens(other)


def is_permuted(one: str, other: str) -> bool:
    """Say whether two texts are the same lines, or the same tokens, in another order."""
    same_lines = _sorted_lines(one) == _sorted_lines(other)
    return same_lines or sorted(tokens(one)) == sorted(tokens(other))


def keeps_both(sides: Sides, person: str, text: str) -> bool:
    """Say whether the person kept exactly one side, and a text has all that either one added."""
    base, ours, theirs = (tokens(side) for side in (sides.base, sides.ours, sides.theirs))
    if tokens(person) not in (ours, theirs):
        return False
    return {*ours, *theirs} - set(base) <= set(tokens(text))


def tokens(text: str) -> list[str]:
    """Return the tokens without layout, line continuations, last commas and the kind of quote."""
    found = ['"' if token == "'" else token for token in _TOKEN.findall(text) if token != "\\"]
    after = (*found[1:], "")
    rows = zip(found, after, strict=False)
    return [token for token, then in rows if token != "," or then not in _CLOSING]


def parsed(text: str) -> ast.Module | None:
    """Return the Python tree of a text, None where it is none."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def ordered(node: Any) -> Any:
    """Return a Python tree as nested tuples, blind to orders that have no meaning.

    These are of imports and of definitions beside each other, of dictionary keys, set members,
    keyword arguments, and of the names in `__all__`.
    """
    if isinstance(node, list):
        return tuple(_body(node)) if node and isinstance(node[0], ast.stmt) else _each(node)
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        pairs = zip(_each(node.keys), _each(node.values), strict=True)
        return ("Dict", *sorted(pairs, key=repr))
    if isinstance(node, ast.Set) or _names_of_all(node) is not None:
        members = node.elts if isinstance(node, ast.Set) else _names_of_all(node) or []
        return (type(node).__name__, *sorted(_each(members), key=repr))
    return (type(node).__name__, *_fields(node))


def _each(nodes: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(ordered, nodes))


def _fields(node: ast.AST) -> Iterator[Any]:
    for name, value in ast.iter_fields(node):
        if name not in _NOT_CODE:
            read = ordered(value)
            is_keyed = isinstance(node, ast.Call) and all(key.arg for key in node.keywords)
            yield tuple(sorted(read, key=repr)) if name == "keywords" and is_keyed else read


def _names_of_all(node: ast.AST) -> list[ast.expr] | None:
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.List | ast.Tuple):
        return None
    name = node.targets[0]
    return node.value.elts if isinstance(name, ast.Name) and name.id == "__all__" else None


def _kind(node: ast.stmt) -> str:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return "import"
    is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return "definition" if is_definition else ""


def _body(nodes: Sequence[ast.stmt]) -> Iterator[Any]:
    for kind, run in groupby(nodes, _kind):
        if not kind:
            yield from map(ordered, run)
        elif kind == "import":
            yield kind, tuple(sorted((name for node in run for name in _imported(node)), key=repr))
        else:
            yield kind, tuple(sorted(map(ordered, run), key=repr))


def _imported(node: ast.stmt) -> Iterator[tuple[object, ...]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        where = (getattr(node, "module", None), getattr(node, "level", 0))
        yield from ((*where, alias.name, alias.asname) for alias in node.names)


def _indent(text: str) -> int:
    lines = (line for line in text.split("\n") if line.strip())
    return next((len(line) - len(line.lstrip()) for line in lines), 0)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _sorted_lines(text: str) -> list[str]:
    return sorted(filter(None, (_squeezed(line).rstrip(",") for line in text.split("\n"))))


def _encoded(text: str) -> list[bytes]:
    return [_bytes(line) for line in _LINE.findall(text)]


def _bytes(line: str) -> bytes:
    return line.encode("utf-8", "surrogateescape")
