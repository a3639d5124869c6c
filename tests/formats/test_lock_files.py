"""The lock."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.lock_files import MAX_LOCK, check_name, parse_lock, write_lock
from patchmgr.model.upstream import Lock, Pin, SeriesRecord, Upstream
from tests.tables import table

Value = TypeVar("Value")

C, T, S = "1" * 40, "2" * 40, "3" * 64

LOCK = Lock(
    {
        "vllm": Upstream("vllm", "git", git="https://example.org/vllm.git", branch="main"),
        "deep-gemm": Upstream("deep-gemm", "package", package="sgl-deep-gemm"),
        "sdk": Upstream("sdk", "archive", archive="/srv/sdk.tar.gz"),
    },
    {
        "vllm": SeriesRecord("vllm", "vllm", Pin("v0.23.0", C, T)),
        "top": SeriesRecord(
            "top",
            "deep-gemm",
            Pin("0.1", C, T, "x-0.1.tar.gz", S),
            on="vllm",
            result={"unchanged": 3, "names": ["b", "a"], "deep": {"z": True, "a": 0.5, "t": "x"}},
        ),
    },
)
RAW = f"""\
format = 1

[series.top]
on = "vllm"
upstream = "deep-gemm"

[series.top.pin]
archive = "x-0.1.tar.gz"
commit = "{C}"
ref = "0.1"
sha256 = "{S}"
tree = "{T}"

[series.top.result]
names = [
    "b",
    "a",
]
unchanged = 3

[series.top.result.deep]
a = 0.5
t = "x"
z = true

[series.vllm]
upstream = "vllm"

[series.vllm.pin]
commit = "{C}"
ref = "v0.23.0"
tree = "{T}"

[upstream.deep-gemm]
package = "sgl-deep-gemm"
track = "package"

[upstream.sdk]
archive = "/srv/sdk.tar.gz"
track = "archive"

