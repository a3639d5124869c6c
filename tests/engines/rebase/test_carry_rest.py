"""A patch without the hunks that upstream has."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from patchmgr.engines.rebase.carry import carry_rest, without_hunks
from patchmgr.engines.rebase.work import FileResult, NewSide, Tools
from patchmgr.engines.series.fold import FileStep, Overlay, step_patch
from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.model.outcome import How
from patchmgr.model.patch import FilePatch
from patchmgr.model.snapshot import REGULAR
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import (
    NOBODY,
    File,
    Files,
    Upstream,
    binary,
    created,
    deleted,
    edited,
    executable,
    moved,
    patch_of,
    text,
)
from tests.engines.tales import changed, swap
from tests.tables import table

BASE = text(" ".join(f"stay_{n:02}" for n in range(30)))
FIRST = ("stay_04", "stay_04 ours_04 ours_05")
SECOND = ("stay_14", "ours_14")
THIRD = ("stay_24", "")
ALL = swap(BASE, FIRST, SECOND, THIRD)
EDITS = (FIRST, SECOND, THIRD)


def steps_of(blobs: MemoryBlobs, base: Files, *files: FilePatch) -> tuple[FileStep, ...]:
    return step_patch(Overlay(Upstream(blobs, base)), patch_of("p", *files), blobs)


@table("dropped", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], ids=str)
def test_dropped_hunks_become_part_of_the_base(dropped: Collection[int]) -> None:
    blobs = MemoryBlobs()
    (step,) = steps_of(blobs, {"f": BASE}, edited("f", BASE, ALL))
    rest = without_hunks(step, dropped, blobs)
    assert rest.base is not None
    base = blobs.read(rest.base.blob)
    assert base == swap(BASE, *(EDITS[n] for n in dropped))
    applied = apply_hunks(base, rest.change.hunks)
    assert applied == Applied(ALL, rest.positions)
    assert rest.theirs == step.theirs
    assert [h.old_start - 1 for h in rest.change.hunks] == [*rest.positions]


def test_each_file_has_an_answer_at_least() -> None:
    blobs = MemoryBlobs()
    files = (edited("f", BASE, ALL), binary("b", b"\0", b"\0x"))
    steps = steps_of(blobs, {"f": BASE, "b": b"\0"}, *files)
    assert [step.size for step in steps] == [3, 1]


def carry(
    base: Files, onto: Files, dropped: Collection[int], *files: FilePatch
) -> tuple[tuple[FileResult, ...], Files]:
    """Carry what is left of a patch; return the new side, too."""
    blobs = MemoryBlobs()
    side = NewSide(Overlay(Upstream(blobs, onto)), {})
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    steps = steps_of(blobs, base, *files)
    results = carry_rest("p", steps, dropped, How.RANGE, side, tools)
    assert [result.step for result in results] == [*steps]
    found: dict[str, File | None] = {}
    for path, entry in (item for result in results for item in result.changes.items()):
        content = b"" if entry is None else blobs.read(entry.blob)
        is_plain = entry is not None and entry.mode == REGULAR
        found[path] = None if entry is None else content if is_plain else (entry.mode, content)
    return results, changed(onto, found)


def answers(results: Sequence[FileResult]) -> list[list[str]]:
    return [[f"{v.value} {h.value if h else '-'}" for v, h in r.answers] for r in results]


GONE = "absorbed range"
KEPT = "unchanged identical"
TEXT = "unchanged text"


@table(
    ("onto", "dropped", "expected", "after"),
    {
        "nothing-dropped": (BASE, [], [KEPT] * 3, ALL),
        "first": (swap(BASE, FIRST), [0], [GONE, KEPT, KEPT], ALL),
        "second": (swap(BASE, SECOND), [1], [KEPT, GONE, KEPT], ALL),
        "third": (swap(BASE, THIRD), [2], [KEPT, KEPT, GONE], ALL),
        "first-and-third": (swap(BASE, FIRST, THIRD), [0, 2], [GONE, KEPT, GONE], ALL),
        "all": (ALL, [0, 1, 2], [GONE] * 3, ALL),
        "first-on-a-changed-file": (
            swap(BASE, FIRST, ("stay_29", "other_29")),
            [0],
            [GONE, "unchanged text", "unchanged text"],
            swap(ALL, ("stay_29", "other_29")),
        ),
        "the-rest-collides": (
            swap(BASE, FIRST, ("stay_14", "theirs_14")),
            [0],
            [GONE, "conflict -", "unchanged text"],
            swap(BASE, FIRST, ("stay_14", "theirs_14")),
        ),
    },
)
def test_the_rest_of_a_file_is_carried(
    onto: bytes, dropped: Collection[int], expected: list[str], after: bytes
) -> None:
    results, files = carry({"f": BASE}, {"f": onto}, dropped, edited("f", BASE, ALL))
    assert answers(results) == [expected]
    assert files == {"f": after}


def test_only_a_patch_that_is_carried_whole_is_untouched() -> None:
    patch = edited("f", BASE, ALL)
    assert [r.is_untouched for r in carry({"f": BASE}, {"f": BASE}, [], patch)[0]] == [True]
    assert [r.is_untouched for r in carry({"f": BASE}, {"f": BASE}, [0], patch)[0]] == [False]


BOTH = {"f": BASE, "g": BASE}
REST = {"f": swap(BASE, FIRST, SECOND), "g": BASE}


@table(
    ("dropped", "expected", "after"),
    {
        "first-file": ([0, 1, 2], [[GONE] * 3, [KEPT]], {"f": BASE}),
        "second-file": ([3], [[KEPT] * 3, [GONE]], {"g": BASE}),
        "across-files": ([2, 3], [[TEXT, TEXT, GONE], [GONE]], REST),
    },
)
def test_hunks_are_numbered_through_the_files(
    dropped: Collection[int], expected: list[list[str]], after: Files
) -> None:
    second = swap(BASE, SECOND)
    files = (edited("f", BASE, ALL), edited("g", BASE, second))
    results, found = carry(BOTH, BOTH, dropped, *files)
    assert answers(results) == expected
    assert found == {"f": ALL, "g": second, **after}


@table(
    ("base", "change", "expected", "after"),
    {
        "rename": ({"f": BASE}, moved("f", "g", BASE, ALL), [KEPT] * 3, {"g": ALL}),
        "copy": ({"f": BASE}, moved("f", "g", BASE, ALL, is_copy=True), [KEPT] * 3,
            {"f": BASE, "g": ALL}),
        "mode": ({"f": BASE}, edited("f", BASE, executable(ALL)), [KEPT] * 3,
            {"f": executable(ALL)}),
        "creation": ({}, created("f", ALL), [KEPT], {"f": ALL}),
        "deletion": ({"f": BASE}, deleted("f", BASE), [KEPT], {}),
        "binary": ({"b": b"\0"}, binary("b", b"\0", b"\0x"), [KEPT], {"b": b"\0x"}),
    },
)  # fmt: skip
def test_a_file_that_comes_goes_moves_or_changes_its_mode_is_carried_whole(
    base: Files, change: FilePatch, expected: list[str], after: Files
) -> None:
    beside = {"s": BASE}
    other = edited("s", BASE, swap(BASE, SECOND))
    results, files = carry(
        {**base, **beside}, {**base, **beside}, [0, len(expected)], change, other
    )
    assert answers(results) == [expected, [GONE]]
    assert files == {**after, **beside}
