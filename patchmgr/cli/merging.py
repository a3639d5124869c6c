"""`merge-file`, the group `merge-driver`, and `mergetool`: merges of single files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from patchmgr import commands, render
from patchmgr.cli.root import (
    Confidence,
    Given,
    answer,
    argument,
    end_if,
    named_workspace,
    open_session,
    option,
    say,
    show,
    takes,
    view_of,
    write_file,
)
from patchmgr.errors import EXIT_CONFLICTS, PatchmgrError, UsageError

if TYPE_CHECKING:
    from patchmgr.workspace import Workspace

_NO_MERGE = 129  # for any code up to 128, git would take the content of %A as the conflicted file

Upstream = Annotated[str, option("--upstream ours|theirs", "The side that comes from upstream.")]
Repository = Annotated[Path, option("--git REPO", "The clone to change.")]


@takes("dry_run", "json")
def merge_file(
    base: Annotated[Path, argument("BASE")],
    ours: Annotated[Path, argument("OURS")],
    theirs: Annotated[Path, argument("THEIRS")],
    path: Annotated[str, option("--path NAME", "The file's path in its repository.")],
    output: Annotated[
        Path | None, option("-o OUT", "Write to this file, not to standard output.")
    ] = None,
    upstream: Upstream = "ours",
    confidence: Confidence = None,
) -> None:
    """Merge one file as a rebase would.

    The exit code is 3 if there is a conflict. Recorded resolutions are replayed if the current
    folder is in a workspace, or if -C names a workspace. If git's own merge is clean, the result is
    the same as git's, byte for byte.

    Example: patchmgr merge-file base.py ours.py theirs.py --path pkg/mod.py -o merged.py
    """
    if Given.wants_json and output is None:
        raise UsageError(
            "--json prints to stdout, so name the file for the merged text with -o OUT"
        )
    merged = commands.merge_file.merge_file(
        (base, ours, theirs), path, upstream=upstream, workspace=_workspace(), confidence=confidence
    )
    say(*render.recorded_conflicts.merged_lines(merged))
    if output is not None and not Given.is_dry_run:
        write_file(output, merged.content)
    elif output is None and not Given.is_dry_run:
        sys.stdout.buffer.write(merged.content)
        sys.stdout.flush()
    answer(render.recorded_conflicts.merged_value(merged), "")
    end_if(merged.how is None, EXIT_CONFLICTS)


def _workspace() -> Workspace | None:
    named = named_workspace()
    start = (named or Path.cwd()).absolute()
    return commands.merge_file.near_workspace(start, is_named=named is not None)


@takes("dry_run")
def driver_install(
    repository: Repository = Path(),
    patterns: Annotated[
        list[str],
        option("--pattern GLOB", "Use patchmgr only for files that match GLOB; repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    upstream: Upstream = "ours",
) -> None:
    """Install the merge driver in a clone.

    git merge, git rebase and git cherry-pick then use patchmgr's merge in that clone. This
    command writes to the configuration of the clone and to .git/info/attributes; running it again
    is harmless. In a workspace, or with -C, the workspace's recorded resolutions are used. In a
    rebase, ours is upstream's side. If you merge upstream into your branch, give --upstream theirs.

    Example: patchmgr merge-driver install --git ~/src/vllm
    """
    change = commands.merge_driver.install_driver(
        repository.absolute(),
        patterns=patterns,
        upstream=upstream,
        workspace=_workspace(),
        is_dry_run=bool(Given.is_dry_run),
    )
    show(render.recorded_conflicts.installation_text(change, view_of()))


@takes("dry_run")
def driver_uninstall(repository: Repository = Path()) -> None:
    """Remove the merge driver from a clone.

    Example: patchmgr merge-driver uninstall --git ~/src/vllm
    """
    change = commands.merge_driver.uninstall_driver(
        repository.absolute(), is_dry_run=bool(Given.is_dry_run)
    )
    show(render.recorded_conflicts.installation_text(change, view_of()))


def driver_run(
    base: Annotated[Path, argument("%O")],
    ours: Annotated[Path, argument("%A")],
    theirs: Annotated[Path, argument("%B")],
    path: Annotated[str, argument("%P")],
    upstream: Upstream = "ours",
) -> None:
    """Merge for git: write the result to %A, and exit with status 1 on a conflict.

    Example: patchmgr merge-driver run %O %A %B %P
    """
    sides = (base, ours, theirs)
    try:
        workspace = _workspace()
    except PatchmgrError as fault:
        workspace = None
        say(f"warning: {fault.message}")
    try:
        merged, problem = commands.merge_file.drive(
            sides, path, upstream=upstream, workspace=workspace
        )
    except PatchmgrError as fault:
        say(f"patchmgr: {fault.message}")
        raise typer.Exit(_NO_MERGE) from fault
    if problem is not None:
        say(f"warning: recorded resolutions are not used: {problem}")
    say(*render.recorded_conflicts.merged_lines(merged))
    end_if(merged.how is None, 1)


@takes("dry_run")
def mergetool(
    names: Annotated[list[str] | None, argument("[FILE]...")] = None,
    tool: Annotated[
        str | None, option("--tool TOOL", "The merge tool; for a list: git mergetool --tool-help.")
    ] = None,
) -> None:
    """Resolve the conflicts of a rebase with git's merge tool.

    FILE is a path in the work area, or the end of such a path; by default, the tool is run for each
    file with conflict markers. The tool comes from your git configuration (merge.tool and
    mergetool.*), unless you give --tool.

    Example: patchmgr mergetool --tool vimdiff
    """
    session = open_session()
    result = commands.mergetool.run_mergetool(session, names or (), tool=tool)
    say(*render.recorded_conflicts.tool_lines(result, view_of()))
    end_if(result.left and not Given.is_dry_run, EXIT_CONFLICTS)
