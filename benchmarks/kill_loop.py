"""A person's day in a checkout, with commands that are killed: nothing is lost or changed unasked.

    python -m benchmarks.kill_loop [--runs 300] [--seed N] [--verbose]

A random walk of edits, git commands and commands of patchmgr in one checkout. In each run one
command is killed: at a file operation or git command, or at a moment, alone or with its children,
by SIGKILL, SIGTERM or SIGINT. Then another one follows, at once or after edits and git commands.
What must hold is asked of git and of the files, not of patchmgr:

- every line that a person wrote, and did not throw away with git, is in the work tree, in git, in
  a patch, or in the log that undo reads from;
- what follows at once gives what it gives where the command was never run, or had ended;
- patches are as before, or as the command makes them; each applies, by git, on those below it, and
  takes nothing away that another one brought, but what a person took away;
- files that no patch is about, and what is staged, stay; no exit code is outside of the contract.

A command runs in a fork of this process, which has imported it. Returns 1 where something failed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import mmap
import os
import pkgutil
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import patchmgr
from benchmarks.clones import quiet_environment
from benchmarks.pages import tell

_MEMORY = Path("/dev/shm")
_TOKEN = re.compile(rb"written-\d{6}")
# Of the contract; and those of signals, for what is killed.
_CODES = frozenset({0, 1, 2, 3, 4, 130})
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_OPERATIONS = frozenset(
    {
        "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.chmod",
        "os.truncate", "subprocess.Popen",
    }
)  # fmt: skip
TEXTS = ("pkg/a.py", "pkg/b.py", "dos.crlf", "wide.u16", "run.sh", "docs/more.md")
FRESH = ("fresh/one.txt", "fresh/deep/two.crlf", "three.u16", "tool.sh")
_READS = ("status", "verify", "applied", "unapplied", "top", "show", "changes", "files", "log")
# What may change no patch.
_MOVES = (*_READS, "apply", "unapply", "push", "pop", "goto")
_TO = ("apply", "unapply", "verify")
# What is told to take lines out of the checkout or the series; undo brings them back.
_GIVES_UP = ("drop", "undo", "redo", "pop --force")


class Wrong(Exception):
    """What was not as it has to be."""


class Over(Exception):
    """A walk goes no further: the series is gone, or has a patch that a refresh below it broke."""


class Ended(NamedTuple):
    """How a command ended: its exit code (negative: a signal), output, operations and seconds."""

    code: int
    said: str
    operations: int
    seconds: float


class Kill(NamedTuple):
    """When to send which signal: at an operation, or after seconds; to the children as well?"""

    signal: int
    operation: int = 0
    seconds: float = 0.0
    takes_children: bool = False

    def __str__(self) -> str:
        """Return it in words."""
        name = signal.Signals(self.signal).name + (" to all" if self.takes_children else "")
        return f"{name} at " + (f"{self.seconds:.3f} s" if self.seconds else f"#{self.operation}")


class Look(NamedTuple):
    """All that a person can see: files, HEAD, what is staged, the series, what is pushed."""

    files: Mapping[str, tuple[str, bytes]]
    head: str
    staged: str
    series: Mapping[str, bytes]
    pushed: Sequence[str]


@dataclass
class World:
    """An upstream, a workspace and a checkout in a folder."""

    root: Path
    base: str = ""

    @property
    def checkout(self) -> Path:
        """Return the folder of the checkout."""
        return self.root / "now/checkout"

    @property
    def workspace(self) -> Path:
        """Return the folder of the workspace."""
        return self.root / "now/workspace"

    @property
    def series(self) -> Path:
        """Return the folder of the series."""
        return self.workspace / "series/s"

    def git(self, *words: str, at: Path | None = None, data: bytes = b"", good: bool = True) -> str:
        """Run git in the checkout and return its output."""
        return self.git_bytes(*words, at=at, data=data, good=good).decode("utf-8", "replace")

    def git_bytes(
        self, *words: str, at: Path | None = None, data: bytes = b"", good: bool = True
    ) -> bytes:
        """Run git and return what it prints, byte for byte."""
        done = subprocess.run(
            ["git", *words], cwd=at or self.checkout, input=data, capture_output=True, check=False
        )
        if good and done.returncode:
            raise Wrong(f"git {' '.join(words)}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def save(self, name: str) -> None:
        """Keep the world as it is now."""
        shutil.rmtree(self.root / name, ignore_errors=True)
        shutil.copytree(self.root / "now", self.root / name, symlinks=True)

    def restore(self, name: str) -> None:
        """Make the world what it was."""
        shutil.rmtree(self.root / "now")
        shutil.copytree(self.root / name, self.root / "now", symlinks=True)

    def files(self) -> dict[str, tuple[str, bytes]]:
        """Return the files of the checkout, each with its kind."""
        found = {}
        for at, folders, names in os.walk(self.checkout):
            if Path(at) == self.checkout:
                folders.remove(".git")
            for name in (*names, *(f for f in folders if os.path.islink(os.path.join(at, f)))):
                place = os.path.join(at, name)
                path = os.path.relpath(place, self.checkout)
                if os.path.islink(place):
                    found[path] = ("link", os.fsencode(os.readlink(place)))
                else:
                    mode = "run" if os.stat(place).st_mode & 0o100 else "file"
                    found[path] = (mode, Path(place).read_bytes())
        return found

    def patches(self) -> dict[str, bytes]:
        """Return the files of the series."""
        if not self.series.is_dir():  # undo went as far as that
            raise Over
        return {path.name: path.read_bytes() for path in self.series.iterdir()}

    def order(self) -> list[str]:
        """Return the patches as the series file has them."""
        lines = (self.series / "series").read_text().splitlines()
        return [line.split(" ")[0] for line in lines if line and not line.startswith("#")]

    def look(self) -> Look:
        """Return all that a person can see."""
        head = (self.checkout / ".git/HEAD").read_text() + self.git("rev-parse", "HEAD")
        staged = self.git("ls-files", "-s", "-z")
        return Look(self.files(), head, staged, self.patches(), self.pushed())

    def pushed(self) -> list[str]:
        """Return what the checkout says is pushed."""
        record = self.checkout / ".git/patchmgr/applied.json"
        if not record.exists():
            return []
        rows = json.loads(record.read_bytes()).get("pushed")
        return [row["name"] for row in rows or ()]


def content(path: str, lines: Sequence[bytes]) -> bytes:
    """Return a text as the attributes of its path want it in a checkout."""
    text = b"".join(line + (b"\r\n" if path.endswith(".crlf") else b"\n") for line in lines)
    if path.endswith(".u16"):
        return b"\xff\xfe" + text.decode().encode("utf-16-le")
    return text


def lines_of(path: str, raw: bytes) -> list[bytes]:
    """Return the lines of a text of a checkout, whatever it looks like now."""
    if raw[:2] == b"\xff\xfe":
        raw = raw[2:].decode("utf-16-le", "replace").encode()
    return raw.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")


def tokens(raw: bytes) -> set[bytes]:
    """Return what a person wrote in a content, in UTF-16 too."""
    return set(_TOKEN.findall(raw.replace(b"\0", b"")))


@dataclass
class Person:
    """Who edits, with what they wrote, and what they took away themselves."""

    world: World
    luck: random.Random
    number: int = 0
    written: set[bytes] = field(default_factory=set)
    removed: set[bytes] = field(default_factory=set)
    stashed: set[str] = field(default_factory=set)
    _known: dict[str, set[bytes]] = field(default_factory=dict)

    def token(self) -> bytes:
        """Return a word that nobody wrote before."""
        self.number += 1
        word = b"written-%06d" % self.number
        self.written.add(word)
        return word

    def write(self, path: str, lines: Sequence[bytes]) -> None:
        """Save a file as an editor does."""
        place = self.world.checkout / path
        if any(parent.is_file() for parent in place.parents) or place.is_dir():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            place.unlink()
        place.write_bytes(content(path, lines))

    def edit(self, path: str) -> None:
        """Put a new line into a file, or make the file; now and then an upstream line goes."""
        place = self.world.checkout / path
        there = place.is_file()
        lines = lines_of(path, place.read_bytes()) if there else [b"new"]
        lines.insert(self.luck.randrange(len(lines) + 1), self.token())
        plain = [n for n, line in enumerate(lines) if line.startswith(b"line ")]
        if len(plain) > 10 and self.luck.random() < 0.2:
            del lines[self.luck.choice(plain)]
        self.write(path, lines)

    def act(self) -> str:
        """Do something with files by hand; say what."""
        path = self.luck.choice((*TEXTS, *FRESH))
        place = self.world.checkout / path
        what = self.luck.choice(("edit", "edit", "edit", "edit", "new", "delete", "chmod", "add"))
        if what == "new":
            path = self.luck.choice((f"mine/{self.number}.txt", f"pkg/n{self.number}.py"))
            self.edit(path)
        elif what == "delete" and place.is_file():
            self.take_away(tokens(place.read_bytes()))
            place.unlink()
        elif what == "chmod" and place.is_file():
            place.chmod(place.stat().st_mode ^ 0o111)
        elif what == "add" and place.is_file():
            self.world.git("add", "--", path, good=False)
        else:
            self.edit(path)
            what = "edit"
        self.forget_lost()
        return f"{what} {path}"

    def take_away(self, words: set[bytes]) -> None:
        """Note lines that a person takes away in the checkout."""
        self.removed |= words

    def mean(self, path: str) -> None:
        """Note what a refresh takes away that names a file: it is taken in as it is."""
        start = f"a/{path} b/{path}\n".encode()
        sections = b"".join(self.world.patches().values()).split(b"diff --git ")
        brought = set[bytes]().union(*(tokens(s) for s in sections if s.startswith(start)))
        place = self.world.checkout / path
        self.take_away(brought - tokens(place.read_bytes() if place.is_file() else b""))

    def git(self) -> str:
        """Run a git command in the checkout; what is gone by it is gone by the person's will."""
        path = self.luck.choice(TEXTS)
        lines = (
            ("reset", "--hard", "--quiet"), ("reset", "--hard", "--quiet"),
            ("stash", "--quiet"), ("stash", "--quiet", "--include-untracked"),
            ("stash", "pop", "--quiet"), ("stash", "pop", "--quiet"),
            ("checkout", "--quiet", "--", path), ("checkout", "--quiet", "HEAD", "--", path),
            ("checkout", "--quiet", "other"), ("checkout", "--quiet", "work"),
            ("clean", "-fdq"), ("commit", "--quiet", "--all", "--message", "mine"),
            ("reset", "--quiet"), ("gc", "--quiet"),
        )  # fmt: skip
        line = self.luck.choice(lines)
        self.run_git(line)
        return f"git {' '.join(line)}"

    def run_git(self, line: Sequence[str]) -> None:
        """Run a git command; one path that goes back is an edit."""
        lock = self.world.checkout / ".git/index.lock"
        lock.unlink(missing_ok=True)  # as git says: a killed git leaves it
        before = self.world.files()
        self.world.git(*line, good=False)
        after = self.world.files()
        # Staged files of a killed command may go into a stash, and come out of it.
        self.stashed |= {path for path in after.keys() - before.keys() if ".patchmgr-" in path}
        if line[0] == "checkout" and "--" in line:
            path = line[-1]
            gone = tokens(before.get(path, ("", b""))[1]) - tokens(after.get(path, ("", b""))[1])
            self.take_away(gone)
        self.forget_lost()

    def go_home(self) -> None:
        """Put all back with git: the next run starts from the pin."""
        for line in (
            ("checkout", "--quiet", "--force", "work"),
            ("reset", "--hard", "--quiet", self.world.base), ("clean", "-fdq"),
        ):  # fmt: skip
            self.run_git(line)

    def forget_lost(self) -> None:
        """Forget what is nowhere any more: the person did it."""
        self.written &= self.found()

    def found(self) -> set[bytes]:
        """Return what is in the checkout, in git, in a patch, or in the log for undo."""
        now = set[bytes]()
        for path, (_, raw) in self.world.files().items():
            if "/.patchmgr-" not in f"/{path}":
                now |= tokens(raw)
        for raw in self.world.patches().values():
            now |= tokens(raw)
        for place in (self.world.workspace / ".patchmgr/log/contents").glob("*/*"):
            if place.name not in self._known:
                self._known[place.name] = tokens(zlib.decompress(place.read_bytes()))
            now |= self._known[place.name]
        return now | self._in_git()

    def _in_git(self) -> set[bytes]:
        """Return what a commit, a stash, a reflog or the index has."""
        listed = self.world.git(
            "rev-list", "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects",
            good=False,
        ).split()  # fmt: skip
        new = [each for each in listed if each not in self._known]
        if new:
            asked = "\n".join(new).encode()
            raw = self.world.git_bytes("cat-file", "--batch", data=asked)
            at = 0
            for each in new:
                end = raw.index(b"\n", at)
                size = int(raw[at:end].split()[2])
                self._known[each] = tokens(raw[end + 1 : end + 1 + size])
                at = end + size + 2
        return set[bytes]().union(*(self._known[each] for each in listed))


