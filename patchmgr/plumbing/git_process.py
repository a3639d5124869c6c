"""Run git with a clean environment and pinned configuration, and check its exit code."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import decode_path, encode_path

# Merges, and questions to a checkout, need git 2.39. The versions in _SAFE know GIT_NO_LAZY_FETCH,
# which makes it safe to read the repositories of others.
MINIMUM_GIT = (2, 39)
_SAFE = {39: 4, 40: 2, 41: 1, 42: 2, 43: 4, 44: 1}
_VERSION = re.compile(r"git version (\d+)\.(\d+)(?:\.(\d+))?")

TRUST = "if you trust its owner: git config --global --add safe.directory"
_INSTALL = "install git 2.39.4 or newer"

_KEPT = ("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
_KEPT_FOR_NETWORK = (
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "DISPLAY", "USER", "LOGNAME",
    "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY",
    "all_proxy", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
)  # fmt: skip
_PINNED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # What git 3 no longer does by default.
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_DEFAULT_REF_FORMAT": "files",
    # Keeps versions of git that do not know GIT_NO_LAZY_FETCH from fetching missing objects.
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
    "TZ": "UTC",
}
_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.quotePath=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "gc.auto=0",
    "maintenance.auto=0",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",  # else `git log` runs the program that gpg.program names
    "fastimport.unpackLimit=0",  # else git unpacks small packs, and only packs move to a store
    "advice.detachedHead=false",
)


# The form of every diff, whatever the user's configuration (diff.*) says.
DIFF_FORM = (
    "--full-index", "--find-renames=50%", "-l0", "--no-ext-diff", "--no-textconv",
    "--no-color", "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
    "--no-relative", "--submodule=short", "--ignore-submodules=none", "--indent-heuristic",
    "--inter-hunk-context=0",
)  # fmt: skip
_OF_THE_SYSTEM = re.compile(
    rb"No space left on device|Disk quota exceeded|Permission denied|Read-only file system"
    rb"|Input/output error|Cannot allocate memory|Too many open files"
)


def clean_environment(
    extra: Mapping[str, str] | None = None, *, for_network: bool = False
) -> dict[str, str]:
    """Return an environment for git that keeps only the variables needed to find programs.

    For the network, the user's own git configuration, credentials and proxies are kept too; this is
    safe because fetched objects are checked against their ids.
    """
    kept = _KEPT + (_KEPT_FOR_NETWORK if for_network else ())
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["PATH"] = search_path()
    environment.update(_PINNED)
    if for_network:
        environment["GIT_ALLOW_PROTOCOL"] = "file:git:http:https:ssh"
    else:
        environment["GIT_CONFIG_GLOBAL"] = os.devnull
    environment.update(extra or {})
    return environment


def user_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment for git that keeps the user's own and the system's configuration."""
    # The system's may list repositories of other users that are trusted (safe.directory).
    return clean_environment({"GIT_CONFIG_NOSYSTEM": "0", **(extra or {})}, for_network=True)


@functools.cache
def git_words() -> str:
    """Return the output of `git version`; raise PatchmgrError "git" if git is not on PATH."""
    return text(output(["version"])).strip()


def git_version() -> tuple[int, int, int]:
    """Return the version of git as three numbers; raise PatchmgrError "git" if there is no git."""
    found = _VERSION.match(git_words())
    if found is None:
        message = f"the version that git reports cannot be read: {git_words()!r}"
        raise PatchmgrError("git", message, _INSTALL)
    return int(found[1]), int(found[2]), int(found[3] or 0)


def require_git(what: str) -> None:
    """Raise PatchmgrError "git" if git is too old for the feature that `what` names."""
    version = git_version()
    if version < MINIMUM_GIT:
        shown = ".".join(map(str, version))
        wanted = ".".join(map(str, MINIMUM_GIT))
        message = f"{what} needs git {wanted} or newer, but this is git {shown}"
        raise PatchmgrError(
            "git", message, _INSTALL, "to see what works with this git: patchmgr doctor"
        )


def is_safe_git(version: tuple[int, int, int]) -> bool:
    """Return whether this version of git knows GIT_NO_LAZY_FETCH."""
    major, minor, patch = version
    # Older versions fetch the missing objects of a partial clone from any place that the clone's
    # own configuration names.
    return (major, minor) >= (2, 45) or (major == 2 and patch >= _SAFE.get(minor, 1 << 30))


def search_path() -> str:
    """Return PATH without its relative folders, which are not trusted."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, folders))


def command(arguments: Sequence[str], git_dir: Path | None = None) -> list[str]:
    """Return the command line that runs git with patchmgr's configuration and these arguments."""
    line = ["git"]
    for setting in _CONFIG:
        line += ["-c", setting]
    if git_dir is not None:
        line.append(f"--git-dir={git_dir}")
    return [*line, *arguments]


