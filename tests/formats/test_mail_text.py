"""Mails: messages and fields, people and dates, and words in other encodings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats.mail_text import (
    clean_subject,
    decoded,
    decoded_words,
    is_cut,
    leading_date,
    parse_date,
    parse_person,
    read_body,
    read_fields,
    repaired,
    squeezed,
    stripped_space,
    without_stat,
    written_date,
    written_person,
)
from patchmgr.formats.paths import encode_path
from tests.tables import table

SUBJECTS = [
    ("area: do it", "area: do it"), ("[PATCH] x", "x"), ("[PATCH v2 03/10] x", "x"),
    ("[RFC PATCH 1/2]   x  y ", "x y"), ("Re: [PATCH] x", "x"), ("RE: re: : [PATCH] x", "x"),
    ("[PATCH] Re: x", "x"), ("[PATCH 1/2] [Bugfix][Core] x", "[Bugfix][Core] x"),
    ("[stable] [PATCH] x", "[stable] x"), ("[a][PATCH][b] x", "[a][b] x"),
    ("[Bugfix] x", "[Bugfix] x"), ("Re: x", "Re: x"), (": x", ": x"),
    ("x [PATCH] y", "x [PATCH] y"), ("[PATCH x", "[PATCH x"), ("[patch] x", "[patch] x"),
    ("[PATCH]", ""), ("UPSTREAM: <carry>: keep", "UPSTREAM: <carry>: keep"), ("", ""),
]  # fmt: skip


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


LONG = "L" * 61

# Each answer is that of git 2.39.5 mailinfo, but where the id says so.
PEOPLE = [
    ("A B <a@b>", ("A B", "a@b")), ("A <a@b>", ("A", "a@b")), ("a@b", ("a@b", "a@b")),
    ("<a@b>", ("a@b", "a@b")), ("a@b (Joe D)", ("Joe D", "a@b")), ("a@b Joe", ("Joe", "a@b")),
    ("AB <a@b", ("AB", "a@b")), ('"A, B." <a@b>', ("A, B.", "a@b")),
    ('"A \\"x\\" B" <a@b>', ('A "x" B', "a@b")),
    ("Joe (comment) <a@b> tail", ("Joe (comment) tail", "a@b")),
    ("Joe (a (b\\) c) d) <a@b>", ("Joe (a (b) c) d)", "a@b")),
    ('Joe (a "b) <a@b>', ('Joe (a "b)', "a@b")), ("Joe ) <a@b>", ("Joe )", "a@b")),
    ("a@b <c@d>", ("a@b", "a@b")), ("Joe <a b@c d>", ("b@c", "b@c")),
    ('"x <y" <a@b>', ("a@b", "a@b")), (LONG + " <a@b>", ("a@b", "a@b")),
    (LONG[1:] + " <a@b>", (LONG[1:], "a@b")), ("Joe <joe>", ("Joe", "joe")),
    ("Joe <>", ("Joe", "")), ("joe", None), ("", None), ("<>", None), ("Joe <joe", None),
    ("Jos\udce9 <a@b>", ("José", "a@b")), (",Joe; <a@b>", ("Joe", "a@b")),
    ("Foo Jr. <a@b>", ("Foo Jr.", "a@b")), ("Joe <<a@b>>", ("a@b", "a@b")),
]  # fmt: skip


@table(("text", "person"), PEOPLE, ids=[text or "empty" for text, _ in PEOPLE])
def test_a_person_is_read_as_git_reads_it(text: str, person: tuple[str, str] | None) -> None:
    assert parse_person(text) == person


DATES = [
    ("Thu, 14 May 2026 21:22:37 +0200", "1778786557 +0200"),
    ("Thu, 1 Jan 2026 01:02:03 -0330", "1767241923 -0330"),
    ("1 Jan 2026 01:02 GMT", "1767229320 +0000"),
    ("Thu  1 jan 2026 01:02:03", "1767229323 +0000"),
    ("Thu, 1 Jan 2026 01:02:03 EST", "1767247323 -0500"),
    ("Thu, 1 Jan 2026 01:02:03 -0000 (UTC)", "1767229323 +0000"),
    ("Tue, 29 Feb 2028 00:00:00 +0000", "1835395200 +0000"),
    ("Thu, 1 Jan 1970 01:00:00 +0100", "0 +0100"),
    ("2026-01-01 01:02:03 +0100", "1767225723 +0100"),
    ("2026-01-01T01:02:03Z", "1767229323 +0000"),
    ("2026-01-01T01:02:03.5+01:00", "1767225723 +0100"),
    ("2026-01-01 01:02", "1767229320 +0000"),
    ("1767229323 +0130", "1767229323 +0130"),
    ("@0 -0000", "0 +0000"),
    ("", None),
    ("yesterday", None),
    ("Thu, 31 Feb 2026 01:02:03 +0000", None),
    ("Thu, 0 Feb 2026 01:02:03 +0000", None),
    ("Thu, 1 Foo 2026 01:02:03 +0000", None),
    ("Thu, 1 Jan 1969 01:02:03 +0000", None),
    ("Thu, 1 Jan 2100 01:02:03 +0000", None),
    ("Thu, 1 Jan 1970 00:00:00 +0100", None),
    ("Thu, 1 Jan 2026 24:00:00 +0000", None),
    ("Thu, 1 Jan 2026 01:60:00 +0000", None),
    ("Thu, 1 Jan 2026 01:02:61 +0000", None),
    ("Thu, 1 Jan 2026 01:02:03 +2400", None),
    ("Thu, 1 Jan 2026 01:02:03 +0060", None),
    ("Thu, 1 Jan 2026 01:02:03 XYZ", None),
    ("2026-13-01 01:02:03", None),
    ("2026-00-01 01:02:03", None),
    ("1767229323 +9900", None),
    ("99999999999 +0000", None),
    ("-5 +0000", None),
    # Of git log, and of date.
    ("Sun Jan 27 01:04:25 2019 -0500", "1548569065 -0500"),
    ("Mon Oct  7 15:10:46 UTC 2013", "1381158646 +0000"),
    ("Mon Oct 7 15:10:46 EST 2013", "1381176646 -0500"),
    ("Mon Oct 7 15:10:46 2013", "1381158646 +0000"),
    ("Mon Oct 7 15:10:46 XXX 2013", None),
    ("Oct 7 15:10:46 2013", None),
]


@table(("text", "raw"), DATES, ids=[text or "empty" for text, _ in DATES])
def test_a_date_is_read_or_not(text: str, raw: str | None) -> None:
    assert parse_date(text) == raw


LEADING = [
    ("Wed, 4 May 2022 05:11:01 +0000 00:00:00 2001 Subject: x", "1651641061 +0000"),
    ("Sat, 13 Dec 2025 08:27:22 +0000 [thread overview]", "1765614442 +0000"),
    ("2026-01-28", "1769558400 +0000"),
    ("Wed, 11 Feb 2015", "1423612800 +0000"),
    ("6 Sep 2021 or so", "1630886400 +0000"),
    ("Wed, 17 Mai 2023 11:40:58 +0100", None),
    ("31 Feb 2021", None),
    ("", None),
]


@table(("text", "raw"), LEADING)
def test_a_text_may_begin_with_a_date(text: str, raw: str | None) -> None:
    assert parse_date(text) is None
    assert leading_date(text) == raw


@given(
    st.integers(13 * 3600, 4102444799 - 13 * 3600),
    st.sampled_from(["+0000", "+0200", "-0330", "+1245", "-1200"]),
)
def test_dates_survive(seconds: int, zone: str) -> None:
    raw = f"{seconds} {zone}"
    assert parse_date(raw) == raw
    assert parse_date(written_date(raw)) == raw


def test_a_date_is_written_as_git_writes_it() -> None:
    assert written_date("1767242523 -0330") == "Thu, 1 Jan 2026 01:12:03 -0330"


@table(
    ("name", "text"),
    [
        ("Joe Doe", "Joe Doe <a@b>"),
        ("Ü", "Ü <a@b>"),
        ("Doe, J.", '"Doe, J." <a@b>'),
        ('a "b" \\', '"a \\"b\\" \\\\" <a@b>'),
    ],
)
def test_a_person_is_written_as_git_writes_one(name: str, text: str) -> None:
    assert written_person(name, "a@b") == text


NAMES = st.text(max_size=40).map(lambda text: f"{text} <a@b.c>").map(parse_person)


@given(NAMES)
def test_a_person_who_was_read_survives(person: tuple[str, str] | None) -> None:
    if person is not None:
        assert parse_person(squeezed(written_person(*person))) == person


@given(st.text(alphabet='ab@<>()"\\,. ', max_size=20))
def test_any_text_is_a_person_or_none(text: str) -> None:
    person = parse_person(text)
    assert person is None or not set("<>\n") & set("".join(person))


@table("name", ['Joe "D', "Joe\\D", "Joe, D", "J. D"])
@table("email", ["", "joe@example.org"])
def test_a_name_is_read_as_it_was_written(name: str, email: str) -> None:
    assert parse_person(written_person(name, email)) == (name, email)


@table(
    ("raw", "charset", "text"),
    {
        "ASCII": (b"a", None, "a"),
        "UTF-8": (b"\xc3\xbc", None, "ü"),
        "UTF-8 that says so": (b"\xc3\xbc", "UTF-8", "ü"),
        "stray byte": (b"\xfc", None, "\udcfc"),
        "stray byte that claims to be UTF-8": (b"\xfc", "utf8", "\udcfc"),
        "Latin-1": (b"\xfc", "ISO-8859-1", "ü"),
        "Latin-9": (b"\xa4", "iso8859-15", "€"),
        "Windows": (b"\xdc", "windows-1252", "Ü"),
        "Japanese": (b"\x82\xa0", "Shift_JIS", "あ"),
    },
)
def test_a_line_is_decoded(raw: bytes, charset: str | None, text: str) -> None:
    assert decoded(raw, charset) == text


@table(
    "charset",
    [
        *("x-unknown", "zlib", "hex", "rot13", "idna", "punycode", "unicode-escape", "undefined"),
        *("", "a b", "../x", "x" * 99, "\0"),
    ],
)
def test_an_unknown_charset_is_refused(charset: str) -> None:
    with pytest.raises(PatchmgrError, match="is unknown") as caught:
        decoded(b"a", charset)
    assert caught.value.kind == "bad-patch"


@table(("raw", "charset"), [(b"\xff", "gb2312"), (b"+2AA-", "utf-7")])
def test_bytes_that_a_charset_does_not_have_are_refused(raw: bytes, charset: str) -> None:
    with pytest.raises(PatchmgrError, match="does not fit the text"):
        decoded(raw, charset)


@table(
    ("raw", "text"),
    {
        "none": (b"plain =? text ?=", "plain =? text ?="),
        "quoted": (b"=?UTF-8?q?=C3=BCber=20it?=", "über it"),
        "underscore": (b"=?utf-8?Q?a_b?= c", "a b c"),
        "base 64": (b"=?iso-8859-1?B?/A==?=", "ü"),
        "space between two": (b"x =?utf-8?q?a?=  =?utf-8?q?b?= y", "x ab y"),
        "text between two": (b"=?utf-8?q?a?= - =?utf-8?q?b?=", "a - b"),
        "a character in two words": (b"=?utf-8?q?=C3?= =?utf-8?q?=BC?=", "ü"),
        "bad base 64": (b"=?utf-8?b?a?=", "=?utf-8?b?a?="),
        "unknown method": (b"=?utf-8?x?a?=", "=?utf-8?x?a?="),
        "space in front": (b" =?utf-8?q?a?=", " a"),
        "bad hexadecimal": (b"=?utf-8?q?=ZZ?=", "=ZZ"),
    },
)
def test_encoded_words_are_decoded(raw: bytes, text: str) -> None:
    assert decoded_words(raw) == text


def test_an_encoded_word_of_an_unknown_charset_is_refused() -> None:
    with pytest.raises(PatchmgrError, match="charset k, which is unknown"):
        decoded_words(b"=?k?q?a?=")


def test_stray_bytes_are_repaired_and_the_rest_stays() -> None:
    assert repaired("ü\udce9 \udcff") == "üé ÿ"


@given(st.binary())
def test_bytes_survive(raw: bytes) -> None:
    assert encode_path(decoded(raw)) == raw
    repaired(decoded(raw)).encode()
