"""Merge one file by the first method that succeeds; the methods are the rungs of a ladder.

This module has the first rungs: a file that upstream did not change, or changed in the same way,
needs no merge; then git's three-way merge is tried; then this merge without the hunks that upstream
already has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from patchmgr.engines.absorption.superset import is_superset
from patchmgr.engines.series.placement import PatchedFile, apply_one, leads_to
from patchmgr.engines.text.known_changes import surely_applies
from patchmgr.model.merge import Clean, Conflicted, Merge
from patchmgr.model.outcome import How, Reliability, Suggestion, Verdict
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, TextMerge
from patchmgr.model.snapshot import FILE_MODES, GITLINK, REGULAR, Entry

Answer = tuple[Verdict, How | None]

CARRIED_IDENTICAL: Answer = (Verdict.UNCHANGED, How.IDENTICAL)
CARRIED_MOVED: Answer = (Verdict.MODIFIED, How.MOVED)
CARRIED_TEXT: Answer = (Verdict.UNCHANGED, How.TEXT)
DRIFTED_TEXT: Answer = (Verdict.MODIFIED, How.TEXT)
ABSORBED_EXACT: Answer = (Verdict.ABSORBED, How.EXACT)
ABSORBED_SUPERSET: Answer = (Verdict.ABSORBED, How.SUPERSET)
ABSORBED_SYNTAX: Answer = (Verdict.ABSORBED, How.SYNTAX)
DECIDED: Answer = (Verdict.ABSORBED, How.DECIDED)
SOLVED: Answer = (Verdict.MODIFIED, How.RECORDED)
FORMATTED: Answer = (Verdict.MODIFIED, How.FORMAT)
STRUCTURAL: Answer = (Verdict.MODIFIED, How.STRUCTURAL)
CONFLICT: Answer = (Verdict.CONFLICT, None)

SAME_LINES = "upstream changed the same lines"


class Sides(Struct, frozen=True):
    """The tree entries of a file in base, ours and theirs; None where the file does not exist."""

    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    hunks: tuple[Hunk, ...] = ()  # turn base into theirs
    positions: tuple[int, ...] = ()  # the line of base (from 0) at which each hunk starts
    is_moved: bool = False
    path: str = ""  # tells the language

    def texts(self, blobs: Blobs) -> tuple[bytes, bytes, bytes] | None:
        """Return the contents of base, ours and theirs, or None unless all three are text files."""
        entries = [e for e in (self.base, self.ours, self.theirs) if e and e.mode in FILE_MODES]
        texts = [blobs.read(entry.blob) for entry in entries]
        if len(texts) < 3 or any(b"\0" in text[:8000] for text in texts):
            return None
        return texts[0], texts[1], texts[2]

    def each(self, answer: Answer) -> tuple[Answer, ...]:
        """Return a verdict once for each hunk, or once if there are no hunks."""
        return (answer,) * max(1, len(self.hunks))

    def collided(self, reason: str) -> Collided:
        """Return a conflict in which all hunks of the file have the verdict `conflict`."""
        return Collided(reason, None, self.each(CONFLICT))


class Merged(Struct, frozen=True):
    """The merged file (None if deleted), and the verdicts on its hunks or on the whole change."""

    entry: Entry | None
    answers: tuple[Answer, ...]  # none for a change of mode if there are hunks
    reliability: tuple[Reliability, ...] = ()  # of a structural merge, by region


class Collided(Struct, frozen=True):
    """The conflict in a file: its reason, the text with markers, and the verdict on each hunk."""

    reason: str
    marked: bytes | None  # None for a binary file, for example
    answers: tuple[Answer, ...]
    # the base, ours and theirs of `marked`; this base has the hunks that upstream already has
    texts: tuple[bytes, bytes, bytes] | None = None
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()  # possible texts for each region
    has_moved: bool = False  # upstream moved the lines elsewhere


def merge_file(sides: Sides, *, blobs: Blobs, text: TextMerge) -> Merged | Collided:
    """Merge one file by its blob ids if these decide the result, or else by git's text merge."""
    base, ours, theirs = sides.base, sides.ours, sides.theirs
    if theirs is None and ours is not None and sides.is_moved:
        # Git reports a conflict, too: other code of upstream may use the file at its new path.
        return sides.collided("upstream moved the file that the patch deletes")
    if ours == base:
        carried = CARRIED_MOVED if sides.is_moved else CARRIED_IDENTICAL
        return Merged(theirs, sides.each(carried))
    if ours == theirs:
        return Merged(ours, sides.each(ABSORBED_EXACT))
    if base is None:
        assert ours is not None
        assert theirs is not None
        return _merge_added(sides, ours, theirs, blobs, text)
    if ours is None:
        return sides.collided("upstream deleted the file")
    if theirs is None:
        reason = "upstream changed the file that the patch deletes"
        return sides.collided(reason)
    if len({_kind(entry) for entry in (base, ours, theirs)}) > 1:
        return sides.collided("upstream put a different kind of file at this path")
    mode = theirs.mode if ours.mode == base.mode else ours.mode
    if len({base.blob, ours.blob, theirs.blob}) < 3:
        entry = Entry(mode, theirs.blob if ours.blob == base.blob else ours.blob)
        if entry == ours or (entry.blob == ours.blob and theirs.blob != base.blob):
            return Merged(entry, sides.each(ABSORBED_EXACT))
        carried = CARRIED_IDENTICAL if ours.blob == base.blob else CARRIED_TEXT
        return Merged(entry, sides.each(CARRIED_MOVED if sides.is_moved else carried))
    if base.mode not in FILE_MODES:
        what = "submodule" if base.mode == GITLINK else "link"
        return sides.collided(f"upstream changed the same {what}")
    contents = (blobs.read(base.blob), blobs.read(ours.blob), blobs.read(theirs.blob))
    return _merge_text(sides, contents, mode, blobs, text)


