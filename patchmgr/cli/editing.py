"""Commands that edit the patches of a series or their guards, and `log`, `undo` and `redo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from patchmgr import commands, render
from patchmgr.cli.hunk_choice import chooser
from patchmgr.cli.pushing import MaybePatch
from patchmgr.cli.root import (
    Given,
    answer,
    argument,
    never_with,
    only_with,
    open_checkout_series,
    open_series,
    option,
    show_diff,
    takes,
    view_of,
)
from patchmgr.errors import UsageError

Patch = Annotated[str, argument(None, "A patch: its name, the start of its name, or its number.")]


@takes("to", "series", "dry_run", "json")
def edit(
    patch: MaybePatch = None,
    subject: Annotated[str | None, option("--subject TEXT", "The new subject.")] = None,
    message: Annotated[
        str | None, option("--message -m TEXT", "The new text below the subject.")
    ] = None,
    author: Annotated[str | None, option("--author 'NAME <EMAIL>'", "The new author.")] = None,
    field: Annotated[
        list[str], option("--field NAME=VALUE", "Set a header field; an empty value removes it.")
    ] = [],  # noqa: B006 - typer copies it
) -> None:
    """Change the header of a patch, with options or in an editor.

    Example: patchmgr edit fix-allow-list --field Forwarded=no
    """
    wanted = commands.edit.header_edit(subject, message, author=author, fields=field)
    session, options = open_checkout_series()
    done = commands.edit.edit(session, patch, wanted, options)
    answer(done, render.authoring.edited_header_text(done, view_of()))


@takes("to", "series", "dry_run", "json")
def rename(
    patch: Annotated[str, argument("[PATCH]", "The patch to rename; default: the top patch.")],
    new: Annotated[str | None, argument("NEW")] = None,
) -> None:
    """Rename a patch.

    If only one name is given, it is the new name of the top patch.

    Example: patchmgr rename fix-allow-list clamp-allow-list
    """
    session, options = open_checkout_series()
    done = commands.edit.rename(session, None if new is None else patch, new or patch, options)
    answer(done, render.authoring.edited_header_text(done, view_of()))


@takes("to", "series", "dry_run", "json")
def drop(patches: Annotated[list[str], argument("PATCH...")]) -> None:
    """Remove patches from the series and delete their files.

    `patchmgr undo` brings them back.

    Example: patchmgr drop fix-allow-list
    """
    session, options = open_checkout_series()
    done = commands.drop.drop(session, patches, options)
    answer(done, render.authoring.revised_text(done, view_of()))


@takes("to", "series", "dry_run", "json")
def move(
    patch: Patch,
    before: Annotated[
        str | None, option("--before PATCH", "Move the patch to just before PATCH.")
    ] = None,
    after: Annotated[
        str | None, option("--after PATCH", "Move the patch to just after PATCH.")
    ] = None,
    into: Annotated[
        str | None,
        option("--into SERIES", "Move the patch to SERIES, directly above or below its own."),
    ] = None,
) -> None:
    """Move a patch within its series, or to another series.

    The move is refused if it would change the result of the series.

    Example: patchmgr move fix-allow-list --before 1
    """
    session, options = open_checkout_series()
    never_with("--into", into, {"--before": before, "--after": after, "--to": Given.checkout})
    if into is not None:
        moved = commands.move.move_to_series(session, patch, series=Given.series, into=into)
        answer(moved, render.authoring.moved_text(moved, view_of()))
    else:
        done = commands.move.move(session, patch, options, before=before, after=after)
        answer(done, render.authoring.revised_text(done, view_of()))


@takes("to", "series", "dry_run", "json")
def fold(
    patches: Annotated[list[str] | None, argument("[PATCH]...", "The patches to fold.")] = None,
    into: Annotated[
        str | None, option("--into PATCH", "The patch to fold into; default: the top patch.")
    ] = None,
    diff: Annotated[
        Path | None,
        option("--diff FILE", "Fold this diff instead of patches; - is standard input."),
    ] = None,
    strip: Annotated[
        int, option("--strip -p N", "Strip N leading folders from the diff's paths.", min=0, max=99)
    ] = 1,
) -> None:
    """Fold patches, or a diff, into another patch.

    Example: patchmgr fold fix-typo --into fix-allow-list
    """
    only_with("--diff", diff, {"--strip": strip != 1})
    session, options = open_checkout_series()
    if diff is None:
        done = commands.fold.fold(session, patches or [], options, into=into)
    elif patches:
        raise UsageError("name the patches to fold, or a diff with --diff")
    else:
        done = commands.fold.fold_diff(session, diff, options, into=into, strip=strip)
    answer(done, render.authoring.revised_text(done, view_of()))


@takes("to", "series", "dry_run", "json")
def split(
    patch: Patch,
    new: Annotated[str, argument("NEW", "The name of the new patch.")],
    file: Annotated[
        list[str], option("--file PATH", "A file or folder to split off; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    hunk: Annotated[
        list[str], option("--hunk PATH:N", "Split off hunk N of PATH, counted from 1; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    absorbed: Annotated[
        str | None, option("--absorbed REF", "Split off the hunks that REF already has.")
    ] = None,
    interactive: Annotated[
        bool, option("--interactive -i -p", "Choose the hunks one by one, as in git add -p.")
    ] = False,
    subject: Annotated[str, option("--subject TEXT", "The subject of the new patch.")] = "",
    message: Annotated[str, option("--message -m TEXT", "The text below the subject.")] = "",
) -> None:
    """Split off part of a patch into a new patch after it.

    Example: patchmgr split fix-allow-list fix-docs --file docs

    Example: patchmgr split fix-allow-list landed --absorbed upstream/main

    Example: patchmgr split fix-allow-list fix-docs --interactive
    """
    session, options = open_checkout_series()
    others = {"--file": file, "--hunk": hunk, "--absorbed": absorbed}
    never_with("--interactive", interactive, others)
    choose = chooser(new) if interactive else None
    part = commands.split.PatchPart(
        tuple(file), tuple(hunk), subject=subject, message=message, choose=choose
    )
    if absorbed:
        part = commands.split.with_absorbed(session, patch, options, part, absorbed)
    done = commands.split.split(session, patch, new, options, part)
    answer(done, render.authoring.revised_text(done, view_of()))


@takes("to", "series", "json")
def show_(
    patch: MaybePatch = None,
    header: Annotated[bool, option("--header", "Print only the header.")] = False,
    edits: Annotated[
        bool, option("--edits", "Print a description of each edit, file by file.")
    ] = False,
) -> None:
    """Print a patch, by default the top patch.

    Example: patchmgr show fix-allow-list --header
    """
    never_with("--edits", edits, {"--header": header})
    session, options = open_checkout_series()
    found, files = commands.show.show(session, patch, options, edits=edits)
    if edits or Given.wants_json:
        answer(
            render.authoring.patch_value(found, files),
            render.authoring.edits_text(found, files or ()),
        )
    else:
        show_diff(found.header, b"" if header else found.raw.removeprefix(found.header))


Count = Annotated[int, option("-n N", "The number of operations.", min=1)]


@takes("json")
def log(
    number: Annotated[int | None, argument("[NUMBER]", "Show what this operation changed.")] = None,
    most: Annotated[
        int | None,
        option("-n N", "List the newest N operations; 0 lists all; default: 20.", min=0),
    ] = None,
) -> None:
    """List past changes to the workspace and its checkouts.

    Example: patchmgr log
    """
    session, _ = open_checkout_series()
    found = commands.undo.read_log(session)
    if number is not None:
        found = found.only(number)
        text = render.authoring.operation_text(found.operations[0])
    else:
        found = found if most is None else found.newest(most)
        text = render.authoring.log_text(found.newest(20) if most is None else found)
    answer({"operations": render.authoring.log_value(found)}, text)


@takes("dry_run", "json")
def undo(
    count: Count = 1,
    to: Annotated[
        int | None,
        option("--to NUMBER", "Undo all operations after this one; 0 undoes everything."),
    ] = None,
) -> None:
    """Undo the last change to the workspace and its checkouts.

    Example: patchmgr undo
    """
    never_with("--to", to is not None, {"-n": count != 1})
    session, _ = open_checkout_series()
    done = commands.undo.undo(session, count=count, to=to)
    answer(render.authoring.undo_value(done), render.authoring.undo_text(done, view_of()))


@takes("dry_run", "json")
def redo(count: Count = 1) -> None:
    """Redo the change that was last undone.

    Example: patchmgr redo
    """
    session, _ = open_checkout_series()
    done = commands.undo.redo(session, count=count)
    answer(render.authoring.undo_value(done), render.authoring.undo_text(done, view_of()))


@takes("series", "dry_run", "json")
def guard(
    patch: Annotated[str | None, argument("[PATCH]")] = None,
    guards: Annotated[
        list[str] | None,
        argument("[+SYM|-SYM]...", "The guards to set; put -- before the first -SYM."),
    ] = None,
    none: Annotated[bool, option("--none", "Remove all guards of the patch.")] = False,
) -> None:
    """List the guards in a series, or set the guards of a patch.

    Example: patchmgr series guard fix-allow-list +sm120
    """
    only_with("PATCH", patch, {"--none": none})
    session, name = open_series(Given.series)
    if patch is None:
        found = commands.series.list_guards(session, name)
    elif bool(guards) == none:
        raise UsageError("give either guards (+sym or -sym) or --none")
    else:
        found = commands.series.set_guards(session, name, patch, guards or ())
    answer(
        {"series": found.series, "patches": render.authoring.guards_value(found)},
        render.authoring.guards_text(found),
    )
