"""Decisions, and what asks for them, as a person reads them."""

from msgspec import to_builtins
from msgspec.json import decode, encode
from msgspec.structs import replace

from patchmgr.cli.root import text_of
from patchmgr.model.decision import Decision, Passage, Ruling
from patchmgr.model.outcome import (
    FileConflict,
    Likely,
    PatchOutcome,
    Reliability,
    Resemblance,
    Verdict,
)
from patchmgr.model.patch import Author
from patchmgr.render.machine import patch_document
from patchmgr.render.rebase import LONGEST_TEXT, patch_lines
from patchmgr.render.recorded_conflicts import decided_text, decided_value, decisions_text
from patchmgr.render.view import View
from tests.tables import table

PASSAGES = (Passage("b", 1, "d"), Passage("a", 1, "d"), Passage("a", 2, "e"))
DECISION = Decision(
    "s", "p\u202e.patch", Ruling.ABSORBED, "c", PASSAGES,
    by="#7", commit="1" * 40, subject="Fix \x1b (#7)", pull=7,
)  # fmt: skip
BARE = Decision("s", "q.patch", Ruling.NEEDED, "c", PASSAGES)


def test_a_decision_is_one_clean_line() -> None:
    assert text_of(decisions_text([DECISION, BARE])) == (
        "s/p\\u202e.patch  absorbed  by #7  in 111111111111 Fix \\u001b (#7)\ns/q.patch  needed\n"
    )
    assert text_of(decisions_text([])) == "No decisions are recorded.\n"


@table(
    ("is_dry_run", "words"),
    [(True, ("Would record", "Would forget")), (False, ("Recorded", "Forgot"))],
)
def test_what_was_done_is_said(is_dry_run: bool, words: tuple[str, str]) -> None:
    shown = text_of(decided_text([BARE], [BARE], View(is_dry_run=is_dry_run)))
    assert shown == "".join(f"{word}: s/q.patch  needed\n" for word in words)


def test_a_document_has_all_of_it() -> None:
    document = decided_value([DECISION], [BARE])
    (value,), (gone,) = document["decisions"], document["forgotten"]
    assert (value["verdict"], value["pull"], value["paths"]) == ("absorbed", 7, ["a", "b"])
    assert (gone["by"], gone["commit"], gone["subject"], gone["pull"]) == (None,) * 4


def outcome(*resemblances: Resemblance, pull: int | None = 7) -> PatchOutcome:
    conflict = FileConflict("id", "f", "g", "why", b"", b"", b"", b"", "absorbed", resemblances)
    return PatchOutcome(
        "p.patch", "Do", b"", Author("n", "e", "0 +0000"), Verdict.CONFLICT,
        conflicts=(conflict,), likely=(Likely("1" * 40, "Fix it (#7)", pull, 0.7, ("g",)),),
    )  # fmt: skip


def test_both_texts_are_shown_with_what_to_type() -> None:
    resemblance = Resemblance(0.7, 12, b"    \x1b a\n      b\n", b"\tc\n\n\td\xff\n")
    lines = [line.strip() for line in patch_lines(outcome(resemblance), View())]
    assert lines[1:] == [
        "g: why  (conflict id)",
        "likely absorbed by #7 111111111111 Fix it  (confidence 0.7)",
        "upstream has this, in g line 12:",
        "| \\u001b a",
        "|   b",
        "where the patch adds this:",
        "| c",
        "|",
        "| d\\xff",
        "decide with: patchmgr decide p.patch absorbed    (or: needed)",
    ]


def test_long_texts_are_cut() -> None:
    content = b"".join(b"line %d\n" % n for n in range(LONGEST_TEXT + 3))
    shown = patch_lines(outcome(Resemblance(1, 1, content, b"x")), View())
    lines = [line.strip() for line in shown]
    assert "| ... and 3 more lines" in lines
    assert f"| line {LONGEST_TEXT - 1}" in lines and f"| line {LONGEST_TEXT}" not in lines


def test_a_conflict_without_likeness_asks_nothing() -> None:
    bare = replace(outcome(), likely=())
    assert not any("decide" in line for line in patch_lines(bare, View()))


def test_what_the_header_says_is_shown_to_who_decides() -> None:
    likely = Likely("1" * 40, "Fix it", 7, 0.5, ("g",), "Drop-When")
    asked = replace(
        outcome(), likely=(likely,), description="It \x1b hangs. " * 40, drop_when="#7 is in"
    )
    lines = [line.strip() for line in patch_lines(asked, View())]
    assert lines[2].startswith("why: It \\u001b hangs.") and lines[2].endswith(" ...")
    assert lines[3:] == [
        "drop when: #7 is in",
        "likely absorbed by #7 111111111111 Fix it  (confidence 0.5, named in Drop-When)",
        "decide with: patchmgr decide p.patch absorbed    (or: needed)",
    ]
    carried = replace(asked, verdict=Verdict.MODIFIED)
    assert len(list(patch_lines(carried, View()))) == 1


def test_a_nearer_text_is_said_to_be_of_its_commit() -> None:
    resemblance = Resemblance(0.7, 12, b"a\n", b"b\n", "2" * 40)
    lines = [line.strip() for line in patch_lines(outcome(resemblance), View())]
    assert "upstream had this, in g line 12 of 222222222222:" in lines


def test_likely_commits_are_in_the_document() -> None:
    (likely,) = decode(encode(patch_document(outcome(pull=None), None)))["likely"]
    assert likely == {
        "commit": "1" * 40, "subject": "Fix it (#7)", "pull": None, "confidence": 0.7,
        "named_by": None, "paths": ["g"], "reliability": None,
    }  # fmt: skip


@table(
    ("reliability", "told"),
    [
        (None, "(confidence 0.7)"),
        (Reliability("likely"), "(confidence 0.7, not measured)"),
        (Reliability("likely", 81, 120), "(confidence 0.7, right in 67.5 % of 120)"),
    ],
)
def test_a_proposal_says_how_often_it_was_right(reliability: Reliability | None, told: str) -> None:
    likely = Likely("1" * 40, "Fix it", None, 0.7, ("g",), reliability=reliability)
    patch = replace(outcome(), likely=(likely,))
    lines = [line.strip() for line in patch_lines(patch, View())]
    assert lines[2] == f"likely absorbed by {'1' * 12} Fix it  {told}"
    (value,) = to_builtins(patch_document(patch, None))["likely"]
    assert value["reliability"] == (None if reliability is None else to_builtins(reliability))
