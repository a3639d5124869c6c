"""How often each kind of verdict was right, measured on public series with a known outcome."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from patchmgr.engines.rebase.rebase import Judged
from patchmgr.model.decision import Ruling
from patchmgr.model.outcome import How, PatchOutcome, Reliability

FILE = Path(__file__).with_name("reliability.json")
PROPOSAL, IN_PART = "likely", "likely in part"


@cache
def measured() -> Mapping[str, Reliability]:
    """Return how often each kind of verdict and of proposal was right, by the name of the kind."""
    table = msgspec.json.decode(FILE.read_bytes(), type=list[Reliability])
    return {one.rule: one for one in table}


def kind_of_proposals(outcome: PatchOutcome) -> str:
    """Return "likely" if the proposals cover the whole patch, or else "likely in part"."""
    is_whole = all(one.proposal == Ruling.ABSORBED.value for one in outcome.conflicts)
    return PROPOSAL if is_whole else IN_PART


def with_reliability(judged: Judged) -> Judged:
    """Return the result of a patch, with the reliability of its evidence and proposals."""

    def reliability(rule: str) -> Reliability:
        return measured().get(rule, Reliability(rule))

    outcome = judged.outcome
    evidence = tuple(
        s if s.how in (None, How.DECIDED) else replace(s, reliability=reliability(s.how.value))
        for s in outcome.evidence
    )
    proposals = reliability(kind_of_proposals(outcome))
    likely = tuple(replace(one, reliability=proposals) for one in outcome.likely)
    return replace(judged, outcome=replace(outcome, evidence=evidence, likely=likely))
