"""Find the type or function around each line of C++ and CUDA source, without a full parser.

The tokens before a brace show which scope the brace opens: a namespace, a type, or a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.languages.cxx_tokens import (
    ACCESS,
    GROUPED,
    PAIRS,
    TYPE_KEYS,
    Token,
    UnclearSource,
    tokens,
)

LONGEST_DECLARATION = 5000  # tokens; a longer one is generated, or is not code
_CLOSERS = {closer: opener for opener, closer in PAIRS.items()}
_BRACKETS = frozenset({*PAIRS, *_CLOSERS})
_SCOPE_KEYS = TYPE_KEYS | {"enum"}
_SPECIFIERS = frozenset(
    {"__device__", "__forceinline__", "__global__", "__host__", "constexpr", "explicit"}
    | {"extern", "friend", "inline", "static", "virtual"}
)
_TRAILING = frozenset({"&", "const", "final", "mutable", "noexcept", "override", "volatile"})
_NO_NAMES = (
    GROUPED
    | {"catch", "for", "if", "return", "sizeof", "switch", "while"}
    | {"auto", "bool", "char", "double", "float", "int", "long", "short", "unsigned", "void"}
)


class ScopeKind(Enum):
    """What braces enclose: the declarations of a namespace or a type, or the body of a function."""

    NAMESPACE = "namespace"
    TYPE = "type"
    BODY = "body"


class Scope(Struct, frozen=True):
    """A namespace, type or body around a line: its name, if known, and the line of its header."""

    kind: ScopeKind
    name: str | None = None
    line: int = 0


class _State(Struct, frozen=True):
    """The state of a scan: open scopes, open braces in a body, and the declaration read so far."""

    scopes: tuple[Scope, ...] = ()
    inner: int = 0
    brackets: tuple[str, ...] = ()
    pending: tuple[Token, ...] = ()

    def shape(self) -> tuple[object, ...]:
        """Return what must be the same at the ends of all branches of an `#if`.

        Namespaces may differ.
        """
        named = [s.name for s in self.scopes if s.kind is not ScopeKind.NAMESPACE]
        return (*named, self.inner, self.brackets)


def cxx_symbols(content: bytes) -> tuple[str | None, ...]:
    """Return the function or class around each line of a C++ file, such as `Class::method`.

    The item for a line is None outside of symbols, and if the name is not clear. If braces do not
    match, all items are None. If an `#if` may be the cause, only the items from its line on are.
    Namespaces are left out.
    """
    text = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    return _Scan(text.count("\n") + 1).run(text)


class _Scan:
    def __init__(self, lines: int) -> None:
        self._symbols: list[str | None] = [None] * lines
        self._line = -1  # the last line to which a symbol has been assigned
        self._branches: list[tuple[_State, list[_State], int]] = []
        self._doubtful: list[int] = []  # lines of each `#if` whose branches end differently
        self._scopes: tuple[Scope, ...] = ()
        self._inner = 0
        self._brackets: list[str] = []
        self._pending: list[Token] = []
        self._namespaces: set[str] = set()

    def run(self, text: str) -> tuple[str | None, ...]:
        try:
            for token in tokens(text, self._is_in_body):
                if token.line > self._line:
                    self._reach(token.line)
                self._take(token)
            self._reach(len(self._symbols) - 1)
            if self._scopes or self._brackets or self._branches:
                raise UnclearSource
        except UnclearSource:
            known = min((*self._doubtful, *(line for _, _, line in self._branches)), default=0)
            self._symbols[known:] = [None] * (len(self._symbols) - known)
        return tuple(self._symbols)

    def _reach(self, line: int) -> None:
        """Assign the lines up to `line` to the current scope."""
        self._symbols[self._line + 1 : line + 1] = [self._name()] * (line - self._line)
        self._line = line

    def _name(self) -> str | None:
        return self._scopes[-1].name if self._scopes else None

    def _is_in_body(self) -> bool:
        return bool(self._scopes) and self._scopes[-1].kind is ScopeKind.BODY

    def _take(self, token: Token) -> None:
        text = token.text
        if text[0] == "#":
            self._take_directive(token)
        elif self._is_in_body():
            self._take_in_body(text)
        elif text in _BRACKETS:
            self._take_bracket(token)
        elif self._brackets:
            self._keep(token)
        else:
            self._take_in_declarations(token)

    def _take_in_body(self, text: str) -> None:
        if text == "{":
            self._inner += 1
        elif text == "}":
            self._inner -= 1
            if self._inner < 0:
                self._close()

    def _take_in_declarations(self, token: Token) -> None:
        is_first = token.text == ":" and len(self._pending) == 1
        if token.text == ";" or (is_first and self._pending[0].text in ACCESS):
            self._pending.clear()
        else:
            self._keep(token)

    def _keep(self, token: Token) -> None:
        self._pending.append(token)
        if len(self._pending) > LONGEST_DECLARATION:
            raise UnclearSource

    def _take_bracket(self, token: Token) -> None:
        text = token.text
        if text == "{" and not self._brackets and not _is_initializer(self._pending):
            self._open(token.line)
            return
        if text == "}" and not self._brackets:
            self._close()
            return
        if text in PAIRS:
            self._brackets.append(text)
        elif not self._brackets or self._brackets.pop() != _CLOSERS[text]:
            raise UnclearSource
        self._keep(token)

    def _open(self, line: int) -> None:
        outer = self._name()
        header = Scope(ScopeKind.BODY)
        if self._pending:
            header = _read_header(self._pending, outer)
        name = outer
        if header.kind is ScopeKind.NAMESPACE:
            self._namespaces.update(t.text for t in self._pending)
        elif header.name is not None:
            own = self._without_namespaces(header.name)
            name = own if outer is None else f"{outer}::{own}"
            self._mark(header.line, line, name)
        self._scopes = (*self._scopes, Scope(header.kind, name, line))
        self._inner = 0
        self._pending.clear()

    def _without_namespaces(self, name: str) -> str:
        first, mark, rest = name.partition("::")
        return self._without_namespaces(rest) if mark and first in self._namespaces else name

    def _mark(self, start: int, end: int, name: str) -> None:
        """Assign the lines of a header to its symbol, unless two symbols share a line."""
        outer = self._name()
        opened = self._scopes[-1].line if self._scopes else -1
        for line in range(start, end + 1):
            is_taken = self._symbols[line] not in (outer, name)
            is_shared = is_taken or (outer is not None and line <= opened)
            self._symbols[line] = outer if is_shared else name

    def _close(self) -> None:
        if not self._scopes:
            raise UnclearSource
        self._scopes = self._scopes[:-1]
        self._inner = 0
        self._pending.clear()

    def _take_directive(self, token: Token) -> None:
        if token.text == "#if":
            self._branches.append((self._state(), [], token.line))
        elif token.text == "#else":
            start, ends, _ = self._innermost()
            ends.append(self._state())
            self._restore(start)
        elif token.text == "#endif":
            start, ends, line = self._innermost()
            self._branches.pop()
            now = self._state().shape()
            others = ends or [start]
            if any(other.shape() != now for other in others):
                self._doubtful.append(line)

    def _innermost(self) -> tuple[_State, list[_State], int]:
        if not self._branches:
            raise UnclearSource
        return self._branches[-1]

    def _state(self) -> _State:
        return _State(self._scopes, self._inner, tuple(self._brackets), tuple(self._pending))

    def _restore(self, state: _State) -> None:
        self._scopes, self._inner = state.scopes, state.inner
        self._brackets, self._pending = list(state.brackets), list(state.pending)


def _collapse(pending: Sequence[Token]) -> list[Token]:
    """Replace each bracketed group with one token (`()`, `[]`, `{}`), and drop template heads."""
    items: list[Token] = []
    open_brackets: list[str] = []
    for token in pending:
        if open_brackets:
            if token.text in PAIRS:
                open_brackets.append(token.text)
            elif token.text in PAIRS.values():
                open_brackets.pop()
        elif token.text in PAIRS:
            open_brackets.append(token.text)
            items.append(Token(token.text + PAIRS[token.text], token.line))
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
    if not any(item.text == "template" for item in items):
        return items
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


def _is_initializer(pending: Sequence[Token]) -> bool:
    """Return whether a brace initializes a member in a constructor's initializer list."""
    if not any(token.text == ":" for token in pending):
        return False  # the usual case
    texts = [item.text for item in _collapse(pending)]
    if ":" not in texts or not _SCOPE_KEYS.isdisjoint(texts):
        return False
    return "()" in texts[: texts.index(":")] and (_is_word(texts[-1]) or texts[-1] == ">")