def run(
    arguments: Sequence[str],
    *,
    git_dir: Path | None = None,
    cwd: Path | None = None,
    data: bytes = b"",
    good: Collection[int] = (0,),
    env: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """Run git to completion, and return its exit code and output.

    Raises the error that `failure` returns if the exit code is not in `good`, or if git reports a
    fault of the machine.
    """
    env = clean_environment() if env is None else env
    line = command(arguments, git_dir)
    try:
        done = subprocess.run(line, input=data, capture_output=True, cwd=cwd, env=env, check=False)
    except FileNotFoundError as fault:
        raise _no_git() from fault
    except OSError as fault:  # for example, there are more paths than a command line can have
        raise PatchmgrError("system", f"git {arguments[0]}: {fault.strerror}") from fault
    # Git ends with 128 for an unknown name and for a broken disk alike.
    if done.returncode not in good or (done.returncode and _OF_THE_SYSTEM.search(done.stderr)):
        raise failure(arguments, done.returncode, done.stderr)
    return done.returncode, done.stdout


def output(
    arguments: Sequence[str],
    *,
    git_dir: Path | None = None,
    cwd: Path | None = None,
    data: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Run git and return its output; raise PatchmgrError if the exit code is not 0."""
    return run(arguments, git_dir=git_dir, cwd=cwd, data=data, env=env)[1]


def ask(git_dir: Path, *arguments: str, data: bytes = b"") -> str:
    """Run git on a repository as `output` does, and return its output as text."""
    return text(output(arguments, git_dir=git_dir, data=data))


def answer(git_dir: Path, *arguments: str, good: Collection[int] = (0, 1)) -> str | None:
    """Return git's output without its last line feed, or None if the exit code is not 0.

    Raises PatchmgrError if the exit code is not in `good`.
    """
    code, printed = run(arguments, git_dir=git_dir, good=good)
    return None if code else text(printed).strip("\n")


def fields(git_dir: Path, *arguments: str, data: bytes = b"") -> list[str]:
    """Run git on a repository as `output` does, and return the NUL-terminated fields it prints."""
    return ask(git_dir, *arguments, data=data).split("\0")[:-1]


def settings(
    pattern: str, *, git_dir: Path | None = None, cwd: Path | None = None
) -> Iterator[tuple[str, str | None]]:
    """Yield (name, value) for each git setting of the user that matches; None means true."""
    line = ["config", "--show-scope", "-z", "--get-regexp", pattern]
    _, printed = run(line, git_dir=git_dir, cwd=cwd, good=(0, 1), env=user_environment())
    fields = text(printed).split("\0")[:-1]
    for scope, setting in zip(fields[::2], fields[1::2], strict=True):
        name, has_value, value = setting.partition("\n")
        if scope != "command":  # the settings that patchmgr pins
            yield name, value if has_value else None


def output_by_files(
    arguments: Sequence[str], *, git_dir: Path, data: IO[bytes], scratch: Path
) -> bytes:
    """Run git as `output` does, but read the input from an open file, beginning at its position.

    The output goes through a temporary file in the folder `scratch`.
    """
    line, env = command(arguments, git_dir), clean_environment()
    # A file, so that no thread has to copy the output.
    with tempfile.TemporaryFile(dir=scratch) as printed:
        try:
            done = subprocess.run(
                line, stdin=data, stdout=printed, stderr=subprocess.PIPE, env=env, check=False
            )
        except FileNotFoundError as fault:
            raise _no_git() from fault
        if done.returncode:
            raise failure(arguments, done.returncode, done.stderr)
        printed.seek(0)
        return printed.read()


def attended(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> int:
    """Run git at the user's terminal and with the user's configuration; return git's exit code."""
    return subprocess.run(["git", *arguments], cwd=cwd, env=env, check=False).returncode


def failure(arguments: Sequence[str], code: int, stderr: bytes) -> PatchmgrError:
    """Return the error for a failed git command: "no-space", "system" (machine fault) or "git"."""
    said = stderr.decode(errors="replace").strip().splitlines()
    lines = [line for line in said if line.startswith(("fatal:", "error:"))] or said[-1:]
    if any("No space left on device" in line for line in said):
        return PatchmgrError(
            "no-space",
            f"git {arguments[0]}: no space left on device",
            "free some space, then run the command again",
        )
    reason = lines[0] if lines else "no message"
    kind = "system" if code < 0 or _OF_THE_SYSTEM.search(stderr) else "git"
    what = " ".join(word for word in arguments[:2] if word != "--")
    return PatchmgrError(kind, f"git {what}: exit {code}: {reason}")


def spawn(arguments: Sequence[str], *, git_dir: Path) -> subprocess.Popen[bytes]:
    """Start a git process that reads requests from a pipe, and discard its error messages."""
    try:
        return subprocess.Popen(
            command(arguments, git_dir),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
        )
    except FileNotFoundError as fault:
        raise _no_git() from fault


def _no_git() -> PatchmgrError:
    return PatchmgrError("git", "git is not on PATH", _INSTALL)


text = decode_path
"""Decode what git printed: UTF-8, with other bytes kept as surrogates."""

raw = encode_path
"""Encode git's input, the reverse of `text`."""


def lines(printed: str) -> list[str]:
    """Return the lines of git's output that are not empty; only a line feed ends a line."""
    # str.splitlines would also end one at U+2028, which may be in the name of a ref.
    return [line for line in printed.split("\n") if line]


def words(given: Iterable[str], end: str = "\n") -> bytes:
    """Return words as input for git, each followed by `end`."""
    return raw("".join(f"{word}{end}" for word in given))
