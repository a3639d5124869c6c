"""An older git: what it is enough for works, the rest is refused in one line."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from patchmgr.plumbing import git_process
from tests.commands.conftest import Scene, invoke
from tests.commands.scenes import Stage, one_line, text
from tests.commands.test_installs import house, release
from tests.commands.test_rebase import fork
from tests.commands.wheels import House, install
from tests.conftest import Repository
from tests.tables import table

__all__ = ["house"]

# What git 2.34 does not know, and what git before 2.39.4 does not heed.
_OLD = """#!/bin/sh
unset GIT_NO_LAZY_FETCH
echo "$*" >> {log}
for word; do case "$word" in
    version) echo git version {version}; exit 0;;
    --batch-command|--write-tree) [ {is_old} = 1 ] && exit 129;;
    -z) [ "$last" = --porcelain ] && [ {is_old} = 1 ] && exit 129;;
esac; last=$word; done
exec {git} "$@"
"""

Become = Callable[[str], Path]


@pytest.fixture
def become(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Become]:
    """Return a function that lets git be of a version, and returns the log of its calls."""
    folder, log = tmp_path / "old-git", tmp_path / "git.log"

    def old(version: str) -> Path:
        folder.mkdir()
        is_old = int(version < "2.38")
        git = shutil.which("git")
        script = _OLD.format(log=log, version=version, is_old=is_old, git=git)
        (folder / "git").write_text(script)
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        git_process.git_words.cache_clear()
        return log

    yield old
    git_process.git_words.cache_clear()


def test_packages_can_be_patched(house: House, become: Become) -> None:
    log = become("2.34.1")
    house.run("apply")
    assert house.read("demo/a.py") == text(l30="ours\n")
    log.write_text("")
    house.run("verify")
    house.run("unapply")
    assert log.read_text() == ""  # these need no git at all
    install(house.site, "1.1", release("1.1"))
    house.run("apply")
    assert house.read("demo/a.py") == text(l2="theirs\n\n", l30="ours\n")


Words = Callable[[str], list[str]]


@pytest.fixture
def words(stage: Stage) -> Words:
    """Return a function that fills names of places into a line."""
    stage.run("series", "guard", "fork-two", "+sym")
    places = {"OUT": stage.folder / "out"}
    places |= {name: stage.clone(name).root for name in ("CHECKOUT", "OTHER")}
    return lambda line: [str(places.get(word, word)) for word in line.split()]


@pytest.fixture
def with_old_git(words: Words, become: Become) -> None:
    become("2.34.1")


@pytest.fixture
def without_git(stage: Stage, words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(stage.folder))


@pytest.mark.usefixtures("with_old_git")
@table(
    "line",
    [
        "status", "log", "series list", "series show s", "show fork-one", "conflicts list",
        "upstream list", "branch s", "report s", "export s --as mbox --out OUT",
        "apply s --to CHECKOUT", "push --to OTHER", "check s", "undo", "doctor",
    ],
)  # fmt: skip
def test_what_works(stage: Stage, words: Words, line: str) -> None:
    stage.run(*words(line), code={"check": 4, "doctor": 4}.get(line.split()[0], 0))


@pytest.mark.usefixtures("without_git")
@table(
    ("line", "works"),
    [
        ("status", True), ("log", True), ("series list", True), ("series show s", True),
        ("conflicts list", True), ("upstream list", True), ("export s --as quilt --out OUT", True),
        ("series guard fork-one +x", True), ("undo", True),
        ("show fork-one", False), ("branch s", False), ("report s", False), ("check s", False),
        ("rename fork-one y", False), ("rebase s --onto upstream/main", False),
        ("apply s --to CHECKOUT", False), ("upstream fetch", False), ("mergetool", False),
    ],
)  # fmt: skip
def test_without_any_git(stage: Stage, words: Words, line: str, works: bool) -> None:
    answer = invoke("-C", stage.root, *words(line))
    if works:
        assert answer.code == 0, answer.err
    else:
        assert answer.code in (1, 2)
        assert "git is not on PATH" in answer.err or line == "mergetool"


def test_what_merges_is_refused_in_one_line(scene: Scene, become: Become) -> None:
    fork(scene, {"a": text(l10="ours\n")}, on={"a": text()}, then={"a": text(l40="theirs\n")})
    become("2.34.1")
    answer = invoke("-C", scene.root, "rebase", "s", "--onto", "upstream/main", "--dry-run")
    assert one_line(answer) == "a rebase needs git 2.39 or newer, but this is git 2.34.1"
    assert "hint: install git 2.39.4 or newer" in answer.err
    answer = invoke("-C", scene.root, "branch", "s", "--repo", scene.upstream.root)
    assert "writing to a clone needs git 2.39" in one_line(answer)


def test_nothing_is_fetched_for_a_partial_clone(stage: Stage, become: Become) -> None:
    """git before 2.39.4 knows no GIT_NO_LAZY_FETCH."""
    stage.upstream.git("config", "uploadpack.allowFilter", "true")
    place = stage.folder / "partial"
    url = stage.upstream.root.as_uri()
    stage.upstream.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", url, str(place))
    clone = Repository(place, is_there=True)
    before = sorted((place / ".git/objects/pack").iterdir())
    become("2.39.2")
    blob = stage.upstream.git("rev-parse", f"{stage.base}:pkg/a.py")
    code, _ = git_process.run(["cat-file", "-e", blob], git_dir=place / ".git", good=(0, 1, 128))
    assert code != 0
    assert sorted((place / ".git/objects/pack").iterdir()) == before
    clone.git("cat-file", "-e", blob)  # it would have been there for the asking


def test_a_partial_clone_is_no_upstream_then(stage: Stage, become: Become) -> None:
    other = Repository(shutil.copytree(stage.upstream.root, stage.folder / "other"))
    other.git("config", "remote.origin.promisor", "true")
    stage.run("upstream", "add", "other", "--git", other.root)
    become("2.39.3")
    answer = stage.run("upstream", "fetch", "other", code=1)
    assert "other is a partial clone" in answer.err
    other.git("config", "--unset", "remote.origin.promisor")
    stage.run("upstream", "fetch", "other")


@table(
    ("version", "is_safe"),
    [((2, 34, 1), False), ((2, 39, 3), False), ((2, 39, 4), True), ((2, 43, 0), False),
     ((2, 44, 1), True), ((2, 45, 0), True), ((3, 0, 0), True)],
)  # fmt: skip
def test_which_git_heeds_no_lazy_fetch(version: tuple[int, int, int], is_safe: bool) -> None:
    assert git_process.is_safe_git(version) is is_safe
