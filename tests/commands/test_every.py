"""What must hold of every command alike: how it ends, and that it asks nobody outside."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.every import ELSEWHERE, ROWS, Row, command_names, make_place
from tests.commands.scenes import Stage, picture

_PRIVATE = ("cache", "other", ".git", ".patchmgr")
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


@pytest.mark.usefixtures("trapped")
@pytest.mark.parametrize("row", ROWS, ids=[row.line for row in ROWS])
def test_a_command_ends_as_it_should_without_a_network(stage: Stage, row: Row) -> None:
    place = make_place(stage, row.state)
    before = picture(place.stage.folder, without=_PRIVATE)
    answer = place.run(row)
    assert answer.code == row.code, answer.err
    if not row.writes:
        assert picture(place.stage.folder, without=_PRIVATE) == before
