"""Footprint reports of several series in one of the forms."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.model.footprint import Footprint


def reports_text(footprints: Sequence[Footprint], form: str, *, colour: bool) -> str:
    """Return the reports as "json", "markdown", "html" or "terminal"."""
    if form == "json":
        from patchmgr.render.report_machine import report_json

        return report_json(footprints)
    if form == "html":
        from patchmgr.render.report_html import report_html

        return report_html(footprints)
    if form == "markdown":
        from patchmgr.render.report_markdown import report_markdown

        return "\n".join(report_markdown(footprint) for footprint in footprints)
    from shutil import get_terminal_size

    from patchmgr.render.report_terminal import report_terminal

    width = get_terminal_size((100, 24)).columns
    return "\n".join(report_terminal(f, width=width, colour=colour) for f in footprints)
