"""The pager that git would take, for what is long and read by a person."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import git_process

_PLAIN = ("", "cat")
_NOT_FOUND = 127  # of a shell, whose command is no program
_NAMES = ("GIT_PAGER", "PAGER")


def page(text: bytes) -> None:
    """Show a text on the terminal, through the pager of the user where there is one."""
    pager = pager_command()
    if pager in _PLAIN or _shown_by(pager, text) == _NOT_FOUND:
        sys.stdout.buffer.write(text)
        sys.stdout.flush()


def pager_command() -> str:
    """Return what git runs: of GIT_PAGER, the user's core.pager, PAGER, or its own choice.

    It is asked outside of every repository: what one names as its pager is not run.
    """
    named = {name: os.environ[name] for name in _NAMES if name in os.environ}
    environment = git_process.user_environment({"GIT_CEILING_DIRECTORIES": "/", **named})
    try:
        _, printed = git_process.run(["var", "GIT_PAGER"], cwd=Path("/"), env=environment)
    except PatchmgrError:
        return ""
    return git_process.text(printed).strip()


def _shown_by(pager: str, text: bytes) -> int:
    sys.stdout.flush()
    settings = {"LESS": "FRX", "LV": "-c"} | dict(os.environ)
    process = subprocess.Popen(["sh", "-c", pager], stdin=subprocess.PIPE, env=settings)
    ours = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the pager's while that runs
    try:
        process.communicate(text)
    finally:
        signal.signal(signal.SIGINT, ours)
    return process.returncode
