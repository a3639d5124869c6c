"""How often each kind of verdict was right where the truth is known: measured on public series."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.rebase.rebase import Judged
from patchmgr.model.decision import Ruling
from patchmgr.model.outcome import How, PatchOutcome, Reliability

FILE = Path(__file__).with_name("reliability.json")
PROPOSAL, IN_PART = "likely", "likely in part"


class Measured(Struct, frozen=True):
    """How many verdicts were right, of how many."""

    right: int
    of: int


Table = Mapping[str, Measured]
"""By the word for how a hunk was found in upstream, or the kind of a proposal."""


@cache
def measured() -> Table:
    """Return what was measured, as the package has it."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, Measured])


def reliability(rule: str, table: Table) -> Reliability:
    """Return how often a rule was right, without numbers where nobody measured it."""
    found = table.get(rule)
    return Reliability(rule) if found is None else Reliability(rule, found.right, found.of)


def kind_of_proposals(outcome: PatchOutcome) -> str:
    """Return whether a patch in conflict is proposed as absorbed, or parts of it alone."""
    is_whole = all(one.proposal == Ruling.ABSORBED.value for one in outcome.conflicts)
    return PROPOSAL if is_whole else IN_PART


def with_reliability(judged: Judged) -> Judged:
    """Say of each piece of evidence, and each proposal, how often its kind was right.

    What a person decided has no such figure.
    """
    outcome, table = judged.outcome, measured()
    evidence = tuple(
        s
        if s.how in (None, How.DECIDED)
        else replace(s, reliability=reliability(s.how.value, table))
        for s in outcome.evidence
    )
    proposals = reliability(kind_of_proposals(outcome), table)
    likely = tuple(replace(one, reliability=proposals) for one in outcome.likely)
    return replace(judged, outcome=replace(outcome, evidence=evidence, likely=likely))
