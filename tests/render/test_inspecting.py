"""What `diff`, `why` and `status --of` answer."""

import json

from patchmgr.cli.root import text_of
from patchmgr.commands.status import CommitOrigin
from patchmgr.commands.why import LineOrigin
from patchmgr.model.comparison import ComparedPatch, ComparedSeries, Sameness
from patchmgr.render.inspecting import (
    commit_text,
    commit_value,
    compared_text,
    compared_value,
    origin_text,
)
from patchmgr.render.machine import document
from patchmgr.render.view import Detail, View
from tests.tables import table

OLD, NEW = "a" * 40, "b" * 40
COMPARED = ComparedSeries(
    "s",
    ("one", OLD),
    ("two", NEW),
    (
        ComparedPatch("fix \x1b[31m it", Sameness.CHANGED, OLD, NEW, ("a.py",), ("-old", "+new")),
        ComparedPatch("add it", Sameness.ADDED, None, NEW),
    ),
    ("same.py",),
    ("a.py",),
    (("held.py", "sha256:1"),),
)


def test_two_states_are_compared_patch_by_patch() -> None:
    assert text_of(compared_text(COMPARED, View(), shows_lines=True)) == (
        "s: one (aaaaaaaaaaaa) to two (bbbbbbbbbbbb)\n"
        "  changed         fix \\u001b[31m it\n"
        "      -old\n"
        "      +new\n"
        "  added           add it\n"
        "2 patches: 1 changed, 1 added\n"
        "1 file byte-identical, 1 not\n"
        "  differs  a.py\n"
        "  held     held.py sha256:1\n"
    )


def test_lines_and_colors_are_shown_where_they_are_asked_for() -> None:
    text = text_of(compared_text(COMPARED, View(color=True), shows_lines=False))
    assert "-old" not in text
    assert "\x1b[33mchanged" in text
    none = ComparedSeries("s", ("one", OLD), ("two", NEW), (), (), ())
    assert "0 patches: none\n" in text_of(compared_text(none, View(), shows_lines=True))


def test_patches_that_stayed_as_they_were_are_counted() -> None:
    same = ComparedPatch("keep it", Sameness.IDENTICAL, OLD, NEW)
    found = ComparedSeries("s", ("one", OLD), ("two", NEW), (same, *COMPARED.patches), (), ())
    shown = text_of(compared_text(found, View(), shows_lines=False))
    assert "keep it" not in shown
    assert "3 patches: 1 byte-identical, 1 changed, 1 added\n" in shown
    assert "keep it" in text_of(compared_text(found, View(Detail.ALL), shows_lines=False))
    (line,) = text_of(compared_text(found, View(Detail.LINE), shows_lines=False)).splitlines()
    assert line.endswith(": 3 patches: 1 byte-identical, 1 changed, 1 added")


def test_a_comparison_is_a_document() -> None:
    found = json.loads(document("diff", compared_value(COMPARED)))
    assert found["start"] == {"name": "one", "head": OLD}
    assert [patch["sameness"] for patch in found["patches"]] == ["changed", "added"]
    assert found["claims"] == [{"place": "held.py", "digest": "sha256:1"}]


@table(
    ("origin", "text"),
    {
        "upstream's": (LineOrigin("a.py", 3, "x = 1", None, None, "", ""),
            "a.py:3\n    x = 1\nupstream's own line\n"),
        "a patch's": (LineOrigin("a.py", 3, "x = 1", "A.f", "p.patch", "fix it", "Why."),
            "a.py:3 in A.f\n    x = 1\np.patch  fix it\n  Why.\n"),
        "without a reason": (LineOrigin("a.py", 3, "x = 1", None, "p.patch", "fix it", ""),
            "a.py:3\n    x = 1\np.patch  fix it\n"),
    },
)  # fmt: skip
def test_the_patch_of_a_line_is_named(origin: LineOrigin, text: str) -> None:
    assert text_of(origin_text(origin)) == text
    assert json.loads(document("why", origin))["patch"] == origin.patch


@table(
    ("found", "text"),
    {
        "of nobody": (
            CommitOrigin(OLD, None, NEW, None, False, None, (), (), None, None),
            f"commit {OLD}\nnot a commit of a series\n",
        ),
        "now": (
            CommitOrigin(OLD, "s", NEW, "v1", True, 1, ("fix it",), ("one",), "1.0", None),
            f"commit {OLD}\nseries s on v1 ({NEW})\nthe head of the current branch of the series\n"
            "built by patchmgr 1.0, digest \ntag one\n1 patch\n  fix it\n",
        ),
        "a part of it": (
            CommitOrigin(OLD, "s", NEW, None, False, 1, ("fix it",), (), None, None),
            f"commit {OLD}\nseries s on {NEW}\nthe current branch of the series, "
            "up to patch 1\n1 patch\n  fix it\n",
        ),
        "another state": (
            CommitOrigin(OLD, None, NEW, None, False, None, ("a", "b"), (), None, None),
            f"commit {OLD}\nunknown series on {NEW}\nnot in the current branch of the series\n"
            "2 patches\n  a\n  b\n",
        ),
    },
)
def test_a_commit_is_recognised(found: CommitOrigin, text: str) -> None:
    assert text_of(commit_text(found)) == text
    assert commit_value(found)["series"] == found.series
