"""Run formatters, each in a temporary folder with only the formatter's settings."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.git_process import search_path
from patchmgr.plumbing.programs import end_group

PATIENCE = 600.0  # seconds for one file; black takes 25 for the largest
LARGEST_TEXT = 1 << 20  # bytes
_MOST_MEMORY = 4 << 30
_MOST_KEPT = 256  # formatted texts
_NOT_A_PROGRAM = (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR)
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # the second from a script that ran the tool
_HINTS = ("nothing was changed; run the command again",)

_SETTINGS = {
    "ruff": "pyproject.toml",
    "black": "pyproject.toml",
    "yapf": "style.ini",
    "clang-format": ".clang-format",
}


# Of the user's environment, a formatter gets only PATH.
_HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "BLACK_CACHE_DIR")
_ENVIRONMENT = {
    "RUFF_NO_CACHE": "true",
    "LC_ALL": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Toolbox(Closing):
    """The installed formatters, each looked up when it is first needed."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._paths: dict[str, Path | None] = {}
        self._missed: dict[str, set[str]] = {}
        self._formatted = lru_cache(_MOST_KEPT)(self._run)

    def close(self) -> None:
        """Delete the temporary folder that the formatters ran in."""
        home, self._home = self._home, None
        if home is not None:
            home.cleanup()

    def find(self, tool: str) -> Path | None:
        """Return the path of a formatter next to this interpreter or on PATH, or None."""
        if tool not in self._paths:
            beside = str(Path(sys.executable).parent)
            found = shutil.which(tool, path=os.pathsep.join((beside, search_path())))
            self._paths[tool] = None if found is None else Path(found)
        return self._paths[tool]

    def miss(self, tool: str, path: str) -> None:
        """Record that the formatter for the file at a path is not installed."""
        self._missed.setdefault(tool, set()).add(path)

    def notes(self, paths: Collection[str]) -> tuple[str, ...]:
        """Return how to install each formatter that these paths need and PATH lacks."""
        return tuple(
            f"upstream formats its files with {tool}, which is not on PATH: pip install {tool}"
            for tool, missed in sorted(self._missed.items())
            if not missed.isdisjoint(paths)
        )

    def run(self, tool: str, settings: bytes, path: str, content: bytes) -> bytes | None:
        """Return the formatted text of the file at a path, or None if the formatter rejects it.

        Raises PatchmgrError "helper" if the formatter is killed or does not answer in time.
        """
        return self._formatted(tool, settings, path, content)

    def _run(self, tool: str, settings: bytes, path: str, content: bytes) -> bytes | None:
        program = self.find(tool)
        if program is None or len(content) > LARGEST_TEXT:
            return None
        home = self._home = self._home or tempfile.TemporaryDirectory(prefix="patchmgr-format-")
        with tempfile.TemporaryDirectory(dir=home.name) as folder:
            Path(folder, _SETTINGS[tool]).write_bytes(settings)
            line = [str(program), *_arguments(tool, folder, f"file{Path(path).suffix}")]
            try:
                made = self._answer(line, folder, content)
            except OSError as fault:
                if fault.errno in _NOT_A_PROGRAM:
                    return None
                message = f"{tool} cannot format {path}: {fault}"
                raise PatchmgrError("helper", message, *_HINTS) from fault
        return made or (None if content else made)

    def _answer(self, line: Sequence[str], folder: str, content: bytes) -> bytes | None:
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
            source.write(content)
            source.seek(0)
            home = str(Path(folder).parent)
            process = subprocess.Popen(
                line,
                stdin=source,
                stdout=sink,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={**_ENVIRONMENT, "PATH": search_path(), **dict.fromkeys(_HOMES, home)},
                start_new_session=True,
                preexec_fn=_limit,
            )
            try:
                code = process.wait(self._patience)
            except subprocess.TimeoutExpired as fault:
                raise TimeoutError(f"no answer within {self._patience:.0f} seconds") from fault
            finally:
                end_group(process)
            if code in _KILLED:
                raise ChildProcessError("it was killed")
            if code != 0:
                return None
            sink.seek(0)
            return sink.read()


def _limit() -> None:
    for kind, most in ((resource.RLIMIT_AS, _MOST_MEMORY), (resource.RLIMIT_FSIZE, 64 << 20)):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _arguments(tool: str, folder: str, name: str) -> list[str]:
    settings, named = f"{folder}/{_SETTINGS[tool]}", f"{folder}/{name}"
    match tool:
        case "ruff":
            return ["format", "--no-cache", "--config", settings, "--stdin-filename", named, "-"]
        case "black":
            return ["-q", "--config", settings, "--stdin-filename", named, "-"]
        case "yapf":
            return ["--no-local-style", "--style", settings]
        case _:
            return [
                "--style=file",
                "--fallback-style=none",
                "--sort-includes=false",
                "--Wno-error=unknown",
                f"--assume-filename={named}",
            ]
