"""What a run before found of upstream's way, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Kept, Step


def absorbed_before(
    kept: Kept, about: object, steps: Sequence[Step], find: Callable[[], Mapping[int, Absorption]]
) -> Mapping[int, Absorption]:
    """Return what is absorbed along the steps: what a run before found, or what `find` does.

    `about` is all else that the answer depends on, in values that print alike.
    """
    question = ("absorbed", repr(about), repr(steps))
    known = kept.get(question)
    if known is not None:
        return read_absorbed(known[0], steps)
    found = find()
    kept.put(question, write_absorbed(found, steps))
    return found


def write_absorbed(found: Mapping[int, Absorption], steps: Sequence[Step]) -> list[Any]:
    """Return the absorptions by patch, each step by its number."""
    return [
        [
            patch,
            sorted(one.hunks),
            steps.index(one.step),
            one.event.value,
            one.is_whole,
            None if one.since is None else steps.index(one.since),
            one.how.value,
            [_wording(wording) for wording in one.wordings],
            [[hunk, sorted(names)] for hunk, names in sorted(one.undoes.items())],
            one.now_in,
        ]
        for patch, one in found.items()
    ]


def read_absorbed(written: Sequence[Any], steps: Sequence[Step]) -> dict[int, Absorption]:
    """Return what was written, of the same steps."""
    return {
        patch: Absorption(
            frozenset(hunks),
            steps[step],
            Event(event),
            is_whole,
            None if since is None else steps[since],
            How(how),
            tuple(Wording(p, a.encode("latin-1"), b.encode("latin-1")) for p, a, b in wordings),
            {hunk: frozenset(names) for hunk, names in undoes},
            now_in,
        )
        for patch, hunks, step, event, is_whole, since, how, wordings, undoes, now_in in written
    }


def _wording(wording: Wording) -> list[str]:
    return [wording.path, wording.upstream.decode("latin-1"), wording.patch.decode("latin-1")]
