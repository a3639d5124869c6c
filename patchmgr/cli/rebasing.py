"""`rebase`, and `decide` about what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr.cli.root import (
    Confidence,
    DryRun,
    Json,
    Names,
    Quiet,
    Select,
    Verbose,
    near_path,
    open_session,
    say,
    say_next,
    show,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, PatchmgrError

if TYPE_CHECKING:
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.session import Session
    from patchmgr.render.view import View


def rebase(
    names: Names = None,
    onto: Annotated[
        list[str], typer.Option(metavar="REF|A..B", help="The state to carry onto; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    every: Annotated[
        str | None,
        typer.Option(metavar="release|N", help="Of a range, each release or Nth commit."),
    ] = None,
    dry_run: DryRun = False,
    stop_at_conflict: Annotated[
        bool, typer.Option("--stop-at-conflict", help="Try nothing after the first conflict.")
    ] = False,
    continue_: Annotated[
        bool, typer.Option("--continue", help="Go on, with what you made of the conflicts.")
    ] = False,
    accept: Annotated[
        list[str],
        typer.Option("--accept", metavar="FILE", help="Take FILE though it is gone or broken."),
    ] = [],  # noqa: B006 - typer copies it
    skip: Annotated[
        bool, typer.Option("--skip", help="Leave out the first patch in conflict, and go on.")
    ] = False,
    abort: Annotated[bool, typer.Option("--abort", help="Forget the rebase in progress.")] = False,
    show_conflicts: Annotated[
        bool, typer.Option("--show-conflicts", help="Print the conflicts in git's markers.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", metavar="terminal|markdown", help="The form of a table.")
    ] = "terminal",
    confidence: Confidence = None,
    select: Select = [],  # noqa: B006 - typer copies it
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Carry series onto a new upstream state; without names, all.

    REF is upstream/main, upstream/BRANCH, a tag or release, or a commit id. With --dry-run,
    several of them, or a range with --every, give a table: patch by target.

    Example: patchmgr rebase vllm --onto v0.24.0 --dry-run

    Example: patchmgr rebase vllm --onto v0.24.0..v0.28.0 --every release --dry-run
    """
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.rebase import abort_rebase, continue_rebase, skip_patch
    from patchmgr.commands.rebase import rebase as run

    view, detail = view_of(verbose=verbose, quiet=quiet), json or show_conflicts
    session = open_session(wants_json=json)
    if sum((bool(onto), continue_, skip, abort)) != 1:
        raise PatchmgrError("usage", "give one of --onto REF, --continue, --skip and --abort")
    if abort:
        abort_rebase(session, is_dry_run=dry_run)
        say("Forgot the rebase.")
        return
    has_table_options = every is not None or format_ != "terminal"
    if has_table_options or len(onto) > 1 or ".." in "".join(onto):
        wishes = Wishes(
            frozenset(select), stop_at_conflict, wants_detail=detail, confidence=confidence
        )
        _rebase_table(session, names or [], onto, every, wishes, dry_run, json, format_, view)
        return
    if accept and not continue_:
        raise PatchmgrError("usage", "--accept goes with --continue")
    if continue_:
        result = continue_rebase(session, is_dry_run=dry_run, wants_detail=detail, accepted=accept)
    elif skip:
        result = skip_patch(session, is_dry_run=dry_run, wants_detail=detail)
    else:
        wishes = Wishes(
            frozenset(select), stop_at_conflict, wants_detail=detail, confidence=confidence
        )
        result = run(session, names or (), onto=onto[0], wishes=wishes, is_dry_run=dry_run)
    _show_rebase(result, view, wants_json=json, shows_conflicts=show_conflicts)


