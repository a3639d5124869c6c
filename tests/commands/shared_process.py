"""What a command leaves to the next one: processes, and what git said of a clone as it is."""

import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patchmgr.plumbing import answer_cache, git_process
from patchmgr.plumbing.merge_process import MergeProcess
from patchmgr.plumbing.objects import ObjectReader


@contextmanager
def shared_process() -> Iterator[None]:
    """Let each command leave its process to the next one, unless it failed or was interrupted.

    Such a process keeps nothing of what it was asked, and takes longer to start than most tests.
    What becomes of one that dies or hangs is tested in `tests/plumbing/test_kept_apart.py`.
    """
    idle: list[subprocess.Popen[bytes]] = []
    asking = set[int]()
    start, ask, close = MergeProcess._start, MergeProcess._ask, MergeProcess.close
    program = list(answer_cache._program())  # nobody edits it meanwhile

    def start_or_take(self: MergeProcess, *, is_early: bool = False) -> subprocess.Popen[bytes]:
        if not idle:
            return start(self, is_early=is_early)
        self._process = idle.pop()
        return self._process

    def ask_noted(self: MergeProcess, path: str, *question: object) -> tuple[object] | None:
        asking.add(id(self))
        answer = ask(self, path, *question)
        asking.discard(id(self))
        return answer

    def leave(self: MergeProcess) -> None:
        if id(self) in asking or self._process is None or self._sent is not None:
            asking.discard(id(self))
            close(self)
        else:
            idle.append(self._process)
            self._process = None

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(MergeProcess, "_start", start_or_take)
        patched.setattr(answer_cache, "_program", lambda: program)
        patched.setattr(MergeProcess, "_ask", ask_noted)
        patched.setattr(MergeProcess, "close", leave)
        try:
            yield
        finally:
            for process in idle:
                with process:
                    process.kill()


class _OfBench(ObjectReader):
    """Reads what a scratch itself has."""


@contextmanager
def shared_readers() -> Iterator[None]:
    """Let each command leave the reader of a repository to the next one of the same test.

    A reader with a question open ends as it always does, and so does one whose repository is
    another by now, or borrows from another. The reader of a scratch, which is deleted, is that of
    the store it borrows from; what the store has not is asked of the scratch.
    """
    idle = defaultdict[_Where, list[subprocess.Popen[bytes]]](list)
    started: dict[int, _Where] = {}
    own: dict[int, _OfBench] = {}
    asking = set[int]()
    ask, replies, close = ObjectReader._ask, ObjectReader._answers, ObjectReader.close

    def ask_or_take(self: ObjectReader, verb: str, names: Sequence[str]) -> subprocess.Popen[bytes]:
        is_new = self._asker == os.getpid() and not self._processes and not self._is_split
        if is_new and not isinstance(self, _OfBench):
            folder = _asked(self.git_dir)
            waiting = idle[started.setdefault(id(self), _where(folder))]
            self._processes[_BATCH[1]] = (
                waiting.pop() if waiting else git_process.spawn(_BATCH, git_dir=folder)
            )
        return ask(self, verb, names)

    def replies_noted(self: ObjectReader, verb: str, names: Sequence[str]) -> Any:
        asking.add(id(self))
        for name, (process, words) in zip(names, replies(self, verb, names), strict=True):
            is_lent = _asked(self.git_dir) != self.git_dir and not isinstance(self, _OfBench)
            if words is None and is_lent:
                reader = own.setdefault(id(self), _OfBench(self.git_dir))
                ((process, words),) = replies(reader, verb, [name])
            yield process, words
        asking.discard(id(self))

    def leave(self: ObjectReader) -> None:
        place = started.pop(id(self), None)
        is_same = place == _where(_asked(self.git_dir))
        is_kept = is_same and id(self) not in asking and not self._is_split
        if is_kept and place is not None and _BATCH[1] in self._processes:
            idle[place].append(self._processes.pop(_BATCH[1]))
        asking.discard(id(self))
        close(self)
        if id(self) in own:
            close(own.pop(id(self)))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ObjectReader, "_ask", ask_or_take)
        patched.setattr(ObjectReader, "_answers", replies_noted)
        patched.setattr(ObjectReader, "close", leave)
        try:
            yield
        finally:
            for place, processes in idle.items():
                for process in processes:
                    last = ObjectReader(place[1])
                    last._processes[_BATCH[1]] = process
                    close(last)


@contextmanager
def remembered_clones() -> Iterator[None]:
    """Ask git once where a clone is, how it is configured, and what its refs and its index are.

    Half of all processes asked that. An answer holds while all is the same that git reads for it; a
    failure is not kept, and a test that lets git fail asks each time.
    """
    known: dict[object, tuple[int, bytes]] = {}
    run, usual = git_process.run, _runner()

    def run_or_remember(arguments: Sequence[str], **options: Any) -> tuple[int, bytes]:
        is_usual = _runner() == usual
        given = options.get("env") or git_process.clean_environment()
        place: Any = options.get("git_dir") or options.get("cwd")
        seen = _read_for(arguments, place, given) if is_usual else None
        if seen is None:
            return run(arguments, **options)
        key = (*arguments, str(options), *given.items(), seen)
        found = known.get(key) or run(arguments, **options)
        if found[0] != 128:
            known[key] = found
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(git_process, "run", run_or_remember)
        yield


