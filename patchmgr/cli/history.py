"""`log`, `undo`, `redo`, and `series guard`."""

from __future__ import annotations

from typing import Annotated

import typer

from patchmgr.cli.pushing import OfSeries
from patchmgr.cli.root import DryRun, Json, open_at, open_session, show
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
    from patchmgr.commands.history import read_log
    from patchmgr.render.history import log_document, log_text, operation_text

    session, _ = open_at(None, wants_json=json)
    found = read_log(session)
    if number is not None:
        found = found.only(number)
    if json:
        show(log_document(found))
    elif number is not None:
        show(operation_text(found.operations[0]))
    else:
        show(log_text(found, most=most))


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
    from patchmgr.commands.history import undo as do
    from patchmgr.render.history import turn_document, turn_text

    session, _ = open_at(None, wants_json=json)
    done = do(session, count=count, to=to, is_dry_run=dry_run)
    if json:
        show(turn_document(done, "undo", is_dry_run=dry_run))
    else:
        show(turn_text(done, is_dry_run=dry_run))


def redo(count: Count = 1, dry_run: DryRun = False, json: Json = False) -> None:
    """Do again what undo took back last.

    Example: patchmgr redo
    """
    from patchmgr.commands.history import redo as do
    from patchmgr.render.history import turn_document, turn_text

    session, _ = open_at(None, wants_json=json)
    done = do(session, count=count, is_dry_run=dry_run)
    if json:
        show(turn_document(done, "redo", is_dry_run=dry_run))
    else:
        show(turn_text(done, is_dry_run=dry_run))


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
    from patchmgr.commands.guarding import list_guards, set_guards
    from patchmgr.commands.targets import only_series
    from patchmgr.render.authoring import guards_document, guards_text

    session = open_session(wants_json=json)
    name = only_series(session, [series] if series else [])
    if patch is None:
        found = list_guards(session, name)
    elif bool(guards) == none:
        raise PatchmgrError("usage", "name guards as +sym or -sym, or say --none")
    else:
        found = set_guards(session, name, patch, guards or (), is_dry_run=dry_run)
    show(guards_document(found, is_dry_run=dry_run) if json else guards_text(found))
