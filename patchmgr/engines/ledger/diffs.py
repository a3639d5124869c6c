"""Read patches. The ledger has its own reader, independent of the engine's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field


class RawHunk(Struct, frozen=True):
    """A hunk: its lines, and the index (from 0) of its first line in the old file."""

    start: int
    lines: tuple[bytes, ...]  # each with its `+`, `-` or space, without its line ending

    def side(self, other: bytes) -> list[bytes]:
        """Return one side's lines: all lines of the hunk except those that start with `other`."""
        return [line[1:] for line in self.lines if line[:1] != other]

    def only(self, kind: bytes) -> list[bytes]:
        """Return the lines of one kind (`+`, `-` or a space), without their first character."""
        return [line[1:] for line in self.lines if line[:1] == kind]

    @property
    def is_last(self) -> bool:
        """Whether the hunk has less context after than before its changes, as at a file's end."""
        kinds = b"".join(line[:1] for line in self.lines)
        return len(kinds) - len(kinds.rstrip()) < len(kinds) - len(kinds.lstrip())

    def beside(self) -> list[bytes]:
        """Return the context lines of the hunk that are directly next to an added line."""
        kinds = [b"", *(line[:1] for line in self.lines), b""]
        return [
            line[1:]
            for number, line in enumerate(self.lines)
            if line[:1] == b" " and b"+" in (kinds[number], kinds[number + 2])
        ]


class Diff(Struct):
    """The change to one file, as given in a diff. Blob ids may be abbreviated."""

    old: str | None
    new: str | None
    is_copy: bool = False
    new_id: str = ""
    hunks: list[RawHunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The new path of the file, or the old one if the file is deleted."""
        return self.new if self.new is not None else self.old or ""


_RANGE = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPES = dict(zip(b"ntrabfv", b"\n\t\r\a\b\f\v", strict=True))
_OPPOSITE = {b"+": b"-", b"-": b"+"}


def read_diffs(diff: bytes, *, strip: int = 1, is_reversed: bool = False) -> list[Diff]:
    """Return the change, or its reverse, to each file in a diff. `strip` is as in `patch -p`."""
    lines = diff.split(b"\n")
    found: list[Diff] = []
    here = 0
    is_git = False
    while here < len(lines):
        line = lines[here].removesuffix(b"\r")
        if line.startswith(b"diff --git "):
            is_git = True
            name = _halves(line[len(b"diff --git ") :], strip)
            found.append(Diff(name, name))
        elif (
            line.startswith(b"--- ")
            and lines[here + 1 : here + 2][:1]
            and lines[here + 1].startswith(b"+++ ")
        ):
            if not is_git:
                found.append(Diff(None, None))
            old, new = (_name(li[4:].removesuffix(b"\r"), strip) for li in lines[here : here + 2])
            if not (found[-1].is_copy or (found[-1].old != found[-1].new and is_git)):
                found[-1].old, found[-1].new = old, new
            here += 1
        elif line.startswith(b"@@ ") and found:
            match = _RANGE.match(line)
            if match is not None:
                here = _read_hunk(lines, here, match, found[-1])
                continue
        elif found and is_git:
            _read_header(line, found[-1])
        here += 1
    return [_reverse(one) for one in found] if is_reversed else found


def _read_header(line: bytes, diff: Diff) -> None:
    word, _, rest = line.partition(b" ")
    if word in (b"rename", b"copy"):
        side, _, name = rest.partition(b" ")
        diff.is_copy = word == b"copy"
        if side == b"from":
            diff.old = _unquoted(name)
        else:
            diff.new = _unquoted(name)
    elif line.startswith(b"new file mode"):
        diff.old = None
    elif line.startswith(b"deleted file mode"):
        diff.new = None
    elif word == b"index":
        diff.new_id = rest.split(b" ")[0].partition(b"..")[2].decode("ascii", "replace")


def _read_hunk(lines: Sequence[bytes], here: int, match: re.Match[bytes], diff: Diff) -> int:
    """Read as many lines as the hunk header says, and return the index of the line after them."""
    old, new = (1 if n is None else int(n) for n in (match[2], match[4]))
    found: list[bytes] = []
    here += 1
    while here < len(lines) and (old > 0 or new > 0):
        line = lines[here] or b" "
        here += 1
        kind = line[:1]
        if kind == b"\\":
            continue
        if kind not in (b" ", b"+", b"-"):
            line, kind = b" " + line.lstrip(b"\r"), b" "
        old -= kind != b"+"
        new -= kind != b"-"
        found.append(line.removesuffix(b"\r"))
    start = int(match[1]) - (match[2] != b"0")
    diff.hunks.append(RawHunk(start, tuple(found)))
    return here


def _reverse(diff: Diff) -> Diff:
    hunks = [
        RawHunk(h.start, tuple(_OPPOSITE.get(li[:1], b" ") + li[1:] for li in h.lines))
        for h in diff.hunks
    ]
    return Diff(diff.new, diff.old, diff.is_copy, "", hunks)


def _halves(names: bytes, strip: int) -> str | None:
    """Return the path in a `diff --git` line, or None if its two names may differ."""
    if names.startswith(b'"'):
        first = re.match(rb'"(?:[^"\\]|\\.)*"', names)
        return None if first is None else _name(first[0], strip)
    half = len(names) // 2
    return _name(names[:half], strip) if names[half : half + 1] == b" " else None


def _name(name: bytes, strip: int) -> str | None:
    name = name if name.startswith(b'"') else name.partition(b"\t")[0]
    path = _unquoted(name)
    return None if path == "/dev/null" else path.split("/", strip)[-1]


def _unquoted(name: bytes) -> str:
    if name.startswith(b'"'):
        name = re.sub(rb"\\([0-7]{3}|.)", _unescape, name.strip(b" \t\r")[1:-1])
    return name.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255 if len(code) == 3 else _ESCAPES.get(code[0], code[0])])
