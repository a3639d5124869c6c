"""How often each kind of verdict was right where the truth is known: measured on public series."""

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
    """Return the measured rates by rule: how a hunk was found, or the kind of a proposal."""
    table = msgspec.json.decode(FILE.read_bytes(), type=list[Reliability])
    return {one.rule: one for one in table}


def kind_of_proposals(outcome: PatchOutcome) -> str:
    """Return whether a proposal says that all of a patch is absorbed, or only parts of it."""
    is_whole = all(one.proposal == Ruling.ABSORBED.value for one in outcome.conflicts)
    return PROPOSAL if is_whole else IN_PART


def with_reliability(judged: Judged) -> Judged:
    """Add to each piece of evidence, and each proposal, how often its kind was right.

    A person's decision has no such figure, nor does a kind that nobody measured.
    """

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
