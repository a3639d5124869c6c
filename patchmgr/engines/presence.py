"""Which telling lines of a series are in one upstream state, which are not, and which could be.

The net change of a range of patches is merged into the upstream state, file by file. What the
merge adds cleanly is *needed*: its place is as the patches found it. What ends in a conflict
is *reworded*: its place is taken by other words. All else is *found*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.atoms import HunkAtoms, Interest, PatchAtoms, normal_lines
from patchmgr.engines.conflict_ids import conflict_regions, resolved_to_ours
from patchmgr.model.merge import Clean
from patchmgr.model.ports import Blobs, TextMerge
from patchmgr.model.snapshot import FILE_MODES, Entry

Lines = frozenset[bytes]
_NONE: Lines = frozenset()


class Fate(Enum):
    """What became of one line of a patch in an upstream state."""

    FOUND = "found"
    NEEDED = "needed"
    REWORDED = "reworded"
    SUPERSEDED = "superseded"


class Count(Struct, frozen=True):
    """How many lines met which fate."""

    found: int = 0
    needed: int = 0
    reworded: int = 0
    superseded: int = 0

    @property
    def total(self) -> int:
        """Count the lines that the range of patches still has at its end."""
        return self.found + self.needed + self.reworded

    def __add__(self, other: Count) -> Count:
        """Add up two counts."""
        return Count(
            self.found + other.found,
            self.needed + other.needed,
            self.reworded + other.reworded,
            self.superseded + other.superseded,
        )


class PathView(Struct, frozen=True):
    """One path of an upstream state against the net change of a range of patches.

    `is_settled` says that merging the net change changes nothing there.
    """

    survivors_added: Lines
    survivors_removed: Lines
    present: Lines = _NONE
    needed_added: Lines = _NONE
    needed_removed: Lines = _NONE
    reworded_added: Lines = _NONE
    reworded_removed: Lines = _NONE
    is_gone: bool = False
    is_settled: bool = False

    def added(self, line: bytes) -> Fate:
        """Return the fate of a line that a patch adds."""
        if line not in self.survivors_added:
            return Fate.SUPERSEDED
        if line in self.needed_added:
            return Fate.NEEDED
        is_here = line in self.present and line not in self.reworded_added
        return Fate.FOUND if is_here else Fate.REWORDED

    def removed(self, line: bytes) -> Fate:
        """Return the fate of a line that a patch removes."""
        if line not in self.survivors_removed:
            return Fate.SUPERSEDED
        if line in self.needed_removed:
            return Fate.NEEDED
        is_left = self.is_gone or line in self.reworded_removed or line in self.present
        return Fate.REWORDED if is_left else Fate.FOUND

    def count(self, added: Lines, removed: Lines) -> Count:
        """Count the fates of lines that patches add and remove."""
        new, old = added & self.survivors_added, removed & self.survivors_removed
        needed = len(new & self.needed_added) + len(old & self.needed_removed)
        found = len((new - self.needed_added - self.reworded_added) & self.present)
        if not self.is_gone:
            found += len(old - self.needed_removed - self.reworded_removed - self.present)
        superseded = len(added) + len(removed) - len(new) - len(old)
        return Count(found, needed, len(new) + len(old) - found - needed, superseded)


class View(Struct, frozen=True):
    """An upstream state against a range of patches, by path of the series."""

    paths: Mapping[str, PathView] = field(default_factory=dict)

    def fates(self, hunk: HunkAtoms) -> Mapping[tuple[bool, bytes], Fate]:
        """Return the fate of each line: (True, line) is an added one."""
        seen = self.paths.get(hunk.path)
        if seen is None:
            return {}
        fates = {(True, line): seen.added(line) for line in hunk.added}
        return fates | {(False, line): seen.removed(line) for line in hunk.removed}

    def count(self, hunk: HunkAtoms) -> Count:
        """Count the fates of a hunk's lines."""
        seen = self.paths.get(hunk.path)
        return Count() if seen is None else seen.count(hunk.added, hunk.removed)

    def count_paths(self, wanted: Mapping[str, Interest]) -> Count:
        """Count the fates of all interesting lines, path by path."""
        seen = ((view, wanted[path]) for path, view in self.paths.items() if path in wanted)
        return sum((view.count(lines.added, lines.removed) for view, lines in seen), Count())

    def count_patch(self, patch: PatchAtoms) -> Count:
        """Count the fates of a patch's lines."""
        return sum((self.count(hunk) for hunk in patch.hunks), Count())

    def is_left(self, patch: PatchAtoms) -> bool:
        """Say whether something that the patch adds (or else removes) is in the net change."""
        adds = any(hunk.added for hunk in patch.hunks)
        return bool((self.count_added(patch) if adds else self.count_patch(patch)).total)

    def is_settled(self, patch: PatchAtoms) -> bool:
        """Say whether the net change of every path of a patch is in the upstream state whole."""
        return all(path in self.paths and self.paths[path].is_settled for path in patch.paths)

    def count_added(self, patch: PatchAtoms) -> Count:
        """Count the fates of the lines that a patch adds."""
        return sum((self.count(replace(h, removed=_NONE)) for h in patch.hunks), Count())

    def count_news(self, hunk: HunkAtoms) -> Count:
        """Count the fates of the lines that a hunk adds and that say something new."""
        return self.count(replace(hunk, added=hunk.added - hunk.laid_out, removed=_NONE))


