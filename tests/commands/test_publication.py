"""`branch --sign --signoff --committer me --push`: a branch as its user publishes it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from patchmgr.plumbing.committing import remote_refs
from tests.commands.conftest import Answer
from tests.commands.scenes import Stage, one_line
from tests.conftest import Repository
from tests.tables import table

ME = "M. Éntainer <me@example.org>"


@pytest.fixture
def clone(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Repository:
    clone = stage.clone()
    clone.git("config", "user.name", "M. Éntainer")
    clone.git("config", "user.email", "me@example.org")
    for name in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL", "DATE"):
            monkeypatch.delenv(f"GIT_{name}_{part}", raising=False)
    return clone


@pytest.fixture
def remote(stage: Stage, clone: Repository) -> Repository:
    place = stage.folder / "remote"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", "--template=", str(stage.upstream.root), str(place)],
        check=True,
    )
    clone.git("remote", "add", "mine", str(place))
    return Repository(place, is_there=True)


def branch(stage: Stage, clone: Repository, *options: str, code: int = 0) -> Answer:
    return stage.run("branch", "s", "--repo", clone.root, "--name", "x", *options, code=code)


def head(stage: Stage, clone: Repository, *options: str) -> str:
    return str(branch(stage, clone, *options, "--json").json["head"])


def shown(clone: Repository, form: str, commits: str = "x") -> list[str]:
    return clone.git("log", "-2", f"--format={form}", commits).splitlines()


def test_the_committer_is_the_user_now_and_the_author_stays(
    stage: Stage, clone: Repository
) -> None:
    plain = head(stage, clone, "--name", "plain")
    mine = head(stage, clone, "--committer", "me")
    assert mine != plain
    assert shown(clone, "%cn <%ce>") == [ME, ME]
    assert "Éntainer" not in "".join(shown(clone, "%cn", "plain"))
    assert shown(clone, "%an %ae %ad %s") == shown(clone, "%an %ae %ad %s", "plain")
    assert clone.tree("x") == clone.tree("plain")
    # It is ours, though another committer stands there: it may be replaced, and compared.
    assert head(stage, clone) == plain
    rows = stage.run("diff", "s", "--from", mine, "--repo", clone.root, "--json").json
    assert {row["sameness"] for row in rows["patches"]} == {"byte-identical"}


def test_a_sign_off_is_added_once(stage: Stage, clone: Repository) -> None:
    first = head(stage, clone, "--signoff")
    assert shown(clone, "%(trailers:key=Signed-off-by,valueonly,separator=|)") == [ME, ME]
    assert head(stage, clone, "--signoff") == first
    folder = stage.root / "series/s"
    for path in folder.glob("*.patch"):
        raw = path.read_text()
        path.write_text(raw.replace("\n---\n", f"\nSigned-off-by: {ME}\n---\n", 1))
    head(stage, clone, "--signoff")
    assert shown(clone, "%(trailers:key=Signed-off-by,valueonly,separator=|)") == [ME, ME]


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")
def test_commits_are_signed_as_the_configuration_says(stage: Stage, clone: Repository) -> None:
    key = stage.folder / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", str(key)], check=True
    )
    allowed = stage.folder / "allowed"
    allowed.write_text(f"me@example.org {key.with_suffix('.pub').read_text()}")
    clone.git("config", "gpg.format", "ssh")
    clone.git("config", "user.signingkey", str(key))
    clone.git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    before = clone.git("count-objects")
    stage.run("branch", "s", "--repo", clone.root, "--name", "x", "--sign", "--dry-run")
    assert clone.git("count-objects") == before
    head(stage, clone, "--sign", "--committer", "me", "--signoff")
    assert shown(clone, "%G? %cn") == ["G M. Éntainer", "G M. Éntainer"]
    clone.git("fsck", "--strict")
    clone.git("config", "user.signingkey", str(stage.folder / "none"))
    message = one_line(branch(stage, clone, "--sign", code=1))
    assert message.startswith("git cannot sign the commit")


def test_who_the_user_is_must_be_known(stage: Stage, clone: Repository) -> None:
    clone.git("config", "--unset", "user.email")
    clone.git("config", "--unset", "user.name")
    assert "does not know who you are" in one_line(
        branch(stage, clone, "--committer", "me", code=1)
    )
    assert "must be 'me'" in one_line(branch(stage, clone, "--committer", "you", code=2))


def test_a_branch_is_pushed_and_replaced_when_it_is_ours(
    stage: Stage, clone: Repository, remote: Repository
) -> None:
    dry = branch(stage, clone, "--push", "mine", "--dry-run").out
    assert "would be pushed to mine" in dry
    assert remote.git("branch", "--list", "x") == ""
    first = head(stage, clone, "--push", "mine", "--tag", "t1")
    assert remote.git("rev-parse", "x") == first == remote.git("rev-parse", "t1^{commit}")
    assert clone.git("rev-parse", "refs/remotes/mine/x") == first
    series = stage.root / "series/s/series"
    series.write_text(series.read_text().splitlines()[0] + "\n")
    second = head(stage, clone, "--push", "mine", "--tag", "t2", "--committer", "me")
    assert remote.git("rev-parse", "x") == second != first
    fallback = remote.git("tag", "--list", "x-fallback-*")
    assert remote.git("rev-parse", fallback) == first
    third = head(stage, clone, "--push", "mine")
    assert remote.git("rev-parse", "x") == third not in (first, second)


def test_a_remote_may_be_relative_to_the_work_tree(
    stage: Stage, clone: Repository, remote: Repository
) -> None:
    clone.git("remote", "set-url", "mine", f"../{remote.root.name}")
    assert head(stage, clone, "--push", "mine") == remote.git("rev-parse", "x")


def test_what_somebody_else_pushed_is_not_replaced(
    stage: Stage, clone: Repository, remote: Repository
) -> None:
    head(stage, clone, "--push", "mine")
    remote.git("update-ref", "refs/heads/x", stage.base)
    series = stage.root / "series/s/series"
    series.write_text(series.read_text().splitlines()[0] + "\n")
    before = clone.git("for-each-ref")
    message = one_line(branch(stage, clone, "--push", "mine", code=2))
    assert f"mine has x at {stage.base[:12]}, which patchmgr did not put there" in message
    assert clone.git("for-each-ref") == before
    assert head(stage, clone, "--push", "mine", "--force") == remote.git("rev-parse", "x")


def test_a_remote_that_moves_meanwhile_is_not_overwritten(
    stage: Stage, clone: Repository, remote: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def races(git_dir: Path, name: str, refs: Sequence[str]) -> Mapping[str, str]:
        found = remote_refs(git_dir, name, refs)
        remote.git("update-ref", "refs/heads/x", stage.base)
        return found

    monkeypatch.setattr("patchmgr.commands.branch.remote_refs", races)
    before = clone.git("for-each-ref")
    message = one_line(branch(stage, clone, "--push", "mine", code=1))
    assert message.startswith("cannot read or move refs of mine: ")
    assert clone.git("for-each-ref") == before
    assert remote.git("rev-parse", "x") == stage.base


@table(
    ("remote_name", "in_clone", "code", "words"),
    [
        ("nowhere", True, 1, "cannot read or move refs of nowhere"),
        ("mine", False, 2, "there is no git repository at mine"),
        ("ext::sh -c true", False, 2, "runs a command"),
        ("--exec=x", True, 2, "is not the name or URL of a remote"),
    ],
)
def test_where_it_cannot_be_pushed(
    stage: Stage, clone: Repository, remote_name: str, in_clone: bool, code: int, words: str
) -> None:
    place: tuple[str | Path, ...] = ("--repo", clone.root) if in_clone else ()
    answer = stage.run("branch", "s", "--name", "x", *place, f"--push={remote_name}", code=code)
    assert words in one_line(answer)


def test_the_store_can_push_to_a_url(
    stage: Stage, remote: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Me")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "me@example.org")
    options = ("--name", "x", "--push", remote.root, "--signoff", "--json")
    found = stage.run("branch", "s", *options).json
    assert remote.git("rev-parse", "x") == found["head"]
    assert remote.git("rev-list", "--count", f"{stage.base}..x") == "2"


def test_a_store_that_lacks_contents_names_what_to_push_from(stage: Stage) -> None:
    stage.upstream.git("checkout", "--quiet", "-B", "main", stage.base)
    bases = [stage.upstream.commit({"old": f"{number}\n"}) for number in range(3)]
    far, empty = stage.folder / "far", stage.folder / "empty"
    stage.upstream.git("clone", "--quiet", "--bare", ".", str(far))
    stage.run("upstream", "add", "far", "--git", far)
    stage.run("series", "new", "t", "--upstream", "far", "--base", bases[-1])
    stage.run("import", stage.root / "series/s", "--series", "t")
    stage.upstream.git("init", "--quiet", "--bare", str(empty))
    push = ("branch", "t", "--push", empty.as_uri())
    refused = stage.run(*push, code=1).err
    assert "a clone that has all contents: patchmgr branch SERIES --repo CLONE" in refused
    stage.run(*push, "--repo", stage.upstream.root)
