"""Gates of changed statements, against labels that were given by hand.

The texts are our own, in the shape of changed sites in public forks; those of `blind*.txt` were
labelled before the engine ran, from the change alone. Below its name, a site has what a reviewer
says who has read the change: "inert" (nobody notices whom the gate keeps out), "gated" (a gate is
in front of it, but others may notice, or who is in is broad), "shared" (it runs for everybody) or
"added" (a new name that runs where it is used); a text in the line that the label is about, with a
minus in front for a line of the old text; why it is so; and the change. What a label got wrong,
seen in the whole file later, says so in its reason.
"""

from pathlib import Path

import pytest
from msgspec import Struct

from patchmgr.commands.report import words_of
from patchmgr.engines.hardware_gates.defaults import settings_defaults, variables_in
from patchmgr.engines.hardware_gates.sites import Lines, PinAndHead
from patchmgr.engines.report.review import Judge
from patchmgr.model.footprint import ChangedSite, Reach
from tests.cases import sections
from tests.tables import table

FIGURES = Path(__file__).with_name("figures.txt")
JUDGE = Judge(words_of("", {}))


class Case(Struct, frozen=True):
    """One site: the text before and after, the line, the label, and why it is so."""

    name: str
    before: str
    after: str
    mark: str
    truth: str
    why: str


def read_cases(name: str) -> list[Case]:
    return [read_case(*item) for item in sections(FIGURES.with_name(name)).items()]


def read_case(name: str, text: str) -> Case:
    head, why, *change = text.split("\n")
    truth, _, mark = head.partition(": ")
    before, after = (
        "\n".join(line[1:] for line in change if not line.startswith(sign)) for sign in "+-"
    )
    return Case(name, before, after, mark, truth, why)


LABELLED = {
    "Python": ("a.py", read_cases("cases.txt")),
    "blind, Python": ("a.py", read_cases("blind.txt")),
    "blind, C++": ("a.cu", read_cases("blind_cxx.txt")),
}
CALLED = [(path, case) for path, cases in LABELLED.values() for case in cases]


def found(path: str, case: Case) -> ChangedSite:
    """Return the site around the line with the case's mark."""
    sites = JUDGE(PinAndHead(path, case.before.encode(), case.after.encode()))
    is_old = case.mark.startswith("-")
    text, mark = (case.before, case.mark[1:]) if is_old else (case.after, case.mark)
    line = next(n for n, t in enumerate(text.split("\n"), 1) if mark in t)
    own = [s for s in sites if s.is_removal is is_old and s.line <= line <= s.last]
    assert own, (case.name, sites)
    return max(own, key=lambda site: site.line)


@table(("path", "case"), CALLED, ids=[f"{path} {case.name}" for path, case in CALLED])
def test_inert_is_never_claimed_wrongly(path: str, case: Case) -> None:
    if found(path, case).reach is Reach.INERT:
        assert case.truth == "inert", case.why


def figures() -> str:
    """Return how the labels and the answers stand to each other."""
    lines = []
    for title, (path, cases) in LABELLED.items():
        answers = [(case, found(path, case)) for case in cases]
        for truth in ("inert", "gated", "shared", "added"):
            own = [site.reach.value for case, site in answers if case.truth == truth]
            counts = [f"{own.count(reach.value)} {reach.value}" for reach in Reach]
            lines.append(f"{title}, {truth}: {len(own)} sites, answered {', '.join(counts)}")
        behind = [(c, s) for c, s in answers if c.truth in BEHIND and c.name not in PLAIN]
        known = [site for _, site in behind if site.gates and site.reach.value in BEHIND]
        lines.append(f"{title}, behind a gate: {len(behind)}, recognised {len(known)}")
    return "\n".join(lines) + "\n"


BEHIND = ("inert", "gated")
PLAIN = ("comment", "layout", "layout of a call", "a comment")


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
        sites = Judge(JUDGE.words, defaults)(PinAndHead("a.py", before.encode(), after.encode()))
        assert [s.reach for s in sites if "n(x)" in s.text or "envs" in s.text][-1] is reach


def test_a_series_own_patterns_are_gates() -> None:
    judge = Judge(words_of("", {"option": ["b12_active"]}))
    before, after = (
        b"def f(x):\n    g(x)\n",
        b"def f(x):\n    if b12_active():\n        n(x)\n    g(x)\n",
    )
    (site,) = judge(PinAndHead("a.py", before, after))
    assert (site.reach, site.gates[0].kind) == (Reach.INERT, "option")
    (site,) = JUDGE(PinAndHead("a.py", before, after))
    assert site.reach is Reach.SHARED


def test_what_does_not_parse_is_shared() -> None:
    (site,) = JUDGE(PinAndHead("a.py", b"x = 1\n", b"x = (\n"))
    assert site.reach is Reach.SHARED
    assert JUDGE(PinAndHead("a.py", b"x", b"x")) == ()


@table("path", ["a.h", "a.py"])
@pytest.mark.parametrize("hunks", [None, ((3, 1, 3, 1),)])
def test_a_carriage_return_ends_no_line(path: str, hunks: tuple[Lines, ...] | None) -> None:
    sign = b"//" if path == "a.h" else b"#"
    before = sign + b"\r" * 9 + b"\none = 1;\ntwo = 2;\n"
    (site,) = JUDGE(PinAndHead(path, before, before.replace(b"2", b"3"), hunks))
    assert (site.line, site.text) == (3, "two = 3;")


def test_variables_are_found_where_they_are_read() -> None:
    text = b'os.getenv("A")\nos.environ["B"]\nif "C" in os.environ: pass\n'
    text += b'os.environ.get("D", 1)\nx["E"]\n'
    assert variables_in(text) == {"A", "B", "C", "D"}
