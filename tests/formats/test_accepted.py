"""conflicts/accepted.toml: what is written is read again, and what is wrong is said."""

from __future__ import annotations

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.decisions import MAX_FILE, parse_accepted, write_accepted
from patchmgr.model.audit import Accepted
from tests.tables import table

ONE = Accepted("0123456789ab", "s", "one.patch", "`x` is not defined", "set by exec")
TWO = Accepted("ffff00001111", "s", "two.patch", "Valid-While fails", "checked by hand")


def test_what_is_written_is_read_again_sorted_and_once() -> None:
    raw = write_accepted([TWO, ONE, TWO])
    assert raw is not None
    assert parse_accepted(raw) == (ONE, TWO)
    assert write_accepted(parse_accepted(raw)) == raw


def test_nothing_accepted_is_no_file() -> None:
    assert write_accepted([]) is None


def test_what_could_not_be_read_is_not_written() -> None:
    with pytest.raises(PatchmgrError, match="id: expected `str` matching"):
        write_accepted([Accepted("../../../etc", "s", "one.patch", "finding", "reason")])


@table(
    ("raw", "problem"),
    {
        "no UTF-8": (b"\xff", "is not TOML"),
        "no TOML": (b"format = ", "is not TOML"),
        "another format": (b"format = 2\n", "format: invalid enum value 2"),
        "an unknown key": (b"format = 1\nmore = 1\n", "more is unknown"),
        "an id that is a path": (
            (write_accepted([ONE]) or b"").replace(b"0123456789ab", b"../../../etc"),
            "accepted[0].id: expected `str` matching",
        ),
        "too large": (b"#" * (MAX_FILE + 1), "is larger than"),
    },
)
def test_what_is_wrong_is_said(raw: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=r"accepted\.toml") as caught:
        parse_accepted(raw)
    assert problem in caught.value.message
