"""`files` and `changes`: a look at what patches and edits do in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from patchmgr.cli.pushing import MaybePatch, OfSeries, To
from patchmgr.cli.root import Json, open_at, show, show_diff


def files(
    patch: MaybePatch = None, to: To = None, series: OfSeries = None, json: Json = False
) -> None:
    """List the files of a patch, the top if none is named.

    The signs are: `+` made, `~` changed, `-` deleted.

    Edits that are not refreshed yet count as the top's.

    Example: patchmgr files fix-allow-list
    """
    from patchmgr.commands.looking import files_of
    from patchmgr.render.looking import files_document, files_text

    session, target = open_at(to, wants_json=json)
    found = files_of(session, patch, target, series)
    show(files_document(found) if json else files_text(found))


def changes(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Files or folders; else all.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="PATCH", help="Begin before this pushed patch.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="PATCH", help="End after this pushed patch.")
    ] = None,
    reverse: Annotated[
        bool, typer.Option("--reverse", "-R", help="Print the reverse: what takes them back.")
    ] = False,
    to: To = None,
    series: OfSeries = None,
    json: Json = False,
) -> None:
    """Print what was edited and is in no patch yet, as a diff.

    Or more of it, from patch to patch.

    Example: patchmgr changes

    Example: patchmgr changes --since fix-allow-list src
    """
    from patchmgr.commands.looking import Reach
    from patchmgr.commands.looking import changes as look
    from patchmgr.render.looking import changes_document

    session, target = open_at(to, wants_json=json)
    reach = Reach(since, until, reverse)
    diff = look(session, paths or (), target, series, reach=reach, cwd=Path.cwd())
    if json:
        show(changes_document(diff))
        return
    show_diff(b"", diff)
