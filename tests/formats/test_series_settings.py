"""The file series.toml: what is read, what is refused, and a patch's new name in it."""

import re
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.series_settings import (
    MAX_SETTINGS,
    PathMap,
    parse_path_map,
    parse_settings,
    with_renamed,
)
from patchmgr.model.settings import CheckCommand, ContentClaim
from tests.tables import table

ROOT = Path(__file__).parents[2]


def test_every_setting_is_read() -> None:
    raw = b"""
        off = ["trial"]
        confidence = 95
        [gates]
        capability = ["is_new", "is_old"]
        option = ["with_.*"]
        [groups]
        trial = ["one.patch"]
        [subsystems]
        core = ["src/**"]
        [check]
        python = ["3.12", "3.9"]
        sign-off = true
        without = ["links"]
        [check.commands.tests]
        run = ["make", "test"]
        timeout = 60
        needs = ["make"]
        [claims]
        "a.py::f" = "upstream"
        [build-env]
        S_WHEELS = "wheels=={version}"
    """
    found = parse_settings(raw, series="s")
    assert found.labels == {"capability": ("is_new", "is_old"), "option": ("with_.*",)}
    assert found.groups == {"trial": ("one.patch",)}
    assert found.off == {"trial"}
    assert found.confidence == 95
    assert found.subsystems == {"core": ("src/**",)}
    assert (found.python, found.needs_sign_off) == (((3, 9), (3, 12)), True)
    assert found.left_out == {"links"}
    assert found.commands == (CheckCommand("tests", ("make", "test"), 60, ("make",)),)
    assert found.claims == (ContentClaim("a.py", "f", None),)
    assert found.build_env == {"S_WHEELS": "wheels=={version}"}


def test_each_gate_that_the_documentation_lists_can_be_left_out() -> None:
    page = (ROOT / "docs" / "reports.md").read_text()
    listed = page.partition("| gate | requires |")[2].partition("\n\n")[0]
    gates = re.findall(r"^\| `([\w-]+)` \|", listed, re.MULTILINE)
    assert len(gates) == 11
    found = parse_settings(f"[check]\nwithout = {gates}\n".encode(), series="s")
    assert found.left_out == {*gates}


@table(
    ("text", "problem"),
    {
        "large": ("#" * MAX_SETTINGS + "\n", "is larger than"),
        "no TOML": ("x =", "is not valid TOML"),
        "no table": ("groups = 1", "groups: expected `table`"),
        "no list": ("off = 1", "off: expected `array`"),
        "too little": ("confidence = 40", "confidence: expected `int` >= 50"),
        "a share": ("confidence = 0.9", "confidence: expected `int | null`, got `float`"),
        "a flag": ("confidence = true", "confidence: expected `int | null`, got `bool`"),
        "an empty text": ('off = [""]', "off[0]: expected `str` matching"),
        "a name with a blank": ('[build-env]\n"A B" = ""', "expected `str` matching"),
        "a name with a line": ('[build-env]\n"A\\n" = ""', "expected `str` matching"),
        "two lines": ('[build-env]\nA = "1\\n2"', "expected `str` matching"),
        "a zero byte": ('off = ["a\\u0000"]', "off[0]: expected `str` matching"),
        "no flag": ("check.sign-off = 1", "sign-off: expected `bool`"),
        "no version": ('check.python = ["4"]', "check.python[0]: expected `str` matching"),
        "no gate": ('check.without = ["x"]', "check.without[0]: invalid enum value 'x'"),
        "no kind": ('gates.x = ["a"]', "invalid enum value 'x'"),
        "no expression": ('gates.model = ["("]', "gates.model is not a regular expression"),
        "a long expression": (f'gates.model = ["{"a" * 1001}"]', "is longer than 1000"),
        "not RE2's": ('gates.model = ["(?=a)"]', "gates.model is not a regular expression"),
        "no name": ('check.commands."../x".run = ["a"]', "is not a valid name"),
        "no command": ("check.commands.x = {}", "x.run is missing"),
        "no time": ('check.commands.x = {run = ["a"], timeout = 0}', "timeout: expected `int` >"),
        "no number": (
            'check.commands.x = {run = ["a"], timeout = true}',
            "timeout: expected `int`, got `bool`",
        ),
        "no claim": ('claims.a = "b"', 'claims.a must be "upstream"'),
    },
)
def test_what_is_wrong_is_named(text: str, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=re.escape(problem)) as caught:
        parse_settings(text.encode(), series="s")
    assert caught.value.kind == "bad-settings"


