"""Formatters as processes: the real ones where they are installed, and false ones."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import formatter_tools
from patchmgr.plumbing.formatter_tools import LARGEST_TEXT, Toolbox
from patchmgr.plumbing.formatters import (
    black_settings,
    clang_settings,
    ruff_settings,
    yapf_settings,
)


def _needs(tool: str) -> pytest.MarkDecorator:
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    is_there = shutil.which(tool, path=path) is not None
    return pytest.mark.skipif(not is_there, reason=f"{tool} is not installed")


@pytest.fixture
def tools() -> Iterator[Toolbox]:
    with Toolbox(patience=5.0) as made:
        yield made


@pytest.mark.parametrize(
    ("tool", "settings", "path", "before", "after"),
    [
        pytest.param("ruff", ruff_settings({}, {}), "a.py", "x = {  'a':1}\n", 'x = {"a": 1}\n',
                     id="ruff", marks=_needs("ruff")),
        pytest.param("ruff", ruff_settings({"format": {"quote-style": "single"}}, {}), "a.py",
                     'x = "a"\n', "x = 'a'\n", id="ruff-settings", marks=_needs("ruff")),
        pytest.param("ruff", ruff_settings({}, {}), "a.py", "import b\nimport a\n",
                     "import b\nimport a\n", id="ruff-sorts-nothing", marks=_needs("ruff")),
        pytest.param("ruff", ruff_settings({}, {}), "a.py", "x = (\n", None,
                     id="ruff-fails", marks=_needs("ruff")),
        pytest.param("ruff", ruff_settings({}, {}), "a.py", "", "", id="empty",
                     marks=_needs("ruff")),
        pytest.param("ruff", b"[tool.ruff]\nnone = 1\n", "a.py", "x = 1\n", None,
                     id="ruff-settings-it-does-not-know", marks=_needs("ruff")),
        pytest.param("black", black_settings({"line-length": 99}, {}), "a.py", "x = {  'a':1}\n",
                     'x = {"a": 1}\n', id="black", marks=_needs("black")),
        pytest.param("yapf", yapf_settings({}), "a.py", "x = {  'a':1}\n", "x = {'a': 1}\n",
                     id="yapf", marks=_needs("yapf")),
        pytest.param("clang-format", clang_settings(b"BasedOnStyle: Google\nNone: 1\n"), "a.cu",
                     "#include <b>\n#include <a>\nint  x ;\n",
                     "#include <b>\n#include <a>\nint x;\n",
                     id="clang-format", marks=_needs("clang-format")),
    ],
)  # fmt: skip
def test_the_real_ones(
    tools: Toolbox, tool: str, settings: bytes, path: str, before: str, after: str | None
) -> None:
    made = tools.run(tool, settings, path, before.encode())
    assert made == (None if after is None else after.encode())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder in which tools are looked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none" / "python"))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin:relative::.")
    return folder


def fake(place: Path, script: str, tool: str = "black") -> None:
    (place / tool).write_text(f"#!/bin/sh\n{script}\n")
    (place / tool).chmod(0o755)


@pytest.mark.parametrize(
    ("script", "made"),
    [
        pytest.param("tr a b", b"bbc\n", id="works"),
        pytest.param("cat; exit 123", None, id="fails"),
        pytest.param("true", None, id="says-nothing"),
        pytest.param("kill -11 $$", None, id="crashes"),
        pytest.param("exec /none", None, id="does-not-start"),
        pytest.param("yes", None, id="never-ends-to-speak"),
    ],
)
def test_a_tool_that_fails(place: Path, tools: Toolbox, script: str, made: bytes | None) -> None:
    fake(place, script)
    assert tools.run("black", b"", "x.py", b"aac\n") == made


@pytest.mark.parametrize(
    ("script", "what"),
    [
        pytest.param("sleep 60", "no answer within 0 seconds", id="hangs"),
        pytest.param("kill -9 $$", "it was killed", id="is-killed"),
        pytest.param("sh -c 'kill -9 $$'; exit $?", "it was killed", id="its-own-tool-is-killed"),
    ],
)
def test_a_tool_that_does_not_end_is_an_error_by_name(place: Path, script: str, what: str) -> None:
    fake(place, script)
    with (
        Toolbox(patience=0.1 if "sleep" in script else 60.0) as tools,
        pytest.raises(PatchmgrError, match=f"black cannot format a/x.py: {what}") as told,
    ):
        tools.run("black", b"", "a/x.py", b"aac\n")
    assert told.value.kind == "helper"


def test_a_tool_that_hangs_is_ended_with_all_that_it_started(place: Path, tmp_path: Path) -> None:
    fake(place, f"sleep 60 & echo $! >> {tmp_path}/started; sleep 60")
    with Toolbox(patience=0.4) as tools, pytest.raises(PatchmgrError):
        tools.run("black", b"", "x.py", b"x")
    started = (tmp_path / "started").read_text().split()
    end = time.monotonic() + 5
    while any(_is_running(int(number)) for number in started):
        assert time.monotonic() < end
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_tool_sees_the_settings_and_nothing_of_the_user(
    place: Path, tools: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/evil")
    monkeypatch.setenv("BLACK_CONFIG", "/evil")
    fake(place, 'ls -A; cat pyproject.toml; env; echo "$@"')
    made = tools.run("black", b"[settings]\n", "../-evil\n/a.py", b"x")
    assert made is not None
    assert made.startswith(b"pyproject.toml\n[settings]\n")
    assert b"evil" not in made
    assert os.environ["HOME"].encode() not in made
    assert b"file.py" in made


def test_a_text_is_formatted_once_and_a_large_one_never(
    place: Path, tools: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(place, f"echo >> {tmp_path}/runs; cat")
    for _ in range(3):
        assert tools.run("black", b"", "a.py", b"x") == b"x"
    assert tools.run("black", b"", "a.py", b"x" * (LARGEST_TEXT + 1)) is None
    assert (tmp_path / "runs").read_text() == "\n"
    monkeypatch.setattr(formatter_tools, "_MOST_KEPT", 1)
    with Toolbox() as few:
        assert [few.run("black", b"", "a.py", text) for text in (b"x", b"y", b"x")] == [
            b"x",
            b"y",
            b"x",
        ]
    assert (tmp_path / "runs").read_text() == "\n" * 4


def test_tools_are_looked_for_beside_the_interpreter_first(
    place: Path, tmp_path: Path, tools: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(place, "cat")
    beside = tmp_path / "none"
    beside.mkdir()
    fake(beside, "cat")
    assert tools.find("black") == beside / "black"
    assert Toolbox().find("yapf") is None


def test_a_relative_folder_of_path_is_not_looked_at(
    place: Path, tmp_path: Path, tools: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "cat", "yapf")
    monkeypatch.chdir(tmp_path)
    assert tools.find("yapf") is None
    assert tools.run("yapf", b"", "a.py", b"x") is None


def test_nothing_is_left_over(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    fake(place, "touch $HOME/cache; cat")
    with Toolbox() as tools:
        assert tools.run("black", b"", "a.py", b"x") == b"x"
        assert list(folder.iterdir())
    assert not list(folder.iterdir())
