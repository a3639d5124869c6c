"""Read what stands before a brace in C++ and CUDA: which scope does it open?"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.languages.cxx_tokens import Token


class ScopeKind(Enum):
    """How to read the inside of braces: as declarations of two kinds, or not at all."""

    NAMESPACE = "namespace"
    TYPE = "type"
    BODY = "body"


class Header(Struct, frozen=True):
    """The scope that a header opens: its own name where it is clear, and its first line."""

    kind: ScopeKind
    name: str | None = None
    line: int = 0


_TYPE_KEYS = frozenset({"class", "struct", "union", "enum"})
_GROUPED = frozenset(  # words whose parentheses are no parameter list
    {"__align__", "__attribute__", "__block_size__", "__cluster_dims__", "__declspec"}
    | {"__launch_bounds__", "__maxnreg__", "alignas", "decltype", "explicit", "noexcept"}
    | {"requires", "throw"}
)
_SPECIFIERS = frozenset(
    {"__device__", "__forceinline__", "__global__", "__host__", "constexpr", "explicit"}
    | {"extern", "friend", "inline", "static", "virtual"}
)
_TRAILING = frozenset({"&", "const", "final", "mutable", "noexcept", "override", "volatile"})
_NO_NAMES = (
    _GROUPED
    | {"catch", "for", "if", "return", "sizeof", "switch", "while"}
    | {"auto", "bool", "char", "double", "float", "int", "long", "short", "unsigned", "void"}
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def collapse(pending: Sequence[Token]) -> list[Token]:
    """Replace each bracketed group by one token `()`, `[]` or `{}`, template heads by none."""
    items: list[Token] = []
    open_brackets: list[str] = []
    for token in pending:
        if open_brackets:
            if token.text in _PAIRS:
                open_brackets.append(token.text)
            elif token.text in _PAIRS.values():
                open_brackets.pop()
        elif token.text in _PAIRS:
            open_brackets.append(token.text)
            items.append(Token(token.text + _PAIRS[token.text], token.line))
        else:
            items.append(token)
    return _without_templates(_without_attributes(items))


def _without_attributes(items: list[Token]) -> list[Token]:
    kept = items[:1] if items and items[0].text != "[]" else []
    for before, item in pairwise(items):
        if item.text != "[]" or before.text == "operator":
            kept.append(item)
    return kept


def _without_templates(items: list[Token]) -> list[Token]:
    kept: list[Token] = []
    index = 0
    while index < len(items):
        is_head = [i.text for i in items[index : index + 2]] == ["template", "<"]
        end = _after_angles(items, index + 1) if is_head else None
        if end is None:
            kept.append(items[index])
        index = index + 1 if end is None else end
    return kept


def _after_angles(items: list[Token], start: int) -> int | None:
    depth = 0
    for index in range(start, len(items)):
        depth += {"<": 1, ">": -1}.get(items[index].text, 0)
        if depth == 0:
            return index + 1
    return None


def is_initializer(pending: Sequence[Token]) -> bool:
    """Say whether a brace here initializes a member in a constructor's list."""
    texts = [item.text for item in collapse(pending)]
    if ":" not in texts or not _TYPE_KEYS.isdisjoint(texts):
        return False
    return "()" in texts[: texts.index(":")] and (_is_word(texts[-1]) or texts[-1] == ">")


def read_header(pending: Sequence[Token], enclosing: str | None) -> Header:
    """Return the scope that a brace after these tokens opens in a type or a namespace."""
    items = collapse(pending)
    texts = [item.text for item in items]
    if "namespace" in texts or texts[-2:] == ["extern", '""']:
        return Header(ScopeKind.NAMESPACE)
    if "template" in texts or ("=" in texts and "operator" not in texts):
        return Header(ScopeKind.BODY)
    key = next((i for i, text in enumerate(texts) if text in _TYPE_KEYS), None)
    line = _first_line(pending, items)
    if key is not None:
        words = _type_words(texts[key + 1 :])
        if "()" not in words:
            kind = ScopeKind.BODY if texts[key] == "enum" else ScopeKind.TYPE
            return Header(kind, _type_name(words), line)
    return Header(ScopeKind.BODY, _function_name(texts, enclosing), line)


def _first_line(pending: Sequence[Token], items: list[Token]) -> int:
    """Return the line where the declaration starts, behind macro calls on lines of their own."""
    first = pending[0].line
    while len(items) > 2 and _is_macro(items[0].text) and items[1].text == "()":
        if items[2].line == items[1].line:
            break
        items = items[2:]
        first = items[0].line
    return first


