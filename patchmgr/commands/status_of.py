"""`status --of`: which series, and which state of it, a commit is."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.git_upstream import tags_of
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.services.prepared import in_place, prepare
from patchmgr.services.session import Session
from patchmgr.services.states import (
    DIGEST,
    REF,
    SERIES,
    VERSION,
    own_commits,
    published_base,
    read_published,
    trailers_of,
)


class Recognised(Struct, frozen=True):
    """A commit that patchmgr built, or not: `series` is None where it is of nobody known.

    `is_current` says that the series gives the same head now. `patches` are the subjects of its
    commits, `position` the number of the last of them in the present branch, None where it is
    not in it. `version` and `digest` are from a tag, None without.
    """

    commit: str
    series: str | None
    base: str
    ref: str | None
    is_current: bool
    position: int | None
    patches: tuple[str, ...]
    tags: tuple[str, ...]
    version: str | None
    digest: str | None


def recognise(session: Session, name: str, *, repository: Path | None) -> Recognised:
    """Say what a commit, a branch or a tag is; raise PatchmgrError "unknown-ref"."""
    lock = session.workspace.lock()
    records = [record for _, record in sorted(lock.series.items())]
    places = [find_git_dir(repository)] if repository is not None else []
    places += [session.side_of(record).store for record in records]
    published = [Path(one.repository) for one in read_published(session.workspace)]
    places += [p if (p / "HEAD").is_file() else p / ".git" for p in published]
    for place in dict.fromkeys(places):
        if not place.exists():
            continue
        with ObjectReader(place) as reader:
            names = _names(session, place, name)
            head = next((c for ref in names if (c := reader.commit(ref))), None)
            if head is not None:
                return _recognised(session, records, place, reader, head)
    hint = "name the clone that has it with --repo DIR"
    raise PatchmgrError("unknown-ref", f"there is no commit {shown(name)}", (hint,))


def _names(session: Session, place: Path, name: str) -> tuple[str, ...]:
    if name.startswith("-") or any(c in name for c in " ~^:?*[\\\n"):
        return ()
    refs = (f"refs/tags/{name}", f"refs/heads/{name}")
    return (*(session.workspace.ref_at(place, ref) for ref in refs), name)


def _recognised(
    session: Session,
    records: list[SeriesRecord],
    place: Path,
    reader: ObjectReader,
    head: str,
) -> Recognised:
    ids, base = own_commits(reader, head, published_base(session, head))
    prefix = session.workspace.ref_at(place, "refs/tags/")
    tags = tuple(tags_of(place, prefix, head))
    told: dict[str, str] = {}
    for tag in tags:
        found = reader.find(f"{prefix}{tag}")
        if found is not None and found.kind == "tag":
            told = told or trailers_of(found.content)
    subjects = tuple(_subject(reader, commit) for commit in ids)
    series, position, is_current = told.get(SERIES), None, False
    for record in records:
        if record.pin.commit == base and ids:
            branch = _branch(session, record)
            if head in branch:
                series, position = record.name, branch.index(head) + 1
                is_current = position == len(branch)
                break
            if series is None and set(branch) & set(ids):
                series = record.name
    refs = {record.pin.commit: record.pin.ref for record in records}
    return Recognised(
        commit=head,
        series=series,
        base=base,
        ref=told.get(REF) or refs.get(base),
        is_current=is_current,
        position=position,
        patches=subjects,
        tags=tags,
        version=told.get(VERSION),
        digest=told.get(DIGEST),
    )


def _branch(session: Session, record: SeriesRecord) -> tuple[str, ...]:
    """Return the commits that the series gives now; none where it does not apply."""
    try:
        with in_place(session, prepare(session, record.name)) as placed:
            return placed.commits()
    except PatchmgrError:
        return ()


def _subject(reader: ObjectReader, commit: str) -> str:
    found = reader.find(commit)
    content = b"" if found is None else found.content
    return content.partition(b"\n\n")[2].split(b"\n", 1)[0].decode("utf-8", "surrogateescape")