class Judge:
    """Whether a series is one, asked of git alone: each patch applies on those below it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._sound: set[tuple[bytes, ...]] = set()

    def check(self, removed: set[bytes]) -> None:
        """Raise Wrong where a patch does not apply, or takes away what another one brought."""
        names = self._world.order()
        raws = [(self._world.series / name).read_bytes() for name in names]
        for name, raw in zip(names, raws, strict=True):
            gone = {t for line in raw.split(b"\n") if line.startswith(b"-") for t in tokens(line)}
            back = {t for line in raw.split(b"\n") if line.startswith(b"+") for t in tokens(line)}
            if gone - back - removed:
                raise Wrong(f"{name} takes in the reversal of {sorted(gone - back - removed)[:3]}")
        if tuple(raws) in self._sound:
            return
        index = {"GIT_INDEX_FILE": str(self._world.root / "judge.index")}
        upstream = self._world.root / "upstream"

        def git(*words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(
                ["git", *words], cwd=upstream, input=data, capture_output=True, check=False,
                env={**os.environ, **index},
            )  # fmt: skip

        git("read-tree", self._world.base)
        for name, raw in zip(names, raws, strict=True):
            if b"\ndiff --git " not in b"\n" + raw:
                continue
            done = git("apply", "--cached", "--whitespace=nowarn", "-", data=raw)
            if done.returncode:
                if name not in self._world.pushed():
                    raise Over
                said = done.stderr.decode(errors="replace")
                raise Wrong(f"{name} does not apply in its series: {said}")
        self._sound.add(tuple(raws))


def run(world: World, line: Sequence[str], kill: Kill | None = None) -> Ended:
    """Run a command in the checkout, in a fork of this process; kill it where that is asked."""
    counter = mmap.mmap(-1, 8)
    out = world.root / "said"
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        _be_command(world, line, kill, counter, out)
    if kill is not None and kill.seconds:
        end = start + kill.seconds
        while time.perf_counter() < end and os.waitid(
            os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT
        ) is None:  # fmt: skip
            time.sleep(0.0005)
        with suppress(ProcessLookupError):
            (os.killpg if kill.takes_children else os.kill)(child, kill.signal)
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - start
    if kill is not None:
        _wait_for_children(child)
    code = os.waitstatus_to_exitcode(status)
    said = out.read_bytes().decode("utf-8", "replace")
    return Ended(code, said, int.from_bytes(counter[:8], "little"), seconds)


def _wait_for_children(group: int) -> None:
    """Wait until git processes that a killed command left have ended by themselves."""
    for _ in range(2000):
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.001)


def _be_command(
    world: World, line: Sequence[str], kill: Kill | None, counter: mmap.mmap, out: Path
) -> None:
    """Be the command, and do not come back."""
    code = 99
    try:
        os.setsid()
        os.chdir(world.checkout)
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace")
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace")
        os.fsync = lambda fd: None  # nobody cuts the power here
        sys.argv = ["patchmgr", "-C", str(world.workspace), *line]

        def operation(event: str, given: tuple[Any, ...]) -> None:
            if event not in _OPERATIONS and not (event == "open" and (given[2] or 0) & _WRITES):
                return
            count = int.from_bytes(counter[:8], "little") + 1
            counter[:8] = count.to_bytes(8, "little")
            if kill is not None and count == kill.operation:
                (os.killpg if kill.takes_children else os.kill)(os.getpid(), kill.signal)

        sys.addaudithook(operation)
        from patchmgr.cli import main

        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except KeyboardInterrupt:
        code = 130  # before or after the program
        if any("/cli/" in frame.filename for frame in traceback.extract_tb(sys.exc_info()[2])):
            traceback.print_exc()
    except BaseException:  # it is shown, and is a fault
        traceback.print_exc()
    with suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def built(root: Path) -> World:
    """Return a new world: an upstream, a series of five patches, a checkout of the pin."""
    world, upstream = World(root), root / "upstream"
    upstream.mkdir(parents=True)
    (root / "now").mkdir()

    def git(*words: str) -> str:
        return world.git(*words, at=upstream).strip()

    def plant(files: Mapping[str, bytes | None], message: str) -> None:
        for path, raw in files.items():
            place = upstream / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if raw is None:
                place.unlink()
            else:
                place.write_bytes(raw)
        git("add", "--all")
        git("commit", "--quiet", "--message", message)

    def text(path: str, **words: int) -> bytes:
        lines = [b"line %d of %s" % (n, path.encode()) for n in range(1, 41)]
        for at, word in sorted(words.items(), key=lambda pair: -int(pair[0][1:])):
            lines.insert(int(at[1:]), b"written-%06d" % word)
        return content(path, lines)

    git("init", "--quiet", "--initial-branch=work")
    plain = {path: text(path) for path in TEXTS}
    plain[".gitattributes"] = b"*.crlf text eol=crlf\n*.u16 text working-tree-encoding=UTF-16\n"
    plain |= {".gitignore": b"*.o\n", "gone.txt": b"gone\n"}
    plain |= {f"still/{n}.txt": text(f"still/{n}.txt") for n in range(12)}
    plant(plain, "base")
    (upstream / "run.sh").chmod(0o755)
    (upstream / "link").symlink_to("pkg/a.py")
    plant({}, "more of base")
    world.base = git("rev-parse", "HEAD")
    git("branch", "other")
    a = "pkg/a.py"
    plant({a: text(a, l5=1), "dos.crlf": text("dos.crlf", l9=2)}, "one")
    plant({a: text(a, l5=1, l30=3), "new/deep/file.txt": text("file", l3=4)}, "two")
    (upstream / "run.sh").chmod(0o644)
    plant({"gone.txt": None, "wide.u16": text("wide.u16", l20=5)}, "three")
    (upstream / "link").unlink()
    (upstream / "link").symlink_to("pkg/b.py")
    plant({"pkg/b.py": text("pkg/b.py", l12=6)}, "four")
    plant({a: text(a, l5=1, l15=8, l30=3), "new/tool.sh": text("tool", l2=7)}, "five")
    (upstream / "new/tool.sh").chmod(0o755)
    git("add", "--all")
    git("commit", "--quiet", "--amend", "--no-edit")
    git("checkout", "--quiet", "other")
    plant({"still/0.txt": text("still/0.txt", l3=9), "dos.crlf": text("dos.crlf", l33=10)}, "other")
    git("checkout", "--quiet", "work")
    world.git("clone", "--quiet", str(upstream), str(world.checkout), at=root)
    world.git("branch", "--quiet", "other", "origin/other")
    world.git("reset", "--hard", "--quiet", world.base)
    for line in (
        ("init", str(world.workspace)),
        ("upstream", "add", "u", "--git", f"file://{upstream}"),
        ("series", "new", "s", "--upstream", "u", "--base", world.base),
        ("import", "--git", str(upstream), f"{world.base}..work", "--series", "s"),
    ):
        world.workspace.mkdir(exist_ok=True)
        ended = run(world, line)
        if ended.code:
            raise Wrong(f"{' '.join(line)}: {ended.said}")
    return world


@dataclass
class Walk:
    """The whole: a world, a person in it, and what was seen."""

    world: World
    luck: random.Random
    is_verbose: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    named: int = 0
    trace: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Let somebody in."""
        self.person = Person(self.world, self.luck, 100)
        self.judge = Judge(self.world)
        for raw in self.world.patches().values():
            self.person.written |= tokens(raw)

    def tell(self, text: str) -> None:
        """Note what was done."""
        self.trace.append(text)
        if self.is_verbose:
            tell(f"  {text}")

    def line(self) -> tuple[str, ...]:
        """Return a command of a checkout that a person may think of, sensible or not."""
        order, to = self.world.order(), ("s", "--to", str(self.world.checkout))
        self.named += 1
        one, two = (self.luck.choice(order or ["none"]) for _ in range(2))
        name, path = f"p{self.named}", self.luck.choice((*TEXTS, *FRESH))
        pushed = bool(self.world.pushed())
        if not pushed and self.luck.random() < 0.5:
            return self.luck.choice(
                (("push",), ("push", "-a"), ("goto", one), ("new", name), ("apply", *to))
            )
        return self.luck.choice(
            (
                ("apply", *to), ("apply", *to, "--commit"), ("unapply", *to), ("unapply", *to),
                ("push",), ("push", "-a"), ("push", "2"), ("push", "--force"),
                ("pop",), ("pop", "-a"), ("pop", "2"), ("pop", "--force"),
                ("goto", one), ("goto", two), ("goto", "0"), ("goto", "3"),
                ("refresh",), ("refresh",), ("refresh",), ("refresh", "."), ("refresh", path),
                ("refresh", "--patch", one), ("refresh", "--allow-empty"),
                ("new", name), ("new", name, "-m", "why"),
                ("edit", one, "--subject", f"Subject {name}"), ("edit", one, "--field", "Bug=1"),
                ("fold", one, "--into", two), ("fold", one), ("drop", one),
                ("split", one, name, "--file", path), ("split", one, name, "--hunk", f"{path}:1"),
                ("move", one, "--before", two), ("move", one, "--after", two),
                ("rename", one, name), ("undo",), ("undo", "-n", "2"), ("redo",), ("redo",),
                ("status",), ("verify", *to), ("applied",), ("changes",), ("show", one), ("log",),
            )
        )  # fmt: skip

    def kill(self, whole: Ended) -> Kill:
        """Return when to kill a command that takes so many operations and seconds."""
        what = self.luck.choice((signal.SIGKILL,) * 4 + (signal.SIGTERM, signal.SIGINT))
        everybody = self.luck.random() < 0.3
        if whole.operations and self.luck.random() < 0.8:
            # Most of what is written is written at the end.
            first = whole.operations // 2 if self.luck.random() < 0.7 else 1
            at = self.luck.randrange(max(1, first), whole.operations + 1)
            return Kill(what, operation=at, takes_children=everybody)
        seconds = max(0.001, whole.seconds * self.luck.random())
        return Kill(what, seconds=seconds, takes_children=everybody)

    def run(self, line: Sequence[str], kill: Kill | None = None) -> Ended:
        """Run a command, see how it ends, and note it."""
        if line[0] == "refresh" and line[-1] in (*TEXTS, *FRESH):
            self.person.mean(line[-1])
        ended = run(self.world, line, kill)
        shown = " ".join(word for word in line if word != str(self.world.checkout))
        first = (ended.said.strip().splitlines() or [""])[0]
        self.tell(f"{shown}{f' [{kill}]' if kill else ''}: {ended.code} {first[:150]}")
        signals = {-kill.signal} if kill is not None else set()
        if ended.code not in _CODES | signals or "Traceback" in ended.said:
            raise Wrong(f"{shown} ends with {ended.code}: {ended.said[-1500:]}")
        return ended

    def step(self) -> None:
        """Do what a person does between, then one run with a kill."""
        for _ in range(self.luck.randrange(3)):
            self.tell(self.person.act() if self.luck.random() < 0.7 else self.person.git())
        if self.refused > 4 or self.luck.random() < 0.08:
            self.tell("home")
            self.person.go_home()
            self.refused = 0
        self.world.save("before")
        before = self.world.look()
        for _ in range(4):  # what is refused is tried, too, but seldom killed
            line = self.line()
            whole = self.run(line)
            after = self.world.look()
            self.check(line, before, after, whole)
            self.counts[f"{line[0]} {'done' if whole.code == 0 else 'refused'}"] += 1
            if before != after or self.luck.random() < 0.1:
                break
            self.world.restore("before")
        self.refused = 0 if whole.code == 0 else self.refused + 1
        self.world.save("after")
        self.world.restore("before")
        ended = self.run(line, self.kill(whole))
        self.counts["killed" if ended.code < 0 else f"ended {ended.code}"] += 1
        if ended.code == 130:
            self.one_of((before, after), "it says that nothing is half done")
        if self.luck.random() < 0.25:  # what would finish it is killed as well
            again = ("verify", "s", "--to", str(self.world.checkout))
            self.run(again, Kill(signal.SIGKILL, operation=self.luck.randrange(1, 40)))
        if self.luck.random() < 0.5:
            self.follow_at_once(line, before, after)
        else:
            self.follow_later(line, before, after)

    def follow_at_once(self, line: Sequence[str], before: Look, after: Look) -> None:
        """Run another command: it gives what it gives before or after the killed one."""
        if self.luck.random() < 0.5:
            self.run(("verify", "s", "--to", str(self.world.checkout)))
            self.one_of((before, after), "it was killed, and verify followed")
            self.check_all()
            return
        following = self.line()
        self.run(following)
        found = self.world.look()
        self.world.save("found")
        wanted = []
        for name in ("before", "after"):
            self.world.restore(name)
            self.run(following)
            wanted.append(self.world.look())
            if found == wanted[-1]:
                break
        self.world.restore("found")
        self.one_of(wanted, f"{line[0]} was killed, and {following[0]} followed")
        self.check_all()

    def follow_later(self, line: Sequence[str], before: Look, after: Look) -> None:
        """Let git commands and edits follow, then two commands."""
        for _ in range(self.luck.randrange(1, 4)):
            self.tell(self.person.git() if self.luck.random() < 0.65 else self.person.act())
        series = [before.series, after.series]
        for _ in range(2):
            following = self.line()
            now = self.world.look()
            ended = self.run(following)
            then = self.world.look()
            if then.series == now.series and ended.code:  # refused before it looked
                series.append(then.series)
            if following[0] in _MOVES and then.series not in series:
                raise Wrong(f"{' '.join(following)} changed the series: {self.changed(now, then)}")
            series = [then.series] if then.series not in series else series
            self.check(following, now, then, ended, is_recovery=True)
        is_open = (self.world.checkout / ".git/patchmgr/journal.json").exists()
        left = {path for path in self.world.files() if ".patchmgr-" in path} - self.person.stashed
        if left and not is_open:
            raise Wrong(f"files of ours are left: {sorted(left)[:3]}")

    def changed(self, old: Look, new: Look) -> list[str]:
        """Return the files of the series that differ."""
        names = old.series.keys() | new.series.keys()
        return sorted(name for name in names if old.series.get(name) != new.series.get(name))

    def one_of(self, wanted: Sequence[Look], why: str) -> None:
        """Raise Wrong where the world looks like none of these."""
        found = self.world.look()
        if found in wanted:
            return
        told = []
        for each in wanted:
            paths = found.files.keys() | each.files.keys()
            odd = sorted(path for path in paths if found.files.get(path) != each.files.get(path))
            names = [n for n in Look._fields if getattr(found, n) != getattr(each, n)]
            told.append(f"differs in {names}: {odd[:5]} {self.changed(each, found)}")
        raise Wrong(f"{why}: neither old nor new: {'; '.join(told)}")

    def check(
        self,
        line: Sequence[str],
        before: Look,
        after: Look,
        ended: Ended,
        *,
        is_recovery: bool = False,
    ) -> None:
        """Check what must hold of a command that came to its end."""
        shown = " ".join(line)
        names = self.touched(before) | self.touched(after)
        odd = [
            path
            for path in before.files.keys() | after.files.keys()
            if before.files.get(path) != after.files.get(path) and path not in names
            and not path.endswith(".rej") and "/.patchmgr-" not in f"/{path}"
        ]  # fmt: skip
        if odd:
            raise Wrong(f"{shown} touched files that no patch is about: {odd[:3]}")
        is_authoring = line[0] not in ("apply", "unapply") and not is_recovery
        if is_authoring and (before.head, before.staged) != (after.head, after.staged):
            raise Wrong(f"{shown} changed HEAD, or what is staged")
        if line[0] in _MOVES and before.series != after.series and not is_recovery:
            raise Wrong(f"{shown} changed the series: {self.changed(before, after)}")
        if ended.code and not is_recovery and before != after and line[0] not in ("push", "goto"):
            raise Wrong(f"{shown} ended with {ended.code} and changed something")
        self.check_all()

    def touched(self, look: Look) -> set[str]:
        """Return the paths that patches of the series are about."""
        found = set[str]()
        for raw in look.series.values():
            for line in raw.split(b"\n"):
                if line.startswith(b"diff --git a/"):
                    old, _, new = line[len(b"diff --git a/") :].decode().partition(" b/")
                    found |= {old, new}
        return found

    def check_all(self) -> None:
        """Check what must hold at any time."""
        lost = self.person.written - self.person.found()
        if lost:
            raise Wrong(f"lost: {sorted(lost)[:4]}")
        self.judge.check(self.person.removed)


