"""What a reviewer asks for as JSON."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from patchmgr.model.gating import Reach
from patchmgr.model.review import Review


def review_value(review: Review) -> dict[str, Any]:
    """Return the keys that a review adds to the report on a series."""
    return {
        "subsystems_by": review.parts_by,
        "subsystems": [
            {
                "name": part.name,
                "files": part.files,
                "added": part.added,
                "removed": part.removed,
                "tests": {
                    "files": part.test_files,
                    "added": part.test_added,
                    "removed": part.test_removed,
                },
                "rebuilt": part.rebuilt,
                "languages": list(part.languages),
            }
            for part in review.parts
        ],
        "gates": {
            "summary": {reach.value: review.count(reach) for reach in Reach},
            "sites": [
                {
                    "path": site.path,
                    "symbol": site.symbol,
                    "line": site.line,
                    "last": site.last,
                    "removal": site.is_removal,
                    "text": site.text,
                    "reach": site.reach.value,
                    "gates": [{"kind": gate.kind, "text": gate.text} for gate in site.gates],
                    "why": site.why,
                    "patches": list(site.patches),
                }
                for site in review.sites
            ],
        },
        "hotspots": {
            "window": review.window,
            "step": review.step,
            "symbols": [
                {
                    "path": hot.path,
                    "symbol": hot.symbol,
                    "commits": hot.commits,
                    "file_commits": hot.file_commits,
                    "patches": list(hot.patches),
                }
                for hot in review.hotspots
            ],
        },
        "risks": [
            {
                "kind": risk.kind.value,
                "path": risk.path,
                "what": risk.what,
                "patches": list(risk.patches),
            }
            for risk in review.risks
        ],
        "timeline": [
            {
                "ref": moment.ref,
                "commits": moment.commits,
                "dry_run": moment.is_dry_run,
                "verdicts": dict(moment.verdicts),
                "reliability": {
                    name: [to_builtins(found) for found in known]
                    for name, known in moment.reliability
                },
            }
            for moment in review.moments
        ],
    }
