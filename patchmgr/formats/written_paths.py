"""Paths as they stand in our own TOML files: printable, and one way only."""

from __future__ import annotations

from urllib.parse import quote_from_bytes, unquote_to_bytes

from patchmgr.formats.paths import decode_path, encode_path

_PLAIN = " /!#$&'()*+,:;=@[]{}^~"  # what stands for itself, besides letters and digits


def written_path(path: str) -> str:
    """Return a path as it is written: what is no plain letter as `%` and two digits."""
    return quote_from_bytes(encode_path(path), safe=_PLAIN)


def read_path(written: str) -> str:
    """Return the path that was written so."""
    return decode_path(unquote_to_bytes(written))
