"""Footprint reports of several series in one of the forms."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.model.footprint import Footprint
from patchmgr.render.view import UNLIMITED, View

_WIDE = 100  # columns, where there is no terminal


def reports_text(footprints: Sequence[Footprint], form: str, view: View) -> str:
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
    from patchmgr.render.report_terminal import report_line, report_terminal

    if view.is_line:
        return "".join(report_line(footprint, colour=view.colour) for footprint in footprints)
    width = view.width if view.width < UNLIMITED else _WIDE
    return "\n".join(report_terminal(f, width=width, colour=view.colour) for f in footprints)
