"""The facts of saved rebases, and hotspots."""

from typing import Any

from msgspec import convert

from patchmgr.commands.report import words_of
from patchmgr.engines.hardware_gates.sites import PinAndHead
from patchmgr.engines.report.review import Judge, hotspots
from patchmgr.engines.report.sync_facts import carried_of, dropped_of, solved_of
from patchmgr.model.documents import SyncDocument
from patchmgr.model.footprint import Area, Kind, PatchFile, PatchFootprint, Touch
from patchmgr.model.outcome import Reliability
from tests.tables import table

Row = dict[str, Any]


def hunk(how: str | None = None, verdict: str = "modified", symbol: str | None = None) -> Row:
    place = {"path": "f", "new_path": "f", "line": 1}
    return {**place, "how": how, "verdict": verdict, "symbol": symbol}


def patch(verdict: str, *hunks: Row, **more: Any) -> Row:
    plain: Row = {"reason": None, "conflicts": [], "cause": [], "evidence": [], "commit": None}
    return {"name": "p", "subject": "Do p", "verdict": verdict, "hunks": hunks, **plain, **more}


def row(*patches: Row, solutions: Row | None = None) -> SyncDocument:
    pin = {"ref": "v1", "commit": "b" * 40}
    state = {
        "base": pin, "onto": pin, "upstream_commits": 1, "head": None, "tree": "", "summary": {},
    }  # fmt: skip
    outcome = {"name": "s", "upstream": "u", "patches": patches, **state}
    whole = {"dry_run": False, "old_head": None, "outcome": outcome, "solutions": solutions or {}}
    return convert(whole, SyncDocument)


@table(
    ("rows", "verdict", "how"),
    {
        "one": ([row(patch("unchanged", hunk()))], "unchanged", ()),
        "first changed": (
            [row(patch("modified", hunk("text"))), row(patch("unchanged", hunk("identical")))],
            "modified", ("identical", "text")),
        "first in part": ([row(patch("partial", hunk("text"))), row(patch("unchanged"))], "partial",
            ("text",)),
        "then changed": ([row(patch("unchanged")), row(patch("modified", hunk("text")))],
            "modified", ("text",)),
        "the first loss stays": (
            [row(patch("conflict", hunk("text"))), row(patch("unchanged", hunk("moved")))],
            "conflict", ("text",)),
    },
)  # fmt: skip
def test_rebases_make_one_row(rows: list[SyncDocument], verdict: str, how: tuple[str, ...]) -> None:
    (carried,) = carried_of(rows)
    assert (carried.verdict, carried.how) == (verdict, how)


def conflict(proposal: str | None) -> Row:
    told = {"reason": "both changed it", "proposal": proposal}
    return {"id": "1", "path": "f", "new_path": "f", **told}


@table(
    ("proposal", "words"),
    [(None, "open: both changed it"), ("absorbed", "open: both changed it; proposed: absorbed")],
)
def test_a_conflict_is_open(proposal: str | None, words: str) -> None:
    rows = [row(patch("conflict", hunk(verdict="conflict"), conflicts=[conflict(proposal)]))]
    (solved,) = solved_of(rows)
    assert (solved.solution, solved.is_open) == (words, True)


KNOWN, UNKNOWN = ({"rule": "history", "right": 9, "of": 10}, {"rule": "range", "right": None,
                                                               "of": None})  # fmt: skip


@table(
    ("found", "kinds"),
    {
        "no commit is known": ([], ()),
        "kept by an older version": ([{}], ()),
        "a person decided": ([{"reliability": None}], ()),
        "each kind once": (
            [{"reliability": KNOWN}, {"reliability": UNKNOWN}, {"reliability": KNOWN}],
            (Reliability("history", 9, 10), Reliability("range")),
        ),
    },
)
def test_drops_have_a_reliability(found: list[Row], kinds: tuple[Reliability, ...]) -> None:
    plain: Row = {"commit": "c", "subject": "s", "pull": None, "paths": []}
    rows = [row(patch("absorbed", evidence=[{**plain, **one} for one in found]))]
    assert [dropped.reliability for dropped in dropped_of(rows)] == [kinds]


LIKELY: Row = {"commit": "c", "subject": "s", "pull": None, "confidence": 0.8, "paths": [],
               "reliability": KNOWN}  # fmt: skip


@table(("proposal", "known"), [("absorbed", Reliability("history", 9, 10)), (None, None)])
def test_a_proposal_has_its_reliability(proposal: str | None, known: Reliability | None) -> None:
    stuck = patch("conflict", conflicts=[conflict(proposal)], likely=[LIKELY])
    (solved,) = solved_of([row(stuck)])
    assert solved.reliability == known


def told(solution: str, *, path: str = "f", seen: str = "other/p") -> Row:
    return {"solution": solution, "path": path, "seen": seen}


@table(
    ("hows", "solutions", "words"),
    {
        "rule": (["structural"], {}, "merged by structure; both changes are kept"),
        "another way": (["syntax"], {}, "syntax"),
        "by hand": (["recorded"], {}, "resolved as a person did before"),
        "as told": (["recorded", "moved"], {"a": told("took both"), "b": told("no", path="g")},
            "took both; applied where upstream moved the code"),
        "as seen": (["recorded"], {"a": told("took both", path="g", seen="s/p")}, "took both"),
    },
)  # fmt: skip
def test_a_resolution_is_described_in_words(hows: list[str], solutions: Row, words: str) -> None:
    rows = [row(patch("modified", *map(hunk, hows)), solutions=solutions)]
    (solved,) = solved_of(rows)
    assert (solved.solution, solved.is_open) == (words, False)


def test_only_symbols_that_upstream_has_are_hotspots() -> None:
    touches = tuple(Touch(name, not old, old, 1, 0) for name, old in (("A.f", True), ("g", False)))
    touched = PatchFile("a.py", None, Kind.EDITED, False, "Python", Area.CODE, 2, 0, True, touches)
    changes = [("c1", "a.py", "class A:"), ("c2", "a.py", "    def f(self):"), ("c3", "b.py", "")]
    (found,) = hotspots([PatchFootprint("p", "Do p", (touched,))], changes, {"a.py": "b.py"})
    assert (found.path, found.symbol, found.commits, found.file_commits) == ("b.py", "A.f", 1, 2)


@table(("path", "gate"), [("a.py", "is_sm120()"), ("a.cu", "is_sm120()")])
def test_a_file_is_judged_in_its_language(path: str, gate: str) -> None:
    texts = {
        "a.py": (b"def f():\n    g()\n", b"def f():\n    if is_sm120():\n        n()\n    g()\n"),
        "a.cu": (b"void f() {\ng();\n}\n", b"void f() {\nif (is_sm120()) n();\ng();\n}\n"),
    }
    (site,) = Judge(words_of("", {}))(PinAndHead(path, *texts[path]))
    assert [found.text for found in site.gates] == [gate]
