"""What the terminal says of a patch beside its verdict."""

from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from patchmgr.cli.root import text_of
from patchmgr.model.audit import AuditFinding
from patchmgr.model.outcome import (
    How,
    HunkOutcome,
    PatchOutcome,
    Reliability,
    SeriesOutcome,
    UpstreamCommit,
    Verdict,
    Wording,
)
from patchmgr.model.patch import Author
from patchmgr.model.upstream import Pin
from patchmgr.render.conflicts import conflicts_text
from patchmgr.render.machine import patch_document
from patchmgr.render.rebase import after_rebase, diff_text, patch_lines, rebase_text
from patchmgr.render.view import Detail, View
from tests.tables import table

PATCH = PatchOutcome("p.patch", "Do it", b"", Author("n", "e", "0 +0000"), Verdict.ABSORBED)
LANDED, LATER = "1" * 40, "2" * 40
WORDING = Wording("f.py", b"theirs = 1\n", b"ours = 1\n")


def hunks(*verdicts: Verdict) -> tuple[HunkOutcome, ...]:
    return tuple(
        HunkOutcome("f.py", "f.py", 10 * n, None, verdict, None)
        for n, verdict in enumerate(verdicts, 1)
    )


def partial(left: int, taken: int = 1) -> PatchOutcome:
    verdicts = (*[Verdict.ABSORBED] * taken, *[Verdict.UNCHANGED] * left)
    return replace(PATCH, verdict=Verdict.PARTIAL, hunks=hunks(*verdicts))


@table(
    ("patch", "lines"),
    {
        "landed": (replace(PATCH, history=((LANDED, "landed"),)), []),
        "evolved": (replace(PATCH, history=((LANDED, "landed"), (LATER, "evolved"))),
            ["changed again in 222222222222"]),
        "gone": (replace(PATCH, history=((LANDED, "landed"), (LATER, "gone"))),
            ["its lines were removed in 222222222222"]),
        "moved": (
            replace(PATCH, history=((LANDED, "landed"), (LATER, "evolved")), now_in="new/f.py"),
            ["moved to new/f.py in 222222222222"]),
        "reverted": (
            replace(PATCH, verdict=Verdict.UNCHANGED,
                    history=((LANDED, "landed"), (LATER, "reverted"))),
            ["landed in 111111111111, reverted in 222222222222"]),
        "superseded": (replace(PATCH, superseded=(WORDING,)),
            ["superseded: landed in a different form (both texts: --show-conflicts)"]),
        "superseded-in-part": (
            replace(PATCH, superseded=(WORDING, Wording("f.py", b"", b"ours = 1\n"))),
            [
                "superseded: landed in a different form, without 1 part of it"
                " (both texts: --show-conflicts)"
            ],
        ),
        "partial": (partial(2), ["no longer carried: 1 of 3 hunks", "  f.py line 10"]),
        "partial-in-halves": (partial(1), ["still carried: 1 of 2 hunks", "  f.py line 20"]),
        "warning": (replace(PATCH, verdict=Verdict.MODIFIED, warnings=("f.py: `x` \x1b is used",)),
            ["warning: f.py: `x` \\u001b is used"]),
    },
)  # fmt: skip
def test_a_line_says_what_happened(patch: PatchOutcome, lines: list[str]) -> None:
    _, *rest = patch_lines(patch, View())
    assert [line.removeprefix(" " * 13) for line in rest] == lines


@table(
    ("reliability", "told"),
    [
        (None, ""),
        (Reliability("syntax"), "  (syntax, not measured)"),
        (Reliability("history", 1199, 1204), "  (history, right in 99.5 % of 1,204)"),
    ],
)
def test_evidence_says_how_often_it_was_right(reliability: Reliability | None, told: str) -> None:
    one = UpstreamCommit(LANDED, "Do it (#7)", 7, How.HISTORY, ("f.py",), reliability=reliability)
    patch = replace(PATCH, evidence=(one,))
    _, line = patch_lines(patch, View())
    assert line.strip() == f"in #7 111111111111 Do it{told}"
    (value,) = to_builtins(patch_document(patch, None))["evidence"]
    assert value["reliability"] == (None if reliability is None else to_builtins(reliability))


def test_many_hunks_that_are_left_are_counted() -> None:
    *_, last = patch_lines(partial(9, taken=9), View())
    assert last.strip() == "and 3 more"


def test_both_texts_of_another_wording_are_shown() -> None:
    pin = Pin("v1", "b" * 40, "d" * 40)
    patch = replace(PATCH, superseded=(WORDING,))
    series = SeriesOutcome("s", "up", pin, pin, 1, None, "d" * 40, (patch,), (None,))
    assert text_of(conflicts_text(series)).splitlines() == [
        "--- p.patch  f.py  (superseded)",
        "@@ upstream @@",
        "theirs = 1",
        "@@ patch @@",
        "ours = 1",
    ]


PIN = Pin("v1", "b" * 40, "d" * 40)
NEWER = Pin("v2", "c" * 40, "e" * 40)
LONG = "core: clamp the index of what is masked off, so that no block is read twice"


def verdicts(*found: Verdict, **of_first: Any) -> SeriesOutcome:
    patches = [
        PatchOutcome(f"p{n}.patch", LONG, b"", PATCH.author, verdict)
        for n, verdict in enumerate(found, 1)
    ]
    patches[0] = replace(patches[0], **of_first)
    size = (None,) * len(patches)
    return SeriesOutcome("s", "up", PIN, NEWER, 3, None, "d" * 40, tuple(patches), size)


KEPT, MERGED = Verdict.UNCHANGED, Verdict.MODIFIED


