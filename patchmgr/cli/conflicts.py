"""The group `conflicts`: the shared memory of resolutions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from patchmgr.cli.root import DryRun, Json, open_session, say_next, show, show_pages, view_of
from patchmgr.errors import PatchmgrError

Id = Annotated[str, typer.Argument(metavar="ID", help="The id, or its beginning.")]


def list_(json: Json = False) -> None:
    """List the conflicts on record, and what became of them.

    Example: patchmgr conflicts list
    """
    from patchmgr.commands.acceptance import list_findings
    from patchmgr.commands.conflicts import list_conflicts
    from patchmgr.render.recorded import conflicts_text, list_document

    session = open_session(wants_json=json)
    listed, findings = list_conflicts(session), list_findings(session.workspace)
    if json:
        show(list_document(listed, findings))
    else:
        show(conflicts_text(listed, findings, view_of()))


def show_(name: Id, json: Json = False) -> None:
    """Show both sides of a conflict and what became of it.

    It also tells why the patch is there; a resolution is shown as a diff.

    Example: patchmgr conflicts show 4f08e2008bf8
    """
    from patchmgr.commands.acceptance import is_finding, list_findings
    from patchmgr.commands.conflicts import patches_waiting, show_conflict
    from patchmgr.engines.picking import matching_ids
    from patchmgr.render.recorded import conflict_text, conflicts_text, list_document, show_document

    session = open_session(wants_json=json)
    if is_finding(session.workspace, name):
        found_by_id = [f for f in list_findings(session.workspace) if matching_ids(name, (f.id,))]
        show(list_document((), found_by_id) if json else conflicts_text((), found_by_id, view_of()))
        return
    found = show_conflict(session, name)
    patches = patches_waiting(session, found[0])
    if json:
        show(show_document(found, patches))
    else:
        show_pages(conflict_text(found, patches))


def resolve(
    name: Id,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The text, or the whole file.")],
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Record a resolution.

    FILE has what stands for the conflict, or is the whole file that it was in.

    Example: patchmgr conflicts resolve 4f08e2008bf8 resolved.py
    """
    from patchmgr.commands.conflicts import resolve_conflict
    from patchmgr.render.recorded import solved_document, solved_text

    session = open_session(wants_json=json)
    solved = resolve_conflict(session, name, file.absolute(), is_dry_run=dry_run)
    if json:
        show(solved_document("conflicts resolve", solved, is_dry_run=dry_run))
    else:
        show(solved_text(solved, is_dry_run=dry_run))
        say_next(session)


def accept(
    name: Id,
    side: Annotated[
        str | None, typer.Argument(metavar="[ours|theirs]", help="The side to take.")
    ] = None,
    because: Annotated[
        str, typer.Option(metavar="TEXT", help="Why a finding without a text is accepted.")
    ] = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Record one side of a conflict as its resolution.

    The side ours is upstream's, theirs the patch's.

    A conflict without a text (a finding of the audit or the ledger, a condition that fails) has no
    sides: it is accepted with --because, and the same finding never asks again.

    Example: patchmgr conflicts accept 4f08e2008bf8 ours

    Example: patchmgr conflicts accept 91c0d2aa37e5 --because "the name is set by exec"
    """
    from patchmgr.commands.acceptance import accept_finding, is_finding
    from patchmgr.commands.conflicts import SIDES, accept_side
    from patchmgr.render.recorded import (
        accepted_document,
        accepted_text,
        solved_document,
        solved_text,
    )

    session = open_session(wants_json=json)
    if is_finding(session.workspace, name) or because:
        if side is not None:
            raise PatchmgrError("usage", "a conflict without a text has no sides")
        accepted = accept_finding(session, name, because=because, is_dry_run=dry_run)
        if json:
            show(accepted_document(accepted, is_dry_run=dry_run))
        else:
            show(accepted_text(accepted, is_dry_run=dry_run))
            say_next(session)
        return
    if side not in SIDES:
        hint = f"patchmgr conflicts accept {name} ours    (or theirs, the patch's)"
        problem = "name the side to take" if side is None else f"there is no side {side}"
        raise PatchmgrError("usage", f"{problem}: ours or theirs", (hint,))
    solved = accept_side(session, name, side, is_dry_run=dry_run)
    if json:
        show(solved_document("conflicts accept", solved, is_dry_run=dry_run))
    else:
        show(solved_text(solved, is_dry_run=dry_run))
        say_next(session)


def forget(name: Id, dry_run: DryRun = False, json: Json = False) -> None:
    """Forget a resolution, or that a finding was accepted.

    Example: patchmgr conflicts forget 4f08e2008bf8
    """
    from patchmgr.commands.acceptance import forget_finding, is_finding
    from patchmgr.commands.conflicts import forget_conflict
    from patchmgr.render.recorded import forgotten_document, forgotten_text

    session = open_session(wants_json=json)
    run = forget_finding if is_finding(session.workspace, name) else forget_conflict
    names = run(session, name, is_dry_run=dry_run)
    render = forgotten_document if json else forgotten_text
    show(render(names, is_dry_run=dry_run))


def learn(
    merge: Annotated[str, typer.Argument(metavar="MERGE", help="A merge, or a range A..B.")],
    git: Annotated[Path, typer.Option("--git", metavar="REPO", help="The clone it is in.")],
    was: Annotated[
        str | None, typer.Option(metavar="OLD", help="A..B is this branch, rebased.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Learn resolutions from a finished merge or rebase.

    It may be one of any clone.

    Example: patchmgr conflicts learn --git ~/src/vllm HEAD

    Example: patchmgr conflicts learn --git ~/src/vllm main..fork --was fork@{1}
    """
    from patchmgr.commands.learn import learn_from
    from patchmgr.render.recorded import learned_document, learned_text

    session = open_session(wants_json=json)
    learned = learn_from(session, git.absolute(), merge, was=was, is_dry_run=dry_run)
    render = learned_document if json else learned_text
    show(render(learned, is_dry_run=dry_run))
