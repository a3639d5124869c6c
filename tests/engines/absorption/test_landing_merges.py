"""Which commit of a merged branch brought a patch, where upstream merges branches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from patchmgr.engines.absorption.landing import find_absorbed
from patchmgr.engines.absorption.series import Series
from patchmgr.model.ports import Step
from tests.engines.absorption.test_landing import (
    BASE,
    BOTH,
    FIRST,
    FOUR,
    LATE,
    OTHER,
    THREE,
    a,
    on_a,
    tale,
)
from tests.engines.ports import MemoryBlobs
from tests.engines.series import entry_of
from tests.engines.tales import swap
from tests.tables import table

MAIN = swap(BOTH, ("stay_28", "other_28"))
State = bytes | Sequence[bytes]


def named(ours: bytes, merged: bytes, branch: Sequence[State]) -> str | None:
    """Return the commit that is named inside of a merge.

    `branch` has the file as the branch found it, and as its commits make it; one that is a merge
    has the same for its branch. Commits are numbered in the order in which they stand there.
    """
    series = tale(a(ours), *on_a(merged)).series()
    blobs, inside = series.blobs, dict[str, Sequence[Step]]()
    assert isinstance(blobs, MemoryBlobs)
    count = iter(range(99))

    def steps(states: Sequence[State]) -> list[Step]:
        made = list[Step]()
        for state in states:
            content = state if isinstance(state, bytes) else state[-1]
            assert isinstance(content, bytes)
            commit, entry = f"b{next(count)}", entry_of(blobs, content)
            made.append(Step(commit, "", "", {"a": entry}, is_merge=content is not state))
            if not isinstance(state, bytes):
                inside[commit] = steps(state)
        return made

    (merge,) = series.way.steps
    inside[merge.commit] = steps(branch)
    way = replace(series.way, steps=[replace(merge, is_merge=True)], inside=lambda merges: inside)
    (found,) = find_absorbed(
        Series(series.folded, way, series.blobs, elsewhere=series.elsewhere)
    ).values()
    assert found.step.commit == "c0"
    return None if found.inner is None else found.inner.commit


@table(
    ("ours", "merged", "branch", "commit"),
    {
        "first-commit": (FIRST, BOTH, [BASE, FIRST, BOTH], "b1"),
        "last-commit": (LATE, BOTH, [BASE, FIRST, BOTH], "b2"),
        "undone-on-the-way": (FIRST, BOTH, [BASE, OTHER, FIRST, BOTH], "b2"),
        "main-went-on-meanwhile": (FIRST, MAIN, [BASE, FIRST, BOTH], "b1"),
        "half-and-then-the-rest": (FOUR, FOUR, [BASE, FIRST, FOUR], None),
        "most-and-then-the-rest": (FOUR, FOUR, [BASE, THREE, FOUR], None),
        "there-when-it-began": (FIRST, BOTH, [FIRST, BOTH], None),
        "merge-in-the-branch": (FIRST, BOTH, [BASE, [BASE, FIRST, BOTH]], "b3"),
        "nothing-of-the-file": (FIRST, BOTH, [], None),
    },
)
def test_the_commit_that_brought_a_patch_is_named_inside_of_its_merge(
    ours: bytes, merged: bytes, branch: Sequence[State], commit: str | None
) -> None:
    assert named(ours, merged, branch) == commit
