"""The commits of a fork that are not upstream's, and what is between trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.linear import Changes
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Author
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing import door
from patchmgr.plumbing.objects import ObjectReader

_ABSENT = "000000"
PERSON = re.compile(rb"(.*?) ?<(.*?)> (\d+ [-+]\d{4})")


def commit_named(git_dir: Path, name: str, repository: Path) -> str:
    """Return the commit of a name; raise PatchmgrError "unknown-ref"."""
    arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    code, printed = door.run(arguments, git_dir=git_dir, good=(0, 1, 128))
    if code:
        hints = (f"git -C {repository} branch --all",)
        raise PatchmgrError("unknown-ref", f"{repository} has no commit {shown(name)}", hints)
    return printed.decode().strip()


def followed(git_dir: Path, name: str) -> tuple[str | None, str | None]:
    """Return URL and branch of the remote that a ref follows, as far as its name says so."""
    arguments = ["rev-parse", "--verify", "--quiet", "--symbolic-full-name", name]
    full = door.text(door.run(arguments, git_dir=git_dir, good=(0, 1, 128))[1]).strip()
    remotes = door.text(door.output(["remote"], git_dir=git_dir)).splitlines()
    for remote in sorted(remotes, key=len, reverse=True):
        prefix = f"refs/remotes/{remote}/"
        if full.startswith(prefix):
            branch = full.removeprefix(prefix)
            return _setting(git_dir, f"remote.{remote}.url"), None if branch == "HEAD" else branch
    local = full.removeprefix("refs/heads/")
    if local == full:
        return None, None
    remote = _setting(git_dir, f"branch.{local}.remote") or "."
    if remote == ".":
        return None, local
    merged = _setting(git_dir, f"branch.{local}.merge") or f"refs/heads/{local}"
    return _setting(git_dir, f"remote.{remote}.url"), merged.removeprefix("refs/heads/")


def _setting(git_dir: Path, name: str) -> str | None:
    code, printed = door.run(["config", "--get", name], git_dir=git_dir, good=(0, 1))
    return None if code else door.text(printed).strip()


def own_commits(git_dir: Path, head: str, excluded: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the commits up to a head that others do not reach, oldest first, with parents."""
    lines = [head, *(f"^{commit}" for commit in excluded)]
    data = "".join(f"{line}\n" for line in lines).encode()
    arguments = ["rev-list", "--topo-order", "--reverse", "--parents", "--stdin"]
    rows = door.output(arguments, git_dir=git_dir, data=data).decode().splitlines()
    words = (row.split() for row in rows)
    return {commit: tuple(parents) for commit, *parents in words}


def is_ancestor(git_dir: Path, old: str, new: str) -> bool:
    """Say whether a commit is another one, or among those before it."""
    arguments = ["merge-base", "--is-ancestor", old, new]
    return door.run(arguments, git_dir=git_dir, good=(0, 1))[0] == 0


def newest(git_dir: Path, commits: Sequence[str]) -> tuple[str, ...]:
    """Return those of the commits that no other one of them reaches."""
    if len(set(commits)) == 1:
        return (commits[0],)
    printed = door.output(["merge-base", "--independent", *commits], git_dir=git_dir)
    return tuple(printed.decode().split())


def merge_base(git_dir: Path, one: str, other: str) -> str | None:
    """Return the newest commit that both have, None where there is none."""
    code, printed = door.run(["merge-base", one, other], git_dir=git_dir, good=(0, 1))
    return None if code else printed.decode().strip()


def tree_changes(git_dir: Path, pairs: Sequence[tuple[str, str]]) -> tuple[Changes, ...]:
    """Return what is between each two trees, in one process; reads no contents."""
    arguments = ["diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]
    data = "".join(f"{old} {new}\n" for old, new in pairs).encode()
    printed = door.text(door.output(arguments, git_dir=git_dir, data=data))
    found: list[dict[str, tuple[Entry | None, Entry | None]]] = []
    at = 0
    while at < len(printed):
        if printed[at] != ":":
            at = printed.index("\n", at) + 1
            found.append({})
            continue
        middle = printed.index("\0", at)
        end = printed.index("\0", middle + 1)
        old_mode, new_mode, old, new, _ = printed[at + 1 : middle].split(" ")
        found[-1][printed[middle + 1 : end]] = (_entry(old_mode, old), _entry(new_mode, new))
        at = end + 1
    return tuple(found)


def _entry(mode: str, blob: str) -> Entry | None:
    return None if mode == _ABSENT else Entry(mode, blob)


class Told(Struct, frozen=True):
    """What a commit says of itself."""

    author: Author
    message: bytes

    @property
    def subject(self) -> str:
        """Return the first line of the message."""
        return door.text(self.message.lstrip(b"\n").split(b"\n", 1)[0])


def told_by(reader: ObjectReader, commit: str) -> Told:
    """Return author and message of a commit, in UTF-8 where it names another encoding."""
    found = reader.find(commit)
    assert found is not None
    head, _, message = found.content.partition(b"\n\n")
    fields = dict(_fields(head))
    encoding = fields.get(b"encoding", b"UTF-8").decode("ascii", "replace")
    name, email, date = _person(fields.get(b"author", b""))
    return Told(
        Author(_decoded(name, encoding), _decoded(email, encoding), date),
        door.raw(_decoded(message, encoding)),
    )


def _fields(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        if name:
            yield name, value


def _person(value: bytes) -> tuple[bytes, bytes, str]:
    match = PERSON.fullmatch(value)
    return (match[1], match[2], match[3].decode()) if match else (value, b"", "0 +0000")


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return door.text(raw)
