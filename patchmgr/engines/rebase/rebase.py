"""Rebase a series: apply its patches one by one, both to its base and to a new upstream state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import dropwhile, takewhile

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.conflicts.decisions import (
    basis_of,
    identified,
    standing_decision,
    with_decision,
)
from patchmgr.engines.moved.units import leaf_of
from patchmgr.engines.rebase.blocking import (
    OpenConflict,
    Origin,
    block_reason,
    extended,
    is_edit,
    leave,
    paths_of,
    touched_by,
    updated,
)
from patchmgr.engines.rebase.carry import carry_files, carry_rest
from patchmgr.engines.rebase.conflicts import shown_content
from patchmgr.engines.rebase.ladder import Merged, Sides, merge_file
from patchmgr.engines.rebase.work import Edits, FileResult, NewSide, Tools, UpstreamRange
from patchmgr.engines.series.fold import FileStep, Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import ENSURES, AuditFinding
from patchmgr.model.decision import Decision, Ruling
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import How, HunkOutcome, PatchOutcome, Reliability, Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Blobs, Step, Tree
from patchmgr.model.snapshot import Entry

DRIFTED = (
    "it is not carried, and no longer applies as it is; a rebase that does not leave it out "
    "carries it (--select)"
)


class Item(Struct, frozen=True):
    """A patch to rebase, and what is known about it before the rebase."""

    patch: Patch
    refusal: str | None = None  # why the patch is left out
    absorption: Absorption | None = None  # what upstream already has, if known
    steps: tuple[FileStep, ...] | None = None  # changes to the state before it (None: not computed)
    refused_as: Verdict = Verdict.SKIPPED  # the verdict if it is left out
    is_on_base: bool = True  # later patches are written on top of it
    # why the header's `Ensures` is false in a tree, or None if it is true
    promise: Callable[[Tree], str | None] | None = None
    decisions: tuple[Decision, ...] = ()


class Judged(Struct, frozen=True):
    """The result of a rebase for one patch, with the results for its files and what explains it."""

    outcome: PatchOutcome
    files: tuple[FileResult, ...] = ()
    absorption: Absorption | None = None
    decision: Decision | None = None  # of a person, if one was applied
    blockers: tuple[Origin, ...] = ()  # conflicts that block the patch
    left: tuple[OpenConflict, ...] = ()  # all conflicts so far that a person has to resolve
    edited: tuple[str, ...] = ()  # other files that a person changed, too


def leave_out(
    items: Sequence[Item], reasons: Mapping[str, str], base: Tree, blobs: Blobs
) -> tuple[Item, ...]:
    """Mark the patches in `reasons` as left out, and compute what each patch changes."""
    if not reasons:
        return tuple(items)
    old = Overlay(base)
    # Later patches are written on top of those that are left out.
    placed = (_placed(item, old, blobs) for item in items)
    return tuple(
        replace(item, refusal=reasons[item.patch.name])
        if item.refusal is None and item.patch.name in reasons
        else item
        for item in placed
    )


def _placed(item: Item, old: Overlay, blobs: Blobs) -> Item:
    if item.refusal is not None or item.steps is not None or not item.is_on_base:
        return item
    return replace(item, steps=step_patch(old, item.patch, blobs))


class _Run(Struct):
    old: Overlay
    side: NewSide
    tools: Tools
    left: dict[Origin, OpenConflict] = field(default_factory=dict)
    carried: set[str] = field(default_factory=set)


def rebase_series(
    items: Sequence[Item],
    upstream: UpstreamRange,
    tools: Tools,
    *,
    stops_at_conflict: bool = False,
    left: Sequence[OpenConflict] = (),
) -> tuple[tuple[Judged, ...], Mapping[str, Entry | None]]:
    """Rebase a series in memory; return a result for each patch, and the changed files.

    The files are those that differ from the new upstream state (None: deleted). After a conflict,
    the rebase continues with upstream's lines. Later changes to these lines, or to lines of the
    conflicts in `left`, are blocked.
    """
    side = NewSide(Overlay(upstream.onto), dict(upstream.renames), upstream.arrivals)
    run = _Run(Overlay(upstream.base), side, tools, {one.origin: one for one in left})
    judged: list[Judged] = []
    stopped: str | None = None
    for item in items:
        tools.on_patch(item.patch.name)
        if stopped is not None:
            reason = f"not tried, because the rebase stopped at {stopped}"
            judged.append(Judged(_outcome(run, item.patch, Verdict.BLOCKED, reason)))
        elif item.refusal is not None:
            for step in item.steps or ():
                _follow(run, step)
            outcome = _outcome(run, item.patch, item.refused_as, item.refusal)
            if item.steps is None and _has_drifted(run, item.patch):
                outcome = replace(outcome, warnings=(DRIFTED,))
            judged.append(Judged(outcome))
        else:
            judged.append(_with_promise(_with_history(_carry(run, item), item), item, run))
        judged[-1] = replace(judged[-1], left=tuple(run.left.values()))
        if judged[-1].outcome.is_carried:
            run.carried.add(item.patch.name)
        if stops_at_conflict and judged[-1].outcome.verdict is Verdict.CONFLICT:
            stopped = item.patch.name
    return tuple(judged), run.side.files.changes()


def _has_drifted(run: _Run, patch: Patch) -> bool:
    """Return whether a patch applies to its base but no longer to upstream's files."""

    def applies(files: Tree) -> bool:
        try:
            return bool(step_patch(Overlay(files), patch, run.tools.blobs))
        except PatchmgrError:
            return False

    return applies(run.old) and not applies(run.side.files)


