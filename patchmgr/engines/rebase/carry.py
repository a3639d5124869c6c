"""Apply all changes of one patch to upstream's new files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate, takewhile
from operator import eq

from msgspec.structs import replace

from patchmgr.engines.absorption.proof import checked
from patchmgr.engines.absorption.proposal import Proposal, with_proposals
from patchmgr.engines.audit.interfaces import named_imports
from patchmgr.engines.audit.outline import words
from patchmgr.engines.audit.states import decoded
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.rebase.conflicts import collision, proposed
from patchmgr.engines.rebase.ladder import (
    ABSORBED_EXACT,
    CARRIED_IDENTICAL,
    CARRIED_MOVED,
    CARRIED_TEXT,
    CONFLICT,
    DECIDED,
    DRIFTED_TEXT,
    FORMATTED,
    SOLVED,
    STRUCTURAL,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.rebase.work import FileResult, NewSide, Tools, Work
from patchmgr.engines.series.fold import FileStep, left_path
from patchmgr.engines.series.placement import places_of, split_lines, take_in
from patchmgr.engines.text.known_changes import text_of
from patchmgr.engines.text.line_endings import conversion, with_line_ending
from patchmgr.model.outcome import How, Verdict
from patchmgr.model.patch import FilePatch, Hunk
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import FILE_MODES, Entry


def carry_files(
    patch: str, steps: Sequence[FileStep], side: NewSide, tools: Tools
) -> tuple[FileResult, ...]:
    """Apply a patch to upstream's files, and return a result for each; `side` is not changed."""
    leaving = {home for step in steps for home in _left(step.change, side)}
    stuck: set[str] = set()
    gone = {step.change.path: step for step in steps if step.change.new_path is None}
    created = {step.change.path: step for step in steps if step.change.old_path is None}
    replaced = {
        path: (gone[path], created[path])
        for path in gone.keys() & created.keys()
        if side.home(path) == path
    }
    while True:
        work = Work(patch, steps, side, tools, leaving - stuck, replaced)
        results = tuple(_carry_file(work, step) for step in steps)
        collided = (r.step.change for r in results if r.conflict is not None)
        more = {home for change in collided for home in _left(change, side)}
        if more <= stuck:
            return results
        stuck |= more


def without_hunks(step: FileStep, dropped: Collection[int], blobs: Blobs) -> FileStep:
    """Return a patch's change to a file, with the `dropped` hunks moved into the base.

    `dropped` has the numbers of hunks within this file. At least one hunk must be left.
    """
    assert step.base is not None
    content = blobs.read(step.base.blob)
    content, hunks, positions = take_in(content, step.change.hunks, step.positions, dropped)
    base = Entry(step.base.mode, blobs.add(content))
    change = replace(step.change, hunks=hunks)
    return replace(step, change=change, base=base, positions=positions)


def _dropped_of(step: FileStep, dropped: set[int]) -> set[int]:
    """Return `dropped`, or nothing if the patch changes the file's path or mode, too."""
    change = step.change
    has_header = change.is_rename or change.is_copy or change.old_mode != change.new_mode
    is_there = step.base is not None and step.theirs is not None and change.hunks
    return dropped if is_there and not has_header else set()


def carry_rest(
    patch: str,
    steps: Sequence[FileStep],
    dropped: Collection[int],
    how: How,
    side: NewSide,
    tools: Tools,
) -> tuple[FileResult, ...]:
    """Apply a patch without the `dropped` hunks to upstream's files; return a result for each.

    Hunks are numbered across the patch. No hunk is dropped from a file that the patch creates,
    deletes or moves, or whose mode it changes.
    """
    starts = accumulate((step.size for step in steps), initial=0)
    here = [
        _dropped_of(step, {n - start for n in dropped if start <= n < start + step.size})
        for step, start in zip(steps, starts, strict=False)
    ]
    rest = [
        without_hunks(step, gone, tools.blobs) if gone else step
        for step, gone in zip(steps, here, strict=True)
        if len(gone) < step.size
    ]
    carried = iter(carry_files(patch, rest, side, tools))
    answer = (Verdict.ABSORBED, how)
    results: list[FileResult] = []
    for step, gone in zip(steps, here, strict=True):
        if len(gone) == step.size:
            home = side.home(step.change.path)
            results.append(FileResult(step, home, (answer,) * step.size))
            continue
        result = next(carried)
        answers = iter(result.answers)
        whole = tuple(answer if n in gone else next(answers) for n in range(step.size))
        untouched = result.is_untouched and not gone
        whole += tuple(answers)
        numbers = [n for n in range(step.size) if n not in gone]
        proposals = tuple(replace(one, hunk=numbers[one.hunk]) for one in result.proposals)
        results.append(
            replace(result, step=step, answers=whole, is_untouched=untouched, proposals=proposals)
        )
    return tuple(results)


