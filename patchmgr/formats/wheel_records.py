"""RECORD: the files that a wheel contains or installed, with the sha256 of each."""

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
    """One file: its path, and hash and size in RECORD's form ("" if it does not say)."""

    path: str
    digest: str
    size: str


def parse_record(raw: bytes) -> tuple[RecordRow, ...]:
    """Read RECORD; raise "broken-target" if the file is not one."""
    try:
        rows = list(csv.reader(io.StringIO(decode_path(raw), newline="")))
    except csv.Error as fault:
        raise PatchmgrError("broken-target", f"RECORD cannot be read: {fault}") from fault
    return tuple(RecordRow(*(*row, "", "")[:3]) for row in rows if row and row[0])


def write_record(rows: Iterable[RecordRow]) -> bytes:
    """Return RECORD with these rows."""
    text = io.StringIO(newline="")
    plain = csv.writer(text, lineterminator="\n")
    # Before Python 3.13 a carriage return alone is not quoted, and reads as the end of a row.
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        fields = (row.path, row.digest, row.size)
        (quoted if "\r" in "".join(fields) else plain).writerow(fields)
    return encode_path(text.getvalue())


def digests(rows: Iterable[RecordRow]) -> Mapping[str, str]:
    """Return a map from path to hash; the last row of a repeated path counts."""
    return {row.path: row.digest for row in rows}


def record_digest(content: bytes) -> str:
    """Return the hash of some content in RECORD's form."""
    raw = hashlib.sha256(content).digest()
    return _ALGORITHM + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def row_of(path: str, content: bytes) -> RecordRow:
    """Return the row for a file."""
    return RecordRow(path, record_digest(content), str(len(content)))


def is_known_digest(digest: str) -> bool:
    """Return whether the hash is one that `record_digest` makes."""
    return digest.startswith(_ALGORITHM)


def normalised_name(name: str) -> str:
    """Return the name of a distribution in the index's form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
