"""Find which namespace, type or function each line of C++ and CUDA source is in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import ClassVar

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

LONGEST_DECLARATION = 5000  # tokens; after these, only brackets, `:` and `,` are kept
_CLOSERS = {closer: opener for opener, closer in PAIRS.items()}
_BRACKETS = frozenset({*PAIRS, *_CLOSERS})
ANGLES = {"<": 1, ">": -1}
_BRACES, _MARKS = frozenset("{}"), frozenset(";,:")
_SCOPE_KEYS = TYPE_KEYS | {"enum"}
SPECIFIERS = frozenset(
    {"__device__", "__forceinline__", "__global__", "__host__", "constexpr", "explicit"}
    | {"extern", "friend", "inline", "static", "virtual"}
)
BUILT_IN = frozenset(
    {"auto", "bool", "char", "const", "double", "float", "int", "long", "short", "signed", "size_t"}
    | {"unsigned", "void", "volatile", "struct", "class", "enum", "typename"}
)
NO_NAMES = (
    GROUPED
    | BUILT_IN
    | {"__device__", "__forceinline__", "__global__", "__host__", "catch", "constexpr", "default"}
    | {"delete", "do", "else", "extern", "for", "friend", "if", "inline", "mutable", "namespace"}
    | {"new", "operator", "override", "private", "protected", "public", "return", "sizeof"}
    | {"static", "static_assert", "switch", "template", "this", "typedef", "using", "virtual"}
    | {"while", "case", "co_return", "final", "goto", "union", "nullptr", "true", "false"}
)


class ScopeKind(Enum):
    """What a brace opens: a namespace, type, enumeration, initializer or function body."""

    NAMESPACE = "namespace"
    TYPE = "type"
    ENUMERATION = "enumeration"
    INITIALIZER = "initializer"
    BODY = "body"


class Function(Struct, frozen=True):
    """A function in a statement: its qualified name, and the index of its parameter list."""

    name: str
    parameters: int


class Scope(Struct, frozen=True):
    """A scope in C++ code: its kind, its symbol (None: unknown), and the line of its brace."""

    kind: ScopeKind
    name: str | None = None
    line: int = 0
    owners: tuple[str, ...] = ()  # of what the scope declares, outermost first
    rest: tuple[Token, ...] = ()  # of a declaration that goes on: `struct {} name;`
    function: Function | None = None


class Bracketed(Struct, frozen=True, gc=False):
    """A pair of brackets in a declaration, `()`, `[]` or `{}`, and the tokens between them."""

    text: str
    line: int
    inner: Sequence[Token]


Item = Token | Bracketed


class Head(Struct, frozen=True):
    """The statement before a brace or a semicolon, without template heads and attributes."""

    items: Sequence[Item]
    texts: Sequence[str]
    template: Sequence[Item] | None  # in the first template head's brackets
    line: int  # of the first token


class ScanState(Struct, frozen=True):
    """The state of a scan: open scopes, open braces in a body, and the declaration read so far."""

    scopes: tuple[Scope, ...] = ()
    inner: int = 0
    brackets: tuple[str, ...] = ()
    pending: tuple[Token, ...] = ()

    def shape(self) -> tuple[object, ...]:
        """Return what all branches of an `#if` must have in common at their ends."""
        named = [s.name for s in self.scopes if s.kind is not ScopeKind.NAMESPACE]
        return (*named, self.inner, self.brackets)


_FILE = Scope(ScopeKind.NAMESPACE)
_INITIALIZED = Token("}", 0)  # the end of an initializer; a word after it begins a declaration


class Scan:
    """One pass over the tokens of a C++ text, which tracks the scopes around the current token.

    Each branch of an `#if` starts in the state before the `#if`, and the code after the `#endif`
    starts in the state at the end of the last branch. Subclasses override the methods that do
    nothing here.
    """

    passed_over: ClassVar[frozenset[ScopeKind]]  # only braces and `#if`s matter there

    def __init__(self) -> None:
        # For each open `#if`: the state before it, those at the ends of its branches, its line.
        self.branches: list[tuple[ScanState, list[ScanState], int]] = []
        self._scopes: tuple[Scope, ...] = ()
        self._is_passed_over = False
        self._inner = 0
        self._brackets: list[str] = []
        self._pending: list[Token] = []
        self._namespaces: set[str] = set()

    def leave(self, line: int) -> None:
        """Called before the innermost scope changes; `line` is the last line of that scope."""

    def open(self, scope: Scope, statement: Head) -> None:
        """Called when a scope opens; `statement` is what comes before its brace."""

    def declare(self, pending: Sequence[Token]) -> None:
        """Called at the end of an enumerator, or of a declaration that ends with a semicolon."""

    def cut(self, pending: Sequence[Token]) -> None:
        """Called if a branch of an `#if` ends in the middle of a declaration."""

    def doubt(self, line: int, first: ScanState) -> None:
        """Called if the branches of an `#if` end in different scopes.

        `line` is that of the `#if`, and `first` is the state at the end of its first branch.
        """

    @property
    def scope(self) -> Scope:
        """The innermost scope."""
        return self._scopes[-1] if self._scopes else _FILE

    def is_passed_over(self) -> bool:
        """Return whether only braces and `#if`s matter until the innermost scope ends."""
        return self._is_passed_over

    def run(self, found: Iterable[Token]) -> None:
        """Read tokens. Raises UnclearSource if brackets or `#if`s do not match."""
        pending, brackets = self._pending, self._brackets
        for token in found:
            text = token.text
            if self._is_passed_over:
                if text in _BRACES:
                    self._inner += 1 if text == "{" else -1
                    if self._inner < 0:
                        self._close(token)
                elif text[0] == "#":
                    self._take_directive(token)
            elif text[0] == "#":
                self._take_directive(token)
            elif text in _BRACKETS:
                self._take_bracket(token)
            elif text in _MARKS and not brackets:
                self._take_mark(token)
            elif len(pending) < LONGEST_DECLARATION:
                if pending and pending[-1] is _INITIALIZED and is_word(text):
                    pending.clear()
                pending.append(token)
        is_cut = len(pending) >= LONGEST_DECLARATION  # this is not code
        if self._scopes or brackets or self.branches or is_cut:
            raise UnclearSource

    def _take_mark(self, token: Token) -> None:
        """Read a punctuation token that may end a declaration."""
        text, pending = token.text, self._pending
        if text == ";" or (text == "," and self.scope.kind is ScopeKind.ENUMERATION):
            self._end()
        elif text == ":" and pending and pending[-1].text in ACCESS:
            pending.clear()
        else:
            pending.append(token)

    def _end(self) -> None:
        if self._pending:
            self.declare(self._pending)
            self._pending.clear()

    def _take_bracket(self, token: Token) -> None:
        text = token.text
        if text == "{" and not self._brackets and self._is_scope():
            self.leave(token.line)
            statement = statement_of(self._pending)
            scope = self._opened(statement, token.line)
            self.open(scope, statement)
            self._pending.clear()
            self._enter((*self._scopes, scope))
        elif text == "}" and not self._brackets:
            self._close(token)
        else:
            if text in PAIRS:
                self._brackets.append(text)
            elif not self._brackets or self._brackets.pop() != _CLOSERS[text]:
                raise UnclearSource
            self._pending.append(token)

    def _is_scope(self) -> bool:
        """Return whether a brace opens a scope, rather than a value as in `A() : a{1} {}`."""
        if self.scope.kind is ScopeKind.ENUMERATION:
            return False
        if not any(token.text == ":" for token in self._pending):
            return True  # the usual case
        texts = statement_of(self._pending).texts
        if ":" not in texts or not _SCOPE_KEYS.isdisjoint(texts):
            return True
        return "()" not in texts[: texts.index(":")] or not (is_word(texts[-1]) or texts[-1] == ">")

    def _opened(self, statement: Head, line: int) -> Scope:
        """Return the scope that a brace opens after a statement."""
        texts, outer = statement.texts, self.scope
        if "namespace" in texts or texts[-2:] == ["extern", '""']:
            self._namespaces.update(texts)
            names = () if "inline" in texts else filter(is_name, texts)  # need not be named
            return Scope(ScopeKind.NAMESPACE, outer.name, line, (*outer.owners, *names))
        kind, owners, name, function = ScopeKind.BODY, outer.owners, None, None
        rest: tuple[Token, ...] = ()
        key = _scope_key(texts)
        words = ["()"] if key is None else _type_words(texts[key + 1 :])
        if not texts or texts[0] == "template":
            pass  # not clear
        elif "=" in texts and "operator" not in texts:
            kind = ScopeKind.INITIALIZER
        elif key is not None and "()" not in words:
            kind = ScopeKind.ENUMERATION if texts[key] == "enum" else ScopeKind.TYPE
            name = _type_name(words)
            owners = (*owners, *[*filter(is_name, words)][-1:])
            rest = (Token("{", line), Token("}", line))
            rest = (Token("typedef", line), *rest) if texts[0] == "typedef" else rest
        elif "()" not in texts:
            kind = ScopeKind.INITIALIZER
        else:
            function = function_of(texts, owners)
            name = None if function is None else function.name
        if kind is ScopeKind.INITIALIZER:
            rest = (*self._pending, Token("{", line), _INITIALIZED)
        return Scope(kind, self._full(name), line, owners, rest, function)

    def _full(self, name: str | None) -> str | None:
        """Return the symbol of a scope, given the name in its header."""
        outer = self.scope.name
        if name is None:
            return outer
        own = self._without_namespaces(name)
        return own if outer is None else f"{outer}::{own}"

    def _without_namespaces(self, name: str) -> str:
        first, mark, rest = name.partition("::")
        return self._without_namespaces(rest) if mark and first in self._namespaces else name

    def _close(self, token: Token) -> None:
        self.leave(token.line)
        if not self._scopes:
            raise UnclearSource
        if self.scope.kind is ScopeKind.ENUMERATION:
            self._end()
        self._pending[:] = self._scopes[-1].rest
        self._enter(self._scopes[:-1])

    def _enter(self, scopes: tuple[Scope, ...], inner: int = 0) -> None:
        self._scopes, self._inner = scopes, inner
        self._is_passed_over = self.scope.kind in self.passed_over

    def _take_directive(self, token: Token) -> None:
        self.leave(token.line)
        if self._brackets:
            self._pending.append(token)
        if token.text == "#if":
            self.branches.append((self._state(), [], token.line))
        elif token.text in ("#else", "#endif"):
            if not self.branches:
                raise UnclearSource
            start, ends, line = self.branches[-1]
            if token.text == "#else":
                if self._pending and not self._brackets:
                    self.cut(self._pending)
                ends.append(self._state())
                self.restore(start)
                return
            self.branches.pop()
            now = self._state().shape()
            if any(end.shape() != now for end in ends or [start]):
                self.doubt(line, ends[0] if ends else self._state())

    def _state(self) -> ScanState:
        return ScanState(self._scopes, self._inner, tuple(self._brackets), tuple(self._pending))

    def restore(self, state: ScanState) -> None:
        """Return to a saved state, but continue at the current position in the text."""
        self._enter(state.scopes, state.inner)
        self._brackets[:], self._pending[:] = state.brackets, state.pending


def cxx_symbols(content: bytes) -> tuple[str | None, ...]:
    """Return the function or class around each line of a C++ file, such as `Class::method`.

    An item is None outside of functions and classes, and where the name is unclear, for example
    because braces do not match. Namespaces are left out.
    """
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return _Symbols().read(text.replace("\r\n", "\n"))


class _Symbols(Scan):
    passed_over = frozenset({ScopeKind.ENUMERATION, ScopeKind.INITIALIZER, ScopeKind.BODY})

    def __init__(self) -> None:
        super().__init__()
        self._symbols: list[str | None] = []
        self._doubtful: list[int] = []  # lines of each `#if` whose branches end differently

    def read(self, text: str) -> tuple[str | None, ...]:
        lines = text.count("\n") + 1
        try:
            self.run(tokens(text, self.is_passed_over))
            self.leave(lines - 1)
        except UnclearSource:
            known = min((*self._doubtful, *(line for _, _, line in self.branches)), default=0)
            del self._symbols[known:]
        return (*self._symbols, *[None] * (lines - len(self._symbols)))

    def leave(self, line: int) -> None:
        self._symbols += [self.scope.name] * (line + 1 - len(self._symbols))

    def open(self, scope: Scope, statement: Head) -> None:
        """Assign the lines of a definition's head to its symbol, unless they have another one."""
        outer = self.scope
        opened = outer.line if self._scopes else -1
        for line in (
            range(_first_line(statement), scope.line + 1) if scope.name != outer.name else ()
        ):
            is_taken = self._symbols[line] not in (outer.name, scope.name)
            is_shared = is_taken or (outer.name is not None and line <= opened)
            self._symbols[line] = outer.name if is_shared else scope.name

    def doubt(self, line: int, first: ScanState) -> None:
        self._doubtful.append(line)


