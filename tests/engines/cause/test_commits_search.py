"""Since which step something holds: the search for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.cause.commits import AT_ONCE, PROBES, Version, each, explain, turning_point
from patchmgr.model.merge import Merge
from patchmgr.model.ports import Step
from tests.engines.ports import PlainMerge
from tests.engines.series import Run, Told, edited, entry_of, patch_of, text
from tests.tables import table


def versions(count: int) -> tuple[Version, ...]:
    """Return the base, and a version after each of some steps."""
    steps = [Step(str(number), "", "", {}) for number in range(1, count)]
    return (Version(None, "f", None), *(Version(step, "f", None) for step in steps))


def number(version: Version) -> int:
    return int(version.step.commit) if version.step is not None else 0


def found(states: Sequence[bool]) -> str | None:
    step = turning_point(versions(len(states)), each(lambda version: states[number(version)]))
    return None if step is None else step.commit


@table(
    ("states", "commit"),
    {
        "only-the-base": ("-", None),
        "always": ("x", None),
        "always-and-after": ("xx", None),
        "the-first": ("-x", "1"),
        "the-last": ("---x", "3"),
        "in-between": ("--xx", "2"),
        "taken-back": ("-x--", None),
        "taken-back-and-done-again": ("-x-x", "3"),
        "not-in-between": ("x-x", "2"),
        "the-last-of-many": ("-" * 90 + "x", "90"),
        "the-first-of-many": ("-" + "x" * 90, "1"),
        "in-between-of-many": ("-" * 40 + "x" * 60, "40"),
        "not-at-the-end-of-many": ("x" * 90 + "-", None),
    },
)
def test_the_step_since_which_a_claim_holds_is_found(states: str, commit: str | None) -> None:
    assert found([state == "x" for state in states]) == commit


def test_without_versions_there_is_no_step() -> None:
    assert turning_point((), each(lambda version: True)) is None


@given(st.lists(st.booleans(), min_size=1, max_size=PROBES))
def test_among_few_versions_the_last_turn_is_found(states: list[bool]) -> None:
    after = [n for n, state in enumerate(states) if not state]
    last = max(after, default=-1) + 1
    assert found(states) == (str(last) if 0 < last < len(states) else None)


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_among_many_a_turn_is_found(states: list[bool]) -> None:
    step = found([*states, True])
    if step is not None:
        at = int(step)
        assert ([*states, True][at], states[at - 1]) == (True, False)
    assert found([*states, False]) is None


@given(st.integers(1, 5000), st.data())
def test_few_are_asked_about(count: int, data: st.DataObject) -> None:
    turn = data.draw(st.integers(0, count))
    rounds: list[int] = []

    def claims(asked: Sequence[Version]) -> Iterator[bool]:
        rounds.append(len(asked))
        return (number(version) >= turn for version in asked)

    step = turning_point(versions(count + 1), claims)
    assert (step.commit if step else "0") == str(turn)
    assert max(rounds) <= AT_ONCE
    most = 1 + (count >= PROBES) + (count > PROBES**2) + (count > PROBES**3)
    assert len(rounds) <= most * (PROBES // AT_ONCE + 1)


class CountingMerge(PlainMerge):
    """Counts calls for several texts, and texts."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> Sequence[Merge]:
        self.calls.append(len(texts))
        return super().merge_all(texts)


def _long_story(count: int, breaks: int) -> tuple[list[tuple[str, dict[str, bytes]]], bytes]:
    """Return a history of one file that breaks a patch of line b at a step."""
    lines = "a {b} c d e f g h i j k l m n o p"
    story = [
        (str(n), {"f": text(f"{lines.format(b='B' if n >= breaks else 'b')} {'z ' * n}")})
        for n in range(1, count + 1)
    ]
    return story, text(lines.format(b="b"))


@table(("count", "breaks"), [(3, 2), (16, 16), (60, 1), (60, 44), (200, 133)])
def test_merges_of_one_round_are_one_call(count: int, breaks: int) -> None:
    story, base = _long_story(count, breaks)
    run = Run({"f": base}, {"f": story[-1][1]["f"]})
    change = edited("f", base, base.replace(b"b\n", b"ours\n"))
    result = run.rebase(patch_of("p", change))
    merge = CountingMerge()
    start = {"f": entry_of(run.blobs, base)}
    told = Told(run.blobs, story)
    (judged,) = explain(result.judged, told, start, blobs=run.blobs, text=merge)
    assert [sighting.subject for sighting in judged.outcome.cause] == [str(breaks)]
    asked = [calls for calls in merge.calls if calls]
    rounds = 1 if count < PROBES else 2
    assert len(asked) <= 2 * rounds + 1
    assert max(asked) <= PROBES + 1
