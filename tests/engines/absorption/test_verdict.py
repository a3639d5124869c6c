from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from patchmgr.engines.absorption.verdict import Absorption, Event, absorbed_before
from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Step
from patchmgr.model.snapshot import Entry

STEPS = tuple(
    Step(f"c{n}", f"Step {n}", "A. \udcff", {"a": Entry("100644", "1" * 40), "\udcff": None})
    for n in range(4)
)
FOUND = {
    2: Absorption(
        frozenset({3, 1}), STEPS[1], Event.LANDED, True, undoes={1: frozenset({"a.patch", "b"})}
    ),
    0: Absorption(
        frozenset(), STEPS[0], Event.REVERTED, False, STEPS[3], How.RANGE,
        (Wording("a b.py", b"\xff\n", b"x\0"),),
    ),
}  # fmt: skip


class Notes:
    """Answers in memory."""

    def __init__(self) -> None:
        self.known: dict[tuple[str | bytes, ...], str] = {}

    def get(self, question: Iterable[str | bytes]) -> list[Any] | None:
        found = self.known.get(tuple(question))
        return None if found is None else [json.loads(found)]

    def put(self, question: Iterable[str | bytes], answer: Any) -> None:
        self.known[tuple(question)] = json.dumps(answer)


def test_the_same_question_is_answered_once() -> None:
    notes, asked = Notes(), []

    def find() -> dict[int, Absorption]:
        asked.append(1)
        return FOUND

    for about in ("a", "a", "b", "a", "c"):
        found = absorbed_before(notes, about, find)
        assert list(found.items()) == list(FOUND.items())
    assert len(asked) == 3
