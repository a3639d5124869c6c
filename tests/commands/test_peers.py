"""Other tools read what `export` writes, and `import` reads what they write.

Each test is skipped, aloud, where its tool is not installed.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, Run, Scene, borrowing
from tests.commands.scenes import picture, plant, text, work_tree
from tests.conftest import Repository

Told = tuple[Scene, str]


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    """Return an upstream with five commits on its base that every tool can hold."""
    repository = Repository(tmp_path_factory.mktemp("peers") / "upstream")
    files = {"a.txt": text(), "b.txt": text(), "crlf.txt": "1\r\n2\r\n", "end": "no feed"}
    base = plant(repository, files, "start")
    plant(repository, {"a.txt": text(l3="three\n")}, "area: one\n\nWhy it is so.\n\nBug: 7")
    plant(repository, {"b.txt": None, "sub/c.txt": text()}, "move")
    plant(repository, {"crlf.txt": "1\r\n2\r\n3\r\n"}, "CR LF")
    plant(repository, {"end": "no feed!"}, "end")
    repository.commit(
        {"\u00fc.txt": "\u00fc\n"}, "\u00fcnicode", author="J\u00f6rg <j@example.org>"
    )
    return repository, base


@pytest.fixture
def told(upstream: tuple[Repository, str], tmp_path: Path, run: Run) -> Told:
    """Return a workspace whose series `s` has those commits."""
    repository, base = upstream
    scene = borrowing(repository, tmp_path / "workspace", run)
    take(scene, "s", base, f"{base}..main", "--git", repository.root)
    return scene, base


def take(scene: Scene, name: str, base: str, *arguments: str | Path) -> Answer:
    scene.call("series", "new", name, "--upstream", "up", "--base", base)
    return scene.call("import", "--series", name, *arguments)


def export(scene: Scene, form: str, *more: str) -> Path:
    place = scene.root.parent / form
    scene.call("export", "s", "--as", form, "--out", place, *more)
    return place


def checkout(scene: Scene, base: str) -> Repository:
    place = scene.root.parent / "checkout"
    scene.upstream.git("clone", "--quiet", "--template=", ".", str(place))
    clone = Repository(place, is_there=True)
    clone.git("checkout", "--quiet", "-B", "work", base)
    return clone


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def call(folder: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, check=False, env={**os.environ, **environment}
    )
    printed = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode == 0, printed
    return printed


def built(scene: Scene, name: str) -> str:
    """Return the tree of a series' branch."""
    head = scene.call("branch", name, "--json").json["head"]
    stores = Path(os.environ["XDG_CACHE_HOME"]) / "patchmgr/stores"
    return Repository(next(stores.glob("*.git")), is_there=True).tree(head)


def messages(repository: Repository, commits: str) -> str:
    """Return authors and messages, without the fields that say where a patch was imported from."""
    log = repository.git("log", "--format=%an %ae %ad%n%s%n%b", "--date=raw", commits)
    return re.sub(r"\n+Imported-From: .*\nCommit-Date: .*", "", log)


@pytest.mark.parametrize("form", ["mbox", "git"])
def test_git_am(told: Told, form: str) -> None:
    scene, base = told
    place = export(scene, form)
    clone = checkout(scene, base)
    mails = sorted(place.iterdir()) if place.is_dir() else [place]
    clone.git("am", "--quiet", "--keep-cr", *map(str, mails))
    assert clone.tree() == scene.upstream.tree("main")
    assert messages(clone, f"{base}..") == messages(scene.upstream, f"{base}..main")


def test_git_apply(told: Told) -> None:
    scene, base = told
    clone = checkout(scene, base)
    clone.git("apply", "--index", str(export(scene, "diff")))
    assert clone.git("write-tree") == scene.upstream.tree("main")


def test_quilt(told: Told) -> None:
    scene, base = told
    quilt = tool("quilt")
    clone = checkout(scene, base)
    where = {"QUILT_PATCHES": str(export(scene, "quilt")), "QUILT_PC": str(clone.root.parent / "p")}
    call(clone.root, quilt, "push", "-a", "--fuzz=0", **where)
    assert work_tree(clone) == scene.upstream.tree("main")
    call(clone.root, quilt, "new", "more.patch", **where)
    call(clone.root, quilt, "add", "a.txt", **where)
    (clone.root / "a.txt").write_text(text(l3="three\n", l40="forty\n"))
    call(clone.root, quilt, "refresh", **where)
    take(scene, "again", base, where["QUILT_PATCHES"])
    again = picture(scene.root / "series/again")
    assert again == picture(Path(where["QUILT_PATCHES"]))
    assert "more.patch" in again