_OF_IDS = ("diff-tree", "log", "merge-base", "rev-list")
_ID = re.compile(r"\^?[0-9a-f]{40}(\.{2,3}[0-9a-f]{40})?(\^1)?")


@contextmanager
def remembered_histories() -> Iterator[None]:
    """Ask git once in a test, and of one store, what commits and trees with these ids are.

    Every sixth process asked that again. A failure is not kept, and a test that lets git fail asks
    each time.
    """
    known: dict[object, tuple[int, bytes]] = {}
    run, usual = git_process.run, _runner()

    def run_or_remember(arguments: Sequence[str], **options: Any) -> tuple[int, bytes]:
        store = options.get("git_dir")
        is_usual = _runner() == usual
        if store is None or not is_usual or not _is_of_ids(arguments, options.get("data", b"")):
            return run(arguments, **options)
        key = (*arguments, str(options | {"git_dir": _asked(store)}), _content(f"{store}/shallow"))
        found = known.get(key) or run(arguments, **options)
        if found[0] in (0, 1):
            known[key] = found
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(git_process, "run", run_or_remember)
        yield


def _is_of_ids(arguments: Sequence[str], data: bytes) -> bool:
    words = [word for word in arguments if word != "--literal-pathspecs"]
    asked = words[1 : words.index("--")] if "--" in words else words[1:]
    names = [word for word in asked if not word.startswith("-")]
    names += data.decode(errors="replace").partition("\n--")[0].split("\n") if data else []
    return words[0] in _OF_IDS and bool(names) and all(map(_ID.fullmatch, names))


def _runner() -> tuple[object, str | None]:
    """Return what runs git, and which git."""
    return subprocess.run, shutil.which("git")


_ASKED = (["rev-parse", "--path-format=absolute"], ["config", "--show-scope"])


def _read_for(
    arguments: Sequence[str], place: Path | None, given: Mapping[str, str]
) -> object | None:
    """Return what git reads to answer, None where that is not known."""
    match list(arguments):
        case ["check-ref-format", *_]:
            return ()
        case ["ls-remote", *_] if place is None:
            remote = _all_refs(Path(arguments[arguments.index("--") + 1]))
            return remote and (remote, _repository(Path.cwd()))
        case ["for-each-ref" | "symbolic-ref", first, *_] if place and first.startswith("--"):
            return _all_refs(place)
        case ["ls-files", "--stage", *_] if place and (known := _repository(place)):
            return known, _content(given.get("GIT_INDEX_FILE", f"{known[0]}/index"))
        case [*_, last] if place and (list(arguments[:2]) in _ASKED or last == "HEAD^{commit}"):
            return _repository(place)
    return None


def _all_refs(place: Path) -> tuple[object, ...] | None:
    """Return what git reads to know the refs of a repository."""
    known = _repository(place) if place.is_absolute() else None
    if known is None:
        return None
    found = (f"{at}/{name}" for at, _, names in os.walk(f"{known[0]}/refs") for name in names)
    objects = f"{known[0]}/objects"
    has = sorted(os.listdir(objects)) if os.path.isdir(objects) else []
    return known, *has, *((path, _content(path)) for path in sorted(found))


def _repository(place: Path) -> tuple[object, ...] | None:
    """Return what git reads to know the repository of a folder, None where that is elsewhere."""
    places = (f"{at}{end}" for at in (place, *place.parents) for end in ("/.git", ""))
    git_dir = next((at for at in places if os.path.isfile(f"{at}/HEAD") or _is_link(at)), None)
    if git_dir is None or _is_link(git_dir) or os.path.isfile(f"{git_dir}/commondir"):
        return None
    head = _content(f"{git_dir}/HEAD") or b""
    ref = os.fsdecode(head.removeprefix(b"ref: ").strip())
    users = (os.environ.get("GIT_CONFIG_GLOBAL", ""), f"{os.environ['HOME']}/.gitconfig",
             f"{os.environ['XDG_CONFIG_HOME']}/git/config")  # fmt: skip
    own = (f"{git_dir}/{name}" for name in (ref, "config", "packed-refs"))
    return git_dir, os.stat(git_dir).st_uid, head, *map(_content, (*own, *users))


def _is_link(place: str) -> bool:
    return place.endswith("/.git") and os.path.isfile(place)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


_Where = tuple[int, Path, int, bytes]
_BATCH = ["cat-file", "--batch-command"]


def _asked(git_dir: Path) -> Path:
    """Return the repository that is asked: for a scratch the first that it borrows from."""
    lenders = git_dir / "objects/info/alternates"
    is_bench = git_dir.name.startswith("scratch-") and lenders.exists()
    first = os.fsdecode(lenders.read_bytes().split(b"\n")[0]) if is_bench else ""
    return Path(first).parent if first else git_dir


def _where(folder: Path) -> _Where:
    lenders = folder / "objects/info/alternates"
    number = folder.stat().st_ino if folder.exists() else 0
    return os.getpid(), folder, number, lenders.read_bytes() if lenders.exists() else b""
