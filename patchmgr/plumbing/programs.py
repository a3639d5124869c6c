"""Programs run for the user: checks in a temporary checkout, resolvers, editors, pagers."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import EXIT_CONFLICTS, EXIT_DONE, EXIT_FINDINGS, PatchmgrError
from patchmgr.plumbing import git_process
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.git_process import search_path

TIMED_OUT = -1
_GRACE = 5.0


class TemporaryCheckout(Closing):
    """A temporary checkout that borrows the objects of a repository."""

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
        """Delete the checkout."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def check_out(self, commit: str) -> None:
        """Check out a commit, overwriting tracked files; untracked files stay."""
        arguments = ["checkout", "--quiet", "--force", "--detach", commit]
        try:
            git_process.output(arguments, git_dir=self._git_dir, cwd=self.root)
        except PatchmgrError as fault:
            hint = "fetch the missing objects, if upstream still has them: patchmgr upstream fetch"
            raise PatchmgrError(fault.kind, fault.message, hint) from fault

    def run(
        self, command: Sequence[str], *, timeout: float, log: Path, told: Mapping[str, str]
    ) -> tuple[int, float]:
        """Run a command in the checkout; return its exit code and the time taken, in seconds.

        The exit code is TIMED_OUT after `timeout` seconds, and 127 if the command could not be
        started. The output is appended to `log`. The environment is the user's without GIT_
        variables, plus `told`. All processes that the command started are killed at its end.
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
                return 127, 0.0
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                code = TIMED_OUT
                out.write(f"ended after {timeout:.0f} s\n".encode())
            finally:
                end_group(process)
        return code, time.monotonic() - start


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a command and all processes that it started: first SIGTERM, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)


def whole_tree(git_dir: Path, commit: str) -> set[str]:
    """Return the ids of all blobs in a commit's tree and its subtrees."""
    printed = git_process.ask(git_dir, "ls-tree", "-r", "-z", commit)
    rows = [line.split("\t", 1)[0].split(" ") for line in printed.split("\0") if line]
    return {row[2] for row in rows if row[1] == "blob"}


_PIECE = 1 << 16


class ResolverProgram(Struct, frozen=True):
    """A shell command that proposes resolutions, with limits on its time and output."""

    command: str
    seconds: float
    most: int = 1 << 25  # bytes of output

    def ask(self, question: bytes) -> bytes:
        """Run the command with a question on standard input, and return what it prints.

        The command runs in an empty folder, with only PATH from the user's environment, and its
        processes are killed when it ends. Raises PatchmgrError "resolver-timeout",
        "resolver-too-large" or "resolver-failed".
        """
        with tempfile.TemporaryDirectory(prefix="patchmgr-resolver-") as folder:
            # A file, not a pipe, so that no thread has to write the question while it is read.
            with tempfile.TemporaryFile() as given:
                given.write(question)
                given.seek(0)
                process = subprocess.Popen(
                    ["sh", "-c", self.command],
                    cwd=folder,
                    env={
                        "PATH": search_path(), "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"
                    },
                    stdin=given,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )  # fmt: skip
            try:
                answer = b"".join(self._pieces(process))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                code = process.poll()
            finally:
                end_group(process)
        if code != 0:
            how = "did not end" if code is None else f"ended with exit code {code}"
            raise PatchmgrError("resolver-failed", f"the resolver {how}")
        return answer

    def _pieces(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        assert process.stdout is not None
        end, size = time.monotonic() + self.seconds, 0
        with selectors.DefaultSelector() as selector, process.stdout:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    message = f"the resolver did not answer in {self.seconds:g} s"
                    hint = "to allow more time: --resolver-timeout SECONDS"
                    raise PatchmgrError("resolver-timeout", message, hint)
                piece = os.read(process.stdout.fileno(), _PIECE)
                if not piece:
                    return
                size += len(piece)
                if size > self.most:
                    message = f"the resolver printed more than {self.most} bytes"
                    raise PatchmgrError("resolver-too-large", message)
                yield piece


_GOOD = (EXIT_DONE, EXIT_CONFLICTS, EXIT_FINDINGS)


def answer_of(root: Path, words: Sequence[str], data: bytes = b"") -> tuple[bool, str]:
    """Run a patchmgr command in a workspace; return whether it succeeded, and its output.

    Unlike with `-m`, nothing is imported from the current folder, which may be a stranger's.
    """
    script = f"import sys; sys.path = {[*filter(None, sys.path)]!a}; "
    script += "from patchmgr.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "-C", str(root), *words],
        input=data,
        capture_output=True,
        check=False,
    )
    printed = done.stdout or done.stderr
    return done.returncode in _GOOD, printed.decode("utf-8", "replace")


