"""What blocks a patch is what caused the conflict in its way."""

from __future__ import annotations

from patchmgr.engines.blocking import pass_on_causes
from patchmgr.engines.sightings import explain, explained_paths
from patchmgr.model.patch import Patch
from tests.engines.ports import PlainMerge
from tests.engines.series import Files, Run, Told, edited, entry_of, moved, patch_of, text

BASE = text("a b c d e f g h i j k l")
EARLY = text("a B c d e f g h i j k l")
LATE = text("a B c d e f g h i j K l")
OTHER = text("a X c d e f g h i j k l")
ONE, TWO, NEW, MORE = text("1"), text("2"), text("new"), text("more")


def causes(base: Files, story: list[tuple[str, dict[str, bytes]]], *patches: Patch) -> list[str]:
    """Return `verdict: causes` of each patch."""
    onto = dict(base)
    for _, changes in story:
        onto |= changes
    run = Run(base, onto)
    result = run.rebase(*patches)
    told = Told(run.blobs, story)
    paths = explained_paths(result.judged)
    start = {path: entry_of(run.blobs, base[path]) for path in paths if path in base}
    judged = explain(result.judged, told, start, blobs=run.blobs, text=PlainMerge())
    judged, _ = pass_on_causes(judged, patches)
    return [
        f"{one.outcome.verdict.value}: {' '.join(c.subject for c in one.outcome.cause)}".strip()
        for one in judged
    ]


def test_a_blocked_patch_has_the_cause_of_what_blocks_it() -> None:
    told = causes(
        {"f": BASE, "x": ONE},
        [("1", {"x": NEW}), ("2", {"f": OTHER})],
        patch_of("p1", edited("f", BASE, EARLY)),
        patch_of("p2", edited("x", ONE, TWO)),
        patch_of("p3", edited("f", EARLY, LATE)),
        patch_of("p4", edited("f", LATE, BASE), edited("x", TWO, MORE)),
    )
    assert told == ["conflict: 2", "conflict: 1", "blocked: 2", "blocked: 2 1"]


def test_what_a_blocked_patch_touches_is_blocked_for_the_same_cause() -> None:
    told = causes(
        {"f": BASE, "x": ONE},
        [("1", {"f": OTHER})],
        patch_of("p1", edited("f", BASE, EARLY)),
        patch_of("p2", moved("f", "g", EARLY, EARLY)),
        patch_of("p3", edited("g", EARLY, LATE)),
    )
    assert told == ["conflict: 1", "blocked: 1", "blocked: 1"]


def test_only_the_file_in_the_way_counts() -> None:
    told = causes(
        {"f": BASE, "x": ONE, "y": ONE},
        [("1", {"x": NEW}), ("2", {"f": OTHER})],
        patch_of("p1", edited("f", BASE, EARLY), edited("x", ONE, TWO), edited("y", ONE, TWO)),
        patch_of("p2", edited("x", TWO, MORE)),
        patch_of("p3", edited("y", TWO, MORE)),
    )
    assert told == ["conflict: 2 1", "blocked: 1", "unchanged:"]


def test_what_was_not_tried_has_no_cause() -> None:
    patches = [patch_of("p1", edited("f", BASE, EARLY)), patch_of("p2", edited("x", ONE, TWO))]
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": ONE})
    judged = run.rebase(*patches, stops=True).judged
    assert [one.outcome.cause for one in pass_on_causes(judged, patches)[0]] == [(), ()]
