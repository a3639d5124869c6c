"""Carry the files of one patch to the new side, all at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from patchmgr.engines.alarms import Alarm, raise_alarms, resemblances
from patchmgr.engines.conflict_ids import conflict_id
from patchmgr.engines.fold import FileStep, Overlay, left_path
from patchmgr.engines.ladder import (
    ABSORBED_EXACT,
    CARRIED_IDENTICAL,
    CARRIED_MOVED,
    CARRIED_TEXT,
    CONFLICT,
    DECIDED,
    DRIFTED_TEXT,
    SOLVED,
    Answer,
    Collided,
    Merged,
    Sides,
    merge_file,
)
from patchmgr.engines.memory import Resolutions
from patchmgr.engines.rungs import further
from patchmgr.engines.solutions import shown_content, solved_entry
from patchmgr.engines.solving import Structure
from patchmgr.model.decision import Ruling
from patchmgr.model.outcome import FileConflict, Verdict
from patchmgr.model.patch import Author, FilePatch
from patchmgr.model.ports import Blobs, TextMerge
from patchmgr.model.snapshot import Entry

SymbolAt = Callable[[str, bytes, int], "str | None"]


@dataclass(frozen=True, slots=True)
class Tools:
    """The ports of a rebase, and the author of patches that name none.

    `solved` holds what a person made of a conflict, by patch name and path: None deletes the
    file. `on_patch` hears of every patch before it is tried. `asks` says that what upstream
    seems to have in other words is left to a person. `recall` knows conflicts that were solved
    before, `structure` merges by the structure of a file.
    """

    blobs: Blobs
    text: TextMerge
    symbol_at: SymbolAt
    nobody: Author
    solved: Mapping[tuple[str, str], bytes | None] = field(default_factory=dict)
    on_patch: Callable[[str], None] = lambda name: None
    asks: bool = False
    recall: Resolutions | None = None
    structure: Structure | None = None


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file of a patch on the new side; `changes` is empty where it collided.

    There is one answer a hunk, or one for a change without hunks. One more answers for a mode
    or a move whose fate is not that of the hunks. `alarms` tells of hunks in conflict that
    upstream seems to have, `rules` by which rules of a structural merge the file was merged.
    """

    step: FileStep
    home: str
    answers: tuple[Answer, ...]
    changes: Mapping[str, Entry | None] = field(default_factory=dict)
    conflict: FileConflict | None = None
    is_untouched: bool = False
    alarms: tuple[Alarm, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewSide:
    """The new side before a patch; `homes` maps paths of the old side that are elsewhere here."""

    files: Overlay
    homes: Mapping[str, str]

    def home(self, path: str) -> str:
        """Return where a file of the old side is."""
        return self.homes.get(path, path)


def carry_files(
    patch: str, steps: Sequence[FileStep], side: NewSide, tools: Tools
) -> tuple[FileResult, ...]:
    """Carry all files of a patch, each as if the others were done, and change nothing yet.

    A path that one file leaves is free for the others, unless leaving it collides.
    """
    leaving = {home for step in steps for home in _left(step.change, side)}
    stuck: set[str] = set()
    while True:
        work = _Work(patch, steps, side, tools, leaving - stuck)
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


@dataclass(frozen=True, slots=True)
class _Work:
    patch: str
    steps: Sequence[FileStep]
    side: NewSide
    tools: Tools
    leaving: Collection[str]

    def merge(self, sides: Sides) -> Merged | Collided:
        return merge_file(sides, blobs=self.tools.blobs, text=self.tools.text)


def _carry_file(work: _Work, step: FileStep) -> FileResult:
    pair = _replacement(work, step.change.path)
    if pair is not None and step in pair:
        return _replace_file(work, step, *pair)
    source = step.change.old_path
    if source is None or step.change.is_copy:
        return _create_file(work, step)
    return _change_file(work, step, source)


def _replacement(work: _Work, path: str) -> tuple[FileStep, FileStep] | None:
    """Return the deletion and creation of one path, as diffs show a change of type."""
    same = [s for s in work.steps if s.change.path == path]
    old = next((s for s in same if s.change.new_path is None), None)
    new = next((s for s in same if s.change.old_path is None), None)
    is_pair = old is not None and new is not None and work.side.home(path) == path
    return (old, new) if is_pair and old and new else None


def _replace_file(work: _Work, step: FileStep, old: FileStep, new: FileStep) -> FileResult:
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
        result = _collision(work, new, sides, collided, home=path, target=path)
    if step is new:
        return result
    answers = _each(old.change, result.answers[0])
    return replace(result, step=old, answers=answers, changes={}, conflict=None)


def _each(change: FilePatch, answer: Answer) -> tuple[Answer, ...]:
    return (answer,) * max(1, len(change.hunks))


def _create_file(work: _Work, step: FileStep) -> FileResult:
    path, files = step.change.path, work.side.files
    ours = None if path in work.leaving else files.entry(path)
    sides = Sides(None, ours, step.theirs, step.change.hunks)
    obstacle = files.obstacle(path, work.leaving) if ours is None else None
    if obstacle is None:
        merged = work.merge(sides)
    else:
        reason = f"{obstacle} is in the way upstream"
        merged = Collided(reason, None, _each(step.change, CONFLICT))
    if isinstance(merged, Collided):
        return _collision(work, step, sides, merged, home=path, target=path)
    # A copy's diff is against its source, which upstream may have changed.
    untouched = ours is None and not step.change.is_copy
    return FileResult(step, path, merged.answers, {path: merged.entry}, is_untouched=untouched)


def _change_file(work: _Work, step: FileStep, source: str) -> FileResult:
    """Carry an edit, a deletion or a rename."""
    change, files = step.change, work.side.files
    home = work.side.home(source)
    target = change.path if change.is_rename else home
    ours = files.entry(home)
    if change.is_rename and ours is None and files.entry(target) == step.theirs:
        return FileResult(step, target, _each(change, ABSORBED_EXACT))
    is_moved = home != source and not change.is_rename
    sides = Sides(step.base, ours, step.theirs, change.hunks, step.positions, is_moved)
    reason = _obstacle(work, step, home, target)
    if reason is not None:
        collided = Collided(reason, None, _each(change, CONFLICT))
        return _collision(work, step, sides, collided, home=home, target=home)
    merged, alarms, rules = _merge_change(work, sides, home)
    if isinstance(merged, Collided):
        result = _collision(work, step, sides, merged, home=home, target=target)
        return _with_alarms(result, sides, alarms, work.tools.blobs)
    answers = _with_header(sides, change, merged.answers, moves=(home, target))
    untouched = ours == step.base and home == source
    changes = {home: None, target: merged.entry}
    return FileResult(step, target, answers, changes, is_untouched=untouched, rules=rules)


def _merge_change(
    work: _Work, sides: Sides, home: str
) -> tuple[Merged | Collided, tuple[Alarm, ...], tuple[str, ...]]:
    """Merge a changed file by all rungs, and name the rules of a structural merge.

    What was solved before needs no asking; what upstream seems to have in other words is for a
    person, and no merge puts it in once more.
    """
    tools = work.tools
    merged = work.merge(sides)
    if isinstance(merged, Collided):
        merged, _ = further(sides, merged, home, blobs=tools.blobs, recall=tools.recall)
    alarms: tuple[Alarm, ...] = ()
    if tools.asks:
        merged, alarms = raise_alarms(home, sides, merged, blobs=tools.blobs, text=tools.text)
    if isinstance(merged, Merged) or alarms or tools.structure is None:
        return merged, alarms, ()
    merged, rules = further(
        sides, merged, home, blobs=tools.blobs, recall=tools.recall, structure=tools.structure
    )
    return merged, alarms, rules


def _obstacle(work: _Work, step: FileStep, home: str, target: str) -> str | None:
    """Return why the file cannot be changed at its home or moved to its target."""
    source, files = step.change.old_path, work.side.files
    others = {
        p for s in work.steps if s is not step for p in (s.change.old_path, s.change.new_path)
    }
    if home != source and home in others:
        return f"upstream moved the file to {home}, which the patch changes as well"
    if home == target:
        return None
    if home != source:
        return f"upstream moved the file to {home}, the patch to {target}"
    if target not in work.leaving and files.entry(target) is not None:
        return f"upstream has another file at {target}"
    obstacle = files.obstacle(target, {*work.leaving, home})
    return None if obstacle is None else f"{obstacle} is in the way upstream"


def _with_header(
    sides: Sides, change: FilePatch, answers: tuple[Answer, ...], *, moves: tuple[str, str]
) -> tuple[Answer, ...]:
    """Add the answer for the mode and the move, where those for the content do not imply it."""
    header = _header_answer(sides, change, moves)
    if header is None:
        return answers
    if not change.hunks and change.binary is None:
        return (header,)
    is_absorbed = all(answer[0] is Verdict.ABSORBED for answer in answers)
    is_implied = header != DRIFTED_TEXT and is_absorbed == (header == ABSORBED_EXACT)
    return answers if is_implied else (*answers, header)


def _header_answer(sides: Sides, change: FilePatch, moves: tuple[str, str]) -> Answer | None:
    """Return what became of the mode and the move, None where the patch changes neither."""
    base, ours, theirs = sides.base, sides.ours, sides.theirs
    is_absorbed = [moves[0] == moves[1]] if change.is_rename else []
    if base and ours and theirs and base.mode != theirs.mode:
        is_absorbed.append(ours.mode == theirs.mode)
    if not is_absorbed:
        return None
    if any(is_absorbed):
        return ABSORBED_EXACT if all(is_absorbed) else DRIFTED_TEXT
    if sides.is_moved:
        return CARRIED_MOVED
    return CARRIED_IDENTICAL if ours == base else CARRIED_TEXT


def _collision(
    work: _Work, step: FileStep, sides: Sides, collided: Collided, *, home: str, target: str
) -> FileResult:
    """Return a conflict, or what a person made of it."""
    key = (work.patch, step.change.path)
    if key in work.tools.solved:
        solution = _solution(work, step, sides, collided, home=home, target=target)
        if solution is not None:
            return solution
    base, ours, theirs = (
        shown_content(side, work.tools.blobs) for side in (sides.base, sides.ours, sides.theirs)
    )
    conflict = FileConflict(
        id=conflict_id(base, ours, theirs, collided.marked),
        path=step.change.path,
        new_path=target,
        reason=collided.reason,
        base=base,
        ours=ours,
        theirs=theirs,
        marked=collided.marked,
    )
    return FileResult(step, target, collided.answers, conflict=conflict)


def _with_alarms(
    result: FileResult, sides: Sides, alarms: tuple[Alarm, ...], blobs: Blobs
) -> FileResult:
    """Add to a conflict what upstream seems to have of it, and propose that where it is all."""
    if result.conflict is None or not alarms:
        return result
    is_all = len(alarms) == result.answers.count(CONFLICT)
    conflict = replace(
        result.conflict,
        proposal=Ruling.ABSORBED.value if is_all else None,
        resemblances=resemblances(sides, alarms, blobs),
    )
    return replace(result, conflict=conflict, alarms=alarms)


def _solution(
    work: _Work, step: FileStep, sides: Sides, collided: Collided, *, home: str, target: str
) -> FileResult | None:
    """Take what a person made of the conflict as the file's state, None where it has no place."""
    content = work.tools.solved[work.patch, step.change.path]
    files = work.side.files
    entry = None
    if content is not None:
        if sides.ours is None and files.obstacle(target, work.leaving) is not None:
            return None
        blobs = work.tools.blobs
        entry = solved_entry(
            content, sides.base, sides.ours, sides.theirs, path=step.change.path, blobs=blobs
        )
    answers = tuple(SOLVED if a == CONFLICT else a for a in collided.answers)
    if entry == sides.ours and (entry is None or home == target):
        answers = _each(step.change, DECIDED)
    return FileResult(step, target, answers, {home: None, target: entry})
