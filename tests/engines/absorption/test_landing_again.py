"""A patch that takes away what an earlier one of the series brings, and is in as a whole or not."""

from __future__ import annotations

from itertools import pairwise

from tests.engines.absorption.test_landing import BASE, FIRST, a, on_a, tale
from tests.engines.series import difference
from tests.engines.tales import Tale, swap
from tests.tables import table

AT_12 = ("stay_12", "stay_12 ours_1st ours_2nd ours_3rd")
AT_25 = ("stay_25", "stay_25 last_one last_two")
GONE = ("again_x", "")
PIECES = " ".join(f"piece_{number}" for number in range(10))
MANY = swap(BASE, ("stay_05", f"stay_05 again_x {PIECES}"))
SHORT = swap(BASE, ("stay_05", "stay_05 again_x ours_one ours_two"))
NEVER = swap(BASE, ("stay_05", "stay_05 again_x never_1 never_2"))
STATES = [BASE, MANY, swap(MANY, AT_12), swap(MANY, AT_12, GONE)]
BACK = ("stay_28", "stay_28 again_x")


def folder(path: str) -> str:
    """Return a path that is a text of its own each time."""
    return "/".join(["folder", path])


@table(
    ("told", "verdicts"),
    {
        "upstream-has-it-again-elsewhere": (
            tale(
                a(swap(BASE, AT_25), swap(SHORT, AT_25), swap(FIRST, AT_25)),
                *on_a(FIRST, swap(FIRST, BACK)),
            ),
            ["-", "landed c0 range", "landed c0 range"],
        ),
        "another-patch-landed-later": (
            tale(
                a(swap(BASE, AT_25), swap(SHORT, AT_25), swap(FIRST, AT_25)),
                *on_a(FIRST, swap(FIRST, AT_25)),
            ),
            ["landed c1 exact", "landed c0 range", "landed c0 range"],
        ),
        "a-patch-that-is-not-in-brings-it-to-other-files": (
            tale(
                [dict.fromkeys("Ab", NEVER), {"a": SHORT}, {"a": FIRST}],
                *on_a(FIRST, swap(FIRST, BACK)),
                base=dict.fromkeys("Aab", BASE),
            ),
            ["-", "landed c0 range", "landed c0 range"],
        ),
        "what-brings-it-landed-later": (
            Tale(
                {folder("a"): BASE},
                [
                    difference(f"p{number}", {folder("a"): old}, {folder("a"): new})
                    for number, (old, new) in enumerate(pairwise(STATES))
                ],
                [("Work", {folder("a"): state}) for state in (swap(BASE, AT_12), STATES[2])],
            ),
            ["landed c1 exact", "landed c0 exact", "-"],
        ),
    },
)
def test_a_removal_is_needed_again_where_what_it_removes_landed_later(
    told: Tale, verdicts: list[str]
) -> None:
    assert told.verdicts() == verdicts
