"""`apply`, `unapply` and `verify` on an installed package; `overlay` and `wheel`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr.cli.root import open_session, say, show
from patchmgr.errors import EXIT_CONFLICTS, EXIT_FINDINGS, PatchmgrError

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
    is_dry_run: bool,
    json: bool,
) -> None:
    """Apply to an installed package, and say what was done."""
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.installs import apply_to_package
    from patchmgr.commands.targets import only_series
    from patchmgr.render.conflicts import conflicts_text
    from patchmgr.render.installs import package_document, package_text
    from patchmgr.terminal import wants_colour

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    wishes = Wishes(frozenset(select), names_symbols=json)
    done = apply_to_package(
        session, named, where, wishes=wishes, warns_at_start=warns, is_dry_run=is_dry_run
    )
    if json:
        show(package_document(done, is_dry_run=is_dry_run))
    else:
        show(package_text(done, is_dry_run=is_dry_run, colour=wants_colour()))
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
    say(f"{'Would restore' if is_dry_run else 'Restored'} {len(paths)} files in {target}")


def verify_installed(name: str | None, where: Where, select: Sequence[str], *, json: bool) -> None:
    """Say how a package stands; exit 4 where the series is not in, whole."""
    from patchmgr.commands.installed import verify_package
    from patchmgr.commands.targets import only_series
    from patchmgr.render.installs import state_document, state_text

    session = open_session(wants_json=json)
    named = only_series(session, [name] if name else [])
    found = verify_package(session, named, where, selected=select)
    show(state_document(found) if json else state_text(found))
    if not found.is_sound:
        raise typer.Exit(EXIT_FINDINGS)