def statement_of(pending: Sequence[Token]) -> Head:
    """Parse the tokens of a statement into items, without template heads and attributes."""
    items, template = grouped(pending), None
    texts = [item.text for item in items]
    if "template" in texts or "[]" in texts:
        items = [item for item in items if not (item.text == "[]" and texts_in(item)[1] == "[")]
        if [item.text for item in items[:2]] == ["template", "<"] and (
            end := _angles_end(items, 1)
        ):
            template = items[2 : end - 1]
        items = _without_templates(items)
        texts = [item.text for item in items]
    return Head(items, texts, template, pending[0].line if pending else 0)


def grouped(found: Iterable[Token]) -> list[Item]:
    """Replace each pair of brackets, and the tokens between them, with one item."""
    items: list[Item] = []
    depth, inner = 0, list[Token]()
    for token in found:
        if token.text in PAIRS:
            depth += 1
            if depth == 1:
                inner = []
                items.append(Bracketed(token.text + PAIRS[token.text], token.line, inner))
                continue
        elif token.text in _CLOSERS:
            depth = max(0, depth - 1)
            if not depth:
                continue
        if depth:
            inner.append(token)
        else:
            items.append(token)
    return items


def texts_in(item: Item) -> list[str]:
    """Return the texts of all tokens of an item."""
    if isinstance(item, Bracketed):
        return [item.text[0], *(token.text for token in item.inner), item.text[1]]
    return [item.text]


