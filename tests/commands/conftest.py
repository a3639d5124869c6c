"""Runs the command line in this process, as a user would type it."""

from __future__ import annotations

import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from msgspec import convert
from msgspec.json import decode, encode

from patchmgr import cli
from patchmgr.model.documents import RebaseDocument
from patchmgr.plumbing import clones
from tests.commands.constructed import FORMS, Story
from tests.commands.shared_process import (
    remembered_clones,
    remembered_histories,
    shared_process,
    shared_readers,
)
from tests.conftest import Made, Repository, copy_folder, make_hermetic, once
from tests.long import LONG

if TYPE_CHECKING:
    from tests.commands.scenes import Stage


@pytest.fixture(autouse=True)
def own_home(hermetic: Path) -> Path:
    """Give each test a home, and a cache with its stores, of its own."""
    return hermetic


@dataclass(frozen=True)
class Answer:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return stdout as a JSON document."""
        return json.loads(self.out)


class _Stream(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace")

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8", "backslashreplace")


Run = Callable[..., Answer]
SCENE = ("home", "upstream", "workspace")  # the folders of a scene


def invoke(*arguments: str | Path) -> Answer:
    """Run `patchmgr ARGUMENTS…` in this process."""
    out, err = _Stream(), _Stream()
    clones._ask_paths.cache_clear()  # a process is one command
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["patchmgr", *map(str, arguments)])
        patched.setattr(sys, "stdout", out)
        patched.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return Answer(int(ended.value.code or 0), out.text(), err.text())


def checked(*arguments: str | Path, code: int = 0, at: Path | None = None) -> Answer:
    """Run `patchmgr ARGUMENTS…`, in a folder if one is given, and check its exit code."""
    with pytest.MonkeyPatch.context() as patched:
        if at is not None:
            patched.chdir(at)
        answer = invoke(*arguments)
    assert answer.code == code, f"exit {answer.code}\n{answer.out}\n{answer.err}"
    return answer


@pytest.fixture
def run() -> Run:
    """Return a function that runs `patchmgr ARGUMENTS…` and checks its exit code."""
    return checked


@dataclass(frozen=True)
class Scene:
    """An upstream repository, and a workspace with a series on it."""

    upstream: Repository
    root: Path
    run: Run

    def call(self, *arguments: str | Path, code: int = 0) -> Answer:
        """Run a command in the workspace, and check its exit code."""
        return self.run("-C", self.root, *arguments, code=code)

    def series(self, name: str, base: str, patches: bytes) -> None:
        """Make a series on a commit from the patches of a mailbox."""
        self.call("series", "new", name, "--upstream", "up", "--base", base)
        self.take(patches, name)

    def take(self, patches: bytes, name: str = "s", code: int = 0) -> Answer:
        """Import the patches of a mailbox into a series."""
        box = self.root.parent / f"{name}.mbox"
        box.write_bytes(patches)
        return self.call("import", box, "--series", name, code=code)

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        """Make of this scene what is made once in a session; all that was done to it is lost."""
        return once(key, self.root.parent, SCENE, make)

    def rebase(self, *arguments: str, code: int = 0) -> Any:
        """Rebase and return the JSON document, which has all keys of its class, and no other."""
        found = self.call("rebase", *arguments, "--json", code=code).json
        if "series" in found:  # no error, no table of targets
            assert decode(encode(convert(found, RebaseDocument))) == found
        return found


@pytest.fixture(scope="package", autouse=True)
def one_process() -> Iterator[None]:
    with shared_process(), remembered_clones(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(autouse=True)
def one_reader() -> Iterator[None]:
    with shared_readers(), remembered_histories():
        yield


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an upstream with one commit that every scene copies; nobody writes to it."""
    upstream = Repository(tmp_path_factory.mktemp("started") / "upstream")
    upstream.commit({"README": "upstream\n"}, "start")
    return upstream.root


def borrowing(upstream: Repository, root: Path, run: Run) -> Scene:
    """Return a new workspace that follows a repository by borrowing its objects."""
    run("init", root)
    at = ("--git", upstream.root, "--reference", upstream.root)
    run("-C", root, "upstream", "add", "up", *at)
    return Scene(upstream, root, run)


@pytest.fixture
def scene(tmp_path: Path, run: Run, started: Path) -> Scene:
    """Return an empty upstream that a workspace follows by borrowing its objects."""
    root, upstream = tmp_path / "workspace", tmp_path / "upstream"

    def make() -> None:
        copy_folder(started, upstream)
        borrowing(Repository(upstream), root, run)

    once("scene", tmp_path, SCENE, make)
    return Scene(Repository(upstream), root, run)


@pytest.fixture(scope="session")
def built_stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return the stage that every test copies; nobody writes to it."""
    from tests.commands.scenes import build

    folder = tmp_path_factory.mktemp("stage")
    with pytest.MonkeyPatch.context() as patched:
        make_hermetic(folder / "home", patched)
        return build(folder)


@pytest.fixture
def stage(built_stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Return a workspace with a series of two patches, to do with as one likes."""
    from tests.commands.scenes import copied

    return copied(built_stage, tmp_path, monkeypatch)


@pytest.fixture
def empty(stage: Stage) -> Stage:
    """Return the stage with a series that has no patches."""
    folder = stage.root / "series/s"
    for path in folder.iterdir():
        path.unlink()
    (folder / "series").write_bytes(b"")
    return stage


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Play a story in one of the forms, and where there is time or the form matters in all."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "story" in metafunc.fixturenames and not any("story" in mark.args[0] for mark in marks):
        is_each = LONG or metafunc.definition.get_closest_marker("each_form")
        at = zlib.crc32(metafunc.function.__name__.encode()) % len(FORMS)
        forms = FORMS if is_each else FORMS[at : at + 1]
        metafunc.parametrize("story", forms, ids=[form.name for form in forms], indirect=True)


@pytest.fixture
def story(request: Any, scene: Scene) -> Story:
    """Return a story without patches, in a form."""
    return Story(scene, request.param)
