"""Parse the tokens of any language into statements, by brackets, separators and lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from keyword import iskeyword

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.languages import CLOSERS, GO, PYTHON, Language, Token, tokens_of
from patchmgr.engines.merge.tree import Node, leaf, tree, with_comments

_NO_CODE = frozenset({"comment", "eol", "end"})
Held = Callable[[Sequence[Node], Sequence[Node]], Node]
"""A function that takes the nodes before and inside brackets, and joins those inside into one."""


def grouped(
    tokens: Sequence[Token], held: Held, within: tuple[int, int] | None = None,
    ends: Mapping[int, int] | None = None,
) -> list[Node]:  # fmt: skip
    """Return the tokens as nodes, with one node for each pair of brackets and its content.

    `held` makes that node. `within` is the range of tokens to return, and `ends` is what `_closers`
    returns for all tokens.
    """
    at, last = within or (0, len(tokens))
    nodes, ends = list[Node](), _closers(tokens) if ends is None else ends
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
    """Return a list node with the items in brackets; `inner` are the nodes between the brackets."""
    return listed(with_comments(inner), before[-1].text)


def items_of_python(before: Sequence[Node], inner: Sequence[Node]) -> Node:
    """Return a list node with the items in Python brackets, as `items` does for other languages."""
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


def _closers(tokens: Sequence[Token]) -> dict[int, int]:
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
    first, last = _first_code(nodes), len(nodes)
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


def read(text: str, language: Language) -> Node:
    """Parse a text into a tree of statements, or into one statement if brackets nest too deeply."""
    tokens = tokens_of(text, language) if text else ()
    try:
        if language.layout == "signs":
            ended = _with_line_ends(tokens, language) if language.continues else tokens
            return _statements(grouped(ended, partial(_held, language)), language)
        return _nested(_lines(tokens), language)
    except RecursionError:
        flat = [leaf(token.kind, token.text, lead=token.lead) for token in tokens]
        return tree("block", [tree("statement", flat)])


class _Line(Struct, frozen=True):
    """A logical line: the comments and blank lines before it, its indentation and its tokens."""

    lead: str
    indent: int
    tokens: tuple[Token, ...]


def _lines(tokens: Sequence[Token]) -> list[_Line]:
    lines: list[_Line] = []
    lead, mine = "", list[Token]()
    for token in tokens:
        is_last = token.kind in ("eol", "end")
        mine.append(token)
        if not is_last:
            continue
        code = [t for t in mine if t.kind not in _NO_CODE]
        if code or (token.kind == "end" and (lead or token.lead)):
            indent = len(mine[0].lead.expandtabs(8)) if code else 0
            lines.append(_Line(lead, indent, tuple(mine)))
            lead = ""
        else:
            lead += "".join(t.lead + t.text for t in mine)
        mine = []
    if lead:
        lines.append(_Line(lead, 0, ()))
    return lines


def _nested(lines: Sequence[_Line], language: Language) -> Node:
    """Turn lines into statements. Lines indented further are the block of the line before them."""
    if language.layout == "lines":
        return tree("block", [_simple(line, language) for line in lines])
    statements: list[Node] = []
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and (lines[end].indent > lines[at].indent and lines[end].tokens):
            end += 1
        head = _simple(lines[at], language)
        body = _nested(lines[at + 1 : end], language) if end > at + 1 else None
        _add(statements, head, body)
        at = end
    return tree("block", statements)


_CLAUSES = frozenset({"else", "elif", "except", "finally", "case", "clause"})
_BLOCKS = ("compound", "def", "class")


def _add(statements: list[Node], head: Node, body: Node | None) -> None:
    """Add a line and its block as a clause of the statement before, or as a new statement."""
    last = statements[-1] if statements else None
    parts = (*head.parts, *(() if body is None else (body,)))
    if last is not None and last.kind == "decorated":
        joined = tree(head.kind, (*last.parts, *parts), key=head.key)
        statements[-1] = replace(joined, lead=last.lead)
    elif last is not None and head.kind in _CLAUSES and last.kind in _BLOCKS:
        key = head.kind if head.kind in ("else", "finally") else head.normalized
        clause = tree("clause", parts, lead=head.lead, key=key)
        statements[-1] = tree(last.kind, (*last.parts, clause), key=last.key, lead=last.lead)
    else:
        own = (tree("clause", parts),) if head.kind == "compound" else parts
        statements.append(tree(head.kind, own, key=head.key, lead=head.lead))


_COMPOUND = frozenset({"if", "for", "while", "with", "try", "match", *_CLAUSES})


def _simple(line: _Line, language: Language) -> Node:
    nodes = with_comments(grouped(line.tokens, items_of_python if language is PYTHON else items))
    words = [t.text for t in line.tokens if t.kind not in _NO_CODE]
    kind, key = _what(words, line.tokens, language)
    if language is PYTHON and kind == "import":
        nodes = with_names(nodes)
    code = tree("code", nodes, key="logical")
    return tree(kind, (code,), key=key, lead=line.lead)


def _what(words: Sequence[str], tokens: Sequence[Token], language: Language) -> tuple[str, str]:
    """Return the kind of a statement, and a key that distinguishes it from others."""
    if not words:
        return "blank", ""
    if language is not PYTHON:
        line = "".join(t.lead + t.text for t in tokens)
        return _what_block(words, line, language) if language.opens else _what_line(words, language)
    first = words[1] if words[0] == "async" and words[1:] else words[0]
    if first in ("def", "class"):
        at = words.index(first) + 1
        return first, f"{first} {''.join(words[at : at + 1])}"
    if first in ("import", "from"):
        return "import", " ".join(
            words[: words.index("import") + 1] if first == "from" and "import" in words else words
        )
    if first == "@":
        return "decorated", ""
    if first in _COMPOUND and ":" in words:
        return (first if first in _CLAUSES else "compound"), ""
    if len(tokens) and tokens[0].kind == "string" and len(words) == 1:
        return "docstring", "docstring"
    target = _assigned(tokens)
    return ("assignment", target) if target else ("statement", "")


_CLAUSES_TO_END = frozenset({"else", "elsif", "when", "in", "rescue", "ensure", "end"})


def _what_block(words: Sequence[str], line: str, language: Language) -> tuple[str, str]:
    """Return the kind and the key of a line of a language in which `end` closes a block."""
    if words[0] in ("def", "class", "module"):
        return ("def" if words[0] == "def" else "class"), f"{words[0]} {''.join(words[1:4])}"
    if words[0] in _CLAUSES_TO_END:
        return "clause", ""
    return ("compound" if language.opened_by(line) else "line"), ""


def _assigned(tokens: Sequence[Token]) -> str:
    """Return the target of an assignment, or "" if the statement is not an assignment."""
    target = ""
    for n, token in enumerate(tokens):
        if (
            token.kind == "sign"
            and token.depth == 0
            and (
                token.text in ("=", ":")
                or (token.text.endswith("=") and token.text not in ("==", "!=", "<=", ">="))
            )
        ):
            return target if n else ""
        if token.kind in _NO_CODE or (token.kind == "sign" and token.text not in ".,[]()*"):
            return ""
        target += token.text
    return ""


_KEYED_LINE = re.compile(r"\s*(?:-\s+)?([\w.\-/\"'\[\]]+)\s*[:=]")  # `key: value` or `key = value`


def _what_line(words: Sequence[str], language: Language) -> tuple[str, str]:
    text = "".join(words)
    found = _KEYED_LINE.match(text) if language.family in ("yaml", "toml", "shell") else None
    if found is not None:
        return "entry", found[1]
    if language.family == "text":
        name = re.match(r"([A-Za-z][\w.\-]*)(?=[<>=!~@;\[]|$)", text)
        return ("entry", re.sub(r"[-_.]+", "-", name[1].lower())) if name else ("line", "")
    return "line", ""


# ---- languages such as C, whose statements end with a semicolon or a block, or with a line

_JOINING = frozenset({"else", "catch", "while"})
_HEADS = frozenset({"if", "for", "switch"})
_GROUPS = frozenset({"const", "import", "type", "var"})
_LAST = frozenset({")", "]", "}", "++", "--"})


def _with_line_ends(tokens: Sequence[Token], language: Language) -> list[Token]:
    """Put an empty token after each statement that ends at the end of its line."""
    continues = re.compile(language.continues)
    found: list[Token] = []
    at, is_behind = 0, False  # the index after code that may end a statement; is its line over?
    for token in tokens:
        is_behind |= "\n" in token.lead
        if token.kind != "comment":
            if at and is_behind and not continues.match(token.text):
                found.insert(at, Token("eol", "", "", token.depth))
            may_end = token.kind in ("word", "string") or token.text in _LAST
            at, is_behind = len(found) + 1 if may_end else 0, False
        found.append(token)
    return found


def _held(language: Language, before: Sequence[Node], inner: Sequence[Node]) -> Node:
    """Return the content of brackets as a node: a block of statements, or a list of items."""
    code = [node for node in inner if node.kind != "eol"]
    is_block = before[-1].text == "{" and _is_code(code)
    if len(code) < len(inner):
        is_group = before[-1].text == "(" and before[-2:-1] and before[-2].text in _GROUPS
        is_block = is_group or (before[-1].text == "{" and not _has_comma_at_line_end(code))
    return _statements(inner, language) if is_block else listed(code, before[-1].text)


def _has_comma_at_line_end(nodes: Sequence[Node]) -> bool:
    code = [node for node in nodes if node.kind != "comment"]
    return code[-1].text == "," or any(
        one.text == "," and "\n" in after.lead for one, after in pairwise(code)
    )


def _is_code(nodes: Sequence[Node]) -> bool:
    return any(
        n.text == ";" or n.kind in ("directive", "block") for n in nodes if n.kind != "list"
    ) or not any(n.text == "," for n in nodes)


def _statements(nodes: Sequence[Node], language: Language) -> Node:
    """Group `nodes` into a block of statements; a comment belongs to the statement after it."""
    statements: list[Node] = []
    mine: list[Node] = []

    def end() -> None:
        if mine:
            statements.append(_statement(mine, language))
            mine.clear()

    for n, node in enumerate(nodes):
        is_same_line = "\n" not in node.lead
        if node.kind == "comment" and is_same_line and not mine and statements:
            statements[-1] = replace(statements[-1], tail=statements[-1].tail + node.whole)
            continue
        if node.kind in ("directive", "end") or (node.kind == "eol" and not _is_annotation(mine)):
            end()
        if node.kind == "eol":
            continue
        mine.append(node)
        if _ends(mine, nodes[n + 1] if n + 1 < len(nodes) else None, language):
            end()
    end()
    return tree("block", statements, key="{")


def _is_annotation(nodes: Sequence[Node]) -> bool:
    """Return whether these nodes are annotations of what follows, as in `@Test` or `@A(b) @C`."""
    return [n.text for n in nodes[:1]] == ["@"] and all(
        node.text in "@.:()" or node.kind == "list" or before.text in "@.:"
        for before, node in pairwise(nodes)
    )


def _ends(nodes: Sequence[Node], after: Node | None, language: Language) -> bool:
    """Return whether a statement ends with these nodes, given the node that follows them."""
    last, by_lines = nodes[-1], bool(language.continues)
    if by_lines and last.text == ";" and len(nodes) == 1:
        return False  # a single `;` keeps a bracket from continuing the line before
    if last.text == ";":  # not in a head without parentheses: Go's `if v := f(); v > 0 {`
        at = max((n for n, node in enumerate(nodes) if node.text in _HEADS), default=-1)
        is_head = at >= 0 and nodes[at + 1].text != "("
        is_open = is_head and all(node.kind != "block" for node in nodes[at:])
        return not is_open or after is None or "\n" in after.lead
    if last.text == "}" and nodes[-2:-1] and nodes[-2].kind == "block" and not by_lines:
        return after is None or not (
            after.text in _JOINING or after.text in ";,)=" or after.kind == "list"
        )
    if by_lines and last.text == "{":  # the end of the block is not in the text
        return after is None or after.kind not in ("block", "list")
    return last.kind == "directive"


def _first_code(nodes: Sequence[Node]) -> int:
    """Return the index of the first node that is not a comment, or of the last node if all are."""
    return next((n for n, node in enumerate(nodes) if node.kind != "comment"), len(nodes) - 1)


def _statement(nodes: Sequence[Node], language: Language) -> Node:
    first = _first_code(nodes)
    lead = "".join(n.whole for n in nodes[:first]) + nodes[first].lead
    core = [replace(nodes[first], lead=""), *nodes[first + 1 :]]
    kind, key = _what_signs(core, language)
    return tree(kind, core, key=key, lead=lead)


def _what_signs(nodes: Sequence[Node], language: Language) -> tuple[str, str]:
    words, kinds = [n.text for n in nodes], [n.kind for n in nodes]
    if nodes[0].kind == "end":
        return "blank", ""
    if _is_annotation(nodes) or words == ["}"]:
        return "fragment", ""
    if nodes[0].kind == "directive":
        text = nodes[0].normalized
        return ("import", text) if "include" in text else ("directive", "")
    if words[0] in ("if", "for", "while", "switch", "do", "return", "case", "else"):
        return "compound" if words[0] != "return" else "statement", ""
    if words[0] == "type" and kinds[1:2] == ["word"]:
        return "class", f"class {words[1]}"
    if "(" in words:
        name = _defined(nodes, words) if "block" in kinds else ""
        is_named = bool(name) and name not in _GROUPS
        return ("def", f"def {name}") if is_named else ("compound" if name else "statement", name)
    if words[0] in ("class", "struct", "enum", "namespace", "union") and len(words) > 1:
        return "class", f"class {words[1]}"
    at = next((n for n, word in enumerate(words) if n and word in ("=", ":=")), 0)
    if at or (language is GO and _is_declared(kinds, words)):
        return "assignment", _target(nodes, at) if at else words[words[0] in _GROUPS]
    return "statement", ""


_CONTROL = frozenset({"(", "=", ":=", "catch", "for", "func", "function", "if", "switch", "while"})


def _defined(nodes: Sequence[Node], words: Sequence[str]) -> str:
    """Return the name that a statement with a block defines, such as `Type.method` in Go, or ""."""
    at = words.index("(")
    if words[0] != "func":
        return words[at - 1] if at and words[at - 1] not in _CONTROL else ""
    if at > 1:
        return words[1]
    receiver = re.findall(r"\w+", nodes[2].normalized.partition("[")[0])[-1:]
    return ".".join([*receiver, words[4]]) if words[5:6] == ["("] else ""


def _target(nodes: Sequence[Node], at: int) -> str:
    """Return the name before an assignment operator, such as `x` or `a.b`, or ""."""
    start = at - 1
    while start > 1 and nodes[start - 1].text in (".", "->", "::"):
        start -= 2
    return "".join(n.text for n in nodes[start:at]) if nodes[at - 1].kind == "word" else ""


def _is_declared(kinds: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a Go statement declares a field, a variable or the alias of an import."""
    at = 1 + (words[0] in _GROUPS)
    is_jump = words[0] in ("break", "continue", "goto", "package")
    is_name = kinds[at - 1 : at] == ["word"] and not is_jump
    return is_name and (
        kinds[at : at + 1] in (["word"], ["string"]) or words[at : at + 1] in (["*"], ["["])
    )