def _without_templates(items: Sequence[Item]) -> list[Item]:
    kept: list[Item] = []
    index = 0
    while index < len(items):
        end = _angles_end(items, index + 1) if _is_template(items, index) else None
        if end is None:
            kept.append(items[index])
        index = index + 1 if end is None else end
    return kept


def _is_template(items: Sequence[Item], at: int) -> bool:
    return [item.text for item in items[at : at + 2]] == ["template", "<"]


def _angles_end(items: Sequence[Item], start: int) -> int | None:
    """Return the index after the `>` that closes the `<` at `start`, or None."""
    depth = 0
    for index in range(start, len(items)):
        depth += ANGLES.get(items[index].text, 0)
        if depth == 0:
            return index + 1
    return None


def _first_line(statement: Head) -> int:
    """Return the line where a declaration starts; macro calls on lines above it do not count."""
    first, items = statement.line, statement.items
    while len(items) > 2 and _is_macro(items[0].text) and items[1].text == "()":
        if items[2].line == items[1].line:
            break
        items = items[2:]
        first = items[0].line
    return first


def is_name(text: str) -> bool:
    """Return whether a token may be the name of something that is declared."""
    return (text[0].isalpha() or text[0] == "_") and text not in NO_NAMES


def is_word(text: str) -> bool:
    """Return whether a token is a name or a keyword."""
    return text[0].isalpha() or text[0] == "_"


