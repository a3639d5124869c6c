"""`import --git` of forks that merged upstream: one line of patches, and the fork's tree."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from patchmgr.plumbing.forks import MANY_MERGES
from tests.commands.conftest import SCENE, Answer, Scene
from tests.commands.scenes import one_line, text, unchanged
from tests.conftest import Make, Repository, once

Files = dict[str, bytes | str | None]


class Fork(Struct, frozen=True):
    """A fork of the scene's upstream, in its own clone; both have a branch main."""

    scene: Scene
    clone: Repository

    def up(self, files: Files, message: str = "upstream") -> str:
        return self.scene.upstream.commit(files, message)

    def own(self, files: Files, message: str = "own") -> str:
        return self.clone.commit(files, message)

    def merge(self, *names: str, files: Files | None = None, message: str = "sync") -> str:
        """Merge upstream's main, or a branch; `files` is what a person made of the merge."""
        self.clone.git("fetch", "--quiet", "origin")
        line = ("merge", "--quiet", "--no-ff", "--no-commit", *(names or ("origin/main",)))
        self.clone.git(*line, good=(0, 1, 2))
        for row in self.clone.git("ls-files", "--unmerged").splitlines():
            path = row.split("\t")[1]
            self.clone.git("rm", "--quiet", "--cached", "--ignore-unmatch", "-f", path)
            if files is not None and path in files and files[path] is None:
                files.pop(path)
                (self.clone.root / path).unlink(missing_ok=True)
        return self.clone.commit(files or {}, message)

    def series(self, name: str, base: str, *, fetches: bool = True) -> None:
        if fetches:
            self.call("upstream", "fetch")
        self.call("series", "new", name, "--upstream", "up", "--base", base)

    def call(self, *arguments: str | Path, code: int = 0) -> Answer:
        return self.scene.call(*arguments, code=code)

    def take(self, name: str, *options: str, base: str, code: int = 0) -> Answer:
        commits = f"{base}..main"
        line = ("import", "--git", self.clone.root, commits, "--series", name)
        return self.call(*line, *options, code=code)

    def built(self, name: str) -> str:
        """Return the tree of the series' branch."""
        self.call("branch", name, "--repo", self.clone.root, "--name", f"built-{name}")
        return self.clone.tree(f"built-{name}")


@pytest.fixture
def fork(scene: Scene, make_repository: Make) -> Fork:
    upstream = scene.upstream

    def make() -> None:
        upstream.commit({"a": text(), "b": text(), "c/d": text(), "bytes": b"\0\1"}, "base")
        clone = make_repository("fork")
        clone.git("remote", "add", "origin", str(upstream.root))
        clone.git("fetch", "--quiet", "origin")
        clone.git("reset", "--quiet", "--hard", "origin/main")

    once("fork", scene.root.parent, (*SCENE, "fork"), make)
    return Fork(scene, make_repository("fork"))


def play(fork: Fork, course: Callable[[Fork], None]) -> None:
    """Let a course of events happen, once in a session."""
    places = (*SCENE, "fork")
    once(f"fork {course.__name__}", fork.scene.root.parent, places, lambda: course(fork))