def loaded() -> None:
    """Import all of patchmgr: a fork need not do it again."""
    for module in pkgutil.walk_packages(patchmgr.__path__, "patchmgr."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def walks(runs: int, seed: int, folder: Path, *, is_verbose: bool) -> Iterator[str | Counter[str]]:
    """Walk; yield what was wrong, each time with a new start after it, and the counts last."""
    luck, counts = random.Random(seed), Counter[str]()
    worlds = 0
    walk: Walk | None = None
    for number in range(1, runs + 1):
        if walk is None or number % 50 == 0:
            shutil.rmtree(folder / f"w{worlds}", ignore_errors=True)
            worlds += 1
            walk = Walk(built(folder / f"w{worlds}"), luck, is_verbose, counts)
        walk.tell(f"run {number}")
        try:
            walk.step()
        except Wrong as wrong:
            steps = "\n    ".join(walk.trace[-24:])
            yield f"seed {seed}, run {number}: {wrong}\n    {steps}"
            walk = None
        except Over:
            walk = None
    yield counts


def main(arguments: Sequence[str]) -> int:
    """Walk, print what was wrong and how often what was done; return 1 where anything was."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=300, help="commands that are killed")
    parser.add_argument("--seed", type=int, default=1, help="another number, another walk")
    parser.add_argument("--verbose", action="store_true", help="print every step")
    given = parser.parse_args(arguments)
    loaded()
    start, faults = time.perf_counter(), 0
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="patchmgr-kills-", dir=place) as name:
        folder = Path(name)
        environment = quiet_environment(folder / "home")
        fixed = {"GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000000 +0000"}
        os.environ.clear()
        os.environ.update({**environment, **fixed})
        for found in walks(given.runs, given.seed, folder, is_verbose=given.verbose):
            if isinstance(found, str):
                faults += 1
                tell(f"FAULT {found}")
            else:
                tell(", ".join(f"{name} {count}" for name, count in sorted(found.items())))
    seconds = time.perf_counter() - start
    tell(f"seed {given.seed}: {given.runs} runs, {faults} faults, {seconds:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
