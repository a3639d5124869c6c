"""`apply`, `unapply` and `verify` on an installed package; `overlay` and `wheel`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr.cli.root import (
    DryRun,
    Json,
    MaybeName,
    Quiet,
    Select,
    Verbose,
    open_session,
    say,
    show,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, EXIT_FINDINGS, PatchmgrError

if TYPE_CHECKING:
    from patchmgr.commands.installed import Where
    from patchmgr.render.view import View

Python = Annotated[
    str | None,
    typer.Option("--python", metavar="EXE", help="The interpreter of an environment."),
]
Site = Annotated[
    Path | None, typer.Option("--site", metavar="DIR", help="A folder of installed packages.")
]
PackageName = Annotated[
    str | None,
    typer.Option("--package", metavar="NAME", help="The package, where upstream names none."),
]
Breaks = Annotated[
    bool, typer.Option("--break-system-packages", help="Write to what the system manages.")
]

Warns = Annotated[
    bool | None,
    typer.Option(
        "--warn-at-start/--no-warn-at-start",
        help="Let the interpreter say at its start where patches of a package are gone.",
    ),
]
ShowConflicts = Annotated[
    bool, typer.Option("--show-conflicts", help="Print conflicts with a package, both texts.")
]


def the_place(
    python: str | None, site: Path | None, package: str | None, *, breaks_system: bool = False
) -> Where:
    """Return where the package is, as the options name it."""
    from patchmgr.commands.installed import Where

    if (python is None) == (site is None):
        raise PatchmgrError("usage", "give one of --python EXE and --site DIR")
    place = None if site is None else site.absolute()
    return Where(python, place, package, breaks_system)


def apply_installed(
    name: str | None,
    where: Where,
    select: Sequence[str],
    warns: bool | None,
    shows_conflicts: bool,
    *,
    view: View,
    is_dry_run: bool,
    json: bool,
) -> None:
    """Apply to an installed package, and say what was done."""
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.installs import apply_to_package
    from patchmgr.commands.targets import only_series
    from patchmgr.render.conflicts import conflicts_text
    from patchmgr.render.installs import package_document, package_text

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    wishes = Wishes(frozenset(select), wants_detail=json)
    done = apply_to_package(
        session, named, where, wishes=wishes, warns_at_start=warns, is_dry_run=is_dry_run
    )
    if json:
        show(package_document(done, is_dry_run=is_dry_run))
    else:
        show(package_text(done, is_dry_run=is_dry_run, view=view))
        if shows_conflicts and done.outcome is not None:
            show(conflicts_text(done.outcome))
    if done.has_conflicts:
        raise typer.Exit(EXIT_CONFLICTS)


def unapply_installed(name: str | None, where: Where, *, is_dry_run: bool, json: bool) -> None:
    """Take a series out of an installed package."""
    from patchmgr.commands.installs import unapply_from_package
    from patchmgr.commands.targets import only_series

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    root, paths = unapply_from_package(session, named, where, is_dry_run=is_dry_run)
    tell_restored(named, root, paths, is_dry_run=is_dry_run, json=json)


def tell_restored(
    series: str, target: Path, paths: Sequence[str], *, is_dry_run: bool, json: bool
) -> None:
    """Say what `unapply` put back."""
    if json:
        from patchmgr.render.machine import document

        show(
            document(
                "unapply",
                dry_run=is_dry_run,
                series=series,
                target=str(target),
                paths=list(paths),
            )
        )
        return
    from patchmgr.render.clean import counted

    verb = "Would restore" if is_dry_run else "Restored"
    say(f"{verb} {counted(len(paths), 'file')} in {target}")


def verify_installed(
    name: str | None, where: Where, select: Sequence[str], *, view: View, json: bool
) -> None:
    """Say how a package stands; exit 4 where the series is not in, whole."""
    from patchmgr.commands.installed import verify_package
    from patchmgr.commands.targets import only_series
    from patchmgr.render.installs import state_document, state_text

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    found = verify_package(session, named, where, selected=select)
    show(state_document(found) if json else state_text(found, view))
    if not found.is_sound:
        raise typer.Exit(EXIT_FINDINGS)


def overlay(
    name: MaybeName = None,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The folder to make.")
    ] = None,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make a folder of patched modules, for read-only installs.

    Python uses it with PYTHONPATH=DIR, as long as the package is the one that it was made for.

    Example: patchmgr overlay vllm --python /opt/venv/bin/python --out /srv/vllm-patches
    """
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.overlay import make_overlay
    from patchmgr.commands.targets import only_series
    from patchmgr.render.installs import overlay_document, overlay_text

    if out is None:
        raise PatchmgrError("usage", "name the folder to make with --out DIR")
    view = view_of(verbose=verbose, quiet=quiet)
    where = the_place(python, site, package)
    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    wishes = Wishes(frozenset(select), wants_detail=json)
    made = make_overlay(session, named, where, out.absolute(), wishes=wishes, is_dry_run=dry_run)
    if json:
        show(overlay_document(made, is_dry_run=dry_run))
    else:
        show(overlay_text(made, is_dry_run=dry_run, view=view))
    if made.application.has_conflicts:
        raise typer.Exit(EXIT_CONFLICTS)


def wheel(
    name: MaybeName = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="WHEEL", help="The wheel to patch.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where to write the patched one.")
    ] = Path(),
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a patched wheel, with a version and RECORD of its own.

    Example: patchmgr wheel vllm --from vllm-0.23.0-cp38-abi3-manylinux_2_31_x86_64.whl --out dist
    """
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.patched_wheel import make_wheel
    from patchmgr.commands.targets import only_series
    from patchmgr.render.installs import wheel_document, wheel_text

    if source is None:
        raise PatchmgrError("usage", "name the wheel to patch with --from WHEEL")
    view = view_of(verbose=verbose, quiet=quiet)
    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    wishes = Wishes(frozenset(select), wants_detail=json)
    made = make_wheel(
        session, named, source.absolute(), out.absolute(), wishes=wishes, is_dry_run=dry_run
    )
    if json:
        show(wheel_document(made, is_dry_run=dry_run))
    else:
        show(wheel_text(made, is_dry_run=dry_run, view=view))
    if made.place is None:
        raise typer.Exit(EXIT_CONFLICTS)
