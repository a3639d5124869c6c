"""What the engine says of sites that were labelled before it ran, Python and C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchmgr.commands.report import words_of
from patchmgr.engines.gating.sites import Texts
from patchmgr.engines.report.review import Judge
from patchmgr.model.gating import ChangedSite, Reach
from tests.engines.gating_blind import CXX, PYTHON
from tests.engines.gating_cases import Case
from tests.engines.gating_found import site_at

JUDGE = Judge(words_of("", {}))
FIGURES = Path(__file__).with_name("gating_blind_figures.txt")
BEHIND = ("inert", "gated")
PLAIN = ("layout", "layout of a call", "a comment")


def found(case: Case) -> ChangedSite:
    if case in CXX:
        texts = Texts("a.cu", case.before.encode(), case.after.encode())
        return site_at(case, JUDGE(texts))
    texts = Texts("a.py", case.before.encode(), case.after.encode())
    return site_at(case, JUDGE(texts))


@pytest.mark.parametrize("case", [*PYTHON, *CXX], ids=lambda case: case.name)
def test_nothing_is_called_inert_that_is_not(case: Case) -> None:
    site = found(case)
    assert site.reach is not Reach.INERT or case.truth == "inert", (site.why, case.why)


def figures() -> str:
    lines = []
    for title, cases in (("Python", PYTHON), ("C++", CXX)):
        for truth in ("inert", "gated", "shared"):
            answers = [found(case).reach.value for case in cases if case.truth == truth]
            counts = [f"{answers.count(reach.value)} {reach.value}" for reach in Reach]
            lines.append(f"{title}, {truth}: {len(answers)} sites, answered {', '.join(counts)}")
        behind = [c for c in cases if c.truth in BEHIND and c.name not in PLAIN]
        known = [c for c in behind if found(c).gates and found(c).reach.value in BEHIND]
        lines.append(f"{title}, behind a gate: {len(behind)}, recognised {len(known)}")
        assert len(known) >= 0.7 * len(behind), [c.name for c in behind if c not in known]
    return "\n".join(lines) + "\n"


def test_the_figures_are_those_on_record() -> None:
    assert figures() == FIGURES.read_text()
