"""What the terminal says of a patch beside its verdict."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from patchmgr.model.outcome import HunkOutcome, PatchOutcome, SeriesOutcome, Verdict, Wording
from patchmgr.model.patch import Author
from patchmgr.model.upstream import Pin
from patchmgr.render.conflicts import conflicts_text
from patchmgr.render.terminal import patch_lines

PATCH = PatchOutcome("p.patch", "Do it", b"", Author("n", "e", "0 +0000"), Verdict.ABSORBED)
LANDED, LATER = "1" * 40, "2" * 40
WORDING = Wording("f.py", b"theirs = 1\n", b"ours = 1\n")


def hunks(*verdicts: Verdict) -> tuple[HunkOutcome, ...]:
    return tuple(
        HunkOutcome("f.py", "f.py", 10 * n, None, verdict, None)
        for n, verdict in enumerate(verdicts, 1)
    )


def partial(left: int) -> PatchOutcome:
    verdicts = (Verdict.ABSORBED, *[Verdict.UNCHANGED] * left)
    return replace(PATCH, verdict=Verdict.PARTIAL, hunks=hunks(*verdicts))


@pytest.mark.parametrize(
    ("patch", "lines"),
    [
        pytest.param(replace(PATCH, history=((LANDED, "landed"),)), [], id="landed"),
        pytest.param(
            replace(PATCH, history=((LANDED, "landed"), (LATER, "evolved"))),
            ["changed again since 222222222222"],
            id="evolved",
        ),
        pytest.param(
            replace(PATCH, history=((LANDED, "landed"), (LATER, "gone"))),
            ["its lines are no longer in the file since 222222222222"],
            id="gone",
        ),
        pytest.param(
            replace(PATCH, history=((LANDED, "landed"), (LATER, "evolved")), now_in="new/f.py"),
            ["moved to new/f.py since 222222222222"],
            id="moved",
        ),
        pytest.param(
            replace(
                PATCH,
                verdict=Verdict.UNCHANGED,
                history=((LANDED, "landed"), (LATER, "reverted")),
            ),
            ["landed in 111111111111, taken back in 222222222222"],
            id="reverted",
        ),
        pytest.param(
            replace(PATCH, superseded=(WORDING,)),
            ["superseded: landed in other words (both texts with --show-conflicts)"],
            id="superseded",
        ),
        pytest.param(
            partial(2),
            ["left of it: 2 of 3 hunks", "  f.py line 20", "  f.py line 30"],
            id="partial",
        ),
        pytest.param(
            replace(PATCH, verdict=Verdict.MODIFIED, warnings=("f.py: `x` \x1b is used",)),
            ["warning: f.py: `x` \\u001b is used"],
            id="warning",
        ),
    ],
)
def test_a_line_says_what_happened(patch: PatchOutcome, lines: list[str]) -> None:
    _, *rest = patch_lines(patch, colour=False)
    assert [line.removeprefix(" " * 13) for line in rest] == lines


def test_many_hunks_that_are_left_are_counted() -> None:
    *_, last = patch_lines(partial(9), colour=False)
    assert last.strip() == "and 3 more"


def test_both_texts_of_another_wording_are_shown() -> None:
    pin = Pin("v1", "b" * 40, "d" * 40)
    patch = replace(PATCH, superseded=(WORDING,))
    series = SeriesOutcome("s", "up", pin, pin, 1, None, "d" * 40, (patch,), (None,))
    assert conflicts_text(series).splitlines() == [
        "--- p.patch  f.py  (superseded)",
        "@@ upstream @@",
        "theirs = 1",
        "@@ patch @@",
        "ours = 1",
    ]
