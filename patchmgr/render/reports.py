"""Footprint reports of several series in one output form, and the JSON form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from patchmgr import render
from patchmgr.model.footprint import FileFootprint, Footprint, PatchFile, PatchFootprint
from patchmgr.model.gating import Reach
from patchmgr.model.review import Moment, Part, Review
from patchmgr.model.work_order import WorkOrder
from patchmgr.render.machine import document, fields, pin_value
from patchmgr.render.view import UNLIMITED, View

_COUNTS = ("files", "added", "removed")


def report_json(footprints: Sequence[Footprint]) -> str:
    """Return the document of `report --json`."""
    return document("report", series=[footprint_value(footprint) for footprint in footprints])


def footprint_value(footprint: Footprint) -> dict[str, Any]:
    """Return the footprint of one series; lines of a binary are null."""
    return fields(
        footprint,
        *("kinds", "areas", "builds", "languages", "folders", "passing"),
        name=footprint.series,
        base=pin_value(footprint.pin),
        total=fields(footprint.total, *_COUNTS, "binaries"),
        by_patch={"added": footprint.patch_added, "removed": footprint.patch_removed},
        files=[_file(file) for file in footprint.files],
        patches=[_patch(patch) for patch in footprint.patches],
        skipped=[{"name": name, "reason": reason} for name, reason in footprint.skipped],
        **({} if footprint.review is None else review_value(footprint.review)),
    )


def _file(file: FileFootprint | PatchFile) -> dict[str, Any]:
    value: dict[str, Any] = to_builtins(file)
    return {**value, "added": None, "removed": None} if file.is_binary else value


def _patch(patch: PatchFootprint) -> dict[str, Any]:
    files = [_file(file) for file in patch.files]
    return fields(patch, "name", "subject", "added", "removed", "languages", files=files)


def review_value(review: Review) -> dict[str, Any]:
    """Return the keys that a review adds to the report on a series."""
    summary = {reach.value: review.count(reach) for reach in Reach}
    return {
        "subsystems_by": review.parts_by,
        "subsystems": [_part(part) for part in review.parts],
        "gates": {"summary": summary, "sites": review.sites},
        "hotspots": fields(review, "window", "step", symbols=review.hotspots),
        "risks": review.risks,
        "timeline": [_moment(moment) for moment in review.moments],
    }


def _part(part: Part) -> dict[str, Any]:
    tests = {name: getattr(part, f"test_{name}") for name in _COUNTS}
    return fields(part, "name", *_COUNTS, "rebuilt", "languages", tests=tests)


def _moment(moment: Moment) -> dict[str, Any]:
    return fields(
        moment,
        *("ref", "commits"),
        dry_run=moment.is_dry_run,
        verdicts=dict(moment.verdicts),
        reliability=dict(moment.reliability),
    )


_WIDE = 100  # columns, where there is no terminal


def reports_text(
    footprints: Sequence[Footprint], form: str, view: View, orders: Sequence[WorkOrder] = ()
) -> str:
    """Return the reports as "json", "markdown", "html" or "terminal"; only HTML has work orders."""
    if form == "json":
        return report_json(footprints)
    if form == "html":
        return render.report_html.report_html(footprints, orders)
    if form == "markdown":
        return "\n".join(map(render.report_markdown.report_markdown, footprints))
    page, colour = render.report_terminal, view.colour
    if view.is_line:
        return "".join(page.report_line(footprint, colour=colour) for footprint in footprints)
    width = view.width if view.width < UNLIMITED else _WIDE
    return "\n".join(page.report_terminal(f, width=width, colour=colour) for f in footprints)
