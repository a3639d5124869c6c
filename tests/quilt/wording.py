"""How quilt, diff and patch say what patchmgr said: headers of diffs, and hunks without a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from patchmgr.model.patch import FilePatch

_SECTION = re.compile(rb"(?m)^diff --git ")
_HUNK = re.compile(rb"(?m)^(@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@).*$")
_WHERE = re.compile(r": (?P<path>[^:]+): hunk (?P<number>\d+) at line (?P<line>\d+): ")
_RULE = b"=" * 67


@dataclass(frozen=True)
class Labels:
    """How the two sides of a file are named: `-p ab`, `-p0` or `-p1`, with an Index line or not."""

    form: str
    project: str
    has_index: bool = True

    def of(self, path: str) -> tuple[str, str]:
        """Return the names of the old and the new side."""
        if self.form == "ab":
            return f"a/{path}", f"b/{path}"
        if self.form == "0":
            return f"{path}.orig", path
        return f"{self.project}.orig/{path}", f"{self.project}/{path}"


def quilt_diff(diff: bytes, labels: Labels) -> bytes:
    """Return a diff of git's with the header lines that quilt has; what has no hunk is left out."""
    starts = [found.start() for found in _SECTION.finditer(diff)]
    ends = (*starts, len(diff))[1:]
    return b"".join(_section(diff[a:b], labels) for a, b in zip(starts, ends, strict=False))


def _section(text: bytes, labels: Labels) -> bytes:
    first = _HUNK.search(text)
    if first is None:
        return b""
    head = text[: first.start()].split(b"\n")
    old = next(line[4:] for line in head if line.startswith(b"--- ")).rstrip(b"\t")
    new = next(line[4:] for line in head if line.startswith(b"+++ ")).rstrip(b"\t")
    named = new if new != b"/dev/null" else old
    path = named.strip(b'"')[2:].decode("utf-8", "surrogateescape")
    before, after = labels.of(path)
    if new == b"/dev/null" and labels.form == "0":
        before = path
    lines = [f"Index: {after}".encode(), _RULE] if labels.has_index else []
    for sign, name, given in ((b"---", before, old), (b"+++", after, new)):
        lines.append(sign + b" " + (given if given == b"/dev/null" else _quoted(name)))
    body = _HUNK.sub(rb"\1", text[first.start() :])
    return b"".join(line + b"\n" for line in lines) + body


def _quoted(name: str) -> bytes:
    raw = name.encode("utf-8", "surrogateescape")
    return b'"' + raw + b'"' if b" " in raw else raw


@dataclass(frozen=True)
class Failures:
    """Hunks of a file that had no place: how many it has, and number and line of those."""

    path: str
    total: int
    hunks: tuple[tuple[int, int], ...]

    def lines(self, *, is_quiet: bool, is_forced: bool) -> Iterator[str]:
        """Yield what `patch` says of them."""
        if not is_quiet:
            yield from (f"Hunk #{number} FAILED at {line}." for number, line in self.hunks)
        noun = "hunk" if self.total == 1 else "hunks"
        start = f"{len(self.hunks)} out of {self.total} {noun} FAILED"
        if is_forced:
            yield f"{start} -- saving rejects to file {self.path}.rej"
        else:
            yield start if is_quiet else f"{start} -- rejects in file {self.path}"


def failures(change: FilePatch, message: str, rejected: bytes | None) -> Failures:
    """Return the failures of a file, by a reject file of it, or by patchmgr's message."""
    starts = [hunk.old_start for hunk in change.hunks]
    found = _WHERE.search(message)
    if rejected is not None:
        left = [int(each[2]) for each in _HUNK.finditer(rejected)]
        hunks = tuple((starts.index(line) + 1, line) for line in left)
    elif found is not None and found["path"] == change.path:
        hunks = ((int(found["number"]), int(found["line"])),)
    else:
        hunks = tuple(enumerate(starts, 1))[:1]
    return Failures(change.path, len(starts), hunks)


def no_file(change: FilePatch, text: str) -> str:
    """Return what `patch` says of a file that is not there."""
    named = re.compile(rf"(?m)^--- .*{re.escape(change.path)}.*\n\+\+\+ .*$").search(text)
    lines = named[0].split("\n") if named is not None else []
    rule = "--------------------------"
    noun = "hunk" if len(change.hunks) == 1 else "hunks"
    count = len(change.hunks)
    return "\n".join(
        [
            "The text leading up to this was:",
            rule,
            *(f"|{line}" for line in lines),
            rule,
            "No file to patch.  Skipping patch.",
            f"{count} out of {count} {noun} ignored",
        ]
    )
