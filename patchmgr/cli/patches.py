"""`import`: patches from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from patchmgr.cli.root import DryRun, Json, open_session, show
from patchmgr.errors import PatchmgrError


def import_(
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE...")] = None,
    series: Annotated[str, typer.Option(metavar="S", help="The series to append to.")] = "",
    git: Annotated[
        Path | None, typer.Option(metavar="REPO", help="SOURCE is a range A..B of this repository.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Append patches: mailboxes, diffs, quilt directories, or the commits of a range.

    Example: patchmgr import --git ~/src/vllm v0.23.0..my-branch --series vllm
    """
    from patchmgr.commands.apply import only_series
    from patchmgr.commands.imports import import_patches
    from patchmgr.render.listings import imported_document, imported_text

    session = open_session(wants_json=json)
    named = only_series(session, [series] if series else [])
    given = sources or []
    if git is not None and len(given) != 1:
        raise PatchmgrError("usage", "--git REPO needs exactly one range A..B")
    imported = import_patches(
        session,
        [] if git is not None else [Path(source) for source in given],
        series=named,
        git=(git, given[0]) if git is not None else None,
        is_dry_run=dry_run,
    )
    as_text = imported_document if json else imported_text
    show(as_text(imported, named, dry_run))
