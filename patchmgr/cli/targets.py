"""`apply`, `unapply`, `verify`, `branch`, `report`: a series in a checkout, a clone, in numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from patchmgr.cli.installs import (
    Breaks,
    PackageName,
    Python,
    ShowConflicts,
    Site,
    Warns,
    apply_installed,
    tell_restored,
    the_place,
    unapply_installed,
    verify_installed,
)
from patchmgr.cli.root import (
    DryRun,
    Json,
    MaybeName,
    Names,
    Quiet,
    Select,
    Verbose,
    open_session,
    show,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, EXIT_FINDINGS, PatchmgrError


def apply(
    name: MaybeName = None,
    to: Annotated[Path | None, typer.Option(metavar="CHECKOUT", help="A git checkout.")] = None,
    commit: Annotated[bool, typer.Option("--commit", help="Make one commit a patch.")] = False,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    warn_at_start: Warns = None,
    break_system_packages: Breaks = False,
    show_conflicts: ShowConflicts = False,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Apply a series to a checkout or an installed package.

    All of it is applied, or nothing.

    Example: patchmgr apply vllm --to ~/src/vllm --commit

    Example: patchmgr apply vllm --python .venv/bin/python
    """
    view = view_of(verbose=verbose, quiet=quiet)
    if python is not None or site is not None:
        if to is not None or commit:
            raise PatchmgrError("usage", "--to and --commit are for a checkout")
        where = the_place(python, site, package, breaks_system=break_system_packages)
        apply_installed(
            name,
            where,
            select,
            warn_at_start,
            show_conflicts,
            view=view,
            is_dry_run=dry_run,
            json=json,
        )
        return
    from patchmgr.commands.apply import apply_to_checkout, only_series
    from patchmgr.commands.carrying import Wishes
    from patchmgr.render.applications import application_document, application_text

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    wishes = Wishes(frozenset(select))
    done = apply_to_checkout(
        session, named, _target(to), commits=commit, wishes=wishes, is_dry_run=dry_run
    )
    if json:
        show(application_document(done, is_dry_run=dry_run))
    else:
        show(application_text(done, is_dry_run=dry_run, view=view))
    if done.has_conflicts:
        raise typer.Exit(EXIT_CONFLICTS)


def _target(to: Path | None) -> Path:
    if to is None:
        message = "name a checkout with --to CHECKOUT, or a package with --python EXE or --site DIR"
        raise PatchmgrError("usage", message)
    return to.absolute()


def unapply(
    name: MaybeName = None,
    to: Annotated[Path | None, typer.Option(metavar="CHECKOUT", help="A git checkout.")] = None,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    break_system_packages: Breaks = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take a series out of a checkout or an installed package.

    Example: patchmgr unapply vllm --to ~/src/vllm

    Example: patchmgr unapply vllm --python .venv/bin/python
    """
    if python is not None or site is not None:
        where = the_place(python, site, package, breaks_system=break_system_packages)
        unapply_installed(name, where, is_dry_run=dry_run, json=json)
        return
    from patchmgr.commands.apply import only_series, unapply_from_checkout

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    root, paths = unapply_from_checkout(session, named, _target(to), is_dry_run=dry_run)
    tell_restored(named, root, paths, is_dry_run=dry_run, json=json)


def verify(
    name: MaybeName = None,
    to: Annotated[Path | None, typer.Option(metavar="CHECKOUT", help="A git checkout.")] = None,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    select: Select = [],  # noqa: B006 - typer copies it
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say whether a series is applied; exit 4 where it is not.

    Example: patchmgr verify vllm --to ~/src/vllm

    Example: patchmgr verify vllm --python .venv/bin/python
    """
    view = view_of(verbose=verbose, quiet=quiet)
    if python is not None or site is not None:
        verify_installed(name, the_place(python, site, package), select, view=view, json=json)
        return
    from patchmgr.commands.apply import only_series
    from patchmgr.commands.targets import verify_checkout
    from patchmgr.render.applications import verification_document, verification_text

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    found = verify_checkout(session, named, _target(to), selected=select)
    show(verification_document(found) if json else verification_text(found, view))
    if not found.is_sound:
        raise typer.Exit(EXIT_FINDINGS)


def branch(
    name: MaybeName = None,
    repo: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Put it into this clone.")
    ] = None,
    branch_name: Annotated[str | None, typer.Option("--name", metavar="BRANCH")] = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Tag the head, too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is not ours.")] = False,
    without: Annotated[
        list[str], typer.Option(metavar="PATCH", help="Leave a patch or group out; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    only: Annotated[
        list[str], typer.Option(metavar="PATCH", help="Take this patch or group alone; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    sign: Annotated[bool, typer.Option("--sign", help="Sign the commits, as git would.")] = False,
    signoff: Annotated[
        bool, typer.Option("--signoff", help="Add your Signed-off-by to the commits.")
    ] = False,
    committer: Annotated[
        str | None, typer.Option(metavar="me", help="Commit as yourself, and now.")
    ] = None,
    push: Annotated[
        str | None, typer.Option(metavar="REMOTE", help="Push it, if nobody else did.")
    ] = None,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Build the branch of a series on its pin, one commit a patch.

    The commits are the same on every machine, unless --sign, --signoff or --committer me put
    something of yours into them.

    Example: patchmgr branch vllm --repo ~/src/vllm --name my-fork --tag preview-1

    Example: patchmgr branch vllm --repo ~/src/vllm --name my-fork --push origin

    Example: patchmgr branch vllm --without marlin --name arm-1
    """
    from patchmgr.commands.apply import only_series
    from patchmgr.commands.branch import Publication
    from patchmgr.commands.branch import branch as build
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.settings import left_out
    from patchmgr.plumbing.committing import Mine
    from patchmgr.render.applications import built_document, built_text

    if committer not in (None, "me"):
        raise PatchmgrError("usage", f"--committer is me, not {committer}")
    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    reasons = left_out(session.workspace, named, without=without, only=only)
    built = build(
        session,
        named,
        repository=None if repo is None else repo.absolute(),
        branch_name=branch_name,
        tag=tag,
        wishes=Wishes(frozenset(select), left_out={named: reasons}),
        is_forced=force,
        is_dry_run=dry_run,
        publication=Publication(Mine(committer == "me", signoff, sign), push),
    )
    show(
        built_document(built, is_dry_run=dry_run) if json else built_text(built, is_dry_run=dry_run)
    )


def report(
    names: Names = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="terminal|markdown|json|html", help="The form.")
    ] = "terminal",
    quiet: Quiet = False,
    json: Json = False,
    select: Select = [],  # noqa: B006 - typer copies it
) -> None:
    """Report the change footprint, per subsystem and patch.

    It has files, lines, what guards a change, hotspots and risks.

    Example: patchmgr report vllm --format markdown

    Example: patchmgr report vllm --format html > report.html
    """
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.report import report as measure
    from patchmgr.render.reports import reports_text

    form = "json" if json else format_
    if form not in ("terminal", "markdown", "json", "html"):
        raise PatchmgrError("usage", f"--format is terminal, markdown, json or html, not {form}")
    session = open_session(wants_json=form == "json")
    chosen = names or sorted(session.workspace.lock().series)
    wishes = Wishes(frozenset(select))
    footprints = [measure(session, name, wishes=wishes) for name in chosen]
    show(reports_text(footprints, form, view_of(quiet=quiet)))
