"""What became of the hunks of one file: verdict, how, line and enclosing symbol."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile, takewhile

from patchmgr.engines.moved.units import leaf_of
from patchmgr.engines.rebase.conflicts import shown_content
from patchmgr.engines.rebase.work import FileResult, Tools
from patchmgr.engines.series.fold import FileStep
from patchmgr.model.outcome import How, HunkOutcome, Reliability, Verdict


def hunk_outcomes(result: FileResult, tools: Tools) -> tuple[HunkOutcome, ...]:
    """Return one outcome an answer; what is no hunk has line 0."""
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
    """Return the least sure of some merges: those that were right in the smallest share."""
    return min(found, key=lambda one: (one.right or 0) / (one.of or 1), default=None)


def _symbol_there(result: FileResult, number: int, symbol: str, tools: Tools) -> str | None:
    """Return the symbol around a hunk where upstream has it: its class may have a new name.

    Of several places, the one in a symbol of the same last name counts.
    """
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
    """Return the 1-based line of each hunk's first change on the side with the symbols.

    This is where the hunk went, which its header may not say.
    """
    lines: list[int] = []
    drift = 0
    for hunk, position in zip(step.change.hunks, step.positions, strict=True):
        before = next((i for i, line in enumerate(hunk.lines) if line[:1] != b" "), 0)
        lines.append(position + drift + before + 1)
        drift += 0 if step.theirs is None else hunk.added() - hunk.removed()
    return tuple(lines)
