"""`conflicts learn`: record how the conflicts of finished merges were resolved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.conflicts.ids import conflict_id
from patchmgr.engines.conflicts.memory import Missed, compare
from patchmgr.errors import PatchmgrError
from patchmgr.model.merge import Clean
from patchmgr.model.ports import TextMerge
from patchmgr.model.recorded_conflict import Origin, Recorded, RecordKind, Resolution
from patchmgr.model.snapshot import file_content
from patchmgr.plumbing.closing import task
from patchmgr.plumbing.forks import (
    Clash,
    PastMerge,
    find_merges,
    find_rebased,
    is_plain,
    merge_again,
    subtree_folder,
    write_commit_graph,
)
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.text_merge import GitTextMerge
from patchmgr.services.memory import Additions, Memory, of_lesson
from patchmgr.services.session import Session
from patchmgr.workspace import Change


class LearnedFile(Struct, frozen=True):
    """A file that was in conflict, the commit that resolved the conflict, and what was learned."""

    commit: str
    path: str
    learned: tuple[Recorded, ...] = ()
    missed: tuple[str, ...] = ()  # why there is no resolution, for each other region


class Learned(Struct, frozen=True):
    """The resolved files, and the number of merges or rebased commits that were examined."""

    merges: int
    files: tuple[LearnedFile, ...]


def learn_from(session: Session, repository: Path, name: str, *, was: str | None) -> Learned:
    """Record how the conflicts of finished merges or of a finished rebase were resolved.

    `name` is a merge, a range of merges or, for a rebase, the range of the new commits; `was` is
    then the head of the branch before the rebase.
    """
    with session.writing():
        git_dir, merges = (
            find_merges(repository, name) if was is None else find_rebased(repository, name, was)
        )
        additions = Additions(Memory(session.workspace))
        with Scratch.outside(git_dir) as scratch:
            write_commit_graph(scratch, [past.made for past in merges if past.base is None])
            files = learn_again(session, scratch, GitTextMerge(scratch), merges, additions)
        kept = {one.id for one in additions.recorded()}
        if kept:
            session.workspace.make(Change(additions.files()))
        told = ((file, tuple(one for one in file.learned if one.id in kept)) for file in files)
        return Learned(len(merges), tuple(replace(file, learned=left) for file, left in told))


def learn_again(
    session: Session,
    scratch: Scratch,
    text: TextMerge,
    merges: Sequence[PastMerge],
    additions: Additions,
) -> list[LearnedFile]:
    """Repeat past merges to learn how their conflicts were resolved.

    The resolutions are added to `additions`; the files that were in conflict are returned.
    """
    files: list[LearnedFile] = []
    with task(session.progress, "Repeating merges", len(merges)):
        for past in merges:
            files += _files(scratch, text, past, additions)
            session.progress.advance(1)
    return files


def _files(
    scratch: Scratch, text: TextMerge, past: PastMerge, additions: Additions
) -> Iterator[LearnedFile]:
    try:
        if past.base is None and subtree_folder(scratch.reader, past.made, past.theirs):
            return  # it would compare files of two projects
        clashes = tuple(merge_again(scratch, past))
    except PatchmgrError as fault:
        if fault.kind not in ("git", "missing-object"):
            raise
        yield LearnedFile(past.made, "", missed=(f"cannot be merged again: {fault.message}",))
        return
    for clash in clashes:
        learned: list[Recorded] = []
        missed: list[str] = []
        for found in _found(scratch, text, past, clash):
            reason = found if isinstance(found, str) else additions.add(found)
            if reason is not None:
                missed.append(reason if isinstance(found, str) else f"{found.id}: {reason}")
            elif not isinstance(found, str):
                learned.append(found)
        yield LearnedFile(past.made, clash.path, tuple(learned), tuple(missed))


def _found(
    scratch: Scratch, text: TextMerge, past: PastMerge, clash: Clash
) -> Iterator[Recorded | str]:
    """Yield the resolution of each region in a file, or the reason why the region has none."""
    if not is_plain(clash):
        yield "it is not a regular file on every side"
        return
    made = file_content(clash.made, scratch.read)
    resolution = Resolution(made, Origin.LEARN, past.made)
    sides = (clash.base, clash.ours, clash.theirs)
    base, ours, theirs = (file_content(side, scratch.read) for side in sides)
    if ours is None or theirs is None:
        if (ours is None) == (theirs is None):
            yield "it was moved by one side or both"
        elif base is None:
            yield "it was moved, or something else is at its path"
        else:
            each = (base, ours, theirs)
            name = conflict_id(*each, None)
            yield Recorded(name, RecordKind.FILE, *each, path=clash.path, resolution=resolution)
        return
    merge = text.merge(base or b"", ours, theirs)
    if isinstance(merge, Clean):
        yield "only its mode or its name is in conflict"
    elif merge.marked is None:
        yield "it is binary"
    elif made is None:
        yield "the commit has no file at this path"
    else:
        for found in compare(merge.marked, made):
            if isinstance(found, Missed):
                yield f"{found.id}: {found.reason}"
            else:
                yield of_lesson(found, path=clash.path, seen="", resolution=resolution)
