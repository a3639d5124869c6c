"""RECORD: the list of the files that a wheel contains or installed, with their digests."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import decode_path, encode_path

_ALGORITHM = "sha256="


class RecordRow(Struct, frozen=True):
    """A row of RECORD: a file's path, hash (`sha256=...`) and size; hash and size may be ""."""

    path: str
    digest: str
    size: str


def parse_record(raw: bytes) -> tuple[RecordRow, ...]:
    """Read a RECORD file; raise a "broken-target" error if it is not valid CSV."""
    try:
        rows = list(csv.reader(io.StringIO(decode_path(raw), newline="")))
    except csv.Error as fault:
        raise PatchmgrError(
            "broken-target", f"RECORD cannot be read: {fault}", "install the package again"
        ) from fault
    return tuple(RecordRow(*(*row, "", "")[:3]) for row in rows if row and row[0])


def write_record(rows: Iterable[RecordRow]) -> bytes:
    """Return the bytes of a RECORD file with these rows."""
    text = io.StringIO(newline="")
    plain = csv.writer(text, lineterminator="\n")
    # Before Python 3.13 a carriage return alone is not quoted, and reads as the end of a row.
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        fields = (row.path, row.digest, row.size)
        (quoted if "\r" in "".join(fields) else plain).writerow(fields)
    return encode_path(text.getvalue())


def digests(rows: Iterable[RecordRow]) -> Mapping[str, str]:
    """Return the hash of each path; if a path has several rows, the last one counts."""
    return {row.path: row.digest for row in rows}


def record_digest(content: bytes) -> str:
    """Return the hash of a file's content as RECORD writes it."""
    raw = hashlib.sha256(content).digest()
    return _ALGORITHM + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def row_of(path: str, content: bytes) -> RecordRow:
    """Return the RECORD row for a file with this content."""
    return RecordRow(path, record_digest(content), str(len(content)))


def is_known_digest(digest: str) -> bool:
    """Return whether the hash is a sha256 in the form that `record_digest` returns."""
    return digest.startswith(_ALGORITHM)


def normalized_name(name: str) -> str:
    """Return the normalized name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
