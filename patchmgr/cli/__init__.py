"""The command line: run a command with its options, print its result, and set the exit code.

This module lists all commands in order, and turns all errors into messages and exit codes.
"""

from __future__ import annotations

import errno
import gc
import os
import platform
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import typer

from patchmgr import __version__, render
from patchmgr.cli import (
    completion,
    conflicts,
    editing,
    helping,
    inspecting,
    merging,
    patches,
    pushing,
    rebasing,
    serving,
    targets,
    workspaces,
)
from patchmgr.cli.helping import Group, Verbs
from patchmgr.cli.root import Given, before, say, say_raw, show
from patchmgr.errors import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, PatchmgrError, UsageError

__all__ = ["app", "main"]


Verb = Callable[..., None]

_VERBS: tuple[Verb, ...] = (
    workspaces.init, patches.import_, patches.export_, rebasing.plan, rebasing.forecast,
    rebasing.rebase, rebasing.sync, conflicts.resolve, rebasing.decide, targets.apply,
    targets.unapply, targets.verify, targets.overlay, targets.wheel, targets.branch, targets.report,
    inspecting.check, inspecting.audit, inspecting.notes, inspecting.diff, inspecting.why,
    merging.mergetool, merging.merge_file, workspaces.status, inspecting.doctor, serving.mcp,
    helping.help_,
    pushing.new, pushing.push, pushing.pop, pushing.goto, pushing.refresh, pushing.applied,
    pushing.unapplied, pushing.top, pushing.next_, pushing.prev, pushing.files, pushing.changes,
    editing.show_, editing.edit, editing.rename, editing.drop, editing.move, editing.fold,
    editing.split, editing.log, editing.undo, editing.redo,
)  # fmt: skip
_GROUPS: dict[str, tuple[str, tuple[Verb, ...]]] = {
    "upstream": (
        "Add, list and fetch the upstream projects of a workspace.",
        (workspaces.upstream_add, workspaces.upstream_list, workspaces.upstream_fetch),
    ),
    "series": (
        "Make, list and show series: ordered patches on one pin.",
        (workspaces.series_new, workspaces.series_list, workspaces.series_show,
         workspaces.series_graph, editing.guard),
    ),
    "conflicts": (
        "Resolve conflicts, and share the recorded resolutions.",
        (conflicts.list_, conflicts.show_, conflicts.conflicts_resolve, conflicts.accept,
         conflicts.forget, conflicts.propose, conflicts.learn, conflicts.pull, conflicts.push),
    ),
    "merge-driver": (
        "Use patchmgr's merge in git merge, rebase and cherry-pick.",
        (merging.driver_install, merging.driver_uninstall, merging.driver_run),
    ),
}  # fmt: skip
_HIDDEN = ("run",)  # only git runs it


class _Program(Group):
    """All commands, in the order in which the help lists them."""

    def __init__(self, **given: Any) -> None:
        verbs: dict[str, Any] = {v.__name__.strip("_").replace("_", "-"): v for v in _VERBS}
        for name, (about, inner) in _GROUPS.items():
            below: Any = {v.__name__.strip("_").rpartition("_")[2]: v for v in inner}
            commands: Any = Verbs(below, _HIDDEN)
            verbs[name] = Group(
                name=name, help=about, commands=commands, no_args_is_help=True,
                rich_markup_mode=None,
            )  # fmt: skip
        super().__init__(**{**given, "commands": Verbs(verbs)})


