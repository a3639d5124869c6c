"""`new`, `push`, `pop`, `goto`, `refresh`, `changes`, and commands that list or name patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from patchmgr import commands, render
from patchmgr.cli.hunk_choice import chooser
from patchmgr.cli.root import (
    Given,
    answer,
    argument,
    end_if,
    never_with,
    open_checkout_series,
    option,
    say,
    show_diff,
    takes,
    view_of,
)
from patchmgr.errors import UsageError

if TYPE_CHECKING:
    from patchmgr.commands.applied import Listing
    from patchmgr.commands.push import Pushed


Paths = Annotated[list[str] | None, argument("[PATH]...", "Files or folders; default: all.")]
MaybePatch = Annotated[
    str | None, argument("[PATCH]", "A patch: its name, the start of its name, or its number.")
]
_A_PATCH = "A patch (its name, or the start of its name), or how many patches to"


@takes("to", "series", "dry_run", "json")
def new(
    name: str,
    subject: Annotated[str, option("--subject TEXT", "What the patch does, in one line.")] = "",
    message: Annotated[str, option("--message -m TEXT", "The reason for the change.")] = "",
    author: Annotated[str, option("--author 'NAME <EMAIL>'", "The author.")] = "",
) -> None:
    """Make an empty patch on top of the pushed patches.

    Then edit files, and run `patchmgr refresh`.

    Example: patchmgr new fix-allow-list --subject "Clamp the allow list"
    """
    session, options = open_checkout_series(begins=True)
    made = commands.new.new_patch(
        session, name, options, subject=subject, message=message, author=author
    )
    answer({"patch": made}, f"{view_of().verb('Would make', 'Made')} {made}\n")


@takes("to", "series", "select", "dry_run", "json")
def push(
    patch: Annotated[str | None, argument("[PATCH]", f"{_A_PATCH} push.")] = None,
    all_: Annotated[bool, option("--all -a", "Push all patches.")] = False,
    force: Annotated[
        bool, option("--force", "Push even if hunks fail; write the failed hunks to .rej files.")
    ] = False,
) -> None:
    """Push the next patch, the next N, all up to PATCH, or all.

    Example: patchmgr push fix-allow-list --to ~/src/vllm
    """
    _refuse_both(patch, all_)
    session, options = open_checkout_series(begins=True, is_forced=force)
    _tell(commands.push.push(session, patch, options, all_=all_))


@takes("to", "series", "dry_run", "json")
def pop(
    patch: Annotated[str | None, argument("[PATCH]", f"{_A_PATCH} pop.")] = None,
    all_: Annotated[bool, option("--all -a", "Pop all patches.")] = False,
    force: Annotated[
        bool, option("--force", "Discard edits to the patched files; `undo` restores them.")
    ] = False,
) -> None:
    """Pop the top patch, the top N, all above PATCH, or all.

    Example: patchmgr pop --all
    """
    _refuse_both(patch, all_)
    session, options = open_checkout_series(is_forced=force)
    _tell(commands.push.pop(session, patch, options, all_=all_))


def _refuse_both(patch: str | None, all_: bool) -> None:
    if patch is not None and all_:
        raise UsageError("name a patch or give --all, not both")


@takes("to", "series", "select", "dry_run", "json")
def goto(
    patch: Annotated[
        str, argument(None, "A patch: its name, the start of its name, or its number; 0 pops all.")
    ],
) -> None:
    """Push or pop until PATCH is the top patch.

    Example: patchmgr goto fix-allow-list
    """
    session, options = open_checkout_series(begins=True)
    _tell(commands.push.goto(session, patch, options))


def _tell(done: Pushed) -> None:
    answer(done, render.authoring.pushed_text(done, view_of()))
    end_if(done.failure is not None or done.rejects, 1)


@takes("to", "series", "dry_run", "json")
def refresh(
    paths: Paths = None,
    patch: Annotated[
        str | None, option("--patch -p PATCH", "The patch to refresh; default: the top patch.")
    ] = None,
    allow_empty: Annotated[
        bool, option("--allow-empty", "Allow the patch to become empty.")
    ] = False,
    rewrite: Annotated[
        bool, option("--rewrite", "Rewrite the diff in git's format, even if nothing changed.")
    ] = False,
    auto: Annotated[
        bool, option("--auto", "Put each edit into the patch that wrote the edited lines.")
    ] = False,
    interactive: Annotated[
        bool, option("--interactive -i", "Choose the hunks one by one, as in git add -p.")
    ] = False,
) -> None:
    """Put your edits into the top patch, or into a patch below it.

    With --auto, each edit goes into the patch that wrote the edited lines, as with `git absorb`.
    Edits to lines that upstream or several patches wrote stay in the checkout.

    Example: patchmgr refresh src/model.py

    Example: patchmgr refresh --auto --dry-run

    Example: patchmgr refresh --interactive
    """
    session, options = open_checkout_series()
    others = {"--patch": patch, "--allow-empty": allow_empty, "--rewrite": rewrite}
    never_with("--auto", auto, {**others, "--interactive": interactive})
    if auto:
        shared = commands.refresh.distribute(session, paths or (), options)
        answer(shared, render.authoring.distributed_text(shared, view_of()))
    else:
        choose = chooser(patch or "the top patch") if interactive else None
        how = commands.refresh.RefreshOptions(patch, allow_empty, rewrite, choose)
        done = commands.refresh.refresh(session, paths or (), options, how)
        answer(done, render.authoring.refreshed_text(done, view_of()))


def _show_list(found: Listing, nothing: str) -> None:
    if not found.patches and not Given.wants_json:
        say(nothing)
    answer(found, render.authoring.listing_text(found))


@takes("to", "series", "json")
def applied() -> None:
    """List the pushed patches; `>` marks the top.

    Example: patchmgr applied
    """
    found = commands.applied.listing(*open_checkout_series(), only_pushed=True)
    _show_list(found, f"No patches of {found.series} are pushed.")


@takes("to", "series", "select", "json")
def unapplied() -> None:
    """List the patches that are not pushed.

    The marks are: `-` not pushed, `!` hidden.

    Example: patchmgr unapplied
    """
    found = commands.applied.unpushed_listing(*open_checkout_series())
    _show_list(found, f"All patches of {found.series} are pushed.")


def _name(step: int, patch: str | None = None) -> None:
    found = commands.applied.listing(*open_checkout_series())
    name = commands.applied.neighbor(found, patch, step=step)
    answer({"patch": name}, f"{name}\n")


@takes("to", "series", "json")
def top() -> None:
    """Print the name of the top patch.

    Example: patchmgr top
    """
    _name(0)


@takes("to", "series", "json")
def next_(patch: MaybePatch = None) -> None:
    """Print the name of the patch after the top, or after PATCH.

    Example: patchmgr next
    """
    _name(1, patch)


@takes("to", "series", "json")
def prev(patch: MaybePatch = None) -> None:
    """Print the name of the patch before the top, or before PATCH.

    Example: patchmgr prev
    """
    _name(-1, patch)


@takes("to", "series", "json")
def files(patch: MaybePatch = None) -> None:
    """List the files of a patch, by default the top patch.

    The marks are: `+` added, `~` changed, `-` deleted.

    Edits that have not been refreshed yet are listed with the top patch.

    Example: patchmgr files fix-allow-list
    """
    session, options = open_checkout_series()
    found = commands.show.files_of(session, patch, options)
    answer(found, render.authoring.files_text(found))


@takes("to", "series", "json")
def changes(
    paths: Paths = None,
    since: Annotated[
        str | None, option("--since PATCH", "Start the diff before this pushed patch.")
    ] = None,
    until: Annotated[
        str | None, option("--until PATCH", "End the diff after this pushed patch.")
    ] = None,
    reverse: Annotated[bool, option("--reverse -R", "Print the reverse diff.")] = False,
) -> None:
    """Print the edits that are not in a patch yet, as a diff.

    The diff goes from the top patch to the current files. With --since, it starts before that
    pushed patch. With --until, it ends after that pushed patch.

    Example: patchmgr changes

    Example: patchmgr changes --since fix-allow-list src
    """
    session, options = open_checkout_series()
    diff = commands.show.changes(
        session, paths or (), options, since=since, until=until, is_reversed=reverse
    )
    if Given.wants_json:
        answer({"diff": diff.decode("utf-8", "backslashreplace")}, "")
    else:
        show_diff(b"", diff)
