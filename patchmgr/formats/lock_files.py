"""The file upstream.lock: TOML with the upstreams, and the upstream and pin of each series."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field, structs

from patchmgr.errors import PatchmgrError
from patchmgr.formats.git_urls import url_problem
from patchmgr.formats.paths import check_path
from patchmgr.formats.shown import shown
from patchmgr.formats.toml_text import TomlFile
from patchmgr.model.upstream import LOCK_FORMAT, Lock, Pin, SeriesRecord, Upstream, Word

MAX_LOCK = 4 * 1024 * 1024
MAX_NAME = 100
MAX_DEPTH = 20

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FILE = "upstream.lock"
_LOCK = TomlFile("bad-lock", _FILE, MAX_LOCK)


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
    top = _LOCK.parse(raw)
    number = top.get("format")
    if type(number) is int and number > LOCK_FORMAT:
        problem = f"{_FILE} has format {number} and was written by a newer patchmgr"
        hint = f"install a newer patchmgr; this one reads format {LOCK_FORMAT}"
        raise PatchmgrError("bad-lock", problem, hint)
    document = _LOCK.convert(top, _Document)
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
    raw = _LOCK.write(_sorted(content))
    parse_lock(raw)
    return raw


def _table(value: Upstream | SeriesRecord | Pin) -> dict[str, Any]:
    table = {**structs.asdict(value), "name": None}
    if isinstance(value, SeriesRecord):
        table |= {"pin": _table(value.pin), "result": value.result or None}
    return {key: each for key, each in table.items() if each is not None}


def _upstream(name: str, table: Any) -> Upstream:
    key = f"upstream.{check_name(name, what=f'{_FILE}: upstream')}"
    row = _LOCK.convert(table, _Upstream, key)
    if not getattr(row, row.track):
        raise _LOCK.fault("is missing", f"{key}.{row.track}")
    problem = None if row.git is None else url_problem(row.git)
    if problem is not None:
        raise _LOCK.fault(problem, f"{key}.git")
    return Upstream(name, *structs.astuple(row))


def _series(name: str, table: Any) -> SeriesRecord:
    key = f"series.{check_name(name, what=f'{_FILE}: series')}"
    row = _LOCK.convert(table, _Series, key)
    pin = _LOCK.convert(row.pin, Pin, f"{key}.pin")
    if (pin.archive is None) != (pin.sha256 is None):
        raise _LOCK.fault("is missing", f"{key}.pin.{'sha256' if pin.archive else 'archive'}")
    what = f"{_FILE}: {key}.pin.archive"
    if pin.archive is not None and "/" in check_path(pin.archive, what=what):
        raise _LOCK.fault("must be a file name", f"{key}.pin.archive")
    result = _sorted(row.result, f"{key}.result")
    return SeriesRecord(name, row.upstream, pin, row.on, result)


def _check_references(
    upstreams: Mapping[str, Upstream], series: Mapping[str, SeriesRecord]
) -> None:
    """Raise "bad-lock" if a series has an unknown upstream, or an unknown or circular stack."""
    grounded: set[str] = set()
    for record in series.values():
        key = f"series.{record.name}"
        if record.upstream not in upstreams:
            problem = f"names {shown(record.upstream)}, which is not an upstream"
            raise _LOCK.fault(problem, f"{key}.upstream")
        walked, name = {record.name}, record.on
        while name is not None and name not in grounded:
            if name not in series:
                raise _LOCK.fault(f"leads to {shown(name)}, which is not a series", f"{key}.on")
            if name in walked:
                raise _LOCK.fault("makes the series depend on itself", f"{key}.on")
            walked.add(name)
            name = series[name].on
        grounded |= walked


def _sorted(value: Any, at: str = "", depth: int = 0) -> Any:
    """Return a value with sorted tables; raise "bad-lock" if TOML cannot represent it."""
    if depth > MAX_DEPTH:
        raise _LOCK.fault("is nested too deeply", at)
    if isinstance(value, Mapping):
        keys = sorted(key for key in value if isinstance(key, str))
        if len(keys) == len(value):
            return {key: _sorted(value[key], at, depth + 1) for key in keys}
    elif isinstance(value, (list, tuple)):
        return [_sorted(item, at, depth + 1) for item in value]
    elif isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise _LOCK.fault(f"contains a value of type {type(value).__name__}", at)
