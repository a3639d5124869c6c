"""Authors and dates of mails."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.mail_text import (
    leading_date,
    parse_date,
    parse_person,
    squeezed,
    written_date,
    written_person,
)
from tests.tables import table

LONG = "L" * 61

# Each answer is that of git 2.39.5 mailinfo, but where the id says so.
PEOPLE = [
    ("A B <a@b>", ("A B", "a@b")),
    ("A <a@b>", ("A", "a@b")),
    ("a@b", ("a@b", "a@b")),
    ("<a@b>", ("a@b", "a@b")),
    ("a@b (Joe D)", ("Joe D", "a@b")),
    ("a@b Joe", ("Joe", "a@b")),
    ("AB <a@b", ("AB", "a@b")),
    ('"A, B." <a@b>', ("A, B.", "a@b")),
    ('"A \\"x\\" B" <a@b>', ('A "x" B', "a@b")),
    ("Joe (comment) <a@b> tail", ("Joe (comment) tail", "a@b")),
    ("Joe (a (b\\) c) d) <a@b>", ("Joe (a (b) c) d)", "a@b")),
    ('Joe (a "b) <a@b>', ('Joe (a "b)', "a@b")),
    ("Joe ) <a@b>", ("Joe )", "a@b")),
    ("a@b <c@d>", ("a@b", "a@b")),
    ("Joe <a b@c d>", ("b@c", "b@c")),
    ('"x <y" <a@b>', ("a@b", "a@b")),
    (LONG + " <a@b>", ("a@b", "a@b")),
    (LONG[1:] + " <a@b>", (LONG[1:], "a@b")),
    ("Joe <joe>", ("Joe", "joe")),
    ("Joe <>", ("Joe", "")),
    ("joe", None),
    ("", None),
    ("<>", None),
    ("Joe <joe", None),
    ("Jos\udce9 <a@b>", ("José", "a@b")),
    (",Joe; <a@b>", ("Joe", "a@b")),
    ("Foo Jr. <a@b>", ("Foo Jr.", "a@b")),
    ("Joe <<a@b>>", ("a@b", "a@b")),
]


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
]


@table(("text", "raw"), DATES, ids=[text or "empty" for text, _ in DATES])
def test_a_date_is_read_or_not(text: str, raw: str | None) -> None:
    assert parse_date(text) == raw


LOG_DATES = [
    ("Sun Jan 27 01:04:25 2019 -0500", "1548569065 -0500"),
    ("Mon Oct  7 15:10:46 UTC 2013", "1381158646 +0000"),
    ("Mon Oct 7 15:10:46 EST 2013", "1381176646 -0500"),
    ("Mon Oct 7 15:10:46 2013", "1381158646 +0000"),
    ("Mon Oct 7 15:10:46 XXX 2013", None),
    ("Oct 7 15:10:46 2013", None),
]


@table(("text", "raw"), LOG_DATES)
def test_dates_of_git_log_and_of_date_are_read(text: str, raw: str | None) -> None:
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
