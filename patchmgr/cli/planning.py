"""`plan`, `forecast` and `sync`: predict a rebase onto upstream, or do it on a branch."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from patchmgr import commands, render
from patchmgr.cli.root import (
    DryRun,
    Given,
    Json,
    MaybeName,
    Quiet,
    Select,
    Verbose,
    answer,
    end_if,
    open_root,
    open_series,
    option,
    say,
    text_of,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, UsageError

if TYPE_CHECKING:
    from patchmgr.model.sync import Sync

_SUMMARY = 250_000  # characters; GitHub allows 1 MiB for the summary of a job


def plan(
    name: MaybeName = None,
    onto: Annotated[str, option("--onto REF", "The upstream state to reach.")] = ("upstream/main"),
    most: Annotated[
        int | None, option("--max N", "At most N commits per step; a merge counts as one.", min=1)
    ] = None,
    form: Annotated[str, option("--format terminal|markdown", "The output format.")] = "terminal",
    git: Annotated[Path | None, option("--git REPO", "Plan merges into a branch in REPO.")] = None,
    branch: Annotated[
        str | None, option("--branch BRANCH", "The branch in REPO to merge into.")
    ] = None,
    select: Select = [],  # noqa: B006 - typer copies it
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
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
    if git is not None and branch is not None and name is None and not select:
        fork = commands.init.Branch(Path(os.path.abspath(git)), branch, onto)
        found = commands.plan.plan_branch(fork, open_root, onto=onto, most=most)
    elif git is not None or branch is not None:
        raise UsageError("give --git and --branch together, without SERIES or --select")
    else:
        session, series = open_series(name)
        found = commands.plan.make_plan(session, series, onto=onto, most=most)
    is_markdown = form == "markdown"
    plans = render.plans
    answer(
        "plan", found, plans.plan_markdown(found) if is_markdown else plans.plan_text(found, view)
    )
    if not Given.wants_json and not view.is_line:
        say(render.plans.after_plan(found))
    end_if(found.has_conflicts, EXIT_CONFLICTS)


def forecast(
    name: MaybeName = None,
    watch: Annotated[
        int, option("--watch N", "Check the N newest open pull requests.", min=1)
    ] = 300,
    gh: Annotated[bool, option("--gh", "Use gh to leave out closed pull requests.")] = False,
    select: Select = [],  # noqa: B006 - typer copies it
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show what upstream's open pull requests would do to a series.

    Each pull request that changes a file of the series is merged into upstream's tip, and the
    series is rebased onto the result. git does not know which pull requests are open, so a pull
    request counts as open if it has not landed, and either the remote has a merge ref for it or its
    last commit is at most 90 days old. With --gh, GitHub is asked as well.

    Example: patchmgr forecast vllm --watch 100
    """
    view = view_of()
    session, series = open_series(name)
    now = int(time.time())
    found = commands.forecast.make_forecast(session, series, watched=watch, now=now, asks=gh)
    answer("forecast", found, render.plans.forecast_text(found, view))


def sync(
    name: MaybeName = None,
    push: Annotated[str | None, option("--push REMOTE", "The remote to push to.")] = None,
    onto: Annotated[str, option("--onto REF", "The upstream state to reach.")] = ("upstream/main"),
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
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
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
    view = view_of()
    if push is None and not dry_run:
        hint = "patchmgr sync --push origin; to push nothing: patchmgr sync --dry-run"
        raise UsageError("use --push REMOTE to name the remote to push to", hint)
    session, series = open_series(name)
    request = commands.sync.SyncRequest(
        onto, int(time.time()), push, push_branch, pull_request, base
    )
    found = commands.sync.sync(session, series, request)
    value = render.sync.sync_value(found)
    if output is not None:
        _write(output, found, render.machine.document("sync", dry_run=dry_run, **value))
    answer("sync", None, render.sync.sync_text(found, view), **value)
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
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        (folder / name).write_text(page, encoding="utf-8", errors="backslashreplace")
