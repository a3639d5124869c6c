"""Values of a TOML file, taken out with their type checked and their key path in every error."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown

MAX_NAME = 100
MAX_DEPTH = 20

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_name(text: str, *, what: str, kind: str = "bad-lock") -> str:
    """Return the name of an upstream or a series, or raise; it may stand in a path and a ref."""
    is_good = _NAME.fullmatch(text) and ".." not in text and len(text) <= MAX_NAME
    if not is_good or text.endswith((".", ".lock")):
        hint = "use letters, digits, and . _ - after the first one"
        raise PatchmgrError(kind, f"{what} {shown(text)} is no good name.", (hint,))
    return text


class Table:
    """One table of upstream.lock, which remembers the keys that were asked for."""

    def __init__(self, where: str, values: Mapping[str, Any]) -> None:
        self._where = where
        self._values = values
        self._asked: set[str] = set()

    def path(self, key: str) -> str:
        """Return the words that name a key."""
        dotted = f"{self._where}.{key}" if self._where else key
        return f"upstream.lock: {shown(dotted)}"

    def fault(self, key: str, problem: str) -> PatchmgrError:
        """Return the error to raise for a key."""
        return PatchmgrError("bad-lock", f"{self.path(key)} {problem}.")

    def check_all_known(self) -> None:
        """Raise for a key that nobody asked for."""
        for key in self._values:
            if key not in self._asked:
                raise self.fault(key, "is unknown")

    def integer(self, key: str) -> int:
        """Return a number that must be there."""
        value = self._required(key)
        if type(value) is not int:
            raise self.fault(key, "must be a number")
        return value

    def string(self, key: str) -> str:
        """Return a text that must be there: printable, and not empty."""
        value = self._required(key)
        if not isinstance(value, str):
            raise self.fault(key, "must be a text")
        if not value or not value.isprintable():
            raise self.fault(key, "must be a text without control characters, and not empty")
        return value

    def optional(self, key: str) -> str | None:
        """Return a text, None where there is none."""
        return self.string(key) if key in self._values else None

    def word(self, key: str) -> str:
        """Return a text that git may get as an argument: it does not begin with a dash."""
        value = self.string(key)
        if value.startswith("-"):
            raise self.fault(key, "begins with a dash")
        return value

    def optional_word(self, key: str) -> str | None:
        """Return such a text, None where there is none."""
        return self.word(key) if key in self._values else None

    def table(self, key: str) -> Table:
        """Return a table that must be there."""
        return Table(self._dotted(key), self._mapping(key, self._required(key)))

    def optional_table(self, key: str) -> dict[str, Any]:
        """Return a table of anything that a lock can hold, empty where there is none."""
        if key not in self._values:
            return {}
        values = self._mapping(key, self._required(key))
        found: dict[str, Any] = sorted_value(values, self.path(key))
        return found

    def tables(self, key: str) -> Iterator[tuple[str, Table]]:
        """Give the named tables in a table, by name; none where it is missing."""
        if key not in self._values:
            return
        inner = self.table(key)
        for name in sorted(inner._values):
            check_name(name, what=self.path(key))
            yield name, inner.table(name)

    def _dotted(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key

    def _required(self, key: str) -> Any:
        self._asked.add(key)
        if key not in self._values:
            raise self.fault(key, "is missing")
        return self._values[key]

    def _mapping(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.fault(key, "must be a table")
        return value


def sorted_value(value: Any, where: str, depth: int = 0) -> Any:
    """Return a value with the keys of all tables sorted; raise for what a lock cannot hold."""
    if depth > MAX_DEPTH:
        raise PatchmgrError("bad-lock", f"{where} is nested too deeply.")
    if isinstance(value, Mapping):
        keys = sorted(key for key in value if isinstance(key, str))
        if len(keys) == len(value):
            return {key: sorted_value(value[key], where, depth + 1) for key in keys}
    elif isinstance(value, (list, tuple)):
        return [sorted_value(item, where, depth + 1) for item in value]
    elif isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise PatchmgrError("bad-lock", f"{where} holds a value of the type {type(value).__name__}.")
