"""The file upstream.lock: TOML with upstreams and, for each series, its upstream and pin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomli_w

from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text
from patchmgr.formats.git_urls import url_problem
from patchmgr.formats.lock_values import Table, check_name, sorted_value
from patchmgr.formats.paths import check_path
from patchmgr.formats.shown import shown
from patchmgr.model.ids import is_full_id
from patchmgr.model.upstream import LOCK_FORMAT, Lock, Pin, SeriesRecord, Upstream

__all__ = ["check_name", "parse_lock", "write_lock"]

MAX_LOCK = 4 * 1024 * 1024


def parse_lock(raw: bytes) -> Lock:
    """Read upstream.lock; raise "bad-lock" and name the key, or the line where TOML ends."""
    top = Table("", _toml(raw))
    number = top.integer("format")
    if number > LOCK_FORMAT:
        problem = f"upstream.lock has format {number} and was written by a newer patchmgr."
        raise PatchmgrError("bad-lock", problem, (f"this one reads format {LOCK_FORMAT}",))
    if number != LOCK_FORMAT:
        raise top.fault("format", f"is {number}, and this patchmgr reads {LOCK_FORMAT}")
    upstreams = {name: _upstream(name, table) for name, table in top.tables("upstream")}
    series = {name: _series(name, table) for name, table in top.tables("series")}
    top.check_all_known()
    _check_references(upstreams, series)
    return Lock(upstreams, series)


def write_lock(lock: Lock) -> bytes:
    """Return the bytes of a lock, keys sorted; reading them gives the same lock.

    Raises "bad-lock" for what could not be read again.
    """
    content: dict[str, Any] = {"format": LOCK_FORMAT}
    if lock.upstreams:
        content["upstream"] = {name: _upstream_table(u) for name, u in lock.upstreams.items()}
    if lock.series:
        content["series"] = {name: _series_table(s) for name, s in lock.series.items()}
    text = tomli_w.dumps(sorted_value(content, "upstream.lock"))
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise PatchmgrError(
            "bad-lock", "upstream.lock cannot hold a text that is no UTF-8."
        ) from None
    parse_lock(raw)
    return raw


def _toml(raw: bytes) -> dict[str, Any]:
    if len(raw) > MAX_LOCK:
        raise PatchmgrError("bad-lock", f"upstream.lock is larger than {MAX_LOCK} bytes.")
    hints = ("resolve the merge conflict in it",) if b"\n<<<<<<< " in b"\n" + raw else ()
    try:
        return toml_text.loads(raw.decode())
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        problem = f"upstream.lock line {line}: no UTF-8."
    except RecursionError:
        problem = "upstream.lock is nested too deeply."
    except ValueError as error:
        problem = f"upstream.lock is not TOML: {shown(str(error))}."
    raise PatchmgrError("bad-lock", problem, hints)


def _upstream(name: str, table: Table) -> Upstream:
    track = table.string("track")
    git, package = table.optional_word("git"), table.optional_word("package")
    branch = table.optional_word("branch")
    if track not in ("git", "package"):
        raise table.fault("track", f"is {shown(track)} and must be git or package")
    if not (git if track == "git" else package):
        raise table.fault(track, "is missing")
    problem = None if git is None else url_problem(git)
    if problem is not None:
        raise table.fault("git", problem)
    table.check_all_known()
    return Upstream(name, track, git, package, branch)


def _series(name: str, table: Table) -> SeriesRecord:
    upstream, on = table.string("upstream"), table.optional("on")
    pin = _pin(table.table("pin"))
    result = table.optional_table("result")
    table.check_all_known()
    return SeriesRecord(name, upstream, pin, on, result)


def _pin(table: Table) -> Pin:
    ref, commit, tree = table.word("ref"), table.string("commit"), table.string("tree")
    for key, value in (("commit", commit), ("tree", tree)):
        if not is_full_id(value):
            raise table.fault(key, "must be a full id of 40 hexadecimal digits")
    archive, digest = table.optional("archive"), table.optional("sha256")
    if (archive is None) != (digest is None):
        raise table.fault("archive" if archive is None else "sha256", "is missing")
    if archive is not None and "/" in check_path(archive, what=table.path("archive")):
        raise table.fault("archive", "must be a file name")
    if digest is not None and not (is_full_id(digest[:40]) and is_full_id(digest[24:])):
        raise table.fault("sha256", "must be 64 hexadecimal digits")
    table.check_all_known()
    return Pin(ref, commit, tree, archive, digest)


def _check_references(
    upstreams: Mapping[str, Upstream], series: Mapping[str, SeriesRecord]
) -> None:
    """Refuse a series on an upstream or a series that the lock does not have, and circles."""
    grounded: set[str] = set()
    for record in series.values():
        table = Table(f"series.{record.name}", {})
        if record.upstream not in upstreams:
            raise table.fault("upstream", f"names {shown(record.upstream)} which is no upstream")
        walked, name = {record.name}, record.on
        while name is not None and name not in grounded:
            if name not in series:
                raise table.fault("on", f"leads to {shown(name)} which is no series")
            if name in walked:
                raise table.fault("on", "leads back to the series")
            walked.add(name)
            name = series[name].on
        grounded |= walked


def _upstream_table(upstream: Upstream) -> dict[str, Any]:
    return _present(
        track=upstream.track, git=upstream.git, package=upstream.package, branch=upstream.branch
    )


def _series_table(record: SeriesRecord) -> dict[str, Any]:
    pin = record.pin
    table = _present(upstream=record.upstream, on=record.on, result=record.result or None)
    table["pin"] = _present(
        ref=pin.ref, commit=pin.commit, tree=pin.tree, archive=pin.archive, sha256=pin.sha256
    )
    return table


def _present(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
