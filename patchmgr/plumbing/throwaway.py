"""A throw-away checkout of a commit, and commands of a person in it: time limit and log."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import git_process
from patchmgr.plumbing.closing import Closing

TIMED_OUT = -1
_GRACE = 5.0


class Ended(Struct, frozen=True):
    """How a command ended: its exit code (TIMED_OUT where it had to be ended), and seconds."""

    code: int
    seconds: float


class ThrowAway(Closing):
    """A checkout that borrows the objects of a repository; leaving the context deletes it."""

    def __init__(self, lender: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="patchmgr-check-"))
        self.root = self._folder / "checkout"
        self.root.mkdir()
        git_process.output(["init", "--quiet", "--template=", "."], cwd=self.root)
        self._git_dir = self.root / ".git"
        alternates = self._git_dir / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{(lender / 'objects').resolve()}\n", errors="surrogateescape")

    def close(self) -> None:
        """Delete it."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def check_out(self, commit: str) -> None:
        """Put the files of a commit in place; what is not tracked stays."""
        arguments = ["checkout", "--quiet", "--force", "--detach", commit]
        try:
            git_process.output(arguments, git_dir=self._git_dir, cwd=self.root)
        except PatchmgrError as fault:
            hint = "patchmgr upstream fetch gets what the upstream still has"
            raise PatchmgrError(fault.kind, fault.message, (hint,)) from fault

    def run(
        self, command: Sequence[str], *, timeout: float, log: Path, told: Mapping[str, str]
    ) -> Ended:
        """Run a command here; its output is appended to the log. All its processes end with it.

        It has the user's environment, less what names another git repository, and what it is told.
        """
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        start = time.monotonic()
        with log.open("ab") as out:
            out.write(f"$ {' '.join(command)}\n".encode(errors="replace"))
            out.flush()
            try:
                process = subprocess.Popen(
                    command,
                    cwd=self.root,
                    env={**environment, **told},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as fault:
                out.write(f"{fault}\n".encode(errors="replace"))
                return Ended(127, 0.0)
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                code = TIMED_OUT
                out.write(f"ended after {timeout:.0f} s\n".encode())
            finally:
                end_group(process)
        return Ended(code, time.monotonic() - start)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it has started: gently first, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)


def is_program(name: str) -> bool:
    """Say whether there is a program of that name."""
    return shutil.which(name) is not None


def whole_tree(git_dir: Path, commit: str) -> set[str]:
    """Return the ids of all blobs of a commit."""
    printed = git_process.text(git_process.output(["ls-tree", "-r", "-z", commit], git_dir=git_dir))
    rows = [line.split("\t", 1)[0].split(" ") for line in printed.split("\0") if line]
    return {row[2] for row in rows if row[1] == "blob"}
