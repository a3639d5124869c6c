"""The footprints of two states of a series, compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchmgr.engines.series.comparison import OwnCommit, compare_states
from patchmgr.model.footprint import ComparedFootprint, Footprint, Touched

State = tuple[Footprint, Sequence[OwnCommit]]


def compared(name: str, before: State | None, after: State | None) -> ComparedFootprint:
    """Compare a series with an earlier state; a side is None if the series does not exist there."""
    (old, then), (new, now) = before or (None, ()), after or (None, ())
    was, touched = ({*_touched(old)}, {*_touched(new)})
    only = (
        tuple(sorted(places, key=lambda one: (one[0], one[1] or "")))
        for places in (touched - was, was - touched)
    )
    return ComparedFootprint(name, old, new, compare_states(then, now), *only)


def _touched(footprint: Footprint | None) -> Iterator[Touched]:
    """Yield the files that a series touches, and the symbols of upstream."""
    if footprint is None:
        return
    yield from ((file.path, None) for file in footprint.files)
    for patch in footprint.patches:
        for file in patch.files:
            yield from ((file.path, t.symbol) for t in file.touches if t.is_upstream and t.symbol)
