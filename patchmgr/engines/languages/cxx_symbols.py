"""Find the type and function around each line of C++ and CUDA source, without parsing it."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.engines.languages.cxx_headers import (
    Header,
    ScopeKind,
    is_initializer,
    read_header,
)
from patchmgr.engines.languages.cxx_tokens import Token, UnclearSource, tokens

LONGEST_DECLARATION = 5000  # tokens; what is longer is generated, or no code

_ACCESS = frozenset({"private", "protected", "public"})
_CLOSERS = {")": "(", "]": "[", "}": "{"}


class _Scope(Struct, frozen=True):
    kind: ScopeKind
    name: str | None
    line: int


class _State(Struct, frozen=True):
    """Where a scan is: scopes, braces open within a body, and the declaration so far."""

    scopes: tuple[_Scope, ...] = ()
    inner: int = 0
    brackets: tuple[str, ...] = ()
    pending: tuple[Token, ...] = ()

    def shape(self) -> tuple[object, ...]:
        """Return what two branches of an `#if` must have in common; namespaces are no matter."""
        named = [s.name for s in self.scopes if s.kind is not ScopeKind.NAMESPACE]
        return (*named, self.inner, self.brackets)


def cxx_symbols(content: bytes) -> tuple[str | None, ...]:
    """Return the symbol of each line: `Class::method`, without the names of namespaces.

    It is None outside of symbols and where a name is not clear. Where braces do not match, it
    is None everywhere, or from the first `#if` on that can be the reason.
    """
    text = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    return _Scan(text.count("\n") + 1).run(text)


class _Scan:
    def __init__(self, lines: int) -> None:
        self._symbols: list[str | None] = [None] * lines
        self._line = -1  # the last line that has its symbol
        self._branches: list[tuple[_State, list[_State], int]] = []
        self._doubtful: list[int] = []  # where an `#if` starts whose branches end differently
        self._scopes: tuple[_Scope, ...] = ()
        self._inner = 0
        self._brackets: list[str] = []
        self._pending: list[Token] = []
        self._namespaces: set[str] = set()

    def run(self, text: str) -> tuple[str | None, ...]:
        """Return the symbol of each line."""
        try:
            for token in tokens(text):
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
        """Give the lines up to this one the scope that holds at their start."""
        for passed in range(self._line + 1, line + 1):
            self._symbols[passed] = self._name()
        self._line = max(line, self._line)

    def _name(self) -> str | None:
        return self._scopes[-1].name if self._scopes else None

    def _take(self, token: Token) -> None:
        if token.text[0] == "#":
            self._take_directive(token)
        elif self._scopes and self._scopes[-1].kind is ScopeKind.BODY:
            self._take_in_body(token.text)
        elif self._brackets or token.text in _CLOSERS or token.text in "([{":
            self._take_bracket(token)
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
        texts = [t.text for t in self._pending[:2]]
        is_access = token.text == ":" and len(texts) == 1 and texts[0] in _ACCESS
        if token.text == ";" or is_access:
            self._pending.clear()
        else:
            self._keep(token)

    def _keep(self, token: Token) -> None:
        self._pending.append(token)
        if len(self._pending) > LONGEST_DECLARATION:
            raise UnclearSource

    def _take_bracket(self, token: Token) -> None:
        text = token.text
        if text == "{" and not self._brackets and not is_initializer(self._pending):
            self._open(token.line)
            return
        if text == "}" and not self._brackets:
            self._close()
            return
        if text in _CLOSERS:
            if not self._brackets or self._brackets.pop() != _CLOSERS[text]:
                raise UnclearSource
        elif text in "([{":
            self._brackets.append(text)
        self._keep(token)

    def _open(self, line: int) -> None:
        outer = self._name()
        header = Header(ScopeKind.BODY)
        if self._pending:
            header = read_header(self._pending, outer)
        name = outer
        if header.kind is ScopeKind.NAMESPACE:
            self._namespaces.update(t.text for t in self._pending)
        elif header.name is not None:
            own = self._without_namespaces(header.name)
            name = own if outer is None else f"{outer}::{own}"
            self._mark(header.line, line, name)
        self._scopes = (*self._scopes, _Scope(header.kind, name, line))
        self._inner = 0
        self._pending.clear()

    def _without_namespaces(self, name: str) -> str:
        first, mark, rest = name.partition("::")
        return self._without_namespaces(rest) if mark and first in self._namespaces else name

    def _mark(self, start: int, end: int, name: str) -> None:
        """Give the lines of a header to its symbol, unless two symbols share a line."""
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
