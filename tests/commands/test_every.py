"""What must hold of every command alike: how it ends, and that it asks nobody outside."""

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands.every import ELSEWHERE, ROWS, Row, command_names, make_place
from tests.commands.scenes import Stage, one_line, picture
from tests.long import LONG

_PRIVATE = ("cache", "other", ".git", ".patchmgr")
_KEPT = (
    "checks",
    "plans",
    "syncs",
)  # what check, plan and notes keep of what they found, in .patchmgr
_TRAPS = ("patch", "gpatch", "quilt", "ssh", "git-remote-http", "git-remote-https")


@pytest.fixture
def trapped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Refuse every connection of this process and of git's, and set traps on PATH."""

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError(f"a connection to {arguments}")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    tools, told = tmp_path / "tools", tmp_path / "trapped"
    tools.mkdir()
    for name in _TRAPS:
        tool = tools / name
        tool.write_text(f'#!/bin/sh\necho "$0 $*" >> {told}\nexit 1\n')
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    yield told
    assert not told.exists(), told.read_text()


def test_no_command_is_missing_in_the_table() -> None:
    names = set(command_names())
    named = {name for name in names for row in ROWS if f"{row.line} ".startswith(f"{name} ")}
    assert named | ELSEWHERE.keys() == names
    assert not named & ELSEWHERE.keys()


def test_the_traps_work(trapped: Path) -> None:
    with pytest.raises(AssertionError, match="a connection to"):
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    assert subprocess.run(["patch", "--version"], check=False).returncode == 1
    assert trapped.exists()
    trapped.unlink()


LINES = (
    "rebase s --abort: SERIES needs --onto",
    "rebase s --continue: SERIES needs --onto",
    "rebase --continue --confidence 99: --confidence needs --onto",
    "rebase --continue --stop-at-conflict: --stop-at-conflict needs --onto",
    "rebase --onto x --accept a: --accept needs --continue",
    "rebase --onto x --resolver-timeout 9: --resolver-timeout needs --resolver",
    "rebase --skip --exec true: --exec cannot be used with --skip",
    "rebase --onto x --exec true --resolver true: --exec cannot be used with --resolver",
    "rebase --onto a --onto b --dry-run --show-conflicts:"
    " --show-conflicts cannot be used with a table of results",
    "decide p --forget --by 7: --by cannot be used with --forget",
    "decide --list --by 7: use --list on its own",
    "check --workspace --run: --run cannot be used with --workspace",
    "check --ledger --command x: --command cannot be used with --ledger",
    "check --branch x: --branch needs --ledger",
    "audit --repo x: --repo needs --trees",
    "audit s --trees a b: SERIES cannot be used with --trees",
    "move 1 --into x --before 2: --before cannot be used with --into",
    "move 1 --into x --to y: --to cannot be used with --into",
    "fold 1 --strip 2: --strip needs --diff",
    "split 1 x -i --file y: --file cannot be used with --interactive",
    "show 1 --edits --header: --header cannot be used with --edits",
    "undo --to 0 -n 2: -n cannot be used with --to",
    "series guard --none: --none needs PATCH",
    "refresh --auto -i: --interactive cannot be used with --auto",
    "refresh --auto -p 1: --patch cannot be used with --auto",
    "import --git x a..b --series s --linearize --squash:"
    " --linearize and --squash cannot be used together",
    "import --git x a..b --series s --first-parent -R:"
    " --first-parent cannot be used with --reverse",
    "import x --series s --squash: --squash needs --git REPO A..B",
    "import --series s -p0 --git x a..b: -p needs a file or a folder",
    "import --series s -p0 --commit x: -p needs a file or a folder",
    "export s --as quilt --out x --npm y: --npm needs --as patch-package",
    "init x --upstream y: --upstream needs --from-branch REPO BRANCH",
    "init x --squash: --squash needs --from-branch REPO BRANCH",
    "status --gh: --gh needs --upstreaming",
    "status --repo x: --repo needs --of",
    "status --of x --upstreaming: --of cannot be used with --upstreaming",
    "status --of x -q: --quiet cannot be used with --of",
    "status --build-env -v: --verbose cannot be used with --build-env",
    "conflicts propose x --file y --because z: --because needs --accept",
    "conflicts propose x --accept y --run: --run cannot be used with --accept",
    "conflicts accept x ours --because z:"
    " --because TEXT is for findings, and a finding has no sides",
    "help --skill: --skill needs TOPIC",
    "help undo --man x: TOPIC cannot be used with --man",
    "apply --to x --site y: --to cannot be used with --python or --site",
    "apply --to x --warn-at-start: --warn-at-start needs --python or --site",
    "unapply --to x --python y: --to cannot be used with --python or --site",
    "verify --to x --package y: --package needs --python or --site",
    "upstream add x --package y --branch z: --branch needs --git URL",
)


