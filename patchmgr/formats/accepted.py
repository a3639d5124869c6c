"""Read and write conflicts/accepted.toml: findings that persons accepted, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
import tomli_w
from msgspec import Struct

from patchmgr.formats.toml_text import converted, read_toml
from patchmgr.model.audit import Accepted

ACCEPTED = "conflicts/accepted.toml"
MAX_FILE = 4 * 1024 * 1024


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal[1]
    accepted: tuple[Accepted, ...] = ()


def parse_accepted(raw: bytes) -> tuple[Accepted, ...]:
    """Read the file; raise PatchmgrError "bad-accepted" and say what is wrong."""
    table = read_toml(raw, kind="bad-accepted", what=ACCEPTED, limit=MAX_FILE)
    return converted(table, _Document, kind="bad-accepted", what=f"{ACCEPTED}:").accepted


def write_accepted(accepted: Iterable[Accepted]) -> bytes | None:
    """Return the bytes of the file, sorted by id; None where nothing is accepted."""
    rows = sorted({one.id: one for one in accepted}.values(), key=lambda one: one.id)
    if not rows:
        return None
    raw = tomli_w.dumps(msgspec.to_builtins(_Document(1, tuple(rows)))).encode()
    parse_accepted(raw)
    return raw