app = typer.Typer(
    name="patchmgr",
    cls=_Program,
    help="Keep ordered patch series on pinned upstream commits, and carry them onto new ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(before)
_MANY = 500_000  # allocations before the garbage collector first runs


def main() -> NoReturn:
    """Run the command line, and end the process with its exit code."""
    _open_closed_streams()
    if {sys.platform, os.name} & {"win32", "nt"}:
        end_with(_refuse_windows)
    _use_utf8()
    if completion.is_asked():
        completion.answer(app)
    # A run is short and keeps most objects; garbage collection would take a tenth of its time.
    gc.set_threshold(_MANY)
    try:
        end_with(lambda: typer.main.get_command(app))
    finally:
        gc.freeze()


def _refuse_windows(**options: object) -> NoReturn:
    raise UsageError("patchmgr does not run natively on Windows; run it in WSL (wsl --install)")


def _use_utf8() -> None:
    """Restart Python in UTF-8 mode if the locale makes it use another encoding.

    patchmgr reads and writes all paths and texts as UTF-8, whatever the locale. Python turns UTF-8
    mode on by itself only for the C and POSIX locales, and not if PYTHONUTF8 is 0.
    """
    if sys.flags.utf8_mode == 0 and sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _open_closed_streams() -> None:
    """Open /dev/null for each standard stream that is closed, as git does.

    Otherwise, the next file to be opened would get that stream's file descriptor.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115 - it stays open


# Errors that the operating system may report at any time; they are not bugs in patchmgr.
_SYSTEM_ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENFILE, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOMEM, errno.ESTALE, errno.ETIMEDOUT,
    errno.ENOTCONN,
)  # fmt: skip


def end_with(make: Callable[[], Callable[..., object]]) -> NoReturn:
    """Run the command line that `make` returns, and end the process with its exit code.

    This is the only place where errors become messages and exit codes.
    """
    Given.wants_json, Given.line = "--json" in sys.argv, "patchmgr"
    Given.is_dry_run = Given.checkout = Given.series = None
    Given.is_verbose = Given.is_quiet = Given.wants_detail = False
    Given.selected = frozenset()
    try:
        code = _ended(make)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:  # typer returns this code after an interrupt, too
        say_raw("\nInterrupted. Nothing was left half done.")
    sys.exit(code if isinstance(code, int) else 0)


def _ended(make: Callable[[], Callable[..., object]]) -> object:
    try:
        return make()(standalone_mode=False)
    except PatchmgrError as error:
        return _fail(error)
    except BrokenPipeError:
        _drop_output()
        return 0
    except Exception as fault:  # a usage error from typer, or a bug in patchmgr
        return _usage_or_fault(fault)
    finally:
        if Given.session is not None:
            Given.session.close()


def _drop_output() -> None:
    """Discard what is still to be written to stdout, including what Python writes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: PatchmgrError) -> int:
    if Given.wants_json:
        with suppress(OSError):  # stdout may be what failed
            show(render.machine.error_document(error))
            return error.exit_code
    say(f"patchmgr: {error.message}")
    page = (f"{Given.line} --help",) if error.kind == "usage" else ()
    say(*(f"  hint: {hint}" for hint in error.hints or page))
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    return error.exit_code


def _usage_or_fault(fault: Exception) -> int:
    message = getattr(fault, "format_message", None)
    if message is not None and type(fault).__name__ == "NoArgsIsHelpError":
        # No command was given after a group: the message is the help of the group.
        say_raw(str(message()))
        return EXIT_USAGE
    if message is not None:
        return _fail(_usage(fault, str(message())))
    if isinstance(fault, OSError) and fault.errno in _SYSTEM_ERRORS:
        kind = "no-space" if fault.errno in (errno.ENOSPC, errno.EDQUOT) else "system"
        where = f"{os.fsdecode(fault.filename)}: " if fault.filename else ""
        return _fail(PatchmgrError(kind, f"{where}{fault.strerror}"))
    if isinstance(fault, MemoryError):
        return _fail(PatchmgrError("system", "there is not enough memory"))
    if isinstance(fault, FileNotFoundError) and fault.filename is None:  # only getcwd names no file
        return _fail(UsageError("the current folder no longer exists", "go to another one: cd /"))
    versions = f"patchmgr {__version__}, Python {platform.python_version()}, {platform.platform()}"
    say("patchmgr: this is a bug in patchmgr. Please report it with the text below.")
    say(versions)
    say_raw(traceback.format_exc())
    return EXIT_FAULT


def _usage(fault: Any, message: str) -> PatchmgrError:
    """Return the error for a wrong command line, with the closest valid name as a suggestion."""
    near = getattr(fault, "possibilities", None)
    if near:
        message = f"{fault.message}. Did you mean {near[0]}?"
    return UsageError(message, f"{Given.line} --help")
