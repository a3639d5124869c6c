"""Find the later patches that a conflict blocks, and the upstream commits that caused the conflict.

After a conflict, the rebase keeps two versions of the file: it continues with the one that has
upstream's lines in the conflict regions, and the other one has the patch's lines there. If a later
patch makes the same changes to both, the conflict does not block it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.languages.words import CODE_NAME, WORD
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import CONTEXT, Block, changed_blocks
from patchmgr.engines.text.marked import sides_of, split_marked
from patchmgr.model.outcome import FileConflict, UpstreamCommit, Verdict
from patchmgr.model.snapshot import FILE_MODES, Entry

if TYPE_CHECKING:
    from patchmgr.engines.rebase.rebase import Judged
    from patchmgr.engines.rebase.work import FileResult
    from patchmgr.engines.series.fold import FileStep, Overlay
    from patchmgr.model.ports import Blobs

Origin = tuple[str, str]
"""The name of a patch in conflict, and the path of the file in conflict after the rebase."""

_COMMENT = re.compile(rb"(?:#(?!\s*(?:define|if|elif|include)\b)|//).*")
_DEFINED = re.compile(rb"\b(?:def|class|struct|enum|union|using|define|namespace)\s+(\w+)")


class OpenConflict(Struct, frozen=True):
    """A conflict in the file at `path` that a person must resolve after the rebase."""

    origin: Origin  # the patch in conflict, and the path of the conflict
    path: str
    theirs: Entry | None = None  # with the patch's lines (None: all of it in conflict)
    whole: frozenset[str] = frozenset()  # paths that no later patch may touch
    causes: tuple[UpstreamCommit, ...] = ()  # upstream commits, once known


def leave(
    patch: str, result: FileResult, files: Overlay, blobs: Blobs
) -> tuple[OpenConflict, Entry | None]:
    """Return the conflict in `result`, and the version of the file with which to continue.

    That version has upstream's lines in the conflict regions. It is None if the conflict covers the
    whole file.
    """
    step, conflict = result.step, result.conflict
    assert conflict is not None
    path = conflict.new_path
    ours = files.entry(path)
    both = resolved_both_ways(conflict) if is_edit(step) and path == result.home else None
    if both is None or result.places or ours is None or ours.mode not in FILE_MODES:
        return OpenConflict((patch, path), path, whole=frozenset((*paths_of(step), path))), None
    entry, theirs = (Entry(ours.mode, blobs.add(content)) for content in both)
    return OpenConflict((patch, path), path, theirs), entry


def resolved_both_ways(conflict: FileConflict) -> tuple[bytes, bytes] | None:
    """Resolve all conflicts of a file in two ways: to ours in every region, and to theirs.

    Returns None if there are no regions, if a region's bounds are unclear, or if a side lacks the
    file or the line feed at its end.
    """
    sides = (conflict.base, conflict.ours, conflict.theirs)
    if conflict.marked is None or any(side is None or side[-1:] not in b"\n" for side in sides):
        return None
    marked = split_marked(conflict.marked)
    if not marked.regions or not marked.is_sure or not all(one.is_sure for one in marked.regions):
        return None
    return sides_of(conflict.marked)[1:]


def is_edit(step: FileStep) -> bool:
    """Return whether a change only edits the content of an existing file."""
    change, base, theirs = step.change, step.base, step.theirs
    is_there = base is not None and theirs is not None and base.mode == theirs.mode
    return is_there and change.old_path == change.new_path and not change.is_copy


def paths_of(step: FileStep) -> tuple[str, ...]:
    """Return the old and the new path of a change; a new or deleted file has only one."""
    paths = (step.change.old_path, step.change.new_path)
    return tuple(path for path in paths if path is not None)


def touched_by(result: FileResult) -> frozenset[str]:
    """Return all paths that a change to one file reads, writes or leaves in conflict."""
    conflict = () if result.conflict is None else (result.conflict.new_path,)
    return frozenset((result.home, *result.changes, *conflict))


def block_reason(
    left: OpenConflict, ours: Entry, result: FileResult, other: FileResult, blobs: Blobs
) -> str | None:
    """Return the reason why an earlier conflict blocks a later change, or None if it does not.

    `result` is the change applied to `ours`, the file with upstream's lines in the conflict
    regions; `other` is the change applied to the file with the earlier patch's lines there.
    """
    assert left.theirs is not None
    patch, _ = left.origin
    lines = f"{patch} left these lines of {left.path} in conflict"
    if _verdicts(result) != _verdicts(other) or touched_by(result) != touched_by(other):
        return lines
    if _places(result.conflict) != _places(other.conflict):
        return lines
    if result.conflict is None:
        ends = _after(result, left.path, ours), _after(other, left.path, left.theirs)
        if None in ends:
            return lines
        if _edits(ours, ends[0], blobs) != _edits(left.theirs, ends[1], blobs):
            return lines
    if result.step.base is None or result.step.theirs is None:
        return lines
    without, with_it = blobs.read(ours.blob), blobs.read(left.theirs.blob)
    before, after = blobs.read(result.step.base.blob), blobs.read(result.step.theirs.blob)
    unknown = _symbols(left.path, without, with_it)
    shared = unknown & _symbols(result.step.change.path, before, after) if unknown else ()
    if shared:
        return f"{patch} left {min(shared)} of {left.path} in conflict"
    names = _brought(without, with_it) & _words(_added(before, after))
    if names:
        name = min(names).decode("utf-8", "replace")
        return f"{patch} left {left.path} in conflict, where it defines {name}"
    return None


def extended(
    left: OpenConflict, result: FileResult, other: FileResult, blobs: Blobs
) -> OpenConflict:
    """Extend a conflict to the lines of a later change that it blocks."""
    touched = touched_by(result) | touched_by(other)
    if is_edit(result.step) and touched == {left.path}:
        if other.conflict is None:
            return replace(left, theirs=_after(other, left.path, left.theirs))
        both = resolved_both_ways(other.conflict)
        if both is not None and left.theirs is not None:
            return replace(left, theirs=Entry(left.theirs.mode, blobs.add(both[1])))
    return block_whole(left, (*paths_of(result.step), *touched))


def block_whole(left: OpenConflict, paths: Collection[str]) -> OpenConflict:
    """Extend a conflict to the whole of its own file and of the files at `paths`."""
    return replace(left, theirs=None, whole=left.whole | {left.path, *paths})


def updated(left: OpenConflict, other: FileResult, blobs: Blobs) -> OpenConflict:
    """Return a conflict after a later change to its file that it does not block."""
    assert left.theirs is not None
    if other.conflict is not None:
        both = resolved_both_ways(other.conflict)
        if both is None:
            return block_whole(left, paths_of(other.step))
        return replace(left, theirs=Entry(left.theirs.mode, blobs.add(both[0])))
    is_moved = left.path in other.changes and other.changes[left.path] is None
    path = other.home if is_moved else left.path
    return replace(left, path=path, theirs=_after(other, left.path, left.theirs))


def _verdicts(result: FileResult) -> tuple[Verdict, ...]:
    return tuple(verdict for verdict, _ in result.answers)


def _places(conflict: FileConflict | None) -> object:
    """Return the regions of a conflict, or an object that equals nothing if they are unclear."""
    if conflict is None:
        return None
    if resolved_both_ways(conflict) is None:
        return object()
    return [found.region for found in split_marked(conflict.marked or b"").regions]


def _after(result: FileResult, path: str, before: Entry | None) -> Entry | None:
    """Return a file's entry after a change, which may move it, or None if it was deleted."""
    after = result.changes.get(path, before)
    return result.changes.get(result.home) if after is None else after


