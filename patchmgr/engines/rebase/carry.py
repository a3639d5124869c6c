"""Carry the files of one patch to the new side, all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from operator import eq

from msgspec.structs import replace

from patchmgr.engines.absorption.proof import checked
from patchmgr.engines.absorption.proposal import Proposal, with_proposals
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.moved.imports_kept import with_imports
from patchmgr.engines.rebase.conflicts import collision, proposed
from patchmgr.engines.rebase.ladder import (
    ABSORBED_EXACT,
    ABSORBED_REWORDED,
    CARRIED_IDENTICAL,
    CARRIED_TEXT,
    CONFLICT,
    DECIDED,
    DRIFTED_TEXT,
    SOLVED,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.rebase.modes import with_header
from patchmgr.engines.rebase.work import FileResult, NewSide, Tools, Work
from patchmgr.engines.series.fold import FileStep, left_path
from patchmgr.engines.series.placement import places_of, split_lines
from patchmgr.model.outcome import Reliability
from patchmgr.model.patch import FilePatch, Hunk
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import FILE_MODES


def carry_files(
    patch: str, steps: Sequence[FileStep], side: NewSide, tools: Tools
) -> tuple[FileResult, ...]:
    """Carry all files of a patch, each as if the others were done, and change nothing yet.

    A path that one file leaves is free for the others, unless leaving it collides.
    """
    leaving = {home for step in steps for home in _left(step.change, side)}
    stuck: set[str] = set()
    paths = Counter(step.change.path for step in steps)
    twice = frozenset(path for path, count in paths.items() if count > 1)
    while True:
        work = Work(patch, steps, side, tools, leaving - stuck, twice)
        results = tuple(_carry_file(work, step) for step in steps)
        collided = (r.step.change for r in results if r.conflict is not None)
        more = {home for change in collided for home in _left(change, side)}
        if more <= stuck:
            return results
        stuck |= more


def _left(change: FilePatch, side: NewSide) -> tuple[str, ...]:
    """Return the path of the new side that the change leaves, if any."""
    homes = (side.home(path) for path in left_path(change))
    return tuple(home for home in homes if home != change.new_path)


def _carry_file(work: Work, step: FileStep) -> FileResult:
    pair = _replacement(work, step.change.path)
    if pair is not None and step in pair:
        return _replace_file(work, step, *pair)
    source = step.change.old_path
    if source is None or step.change.is_copy:
        return _create_file(work, step)
    return _change_file(work, step, source)


def _replacement(work: Work, path: str) -> tuple[FileStep, FileStep] | None:
    """Return the deletion and creation of one path, as diffs show a change of type."""
    same = [s for s in work.steps if s.change.path == path] if path in work.twice else []
    old = next((s for s in same if s.change.new_path is None), None)
    new = next((s for s in same if s.change.old_path is None), None)
    is_pair = old is not None and new is not None and work.side.home(path) == path
    return (old, new) if is_pair and old and new else None


def _replace_file(work: Work, step: FileStep, old: FileStep, new: FileStep) -> FileResult:
    """Carry one half of a replacement; what changes is with the creation."""
    path = step.change.path
    ours = work.side.files.entry(path)
    sides = Sides(old.base, ours, new.theirs)
    if ours in (old.base, new.theirs):
        answer = CARRIED_IDENTICAL if ours == old.base else ABSORBED_EXACT
        result = FileResult(
            new, path, _each(new.change, answer), {path: new.theirs}, is_untouched=ours == old.base
        )
    else:
        reason = "upstream changed the file that the patch replaces"
        collided = Collided(reason, None, _each(new.change, CONFLICT))
        result = collision(work, new, sides, collided, home=path, target=path)
    if step is new:
        return result
    answers = _each(old.change, result.answers[0])
    return replace(result, step=old, answers=answers, changes={}, conflict=None)


def _each(change: FilePatch, answer: Answer) -> tuple[Answer, ...]:
    return (answer,) * max(1, len(change.hunks))


def _create_file(work: Work, step: FileStep) -> FileResult:
    path, files = work.side.arrival(step.change.path), work.side.files
    is_moved = path != step.change.path
    ours = None if path in work.leaving else files.entry(path)
    sides = Sides(None, ours, step.theirs, step.change.hunks, is_moved=is_moved, path=path)
    obstacle = files.obstacle(path, work.leaving) if ours is None else None
    if obstacle is None:
        merged = work.merge(sides)
    else:
        reason = f"{obstacle} is in the way upstream"
        merged = Collided(reason, None, _each(step.change, CONFLICT))
    if isinstance(merged, Collided):
        return collision(work, step, sides, merged, home=path, target=path)
    # A copy's diff is against its source, which upstream may have changed.
    untouched = ours is None and not step.change.is_copy and not is_moved
    return FileResult(step, path, merged.answers, {path: merged.entry}, is_untouched=untouched)


def _change_file(work: Work, step: FileStep, source: str) -> FileResult:
    """Carry an edit, a deletion or a rename."""
    change, files = step.change, work.side.files
    home = work.side.home(source)
    target = work.side.arrival(change.path) if change.is_rename else home
    ours = files.entry(home)
    if change.is_rename and ours is None and files.entry(target) == step.theirs:
        return FileResult(step, target, _each(change, ABSORBED_EXACT))
    is_moved = target != change.path if change.is_rename else home != source
    sides = Sides(step.base, ours, step.theirs, change.hunks, step.positions, is_moved, path=home)
    reason = _obstacle(work, step, home, target)
    if reason is not None:
        collided = Collided(reason, None, _each(change, CONFLICT))
        return collision(work, step, sides, collided, home=home, target=home)
    merged, proposals, reliability = _merge_change(work, step, sides, home)
    if isinstance(merged, Collided) and not proposals and home == target:
        followed = _follow(work, step, sides, merged, home)
        if isinstance(followed, FileResult):
            return followed
        merged = followed
    if isinstance(merged, Collided):
        result = collision(work, step, sides, merged, home=home, target=target)
        return proposed(result, sides, proposals, work.tools.blobs)
    answers = with_header(sides, change, merged.answers, moves=(home, target))
    untouched = ours == step.base and home == source and not is_moved
    changes = {home: None, target: merged.entry}
    return FileResult(
        step, target, answers, changes, is_untouched=untouched, reliability=reliability,
        proposals=tuple(p for p in proposals if merged.answers[p.hunk] == ABSORBED_REWORDED),
    )  # fmt: skip


def _follow(
    work: Work, step: FileStep, sides: Sides, collided: Collided, home: str
) -> FileResult | Collided:
    """Carry hunks to where upstream put what they change; the collision where that is not known."""
    from patchmgr.engines.moved.following import follow_hunks

    tools, files = work.tools, work.side.files
    if tools.elsewhere is None:
        return collided
    others = (s.change for s in work.steps if s is not step)
    paths = {p for change in others for p in (change.old_path, change.new_path) if p is not None}
    found = follow_hunks(
        step.change.path,
        sides,
        collided,
        home=home,
        elsewhere=tools.elsewhere.on(files),
        entry_of=files.entry,
        busy={work.side.home(path) for path in paths} | work.taken,
        climb=lambda path, part: _merge_change(work, step, part, path)[0],
        blobs=tools.blobs,
    )
    if isinstance(found, Collided):
        return found
    work.taken.update(place.path for place in found.places.values())
    if found.collision is None:
        return FileResult(step, home, found.answers, found.changes, places=found.places)
    path, part, there = found.collision
    there = replace(there, answers=found.answers)
    result = collision(work, step, part, there, home=path, target=path)
    if result.conflict is None:
        # A person solved that file; the other ones are carried beside it.
        solved = DECIDED if DECIDED in result.answers else SOLVED
        answers = tuple(solved if answer == CONFLICT else answer for answer in found.answers)
        result = replace(result, answers=answers, changes={**found.changes, **result.changes})
    return replace(result, home=home, places=found.places)


def _merge_change(
    work: Work, step: FileStep, sides: Sides, home: str
) -> tuple[Merged | Collided, tuple[Proposal, ...], tuple[Reliability, ...]]:
    """Merge a changed file by all rungs, and say how sure a structural merge is.

    What is dropped is held against the proofs that it may not be. The imports that its lines need
    come along.
    """
    merged, proposals, reliability = _merge_by_rungs(work, step, sides, home)
    path, tools = step.change.path, work.tools
    if (work.patch, path) not in tools.solved:
        merged = checked(sides, merged, blobs=tools.blobs, text=tools.text)
        if isinstance(merged, Merged):
            merged = with_imports(step, sides, merged, home, tools.blobs)
    return merged, proposals, reliability


def _merge_by_rungs(
    work: Work, step: FileStep, sides: Sides, home: str
) -> tuple[Merged | Collided, tuple[Proposal, ...], tuple[Reliability, ...]]:
    """Merge a changed file.

    What a person has solved in this rebase is theirs. What was solved before needs no asking;
    what upstream seems to have in other words is for a person, and no merge puts it in once more.
    """
    tools = work.tools
    merged = work.merge(sides)
    is_solved = (work.patch, step.change.path) in tools.solved
    if isinstance(merged, Merged) and not is_solved:
        merged = _unless_guessed(home, sides, merged, tools.blobs)
    if isinstance(merged, Collided) and not is_solved:
        from patchmgr.engines.rebase.rungs import further

        merged, _ = further(
            sides, merged, home, blobs=tools.blobs, text=tools.text, recall=tools.recall
        )
    proposals: tuple[Proposal, ...] = ()
    if tools.asks:
        merged, proposals = with_proposals(home, sides, merged, blobs=tools.blobs, text=tools.text)
    has_more = tools.formatter is not None or tools.structure is not None
    if isinstance(merged, Merged) or proposals or is_solved or not has_more:
        return merged, proposals, ()
    from patchmgr.engines.rebase.rungs import further

    merged, reliability = further(
        sides,
        merged,
        home,
        blobs=tools.blobs,
        text=tools.text,
        recall=None,
        formatter=tools.formatter,
        structure=tools.structure,
    )
    return merged, proposals, reliability


def _unless_guessed(path: str, sides: Sides, merged: Merged, blobs: Blobs) -> Merged | Collided:
    """Return the merge, or a collision where a text merge took one of several places for a hunk."""
    base, ours = sides.base, sides.ours
    if base is None or ours is None or base == ours or {base.mode, ours.mode} - FILE_MODES:
        return merged
    texts = blobs.read(base.blob), blobs.read(ours.blob)
    places = zip(merged.answers, sides.hunks, sides.positions, strict=False)
    for number, (answer, hunk, position) in enumerate(places):
        if answer in (CARRIED_TEXT, DRIFTED_TEXT) and _is_guess(path, *texts, hunk, position):
            reason = "upstream has what the patch changes in several places, none of them the old"
            answers = (*merged.answers[:number], CONFLICT, *merged.answers[number + 1 :])
            return Collided(reason, None, answers)
    return merged


def _is_guess(path: str, base: bytes, ours: bytes, hunk: Hunk, position: int) -> bool:
    """Say whether a hunk fits in more places than before, and the symbol around it is gone.

    Where there are no symbols, none of the places has more of the lines above it than another.
    """
    old = b"".join(hunk.old())
    places = places_of(ours, hunk) if old and ours.count(old) > 1 else ()
    if len(places) <= max(1, len(places_of(base, hunk))):
        return False
    before = next((n for n, line in enumerate(hunk.lines) if line[:1] != b" "), 0)
    symbol = SymbolIndex(path, base).at(position + before)
    if symbol is not None:
        return symbol not in SymbolIndex(path, ours).names()
    above, lines = split_lines(base)[:position][::-1], split_lines(ours)
    same = (takewhile(bool, map(eq, above, reversed(lines[:place]))) for place in places)
    kept = sorted(map(sum, same))
    return kept[-1] == kept[-2]


def _obstacle(work: Work, step: FileStep, home: str, target: str) -> str | None:
    """Return why the file cannot be changed at its home or moved to its target."""
    source, files = step.change.old_path, work.side.files
    others = (s.change for s in work.steps if s is not step)
    if home != source and any(home in (change.old_path, change.new_path) for change in others):
        return f"upstream moved the file to {home}, which the patch changes as well"
    if home == target:
        return None
    if home != source:
        return f"upstream moved the file to {home}, the patch to {target}"
    if target not in work.leaving and files.entry(target) is not None:
        return f"upstream has another file at {target}"
    obstacle = files.obstacle(target, {*work.leaving, home})
    return None if obstacle is None else f"{obstacle} is in the way upstream"
