"""Files of a workspace, of a target and of an upstream, from any bytes."""

import io
import tempfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from patchmgr.engines.report.subsystems import Globs, read_codeowners, read_labeler
from patchmgr.formats.archives import ArchiveFile, Limits, read_sdist, read_wheel
from patchmgr.formats.decisions import parse_decisions, write_decisions
from patchmgr.formats.lock_files import parse_lock, write_lock
from patchmgr.formats.patch_package import read_name, read_stack
from patchmgr.formats.predicates import parse_predicate
from patchmgr.formats.recorded_conflict import parse_recorded, write_recorded
from patchmgr.formats.regexes import RegexError, compile_regex
from patchmgr.formats.series_files import (
    parse_series,
    reordered,
    set_aside,
    with_appended,
    without,
    write_series,
)
from patchmgr.formats.series_settings import parse_path_map, parse_settings
from patchmgr.formats.wheel_records import parse_record, write_record
from patchmgr.plumbing.applied import read_record, record_document
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.formatters import TreeFormatter
from patchmgr.plumbing.journal import Journal
from patchmgr.plumbing.operation_log import read_operation, write_operation
from patchmgr.plumbing.releases import upstream_commit
from patchmgr.plumbing.target import Target
from tests.fuzz.claims import all_inside, is_inside, let_in, stays_below

_NAME = "0123456789abcdef"
_LIMITS = Limits(members=200, file_bytes=1 << 20, total_bytes=4 << 20, free_bytes=1 << 20, ratio=50)
_FILES = ("meta.toml", "base", "ours", "theirs", "resolution")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def series(raw: bytes) -> None:
    """A series file keeps its bytes, and every edit of it is one that can be read."""
    found = let_in(lambda: parse_series(raw))
    if found is None:
        return
    assert write_series(found) == raw.removeprefix(BOM_UTF8)
    names = found.names()
    all_inside(names)
    edits = [reordered(found, names[::-1]), with_appended(found, "quite/new.patch")]
    edits += [without(found, names[:1]), set_aside(found, names[:1], "a note")]
    for edited in edits:
        assert parse_series(write_series(edited)) == edited
    assert edits[0].names() == names[::-1]


def lock(raw: bytes) -> None:
    """A lock that is read is written so that it is read again, and the same bytes come twice."""
    found = let_in(lambda: parse_lock(raw))
    written = None if found is None else let_in(lambda: write_lock(found))
    if written is not None:
        assert parse_lock(written) == found
        assert write_lock(parse_lock(written)) == written


def conflict(raw: bytes) -> None:
    """A recorded conflict is read, written and read again."""
    parts = raw.split(b"\0\n")
    files = dict(zip(_FILES, parts, strict=False))
    found = let_in(lambda: parse_recorded(_NAME, files))
    if found is not None:
        assert found.path == "" or is_inside(found.path)
        written = {name: raw for name, raw in write_recorded(found).items() if raw is not None}
        assert parse_recorded(_NAME, written) == found


def decisions(raw: bytes) -> None:
    """Decisions are read, written and read again."""
    found = let_in(lambda: parse_decisions(raw))
    if found is not None:
        written = write_decisions(found)
        assert set(parse_decisions(written)) == set(found)
        assert write_decisions(parse_decisions(written)) == written


def settings(raw: bytes) -> None:
    """A series.toml is settings or refused, and its path map leads nowhere else."""
    let_in(lambda: parse_settings(raw, series="s"))
    found = let_in(lambda: parse_path_map(raw))
    if found is not None:
        all_inside(path.removesuffix("/") for pair in found.pairs for path in pair)


def predicate(raw: bytes) -> None:
    """A predicate is read or refused with its place."""
    let_in(lambda: parse_predicate(_text(raw), what="Needed-When"))


def regex(raw: bytes) -> None:
    """A regular expression is refused or answers."""
    pattern, _, line = _text(raw).partition("\n")
    with suppress(RegexError):
        compile_regex(pattern).search(line.encode("utf-8", "replace").decode())


def archive(raw: bytes) -> None:
    """What an archive holds is inside, once each and bounded, or the archive is refused."""
    readers: tuple[Callable[[BinaryIO], Iterator[ArchiveFile]], ...] = (
        lambda file: read_sdist(file, limits=_LIMITS),
        lambda file: read_wheel(file, limits=_LIMITS),
    )
    for read in readers:
        found = let_in(lambda read=read: list(read(io.BytesIO(raw))))  # type: ignore[misc]
        if found is not None:
            paths = [file.path for file in found]
            assert all(map(stays_below, paths)), paths
            assert len(set(paths)) == len(paths)
            assert sum(len(file.content) for file in found) <= _LIMITS.total_bytes


def record(raw: bytes) -> None:
    """RECORD is read, and written so that it is read again."""
    found = let_in(lambda: parse_record(raw))
    if found is not None:
        assert parse_record(write_record(found)) == found


def operation(raw: bytes) -> None:
    """An entry of the log is read, written and read again."""
    found = let_in(lambda: read_operation(raw, name="1.json"))
    if found is not None:
        assert read_operation(write_operation(found), name="1.json") == found
        all_inside(f.path.removeprefix(".patchmgr/rebase/") for f in found.files)


@cache
def _workspace() -> Path:
    """Return a folder that stays for all inputs: the fuzzer makes thousands a second."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="patchmgr-fuzz-", dir=memory if memory.is_dir() else None)
    (Path(folder) / ".patchmgr").mkdir()
    return Path(folder)


def journal(raw: bytes) -> None:
    """A journal from anywhere moves nothing but a workspace's own files, or is refused."""
    root = _workspace()
    (root / ".patchmgr/journal.json").write_bytes(raw)
    let_in(lambda: Journal(root).recover(lambda refs: None, lambda place, token: None))
    assert {path.name for path in root.iterdir()} <= {".patchmgr"}, "a file came from nowhere"


def target_record(raw: bytes) -> None:
    """A record of what is applied is read and written again, or refused."""
    root = _workspace()
    (root / ".patchmgr/applied.json").write_bytes(raw)
    found = let_in(lambda: Target(root, root / ".patchmgr").record())
    if found is not None:
        all_inside(file.path for file in found.files)
        assert read_record(record_document(found)) == found


def upstream_files(raw: bytes) -> None:
    """Files of an upstream that say something to us say it in time, whatever is in them."""
    let_in(lambda: read_stack(raw))
    read_name(_text(raw[:200]))
    upstream_commit(raw)
    for rules in (read_codeowners(raw), read_labeler(raw)):
        for _, globs in rules[:20]:
            Globs(globs).match("a" * 60 + "/b/c.py")
    formatter = TreeFormatter(lambda path: raw, Toolbox())
    for path in ("a/b.py", "a/b.cu"):
        for chosen in formatter.chosen(path):
            assert len(chosen.settings) <= 8 * len(raw) + 1000