def test_an_option_that_would_be_ignored_is_refused(stage: Stage) -> None:
    told = {line.partition(": ")[0]: line.partition(": ")[2] for line in LINES}
    given = {line: one_line(stage.run(*line.split(), code=2)) for line in told}
    assert given == told


_OPENING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGING = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod")
_read_only: list[str] = []


def _refuse_writing(event: str, arguments: tuple[object, ...]) -> None:
    """Let Python itself see a file system that is mounted read-only; root could write anywhere."""
    if not _read_only or not (event == "open" or event in _CHANGING):
        return
    if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _OPENING):
        return
    path = arguments[0]
    if isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(_read_only[0]):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


@pytest.fixture(scope="module")
def watched() -> None:
    sys.addaudithook(_refuse_writing)


@contextmanager
def read_only(root: Path) -> Iterator[None]:
    """Refuse what would write below a folder."""
    _read_only[:] = [str(root)]
    try:
        yield
    finally:
        _read_only.clear()


# Without a workspace, about no file of one, or for one's own git.
_NOT_DRY = ("init", "help", "upstream fetch", "merge-driver", "merge-file")


@pytest.mark.usefixtures("trapped", "watched")
@pytest.mark.parametrize("row", ROWS, ids=[row.line for row in ROWS])
def test_a_command_asks_nobody_nor_writes_to_look_or_to_run_dry(stage: Stage, row: Row) -> None:
    place = make_place(stage, row.state)
    before = picture(place.stage.folder, without=_PRIVATE)
    private = picture(place.stage.root, without=_KEPT)
    held = picture(place.checkout.root / ".git/patchmgr", without=("lock",))
    is_dry = not row.line.startswith(_NOT_DRY)
    if is_dry:
        look = replace(row, line=f"{row.line} --dry-run") if row.writes else row
        with read_only(stage.root):
            answer = place.run(look)
        assert answer.code == row.code, answer.err
        if LONG:
            assert place.run(look).out == answer.out
        assert picture(place.stage.folder, without=_PRIVATE) == before
        assert picture(place.checkout.root / ".git/patchmgr", without=("lock",)) == held
    if row.writes or not is_dry:
        answer = place.run(row)
        assert answer.code == row.code, answer.err
    if not row.writes:
        assert picture(place.stage.folder, without=_PRIVATE) == before
        assert picture(place.stage.root, without=_KEPT) == private


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ("plain", "series new s --upstream up --base {base}"),
        ("plain", "series new t --upstream up --base nothing"),
        ("plain", "upstream add two --git {out}/none"),
        ("plain", "import {out}/none --series s"),
        ("plain", "rebase s --onto nothing"),
        ("plain", "rebase --continue"),
        ("plain", "drop nothing"),
        ("plain", "undo --to 99"),
        ("plain", "refresh --to {checkout}"),
        ("edited", "pop --to {checkout}"),
        ("collided", "rebase s --onto {later}"),
    ],
)
def test_a_refused_command_leaves_no_trace(stage: Stage, state: str, line: str) -> None:
    place = make_place(stage, state)
    places = (place.stage.root, place.checkout.root)
    before = [picture(each, without=()) for each in places]
    assert place.run(Row(line)).code in (1, 2)
    assert [picture(each, without=()) for each in places] == before


@pytest.mark.usefixtures("watched")
def test_a_read_only_workspace_is_named_where_it_would_change(stage: Stage) -> None:
    with read_only(stage.root):
        answer = stage.run("drop", "fork-two", code=1)
    assert "cannot be written: Read-only file system" in answer.err
