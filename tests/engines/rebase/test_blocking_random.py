"""What is carried behind a conflict comes out the same once that is resolved."""

from __future__ import annotations

import random

from patchmgr.engines.rebase.blocking import resolved_both_ways
from patchmgr.engines.series.placement import split_lines
from patchmgr.model.outcome import FileConflict, PatchOutcome
from patchmgr.model.patch import Patch
from tests.engines.series import Files, Run, difference, shown
from tests.long import LONG
from tests.tables import table

SIZE = 40


def edited_at_random(chance: random.Random, content: bytes, word: str) -> bytes:
    """Return a text with one or two places changed, grown or shrunk."""
    lines = split_lines(content)
    for number in range(chance.choice([1, 1, 2])):
        at = chance.randrange(len(lines))
        new = [f"{word} {number} {n}\n".encode() for n in range(chance.choice([0, 1, 1, 2]))]
        lines[at : at + chance.choice([0, 1, 1, 2])] = new
    return b"".join(lines)


def tale(seed: int) -> tuple[Files, Files, list[Patch]]:
    """Return base, target and a series on one file."""
    chance = random.Random(seed)
    base = b"".join(b"line %d\n" % number for number in range(SIZE))
    onto, state, patches = base, base, list[Patch]()
    for number in range(3):
        onto = edited_at_random(chance, onto, f"upstream {number}")
    for number in range(chance.choice([3, 4, 5])):
        after = edited_at_random(chance, state, f"patch {number}")
        if after != state:
            patches.append(difference(f"p{number}", {"f": state}, {"f": after}))
        state = after
    return {"f": base}, {"f": onto}, patches


def resolved(conflict: FileConflict, way: str) -> bytes:
    """Return a resolution that a person may well write."""
    both = resolved_both_ways(conflict)
    assert both is not None
    return both[way == "theirs"]


def edit(
    run: Run, patches: list[Patch], number: int, solved: dict[tuple[str, str], bytes | None],
    on: dict[tuple[str, str], bytes],
) -> list[tuple[bytes, ...]]:  # fmt: skip
    """Return what a patch changes on the new side, with the lines around it."""
    ends = [run.rebase(*patches[:n], solved=solved, solved_on=on) for n in (number, number + 1)]
    before, after = (end.files for end in ends)
    changes = difference("d", before, after).files
    return [hunk.lines for change in changes for hunk in change.hunks]


def is_promised(outcome: PatchOutcome) -> bool:
    return outcome.is_carried and bool(outcome.hunks)


@table("way", ["ours", "theirs"])
def test_what_is_carried_behind_a_conflict_is_carried_alike_once_it_is_resolved(way: str) -> None:
    compared = 0
    for seed in range(400 if LONG else 20):
        base, onto, patches = tale(seed)
        run = Run(base, onto)
        first = run.rebase(*patches)
        solved: dict[tuple[str, str], bytes | None] = {}
        on: dict[tuple[str, str], bytes] = {}
        for outcome in first.outcomes:
            for conflict in outcome.conflicts:
                solved[outcome.name, "f"] = resolved(conflict, way)
                on[outcome.name, "f"] = shown(conflict.ours or b"")
        second = run.rebase(*patches, solved=solved, solved_on=on)
        for number, outcome in enumerate(first.outcomes):
            if solved and is_promised(outcome):
                again = second.outcomes[number]
                assert again.verdict == outcome.verdict, seed
                assert edit(run, patches, number, solved, on) == edit(
                    run, patches, number, {}, {}
                ), seed
                compared += 1
    assert compared > 20
