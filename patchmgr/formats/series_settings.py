"""The file series.toml of a series: subsystems, patterns, groups, gates, commands and claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text
from patchmgr.formats.paths import check_path
from patchmgr.formats.regexes import RegexError, compile_regex
from patchmgr.formats.shown import shown
from patchmgr.model.settings import (
    DEFAULT_TIMEOUT,
    EXPERIMENTAL,
    CheckCommand,
    Claim,
    SeriesSettings,
)

MAX_SETTINGS = 1024 * 1024
LONGEST_TIMEOUT = 7 * 24 * 3600

GATES = (
    "whitespace", "markers", "sign-off", "header", "links", "ensures", "python", "imports",
    "claims",
)  # fmt: skip
KINDS = ("capability", "platform", "environment", "quantisation", "model", "probe", "option")

_VERSION = re.compile(r"3\.(\d{1,2})")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def parse_settings(raw: bytes, *, series: str) -> SeriesSettings:
    """Read a series.toml; raise "bad-settings" with the key that is wrong.

    Tables that this version does not know are left alone.
    """
    reader = _Reader(f"series/{series}/series.toml")
    top = reader.toml(raw)
    check = reader.table(top, "check")
    return SeriesSettings(
        subsystems=reader.lists(top, "subsystems"),
        labels=_labels(reader, top),
        groups=reader.lists(top, "groups"),
        off=frozenset(reader.texts(top, "off")) if "off" in top else frozenset({EXPERIMENTAL}),
        python=_versions(reader, check),
        needs_sign_off=reader.flag(check, "sign-off"),
        left_out=_left_out(reader, check),
        commands=_commands(reader, check),
        claims=_claims(reader, top),
        confidence=reader.percentage(top, "confidence"),
    )


def with_renamed(raw: bytes, old: str, new: str, *, series: str) -> bytes:
    """Return a series.toml whose groups name a patch anew; all other bytes stay.

    Where the name is not written plainly, the file stays as it is.
    """
    before = parse_settings(raw, series=series)
    changed = raw
    for one, other in ((old, new), (old.removesuffix(".patch"), new.removesuffix(".patch"))):
        for quote in ('"', "'"):
            changed = changed.replace(
                f"{quote}{one}{quote}".encode(), f"{quote}{other}{quote}".encode()
            )
    try:
        after = parse_settings(changed, series=series)
    except PatchmgrError:
        return raw
    names = {old: new, old.removesuffix(".patch"): new.removesuffix(".patch")}
    groups = {g: tuple(names.get(m, m) for m in members) for g, members in before.groups.items()}
    return changed if after == replace(before, groups=groups) else raw


class _Reader:
    """Takes values out of tables, with their types checked."""

    def __init__(self, where: str) -> None:
        self._where = where

    def fault(self, key: str, problem: str) -> PatchmgrError:
        hint = "see docs/reports.md for what the file may hold"
        return PatchmgrError("bad-settings", f"{self._where}: {shown(key)} {problem}", (hint,))

    def toml(self, raw: bytes) -> dict[str, Any]:
        try:
            if len(raw) > MAX_SETTINGS:
                raise ValueError(f"it is larger than {MAX_SETTINGS} bytes")
            return toml_text.loads(raw.decode())
        except (ValueError, RecursionError) as fault:
            problem = f"{self._where} is not TOML: {shown(str(fault))}"
            raise PatchmgrError("bad-settings", problem) from fault

    def table(self, values: Mapping[str, Any], key: str) -> dict[str, Any]:
        found = values.get(key, {})
        if not isinstance(found, dict):
            raise self.fault(key, "must be a table")
        return found

    def flag(self, values: Mapping[str, Any], key: str) -> bool:
        found = values.get(key, False)
        if not isinstance(found, bool):
            raise self.fault(key, "must be true or false")
        return found

    def percentage(self, values: Mapping[str, Any], key: str) -> int | None:
        found = values.get(key)
        if found is None or (type(found) is int and 50 <= found <= 100):
            return found
        raise self.fault(key, "must be a whole number from 50 to 100")

    def texts(self, values: Mapping[str, Any], key: str) -> tuple[str, ...]:
        found = values.get(key, [])
        good = isinstance(found, list) and all(isinstance(x, str) and x for x in found)
        if not good or any("\0" in text for text in found):
            raise self.fault(key, "must be a list of texts")
        return tuple(found)

    def lists(self, values: Mapping[str, Any], key: str) -> dict[str, tuple[str, ...]]:
        table = self.table(values, key)
        return {name: self.texts(table, name) for name in table}


def _labels(reader: _Reader, top: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    labels = reader.lists(top, "gates")
    for kind, expressions in labels.items():
        if kind not in KINDS:
            raise reader.fault(f"gates.{kind}", f"is no kind; there are {', '.join(KINDS)}")
        for expression in expressions:
            try:
                compile_regex(expression)
            except RegexError as fault:
                raise reader.fault(f"gates.{kind}", f"is no expression: {fault}") from fault
    return labels


def _versions(reader: _Reader, check: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    found = []
    for text in reader.texts(check, "python"):
        match = _VERSION.fullmatch(text)
        if match is None:
            raise reader.fault("check.python", f"has {shown(text)}, which is no version like 3.10")
        found.append((3, int(match[1])))
    return tuple(sorted(found))


def _left_out(reader: _Reader, check: Mapping[str, Any]) -> frozenset[str]:
    names = reader.texts(check, "without")
    for name in names:
        if name not in GATES:
            raise reader.fault("check.without", f"names {shown(name)}; gates: {', '.join(GATES)}")
    return frozenset(names)


def _commands(reader: _Reader, check: Mapping[str, Any]) -> tuple[CheckCommand, ...]:
    table = reader.table(check, "commands")
    found = []
    for name in table:
        if not _NAME.fullmatch(name):
            raise reader.fault(f"check.commands.{name}", "is no good name")
        values = reader.table(table, name)
        run = reader.texts(values, "run")
        if not run:
            raise reader.fault(f"check.commands.{name}.run", "is missing")
        timeout = values.get("timeout", DEFAULT_TIMEOUT)
        if type(timeout) is not int or not 0 < timeout <= LONGEST_TIMEOUT:
            raise reader.fault(f"check.commands.{name}.timeout", "must be a number of seconds")
        found.append(CheckCommand(name, run, timeout, reader.texts(values, "needs")))
    return tuple(found)


def _claims(reader: _Reader, top: Mapping[str, Any]) -> tuple[Claim, ...]:
    found = []
    for place, value in reader.table(top, "claims").items():
        path, _, symbol = place.partition("::")
        check_path(path, what="A claim's path")
        match = _DIGEST.fullmatch(value) if isinstance(value, str) else None
        if match is None and value != "upstream":
            raise reader.fault(f"claims.{place}", 'must be "upstream" or "sha256:" and 64 digits')
        found.append(Claim(path, symbol or None, match[1] if match else None))
    return tuple(found)
