"""The patches of a rebase onto several targets as a table: a row per patch, a column per target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchmgr.model.outcome import SeriesOutcome, TargetOutcome, Verdict
from patchmgr.render.clean import clean, counted
from patchmgr.render.markdown_text import code_cell, text
from patchmgr.render.terminal import VERDICT_COLOURS, painted, short_ref
from patchmgr.render.view import View

_WORDS = {verdict: verdict.value for verdict in Verdict} | {Verdict.UNCHANGED: "same"}
_LEFT = (Verdict.CONFLICT, Verdict.BLOCKED)
_GAP = "  "


def targets_text(targets: Sequence[TargetOutcome], form: str, view: View) -> str:
    """Return the tables of all series as "markdown" or "terminal", with a blank line between.

    On a terminal a table that is too wide continues below, and patches that stay the same on every
    target are only counted, unless all are wanted.
    """
    if view.is_line:
        return "".join(f"{_line(outcomes)}\n" for outcomes in _by_series(targets))
    tables = []
    for outcomes in _by_series(targets):
        if form == "markdown":
            lines = _markdown(outcomes)
        else:
            lines = _terminal(outcomes, view)
        tables.append("".join(f"{line}\n" for line in lines))
    return "\n".join(tables)


def after_targets(targets: Sequence[TargetOutcome]) -> str:
    """Return the line that says whether a target has conflicts left."""
    count = sum(target.has_conflicts for target in targets)
    left = f"Conflicts on {count} of {len(targets)} targets." if count else "No conflict."
    return f"{left} Nothing was written: this was a dry run."


def _by_series(targets: Sequence[TargetOutcome]) -> tuple[list[SeriesOutcome], ...]:
    found: dict[str, list[SeriesOutcome]] = {}
    for target in targets:
        for outcome in target.series:
            found.setdefault(outcome.name, []).append(outcome)
    return tuple(found.values())


def _heading(outcomes: Sequence[SeriesOutcome]) -> str:
    first = outcomes[0]
    targets, patches = counted(len(outcomes), "target"), counted(len(first.patches), "patch")
    return f"{first.name}: {short_ref(first.base.ref)} -> {targets}  ({patches})"


def _line(outcomes: Sequence[SeriesOutcome]) -> str:
    fates = (f"{short_ref(outcome.onto.ref)} {_fate(outcome)}" for outcome in outcomes)
    return f"{_heading(outcomes)}: {'; '.join(fates)}"


def _terminal(outcomes: Sequence[SeriesOutcome], view: View) -> Iterator[str]:
    yield _heading(outcomes)
    names = {
        row: clean(patch.name)
        for row, patch in enumerate(outcomes[0].patches)
        if view.is_all or any(o.patches[row].verdict is not Verdict.UNCHANGED for o in outcomes)
    }
    first = max([len("patch"), *map(len, names.values())])
    columns = [max(len(short_ref(o.onto.ref)), *map(len, _WORDS.values())) for o in outcomes]
    for start, end in _blocks(columns, view.width - first - len(_GAP)) if names else ():
        shown = range(start, end)
        head = [short_ref(outcomes[n].onto.ref).ljust(columns[n]) for n in shown]
        yield _GAP + _GAP.join(["patch".ljust(first), *head]).rstrip()
        for row, name in names.items():
            cells = [
                _cell(outcomes[n].patches[row].verdict, columns[n] * (n + 1 < end), view.colour)
                for n in shown
            ]
            yield _GAP + _GAP.join([name.ljust(first), *cells])
        yield ""
    alike = len(outcomes[0].patches) - len(names)
    if alike:
        yield f"{_GAP}{counted(alike, 'patch')} the same on every target"
    longest = max(len(short_ref(outcome.onto.ref)) for outcome in outcomes)
    for outcome in outcomes:
        yield f"{_GAP}{short_ref(outcome.onto.ref).ljust(longest)}{_GAP}{_fate(outcome)}"


def _blocks(columns: Sequence[int], width: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of the columns that fit side by side, at least one at a time."""
    start, used = 0, 0
    for number, column in enumerate(columns):
        used += column + len(_GAP)
        if used > width and number > start:
            yield start, number
            start, used = number, column + len(_GAP)
    yield start, len(columns)


def _cell(verdict: Verdict, width: int, colour: bool) -> str:
    return painted(_WORDS[verdict].ljust(width), VERDICT_COLOURS[verdict], colour=colour)


def _fate(outcome: SeriesOutcome) -> str:
    """Return head and counts in words, or what is left."""
    if outcome.has_conflicts:
        conflicts, blocked = (outcome.count(verdict) for verdict in _LEFT)
        rest = f", {blocked} blocked" if blocked else ""
        return f"{counted(conflicts, 'conflict')}{rest}"
    counts = (f"{outcome.count(v)} {v.value}" for v in Verdict if outcome.count(v))
    return f"head {outcome.head}{_GAP}{', '.join(counts) or 'no patches'}"


def _markdown(outcomes: Sequence[SeriesOutcome]) -> Iterator[str]:
    yield f"### {text(_heading(outcomes))}"
    yield ""
    yield _row(["patch", *(text(short_ref(outcome.onto.ref)) for outcome in outcomes)])
    yield _row(["---"] * (len(outcomes) + 1))
    for row, patch in enumerate(outcomes[0].patches):
        words = [_WORDS[outcome.patches[row].verdict] for outcome in outcomes]
        cells = [f"**{word}**" if word in ("conflict", "blocked") else word for word in words]
        yield _row([code_cell(patch.name), *cells])
    yield ""
    for outcome in outcomes:
        yield f"- {text(short_ref(outcome.onto.ref))}: {_fate(outcome)}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
