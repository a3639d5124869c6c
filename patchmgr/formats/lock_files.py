"""The file upstream.lock: TOML with the upstreams, and the upstream and pin of each series."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct, field, structs

from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text
from patchmgr.formats.git_urls import url_problem
from patchmgr.formats.paths import check_path
from patchmgr.formats.shown import shown
from patchmgr.model.upstream import LOCK_FORMAT, Lock, Pin, SeriesRecord, Upstream, Word

MAX_LOCK = 4 * 1024 * 1024
MAX_NAME = 100
MAX_DEPTH = 20

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FILE = "upstream.lock"
_converted = partial(toml_text.converted, kind="bad-lock")


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal[1]
    upstream: dict[str, Any] = field(default_factory=dict)
    series: dict[str, Any] = field(default_factory=dict)


class _Upstream(Struct, frozen=True, forbid_unknown_fields=True):
    track: Literal["git", "package", "archive"]
    git: Word | None = None
    package: Word | None = None
    branch: Word | None = None
    archive: Word | None = None


class _Series(Struct, frozen=True, forbid_unknown_fields=True):
    upstream: str
    pin: dict[str, Any]
    on: str | None = None
    result: dict[str, Any] = field(default_factory=dict)


def check_name(text: str, *, what: str, kind: str = "bad-lock") -> str:
    """Return a name unchanged; raise an error of `kind` if it cannot be part of a path or ref."""
    is_good = _NAME.fullmatch(text) and ".." not in text and len(text) <= MAX_NAME
    if not is_good or text.endswith((".", ".lock")):
        hint = "use only letters, digits, and (not as the first character) . _ -"
        raise PatchmgrError(kind, f"{what} {shown(text)} is not a valid name", hint)
    return text


def parse_lock(raw: bytes) -> Lock:
    """Parse upstream.lock; if it is malformed, raise a "bad-lock" error that names the key."""
    top = toml_text.read_toml(raw, kind="bad-lock", what=_FILE, limit=MAX_LOCK)
    number = top.get("format")
    if type(number) is int and number > LOCK_FORMAT:
        problem = f"{_FILE} has format {number} and was written by a newer patchmgr"
        hint = f"install a newer patchmgr; this one reads format {LOCK_FORMAT}"
        raise PatchmgrError("bad-lock", problem, hint)
    document = _converted(top, _Document, what=f"{_FILE}:")
    upstreams = {name: _upstream(name, table) for name, table in sorted(document.upstream.items())}
    series = {name: _series(name, table) for name, table in sorted(document.series.items())}
    _check_references(upstreams, series)
    return Lock(upstreams, series)


def write_lock(lock: Lock) -> bytes:
    """Return upstream.lock with sorted keys; raise "bad-lock" if `parse_lock` would refuse it."""
    content: dict[str, Any] = {"format": LOCK_FORMAT}
    if lock.upstreams:
        content["upstream"] = {name: _table(each) for name, each in lock.upstreams.items()}
    if lock.series:
        content["series"] = {name: _table(each) for name, each in lock.series.items()}
    raw = toml_text.written_toml(_sorted(content, _FILE), kind="bad-lock", what=_FILE)
    parse_lock(raw)
    return raw


def _table(value: Upstream | SeriesRecord | Pin) -> dict[str, Any]:
    table = {**structs.asdict(value), "name": None}
    if isinstance(value, SeriesRecord):
        table |= {"pin": _table(value.pin), "result": value.result or None}
    return {key: each for key, each in table.items() if each is not None}


def _upstream(name: str, table: Any) -> Upstream:
    where = f"{_FILE}: upstream.{check_name(name, what=f'{_FILE}: upstream')}"
    row = _converted(table, _Upstream, what=where)
    if not getattr(row, row.track):
        raise _fault(f"{where}.{row.track}", "is missing")
    problem = None if row.git is None else url_problem(row.git)
    if problem is not None:
        raise _fault(f"{where}.git", problem)
    return Upstream(name, *structs.astuple(row))


def _series(name: str, table: Any) -> SeriesRecord:
    where = f"{_FILE}: series.{check_name(name, what=f'{_FILE}: series')}"
    row = _converted(table, _Series, what=where)
    pin = _converted(row.pin, Pin, what=f"{where}.pin")
    if (pin.archive is None) != (pin.sha256 is None):
        raise _fault(f"{where}.pin.{'sha256' if pin.archive else 'archive'}", "is missing")
    if pin.archive is not None and "/" in check_path(pin.archive, what=f"{where}.pin.archive"):
        raise _fault(f"{where}.pin.archive", "must be a file name")
    result = _sorted(row.result, f"{where}.result")
    return SeriesRecord(name, row.upstream, pin, row.on, result)


def _check_references(
    upstreams: Mapping[str, Upstream], series: Mapping[str, SeriesRecord]
) -> None:
    """Raise "bad-lock" if a series has an unknown upstream, or an unknown or circular stack."""
    grounded: set[str] = set()
    for record in series.values():
        where = f"{_FILE}: series.{record.name}"
        if record.upstream not in upstreams:
            problem = f"names {shown(record.upstream)}, which is not an upstream"
            raise _fault(f"{where}.upstream", problem)
        walked, name = {record.name}, record.on
        while name is not None and name not in grounded:
            if name not in series:
                raise _fault(f"{where}.on", f"leads to {shown(name)}, which is not a series")
            if name in walked:
                raise _fault(f"{where}.on", "makes the series depend on itself")
            walked.add(name)
            name = series[name].on
        grounded |= walked


def _sorted(value: Any, where: str, depth: int = 0) -> Any:
    """Return a value with the keys of its tables sorted; raise if TOML has no such value."""
    if depth > MAX_DEPTH:
        raise _fault(where, "is nested too deeply")
    if isinstance(value, Mapping):
        keys = sorted(key for key in value if isinstance(key, str))
        if len(keys) == len(value):
            return {key: _sorted(value[key], where, depth + 1) for key in keys}
    elif isinstance(value, (list, tuple)):
        return [_sorted(item, where, depth + 1) for item in value]
    elif isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise _fault(where, f"contains a value of type {type(value).__name__}")


def _fault(where: str, problem: str) -> PatchmgrError:
    return PatchmgrError("bad-lock", f"{where} {problem}", toml_text.MENDING)
