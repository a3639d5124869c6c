"""The id of a conflict: the same for the same sides, whichever comes first and wherever."""

from __future__ import annotations

import hashlib
import re

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
    regions = conflict_regions(marked) if marked is not None else ()
    digest = hashlib.sha256()
    for region_base, *sides in regions or ((base, ours, theirs),):
        for part in (region_base, *sorted(sides, key=_sort_key)):
            digest.update(b"-" if part is None else b"%d:" % len(part) + part)
    return digest.hexdigest()[:12]


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
