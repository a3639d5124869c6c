"""What upstream has of a series, kept for the next run."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from patchmgr.engines.absorption.series import Series, Way
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.moved.files import ChangedFiles
from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Step
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.answer_cache import Answers, answered
from patchmgr.services import carry

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


def test_the_same_question_is_answered_once(tmp_path: Path) -> None:
    kept, asked = Answers(tmp_path), []

    def find() -> dict[int, Absorption]:
        asked.append(1)
        return FOUND

    for about in ("a", "a", "b", "a", "c"):
        found = answered(kept, ("absorbed", about), dict[int, Absorption], find)
        assert list(found.items()) == list(FOUND.items())
    assert len(asked) == 3


def test_what_is_not_to_be_kept_is_found_again(tmp_path: Path) -> None:
    kept, question = Answers(tmp_path), ("audit", "a")
    first = answered(kept, question, dict[int, str], lambda: {1: "one"}, is_kept=lambda: False)
    second = answered(kept, question, dict[int, str], lambda: {2: "two"})
    third = answered(kept, question, dict[int, str], lambda: {3: "three"})
    assert (first, second, third) == ({1: "one"}, {2: "two"}, {2: "two"})


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_was_found_without_some_files_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    """A search without network would have been the answer for the next month."""
    way = Way({}, {}, {}, STEPS * 6)
    blobs: Any = SimpleNamespace(read=lambda _: b"", read_ahead=lambda _: None)

    def find(series: Series) -> dict[int, Absorption]:
        assert not series.elsewhere.gaining("a.py", frozenset(), frozenset())
        return {}

    monkeypatch.setattr(carry, "find_absorbed", find)
    said: list[int] = []
    for _ in range(2):
        files = ChangedFiles(lambda language: ({}, is_whole), blobs)
        search = carry.AbsorptionSearch((), (), way)
        carry.with_absorbed(blobs, (), search, Answers(tmp_path), files, lambda: said.append(1))
    assert len(said) == (1 if is_whole else 2)