def _is_macro(text: str) -> bool:
    return text.isupper() and text.isidentifier() and text not in GROUPED


def _scope_key(texts: Sequence[str]) -> int | None:
    """Return the position of the first `class` or similar word outside angle brackets, or None."""
    keys = (i for i, text in enumerate(texts) if text in _SCOPE_KEYS)
    return next((i for i in keys if texts[:i].count("<") <= texts[:i].count(">")), None)


def _type_words(texts: Sequence[str]) -> list[str]:
    """Return the words between `class` (or `struct` or `enum`) and the base types."""
    words: list[str] = []
    depth = 0
    for text in texts[: texts.index(":") if ":" in texts else None]:
        depth += ANGLES.get(text, 0)
        is_macro = not depth and len(words) == 1 and _is_macro(words[0])
        if text == "()" and words and (is_macro or words[-1] in GROUPED):
            words.pop()
        elif not depth and text not in (">", "final", "class", "struct"):
            words.append(text)
    return words


def _type_name(words: list[str]) -> str | None:
    """Return the qualified name of a type, or None if words other than macros precede it."""
    while len(words) > 1 and _is_macro(words[0]) and words[1] != "::":
        words = words[1:]
    is_name = bool(words) and all(is_word(w) for w in words[::2])
    is_name = is_name and len(words) % 2 == 1 and all(w == "::" for w in words[1::2])
    return "".join(words) if is_name else None


