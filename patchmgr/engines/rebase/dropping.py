"""Leave out of a patch the hunks that upstream has already."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

from msgspec.structs import replace

from patchmgr.engines.rebase.carry import carry_files
from patchmgr.engines.rebase.work import FileResult, NewSide, Tools
from patchmgr.engines.series.fold import FileStep
from patchmgr.engines.series.placement import take_in
from patchmgr.model.outcome import How, Verdict
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import Entry


def without_hunks(step: FileStep, dropped: Collection[int], blobs: Blobs) -> FileStep:
    """Return what is left of a file's change: the dropped hunks become part of its base.

    `dropped` numbers hunks of this file; some must be left.
    """
    assert step.base is not None
    content = blobs.read(step.base.blob)
    content, hunks, positions = take_in(content, step.change.hunks, step.positions, dropped)
    base = Entry(step.base.mode, blobs.add(content))
    change = replace(step.change, hunks=hunks)
    return replace(step, change=change, base=base, positions=positions)


def sizes(steps: Sequence[FileStep]) -> tuple[int, ...]:
    """Return how many answers each file of a patch gets: one a hunk, at least one."""
    return tuple(max(1, len(step.change.hunks)) for step in steps)


def _dropped_of(step: FileStep, dropped: set[int]) -> set[int]:
    """Return the hunks that can be left out: of a file that stays what and where it is."""
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
    """Carry the files of a patch without the dropped hunks, numbered through the whole patch.

    A file that comes, goes, moves or changes its mode is carried whole.
    """
    starts = tuple(accumulate(sizes(steps), initial=0))
    here = [
        _dropped_of(step, {n - start for n in dropped if start <= n < start + size})
        for step, start, size in zip(steps, starts, sizes(steps), strict=False)
    ]
    rest = [
        without_hunks(step, gone, tools.blobs) if gone else step
        for step, gone in zip(steps, here, strict=True)
        if len(gone) < max(1, len(step.change.hunks))
    ]
    carried = iter(carry_files(patch, rest, side, tools))
    answer = (Verdict.ABSORBED, how)
    results: list[FileResult] = []
    for step, gone, size in zip(steps, here, sizes(steps), strict=True):
        if len(gone) == size:
            home = side.home(step.change.path)
            results.append(FileResult(step, home, (answer,) * size))
            continue
        result = next(carried)
        answers = iter(result.answers)
        whole = tuple(answer if n in gone else next(answers) for n in range(size))
        untouched = result.is_untouched and not gone
        whole += tuple(answers)
        numbers = [n for n in range(size) if n not in gone]
        proposals = tuple(replace(one, hunk=numbers[one.hunk]) for one in result.proposals)
        results.append(
            replace(result, step=step, answers=whole, is_untouched=untouched, proposals=proposals)
        )
    return tuple(results)
