"""Read and write conflicts/decisions.toml: what persons decided about patches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text
from patchmgr.formats.paths import check_path
from patchmgr.formats.shown import shown
from patchmgr.formats.written_paths import read_path, written_path
from patchmgr.model.decision import Decision, Passage, Ruling
from patchmgr.model.ids import is_full_id

DECISIONS = "conflicts/decisions.toml"
FORMAT = 1
MAX_FILE = 4 * 1024 * 1024

_DIGEST = re.compile(r"[0-9a-f]{32}")
_KEYS = {"series", "patch", "verdict", "change", "by", "commit", "subject", "pull", "text"}
_TEXT_KEYS = {"path", "lines", "digest", "times"}


def parse_decisions(raw: bytes) -> tuple[Decision, ...]:
    """Read the file; raise PatchmgrError "bad-decisions" and say what is wrong where."""
    if len(raw) > MAX_FILE:
        raise _fault(f"is larger than {MAX_FILE} bytes")
    try:
        document = toml_text.loads(raw.decode())
    except (ValueError, RecursionError) as fault:
        has_markers = b"\n<<<<<<< " in b"\n" + raw
        hints = ("resolve the merge conflict in it",) if has_markers else ()
        raise _fault(f"is not TOML: {shown(str(fault))}", hints) from None
    number = document.pop("format", None)
    if number != FORMAT or type(number) is not int:
        raise _fault(f"has format {shown(str(number))}, and this patchmgr reads {FORMAT}")
    tables = document.pop("decision", [])
    if document or not isinstance(tables, list):
        raise _fault("has more than format and decision")
    return tuple(_decision(table, n) for n, table in enumerate(tables, 1))


def write_decisions(decisions: Sequence[Decision]) -> bytes:
    """Return the bytes of the file: sorted, each decision once."""
    tables = [_table(d) for d in sorted(set(decisions), key=_order)]
    content: dict[str, Any] = {"format": FORMAT}
    if tables:
        content["decision"] = tables
    raw = tomli_w.dumps(content).encode()
    parse_decisions(raw)
    return raw


def _order(decision: Decision) -> tuple[object, ...]:
    d = decision
    tail = (d.by, d.commit or "", d.subject, -1 if d.pull is None else d.pull)
    return (d.series, d.patch, d.change, d.passages, d.ruling.value, *tail)


def _table(decision: Decision) -> dict[str, Any]:
    values = {
        "series": decision.series,
        "patch": written_path(decision.patch),
        "verdict": decision.ruling.value,
        "change": decision.change,
        "by": decision.by or None,
        "commit": decision.commit,
        "subject": decision.subject or None,
        "pull": decision.pull,
        "text": [
            {"digest": p.digest, "lines": p.lines, "path": written_path(p.path), "times": p.times}
            for p in sorted(decision.passages)
        ],
    }
    return {key: values[key] for key in sorted(values) if values[key] is not None}


def _decision(table: Any, number: int) -> Decision:
    where = f"decision {number}"
    values = _Values(table, where, _KEYS)
    verdict = values.text("verdict")
    if verdict not in {ruling.value for ruling in Ruling}:
        raise _fault(f"{where}: verdict is {shown(verdict)} and must be absorbed or needed")
    commit = values.text("commit") if "commit" in table else None
    if commit is not None and not is_full_id(commit):
        raise _fault(f"{where}: commit must be a full id of 40 hexadecimal digits")
    texts = table.get("text")
    if not isinstance(texts, list) or not texts:
        raise _fault(f"{where}: text is missing")
    return Decision(
        values.text("series"),
        values.path("patch"),
        Ruling(verdict),
        values.digest("change"),
        tuple(sorted(_passage(text, f"{where}, text {n}") for n, text in enumerate(texts, 1))),
        by=values.text("by") if "by" in table else "",
        commit=commit,
        subject=values.text("subject") if "subject" in table else "",
        pull=values.number("pull") if "pull" in table else None,
    )


def _passage(table: Any, where: str) -> Passage:
    values = _Values(table, where, _TEXT_KEYS)
    path, lines = values.path("path"), values.number("lines")
    is_absent = not lines and table.get("digest") == ""
    digest = "" if is_absent else values.digest("digest")
    return Passage(path, lines, digest, values.number("times"))


class _Values:
    """A table whose values are taken out with their type checked."""

    def __init__(self, table: Any, where: str, known: set[str]) -> None:
        if not isinstance(table, Mapping):
            raise _fault(f"{where} must be a table")
        unknown = sorted(set(table) - known)
        if unknown:
            raise _fault(f"{where}: {shown(unknown[0])} is unknown")
        self._table, self._where = table, where

    def text(self, key: str) -> str:
        value = self._table.get(key)
        if not isinstance(value, str) or not value or not value.isprintable():
            raise _fault(f"{self._where}: {key} must be a text, printable and not empty")
        return value

    def path(self, key: str) -> str:
        written = self.text(key)
        return check_path(read_path(written), what=f"{DECISIONS}: {self._where}: {key}")

    def digest(self, key: str) -> str:
        value = self.text(key)
        if not _DIGEST.fullmatch(value):
            raise _fault(f"{self._where}: {key} must be 32 hexadecimal digits")
        return value

    def number(self, key: str) -> int:
        value = self._table.get(key)
        if type(value) is not int or value < 0:
            raise _fault(f"{self._where}: {key} must be a number")
        return value


def _fault(problem: str, hints: tuple[str, ...] = ()) -> PatchmgrError:
    return PatchmgrError("bad-decisions", f"{DECISIONS} {problem}.", hints)
