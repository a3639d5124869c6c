"""`rebase --checkout`: conflicts in a git worktree, as git itself leaves them."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from patchmgr.plumbing.journal import Change
from patchmgr.workspace import Workspace
from tests.commands.conftest import SCENE, Answer, Scene, invoke
from tests.commands.every import restorer
from tests.commands.faults import Killed, killing
from tests.commands.scenes import picture, plant, text
from tests.conftest import Repository, once
from tests.long import LONG
from tests.tables import table

Files = dict[str, bytes | str | None]


def own(name: str, **edits: str) -> str:
    """Return the lines of a file that is like no other."""
    return text(**edits).replace("line", name)


OURS, THEIRS = {"l10": "ours\n"}, {"l10": "theirs\n"}
START: Files = {
    **{name: own(name) for name in ("a", "changed", "deleted", "clean", "moved", "moves")},
    "bytes": b"\0\1\xff" * 50,
}
FORK: Files = {
    "a": own("a", **OURS),
    "both": "ours\n",
    "bytes": b"\0\1\xfe" * 50,
    "changed": own("changed", **OURS),
    "deleted": None,
    "clean": own("clean", l50="ours\n"),
    "new": "new\n",
    "moved": None,
    "moved-here": own("moved", **OURS),
    "moves": own("moves", **OURS),
}
UPSTREAM: Files = {
    "a": own("a", **THEIRS),
    "both": "theirs\n",
    "bytes": b"\0\1\xfd" * 50,
    "changed": None,
    "deleted": own("deleted", **THEIRS),
    "clean": own("clean", l2="theirs\n"),
    "moved": own("moved", **THEIRS),
    "moves": None,
    "moves-there": own("moves", **THEIRS),
}


def unlabelled(content: bytes) -> bytes:
    return re.sub(rb"(?m)^(<{7}|\|{7}|>{7}).*$", rb"\1", content)


def look(repository: Repository) -> tuple[str, str, dict[str, bytes]]:
    """Return what git says of the index, and the files, whatever the labels are."""
    files = picture(repository.root)
    contents = {p: unlabelled(raw) for p, (kind, _, raw) in files.items() if kind == "file"}
    staged, status = repository.git("ls-files", "--stage"), repository.git("status", "--porcelain")
    return staged, status, contents


def begin(scene: Scene, *patches: Files) -> str:
    """Plant upstream and a fork of some patches; return the fork's head."""

    def make() -> str:
        base = scene.upstream.commit(START, "start: all")
        with scene.upstream.at("-b", "fork"):
            for number, files in enumerate(patches, 1):
                plant(scene.upstream, files, f"fork: {number}")
            fork = scene.upstream.head()
        plant(scene.upstream, UPSTREAM, "upstream: all (#12)")
        scene.series("s", base, scene.upstream.patches(f"{base}..fork"))
        return fork

    return scene.once(f"a fork of {patches}", make)


def tree_of(scene: Scene) -> Repository:
    return Repository(scene.root.parent / "tree", is_there=True)


def rebase(scene: Scene, *arguments: str | Path, code: int) -> Answer:
    place = ("--checkout", tree_of(scene).root)
    return scene.call("rebase", "s", "--onto", "upstream/main", *place, *arguments, code=code)


def test_every_kind_of_conflict_stands_as_git_leaves_it(scene: Scene, tmp_path: Path) -> None:
    fork = begin(scene, FORK)
    clone = Repository(tmp_path / "clone", is_there=True)
    scene.upstream.git("clone", "--quiet", str(scene.upstream.root), str(clone.root))
    clone.git("-c", "merge.conflictStyle=zdiff3", "cherry-pick", fork, good=(1,))
    rebase(scene, code=3)
    assert look(tree_of(scene)) == look(clone)
    labels = {line[:7]: line[8:] for line in (tree_of(scene).root / "a").read_bytes().splitlines()}
    commit = scene.upstream.head()[:12]
    assert labels[b"<<<<<<<"] == f"upstream/main ({commit} upstream: all, #12)".encode()
    assert labels[b">>>>>>>"] == b"s/fork-1.patch: fork: 1"


