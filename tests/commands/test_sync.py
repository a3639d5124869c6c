"""`sync`: one branch and one pull request, with real remotes and a recorded `gh`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from patchmgr.plumbing import committing, pull_requests
from patchmgr.render.markdown_text import LIMIT
from patchmgr.services import patch_repository
from tests.commands import gh
from tests.commands.conftest import SCENE, Scene
from tests.commands.scenes import picture, text
from tests.commands.test_rebase import fork, workspace_files
from tests.conftest import Repository, once
from tests.tables import table

BRANCH, BADGE = "refs/heads/patchmgr/sync-s", "refs/heads/patchmgr/badge-s"


class Server:
    """The remote of the workspace, and what a recorded gh has and was asked about it."""

    def __init__(self, place: Path, remote: Repository) -> None:
        self.place, self.remote = place, remote

    def refs(self) -> dict[str, str]:
        rows = self.remote.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(row.split(" ") for row in rows)

    @property
    def pulls(self) -> Any:
        return json.loads((self.place / "pulls").read_text())

    @property
    def asked(self) -> list[Any]:
        """Return method, path and what was sent of each call that changed something."""
        lines = (self.place / "asked").read_text().splitlines()
        return [row[1:] for row in map(json.loads, lines) if row[1] != "GET"]

    def refuse(self, said: str, methods: str = "POST PATCH") -> None:
        (self.place / "says").write_text(said)
        (self.place / "refuses").write_text(methods)

    def allow(self) -> None:
        (self.place / "says").unlink()


@pytest.fixture
def remote(scene: Scene, tmp_path: Path) -> Repository:
    """Return the remote of a workspace with two patches, committed and pushed."""

    def make() -> None:
        fork(scene, {"a": text(l10="one\n")}, {"b": "two\n"}, on={"a": text()})
        own = Repository(scene.root)
        own.git("add", "--all")
        own.git("commit", "--quiet", "-m", "patches")

    once("sync", scene.root.parent, SCENE, make)
    own = Repository(scene.root, is_there=True)
    own.git("clone", "--quiet", "--bare", ".", str(tmp_path / "remote.git"))
    own.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    return Repository(tmp_path / "remote.git", is_there=True)


@pytest.fixture
def server(remote: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    place = tmp_path / "server"
    place.mkdir()
    (place / "pulls").write_text("[]")
    for name in ("gh", "glab"):
        program = place / name
        line = f'exec {sys.executable} -I -S {gh.__file__} {place} {name} "$@"'
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")

    def here(line: list[str], **given: Any) -> subprocess.CompletedProcess[bytes]:
        try:
            found = gh.answer(place, line[0], line[1:], given["input"])
        except SystemExit as end:
            return subprocess.CompletedProcess(line, 1, b"", str(end.code).encode())
        return subprocess.CompletedProcess(line, 0, json.dumps(found).encode(), b"")

    # It takes longer to start than a sync takes; what a process of its own asks does start it.
    asked = SimpleNamespace(run=here, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr(pull_requests, "subprocess", asked)
    return Server(place, remote)


def sync(scene: Scene, *words: str, code: int = 0) -> Any:
    line = ("sync", "s", "--push", "origin", "--pull-request", "gh", *words)
    return scene.call(*line, "--json", code=code).json


def merge(scene: Scene) -> None:
    """Take what is proposed, as a person does on the server, and go on from there."""
    own = Repository(scene.root, is_there=True)
    own.git("fetch", "--quiet", "origin")
    own.git("reset", "--quiet", "--hard", "origin/patchmgr/sync-s")
    own.git("push", "--quiet", "origin", "HEAD:main")


def conflict(scene: Scene) -> None:
    """Let upstream go on for six commits, of which the fourth breaks the first patch."""
    for number, edits in enumerate(({"l40": "x\n"}, {}, {}, {"l10": "theirs\n"}, {}, {}), 1):
        files = {"a": text(**edits)} if edits else {f"c{number}": "x\n"}
        scene.upstream.commit(files, f"upstream: {number}" + " (#7)" * (number == 4))


def test_what_carries_is_a_branch_and_the_workspace_stays(scene: Scene, server: Server) -> None:
    tip = scene.upstream.commit({"a": text(l2="theirs\n\n")})
    before, head = picture(scene.root), Repository(scene.root, is_there=True).head()
    found = sync(scene)
    assert picture(scene.root) == before
    assert (found["state"], found["warnings"], found["orders"]) == ("carried", [], [])
    assert [one["standing"] for one in found["branches"]] == ["pushed", "pushed"]
    assert found["pull_request"] == {
        "done": "opened", "number": 1, "url": "https://example.org/pull/1", "reason": "",
    }  # fmt: skip
    assert server.remote.git("rev-parse", f"{BRANCH}^") == head
    merge(scene)
    scene.call("rebase", "s", "--onto", tip, "--dry-run")
    lock = (scene.root / "upstream.lock").read_text()
    assert f'commit = "{tip}"' in lock and 'ref = "upstream/main"' in lock
    (pull,) = server.pulls
    assert pull["title"] == f"s: sync to upstream/main {tip[:12]}"
    assert "1 commit: rebases cleanly onto upstream/main" in pull["body"]


def test_nothing_is_pushed_if_the_result_cannot_be_written(
    scene: Scene, server: Server, tmp_path: Path
) -> None:
    conflict(scene)
    (tmp_path / "out").write_text("a file")
    error = sync(scene, "--output", str(tmp_path / "out"), code=1)["error"]
    assert (error["kind"], BRANCH in server.refs()) == ("unwritable", False)


def test_as_far_as_it_goes_and_a_work_order(scene: Scene, server: Server, tmp_path: Path) -> None:
    conflict(scene)
    out = tmp_path / "out"
    found = sync(scene, "--output", str(out), code=3)
    assert (found["state"], found["commits"]) == ("conflicts", 6)
    assert [(s["commits"], s["breaking"] is None) for s in found["steps"]] == [
        (3, True), (1, False),
    ]  # fmt: skip
    (order,) = found["orders"]
    assert (order["patch"], order["path"]) == ("fork-change-1.patch", "a")
    (check,) = (sent for _, path, sent in server.asked if path.endswith("check-runs"))
    assert (check["conclusion"], check["head_sha"]) == ("neutral", server.refs()[BRANCH])
    (pull,) = server.pulls
    assert pull["title"].endswith(f"1 conflict before upstream/main {scene.upstream.head()[:12]}")
    assert "#&#8203;7" in pull["body"] and "candidate 1" in pull["body"]
    assert "lines 2 added: 1 carried, 1 in conflict" in pull["body"]
    assert {path.name for path in out.iterdir()} == {
        "sync.json", "sync.md", "annotations", "report.html",
    }  # fmt: skip
    assert json.loads((out / "sync.json").read_text()) == found
    assert f"<h4>Conflict {order['id']}</h4>" in (out / "report.html").read_text()
    told = (out / "annotations").read_text()
    assert told == (
        f"series/s/fork-change-1.patch:1: warning: conflict {order['id']}: "
        "a: upstream changed the same lines\n"
    )


def test_what_the_first_commit_breaks_is_a_pull_request_too(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"a": text(l10="theirs\n")})
    found = sync(scene, code=3)
    assert [s["breaking"] is None for s in found["steps"]] == [False]
    assert server.remote.tree(BRANCH) == server.remote.tree("main")
    assert len(server.pulls) == 1


def test_nothing_new_is_nothing_pushed_but_the_heartbeat(scene: Scene, server: Server) -> None:
    assert sync(scene)["state"] == "current"
    assert set(server.refs()) - {"refs/heads/main"} == {
        BADGE, "refs/patchmgr/pushed/patchmgr/badge-s",
    }  # fmt: skip
    assert server.pulls == []
    badge = json.loads(server.remote.git("show", "patchmgr/badge-s:badge.json"))
    assert (badge["schemaVersion"], badge["color"]) == (1, "brightgreen")
    again = sync(scene)["branches"]
    assert again[0]["there"] is not None
    (series,) = scene.call("status", "--json").json["series"]
    (remote_name, when) = series["last_sync"]["remote"], series["last_sync"]["time"]
    words = f"nothing to sync; already on upstream/main {scene.upstream.head()[:12]}"
    assert (remote_name, series["last_sync"]["words"]) == ("origin", words)
    assert series["last_sync"]["age"] == pytest.approx(time.time() - when, abs=900)
    assert f"\n  last sync within the last hour: {words} (origin)\n" in scene.call("status").out


def test_a_second_run_changes_nothing_and_asks_nothing_twice(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    sync(scene)
    before = server.refs()[BRANCH]
    found = sync(scene)
    assert [one["standing"] for one in found["branches"]][:1] == ["same"]
    assert (server.refs()[BRANCH], len(server.pulls)) == (before, 1)
    asked = [method for method, path, _ in server.asked if "check-runs" not in path]
    assert asked == ["POST", "PATCH", "PATCH"]


def test_a_dry_run_writes_nowhere(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    before = server.refs()
    found = sync(scene, "--dry-run")
    assert (found["dry_run"], found["pull_request"]["done"]) == (True, "opened")
    assert (server.refs(), server.pulls) == (before, [])
    assert "would be pushed" in scene.call("sync", "--push", "origin", "--dry-run").out
    assert scene.call("sync", "--dry-run", "--json").json["branches"] == []


def test_a_persons_push_stays_and_is_told(scene: Scene, server: Server, tmp_path: Path) -> None:
    scene.upstream.commit({"c": "x\n"})
    sync(scene)
    person = Repository(tmp_path / "person", is_there=True)
    server.remote.git("clone", "--quiet", "--branch", "patchmgr/sync-s", ".", str(person.root))
    theirs = person.commit({"note": "mine\n"}, "a person's")
    person.git("push", "--quiet")
    scene.upstream.commit({"d": "x\n"})
    found = sync(scene)
    assert found["branches"][0]["standing"] == "held"
    assert server.refs()[BRANCH] == theirs
    (warning,) = found["warnings"]
    assert f"patchmgr/sync-s is at {theirs[:12]}, which patchmgr did not push" in warning
    assert f"at {theirs[:12]}" in server.pulls[0]["body"]
    told = "not pushed, because others have pushed to it"
    assert told in scene.call("sync", "--push", "origin").out


def test_a_push_meanwhile(scene: Scene, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.upstream.commit({"c": "x\n"})
    sync(scene)
    scene.upstream.commit({"d": "x\n"})
    push, main = committing.push_refs, server.refs()["refs/heads/main"]

    def late(*words: Any, **options: Any) -> None:
        if words[2][0].name == BRANCH:
            server.remote.git("update-ref", BRANCH, main)
        push(*words, **options)

    monkeypatch.setattr(patch_repository, "push_refs", late)
    found = sync(scene)
    assert (found["branches"][0]["standing"], server.refs()[BRANCH]) == ("held", main)


def test_a_branch_of_that_name_not_pushed_from_here_stays(scene: Scene, server: Server) -> None:
    server.remote.git("update-ref", BRANCH, "refs/heads/main")
    scene.upstream.commit({"c": "x\n"})
    assert sync(scene)["branches"][0]["standing"] == "held"


def test_a_token_without_pull_requests(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    server.refuse("gh: Resource not accessible by integration (HTTP 403)")
    found = sync(scene)
    assert found["pull_request"]["done"] == "refused"
    assert "Resource not accessible by integration" in found["warnings"][0]
    assert "Settings > Actions" in found["warnings"][0]
    assert {BRANCH, BADGE} <= set(server.refs())
    server.allow()
    assert sync(scene)["pull_request"]["done"] == "opened"


def test_a_broken_network_is_a_fault_and_the_next_run_goes_on(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    for said in ("gh: Bad gateway (HTTP 502)", "gh: slow down (HTTP 429)"):
        server.refuse(said)
        error = sync(scene, code=1)["error"]
        assert said in error["message"]
        assert "pushed before that: patchmgr/sync-s; the next run" in error["hints"][-1]
        assert BRANCH in server.refs() and BADGE not in server.refs()
    server.allow()
    assert sync(scene)["pull_request"]["done"] == "opened"


def test_a_remote_that_is_gone_is_a_fault(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    server.remote.root.rename(server.remote.root.with_name("elsewhere"))
    assert "cannot read or move refs" in sync(scene, code=1)["error"]["message"]


def test_a_pull_request_that_a_person_closed_stays_closed(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    sync(scene)
    (server.place / "pulls").write_text(json.dumps([{**server.pulls[0], "state": "closed"}]))
    assert sync(scene)["pull_request"]["done"] == "left closed"
    assert [pull["state"] for pull in server.pulls] == ["closed"]


def test_one_with_nothing_left_is_closed(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    sync(scene)
    scene.call("rebase", "s", "--onto", "upstream/main")
    Repository(scene.root, is_there=True).commit({}, "by hand")
    assert sync(scene)["pull_request"]["done"] == "closed"
    assert [pull["state"] for pull in server.pulls] == ["closed"]


def test_one_of_a_fork_is_somebody_elses(scene: Scene, server: Server) -> None:
    foreign = {
        "number": 1, "html_url": "x", "state": "open", "body": "mine",
        "head": {"repo": {"id": 2}}, "base": {"repo": {"id": 1}},
    }  # fmt: skip
    (server.place / "pulls").write_text(json.dumps([foreign]))
    scene.upstream.commit({"c": "x\n"})
    assert sync(scene)["pull_request"]["number"] == 2
    assert server.pulls[0] == foreign


def test_a_comment_tells_once_which_patches_are_other_ones(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"b": "two\n"}, "upstream: takes it (#5)")
    sync(scene)
    sync(scene)
    comments = [sent["body"] for _, path, sent in server.asked if path.endswith("/comments")]
    (comment,) = comments
    assert "  dropped         fork: change 2\n" in comment


def test_merge_requests_of_gitlab(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"a": text(l10="theirs\n")})
    for done in ("opened", "updated"):
        found = scene.call("sync", "--push", "origin", "--pull-request", "glab", "--json", code=3)
        assert found.json["pull_request"]["done"] == done
    (pull,) = server.pulls
    assert pull["source_branch"] == "patchmgr/sync-s" and "candidate 1" in pull["description"]


def test_the_built_branch_goes_to_the_fork(scene: Scene, server: Server, tmp_path: Path) -> None:
    scene.upstream.git("clone", "--quiet", "--bare", ".", str(tmp_path / "fork.git"))
    fork = Repository(tmp_path / "fork.git", is_there=True)
    conflict(scene)
    to = ("--push-branch", str(fork.root))
    found = sync(scene, *to, code=3)
    head = found["outcomes"][0][0]["head"]
    assert found["branches"][1]["commit"] == head == fork.git("rev-parse", "patchmgr/s")
    fork.git("update-ref", "refs/heads/patchmgr/s", "refs/heads/main")
    scene.upstream.git("reset", "--quiet", "--hard", "HEAD~4")
    assert "patchmgr/s is at" in sync(scene, *to)["warnings"][0]


def test_a_workspace_below_a_shallow_clone(scene: Scene, server: Server, tmp_path: Path) -> None:
    own = Repository(scene.root, is_there=True)
    own.git("mv", "-k", "series", "conflicts", "upstream.lock", "sub/", good=(0, 128))
    whole = Repository(tmp_path / "whole")
    for path, content in workspace_files(scene.root).items():
        if ".git/" not in path:
            whole.commit({f"sub/{path}": content})
    shallow = tmp_path / "shallow"
    whole.git("clone", "--quiet", "--depth=1", f"file://{whole.root}", str(shallow))
    scene.upstream.commit({"c": "x\n"})
    line = ("-C", shallow / "sub", "sync", "--push", "origin", "--json")
    assert scene.run(*line).json["branches"][0]["standing"] == "pushed"
    changed = whole.git("diff", "--name-only", "main", "patchmgr/sync-s")
    assert changed == "sub/upstream.lock"


@table(
    ("words", "told"),
    [
        ((), "name the remote to push to"),
        (("--push", "origin", "--pull-request", "hub"), "--pull-request must be gh, glab or none"),
        (("--push", "origin", "--onto", "v9"), "up has no branch, tag or commit v9"),
        (("--push", "origin", "--push-branch", "ext::sh -c x"), "names a transport that runs"),
        (("--push", "--upload-pack=x"), "is not the name or URL of a remote"),
    ],
)
def test_misuse(words: tuple[str, ...], told: str, scene: Scene, server: Server) -> None:
    scene.upstream.commit({"c": "x\n"})
    assert told in scene.call("sync", "s", *words, code=2).err


def test_a_workspace_that_is_not_as_committed_is_refused(scene: Scene, server: Server) -> None:
    (scene.root / "series/s/new.patch").write_text("x")
    (scene.root / "series/s/series").write_text("# mine\n")
    told = scene.call("sync", "s", "--push", "origin", code=2).err
    assert "series/s/series and 1 more differ from what is committed" in told


def test_a_workspace_in_no_repository_is_refused(scene: Scene) -> None:
    fork(scene, {"a": "one\n"}, on={"a": "x\n"})
    assert "is not in a git repository" in scene.call("sync", "--push", "origin", code=2).err


def test_a_detached_head_needs_a_base(scene: Scene, server: Server) -> None:
    Repository(scene.root, is_there=True).git("checkout", "--quiet", "--detach")
    scene.upstream.commit({"c": "x\n"})
    line = ("sync", "--push", "origin", "--pull-request", "gh")
    assert "no branch is checked out" in scene.call(*line, code=2).err
    assert set(server.refs()) == {"refs/heads/main"}
    assert sync(scene, "--base", "main")["pull_request"]["done"] == "opened"


def test_a_stack_is_synced_as_a_whole(scene: Scene, server: Server) -> None:
    base = scene.call("series", "show", "s", "--json").json["series"]["base"]["commit"]
    scene.call("series", "new", "t", "--upstream", "up", "--base", base, "--on", "s")
    Repository(scene.root, is_there=True).commit({}, "a stack")
    scene.upstream.commit({"c": "x\n"})
    found = scene.call("sync", "t", "--push", "origin", "--json").json
    assert found["series"] == ["s", "t"]
    assert found["branches"][0]["name"] == "patchmgr/sync-s"


def propose(scene: Scene, server: Server, files: dict[str, str]) -> str:
    """Open somebody's pull request, from a fork, and return its head."""
    other = Repository(scene.root.parent / "other", is_there=True)
    server.remote.git("clone", "--quiet", ".", str(other.root))
    head = other.commit(files, "somebody's")
    for kind in ("pull", "merge-requests"):
        other.git("push", "--quiet", "origin", f"HEAD:refs/{kind}/9/head")
    url = "https://example.org/pull/9"
    row = {
        "number": 9, "html_url": url, "state": "open", "body": "", "base": gh.OWN,
        "head": {"repo": {"id": 2}, "ref": "main", "sha": head}, "iid": 9, "web_url": url,
        "description": "", "sha": head, "source_project_id": 2, "target_project_id": 1,
    }  # fmt: skip
    (server.place / "pulls").write_text(json.dumps([row]))
    (server.place / "files").write_text(json.dumps([*files]))
    return head