def _with_history(judged: Judged, item: Item) -> Judged:
    """Add to a result the commit that landed the patch, and any that changed or reverted it."""
    found = item.absorption
    if found is None:
        return judged
    events = [(found.step.commit, Event.LANDED.value)]
    if found.since is not None:
        events.append((found.since.commit, found.event.value))
    outcome = replace(
        judged.outcome, history=tuple(events), superseded=found.wordings, now_in=found.now_in
    )
    return replace(judged, outcome=outcome)


def _with_promise(judged: Judged, item: Item, run: _Run) -> Judged:
    """Put a patch in conflict if the `Ensures` of its header is false in the rebased tree."""
    if item.promise is None or judged.outcome.is_left:
        return judged
    reason = item.promise(run.side.files)
    if reason is None:
        return judged
    # The id must depend on the patch alone, but the reason names the upstream state.
    broken = identified(AuditFinding(ENSURES, True, "", 0, None, ""), item.patch, {})
    findings = (*judged.outcome.findings, replace(broken, text=reason))
    outcome = replace(judged.outcome, verdict=Verdict.CONFLICT, reason=reason, findings=findings)
    return replace(judged, outcome=outcome)


def _carry(run: _Run, item: Item) -> Judged:
    patch, absorption, steps = item.patch, item.absorption, item.steps
    if absorption is not None:
        absorption = absorption.without_undoing(run.carried)
    if steps is None:
        steps = step_patch(run.old, patch, run.tools.blobs)
    if absorption is not None and absorption.is_whole:
        return _drop(run, patch, steps, absorption)
    side, tools = run.side, run.tools
    decision = standing_decision(item.decisions, patch, side, tools.blobs)
    if decision is not None:
        if decision.ruling is Ruling.ABSORBED:
            return _drop_decided(run, patch, steps, decision)
        tools = replace(tools, asks=False)
    blockers: dict[Origin, str] = {}
    free = tuple(step for step in steps if not _is_blocked(run, step, blockers))
    if absorption is None or not absorption.hunks:
        free = tuple(step for step in free if not _is_met(run, step, blockers))
    dropped = absorption if absorption is not None and len(free) == len(steps) else None

    def carried_on(side: NewSide) -> tuple[FileResult, ...]:
        if dropped is not None and dropped.hunks:
            return carry_rest(patch.name, free, dropped.hunks, dropped.how, side, tools)
        return carry_files(patch.name, free, side, tools)

    results = carried_on(side)
    results = _without_blocked(run, results, carried_on, blockers)
    edits = tools.edits.get(patch.name, {})
    paths = [path for result in results for path in result.changes]
    before = {path: run.side.files.entry(path) for path in (*paths, *edits)}
    _settle(run, patch.name, results)
    misfit = _take_edits(run, edits)
    if blockers:
        reason = next(iter(blockers.values()))
        outcome = _outcome(run, patch, Verdict.BLOCKED, reason)
        return Judged(outcome, results, blockers=tuple(blockers))
    judged = _judge(run, patch, results, before)
    if edits:
        judged = _with_edits(judged, tuple(edits), misfit)
    return _with_decision(replace(judged, absorption=absorption), decision)