def _left(change: FilePatch, side: NewSide) -> tuple[str, ...]:
    """Return the path at which a deletion or rename leaves no file, or () if there is none."""
    homes = (side.home(path) for path in left_path(change))
    return tuple(home for home in homes if home != change.new_path)


def _carry_file(work: Work, step: FileStep) -> FileResult:
    pair = work.replaced.get(step.change.path)
    if pair is not None and step in pair:
        return _replace_file(work, step, *pair)
    source = step.change.old_path
    if source is None or step.change.is_copy:
        return _create_file(work, step)
    return _change_file(work, step, source)


def _replace_file(work: Work, step: FileStep, old: FileStep, new: FileStep) -> FileResult:
    """Apply one of the two steps of a patch that deletes a file and creates it again."""
    path = step.change.path
    ours = work.side.files.entry(path)
    sides = Sides(old.base, ours, new.theirs)
    if ours in (old.base, new.theirs):
        answer = CARRIED_IDENTICAL if ours == old.base else ABSORBED_EXACT
        changes, is_untouched = {path: new.theirs}, ours == old.base
        result = FileResult(new, path, (answer,) * new.size, changes, is_untouched=is_untouched)
    else:
        reason = "upstream changed the file that the patch replaces"
        collided = Collided(reason, None, (CONFLICT,) * new.size)
        result = collision(work, new, sides, collided, home=path, target=path)
    if step is new:
        return result
    answers = result.answers[:1] * old.size
    return replace(result, step=old, answers=answers, changes={}, conflict=None)


def _create_file(work: Work, step: FileStep) -> FileResult:
    path, files = work.side.arrival(step.change.path), work.side.files
    is_moved = path != step.change.path
    ours = None if path in work.leaving else files.entry(path)
    sides = Sides(None, ours, step.theirs, step.change.hunks, is_moved=is_moved, path=path)
    obstacle = files.obstacle(path, work.leaving) if ours is None else None
    if obstacle is None:
        merged = work.merge(sides)
    else:
        reason = f"upstream has {obstacle}, which is in the way"
        merged = sides.collided(reason)
    if isinstance(merged, Collided) and (work.patch, step.change.path) not in work.tools.solved:
        merged = _climb_on(sides, merged, work.tools)
    if isinstance(merged, Collided):
        return collision(work, step, sides, merged, home=path, target=path)
    # A copy's diff is against its source, which upstream may have changed.
    untouched = ours is None and not step.change.is_copy and not is_moved
    return FileResult(step, path, merged.answers, {path: merged.entry}, is_untouched=untouched)


def _change_file(work: Work, step: FileStep, source: str) -> FileResult:
    change, files = step.change, work.side.files
    home = work.side.home(source)
    target = work.side.arrival(change.path) if change.is_rename else home
    ours = files.entry(home)
    if change.is_rename and files.entry(target) == step.theirs:
        if ours is None:
            return FileResult(step, target, (ABSORBED_EXACT,) * step.size)
        if ours == step.base and home == source and target not in work.leaving:
            # Upstream has the file at both paths.
            return FileResult(step, target, (DRIFTED_TEXT,) * step.size, {home: None})
    is_moved = target != change.path if change.is_rename else home != source
    sides = Sides(step.base, ours, step.theirs, change.hunks, step.positions, is_moved, path=home)
    reason = _obstacle(work, step, home, target)
    if reason is not None:
        return collision(work, step, sides, sides.collided(reason), home=home, target=home)
    converted_sides = _with_upstreams_line_ending(sides, work.tools.blobs)
    sides = converted_sides or sides
    merged, proposals = _merge_change(work, step, sides)
    if converted_sides is not None:
        merged = replace(merged, answers=tuple(map(_converted, merged.answers)))
    if isinstance(merged, Collided) and not proposals and home == target:
        followed = _follow(work, step, sides, merged, home)
        if isinstance(followed, FileResult):
            return followed
        merged = followed
    if isinstance(merged, Collided):
        result = collision(work, step, sides, merged, home=home, target=target)
        return proposed(result, proposals)
    answers = _with_header(sides, change, merged.answers, moves=(home, target))
    untouched = ours == step.base and home == source and not is_moved
    changes = {home: None, target: merged.entry}
    return FileResult(
        step, target, answers, changes, is_untouched=untouched, reliability=merged.reliability,
    )  # fmt: skip


def _with_upstreams_line_ending(sides: Sides, blobs: Blobs) -> Sides | None:
    """Convert base and theirs to upstream's line ending; return None if they have it already."""
    texts = sides.texts(blobs) if sides.ours != sides.base else None
    ending = None if texts is None else conversion(*texts)
    if texts is None or ending is None:
        return None
    assert sides.base and sides.theirs
    # A merge of the sides as they are would have a conflict in every line.
    base, theirs = (blobs.add(with_line_ending(text, ending)) for text in (texts[0], texts[2]))
    hunks = tuple(
        replace(hunk, lines=tuple(with_line_ending(line, ending) for line in hunk.lines))
        for hunk in sides.hunks
    )
    return replace(
        sides,
        base=replace(sides.base, blob=base),
        theirs=replace(sides.theirs, blob=theirs),
        hunks=hunks,
    )


