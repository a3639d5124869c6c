"""`files` and `changes`: a look at what patches and edits do in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from patchmgr import commands, render
from patchmgr.cli.pushing import MaybePatch, OfSeries, To
from patchmgr.cli.root import Json, answer, open_desk, show_diff


def files(
    patch: MaybePatch = None, to: To = None, series: OfSeries = None, json: Json = False
) -> None:
    """List the files of a patch, the top if none is named.

    The signs are: `+` made, `~` changed, `-` deleted.

    Edits that are not refreshed yet count as the top's.

    Example: patchmgr files fix-allow-list
    """
    session, asked = open_desk(to, series)
    found = commands.looking.files_of(session, patch, asked)
    answer("files", found, render.looking.files_text(found))


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
    session, asked = open_desk(to, series)
    reach = commands.looking.Reach(since, until, reverse)
    diff = commands.looking.changes(session, paths or (), asked, reach=reach, cwd=Path.cwd())
    if json:
        answer("changes", None, "", diff=diff.decode("utf-8", "backslashreplace"))
    else:
        show_diff(b"", diff)