ONE: Files = {"a": own("a", **OURS), "new": "new\n"}
TWO: Files = {"changed": own("changed", **OURS)}
LATER: Files = {"clean": own("clean", l50="ours\n")}


def resolve(scene: Scene) -> Repository:
    """Begin a rebase of three patches, and resolve the first as a person would."""

    def make() -> None:
        begin(scene, ONE, TWO, LATER)
        rebase(scene, code=3)
        (tree_of(scene).root / "a").write_text(own("a", l10="both\n"))

    once("a tree", scene.root.parent, (*SCENE, "tree"), make)
    return tree_of(scene)


def moments(count: int) -> Iterable[int]:
    """Return the operations at which a command is killed: three of them where time is short."""
    return range(1, count + 1) if LONG else (count // 3, 2 * count // 3, count)


def go_on(scene: Scene, *arguments: str, code: int = 0) -> Answer:
    return scene.call("rebase", "--continue", *arguments, code=code)


def end(scene: Scene) -> dict[str, str]:
    """Return the subjects and files of the series' branch, as the checkout has them."""
    tree = tree_of(scene)
    assert tree.git("status", "--porcelain") == ""
    subjects = tree.git("log", "--format=%s", f"{scene.upstream.head()}..").splitlines()
    return {subject: tree.git("diff", "--name-only", f"HEAD~{n + 1}", f"HEAD~{n}")
            for n, subject in enumerate(subjects)}  # fmt: skip


def test_the_next_conflict_has_the_same_tree(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = resolve(scene)
    monkeypatch.chdir(tree.root)
    assert invoke("rebase", "--continue").code == 3
    assert tree.git("status", "--porcelain") == "DU changed"
    assert tree.git("log", "-1", "--format=%s") == "fork: 1"
    answer = invoke("rebase", "--continue")
    assert "still in conflict" in answer.err
    assert answer.code == 1
    tree.git("rm", "--quiet", "changed")
    assert invoke("rebase", "--continue").code == 0
    assert end(scene) == {"fork: 3": "clean", "fork: 1": "a\nnew"}
    assert tree.git("show", "HEAD:a") == own("a", l10="both\n").strip()


def finish(scene: Scene, *arguments: str) -> None:
    go_on(scene, *arguments, code=3)
    tree_of(scene).git("rm", "--quiet", "changed")
    go_on(scene)


@pytest.mark.parametrize(
    ("answer", "commits", "stashed"),
    [
        ("patch", {"fork: 3": "clean", "fork: 1": "a\nbytes\nclean\nmore\nnew"}, ""),
        ("new",
            {"fork: 3": "clean", "Edits made while rebasing fork-1": "bytes\nclean\nmore",
             "fork: 1": "a\nnew"},
            ""),
        ("none", {"fork: 3": "clean", "fork: 1": "a\nnew"}, "bytes\nclean\nmore"),
    ],
)  # fmt: skip
def test_edits_beside_the_conflict_go_where_a_person_says(
    scene: Scene, answer: str, commits: dict[str, str], stashed: str
) -> None:
    tree = resolve(scene)
    (tree.root / "clean").write_text(own("clean", l2="theirs\n", l30="mine\n"))
    (tree.root / "bytes").unlink()
    (tree.root / "more").write_text("more\n")
    (tree.root / "scratch").write_text("not told to git\n")
    tree.git("add", "more")
    assert "bytes, clean, more" in go_on(scene, code=1).err
    finish(scene, "--other-edits", answer)
    (tree.root / "scratch").unlink()
    assert end(scene) == commits
    kept = tree.git("stash", "list") and tree.git("stash", "show", "--name-only", "stash@{0}")
    assert kept == stashed
    names = {"new": ["fork-1.patch", "fork-1-edits.patch", "fork-3.patch"]}
    series = (scene.root / "series/s/series").read_text().split()
    assert series == names.get(answer, ["fork-1.patch", "fork-3.patch"])
    scene.call("rebase", "s", "--onto", "upstream/main", "--dry-run")


def test_a_skipped_patch_leaves_its_edits_in_the_stash(scene: Scene) -> None:
    tree = resolve(scene)
    answer = scene.call("rebase", "--skip", code=3)
    assert "in git's stash" in answer.err
    assert tree.git("status", "--porcelain") == "DU changed"
    tree.git("rm", "--quiet", "changed")
    go_on(scene)
    assert end(scene) == {"fork: 3": "clean"}
    assert "both" in tree.git("stash", "show", "--patch")


@pytest.mark.parametrize("is_edited", [False, True], ids=["untouched", "edited"])
def test_abort_takes_the_tree_away_unless_it_has_edits(scene: Scene, is_edited: bool) -> None:
    begin(scene, ONE)
    rebase(scene, code=3)
    tree = tree_of(scene)
    if is_edited:
        (tree.root / "scratch").write_text("mine\n")
    answer = scene.call("rebase", "--abort")
    assert tree.root.exists() is is_edited
    assert ("is kept" in answer.err) is is_edited
    rebase(scene, code=3)
    assert tree.git("status", "--porcelain").splitlines()[:2] == ["UU a", "A  new"]
    if is_edited:
        words = shlex.split(answer.err.splitlines()[0].partition("To remove it: ")[2])
        subprocess.run(words, cwd=scene.root, check=True)
        assert not tree.root.exists()


@pytest.mark.parametrize("is_abort", [False, True])
def test_what_follows_a_change_is_done_after_an_interrupt(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, is_abort: bool
) -> None:
    begin(scene, ONE if is_abort else LATER)
    line = ["rebase", "s", "--onto", "upstream/main"]
    if is_abort:
        rebase(scene, code=3)
        line = ["rebase", "--abort"]
    make = Workspace.make

    def interrupted(workspace: Workspace, change: Change) -> None:
        signal.raise_signal(signal.SIGINT)
        make(workspace, change)

    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "make", interrupted)
        scene.call(*line, code=130)
    assert (scene.root / ".patchmgr/syncs/s.json").exists()
    assert not tree_of(scene).root.exists()


@pytest.mark.parametrize("line", ["--continue", "--abort"])
@pytest.mark.parametrize("is_committed", [False, True], ids=["plain", "with-a-commit"])
def test_a_deleted_tree_leaves_no_branch_unless_it_has_commits(
    scene: Scene, tmp_path: Path, line: str, is_committed: bool
) -> None:
    begin(scene, ONE)
    clone, tree = Repository(tmp_path / "clone", is_there=True), tree_of(scene)
    scene.upstream.git("clone", "--quiet", str(scene.upstream.root), str(clone.root))
    rebase(scene, "--repo", clone.root, code=3)
    if is_committed:
        tree.git("commit", "--quiet", "--all", "--message=mine")
    shutil.rmtree(tree.root)
    scene.call("rebase", line, code=0 if line == "--abort" else 3)
    last = "-2" if is_committed else ""
    made = [f"+ patchmgr-rebase/s{last}"] if line == "--continue" else []
    kept = ["patchmgr-rebase/s"] if is_committed else []
    branches = clone.git("branch", "--list", "patchmgr*").splitlines()
    assert [one.strip() for one in branches] == kept + made
    assert ("prunable" in clone.git("worktree", "list")) is False


def test_the_tree_is_one_of_the_clone_that_is_named(scene: Scene, tmp_path: Path) -> None:
    begin(scene, ONE)
    clone = Repository(tmp_path / "clone", is_there=True)
    scene.upstream.git("clone", "--quiet", str(scene.upstream.root), str(clone.root))
    rebase(scene, "--repo", clone.root, code=3)
    assert clone.git("branch", "--list", "patchmgr*") == "+ patchmgr-rebase/s"
    (tree_of(scene).root / "a").write_text("solved\n")
    go_on(scene)
    assert clone.git("log", "-1", "--format=%s", "patchmgr-rebase/s") == "fork: 1"


def test_a_tree_of_another_clone_can_be_removed_as_the_hint_says(scene: Scene) -> None:
    begin(scene, ONE)
    rebase(scene, code=3)
    (tree_of(scene).root / "scratch").write_text("mine\n")
    scene.call("rebase", "--abort")
    answer = rebase(scene, "--repo", scene.upstream.root, code=2)
    assert "tree is not a worktree of" in answer.err
    hint = shlex.split(answer.err.partition("remove it: ")[2])
    subprocess.run(hint, cwd=scene.root, check=True)
    rebase(scene, "--repo", scene.upstream.root, code=3)


def test_another_folder_or_branch_is_left_alone(scene: Scene) -> None:
    begin(scene, ONE)
    tree_of(scene).root.mkdir()
    (tree_of(scene).root / "mine").write_text("mine\n")
    assert "already exists" in rebase(scene, code=2).err
    (tree_of(scene).root / "mine").unlink()
    rebase(scene, code=3)
    tree_of(scene).git("switch", "--quiet", "--discard-changes", "--detach", "HEAD")
    assert "no longer on branch patchmgr-rebase/s" in go_on(scene, code=1).err


def test_a_command_runs_on_each_carried_patch_and_stops_where_it_fails(scene: Scene) -> None:
    begin(scene, LATER, {"new": "new\n"}, {"newer": "newer\n"})
    log = scene.root.parent / "log"
    command = f"git log -1 --format=%s >> {log}; test ! -e new || grep -q mine clean"
    document = rebase(scene, "--exec", command, "--json", code=3).json
    stopped = document["series"][0]["patches"][1]
    assert (stopped["verdict"], stopped["reason"]) == ("conflict", f"{command}: exit 1")
    tree = tree_of(scene)
    assert tree.git("status", "--porcelain") == "A  new"
    (tree.root / "clean").write_text(own("clean", l2="theirs\n", l50="mine\n"))
    go_on(scene, "--other-edits", "patch")
    assert log.read_text().split("\n") == ["fork: 1", "fork: 2", "fork: 2", "fork: 3", ""]
    assert end(scene) == {"fork: 3": "newer", "fork: 2": "clean\nnew", "fork: 1": "clean"}


def test_a_command_that_fails_can_be_passed_over_as_in_git(scene: Scene) -> None:
    begin(scene, LATER, {"new": "new\n"})
    line = ("rebase", "s", "--onto", "upstream/main", "--exec", "test ! -e new")
    assert "exit 1" in scene.call(*line, code=3).out
    go_on(scene)
    assert not list(scene.root.parent.glob("patchmgr-exec*"))


def test_a_command_that_changes_files_stops_the_rebase(scene: Scene) -> None:
    begin(scene, LATER)
    answer = rebase(scene, "--exec", "echo >> clean", code=3)
    assert "echo >> clean: changed clean" in answer.out


@table(
    ("arguments", "message"),
    [
        (("--onto", "x", "--repo", "."), "--repo needs --checkout"),
        (("--onto", "x", "--exec", " "), "--resolver and --exec need a command"),
        (("--onto", "x", "--exec", "true", "--dry-run"), "cannot be used with --dry-run"),
        (("--onto", "x", "--other-edits", "new"), "--other-edits needs --continue"),
        (("--continue", "--other-edits", "all"), "must be patch, new or none, not all"),
    ],
)
def test_options_that_contradict(scene: Scene, arguments: tuple[str, ...], message: str) -> None:
    assert message in scene.call("rebase", *arguments, code=2).err


def test_a_state_that_came_along_names_no_folder_and_no_command_of_its_own(scene: Scene) -> None:
    begin(scene, LATER)
    rebase(scene, "--exec", "false", code=3)
    moved = scene.root.rename(scene.root.with_name("of a stranger"))
    answer = scene.run("-C", moved, "rebase", "--continue", code=2)
    assert "started elsewhere or by somebody else" in answer.err
    assert f"--checkout {tree_of(scene).root} --exec false" in answer.err
    scene.run("-C", moved, "rebase", "--abort")
    assert tree_of(scene).root.exists()


def kept(scene: Scene) -> tuple[str, bool]:
    """Return the resolution that a person made, wherever it is, and whether the edit is there."""
    tree = tree_of(scene)
    stashes = tree.git("stash", "list", "--format=%H").splitlines()
    states = [tree.git("show", f"{stash}:clean") for stash in stashes]
    states += [path.read_text() for path in (scene.root / ".patchmgr").rglob(".edits/*")]
    states += [(tree.root / "clean").read_text()]
    return (tree.root / "a").read_text(), any("mine" in state for state in states)


@pytest.mark.parametrize("answer", ["patch", "none"])
def test_killing_loses_nothing(scene: Scene, answer: str) -> None:
    tree = resolve(scene)
    (tree.root / "clean").write_text(own("clean", l2="theirs\n", l30="mine\n"))
    reset = restorer(scene.root, tree.root, Path(os.environ["XDG_CACHE_HOME"]))
    line = ("-C", scene.root, "rebase", "--continue", "--other-edits", answer)
    finish(scene, "--other-edits", answer)
    wanted = tree.git("rev-parse", "HEAD")
    with killing(10**9) as whole:
        reset()
        invoke(*line)
    for at in moments(whole.count):
        reset()
        with killing(at), suppress(Killed):
            invoke(*line)
        found, has_edit = kept(scene)
        assert has_edit, f"killed at {at}"
        assert "<<<" not in found, f"killed at {at}"
        invoke(*line)
        if (tree.root / "changed").exists():
            tree.git("rm", "--quiet", "changed")
            invoke(*line)
        assert tree.git("rev-parse", "HEAD") == wanted, f"killed at {at}"
        assert kept(scene)[1]


def test_killing_while_the_tree_is_made_leaves_the_way_free(scene: Scene) -> None:
    begin(scene, ONE)
    tree = tree_of(scene)
    reset = restorer(scene.root, Path(os.environ["XDG_CACHE_HOME"]))
    with killing(10**9) as whole:
        rebase(scene, code=3)
    status = tree.git("status", "--porcelain")
    for at in moments(whole.count):
        shutil.rmtree(tree.root, ignore_errors=True)
        reset()
        with killing(at), suppress(Killed):
            rebase(scene, code=3)
        begun = invoke("-C", scene.root, "status", "--json").json["unfinished"] is not None
        anew = ("s", "--onto", "upstream/main", "--checkout", tree.root)
        invoke("-C", scene.root, "rebase", *(("--continue",) if begun else anew))
        assert tree.git("status", "--porcelain") == status, f"killed at {at}"


def test_a_file_with_another_in_its_way_stands_beside_and_can_be_put_elsewhere(
    scene: Scene,
) -> None:
    base = scene.upstream.commit({"a": own("a")}, "start")
    with scene.upstream.at("-b", "fork"):
        scene.upstream.commit({"d/new": "new\n"}, "fork: 1")
    scene.upstream.commit({"d": "upstream's\n"}, "upstream: all")
    scene.series("s", base, scene.upstream.patches(f"{base}..fork"))
    rebase(scene, code=3)
    tree = tree_of(scene)
    assert tree.git("status", "--porcelain") == "UA d~fork-1.patch/new"
    (tree.root / "d~fork-1.patch").rename(tree.root / "e")
    tree.git("rm", "--quiet", "d~fork-1.patch/new")
    tree.git("add", "e")
    go_on(scene, "--other-edits", "patch")
    assert end(scene) == {"fork: 1": "e/new"}


def test_what_was_begun_in_the_tree_is_kept_where_another_resolution_is_taken(scene: Scene) -> None:
    begin(scene, ONE, TWO)
    rebase(scene, code=3)
    tree = tree_of(scene)
    marked = (tree.root / "a").read_text()
    (tree.root / "a").write_text(marked.replace("ours", "begun"))
    listed = scene.call("conflicts", "list", "--json").json["conflicts"]
    (conflict,) = [one["id"] for one in listed if one["path"] == "a"]
    scene.call("conflicts", "accept", conflict, "ours")
    answer = go_on(scene, code=3)
    assert "in git's stash" in answer.err
    assert "begun" in tree.git("show", "stash@{0}:a")
    assert tree.git("status", "--porcelain") == "DU changed"


def test_the_mode_of_a_resolved_file_is_the_persons(scene: Scene) -> None:
    tree = resolve(scene)
    (tree.root / "a").chmod(0o755)
    finish(scene)
    assert tree.git("ls-tree", "HEAD", "a").startswith("100755 ")
    assert "new mode 100755" in (scene.root / "series/s/fork-1.patch").read_text()


def test_what_is_broken_in_the_tree_is_named_there_and_can_be_meant(scene: Scene) -> None:
    base = scene.upstream.commit({"m.py": "a = 1\n"}, "start")
    with scene.upstream.at("-b", "fork"):
        scene.upstream.commit({"m.py": "a = 2\n"}, "fork: 1")
        scene.upstream.commit(TWO, "fork: 2")
    scene.upstream.commit({"m.py": "a = 3\n", "changed": "theirs\n"}, "upstream: all")
    scene.series("s", base, scene.upstream.patches(f"{base}..fork"))
    rebase(scene, code=3)
    tree = tree_of(scene)
    (tree.root / "m.py").write_text("a = (\n")
    assert f"{tree.root}/m.py:1: the file does not compile" in go_on(scene, code=1).err
    assert "shown in " in scene.call("status").out
    go_on(scene, "--accept", "m.py", code=3)
    assert tree.git("status", "--porcelain") == "AA changed"
    (tree.root / "changed").write_text("both\n")
    go_on(scene)
    assert tree.git("show", "HEAD~1:m.py") == "a = ("


def put_on_top(scene: Scene, files: Files) -> None:
    """Make a series of one patch on the one that is there."""
    scene.call("series", "new", "t", "--on", "s")
    with scene.upstream.at("fork"):
        scene.upstream.commit(files, "upper: 1")
    scene.take(scene.upstream.patches("fork~1..fork"), "t")


def test_a_series_on_another_is_shown_on_top_of_it(scene: Scene) -> None:
    begin(scene, LATER)
    put_on_top(scene, ONE)
    log = scene.root.parent / "log"
    rebase(scene, "--exec", f"git log -1 --format=%s >> {log}", code=3)
    tree = tree_of(scene)
    assert tree.git("log", "-1", "--format=%s") == "fork: 1"
    assert tree.git("status", "--porcelain") == "UU a\nA  new"
    (tree.root / "a").write_text("both\n")
    go_on(scene)
    assert end(scene) == {"upper: 1": "a\nnew", "fork: 1": "clean"}
    assert log.read_text() == "fork: 1\nupper: 1\n"


def test_an_edit_of_the_series_below_is_no_part_of_the_old_one(scene: Scene) -> None:
    begin(scene, ONE)
    put_on_top(scene, {"clean": own("clean", l50="ours\n")})
    rebase(scene, code=3)
    root = tree_of(scene).root
    (root / "a").write_text("both\n")
    (root / "clean").write_text(own("clean", l2="theirs\n", l49="beside\n"))
    go_on(scene, "--other-edits", "patch")
    assert end(scene) == {"upper: 1": "clean", "fork: 1": "a\nclean\nnew"}


def test_a_file_upstream_has_elsewhere_is_checked_out_by_url(scene: Scene, tmp_path: Path) -> None:
    onto = {"pkg/__init__.py": "", "a": "1\n2\n3\n"}
    begin_at = scene.upstream.commit(onto)
    with scene.upstream.at("-b", "fork"):
        scene.upstream.commit({"new/__init__.py": ""}, "fork: 1")
        scene.upstream.commit({"a": "1\nours\n3\n"}, "fork: 2")
    scene.upstream.commit({"a": "1\ntheirs\n3\n"}, "upstream")
    scene.upstream.git("clone", "--quiet", "--bare", ".", str(tmp_path / "far"))
    scene.call("upstream", "add", "far", "--git", tmp_path / "far")
    scene.call("series", "new", "s", "--upstream", "far", "--base", begin_at)
    scene.take(scene.upstream.patches(f"{begin_at}..fork"))
    rebase(scene, code=3)
    assert tree_of(scene).git("status", "--porcelain") == "UU a"
    assert (tree_of(scene).root / "new/__init__.py").exists()
