"""Gates of changed statements, against labels that were given by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchmgr.commands.report import words_of
from patchmgr.engines.gating.defaults import settings_defaults, variables_in
from patchmgr.engines.gating.sites import Texts
from patchmgr.engines.report.review import Judge
from patchmgr.model.gating import ChangedSite, Reach
from tests.engines.gating_cases import CASES, Case
from tests.engines.gating_found import site_at

FIGURES = Path(__file__).parent / "gating_figures.txt"
JUDGE = Judge(words_of("", {}))


def found(case: Case) -> ChangedSite:
    """Return the site that a case is about."""
    texts = Texts("pkg/a.py", case.before.encode(), case.after.encode())
    return site_at(case, JUDGE(texts))


def test_there_are_sixty_of_them_with_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) == 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_inert_is_never_claimed_wrongly(case: Case) -> None:
    if found(case).reach is Reach.INERT:
        assert case.truth == "inert", case.why


def figures() -> str:
    """Return how the labels and the answers stand to each other."""
    rows: dict[str, list[ChangedSite]] = {}
    for case in CASES:
        rows.setdefault(case.truth, []).append(found(case))
    lines = []
    for truth in ("inert", "gated", "shared", "added"):
        answers = [site.reach.value for site in rows[truth]]
        counts = [f"{answers.count(reach.value)} {reach.value}" for reach in Reach]
        lines.append(f"{truth}: {len(answers)} sites, answered {', '.join(counts)}")
    behind = [case for case in CASES if case.truth in ("inert", "gated") and case.name not in PLAIN]
    known = [case for case in behind if found(case).gates and found(case).reach.value in GOOD]
    lines.append(f"behind a gate: {len(behind)}, recognised {len(known)}")
    return "\n".join(lines) + "\n"


PLAIN = ("comment", "layout")
GOOD = ("inert", "gated")


def test_most_of_what_is_gated_is_recognised() -> None:
    behind = [c for c in CASES if c.truth in ("inert", "gated") and c.name not in PLAIN]
    known = [c for c in behind if found(c).gates and found(c).reach.value in GOOD]
    assert len(known) >= 0.7 * len(behind), [c.name for c in behind if c not in known]


def test_the_figures_are_those_on_record() -> None:
    assert figures() == FIGURES.read_text()


def test_defaults_of_settings_decide_what_is_off() -> None:
    table = b'T = {"ON": lambda: bool(int(os.getenv("ON", "1"))),\n'
    table += b'"OFF": lambda: os.environ.get("OFF", "0").lower() in ("1", "true")}\n'
    defaults = settings_defaults([table])
    assert defaults == {"ON": True, "OFF": False}
    before = "def f(x):\n    return g(x)\n"
    for name, reach in (("ON", Reach.SHARED), ("OFF", Reach.INERT)):
        after = f"def f(x):\n    if envs.{name}:\n        x = n(x)\n    return g(x)\n"
        sites = Judge(JUDGE.words, defaults)(Texts("a.py", before.encode(), after.encode()))
        assert [s.reach for s in sites if "n(x)" in s.text or "envs" in s.text][-1] is reach


def test_a_series_own_patterns_are_gates() -> None:
    judge = Judge(words_of("", {"option": ["b12_active"]}))
    before, after = (
        b"def f(x):\n    g(x)\n",
        b"def f(x):\n    if b12_active():\n        n(x)\n    g(x)\n",
    )
    (site,) = judge(Texts("a.py", before, after))
    assert (site.reach, site.gates[0].kind) == (Reach.INERT, "option")
    (site,) = JUDGE(Texts("a.py", before, after))
    assert site.reach is Reach.SHARED


def test_what_does_not_parse_is_shared() -> None:
    (site,) = JUDGE(Texts("a.py", b"x = 1\n", b"x = (\n"))
    assert site.reach is Reach.SHARED
    assert JUDGE(Texts("a.py", b"x", b"x")) == ()


def test_variables_are_found_where_they_are_read() -> None:
    text = b'os.getenv("A")\nos.environ["B"]\nif "C" in os.environ: pass\n'
    text += b'os.environ.get("D", 1)\nx["E"]\n'
    assert variables_in(text) == {"A", "B", "C", "D"}
