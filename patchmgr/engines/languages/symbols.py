"""Name the symbol that encloses a line of source code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from patchmgr.engines.languages.brace_symbols import GO, RUST
from patchmgr.engines.languages.cxx_symbols import cxx_symbols
from patchmgr.engines.languages.names import language
from patchmgr.engines.languages.python_symbols import python_symbols

Scanner = Callable[[bytes], Sequence[str | None]]

_SCANNERS: dict[str, Scanner] = {
    "C": cxx_symbols,
    "C++": cxx_symbols,
    "C++ header": cxx_symbols,
    "CUDA": cxx_symbols,
    "Go": GO.symbols,
    "HIP": cxx_symbols,
    "Python": python_symbols,
    "Rust": RUST.symbols,
}


class SymbolIndex:
    """The enclosing symbol of each line of one content, found on the first question."""

    def __init__(self, path: str, content: bytes) -> None:
        self._scan = _SCANNERS.get(language(path, content))
        self._content = content
        self._symbols: Sequence[str | None] | None = None
        self._names: frozenset[str] | None = None

    def at(self, line: int) -> str | None:
        """Return the symbol around a line (from 1), None outside of symbols or where unsure."""
        symbols = self._scanned()
        return symbols[line - 1] if 1 <= line <= len(symbols) else None

    def names(self) -> frozenset[str]:
        """Return every symbol that encloses a line."""
        if self._names is None:
            self._names = frozenset(s for s in self._scanned() if s is not None)
        return self._names

    def _scanned(self) -> Sequence[str | None]:
        if self._symbols is None:
            self._symbols = () if self._scan is None else self._scan(self._content)
        return self._symbols


def enclosing_symbol(path: str, content: bytes, line: int) -> str | None:
    """Return the symbol around one line (from 1): `Class.method`, `Class::method`, or None."""
    return SymbolIndex(path, content).at(line)