def _is_word(text: str) -> bool:
    return text[0].isalpha() or text[0] == "_"


def _is_macro(text: str) -> bool:
    return text.isupper() and text.isidentifier() and text not in _GROUPED


def _type_words(texts: list[str]) -> list[str]:
    """Return the words between the key and the bases, without attributes and arguments."""
    words: list[str] = []
    depth = 0
    for text in texts[: texts.index(":") if ":" in texts else None]:
        depth += {"<": 1, ">": -1}.get(text, 0)
        if text == "()" and words and words[-1] in _GROUPED:
            words.pop()
        elif not depth and text not in (">", "final", "class", "struct"):
            words.append(text)
    return words


def _type_name(words: list[str]) -> str | None:
    """Return the name of a type, with its qualifiers; None where more than macros precede it."""
    while len(words) > 1 and _is_macro(words[0]) and words[1] != "::":
        words = words[1:]
    is_name = bool(words) and all(_is_word(w) for w in words[::2])
    is_name = is_name and len(words) % 2 == 1 and all(w == "::" for w in words[1::2])
    return "".join(words) if is_name else None


def _function_name(texts: list[str], enclosing: str | None) -> str | None:
    """Return the name of a function with its qualifiers, None where it is not clear."""
    if "operator" in texts:
        return _operator_name(texts)
    texts = _declarator(texts)
    if len(texts) < 2 or texts[-1] != "()":
        return None
    start, name = _qualified(texts, len(texts) - 2)
    before = [text for text in texts[:start] if text not in _SPECIFIERS and text != '""']
    if name is None or (not before and not _is_constructor(name, enclosing)):
        return None
    is_grouped = len(before) > 1 and before[-1] == "()"
    if is_grouped and before[-2] not in _GROUPED and (not _is_macro(before[-2]) or _is_macro(name)):
        return None
    return name


def _operator_name(texts: list[str]) -> str | None:
    at = texts.index("operator")
    end = next((i for i in range(at + 2, len(texts)) if texts[i] == "()"), None)
    if end is None:
        return None
    sign = texts[at + 1 : end]
    spaced = " " if _is_word(sign[0]) else ""
    name = f"operator{spaced}{''.join(sign)}"
    if at and texts[at - 1] == "::":
        _, outer = _qualified(texts, at - 2)
        return None if outer is None else f"{outer}::{name}"
    return name


def _declarator(texts: list[str]) -> list[str]:
    """Cut what follows the parameter list."""
    first = texts.index("()") if "()" in texts else len(texts)
    for mark in (":", "->"):
        if mark in texts[first:]:
            texts = texts[: texts.index(mark, first)]
    if "requires" in texts[first:]:
        texts = texts[: texts.index("requires", first)]
    while len(texts) > 2 and _is_trailing(texts):
        texts = texts[:-2] if texts[-1] == "()" else texts[:-1]
    return texts


def _is_trailing(texts: list[str]) -> bool:
    if texts[-1] == "()":
        return texts[-2] in _GROUPED
    return texts[-1] in _TRAILING or (_is_macro(texts[-1]) and "()" in texts[:-1])


def _qualified(texts: list[str], at: int) -> tuple[int, str | None]:
    """Read a qualified name backwards from its last word: where it starts, and the name."""
    parts: list[str] = []
    while True:
        at = _before_angles(texts, at)
        if at < 0 or not _is_word(texts[at]) or texts[at] in _NO_NAMES:
            return at, None
        is_destructor = at > 0 and texts[at - 1] == "~"
        parts.insert(0, f"~{texts[at]}" if is_destructor else texts[at])
        at -= 1 if is_destructor else 0
        if at < 1 or texts[at - 1] != "::":
            return at, "::".join(parts)
        at -= 2


def _before_angles(texts: list[str], at: int) -> int:
    """Return the place of the word before template arguments that end here."""
    depth = 0
    while at >= 0:
        depth += {">": 1, "<": -1}.get(texts[at], 0)
        if depth == 0:
            return at - 1 if texts[at] == "<" else at
        at -= 1
    return at


def _is_constructor(name: str, enclosing: str | None) -> bool:
    *outer, last = name.split("::")
    owner = outer[-1] if outer else (enclosing or "").rpartition("::")[2]
    return last.removeprefix("~") == owner
