"""`init`, `upstream`, `series`, `status`: what a workspace holds, and what is refused."""

import fcntl
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from patchmgr import workspace
from patchmgr.cli.root import Given
from patchmgr.workspace import Workspace
from tests.commands.conftest import Run, invoke
from tests.commands.scenes import Stage, one_line, picture, plant, unchanged
from tests.conftest import Repository
from tests.tables import table

GITIGNORE = b".patchmgr/\n"


def lock(stage: Stage) -> Path:
    return stage.root / "upstream.lock"


def refuses(stage: Stage, *arguments: str | Path, code: int = 1) -> str:
    """Check that a command changes nothing in the workspace; return the line that says why."""
    with unchanged(stage.root):
        return one_line(stage.run(*arguments, code=code))


def test_init_makes_a_workspace_that_git_can_hold(tmp_path: Path, run: Run) -> None:
    root = tmp_path / "new/workspace"
    assert "Would make" in run("init", root, "--dry-run").err
    assert not root.parent.exists()
    run("init", root)
    assert set(picture(root)) == {
        ".gitattributes", ".gitignore", "conflicts", "series", "upstream.lock"
    }  # fmt: skip
    assert (root / ".gitignore").read_bytes() == GITIGNORE
    assert (root / "upstream.lock").read_text() == "format = 1\n"
    assert "is already a workspace" in one_line(run("init", root, code=2))
    none = "no series yet; to make one: patchmgr series new NAME --upstream U --base REF"
    assert run("-C", root, "status").out == f"workspace {root}\n{none}\n"


def test_init_makes_the_workspace_in_the_folder_that_c_names(tmp_path: Path, run: Run) -> None:
    run("-C", tmp_path / "ws", "init")
    assert (tmp_path / "ws/upstream.lock").exists()
    run("-C", tmp_path / "ws", "init", "below")
    assert (tmp_path / "ws/below/upstream.lock").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"*.o\n", b"*.o\n.patchmgr/\n"),
        (b"*.o", b"*.o\n.patchmgr/\n"),
        (b".patchmgr/\nx\n", b".patchmgr/\nx\n"),
        (b"\xff\r\n", b"\xff\r\n.patchmgr/\n"),
        (b"", b".patchmgr/\n"),
    ],
)
def test_init_keeps_what_is_there(tmp_path: Path, run: Run, before: bytes, after: bytes) -> None:
    (tmp_path / "series").mkdir()
    (tmp_path / "series/mine").write_text("mine")
    (tmp_path / ".gitignore").write_bytes(before)
    run("init", tmp_path)
    assert (tmp_path / ".gitignore").read_bytes() == after
    assert (tmp_path / "series/mine").read_text() == "mine"


def test_init_follows_no_link_and_replaces_no_file(tmp_path: Path, run: Run) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.write_text("mine\n")
    (root / ".gitignore").symlink_to(outside)
    assert "symbolic link" in one_line(run("init", root, code=1))
    assert outside.read_text() == "mine\n"
    assert not (root / "upstream.lock").exists()
    (tmp_path / "file").write_text("mine\n")
    one_line(run("init", tmp_path / "file", code=1))
    one_line(run("init", tmp_path / "file/below", code=1))