def test_stgit(told: Told) -> None:
    scene, base = told
    stg = tool("stg")
    clone = checkout(scene, base)
    call(clone.root, stg, "init")
    call(clone.root, stg, "import", "--series", str(export(scene, "stgit") / "series"))
    assert clone.tree() == scene.upstream.tree("main")
    assert messages(clone, f"{base}..") == messages(scene.upstream, f"{base}..main")
    call(clone.root, stg, "pop")
    answer = take(scene, "stack", base, "--stgit", clone.root)
    assert "because not applied" in answer.err
    assert built(scene, "stack") == scene.upstream.tree("main~1")
    call(clone.root, stg, "export", "--dir", str(scene.root.parent / "exported"))
    take(scene, "exported", base, scene.root.parent / "exported")
    place = scene.root.parent / "again"
    scene.call("export", "exported", "--as", "stgit", "--out", place)
    assert picture(place) == picture(scene.root.parent / "exported")


CONTROL = (
    "Source: x\nMaintainer: M <m@example.org>\nStandards-Version: 4.6.2\n\n"
    "Package: x\nArchitecture: all\nDescription: x\n x\n"
)
CHANGES = (
    "x (1.0-1) unstable; urgency=low\n\n  * x\n\n"
    " -- M <m@example.org>  Thu, 01 Jan 2026 00:00:00 +0000\n"
)


def package(clone: Repository, patches: Path) -> None:
    """Make a Debian source package of a checkout."""
    shutil.copytree(patches, clone.root / "debian/patches")
    plant(
        clone,
        {"debian/control": CONTROL, "debian/changelog": CHANGES,
         "debian/source/format": "3.0 (quilt)\n"},
        "debian",
    )  # fmt: skip


def test_gbp_pq(told: Told) -> None:
    scene, base = told
    gbp = tool("gbp")
    clone = checkout(scene, base)
    package(clone, export(scene, "gbp"))
    call(clone.root, gbp, "pq", "import")
    upstream = ("diff", "--quiet", scene.upstream.git("rev-parse", "main"), "HEAD", "--", ".")
    clone.git(*upstream, ":!debian")
    take(scene, "branch", base, "work..patch-queue/work", "--git", clone.root)
    names = (scene.root / "series/branch/series").read_text()
    assert names == (scene.root / "series/s/series").read_text()
    assert built(scene, "branch") == scene.upstream.tree("main")
    call(clone.root, gbp, "pq", "export")
    take(scene, "folder", base, clone.root)
    assert picture(scene.root / "series/folder") == picture(clone.root / "debian/patches")
    assert built(scene, "folder") == scene.upstream.tree("main")


def test_dpkg_source(told: Told) -> None:
    scene, base = told
    dpkg = tool("dpkg-source")
    clone = checkout(scene, base)
    package(clone, export(scene, "gbp"))
    call(clone.root.parent, dpkg, "--before-build", "checkout")
    shutil.rmtree(clone.root / "debian")
    shutil.rmtree(clone.root / ".pc")
    assert work_tree(clone) == scene.upstream.tree("main")


def test_patch_package(told: Told) -> None:
    scene, base = told
    program = tool("patch-package")
    app = scene.root.parent / "app"
    clone = checkout(scene, base)
    installed = app / "node_modules/@s/p"
    installed.parent.mkdir(parents=True)
    (clone.root / "package.json").write_text('{"name": "@s/p", "version": "1.2.3"}')
    clone.root.rename(installed)
    (app / "package.json").write_text('{"dependencies": {"@s/p": "1.2.3"}}')
    (app / "package-lock.json").write_text(json.dumps({"lockfileVersion": 2, "packages": {}}))
    patches = export(scene, "patch-package", "--npm", "@s/p@1.2.3")
    shutil.copytree(patches, app / "patches")
    call(app, program)
    moved = Repository(installed, is_there=True)
    for name in ("package.json", ".patch-package.json"):
        (installed / name).unlink(missing_ok=True)
    assert work_tree(moved) == scene.upstream.tree("main")
    take(scene, "back", base, app)
    assert built(scene, "back") == scene.upstream.tree("main")


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tools that write commits find a name where git's own variables do not reach."""
    monkeypatch.delenv("GIT_AUTHOR_DATE")
    monkeypatch.setenv("EMAIL", "author@example.org")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def test_what_no_tool_is_there_for_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    skip: Callable[[str], str] = tool
    with pytest.raises(pytest.skip.Exception, match="quilt is not installed"):
        skip("quilt")
