"""The id of a conflict: the same for the same sides, whichever comes first and wherever."""

from __future__ import annotations

import hashlib
import re

from patchmgr.engines.text.marked import split_marked

_MARKER = re.compile(rb"^(<{7} .*|\|{7} .*|={7}|>{7} .*)\r?\n?$")


_FOLLOWS = {b"": b"<", b"<": b"|", b"|": b"=", b"=": b">"}


def conflict_regions(marked: bytes) -> tuple[tuple[bytes, bytes, bytes], ...]:
    """Return base, ours and theirs of each region between markers (zdiff3 or diff3 form).

    A marker that is not the next one due is a line of the text, as a title that is underlined
    in seven letters.
    """
    regions: list[tuple[bytes, bytes, bytes]] = []
    parts: dict[bytes, list[bytes]] = {}
    side = b""
    for line in marked.split(b"\n"):
        kind = line[:1] if _MARKER.match(line) else b""
        if kind != _FOLLOWS[side]:
            parts.setdefault(side, []).append(line)
        elif kind == b">":
            base, ours, theirs = (b"\n".join(parts.get(k, [])) for k in (b"|", b"<", b"="))
            regions.append((base, ours, theirs))
            parts, side = {}, b""
        else:
            side = kind
    return tuple(regions)


def conflict_id(
    base: bytes | None, ours: bytes | None, theirs: bytes | None, marked: bytes | None
) -> str:
    """Return 12 hex digits made of the sides of every region, sorted, without positions."""
    found = split_marked(marked).regions if marked is not None else ()
    regions = [tuple(map(_bare, (r.base, r.ours, r.theirs))) for r in (f.region for f in found)]
    digest = hashlib.sha256()
    for region_base, *sides in regions or ((base, ours, theirs),):
        for part in (region_base, *sorted(sides, key=_sort_key)):
            digest.update(b"-" if part is None else b"%d:" % len(part) + part)
    return digest.hexdigest()[:12]


def region_id(base: bytes, ours: bytes, theirs: bytes) -> str:
    """Return the id of one region, given as whole lines: that of a file with no other region."""
    return conflict_id(_bare(base), _bare(ours), _bare(theirs), None)


def _bare(side: bytes) -> bytes:
    """Return lines without the last line feed, but tell blank lines from none."""
    return side.removesuffix(b"\n") if side.strip(b"\n") else side


def _sort_key(part: bytes | None) -> tuple[bool, bytes]:
    return part is not None, part or b""


def resolved_to_ours(marked: bytes) -> bytes:
    """Return the text with every region settled as ours has it."""
    kept: list[bytes] = []
    side = b""
    for line in marked.split(b"\n"):
        kind = line[:1] if _MARKER.match(line) else b""
        if kind == _FOLLOWS[side]:
            side = b"" if kind == b">" else kind
        elif side in (b"", b"<"):
            kept.append(line)
    return b"\n".join(kept)
