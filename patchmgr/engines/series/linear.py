"""Convert the commits of a fork into a linear series, and merge its patches file by file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.conflicts.ids import region_id
from patchmgr.engines.conflicts.memory import Resolutions, learn, replay
from patchmgr.engines.text.marked import split_marked
from patchmgr.model.merge import Clean
from patchmgr.model.ports import Blobs, TextMerge, Tree
from patchmgr.model.snapshot import FILE_MODES, Entry

Changes = Mapping[str, tuple["Entry | None", "Entry | None"]]
"""The files that differ between two trees, each before and after, keyed by path."""


class Piece(Struct):
    """A patch of the linear series: the fork's commit that it comes from, and the changed files.

    `after` maps each changed path to the file after the patch, or to None if the file is deleted.
    `is_rest` says whether the commit is a merge and the patch holds only what the merge changed.
    """

    commit: str
    after: dict[str, Entry | None]
    is_rest: bool = False


class Remark(Struct, frozen=True):
    """A file that was in conflict when a fork's commit was converted, and how it was resolved."""

    commit: str
    path: str
    merge: str
    how: str


class Line:
    """A linear series of patches on upstream, made from a fork's commits one by one.

    The parameter `want` is the fork's tree after a commit. Conflicts are resolved as in that tree,
    and what still differs from it becomes a patch of its own.
    """

    def __init__(self, tree: Tree, blobs: Blobs, text: TextMerge, recall: Resolutions) -> None:
        self.pieces: list[Piece] = []
        self.dropped: list[str] = []
        self.remarks: list[Remark] = []
        self._tree = tree
        self._blobs = blobs
        self._text = text
        self._recall = recall
        self._top: dict[str, Entry | None] = {}
        self._homes: dict[str, str] = {}

    def paths(self) -> set[str]:
        """Return all paths that the patches of the series change."""
        return {path for piece in self.pieces for path in piece.after}

    def entry(self, path: str) -> Entry | None:
        """Return the file at a path after the last patch, or None if there is no file."""
        return self._top[path] if path in self._top else self._tree.entry(path)

    def pick(self, commit: str, changes: Changes, want: Tree, merge: str = "") -> None:
        """Append a commit as a patch, as `git cherry-pick` does."""
        piece = Piece(commit, {})
        for path, (old, new) in changes.items():
            is_lost = old is not None and self.entry(path) is None
            home = self._homes.get(path, path) if is_lost else path
            ours = self.entry(home)
            made = self._merged((old, ours, new), want.entry(home), (commit, home, merge))
            if made != ours:
                piece.after[home] = made
        self._top.update(piece.after)
        if piece.after or not changes:
            self.pieces.append(piece)
        else:
            self.dropped.append(commit)

    def move(
        self,
        tree: Tree,
        changed: Iterable[str],
        renames: Mapping[str, str],
        want: Tree,
        merge: str,
    ) -> None:
        """Rebase the patches onto another upstream state, which differs at the `changed` paths."""
        old_tree, self._tree = self._tree, tree
        touched = self.paths()
        for path in sorted(touched.intersection(changed)):
            home = renames.get(path, path)
            home = path if home in touched else home
            if home != path:
                self._homes[path] = home
            before, ours = old_tree.entry(path), tree.entry(home)
            for piece in self.pieces:
                if path not in piece.after:
                    continue
                theirs = piece.after.pop(path)
                where = (piece.commit, home, merge)
                made = self._merged((before, ours, theirs), want.entry(home), where)
                if made != ours:
                    piece.after[home] = made
                before, ours = theirs, made
        self.dropped += [p.commit for p in self.pieces if not p.after and not p.is_rest]
        self.pieces = [piece for piece in self.pieces if piece.after]
        self._top = {}
        for piece in self.pieces:
            self._top.update(piece.after)

    def settle(self, commit: str, differing: Iterable[str], want: Tree, *, is_rest: bool) -> None:
        """Append a patch with the remaining differences from the fork's tree, if there are any.

        `differing` holds the paths at which the fork's tree differs from upstream's.
        """
        rest: dict[str, Entry | None] = {}
        for path in sorted({*differing, *self._top}):
            wanted = want.entry(path)
            if self.entry(path) != wanted:
                rest[path] = wanted
        if rest:
            self._top.update(rest)
            self.pieces.append(Piece(commit, rest, is_rest))

    def _merged(
        self,
        sides: tuple[Entry | None, Entry | None, Entry | None],
        want: Entry | None,
        where: tuple[str, str, str],
    ) -> Entry | None:
        """Merge a file. A conflict is resolved as in the fork's tree."""
        base, ours, theirs = sides
        if theirs in (base, ours):
            return ours
        if ours == base:
            return theirs
        are_files = all(entry is None or entry.mode in FILE_MODES for entry in sides)
        if ours is None or theirs is None or not are_files:
            self.remarks.append(Remark(*where, "the whole file as in the merge"))
            return want
        mode = theirs.mode if base is None or ours.mode == base.mode else ours.mode
        old = b"" if base is None else self._blobs.read(base.blob)
        merge = self._text.merge(old, self._blobs.read(ours.blob), self._blobs.read(theirs.blob))
        if isinstance(merge, Clean):
            return Entry(mode, self._blobs.add(merge.content))
        if merge.marked is None:
            self.remarks.append(Remark(*where, "the whole file as in the merge"))
            return want
        is_file = want is not None and want.mode in FILE_MODES
        wanted = self._blobs.read(want.blob) if want is not None and is_file else b""
        content, how = self._resolved(merge.marked, wanted)
        self.remarks.append(Remark(*where, how))
        return Entry(mode, self._blobs.add(content))

    def _resolved(self, marked: bytes, wanted: bytes) -> tuple[bytes, str]:
        """Resolve a text in conflict with recorded resolutions, or else as in the fork's tree."""
        ends = wanted.endswith(b"\n")
        known = replay(marked, self._recall.find, ends_with_newline=ends)
        if known.is_clean:
            return known.marked, "as recorded from a merge"
        lessons = {lesson.id: lesson.resolution for lesson in learn(known.marked, wanted)}
        found = replay(
            known.marked, lambda *sides: lessons.get(region_id(*sides)), ends_with_newline=ends
        )
        if found.is_clean:
            return found.marked, "as in the merge"
        left = split_marked(found.marked)
        content = left.with_each(tuple(region.region.ours for region in left.regions))
        return content, "left to the patch of the merge"


