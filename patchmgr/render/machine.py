"""JSON documents with the results of commands, in format 1 of the contract."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import AuditFinding
from patchmgr.model.outcome import FileConflict, PatchOutcome, SeriesOutcome, Suggestion, Verdict
from patchmgr.model.upstream import Pin
from patchmgr.render.clean import escaped_json

FORMAT = 1


def document(command: str, value: Struct | None = None, **content: Any) -> str:
    """Return the JSON document of a command: the fields of `value`, and the keys in `content`.

    Keys are sorted, and the document ends with a newline.
    """
    known = {} if value is None else keys(value)
    return _written({"format": FORMAT, "command": command, **known, **content})


def keys(value: Struct) -> dict[str, Any]:
    """Return the fields of a value by the names that they have in JSON documents."""
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
    """Return the named fields of a value, and the keys in `more`."""
    return {**{name: getattr(value, name) for name in names}, **more}


def rebase_document(outcomes: Iterable[SeriesOutcome], *, is_dry_run: bool, **more: Any) -> str:
    """Return the JSON document of `rebase`, with the keys in `more` added."""
    series = [series_value(outcome) for outcome in outcomes]
    return document("rebase", dry_run=is_dry_run, series=series, **more)


def pin_value(pin: Pin) -> dict[str, Any]:
    """Return a pin as JSON data: its ref and commit, and the archive if it is a release."""
    value: dict[str, Any] = {"ref": pin.ref, "commit": pin.commit}
    if pin.archive is not None:
        value |= {"archive": pin.archive, "sha256": pin.sha256}
    return value


def series_value(outcome: SeriesOutcome) -> dict[str, Any]:
    """Return the outcome of a rebase for one series as JSON data."""
    pairs, ledger = zip(outcome.patches, outcome.commits, strict=True), outcome.ledger
    value = fields(
        outcome,
        *("name", "upstream", "upstream_commits", "commits_back", "head", "tree"),
        base=pin_value(outcome.base),
        onto=pin_value(outcome.onto),
        summary={verdict: outcome.count(verdict) for verdict in Verdict},
        patches=[patch_value(patch, commit) for patch, commit in pairs],
        ledger=ledger and fields(ledger, "added", "removed", balanced=ledger.is_balanced),
    )
    plain: dict[str, Any] = to_builtins(value)
    return plain


def finding_value(finding: AuditFinding) -> dict[str, Any]:
    """Return a finding of the audit as JSON data."""
    names = ("kind", "path", "line", "symbol", "text", "commit", "proposal", "accepted")
    return fields(finding, *names, certain=finding.is_certain, id=finding.id or None)


_SIGHTING = ("commit", "subject", "pull", "paths")


def patch_value(patch: PatchOutcome, commit: str | None) -> dict[str, Any]:
    """Return a patch's outcome in a rebase, and the id of its new commit, as JSON data."""
    open_findings = [_without_text(finding) for finding in patch.open_findings]
    return fields(
        patch,
        *("name", "subject", "verdict", "likely", "now_in", "warnings", "reason"),
        *("description", "drop_when"),
        commit=commit,
        evidence=[fields(s, *_SIGHTING, "how", "reliability") for s in patch.evidence],
        cause=[fields(s, *_SIGHTING, "author") for s in patch.cause],
        conflicts=[*map(_conflict, patch.conflicts), *open_findings],
        history=[{"commit": commit, "event": event} for commit, event in patch.history],
        superseded=[
            {"path": w.path, "upstream": _text(w.upstream), "patch": _text(w.patch)}
            for w in patch.superseded
        ],
        findings=list(map(finding_value, patch.findings)),
        hunks=[
            {**to_builtins(hunk), "rule": hunk.reliability and hunk.reliability.rule}
            for hunk in patch.hunks
        ],
    )


def _text(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


def _conflict(conflict: FileConflict) -> dict[str, Any]:
    return fields(
        conflict,
        *("id", "path", "new_path", "reason", "proposal"),
        shown=[None if one is None else one.commit for one in conflict.shown],
        candidates=suggestions_value(conflict.suggestions),
    )


def suggestions_value(regions: Sequence[Sequence[Suggestion]]) -> list[list[dict[str, Any]]]:
    """Return the candidate resolutions of each conflict region, the likeliest first."""
    return [
        [
            fields(one, "reliability", text=_text(one.text), rule=one.reliability.rule)
            for one in region
        ]
        for region in regions
    ]


def _without_text(finding: AuditFinding) -> dict[str, Any]:
    """Return an open finding as a conflict without text."""
    path = finding.path or None
    return fields(finding, "id", "proposal", path=path, new_path=path, reason=finding.text)
