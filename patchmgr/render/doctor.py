"""What `doctor` found, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from patchmgr.render.clean import clean
from patchmgr.render.machine import document
from patchmgr.render.terminal import painted

if TYPE_CHECKING:
    from patchmgr.commands.doctor import Found

_COLOURS = {"well": "32", "note": "33", "broken": "31", "mended": "32"}


def doctor_text(found: Sequence[Found], *, colour: bool) -> str:
    """Return a line for each thing, below its area, and what to type below that."""
    lines = []
    for area, members in groupby(found, key=lambda one: one.area):
        lines.append(painted(area, "1", colour=colour))
        for one in members:
            word = "ok" if one.health.value == "well" else one.health.value
            word = painted(word.ljust(6), _COLOURS[one.health.value], colour=colour)
            about = f": {clean(one.text)}" if one.text else ""
            lines.append(f"  {word}  {clean(one.what)}{about}")
            lines += [f"            {clean(hint)}" for hint in one.hints]
    return "\n".join(lines) + "\n"


def doctor_document(found: Sequence[Found], *, is_sound: bool, is_dry_run: bool) -> str:
    """Return what was found as JSON."""
    values = [
        {
            "area": one.area,
            "what": clean(one.what),
            "health": one.health,
            "text": clean(one.text),
            "hints": [clean(hint) for hint in one.hints],
        }
        for one in found
    ]
    return document("doctor", found=values, sound=is_sound, dry_run=is_dry_run)
