"""Read and write conflicts/accepted.toml: findings that persons accepted, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
import tomli_w
from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text
from patchmgr.formats.shown import shown
from patchmgr.model.audit import Accepted

ACCEPTED = "conflicts/accepted.toml"
FORMAT = 1
MAX_FILE = 4 * 1024 * 1024
_ID = re.compile(r"[0-9a-f]{12}")


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    accepted: tuple[Accepted, ...] = ()


def parse_accepted(raw: bytes) -> tuple[Accepted, ...]:
    """Read the file; raise PatchmgrError "bad-accepted" and say what is wrong."""
    if len(raw) > MAX_FILE:
        raise _fault(f"is larger than {MAX_FILE} bytes")
    try:
        document = msgspec.convert(toml_text.loads(raw.decode()), _Document)
    except (ValueError, RecursionError) as fault:
        raise _fault(f"cannot be read: {shown(str(fault))}") from fault
    if document.format != FORMAT:
        raise _fault(f"has format {document.format}, and this patchmgr reads {FORMAT}")
    wrong = next((one.id for one in document.accepted if not _ID.fullmatch(one.id)), None)
    if wrong is not None:
        raise _fault(f"has an id that is none: {shown(wrong)}")
    return document.accepted


def write_accepted(accepted: Iterable[Accepted]) -> bytes | None:
    """Return the bytes of the file, sorted by id; None where nothing is accepted."""
    rows = sorted({one.id: one for one in accepted}.values(), key=lambda one: one.id)
    if not rows:
        return None
    raw = tomli_w.dumps(msgspec.to_builtins(_Document(FORMAT, tuple(rows)))).encode()
    parse_accepted(raw)
    return raw


def _fault(problem: str) -> PatchmgrError:
    hint = "resolve the merge conflict in it, or delete what is wrong"
    return PatchmgrError("bad-accepted", f"{ACCEPTED} {problem}", (hint,))
