"""Patches that are rewritten for `import`: what they become, and what stays refused."""

import time

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.rewriting import Rewritten, rewritten
from tests.tables import table

HUNK = "@@ -1 +1 @@\n-a\n+b\n"
MARKERS = "--- a/x\n+++ b/x\n"
X = MARKERS + HUNK
Y = X.replace("/x", "/y")


def rewrite(raw: str, *there: str, strip: int = 1) -> Rewritten:
    exists = (there or ("x",)).__contains__
    found = rewritten(raw.encode(), name="x.patch", strip=strip, exists=exists)
    for part in found.parts:
        parse_patch(part, name="x.patch", strip=strip)
    return found


NAMES = {
    "another suffix of a copy": ("--- a/x.CVE-1\n+++ b/x\n", X),
    "another folder above": ("--- ../old/x\n+++ ./x\n", X),
    "two folders above": ("--- ../../old/x\n+++ ./x\n", X),
    "a slash too many": ("--- a//x\n+++ b//x\n", X),
    "only the new name": ("+++ b/x\n", X),
    "a title with another name": ("diff --git a/w b/w\nindex 1..2 100644\n--- a/x\n+++ b/x\n", X),
    "ids that are none": ("diff --git a/x b/x\nindex XXXX..YYYY 100644\n" + MARKERS, X),
    "a new file": (
        "diff --git a/w b/w\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
        "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
    ),
    "a new file by its date": (
        "--- old/x.org 1970-01-01 00:00:00 +0000\n+++ new/x 2026-01-31 08:30\n@@ -0,0 +1 @@\n+b\n",
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
    ),
    "a space in the name": ("+++ b/x y\n", "--- a/x y\t\n+++ b/x y\t\n" + HUNK),
}  # fmt: skip


@table(("head", "wanted"), NAMES)
def test_a_section_gets_one_name(head: str, wanted: str) -> None:
    found = rewrite("Why.\n\n" + head + ("" if "@@" in head else HUNK))
    assert found.parts == (b"Why.\n\n" + wanted.encode(),)
    path = "x y" if "x y" in wanted else "x"
    assert found.notes == (f"the names of these files were rewritten: {path}",)


@table(
    ("there", "path"),
    {
        "the old one is there": (("x",), "x"),
        "the new one is there": (("y",), "y"),
        "no file": ((), "y"),
        "another file": (("z",), "y"),
    },
)
def test_of_two_names_that_of_the_file_counts(there: tuple[str, ...], path: str) -> None:
    raw = f"--- a/x\n+++ b/y\n{HUNK}".encode()
    found = rewritten(raw, name="x.patch", strip=1, exists=there.__contains__)
    assert found.parts == (f"--- a/{path}\n+++ b/{path}\n{HUNK}".encode(),)


def test_with_p0_no_prefix_is_written() -> None:
    (part,) = rewrite(f"--- x.org\n+++ x\n{HUNK}", strip=0).parts
    assert part == f"--- x\n+++ x\n{HUNK}".encode()


TEXTS = {
    "text between": (X + "Only in b: y\n" + Y, (X + Y,), "left out: line 6"),
    "a signature between": (X + "-- \n2.25.1\n\n" + Y, (X + Y,), "left out: line 6, 7"),
    "two signatures": (X + "-- \n2.25.1\n\n-- \nJoe Doe\n", (X,), None),
    "context below": (X + " more\n", (X,), "left out: line 6"),
    "no newline at the end": (X[:-1], (X,), "the newline at the end was missing"),
    "a lost blank line": (
        X.replace("1 +1", "1,2 +1,2"),
        (X.replace("1 +1", "1,2 +1,2") + " \n",),
        "blank lines that were missing",
    ),
    "a file twice": (
        "Why.\n" + X + Y + X, ("Why.\n" + X + Y, "Why.\n" + X), "became 2 patches"
    ),
    "nothing": ("Why.\n", ("Why.\n",), None),
}  # fmt: skip


@table(("raw", "parts", "note"), TEXTS)
def test_what_is_left_out_or_added(raw: str, parts: tuple[str, ...], note: str | None) -> None:
    found = rewrite(raw, "x", "y")
    assert found.parts == tuple(part.encode() for part in parts)
    assert (note in found.notes[0]) if note else not found.notes


DATES = {
    "a folded line of another tool": (
        "Date: Wed, 4 May 2022 05:11:01 +0000\n 00:00:00 2001 Subject: x\n",
        "Date: Wed, 4 May 2022 05:11:01 +0000\n"
        "Original-Date: Wed, 4 May 2022 05:11:01 +0000 00:00:00 2001 Subject: x\n",
    ),
    "a day": (
        "Date: 2026-01-28\n", "Date: Wed, 28 Jan 2026 00:00:00 +0000\nOriginal-Date: 2026-01-28\n"
    ),
    "another language": (
        "Date: Wed, 17 Mai 2023 11:40:58 +0100\n",
        "Original-Date: Wed, 17 Mai 2023 11:40:58 +0100\n",
    ),
}  # fmt: skip


@table(("old", "new"), DATES)
def test_a_date_that_cannot_be_read_is_kept_beside_one_that_can(old: str, new: str) -> None:
    head = "From: A <a@b>\n{}Subject: x\n\n"
    found = rewrite(head.format(old) + X)
    assert found.parts == ((head.format(new) + X).encode(),)
    assert " cannot be read; it was " in found.notes[0]


REFUSED = {
    "a line too many": (X + "+c\n", "line 6: the line belongs to no hunk"),
    "a hunk without names": (X + "\n@@ -5 +5 @@\n-a\n+b\n", "line 7: the line belongs to no h"),
    "a binary file": (X + "Binary files a/z and b/z differ\n", "belongs to no hunk"),
    "a file that becomes a link": (
        X + "File a/z is a regular file while file b/z is a symbolic link\n", "belongs to no hunk"
    ),
    "a submodule's log": (X + "Submodule a 1234567..89abcde:\n  > x\n", "belongs to no hunk"),
    "both names exist": (f"--- a/x\n+++ b/y\n{HUNK}", "x and y both exist"),
    "an unsafe name": (f"--- a/w\n+++ b/../x\n{HUNK}", "has a .. component"),
    "a new file with a slash too many": (
        "--- /dev/null\n+++ b//etc/z\n@@ -0,0 +1 @@\n+b\n", "is absolute"
    ),
    "no prefixes": (f"diff --git s/x s/x\n--- s/x\n+++ s/x\n{HUNK}", "lack the prefixes"),
    "a wrong count": (X.replace("1 +1", "1,3 +1,9"), "ends inside a hunk"),
    "a rename that disagrees": (
        f"diff --git a/x b/y\nrename from w\nrename to y\n--- a/x\n+++ b/y\n{HUNK}", "different"
    ),
}  # fmt: skip


@table(("raw", "problem"), REFUSED)
def test_what_could_be_read_in_two_ways_stays_refused(raw: str, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem):
        rewrite(raw, "x", "y")


@table("named", {"all-but-one-are-read": "", "none-is-read": ".new"})
def test_many_sections_take_no_time_but_their_own(named: str) -> None:
    """Each one was compared with all before it: 8 s for 4,000, and 20 s if none can be read."""
    text = b"".join(
        b"--- a/d/%d\n+++ b/d/%d%s\n@@ -1 +1 @@\n-b\n+c\n"
        % (n, n, (named if n else ".new").encode())
        for n in range(4000)
    )
    start = time.process_time()
    found = rewritten(text, name="x", strip=1, exists=lambda path: not path.endswith(".new"))
    assert len(found.parts) == 1
    assert time.process_time() - start < 3