def has_layout_of(text: str, old: str, new: str, edited: str) -> bool:
    """Return whether a Python text has the code of `edited` and the layout of `new`, not of `old`.

    `old` and `new` differ only in layout: in the white space in strings, and in an indentation that
    all lines have.
    """
    before, after = code_of(old), code_of(new)
    pairs = zip(*([t for _, line in x[1] for t in line] for x in (before, after)), strict=False)
    changed = {t: other for t, other in pairs if t != other and t[-1] == '"'}
    merged, code = code_of(text), code_of(edited, changed)
    is_same = code_of(old, changed)[1] == after[1] and code[1] == merged[1]
    return is_same and merged[0] - code[0] == after[0] - before[0]


def code_of(
    text: str, strings: Mapping[str, str] | None = None
) -> tuple[int, list[tuple[int, list[str]]]]:
    """Return the least indentation of a Python text, and its lines as (level, tokens).

    The level of a line is the number of smaller indentations in the text. Single quotes become
    double ones, and each string that is a key of `strings` becomes the value.
    """
    known = strings or {}
    lines = [
        (line.indent, [t.text.replace("'", '"') for t in line.tokens if t.kind not in _NO_CODE])
        for line in _lines(tokens_of(text, PYTHON))
    ]
    columns = sorted({column for column, tokens in lines if tokens})
    code = [
        (columns.index(column), [known.get(token, token) for token in tokens])
        for column, tokens in lines
        if tokens
    ]
    return min(columns, default=0), code
