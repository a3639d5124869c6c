"""Fold a series over two sides at once: the one it is written against, and the new upstream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from patchmgr.engines.conflict_ids import conflict_id
from patchmgr.engines.fold import FileStep, Overlay, step_patch
from patchmgr.engines.ladder import (
    ABSORBED_EXACT,
    DRIFTED_TEXT,
    SOLVED,
    Answer,
    Collided,
    Sides,
    merge_file,
)
from patchmgr.model.outcome import FileConflict, How, HunkOutcome, PatchOutcome, Verdict
from patchmgr.model.patch import Author, Patch
from patchmgr.model.ports import Blobs, TextMerge, Tree
from patchmgr.model.snapshot import GITLINK, Entry

SymbolAt = Callable[[str, bytes, int], "str | None"]


@dataclass(frozen=True, slots=True)
class Item:
    """A patch to carry; `refusal` says why a guard keeps it out, None where it is in."""

    patch: Patch
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """The ports of a rebase, and the author of patches that name none.

    `solved` holds what a person made of a conflict, by patch name and path: None deletes the
    file. `on_patch` hears of every patch before it is tried.
    """

    blobs: Blobs
    text: TextMerge
    symbol_at: SymbolAt
    nobody: Author
    solved: Mapping[tuple[str, str], bytes | None] = field(default_factory=dict)
    on_patch: Callable[[str], None] = lambda name: None


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file of a patch on the new side; `changes` is empty where it collided."""

    step: FileStep
    home: str
    answers: tuple[Answer, ...]
    changes: Mapping[str, Entry | None] = field(default_factory=dict)
    conflict: FileConflict | None = None
    is_untouched: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A patch's outcome together with what its files went through, for evidence and cause."""

    outcome: PatchOutcome
    files: tuple[FileResult, ...] = ()


@dataclass(slots=True)
class _Run:
    old: Overlay
    new: Overlay
    homes: dict[str, str]
    tools: Tools
    blocked: set[str] = field(default_factory=set)


def rebase_series(
    items: Sequence[Item],
    base: Tree,
    onto: Tree,
    renames: Mapping[str, str],
    tools: Tools,
    *,
    stops_at_conflict: bool = False,
) -> tuple[tuple[Judged, ...], Mapping[str, Entry | None]]:
    """Carry a series from one upstream state to another, in memory.

    Merge bases are the cumulative states of the series. `renames` maps paths of base that are
    gone in onto to their new home. Returns one judged patch an item, in order, and the files
    of the new side that differ from onto (None: deleted). A patch that collides leaves its
    files as they were and what touches them later is blocked; all else goes on.
    """
    run = _Run(Overlay(base), Overlay(onto), dict(renames), tools)
    judged: list[Judged] = []
    stopped: str | None = None
    for item in items:
        tools.on_patch(item.patch.name)
        if stopped is not None:
            judged.append(_left_out(item, Verdict.BLOCKED, f"not tried, stopped at {stopped}", run))
        elif item.refusal is not None:
            judged.append(_left_out(item, Verdict.SKIPPED, item.refusal, run))
        else:
            judged.append(_carry(run, item.patch))
            if stops_at_conflict and judged[-1].outcome.verdict is Verdict.CONFLICT:
                stopped = item.patch.name
    return tuple(judged), run.new.changes()


def _left_out(item: Item, verdict: Verdict, reason: str, run: _Run) -> Judged:
    return Judged(_outcome(item.patch, verdict, run.tools, reason=reason))


def _carry(run: _Run, patch: Patch) -> Judged:
    steps = step_patch(run.old, patch, run.tools.blobs)
    waiting = next((p for p in patch.paths() if p in run.blocked), None)
    results: list[FileResult] = []
    before: dict[str, Entry | None] = {}
    for step in steps:
        if any(p in run.blocked for p in _paths(step)):
            run.blocked.update(_paths(step))
            continue
        result = _carry_file(run, patch, step)
        results.append(result)
        if result.conflict is not None:
            run.blocked.update(_paths(step))
        for path, entry in result.changes.items():
            before.setdefault(path, run.new.entry(path))
            run.new.set(path, entry)
    if waiting is not None:
        reason = f"an earlier patch left {waiting} in conflict"
        return Judged(_outcome(patch, Verdict.BLOCKED, run.tools, reason=reason), tuple(results))
    return _judge(run, patch, tuple(results), before)


