"""Read TOML files, up to a size limit, and convert their tables to values."""

from __future__ import annotations

import re
import sys
from typing import Any, TypeVar

import msgspec
import tomli_w

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import merge_hints, split_lines
from patchmgr.formats.shown import shown

if sys.version_info >= (3, 11):
    from tomllib import loads
else:  # pragma: no cover - Python 3.10 has no tomllib
    from tomli import loads

__all__ = ["MENDING", "converted", "loads", "read_toml", "written_toml"]

MENDING = "correct the file, or restore the committed version: git restore FILE"

T = TypeVar("T")
_FIELD = re.compile(r"Object (?:contains )?(missing|unknown)(?: required)? field `(.*)`")


def read_toml(raw: bytes, *, kind: str, what: str, limit: int) -> dict[str, Any]:
    """Parse a TOML file; raise an error of `kind` about `what` if malformed or too large."""
    if len(raw) > limit:
        raise PatchmgrError(kind, f"{what} is larger than {limit} bytes")
    try:
        return loads(raw.decode())
    except (ValueError, RecursionError) as fault:
        hints = merge_hints(split_lines(raw)) or (MENDING,)
        said = shown(str(fault))
        if isinstance(fault, UnicodeDecodeError):
            said = f"line {raw[: fault.start].count(10) + 1} is not UTF-8"
        raise PatchmgrError(kind, f"{what} is not valid TOML: {said}", *hints) from fault


def written_toml(table: dict[str, Any], *, kind: str, what: str) -> bytes:
    """Return a TOML file with this table; raise an error of `kind` for text that is not UTF-8."""
    try:
        return tomli_w.dumps(table).encode()
    except UnicodeEncodeError:
        message = f"{what} cannot contain text that is not UTF-8"
        raise PatchmgrError(kind, message) from None


def converted(table: object, form: type[T], *, kind: str, what: str) -> T:
    """Convert a table of printable strings, or raise an error of `kind` that begins with `what`."""
    dot = " " if what.endswith(":") else "."
    for key, value in table.items() if isinstance(table, dict) else ():
        if isinstance(value, str) and not value.isprintable():
            raise PatchmgrError(kind, shown(f"{what}{dot}{key} must be printable text"), MENDING)
    try:
        return msgspec.convert(table, form)
    except msgspec.ValidationError as fault:
        problem, _, place = str(fault).partition(" - at `$.")
        key, field = place.removesuffix("`"), _FIELD.fullmatch(problem)
        if field:
            key, problem = f"{key}.{field[2]}".removeprefix("."), f" is {field[1]}"
        else:
            problem = f": {problem[0].lower()}{problem[1:]}".replace("`object", "`table")
        where = f"{what}{dot}{key}" if key else what
        raise PatchmgrError(kind, shown(where + problem), MENDING) from fault
