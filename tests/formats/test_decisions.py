"""The files of decisions and of accepted proposals."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.decisions import (
    MAX_FILE,
    parse_accepted,
    parse_decisions,
    write_accepted,
    write_decisions,
)
from patchmgr.model.audit import Accepted
from patchmgr.model.decision import Decision, Passage, Ruling
from tests.tables import table

A, B = "a" * 32, "b" * 32
ONE = Decision("s", "one.patch", Ruling.NEEDED, A, (Passage("f", 0, ""),))
TWO = Decision(
    "s",
    "two.patch",
    Ruling.ABSORBED,
    B,
    (Passage("dir/f g.py", 3, A, 2), Passage("dir/h.py", 0, B)),
    by="#12",
    commit="c" * 40,
    subject='Fix "it" (#12)',
    pull=12,
)
RAW = f"""\
format = 1

[[decision]]
change = "{A}"
patch = "one.patch"
series = "s"
text = [
    {{ digest = "", lines = 0, path = "f", times = 1 }},
]
verdict = "needed"

[[decision]]
by = "#12"
change = "{B}"
commit = "{"c" * 40}"
patch = "two.patch"
pull = 12
series = "s"
subject = "Fix \\"it\\" (#12)"
text = [
    {{ digest = "{A}", lines = 3, path = "dir/f g.py", times = 2 }},
    {{ digest = "{B}", lines = 0, path = "dir/h.py", times = 1 }},
]
verdict = "absorbed"
""".encode()


def test_decisions_are_written_sorted_and_read_again() -> None:
    assert write_decisions([TWO, ONE, TWO]) == RAW
    assert write_decisions([ONE, TWO]) == RAW
    assert parse_decisions(RAW) == (ONE, TWO)


def test_no_decision_is_a_file_too() -> None:
    assert write_decisions([]) == b"format = 1\n"
    assert parse_decisions(b"format = 1\n") == ()


@table("path", ["ä.py", "a%20b", "\udcff", "x\u202ey", 'a"b'])
def test_any_path_survives(path: str) -> None:
    decision = replace(ONE, patch=path, passages=(Passage(path, 0, A),))
    raw = write_decisions([decision])
    assert raw.isascii()
    assert parse_decisions(raw) == (decision,)


def test_the_order_does_not_depend_on_what_is_missing() -> None:
    several = [ONE, replace(ONE, by="x"), replace(ONE, pull=3), replace(ONE, commit="d" * 40)]
    several.append(replace(ONE, ruling=Ruling.ABSORBED))
    assert write_decisions(several) == write_decisions(several[::-1])
    assert set(parse_decisions(write_decisions(several))) == set(several)


def changed(old: str, new: str) -> bytes:
    assert old in RAW.decode()
    return RAW.decode().replace(old, new, 1).encode()


@table(
    ("raw", "words"),
    {
        "no-utf-8": (b"\xff", "not valid TOML"),
        "no-toml": (b"format =", "not valid TOML"),
        "nested": (b"a = " + b"[" * 9000, "not valid TOML"),
        "no-format": (b"", "format is missing"),
        "newer": (b"format = 2\n", "format: invalid enum value 2"),
        "format-is-no-number": (b"format = true\n", "format: expected `int`"),
        "another-key": (b"format = 1\nmore = 1\n", "more is unknown"),
        "no-list": (b"format = 1\ndecision = 1\n", "decision: expected `array`"),
        "no-table": (b"format = 1\ndecision = [1]\n", "decision 1: expected `table`"),
        "unknown": (changed("by =", "bye ="), "decision 2.bye is unknown"),
        "verdict": (changed('"needed"', '"maybe"'), "verdict: invalid enum value 'maybe'"),
        "no-text": (changed('"needed"', "1"), "verdict: expected `str`"),
        "empty": (changed('"needed"', '""'), "verdict: invalid enum value ''"),
        "unprintable": (changed("#12", "\\u202e"), "by must be printable text"),
        "digest": (changed(f'"{A}"', '"a"'), "change: expected `str` matching"),
        "commit": (changed(f'"{"c" * 40}"', '"c"'), "commit: expected `str.*` matching"),
        "negative": (changed("pull = 12", "pull = -1"), "pull: expected `int.*` >= 0"),
        "boolean": (changed("pull = 12", "pull = true"), "pull: expected `int.*`, got `bool`"),
        "lines": (changed("lines = 3, ", ""), r"decision 2.text\[0\].lines is missing"),
        "lines-without-digest": (changed(f'"{A}", lines', '"", lines'),
            "a passage with `lines` needs a `digest`"),
        "file": (changed('digest = ""', 'digest = "x"'), "digest: expected `str` matching"),
        "no-text-at-all": (changed('    { digest = "", lines = 0, path = "f", times = 1 },\n', ""),
            "decision 1 needs at least one passage"),
    },
)  # fmt: skip
def test_what_is_wrong_is_said(raw: bytes, words: str) -> None:
    with pytest.raises(PatchmgrError, match=words) as caught:
        parse_decisions(raw)
    assert caught.value.kind == "bad-decisions"
    assert "conflicts/decisions.toml" in caught.value.message


@table("path", ["../f", "/f", "a/.git/b", "%2e%2e/f"])
def test_a_path_cannot_leave_the_tree(path: str) -> None:
    with pytest.raises(PatchmgrError) as caught:
        parse_decisions(changed('"f"', f'"{path}"'))
    assert caught.value.kind == "unsafe-path"


def test_a_merge_conflict_in_the_file_is_named() -> None:
    with pytest.raises(PatchmgrError) as caught:
        parse_decisions(RAW + b"<<<<<<< ours\n")
    assert caught.value.hints == ("resolve the merge conflict in the file",)


def test_a_large_file_is_not_read() -> None:
    with pytest.raises(PatchmgrError, match=f"larger than {MAX_FILE} bytes"):
        parse_decisions(RAW + b"#" * MAX_FILE)


def test_what_could_not_be_read_again_is_not_written() -> None:
    with pytest.raises(PatchmgrError, match="by must be"):
        write_decisions([replace(ONE, by="\u202e")])


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with suppress(PatchmgrError):
        parse_decisions(b"format = 1\n" + raw)


ACCEPTED_ONE = Accepted("0123456789ab", "s", "one.patch", "`x` is not defined", "set by exec")
ACCEPTED_TWO = Accepted("ffff00001111", "s", "two.patch", "Valid-While fails", "checked by hand")


def test_text_that_is_not_utf8_is_refused() -> None:
    """It ended the command with exit 70, as a patch whose name is not UTF-8 did."""
    with pytest.raises(PatchmgrError, match=r"accepted\.toml cannot contain text"):
        write_accepted([replace(ACCEPTED_ONE, patch="\udcff.patch")])
    with pytest.raises(PatchmgrError, match=r"decisions\.toml cannot contain text"):
        write_decisions([replace(ONE, by="\udcff")])


def test_what_is_written_is_read_again_sorted_and_once() -> None:
    raw = write_accepted([ACCEPTED_TWO, ACCEPTED_ONE, ACCEPTED_TWO])
    assert raw is not None
    assert parse_accepted(raw) == (ACCEPTED_ONE, ACCEPTED_TWO)
    assert write_accepted(parse_accepted(raw)) == raw


def test_nothing_accepted_is_no_file() -> None:
    assert write_accepted([]) is None


def test_what_could_not_be_read_is_not_written() -> None:
    with pytest.raises(PatchmgrError, match="id: expected `str` matching"):
        write_accepted([Accepted("../../../etc", "s", "one.patch", "finding", "reason")])


@table(
    ("raw", "problem"),
    {
        "no UTF-8": (b"\xff", "is not valid TOML"),
        "no TOML": (b"format = ", "is not valid TOML"),
        "another format": (b"format = 2\n", "format: invalid enum value 2"),
        "an unknown key": (b"format = 1\nmore = 1\n", "more is unknown"),
        "an id that is a path": (
            (write_accepted([ACCEPTED_ONE]) or b"").replace(b"0123456789ab", b"../../../etc"),
            "accepted[0].id: expected `str` matching",
        ),
        "too large": (b"#" * (MAX_FILE + 1), "is larger than"),
    },
)
def test_what_is_wrong_in_what_was_accepted_is_said(raw: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=r"accepted\.toml") as caught:
        parse_accepted(raw)
    assert problem in caught.value.message