def _paths(step: FileStep) -> tuple[str, ...]:
    paths = (step.change.old_path, step.change.new_path)
    return tuple(p for p in paths if p is not None)


def _judge(
    run: _Run, patch: Patch, results: tuple[FileResult, ...], before: Mapping[str, Entry | None]
) -> Judged:
    conflicts = tuple(r.conflict for r in results if r.conflict is not None)
    hunks = tuple(h for r in results for h in _hunk_outcomes(run, r))
    changes = {p: run.new.entry(p) for p in before if run.new.entry(p) != before[p]}
    outcome = PatchOutcome(
        name=patch.name,
        subject=patch.subject,
        message=patch.message,
        author=patch.author or run.tools.nobody,
        verdict=patch_verdict(hunks, has_conflict=bool(conflicts)),
        hunks=hunks,
        changes={} if conflicts else changes,
        conflicts=conflicts,
        reuses_diff=all(r.is_untouched for r in results),
    )
    return Judged(outcome, results)


def patch_verdict(hunks: Sequence[HunkOutcome], *, has_conflict: bool) -> Verdict:
    """Return the first verdict of the contract that holds for a patch that was tried."""
    verdicts = {hunk.verdict for hunk in hunks}
    if has_conflict or Verdict.CONFLICT in verdicts:
        return Verdict.CONFLICT
    if verdicts == {Verdict.ABSORBED}:
        return Verdict.ABSORBED
    if Verdict.ABSORBED in verdicts:
        return Verdict.PARTIAL
    return Verdict.MODIFIED if Verdict.MODIFIED in verdicts else Verdict.UNCHANGED


def _outcome(patch: Patch, verdict: Verdict, tools: Tools, *, reason: str) -> PatchOutcome:
    author = patch.author or tools.nobody
    return PatchOutcome(
        patch.name, patch.subject, patch.message, author, verdict, reason=reason, changes={}
    )


def _carry_file(run: _Run, patch: Patch, step: FileStep) -> FileResult:
    change = step.change
    source = change.old_path
    home = run.homes.get(source, source) if source is not None else change.path
    assert home is not None
    if change.is_copy or source is None:
        return _create_file(run, patch, step)
    target = home if not change.is_rename else change.path
    if change.new_path is None:
        target = home
    ours = run.new.entry(home)
    is_moved = home not in (source, target) or (home != source and not change.is_rename)
    if change.is_rename:
        reason = _rename_obstacle(run, source, home, target)
        if reason is not None:
            return _collision(
                run, patch, step, home, Collided(reason, None, _conflicts(step)), ours
            )
    sides = Sides(step.base, ours, step.theirs, change.hunks, step.positions, is_moved)
    merged = merge_file(sides, blobs=run.tools.blobs, text=run.tools.text)
    if isinstance(merged, Collided):
        return _collision(run, patch, step, home, merged, ours)
    changes = {target: merged.entry} if home == target else {home: None, target: merged.entry}
    answers = merged.answers
    if change.is_rename:
        run.homes.pop(source, None)
        if home != target:
            answers = tuple(_renamed(a) for a in answers)
    untouched = ours == step.base and home == source
    return FileResult(step, target, answers, changes, is_untouched=untouched)


def _renamed(answer: Answer) -> Answer:
    """Return the answer of a hunk in a file whose move is ours: the move itself is carried."""
    return DRIFTED_TEXT if answer == ABSORBED_EXACT else answer


def _conflicts(step: FileStep) -> tuple[Answer, ...]:
    return ((Verdict.CONFLICT, None),) * max(1, len(step.change.hunks))


