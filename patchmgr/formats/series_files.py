"""Quilt series files: read them, and edit them while preserving all other bytes."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.paths import check_path, decode_path, encode_path
from patchmgr.formats.reader import merge_hints, split_lines
from patchmgr.formats.shown import shown
from patchmgr.model.series import Guard, SeriesFile, SeriesLine

MAX_PATCHES = 100_000

_ENTRY = re.compile(rb"([ \t]*)([^\s#]\S*)(.*)", re.DOTALL)
_OPTION = re.compile(rb"[ \t]+([^\s#]\S*)")
_STRIP = re.compile(rb"-p(\d{1,2})")
_GUARD = re.compile(rb"[ \t]*#([+-])([^-+# \t\r\n\f][^# \t\r\n\f]*)")
_OWN_FILES = frozenset({"series", "series.toml"})


def parse_series(raw: bytes) -> SeriesFile:
    """Read a series file; raise a "bad-series" or "unsafe-path" error, naming the line.

    Guards are the `#+sym` and `#-sym` words directly after a name and its options. Any other `#`
    begins a comment.
    """
    lines: list[SeriesLine] = []
    seen: dict[str, int] = {}
    for number, text in enumerate(split_lines(raw.removeprefix(BOM_UTF8)), 1):
        line = _parse_line(text, number)
        lines.append(line)
        if line.name is None:
            continue
        if line.name in seen:
            problem = f"the patch {shown(line.name)} is also in line {seen[line.name]}"
            raise _fault(number, problem)
        if len(seen) == MAX_PATCHES:
            raise _fault(number, f"a series must not have more than {MAX_PATCHES} patches")
        seen[line.name] = number
    return SeriesFile(tuple(lines))


def write_series(series: SeriesFile) -> bytes:
    """Return the bytes of a series file; lines that were not edited keep their bytes."""
    return b"".join(line.raw for line in series.lines)


def with_ended_lines(series: SeriesFile) -> SeriesFile:
    """Return the series with a newline at the end of its last line."""
    if not series.lines or series.lines[-1].raw.endswith(b"\n"):
        return series
    last = series.lines[-1]
    return SeriesFile((*series.lines[:-1], replace(last, raw=last.raw + b"\n")))


def without(series: SeriesFile, names: Collection[str]) -> SeriesFile:
    """Return the series without these patches; all other lines and comments are kept."""
    _check_known(series, names)
    gone = set(names)
    return SeriesFile(tuple(line for line in series.lines if line.name not in gone))


def without_strip(series: SeriesFile, names: Collection[str]) -> SeriesFile:
    """Return the series with -pN and -R removed from the lines of these patches."""
    lines = []
    for line in series.lines:
        if line.name in names and not line.is_usual:
            start, _, rest = _parts(line)
            line = replace(line, raw=start + rest, strip=1, is_reversed=False)
        lines.append(line)
    return SeriesFile(tuple(lines))


def set_aside(series: SeriesFile, names: Collection[str], note: str) -> SeriesFile:
    """Return the series with these patches' lines turned into comments that begin with `note`."""
    _check_known(series, names)
    text = b"# " + encode_path(shown(note)) + b": "
    return SeriesFile(
        tuple(
            SeriesLine(text + line.raw.lstrip(b" \t")) if line.name in names else line
            for line in series.lines
        )
    )


def renamed(series: SeriesFile, old: str, new: str) -> SeriesFile:
    """Return the series with patch `old` renamed to `new`; the rest of the patch's line is kept."""
    if old != new:
        _check_new(series, new)
    lines = list(series.lines)
    at = _place(series, old)
    match = _ENTRY.match(lines[at].raw)
    assert match is not None
    lines[at] = replace(lines[at], raw=match[1] + encode_path(new) + match[3], name=new)
    return SeriesFile(tuple(lines))


def with_appended(series: SeriesFile, name: str, *, after: str | None = None) -> SeriesFile:
    """Return the series with a new patch after the patch `after`, by default at the end."""
    at = len(series.lines) if after is None else _place(series, after) + 1
    return _with_line(series, name, at)


def with_inserted(series: SeriesFile, name: str, *, before: str) -> SeriesFile:
    """Return the series with a new patch before the patch `before`."""
    return _with_line(series, name, _place(series, before))


def _place(series: SeriesFile, name: str) -> int:
    _check_known(series, [name])
    return [line.name for line in series.lines].index(name)