def _merge_added(
    sides: Sides, ours: Entry, theirs: Entry, blobs: Blobs, text: TextMerge
) -> Merged | Collided:
    reason = "upstream added a different file at this path"
    if ours.mode != theirs.mode or {ours.mode, theirs.mode} - FILE_MODES:
        return sides.collided(reason)
    texts = b"", blobs.read(ours.blob), blobs.read(theirs.blob)
    merge = text.merge(*texts)
    if isinstance(merge, Conflicted):
        return Collided(reason, merge.marked, sides.each(CONFLICT), texts)
    entry = Entry(ours.mode, blobs.add(merge.content))
    return Merged(entry, sides.each(ABSORBED_EXACT if entry == ours else DRIFTED_TEXT))


def _kind(entry: Entry) -> str:
    return REGULAR if entry.mode in FILE_MODES else entry.mode


def _merge_text(
    sides: Sides, contents: tuple[bytes, bytes, bytes], mode: str, blobs: Blobs, text: TextMerge
) -> Merged | Collided:
    base, ours, theirs = contents
    merge = text.merge(base, ours, theirs)
    content = merge.content if isinstance(merge, Clean) else None
    file = PatchedFile(sides.path, base, theirs, sides.hunks, sides.positions)
    answers = judge_hunks(file, ours, content, text)
    there: set[int] = set()
    while new := {n for n, answer in enumerate(answers) if answer == ABSORBED_SUPERSET} - there:
        there |= new
        merge, answers = _merge_rest(file, ours, there, text)
    if there:
        base = file.without(there).base
    if isinstance(merge, Conflicted):
        if merge.marked is None:
            return Collided("both sides are binary", None, answers)
        return Collided(SAME_LINES, merge.marked, answers, (base, ours, theirs))
    if sides.is_moved:
        carried = (Verdict.UNCHANGED, Verdict.MODIFIED)
        answers = tuple(CARRIED_MOVED if a[0] in carried else a for a in answers)
    return Merged(Entry(mode, blobs.add(merge.content)), answers)


def _merge_rest(
    file: PatchedFile, ours: bytes, there: Collection[int], text: TextMerge
) -> tuple[Merge, tuple[Answer, ...]]:
    """Merge the hunks that upstream does not have yet; those in `there` are taken into the base."""
    left = file.without(there)
    if not left.hunks:
        return Clean(ours), (ABSORBED_SUPERSET,) * len(there)
    merge = text.merge(left.base, ours, left.theirs)
    content = merge.content if isinstance(merge, Clean) else None
    rest = iter(judge_hunks(left, ours, content, text))
    numbers = range(len(file.hunks))
    return merge, tuple(ABSORBED_SUPERSET if n in there else next(rest) for n in numbers)


def judge_hunks(
    file: PatchedFile, ours: bytes, merged: bytes | None, text: TextMerge
) -> tuple[Answer, ...]:
    """Return the verdict on each hunk of a file; `merged` is None if the file is in conflict.

    A hunk is absorbed if merging it alone changes nothing in upstream's file, or if upstream has
    what it adds and more. It is unchanged if all its lines and context apply as they are, at any
    line.
    """
    base, hunks = file.base, file.hunks
    if merged == ours:
        return (ABSORBED_EXACT,) * max(1, len(hunks))
    if not hunks:
        return (CONFLICT if merged is None else DRIFTED_TEXT,)
    if merged is not None and leads_to(ours, hunks, merged):
        return (CARRIED_TEXT,) * len(hunks)
    places = zip(hunks, file.positions, strict=True)
    answers = judge_alone(base, [(ours, hunk, position) for hunk, position in places], text)
    if merged is None:
        is_explained = CONFLICT in answers or ABSORBED_SUPERSET in answers
        return answers if is_explained else (CONFLICT,) * len(hunks)
    if all(answer == ABSORBED_EXACT for answer in answers):
        # Each hunk alone changes nothing, but all of them together do: the patch is needed.
        return (DRIFTED_TEXT,) * len(hunks)
    return tuple(DRIFTED_TEXT if a == CONFLICT else a for a in answers)


def judge_alone(
    base: bytes, asked: Sequence[tuple[bytes, Hunk, int]], text: TextMerge
) -> tuple[Answer, ...]:
    """Merge each hunk alone, given as (ours, hunk, line of base), and return their verdicts."""
    answers = {n: CARRIED_TEXT for n, one in enumerate(asked) if surely_applies(base, *one)}
    others = [n for n in range(len(asked)) if n not in answers]
    texts = [(base, asked[n][0], apply_one(base, *asked[n][1:])) for n in others]
    for n, merge in zip(others, text.merge_all(texts), strict=True):
        answers[n] = judge_hunk(*asked[n][:2], merge)
    return tuple(answers[n] for n in range(len(asked)))


def judge_hunk(ours: bytes, hunk: Hunk, merge: Merge) -> Answer:
    """Return the verdict on one hunk, given the three-way merge of only this hunk."""
    if isinstance(merge, Conflicted):
        is_in = merge.marked is not None and is_superset(ours, merge.marked, hunk)
        return ABSORBED_SUPERSET if is_in else CONFLICT
    if merge.content == ours:
        return ABSORBED_EXACT
    return CARRIED_TEXT if leads_to(ours, (hunk,), merge.content) else DRIFTED_TEXT