Version = Callable[[str], "Entry | None"]


def look(
    start: Version,
    end: Version,
    upstream: Version,
    paths: Sequence[str],
    *,
    blobs: Blobs,
    text: TextMerge,
) -> View:
    """Compare an upstream state with what a range of patches makes of its start, path by path."""
    views: dict[str, PathView] = {}
    merges: list[tuple[str, bytes, bytes, bytes]] = []
    for path in paths:
        entries = start(path), upstream(path), end(path)
        if entries[0] == entries[2]:
            continue
        old, theirs, new = (_content(entry, blobs) for entry in entries)
        if old == new:
            continue
        if old is None or theirs is None or new is None or b"\0" in old[:8000]:
            views[path] = _view_without_merge(old, theirs, new)
        else:
            merges.append((path, old, theirs, new))
    merged = text.merge_all([(old, theirs, new) for _, old, theirs, new in merges])
    for (path, old, theirs, new), result in zip(merges, merged, strict=True):
        is_clean = isinstance(result, Clean)
        whole = result.content if isinstance(result, Clean) else result.marked
        views[path] = _view_of_merge(old, theirs, new, whole, is_clean)
    return View(views)


def _content(entry: Entry | None, blobs: Blobs) -> bytes | None:
    return None if entry is None or entry.mode not in FILE_MODES else blobs.read(entry.blob)


def _lines(content: bytes | None) -> Lines:
    return _NONE if content is None else frozenset(normal_lines(content))


def _survivors(old: bytes | None, new: bytes | None) -> tuple[Lines, Lines]:
    before, after = _lines(old), _lines(new)
    return after - before, before - after


def _view_without_merge(old: bytes | None, theirs: bytes | None, new: bytes | None) -> PathView:
    """Judge a file that one side does not have, and what is no text."""
    added, removed = _survivors(old, new)
    if theirs is None:
        if old is None:
            return PathView(added, removed, needed_added=added)
        return PathView(added, removed, is_gone=new is not None)
    present = _lines(theirs)
    if theirs == new:
        return PathView(added, removed, present, is_settled=True)
    if new is None:
        return PathView(added, removed, present, needed_removed=removed & present)
    if theirs == old:
        return PathView(added, removed, present, needed_added=added, needed_removed=removed)
    return PathView(added, removed, present)


def _more(one: bytes, other: bytes) -> Lines:
    """Return the lines that one text has more often than the other."""
    if one == other:
        return _NONE
    return frozenset(Counter(normal_lines(one)) - Counter(normal_lines(other)))


def _view_of_merge(
    old: bytes, theirs: bytes, new: bytes, merged: bytes | None, is_clean: bool
) -> PathView:
    added, removed = _survivors(old, new)
    present = _lines(theirs)
    if merged is None:
        return PathView(added, removed, present)
    regions = () if is_clean else conflict_regions(merged)
    settled = merged if is_clean else resolved_to_ours(merged)
    missing: set[bytes] = set()
    kept_added: set[bytes] = set()
    kept_removed: set[bytes] = set()
    for region_base, ours, wanted in regions:
        lacking = _lines(wanted) - _lines(ours)
        missing |= lacking if not ours.strip() and not region_base.strip() else frozenset()
        kept_added |= lacking
        kept_removed |= (_lines(region_base) - _lines(wanted)) & _lines(ours)
    return PathView(
        added,
        removed,
        present,
        needed_added=_more(settled, theirs) | missing,
        needed_removed=_more(theirs, settled),
        reworded_added=frozenset(kept_added),
        reworded_removed=frozenset(kept_removed),
        is_settled=is_clean and merged == theirs,
    )