def _with_line(series: SeriesFile, name: str, at: int) -> SeriesFile:
    _check_new(series, name)
    lines = list(series.lines)
    end = b"\r\n" if lines and lines[0].raw.endswith(b"\r\n") else b"\n"
    if at and not lines[at - 1].raw.endswith(b"\n"):
        lines[at - 1] = replace(lines[at - 1], raw=lines[at - 1].raw + end)
    lines.insert(at, SeriesLine(encode_path(name) + end, name))
    return SeriesFile(tuple(lines))


def with_guards(series: SeriesFile, name: str, guards: Sequence[Guard]) -> SeriesFile:
    """Replace the guards in a patch's line, keeping any comment, and return the series."""
    for guard in guards:
        if _GUARD.fullmatch(encode_path(str(guard))) is None:
            word = shown(str(guard)[1:])
            raise UsageError(f"{word} is not a guard: write +sym or -sym")
    lines = list(series.lines)
    at = _place(series, name)
    start, options, rest = _parts(lines[at])
    while old := _GUARD.match(rest):
        rest = rest[old.end() :]
    words = b"".join(b" " + encode_path(str(guard)) for guard in guards)
    raw = start + options + words + rest
    lines[at] = replace(lines[at], raw=raw, guards=tuple(guards))
    return SeriesFile(tuple(lines))


def _parts(line: SeriesLine) -> tuple[bytes, bytes, bytes]:
    """Return a patch's line as three parts: up to the name's end, its options, and the rest."""
    match = _ENTRY.match(line.raw)
    assert match is not None
    at = 0
    while option := _OPTION.match(match[3], at):
        at = option.end()
    return match[1] + match[2], match[3][:at], match[3][at:]


def reordered(series: SeriesFile, names: Sequence[str]) -> SeriesFile:
    """Return the series with its patches in the order of `names`; comment lines do not move."""
    if sorted(names) != sorted(series.names()):
        message = "the new order must name every patch of the series exactly once"
        hint = "to list the patches: patchmgr series show"
        raise PatchmgrError("bad-series", message, hint)
    by_name = {line.name: line for line in series.lines}
    order = iter(names)
    lines = []
    for line in series.lines:
        if line.name is not None:
            body = line.raw.rstrip(b"\r\n")
            moved = by_name[next(order)]
            # Each position keeps its line ending.
            line = replace(moved, raw=moved.raw.rstrip(b"\r\n") + line.raw[len(body) :])
        lines.append(line)
    return SeriesFile(tuple(lines))


def _parse_line(raw: bytes, number: int) -> SeriesLine:
    match = _ENTRY.match(raw)
    if match is None:
        return SeriesLine(raw)
    what = f"series file line {number}: the patch name"
    name = check_path(decode_path(match[2]), what=what)
    if name in _OWN_FILES:
        raise _fault(number, f"{name} is not a patch")
    line, at = SeriesLine(raw, name), 0
    while option := _OPTION.match(match[3], at):
        line, at = _with_option(line, option[1], number), option.end()
    return replace(line, guards=_guards(match[3][at:]))


def _with_option(line: SeriesLine, option: bytes, number: int) -> SeriesLine:
    if option == b"-R":
        return replace(line, is_reversed=True)
    value = _STRIP.fullmatch(option)
    if value is None:
        hint = "only -pN, -R and a comment that begins with # may follow a name"
        hints = merge_hints([line.raw]) or (hint,)
        raise _fault(number, f"unknown option {shown(option)}", *hints)
    return replace(line, strip=int(value[1]))


def _guards(rest: bytes) -> tuple[Guard, ...]:
    guards, at = [], 0
    while match := _GUARD.match(rest, at):
        guards.append(Guard(decode_path(match[2]), match[1] == b"+"))
        at = match.end()
    return tuple(guards)


def _check_known(series: SeriesFile, names: Collection[str]) -> None:
    known = set(series.names())
    for name in names:
        if name not in known:
            hint = "to list the patches: patchmgr series show"
            raise PatchmgrError("unknown-patch", f"the series has no patch {shown(name)}", hint)


def _check_new(series: SeriesFile, name: str) -> None:
    """Raise an error if a name is in use, or if a line of a series file cannot contain it."""
    check_path(name, what="The patch name")
    raw = encode_path(name)
    read = _ENTRY.fullmatch(raw)
    if not read or read[1] or read[3] or name in _OWN_FILES or raw.startswith(BOM_UTF8):
        message = f"a series file cannot contain the patch name {shown(name)}"
        raise PatchmgrError("bad-series", message, "choose a name without spaces")
    if name in series.names():
        message = f"the series already has a patch {shown(name)}"
        raise PatchmgrError("bad-series", message, "choose another name")


def _fault(number: int, problem: str, *hints: str) -> PatchmgrError:
    return PatchmgrError("bad-series", f"series file line {number}: {problem}", *hints)
