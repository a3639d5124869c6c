"""What became of the hunks of one file: verdict, how, line and enclosing symbol."""

from __future__ import annotations

from itertools import dropwhile, takewhile

from patchmgr.engines.fold import FileStep
from patchmgr.engines.solutions import shown_content
from patchmgr.engines.work import FileResult, Tools
from patchmgr.model.outcome import HunkOutcome, Verdict

CARRIED = (Verdict.UNCHANGED, Verdict.MODIFIED)


def hunk_outcomes(result: FileResult, tools: Tools) -> tuple[HunkOutcome, ...]:
    """Return one outcome an answer; what is no hunk has line 0."""
    change = result.step.change
    content = _symbol_content(result.step, tools)
    places: list[tuple[int, str | None]] = [
        (hunk.new_start, tools.symbol_at(change.path, content, line))
        for hunk, line in zip(change.hunks, _changed_lines(result.step), strict=True)
    ]
    places += [(0, None)] * (len(result.answers) - len(places))
    found: list[HunkOutcome] = []
    for number, (line, symbol) in enumerate(places):
        verdict, how = result.answers[number]
        place = result.places.get(number)
        path = result.home if place is None else place.path
        if place is not None:
            symbol = place.symbol
        elif path != change.path and symbol is not None and verdict in CARRIED:
            symbol = _symbol_there(result, number, symbol, tools)
        found.append(HunkOutcome(change.path, path, line, symbol, verdict, how))
    return tuple(found)


def _symbol_there(result: FileResult, number: int, symbol: str, tools: Tools) -> str | None:
    """Return the symbol around a hunk in a file that moved, where its class may have a new name."""
    hunk = result.step.change.hunks[number]
    run = [line[1:].strip() for line in takewhile(_is_added, dropwhile(_is_kept, hunk.lines))]
    content = shown_content(result.changes.get(result.home), tools.blobs)
    if content is None or not run:
        return symbol
    lines = [line.strip() for line in content.split(b"\n")]
    found = [n for n, line in enumerate(lines) if line == run[0] and lines[n : n + len(run)] == run]
    return tools.symbol_at(result.home, content, found[0] + 1) if len(found) == 1 else symbol


def _is_added(line: bytes) -> bool:
    return line[:1] == b"+"


def _is_kept(line: bytes) -> bool:
    return line[:1] != b"+"


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


def _symbol_content(step: FileStep, tools: Tools) -> bytes:
    entry = step.theirs if step.theirs is not None else step.base
    return shown_content(entry, tools.blobs) or b""
