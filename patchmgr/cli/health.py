"""`doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from patchmgr import commands, render
from patchmgr.cli.root import DryRun, Json, end_if, look_for_session, show
from patchmgr.errors import EXIT_FINDINGS


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Mend what is broken.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Delete what is left over.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Say what there is to work with, and what is broken (exit 4).

    Example: patchmgr doctor

    Example: patchmgr doctor --repair --prune --dry-run
    """
    from patchmgr.terminal import wants_colour

    session = look_for_session()
    found = commands.doctor.examine(session, commands.doctor.Asked(repair, prune, dry_run))
    is_sound = not any(one.health is commands.doctor.Health.BROKEN for one in found)
    if json:
        show(render.doctor.doctor_document(found, is_sound=is_sound, is_dry_run=dry_run))
    else:
        show(render.doctor.doctor_text(found, colour=wants_colour()))
    end_if(not is_sound, EXIT_FINDINGS)
