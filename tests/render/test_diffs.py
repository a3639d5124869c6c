"""A diff on a terminal: git's colours, and nothing that a patch could do to it."""

from __future__ import annotations

from patchmgr.render.rebase import diff_text

HEADER = b"Subject: fix\n- a list\n---\n"
DIFF = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ f\n kept\n-old\x1b[2J\n+new\t\xff\n"


def test_a_diff_has_the_colours_of_git() -> None:
    assert diff_text(HEADER, DIFF, colour=True).splitlines() == [
        "Subject: fix",
        "- a list",
        "---",
        "\x1b[1mdiff --git a/f b/f\x1b[0m",
        "\x1b[1m--- a/f\x1b[0m",
        "\x1b[1m+++ b/f\x1b[0m",
        "\x1b[36m@@ -1,2 +1,2 @@ f\x1b[0m",
        " kept",
        "\x1b[31m-old\\u001b[2J\x1b[0m",
        "\x1b[32m+new\t\\xff\x1b[0m",
    ]


def test_without_colour_nothing_but_text_reaches_a_terminal() -> None:
    shown = diff_text(HEADER, DIFF, colour=False)
    assert "\x1b" not in shown
    assert shown.count("\n") == (HEADER + DIFF).count(b"\n")
    assert diff_text(b"", b"", colour=True) == ""
