"""Series files."""

from codecs import BOM_UTF8
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats import series_files
from patchmgr.formats.series_files import (
    parse_series,
    renamed,
    reordered,
    set_aside,
    with_appended,
    without,
    without_strip,
    write_series,
)
from patchmgr.model.series import Guard
from tests.tables import table

PLUS, MINUS = Guard("a", True), Guard("b", False)

LINES = {
    "a name": (b"x.patch\n", "x.patch", 1, ()),
    "no newline": (b"x.patch", "x.patch", 1, ()),
    "CR LF": (b"x.patch\r\n", "x.patch", 1, ()),
    "space around": (b"  x.patch \t\n", "x.patch", 1, ()),
    "a folder": (b"sub/x.patch\n", "sub/x.patch", 1, ()),
    "not UTF-8": (b"\xe9.patch\n", "\udce9.patch", 1, ()),
    "strip 0": (b"x.patch -p0\n", "x.patch", 0, ()),
    "strip 2": (b"x.patch\t-p2 # why\r\n", "x.patch", 2, ()),
    "a comment behind": (b"x.patch # why #+a\n", "x.patch", 1, ()),
    "a hash in the name": (b"x#1.patch\n", "x#1.patch", 1, ()),
    "guards": (b"x.patch #+a #-b\n", "x.patch", 1, (PLUS, MINUS)),
    "guards without space": (b"x.patch #+a#-b\n", "x.patch", 1, (PLUS, MINUS)),
    "a guard, then a comment": (b"x.patch -p1 #-b # why #+a\n", "x.patch", 1, (MINUS,)),
    "a guard, CR LF": (b"x.patch #+a\r\n", "x.patch", 1, (PLUS,)),
    "no guard": (b"x.patch #+ a\n", "x.patch", 1, ()),
    "a line in a comment": (b"x.patch #-----\n", "x.patch", 1, ()),
    "a comment": (b"# x.patch\n", None, 1, ()),
    "a comment that looks like a guard": (b"#+a\n", None, 1, ()),
    "an indented comment": (b"  # x\n", None, 1, ()),
    "a blank line": (b" \t\r\n", None, 1, ()),
}


@table(("raw", "name", "strip", "guards"), LINES)
def test_a_line_is_read(
    raw: bytes, name: str | None, strip: int, guards: tuple[Guard, ...]
) -> None:
    (line,) = parse_series(raw).lines
    assert (line.raw, line.name, line.strip, line.guards) == (raw, name, strip, guards)


BAD = {
    "climbing": (b"a\n../x\n", "unsafe-path", "series file line 2: the patch name ../x has a"),
    "absolute": (b"/etc/x\n", "unsafe-path", "is absolute"),
    "git directory": (b".git/x\n", "unsafe-path", "contains the reserved name .git"),
    "an option": (b"-p1\n", "unsafe-path", "begins with a dash"),
    "NUL": (b"a\0b\n", "unsafe-path", "control character"),
    "itself": (b"series\n", "bad-series", "series is not a patch"),
    "its settings": (b"series.toml\n", "bad-series", "series.toml is not a patch"),
    "twice": (b"x\n# x\nx # again\n", "bad-series", "line 3: the patch x is also in line 1"),
    "half reversed": (b"x -r\n", "bad-series", "unknown option -r"),
    "strip of words": (b"x -pab\n", "bad-series", "unknown option -pab"),
    "strip too large": (b"x -p1000\n", "bad-series", "unknown option -p1000"),
    "two names": (b"x y\n", "bad-series", "unknown option y"),
}


