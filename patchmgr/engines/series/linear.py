"""Convert the commits of a fork into a linear series, and merge its patches file by file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.conflicts.ids import region_id
from patchmgr.engines.conflicts.memory import Resolutions, learn, replay
from patchmgr.engines.rebase.ladder import Merged, Sides, merge_file
from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.text.marked import sides_of
from patchmgr.model.ports import Blobs, TextMerge, Tree
from patchmgr.model.snapshot import FILE_MODES, Changes, Entry, file_content


class Piece(Struct):
    """A patch of a linear series: the fork's commit that it comes from, and the changed files."""

    commit: str
    after: dict[str, Entry | None]  # files by changed path (None: deleted)
    is_rest: bool = False  # only what a merge itself changed


class Remark(Struct, frozen=True):
    """A file that was in conflict when a fork's commit was converted, and how it was resolved."""

    commit: str
    path: str
    merge: str
    how: str


class Line:
    """A linear series of patches on upstream, made from a fork's commits one by one.

    The methods take the fork's tree after a commit as `want`. Conflicts are resolved as in that
    tree, and what still differs from it becomes a separate patch.
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
        # If git's text merge gives exactly the fork's file after a merge, the file's patches keep
        # their base until the fork changes it again. A file that 50 patches change is then merged
        # once for each merge of the fork, not 50 times (namecoin-core: 754 patches, 818 merges).
        # By path: the base, the file after the last patch on this base, and the last merge.
        self._bases: dict[str, tuple[Entry | None, Entry | None, str]] = {}

    def paths(self) -> set[str]:
        """Return all paths that the patches of the series change."""
        return set(self._top)

    def entry(self, path: str) -> Entry | None:
        """Return the file that is at a path after the last patch, or None if there is none."""
        return self._top[path] if path in self._top else self._tree.entry(path)

    def pick(self, commit: str, changes: Changes, want: Tree, merge: str = "") -> None:
        """Append a commit as a patch, as `git cherry-pick` does, unless it has become empty."""
        piece = Piece(commit, {})
        for path, (old, new) in changes.items():
            is_lost = old is not None and self.entry(path) is None
            home = self._homes.get(path, path) if is_lost else path
            self._catch_up(home)
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
        self, tree: Tree, changed: Iterable[str], renames: Mapping[str, str], want: Tree, merge: str
    ) -> None:
        """Rebase the patches onto another upstream state, which differs at the `changed` paths."""
        old_tree, self._tree = self._tree, tree
        touched = self.paths()
        for path in sorted(touched.intersection(changed)):
            home = renames.get(path, path)
            home = path if home in touched else home
            if home != path:
                self._homes[path] = home
            base, theirs, _ = self._bases.pop(path, (old_tree.entry(path), self._top[path], ""))
            wanted = want.entry(home)
            if home == path and self._is_plain((base, tree.entry(path), theirs), wanted):
                self._bases[path] = (base, theirs, merge)
                self._top[path] = wanted
            else:
                self._carry(path, home, base, wanted, merge)

    def settle(self, commit: str, differing: Iterable[str], want: Tree, *, is_rest: bool) -> None:
        """Append a patch with the remaining differences from the fork's tree, if there are any.

        `differing` has the paths at which the fork's tree differs from upstream's.
        """
        rest: dict[str, Entry | None] = {}
        for path in sorted({*differing, *self._top}):
            wanted = want.entry(path)
            if self.entry(path) != wanted:
                self._catch_up(path)
            if self.entry(path) != wanted:
                rest[path] = wanted
        if rest:
            self._top.update(rest)
            self.pieces.append(Piece(commit, rest, is_rest))

    def finish(self, commit: str, want: Tree) -> None:
        """Rebase the patches whose base is older, and append a patch with what still differs."""
        for path in tuple(self._bases):
            self._catch_up(path)
        self._make_room(want)
        self.settle(commit, (), want, is_rest=True)

    def _make_room(self, want: Tree) -> None:
        """Prevent patches from creating a file at the path of a folder, or below a file.

        If the fork's tree has the file, whatever is in its way is deleted. Otherwise, the file is
        left out.
        """
        state, moved = Overlay(self._tree), set[str]()
        pieces, self.pieces = self.pieces, []
        for piece in pieces:
            after, piece.after = piece.after, {}
            for path in [path for path, entry in after.items() if entry is None]:
                if state.entry(path) is not None:  # else its creation was left out
                    piece.after[path] = None
                    state.set(path, None)
            for path in [path for path, entry in after.items() if entry is not None]:
                while (obstacle := state.obstacle(path)) is not None:
                    moved.update((path, obstacle))
                    if want.entry(path) is None:
                        break
                    piece.after[obstacle] = None
                    state.set(obstacle, None)
                else:
                    piece.after[path] = after[path]
                    state.set(path, after[path])
            if piece.after or not after:
                self.pieces.append(piece)
            elif not piece.is_rest:
                self.dropped.append(piece.commit)
        self._top.update({path: state.entry(path) for path in moved})

    def _catch_up(self, path: str) -> None:
        """Rebase the patches of a file onto the tree, if their base is older."""
        if path in self._bases:
            base, _, merge = self._bases.pop(path)
            self._carry(path, path, base, self._top[path], merge)

    def _carry(
        self, path: str, home: str, before: Entry | None, want: Entry | None, merge: str
    ) -> None:
        """Rebase the patches of a file, one by one, from `before` onto the tree's file `home`."""
        ours = self._tree.entry(home)
        pieces = [piece for piece in self.pieces if path in piece.after]
        for piece in pieces:
            theirs = piece.after.pop(path)
            made = self._merged((before, ours, theirs), want, (piece.commit, home, merge))
            if made != ours:
                piece.after[home] = made
            before, ours = theirs, made
        del self._top[path]
        if any(home in piece.after for piece in pieces):
            self._top[home] = ours
        self.dropped += [p.commit for p in pieces if not p.after and not p.is_rest]
        if not all(piece.after for piece in pieces):
            self.pieces = [piece for piece in self.pieces if piece.after]

    def _is_plain(
        self, sides: tuple[Entry | None, Entry | None, Entry | None], want: Entry | None
    ) -> bool:
        """Return whether a text merge of base, ours and theirs gives the fork's file."""
        base, ours, theirs = sides
        is_file = want is not None and want.mode in FILE_MODES
        if not is_file or None in sides or ours in (base, theirs):
            return False
        merged = merge_file(Sides(*sides), blobs=self._blobs, text=self._text)
        return isinstance(merged, Merged) and merged.entry == want

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
        merged = merge_file(Sides(*sides), blobs=self._blobs, text=self._text)
        if isinstance(merged, Merged):
            return merged.entry
        if merged.marked is None or ours is None or theirs is None:
            self.remarks.append(Remark(*where, "whole file taken from the merge"))
            return want
        mode = theirs.mode if base is None or ours.mode == base.mode else ours.mode
        wanted = file_content(want, self._blobs.read) or b""
        content, how = self._resolved(merged.marked, wanted)
        self.remarks.append(Remark(*where, how))
        return Entry(mode, self._blobs.add(content))

    def _resolved(self, marked: bytes, wanted: bytes) -> tuple[bytes, str]:
        """Resolve conflicts as recorded, or as in the fork's tree, or to ours; also return how."""
        ends = wanted.endswith(b"\n")
        known = replay(marked, self._recall.find, ends_with_newline=ends)
        if known.is_clean:
            return known.marked, "resolved as recorded from a merge"
        lessons = {lesson.id: lesson.resolution for lesson in learn(known.marked, wanted)}
        found = replay(
            known.marked, lambda *sides: lessons.get(region_id(*sides)), ends_with_newline=ends
        )
        if found.is_clean:
            return found.marked, "resolved as in the merge"
        return sides_of(found.marked)[1], "resolved in the patch made for the merge"


class Closest(Struct, frozen=True):
    """The upstream commit whose files are most similar to a tree."""

    commit: str
    steps: int  # the number of commits up to it
    taken: frozenset[str]  # changed paths at which tree and commit agree
    changed: int  # paths that upstream changed up to it


def closest(
    steps: Sequence[tuple[str, Mapping[str, Entry | None]]], start: Tree, tree: Tree
) -> Closest | None:
    """Return the upstream commit most similar to a tree, or None if `start` is just as similar."""
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
