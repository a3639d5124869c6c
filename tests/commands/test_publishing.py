"""`notes`, `diff`, `why`, tags and what recognises them: what a maintainer publishes."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from patchmgr.plumbing.committing import remote_refs
from patchmgr.plumbing.stores import move_refs
from tests.commands.conftest import Answer, Scene
from tests.commands.scenes import Stage, one_line, own_ref, plant, text
from tests.conftest import Repository
from tests.tables import table

A = "".join(f"line {n}\n" for n in range(40))
HEADER = "\n\nWhy.\n\nDrop-When: never\n"


def build(scene: Scene) -> tuple[str, str]:
    """Make a series of three patches: one lands upstream, one collides, one stays as it is."""
    scene.once("publishing", lambda: _build(scene))
    return scene.upstream.git("rev-parse", "main~3"), scene.upstream.head()


def _build(scene: Scene) -> None:
    base = scene.upstream.commit({"pkg/a.py": A, "pkg/b.py": A, "csrc/k.cu": A}, "start")
    with scene.upstream.at("-b", "fork"):
        landed = A.replace("line 5\n", "five\n")
        scene.upstream.commit({"pkg/a.py": landed}, f"fix five{HEADER}")
        scene.upstream.commit({"pkg/b.py": A.replace("line 9\n", "nine\n")}, f"edit nine{HEADER}")
        scene.upstream.commit({"csrc/k.cu": A.replace("line 3\n", "three\n")}, f"kernel{HEADER}")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    scene.upstream.commit({"pkg/a.py": landed}, "fix five (#12)")
    scene.upstream.commit({"pkg/b.py": A.replace("line 30\n", "thirty\n")}, "thirty (#13)")
    scene.upstream.commit({"other.txt": "x\n"}, "elsewhere (#14)")


def notes(scene: Scene, *arguments: str) -> Any:
    return scene.call("notes", "s", "--json", *arguments).json["series"]


def test_a_note_says_what_came_what_went_and_what_stayed(scene: Scene) -> None:
    base, onto = build(scene)
    scene.rebase("s", "--onto", onto)
    note = notes(scene)
    assert (note["base"]["commit"], note["onto"]["commit"]) == (base, onto)
    assert note["upstream_commits"] == 3
    assert [p["verdict"] for p in note["patches"]] == ["absorbed", "unchanged", "unchanged"]
    (dropped,) = note["dropped"]
    assert (dropped["patch"], dropped["by"][0]["pull"]) == ("fix-five.patch", 12)
    brought = [c["pull"] for group in note["brought"] for c in group["commits"]]
    assert brought == [13]
    assert note["identical"] == [{"language": "CUDA", "path": "csrc/k.cu"}]
    assert [f["path"] for f in note["changed"]] == ["pkg/b.py"]
    text = scene.call("notes", "s").out
    assert "3 upstream commits came in" in text
    assert "#12 fix five" in text


def test_a_note_on_a_sync_that_is_not_made_writes_nothing(scene: Scene) -> None:
    base, onto = build(scene)
    before = (scene.root / "upstream.lock").read_bytes()
    note = notes(scene, "--from", base, "--to", onto)
    assert note["dry_run"]
    assert (scene.root / "upstream.lock").read_bytes() == before
    assert [p["verdict"] for p in note["patches"]] == ["absorbed", "unchanged", "unchanged"]


def test_a_note_on_what_a_rebase_would_do_is_about_the_patches_as_they_are(scene: Scene) -> None:
    base, onto = build(scene)
    scene.rebase("s", "--onto", onto)
    scene.call("undo")
    scene.rebase("s", "--onto", onto, "--dry-run")
    scene.call("drop", "kernel")
    note = notes(scene, "--from", base, "--to", onto)
    assert note["dry_run"]
    assert [p["name"] for p in note["patches"]] == ["fix-five.patch", "edit-nine.patch"]


def test_a_clone_without_facts_says_what_the_lock_knows(scene: Scene) -> None:
    base, onto = build(scene)
    scene.rebase("s", "--onto", onto)
    (scene.root / ".patchmgr/syncs/s.json").unlink()
    note = notes(scene)
    assert not note["complete"]
    assert [d["by"][0]["pull"] for d in note["dropped"]] == [12]
    scene.call("notes", "s", "--from", onto, "--to", base, code=0)
    scene.call("notes", "s", "--from", "nothing", code=2)


def test_a_solved_conflict_is_told_with_how_it_was_solved(scene: Scene) -> None:
    base = scene.upstream.commit({"a.txt": A}, "start")
    with scene.upstream.at("-b", "fork"):
        scene.upstream.commit({"a.txt": A.replace("line 5\n", "ours\n")}, f"five{HEADER}")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    onto = scene.upstream.commit({"a.txt": A.replace("line 5\n", "theirs\n")}, "other (#7)")
    scene.rebase("s", "--onto", onto, code=3)
    (conflict,) = notes(scene, "--from", base, "--to", onto)["conflicts"]
    assert conflict["open"]
    assert [c["pull"] for c in conflict["collided"]] == [7]
    folder = scene.root / ".patchmgr/rebase"
    answer = scene.call("status", "--json").json
    (waiting,) = answer["unfinished"]["waiting"]
    work = folder / "s/five.patch/a.txt"
    assert waiting == "s/five.patch: a.txt"
    work.write_text(A.replace("line 5\n", "theirs\nours\n"))
    scene.rebase("--continue")
    (conflict,) = notes(scene)["conflicts"]
    assert not conflict["open"]
    assert conflict["path"] == "a.txt"
    assert conflict["solution"] == "both changes were kept"


def store(stage: Stage) -> Repository:
    folder = next((stage.folder / "cache/patchmgr/stores").glob("upstream-*.git"))
    return Repository(folder, is_there=True)


def test_a_tag_says_what_it_is_and_is_recognised(stage: Stage) -> None:
    first = stage.run("branch", "s", "--tag", "one", "--json").json
    message = store(stage).git("cat-file", "tag", own_ref(stage.root, "refs/tags/one"))
    assert "Patchmgr-Series: s" in message
    assert f"Patchmgr-Base: {stage.base}" in message
    assert "Gates: not run on this state" in message
    found = stage.run("status", "--of", "one", "--json").json["of"]
    assert (found["series"], found["current"], found["tags"]) == ("s", True, ["one"])
    assert found["commit"] == first["head"]
    part = stage.run("status", "--of", f"{first['head']}", "--json").json["of"]
    assert part["position"] == 2
    stage.run("status", "--of", "nothing", code=2)
    other = stage.run("status", "--of", stage.base, "--json").json["of"]
    assert other["series"] is None
    stage.series(stage.upstream.patches("main..fork~1"))
    found = stage.run("status", "--of", "one", "--json").json["of"]
    assert (found["series"], found["current"], found["position"]) == ("s", False, None)


def test_the_head_that_is_replaced_keeps_a_tag(stage: Stage) -> None:
    clone = stage.clone()
    first = stage.run("branch", "s", "--repo", clone.root, "--tag", "one", "--json").json
    stage.series(stage.upstream.patches("main..fork~1"))
    second = stage.run("branch", "s", "--repo", clone.root, "--tag", "two", "--json").json
    assert clone.git("rev-parse", second["fallback"]) == first["head"]
    again = stage.run("branch", "s", "--repo", clone.root, "--tag", "two", "--json").json
    assert again["fallback"] is None
    arguments = ("diff", "s", "--from", second["fallback"], "--to", "two", "--repo", clone.root)
    found = stage.run(*arguments, "--json").json
    assert [p["sameness"] for p in found["patches"]] == ["byte-identical", "dropped"]
    assert "bytes" in found["different"]
    assert "pkg/a.py" in found["identical"]
    assert "1 byte-identical, 1 dropped" in stage.run(*arguments).out


def test_a_moved_patch_is_told_from_a_changed_one(scene: Scene) -> None:
    _, onto = build(scene)
    scene.call("branch", "s", "--tag", "before")
    scene.rebase("s", "--onto", onto)
    found = scene.call("diff", "s", "--from", "before", "--json").json
    same = {p["subject"]: p["sameness"] for p in found["patches"]}
    assert same == {
        "fix five": "dropped",
        **dict.fromkeys(("edit nine", "kernel"), "byte-identical"),
    }


def test_a_claim_is_written_among_the_claims_alone(stage: Stage) -> None:
    stage.run("branch", "s", "--tag", "one")
    settings = stage.root / "series/s/series.toml"
    others = '"b" = """\nupstream"""\n[subsystems]\n"pkg/a.py" = ["pkg"]\n'
    head = '[paths]\n"pkg/a.py" = "a.py"\n[claims]  # ours\n'
    for known in ("", "'pkg/a.py' = 'upstream'\n"):
        settings.write_text(head + known + others)
        stage.run("diff", "s", "--from", "one", "--hold", "pkg/a.py")
        claim, rest = settings.read_text().removeprefix(head).split("\n", 1)
        assert claim.startswith('"pkg/a.py" = "sha256:')
        assert rest == others


def test_held_bytes_are_checked_from_then_on(stage: Stage) -> None:
    stage.run("branch", "s", "--tag", "one")
    held = ("diff", "s", "--from", "one", "--hold", "pkg/a.py")
    stage.run(*held, "--dry-run")
    assert not (stage.root / "series/s/series.toml").exists()
    stage.run(*held)
    stage.run(*held)
    assert (stage.root / "series/s/series.toml").read_text().count("pkg/a.py") == 1
    gates = json.loads(stage.run("check", "s", "--json", code=4).out)["series"][0]["gates"]
    claims = next(gate for gate in gates if gate["name"] == "claims")
    assert (claims["standing"], claims["looked_at"]) == ("passed", 1)
    stage.series(stage.upstream.patches("main..fork~1").replace(b"+ours", b"+mine"))
    claimed = '[claims]\n"pkg/a.py" = "sha256:' + "0" * 64 + '"\n"pkg/b.py" = "upstream"\n'
    (stage.root / "series/s/series.toml").write_text(claimed)
    gates = json.loads(stage.run("check", "s", "--json", code=4).out)["series"][0]["gates"]
    claims = next(gate for gate in gates if gate["name"] == "claims")
    assert [p["path"] for p in claims["problems"]] == ["pkg/a.py"]


def test_why_names_the_patch_of_a_line(stage: Stage) -> None:
    found = stage.run("why", "pkg/a.py:31", "--json").json
    assert (found["patch"], found["text"]) == ("fork-one.patch", "ours")
    assert stage.run("why", "pkg/a.py:30", "--json").json["patch"] is None
    assert "fork: one" in stage.run("why", "new/deep/file.txt:1").out
    assert stage.run("why", "pkg/b.py:1", "--json").json["patch"] is None
    end = len(text().splitlines()) + 1
    for place in ("pkg/a.py", "pkg/a.py:x", f"pkg/a.py:{end}", "gone/only.txt:1"):
        stage.run("why", place, code=2)


def test_why_follows_a_file_through_several_renames(stage: Stage) -> None:
    moves = (("pkg/a.py", "two.py", "l3"), ("two.py", "three.py", "l5"))
    with stage.upstream.at("-b", "moves", stage.base):
        for old, new, line in moves:
            now = text(l3="first\n") if line == "l3" else text(l3="first\n", l5="second\n")
            plant(stage.upstream, {old: None, new: now}, f"to {new}")
        for old, _, _ in moves:
            plant(stage.upstream, {old: "short\n"}, f"again {old}")
    stage.series(stage.upstream.patches(f"{stage.base}..moves"))
    lines = {"three.py:1": "", "three.py:4": "to two.py", "three.py:6": "to three.py"}
    lines |= {f"{old}:1": f"again {old}" for old, _, _ in moves}
    for place, subject in lines.items():
        assert stage.run("why", place, "--json").json["subject"] == subject, place


def test_variants_are_one_command_each(stage: Stage) -> None:
    whole = stage.run("branch", "s", "--json").json
    arm = stage.run("branch", "s", "--without", "fork-two", "--name", "arm", "--json").json
    assert arm["commits"] == whole["commits"] - 1
    only = stage.run("branch", "s", "--only", "fork-two.patch", "--name", "b", "--json").json
    assert only["commits"] == 1
    (stage.root / "series/s/series.toml").write_text('[groups]\nfirst = ["fork-one", "tow"]\n')
    answer = stage.run("branch", "s", "--only", "first", "--name", "c", "--json")
    assert answer.json["head"] == arm["head"]
    assert "The group first names tow, which is not a patch of s.\n" in answer.err
    (stage.root / "series/s/series.toml").write_text('[groups]\nexperimental = ["tow"]\n')
    for line in (("rebase", "--onto", "upstream/main"), ("apply", "--to", stage.upstream.root)):
        answer = stage.run(line[0], "s", *line[1:], "--dry-run")
        assert answer.err.count("The group experimental names tow, which is not a patch of s.") == 1
    answer = stage.run("branch", "s", "--without", "fork-tow", "--name", "d", code=2)
    assert "fork-two" in answer.err


def test_a_report_has_its_page(stage: Stage, tmp_path: Path) -> None:
    page = stage.run("report", "s", "--format", "html").out
    assert page.startswith("<!DOCTYPE html>")
    found = stage.run("report", "s", "--json").json["series"][0]
    assert sum(part["files"] for part in found["subsystems"]) == found["total"]["files"]
    assert [r["path"] for r in found["risks"] if r["kind"] == "binary"] == ["bytes"]


def test_a_tag_tells_the_verdicts_and_the_gates(scene: Scene) -> None:
    _, onto = build(scene)
    scene.rebase("s", "--onto", onto)
    (scene.root / "series/s/series.toml").write_text("[check]\nsign-off = true\n")
    scene.call("check", "s", code=4)
    scene.call("branch", "s", "--tag", "one")
    (store,) = Path(os.environ["XDG_CACHE_HOME"]).glob("patchmgr/stores/upstream-*.git")
    tag = own_ref(scene.root, "refs/tags/one")
    message = Repository(store, is_there=True).git("cat-file", "tag", tag)
    assert "1 absorbed, 2 unchanged\n  absorbed: fix-five.patch\n" in message
    assert "failed: sign-off (2 problems)" in message
    edits = (
        f"[check.commands.x]\nrun = ['sh', '-c', 'echo \"#\" >> {scene.root}/series/s/series']\n"
    )
    (scene.root / "series/s/series.toml").write_text(edits)
    scene.call("check", "s", "--run")
    scene.call("branch", "s", "--tag", "two")
    tag = own_ref(scene.root, "refs/tags/two")
    message = Repository(store, is_there=True).git("cat-file", "tag", tag)
    assert "Gates: not run on this state" in message


def test_a_variable_that_nobody_reads_upstream_is_a_risk(scene: Scene) -> None:
    base = scene.upstream.commit({"a.py": "import os\nos.environ['OLD']\n"}, "start")
    scene.upstream.git("checkout", "--quiet", "-b", "fork")
    scene.upstream.commit({"b.py": "import os\nos.environ['OLD'], os.environ['NEW']\n"}, "read")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    for _ in range(2):  # the second time the answer is known
        report = scene.call("report", "s", "--json").json["series"][0]
        found = [risk for risk in report["risks"] if "variable" in risk["kind"]]
        assert [(risk["path"], risk["what"]) for risk in found] == [("b.py", "NEW")]


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
    stage.upstream.git("clone", "--quiet", "--bare", "--template=", ".", str(place))
    clone.git("remote", "add", "mine", str(place))
    return Repository(place, is_there=True)


def branch(stage: Stage, clone: Repository, *options: str, code: int = 0) -> Answer:
    return stage.run("branch", "s", "--repo", clone.root, "--name", "x", *options, code=code)


def head(stage: Stage, clone: Repository, *options: str) -> str:
    return str(branch(stage, clone, *options, "--json").json["head"])


def shown(clone: Repository, form: str, commits: str = "x") -> list[str]:
    return clone.git("log", "-2", f"--format={form}", commits).splitlines()


def test_the_committer_is_the_user_and_the_author_stays(stage: Stage, clone: Repository) -> None:
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


def test_a_branch_of_an_interrupted_run_is_known(
    stage: Stage, clone: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def then_ends(*moved: Any) -> None:
        move_refs(*moved)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("patchmgr.commands.branch.move_refs", then_ends)
        branch(stage, clone, "--committer", "me", code=130)
    assert shown(clone, "%cn <%ce>") == [ME, ME]
    head(stage, clone, "--tag", "t")


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
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", str(key)]
    subprocess.run(make, check=True)
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
    for name, code, told in (("me", 1, "does not know who you are"), ("you", 2, "must be 'me'")):
        assert told in one_line(branch(stage, clone, "--committer", name, code=code))


def test_a_branch_of_ours_is_replaced(stage: Stage, clone: Repository, remote: Repository) -> None:
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


def test_a_remote_may_be_relative(stage: Stage, clone: Repository, remote: Repository) -> None:
    clone.git("remote", "set-url", "mine", f"../{remote.root.name}")
    assert head(stage, clone, "--push", "mine") == remote.git("rev-parse", "x")


def test_what_others_pushed_is_kept(stage: Stage, clone: Repository, remote: Repository) -> None:
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


def test_a_push_to_a_url(stage: Stage, remote: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Me")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "me@example.org")
    options = ("--name", "x", "--push", remote.root, "--signoff", "--json")
    found = stage.run("branch", "s", *options).json
    assert remote.git("rev-parse", "x") == found["head"]
    assert remote.git("rev-list", "--count", f"{stage.base}..x") == "2"


def test_a_store_that_lacks_contents_names_what_to_push_from(stage: Stage) -> None:
    with stage.upstream.at("-b", "old", stage.base):  # other tests have the same upstream
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
    stage.upstream.git("push", "--quiet", str(empty), f"{bases[0]}:refs/heads/main")
    stage.run(*push)  # what came after that is fetched
    stage.upstream.git("push", "--quiet", str(empty), ":refs/heads/main", ":patchmgr/t")
    stage.run(*push, "--repo", stage.upstream.root)