@table(("raw", "kind", "problem"), BAD)
def test_a_bad_line_is_refused_and_named(raw: bytes, kind: str, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        parse_series(raw)
    assert caught.value.kind == kind


def test_a_series_that_git_left_in_conflict_says_so() -> None:
    with pytest.raises(PatchmgrError, match="line 1: unknown option HEAD") as caught:
        parse_series(b"<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n")
    assert caught.value.hints == ("resolve the merge conflict in the file",)


def test_many_lines_are_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_series(b"#\n" * 100_000).names() == ()
    assert series_files.MAX_PATCHES == 100_000
    monkeypatch.setattr(series_files, "MAX_PATCHES", 1000)
    raw = b"".join(b"%d\n" % n for n in range(series_files.MAX_PATCHES))
    assert len(parse_series(raw).names()) == series_files.MAX_PATCHES
    with pytest.raises(PatchmgrError, match="a series must not have more than 1000 patches"):
        parse_series(raw + b"one-more\n")


@given(st.lists(st.sampled_from([b"a", b"b/c", b" ", b"#", b"#+g", b"-p1", b"\n", b"\r\n"]))
       .map(b"".join) | st.binary())  # fmt: skip
def test_any_bytes_are_a_series_that_is_written_as_read_or_refused(raw: bytes) -> None:
    try:
        series = parse_series(raw)
    except PatchmgrError as error:
        told = error
    else:
        assert write_series(series) == raw.removeprefix(BOM_UTF8)
        return
    assert told.kind in ("bad-series", "unsafe-path")
    assert told.message.isprintable()


def test_a_byte_order_mark_belongs_to_no_name() -> None:
    assert parse_series(BOM_UTF8 + RAW) == parse_series(RAW)


RAW = b"# top\na.patch -p0 # why\n\nb.patch #+g\nsub/c.patch"


def edited(raw: bytes, expected: bytes) -> None:
    """Check that an edit wrote what is expected, and that it can be read again."""
    assert raw == expected
    parse_series(raw)


def test_patches_are_taken_out_and_the_rest_stays() -> None:
    series = parse_series(RAW)
    assert without(series, []) == series
    edited(write_series(without(series, ["sub/c.patch", "a.patch"])), b"# top\n\nb.patch #+g\n")


def test_a_patch_is_renamed_and_what_follows_its_name_stays() -> None:
    series = parse_series(RAW)
    assert renamed(series, "a.patch", "a.patch") == series
    after = renamed(series, "a.patch", "new/d.patch")
    edited(write_series(after), RAW.replace(b"a.patch", b"new/d.patch"))
    assert after.names() == ("new/d.patch", "b.patch", "sub/c.patch")
    indented = renamed(parse_series(b"  x\r\n"), "x", "y")
    assert write_series(indented) == b"  y\r\n"


@table(
    ("raw", "after", "expected"),
    {
        "empty": (b"", None, b"n\n"),
        "at the end": (b"a\n", None, b"a\nn\n"),
        "no last newline": (b"a", None, b"a\nn\n"),
        "CR LF": (b"a\r\nb", None, b"a\r\nb\r\nn\r\n"),
        "behind another": (b"a\n# c\nb\n", "a", b"a\nn\n# c\nb\n"),
        "behind the last": (b"a\nb", "b", b"a\nb\nn\n"),
        "behind a comment": (b"a\n# end\n", None, b"a\n# end\nn\n"),
    },
)
def test_a_patch_is_added(raw: bytes, after: str | None, expected: bytes) -> None:
    series = with_appended(parse_series(raw), "n", after=after)
    edited(write_series(series), expected)
    assert parse_series(expected) == series


def test_patches_get_another_order_and_comments_stay() -> None:
    series = parse_series(RAW)
    assert reordered(series, series.names()) == series
    after = reordered(series, ["sub/c.patch", "a.patch", "b.patch"])
    edited(write_series(after), b"# top\nsub/c.patch\n\na.patch -p0 # why\nb.patch #+g")
    assert after == parse_series(write_series(after))


@table("names", [["a.patch"], ["a.patch"] * 3, ["a.patch", "b.patch", "q"]])
def test_an_order_names_every_patch_once(names: list[str]) -> None:
    with pytest.raises(PatchmgrError, match="every patch of the series exactly once"):
        reordered(parse_series(RAW), names)


def test_a_patch_that_is_not_there_cannot_be_edited() -> None:
    series = parse_series(RAW)
    edits: list[Callable[[], object]] = [
        lambda: without(series, ["q"]),
        lambda: renamed(series, "q", "r"),
        lambda: with_appended(series, "r", after="q"),
    ]
    for edit in edits:
        with pytest.raises(PatchmgrError, match="has no patch q") as caught:
            edit()
        assert caught.value.kind == "unknown-patch"


@table(
    ("name", "kind"),
    [
        ("a.patch", "bad-series"),
        ("with space", "bad-series"),
        (" x", "bad-series"),
        ("x ", "bad-series"),
        ("#x", "bad-series"),
        ("series", "bad-series"),
        ("\ufeffx", "bad-series"),
        ("../x", "unsafe-path"),
        ("-p1", "unsafe-path"),
        ("x\ny", "unsafe-path"),
        ("", "unsafe-path"),
    ],
)
def test_a_name_that_a_series_cannot_hold_is_refused(name: str, kind: str) -> None:
    series = parse_series(RAW)
    with pytest.raises(PatchmgrError) as caught:
        with_appended(series, name)
    assert caught.value.kind == kind
    with pytest.raises(PatchmgrError) as caught:
        renamed(series, "b.patch", name)
    assert caught.value.kind == kind


def test_patches_are_set_aside_as_comments() -> None:
    series = parse_series(b"# why\n  a.patch -p2 #-x # note\r\nb.patch")
    aside = set_aside(series, ["a.patch"], "skipped on v1\x1b")
    raw = b"# why\n# skipped on v1\\x1b: a.patch -p2 #-x # note\r\nb.patch"
    assert write_series(aside) == raw
    assert aside.names() == ("b.patch",)
    assert parse_series(raw) == aside
    assert set_aside(series, [], "x") == series
    with pytest.raises(PatchmgrError):
        set_aside(series, ["c.patch"], "x")


@table(
    ("raw", "strip", "is_reversed", "usual"),
    {
        "in-a-comment": (b"x # -R\n", 1, False, b"x # -R\n"),
        "reversed": (b"x -R # why\n", 1, True, b"x # why\n"),
        "behind-a-strip": (b"x -p0 -R #+a\r\n", 0, True, b"x #+a\r\n"),
        "before-a-strip": (b"x -R -p2\n", 2, True, b"x\n"),
    },
)
def test_lines_may_reverse_a_patch(raw: bytes, strip: int, is_reversed: bool, usual: bytes) -> None:
    series = parse_series(raw)
    (line,) = series.lines
    assert (line.strip, line.is_reversed) == (strip, is_reversed)
    plain = without_strip(series, {"x"})
    assert write_series(plain) == usual
    assert plain.lines[0].is_usual
