"""`plan`: what a sync would come to, before anybody begins it."""

from __future__ import annotations

from typing import Annotated

import typer

from patchmgr import commands, render, services
from patchmgr.cli.root import (
    Given,
    Json,
    MaybeName,
    Quiet,
    Select,
    Verbose,
    answer,
    end_if,
    open_series,
    say,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, PatchmgrError


def plan(
    name: MaybeName = None,
    onto: Annotated[str, typer.Option(metavar="REF", help="The state to come to.")] = (
        "upstream/main"
    ),
    most: Annotated[
        int | None,
        typer.Option("--max", metavar="N", min=1, help="At most N commits in a step."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="terminal|markdown", help="The form of the plan.")
    ] = "terminal",
    select: Select = [],  # noqa: B006 - typer copies it
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find the way to an upstream state: stretches that carry, and commits that do not.

    Each step is a rebase that was tried, from where the step before it ends. `rebase --onto
    plan:N` takes a step, as long as pin, patches and REF are as they were.

    Example: patchmgr plan vllm --onto v0.24.0 --max 50
    """
    view = view_of(verbose=verbose, quiet=quiet)
    if form not in ("terminal", "markdown"):
        raise PatchmgrError("usage", f"--format is terminal or markdown, not {form}")
    session, series = open_series(name)
    options = services.carry.CarryOptions(frozenset(select))
    found = commands.plan.make_plan(session, series, onto=onto, options=options, most=most)
    is_markdown = form == "markdown"
    shown = (
        render.plans.plan_markdown(found) if is_markdown else render.plans.plan_text(found, view)
    )
    answer("plan", None, shown, **render.plans.plan_value(found))
    if not Given.wants_json and not view.is_line:
        say(render.plans.after_plan(found))
    end_if(found.has_conflicts, EXIT_CONFLICTS)
