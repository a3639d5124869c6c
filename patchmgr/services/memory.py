"""The recorded conflicts of a workspace: find their resolutions, and add new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.conflicts.ids import conflict_id, region_id
from patchmgr.engines.conflicts.memory import Lesson, Missed, compare, recorded_fault, whole_sides
from patchmgr.engines.text.marked import has_marker, split_marked
from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import refusal
from patchmgr.formats.reader import merge_hints, split_lines
from patchmgr.formats.recorded_conflict import (
    CONFLICTS,
    FILES,
    MAX_PARTS,
    MAX_SIDE,
    fault,
    write_recorded,
)
from patchmgr.model.outcome import Reliability, SeriesOutcome, Suggestion
from patchmgr.model.recorded_conflict import (
    Origin,
    Recorded,
    RecordKind,
    RegionSides,
    ReplayedResolution,
    Resolution,
    Source,
)
from patchmgr.services.work_area import (
    InProgress,
    Solved,
    Waiting,
    conflicts_left,
    original,
    waiting_files,
)

if TYPE_CHECKING:
    from patchmgr.model.outcome import FileConflict
    from patchmgr.workspace import Workspace


class Memory:
    """The recorded conflicts of a workspace, each read when it is first needed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._known: dict[str, Recorded | None] = {}
        self._pulled: dict[str, tuple[tuple[Source, Recorded], ...]] = {}
        self._used: dict[str, tuple[Recorded, dict[str, None]]] = {}
        self._place = ""

    def get(self, name: str) -> Recorded | None:
        """Return the recorded conflict with this id, if any; raise "bad-conflict" if malformed."""
        if name not in self._known:
            found = self.workspace.conflict(name)
            reason = None if found is None else recorded_fault(found)
            if reason is not None:
                solved = found.resolution.content if found and found.resolution else None
                raise fault(name, reason, *merge_hints(split_lines(solved or b"")))
            self._known[name] = found
        return self._known[name]

    def find(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        """Return the resolved text of a region, or None if none is recorded or sources disagree."""
        if base is None or ours is None or theirs is None:
            return None
        found = self._find(region_id(base, ours, theirs), RecordKind.REGION, (base, ours, theirs))
        return None if found is None else found.content

    def find_file(
        self, base: bytes | None, ours: bytes | None, theirs: bytes | None
    ) -> Resolution | None:
        """Return the resolution of a file that conflicts as a whole, or None if none is known."""
        name = conflict_id(base, ours, theirs, None)
        return self._find(name, RecordKind.FILE, (base, ours, theirs))

    def _find(
        self, name: str, kind: RecordKind, sides: tuple[bytes | None, bytes | None, bytes | None]
    ) -> Resolution | None:
        own = self.get(name)
        known = self._trusted(name) if own is None or own.resolution is None else [own]
        found = [one for one in known if one.kind is kind and one.is_about(*sides)]
        if len({one.made for one in found}) != 1:
            return None  # no resolution is known, or trusted sources do not agree
        self._used.setdefault(name, (found[0], {}))[1][self._place] = None
        return found[0].resolution

    def _trusted(self, name: str) -> list[Recorded]:
        """Return a conflict's pulled resolutions from sources that the current series trusts."""
        pulled = self.pulled(name) if self._place else ()
        if not pulled:
            return []
        trusted = self.workspace.settings(self._place.partition("/")[0]).trusted
        return [one for source, one in pulled if source.place in trusted]

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Return the sources from which resolutions were pulled."""
        return self.workspace.sources()

    def pulled(self, name: str) -> tuple[tuple[Source, Recorded], ...]:
        """Return a conflict's pulled resolutions with their sources, except malformed ones."""
        if name not in self._pulled:
            self._pulled[name] = tuple(
                (source, found)
                for source in self.sources
                if (found := self._pulled_from(source, name)) is not None
            )
        return self._pulled[name]

    def _pulled_from(self, source: Source, name: str) -> Recorded | None:
        with suppress(PatchmgrError):
            found = self.workspace.conflict(name, source)
            if found is not None and found.resolution is not None and not recorded_fault(found):
                whose = f"{source.place}: {found.resolution.source}".removesuffix(": ")
                return replace(found, resolution=replace(found.resolution, source=whose))
        return None

    def whose(self, name: str, text: bytes | None) -> str | None:
        """Return the first source that resolves a conflict to this text, or None."""
        return next((s.place for s, one in self.pulled(name) if one.made == text), None)

    def offers(
        self, base: bytes, ours: bytes, theirs: bytes
    ) -> tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]:
        """Return a region's pulled resolutions: those that keep both sides' changes, and others.

        In both tuples, the resolutions on which more sources agree come first.
        """
        sources: dict[bytes, list[str]] = {}
        for source, one in self.pulled(region_id(base, ours, theirs)):
            is_this = one.kind is RecordKind.REGION and one.is_about(base, ours, theirs)
            if is_this and one.made is not None:
                sources.setdefault(one.made, []).append(source.place)
        if not sources:
            return (), ()
        from patchmgr.engines.conflicts.solution import given_up  # most runs do not need it

        rows: tuple[list[Suggestion], list[Suggestion]] = ([], [])
        for text, places in sorted(sources.items(), key=lambda item: (-len(item[1]), item[0])):
            is_one_sided = any(given_up(base, ours, theirs, text, "here"))
            told = f"pulled from {', '.join(places)}"
            rows[is_one_sided].append(Suggestion(text, Reliability(told)))
        return tuple(rows[0]), tuple(rows[1])

    def enter(self, place: str) -> None:
        """Set the patch (SERIES/PATCH) for which resolutions are looked up from now on."""
        self._place = place

    def used(self) -> tuple[ReplayedResolution, ...]:
        """Return the resolutions that this run replayed, each with the patches that used it."""
        return tuple(
            ReplayedResolution(one, tuple(filter(None, at))) for one, at in self._used.values()
        )


