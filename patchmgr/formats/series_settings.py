"""The file series.toml of a series: subsystems, patterns, groups, gates, commands and claims."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path
from patchmgr.formats.regexes import RegexError, compile_regex
from patchmgr.formats.shown import shown
from patchmgr.formats.toml_text import TomlFile
from patchmgr.model.settings import EXPERIMENTAL, CheckCommand, ContentClaim, SeriesSettings

_PATHS = "paths"


class PathMap(Struct, frozen=True):
    """Pairs (source, installed): a path in the repository, and the path where it is installed.

    The path of a folder ends in `/`. An empty path is the root of the repository, or the folder in
    which packages are installed.
    """

    pairs: tuple[tuple[str, str], ...] = ()

    def find(self, path: str) -> str | None:
        """Return the installed path of a file (by the longest matching source path), or None."""
        for source, place in sorted(self.pairs, key=lambda pair: -len(pair[0])):
            if path == source:
                return place
            if _is_folder(source) and path.startswith(source):
                return place + path[len(source) :]
        return None


def parse_path_map(raw: bytes) -> PathMap:
    """Parse `[paths]` of a series.toml; raise "broken-workspace" if it is malformed."""
    table = TomlFile("broken-workspace", "series.toml", MAX_SETTINGS).parse(raw).get(_PATHS, {})
    if not isinstance(table, dict):
        raise PatchmgrError("broken-workspace", f"[{_PATHS}] of series.toml must be a table")
    return PathMap(tuple(_pair(source, place) for source, place in sorted(table.items())))


def _pair(source: str, place: object) -> tuple[str, str]:
    what = f"series.toml, [{_PATHS}]:"
    if not isinstance(place, str) or _is_folder(source) != _is_folder(place):
        raise PatchmgrError(
            "broken-workspace",
            f"{what} the value of {shown(source)} must be a path "
            'that ends with / if and only if the key does ("" is the root)',
        )
    for path in filter(None, (source, place)):
        check_path(path.removesuffix("/"), what=what)
    return source, place


def _is_folder(path: str) -> bool:
    return not path or path.endswith("/")


MAX_SETTINGS = 1024 * 1024

_GateKind = Literal[
    "capability", "platform", "environment", "quantisation", "model", "probe", "option"
]
KINDS: tuple[str, ...] = get_args(_GateKind)

_GROUPS = re.compile(rb"^[ \t]*\[groups\][^\n]*\n(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*", re.MULTILINE)
_DIGEST = re.compile(r"upstream|sha256:([0-9a-f]{64})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_Text = Annotated[str, Meta(pattern=r"^[^\0]+\Z")]
_Texts = tuple[_Text, ...]


class _Check(
    Struct, frozen=True, forbid_unknown_fields=True, rename={"needs_sign_off": "sign-off"}
):
    python: tuple[Annotated[str, Meta(pattern=r"^3\.\d{1,2}\Z")], ...] = ()
    needs_sign_off: bool = False
    without: frozenset[
        Literal[
            "whitespace", "markers", "sign-off", "header", "links", "citations", "ensures",
            "python", "imports", "audit", "claims",
        ]
    ] = frozenset()  # fmt: skip
    commands: dict[str, Any] = field(default_factory=dict)


_Variable = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z")]


class _Settings(Struct, frozen=True, forbid_unknown_fields=True, rename={"build_env": "build-env"}):
    subsystems: dict[str, _Texts] = field(default_factory=dict)
    gates: dict[_GateKind, _Texts] = field(default_factory=dict)
    groups: dict[str, _Texts] = field(default_factory=dict)
    off: frozenset[_Text] = frozenset({EXPERIMENTAL})
    check: _Check = _Check()
    claims: dict[str, Any] = field(default_factory=dict)
    confidence: Annotated[int, Meta(ge=50, le=100)] | None = None
    paths: Any = None  # read by `parse_path_map`
    trusted: frozenset[_Text] = frozenset()
    build_env: dict[_Variable, Annotated[str, Meta(pattern=r"^[^\0-\x1f\x7f-\x9f]*\Z")]] = field(
        default_factory=dict
    )


def parse_settings(raw: bytes, *, series: str) -> SeriesSettings:
    """Parse a series.toml; raise a "bad-settings" error that names a wrong or unknown key."""
    file = TomlFile("bad-settings", f"series/{series}/series.toml", MAX_SETTINGS)
    try:
        top = file.read(raw, _Settings)
        for kind, expressions in top.gates.items():
            for expression in expressions:
                try:
                    compile_regex(expression)
                except RegexError as fault:
                    problem = f"is not a regular expression: {fault}"
                    raise file.fault(problem, f"gates.{kind}") from fault
        return SeriesSettings(
            top.subsystems,
            {str(kind): expressions for kind, expressions in top.gates.items()},
            top.groups,
            top.off,
            python=tuple(sorted((3, int(text[2:])) for text in top.check.python)),
            needs_sign_off=top.check.needs_sign_off,
            left_out=frozenset(top.check.without),
            commands=tuple(_command(file, *item) for item in top.check.commands.items()),
            claims=tuple(_claim(file, *item) for item in top.claims.items()),
            confidence=top.confidence,
            trusted=top.trusted,
            build_env=top.build_env,
        )
    except PatchmgrError as fault:
        hints = (*fault.hints, "see docs/reports.md for what the file may contain")
        raise PatchmgrError(fault.kind, fault.message, *hints) from fault


def with_renamed(raw: bytes, old: str, new: str, *, series: str) -> bytes:
    """Return a series.toml whose only change is that `old` is renamed to `new` in the groups.

    Raises PatchmgrError "bad-settings" if the name cannot be replaced.
    """
    before = parse_settings(raw, series=series)
    names = {old: new, old.removesuffix(".patch"): new.removesuffix(".patch")}
    wanted = [members for members in before.groups.values() if not names.keys().isdisjoint(members)]
    if all(not {*names.values()}.isdisjoint(members) for members in wanted):
        return raw
    groups = {g: tuple(names.get(m, m) for m in members) for g, members in before.groups.items()}
    table = _GROUPS.search(raw)
    for start, end in ((0, len(raw)), table.span() if table is not None else (0, 0)):
        changed = raw[start:end]
        for one, other in names.items():
            for quote in ('"', "'"):
                changed = changed.replace(
                    f"{quote}{one}{quote}".encode(), f"{quote}{other}{quote}".encode()
                )
        changed = raw[:start] + changed + raw[end:]
        with suppress(PatchmgrError):
            if parse_settings(changed, series=series) == replace(before, groups=groups):
                return changed
    raise PatchmgrError(
        "bad-settings",
        f"series/{series}/series.toml: patchmgr cannot replace {shown(old)} in its groups",
        f"add {shown(new)} to each group that contains {shown(old)}, then run the command again",
    )


def _command(file: TomlFile, name: str, table: Any) -> CheckCommand:
    key = f"check.commands.{shown(name)}"
    if not _NAME.fullmatch(name):
        raise file.fault("is not a valid name", key)
    named = {**table, "name": name} if isinstance(table, dict) else table
    return file.convert(named, CheckCommand, key)


def _claim(file: TomlFile, place: str, value: object) -> ContentClaim:
    path, _, symbol = place.partition("::")
    check_path(path, what="A claim's path")
    match = _DIGEST.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        problem = 'must be "upstream", or "sha256:" followed by 64 digits'
        raise file.fault(problem, f"claims.{shown(place)}")
    return ContentClaim(path, symbol or None, match[1])