def test_a_workspace_is_found_from_below_by_option_and_by_variable(
    stage: Stage, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    below = stage.root / "series/s"
    monkeypatch.chdir(below)
    assert json.loads(run("status", "--json").out)["workspace"] == str(stage.root)
    monkeypatch.chdir("/")
    assert "there is no upstream.lock in /" in one_line(run("status", code=1))
    assert "there is no folder" in one_line(run("-C", stage.root / "none", "status", code=1))
    monkeypatch.setenv("PATCHMGR_WORKSPACE", str(below))
    assert json.loads(run("status", "--json").out)["workspace"] == str(stage.root)
    other = tmp_path / "other"
    run("init", other)
    assert json.loads(run("-C", other, "status", "--json").out)["workspace"] == str(other)
    monkeypatch.chdir(tmp_path)
    assert json.loads(run("-C", "other", "status", "--json").out)["workspace"] == str(other)


def test_upstreams_are_listed(stage: Stage) -> None:
    stage.run("upstream", "add", "pkg", "--package", "some-pkg")
    stage.run("upstream", "add", "both", "--package", "x", "--git", "https://example.org/x.git",
              "--branch", "dev", "--track", "package")  # fmt: skip
    lines = [line.split() for line in stage.run("upstream", "list").out.splitlines()]
    assert lines == [
        ["both", "tracks", "package", "git", "https://example.org/x.git,", "branch", "dev,",
         "package", "x"],
        ["pkg", "tracks", "package", "package", "some-pkg"],
        ["up", "tracks", "git", "git", f"file://{stage.upstream.root}"],
    ]  # fmt: skip
    document = stage.run("upstream", "list", "--json").json
    assert document["upstreams"][1] == {
        "name": "pkg", "track": "package", "git": None, "package": "some-pkg", "branch": None,
        "archive": None,
    }  # fmt: skip


def test_the_same_upstream_twice_is_no_error_and_another_is(stage: Stage) -> None:
    before = lock(stage).read_bytes()
    stage.run("upstream", "add", "up", "--git", stage.upstream.root)
    assert lock(stage).read_bytes() == before
    other = ("upstream", "add", "up", "--git", "https://example.org/x")
    assert "another upstream named up" in refuses(stage, *other, code=2)


def test_urls_that_are_taken_as_they_are(stage: Stage) -> None:
    urls = ["https://example.org/x.git", "http://h/x", "ssh://git@h:22/x", "git://h/x",
            "git@h:x/y.git", "git@h:/srv/x.git", "h:x"]  # fmt: skip
    for number, url in enumerate(urls):
        stage.run("upstream", "add", f"n{number}", "--git", url)
    listed = stage.run("upstream", "list", "--json").json["upstreams"]
    assert [one["git"] for one in listed[: len(urls)]] == urls


@table(
    ("arguments", "words"),
    [
        (["--git", "ext::sh -c 'touch ran'"], "runs a command"),
        (["--git", "fd::17"], "runs a command"),
        (["--git", "ftp://h/x"], "not supported"),
        (["--git=-oProxyCommand=x"], "is not a URL"),
        (["--git=--upload-pack=touch ran"], "is not a URL"),
        (["--git", "https://h/x\n[core]"], "is not a URL"),
        (["--git", "/dev/null/no-repository"], "there is no git repository"),
        ([], "needs --git"),
        (["--git", "https://h/x", "--track", "package"], "needs --package"),
        (["--package", "x", "--track", "git"], "needs --git"),
        (["--package", "x", "--track", "other"], "--track must be git or package"),
        (["--package", "x", "--reference", "."], "needs --git"),
    ],
)
def test_what_is_no_upstream(stage: Stage, arguments: list[str], words: str) -> None:
    assert words in refuses(stage, "upstream", "add", "n", *arguments, code=2)


@table("name", ["", "-x", "../x", "a/b", "a b", "x.lock", "a..b", "\x1b[2J"])
def test_names_that_cannot_stand_in_a_path(stage: Stage, name: str) -> None:
    words = refuses(stage, "upstream", "add", "--package", "p", "--", name, code=2)
    assert "is not a valid name" in words
    assert "\x1b" not in words
    line = ("series", "new", "--upstream", "up", "--base", stage.base, "--", name)
    assert "is not a valid name" in refuses(stage, *line, code=2)


@pytest.mark.parametrize("form", ["path", "file", "odd", "relative"])
def test_fetch_brings_no_contents(stage: Stage, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "o%41d ü" if form == "odd" else "another"
    upstream = Repository(stage.folder / name)
    first = plant(upstream, {"a": "one\n"}, "one")
    upstream.git("tag", "v1")
    upstream.git("tag", "-a", "-m", "t", "v1.1")
    tip = plant(upstream, {"a": "two\n"}, "two")
    upstream.git("branch", "side", first)
    monkeypatch.chdir(stage.folder)
    url = {"file": f"file://{upstream.root}", "relative": f"x/../{name}"}.get(form, upstream.root)
    (stage.folder / "x").mkdir()
    stage.run("upstream", "add", "o", "--git", url)
    answer = stage.run("upstream", "fetch", "o", "--json").json
    assert answer["upstreams"] == [{"name": "o", "commit": tip}]
    stores = [
        p for p in (stage.folder / "cache/patchmgr/stores").iterdir() if "upstr" not in p.name
    ]
    held = Repository(stores[0], is_there=True)
    lines = held.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    assert dict(line.split(" ") for line in lines) == {
        "refs/upstream/HEAD": tip,
        "refs/upstream/heads/main": tip,
        "refs/upstream/tags/v1": first,
        "refs/upstream/tags/v1.1": first,
    }
    blob = upstream.git("rev-parse", f"{tip}:a")
    assert held.git("cat-file", "-e", blob, good=(0, 1, 128)) == ""
    assert not blobs_of(held)
    for ref in ("v1", "v1.1", "upstream/main", "upstream/side", first, first[:8]):
        line = ("--upstream", "o", "--base", ref, "--dry-run")
        assert "Would make" in stage.run("series", "new", "n", *line).err


def blobs_of(held: Repository) -> list[str]:
    """Return the blobs that a store has itself."""
    form = "--batch-check=%(objecttype) %(objectname)"
    lines = held.git("cat-file", "--batch-all-objects", form).splitlines()
    return [line.split(" ")[1] for line in lines if line.startswith("blob ")]


def test_fetch_follows_what_upstream_renames_and_deletes(stage: Stage) -> None:
    upstream = Repository(stage.folder / "moving")
    plant(upstream, {"a": "one\n"}, "one")
    with upstream.at("-b", "topic"):
        plant(upstream, {"a": "topic\n"}, "topic")
    upstream.git("tag", "v1")
    stage.run("upstream", "add", "m", "--git", upstream.root)
    for ref in ("nope", "upstream/nope"):
        refused = stage.run("upstream", "fetch", "m", "--ref", ref, code=2)
        assert one_line(refused) == f"m has no branch, tag or commit {ref}"
    stage.run("upstream", "fetch", "m", "--ref", "upstream/topic", "--ref", "v1")
    line = ("series", "new", "n", "--upstream", "m", "--dry-run", "--base")
    upstream.root.rename(stage.folder / "away")
    stage.run(*line, "upstream/topic")
    (stage.folder / "away").rename(upstream.root)
    upstream.git("branch", "-D", "topic")
    upstream.git("branch", "topic/deeper")
    upstream.git("tag", "-d", "v1")
    upstream.git("tag", "v1/deeper")
    tip = plant(upstream, {"a": "two\n"}, "two")
    upstream.git("branch", "-m", "main", "trunk")
    upstream.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    answer = stage.run("upstream", "fetch", "m", "--json").json
    assert answer["upstreams"][0]["commit"] == tip
    stage.run(*line, "upstream/trunk")
    stage.run(*line, "v1/deeper")
    assert tip in stage.run(*line, "upstream/main").err
    stage.run(*line, "v1", code=2)


def test_a_rewritten_branch_that_no_clone_has_any_more_is_followed(stage: Stage) -> None:
    upstream, lender = Repository(stage.folder / "rewritten"), stage.folder / "borrowed"
    first = plant(upstream, {"a": "one\n"}, "one")
    plant(upstream, {"a": "two\n"}, "two")
    upstream.git("clone", "--quiet", str(upstream.root), str(lender))
    old = plant(upstream, {"a": "three\n"}, "three")
    stage.run("upstream", "add", "m", "--git", upstream.root, "--reference", lender)
    stage.run("upstream", "fetch", "m")
    upstream.git("reset", "--quiet", "--hard", first)
    new = plant(upstream, {"a": "else\n"}, "else")
    upstream.git("reflog", "expire", "--expire=all", "--all")
    upstream.git("prune")
    shutil.rmtree(lender)
    upstream.git("clone", "--quiet", "--no-local", str(upstream.root), str(lender))
    answer = stage.run("upstream", "fetch", "m")
    assert f"m: heads/main moved from {old[:12]} to {new[:12]}\n" in answer.err


def test_what_is_borrowed_is_not_transferred(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(stage.folder / "new cache"))
    root = stage.folder / "w"
    assert invoke("init", root).code == 0
    lender = stage.clone("lender")
    start = ("-C", root)
    assert invoke(*start, "upstream", "add", "up", "--git", stage.upstream.root,
                  "--reference", lender.root / "pkg").code == 0  # fmt: skip
    assert invoke(*start, "upstream", "fetch").code == 0
    store = Repository(next((stage.folder / "new cache/patchmgr/stores").iterdir()), is_there=True)
    assert store.git("count-objects") == "0 objects, 0 kilobytes"
    assert not list((store.root / "objects/pack").glob("*.pack"))
    answer = invoke(*start, "series", "new", "t", "--upstream", "up", "--base", "upstream/later")
    assert answer.code == 0


def test_what_upstream_itself_lacks_does_not_keep_the_rest_away(stage: Stage) -> None:
    upstream = Repository(stage.folder / "holey")
    base = plant(upstream, {f"big{n}": f"{n}\n" * 99 for n in range(5)}, "base")
    stage.run("upstream", "add", "holey", "--git", upstream.root)
    stage.run("series", "new", "h", "--upstream", "holey", "--base", base)
    for lost in ("big1", "big3"):
        blob = upstream.git("rev-parse", f"{base}:{lost}")
        (upstream.root / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    (stage.root / "series/h/series.toml").write_text("[check.commands.look]\nrun = ['ls']\n")
    stage.run("check", "h", "--run", code=1)
    store = next((stage.folder / "cache/patchmgr/stores").glob("holey-*.git"))
    assert len(blobs_of(Repository(store, is_there=True))) == 3


@pytest.fixture
def gappy(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a lender that lacks the content of `bytes`, lent to a new workspace's upstream."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(stage.folder / "new cache"))
    lender = stage.clone("lender")
    for pack in (lender.root / ".git/objects/pack").glob("*.pack"):
        loose = stage.folder / "pack"
        pack.rename(loose)
        pack.with_suffix(".idx").unlink()
        lender.git("unpack-objects", "-q", data=loose.read_bytes())
    blob = stage.upstream.git("rev-parse", "main:bytes")
    (lender.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    shared = lender.root / ".git/objects/info/alternates"
    shared.unlink(missing_ok=True)
    lock(stage).write_text("format = 1\n")
    stage.run("upstream", "add", "up", "--git", stage.upstream.root, "--reference", lender.root)
    return lender


def test_content_the_reference_lacks_is_fine_until_needed(stage: Stage, gappy: Repository) -> None:
    stage.run("upstream", "fetch")
    stage.run("series", "new", "t", "--upstream", "up", "--base", "upstream/main")
    stage.take(stage.upstream.patches("main..fork~1"), "t")
    answer = stage.run("rebase", "t", "--onto", "upstream/later", "--json").json
    assert answer["series"][0]["summary"]["partial"] == 1
    stage.run("branch", "t", "--repo", stage.clone().root)
    stage.run("apply", "t", "--to", stage.clone("second").root)
    stage.run("report", "t")


def test_content_the_reference_lacks_comes_when_needed(stage: Stage, gappy: Repository) -> None:
    stage.run("series", "new", "t", "--upstream", "up", "--base", "upstream/main")
    stage.take(stage.upstream.patches("main..fork"), "t")
    stage.run("rebase", "t", "--onto", "upstream/later")


def test_a_reference_that_is_gone_is_made_up_for(stage: Stage, gappy: Repository) -> None:
    stage.run("upstream", "fetch")
    stage.run("series", "new", "t", "--upstream", "up", "--base", "upstream/main")
    gappy.root.rename(stage.folder / "gone")
    stage.run("status")
    stage.take(stage.upstream.patches("main..fork"), "t")
    stage.run("upstream", "fetch")
    stage.run("rebase", "t", "--onto", "upstream/later")


@table("place", ["none", "workspace"])
def test_a_reference_that_is_no_repository(stage: Stage, place: str) -> None:
    line = ("upstream", "add", "n", "--git", "https://h/x", "--reference", stage.folder / place)
    for words in (line, (*line, "--dry-run")):
        assert "there is no folder" in refuses(stage, *words, code=2) or place == "workspace"


def _silent() -> Iterator[str]:
    """Yield the URL of a server that takes a call and says nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x.git"


def test_an_upstream_that_does_not_answer(stage: Stage) -> None:
    gone = Repository(stage.folder / "gone")
    plant(gone, {"a": "x\n"}, "x")
    stage.run("upstream", "add", "gone", "--git", gone.root)
    stage.run("series", "new", "g", "--upstream", "gone", "--base", "upstream/main")
    gone.root.rename(stage.folder / "away")
    new = "series new n --upstream gone --base"
    for line in ("upstream fetch gone", f"{new} upstream/other", f"{new} {'1' * 40}",
                 "rebase g --onto upstream/other"):  # fmt: skip
        message = refuses(stage, *line.split())
        assert message.startswith("upstream gone does not answer: git ")
    stage.run("status")


def test_an_upstream_that_fails_does_not_keep_the_others_from_being_fetched(stage: Stage) -> None:
    tips = {}
    for name in ("a", "b", "c"):
        tips[name] = plant(Repository(stage.folder / name), {"f": name}, "start")
        stage.run("upstream", "add", name, "--git", stage.folder / name)
    for name in ("a", "c"):
        (stage.folder / name).rename(stage.folder / f"{name}-away")
    message = refuses(stage, "upstream", "fetch", "a", "b", "c")
    begin = "2 of 3 upstreams were not fetched: upstream a does not answer: git ls-remote "
    assert message.startswith(begin) and "; upstream c does not answer: " in message
    stage.run("series", "new", "s2", "--upstream", "b", "--base", "upstream/main")
    assert tips["b"] in lock(stage).read_text()


def test_fetch_says_once_what_upstream_replaced(stage: Stage) -> None:
    upstream = Repository(stage.folder / "own")
    base = plant(upstream, {"f": "0"}, "base")
    old = plant(upstream, {"f": "1"}, "old")
    for name in ("v1", "v2", "nightly", *(f"ci/{n}" for n in range(12))):
        upstream.git("tag", name)
    stage.run("upstream", "add", "own", "--git", upstream.root)
    stage.run("series", "new", "own", "--upstream", "own", "--base", "v1")
    upstream.git("reset", "--quiet", "--hard", base)
    new = plant(upstream, {"f": "2"}, "new")
    for name in upstream.git("tag").split():
        if name != "v2":
            upstream.git("tag", "--force", name)
    moved = f"moved from {old[:12]} to {new[:12]}"
    names = ("tags/v1", "heads/main", *(f"tags/ci/{n}" for n in (0, 1, 10, 11, 2, 3, 4, 5)))
    assert stage.run("upstream", "fetch", "own").err.splitlines() == [
        *(f"own: {name} {moved}" for name in names),
        "own: 5 more branches and tags moved",
        f"own: the pin v1 ({old[:12]}) is no longer in upstream/main",
    ]
    plant(upstream, {"f": "3"}, "a new commit loses nothing")
    upstream.git("branch", "backup")
    upstream.git("branch", "side", base)
    assert stage.run("upstream", "fetch", "own").err == ""
    upstream.git("reset", "--quiet", "--hard", new)
    upstream.git("branch", "--force", "side", old)
    (told,) = stage.run("upstream", "fetch", "own").err.splitlines()
    assert told.startswith("own: heads/main moved from ") and told.endswith(f" to {new[:12]}")
    upstream.git("branch", "--force", "side", base)
    upstream.git("tag", "--delete", "v2")
    told = stage.run("upstream", "fetch", "own").err
    assert told == f"own: heads/side moved from {old[:12]} to {base[:12]}\n"
    upstream.git("checkout", "--quiet", "-b", "trunk")
    told = stage.run("upstream", "fetch", "own").err
    assert told == "own: the default branch is trunk now, not main\n"


def test_upstreams_in_one_store_each_track_their_own_branch(stage: Stage) -> None:
    upstream = Repository(stage.folder / "own")
    base = plant(upstream, {"f": "0"}, "base")
    with upstream.at("-b", "release"):
        plant(upstream, {"f": "1"}, "on release")
    for name, more in (("own", ()), ("other", ("--branch", "release"))):
        stage.run("upstream", "add", name, "--git", upstream.root, *more)
        stage.run("series", "new", name, "--upstream", name, "--base", base)
    for fetched in (("own", "other"), ("other", "own")):  # the last one leaves no trace
        with upstream.at("release"):
            release = plant(upstream, {"f": fetched[0]}, "more")
        for name in fetched:
            stage.run("upstream", "fetch", name)
        for name, tip in (("own", base), ("other", release)):
            stage.run("rebase", name, "--onto", "upstream/main")
            assert f'commit = "{tip}"' in lock(stage).read_text().split(f"[series.{name}.pin]")[1]
            assert stage.run("status", "--json").json["series"]
    stage.run("rebase", "own", "--onto", "upstream/release")
    with upstream.at("release"):
        release = plant(upstream, {"f": "newer"}, "newer")
    stage.run("upstream", "fetch", "own")  # follows a branch that was fetched before
    stage.run("rebase", "own", "--onto", "upstream/release")
    assert release in lock(stage).read_text()


def test_a_server_that_says_nothing_ends_too(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    from patchmgr.plumbing import git_upstream

    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    patience = {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": "1"}
    monkeypatch.setattr(git_upstream, "_PATIENCE", patience)
    server = _silent()
    stage.run("upstream", "add", "silent", "--git", next(server))
    assert "does not answer" in refuses(stage, "upstream", "fetch", "silent")


def test_what_is_written_in_another_repository_runs_nothing(stage: Stage) -> None:
    upstream = Repository(stage.folder / "trap")
    plant(upstream, {"a": "x\n"}, "x")
    ran = stage.folder / "ran"
    for setting in (
        "uploadpack.packObjectsHook", "core.fsmonitor", "core.sshCommand",
        "core.alternateRefsCommand", "core.gitProxy", "remote.origin.uploadpack",
    ):  # fmt: skip
        upstream.git("config", setting, f"touch {ran};false")
    (upstream.root / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-upload-pack", "pre-auto-gc", "reference-transaction"):
        path = upstream.root / ".git/hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch {ran}\n")
        path.chmod(0o755)
    stage.run("upstream", "add", "trap", "--git", upstream.root)
    stage.run("upstream", "fetch", "trap")
    stage.run("upstream", "add", "lent", "--git", stage.folder / "lent",
              "--reference", upstream.root, code=2)  # fmt: skip
    stage.run("series", "new", "n", "--upstream", "trap", "--base", "upstream/main")
    assert not ran.exists()


def test_series_are_made_listed_and_shown(stage: Stage) -> None:
    before = lock(stage).read_bytes()
    assert stage.run("series", "show").out == stage.run("series", "show", "s").out
    line = ("series", "new", "t", "--upstream", "up", "--base", stage.base, "--on", "s")
    assert f"Would make series t on {stage.base}" in stage.run(*line, "--dry-run").err
    assert lock(stage).read_bytes() == before
    stage.run(*line)
    assert "the series t already exists" in refuses(stage, *line, code=2)
    rows = [row.split() for row in stage.run("series", "list").out.splitlines()]
    assert [row[0] for row in rows] == ["s", "t"]
    assert rows[0][1:] == ["on", "up", stage.base[:12], "2", "patches"]
    listed = stage.run("series", "list", "--json").json["series"]
    assert listed[1]["on"] == "s"
    shown = stage.run("series", "show", "s").out
    assert "fork-one.patch  +3 -2\n    fork: one\n\n    Why it is so.\n" in shown
    assert "    gone/only.txt\n" in shown
    document = stage.run("series", "show", "s", "--json").json["series"]
    assert [patch["name"] for patch in document["patches"]] == ["fork-one.patch", "fork-two.patch"]
    assert stage.run("series", "show", "t").out.startswith("t: 0 patches on up ")


def test_new_keeps_the_files_of_a_series_that_are_there(stage: Stage) -> None:
    folder = stage.root / "series/t"
    folder.mkdir()
    (folder / "series").write_text("# mine\n")
    stage.run("series", "new", "t", "--upstream", "up", "--base", stage.base)
    assert (folder / "series").read_text() == "# mine\n"


@pytest.fixture
def fetched(stage: Stage) -> Stage:
    stage.run("upstream", "fetch")
    return stage


@table(
    ("line", "kind", "near"),
    [
        ("series show ss", "unknown-series", "nearest names: s"),
        ("rebase x --onto v1", "unknown-series", "series here: s"),
        ("apply ss --to .", "unknown-series", "nearest names: s"),
        ("branch ss", "unknown-series", "nearest names: s"),
        ("report ss", "unknown-series", "nearest names: s"),
        ("upstream fetch upp", "unknown-upstream", "nearest names: up"),
        ("series new t --upstream upp --base v1", "unknown-upstream", "nearest names: up"),
        ("series new t --upstream up --base v1 --on ss", "unknown-series", "nearest names: s"),
        ("series new t --upstream up --base upstream/latr", "unknown-ref", "upstream/later"),
        ("rebase s --onto upstream/latr", "unknown-ref", "upstream/later"),
        ("rebase s --onto 12345678", "unknown-ref", "nearest names: "),
        ("rebase s --onto upstream/main~1", "unknown-ref", ""),
        ("rebase s --onto HEAD", "unknown-ref", ""),
    ],
)
def test_unknown_names_show_the_nearest(fetched: Stage, line: str, kind: str, near: str) -> None:
    stage = fetched
    message = refuses(stage, *line.split(), code=2)
    assert "\n" not in message
    answer = stage.run(*line.split(), "--json", code=2) if "new" not in line else None
    if answer is not None:
        error = answer.json["error"]
        assert error["kind"] == kind
        assert near in " ".join(error["hints"])


def test_a_pin_that_upstream_no_longer_has_comes_from_a_clone(fetched: Stage) -> None:
    stage, lock = fetched, fetched.root / "upstream.lock"
    clone = stage.clone()
    commit, old_tree = clone.commit({"elsewhere": "1\n"}), stage.upstream.tree(stage.base)
    text = lock.read_text().replace(stage.base, commit).replace(old_tree, clone.tree())
    lock.write_text(text)
    answer = stage.run("branch", "s", code=2)
    message = f"up no longer has the pin {commit} ({commit})"
    assert message in one_line(answer)
    stage.run("upstream", "fetch", "up")
    shown = stage.run("status").out
    assert "pin not in the store\nto see the distance, run: patchmgr upstream fetch up" in shown
    assert f"{message}; if a clone still has it: " in stage.run("upstream", "fetch", "up").err
    (hint,) = (line for line in answer.err.splitlines() if "if a clone still has it" in line)
    words = shlex.split(hint.partition("patchmgr ")[2].replace("CLONE", str(clone.root)))
    stage.run(*words)
    stage.run("branch", "s")


LOCKS: list[Any] = [
    pytest.param(b"format = 'one'\n", "format: expected `int`", id="wrong-type"),
    pytest.param(b"format = 2\n", "written by a newer patchmgr", id="newer"),
    pytest.param(b"", "format is missing", id="empty"),
    pytest.param(b"format = 1\nupstream = 3\n", "upstream: expected `table`", id="table"),
    pytest.param(b"format = 1\n[upstream.x]\ntrack = 3\n", "track: expected `str`", id="text"),
    pytest.param(b"format = 1\n<<<<<<< ours\n", "is not valid TOML", id="conflict"),
    pytest.param(b"format = 1\n[series.s]\nupstream='x'\n", "pin is missing", id="no-pin"),
    pytest.param(b"\xff", "not UTF-8", id="bytes"),
    pytest.param(b"[" * 100_000, "", id="nested"),
]
COMMANDS = ["status", "series list", "series show s", "rebase --onto v1", "branch s", "report s",
            "upstream list", "upstream fetch", "verify s --to ."]  # fmt: skip


@table(("content", "words"), LOCKS)
def test_a_broken_lock_is_an_error_in_one_line(stage: Stage, content: bytes, words: str) -> None:
    lock(stage).write_bytes(content)
    for command in COMMANDS:
        message = refuses(stage, *command.split())
        assert words in message
        assert "upstream.lock" in message
    error = stage.run("status", "--json", code=1).json["error"]
    assert error["kind"] == "bad-lock" and error["hints"]


@table(
    ("content", "words"),
    {
        "outside": (b"../x\n", "line 1"),
        "twice": (b"fork-one.patch\nfork-one.patch\n", "line 2"),
        "missing": (b"none.patch\n", "series/s/none.patch, which the series lists, is missing"),
        "option": (b"fork-one.patch --odd\n", "line 1"),
        "no-file": (None, "series/s/series cannot be read"),
        "fifo": ("fifo", "must be a regular file"),
        "folder": ("folder", "must be a regular file"),
    },
)
def test_a_broken_series_is_told(stage: Stage, content: bytes | str | None, words: str) -> None:
    path = stage.root / "series/s/series"
    path.unlink(missing_ok=True)
    if content == "fifo":
        os.mkfifo(path)
    elif content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    for command in ("series show s", "rebase --onto upstream/main", "branch s", "report s"):
        message = one_line(stage.run(*command.split(), code=1))
        assert words in message
        error = stage.run(*command.split(), "--json", code=1).json["error"]
        assert error["message"] == message


def test_status_says_how_far_upstream_is(stage: Stage) -> None:
    shown = stage.run("status").out
    assert "distance unknown\nto see the distance, run: patchmgr upstream fetch up\n" in shown
    stage.run("upstream", "fetch")
    assert stage.run("status").out.splitlines()[1].endswith("2 patches  up to date")
    upstream = Repository(stage.folder / "own")
    base = plant(upstream, {"a": "x\n"}, "x")
    stage.run("upstream", "add", "own", "--git", upstream.root)
    stage.run("series", "new", "own", "--upstream", "own", "--base", base)
    for number in (1, 2):
        tip = plant(upstream, {"a": f"{number}\n"}, "more")
        stage.run("upstream", "fetch", "own")
        behind = f"{number} commit{'s' if number > 1 else ''} behind {tip[:12]}"
        assert stage.run("status").out.splitlines()[1].endswith(f"0 patches  {behind}")
    found = stage.run("status", "--json").json["series"][0]
    assert (found["behind"], found["unit"], found["tip"]) == (2, "commits", tip)


def test_status_says_what_is_applied_where(stage: Stage) -> None:
    one, two = stage.clone("one"), stage.clone("two")
    stage.run("apply", "s", "--to", one.root)
    stage.run("apply", "s", "--to", two.root, "--commit")
    last = stage.run("status").out.splitlines()[-2:]
    assert last == [f"s is applied in {each.root}: all patches" for each in (one, two)]
    (one.root / "pkg/a.py").write_text("mine\n")
    (stage.root / "series/s/series").write_text("fork-one.patch\n")
    last = stage.run("status").out.splitlines()[-2:]
    assert last == [
        f"s is applied in {one.root}: 1 file differs from what was applied",
        f"s is applied in {two.root}: an older state of the series",
    ]  # fmt: skip
    found = stage.run("status", "--json").json["applied"]
    assert [(a["sound"], a["current"]) for a in found] == [(False, False), (False, False)]
    one.root.rename(stage.folder / "away")
    stage.run("unapply", "s", "--to", two.root)
    assert "is in" not in stage.run("status").out


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_PATIENCE", 0.1)


@pytest.mark.usefixtures("impatient")
def test_who_is_at_work_is_named_and_a_journal_is_theirs_to_finish(stage: Stage) -> None:
    with Workspace(stage.root).writing():
        message = refuses(stage, "upstream", "add", "x", "--package", "x")
        assert message == f"another patchmgr (process {os.getpid()}) is running in {stage.root}"
        stage.run("branch", "s")
        (stage.root / ".patchmgr/journal.json").write_text("{}")
        assert "is running in" in refuses(stage, "status")


@pytest.mark.parametrize(
    "name", ["lock", "journal.json", "staging", "targets", "rebase", "log", "log/contents", ""]
)
def test_links_among_the_private_files_lead_nowhere(stage: Stage, name: str) -> None:
    """A workspace may come from a stranger, private files and all."""
    outside = stage.folder / "outside"
    if name in ("lock", "journal.json"):
        outside.write_text("mine\n")
    else:
        outside.mkdir()
        (outside / "mine").write_text("mine\n")
    private = stage.root / ".patchmgr"
    shutil.rmtree(private)
    if name:
        (private / name).parent.mkdir(parents=True)
    (private / name if name else private).symlink_to(outside)
    before = picture(stage.folder, without=("workspace", "cache", ".git"))
    onto = stage.upstream.git("rev-parse", "collides")
    box = stage.folder / "box.mbox"
    box.write_bytes(stage.upstream.patches("main..later"))
    checkout = stage.clone()
    for line in (
        ("status",),
        ("import", box, "--series", "s"),
        ("rebase", "s", "--onto", onto),
        ("series", "new", "t", "--upstream", "up", "--base", onto),
        ("apply", "s", "--to", checkout.root),
    ):
        assert invoke("-C", stage.root, *line).code in (0, 1, 3), line
    after = picture(stage.folder, without=("workspace", "cache", ".git", "checkout"))
    assert {p: f for p, f in after.items() if p != "box.mbox"} == before


def journal(**changes: Any) -> bytes:
    whole: dict[str, Any] = {"files": [], "refs": [], "spent": []}
    return json.dumps({**whole, **changes}).encode()


@table(
    "content",
    {
        "torn": b"{",
        "list": b"[]",
        "outside": journal(files=[["../x", ".patchmgr/staging/0"]]),
        "dots": journal(files=[["series/../../x", ".patchmgr/staging/0"]]),
        "absolute": journal(files=[["/tmp/x", None]]),
        "git": journal(files=[[".git/config", ".patchmgr/staging/0"]]),
        "below": journal(files=[["series/.git/config", ".patchmgr/staging/0"]]),
        "not-ours": journal(files=[["mine", None]]),
        "staged-outside": journal(files=[["series/x", "../../outside"]]),
        "staged-elsewhere": journal(files=[["series/x", "upstream.lock"]]),
        "short": journal(files=[["series/x"]]),
        "numbers": journal(files=[[3, 4]]),
        "ref": journal(refs=[["/", "refs/heads/main", "1" * 40, None]]),
        "id": journal(refs=[["/", "refs/heads/patchmgr/x", "x\n", None]]),
        "two-refs": journal(refs=[["/", "refs/heads/patchmgr/x\nupdate refs/x", "1" * 40, None]]),
        "spent": journal(spent=["../x"]),
    },
)
def test_a_journal_that_a_stranger_wrote_is_not_believed(stage: Stage, content: bytes) -> None:
    (stage.folder / "outside").write_text("mine\n")
    (stage.folder / "x").write_text("mine\n")
    (stage.root / "mine").write_text("mine\n")
    (stage.root / ".patchmgr/staging").mkdir(parents=True, exist_ok=True)
    (stage.root / ".patchmgr/staging/0").write_text("theirs\n")
    (stage.root / ".patchmgr/journal.json").write_bytes(content)
    with unchanged(stage.folder, without=("cache", ".patchmgr")):
        answer = stage.run("status", code=1)
        assert one_line(answer) in (
            ".patchmgr/journal.json cannot be read", answer.err.splitlines()[0][10:]
        )  # fmt: skip


def test_a_journal_names_no_repository_but_a_store(stage: Stage) -> None:
    victim = stage.clone("victim")
    victim.git("update-ref", "refs/heads/patchmgr/s", stage.base)
    ref = [str(victim.root / ".git"), "refs/heads/patchmgr/s", None, None]
    (stage.root / ".patchmgr").mkdir(exist_ok=True)
    (stage.root / ".patchmgr/journal.json").write_bytes(journal(refs=[ref]))
    stage.run("status")
    assert victim.git("rev-parse", "patchmgr/s") == stage.base


def test_what_a_killed_run_left_in_the_cache_goes_a_day_later(stage: Stage) -> None:
    store = next((stage.folder / "cache/patchmgr/stores").iterdir())
    ages = {"scratch-old": 90_000, "scratch-held": 90_000, "scratch-new": 60, "other": 90_000}
    for name, age in ages.items():
        (store / "tmp" / name).mkdir(parents=True)
        (store / "tmp" / name / "file").write_text("x")
        then = time.time() - age
        os.utime(store / "tmp" / name, (then, then))
    held = os.open(store / "tmp/scratch-held", os.O_RDONLY)  # by a run that slept
    fcntl.flock(held, fcntl.LOCK_SH)
    stage.run("branch", "s")
    os.close(held)
    assert {path.name for path in (store / "tmp").iterdir()} == ages.keys() - {"scratch-old"}


@table(
    "moment",
    {
        "before-it-begins": "typer.main.get_command",
        "while-it-runs": "patchmgr.commands.status.status",
        "while-it-ends": "patchmgr.services.session.Session.close",
    },
)
def test_interrupts_end_in_130(stage: Stage, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(moment, interrupted)
        answer = stage.run("status", code=130)
    assert Given.session is not None
    Given.session.close()  # what the end of the process would
    assert "Interrupted" in answer.err


def test_an_interrupt_while_modules_are_loaded_is_not_a_fault(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    line = [sys.executable, "-m", "patchmgr", "status"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "\nInterrupted. Nothing was left half done.\n"


def test_a_fault_of_ours_is_told_as_one(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("patchmgr.commands.status.status", broken)
    answer = stage.run("status", code=70)
    assert "ZeroDivisionError" in answer.err
    assert "Python 3." in answer.err


def test_a_file_the_system_refuses_is_no_bug(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/some/where")

    monkeypatch.setattr("patchmgr.commands.status.status", refused)
    assert one_line(stage.run("status", code=1)) == "/some/where: Permission denied"


@table(
    "line",
    ["frobnicate", "rebase", "rebase --onto", "apply s", "verify s", "unapply s", "series new",
     "import --series s", "upstream add", "report --format x",
     "rebase --abort --continue", "apply s --to . --odd"],
)  # fmt: skip
def test_wrong_words_are_usage_errors(stage: Stage, line: str) -> None:
    answer = stage.run(*line.split(), code=2)
    assert answer.err.startswith("patchmgr: ")
    assert "Traceback" not in answer.err


def test_a_group_alone_prints_its_help(run: Run) -> None:
    answer = run("series", code=2)
    assert answer.err.splitlines()[0].startswith("Usage: ")
    assert any(line.split()[:1] == ["new"] for line in answer.err.splitlines())
