"""Where a person is among conflicts, what they chose, and how that is undone."""

from collections.abc import Callable
from functools import reduce

from patchmgr.model.outcome import ConflictKind
from patchmgr.model.resolving import Choice, ChoiceKind, OpenConflict, Resolving
from patchmgr.model.upstream import Pin
from patchmgr.model.work_order import OrderedRegion, WorkOrder
from tests.tables import table

PIN = Pin("v1", "0" * 40, "0" * 40)
OURS, THEIRS = Choice(ChoiceKind.OURS), Choice(ChoiceKind.THEIRS)


def conflict(name: str, *regions: str, patch: str = "p") -> OpenConflict:
    found = tuple(OrderedRegion(one, 1, None, None, None, None) for one in regions)
    order = WorkOrder(
        name, ConflictKind.TEXT, "s", patch, "", "", None, (), "f", "f", "", PIN, PIN, found
    )
    return OpenConflict(order, None)


START = Resolving((conflict("A", "a1", "a2"), conflict("B", "b1", patch="q"), conflict("F")))
Do = Callable[[Resolving], Resolving]


def step(number: int, *, is_conflict: bool = False) -> Do:
    return lambda state: state.moved(number, is_conflict=is_conflict)


def take(choice: Choice) -> Do:
    return lambda state: state.chosen(choice)


def accept(state: Resolving) -> Resolving:
    return state.with_accepted()


def leave_out(state: Resolving) -> Resolving:
    return state.with_left_out()


def undo(state: Resolving) -> Resolving:
    return state.undone()


def after(steps: tuple[Do, ...]) -> Resolving:
    return reduce(lambda state, do: do(state), steps, START)


@table(
    "steps, name",
    {
        "at first": ((), "a1"),
        "a region on": ((step(1),), "a2"),
        "into the next conflict": ((step(2),), "b1"),
        "what has no region is a place": ((step(3),), None),
        "behind the last comes the first": ((step(4),), "a1"),
        "back": ((step(-1),), None),
        "a conflict on": ((step(1), step(1, is_conflict=True)), "b1"),
        "a conflict back": ((step(2), step(-1, is_conflict=True)), "a1"),
        "behind an acceptance comes what is left": ((accept,), "b1"),
        "and from there the first again": ((step(2), accept, accept), "a1"),
        "undo goes where it was done": ((take(OURS), step(2), undo), "a1"),
    },
)
def test_a_person_is_at_a_region(steps: tuple[Do, ...], name: str | None) -> None:
    assert after(steps).name == name


@table(
    "steps, choices",
    {
        "a choice": ((take(OURS),), {"a1": OURS}),
        "the last one counts": ((take(OURS), take(THEIRS)), {"a1": THEIRS}),
        "of each region its own": ((take(OURS), step(1), take(THEIRS)), {"a1": OURS, "a2": THEIRS}),
        "undone": ((take(OURS), take(THEIRS), undo), {"a1": OURS}),
        "undone twice": ((take(OURS), take(THEIRS), undo, undo), {}),
        "nothing to undo": ((undo,), {}),
        "moves are not undone": ((take(OURS), step(1), step(1), undo), {}),
    },
)
def test_choices_are_made_and_undone(steps: tuple[Do, ...], choices: dict[str, Choice]) -> None:
    assert after(steps).choices == choices


@table(
    "steps, left",
    {
        "all": ((), "ABF"),
        "accepted": ((accept,), "BF"),
        "left out": ((leave_out,), "B"),  # A and F are of one patch
        "no longer left out": ((step(2), leave_out, step(-1), leave_out), "ABF"),
        "undone": ((accept, leave_out, undo), "BF"),
        "everything": ((accept, accept, accept), ""),
    },
)
def test_what_is_accepted_or_left_out_is_not_asked_again(steps: tuple[Do, ...], left: str) -> None:
    assert "".join(one.order.id for one in after(steps).left) == left


def test_a_conflict_says_which_regions_are_open() -> None:
    state = START.moved(1, is_conflict=False).chosen(OURS)
    assert [state.open_regions(one) for one in state.conflicts] == [(0,), (0,), ()]