def _take_edits(run: _Run, edits: Edits) -> str | None:
    """Apply a person's edits to other files; return the last path where they no longer apply."""
    blobs, misfit = run.tools.blobs, None
    for path, (before, after) in edits.items():
        ours = run.side.files.entry(path)
        if ours != before:
            texts = Sides(before, ours, after).texts(blobs)
            merge = None if texts is None else run.tools.text.merge(*texts)
            if after is None or not isinstance(merge, Clean):
                misfit = path
                continue
            after = Entry(after.mode, blobs.add(merge.content))
        run.side.files.set(path, after)
    return misfit


def _with_edits(judged: Judged, paths: tuple[str, ...], misfit: str | None) -> Judged:
    """Record in a patch's result that a person also edited other files."""
    verdict, reason = judged.outcome.verdict, judged.outcome.reason
    more = {Verdict.UNCHANGED: Verdict.MODIFIED, Verdict.ABSORBED: Verdict.PARTIAL}
    if misfit is not None:
        verdict, reason = Verdict.CONFLICT, f"{misfit} has changed since it was edited"
    outcome = replace(
        judged.outcome, verdict=more.get(verdict, verdict), reason=reason, reuses_diff=False
    )
    return replace(judged, outcome=outcome, edited=paths)


def _is_blocked(run: _Run, step: FileStep, blockers: dict[Origin, str]) -> bool:
    """Return whether an earlier conflict covers a whole file, and so blocks a change to it.

    Records such a conflict in `blockers`, and extends it to all paths of the change.
    """
    paths = paths_of(step)
    found = [left for left in run.left.values() if not left.whole.isdisjoint(paths)]
    for left in found:
        path = next(path for path in paths if path in left.whole)
        blockers.setdefault(left.origin, f"{left.origin[0]} left {path} in conflict")
        run.left[left.origin] = replace(left, whole=left.whole | {*paths})
    return bool(found)


def _is_met(run: _Run, step: FileStep, blockers: dict[Origin, str]) -> bool:
    """Return whether an earlier conflict blocks a change, judged by text merges alone."""
    path = run.side.home(step.change.path)
    ours = run.side.files.entry(path)
    near = [left for left in run.left.values() if left.theirs is not None and left.path == path]
    if not near or ours is None or not is_edit(step):
        return False
    blobs, found = run.tools.blobs, False
    result = _text_result(step, path, ours, run.tools)
    for left in near:
        other = _text_result(step, path, left.theirs, run.tools)
        if not other.changes:
            continue
        reason = block_reason(left, ours, result, other, blobs)
        if reason is not None:
            blockers.setdefault(left.origin, reason)
            run.left[left.origin] = extended(left, result, other, blobs)
            found = True
    return found


def _alike(run: _Run, left: OpenConflict, ours: Entry, result: FileResult) -> FileResult | None:
    """Merge a change as text into the version of a file with an earlier patch's lines (`left`).

    Returns None if `result`, the same change merged into upstream's lines, is not a text merge, or
    if this merge has a conflict.
    """
    if not is_edit(result.step) or set(result.changes) != {left.path}:
        return None
    without = _text_result(result.step, left.path, ours, run.tools)
    if (without.answers, without.changes) != (result.answers, result.changes):
        return None
    other = _text_result(result.step, left.path, left.theirs, run.tools)
    return other if other.changes else None


def _text_result(step: FileStep, path: str, ours: Entry | None, tools: Tools) -> FileResult:
    """Return the result of a text merge; `changes` is empty if the merge has a conflict."""
    change = step.change
    is_moved = path != change.path
    sides = Sides(step.base, ours, step.theirs, change.hunks, step.positions, is_moved)
    merged = merge_file(sides, blobs=tools.blobs, text=tools.text)
    changes = {path: merged.entry} if isinstance(merged, Merged) else {}
    return FileResult(step, path, merged.answers, changes)


