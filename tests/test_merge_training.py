"""What `benchmarks.merges` learns from labelled candidates; needs scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.merge_labels import Code
from patchmgr.engines.merge.resolve import Table, likelihood_of
from tests.long import LONG

if TYPE_CHECKING:
    from benchmarks.merge_training import LabelledFile


pytestmark = pytest.mark.skipif(not LONG, reason="PATCHMGR_LONG is not set: loads scikit-learn")


@pytest.fixture(scope="module")
def training() -> Any:
    """Return the module, which takes seconds to load."""
    pytest.importorskip("sklearn")
    return pytest.importorskip("benchmarks.merge_training")


def _features(rule: str, kind: str, order: str) -> dict[str, str]:
    return {"language": "python", "rule": rule, "kind": kind, "order": order, "fails": "no"}


# Rule, kind, order, code, and how many such files.
ROWS = (
    ("union", "import", "1", Code.EQUAL, 200),
    ("union", "call", "1", Code.EQUAL, 160),
    ("union", "call", "2", Code.DIFFERENT, 160),
    ("ours", "call", "1", Code.SIDE, 160),
    ("ours", "call", "2", Code.EQUAL, 160),
)


@pytest.fixture(scope="module")
def learnt(training: Any) -> list[LabelledFile]:
    """Return files with a candidate each."""
    return [
        training.LabelledFile(
            f"{number}", f"{number % 4}/b", "python",
            ((training.Labelled(rule, _features(rule, kind, order), code),),),
        )
        for rule, kind, order, code, count in ROWS
        for number in range(count)
    ]  # fmt: skip


def test_points_and_pairs_tell_right_from_wrong(training: Any, learnt: list[LabelledFile]) -> None:
    points = training.learn(learnt)
    judged = {
        (one.rule, one.features["order"]): likelihood_of(one.features, points)
        for file in learnt
        for one in file.regions[0]
    }
    assert judged["union", "1"] > 0.9 > 0.1 > judged["union", "2"]
    assert judged["ours", "2"] > 0.9 > 0.1 > judged["ours", "1"]
    assert any(len(one.when) == 2 for one in points)


def test_it_is_measured_on_unknown_repositories(training: Any, learnt: list[LabelledFile]) -> None:
    rows = list(training.judged(learnt))
    assert sorted(file.id for file, _ in rows) == sorted(file.id for file in learnt)
    measured = training.measured(
        one for file, known in rows for one in training.firsts(file, known)
    )
    steps = measured["python"]
    assert steps[0].of == steps[0].right > 0
    assert [step.of for step in steps] == sorted(step.of for step in steps)
    score = training.scored(
        ((file, Table(known.points, {"other": steps})) for file, known in rows), least=1.0
    )
    assert score.files == score.codes.total() + score.asked == 840
    assert all(code.is_right for code in score.codes)
    assert score.codes.total() >= 200