def _converted(answer: Answer) -> Answer:
    """Return the verdict on a hunk that was merged with upstream's line ending."""
    if answer == ABSORBED_EXACT:
        return Verdict.ABSORBED, How.WHITESPACE
    return FORMATTED if answer in (CARRIED_IDENTICAL, CARRIED_TEXT, DRIFTED_TEXT) else answer


def _with_header(
    sides: Sides, change: FilePatch, answers: tuple[Answer, ...], *, moves: tuple[str, str]
) -> tuple[Answer, ...]:
    """Add a verdict on a change of mode or path, unless it follows from those on the hunks."""
    header = _header_answer(sides, change, moves)
    if header is None:
        return answers
    if not change.hunks and change.binary is None:
        return (header,)
    is_absorbed = all(answer[0] is Verdict.ABSORBED for answer in answers)
    is_implied = header != DRIFTED_TEXT and is_absorbed == (header == ABSORBED_EXACT)
    return answers if is_implied else (*answers, header)


def _header_answer(sides: Sides, change: FilePatch, moves: tuple[str, str]) -> Answer | None:
    """Return the verdict on a change of mode or path, or None if the patch changes neither."""
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


def _follow(
    work: Work, step: FileStep, sides: Sides, collided: Collided, home: str
) -> FileResult | Collided:
    """Merge hunks where upstream moved their lines, or return the conflict if that fails."""
    from patchmgr.engines.moved.rung import MovedInput, follow_hunks

    tools, files = work.tools, work.side.files
    if tools.elsewhere is None:
        return collided
    others = (s.change for s in work.steps if s is not step)
    paths = {p for change in others for p in (change.old_path, change.new_path) if p is not None}
    side = MovedInput(
        tools.elsewhere.on(files),
        files.entry,
        busy={work.side.home(path) for path in paths} | work.taken,
        climb=lambda _, part: _merge_change(work, step, part)[0],
        blobs=tools.blobs,
    )
    found = follow_hunks(step.change.path, sides, collided, home=home, side=side)
    if isinstance(found, Collided):
        return found
    work.taken.update(place.path for place in found.places.values())
    if found.collision is None:
        return FileResult(step, home, found.answers, found.changes, places=found.places)
    path, part, there = found.collision
    there = replace(there, answers=found.answers, has_moved=path != home)
    result = collision(work, step, part, there, home=path, target=path)
    if result.conflict is None:
        # A person resolved this file; the other files are carried along with it.
        solved = DECIDED if DECIDED in result.answers else SOLVED
        answers = tuple(solved if answer == CONFLICT else answer for answer in found.answers)
        result = replace(result, answers=answers, changes={**found.changes, **result.changes})
    return replace(result, home=home, places=found.places)


def _merge_change(
    work: Work, step: FileStep, sides: Sides
) -> tuple[Merged | Collided, tuple[Proposal, ...]]:
    """Merge a changed file, trying all methods; also return proposals to drop hunks.

    A proposal is for a hunk that upstream seems to have in a different form.
    """
    tools, proposals = work.tools, tuple[Proposal, ...]()
    blobs, text = tools.blobs, tools.text
    is_solved = (work.patch, step.change.path) in tools.solved
    merged = work.merge(sides)
    if not is_solved:
        if isinstance(merged, Merged):
            merged = _unless_guessed(sides, merged, blobs)
        if isinstance(merged, Collided):
            merged = _climb_on(sides, merged, tools)
    if tools.asks:
        merged, proposals = with_proposals(sides, merged, blobs=blobs, text=text)
    if is_solved:
        return merged, proposals
    if isinstance(merged, Collided) and not proposals:
        merged = _climb_on(sides, merged, tools, is_guessed=True)
    merged = checked(sides, merged, blobs=blobs, text=text)
    if isinstance(merged, Merged):
        merged = with_imports(step, sides, merged, sides.path, blobs)
    return merged, proposals


def _climb_on(
    sides: Sides, collided: Collided, tools: Tools, *, is_guessed: bool = False
) -> Merged | Collided:
    # Most rebases have no conflict, so the other rungs are loaded with the first conflict.
    from patchmgr.engines.rebase.rungs import GUESSED, RECORDED, climb_on

    return climb_on(sides, collided, tools, GUESSED if is_guessed else RECORDED)


