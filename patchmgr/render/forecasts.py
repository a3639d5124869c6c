"""Forecasts: as text, and as plain values."""

from __future__ import annotations

from collections.abc import Iterator

from patchmgr.model.forecast import Forecast, PullEffect, PullForecast
from patchmgr.model.outcome import Verdict
from patchmgr.render.clean import clean, counted
from patchmgr.render.plans import assumed, patch_lines
from patchmgr.render.terminal import VERDICT_COLOURS, painted
from patchmgr.render.view import View

_COLOURS = {
    PullEffect.BREAKS: VERDICT_COLOURS[Verdict.CONFLICT],
    PullEffect.ABSORBS: VERDICT_COLOURS[Verdict.ABSORBED],
    PullEffect.TOUCHES: VERDICT_COLOURS[Verdict.MODIFIED],
    PullEffect.UNKNOWN: VERDICT_COLOURS[Verdict.BLOCKED],
}
_WIDTH = max(len(effect.value) for effect in PullEffect)


def forecast_text(found: Forecast, view: View) -> str:
    """Return the heading, and the pull requests that touch a patch, the breaking ones first."""
    counts = [f"{_count(found, effect)} {effect.value}" for effect in _COLOURS]
    told = f"{counted(found.open, 'open pull request')}: {', '.join(counts)}"
    lines = [f"{clean(', '.join(found.series))} on {found.tip.commit[:12]}: {told}"]
    if not view.is_line:
        for line in assumed(found.assuming):
            lines += view.folded(line, "  ")
        for pull in found.pulls:
            lines += _pull_lines(pull, view)
        days = f"open is what a merge is offered of, or had a commit in the last {found.days} days"
        lines += view.folded(days, "  ")
    return "".join(f"{line}\n" for line in lines)


def _count(found: Forecast, effect: PullEffect) -> int:
    return sum(pull.effect is effect for pull in found.pulls)


def _pull_lines(pull: PullForecast, view: View) -> Iterator[str]:
    word = painted(pull.effect.value.ljust(_WIDTH), _COLOURS[pull.effect], colour=view.colour)
    yield f"  {word}  #{pull.number} {clean(pull.subject)}"
    indent = " " * (_WIDTH + 4)
    yield from view.folded(f"by {clean(pull.author)}, {pull.date}", indent)
    if pull.effect is PullEffect.UNKNOWN:
        paths = ", ".join(map(clean, pull.paths))
        yield from view.folded(f"does not merge into upstream; changes {paths}", indent)
    for patch in pull.patches:
        yield from patch_lines(patch, view, indent)
