"""`rebase`, and `decide` about what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr import commands, render, services
from patchmgr.cli.root import (
    Confidence,
    DryRun,
    Given,
    Json,
    Names,
    Quiet,
    Select,
    Verbose,
    answer,
    end_if,
    near_path,
    open_session,
    say,
    say_next,
    show,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, PatchmgrError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patchmgr.commands.rebase import RebaseResult
    from patchmgr.model.outcome import TargetOutcome
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
    view, detail = view_of(verbose=verbose, quiet=quiet), json or show_conflicts
    session = open_session()
    if sum((bool(onto), continue_, skip, abort)) != 1:
        raise PatchmgrError("usage", "give one of --onto REF, --continue, --skip and --abort")
    if abort:
        commands.rebase.abort_rebase(session, is_dry_run=dry_run)
        say("Forgot the rebase.")
        return
    options = services.carry.CarryOptions(
        frozenset(select), stop_at_conflict, wants_detail=detail, confidence=confidence
    )
    has_table_options = every is not None or format_ != "terminal"
    if has_table_options or len(onto) > 1 or ".." in "".join(onto):
        if format_ not in ("terminal", "markdown"):
            raise PatchmgrError("usage", f"--format is terminal or markdown, not {format_}")
        if not onto:
            raise PatchmgrError("usage", "--every and --format go with --onto")
        targets = commands.rebase.read_targets(onto, every)
        if not dry_run:
            raise PatchmgrError("usage", "a table of several targets needs --dry-run")
        outcomes = commands.rebase.rebase_onto_many(
            session, names or (), targets=targets, options=options
        )
        _show_table(outcomes, format_, view)
        return
    if accept and not continue_:
        raise PatchmgrError("usage", "--accept goes with --continue")
    if continue_:
        result = commands.rebase.continue_rebase(
            session, is_dry_run=dry_run, wants_detail=detail, accepted=accept
        )
    elif skip:
        result = commands.rebase.skip_patch(session, is_dry_run=dry_run, wants_detail=detail)
    else:
        result = commands.rebase.rebase(
            session, names or (), onto=onto[0], options=options, is_dry_run=dry_run
        )
    _show_rebase(result, view, shows_conflicts=show_conflicts)


def _show_table(outcomes: Sequence[TargetOutcome], form: str, view: View) -> None:
    text = render.targets.targets_text(outcomes, form, view)
    value = [
        {"onto": one.onto, "series": [*map(render.machine.series_value, one.series)]}
        for one in outcomes
    ]
    answer("rebase", None, text, dry_run=True, targets=value)
    if not Given.wants_json and not view.is_line:
        say(render.targets.after_targets(outcomes))
    end_if(any(outcome.has_conflicts for outcome in outcomes), EXIT_CONFLICTS)


def _show_rebase(result: RebaseResult, view: View, *, shows_conflicts: bool) -> None:
    if Given.wants_json:
        show(
            render.machine.rebase_document(
                result.series,
                is_dry_run=result.is_dry_run,
                replayed=[render.recorded.replayed_value(one) for one in result.replayed],
                learned=[render.recorded.recorded_value(one) for one in result.learned],
            )
        )
    else:
        for outcome in result.series:
            show(render.terminal.rebase_text(outcome, view))
            if shows_conflicts:
                show(render.conflicts.conflicts_text(outcome))
        if not view.is_line:
            show(render.recorded.replayed_text(result.replayed))
            work = None if result.work is None else near_path(result.work)
            told = render.terminal.after_rebase(
                result.series, is_dry_run=result.is_dry_run, work=work, waiting=result.waiting
            )
            for line in (*render.recorded.after_memory(result), *told):
                say(line)
    end_if(result.has_conflicts, EXIT_CONFLICTS)


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
    session = open_session()
    if list_:
        if patch is not None or verdict is not None or forget:
            raise PatchmgrError("usage", "--list stands alone")
        known = services.decisions.read_decisions(session.workspace)
        value = render.recorded.decided_value(known, ())
        answer("decide", None, render.recorded.decisions_text(known), dry_run=False, **value)
        return
    rulings = services.decisions.RULINGS
    if patch is None or (verdict in rulings) is forget:
        raise PatchmgrError(
            "usage",
            "name a patch, and say absorbed or needed",
            ("patchmgr decide PATCH absorbed --by PR", "or: patchmgr decide PATCH --forget"),
        )
    if forget:
        decided = commands.decide.forget(session, patch, series=series, is_dry_run=dry_run)
    else:
        ruling = rulings[str(verdict)]
        decided = commands.decide.decide(
            session, patch, ruling, series=series, by=by, is_dry_run=dry_run
        )
    value = render.recorded.decided_value(decided.added, decided.removed)
    text = render.recorded.decided_text(decided.added, decided.removed, is_dry_run=dry_run)
    answer("decide", None, text, dry_run=dry_run, **value)
    say_next(session)
