"""Which upstream step wrote what a conflict shows, and what was nearer to the patch on the way."""

from __future__ import annotations

from collections.abc import Mapping

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.ports import Step
from tests.engines.series import Run, edited, patch_of
from tests.tables import table

LINES = [b"line_%d = value(%d)\n" % (n, n) for n in range(30)]


def _with(**changes: bytes) -> bytes:
    """Return the lines with some of them, as `n4`, replaced."""
    lines = list(LINES)
    for name, line in changes.items():
        lines[int(name[1:])] = line
    return b"".join(lines)


BASE = _with()
ONE = b"line_4 = first(upstream)\n"
TWO = b"line_4 = second(upstream)\n"
FAR = b"line_28 = far(away)\n"
OURS = _with(n4=b"line_4 = patched(value)\n")


def _explained(story: list[bytes | None]) -> PatchOutcome:
    end = {} if story[-1] is None else {"f.py": story[-1]}
    run = Run({"f.py": BASE}, end)
    result = run.rebase(patch_of("p", edited("f.py", BASE, OURS)), asks=True)
    steps = [(f"{n} (#{n})", {"f.py": content}) for n, content in enumerate(story, 1)]
    return run.explained(result, steps)[0]


@table(
    ("story", "cause", "shown"),
    {
        "one": ([_with(n4=ONE)], 1, 1),
        "written-again": ([_with(n4=ONE), _with(n4=TWO)], 1, 2),
        "far-change-since": ([_with(n4=ONE), _with(n4=ONE, n28=FAR)], 1, 1),
        "far-change-before": ([_with(n28=FAR), _with(n4=ONE, n28=FAR)], 2, 2),
        "deleted": ([_with(n4=ONE), _with(n4=b"")], 1, 2),
        "file-deleted": ([_with(n4=ONE), None], 1, 2),
    },
)
def test_a_conflict_names_the_step_whose_text_it_shows(
    story: list[bytes | None], cause: int, shown: int
) -> None:
    told = _explained(story)
    assert [sighting.pull for sighting in told.cause] == [cause]
    (conflict,) = told.conflicts
    assert [None if one is None else one.pull for one in conflict.shown] == [shown]


GUARD = b"    if plant.level > plant.highest_level:\n        raise PlantOverflow(plant.level)\n"
SAME = b"    if plant.level >= plant.highest_level:\n        raise PlantOverflow(plant.floor)\n"
BODY = b"def fill(plant):\n    plant.open_valve()\n%s    plant.add(plant.flow)\n    return plant\n"
MOVED = b"def fill(plant):\n    plant.check_everything()\n    plant.pour()\n    return plant\n"


STEP = Step("commit 1 (#1)", "1 (#1)", "A. Author", {})
BACK = Absorption(frozenset(), STEP, Event.REVERTED, is_whole=False)


@table(
    ("story", "known", "likely"),
    {
        "landed-in-other-words-then-rewritten": ([BODY % SAME, MOVED], {}, [1]),
        "then-reverted": ([BODY % SAME, MOVED], {"p": BACK}, []),
        "something-else": ([BODY % b"    plant.wait()\n", MOVED], {}, []),
    },
)
def test_a_nearer_likeness_is_not_lost(
    story: list[bytes], known: Mapping[str, Absorption], likely: list[int]
) -> None:
    before, after = BODY % b"", BODY % GUARD
    run = Run({"f.py": before}, {"f.py": story[-1]})
    result = run.rebase(patch_of("p", edited("f.py", before, after)), asks=True, known=known)
    assert result.verdicts == ["conflict"]
    steps = [(f"{n} (#{n})", {"f.py": content}) for n, content in enumerate(story, 1)]
    told = run.explained(result, steps)[0]
    assert [one.pull for one in told.likely] == likely
    (conflict,) = told.conflicts
    assert conflict.proposal == ("absorbed" if likely else None)
    assert [one.commit for one in conflict.resemblances] == [f"commit {n} (#{n})" for n in likely]