def function_of(texts: Sequence[str], owners: Sequence[str]) -> Function | None:
    """Return the function that a statement declares or defines, or None if it is not clear.

    `owners` are the namespaces and types around it, outermost first.
    """
    if "operator" in texts:
        return _operator_of(texts)
    first = texts.index("()") if "()" in texts else len(texts)
    if "=" in texts[:first]:
        return None
    marks = (":", "->", "=", "requires")
    ends = (texts.index(mark, first) for mark in marks if mark in texts[first:])
    texts = texts[: min(ends, default=len(texts))]
    names = [at for at in range(1, len(texts)) if texts[at] == "()" and _is_call(texts, at)]
    last = max((at for at in names if not _is_macro(texts[at - 1])), default=0)
    likely: Function | None = None
    for at in names:
        start, name = _qualified(texts, at - 1)
        before = [text for text in texts[:start] if text not in SPECIFIERS and text != '""']
        if name is None or not (before or _is_constructor(name, owners)):
            continue
        if _is_macro(name) and at < last:
            continue  # a macro before or after the type
        found = Function(name, at)
        if before[1:] and before[-1] == "()" and before[-2] not in GROUPED:
            is_typed_by_macro = _is_macro(before[-2]) and not _is_macro(name)
            likely = likely or (found if is_typed_by_macro else None)
            continue
        return None if texts[at + 1 : at + 2] == ["()"] else found
    return likely


def _is_call(texts: Sequence[str], at: int) -> bool:
    """Return whether the parentheses at `at` may be a parameter list.

    They are not if they belong to an attribute or a template argument.
    """
    is_even = texts.count("<") == texts.count(">")  # otherwise one is an operator
    is_within = is_even and texts[:at].count("<") > texts[:at].count(">")
    return texts[at - 1] not in GROUPED and not is_within


def _operator_of(texts: Sequence[str]) -> Function | None:
    at = texts.index("operator")
    end = next((i for i in range(at + 2, len(texts)) if texts[i] == "()"), None)
    if end is None:
        return None
    sign = texts[at + 1 : end]
    spaced = " " if is_word(sign[0]) else ""
    name = f"operator{spaced}{''.join(sign)}"
    if at and texts[at - 1] == "::":
        _, outer = _qualified(texts, at - 2)
        if outer is None:
            return None
        name = f"{outer}::{name}"
    return Function(name, end)


def _qualified(texts: Sequence[str], at: int) -> tuple[int, str | None]:
    """Return where the qualified name that ends at `at` starts, and the name (None: unclear)."""
    parts: list[str] = []
    while True:
        at = _before_angles(texts, at)
        if at < 0 or not is_word(texts[at]) or texts[at] in NO_NAMES:
            return at, None
        is_destructor = at > 0 and texts[at - 1] == "~"
        parts.insert(0, f"~{texts[at]}" if is_destructor else texts[at])
        at -= 1 if is_destructor else 0
        if at < 1 or texts[at - 1] != "::":
            return at, "::".join(parts)
        at -= 2


def _before_angles(texts: Sequence[str], at: int) -> int:
    """Return the position before the `<...>` that ends at `at`, or `at` if there is none."""
    depth = 0
    while at >= 0:
        depth += {">": 1, "<": -1}.get(texts[at], 0)
        if depth == 0:
            return at - 1 if texts[at] == "<" else at
        at -= 1
    return at


def _is_constructor(name: str, owners: Sequence[str]) -> bool:
    *outer, last = name.split("::")
    return last.removeprefix("~") in [*owners, *outer][-1:]