_PLAIN = ("", "cat")
_NOT_FOUND = 127  # the exit code of a shell that does not find the command
_NAMES = ("GIT_PAGER", "PAGER")


def page(text: bytes) -> None:
    """Show text on the terminal, through the user's pager if there is one."""
    pager = pager_command()
    if pager in _PLAIN or _shown_by(pager, text) == _NOT_FOUND:
        sys.stdout.buffer.write(text)
        sys.stdout.flush()


def pager_command() -> str:
    """Return the pager that git would run: GIT_PAGER, core.pager, PAGER, or git's default."""
    # Outside any repository, so that no repository's configuration chooses the pager.
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
    ours = signal.signal(signal.SIGINT, signal.SIG_IGN)  # while the pager runs, Ctrl-C is for it
    try:
        process.communicate(text)
    finally:
        signal.signal(signal.SIGINT, ours)
    return process.returncode


_KEPT = ("GIT_EDITOR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
_NAMED_BY = ("GIT_EDITOR", "VISUAL", "EDITOR")


def edited_text(text: bytes, *, name: str) -> bytes:
    """Return text after the user edited it in a file called `name`; raise "editor" on failure."""
    editor = next((os.environ[n] for n in _NAMED_BY if os.environ.get(n)), "vi")
    with tempfile.TemporaryDirectory(prefix="patchmgr-edit-") as folder:
        file = Path(folder) / name
        file.write_bytes(text)
        # As in git, the variable contains a command line for the shell.
        command = ["sh", "-c", f'{editor} "$@"', editor, str(file)]
        out = None if sys.stdout.isatty() else 2  # a result, such as JSON, goes to stdout alone
        code = subprocess.run(command, stdout=out, check=False).returncode
        if code:
            message = f"the editor {editor} ended with exit code {code}; nothing was changed"
            raise PatchmgrError("editor", message, "set EDITOR to another editor")
        return file.read_bytes()


_SETTINGS = r"^(merge\.(tool|guitool|conflictstyle)|mergetool\..*|diff\.tool|difftool\..*)$"


class ToolFile(Struct, frozen=True):
    """A file for a merge tool: base, ours, theirs and the content it has now (None: no file)."""

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    merged: bytes | None


def configured_settings(folder: Path) -> tuple[tuple[str, str], ...]:
    """Return the git settings for merge tools that apply in a folder, as (name, value) pairs."""
    found = git_process.settings(_SETTINGS, cwd=folder)
    return tuple((name, "true" if value is None else value) for name, value in found)


# These attributes override those of the user, and `core.autocrlf`.
_AS_IT_IS = "* -text -ident -filter !eol !working-tree-encoding\n"


def run_tool(
    file: ToolFile, settings: tuple[tuple[str, str], ...], *, tool: str | None
) -> tuple[bool, bytes | None]:
    """Run `git mergetool`; return whether it succeeded, and the content (None: no file)."""
    with tempfile.TemporaryDirectory(prefix="patchmgr-mergetool-") as place:
        root = Path(place)
        git_dir = root / ".git"
        git_process.output(["init", "--quiet", "--template=", str(root)])
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info/attributes").write_text(_AS_IT_IS)
        for name, value in (("mergetool.keepBackup", "false"), *settings):
            git_process.output(["config", "--file", str(git_dir / "config"), "--add", name, value])
        rows = []
        for stage, content in enumerate((file.base, file.ours, file.theirs), 1):
            if content is not None:
                arguments = ["hash-object", "-w", "--stdin", "--no-filters"]
                blob = git_process.ask(git_dir, *arguments, data=content).strip()
                rows.append(f"100644 {blob} {stage}\t{file.path}\0")
        index = git_process.raw("".join(rows))
        git_process.output(
            ["update-index", "-z", "--index-info"], git_dir=git_dir, cwd=root, data=index
        )
        target = root / file.path
        if file.merged is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.merged)
        arguments = ["mergetool", "--no-prompt"]
        arguments += [f"--tool={tool}"] if tool is not None else []
        # The user's environment without the variables that name another repository.
        env = {k: v for k, v in os.environ.items() if k in _KEPT or not k.startswith("GIT_")}
        code = git_process.attended([*arguments, "--", file.path], cwd=root, env=env)
        return code == 0, target.read_bytes() if target.is_file() else None


_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")  # they may name another repository


def run_in(folder: Path, command: str) -> int:
    """Run a shell command in a folder, print its output to stderr, and return its exit code."""
    env = {name: value for name, value in os.environ.items() if name not in _PLACES}
    line = ["sh", "-c", command]
    return subprocess.run(line, cwd=folder, env=env, stdout=2, check=False).returncode