def clean(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    fork.up({"a": text(l40="up\n"), "new": "new\n"})
    fork.merge()
    fork.own({"b": text(l5="own\n")}, "own: two")


def resolved(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    fork.own({"b": text(l10="own\n")}, "own: two")
    fork.up({"a": text(l10="up\n")})
    fork.merge(files={"a": text(l10="both\n")})


def overlapping(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n", l30="own\n")}, "own: one")
    fork.own({"a": text(l10="own\n", l11="more\n", l30="own\n")}, "own: two")
    fork.up({"a": text(l10="up\n", l11="up\n")})
    fork.merge(files={"a": text(l10="both\n", l11="more\n", l30="own\n")})
    fork.up({"b": text(l3="up\n")})
    fork.merge()


def evil(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    fork.up({"b": text(l5="up\n")})
    fork.merge(files={"c/d": text(l1="evil\n"), "extra": "evil\n"}, message="sync, and more")


def weekly(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    for week in range(MANY_MERGES):
        fork.up({"b": text(l5=f"up {week}\n"), "a": text(l10="up\n")})
        fork.merge(files={"a": text(l10="both\n")})


def moved(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    fork.up({"a": None, "z/a": text(l40="up\n")})
    fork.merge()
    fork.own({"z/a": text(l10="own\n", l20="own\n", l40="up\n")}, "own: two")


def gone(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n"), "b": text(l10="own\n")}, "own: one")
    fork.up({"a": None})
    fork.merge(files={"a": None})


def kept(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n"), "b": text(l10="own\n")}, "own: one")
    fork.up({"a": None})
    fork.merge(files={"a": text(l10="own\n")})


def binary(fork: Fork) -> None:
    fork.own({"bytes": b"\0\2"}, "own: one")
    fork.up({"bytes": b"\0\3"})
    fork.merge(files={"bytes": b"\0\4"})


def taken(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    fork.own({"b": text(l10="own\n")}, "own: two")
    fork.up({"a": text(l10="own\n")}, "own: one (#1)")
    fork.merge()


def branched(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    with fork.clone.at("-b", "side"):
        fork.own({"b": text(l10="own\n")}, "side: one")
        fork.up({"b": text(l40="up\n")})
        fork.merge()
        fork.own({"b": text(l10="own\n", l20="own\n", l40="up\n")}, "side: two")
    fork.own({"c/d": text(l10="own\n")}, "own: two")
    fork.merge("side", message="Merge branch side")


def other_way(fork: Fork) -> None:
    fork.own({"a": text(l10="own\n")}, "own: one")
    fork.up({"a": text(l40="up\n")})
    fork.clone.git("branch", "--quiet", "-m", "work")
    fork.clone.git("fetch", "--quiet", "origin")
    fork.clone.git("checkout", "--quiet", "-b", "main", "--no-track", "origin/main")
    fork.merge("work")
    fork.own({"b": text(l10="own\n")}, "own: two")


def copied(fork: Fork) -> None:
    fork.clone.git("checkout", "--quiet", "--orphan", "copy")
    fork.own({"a": text(l1="own\n")}, "all files, and one of ours")
    fork.clone.git("branch", "--quiet", "-M", "main")
    fork.own({"b": text(l10="own\n")}, "own: two")
    fork.up({"a": text(l40="up\n")})
    both: Files = {"a": text(l1="own\n", l40="up\n"), "b": text(l10="own\n")}
    fork.merge("--allow-unrelated-histories", "origin/main", files=both)


def file_or_folder(fork: Fork, wins: str) -> None:
    with fork.clone.at("-b", "side"):
        fork.clone.git("rm", "--quiet", "-r", "c")
        fork.own({"c": "side\n"}, "side: a file")
        fork.own({"b": text(l10="own\n")}, "side: two")
    fork.clone.git("rm", "--quiet", "-r", "c")
    fork.own({"c/d/x": text()}, "own: a folder")
    fork.clone.git("merge", "--quiet", "-s", "ours", "--no-commit", "side")
    if wins == "side":
        fork.clone.git("rm", "--quiet", "-r", "c")
    files: Files = {"c": "side\n"} if wins == "side" else {}
    fork.own({**files, "b": text(l10="own\n")}, "Merge branch side")
    fork.own({"a": text(l5="own\n")}, "own: last")


def folder_stays(fork: Fork) -> None:
    file_or_folder(fork, "own")


def file_stays(fork: Fork) -> None:
    file_or_folder(fork, "side")


def subtree(fork: Fork, *, is_edited: bool = False, is_squashed: bool = True) -> None:
    """Let the fork take a project into lib/, and update it; "a" is in the project, too."""
    field = "\n\ngit-subtree-dir: lib\n" if is_squashed else ""
    fork.clone.git("checkout", "--quiet", "--orphan", "lib")
    fork.clone.git("rm", "--quiet", "-rf", ".")
    for number in range(2):
        files: Files = {"a": text(l5=f"lib {number}\n"), "x/y": text(l9=f"lib {number}\n")}
        fork.own(files, f"lib: {number}{field}")
        fork.clone.git("checkout", "--quiet", "main")
        options = ("-s", "ours", "--no-commit", "--allow-unrelated-histories")
        fork.clone.git("merge", "--quiet", *options, "lib")
        mine: Files = {"lib/own": "own\n"} if is_edited else {}
        fork.own({**{f"lib/{path}": each for path, each in files.items()}, **mine}, "Merge lib")
        fork.clone.git("checkout", "--quiet", "lib")
    fork.clone.git("checkout", "--quiet", "main")


def subtree_edited(fork: Fork) -> None:
    subtree(fork, is_edited=True)


def subtree_with_history(fork: Fork) -> None:
    subtree(fork, is_squashed=False)


STORIES = [
    pytest.param(subtree, ["lib-0", "lib-1"], 2, id="subtree"),
    pytest.param(subtree_edited, ["lib-0", "Merge", "lib-1"], 2, id="subtree-edited"),
    pytest.param(subtree_with_history, ["lib-0", "lib-1"], 2, id="subtree-with-history"),
    pytest.param(clean, ["own-one", "own-two"], None, id="clean"),
    pytest.param(resolved, ["own-one", "own-two"], None, id="resolved"),
    pytest.param(overlapping, ["own-one"], None, id="two-commits-in-one-conflict"),
    pytest.param(evil, ["own-one", "Merge"], 2, id="evil"),
    pytest.param(weekly, ["own-one"], None, id="many-merges"),
    pytest.param(moved, ["own-one", "own-two"], None, id="upstream-moved-the-file"),
    pytest.param(gone, ["own-one"], None, id="file-went"),
    pytest.param(kept, ["own-one"], None, id="file-kept"),
    pytest.param(binary, ["own-one"], None, id="binary"),
    pytest.param(taken, ["own-two"], None, id="upstream-took-one"),
    pytest.param(branched, ["own-one", "own-two", "side-one", "side-two"], 3, id="branch"),
    pytest.param(folder_stays, ["own-a", "side-two", "own-last"], None, id="folder-stays"),
    pytest.param(file_stays, ["own-a", "side-a", "side-two", "own-last"], None, id="file-stays"),
    pytest.param(other_way, ["own-one", "own-two"], None, id="fork-merged-into-upstream"),
    pytest.param(copied, ["all-files", "own-two", "Merge"], None, id="copy-without-history"),
]


@pytest.mark.parametrize(("course", "linear", "by_merge"), STORIES)
def test_the_series_ends_in_the_tree_of_the_fork(
    fork: Fork, course: Callable[[Fork], None], linear: list[str], by_merge: int | None
) -> None:
    base = fork.scene.upstream.head()
    play(fork, course)
    pin = fork.scene.upstream.head()
    fork.series("s", pin)
    wanted: dict[str, int] = {"linearize": len(linear)}
    if by_merge is not None:
        before = fork.clone.git("count-objects", "-v"), fork.clone.git("for-each-ref")
        wanted = {"squash": 1, "first-parent": by_merge, **wanted}
    for form, count in wanted.items():
        empty = fork.scene.root / "series/s/series"
        empty.write_text("")
        done = fork.take("s", f"--{form}", "--json", base=base).json
        assert (done["fork"]["tree"], done["fork"]["base"]) == (fork.clone.tree(), pin)
        assert len(done["patches"]) == count
    names = [patch["name"] for patch in done["patches"]]
    assert [n for n, wish in zip(names, linear, strict=True) if not n.startswith(wish)] == []
    assert [patch["merge"] for patch in done["patches"]] == [wish == "Merge" for wish in linear]
    if by_merge is not None:
        assert (fork.clone.git("count-objects", "-v"), fork.clone.git("for-each-ref")) == before
    assert fork.built("s") == fork.clone.tree("main")
    if course.__name__.startswith("subtree"):  # its commits change files in its folder
        paths = {path for patch in done["patches"] for path in patch["paths"]}
        assert {path.partition("/")[0] for path in paths} == {"lib"}
        assert (done["fork"]["conflicts"], done["fork"]["learned"]) == ([], 0)
        learned = fork.call("conflicts", "learn", "--git", fork.clone.root, f"{base}..main")
        assert "Learned 0 resolutions" in learned.out


def test_a_plain_import_says_what_the_merges_are_and_what_to_type(fork: Fork) -> None:
    play(fork, evil)
    first = fork.clone.head()
    fork.up({"b": text(l5="up\n", l6="up\n")})
    fork.merge(message="sync again")
    pin = fork.scene.upstream.head()
    fork.series("s", pin)
    with unchanged(fork.scene.root):
        answer = fork.take("s", base=pin[:12], code=1)
        assert one_line(answer) == (
            f"{pin[:12]}..main has 2 merges (the first is {first[:12]} (sync, and more)),"
            " and its commits cannot be applied one after the other"
        )
        typed = f"patchmgr import --git {fork.clone.root} {pin[:12]}..main --series s"
        hints = [line.removeprefix("  hint: ") for line in answer.err.splitlines()[1:]]
        assert [hint.partition("   (")[0] for hint in hints] == [
            f"{typed} --linearize", f"{typed} --first-parent", f"{typed} --squash",
        ]  # fmt: skip
    fork.call(*hints[0].partition("   (")[0].split()[1:])
    assert fork.built("s") == fork.clone.tree("main")


@pytest.mark.parametrize(
    ("options", "fetches"), [((), True), (("--linearize",), False), (("--squash",), True)]
)
def test_a_series_older_than_the_merge(fork: Fork, options: tuple[str, ...], fetches: bool) -> None:
    base = fork.scene.upstream.head()
    play(fork, clean)
    pin = fork.scene.upstream.head()
    fork.up({"b": text(l50="not merged\n")})
    fork.series("s", base, fetches=fetches)
    answer = fork.take("s", *options, base=base, code=1)
    message = one_line(answer)
    assert f"is based on upstream's commit {pin[:12]}" in message
    assert "1 merge (the first is" in message
    new, take = (line.removeprefix("  hint: ") for line in answer.err.splitlines()[1:3])
    fork.call(*new.split()[1:])
    fork.call(*take.split()[1:])
    assert fork.built("s-2") == fork.clone.tree("main")


def test_what_merges_resolved_is_on_record(fork: Fork) -> None:
    play(fork, resolved)
    pin = fork.scene.upstream.head()
    fork.series("s", pin)
    dry = fork.take("s", "--linearize", "--dry-run", "--json", base=pin).json
    assert (dry["fork"]["learned"], len(dry["fork"]["conflicts"])) == (1, 1)
    assert dry["fork"]["conflicts"][0]["how"] == "resolved as recorded from a merge"
    assert fork.call("conflicts", "list", "--json").json["conflicts"] == []
    answer = fork.take("s", "--linearize", base=pin)
    assert "Learned 1 resolution from the merges." in answer.out
    (known,) = fork.call("conflicts", "list", "--json").json["conflicts"]
    assert known["state"] == "solved"


def test_a_fork_goes_behind_what_is_in_the_series(fork: Fork) -> None:
    play(fork, clean)
    pin = fork.scene.upstream.head()
    for name in ("s", "upper"):
        on = () if name == "s" else ("--on", "s")
        fork.call("series", "new", name, "--upstream", "up", "--base", pin, *on)
        box = fork.scene.root.parent / f"{name}.diff"
        box.write_text(f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n")
        fork.call("import", box, "--series", name)
    done = fork.take("upper", "--linearize", "--json", base=pin).json
    assert len(done["patches"]) == 2
    assert fork.built("upper") != done["fork"]["tree"]
    assert fork.clone.git("diff", "--name-only", "main", "built-upper").split() == ["s", "upper"]


def test_one_patch_lists_what_is_in_it(fork: Fork) -> None:
    play(fork, clean)
    pin = fork.scene.upstream.head()
    fork.series("s", pin)
    (patch,) = fork.take("s", "--squash", "--json", base=pin).json["patches"]
    raw = (fork.scene.root / "series/s" / patch["name"]).read_text()
    assert raw.index("own: one") < raw.index("own: two")


def squashed(fork: Fork) -> str:
    """Bring three commits of upstream in as an ordinary one, and go on; return the second."""
    fork.own({"a": text(l10="own\n")}, "own: one")
    fork.up({"a": text(l40="up\n"), "new": "new\n"})
    fork.up({"b": text(l40="up\n"), "c/d": None})
    true = fork.up({"b": text(l41="up\n"), "more": "more\n"})
    fork.clone.git("fetch", "--quiet", "origin")
    fork.clone.git("merge", "--quiet", "--squash", "origin/main")
    fork.clone.git("commit", "--quiet", "-m", "Sync with upstream (#7)")
    fork.own({"b": text(l10="own\n", l41="up\n")}, "own: two")
    fork.up({"b": text(l41="later\n")})
    return true


def test_a_sync_that_was_squashed_is_told_by_its_tree(fork: Fork) -> None:
    base = fork.scene.upstream.head()
    true = squashed(fork)
    fork.series("s", base)
    asked = fork.take("s", "--first-parent", base=base, code=1).err
    assert "--series s-2 --first-parent" in asked
    assert "--linearize" not in asked
    answer = fork.take("s", base=base, code=1)
    told = "(Sync with upstream (#7)) is not a merge, but it contains upstream content"
    assert told in one_line(answer)
    told = "4 of the 5 files that upstream changed are identical to those in upstream commit "
    assert told + true[:12] in one_line(answer)
    new, take, _ = (line.removeprefix("  hint: ") for line in answer.err.splitlines()[1:])
    fork.call(*new.split()[1:])
    done = fork.call(*take.split()[1:], "--json").json
    assert [patch["name"] for patch in done["patches"]] == ["own-one.patch", "own-two.patch"]
    assert fork.built("s-2") == fork.clone.tree("main")


@pytest.mark.parametrize("count", [1, 2])
def test_commits_taken_from_upstream_one_by_one_are_no_sync(fork: Fork, count: int) -> None:
    base = fork.scene.upstream.head()
    picked = [fork.up({"a": text(l40=f"up {n}\n"), f"new{n}": "new\n"}) for n in range(count)]
    fork.up({"b": text(l40="up\n")})
    fork.clone.git("fetch", "--quiet", "origin")
    fork.clone.git("cherry-pick", "--allow-empty", *picked)
    fork.own({"b": text(l10="own\n")}, "own: one")
    fork.series("s", base)
    assert len(fork.take("s", "--json", base=base).json["patches"]) == count + 1


def test_a_commit_that_upstream_took_is_no_sync(fork: Fork) -> None:
    base = fork.scene.upstream.head()
    change: Files = {"a": text(l10="own\n"), "b": text(l10="own\n"), "new": "new\n"}
    fork.own(change, "own: one")
    fork.up({"c/d": text(l40="up\n")})
    fork.up(change, "own: one (#1)")
    fork.series("s", base)
    assert len(fork.take("s", "--json", base=base).json["patches"]) == 1


def test_a_content_that_the_fork_lacks_is_named(fork: Fork) -> None:
    fork.own({"huge": "a\n"}, "own: one")
    lost = fork.clone.git("rev-parse", "HEAD:huge")
    fork.own({"huge": "b\n"}, "own: two")
    fork.up({"b": text(l5="up\n")})
    fork.merge(files={"extra": "evil\n"})
    pin = fork.scene.upstream.head()
    fork.series("s", pin)
    (fork.clone.root / ".git/objects" / lost[:2] / lost[2:]).unlink()
    answer = fork.take("s", "--linearize", base=pin, code=1)
    message = one_line(answer)
    assert "lacks the content of 1 file that patches need; the first is huge in" in message
    assert "(own: one)" in message
    assert f" log -p -m {pin}.." in answer.err and " > /dev/null\n" in answer.err
    fork.take("s", "--squash", base=pin)


def started(
    fork: Fork, folder: Path, *options: str, ref: str = "origin/main", code: int = 0
) -> Answer:
    branch = ("--from-branch", fork.clone.root, "main", "--upstream", ref)
    return fork.scene.run("init", folder, *branch, *options, code=code)


@pytest.mark.parametrize(
    ("course", "ref"), [(clean, "origin/main"), (evil, "main"), (squashed, "origin/main")]
)
def test_a_workspace_of_a_branch_in_one_command(
    fork: Fork, tmp_path: Path, course: Callable[[Fork], object], ref: str
) -> None:
    course(fork)
    fork.clone.git("branch", "--quiet", "-m", "main", "work")
    fork.clone.git("branch", "--quiet", "--track", "main", "origin/main")
    at = tmp_path / "a folder" / "new"
    branch = ("--from-branch", fork.clone.root, "work", "--upstream", ref)
    dry = fork.scene.run("init", at, *branch, "--dry-run", "--json").json
    assert not at.parent.exists()
    done = fork.scene.run("init", at, *branch, "--json").json
    assert {**dry, "dry_run": False} == done
    assert done["upstream"]["git"] == fork.scene.upstream.root.as_uri()
    assert one_line(fork.scene.run("-C", at, "undo", code=1)) == "there is nothing to undo"
    fork.scene.run("-C", at, "branch", "--repo", fork.clone.root, "--name", "built")
    assert fork.clone.tree("built") == fork.clone.tree("work")
    fork.scene.run("-C", at, "rebase", "--onto", "upstream/main", "--dry-run")


def test_what_cannot_be_imported_is_left_out_with_its_commands(fork: Fork, tmp_path: Path) -> None:
    fork.own({"tab\there": "1\n"})
    fork.own({"a": text(l1="own\n")})
    (hint,) = started(fork, tmp_path / "new", "--json", code=1).json["error"]["hints"]
    *_, base, imported = hint.removeprefix("to import the others: patchmgr ").split(", ")
    at = tmp_path / "by hand"
    fork.scene.run("init", at)
    fork.scene.run("-C", at, "upstream", "add", "up", "--git", fork.scene.upstream.root)
    fork.scene.run("-C", at, *shlex.split(base), "--upstream", "up")
    answer = fork.scene.run("-C", at, *shlex.split(imported))
    assert "Imported 1 patch into upstream" in answer.out


def test_what_is_no_branch_of_a_fork_leaves_no_workspace(fork: Fork, tmp_path: Path) -> None:
    at = tmp_path / "new"
    assert "has no commit that origin/main lacks" in one_line(started(fork, at, code=2))
    fork.own({"a": text(l1="own\n")})
    assert "has no commit nowhere" in one_line(started(fork, at, ref="nowhere", code=2))
    assert not at.exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".patch")] == []
    at.mkdir()
    (at / "mine").write_text("")
    assert "already exists" in one_line(started(fork, at, code=2))
    (at / "mine").unlink()
    assert "Imported 1 patch into upstream" in started(fork, at, "--squash").out
    fork.scene.run("init", tmp_path / "other", "--squash", code=2)
    fork.scene.run("init", tmp_path / "other", "--from-branch", fork.clone.root, "main", code=2)


def merged_twice(fork: Fork) -> None:
    """Let the fork go on after it was imported: two branches are merged, with a conflict."""
    start = fork.clone.head()
    with fork.clone.at("-b", "side"):
        fork.own({"a": text(l10="side\n")}, "side: one")
    fork.own({"a": text(l10="main\n")}, "main: one")
    fork.merge("side", files={"a": text(l10="both\n")}, message="Merge branch side")
    fork.clone.git("tag", "start", start)


@pytest.mark.parametrize("is_built", [True, False])
@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("--linearize", ["main-one", "side-one"]),
        ("--first-parent", ["main-one", "Merge-branch-side"]),
        ("--squash", ["main-all"]),
    ],
)
def test_what_a_fork_merged_after_its_import_is_added_to_the_series(
    fork: Fork, form: str, names: list[str], is_built: bool
) -> None:
    fork.own({"b": text(l20="own\n")}, "own: one")
    pin = fork.scene.upstream.head()
    fork.series("s", pin)
    fork.take("s", base=pin)
    if is_built:  # the fork goes on from the branch that was built
        fork.call("branch", "s", "--repo", fork.clone.root, "--name", "built")
        fork.clone.git("reset", "--quiet", "--hard", "built")
    merged_twice(fork)
    done = fork.take("s", form, base="start")
    found = [line.split()[0] for line in done.out.splitlines() if ".patch  " in line]
    assert [one for one, wish in zip(found, names, strict=False) if not one.startswith(wish)] == []
    assert " after " in done.out
    assert f"they give exactly the tree of {fork.clone.head()[:12]}" in done.out
    assert fork.built("s") == fork.clone.tree("main")


@pytest.mark.parametrize("knows", ["store", "clone"])
def test_upstream_that_a_fork_merged_after_its_import_is_no_patch(fork: Fork, knows: str) -> None:
    fork.own({"b": text(l20="own\n")}, "own: one")
    fork.series("s", fork.scene.upstream.head())
    fork.take("s", base=fork.scene.upstream.head())
    start = fork.clone.head()
    fork.own({"b": text(l20="own\n", l30="own\n")}, "own: two")
    before = fork.clone.head()
    fork.up({"a": text(l40="up\n")})
    fork.merge(message="sync")
    sync, onto = fork.clone.head(), fork.scene.upstream.head()
    fork.own({"c/d": text(l20="own\n")}, "own: three")
    if knows == "store":
        fork.call("upstream", "fetch")
        fork.clone.git("remote", "remove", "origin")
    answer = fork.take("s", "--linearize", base=start, code=1)
    assert f"merges upstream in {sync[:12]} (sync)" in one_line(answer)
    typed = [line.removeprefix("  hint: ") for line in answer.err.splitlines()[1:]]
    for at, line in enumerate((f"{start[:12]}..{before[:12]}", onto[:12], f"{sync[:12]}..main")):
        assert line in typed[at]
        fork.call(*typed[at].split()[1:])
    assert fork.built("s") == fork.clone.tree("main")
    listed = (fork.scene.root / "series/s/series").read_text().split()
    assert listed == ["own-one.patch", "own-two.patch", "own-three.patch"]
