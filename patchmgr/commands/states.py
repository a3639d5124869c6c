"""States of a series that have a name: tags of `branch --tag`, commits, and the series as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.prepared import Ready
from patchmgr.commands.published import read_published
from patchmgr.commands.session import Session
from patchmgr.engines.self_comparison import OwnCommit
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import COMMITTER_EMAIL
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.objects import ObjectReader

NOW = "the series as it is"
_TRAILER = re.compile(rb"^(Patchmgr-[A-Za-z]+): (.*)$", re.M)
_MOST = 10_000


class State(Struct, frozen=True):
    """A branch of a series: the repository that has it, its head, and the commits since the pin."""

    name: str
    git_dir: Path
    head: str
    base: str
    commits: tuple[OwnCommit, ...]


def find_state(session: Session, ready: Ready, name: str, *, repository: Path | None) -> State:
    """Return the state of a name: in the store, in a repository, or where it was published.

    Raises PatchmgrError "unknown-ref" where there is none.
    """
    places = [ready.side.store] if repository is None else [find_git_dir(repository)]
    for one in read_published(session.workspace):
        place = Path(one.repository)
        if one.series == ready.record.name and name in (one.tag, one.fallback, one.branch):
            places.append(place if (place / "HEAD").is_file() else place / ".git")
    for place in dict.fromkeys(places):
        if place.exists():
            with ObjectReader(place) as reader:
                head = _head(session, place, reader, name)
                if head is not None:
                    base = published_base(session, head)
                    return _state(name, place, reader, head, base)
    hint = "patchmgr branch --tag TAG makes one; --repo DIR looks into a clone"
    raise PatchmgrError("unknown-ref", f"there is no tag or branch {shown(name)}", (hint,))


def _head(session: Session, place: Path, reader: ObjectReader, name: str) -> str | None:
    for ref in (f"refs/tags/{name}", f"refs/heads/{name}"):
        found = reader.commit(session.workspace.ref_at(place, ref))
        if found is not None:
            return found
    is_id = re.fullmatch(r"[0-9a-f]{7,40}", name) is not None
    return reader.commit(name) if is_id else None


def published_base(session: Session, head: str) -> str | None:
    """Return what a head stands on that was published here, None where it was not."""
    return next((one.base for one in read_published(session.workspace) if one.head == head), None)


def _state(
    name: str, git_dir: Path, reader: ObjectReader, head: str, known_base: str | None
) -> State:
    ids, base = own_commits(reader, head, known_base)
    return State(name, git_dir, head, base, read_commits(git_dir, reader, ids))


def own_commits(
    reader: ObjectReader, head: str, base: str | None = None
) -> tuple[tuple[str, ...], str]:
    """Return the commits that patchmgr wrote up to a head, oldest first, and what they stand on.

    Where the base is known, all on it are: a person may be their committer.
    """
    marker = f"\ncommitter patchmgr <{COMMITTER_EMAIL}> ".encode()
    found: list[str] = []
    at: str | None = head
    while at is not None and len(found) < _MOST:
        commit = reader.find(at)
        top = commit.content.split(b"\n\n", 1)[0] if commit is not None else b""
        parents = re.findall(rb"^parent ([0-9a-f]{40})$", top, re.M)
        # A release is a commit of ours, too, and has no parents.
        is_end = at == base if base is not None else marker not in b"\n" + top
        if is_end or not parents:
            return tuple(reversed(found)), at
        found.append(at)
        at = parents[0].decode()
    return tuple(reversed(found)), head


def read_commits(git_dir: Path, reader: ObjectReader, ids: Sequence[str]) -> tuple[OwnCommit, ...]:
    """Return commits with their messages and diffs."""
    diffs = commit_diffs(git_dir, list(ids))
    found = []
    for name in ids:
        commit = reader.find(name)
        assert commit is not None
        found.append(OwnCommit(name, commit.content.partition(b"\n\n")[2], diffs[name]))
    return tuple(found)


def trailers_of(text: bytes) -> dict[str, str]:
    """Return our trailers of a tag's message, by their names."""
    return {
        key.decode(): value.decode("utf-8", "replace").strip()
        for key, value in _TRAILER.findall(text)
    }
