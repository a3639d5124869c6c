"""How often a kind of verdict was right, as shown: measured figures, or none."""

from benchmarks.rules import written
from patchmgr.engines.absorption.reliability import (
    FILE,
    IN_PART,
    PROPOSAL,
    kind_of_proposals,
    measured,
    with_reliability,
)
from patchmgr.engines.rebase.rebase import Judged
from patchmgr.model.outcome import (
    FileConflict,
    How,
    Likely,
    PatchOutcome,
    Reliability,
    UpstreamCommit,
    Verdict,
)
from patchmgr.model.patch import Author
from tests.tables import table

NOBODY = Author("n", "e", "0 +0000")


def conflicts(*proposals: str | None) -> tuple[FileConflict, ...]:
    texts = (b"", b"", b"", b"")
    return tuple(FileConflict("id", "f", "f", "why", *texts, proposal) for proposal in proposals)


@table(
    ("found", "kind"),
    [
        (conflicts("absorbed"), PROPOSAL),
        (conflicts("absorbed", "absorbed"), PROPOSAL),
        (conflicts("absorbed", None), IN_PART),
        (conflicts(None), IN_PART),
        (conflicts("needed"), IN_PART),
    ],
)
def test_a_proposal_of_a_part_is_a_kind_apart(found: tuple[FileConflict, ...], kind: str) -> None:
    outcome = PatchOutcome("p", "Do p", b"", NOBODY, Verdict.CONFLICT, conflicts=found)
    assert kind_of_proposals(outcome) == kind


def test_evidence_and_proposals_have_figures_and_what_a_person_decided_has_none() -> None:
    hows = (How.HISTORY, How.DECIDED, None)
    evidence = tuple(UpstreamCommit("1" * 40, "Do it", None, how, ("f",)) for how in hows)
    outcome = PatchOutcome(
        "p", "Do p", b"", NOBODY, Verdict.PARTIAL,
        evidence=evidence, likely=(Likely("1" * 40, "Do it", None, 0.9, ("f",)),),
    )  # fmt: skip
    judged = with_reliability(Judged(outcome)).outcome
    first, *others = (one.reliability for one in judged.evidence)
    assert first == measured()["history"]
    assert others == [None, None]
    assert judged.likely[0].reliability == measured().get(PROPOSAL, Reliability(PROPOSAL))


def test_the_package_has_figures_that_can_be() -> None:
    table = measured()
    assert {"history"} <= set(table)
    assert set(table) <= {how.value for how in How} | {PROPOSAL, IN_PART}
    assert all(one.of and 0 <= (one.right or 0) <= one.of for one in table.values())
    assert FILE.read_bytes() == written([*table.values()])
