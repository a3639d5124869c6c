"""A temporary repository on top of a store, for the objects of a run until they are published.

All commits of a series are written with one `git fast-import` process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import Struct

from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.model.snapshot import GITLINK, Entry, blob_id, object_id
from patchmgr.plumbing import git_process
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.objects import ObjectReader, StoredTree

_RECENT = 16  # blobs kept because they were read or added last: those of one file, and a few more
_LARGE = 1 << 20  # bytes; larger blobs are read again


class MadeBlobs(Closing):
    """File contents by blob id, stored in one unnamed temporary file."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - until it is closed
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._owner = os.getpid()

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def get(self, name: str) -> bytes | None:
        """Return the content with this id, or None if there is none."""
        if name not in self._places:
            return None
        start, size = self._places[name]
        content = os.pread(self._file.fileno(), size, start)
        assert len(content) == size
        return content

    def add(self, name: str, content: bytes) -> None:
        """Add content; raise OSError if the disk is full."""
        if name in self._places:
            return
        assert os.getpid() == self._owner  # a forked process shares the file, but not its end
        written = 0
        while written < len(content):
            written += os.pwrite(self._file.fileno(), content[written:], self._end + written)
        self._places[name] = self._end, len(content)
        self._end += len(content)

    def close(self) -> None:
        """Delete all contents."""
        self._file.close()
        self._places.clear()


FEW, MOST = 16, 500  # blobs; reading FEW takes less time than starting a process
_MOST_BYTES = 128 << 20  # the size of the file at which reading ahead ends
_HEAD = 64  # the most bytes in the line before a blob
_SOON = 3  # waiting for one of the next 3 blobs is faster than starting another process
_PAUSE = 0.0002  # seconds
_MOST_AHEADS = 16  # each has a process and an open file


class ReadAhead(Closing):
    """A reader that reads blobs in the background, in the order in which they will be needed.

    A blob that would only be read much later must be read by the caller.
    """

    def __init__(self, git_dir: Path, blobs: Collection[str], scratch: Path) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._order = {blob: number for number, blob in enumerate(dict.fromkeys(blobs))}
        self._at = self._done = 0  # what was found in the file, in bytes and in blobs
        self._process: subprocess.Popen[bytes] | None = None
        self._file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - until it is closed
        try:
            with tempfile.TemporaryFile(dir=scratch) as names:
                names.write(git_process.words(self._order))
                names.seek(0)
                self._process = subprocess.Popen(
                    git_process.command(["cat-file", "--batch"], git_dir),
                    stdin=names,
                    stdout=self._file,
                    stderr=subprocess.DEVNULL,
                    env=git_process.clean_environment(),
                )
        except BaseException:
            self.close()
            raise

    def get(self, blob: str) -> bytes | None:
        """Return a blob's content, or None if it has not been read and will not be read soon."""
        number = self._order.get(blob, -1)
        while number >= self._done and self._at <= _MOST_BYTES:
            is_running = self._process is not None and self._process.poll() is None
            if not self._advance():
                if number >= self._done + _SOON or not is_running:
                    break
                time.sleep(_PAUSE)
        if self._process is not None and os.fstat(self._file.fileno()).st_size > _MOST_BYTES:
            self._process.kill()
        start, size = self._places.get(blob, (0, -1))
        return None if size < 0 else os.pread(self._file.fileno(), size, start)

    def _advance(self) -> bool:
        """Find the next blob in git's output file; return False if it is not there yet."""
        head, is_there, _ = os.pread(self._file.fileno(), _HEAD, self._at).partition(b"\n")
        words, start = head.split(), self._at + len(head) + 1
        size = int(words[2]) + 1 if len(words) == 3 else 0  # 0: the object is missing
        if not is_there or os.fstat(self._file.fileno()).st_size < start + size:
            return False
        if 0 < size < 1 << 30:  # one call of pread returns at most 2 GiB
            self._places[words[0].decode()] = start, size - 1
        self._at, self._done = start + size, self._done + 1
        return True

    def close(self) -> None:
        """End the git process, and delete the file with the contents."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        with suppress(OSError):
            self._file.close()


_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[fastimport]
\tunpackLimit = 1
[pack]
\tcompression = 1
[merge]
\tconflictStyle = zdiff3
\trenormalize = false
[attr]
\ttree = 4b825dc642cb6eb9a060e54bf8d69288fbee4904
"""


