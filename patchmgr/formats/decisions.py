"""The TOML files of `conflicts/`: decisions about patches, and accepted findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path, read_path, written_path
from patchmgr.formats.toml_text import TomlFile
from patchmgr.model.audit import Accepted
from patchmgr.model.decision import Decision, Ruling

ACCEPTED = "conflicts/accepted.toml"
MAX_FILE = 4 * 1024 * 1024
_ACCEPTED = TomlFile("bad-accepted", ACCEPTED, MAX_FILE)


class _AcceptedDocument(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal[1]
    accepted: tuple[Accepted, ...] = ()


def parse_accepted(raw: bytes) -> tuple[Accepted, ...]:
    """Parse the file of accepted findings; raise a "bad-accepted" error if it is malformed."""
    return _ACCEPTED.read(raw, _AcceptedDocument).accepted


def write_accepted(accepted: Iterable[Accepted]) -> bytes | None:
    """Return the file of accepted findings, sorted by id, or None if no finding is accepted."""
    rows = sorted({one.id: one for one in accepted}.values(), key=lambda one: one.id)
    if not rows:
        return None
    raw = _ACCEPTED.write(to_builtins(_AcceptedDocument(1, tuple(rows))))
    parse_accepted(raw)
    return raw


DECISIONS = "conflicts/decisions.toml"
FORMAT = 1
_KIND = "bad-decisions"
_DECISIONS = TomlFile(_KIND, DECISIONS, MAX_FILE)


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal[1]
    decision: tuple[Any, ...] = ()


def parse_decisions(raw: bytes) -> tuple[Decision, ...]:
    """Parse the file of decisions; raise a "bad-decisions" error if a decision is malformed."""
    rows = _DECISIONS.read(raw, _Document).decision
    return tuple(_read(row, f"decision {n}") for n, row in enumerate(rows, 1))


def write_decisions(decisions: Iterable[Decision]) -> bytes:
    """Return the file of decisions, sorted and without duplicates."""
    content: dict[str, Any] = {"format": FORMAT}
    if tables := [_written(decision) for decision in sorted(set(decisions), key=_order)]:
        content["decision"] = tables
    raw = _DECISIONS.write(content)
    parse_decisions(raw)
    return raw


def _order(d: Decision) -> tuple[object, ...]:
    tail = (d.by, d.commit or "", d.subject, d.pull or 0)
    return (d.series, d.patch, d.change, d.passages, d.ruling.value, *tail)


def _read(table: Any, key: str) -> Decision:
    decision, where = _DECISIONS.convert(table, Decision, key), f"{DECISIONS}: {key}"
    if any(passage.lines and not passage.digest for passage in decision.passages):
        raise PatchmgrError(_KIND, f"{where}: a passage with `lines` needs a `digest`")
    if not decision.passages and (decision.commit is None or decision.ruling is Ruling.ABSORBED):
        other = "" if decision.ruling is Ruling.ABSORBED else " or a `commit`"
        raise PatchmgrError(_KIND, f"{where} needs at least one passage in `text`{other}")
    passages = (replace(p, path=_path(p.path, where)) for p in decision.passages)
    patch = _path(decision.patch, where)
    return replace(decision, patch=patch, passages=tuple(sorted(passages)))


def _path(written: str, where: str) -> str:
    return check_path(read_path(written), what=f"{where}: the path")


def _written(decision: Decision) -> dict[str, Any]:
    texts = tuple(replace(p, path=written_path(p.path)) for p in sorted(decision.passages))
    plain = replace(decision, patch=written_path(decision.patch), passages=texts)
    table = to_builtins(plain, order="sorted")
    return {key: value for key, value in table.items() if value not in (None, "")}
