"""What is dropped from a series, and what later patches then meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.rebase.rebase import Item, leave_out, rebase_series
from patchmgr.engines.rebase.work import Tools, UpstreamRange
from patchmgr.model.decision import Decision, Ruling
from patchmgr.model.outcome import How
from patchmgr.model.patch import FilePatch
from patchmgr.model.ports import Step
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge
from tests.engines.series import (
    NOBODY,
    Files,
    Run,
    created,
    edited,
    executable,
    moved,
    patch_of,
    text,
)
from tests.tables import table

BASE = text("a b c d e f g h i j k l")
EARLY = text("a B c d e f g h i j k l")
OTHER = text("a X c d e f g h i j k l")
BOTH = text("a B c d e f g h i j K l")
ONE, TWO, NEW = text("1"), text("2"), text("new")
LANDED = Absorption(
    frozenset({0}), Step("c1", "Land", "", {}), Event.LANDED, is_whole=True, how=How.EXACT
)
RENAME = moved("f", "m", BASE, BASE)
COPY = moved("f", "m", BASE, BASE, is_copy=True)


@table(
    ("dropped", "onto", "renames", "verdict", "after"),
    {
        "not-moved": (RENAME, {"f": BASE}, {}, "modified", {"f": EARLY}),
        "moved-elsewhere": (RENAME, {"h": BASE}, {"f": "h"}, "modified", {"h": EARLY}),
        "moved-alike": (RENAME, {"m": BASE}, {"f": "m"}, "unchanged", {"m": EARLY}),
        "both-are-there": (
            RENAME,
            {"f": BASE, "m": BASE},
            {},
            "unchanged",
            {"f": BASE, "m": EARLY},
        ),
        "copy-not-there": (COPY, {"f": BASE}, {}, "conflict", {"f": BASE}),
        "copied": (COPY, {"f": BASE, "m": BASE}, {}, "unchanged", {"f": BASE, "m": EARLY}),
    },
)
def test_a_file_whose_dropped_move_upstream_lacks_is_where_it_was(
    dropped: FilePatch, onto: Files, renames: Mapping[str, str], verdict: str, after: Files
) -> None:
    patches = [patch_of("p1", dropped), patch_of("p2", edited("m", BASE, EARLY))]
    result = Run({"f": BASE}, onto).rebase(*patches, renames=renames, known={"p1": LANDED})
    assert result.verdicts == ["absorbed", verdict]
    assert result.files == after


@table("before", [(), ("p0",)], ids=["first", "behind-an-absorbed-one"])
@table(
    ("names", "onto", "verdicts"),
    {
        "of-a-carried-patch": ("p1", {"x": ONE}, ["unchanged", "unchanged"]),
        "of-one-in-conflict": ("p1", {"x": NEW}, ["conflict", "absorbed"]),
        "of-one-that-upstream-has": ("p1", {"x": TWO}, ["absorbed", "absorbed"]),
        "of-another-patch": ("other", {"x": ONE}, ["unchanged", "absorbed"]),
    },
)
def test_what_takes_away_lines_of_a_carried_patch_is_carried_too(
    names: str, onto: Files, verdicts: list[str], before: Sequence[str]
) -> None:
    patches = [
        *(patch_of(name, created("n", NEW)) for name in before),
        patch_of("p1", edited("x", ONE, TWO)),
        patch_of("p2", edited("f", BASE, EARLY)),
    ]
    run = Run({"f": BASE, "x": ONE}, {"f": BASE, "n": NEW, **onto})
    known = {"p2": replace(LANDED, undoes={0: frozenset({names})})}
    result = run.rebase(*patches, known=known)
    assert result.verdicts[-2:] == verdicts


def test_of_a_patch_in_part_blocked_nothing_is_dropped() -> None:
    part = replace(LANDED, is_whole=False)
    patches = [
        patch_of("p1", edited("f", BASE, executable(EARLY))),
        patch_of("p2", edited("f", executable(EARLY), executable(BOTH)), edited("x", ONE, TWO)),
    ]
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": ONE})
    result = run.rebase(*patches, known={"p2": part})
    assert result.verdicts == ["conflict", "blocked"]
    assert result.files == {"f": OTHER, "x": TWO}


def test_a_move_in_conflict_is_not_followed() -> None:
    patches = [
        patch_of("p1", moved("f", "m", BASE, EARLY)),
        patch_of("p2", edited("m", EARLY, BOTH)),
    ]
    run = Run({"f": BASE}, {"h": OTHER})
    result = run.rebase(*patches, renames={"f": "h"}, known={"p2": LANDED})
    assert result.verdicts == ["conflict", "absorbed"]
    assert [hunk.new_path for hunk in result.outcomes[1].hunks] == ["m"]


@table("way", [1, -1], ids=["goes-first", "comes-first"])
def test_a_path_that_one_file_leaves_is_free_for_another(way: int) -> None:
    files = (RENAME, created("f", NEW))[::way]
    result = Run({"f": BASE}, {"f": BASE}).rebase(patch_of("p", *files))
    assert result.verdicts == ["unchanged"]
    assert result.files == {"f": NEW, "m": BASE}


def test_a_rebase_goes_on_behind_a_conflict_unless_asked_to_stop() -> None:
    blobs = MemoryBlobs()
    base, onto = (MemoryTree(blobs, {"f": f, "x": ONE}) for f in (BASE, OTHER))
    patches = [patch_of("p1", edited("f", BASE, EARLY)), patch_of("p2", edited("x", ONE, TWO))]
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    judged, _ = rebase_series([Item(patch) for patch in patches], UpstreamRange(base, onto), tools)
    assert [one.outcome.verdict.value for one in judged] == ["conflict", "unchanged"]


def test_a_file_whose_skipped_move_upstream_lacks_is_where_it_was() -> None:
    blobs = MemoryBlobs()
    base = MemoryTree(blobs, {"f": BASE})
    items = [Item(patch_of("p1", RENAME)), Item(patch_of("p2", edited("m", BASE, EARLY)))]
    placed = leave_out(items, {"p1": "skipped"}, base, blobs)
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    judged, changes = rebase_series(placed, UpstreamRange(base, base), tools)
    assert [one.outcome.verdict.value for one in judged] == ["skipped", "modified"]
    assert list(changes) == ["f"]


def test_a_person_decides_about_a_patch_as_a_whole() -> None:
    patch = patch_of("p", edited("f", BASE, EARLY))
    run = Run({"f": BASE}, {"f": OTHER})
    finding = run.rebase(patch).outcomes[0].finding
    assert finding is not None
    decision = Decision("s", "p", Ruling.ABSORBED, finding.change, finding.passages, commit="c7")
    (judged,) = run.rebase(patch, decisions=(decision,)).judged
    assert judged.absorption is not None
    assert judged.absorption.hunks == {0}
    assert judged.absorption.is_whole


def test_a_file_in_which_upstream_did_more_is_no_change() -> None:
    patch = patch_of("p", edited("f", BASE, EARLY), edited("x", ONE, TWO))
    result = Run({"f": BASE, "x": ONE}, {"f": BOTH, "x": ONE}).rebase(patch)
    assert result.verdicts == ["partial"]
    assert list(result.outcomes[0].changes or {}) == ["x"]
