"""Results as JSON documents: format 1 of the contract."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import to_builtins

from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import AuditFinding, Ledger
from patchmgr.model.outcome import (
    FileConflict,
    HunkOutcome,
    Likely,
    PatchOutcome,
    SeriesOutcome,
    Sighting,
    Suggestion,
    TargetOutcome,
    Verdict,
)
from patchmgr.model.upstream import Pin
from patchmgr.render.clean import escaped_json

FORMAT = 1


def document(command: str, **content: Any) -> str:
    """Return one JSON document with sorted keys, ended by a line feed."""
    whole = {"format": FORMAT, "command": command, **content}
    return _written(whole)


def error_document(error: PatchmgrError) -> str:
    """Return the document for an error."""
    body = {"kind": error.kind, "message": error.message, "hints": list(error.hints)}
    whole = {"format": FORMAT, "error": body}
    return _written(whole)


def _written(whole: dict[str, Any]) -> str:
    text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False, default=str)
    return escaped_json(text) + "\n"


def rebase_document(outcomes: Iterable[SeriesOutcome], *, is_dry_run: bool, **more: Any) -> str:
    """Return the document of `rebase --json`; `more` are further keys of it."""
    series = [series_value(outcome) for outcome in outcomes]
    return document("rebase", dry_run=is_dry_run, series=series, **more)


def targets_document(targets: Iterable[TargetOutcome]) -> str:
    """Return the document of `rebase --dry-run --json` onto several targets."""
    values = [
        {"onto": target.onto, "series": [series_value(outcome) for outcome in target.series]}
        for target in targets
    ]
    return document("rebase", dry_run=True, targets=values)


def pin_value(pin: Pin) -> dict[str, Any]:
    """Return a pin as ref and commit, with the archive of a release."""
    value: dict[str, Any] = {"ref": pin.ref, "commit": pin.commit}
    if pin.archive is not None:
        value |= {"archive": pin.archive, "sha256": pin.sha256}
    return value


def series_value(outcome: SeriesOutcome) -> dict[str, Any]:
    """Return what became of one series."""
    pairs = zip(outcome.patches, outcome.commits, strict=True)
    return {
        "name": outcome.name,
        "upstream": outcome.upstream,
        "base": pin_value(outcome.base),
        "onto": pin_value(outcome.onto),
        "upstream_commits": outcome.upstream_commits,
        "commits_back": outcome.commits_back,
        "head": outcome.head,
        "tree": outcome.tree,
        "summary": {verdict.value: outcome.count(verdict) for verdict in Verdict},
        "patches": [patch_value(patch, commit) for patch, commit in pairs],
        "ledger": None if outcome.ledger is None else ledger_value(outcome.ledger),
    }


def ledger_value(ledger: Ledger) -> dict[str, Any]:
    """Return the sums of a ledger."""
    sides = {"added": to_builtins(ledger.added), "removed": to_builtins(ledger.removed)}
    return {**sides, "balanced": ledger.is_balanced}


def finding_value(finding: AuditFinding) -> dict[str, Any]:
    """Return one finding of the audit."""
    return {
        "kind": finding.kind,
        "certain": finding.is_certain,
        "path": finding.path,
        "line": finding.line,
        "symbol": finding.symbol,
        "text": finding.text,
        "commit": finding.commit,
        "proposal": finding.proposal,
        "id": finding.id or None,
        "accepted": finding.accepted,
    }


def patch_value(patch: PatchOutcome, commit: str | None) -> dict[str, Any]:
    """Return one patch's outcome."""
    return {
        "name": patch.name,
        "subject": patch.subject,
        "verdict": patch.verdict.value,
        "commit": commit,
        "evidence": [
            {
                **_sighting(s),
                "how": s.how.value if s.how else None,
                "reliability": to_builtins(s.reliability),
            }
            for s in patch.evidence
        ],
        "cause": [{**_sighting(s), "author": s.author} for s in patch.cause],
        "conflicts": [
            *(_conflict(conflict) for conflict in patch.conflicts),
            *(_without_text(finding) for finding in patch.open_findings),
        ],
        "likely": [_likely(likely) for likely in patch.likely],
        "history": [{"commit": commit, "event": event} for commit, event in patch.history],
        "now_in": patch.now_in,
        "superseded": [
            {"path": w.path, "upstream": _text(w.upstream), "patch": _text(w.patch)}
            for w in patch.superseded
        ],
        "warnings": list(patch.warnings),
        "findings": [finding_value(finding) for finding in patch.findings],
        "reason": patch.reason,
        "description": patch.description,
        "drop_when": patch.drop_when,
        "hunks": [_hunk(hunk) for hunk in patch.hunks],
    }


def _sighting(sighting: Sighting) -> dict[str, Any]:
    return {
        "commit": sighting.commit,
        "subject": sighting.subject,
        "pull": sighting.pull,
        "paths": list(sighting.paths),
    }


def _text(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


def _likely(likely: Likely) -> dict[str, Any]:
    return {
        "commit": likely.commit,
        "subject": likely.subject,
        "pull": likely.pull,
        "confidence": likely.confidence,
        "named_by": likely.named_by,
        "paths": list(likely.paths),
        "reliability": to_builtins(likely.reliability),
    }


def _conflict(conflict: FileConflict) -> dict[str, Any]:
    return {
        "id": conflict.id,
        "path": conflict.path,
        "new_path": conflict.new_path,
        "reason": conflict.reason,
        "proposal": conflict.proposal,
        "shown": [None if one is None else one.commit for one in conflict.shown],
        "candidates": suggestions_value(conflict.suggestions),
    }


def suggestions_value(regions: Sequence[Sequence[Suggestion]]) -> list[list[dict[str, Any]]]:
    """Return by region what it could become, the likeliest first."""
    return [
        [
            {
                "text": _text(one.text),
                "rule": one.reliability.rule,
                "reliability": to_builtins(one.reliability),
            }
            for one in region
        ]
        for region in regions
    ]


def _without_text(finding: AuditFinding) -> dict[str, Any]:
    """Return a conflict that has no text: a finding that waits for a person."""
    return {
        "id": finding.id,
        "path": finding.path or None,
        "new_path": finding.path or None,
        "reason": finding.text,
        "proposal": finding.proposal,
    }


def _hunk(hunk: HunkOutcome) -> dict[str, Any]:
    return {
        "path": hunk.path,
        "new_path": hunk.new_path,
        "line": hunk.line,
        "symbol": hunk.symbol,
        "verdict": hunk.verdict.value,
        "how": hunk.how.value if hunk.how else None,
        "evidence": hunk.evidence,
        "rule": hunk.reliability.rule if hunk.reliability else None,
        "reliability": to_builtins(hunk.reliability),
    }
