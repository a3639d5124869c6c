"""`new`, `push`, `pop`, `goto`, `refresh` and the lists: patches in a checkout, one by one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr.cli.root import DryRun, Json, Select, open_at, say, show
from patchmgr.errors import PatchmgrError

if TYPE_CHECKING:
    from patchmgr.commands.listing import Listing
    from patchmgr.commands.pushing import Pushed

To = Annotated[
    Path | None, typer.Option(metavar="CHECKOUT", help="The checkout, if this is not run in it.")
]
OfSeries = Annotated[
    str | None, typer.Option("--series", metavar="S", help="The series, if there are several.")
]
MaybePatch = Annotated[
    str | None, typer.Argument(metavar="[PATCH]", help="A name, the start of one, or a number.")
]


def new(
    name: str,
    subject: Annotated[str, typer.Option(help="What the patch does, in one line.")] = "",
    message: Annotated[str, typer.Option("--message", "-m", help="Why it is so.")] = "",
    author: Annotated[str, typer.Option(metavar="'NAME <EMAIL>'")] = "",
    to: To = None,
    series: OfSeries = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make an empty patch on top of the pushed ones.

    Then edit files, and refresh it.

    Example: patchmgr new fix-allow-list --subject "Clamp the allow list"
    """
    from patchmgr.commands.pushing import Asked
    from patchmgr.commands.refreshing import new_patch
    from patchmgr.render.authoring import name_document

    session, target = open_at(to, wants_json=json, begins=True)
    asked = Asked(target, series, is_dry_run=dry_run)
    made = new_patch(session, name, asked, subject=subject, message=message, author=author)
    if json:
        show(name_document(made, "new"))
    else:
        show(f"{'Would make' if dry_run else 'Made'} {made}\n")


def push(
    patch: MaybePatch = None,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Push all.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Leave hunks without a place as .rej files.")
    ] = False,
    to: To = None,
    series: OfSeries = None,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Push the next patch, the next N, all up to PATCH, or all.

    Example: patchmgr push fix-allow-list --to ~/src/vllm
    """
    from patchmgr.commands.pushing import Asked
    from patchmgr.commands.pushing import push as do

    _refuse_both(patch, all_)
    session, target = open_at(to, wants_json=json, begins=True)
    asked = Asked(target, series, tuple(select), is_forced=force, is_dry_run=dry_run)
    _tell(do(session, patch, asked, all_=all_), "push", is_dry_run=dry_run, json=json)


def pop(
    patch: MaybePatch = None,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Pop all.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Give up edits of these files; undo brings them back.")
    ] = False,
    to: To = None,
    series: OfSeries = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Pop the top patch, N of them, all above PATCH, or all.

    Example: patchmgr pop --all
    """
    from patchmgr.commands.pushing import Asked
    from patchmgr.commands.pushing import pop as do

    _refuse_both(patch, all_)
    session, target = open_at(to, wants_json=json)
    asked = Asked(target, series, is_forced=force, is_dry_run=dry_run)
    _tell(do(session, patch, asked, all_=all_), "pop", is_dry_run=dry_run, json=json)


def _refuse_both(patch: str | None, all_: bool) -> None:
    if patch is not None and all_:
        raise PatchmgrError("usage", "name a patch, or say --all")


