"""A new file that upstream no longer builds, or has no folder for, is told."""

from __future__ import annotations

from collections.abc import Mapping

from patchmgr.engines.audit.new_files import (
    files_in_removed_folders,
    gone_paths,
    numbers_taken,
    unbuilt_files,
)
from tests.engines.audit.audited import found
from tests.tables import table

BASE = {"a/x.py": b"1\n", "a/y.py": b"2\n", "top.py": b"3\n"}
GONE = {"top.py": b"3\n", "b/z.py": b"9\n"}


@table(
    ("added", "upstream", "told"),
    {
        "gone": ({"a/new.py": b"n\n"}, GONE, ["a/new.py"]),
        "the-one-around-it": ({"a/b/new.py": b"n\n"}, GONE, ["a/b/new.py"]),
        "once-a-folder": ({"a/m.py": b"m\n", "a/n.py": b"n\n"}, GONE, ["a/m.py"]),
        "there": ({"a/new.py": b"n\n"}, {"a/y.py": b"2\n"}, []),
        "of-the-patch-alone": ({"new.py": b"n\n", "c/new.py": b"n\n"}, GONE, []),
        "an-edit": ({"top.py": b"4\n"}, GONE, []),
    },
)
def test_a_new_file_in_a_folder_that_is_gone_is_told(
    added: Mapping[str, bytes], upstream: Mapping[str, bytes], told: list[str]
) -> None:
    findings = found((files_in_removed_folders,), BASE, {**BASE, **added}, upstream)
    assert [finding.path for finding in findings] == told
    assert {(f.kind, f.is_certain) for f in findings} <= {("folder-gone", False)}


@table(
    ("path", "line", "upstream", "told"),
    {
        "from-its-folder": ("a/run.sh", b"cat ../top.py", {}, "top.py"),
        "from-the-root": ("run.sh", b"cat a/x.py", {"a/y.py": b"2\n"}, "a/x.py"),
        "of-another-folder": ("run.sh", b"cat x.py b/a/x.py", {}, ""),
        "in-python": ("new.py", b"read('a/x.py')", {}, "a/x.py"),
        "quoted-in-python": ("a/z.py", b"# as in x.py and 'y.py'", {}, "a/y.py"),
        "never-there": ("run.sh", b"cat a/z.py", {}, ""),
        "between-carriage-returns": ("run.xz", b"\r\0\rcat a/x.py\r", {}, "a/x.py"),
        "in-a-binary": ("x.png", b"PNG\r\r\n\ra/x.py", {}, "a/x.py"),
    },
)  # fmt: skip
def test_a_path_that_upstream_no_longer_has_is_told(
    path: str, line: bytes, upstream: Mapping[str, bytes], told: str
) -> None:
    findings = found((gone_paths,), BASE, {**BASE, path: line + b"\n"}, upstream)
    assert [finding.symbol for finding in findings] == ([told] if told else [])
    assert not any(finding.is_certain for finding in findings)


@table(
    ("before", "ours", "theirs", "told"),
    {
        "taken": ("1_a.sql 2_b.sql", "3_mine.sql", "3_users.sql", True),
        "free": ("1_a.sql 2_b.sql", "3_mine.sql", "4_users.sql", False),
        "another-kind": ("1_a.sql 2_b.sql", "3_mine.sql", "3_users.md", False),
        "given-twice": ("1_a.sql 1_b.sql", "3_mine.sql", "3_users.sql", False),
        "no-numbering": ("1_a.sql", "3_mine.sql", "3_users.sql", False),
    },
)
def test_a_number_that_upstream_gives_to_another_new_file_is_told(
    before: str, ours: str, theirs: str, told: bool
) -> None:
    base = {f"db/0{name}": name.encode() for name in before.split()}
    added, upstream = ({**base, f"db/0{name}": b"new\n"} for name in (ours, theirs))
    findings = found((numbers_taken,), base, added, upstream)
    assert [finding.path for finding in findings] == [f"db/0{ours}"] * told


GLOB = "file(GLOB OPS ${CMAKE_SOURCE_DIR}/csrc/ops/*.cu)\nadd_library(ops ${OPS})\n"
LIST = "set(OPS csrc/ops/norm.cu)\nadd_library(ops ${OPS})\n"
BUILDS_BASE = {"CMakeLists.txt": GLOB, "csrc/ops/norm.cu": "int norm;\n"}


@table(
    ("upstream", "new", "expected"),
    {
        "a-list-now": ({"CMakeLists.txt": LIST}, "csrc/ops/gelu.cu", 1),
        "a-header": ({"CMakeLists.txt": LIST}, "csrc/ops/gelu.cuh", 0),
        "another-folder": ({"CMakeLists.txt": LIST}, "csrc/other/gelu.cu", 0),
        "changed-only": ({"CMakeLists.txt": LIST}, "csrc/ops/norm.cu", 0),
        "kept": ({"CMakeLists.txt": GLOB + "\n# more\n"}, "csrc/ops/gelu.cu", 0),
        "a-wider-pattern": (
            {"CMakeLists.txt": GLOB.replace("GLOB", "GLOB_RECURSE").replace("ops/*", "*")},
            "csrc/ops/gelu.cu",
            0,
        ),
        "in-another-file": (
            {"CMakeLists.txt": "add_subdirectory(csrc)\n", "csrc/CMakeLists.txt": "ops/*.cu\n"},
            "csrc/ops/gelu.cu",
            0,
        ),
    },
)
def test_a_new_file_that_no_pattern_finds_is_told(
    upstream: dict[str, str], new: str, expected: int
) -> None:
    sides = ({**BUILDS_BASE, **side} for side in ({}, {new: "int gelu;\n"}, upstream))
    told = found([unbuilt_files], *({p: t.encode() for p, t in side.items()} for side in sides))
    assert [(one.path, one.is_certain) for one in told] == [(new, False)] * expected
