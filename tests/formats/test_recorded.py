"""Folders of conflicts/: a round trip, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats.recorded import (
    MAX_META,
    MAX_PARTS,
    is_conflict_id,
    parse_recorded,
    write_recorded,
)
from patchmgr.model.recorded import Kind, Origin, Recorded, Resolution
from tests.tables import table

ID = "0123456789ab"
META = b'format = 1\nkind = "region"\npath = "a.py"\n'
SIDES = {"base": b"b\n", "ours": b"o\n", "theirs": b"t\n"}
SOLVED = META + b'origin = "resolve"\n'
REGION = Recorded(ID, Kind.REGION, b"b\n", b"o\n", b"t\n", path="src/a.py", seen="s/p.patch")


@table(
    ("recorded", "meta"),
    [
        pytest.param(
            REGION,
            b'format = 1\nkind = "region"\npath = "src/a.py"\nseen = "s/p.patch"\n',
            id="open",
        ),
        pytest.param(
            Recorded(ID, Kind.REGION, b"", b"", b"", resolution=Resolution(b"", Origin.REBASE)),
            b'format = 1\nkind = "region"\norigin = "rebase"\n',
            id="solved-by-nothing",
        ),
        pytest.param(
            Recorded(
                ID,
                Kind.FILE,
                b"\0\xff",
                None,
                b"",
                path="b\udcff%",
                resolution=Resolution(None, Origin.ACCEPT, "theirs"),
            ),
            b'deleted = true\nformat = 1\nkind = "file"\norigin = "accept"\n'
            b'path = "b%FF%25"\nsource = "theirs"\n',
            id="deleted",
        ),
        pytest.param(
            Recorded(ID, Kind.GROUP, parts=("a" * 12, "b" * 12)),
            b'format = 1\nkind = "group"\nparts = [\n    "aaaaaaaaaaaa",\n    "bbbbbbbbbbbb",\n]\n',
            id="group",
        ),
    ],
)
def test_a_conflict_survives_a_round_trip(recorded: Recorded, meta: bytes) -> None:
    files = write_recorded(recorded)
    assert files["meta.toml"] == meta
    there = {name: content for name, content in files.items() if content is not None}
    assert parse_recorded(ID, there) == recorded


@settings(deadline=None)
@given(
    st.lists(st.none() | st.binary(max_size=9), min_size=3, max_size=3).filter(any),
    st.none() | st.binary(max_size=9),
    st.text(max_size=9),
)
def test_any_content_survives_a_round_trip(
    sides: list[bytes | None], content: bytes | None, source: str
) -> None:
    source = source.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    resolution = Resolution(content, Origin.LEARN, source)
    base, ours, theirs = sides
    recorded = Recorded(ID, Kind.FILE, base, ours, theirs, resolution=resolution)
    there = {name: raw for name, raw in write_recorded(recorded).items() if raw is not None}
    assert parse_recorded(ID, there) == recorded


@table(
    ("files", "problem"),
    [
        pytest.param({}, "format is missing", id="nothing"),
        pytest.param({"meta.toml": b"\xff"}, "not TOML", id="no-utf-8"),
        pytest.param({"meta.toml": b"[" * 5000}, "not TOML", id="nesting"),
        pytest.param({"meta.toml": b"<<<<<<< a\n"}, "not TOML", id="merge-conflict"),
        pytest.param(
            {"meta.toml": META.replace(b"1", b"2")}, "format: invalid enum value 2", id="format"
        ),
        pytest.param(
            {"meta.toml": META.replace(b"1", b"true")}, "format: expected `int`", id="format-true"
        ),
        pytest.param({"meta.toml": META + b"more = 1\n"}, "more is unknown", id="unknown-key"),
        pytest.param({"meta.toml": b"#" * (MAX_META + 1)}, "larger than", id="large"),
        pytest.param(
            {"meta.toml": META.replace(b"region", b"x")}, "kind: invalid enum value", id="kind"
        ),
        pytest.param(
            {"meta.toml": b"format = 1\nkind = 3\n"}, "kind: expected `str`", id="kind-number"
        ),
        pytest.param({"meta.toml": META.replace(b"a.py", b"../a")}, "..", id="path-up"),
        pytest.param({"meta.toml": META.replace(b"a.py", b"/a")}, "absolute", id="path-absolute"),
        pytest.param(
            {"meta.toml": META.replace(b"a.py", b"%2e%2e/a")}, "..", id="path-up-in-disguise"
        ),
        pytest.param({"meta.toml": META.replace(b"a.py", b".git/x")}, ".git", id="path-git"),
        pytest.param(
            {"meta.toml": META.replace(b"a.py", rb"\u001b[31m")}, "printable", id="escape"
        ),
        pytest.param(
            {"meta.toml": META + b"seen = 3\n", **SIDES}, "seen: expected `str`", id="seen"
        ),
        pytest.param({"meta.toml": META}, "lacks a side", id="no-sides"),
        pytest.param({"meta.toml": META, "base": b""}, "lacks a side", id="one-side"),
        pytest.param(
            {"meta.toml": b'format = 1\nkind = "file"\n'}, "has no side", id="file-without-sides"
        ),
        pytest.param(
            {"meta.toml": META, **SIDES, "resolution": b""}, "origin is missing", id="no-origin"
        ),
        pytest.param(
            {"meta.toml": SOLVED + b"deleted = true\n", **SIDES, "resolution": b""},
            "both resolved and deleted",
            id="both",
        ),
        pytest.param(
            {"meta.toml": SOLVED + b"deleted = true\n", **SIDES}, "and deleted", id="region-deleted"
        ),
        pytest.param(
            {"meta.toml": SOLVED + b"deleted = 1\n"}, "deleted: expected `bool`", id="deleted-1"
        ),
        pytest.param(
            {"meta.toml": META + b'parts = ["aaaaaaaaaaaa"]\n', **SIDES}, "has parts", id="parts"
        ),
        pytest.param(
            {"meta.toml": META + b'parts = ["../x"]\n'},
            "parts[0]: expected `str` matching",
            id="parts-path",
        ),
        pytest.param(
            {"meta.toml": META + b"parts = 3\n"}, "parts: expected `array`", id="parts-number"
        ),
        pytest.param(
            {"meta.toml": META + b"parts = [%s]" % (b'"aaaaaaaaaaaa",' * (MAX_PARTS + 1))},
            "parts: expected `array` of length",
            id="many-parts",
        ),
        pytest.param(
            {"meta.toml": b'format = 1\nkind = "group"\n'}, "sides, and parts", id="no-parts"
        ),
        pytest.param(
            {"meta.toml": b'format = 1\nkind = "group"\nparts = ["aaaaaaaaaaaa"]\n', **SIDES},
            "sides, and parts",
            id="group-with-sides",
        ),
    ],
)
def test_a_broken_folder_is_refused_by_name(files: dict[str, bytes], problem: str) -> None:
    with pytest.raises(PatchmgrError) as caught:
        parse_recorded(ID, files)
    assert problem in caught.value.message
    assert ID in caught.value.message


@table(
    ("name", "expected"),
    [
        (ID, True), ("a" * 12, True), ("A" * 12, False), ("a" * 11, False), ("a" * 13, False),
        ("..", False), ("", False), ("a" * 12 + "\n", False), ("decisions.to", False),
    ],
)  # fmt: skip
def test_an_id_is_twelve_digits(name: str, expected: bool) -> None:
    assert is_conflict_id(name) is expected


def test_a_folder_with_another_name_is_no_conflict() -> None:
    with pytest.raises(PatchmgrError, match="no id of a conflict"):
        parse_recorded("..", {"meta.toml": META, **SIDES})