def move_pin(scene: Scene) -> None:
    scene.call("upstream", "fetch")
    scene.call("rebase", "s", "--onto", "upstream/main")
    own = Repository(scene.root, is_there=True)
    own.commit({}, "the pin moves")
    own.git("push", "--quiet", "origin", "HEAD:main")


def edited(scene: Scene) -> dict[str, str]:
    """Return a patch of the series with another line in it."""
    path = "series/s/fork-change-1.patch"
    return {path: (scene.root / path).read_text().replace("+one", "+uno")}


def said(server: Server) -> Any:
    return gh.own(server.place, "said")


def test_a_pull_request_is_told_once_what_a_moved_pin_means(scene: Scene, server: Server) -> None:
    head = propose(scene, server, edited(scene))
    assert sync(scene)["checks"] == []  # it is on the pin
    tip = scene.upstream.commit({"a": text(l2="theirs\n\n")})
    move_pin(scene)
    assert [one["number"] for one in sync(scene, "--dry-run")["checks"]] == [9]
    assert said(server) == []
    found = sync(scene)
    (check,) = found["checks"]
    assert (check["number"], check["head"], check["fault"]) == (9, head, "")
    assert (check["patches"], found["warnings"]) == ([], [])
    (comment,) = said(server)
    told = f"upstream/main {tip[:12]}: pull request 9 ({head[:12]}) rebases cleanly"
    assert told in comment["body"]
    assert f"`patchmgr rebase s --onto {tip[:12]}`" in comment["body"]
    assert sync(scene)["checks"] == []
    assert said(server) == [comment]
    glab = ("sync", "--push", "origin", "--pull-request", "glab", "--json")
    (server.place / "said").unlink()
    assert scene.call(*glab).json["checks"] == [check]
    assert said(server) == [comment]


