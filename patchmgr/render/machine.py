"""Write the results of commands as JSON documents, in format 1."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct, to_builtins

from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import AuditFinding
from patchmgr.model.documents import (
    CandidateDocument,
    CauseDocument,
    ConflictDocument,
    EventDocument,
    EvidenceDocument,
    FindingDocument,
    HunkDocument,
    LedgerDocument,
    PatchDocument,
    SeriesDocument,
    WordingDocument,
)
from patchmgr.model.outcome import FileConflict, PatchOutcome, SeriesOutcome, Suggestion, Verdict
from patchmgr.model.upstream import Pin, UpstreamState
from patchmgr.render.escape import escaped_json

FORMAT = 1
S = TypeVar("S", bound=Struct)


def document(command: str, *values: Struct | Mapping[str, Any]) -> str:
    """Return a command's JSON document, which has the fields of all values, sorted by key."""
    whole: dict[str, Any] = {"format": FORMAT, "command": command}
    for value in values:
        whole |= keys(value)
    return _written(whole)


def keys(value: Struct | Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a value, keyed by their names in JSON documents."""
    if not isinstance(value, Struct):
        return dict(value)
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    return {name: getattr(value, field) for field, name in names}


def error_document(error: PatchmgrError) -> str:
    """Return the JSON document for an error: its kind, message and hints."""
    body = {"kind": error.kind, "message": error.message, "hints": error.hints}
    return _written({"format": FORMAT, "error": body})


def _written(whole: dict[str, Any]) -> str:
    plain = to_builtins(whole, enc_hook=str)
    text = json.dumps(plain, indent=1, sort_keys=True, ensure_ascii=False)
    return escaped_json(text) + "\n"


def fields(value: Struct, *names: str, **more: Any) -> dict[str, Any]:
    """Return a dictionary with the fields of a value that `names` lists, and with `more`."""
    return {**{name: getattr(value, name) for name in names}, **more}


def document_of(kind: type[S], value: Struct, **more: Any) -> S:
    """Return a document of class `kind` with the fields of `value`; `more` overrides them."""
    names = (name for name in kind.__struct_fields__ if name not in more)
    return kind(**{name: getattr(value, name) for name in names}, **more)


def pin_document(pin: Pin) -> UpstreamState:
    """Return a pin as a document."""
    return document_of(UpstreamState, pin)


def series_document(outcome: SeriesOutcome) -> SeriesDocument:
    """Return the outcome of a rebase for one series as a document."""
    pairs, ledger = zip(outcome.patches, outcome.commits, strict=True), outcome.ledger
    return document_of(
        SeriesDocument,
        outcome,
        base=pin_document(outcome.base),
        onto=pin_document(outcome.onto),
        summary={verdict: outcome.count(verdict) for verdict in Verdict},
        patches=tuple(patch_document(patch, commit) for patch, commit in pairs),
        ledger=ledger and document_of(LedgerDocument, ledger),
    )


def finding_document(finding: AuditFinding) -> FindingDocument:
    """Return a finding of the audit or the ledger as a document."""
    return document_of(FindingDocument, finding, id=finding.id or None)


def patch_document(patch: PatchOutcome, commit: str | None) -> PatchDocument:
    """Return a patch's outcome in a rebase as a document; `commit` is the patch's new commit."""
    return document_of(
        PatchDocument,
        patch,
        commit=commit,
        evidence=tuple(document_of(EvidenceDocument, one) for one in patch.evidence),
        cause=tuple(document_of(CauseDocument, one) for one in patch.cause),
        conflicts=(*map(_conflict, patch.conflicts), *map(_without_text, patch.open_findings)),
        history=tuple(EventDocument(*one) for one in patch.history),
        superseded=tuple(
            WordingDocument(one.path, _text(one.upstream), _text(one.patch))
            for one in patch.superseded
        ),
        findings=tuple(map(finding_document, patch.findings)),
        hunks=tuple(
            document_of(HunkDocument, one, rule=one.reliability and one.reliability.rule)
            for one in patch.hunks
        ),
    )


def _text(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


def _conflict(conflict: FileConflict) -> ConflictDocument:
    return document_of(
        ConflictDocument,
        conflict,
        shown=tuple(one and one.commit for one in conflict.shown),
        candidates=candidates(conflict.suggestions),
    )


def candidates(
    regions: Sequence[Sequence[Suggestion]],
) -> tuple[tuple[CandidateDocument, ...], ...]:
    """Return the candidate resolutions of each conflicting region, the likeliest first."""
    return tuple(
        tuple(
            document_of(CandidateDocument, one, text=_text(one.text), rule=one.reliability.rule)
            for one in region
        )
        for region in regions
    )


def _without_text(finding: AuditFinding) -> ConflictDocument:
    """Return an open finding as a conflict without text."""
    path = finding.path or None
    return ConflictDocument(finding.id, path, path, finding.text, finding.proposal)