class Closest(Struct, frozen=True):
    """The upstream commit most similar to a tree, and the number of commits (`steps`) up to it.

    `changed` is the number of paths that upstream changed up to that commit. `taken` holds those of
    the paths at which the tree has upstream's new file.
    """

    commit: str
    steps: int
    taken: frozenset[str]
    changed: int


def closest(
    steps: Sequence[tuple[str, Mapping[str, Entry | None]]], start: Tree, tree: Tree
) -> Closest | None:
    """Return the upstream commit most similar to a tree, or None if `start` is as similar to it."""
    best, best_at, score = 0, -1, 0
    now: dict[str, Entry | None] = {}
    for at, (_, changes) in enumerate(steps):
        for path, entry in changes.items():
            wanted = tree.entry(path)
            before = now[path] if path in now else start.entry(path)
            score += (before == wanted) - (entry == wanted)
            now[path] = entry
        if score < best:
            best, best_at = score, at
    if best_at < 0:
        return None
    at_best: dict[str, Entry | None] = {}
    for _, changes in steps[: best_at + 1]:
        at_best.update(changes)
    changed = {path for path, entry in at_best.items() if entry != start.entry(path)}
    taken = frozenset(path for path in changed if tree.entry(path) == at_best[path])
    return Closest(steps[best_at][0], best_at + 1, taken, len(changed))
