"""A lossless syntax tree: the texts of a node's parts, joined, are the text of the node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

_WORD = re.compile(r"\w+|[^\w\s]")
SEQUENCES = frozenset({"block", "clauses", "code", "list", "lines", "tokens"})
"""The kinds of nodes to which parts can be added and from which parts can be removed."""


class Node(Struct, frozen=True, eq=False):
    """A piece of a text: its kind, a key that distinguishes it from its siblings, its exact source.

    `lead` is the white space and the comments before it, `tail` the separator after it with the
    comment on the same line. `text` is the rest, and equals the joined parts. `said` is its content
    without layout.
    """

    kind: str
    text: str
    said: str
    parts: tuple[Node, ...] = ()
    key: str = ""
    lead: str = ""
    tail: str = ""

    @property
    def whole(self) -> str:
        """Return the exact source of the node, including its lead and its tail."""
        return self.lead + self.text + self.tail


def leaf(kind: str, text: str, *, lead: str = "", tail: str = "", key: str = "") -> Node:
    """Make a node without parts."""
    return Node(kind, text, said_of(text), (), key, lead, tail)


def tree(
    kind: str, parts: Sequence[Node], *, key: str = "", lead: str = "", tail: str = ""
) -> Node:
    """Make a node with these parts."""
    between = " , " if kind == "list" else " "
    said = between.join(filter(None, (_said_whole(part) for part in parts)))
    if kind == "block":
        said = f"\x02 {said} \x03"  # what is within and what is behind is not the same
    return Node(kind, "".join(part.whole for part in parts), said, tuple(parts), key, lead, tail)


def _said_whole(part: Node) -> str:
    """Return the content of a part, including the comments around it."""
    words = [part.said]
    if part.lead and not part.lead.isspace():
        words.insert(0, said_of(part.lead))
    if len(part.tail) > 1:
        words.append(said_of(part.tail.lstrip(", \t")))
    return " ".join(filter(None, words))


def with_comments(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes, with comments at the end of a line moved to the previous node's tail."""
    done: list[Node] = []
    for node in nodes:
        if node.kind == "comment" and done and "\n" not in node.lead:
            done[-1] = replace(done[-1], tail=done[-1].tail + node.whole)
        else:
            done.append(node)
    return done


@lru_cache(maxsize=1 << 15)
def said_of(text: str) -> str:
    """Return the words and signs of a text, without layout and with double quotes only."""
    return " ".join(_WORD.findall(text.replace("'", '"')))


@lru_cache(maxsize=1 << 12)
def words_of(said: str) -> tuple[str, ...]:
    """Return the words and signs of a text that `said_of` returned."""
    return tuple(said.split())


@lru_cache(maxsize=1 << 13)
def _counted(said: str) -> Counter[str]:
    return Counter(words_of(said))


def likeness(one: str, other: str) -> float:
    """Return the share of words and signs that two contents have in common, from 0 to 1."""
    if one == other:
        return 1.0
    a, b = _counted(one), _counted(other)
    size = a.total() + b.total()
    return 2 * (a & b).total() / size if size else 1.0


def lines_of(text: str) -> tuple[str, ...]:
    """Split a text at its line feeds only, and keep them."""
    lines = text.split("\n")
    last = lines.pop()
    return (*(f"{line}\n" for line in lines), *((last,) if last else ()))


@lru_cache(maxsize=256)
def lines_node(text: str) -> Node:
    """Return a text as a node with one part per line."""
    return tree("lines", [leaf("line", line) for line in lines_of(text)])
