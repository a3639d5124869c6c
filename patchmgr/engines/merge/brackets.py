"""Parse the contents of brackets, such as arguments, into lists of items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword

from msgspec.structs import replace

from patchmgr.engines.merge.languages import CLOSERS, Token
from patchmgr.engines.merge.tree import Node, leaf, tree, with_comments

Held = Callable[[Sequence[Node], Sequence[Node]], Node]
"""A function that takes the nodes before and inside brackets, and makes a node of the latter."""


def grouped(
    tokens: Sequence[Token], held: Held, within: tuple[int, int] | None = None,
    ends: Mapping[int, int] | None = None,
) -> list[Node]:  # fmt: skip
    """Return the tokens as nodes, with the content of each pair of brackets as one node.

    `within` is the range of tokens to return, and `ends` is what `_ends` returns for all tokens.
    """
    at, last = within or (0, len(tokens))
    nodes, ends = list[Node](), _ends(tokens) if ends is None else ends
    while at < last:
        token = tokens[at]
        nodes.append(leaf(token.kind, token.text, lead=token.lead))
        end = ends.get(at)
        at += 1
        if end is not None:
            nodes.append(held(nodes, grouped(tokens, held, (at, end), ends)))
            at = end
    return nodes


def items(before: Sequence[Node], inner: Sequence[Node]) -> Node:
    """Return the content of brackets as a list of items."""
    return listed(with_comments(inner), before[-1].text)


def items_of_python(before: Sequence[Node], inner: Sequence[Node]) -> Node:
    """Return the content of brackets in Python code as a list of items."""
    inner = with_comments(inner)
    return listed(inner, _bracket(before, inner))


def _bracket(before: Sequence[Node], inner: Sequence[Node]) -> str:
    """Return the kind of a Python bracket, which decides whether the order of its items matters."""
    sign, last = before[-1].text, before[-2] if before[1:] else before[-1]
    if sign == "{":
        return "dict" if any(node.text in (":", "**") for node in inner) else "set"
    if before[0].text == "__all__":
        return "set"  # names to export have no order
    has_owner = last.text in (")", "]") or last.kind in ("word", "string")
    if last.text == "import":
        return "import"
    if not has_owner or iskeyword(last.text):
        return "tuple" if sign == "(" else "list"
    if sign == "[":
        return "subscript"
    return "parameters" if before[-3:-2] and before[-3].text == "def" else "call"


def with_names(nodes: Sequence[Node]) -> list[Node]:
    """Return the syntax nodes of an import, with all imported names in one list node."""
    start = next((n for n, node in enumerate(nodes, 1) if node.text == "import"), len(nodes))
    end = next((n for n, node in enumerate(nodes) if node.kind in ("eol", "end")), start)
    if start >= end or nodes[start].text == "(":
        return list(nodes)
    names = listed([*nodes[start : end - 1], replace(nodes[end - 1], tail="")], "import")
    return [*nodes[:start], replace(names, tail=nodes[end - 1].tail), *nodes[end:]]


def _ends(tokens: Sequence[Token]) -> dict[int, int]:
    """Map each opening bracket to its closing bracket, by index; unclosed ones are left out."""
    found, opened = dict[int, int](), list[int]()
    for n, token in enumerate(tokens):
        if token.kind == "sign" and token.text in CLOSERS:
            opened.append(n)
        elif token.kind == "sign" and token.text in ")]}" and opened:
            found[opened.pop()] = n
    return found


def listed(nodes: Sequence[Node], bracket: str) -> Node:
    """Return a list node of the items between the commas; each item includes the comma after it."""
    items: list[Node] = []
    mine: list[Node] = []
    for node in nodes:
        if node.kind == "sign" and node.text == "," and mine:
            items.append(_item(mine, node.whole, bracket))
            mine = []
            continue
        mine.append(node)
    if mine:
        items.append(_item(mine, "", bracket))
    return tree("list", items, key=bracket)


def _item(nodes: Sequence[Node], tail: str, bracket: str) -> Node:
    """Make an item. Comments before it go into its lead, and comments after it into its tail."""
    first = 0
    while first < len(nodes) - 1 and nodes[first].kind == "comment":
        first += 1
    last = len(nodes)
    while last > first + 1 and nodes[last - 1].kind == "comment":
        last -= 1
    lead = "".join(n.whole for n in nodes[:first]) + nodes[first].lead
    core = [replace(nodes[first], lead=""), *nodes[first + 1 : last]]
    tail = core[-1].tail + "".join(n.whole for n in nodes[last:]) + tail
    core[-1] = replace(core[-1], tail="")
    return tree("code", core, lead=lead, tail=tail, key=_item_key(core, bracket))


def _item_key(nodes: Sequence[Node], bracket: str) -> str:
    """Return the keyword, name or key that tells an item apart from the others, or ""."""
    if bracket in ("list", "tuple", "set", "subscript"):
        return ""
    if bracket == "import":
        return " ".join(node.text for node in nodes)
    if bracket == "dict":
        at = next((n for n, node in enumerate(nodes) if node.text == ":"), 0)
        return "".join(node.text for node in nodes[:at])
    if bracket == "parameters":
        return next((node.text for node in nodes if node.kind == "word"), "")
    if bracket == "call":
        return f"{nodes[0].text}=" if nodes[1:] and nodes[1].text == "=" else ""
    words = [node.text for node in nodes[:3] if node.kind in ("word", "string", "sign", "list")]
    if len(words) > 1 and words[1] in ("=", ":"):
        return words[0]
    if len(words) == 1 or words[:1] in (["*"], ["**"]):
        return "".join(words)
    return ""
