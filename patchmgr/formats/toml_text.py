"""Read TOML files, up to a size limit, and convert their tables to values."""

from __future__ import annotations

import re
import sys
from typing import Any, TypeVar

import msgspec
import tomli_w
from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import merge_hints, split_lines
from patchmgr.formats.shown import shown

if sys.version_info >= (3, 11):
    from tomllib import loads
else:  # pragma: no cover - Python 3.10 has no tomllib
    from tomli import loads

__all__ = ["TomlFile", "loads"]

_HINT = "correct the file, or restore the committed version: git restore FILE"

T = TypeVar("T")
_FIELD = re.compile(r"Object (?:contains )?(missing|unknown)(?: required)? field `(.*)`")


class TomlFile(Struct, frozen=True):
    """A TOML file to read: its name, its size limit, and the kind of error if it is malformed."""

    kind: str
    name: str
    limit: int

    def read(self, raw: bytes, form: type[T]) -> T:
        """Parse the file and convert it to a value, or raise an error that names the wrong key."""
        return self.convert(self.parse(raw), form)

    def parse(self, raw: bytes) -> dict[str, Any]:
        """Parse the file; raise an error if it is not TOML or too large."""
        if len(raw) > self.limit:
            raise PatchmgrError(self.kind, f"{self.name} is larger than {self.limit} bytes")
        try:
            return loads(raw.decode())
        except (ValueError, RecursionError) as fault:
            hints = merge_hints(split_lines(raw)) or (_HINT,)
            said = shown(str(fault))
            if isinstance(fault, UnicodeDecodeError):
                said = f"line {raw[: fault.start].count(10) + 1} is not UTF-8"
            message = f"{self.name} is not valid TOML: {said}"
            raise PatchmgrError(self.kind, message, *hints) from fault

    def convert(self, table: object, form: type[T], at: str = "") -> T:
        """Convert a table, whose strings must be printable, to a value; `at` is the table's key."""
        above = f"{at}." if at else ""
        for key, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str) and not value.isprintable():
                message = shown(f"{self.name}: {above}{key} must be printable text")
                raise PatchmgrError(self.kind, message, _HINT)
        try:
            return msgspec.convert(table, form)
        except msgspec.ValidationError as fault:
            problem, _, place = str(fault).partition(" - at `$.")
            key, field = place.removesuffix("`"), _FIELD.fullmatch(problem)
            if field:
                key, problem = f"{key}.{field[2]}".removeprefix("."), f" is {field[1]}"
            else:
                problem = f": {problem[0].lower()}{problem[1:]}".replace("`object", "`table")
            where = f"{self.name}: {above}{key}" if key else f"{self.name}: {at}"
            raise PatchmgrError(self.kind, shown(where + problem), _HINT) from fault

    def write(self, table: dict[str, Any]) -> bytes:
        """Return the table as TOML; raise an error for text that is not UTF-8."""
        try:
            return tomli_w.dumps(table).encode()
        except UnicodeEncodeError:
            message = f"{self.name} cannot contain text that is not UTF-8"
            raise PatchmgrError(self.kind, message) from None

    def fault(self, problem: str, key: str = "") -> PatchmgrError:
        """Return the error for a problem with a key of the file, or with the whole file."""
        where = f"{self.name}: {key}" if key else self.name
        return PatchmgrError(self.kind, f"{where} {problem}", _HINT)
