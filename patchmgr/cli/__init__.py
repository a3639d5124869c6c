"""The command line: options to one command, its value to a renderer, and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

import typer

from patchmgr.cli import (
    completion,
    conflicts,
    editing,
    health,
    history,
    installs,
    looking,
    manual,
    merging,
    patches,
    publishing,
    pushing,
    rebasing,
    targets,
    workspaces,
)
from patchmgr.cli.ends import end_with
from patchmgr.cli.helping import App, Group
from patchmgr.cli.quick import quick_command
from patchmgr.cli.root import before
from patchmgr.errors import PatchmgrError

__all__ = ["app", "main"]


def _commands() -> typer.Typer:
    """Return all commands, in the order in which the help lists them."""
    root = App(
        name="patchmgr",
        cls=Group,
        help="Keep ordered patch series on pinned upstream commits, and carry them onto new ones.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    root.callback()(before)
    root.command()(workspaces.init)
    root.command("import")(patches.import_)
    root.command("export")(patches.export_)
    root.command()(rebasing.rebase)
    root.command()(rebasing.decide)
    root.command()(targets.apply)
    root.command()(targets.unapply)
    root.command()(targets.verify)
    root.command()(installs.overlay)
    root.command()(installs.wheel)
    root.command()(targets.branch)
    root.command()(targets.report)
    root.command()(publishing.check)
    root.command()(publishing.audit)
    root.command()(publishing.notes)
    root.command()(publishing.diff)
    root.command()(publishing.why)
    root.command()(merging.mergetool)
    root.command("merge-file")(merging.merge_file)
    root.command()(workspaces.status)
    root.command()(health.doctor)
    root.command("help")(manual.help_)
    root.command()(pushing.new)
    root.command()(pushing.push)
    root.command()(pushing.pop)
    root.command()(pushing.goto)
    root.command()(pushing.refresh)
    root.command()(pushing.applied)
    root.command()(pushing.unapplied)
    root.command()(pushing.top)
    root.command("next")(pushing.next_)
    root.command()(pushing.prev)
    root.command()(looking.files)
    root.command()(looking.changes)
    root.command("show")(editing.show_)
    root.command()(editing.edit)
    root.command()(editing.rename)
    root.command()(editing.drop)
    root.command()(editing.move)
    root.command()(editing.fold)
    root.command()(editing.split)
    root.command()(history.log)
    root.command()(history.undo)
    root.command()(history.redo)
    upstream = _group("Projects that are followed.")
    upstream.command("add")(workspaces.upstream_add)
    upstream.command("list")(workspaces.upstream_list)
    upstream.command("fetch")(workspaces.upstream_fetch)
    root.add_typer(upstream, name="upstream")
    series = _group("Ordered patches on one pin.")
    series.command("new")(workspaces.series_new)
    series.command("list")(workspaces.series_list)
    series.command("show")(workspaces.series_show)
    series.command("guard")(history.guard)
    root.add_typer(series, name="series")
    memory = _group("What was made of conflicts, for all who meet them again.")
    memory.command("list")(conflicts.list_)
    memory.command("show")(conflicts.show_)
    memory.command("resolve")(conflicts.resolve)
    memory.command("accept")(conflicts.accept)
    memory.command("forget")(conflicts.forget)
    memory.command("learn")(conflicts.learn)
    root.add_typer(memory, name="conflicts")
    driver = _group("The same merge inside of git merge, rebase, cherry-pick.")
    driver.command("install")(merging.driver_install)
    driver.command("uninstall")(merging.driver_uninstall)
    driver.command("run", hidden=True)(merging.driver_run)
    root.add_typer(driver, name="merge-driver")
    return root


def _group(help_: str) -> App:
    return App(cls=Group, help=help_, no_args_is_help=True, rich_markup_mode=None)


app = _commands()
_MANY = 500_000  # objects


def main() -> NoReturn:
    """Run the command line and end the process."""
    _open_closed_streams()
    if {sys.platform, os.name} & {"win32", "nt"}:
        end_with(_refuse_windows)
    _speak_utf8()
    if completion.is_asked():
        completion.answer(app)
    # A run is short and keeps most of what it makes: looking for garbage costs a tenth of it.
    gc.set_threshold(_MANY)
    try:
        end_with(lambda: quick_command(app, sys.argv[1:]))
    finally:
        gc.freeze()


def _refuse_windows(**options: object) -> NoReturn:
    message = "patchmgr does not run on Windows itself; run it in WSL (wsl --install)"
    raise PatchmgrError("usage", message)


def _speak_utf8() -> None:
    """Start again in UTF-8 mode where the locale has Python use another encoding.

    Paths and texts are UTF-8 here, whatever the locale; Python alone sets PYTHONUTF8 in the C one,
    unless it is told not to.
    """
    if sys.flags.utf8_mode == 0 and sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _open_closed_streams() -> None:
    """Put /dev/null where a standard stream is closed, as git does: no file takes its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115 - it stays
