"""A new file that upstream no longer builds, or has no folder for, is told."""

import time
from collections.abc import Mapping

from patchmgr.engines.audit.new_files import files_in_removed_folders, gone_paths, numbers_taken
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
        "named-twice": ("run.sh", b"cat a/x.py\ncat a/x.py", {}, "a/x.py"),
        "of-another-folder": ("run.sh", b"cat x.py b/a/x.py", {}, ""),
        "in-python": ("new.py", b"read('a/x.py')", {}, "a/x.py"),
        "quoted-in-python": ("a/z.py", b"# as in x.py and 'y.py'", {}, "a/y.py"),
        "never-there": ("run.sh", b"cat a/z.py", {}, ""),
        "between-carriage-returns": ("run.xz", b"\r\0\rcat a/x.py\r", {}, "a/x.py"),
        "in-a-binary": ("x.png", b"PNG\r\r\n\ra/x.py", {}, "a/x.py"),
    },
)  # fmt: skip
def test_a_path_is_gone(path: str, line: bytes, upstream: Mapping[str, bytes], told: str) -> None:
    findings = found((gone_paths,), BASE, {**BASE, path: line + b"\n"}, upstream)
    assert [finding.symbol for finding in findings] == ([told] if told else [])
    assert not any(finding.is_certain for finding in findings)


def test_a_long_line_is_read_once() -> None:
    start = time.process_time()
    edited = {**BASE, "notes.txt": b"x" * 100_000 + b"\n"}
    assert not found((gone_paths,), BASE, edited, {})
    assert time.process_time() - start < 5


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
def test_a_number_given_twice_is_told(before: str, ours: str, theirs: str, told: bool) -> None:
    base = {f"db/0{name}": name.encode() for name in before.split()}
    added, upstream = ({**base, f"db/0{name}": b"new\n"} for name in (ours, theirs))
    findings = found((numbers_taken,), base, added, upstream)
    assert [finding.path for finding in findings] == [f"db/0{ours}"] * told