[upstream.vllm]
branch = "main"
git = "https://example.org/vllm.git"
track = "git"
"""


def backwards(values: Mapping[str, Value]) -> dict[str, Value]:
    return {key: values[key] for key in reversed(list(values))}


def test_a_lock_is_written_with_sorted_keys_and_read_again() -> None:
    assert write_lock(LOCK).decode() == RAW
    assert parse_lock(RAW.encode()) == LOCK
    swapped = Lock(backwards(LOCK.upstreams), backwards(LOCK.series))
    assert write_lock(swapped).decode() == RAW


def test_an_empty_lock_has_a_format_only() -> None:
    assert write_lock(Lock()) == b"format = 1\n"
    assert parse_lock(b"format = 1\n") == Lock()
    assert parse_lock(b"# words\r\nformat = 1\r\n[upstream]\r\n") == Lock()


def without(text: str) -> str:
    return RAW.replace(text, "", 1)


def with_(old: str, new: str) -> str:
    assert old in RAW
    return RAW.replace(old, new, 1)


NEXT = "format = 1\n"
BAD = {
    "empty": ("", "format is missing"),
    "no format": (without(NEXT), "format is missing"),
    "format as text": (with_("= 1", '= "1"'), "format: expected `int`"),
    "format as truth": (with_("= 1", "= true"), "format: expected `int`"),
    "old format": (with_("= 1", "= 0"), "format: invalid enum value 0"),
    "new format": ("format = 2\n[other]\n", "format 2 and was written by a newer patchmgr"),
    "no TOML": (with_("= 1", "="), "is not valid TOML: .*line 1"),
    "cut off": (RAW[:-2], "is not valid TOML"),
    "said twice": (RAW + "[upstream.vllm]\n", "is not valid TOML"),
    "no UTF-8": ("format = 1\n\udcff", "line 2 is not UTF-8"),
    "nested": ("format = 1\nx = " + "[" * 100_000, "is not valid TOML"),
    "a long number": ("format = " + "9" * 5000, "is not valid TOML|newer patchmgr"),
    "unknown at the top": ("format = 1\nother = 1\n", "other is unknown"),
    "unknown in an upstream": (RAW + "x = 1\n", "upstream.vllm.x is unknown"),
    "unknown in a series": (with_("on =", "off ="), "series.top.off is unknown"),
    "unknown in a pin": (with_("archive", "Archive"), "series.top.pin.Archive is unknown"),
    "upstreams no table": ("format = 1\nupstream = 1\n", "upstream: expected `table`"),
    "upstream no table": ("format = 1\n[upstream]\nx = 1\n", "upstream.x: expected `table`"),
    "series no table": ("format = 1\nseries = []\n", "series: expected `table`"),
    "no track": (without('track = "git"\n'), "upstream.vllm.track is missing"),
    "track unknown": (with_('"git"', '"svn"'), "track: invalid enum value 'svn'"),
    "track as list": (with_('"git"', "[]"), "track: expected `str`"),
    "no URL": (without('git = "https://example.org/vllm.git"\n'), "upstream.vllm.git is missing"),
    "no package": (with_('package = "sgl', 'git = "sgl'), "deep-gemm.package is missing"),
    "URL as option": (with_("https:", "--upload-pack="), "git: expected `str` matching"),
    "URL with a helper's scheme": (with_("https://", "foo://"), "scheme that is not supported"),
    "URL as command": (with_("https://", "ext::sh -c "), "transport that runs a command"),
    "branch as option": (with_('"main"', '"-x"'), "branch: expected `str` matching"),
    "package as option": (with_('"sgl', '"-sgl'), "package: expected `str` matching"),
    "ref as option": (with_('"v0.23.0"', '"--x"'), "pin.ref: expected `str` matching"),
    "empty text": (with_('"main"', '""'), "branch: expected `str` matching"),
    "control characters": (with_('"main"', '"a\\u001b"'), "branch must be printable text"),
    "no pin": (with_("[series.vllm.pin]", "[series.vllm.result]"), "vllm.pin is missing"),
    "pin as text": (
        f'format = 1\n[series.a]\nupstream = "b"\npin = "{C}"\n', "a.pin: expected `table`"
    ),
    "no commit": (without(f'commit = "{C}"\n'), "pin.commit is missing"),
    "short commit": (with_(C, "1" * 39), "pin.commit: expected `str` matching"),
    "long commit": (with_(C, "1" * 41), "pin.commit: expected `str` matching"),
    "upper case": (with_(C, "A" * 40), "pin.commit: expected `str` matching"),
    "commit as number": (with_(f'"{C}"', "1"), "pin.commit: expected `str`, got `int`"),
    "tree of words": (with_(T, "main"), "pin.tree: expected `str` matching"),
    "archive without digest": (without(f'sha256 = "{S}"\n'), "pin.sha256 is missing"),
    "digest without archive": (without('archive = "x-0.1.tar.gz"\n'), "pin.archive is missing"),
    "short digest": (with_(S, "3" * 63), "pin.sha256: expected `str.*` matching"),
    "long digest": (with_(S, "3" * 65), "pin.sha256: expected `str.*` matching"),
    "digest of words": (with_(S, "z" * 64), "pin.sha256: expected `str.*` matching"),
    "archive elsewhere": (with_("x-0.1", "a/x-0.1"), "pin.archive must be a file name"),
    "upstream's name": (RAW.replace("upstream.vllm", 'upstream."../x"'), r"/x is not a valid name"),
    "series' name": (RAW.replace("series.vllm", 'series."a b"'), "a b is not a valid name"),
    "series' name empty": (RAW.replace("series.vllm", 'series.""'), "is not a valid name"),
    "no such upstream": (with_('upstream = "vllm"', 'upstream = "x"'), "which is not an upstream"),
    "no such series": (with_('on = "vllm"', 'on = "x"'), "on leads to x, which is not a series"),
    "on itself": (with_('on = "vllm"', 'on = "top"'), "top.on makes the series depend on itself"),
    "result as text": (
        with_('[series.top.result]\nnames = [\n    "b",\n    "a",\n]\nunchanged = 3\n\n'
              '[series.top.result.deep]\na = 0.5\nt = "x"\nz = true\n', "")
        .replace('on = "vllm"', 'result = ""'), "top.result: expected `table`"
    ),
    "result with a date": (with_("unchanged = 3", "x = 2026-01-01"), "a value of type date"),
    "result with no number": (with_("a = 0.5", "a = nan"), "a value of type float"),
    "result too deep": (
        with_("unchanged = 3", "x = " + "[" * 30 + "]" * 30), "result is nested too deeply"
    ),
}  # fmt: skip


@table(("raw", "problem"), BAD)
def test_a_bad_lock_is_refused_with_the_key(raw: str, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        parse_lock(raw.encode("utf-8", "surrogateescape"))
    assert caught.value.kind == "bad-lock"
    assert caught.value.message.isprintable()


def test_an_archive_outside_is_refused() -> None:
    with pytest.raises(PatchmgrError, match=r"archive \.\./x") as caught:
        parse_lock(with_("x-0.1.tar.gz", "../x").encode())
    assert caught.value.kind == "unsafe-path"


def test_a_merge_conflict_in_the_lock_is_named() -> None:
    with pytest.raises(PatchmgrError) as caught:
        parse_lock(with_("format = 1\n", "format = 1\n<<<<<<< HEAD\n").encode())
    assert caught.value.hints == ("resolve the merge conflict in the file",)


def test_a_long_chain_of_series_is_fine_and_a_circle_is_not() -> None:
    names = [f"s{number}" for number in range(1500)]
    pin, upstreams = Pin("x", C, T), {"u": Upstream("u", "git", git="x")}
    series = {
        name: SeriesRecord(name, "u", pin, on=below)
        for name, below in zip(names, [None, *names], strict=False)
    }
    assert parse_lock(write_lock(Lock(upstreams, series))).series == series
    series["s0"] = replace(series["s0"], on="s1499")
    with pytest.raises(PatchmgrError, match="makes the series depend on itself"):
        write_lock(Lock(upstreams, series))


def test_a_large_lock_is_refused() -> None:
    with pytest.raises(PatchmgrError, match=f"larger than {MAX_LOCK} bytes"):
        parse_lock(RAW.encode() + b"#" * MAX_LOCK)


@table(
    ("result", "problem"),
    {
        "nothing": ({"x": None}, "a value of type NoneType"),
        "a key that is not text": ({1: "x"}, "a value of type dict"),
        "a lone surrogate": ({"x": "\ud800"}, "not UTF-8"),
        "bytes": ({"x": b""}, "a value of type bytes"),
    },
)
def test_what_a_lock_cannot_hold_is_not_written(result: Any, problem: str) -> None:
    record = replace(LOCK.series["vllm"], result=result)
    with pytest.raises(PatchmgrError, match=problem):
        write_lock(Lock(LOCK.upstreams, {"vllm": record}))


def test_a_tuple_is_written_as_a_list() -> None:
    record = replace(LOCK.series["vllm"], result={"x": (1, 2)})
    again = parse_lock(write_lock(Lock(LOCK.upstreams, {"vllm": record})))
    assert again.series["vllm"].result == {"x": [1, 2]}


@table("name", ["a", "vllm", "v1.2_x-y", "0", "x" * 100])
def test_good_names_pass(name: str) -> None:
    assert check_name(name, what="The series") == name


@table("name", ["", ".a", "-a", "_a", "a..b", "a.", "a.lock", "a/b", "a b", "ü", "a\n", "x" * 101])
def test_bad_names_are_refused_with_the_kind_that_is_asked_for(name: str) -> None:
    with pytest.raises(PatchmgrError, match="is not a valid name") as caught:
        check_name(name, what="The series", kind="usage")
    assert caught.value.kind == "usage"


VALUES = st.recursive(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=5)
    | st.integers(-(2**62), 2**62)
    | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.\n", max_size=3), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(alphabet='a" \n', max_size=3), VALUES, max_size=4))
def test_results_survive(result: dict[str, Any]) -> None:
    record = replace(LOCK.series["vllm"], result=result)
    lock = Lock(LOCK.upstreams, {"vllm": record})
    raw = write_lock(lock)
    assert parse_lock(raw) == lock
    assert write_lock(parse_lock(raw)) == raw


@given(st.lists(st.sampled_from(RAW.splitlines(keepends=True))).map("".join) | st.text())
def test_any_text_is_a_lock_or_refused(text: str) -> None:
    with suppress(PatchmgrError):
        parse_lock(text.encode("utf-8", "surrogatepass"))
