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
    """A syntax node: its kind, its exact text, and a key that tells it apart from its siblings."""

    kind: str
    text: str  # without `lead` and `tail`; equals the joined parts
    normalized: str  # words and punctuation, as `normalized` returns them
    parts: tuple[Node, ...] = ()
    key: str = ""
    lead: str = ""  # white space and comments before it
    tail: str = ""  # the separator after it, and the comment on its line

    @property
    def whole(self) -> str:
        """Return the exact text of the syntax node, with its lead and its tail."""
        return self.lead + self.text + self.tail


def leaf(kind: str, text: str, *, lead: str = "", tail: str = "", key: str = "") -> Node:
    """Return a new syntax node that has a text and no parts."""
    return Node(kind, text, normalized(text), (), key, lead, tail)


def tree(
    kind: str, parts: Sequence[Node], *, key: str = "", lead: str = "", tail: str = ""
) -> Node:
    """Return a new syntax node with the given parts."""
    between = " , " if kind == "list" else " "
    text = between.join(filter(None, (_normalized_whole(part) for part in parts)))
    if kind == "block":
        text = f"\x02 {text} \x03"  # a statement inside the block differs from one after it
    return Node(kind, "".join(part.whole for part in parts), text, tuple(parts), key, lead, tail)


def _normalized_whole(part: Node) -> str:
    """Return the normalized text of a part, with the comments before and after it."""
    words = [part.normalized]
    if part.lead and not part.lead.isspace():
        words.insert(0, normalized(part.lead))
    if len(part.tail) > 1:
        words.append(normalized(part.tail.lstrip(", \t")))
    return " ".join(filter(None, words))


def with_comments(nodes: Iterable[Node]) -> list[Node]:
    """Return syntax nodes, with each comment at the end of a line added to the node before it."""
    done: list[Node] = []
    for node in nodes:
        if node.kind == "comment" and done and "\n" not in node.lead:
            done[-1] = replace(done[-1], tail=done[-1].tail + node.whole)
        else:
            done.append(node)
    return done


@lru_cache(maxsize=1 << 15)
def normalized(text: str) -> str:
    """Return the words and punctuation of a text, separated by spaces; `'` becomes `"`."""
    return " ".join(_WORD.findall(text.replace("'", '"')))


@lru_cache(maxsize=1 << 12)
def words_of(text: str) -> tuple[str, ...]:
    """Split a normalized text into its words and punctuation."""
    return tuple(text.split())


@lru_cache(maxsize=1 << 13)
def _counted(text: str) -> Counter[str]:
    return Counter(words_of(text))


def likeness(one: str, other: str) -> float:
    """Return the share of words and punctuation that two texts have in common, from 0 to 1."""
    if one == other:
        return 1.0
    a, b = _counted(one), _counted(other)
    size = a.total() + b.total()
    return 2 * (a & b).total() / size if size else 1.0


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a text with their line ends. Only line feeds end a line."""
    lines = text.split("\n")
    last = lines.pop()
    return (*(f"{line}\n" for line in lines), *((last,) if last else ()))


@lru_cache(maxsize=256)
def lines_node(text: str) -> Node:
    """Return a text as a syntax node with one part for each line."""
    return tree("lines", [leaf("line", line) for line in lines_of(text)])
