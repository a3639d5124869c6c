"""A layer that lets one file operation or git command of a run fail, and the rest go on."""

import builtins
import errno
import os
import pathlib
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

_MOVING = ("replace", "rename", "unlink", "remove", "rmdir", "mkdir", "symlink", "link", "fchmod",
           "fsync")  # fmt: skip
_SAYS = {errno.ENOSPC: b"fatal: write error: No space left on device\n",
         errno.EACCES: b"fatal: Unable to create 'x': Permission denied\n",
         errno.EIO: b"fatal: write error: Input/output error\n"}  # fmt: skip


class Fault:
    """Fails in the n-th operation; `lasts` says that all that write after it fail, too."""

    def __init__(self, at: int, *, lasts: bool = False) -> None:
        self.at = at
        self.count = 0
        self._lasts = lasts

    def hits(self) -> bool:
        """Count an operation; say whether it fails."""
        self.count += 1
        return self.count == self.at or (self._lasts and self.count > self.at)

    def error(self) -> BaseException:
        """Return what is raised in place of the operation."""
        raise NotImplementedError

    def ended(self, line: Any) -> subprocess.CompletedProcess[bytes]:
        """Return how a git command ends in place of its work."""
        raise self.error()


class Refusal(Fault):
    """The system refuses: a full disk, no right, a broken disk."""

    def __init__(self, at: int, number: int, *, lasts: bool = False) -> None:
        super().__init__(at, lasts=lasts)
        self._number = number

    def error(self) -> BaseException:
        return OSError(self._number, os.strerror(self._number))

    def ended(self, line: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess(line, 128, b"", _SAYS[self._number])


class Interrupt(Fault):
    """A person presses Ctrl-C."""

    def error(self) -> BaseException:
        return KeyboardInterrupt()


class Killed(BaseException):
    """The process is gone."""


class Death(Fault):
    """The process dies: from then on, nothing that it does to files works."""

    def hits(self) -> bool:
        if super().hits() or self.count <= self.at:
            return self.count == self.at
        raise Killed

    def error(self) -> BaseException:
        return Killed()


class GitKilled(Fault):
    """A git process is killed before it has done anything; nothing else fails."""

    def hits(self) -> bool:
        return False

    def ended(self, line: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess(line, -9, b"", b"")

    def hits_git(self) -> bool:
        """Count a git command; say whether it is killed."""
        return super().hits()


KINDS: Mapping[str, Callable[[int], Fault]] = {
    "no space": lambda at: Refusal(at, errno.ENOSPC, lasts=True),
    "no space once": lambda at: Refusal(at, errno.ENOSPC),
    "denied": lambda at: Refusal(at, errno.EACCES),
    "broken disk": lambda at: Refusal(at, errno.EIO),
    "interrupted": Interrupt,
    "git killed": GitKilled,
    "killed": Death,
}


@contextmanager
def killing(at: int) -> Iterator[Death]:
    """Let this process die, as far as files are concerned, at its n-th operation."""
    death = Death(at)
    with failing(death):
        yield death


@contextmanager
def failing(fault: Fault) -> Iterator[None]:
    """Let an operation of this process fail."""
    with pytest.MonkeyPatch.context() as patched:
        # Python 3.10 took the functions of os when it imported pathlib.
        early = getattr(pathlib, "_NormalAccessor", None)
        for name in _MOVING[: -1 if isinstance(fault, Death) else None]:
            wrapped = _wrapped(fault, getattr(os, name))
            patched.setattr(os, name, wrapped)
            if hasattr(early, name):
                patched.setattr(early, name, staticmethod(wrapped))
        patched.setattr(os, "open", _creating(fault, os.open))
        patched.setattr(builtins, "open", _opening(fault, open))
        patched.setattr(subprocess, "run", _running(fault, subprocess.run))
        yield


def _wrapped(fault: Fault, real: Callable[..., Any]) -> Callable[..., Any]:
    takes_space = real.__name__ in ("mkdir", "symlink", "link", "fsync")

    def call(*arguments: Any, **options: Any) -> Any:
        if fault.hits() and (takes_space or fault.count == fault.at):
            raise fault.error()
        return real(*arguments, **options)

    return call


def _opening(fault: Fault, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return `open`: a file that cannot be written whole is there, torn."""

    def call(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode[0] in "wxa" and fault.hits():
            with real(path, "wb") as file:
                file.write(b"to")
            raise fault.error()
        return real(path, mode, *arguments, **options)

    return call


def _creating(fault: Fault, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(path: Any, flags: int, *arguments: Any, **options: Any) -> Any:
        if flags & os.O_CREAT and fault.hits():
            if isinstance(fault, Death):
                os.close(real(path, flags, *arguments, **options))
            raise fault.error()
        return real(path, flags, *arguments, **options)

    return call


def _running(fault: Fault, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(line: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(fault, GitKilled):
            return fault.ended(line) if fault.hits_git() else real(line, *arguments, **options)
        if fault.hits():
            return fault.ended(line)
        return real(line, *arguments, **options)

    return call