class Scratch(Closing):
    """A temporary bare repository that borrows the objects of other repositories.

    Blobs that a run makes are kept outside of git; `write_loose` and `write_commits` write those
    that git needs.
    """

    def __init__(self, lenders: Sequence[Path], *, folder: Path | None = None) -> None:
        self._lenders = tuple(lenders)
        parent = folder if folder is not None else self._lenders[0] / "tmp"
        parent.mkdir(parents=True, exist_ok=True)
        self.git_dir = Path(tempfile.mkdtemp(prefix="scratch-", dir=parent))
        self._lock = os.open(self.git_dir, os.O_RDONLY)  # until the run ends, however it ends
        with suppress(OSError):  # a file system without locks
            fcntl.flock(self._lock, fcntl.LOCK_SH)
        objects = self.git_dir / "objects"
        (objects / "info").mkdir(parents=True)
        (objects / "pack").mkdir()
        (self.git_dir / "refs").mkdir()
        (self.git_dir / "HEAD").write_text("ref: refs/heads/unborn\n")
        (self.git_dir / "config").write_text(_CONFIG)
        lines = [str((lender / "objects").resolve()) + "\n" for lender in self._lenders]
        (objects / "info" / "alternates").write_text("".join(lines), errors="surrogateescape")
        self.reader = ObjectReader(self.git_dir)
        self._made = MadeBlobs(self.git_dir)
        self._recent = deque[tuple[str, bytes]](maxlen=_RECENT)  # a thread may read, too
        self._aheads: list[ReadAhead] = []
        self._written: set[str] = set()

    @classmethod
    def outside(cls, *lenders: Path) -> Scratch:
        """Make a temporary repository in the system's temporary folder instead of in a store."""
        return cls(lenders, folder=Path(tempfile.gettempdir()))

    def close(self) -> None:
        """End the git processes and delete the repository."""
        self.reader.close()
        for ahead in self._aheads:
            ahead.close()
        self._made.close()
        shutil.rmtree(self.git_dir, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def read(self, blob: str) -> bytes:
        """Return a blob's content; raise PatchmgrError "missing-object" if it is missing."""
        known = (content for name, content in tuple(self._recent) if name == blob)
        content = next(known, None)
        if content is None:
            content = self._content(blob)
            self._keep(blob, content)
        return content

    def _content(self, blob: str) -> bytes:
        content = self._made.get(blob)
        if content is None:
            found = (ahead.get(blob) for ahead in self._aheads)
            content = next((one for one in found if one is not None), None)
        return self.reader.blob(blob) if content is None else content

    def name(self, content: bytes) -> str:
        """Return the blob id of content; it is not computed if the content was read recently."""
        names = (name for name, one in tuple(self._recent) if one is content)
        return next(names, None) or blob_id(content)

    def _keep(self, name: str, content: bytes) -> None:
        if len(content) <= _LARGE:
            self._recent.append((name, content))

    def read_ahead(self, blobs: Sequence[str]) -> None:
        """Start reading the first of these blobs in the background, unless there are only a few."""
        if len(blobs) > FEW:
            with suppress(OSError):  # reading ahead only saves time
                self._aheads.append(ReadAhead(self.git_dir, blobs[:MOST], self.git_dir))
        if len(self._aheads) > _MOST_AHEADS:
            self._aheads.pop(0).close()

    def add(self, content: bytes) -> str:
        """Store new content for the rest of the run, and return its blob id."""
        name = self.name(content)
        self._made.add(name, content)
        self._keep(name, content)
        return name

    def kinds(self, ids: Collection[str]) -> dict[str, str]:
        """Map the ids of existing objects, and of blobs added during this run, to their kinds."""
        made = {name: "blob" for name in ids if name in self._made}
        return made | self.reader.kinds(set(ids) - made.keys())

    def is_made(self, blob: str) -> bool:
        """Return whether the blob was added during this run."""
        return blob in self._made

    def tree(self, commit: str) -> StoredTree:
        """Return the tree of a commit."""
        return StoredTree(self.reader, self.reader.tree_of(commit))

    def write_loose(self, kind: str, content: bytes, name: str | None = None) -> str:
        """Write one loose object and return its id; `name` is the id, if the caller knows it."""
        if name is None:
            name = object_id(kind, content)
        if name not in self._written:
            objects = f"{self.git_dir}/objects"
            if not self._written:
                _join_folders(objects)
            with suppress(FileExistsError):
                os.mkdir(f"{objects}/{name[:2]}")
            descriptor = os.open(
                f"{objects}/{name[:2]}/{name[2:]}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o444
            )
            with os.fdopen(descriptor, "wb") as file:
                # Not compressed, because git reads it at once, and then it is deleted.
                file.write(zlib.compress(f"{kind} {len(content)}\0".encode() + content, 0))
            self._written.add(name)
        return name

    def write_commit(self, tree: str, parent: str | None, message: str) -> str:
        """Write a commit with a dummy author and date, for merging, and return its id."""
        who = f"{COMMITTER_NAME} <{COMMITTER_EMAIL}> 0 +0000"
        above = "" if parent is None else f"parent {parent}\n"
        head = f"tree {tree}\n{above}author {who}\ncommitter {who}\n"
        return self.write_loose("commit", f"{head}\n{message}\n".encode())


def _join_folders(objects: str) -> None:
    """Make the 256 folders of loose objects links to one folder, if links are supported."""
    # Deleting a folder may take 3 ms, and git uses nearly all of them in a rebase with conflicts.
    with suppress(OSError):
        os.mkdir(f"{objects}/loose")
        for number in range(256):
            os.symlink("loose", f"{objects}/{number:02x}")


BRANCH = "refs/heads/series"  # where `git fast-import` writes the commits


class Draft(Struct, frozen=True):
    """A commit to write; its committer is patchmgr, and its committer date is the author date."""

    author: Author
    message: bytes
    changes: Mapping[str, Entry | None]  # new entries by path (None: deleted)


def _quoted(path: str) -> bytes:
    raw = git_process.raw(path)
    escaped = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def write_commits(scratch: Scratch, parent: str | None, drafts: Sequence[Draft]) -> tuple[str, ...]:
    """Write one commit per draft, each with the previous one as parent, and return the commit ids.

    The first commit has no parent if `parent` is None.
    """
    return commits_writer(scratch, parent, drafts)()


def commits_writer(
    scratch: Scratch, parent: str | None, drafts: Sequence[Draft]
) -> Callable[[], tuple[str, ...]]:
    """Return a function that does what `write_commits` does, and that may run in another thread."""
    if not drafts:
        return lambda: ()
    stream = tempfile.TemporaryFile(dir=scratch.git_dir)  # noqa: SIM115 - _import closes it
    try:
        stream.writelines(_stream(scratch, parent, drafts))
        stream.seek(0)
    except BaseException:
        with suppress(OSError):  # closing tries to write the rest once more
            stream.close()
        raise
    # Without a parent there are no older versions to make deltas from, and git would take a third
    # of the time to look for some.
    return partial(_import, scratch.git_dir, stream, len(drafts), 50 if parent else 0)


def _import(git_dir: Path, stream: IO[bytes], count: int, depth: int) -> tuple[str, ...]:
    marks = git_dir / "marks"
    arguments = ["fast-import", "--quiet", "--done", "--force", f"--export-marks={marks}"]
    # git am takes any zone of less than a day.
    arguments += [f"--depth={depth}", "--date-format=raw-permissive"]
    with stream:
        git_process.output_by_files(arguments, git_dir=git_dir, data=stream, scratch=git_dir)
    lines = [line.split() for line in marks.read_text().splitlines()]
    ids = {int(mark[1:]): commit for mark, commit in lines}
    return tuple(ids[number] for number in range(1, count + 1))


def _stream(scratch: Scratch, parent: str | None, drafts: Sequence[Draft]) -> Iterator[bytes]:
    named: dict[str, int] = {}
    for draft in drafts:
        for entry in draft.changes.values():
            if entry is not None and entry.blob not in named and scratch.is_made(entry.blob):
                named[entry.blob] = len(named) + len(drafts) + 1
                yield b"blob\nmark :%d\n" % named[entry.blob]
                yield _counted(scratch.read(entry.blob))
    for number, draft in enumerate(drafts, 1):
        origin = parent.encode() if parent and number == 1 else b":%d" % (number - 1)
        yield _commit(draft, number, origin if number > 1 or parent else None, named)
    yield b"done\n"


def _counted(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _commit(draft: Draft, mark: int, origin: bytes | None, named: Mapping[str, int]) -> bytes:
    committer = f"{COMMITTER_NAME} <{COMMITTER_EMAIL}> {draft.author.date}"
    name, email = (  # without characters that git does not allow there
        "".join(c for c in part if c not in "<>\n\0").strip()
        for part in (draft.author.name, draft.author.email)
    )
    lines = [
        b"commit " + BRANCH.encode(),
        b"mark :%d" % mark,
        b"author " + git_process.raw(f"{name} <{email}> {draft.author.date}"),
        b"committer " + committer.encode(),
        _counted(draft.message)[:-1],
    ]
    if origin is not None:
        lines.append(b"from " + origin)
    deleted = [path for path, entry in draft.changes.items() if entry is None]
    lines += [b"D " + _quoted(path) for path in sorted(deleted)]
    for path, entry in sorted(draft.changes.items()):
        if entry is not None:
            is_made = entry.mode != GITLINK and entry.blob in named
            source = f":{named[entry.blob]}" if is_made else entry.blob
            lines.append(f"M {entry.mode} {source} ".encode() + _quoted(path))
    return b"\n".join([*lines, b"", b""])
