"""Messages and fields."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.mail_text import (
    clean_subject,
    is_cut,
    read_body,
    read_fields,
    stripped_space,
    without_stat,
)
from tests.tables import table

SUBJECTS = [
    ("area: do it", "area: do it"),
    ("[PATCH] x", "x"),
    ("[PATCH v2 03/10] x", "x"),
    ("[RFC PATCH 1/2]   x  y ", "x y"),
    ("Re: [PATCH] x", "x"),
    ("RE: re: : [PATCH] x", "x"),
    ("[PATCH] Re: x", "x"),
    ("[PATCH 1/2] [Bugfix][Core] x", "[Bugfix][Core] x"),
    ("[stable] [PATCH] x", "[stable] x"),
    ("[a][PATCH][b] x", "[a][b] x"),
    ("[Bugfix] x", "[Bugfix] x"),
    ("Re: x", "Re: x"),
    (": x", ": x"),
    ("x [PATCH] y", "x [PATCH] y"),
    ("[PATCH x", "[PATCH x"),
    ("[patch] x", "[patch] x"),
    ("[PATCH]", ""),
    ("UPSTREAM: <carry>: keep", "UPSTREAM: <carry>: keep"),
    ("", ""),
]


@table(("text", "clean"), SUBJECTS, ids=[text or "empty" for text, _ in SUBJECTS])
def test_only_what_mail_adds_is_taken_from_a_subject(text: str, clean: str) -> None:
    assert clean_subject(text) == clean


@given(st.lists(st.sampled_from(["[PATCH]", "[x]", "[", "]", "re:", ":", " ", "a"])).map("".join))
def test_a_clean_subject_stays(text: str) -> None:
    once = clean_subject(text)
    assert clean_subject(once) == once or "PATCH" in once


@table("line", [b"---", b"--- ", b"---\t ", b"--- a/x", b"diff -u", b"Index: x"])
def test_the_message_ends_here(line: bytes) -> None:
    assert is_cut(line)


@table("line", [b"--", b"----", b"---x", b"---  x", b" ---", b"diff x", b"Index:"])
def test_the_message_goes_on(line: bytes) -> None:
    assert not is_cut(line)


BODIES = {
    "a text": ("a\n\nb", {}, ["a", "", "b"]),
    "blank lines first": ("\n\na", {}, ["a"]),
    "nothing": ("", {}, []),
    "a cut": ("a\n---\nb", {}, ["a"]),
    "in-body headers": ("From: A <a@b>\nDate: d\nsubject: s\n\na", {"from", "date", "subject"},
                        ["a"]),
    "folded": ("Subject: a\n b\n\tc\n\nd", {"subject"}, ["d"]),
    "a header up to the end": ("From: A <a@b>", {"from"}, []),
    "text right below": ("From: A <a@b>\nb", {"from"}, ["b"]),
    "said twice": ("From: A <a@b>\nFrom: C <c@d>\nb", {"from"}, ["From: C <c@d>", "b"]),
    "below a blank line": ("From: A <a@b>\n\nSubject: x", {"from"}, ["Subject: x"]),
    "further down": ("a\nFrom: C <c@d>", {}, ["a", "From: C <c@d>"]),
    "another field": ("Bug: 1\nFrom: C <c@d>", {}, ["Bug: 1", "From: C <c@d>"]),
    "a bracket": ("[PATCH] x\n\nb", {"subject"}, ["b"]),
    "another bracket": ("[x] y", {}, ["[x] y"]),
    "a quoted separator": (
        ">From " + "0" * 40 + " Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\n\nb", {"from"}, ["b"]
    ),
    "From in a text": ("From here on\nit works", {}, ["From here on", "it works"]),
}  # fmt: skip


@table(("text", "names", "lines"), BODIES)
def test_a_body_is_read_as_git_reads_it(text: str, names: set[str], lines: list[str]) -> None:
    body = read_body(text.encode().split(b"\n"), None)
    assert body.headers.keys() == set(names)
    assert body.lines == lines


def test_in_body_headers_are_decoded_and_the_text_has_its_charset() -> None:
    body = read_body([b"Subject: =?utf-8?q?=C3=BC?=", b"  x", b"", b"\xfc"], "latin-1")
    assert body.headers == {"subject": "ü x"}
    assert body.lines == ["ü"]


@table(
    ("lines", "message"),
    {
        "nothing": ([], b""),
        "blanks": (["", " ", "\t"], b""),
        "blanks around": (["", "a  ", "", " ", "", " b\r", ""], b"a\n\n b\n"),
        "stray bytes": (["\udcff"], b"\xff\n"),
    },
)
def test_white_space_is_stripped_as_git_does(lines: list[str], message: bytes) -> None:
    assert stripped_space(lines) == message


FIELDS = {
    "one": (["Bug: 1"], {"Bug": "1"}),
    "case kept": (["bUg-Debian: x"], {"bUg-Debian": "x"}),
    "folded": (["Description: a", " b", "\tc"], {"Description": "a\nb\nc"}),
    "text below only": (["Description:", " b"], {"Description": "b"}),
    "an empty line": (["Description: a", " .", " c"], {"Description": "a\n\nc"}),
    "ended by a blank line": (["Bug: 1", "", " x"], {"Bug": "1"}),
    "ended by text": (["Bug: 1", "x", " y"], {"Bug": "1"}),
    "given twice": (["Bug: 1", "Bug: 2"], {"Bug": "1\n2"}),
    "addresses are not fields": (["https://x", "a:b", "1: x", "a b: c"], {}),
    "CR at the end": (["Bug: 1\r", " x\r"], {"Bug": "1\nx"}),
    "empty": (["Bug:"], {"Bug": ""}),
    "stray bytes": (["Bug: \udce9"], {"Bug": "é"}),
}


@table(("lines", "fields"), FIELDS)
def test_fields_are_read(lines: list[str], fields: dict[str, str]) -> None:
    assert read_fields(lines) == fields


STAT = """\
 a/x.py                    |   2 +-
 {old => new}/y z.txt      | Bin 0 -> 3 bytes
 b                         | Unmerged
 c                         |   0
 d                         |   1 +
 5 files changed, 3 insertions(+), 2 deletions(-)
 create mode 100644 bin
 delete mode 120000 ln
 mode change 100644 => 100755 x
 rename {old => new}/y z.txt (90%)
 copy a => b (100%)
 rewrite q (99%)"""

BODIES_WITH_STATS = {
    "a diffstat": ("text\n---\n" + STAT + "\n\n", "text"),
    "no line between": ("text\n\n---\n x | 1 +\n 1 file changed, 1 insertion(+)", "text"),
    "notes first": ("a\n---\nNotes:\n    b | c\n\n x | 1 +\n", "a\n---\nNotes:\n    b | c"),
    "notes behind": ("a\n--- \n x | 1 +\n\nv2: better\n\n", "a\n--- \n\nv2: better"),
    "no diffstat": ("a\n\nb\n\n", "a\n\nb"),
    "one in the message": ("a\n x | 1 +\n\n", "a\n x | 1 +"),
    "nothing": ("", ""),
    "a rule of dashes": ("a\n-----\n x | 1 +", "a\n-----\n x | 1 +"),
}


@table(("body", "kept"), BODIES_WITH_STATS)
def test_only_the_diffstat_is_taken_out(body: str, kept: str) -> None:
    lines = without_stat(body.encode().split(b"\n"))
    assert b"\n".join(lines).decode() == kept
    assert without_stat(lines) == lines