def test_a_claim_names_a_file_below_the_root() -> None:
    with pytest.raises(PatchmgrError, match=re.escape("A claim's path ../a has a .. component")):
        parse_settings(b'claims."../a" = "upstream"', series="s")


@table(
    ("raw", "renamed"),
    {
        "member": (
            b"[groups]\ng = ['a.patch', \"b.patch\"]  # a\n",
            b"[groups]\ng = ['new.patch', \"b.patch\"]  # a\n",
        ),
        "without its end": (b"[groups]\ng = ['a']\n", b"[groups]\ng = ['new']\n"),
        "no member": (b"[groups]\ng = ['b.patch']\n", None),
        "the name of its group": (
            b"off = ['a']\n[groups]\na = [\n  'a',\n]\n\n[subsystems]\na = ['a']\n",
            b"off = ['a']\n[groups]\na = [\n  'new',\n]\n\n[subsystems]\na = ['a']\n",
        ),
        "both names": (b'[groups]\ng = ["\\u0061", "new"]\n', None),
        "another table": (b"[subsystems]\ng = ['a.patch']\n", None),
    },
)
def test_a_new_name_of_a_patch_changes_its_groups_alone(raw: bytes, renamed: bytes | None) -> None:
    found = with_renamed(raw, "a.patch", "new.patch", series="s")
    assert found == (raw if renamed is None else renamed)


@table(
    "raw",
    {
        "with escapes": b'[groups]\ng = ["\\u0061"]\n',
        "a group of that name": b"[groups]\n'a' = ['a']\n'new' = ['b']\n",
    },
)
def test_a_patch_that_its_group_would_lose_is_not_renamed(raw: bytes) -> None:
    with pytest.raises(PatchmgrError, match="cannot replace"):
        with_renamed(raw, "a.patch", "new.patch", series="s")


MAP = b'[paths]\n"csrc/" = "pkg/kernels/"\n"csrc/deep/" = "pkg/deep/"\n"one" = "pkg/one.py"\n'


@table(
    ("path", "place"),
    [
        ("csrc/k.cu", "pkg/kernels/k.cu"),
        ("csrc/deep/k.cu", "pkg/deep/k.cu"),
        ("csrc", None),
        ("csrcs/k.cu", None),
        ("one", "pkg/one.py"),
        ("one/two", None),
        ("pkg/a.py", None),
    ],
)
def test_the_longest_pair_counts(path: str, place: str | None) -> None:
    assert parse_path_map(MAP).find(path) == place


@table(
    ("pairs", "path", "place"),
    {
        "out-of-a-folder": (b'"src/" = ""', "src/pkg/a.py", "pkg/a.py"),
        "elsewhere": (b'"src/" = ""', "pkg/a.py", None),
        "the-whole-repository": (b'"" = "pkg/"', "a/b.py", "pkg/a/b.py"),
        "as-it-is": (b'"" = ""', "a/b.py", "a/b.py"),
        "the-longer-one": (b'"" = "pkg/"\n"src/" = ""', "src/a.py", "a.py"),
    },
)
def test_an_empty_path_is_the_root(pairs: bytes, path: str, place: str | None) -> None:
    assert parse_path_map(b"[paths]\n" + pairs).find(path) == place


@table("raw", [b"", b"[groups]\nx = []\n", b"[paths]\n"])
def test_a_file_without_pairs_maps_nothing(raw: bytes) -> None:
    assert parse_path_map(raw) == PathMap()


@table(
    "raw",
    [
        b"[paths\n",
        b"\xff",
        b"paths = 1\n",
        b'[paths]\n"a/" = "b"\n',
        b'[paths]\n"a" = "b/"\n',
        b'[paths]\n"a" = 1\n',
        b'[paths]\n"a" = "../b"\n',
        b'[paths]\n"../a" = "b"\n',
        b'[paths]\n"a/" = "/etc/"\n',
        b'[paths]\n"a" = ".git/config"\n',
        b'[paths]\n"src" = ""\n',
        b'[paths]\n"" = "pkg"\n',
        b'[paths]\n"/" = ""\n',
    ],
)
def test_what_is_no_map_is_refused(raw: bytes) -> None:
    with pytest.raises(PatchmgrError) as error:
        parse_path_map(raw)
    assert error.value.kind in ("broken-workspace", "unsafe-path")
