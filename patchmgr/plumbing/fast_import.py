"""Write all commits of a series with one `git fast-import` process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import Struct

from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.scratch_repository import Scratch

BRANCH = "refs/heads/series"


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
