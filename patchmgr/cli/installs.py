"""`apply`, `unapply` and `verify` on an installed package; `overlay` and `wheel`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr import commands, render
from patchmgr.cli.root import (
    DryRun,
    Json,
    MaybeName,
    Quiet,
    Select,
    Verbose,
    answer,
    end_if,
    open_series,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, PatchmgrError

if TYPE_CHECKING:
    from patchmgr.commands.installed import Where

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
    if (python is None) == (site is None):
        raise PatchmgrError("usage", "give one of --python EXE and --site DIR")
    place = None if site is None else site.absolute()
    return commands.installed.Where(python, place, package, breaks_system)


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
    if out is None:
        raise PatchmgrError("usage", "name the folder to make with --out DIR")
    view = view_of(verbose=verbose, quiet=quiet)
    where = the_place(python, site, package)
    session, named = open_series(name)
    wishes = commands.carrying.Wishes(frozenset(select), wants_detail=json)
    made = commands.overlay.make_overlay(
        session, named, where, out.absolute(), wishes=wishes, is_dry_run=dry_run
    )
    text = render.applied.overlay_text(made, is_dry_run=dry_run, view=view)
    value = render.applied.package_value(made.application, is_dry_run=dry_run)
    answer("overlay", None, text, **value, out=made.place, left=made.left)
    end_if(made.application.has_conflicts, EXIT_CONFLICTS)


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
    if source is None:
        raise PatchmgrError("usage", "name the wheel to patch with --from WHEEL")
    view = view_of(verbose=verbose, quiet=quiet)
    session, named = open_series(name)
    wishes = commands.carrying.Wishes(frozenset(select), wants_detail=json)
    made = commands.patched_wheel.make_wheel(
        session, named, source.absolute(), out.absolute(), wishes=wishes, is_dry_run=dry_run
    )
    text = render.applied.wheel_text(made, is_dry_run=dry_run, view=view)
    answer("wheel", None, text, dry_run=dry_run, **render.applied.wheel_value(made))
    end_if(made.place is None, EXIT_CONFLICTS)
