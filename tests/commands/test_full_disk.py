"""A full disk below the workspace, the cache or the checkout: one line, and nothing changed."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.commands.scenes import Stage, one_line, picture, plant, unchanged
from tests.long import LONG

_PAGE = 4096
Mount = Callable[[str, int], Path]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """Return a function that mounts a small file system of a number of pages, or skip."""
    mounted: list[Path] = []

    def make(name: str, pages: int) -> Path:
        place = tmp_path / name
        place.mkdir()
        line = ["mount", "-t", "tmpfs", "-o", f"size={pages * _PAGE}", "none", str(place)]
        if shutil.which("mount") is None or subprocess.run(line, capture_output=True).returncode:
            pytest.skip("this machine does not let us mount a tmpfs")
        mounted.append(place)
        return place

    yield make
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path, pages: int) -> None:
    """Leave so many pages free."""
    found = os.statvfs(place)
    free = found.f_bavail * found.f_frsize // _PAGE
    (place / "ballast").write_bytes(bytes(max(0, free - pages) * _PAGE))


def squeeze(
    place: Path, line: tuple[str | Path, ...], look: Callable[[], object], most: int
) -> None:
    """Run a command with ever more pages free until it works; before, it changes nothing."""
    before = look()
    for pages in range(0, most, 1 if LONG else 6):
        fill(place, pages)
        answer = invoke(*line)
        (place / "ballast").unlink()
        if answer.code == 0:
            assert look() != before
            assert pages, "the disk was never full"
            return
        assert answer.code == 1, f"{pages} pages: {answer.err}"
        assert re.search("o space left|write", one_line(answer)), f"{pages} pages"
        assert look() == before, f"{pages} pages"
        assert invoke(*line[:2], "status").code == 0 or line[0] == "init"
    raise AssertionError(f"{most} pages are not enough: {answer.err}")


ROWS = (
    ("workspace", "init {root}"), ("workspace", "-C {root} import {box} --series s"),
    ("workspace", "-C {root} rebase s --onto {later}"),
    ("workspace", "-C {root} series new t --upstream up --base {later}"),
    ("workspace", "-C {root} upstream add two --git {upstream}"),
    ("cache", "-C {root} branch s"), ("cache", "-C {root} upstream fetch"),
    ("cache", "-C {root} apply s --to {checkout} --commit"),
    ("cache", "-C {root} rebase s --onto {later}"),
    ("checkout", "-C {root} apply s --to {checkout}"),
    ("checkout", "-C {root} apply s --to {checkout} --commit"),
    ("files applied", "-C {root} unapply s --to {checkout}"),
    ("commits applied", "-C {root} unapply s --to {checkout}"),
    ("checkout", "-C {root} branch s --repo {checkout}"),
)  # fmt: skip


@pytest.mark.parametrize(("full", "line"), ROWS if LONG else ROWS[::3], ids=lambda word: word)
def test_what_does_not_fit_changes_nothing(
    stage: Stage, mount: Mount, monkeypatch: pytest.MonkeyPatch, full: str, line: str
) -> None:
    place = mount("small", {"workspace": 64, "cache": 200}.get(full, 400))
    root, box = stage.root, stage.folder / "more.mbox"
    checkout = stage.clone("checkout" if full in ("workspace", "cache") else "small/checkout")
    if full == "workspace":
        root = place / "workspace"
        if not line.startswith("init"):
            shutil.copytree(stage.root, root)
    elif full == "cache":
        shutil.copytree(stage.folder / "cache/patchmgr", place / "patchmgr")
        monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    elif full != "checkout":
        mode = ["--commit"] if full.startswith("commits") else []
        stage.run("apply", "s", "--to", checkout.root, *mode)
    if "{box}" in line:
        with stage.upstream.at("--detach", "fork"):
            plant(stage.upstream, {"more": "x\n" * 6000}, "more")
            box.write_bytes(stage.upstream.patches("fork..HEAD"))
    later = stage.upstream.tip("refs/heads/later")
    words = [
        word.format(root=root, box=box, later=later, upstream=stage.upstream.root,
                    checkout=checkout.root)
        for word in line.split()
    ]  # fmt: skip

    def look() -> object:
        files = {p: f for p, f in picture(root).items() if f[0] != "folder"}
        refs = stage.folder.glob("small/patchmgr/stores/*/refs/**/*")
        known = {r.name: r.read_bytes() for r in refs if r.is_file() and r.name != "HEAD"}
        status = checkout.git("status", "--porcelain"), checkout.git("for-each-ref")
        return files, known, picture(checkout.root), status, checkout.head()

    squeeze(place, tuple(words), look, {"workspace": 40, "cache": 80}.get(full, 60))


def test_a_folder_that_may_not_be_written(stage: Stage, mount: Mount) -> None:
    place = mount("small", 400)
    checkout = stage.clone("small/checkout")
    shutil.copytree(stage.root, place / "workspace")
    with unchanged(place):
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        onto = stage.upstream.git("rev-parse", "later")
        for line in (
            ("apply", "s", "--to", checkout.root),
            ("branch", "s", "--repo", checkout.root),
            ("rebase", "s", "--onto", onto),
            ("series", "new", "t", "--upstream", "up", "--base", onto),
        ):
            answer = invoke("-C", place / "workspace", *line)
            assert answer.code == 1, answer.err
            assert "Read-only file system" in one_line(answer)
        for words in ("status", "series show s", "report s", "branch s"):
            assert invoke("-C", place / "workspace", *words.split()).code == 0, words
        dry = ("apply", "s", "--to", checkout.root, "--dry-run")
        assert invoke("-C", place / "workspace", *dry).code == 0
        assert invoke("-C", place / "workspace", "verify", "s", "--to", checkout.root).code == 4


def test_a_read_only_cache(stage: Stage, mount: Mount, monkeypatch: pytest.MonkeyPatch) -> None:
    place = mount("small", 20)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    for line in (("upstream", "fetch"), ("branch", "s"), ("status",), ("report", "s")):
        answer = invoke("-C", stage.root, *line)
        assert answer.code == 1, answer.err
        assert "XDG_CACHE_HOME" in answer.err
        one_line(answer)