def goto(
    patch: Annotated[str, typer.Argument(help="A name, its start, a number, or 0 for none.")],
    to: To = None,
    series: OfSeries = None,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Push or pop until PATCH is the top.

    Example: patchmgr goto fix-allow-list
    """
    from patchmgr.commands.pushing import Asked
    from patchmgr.commands.pushing import goto as do

    session, target = open_at(to, wants_json=json, begins=True)
    asked = Asked(target, series, tuple(select), is_dry_run=dry_run)
    _tell(do(session, patch, asked), "goto", is_dry_run=dry_run, json=json)


def _tell(done: Pushed, command: str, *, is_dry_run: bool, json: bool) -> None:
    from patchmgr.render.authoring import pushed_document, pushed_text

    if json:
        show(pushed_document(done, command, is_dry_run=is_dry_run))
    else:
        show(pushed_text(done, is_dry_run=is_dry_run))
    if done.failure is not None or done.rejects:
        raise typer.Exit(1)


def refresh(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Files or folders; else all.")
    ] = None,
    patch: Annotated[
        str | None, typer.Option("--patch", "-p", metavar="PATCH", help="A pushed patch.")
    ] = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Even if nothing is left of the patch.")
    ] = False,
    rewrite: Annotated[
        bool,
        typer.Option("--rewrite", help="Write its diff as git does, if it says the same, too."),
    ] = False,
    to: To = None,
    series: OfSeries = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Put what was edited into the top patch, or one below it.

    Example: patchmgr refresh src/model.py
    """
    from patchmgr.commands.pushing import Asked
    from patchmgr.commands.refreshing import refresh as do
    from patchmgr.render.authoring import refreshed_document, refreshed_text

    session, target = open_at(to, wants_json=json)
    asked = Asked(target, series, is_dry_run=dry_run)
    done = do(
        session, paths or (), asked,
        patch=patch, allows_empty=allow_empty, rewrites=rewrite, cwd=Path.cwd(),
    )  # fmt: skip
    if json:
        show(refreshed_document(done, is_dry_run=dry_run))
    else:
        show(refreshed_text(done, is_dry_run=dry_run))


def _list(to: Path | None, series: str | None, select: list[str], *, json: bool) -> Listing:
    from patchmgr.commands.listing import listing

    session, target = open_at(to, wants_json=json)
    return listing(session, target, series, select=select)


def _show_list(found: Listing, command: str, *, json: bool) -> None:
    from patchmgr.render.authoring import listing_document, listing_text

    show(listing_document(found, command) if json else listing_text(found))


def applied(to: To = None, series: OfSeries = None, json: Json = False) -> None:
    """List the pushed patches: `+` pushed, `>` the top.

    Example: patchmgr applied
    """
    from patchmgr.commands.listing import pushed_listing

    session, target = open_at(to, wants_json=json)
    found = pushed_listing(session, target, series)
    if not found.rows and not json:
        say(f"No patch of {found.series} is pushed.")
    _show_list(found, "applied", json=json)


def unapplied(
    to: To = None,
    series: OfSeries = None,
    select: Select = [],  # noqa: B006 - typer copies it
    json: Json = False,
) -> None:
    """List the patches that are not pushed.

    The signs are: `-` to be pushed, `!` hidden.

    Example: patchmgr unapplied
    """
    from patchmgr.commands.listing import Mark

    found = _list(to, series, select, json=json).of(Mark.UNPUSHED, Mark.HIDDEN)
    if not found.rows and not json:
        say(f"All patches of {found.series} are pushed.")
    _show_list(found, "unapplied", json=json)


def _name(command: str, patch: str | None, to: Path | None, series: str | None, json: bool) -> None:
    from patchmgr.commands.listing import neighbour
    from patchmgr.render.authoring import name_document

    step = {"top": 0, "next": 1, "prev": -1}[command]
    name = neighbour(_list(to, series, [], json=json), patch, step=step)
    show(name_document(name, command) if json else f"{name}\n")


def top(to: To = None, series: OfSeries = None, json: Json = False) -> None:
    """Print the name of the top patch.

    Example: patchmgr top
    """
    _name("top", None, to, series, json)


def next_(
    patch: MaybePatch = None, to: To = None, series: OfSeries = None, json: Json = False
) -> None:
    """Print the name of the patch after the top, or after PATCH.

    Example: patchmgr next
    """
    _name("next", patch, to, series, json)


def prev(
    patch: MaybePatch = None, to: To = None, series: OfSeries = None, json: Json = False
) -> None:
    """Print the name of the patch before the top, or before PATCH.

    Example: patchmgr prev
    """
    _name("prev", patch, to, series, json)
