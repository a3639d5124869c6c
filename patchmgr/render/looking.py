"""What patches and edits do to files, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patchmgr.render.clean import clean

if TYPE_CHECKING:
    from patchmgr.commands.looking import Files


def files_text(found: Files) -> str:
    """Return a line a file, with a sign before its path."""
    lines = []
    for row in found.rows:
        edited = "  (edited)" if row.is_edited else ""
        lines.append(f"{row.sign.value} {clean(row.path)}{edited}\n")
    return "".join(lines)
