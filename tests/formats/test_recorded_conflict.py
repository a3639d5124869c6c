"""Folders of conflicts/: a round trip, and what is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats.recorded_conflict import (
    MAX_META,
    MAX_PARTS,
    MAX_SIDE,
    is_conflict_id,
    parse_recorded,
    write_recorded,
)
from patchmgr.model.recorded_conflict import Origin, Recorded, RecordKind, Resolution
from tests.tables import table

ID = "0123456789ab"
META = b'format = 1\nkind = "region"\npath = "a.py"\n'
SIDES = {"base": b"b\n", "ours": b"o\n", "theirs": b"t\n"}
SOLVED = META + b'origin = "resolve"\n'
REGION = Recorded(ID, RecordKind.REGION, b"b\n", b"o\n", b"t\n", path="src/a.py", seen="s/p.patch")


@table(
    ("recorded", "meta"),
    {
        "open": (REGION, b'format = 1\nkind = "region"\npath = "src/a.py"\nseen = "s/p.patch"\n'),
        "solved-by-nothing": (
            Recorded(
                ID, RecordKind.REGION, b"", b"", b"", resolution=Resolution(b"", Origin.REBASE)
            ),
            b'format = 1\nkind = "region"\norigin = "rebase"\n',
        ),
        "deleted": (
            Recorded(
                ID,
                RecordKind.FILE,
                b"\0\xff",
                None,
                b"",
                path="b\udcff%",
                resolution=Resolution(None, Origin.ACCEPT, "theirs"),
            ),
            b'deleted = true\nformat = 1\nkind = "file"\norigin = "accept"\n'
            b'path = "b%FF%25"\nsource = "theirs"\n',
        ),
        "group": (
            Recorded(ID, RecordKind.GROUP, parts=("a" * 12, "b" * 12)),
            b'format = 1\nkind = "group"\nparts = [\n    "aaaaaaaaaaaa",\n    "bbbbbbbbbbbb",\n]\n',
        ),
    },
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
def test_contents_survive(sides: list[bytes | None], content: bytes | None, source: str) -> None:
    source = source.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    resolution = Resolution(content, Origin.LEARN, source)
    base, ours, theirs = sides
    recorded = Recorded(ID, RecordKind.FILE, base, ours, theirs, resolution=resolution)
    there = {name: raw for name, raw in write_recorded(recorded).items() if raw is not None}
    assert parse_recorded(ID, there) == recorded


@table(
    ("files", "problem"),
    {
        "nothing": ({}, "format is missing"),
        "no-utf-8": ({"meta.toml": b"\xff"}, "not valid TOML"),
        "nesting": ({"meta.toml": b"[" * 5000}, "not valid TOML"),
        "merge-conflict": ({"meta.toml": b"<<<<<<< a\n"}, "not valid TOML"),
        "format": ({"meta.toml": META.replace(b"1", b"2")}, "format: invalid enum value 2"),
        "format-true": ({"meta.toml": META.replace(b"1", b"true")}, "format: expected `int`"),
        "unknown-key": ({"meta.toml": META + b"more = 1\n"}, "more is unknown"),
        "large": ({"meta.toml": b"#" * (MAX_META + 1)}, "larger than"),
        "large-side": ({"meta.toml": META, "base": bytes(MAX_SIDE + 1)}, "base is larger than"),
        "kind": ({"meta.toml": META.replace(b"region", b"x")}, "kind: invalid enum value"),
        "kind-number": ({"meta.toml": b"format = 1\nkind = 3\n"}, "kind: expected `str`"),
        "path-up": ({"meta.toml": META.replace(b"a.py", b"../a")}, ".."),
        "path-absolute": ({"meta.toml": META.replace(b"a.py", b"/a")}, "absolute"),
        "path-up-in-disguise": ({"meta.toml": META.replace(b"a.py", b"%2e%2e/a")}, ".."),
        "path-git": ({"meta.toml": META.replace(b"a.py", b".git/x")}, ".git"),
        "escape": ({"meta.toml": META.replace(b"a.py", rb"\u001b[31m")}, "printable"),
        "seen": ({"meta.toml": META + b"seen = 3\n", **SIDES}, "seen: expected `str`"),
        "no-sides": ({"meta.toml": META}, "lacks one of base, ours and theirs"),
        "one-side": ({"meta.toml": META, "base": b""}, "lacks one of base, ours and theirs"),
        "file-without-sides": ({"meta.toml": b'format = 1\nkind = "file"\n'},
            "has none of base, ours and theirs"),
        "no-origin": ({"meta.toml": META, **SIDES, "resolution": b""}, "origin is missing"),
        "both": ({"meta.toml": SOLVED + b"deleted = true\n", **SIDES, "resolution": b""},
            "both resolved and deleted"),
        "region-deleted": ({"meta.toml": SOLVED + b"deleted = true\n", **SIDES}, "by deleting"),
        "deleted-1": ({"meta.toml": SOLVED + b"deleted = 1\n"}, "deleted: expected `bool`"),
        "parts": ({"meta.toml": META + b'parts = ["aaaaaaaaaaaa"]\n', **SIDES}, "not have parts"),
        "parts-path": ({"meta.toml": META + b'parts = ["../x"]\n'},
            "parts[0]: expected `str` matching"),
        "parts-number": ({"meta.toml": META + b"parts = 3\n"}, "parts: expected `array`"),
        "many-parts": (
            {"meta.toml": META + b"parts = [%s]" % (b'"aaaaaaaaaaaa",' * (MAX_PARTS + 1))},
            "parts: expected `array` of length"),
        "no-parts": ({"meta.toml": b'format = 1\nkind = "group"\n'},
            "is a group, so it must have parts and no sides"),
        "group-with-sides": (
            {"meta.toml": b'format = 1\nkind = "group"\nparts = ["aaaaaaaaaaaa"]\n', **SIDES},
            "is a group, so it must have parts and no sides"),
    },
)  # fmt: skip
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


def test_what_could_not_be_read_is_not_written() -> None:
    with pytest.raises(PatchmgrError, match="lacks one of base, ours and theirs"):
        write_recorded(Recorded(ID, RecordKind.REGION, b"b\n", b"o\n", None))


def test_a_folder_with_another_name_is_no_conflict() -> None:
    with pytest.raises(PatchmgrError, match="not the id of a conflict"):
        parse_recorded("..", {"meta.toml": META, **SIDES})
