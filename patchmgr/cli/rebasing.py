"""`rebase`, and `decide`, which records whether upstream already has a patch."""

from __future__ import annotations

import os
import sys
from pathlib import Path
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
    argument,
    end_if,
    flag,
    near_path,
    open_session,
    option,
    say,
    say_next,
    show,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from patchmgr.commands.rebase import RebaseResult, ShownIn
    from patchmgr.commands.resolver import Asked
    from patchmgr.model.outcome import TargetOutcome
    from patchmgr.render.view import View


def rebase(
    names: Names = None,
    onto: Annotated[
        list[str], option("--onto REF|A..B", "The upstream state to rebase onto; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    every: Annotated[
        str | None,
        option("--every release|N", "With --onto A..B: try each release, or every Nth commit."),
    ] = None,
    dry_run: DryRun = False,
    stop_at_conflict: Annotated[
        bool, option("--stop-at-conflict", "Stop at the first conflict.")
    ] = False,
    continue_: Annotated[
        bool, option("--continue", "Continue the rebase with your resolutions.")
    ] = False,
    accept: Annotated[
        list[str],
        option(
            "--accept FILE",
            "Accept FILE even if it is deleted or empty, does not compile, or has different "
            "line endings.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    skip: Annotated[
        bool, option("--skip", "Leave out the first patch in conflict, and continue.")
    ] = False,
    abort: Annotated[bool, option("--abort", "Abandon the rebase in progress.")] = False,
    checkout: Annotated[
        Path | None, option("--checkout DIR", "Put the conflicts into a git worktree at DIR.")
    ] = None,
    repo: Annotated[
        Path | None, option("--repo CLONE", "The clone that the worktree belongs to.")
    ] = None,
    exec_: Annotated[
        str | None, option("--exec -x CMD", "Run CMD in the worktree after each patch.")
    ] = None,
    other_edits: Annotated[
        str | None,
        option("--other-edits patch|new|none", "What to do with edits outside the conflicts."),
    ] = None,
    resolver: Annotated[
        str | None, option("--resolver CMD", "Run CMD to resolve each conflict.")
    ] = None,
    resolver_timeout: Annotated[
        int | None,
        option(
            "--resolver-timeout SECONDS",
            "The time limit for each conflict; default: 600 seconds.",
            min=1,
        ),
    ] = None,
    show_conflicts: Annotated[
        bool, flag("wants_detail", "--show-conflicts", "Print the conflicts with git's markers.")
    ] = False,
    format_: Annotated[
        str, option("--format terminal|markdown", "The format of the table of targets.")
    ] = "terminal",
    confidence: Confidence = None,
    select: Select = [],  # noqa: B006 - typer copies it
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rebase the named series, or all, onto a new upstream state.

    REF is upstream/main, upstream/BRANCH, a tag, a release, or a commit id. With --dry-run, you can
    give several states, or a range with --every; the result is then a table of patches and targets.

    With --resolver, CMD gets the work order of each conflict as JSON, and answers with JSON:
    {"content": TEXT}, {"candidate": N} or {"delete": true}. An answer is used only if it passes
    every check of `conflicts propose`.

    With --checkout, resolve the conflicts in DIR as in a git rebase, and then run `patchmgr rebase
    --continue` there.

    Example: patchmgr rebase vllm --onto v0.24.0 --dry-run

    Example: patchmgr rebase vllm --onto v0.24.0 --checkout ../vllm-rebase --exec 'make test'

    Example: patchmgr rebase vllm --onto v0.24.0..v0.28.0 --every release --dry-run
    """
    view = view_of()
    session = open_session()
    if sum((bool(onto), continue_, skip, abort)) != 1:
        raise UsageError("give exactly one of --onto REF, --continue, --skip and --abort")
    shown_in = _shown_in(checkout, repo, exec_)
    if (shown_in != commands.rebase.NOWHERE) and (dry_run or skip or abort):
        raise UsageError(
            "--checkout, --repo and --exec cannot be used with --dry-run, --skip or --abort"
        )
    if other_edits and not continue_:
        raise UsageError("--other-edits needs --continue")
    if resolver is not None and (not resolver.strip() or shown_in != commands.rebase.NOWHERE):
        raise UsageError("--resolver needs a command, and cannot be used with --checkout or --exec")
    if resolver is not None and (dry_run or abort):
        raise UsageError("--resolver cannot be used with --dry-run or --abort")
    if abort:
        commands.rebase.abort_rebase(session)
        say("Abandoned the rebase.")
        return
    options = services.carry.CarryOptions(
        session.selected, stop_at_conflict, wants_detail=session.wants_detail, confidence=confidence
    )
    has_table_options = every is not None or format_ != "terminal"
    if has_table_options or len(onto) > 1 or ".." in "".join(onto):
        if not onto:
            raise UsageError("--every and --format need --onto")
        targets = commands.rebase.read_targets(onto, every)
        if not dry_run:
            raise UsageError("several targets need --dry-run")
        outcomes = commands.rebase.rebase_onto_many(
            session, names or (), targets=targets, options=options
        )
        _show_table(outcomes, format_, view)
        return
    if accept and not continue_:
        raise UsageError("--accept needs --continue")
    if continue_:
        result = commands.rebase.continue_rebase(
            session,
            accepted=accept,
            others=services.rebase_checkout.OtherEdits(other_edits, _asking()),
            shown_in=shown_in,
        )
    elif skip:
        result = commands.rebase.skip_patch(session)
    else:
        result = commands.rebase.rebase(
            session, names or (), onto=onto[0], options=options, shown_in=shown_in
        )
    asked: Sequence[Asked] = ()
    if resolver is not None:
        result, asked = commands.resolver.resolve_all(
            session, result, resolver, seconds=resolver_timeout or 600
        )
    show_rebase(result, view, asked, shows_conflicts=show_conflicts)


def _shown_in(checkout: Path | None, repo: Path | None, command: str | None) -> ShownIn:
    if repo is not None and checkout is None:
        raise UsageError("--repo needs --checkout")
    if command is not None and not command.strip():
        raise UsageError("--exec needs a command")
    at, clone = ("" if each is None else os.path.abspath(each) for each in (checkout, repo))
    return commands.rebase.ShownIn(at, clone, command or "")


def _asking() -> Callable[[str, Sequence[str]], str] | None:
    """Return a function that asks the user where edits belong, or None if there is no terminal."""
    if Given.wants_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def ask(patch: str, paths: Sequence[str]) -> str:
        say("Edited outside the conflict:")
        say(*(f"  {path}" for path in paths))
        say(f"p - put them into {patch}")
        say("n - put them into a new patch after it")
        say("s - leave them out of the patches; keep them in git's stash")
        words = dict(zip("pns", services.rebase_checkout.OTHER_EDITS, strict=True))
        while (key := typer.prompt("Where do they go [p,n,s]", err=True).strip()[:1]) not in words:
            pass
        return words[key]

    return ask


def _show_table(outcomes: Sequence[TargetOutcome], form: str, view: View) -> None:
    text = render.plans.targets_text(outcomes, form, view)
    value = [
        {"onto": one.onto, "series": [*map(render.machine.series_document, one.series)]}
        for one in outcomes
    ]
    answer("rebase", None, text, dry_run=True, targets=value)
    if not Given.wants_json and not view.is_line:
        say(render.plans.after_targets(outcomes))
    end_if(any(outcome.has_conflicts for outcome in outcomes), EXIT_CONFLICTS)


def show_rebase(
    result: RebaseResult, view: View, asked: Sequence[Asked], *, shows_conflicts: bool
) -> None:
    """Print the result of a rebase, and end the run with its exit code."""
    if Given.wants_json:
        show(
            render.machine.document(
                "rebase", render.recorded_conflicts.rebase_document(result, asked)
            )
        )
    else:
        for outcome in result.series:
            show(render.rebase.rebase_text(outcome, view))
            if shows_conflicts:
                show(render.conflicts.conflicts_text(outcome))
        if not view.is_line:
            show(render.recorded_conflicts.replayed_text(result.replayed))
            work = None if result.work is None else near_path(result.work)
            told = render.rebase.after_rebase(
                result.series, is_dry_run=result.is_dry_run, work=work, waiting=result.waiting
            )
            if result.checkout is not None:
                place = near_path(result.checkout)
                told = render.rebase.after_checkout(result.series, place)
            show(render.work_order.asked_text(asked))
            say(*render.recorded_conflicts.after_memory(result), *told)
    end_if(result.has_conflicts, EXIT_CONFLICTS)


def decide(
    patch: Annotated[str | None, argument("PATCH")] = None,
    verdict: Annotated[str | None, argument("absorbed|needed")] = None,
    by: Annotated[
        str, option("--by PR|COMMIT|TEXT", "The upstream change that contains PATCH, or a reason.")
    ] = "",
    series: Annotated[str | None, option("--series S", "The series that contains PATCH.")] = None,
    list_: Annotated[bool, option("--list", "List the decisions.")] = False,
    forget: Annotated[bool, option("--forget", "Forget the decision about PATCH.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Record whether a patch in conflict is already upstream.

    Later rebases use your decision as long as the upstream text behind it stays the same.

    Example: patchmgr decide stale-hash.patch absorbed --by 45939
    """
    session = open_session()
    if list_:
        if patch is not None or verdict is not None or forget:
            raise UsageError("use --list on its own")
        known = services.decisions.read_decisions(session.workspace)
        value = render.recorded_conflicts.decided_value(known, ())
        answer("decide", None, render.recorded_conflicts.decisions_text(known), **value)
        return
    rulings = services.decisions.RULINGS
    if patch is None or (verdict in rulings) is forget:
        raise UsageError(
            "name a patch and a decision: 'absorbed' or 'needed'",
            "patchmgr decide PATCH absorbed --by PR",
            "or: patchmgr decide PATCH --forget",
        )
    if forget:
        decided = commands.decide.forget(session, patch, series=series)
    else:
        ruling = rulings[str(verdict)]
        decided = commands.decide.decide(session, patch, ruling, series=series, by=by)
    value = render.recorded_conflicts.decided_value(decided.added, decided.removed)
    text = render.recorded_conflicts.decided_text(decided.added, decided.removed, view_of())
    answer("decide", None, text, **value)
    say_next(session)