def _edits(before: Entry, after: Entry | None, blobs: Blobs) -> list[tuple[list[bytes], ...]]:
    """Return (context before, old lines, context after, new lines) for each change to a file."""
    if after is None or before.blob == after.blob:
        return []
    old, new = (split_lines(blobs.read(entry.blob)) for entry in (before, after))
    return [
        (old[max(0, b.old_start - CONTEXT) : b.old_start], old[b.old_start : b.old_end],
         old[b.old_end : b.old_end + CONTEXT], new[b.new_start : b.new_end])
        for b in changed_blocks(old, new)
    ]  # fmt: skip


@lru_cache(64)
def _blocks(old: bytes, new: bytes) -> tuple[Block, ...]:
    return changed_blocks(split_lines(old), split_lines(new))


def _symbols(path: str, old: bytes, new: bytes) -> frozenset[str]:
    """Return the functions in which two versions of a file differ. Classes do not count."""
    found: set[str] = set()
    blocks = _blocks(old, new)
    for content, changed in (
        (old, [range(b.old_start, b.old_end) for b in blocks]),
        (new, [range(b.new_start, b.new_end) for b in blocks]),
    ):
        index, lines = SymbolIndex(path, content), split_lines(content)
        numbers = chain.from_iterable(changed)
        symbols = {index.at(n + 1) for n in numbers if lines[n].strip()}
        found.update(s for s in symbols if s is not None and not _is_scope(index, s))
    return frozenset(found)


def _is_scope(index: SymbolIndex, symbol: str) -> bool:
    return any(name.startswith((f"{symbol}.", f"{symbol}::")) for name in index.names)


def _added(old: bytes, new: bytes) -> bytes:
    lines = split_lines(new)
    return b"".join(line for b in _blocks(old, new) for line in lines[b.new_start : b.new_end])


def _brought(without: bytes, with_it: bytes) -> set[bytes]:
    """Return the names that the lines in conflict bring: `with_it` has them, `without` does not."""
    added = _added(without, with_it)
    names = {word for word in _words(added) if CODE_NAME.match(word)}
    return (names | set(_DEFINED.findall(added))) - _words(without)


def _words(text: bytes) -> set[bytes]:
    return set(WORD.findall(_COMMENT.sub(b"", text)))


def pass_on_causes(
    judged: Sequence[Judged], before: Sequence[OpenConflict] = ()
) -> tuple[tuple[Judged, ...], tuple[OpenConflict, ...]]:
    """Give each blocked patch the causes of the conflicts that block it.

    `before` has the unresolved conflicts from before the first patch. Also returns the unresolved
    conflicts after the last patch.
    """
    causes = {left.origin: left.causes for left in before}
    found: list[Judged] = []
    for one in judged:
        if one.outcome.verdict is Verdict.BLOCKED:
            here = {c.commit: c for origin in one.blockers for c in causes.get(origin, ())}
            one = replace(one, outcome=replace(one.outcome, cause=tuple(here.values())))
        causes.update(_causes(one))
        found.append(one)
    left = judged[-1].left if judged else before
    return tuple(found), tuple(replace(one, causes=causes.get(one.origin, ())) for one in left)


def _causes(one: Judged) -> Iterator[tuple[Origin, tuple[UpstreamCommit, ...]]]:
    """Yield each conflict of a patch with its causes: those that touch its file, or else all."""
    every = one.outcome.cause
    for result in one.files:
        if result.conflict is not None:
            homes = {result.home, result.conflict.new_path}
            here = tuple(cause for cause in every if not homes.isdisjoint(cause.paths))
            yield (one.outcome.name, result.conflict.new_path), here or every
