"""`import` and `export`: take patches from other tools, and write patches for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec.structs import replace

from patchmgr import commands, render
from patchmgr.cli.root import (
    MaybeName,
    answer,
    argument,
    never_with,
    only_with,
    open_series,
    option,
    takes,
    view_of,
)
from patchmgr.cli.targets import PackageName, Python, Site, location_of
from patchmgr.errors import UsageError

Linearize = Annotated[
    bool, option("--linearize", "If the fork contains merges, import it as one patch per commit.")
]
FirstParent = Annotated[
    bool,
    option(
        "--first-parent", "If the fork contains merges, import it as one patch per merged branch."
    ),
]
Squash = Annotated[
    bool, option("--squash", "If the fork contains merges, import it as a single patch.")
]


@takes("dry_run", "every_patch", "quiet", "json")
def import_(
    sources: Annotated[list[str] | None, argument("SOURCE...")] = None,
    series: Annotated[str, option("--series S", "The series to append to.")] = "",
    git: Annotated[
        Path | None, option("--git REPO", "Read SOURCE as a range A..B of commits in REPO.")
    ] = None,
    stgit: Annotated[
        Path | None,
        option("--stgit REPO", "SOURCE is an StGit branch in REPO; default: the current branch."),
    ] = None,
    commit: Annotated[
        list[str] | None, option("--commit SHA", "Import this upstream commit; repeatable.")
    ] = None,
    pull: Annotated[
        list[str] | None, option("--pull N|URL", "Import this upstream pull request; repeatable.")
    ] = None,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    strip: Annotated[
        int | None, option("--strip -p N", "Strip N leading folders from paths.", min=0, max=99)
    ] = None,
    reverse: Annotated[bool, option("--reverse -R", "Import the reverse of each patch.")] = False,
    without: Annotated[
        list[str] | None, option("--without NAME", "Leave out this patch; repeatable.")
    ] = None,
    linearize: Linearize = False,
    first_parent: FirstParent = False,
    squash: Squash = False,
) -> None:
    """Append patches from files, folders, git commits or StGit.

    A file may be a diff or a mailbox. A folder may come from quilt, a Debian package, StGit or
    patch-package, or be any folder of patches whose names sort in the right order. A fork
    into which upstream was merged becomes a linear series on the upstream state that was merged
    last; the whole series gives the fork's tree.

    With --python or --site, your edits to the installed package become a patch.

    Example: patchmgr import --git ~/src/vllm v0.23.0..my-branch --series vllm

    Example: patchmgr import --git ~/src/vllm v0.23.0..my-branch --series vllm --linearize

    Example: patchmgr import debian/patches --series vllm --without old.patch

    Example: patchmgr import --pull 35076 --series vllm

    Example: patchmgr import --python .venv/bin/python --series vllm
    """
    session, named = open_series(series)
    given = sources or []
    wanted = commands.import_patches.Sources(
        [Path(source) for source in given],
        strip=strip,
        is_reversed=reverse,
        pulls=pull or (),
        commits=commit or (),
        without=without or (),
        edited=location_of(python, site, package) if python or site or package else None,
    )
    form = form_of(linearize=linearize, first_parent=first_parent, squash=squash)
    only_with("--git REPO A..B", git, {f"--{form}": form})
    never_with("--reverse", reverse, {f"--{form}": form})
    is_read = given and git is None and stgit is None
    only_with("a file or a folder", is_read, {"-p": strip is not None})
    if git is not None or stgit is not None:
        range_, stack = _range(git, stgit, given), _stack(stgit, given)
        wanted = replace(wanted, paths=(), git=range_, stack=stack, merges=form)
    imported = commands.import_patches.import_patches(session, wanted, series=named)
    answer(
        render.listings.imported_value(imported, named),
        render.listings.imported_text(imported, named, view_of()),
    )


def form_of(*, linearize: bool, first_parent: bool, squash: bool) -> str | None:
    """Return the name of the option for merges that was given, or None.

    Raises PatchmgrError "usage" if more than one is given.
    """
    asked = {"linearize": linearize, "first-parent": first_parent, "squash": squash}
    given = [name for name, is_asked in asked.items() if is_asked]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} cannot be used together")
    return given[0] if given else None


def _range(git: Path | None, stgit: Path | None, given: list[str]) -> tuple[Path, str] | None:
    if git is None:
        return None
    if stgit is not None:
        raise UsageError("--git and --stgit cannot be used together")
    if len(given) != 1:
        raise UsageError("--git REPO needs exactly one range A..B")
    return git, given[0]


def _stack(stgit: Path | None, given: list[str]) -> tuple[Path, str | None] | None:
    if stgit is None:
        return None
    if len(given) > 1:
        raise UsageError("--stgit REPO takes at most one branch")
    return stgit, given[0] if given else None


@takes("select", "dry_run", "json")
def export_(
    name: MaybeName = None,
    form: Annotated[
        str,
        option("--as FORM", "quilt, mbox, git, gbp, stgit, patch-package, diff, yocto or suse."),
    ] = "",
    out: Annotated[
        Path | None, option("--out PATH", "The folder to write; for mbox and diff, the file.")
    ] = None,
    npm: Annotated[
        str | None, option("--npm NAME[@VERSION]", "The npm package, for --as patch-package.")
    ] = None,
    force: Annotated[
        bool, option("--force", "Replace files even if patchmgr did not write them.")
    ] = False,
) -> None:
    """Export a series for another tool.

    A patch that already fits the format is copied byte for byte.

    The formats quilt, gbp (debian/patches), stgit and patch-package are folders of patches; git is
    a folder of numbered messages; mbox is one file of messages; diff is one file with all changes.
    yocto and suse are folders of messages whose headers give the upstream status of each patch in
    the terms of Yocto or SUSE. To get commits, use `patchmgr branch`.

    Example: patchmgr export vllm --as mbox --out vllm.mbox

    Example: patchmgr export vllm --as gbp --out debian/patches
    """
    session, named = open_series(name)
    if out is None:
        raise UsageError("name the folder or file to write with --out PATH")
    only_with("--as patch-package", form == "patch-package", {"--npm": npm})
    done = commands.export.export(session, named, form, _place(out), package=npm, is_forced=force)
    answer(done, render.listings.exported_text(done, view_of()))


def _place(out: Path) -> Path:
    """Return the absolute path; a symbolic link at the end of the path is not followed."""
    return out.parent.resolve() / out.name if out.name else out.resolve()
