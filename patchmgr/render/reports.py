"""Reports on several series in every output format, and the results of `report --compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from patchmgr import render
from patchmgr.model.comparison import ComparedPatch
from patchmgr.model.footprint import (
    ChangedFile,
    ComparedFootprint,
    Footprint,
    PatchFootprint,
    Reach,
    Review,
    Subsystem,
    Touched,
)
from patchmgr.model.work_order import WorkOrder
from patchmgr.render.escape import clean, counted
from patchmgr.render.inspecting import comparison_lines, comparison_sums
from patchmgr.render.machine import document, fields, keys, pin_document
from patchmgr.render.markdown_text import LIMIT, Page, code, fenced, text
from patchmgr.render.view import UNLIMITED, View


def footprint_value(footprint: Footprint) -> dict[str, Any]:
    """Return the report on one series as JSON data; the line counts of a binary file are null."""
    return fields(
        footprint,
        *("kinds", "areas", "builds", "languages", "folders", "passing"),
        name=footprint.series,
        base=pin_document(footprint.pin),
        total=fields(footprint.total, *_COUNTS, "binaries"),
        by_patch={"added": footprint.patch_added, "removed": footprint.patch_removed},
        files=[_file(file) for file in footprint.files],
        patches=[_patch(patch) for patch in footprint.patches],
        skipped=[{"name": name, "reason": reason} for name, reason in footprint.skipped],
        **({} if footprint.review is None else review_value(footprint.review)),
    )


def _file(file: ChangedFile) -> dict[str, Any]:
    value: dict[str, Any] = to_builtins(file)
    return {**value, "added": None, "removed": None} if file.is_binary else value


def _patch(patch: PatchFootprint) -> dict[str, Any]:
    files = [_file(file) for file in patch.files]
    return fields(patch, "name", "subject", "added", "removed", "languages", files=files)


def review_value(review: Review) -> dict[str, Any]:
    """Return the part of a report for reviewers as JSON data."""
    summary = {reach.value: review.count(reach) for reach in Reach}
    return {
        "subsystems_by": review.parts_by,
        "subsystems": [_part(part) for part in review.parts],
        "gates": {"summary": summary, "sites": review.sites},
        "hotspots": fields(review, "window", "step", symbols=review.hotspots),
        "risks": review.risks,
        "timeline": review.moments,
    }


def _part(part: Subsystem) -> dict[str, Any]:
    tests, rest = fields(part.tests, *_COUNTS), fields(part, "rebuilt", "languages")
    return fields(part.total, "name", *_COUNTS, **rest, tests=tests)


_WIDE = 100  # columns, if the output is not a terminal


def reports_text(
    footprints: Sequence[Footprint], form: str, view: View, orders: Sequence[WorkOrder] = ()
) -> str:
    """Return the reports in a `form`: "json", "markdown", "terminal" or (with `orders`) "html"."""
    if form == "json":
        return document("report", {"series": [*map(footprint_value, footprints)]})
    if form == "html":
        return render.report_html.report_html(footprints, orders)
    if form == "markdown":
        return "\n".join(map(render.report_markdown.report_markdown, footprints))
    page, color = render.report_terminal, view.color
    if view.is_line:
        return "".join(page.report_line(footprint, color=color) for footprint in footprints)
    width = view.width if view.width < UNLIMITED else _WIDE
    return "\n".join(page.report_terminal(f, width=width, color=color) for f in footprints)


_COUNTS = ("files", "added", "removed")


def compared_text(found: ComparedFootprint, base: str, view: View) -> Iterator[str]:
    """Yield what changed in a series since `base`, including the lines that differ."""
    yield f"{clean(found.series)}: {comparison_sums(found.patches)}, since {clean(base)}"
    if not view.is_line:
        yield from (f"  {when:<6}  {clean(told)}" for when, told in _sizes(found))
        yield from comparison_lines(found.patches, view, shows_lines=True)
        for word, places in _places(found):
            for one in places:
                yield f"  {word:<17}  {clean(': '.join(filter(None, one)))}"


def compared_markdown(found: ComparedFootprint, base: str, *, limit: int = LIMIT) -> str:
    """Return what changed in a series since `base` as Markdown of at most `limit` characters."""
    page = Page(limit)
    page.add(f"## {code(found.series)} since {code(base)}")
    page.add(f"{comparison_sums(found.patches)}.")
    page.add("\n".join(f"- {when}: {text(told)}" for when, told in _sizes(found)))
    other = [one for one in found.patches if one.is_other]
    page.bullets(
        "Patches:", [f"{one.sameness.value}: {text(one.subject)}" for one in other], what="patches"
    )
    for word, places in _places(found):
        rows = [code(path) + (f": {code(name)}" if name else "") for path, name in places]
        page.bullets(f"{word.capitalize()}:", rows, what="places")
    page.blocks([_differing(one) for one in other if one.diff], what="differences")
    return page.whole()


def _differing(patch: ComparedPatch) -> str:
    lines = fenced("\n".join(patch.diff))
    diff = f"<details>\n<summary>diff</summary>\n\n{lines}\n</details>"
    return f"Differences in {text(patch.subject)}:\n\n{diff}"


def compared_value(found: ComparedFootprint) -> dict[str, Any]:
    """Return what changed in a series as JSON data."""
    return {
        "name": found.series,
        "before": _size(found.before),
        "after": _size(found.after),
        "patches": [keys(patch) for patch in found.patches],
        "touched": [_value(one) for one in found.touched],
        "left": [_value(one) for one in found.left],
    }


def _size(footprint: Footprint | None) -> dict[str, Any] | None:
    if footprint is None:
        return None
    total = fields(footprint.total, *_COUNTS, "binaries")
    return {"base": pin_document(footprint.pin), "patches": len(footprint.patches), "total": total}


def _value(place: Touched) -> dict[str, Any]:
    return {"path": place[0], "symbol": place[1]}


def _sizes(found: ComparedFootprint) -> Iterator[tuple[str, str]]:
    for when, one in (("before", found.before), ("now", found.after)):
        if one is None:
            yield when, "there is no such series"
            continue
        size = f"{counted(len(one.patches), 'patch')}, {counted(one.total.files, 'file')}"
        lines = f"+{one.total.added} -{one.total.removed}"
        named = f"{one.pin.ref} " if one.pin.ref != one.pin.commit else ""
        yield when, f"{size} {lines} on {named}{one.pin.commit[:12]}"


def _places(found: ComparedFootprint) -> Iterator[tuple[str, Sequence[Touched]]]:
    yield "newly touched", found.touched
    yield "no longer touched", found.left
