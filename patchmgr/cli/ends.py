"""How a run of the command line ends: errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import platform
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from patchmgr import __version__, render
from patchmgr.cli.root import Given, say, show
from patchmgr.errors import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, PatchmgrError

# What a system may refuse at any time, and no program foresees.
_OF_THE_SYSTEM = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENFILE, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOMEM,
)  # fmt: skip


def end_with(made: Callable[[], Callable[..., object]]) -> NoReturn:
    """Make the command line and run it; the one place where errors become exit codes."""
    Given.wants_json, Given.line = "--json" in sys.argv, "patchmgr"
    try:
        code = _ended(made)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:  # typer makes this code of an interrupt, too
        say("\nInterrupted. Nothing is half done.")
    sys.exit(code if isinstance(code, int) else 0)


def _ended(made: Callable[[], Callable[..., object]]) -> object:
    try:
        return made()(standalone_mode=False)
    except PatchmgrError as error:
        return _fail(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as fault:  # the boundary: usage errors of typer, else our own fault
        return _usage_or_fault(fault)
    finally:
        _close()


def _close() -> None:
    if Given.session is not None:
        Given.session.close()


def _fail(error: PatchmgrError) -> int:
    if Given.wants_json:
        show(render.machine.error_document(error))
        return error.exit_code
    say(f"patchmgr: {render.clean.clean(error.message)}")
    page = (f"{Given.line} --help",) if error.kind == "usage" else ()
    for hint in error.hints or page:
        say(f"  hint: {render.clean.clean(hint)}")
    return error.exit_code


def _usage_or_fault(fault: Exception) -> int:
    message = getattr(fault, "format_message", None)
    if message is not None and type(fault).__name__ == "NoArgsIsHelpError":
        # A group without a command: the message is its help, in typer as in every click.
        say(str(message()))
        return EXIT_USAGE
    if message is not None:
        return _fail(_usage(fault, str(message())))
    if isinstance(fault, OSError) and fault.errno in _OF_THE_SYSTEM:
        kind = "no-space" if fault.errno in (errno.ENOSPC, errno.EDQUOT) else "system"
        where = f"{fault.filename}: " if fault.filename else ""
        return _fail(PatchmgrError(kind, f"{where}{fault.strerror}"))
    versions = f"patchmgr {__version__}, Python {platform.python_version()}, {platform.platform()}"
    say(f"patchmgr: a fault of the program. Please report this with what follows.\n{versions}")
    say(traceback.format_exc())
    return EXIT_FAULT


def _usage(fault: Any, message: str) -> PatchmgrError:
    """Return what is wrong with a command line; the nearest option is named."""
    near = getattr(fault, "possibilities", None)
    if near:
        message = f"{fault.message}. Did you mean {near[0]}?"
    return PatchmgrError("usage", message, (f"{Given.line} --help",))