def test_the_comment_follows_pin_and_head(scene: Scene, server: Server) -> None:
    head = propose(scene, server, edited(scene))
    scene.upstream.commit({"c": "x\n"})
    move_pin(scene)
    sync(scene)
    before = said(server)
    scene.upstream.commit({"a": text(l10="theirs\n")})
    scene.call("drop", "fork-change-1.patch")
    move_pin(scene)
    found = scene.call("sync", "--push", "origin", "--pull-request", "gh")
    told = "does not rebase cleanly: 1 patch to resolve"
    assert f"pull request 9 ({head[:12]}) {told}" in found.out
    assert f"warning: pull request 9 ({head[:12]}) does not rebase cleanly" in found.err
    (comment,) = said(server)
    assert comment["id"] == before[0]["id"] and comment["body"] != before[0]["body"]
    assert "- conflict `fork-change-1.patch`: a: upstream changed the same lines" in comment["body"]
    (server.place / "files").write_text(json.dumps(["upstream.lock", "series/s/series"]))
    (server.place / "said").unlink()
    assert sync(scene)["checks"] == []  # its pin is its own


def test_a_token_that_may_not_comment(scene: Scene, server: Server) -> None:
    propose(scene, server, edited(scene))
    scene.upstream.commit({"c": "x\n"})
    move_pin(scene)
    server.refuse("gh: Resource not accessible by integration (HTTP 403)")
    found = sync(scene)
    assert "was not checked: gh: Resource not accessible" in found["warnings"][0]
    assert BADGE in server.refs()


HOSTILE = "@someone ::error::x ##[set-output a] Fixes other/repo#1 <b>`x` ![](https://e.org/x)"


def test_foreign_text_is_text(scene: Scene, server: Server) -> None:
    scene.upstream.commit({"a": text(l10="theirs\n"), "::error::x": "x"}, HOSTILE)
    sync(scene, code=3)
    body = server.pulls[0]["body"]
    outside = "".join(body.split("```")[::2])
    for word in ("@someone", "repo#1", "<b>", "![](", "https://e"):
        assert word not in outside.replace("`@someone", ""), word
    assert len(body) <= LIMIT
