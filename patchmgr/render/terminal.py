"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, Sighting, Verdict
from patchmgr.render.clean import clean

_COLOURS = {
    Verdict.UNCHANGED: "32",
    Verdict.MODIFIED: "33",
    Verdict.PARTIAL: "33",
    Verdict.ABSORBED: "36",
    Verdict.CONFLICT: "1;31",
    Verdict.BLOCKED: "31",
    Verdict.SKIPPED: "2",
}
_WIDTH = max(len(verdict.value) for verdict in Verdict)


def painted(text: str, code: str, *, colour: bool) -> str:
    """Return the text in a colour (SGR code) where colour is wanted."""
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


def rebase_text(outcome: SeriesOutcome, *, colour: bool) -> str:
    """Return the verdict table of one series: a heading, a line a patch, a summary."""
    lines = [_heading(outcome)]
    for patch in outcome.patches:
        lines += patch_lines(patch, colour)
    lines.append(_summary(outcome))
    return "\n".join(lines) + "\n"


def _heading(outcome: SeriesOutcome) -> str:
    number = outcome.upstream_commits
    unit = "release" if outcome.onto.archive else "commit"
    base, onto = clean(outcome.base.ref), clean(outcome.onto.ref)
    moved = f"{number} upstream {unit}{'' if number == 1 else 's'}"
    return f"{outcome.name}: {base} -> {onto}  ({moved})"


def patch_lines(patch: PatchOutcome, colour: bool) -> Iterator[str]:
    """Yield the lines of one patch: verdict, subject, how, evidence or cause."""
    verdict = painted(patch.verdict.value.ljust(_WIDTH), _COLOURS[patch.verdict], colour=colour)
    how = ", ".join(dict.fromkeys(h.how.value for h in patch.hunks if h.how is not None))
    told = f"  [{how}]" if how else ""
    yield f"  {verdict}  {clean(patch.name)}  {clean(patch.subject)}{told}"
    indent = " " * (_WIDTH + 4)
    for sighting in patch.evidence:
        yield f"{indent}in {sighting_text(sighting)}"
    for sighting in patch.cause:
        yield f"{indent}since {sighting_text(sighting)}"
    for old, new in _moves(patch):
        yield f"{indent}{clean(old)} is now {clean(new)}"
    for conflict in patch.conflicts if patch.verdict is Verdict.CONFLICT else ():
        yield f"{indent}{clean(conflict.new_path)}: {conflict.reason}  (conflict {conflict.id})"
    if patch.reason is not None:
        yield f"{indent}{clean(patch.reason)}"


def _moves(patch: PatchOutcome) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((h.path, h.new_path) for h in patch.hunks if h.path != h.new_path))


def sighting_text(sighting: Sighting) -> str:
    """Return an upstream commit in one line."""
    return f"{sighting.commit[:12]} {clean(sighting.subject)}"


def _summary(outcome: SeriesOutcome) -> str:
    counts = [f"{outcome.count(v)} {v.value}" for v in Verdict if outcome.count(v)]
    return f"  {len(outcome.patches)} patches: {', '.join(counts) or 'none'}"


def after_rebase(
    outcomes: Iterable[SeriesOutcome], *, is_dry_run: bool, work: Path | None
) -> Iterator[str]:
    """Yield what to do next, a line each."""
    outcomes = tuple(outcomes)
    if work is not None:
        yield f"Conflicts are left. Edit the files with markers below {work}"
        yield "then run: patchmgr rebase --continue    (to forget it: patchmgr rebase --abort)"
        yield "Patch files, pin and branch are as they were."
    elif any(outcome.has_conflicts for outcome in outcomes):
        yield "Conflicts are left. Nothing was written: this was a dry run."
    elif is_dry_run:
        yield "No conflict. Nothing was written: this was a dry run."
    else:
        for outcome in outcomes:
            yield f"{outcome.name}: head {outcome.head}"
