"""Compare two states of a series, patch by patch."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import zip_longest

from msgspec import Struct

from patchmgr.model.comparison import ComparedPatch, Sameness
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.model.snapshot import REGULAR

MOST_LINES = 200  # of a difference that are shown
_HEAD = re.compile(rb"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*$")
_INDEX = re.compile(rb"^index [0-9a-f]+\.\.[0-9a-f]+")


class OwnCommit(Struct, frozen=True):
    """A commit of a series' branch: its id, its message, and its diff from the previous commit."""

    id: str
    message: bytes
    diff: bytes

    @property
    def subject(self) -> str:
        """The first line of the commit message."""
        return self.message.split(b"\n", 1)[0].decode("utf-8", "surrogateescape")


def compare_states(old: Sequence[OwnCommit], new: Sequence[OwnCommit]) -> tuple[ComparedPatch, ...]:
    """Return how each patch differs between two states, with dropped patches last."""
    pairs = _pairs(old, new)
    taken = {before.id for before in pairs.values()}
    left = [commit for commit in old if commit.id not in taken]
    found = [_compared(pairs.get(commit.id), commit) for commit in new]
    found += [
        ComparedPatch(commit.subject, Sameness.DROPPED, commit.id, None, _paths(commit.diff))
        for commit in left
    ]
    return tuple(found)


def _pairs(old: Sequence[OwnCommit], new: Sequence[OwnCommit]) -> dict[str, OwnCommit]:
    """Map ids of new commits to the old commit with the same change, or else the same subject."""
    pairs: dict[str, OwnCommit] = {}
    free = list(old)
    for key in (_change, lambda commit: commit.subject):
        known: dict[object, list[OwnCommit]] = {}
        for commit in free:
            known.setdefault(key(commit), []).append(commit)
        for commit in new:
            own = known.get(key(commit))
            if commit.id not in pairs and own:
                pairs[commit.id] = own.pop(0)
        taken = {before.id for before in pairs.values()}
        free = [commit for commit in free if commit.id not in taken]
    return pairs


def _compared(before: OwnCommit | None, after: OwnCommit) -> ComparedPatch:
    paths = _paths(after.diff)
    if before is None:
        return ComparedPatch(after.subject, Sameness.ADDED, None, after.id, paths)
    sameness = sameness_of(before, after)
    lines: tuple[str, ...] = ()
    if sameness is Sameness.CHANGED:
        lines = _differing(_positionless(before.diff), _positionless(after.diff))
    return ComparedPatch(after.subject, sameness, before.id, after.id, paths, lines)


def sameness_of(before: OwnCommit, after: OwnCommit) -> Sameness:
    """Return how two versions of a patch differ. A different commit message counts as a change."""
    if before.message != after.message:
        return Sameness.CHANGED
    if _without_ids(before.diff) == _without_ids(after.diff):
        return Sameness.IDENTICAL
    if _positionless(before.diff) == _positionless(after.diff):
        return Sameness.POSITION
    return Sameness.CONTEXT if _change(before) == _change(after) else Sameness.CHANGED


def patch_sameness(old: Patch, new: Patch) -> Sameness:
    """Return how the changes of two versions of a patch differ. Their headers are ignored."""
    if [_skeleton(file) for file in old.files] != [_skeleton(file) for file in new.files]:
        return Sameness.CHANGED
    pairs = [
        pair
        for one, other in zip(old.files, new.files, strict=True)
        for pair in zip_longest(one.hunks, other.hunks)
    ]
    if all(a and b and a.lines == b.lines for a, b in pairs):
        is_same = all((a.old_start, a.new_start) == (b.old_start, b.new_start) for a, b in pairs)
        return Sameness.IDENTICAL if is_same else Sameness.POSITION
    before, after = (
        [[x for hunk in file.hunks for x in hunk.lines if x[:1] != b" "] for file in patch.files]
        for patch in (old, new)
    )
    return Sameness.CONTEXT if before == after else Sameness.CHANGED


def _skeleton(file: FilePatch) -> tuple[object, ...]:
    """Return everything that a patch changes about a file, except the lines in its hunks."""
    modes = (file.old_mode, file.new_mode) if file.old_mode != file.new_mode else ()
    is_new = file.old_path is None
    mode = (file.new_mode or REGULAR,) if is_new else () if file.new_path is None else modes
    return (file.old_path, file.new_path, file.is_copy, file.binary, mode)


def _without_ids(diff: bytes) -> list[bytes]:
    """Return a diff's lines without blob ids, which depend on the unchanged lines as well."""
    return [_INDEX.sub(b"index", line) for line in diff.split(b"\n")]


def _positionless(diff: bytes) -> list[bytes]:
    return [_HEAD.sub(b"@@", line) for line in _without_ids(diff)]


def _change(commit: OwnCommit) -> tuple[bytes, ...]:
    """Return the lines of a diff without context lines, hunk headers and index lines."""
    lines = _positionless(commit.diff)
    return tuple(line for line in lines if not line.startswith((b" ", b"@@", b"index")) and line)


def _paths(diff: bytes) -> tuple[str, ...]:
    found = re.findall(rb"^diff --git a/(.*) b/\1$", diff, re.M)
    found += re.findall(rb"^(?:\+\+\+ b|--- a)/(.*?)\t?$", diff, re.M)
    found += re.findall(rb"^(?:rename to|rename from) (.*)$", diff, re.M)
    return tuple(dict.fromkeys(path.decode("utf-8", "surrogateescape") for path in found))


def _differing(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[str, ...]:
    texts = [[line.decode("utf-8", "surrogateescape") for line in side] for side in (old, new)]
    lines = difflib.unified_diff(texts[0], texts[1], "before", "after", n=1, lineterm="")
    return tuple(line for _, line in zip(range(MOST_LINES), lines, strict=False))
