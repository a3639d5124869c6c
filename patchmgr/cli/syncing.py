"""`sync`: rebase and open a pull request, for scheduled runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from patchmgr import commands, render, services
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
    open_series,
    option,
    say_cleaned,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, UsageError

if TYPE_CHECKING:
    from patchmgr.model.sync import Sync

_SUMMARY = 250_000  # characters, of the 1 MiB that the summary of a job may have


def sync(
    name: MaybeName = None,
    push: Annotated[str | None, option("--push REMOTE", "The remote to push to.")] = None,
    onto: Annotated[str, option("--onto REF", "The upstream state to reach.")] = ("upstream/main"),
    pull_request: Annotated[
        str, option("--pull-request gh|glab|none", "The tool that opens the pull request.")
    ] = "none",
    base: Annotated[
        str | None,
        option("--base BRANCH", "The pull request's target branch; default: the current one."),
    ] = None,
    push_branch: Annotated[
        str | None, option("--push-branch URL", "Also push the built branch to this URL.")
    ] = None,
    output: Annotated[
        Path | None, option("--output DIR", "Write JSON, Markdown and HTML to this folder.")
    ] = None,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rebase up to the first conflict, and update one pull request.

    Fetches upstream, takes the steps of `plan` that are clean, and pushes the changed patches as
    the branch patchmgr/sync-SERIES of the repository that holds the workspace. The workspace itself
    does not change. Conflicts give work orders, and exit code 3. A branch that somebody else pushed
    to is left alone. Meant for scheduled runs: see docs/syncing.md.

    Example: patchmgr sync vllm --push origin --pull-request gh

    Example: patchmgr sync vllm --dry-run --output out
    """
    view = view_of(verbose=verbose, quiet=quiet)
    if pull_request not in ("gh", "glab", "none"):
        raise UsageError(f"--pull-request must be gh, glab or none, not {pull_request}")
    if push is None and not dry_run:
        hint = "patchmgr sync --push origin, or --dry-run to see what it would do"
        raise UsageError("name the remote to push to with --push REMOTE", hint)
    session, series = open_series(name)
    options = services.carry.CarryOptions(frozenset(select))
    request = commands.sync.SyncRequest(
        onto, options, int(time.time()), push, push_branch, pull_request, base, dry_run
    )
    found = commands.sync.sync(session, series, request)
    value = {**render.sync.sync_value(found), "dry_run": dry_run}
    if output is not None:
        _write(output, found, render.machine.document("sync", **value))
    answer("sync", None, render.sync.sync_text(found, view, is_dry_run=dry_run), **value)
    for warning in found.warnings if not Given.wants_json else ():
        say_cleaned(f"warning: {warning}")
    end_if(found.proposal.plan.has_conflicts, EXIT_CONFLICTS)


def _write(folder: Path, found: Sync, document: str) -> None:
    """Write the result of a run to the files that a job keeps."""
    proposal = found.proposal
    footprints = [one.after for one in proposal.carried]
    pages = {
        "sync.json": document,
        "sync.md": render.sync.sync_markdown(proposal, found.warnings, limit=_SUMMARY),
        "annotations": render.sync.annotations_text(found),
        "report.html": render.report_html.report_html(footprints, proposal.orders),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        (folder / name).write_text(page, encoding="utf-8", errors="backslashreplace")