def _without_blocked(
    run: _Run,
    results: Sequence[FileResult],
    carried_on: Callable[[NewSide], Sequence[FileResult]],
    blockers: dict[Origin, str],
) -> tuple[FileResult, ...]:
    """Return the results that no earlier conflict blocks, and record what blocks the others."""
    blobs = run.tools.blobs
    homes = [{run.side.home(p) for p in paths_of(result.step)} for result in results]
    tried: list[tuple[OpenConflict, int, FileResult]] = []
    held: set[tuple[int, Origin]] = set()
    touched = set[str]().union(*homes, *map(touched_by, results))
    for left in run.left.values():
        ours = run.side.files.entry(left.path)
        if left.theirs is None or ours is None or left.path not in touched:
            continue
        others: Sequence[FileResult] = ()
        for number, result in enumerate(results):
            if left.path not in homes[number] | touched_by(result):
                continue
            other = _alike(run, left, ours, result)
            if other is None:
                there = Overlay(run.side.files)
                there.set(left.path, left.theirs)
                others = others or carried_on(NewSide(there, run.side.homes))
                other = others[number]
            tried.append((left, number, other))
            reason = block_reason(left, ours, result, other, blobs)
            if reason is not None:
                blockers.setdefault(left.origin, reason)
                held.add((number, left.origin))
    blocked = {number for number, _ in held}
    for left, number, other in tried:
        if (number, left.origin) in held:
            now = extended(run.left[left.origin], results[number], other, blobs)
            run.left[left.origin] = now
        elif number not in blocked:
            run.left[left.origin] = updated(run.left[left.origin], other, blobs)
    return tuple(result for number, result in enumerate(results) if number not in blocked)


def _drop_decided(run: _Run, patch: Patch, steps: Sequence[FileStep], decision: Decision) -> Judged:
    """Leave out a patch that upstream already has, as a person decided."""
    step = Step(decision.commit or "", decision.subject, "", {})
    every = frozenset(range(sum(step.size for step in steps)))
    absorption = Absorption(every, step, Event.LANDED, is_whole=True, how=How.DECIDED)
    judged = _drop(run, patch, steps, absorption)
    known = absorption if decision.commit is not None else None
    return _with_decision(replace(judged, absorption=known), decision)


def _with_decision(judged: Judged, decision: Decision | None) -> Judged:
    if decision is None:
        return judged
    return replace(judged, outcome=with_decision(judged.outcome, decision), decision=decision)


def _drop(run: _Run, patch: Patch, steps: Sequence[FileStep], absorption: Absorption) -> Judged:
    """Leave out a patch that upstream already has. It changes nothing, so nothing can block it."""
    answer = (Verdict.ABSORBED, absorption.how)
    results = tuple(
        FileResult(step, run.side.home(step.change.path), (answer,) * step.size) for step in steps
    )
    for step in steps:
        _follow(run, step)
    judged = _judge(run, patch, results, {})
    return replace(judged, absorption=absorption)


def _follow(run: _Run, step: FileStep) -> None:
    """Record the new path of a file that a patch moves; used for patches that are left out."""
    old, new = step.change.old_path, step.change.new_path
    if step.change.is_rename and old is not None and new is not None:
        home = run.side.home(old)
        if run.side.files.entry(new) is None and run.side.files.entry(home) is not None:
            run.side.homes[new] = home


def _settle(run: _Run, patch: str, results: Sequence[FileResult]) -> None:
    """Write results to the rebased files: deletions first, then all other changes."""
    rest: dict[str, Entry | None] = {}
    for result in results:
        if result.conflict is not None:
            left, entry = leave(patch, result, run.side.files, run.tools.blobs)
            run.left[left.origin] = left
            if entry is not None:
                rest[left.path] = entry
            continue
        change = result.step.change
        for path in (change.path,) if change.is_copy else paths_of(result.step):
            run.side.homes.pop(path, None)
    changes = [change for result in results for change in result.changes.items()]
    for path, entry in sorted([*changes, *rest.items()], key=lambda change: change[1] is not None):
        run.side.files.set(path, entry)
    for result in results:
        new_path = result.step.change.new_path
        if result.conflict is None and new_path not in (None, result.home):
            run.side.homes[new_path] = result.home


def _judge(
    run: _Run, patch: Patch, results: tuple[FileResult, ...], before: Mapping[str, Entry | None]
) -> Judged:
    conflicts = tuple(r.conflict for r in results if r.conflict is not None)
    hunks = tuple(h for r in results for h in _hunk_outcomes(r, run.tools))
    changes = {p: run.side.files.entry(p) for p in before if run.side.files.entry(p) != before[p]}
    basis = basis_of(patch, results, run.side.homes, run.tools.blobs) if conflicts else None
    outcome = replace(
        _outcome(run, patch, patch_verdict(hunks, has_conflict=bool(conflicts))),
        hunks=hunks,
        changes=changes,
        conflicts=conflicts,
        reuses_diff=all(r.is_untouched for r in results),
        basis=basis,
    )
    return Judged(outcome, results)