def _unless_guessed(sides: Sides, merged: Merged, blobs: Blobs) -> Merged | Collided:
    """Return the merge, or a conflict if git chose one of several possible places for a hunk."""
    texts = sides.texts(blobs) if sides.ours != sides.base else None
    if texts is None:
        return merged
    wanted = {line for hunk in sides.hunks for line in hunk.old()}
    counts = Counter(filter(wanted.__contains__, text_of(texts[1]).lines))
    places = zip(merged.answers, sides.hunks, sides.positions, strict=False)
    for number, (answer, hunk, position) in enumerate(places):
        is_carried = answer in (CARRIED_TEXT, DRIFTED_TEXT)
        is_repeated = all(counts[line] > 1 for line in hunk.old())
        if is_carried and is_repeated and _is_guess(sides.path, *texts[:2], hunk, position):
            reason = "upstream has the changed lines in several places, none clearly the old place"
            answers = (*merged.answers[:number], CONFLICT, *merged.answers[number + 1 :])
            return Collided(reason, None, answers)
    return merged


def _is_guess(path: str, base: bytes, ours: bytes, hunk: Hunk, position: int) -> bool:
    """Return whether git may have chosen the wrong one of several places where a hunk fits."""
    old = b"".join(hunk.old())
    places = places_of(ours, hunk) if old and ours.count(old) > 1 else ()
    if len(places) <= 1 or len(places) <= len(places_of(base, hunk)):
        return False
    before = next((n for n, line in enumerate(hunk.lines) if line[:1] != b" "), 0)
    symbol = SymbolIndex(path, base).at(position + before)
    if symbol is not None:
        return symbol not in SymbolIndex(path, ours).names
    above, lines = split_lines(base)[:position][::-1], split_lines(ours)
    same = (takewhile(bool, map(eq, above, reversed(lines[:place]))) for place in places)
    kept = sorted(map(sum, same))
    return kept[-1] == kept[-2]


def _obstacle(work: Work, step: FileStep, home: str, target: str) -> str | None:
    """Return why a file cannot be changed at its path or moved to `target`, or None if it can."""
    source, files = step.change.old_path, work.side.files
    others = (s.change for s in work.steps if s is not step)
    if home != source and any(home in (change.old_path, change.new_path) for change in others):
        return f"upstream moved the file to {home}, which the patch changes as well"
    if home == target:
        return None
    if home != source:
        return f"upstream moved the file to {home}, and the patch moves it to {target}"
    if target not in work.leaving and files.entry(target) is not None:
        return f"upstream already has a file at {target}"
    obstacle = files.obstacle(target, {*work.leaving, home})
    return None if obstacle is None else f"upstream has {obstacle}, which is in the way"


def with_imports(step: FileStep, sides: Sides, merged: Merged, home: str, blobs: Blobs) -> Merged:
    """Add imports of theirs that the patch's lines need and that a merged Python file lacks."""
    entry, theirs = merged.entry, step.theirs
    if not home.endswith(PYTHON) or entry in (None, sides.ours, theirs):
        return merged
    if any(e is None or e.mode not in FILE_MODES for e in (entry, theirs, sides.ours)):
        return merged
    assert entry and theirs and sides.ours
    own, wanted = _imports(blobs.read(theirs.blob)), _carried_words(sides.hunks, merged.answers)
    wanted &= words("\n".join(own))
    if wanted <= words("\n".join(_imports(blobs.read(sides.ours.blob)))):
        return merged
    content = blobs.read(entry.blob)
    there = _imports(content)
    brought = {each for each in own if not wanted.isdisjoint(words(each))}
    at_top = (each for each in there if not each[0].isspace())
    if brought <= there or wanted <= words("\n".join(at_top)):
        return merged
    from patchmgr.engines.moved.imports import missing_imports

    path, text = step.change.path, blobs.read(theirs.blob)
    mended = missing_imports(path, home, text, content, names=wanted)
    if mended is None:
        return merged
    answers = tuple(_brought(answer, sides.is_moved) for answer in merged.answers)
    return replace(merged, entry=Entry(entry.mode, blobs.add(mended)), answers=answers)


def _brought(answer: Answer, is_moved: bool) -> Answer:
    """Return the new verdict on a hunk after an import was added to its file."""
    if answer not in (CARRIED_TEXT, DRIFTED_TEXT):
        return answer
    return CARRIED_MOVED if is_moved else STRUCTURAL


def _carried_words(hunks: Sequence[Hunk], answers: Sequence[Answer]) -> set[str]:
    """Return the words that hunks add, except for the hunks that upstream already has."""
    pairs = zip(hunks, answers, strict=False)
    texts = (hunk.added_text() for hunk, answer in pairs if answer[0] is not Verdict.ABSORBED)
    return words(b"\n".join(texts).decode("utf-8", "surrogateescape"))


def _imports(content: bytes) -> set[str]:
    return {statement for statement, _, _ in named_imports(decoded(content))}