@table(
    ("outcome", "detail", "shown"),
    {
        "what-is-unchanged-is-counted": (verdicts(KEPT, MERGED, KEPT), Detail.CHANGES,
            [f"  modified   p2.patch  {LONG}", "  3 patches: 2 unchanged, 1 modified"]),
        "all-are-listed": (verdicts(KEPT, MERGED), Detail.ALL,
            [f"  unchanged  p1.patch  {LONG}", f"  modified   p2.patch  {LONG}",
             "  2 patches: 1 unchanged, 1 modified"]),
        "one-line": (verdicts(KEPT, MERGED), Detail.LINE, []),
        "a-warning-is-told": (verdicts(KEPT, warnings=("f.py: `x` is used",)), Detail.CHANGES,
            [f"  unchanged  p1.patch  {LONG}", "             warning: f.py: `x` is used",
             "  1 patch: 1 unchanged"]),
    },
)  # fmt: skip
def test_what_changed_is_listed(outcome: SeriesOutcome, detail: Detail, shown: list[str]) -> None:
    first, *rest = text_of(rebase_text(outcome, View(detail))).splitlines()
    assert first.startswith("s: v1 -> v2  (3 upstream commits)")
    assert rest == shown
    assert (": 2 patches: 1 unchanged, 1 modified" in first) is (detail is Detail.LINE)


def test_a_branch_is_told_with_its_commits_before_and_after() -> None:
    pins = {"base": replace(PIN, ref="up/main"), "onto": replace(NEWER, ref="up/main")}
    first = text_of(rebase_text(replace(verdicts(KEPT), **pins), View())).splitlines()[0]
    assert first == f"s: up/main {'b' * 12} -> up/main {'c' * 12}  (3 upstream commits)"


def test_a_branch_that_is_still_at_the_pin_may_have_to_be_fetched() -> None:
    there = replace(PIN, ref="upstream/main")
    outcome = replace(verdicts(KEPT), base=there, onto=there)
    fetch = "To fetch it again: patchmgr upstream fetch up\n"
    assert fetch in told(outcome, waiting=(), work=None)
    assert fetch not in told(verdicts(KEPT), waiting=(), work=None)
    assert fetch not in told(replace(outcome, base=NEWER), waiting=(), work=None)


def test_a_narrow_terminal_gets_the_name_and_prose_in_several_lines() -> None:
    moved = HunkOutcome("a/" * 20 + "f.py", "b/" * 20 + "f.py", 1, None, MERGED, How.MOVED)
    outcome = verdicts(MERGED, hunks=(moved,), warnings=(" ".join(["word"] * 30),))
    lines = text_of(rebase_text(outcome, View(width=80))).splitlines()
    assert lines[1] == "  modified   p1.patch  [moved]"
    assert max(map(len, lines)) <= 80
    assert LONG in text_of(rebase_text(outcome, View(width=120)))


STOP = """\
The patch files, the pin and the branch are unchanged.
To leave out the first patch in conflict: patchmgr rebase --skip
To give up the rebase: patchmgr rebase --abort
These files have conflict markers:
  w/s/p1.patch/a
  w/s/p2.patch/a
Conflicts are left in 5 patches: p1.patch, p2.patch, p3.patch and 2 more
Edit the files (or: patchmgr mergetool), then run: patchmgr rebase --continue
"""
BROKEN = AuditFinding(
    kind="name", is_certain=True, path="f.py", line=1, symbol=None, text="`x` is gone", id="0a"
)


def told(outcome: SeriesOutcome, *, waiting: tuple[str, ...], work: Path | None) -> str:
    lines = after_rebase((outcome,), is_dry_run=work is None, work=work, waiting=waiting)
    return "".join(f"{line}\n" for line in lines)


def test_the_last_lines_of_a_stop_name_the_conflicts_and_the_next_command() -> None:
    waiting = ("s/p1.patch/a", "s/p2.patch/a")
    stopped = verdicts(*[Verdict.CONFLICT] * 5)
    assert told(stopped, waiting=waiting, work=Path("w")) == STOP
    broken = verdicts(Verdict.CONFLICT, findings=(BROKEN,))
    *_, how, which, then = told(broken, waiting=(), work=Path("w")).splitlines()
    assert how == "  p1.patch: patchmgr conflicts accept 0a --because TEXT"
    assert which == "Conflicts are left in 1 patch: p1.patch"
    assert then == "Then run: patchmgr rebase --continue"
    dry = told(verdicts(Verdict.CONFLICT, Verdict.CONFLICT), waiting=(), work=None).splitlines()
    assert dry[0] == "Conflicts are left in 2 patches: p1.patch and p2.patch"
    assert dry[1].endswith("run without --dry-run")


HEADER = b"Subject: fix\n- a list\n---\n"
DIFF = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ f\n kept\n-old\x1b[2J\n+new\t\xff\n"


def test_a_diff_has_the_colors_of_git() -> None:
    assert diff_text(HEADER, DIFF, color=True).splitlines() == [
        "Subject: fix", "- a list", "---", "\x1b[1mdiff --git a/f b/f\x1b[0m",
        "\x1b[1m--- a/f\x1b[0m", "\x1b[1m+++ b/f\x1b[0m", "\x1b[36m@@ -1,2 +1,2 @@ f\x1b[0m",
        " kept", "\x1b[31m-old\\u001b[2J\x1b[0m", "\x1b[32m+new\t\\xff\x1b[0m",
    ]  # fmt: skip


def test_without_color_nothing_but_text_reaches_a_terminal() -> None:
    shown = diff_text(HEADER, DIFF, color=False)
    assert "\x1b" not in shown
    assert shown.count("\n") == (HEADER + DIFF).count(b"\n")
    assert diff_text(b"", b"", color=True) == ""
