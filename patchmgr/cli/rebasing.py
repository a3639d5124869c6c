"""`rebase`, `decide`, `plan`, `forecast` and `sync`: move series to new upstream states."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr import commands, render, services
from patchmgr.cli.root import (
    Confidence,
    Given,
    MaybeName,
    Names,
    answer,
    argument,
    end_if,
    near_path,
    never_with,
    noted,
    only_with,
    open_root,
    open_series,
    open_session,
    option,
    say,
    say_next,
    show,
    takes,
    text_of,
    view_of,
    write_file,
)
from patchmgr.errors import EXIT_CONFLICTS, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from patchmgr.commands.rebase import RebaseResult
    from patchmgr.commands.resolver import Asked
    from patchmgr.model.outcome import TargetOutcome
    from patchmgr.model.sync import Sync
    from patchmgr.render.view import View


@takes("select", "dry_run", "verbose", "quiet", "json")
def rebase(
    names: Names = None,
    onto: Annotated[
        list[str],
        option("--onto REF|A..B", "The new upstream state; with --dry-run, several, or A..B."),
    ] = [],  # noqa: B006 - typer copies it
    every: Annotated[
        str | None,
        option("--every release|N", "With --onto A..B: try each release, or every Nth commit."),
    ] = None,
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
        bool, noted("wants_detail", "--show-conflicts", "Print the conflicts with git's markers.")
    ] = False,
    format_: Annotated[
        str,
        option("--format terminal|markdown", "With --dry-run: the format of the table of results."),
    ] = "terminal",
    confidence: Confidence = None,
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
    kept = {"SERIES": names, "--select": session.selected, "--confidence": confidence}
    table = {"--every": every, "--format": format_ != "terminal"}
    only_with("--onto", onto, {**kept, "--stop-at-conflict": stop_at_conflict, **table})
    only_with("--continue", continue_, {"--accept": accept, "--other-edits": other_edits})
    only_with("--checkout", checkout, {"--repo": repo})
    only_with("--resolver", resolver, {"--resolver-timeout": resolver_timeout})
    tree = {"--checkout": checkout, "--exec": exec_}
    for other, is_given in (("--dry-run", Given.is_dry_run), ("--skip", skip), ("--abort", abort)):
        never_with(other, is_given, tree)
    never_with("--resolver", resolver, {**tree, "--dry-run": Given.is_dry_run, "--abort": abort})
    if "" in (part and part.strip() for part in (resolver, exec_)):
        raise UsageError("--resolver and --exec need a command")
    if abort:
        commands.rebase.abort_rebase(session)
        if Given.wants_json:
            ended = commands.rebase.RebaseResult((), bool(Given.is_dry_run))
            show(_document(ended, ()))
        say(f"{view.verb('Would abandon', 'Abandoned')} the rebase.")
        return
    at, clone = ("" if each is None else os.path.abspath(each) for each in (checkout, repo))
    shown_in = commands.rebase.ShownIn(at, clone, exec_ or "")
    options = services.carry.CarryOptions(
        session.selected, stop_at_conflict, wants_detail=session.wants_detail, confidence=confidence
    )
    if any(table.values()) or len(onto) > 1 or ".." in "".join(onto):
        targets = commands.rebase.read_targets(onto, every)
        if not Given.is_dry_run:
            raise UsageError("several --onto, a range A..B, --every and --format need --dry-run")
        never_with("a table of results", True, {"--show-conflicts": show_conflicts})
        outcomes = commands.rebase.rebase_onto_many(
            session, names or (), targets=targets, options=options
        )
        _show_table(outcomes, format_, view)
        return
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
    targets = [
        {"onto": one.onto, "series": [*map(render.machine.series_document, one.series)]}
        for one in outcomes
    ]
    text = render.plans.targets_text(outcomes, form, view)
    answer({"dry_run": True, "targets": targets}, text)
    if not Given.wants_json and not view.is_line:
        say(render.plans.after_targets(outcomes))
    end_if(any(outcome.has_conflicts for outcome in outcomes), EXIT_CONFLICTS)


def show_rebase(
    result: RebaseResult, view: View, asked: Sequence[Asked], *, shows_conflicts: bool
) -> None:
    """Print the result of a rebase, and end the run with its exit code."""
    if Given.wants_json:
        show(_document(result, asked))
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


def _document(result: RebaseResult, asked: Sequence[Asked]) -> str:
    return render.machine.document(
        "rebase", render.recorded_conflicts.rebase_document(result, asked)
    )


@takes("dry_run", "json")
def decide(
    patch: Annotated[str | None, argument("PATCH")] = None,
    verdict: Annotated[str | None, argument("absorbed|needed")] = None,
    by: Annotated[
        str,
        option("--by PR|COMMIT|TEXT", "The reason: an upstream change, or any text."),
    ] = "",
    series: Annotated[str | None, option("--series S", "The series that contains PATCH.")] = None,
    list_: Annotated[bool, option("--list", "List the decisions.")] = False,
    forget: Annotated[bool, option("--forget", "Forget the decision about PATCH.")] = False,
) -> None:
    """Record whether a patch in conflict is already upstream.

    Later rebases use your decision as long as the upstream text that it refers to stays the same.

    Example: patchmgr decide stale-hash.patch absorbed --by 45939
    """
    session = open_session()
    if list_:
        if patch or verdict or forget or by or series:
            raise UsageError("use --list on its own")
        known = services.decisions.read_decisions(session.workspace)
        value = render.recorded_conflicts.decided_value(known, ())
        answer(value, render.recorded_conflicts.decisions_text(known))
        return
    rulings = services.decisions.RULINGS
    if patch is None or (verdict in rulings) is forget:
        raise UsageError(
            "name a patch and a decision: 'absorbed' or 'needed'",
            "patchmgr decide PATCH absorbed --by PR",
            "or: patchmgr decide PATCH --forget",
        )
    never_with("--forget", forget, {"--by": by})
    if forget:
        decided = commands.decide.forget(session, patch, series=series)
    else:
        ruling = rulings[str(verdict)]
        decided = commands.decide.decide(session, patch, ruling, series=series, by=by)
    value = render.recorded_conflicts.decided_value(decided.added, decided.removed)
    answer(value, render.recorded_conflicts.decided_text(decided.added, decided.removed, view_of()))
    say_next(session)


_SUMMARY = 250_000  # characters; GitHub allows 1 MiB for the summary of a job


@takes("select", "verbose", "quiet", "json")
def plan(
    name: MaybeName = None,
    onto: Annotated[str, option("--onto REF", "The upstream state to move to.")] = (
        "upstream/main"
    ),
    most: Annotated[
        int | None, option("--max N", "At most N commits per step; a merge counts as one.", min=1)
    ] = None,
    form: Annotated[str, option("--format terminal|markdown", "The output format.")] = "terminal",
    git: Annotated[Path | None, option("--git REPO", "Plan merges into a branch in REPO.")] = None,
    branch: Annotated[
        str | None, option("--branch BRANCH", "The branch in REPO to merge into.")
    ] = None,
) -> None:
    """Plan the steps to an upstream state, and try each of them.

    Each step starts where the previous one ends. A step is either a range of commits over which the
    series rebases cleanly, or one commit with conflicts. `rebase --onto plan:N` takes step N, as
    long as the pin, the patches and REF have not changed. A fork that merges upstream needs no
    series: with --git, each step is a merge, and REF is a ref in REPO.

    Example: patchmgr plan vllm --onto v0.24.0 --max 50

    Example: patchmgr plan --git ~/src/vllm --branch my-fork --onto upstream/main
    """
    view = view_of()
    if git is not None and branch is not None and name is None and not Given.selected:
        fork = commands.init.Branch(Path(os.path.abspath(git)), branch, onto)
        found = commands.plan.plan_branch(fork, open_root, onto=onto, most=most)
    elif git is not None or branch is not None:
        raise UsageError("give --git and --branch together, without SERIES or --select")
    else:
        session, series = open_series(name)
        found = commands.plan.make_plan(session, series, onto=onto, most=most)
    is_markdown = form == "markdown"
    plans = render.plans
    answer(found, plans.plan_markdown(found) if is_markdown else plans.plan_text(found, view))
    if not Given.wants_json and not view.is_line:
        say(render.plans.after_plan(found))
    end_if(found.has_conflicts, EXIT_CONFLICTS)


@takes("select", "verbose", "quiet", "json")
def forecast(
    name: MaybeName = None,
    watch: Annotated[
        int, option("--watch N", "Check the N newest open pull requests.", min=1)
    ] = 300,
    gh: Annotated[bool, option("--gh", "Use gh to leave out closed pull requests.")] = False,
) -> None:
    """Show what upstream's open pull requests would do to a series.

    Each pull request that changes a file of the series is merged into upstream's tip, and the
    series is rebased onto the result. git does not know which pull requests are open, so a pull
    request counts as open if it has not landed, and either the remote has a merge ref for it or its
    last commit is at most 90 days old. A pull request into another branch is left out. With --gh,
    GitHub is asked as well.

    Example: patchmgr forecast vllm --watch 100
    """
    session, series = open_series(name)
    now = int(time.time())
    found = commands.forecast.make_forecast(session, series, watched=watch, now=now, asks=gh)
    answer(found, render.plans.forecast_text(found, view_of()))


@takes("select", "dry_run", "verbose", "quiet", "json")
def sync(
    name: MaybeName = None,
    push: Annotated[str | None, option("--push REMOTE", "The remote to push to.")] = None,
    onto: Annotated[str, option("--onto REF", "The upstream state to move to.")] = (
        "upstream/main"
    ),
    pull_request: Annotated[
        str, option("--pull-request gh|glab|none", "The tool that opens the pull request.")
    ] = "none",
    base: Annotated[
        str | None,
        option("--base BRANCH", "The branch to merge into; default: the current branch."),
    ] = None,
    push_branch: Annotated[
        str | None,
        option("--push-branch URL", "Also build the series' branch, and push it to URL."),
    ] = None,
    output: Annotated[
        Path | None, option("--output DIR", "Write the result to DIR as JSON, Markdown and HTML.")
    ] = None,
) -> None:
    """Rebase up to the first conflict, and update a pull request.

    This fetches upstream, takes the steps of `plan` up to the first conflict, and pushes the
    changed patches to the branch patchmgr/sync-SERIES of the repository that contains the
    workspace. The workspace itself does not change. If there are conflicts, their work orders are
    reported, and the exit code is 3. If somebody else has pushed to that branch, it stays as it is.
    The command is meant for scheduled runs: see docs/syncing.md.

    Example: patchmgr sync vllm --push origin --pull-request gh

    Example: patchmgr sync vllm --dry-run --output out
    """
    if push is None and not Given.is_dry_run:
        hint = "patchmgr sync --push origin; to push nothing: patchmgr sync --dry-run"
        raise UsageError("use --push REMOTE to name the remote to push to", hint)
    session, series = open_series(name)
    request = commands.sync.SyncRequest(
        onto, int(time.time()), push, push_branch, pull_request, base, output
    )
    found = commands.sync.sync(session, series, request)
    value = render.sync.sync_value(found)
    if output is not None:
        _write(output, found, render.machine.document("sync", {"dry_run": Given.is_dry_run}, value))
    answer(value, render.sync.sync_text(found, view_of()))
    if not Given.wants_json:
        say(*(f"warning: {warning}" for warning in found.warnings))
    end_if(found.proposal.plan.has_conflicts, EXIT_CONFLICTS)


def _write(folder: Path, found: Sync, document: str) -> None:
    """Write the result of a sync to files that a CI job can keep."""
    proposal = found.proposal
    footprints = [one.after for one in proposal.carried]
    pages = {
        "sync.json": document,
        "sync.md": render.sync.sync_markdown(proposal, found.warnings, limit=_SUMMARY),
        "annotations": text_of(render.sync.annotations_text(found)),
        "report.html": render.report_html.report_html(footprints, proposal.orders),
    }
    for name, page in pages.items():
        write_file(folder / name, page)