class Additions:
    """Conflicts and resolutions to be written in one change.

    No recorded resolution is replaced. If a conflict gets two new resolutions, neither is written.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._new: dict[str, Recorded] = {}
        self._disputed: set[str] = set()

    def files(self) -> dict[str, bytes | None]:
        """Return the contents of the files to write, keyed by path below the workspace."""
        return self.files_of(self._new.values())

    @staticmethod
    def files_of(recorded: Iterable[Recorded]) -> dict[str, bytes | None]:
        """Return the files that record these conflicts, keyed by path below the workspace."""
        return {
            f"{CONFLICTS}/{one.id}/{file}": content
            for one in recorded
            for file, content in write_recorded(one).items()
        }

    def recorded(self) -> tuple[Recorded, ...]:
        """Return the added conflicts that are new or newly resolved."""
        return tuple(self._new.values())

    def find(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        """Return a region's resolution, from the additions or else the workspace, or None."""
        if base is not None and ours is not None and theirs is not None:
            known = self._new.get(region_id(base, ours, theirs))
            if known is not None and known.resolution is not None:
                return known.resolution.content
        return self._memory.find(base, ours, theirs)

    def find_file(
        self, base: bytes | None, ours: bytes | None, theirs: bytes | None
    ) -> Resolution | None:
        """Return the workspace's resolution of a file that conflicts as a whole, or None."""
        return self._memory.find_file(base, ours, theirs)

    def add(self, recorded: Recorded) -> str | None:
        """Add a conflict and return None; if it cannot be added, return the reason."""
        name = recorded.id
        if recorded.path and refusal(recorded.path) is not None:
            recorded = replace(recorded, path="")  # a workspace does not allow every path of git
        sides = (recorded.base, recorded.ours, recorded.theirs, recorded.made)
        if any(len(side) > MAX_SIDE for side in sides if side is not None):
            return f"it is larger than {MAX_SIDE} bytes"
        if name in self._disputed:
            return _DISPUTED
        known = self._new.get(name) or self._memory.get(name)
        if known is None:
            self._new[name] = recorded
            return None
        if known.kind is not recorded.kind or not _is_same(known, recorded):
            return f"another conflict has the id {name}"
        if recorded.resolution is None:
            return None
        if known.resolution is None:
            self._new[known.id] = replace(known, resolution=recorded.resolution)
        elif known.resolution.content != recorded.resolution.content:
            if known.id not in self._new:
                shows = f"patchmgr conflicts show {known.id}"
                return f"it was resolved differently before; to see that resolution: {shows}"
            del self._new[known.id]
            self._disputed.add(known.id)
            return _DISPUTED
        return None


_DISPUTED = "it occurs more than once, and was resolved in different ways"


def _is_same(known: Recorded, other: Recorded) -> bool:
    if known.kind is RecordKind.GROUP:
        return known.parts == other.parts
    return known.is_about(other.base, other.ours, other.theirs)


def of_region(region: RegionSides, *, path: str, seen: str) -> Recorded:
    """Return a record of an unresolved region."""
    name = region_id(*region.sides)
    return Recorded(name, RecordKind.REGION, *region.sides, path=path, seen=seen)


def of_lesson(lesson: Lesson, *, path: str, seen: str, resolution: Resolution) -> Recorded:
    """Return a record of a resolved region, with the text that replaced the region."""
    recorded = of_region(lesson.region, path=path, seen=seen)
    return replace(recorded, resolution=replace(resolution, content=lesson.resolution))


def of_conflict(conflict: FileConflict, *, seen: str) -> tuple[Recorded, ...]:
    """Return the records of a file's conflict: one per region, and one for all regions together.

    A file that conflicts as a whole has one record. A region has none if other lines look like its
    conflict markers, and neither has its file.
    """
    path = conflict.new_path
    if conflict.marked is None:
        sides = (conflict.base, conflict.ours, conflict.theirs)
        whole = Recorded(conflict.id, RecordKind.FILE, *sides, path=path, seen=seen)
        return (whole,) if conflict_id(*sides, None) == conflict.id else ()
    found = split_marked(conflict.marked)
    if not found.is_sure:
        return ()
    regions = [of_region(r.region, path=path, seen=seen) for r in found.regions if r.is_sure]
    parts = tuple(dict.fromkeys(region.id for region in regions))
    if conflict.id in parts or not 0 < len(parts) <= MAX_PARTS:
        return tuple(regions)
    group = Recorded(conflict.id, RecordKind.GROUP, parts=parts, path=path, seen=seen)
    return (*regions, group)