def _rename_obstacle(run: _Run, source: str, home: str, target: str) -> str | None:
    if home == target:
        return None
    if home != source:
        return f"upstream moved the file to {home}, the patch to {target}"
    if run.new.entry(target) is not None:
        return f"upstream has another file at {target}"
    obstacle = run.new.obstacle(target)
    return None if obstacle in (None, source) else f"{obstacle} is in the way upstream"


def _create_file(run: _Run, patch: Patch, step: FileStep) -> FileResult:
    path = step.change.path
    ours = run.new.entry(path)
    sides = Sides(None, ours, step.theirs, step.change.hunks, (0,) * len(step.change.hunks))
    merged = merge_file(sides, blobs=run.tools.blobs, text=run.tools.text)
    obstacle = run.new.obstacle(path) if ours is None else None
    if obstacle is not None:
        merged = Collided(f"{obstacle} is in the way upstream", None, _conflicts(step))
    if isinstance(merged, Collided):
        return _collision(run, patch, step, path, merged, ours)
    # A copy's diff is against its source, which upstream may have changed.
    untouched = ours is None and not step.change.is_copy
    return FileResult(step, path, merged.answers, {path: merged.entry}, is_untouched=untouched)


def _collision(
    run: _Run, patch: Patch, step: FileStep, home: str, collided: Collided, ours: Entry | None
) -> FileResult:
    key = (patch.name, step.change.path)
    if key in run.tools.solved:
        return _solution(run, step, home, collided, ours, run.tools.solved[key])
    contents = tuple(_read(run, entry) for entry in (step.base, ours, step.theirs))
    base, current, theirs = contents
    conflict = FileConflict(
        id=conflict_id(base, current, theirs, collided.marked),
        path=step.change.path,
        new_path=home,
        reason=collided.reason,
        base=base,
        ours=current,
        theirs=theirs,
        marked=collided.marked,
    )
    return FileResult(step, home, collided.answers, conflict=conflict)


def _solution(
    run: _Run,
    step: FileStep,
    home: str,
    collided: Collided,
    ours: Entry | None,
    content: bytes | None,
) -> FileResult:
    """Take what a person made of the conflict as the file's new state."""
    entry = None
    if content is not None:
        like = ours or step.theirs or step.base
        assert like is not None
        entry = Entry(like.mode, run.tools.blobs.add(content))
    answers = tuple(SOLVED if a[0] is Verdict.CONFLICT else a for a in collided.answers)
    if entry == ours:
        answers = ((Verdict.ABSORBED, How.DECIDED),) * len(answers)
    return FileResult(step, home, answers, {home: entry})


def _read(run: _Run, entry: Entry | None) -> bytes | None:
    if entry is None:
        return None
    if entry.mode == GITLINK:
        return f"Subproject commit {entry.blob}\n".encode()
    return run.tools.blobs.read(entry.blob)


def _hunk_outcomes(run: _Run, result: FileResult) -> tuple[HunkOutcome, ...]:
    change = result.step.change
    if not change.hunks:
        verdict, how = result.answers[0]
        return (HunkOutcome(change.path, result.home, 0, None, verdict, how),)
    content = _symbol_content(run, result.step)
    return tuple(
        HunkOutcome(
            path=change.path,
            new_path=result.home,
            line=hunk.new_start,
            symbol=run.tools.symbol_at(change.path, content, _first_changed_line(hunk.lines, at)),
            verdict=verdict,
            how=how,
        )
        for hunk, at, (verdict, how) in zip(
            change.hunks, _new_starts(result.step), result.answers, strict=True
        )
    )


def _new_starts(step: FileStep) -> tuple[int, ...]:
    """Return the 1-based line of each hunk on the side that the symbol is looked up in."""
    is_deletion = step.theirs is None
    return tuple(h.old_start if is_deletion else h.new_start for h in step.change.hunks)


def _first_changed_line(lines: Sequence[bytes], start: int) -> int:
    before = next((i for i, line in enumerate(lines) if line[:1] != b" "), 0)
    return start + before


def _symbol_content(run: _Run, step: FileStep) -> bytes:
    entry = step.theirs if step.theirs is not None else step.base
    return _read(run, entry) or b""