def _rebase_table(
    session: Session,
    names: list[str],
    onto: list[str],
    every: str | None,
    wishes: Wishes,
    dry_run: bool,
    json: bool,
    form: str,
    view: View,
) -> None:
    from patchmgr.commands.rebase_table import read_targets, rebase_onto_many
    from patchmgr.render.machine import targets_document
    from patchmgr.render.targets import after_targets, targets_text

    if form not in ("terminal", "markdown"):
        raise PatchmgrError("usage", f"--format is terminal or markdown, not {form}")
    if not onto:
        raise PatchmgrError("usage", "--every and --format go with --onto")
    targets = read_targets(onto, every)
    if not dry_run:
        raise PatchmgrError("usage", "a table of several targets needs --dry-run")
    outcomes = rebase_onto_many(session, names, targets=targets, wishes=wishes)
    if json:
        show(targets_document(outcomes))
    else:
        show(targets_text(outcomes, form, view))
        if not view.is_line:
            say(after_targets(outcomes))
    if any(outcome.has_conflicts for outcome in outcomes):
        raise typer.Exit(EXIT_CONFLICTS)


def _show_rebase(result: object, view: View, *, wants_json: bool, shows_conflicts: bool) -> None:
    from patchmgr.commands.rebase import RebaseResult
    from patchmgr.render.conflicts import conflicts_text
    from patchmgr.render.machine import rebase_document
    from patchmgr.render.recorded import (
        after_memory,
        recorded_value,
        replayed_text,
        replayed_value,
    )
    from patchmgr.render.terminal import after_rebase, rebase_text

    assert isinstance(result, RebaseResult)
    if wants_json:
        recorded = {
            "replayed": [replayed_value(one) for one in result.replayed],
            "learned": [recorded_value(one) for one in result.learned],
        }
        show(rebase_document(result.series, is_dry_run=result.is_dry_run, **recorded))
    else:
        for outcome in result.series:
            show(rebase_text(outcome, view))
            if shows_conflicts:
                show(conflicts_text(outcome))
        if not view.is_line:
            show(replayed_text(result.replayed))
            work = None if result.work is None else near_path(result.work)
            told = after_rebase(
                result.series, is_dry_run=result.is_dry_run, work=work, waiting=result.waiting
            )
            for line in (*after_memory(result), *told):
                say(line)
    if result.has_conflicts:
        raise typer.Exit(EXIT_CONFLICTS)


def decide(
    patch: Annotated[str | None, typer.Argument(metavar="PATCH")] = None,
    verdict: Annotated[str | None, typer.Argument(metavar="absorbed|needed")] = None,
    by: Annotated[
        str, typer.Option(metavar="PR|COMMIT|TEXT", help="What upstream did it, or why.")
    ] = "",
    series: Annotated[str | None, typer.Option(metavar="S", help="The series of PATCH.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what is decided.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Forget what is decided.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Say of a patch in conflict whether upstream has it.

    Later runs use the answer as long as the text of upstream that it is about is still there.

    Example: patchmgr decide stale-hash.patch absorbed --by 45939
    """
    from patchmgr.commands.decide import decide as run
    from patchmgr.commands.decide import forget as take_back
    from patchmgr.commands.decide import read_decisions
    from patchmgr.model.decision import Ruling
    from patchmgr.render.decisions import decided_document, decided_text, decisions_text

    session = open_session(wants_json=json)
    if list_:
        if patch is not None or verdict is not None or forget:
            raise PatchmgrError("usage", "--list stands alone")
        known = read_decisions(session.workspace)
        show(decided_document(known, (), is_dry_run=False) if json else decisions_text(known))
        return
    rulings = {ruling.value: ruling for ruling in Ruling}
    if patch is None or (verdict in rulings) is forget:
        raise PatchmgrError(
            "usage",
            "name a patch, and say absorbed or needed",
            ("patchmgr decide PATCH absorbed --by PR", "or: patchmgr decide PATCH --forget"),
        )
    if forget:
        decided = take_back(session, patch, series=series, is_dry_run=dry_run)
    else:
        ruling = rulings[str(verdict)]
        decided = run(session, patch, ruling, series=series, by=by, is_dry_run=dry_run)
    if json:
        show(decided_document(decided.added, decided.removed, is_dry_run=dry_run))
    else:
        show(decided_text(decided.added, decided.removed, is_dry_run=dry_run))
        say_next(session)