def patch_verdict(hunks: Sequence[HunkOutcome], *, has_conflict: bool) -> Verdict:
    """Return the verdict on a patch, given the verdicts on its hunks."""
    verdicts = {hunk.verdict for hunk in hunks}
    if has_conflict or Verdict.CONFLICT in verdicts:
        return Verdict.CONFLICT
    if verdicts == {Verdict.ABSORBED}:
        return Verdict.ABSORBED
    if Verdict.ABSORBED in verdicts:
        return Verdict.PARTIAL
    return Verdict.MODIFIED if Verdict.MODIFIED in verdicts else Verdict.UNCHANGED


def _outcome(run: _Run, patch: Patch, verdict: Verdict, reason: str | None = None) -> PatchOutcome:
    author = patch.author_or(run.tools.nobody)
    return PatchOutcome(
        patch.name, patch.subject, patch.message, author, verdict, reason=reason, changes={},
        description=patch.description, drop_when=patch.says("Drop-When"),
    )  # fmt: skip


def _hunk_outcomes(result: FileResult, tools: Tools) -> tuple[HunkOutcome, ...]:
    """Return an outcome for each verdict on a file. If there are no hunks, its line is 0."""
    change = result.step.change
    side = result.step.theirs if result.step.theirs is not None else result.step.base
    content = shown_content(side, tools.blobs) or b""
    places: list[tuple[int, str | None]] = [
        (hunk.new_start, tools.symbol_at(change.path, content, line))
        for hunk, line in zip(change.hunks, _changed_lines(result.step), strict=True)
    ]
    places += [(0, None)] * (len(result.answers) - len(places))
    found: list[HunkOutcome] = []
    has_moved = result.home != change.path
    for number, (line, symbol) in enumerate(places):
        verdict, how = result.answers[number]
        place = result.places.get(number)
        path = result.home if place is None else place.path
        if place is not None:
            symbol = place.symbol
        elif symbol is not None and (
            verdict is Verdict.MODIFIED or (has_moved and verdict is Verdict.UNCHANGED)
        ):
            symbol = _symbol_there(result, number, symbol, tools)
        sure = _least(result.reliability) if how in (How.STRUCTURAL, How.FORMAT) else None
        found.append(HunkOutcome(change.path, path, line, symbol, verdict, how, reliability=sure))
    return tuple(found)


def _least(found: Sequence[Reliability]) -> Reliability | None:
    return min(found, key=lambda one: (one.right or 0) / (one.of or 1), default=None)


def _symbol_there(result: FileResult, number: int, symbol: str, tools: Tools) -> str | None:
    """Return the symbol around a hunk in the rebased file, or `symbol` if that is not clear."""
    hunk = result.step.change.hunks[number]
    behind = dropwhile(lambda line: line[:1] != b"+", hunk.lines)
    run = [line[1:].strip() for line in takewhile(lambda line: line[:1] == b"+", behind)]
    content = shown_content(result.changes.get(result.home), tools.blobs)
    if content is None:
        return symbol
    lines = [line.strip() for line in content.split(b"\n")]
    places = [n for n, line in enumerate(lines) if run and lines[n : n + len(run)] == run]
    found = [tools.symbol_at(result.home, content, place + 1) for place in places]
    if symbol in found:
        return symbol
    leaf = leaf_of(symbol)
    named = [n for n, line in enumerate(lines) if leaf.encode() in line] if len(found) != 1 else []
    around = found + [tools.symbol_at(result.home, content, place + 1) for place in named]
    alike = {one for one in around if one is not None and leaf_of(one) == leaf}
    if len(alike) == 1 or symbol in alike:
        return symbol if symbol in alike else alike.pop()
    has_moved = result.home != result.step.change.path
    return found[0] if has_moved and len(found) == 1 else symbol


def _changed_lines(step: FileStep) -> tuple[int, ...]:
    """Return the line number (from 1) of each hunk's first change in the patched file."""
    lines: list[int] = []
    drift = 0
    for hunk, position in zip(step.change.hunks, step.positions, strict=True):
        before = next((i for i, line in enumerate(hunk.lines) if line[:1] != b" "), 0)
        lines.append(position + drift + before + 1)
        drift += 0 if step.theirs is None else hunk.added() - hunk.removed()
    return tuple(lines)