def waiting_with(memory: Memory, found: Recorded) -> Iterator[Waiting]:
    """Yield the files of the rebase in progress that contain this conflict or a region of it."""
    for item in waiting_files(memory.workspace):
        known = None
        with suppress(PatchmgrError):  # a malformed record counts as having no parts
            known = memory.get(item.conflict)
        if found.id == item.conflict or (known is not None and found.id in known.parts):
            yield item


def open_conflicts(memory: Memory, outcomes: Sequence[SeriesOutcome]) -> Additions:
    """Return records of the conflicts that remain after a rebase."""
    additions = Additions(memory)
    for outcome, patch, conflict in conflicts_left(outcomes):
        for recorded in of_conflict(conflict, seen=f"{outcome.name}/{patch.name}"):
            additions.add(recorded)
    return additions


def resolutions_in_work(
    memory: Memory, in_progress: InProgress, solved: Solved
) -> tuple[Additions, tuple[str, ...]]:
    """Return the resolutions in files that a person resolved, and why some are not recorded."""
    additions = Additions(memory)
    missed: list[str] = []
    skipped = set(in_progress.skipped)
    for item in in_progress.waiting:
        files = solved.get(item.series, {})
        if (item.patch, item.path) not in files or (item.series, item.patch) in skipped:
            continue
        content = files[item.patch, item.path]
        for reason in _learn(memory, item, content, additions):
            missed.append(f"{item.series}/{item.patch}: {item.path}: {reason}")
    return additions, tuple(missed)


def _learn(memory: Memory, item: Waiting, content: bytes | None, additions: Additions) -> list[str]:
    seen = f"{item.series}/{item.patch}"
    resolution = Resolution(content, Origin.REBASE, seen)
    marked = original(memory.workspace, item)
    if marked is None:
        known = memory.get(item.conflict)
        if known is None or known.kind is not RecordKind.FILE:
            return []
        return _told(additions.add(replace(known, resolution=resolution)))
    if content is None:
        return _told("the file was deleted")
    found = compare(marked, content)
    told = []
    for one in found:
        if isinstance(one, Lesson):
            lesson = of_lesson(one, path=item.path, seen=seen, resolution=resolution)
            told += _told(additions.add(lesson), f"{one.id}: ")
    missed = [f"{one.id}: {one.reason}" for one in found if isinstance(one, Missed)]
    whole = None if _is_all(marked, found, content) else whole_sides(marked)
    if whole is not None and not has_marker(content):
        known = Recorded(
            conflict_id(*whole, None), RecordKind.FILE, *whole, path=item.path, seen=seen
        )
        if additions.add(replace(known, resolution=resolution)) is None:
            return [*told, *(f"recorded for this file only: {reason}" for reason in missed)]
    return [*told, *(f"not recorded: {reason}" for reason in missed)]


def _is_all(marked: bytes, found: Sequence[Lesson | Missed], content: bytes) -> bool:
    """Return whether a person changed nothing outside the conflicting regions of a file."""
    made = {one.id: one.resolution for one in found if isinstance(one, Lesson)}
    split = split_marked(marked)
    names = [region_id(*one.region.sides) for one in split.regions]
    if not made.keys() >= set(names):
        return False
    whole = split.with_each(tuple(made[name] for name in names))
    return whole.rstrip(b"\n") == content.rstrip(b"\n")


def _told(reason: str | None, name: str = "") -> list[str]:
    return [] if reason is None else [f"not recorded: {name}{reason}"]


def closed_files(
    memory: Memory, opened: Sequence[str], kept: Additions | None = None
) -> dict[str, bytes | None]:
    """Return the files to delete, as {path: None}: the records of conflicts without a resolution.

    `opened` lists the ids of the conflicts that the rebase recorded, and `kept` has the new
    resolutions.
    """
    added = kept.recorded() if kept is not None else ()
    solved = {recorded.id for recorded in added if recorded.resolution is not None}
    files: dict[str, bytes | None] = {}
    for name in opened:
        known = memory.get(name)
        if known is None or known.resolution is not None or name in solved:
            continue
        parts = [memory.get(part) for part in known.parts]
        # the record of several regions stays if one of these is resolved
        is_part_solved = any(
            part is not None and (part.resolution is not None or part.id in solved)
            for part in parts
        )
        if not is_part_solved:
            files.update(folder_files(name))
    return files


def folder_files(name: str) -> dict[str, bytes | None]:
    """Map each file in the folder of a conflict to None, which means that it is to be deleted."""
    return {f"{CONFLICTS}/{name}/{file}": None for file in FILES}