def _read_header(pending: Sequence[Token], enclosing: str | None) -> Scope:
    """Return the scope that a brace opens after these tokens, outside of function bodies."""
    items = _collapse(pending)
    texts = [item.text for item in items]
    if "namespace" in texts or texts[-2:] == ["extern", '""']:
        return Scope(ScopeKind.NAMESPACE)
    if "template" in texts or ("=" in texts and "operator" not in texts):
        return Scope(ScopeKind.BODY)
    key = next((i for i, text in enumerate(texts) if text in _SCOPE_KEYS), None)
    line = _first_line(pending, items)
    if key is not None:
        words = _type_words(texts[key + 1 :])
        if "()" not in words:
            kind = ScopeKind.BODY if texts[key] == "enum" else ScopeKind.TYPE
            return Scope(kind, _type_name(words), line)
    return Scope(ScopeKind.BODY, _function_name(texts, enclosing), line)


def _first_line(pending: Sequence[Token], items: list[Token]) -> int:
    """Return the line where a declaration starts, after macro calls on lines of their own."""
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
    return text.isupper() and text.isidentifier() and text not in GROUPED


def _type_words(texts: list[str]) -> list[str]:
    """Return the words between `class` (or the like) and the base types, without attributes."""
    words: list[str] = []
    depth = 0
    for text in texts[: texts.index(":") if ":" in texts else None]:
        depth += {"<": 1, ">": -1}.get(text, 0)
        if text == "()" and words and words[-1] in GROUPED:
            words.pop()
        elif not depth and text not in (">", "final", "class", "struct"):
            words.append(text)
    return words


def _type_name(words: list[str]) -> str | None:
    """Return the name of a type, with its qualifiers, or None if more than macros precede it."""
    while len(words) > 1 and _is_macro(words[0]) and words[1] != "::":
        words = words[1:]
    is_name = bool(words) and all(_is_word(w) for w in words[::2])
    is_name = is_name and len(words) % 2 == 1 and all(w == "::" for w in words[1::2])
    return "".join(words) if is_name else None


def _function_name(texts: list[str], enclosing: str | None) -> str | None:
    """Return the name of a function with its qualifiers, or None if it is not clear."""
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
    if is_grouped and before[-2] not in GROUPED and (not _is_macro(before[-2]) or _is_macro(name)):
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
    """Return the tokens up to the end of the parameter list."""
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
        return texts[-2] in GROUPED
    return texts[-1] in _TRAILING or (_is_macro(texts[-1]) and "()" in texts[:-1])


def _qualified(texts: list[str], at: int) -> tuple[int, str | None]:
    """Return the start of the qualified name that ends at a token, and the name itself.

    The name is None if it is not clear.
    """
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
    """Return the position of the word before the template arguments that end at `at`."""
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
