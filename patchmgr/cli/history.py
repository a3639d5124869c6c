"""`log`, `undo`, `redo`, and `series guard`."""

from __future__ import annotations

from typing import Annotated

import typer

from patchmgr import commands, render
from patchmgr.cli.pushing import OfSeries
from patchmgr.cli.root import DryRun, Json, answer, open_desk, open_series, show
from patchmgr.errors import PatchmgrError

Count = Annotated[int, typer.Option("-n", metavar="N", min=1, help="How many.")]


def log(
    number: Annotated[
        int | None, typer.Argument(metavar="[NUMBER]", help="Tell what this one touched.")
    ] = None,
    most: Annotated[int, typer.Option("-n", metavar="N", min=0, help="How many; 0: all.")] = 20,
    json: Json = False,
) -> None:
    """List what was changed in workspace and checkouts.

    Example: patchmgr log
    """
    session, _ = open_desk(None, None)
    found = commands.history.read_log(session)
    if number is not None:
        found = found.only(number)
    if json:
        show(render.authoring.log_document(found))
    elif number is not None:
        show(render.authoring.operation_text(found.operations[0]))
    else:
        show(render.authoring.log_text(found, most=most))


def undo(
    count: Count = 1,
    to: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Go back to how it was after this one; 0: the start."),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take back the last change of workspace and checkouts.

    Example: patchmgr undo
    """
    session, _ = open_desk(None, None)
    done = commands.history.undo(session, count=count, to=to, is_dry_run=dry_run)
    text = render.authoring.turn_text(done, is_dry_run=dry_run)
    answer("undo", None, text, **render.authoring.turn_value(done, is_dry_run=dry_run))


def redo(count: Count = 1, dry_run: DryRun = False, json: Json = False) -> None:
    """Do again what undo took back last.

    Example: patchmgr redo
    """
    session, _ = open_desk(None, None)
    done = commands.history.redo(session, count=count, is_dry_run=dry_run)
    text = render.authoring.turn_text(done, is_dry_run=dry_run)
    answer("redo", None, text, **render.authoring.turn_value(done, is_dry_run=dry_run))


def guard(
    patch: Annotated[str | None, typer.Argument(metavar="[PATCH]")] = None,
    guards: Annotated[
        list[str] | None,
        typer.Argument(metavar="[+SYM|-SYM]...", help="Put -- before the first -SYM."),
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Take its guards away.")] = False,
    series: OfSeries = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """List the guards of a series, or give a patch new ones.

    Example: patchmgr series guard fix-allow-list +sm120
    """
    session, name = open_series(series)
    if patch is None:
        found = commands.guarding.list_guards(session, name)
    elif bool(guards) == none:
        raise PatchmgrError("usage", "name guards as +sym or -sym, or say --none")
    else:
        found = commands.guarding.set_guards(session, name, patch, guards or (), is_dry_run=dry_run)
    values = render.authoring.guards_value(found)
    text = render.authoring.guards_text(found)
    answer("series guard", None, text, dry_run=dry_run, series=found.series, patches=values)
