"""Parse languages such as C, whose statements end with a semicolon or a block."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from patchmgr.engines.merge.brackets import grouped, listed
from patchmgr.engines.merge.languages import Token
from patchmgr.engines.merge.tree import Node, tree

_JOINING = frozenset({"else", "catch", "while"})


def statements_of(tokens: Sequence[Token]) -> Node:
    """Return tokens as statements; an unmatched closing bracket is a token."""
    return _statements(grouped(tokens, _held))


def _held(before: Sequence[Node], inner: Sequence[Node]) -> Node:
    is_block = before[-1].text == "{" and _is_code(inner)
    return _statements(inner) if is_block else listed(inner, before[-1].text)


def _is_code(nodes: Sequence[Node]) -> bool:
    return any(
        n.text == ";" or n.kind in ("directive", "block") for n in nodes if n.kind != "list"
    ) or not any(n.text == "," for n in nodes)


def _statements(nodes: Sequence[Node]) -> Node:
    """Split at semicolons, directives and blocks; comments lead the next statement."""
    statements: list[Node] = []
    mine: list[Node] = []

    def end() -> None:
        if mine:
            statements.append(_statement(mine))
            mine.clear()

    for n, node in enumerate(nodes):
        is_same_line = "\n" not in node.lead
        if node.kind == "comment" and is_same_line and not mine and statements:
            statements[-1] = replace(statements[-1], tail=statements[-1].tail + node.whole)
            continue
        if node.kind in ("directive", "end"):
            end()
        mine.append(node)
        if node.kind == "directive" or (node.kind == "sign" and node.text == ";"):
            end()
        elif node.text == "}" and n and nodes[n - 1].kind == "block":
            after = nodes[n + 1] if n + 1 < len(nodes) else None
            if after is None or not (
                after.text in _JOINING or after.text in ";,)=" or after.kind == "list"
            ):
                end()
    end()
    return tree("block", statements, key="{")


def _statement(nodes: Sequence[Node]) -> Node:
    first = 0
    while first < len(nodes) - 1 and nodes[first].kind == "comment":
        first += 1
    lead = "".join(n.whole for n in nodes[:first]) + nodes[first].lead
    core = [replace(nodes[first], lead=""), *nodes[first + 1 :]]
    kind, key = _what_signs(core)
    return tree(kind, core, key=key, lead=lead)


def _what_signs(nodes: Sequence[Node]) -> tuple[str, str]:
    words = [n.text for n in nodes]
    if nodes[0].kind == "end":
        return "blank", ""
    if nodes[0].kind == "directive":
        text = nodes[0].said
        return ("import", text) if "include" in text else ("directive", "")
    if words[0] in ("if", "for", "while", "switch", "do", "return", "case", "else"):
        return "compound" if words[0] != "return" else "statement", ""
    if "(" in words:
        at = words.index("(")
        has_block = any(n.kind == "block" for n in nodes)
        return ("def", f"def {words[at - 1]}") if has_block and at else ("statement", "")
    if words[0] in ("class", "struct", "enum", "namespace", "union") and len(words) > 1:
        return "class", f"class {words[1]}"
    if "=" in words[1:]:
        return "assignment", words[words.index("=") - 1]
    return "statement", ""
