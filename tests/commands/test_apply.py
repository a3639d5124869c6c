"""`apply`, `unapply` and `verify` on checkouts, with real git as the oracle."""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.commands.conftest import Answer
from tests.commands.scenes import (
    Stage,
    changed,
    one_line,
    picture,
    plant,
    text,
    unchanged,
    work_tree,
)
from tests.commands.test_refreshing import diff_of
from tests.conftest import Repository
from tests.long import LONG, crossed
from tests.tables import table

MODES = [(), ("--commit",), ("--dry-run",)]
WITH_GIT = (".patchmgr",)
PATHS = {"bytes", "gone/only.txt", "link", "new-link", "new/deep/file.txt", "pkg/a.py",
         "plain.sh", "run.sh"}  # fmt: skip


def record(checkout: Repository) -> Path:
    return checkout.root / ".git/patchmgr/applied.json"


def apply(stage: Stage, checkout: Repository, *arguments: str, code: int = 0) -> Answer:
    return stage.run("apply", "s", "--to", checkout.root, *arguments, code=code)


def unapply(stage: Stage, checkout: Repository, *arguments: str, code: int = 0) -> Answer:
    return stage.run("unapply", "s", "--to", checkout.root, *arguments, code=code)


def verify(stage: Stage, checkout: Repository, *arguments: str, code: int = 0) -> Answer:
    return stage.run("verify", "s", "--to", checkout.root, *arguments, code=code)


def edit_series(stage: Stage, old: bytes, new: bytes) -> None:
    """Change the text that a patch of the series writes."""
    patch = stage.root / "series/s/fork-one.patch"
    content = patch.read_bytes()
    assert old in content
    patch.write_bytes(content.replace(old, new))


def refuses(stage: Stage, checkout: Repository, *arguments: str, code: int = 1) -> str:
    """Check that `apply` refuses in one line and changes nothing; return the line."""
    before, head = picture(checkout.root), checkout.git("rev-parse", "HEAD", good=(0, 128))
    status = checkout.git("status", "--porcelain", "--ignored")
    message = one_line(apply(stage, checkout, *arguments, code=code))
    assert picture(checkout.root) == before
    assert checkout.git("rev-parse", "HEAD", good=(0, 128)) == head
    assert checkout.git("status", "--porcelain", "--ignored") == status
    assert not list((checkout.root / ".git/patchmgr").glob("*.json"))
    return message


def test_files_are_those_of_the_fork_and_go_back_as_they_were(stage: Stage) -> None:
    checkout = stage.clone()
    with unchanged(checkout.root):
        answer = apply(stage, checkout, "--json").json
        assert answer["paths"] == sorted(PATHS)
        assert [patch["verdict"] for patch in answer["patches"]] == ["unchanged", "unchanged"]
        assert (answer["applied"], answer["changed"], answer["head"]) == (True, True, None)
        assert work_tree(checkout) == stage.upstream.tree("fork")
        assert checkout.head() == stage.base
        assert checkout.git("diff", "--cached", "--name-only") == ""
        verify(stage, checkout)
        unapply(stage, checkout)
    assert checkout.git("status", "--porcelain") == ""
    assert not record(checkout).exists()
    assert not (checkout.root / ".git/patchmgr/originals").exists()


@pytest.mark.parametrize("branch", ["work", ""], ids=["branch", "detached"])
def test_commits_have_the_promised_people_and_leave_all_clean(stage: Stage, branch: str) -> None:
    checkout = stage.clone(branch=branch)
    before = picture(checkout.root)
    answer = apply(stage, checkout, "--commit", "--json").json
    assert checkout.head() == answer["head"]
    assert checkout.git("status", "--porcelain", "--ignored") == ""
    assert checkout.tree() == stage.upstream.tree("fork") == work_tree(checkout)
    form = "--format=%H|%an <%ae>|%ad|%cn <%ce>|%cd|%s"
    lines = checkout.git("log", form, "--date=raw", f"{stage.base}..").splitlines()
    ours = "A. Author <author@example.org>|1700000000 +0000"
    theirs = "patchmgr <patchmgr@localhost>|1700000000 +0000"
    commits = [patch["commit"] for patch in answer["patches"]]
    named = zip(commits, ("one", "two"), strict=True)
    assert lines == [f"{commit}|{ours}|{theirs}|fork: {name}" for commit, name in named][::-1]
    assert checkout.git("log", "-1", "--format=%b", commits[0]) == "Why it is so."
    on = checkout.git("symbolic-ref", "-q", "HEAD", good=(0, 1))
    assert on == ("refs/heads/work" if branch else "")
    assert checkout.git("rev-parse", "work" if branch else "HEAD") == answer["head"]
    unapply(stage, checkout)
    assert picture(checkout.root) == before
    assert checkout.head() == stage.base
    assert checkout.git("status", "--porcelain", "--ignored") == ""
    built = stage.run("branch", "s", "--json").json
    assert built["head"] == answer["head"]


def test_a_checkout_of_another_commit_gets_what_a_rebase_onto_it_gives(stage: Stage) -> None:
    commit = stage.upstream.git("rev-parse", "later")
    checkout = stage.clone(commit=commit)
    wanted = stage.run("rebase", "s", "--onto", commit, "--dry-run", "--json").json["series"][0]
    with unchanged(checkout.root):
        answer = apply(stage, checkout, "--json").json
        for document in (answer, wanted):
            verdicts = [patch["verdict"] for patch in document["patches"]]
            assert verdicts == ["partial", "unchanged"]
        assert work_tree(checkout) == wanted["tree"]
        unapply(stage, checkout)
    assert apply(stage, checkout, "--commit", "--json").json["head"] == wanted["head"]


def test_what_the_checkout_has_already_is_said_and_left_alone(stage: Stage) -> None:
    checkout = stage.clone(commit=stage.upstream.git("rev-parse", "landed"))
    with unchanged(checkout.root):
        answer = apply(stage, checkout)
        assert "The checkout already has 2 patches." in answer.out
    verify(stage, checkout)
    assert "already" in apply(stage, checkout).out
    head = checkout.head()
    assert apply(stage, checkout, "--commit", "--json").json["head"] == head
    unapply(stage, checkout)
    assert checkout.head() == head


def test_a_conflict_is_told_and_nothing_is_written(stage: Stage) -> None:
    checkout = stage.clone(commit=stage.upstream.git("rev-parse", "collides"))
    before, head = picture(checkout.root), checkout.head()
    answer = apply(stage, checkout, code=3)
    assert "pkg/a.py" in answer.out
    assert "nothing was written" in answer.out
    for mode in MODES:
        document = apply(stage, checkout, *mode, "--json", code=3).json
        assert document["applied"] is False
        assert [patch["verdict"] for patch in document["patches"]] == ["conflict", "unchanged"]
        assert (picture(checkout.root), checkout.head()) == (before, head)
        assert checkout.git("status", "--porcelain") == ""
        assert not record(checkout).exists()


def test_a_dry_run_writes_nothing_at_all(stage: Stage) -> None:
    checkout = stage.clone()
    before = picture(stage.folder, without=("tmp",))
    answer = apply(stage, checkout, "--dry-run")
    assert "Would apply 2 of 2 patches to 8 files" in answer.out
    document = apply(stage, checkout, "--dry-run", "--commit", "--json").json
    assert changed(before, picture(stage.folder, without=("tmp",))) == set()
    assert apply(stage, checkout, "--commit", "--json").json["head"] == document["head"]


def _stage_an_edit(checkout: Repository) -> None:
    (checkout.root / "pkg/b.py").write_text("edited\n")
    checkout.git("add", "pkg/b.py")


def _conflict(checkout: Repository) -> None:
    checkout.git("checkout", "--quiet", "-b", "other")
    plant(checkout, {"pkg/b.py": "other\n"}, "other")
    checkout.git("checkout", "--quiet", "work")
    plant(checkout, {"pkg/b.py": "work\n"}, "work")
    checkout.git("merge", "other", good=(1,))


@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        pytest.param(lambda c: (c.root / "pkg/a.py").write_text("x"), "pkg/a.py", id="edited"),
        pytest.param(lambda c: (c.root / "pkg/b.py").write_text("x"), "pkg/b.py", id="elsewhere"),
        pytest.param(_stage_an_edit, "pkg/b.py", id="staged"),
        pytest.param(lambda c: (c.root / "pkg/a.py").unlink(), "pkg/a.py", id="deleted"),
        pytest.param(lambda c: (c.root / "run.sh").chmod(0o644), "run.sh", id="mode"),
        pytest.param(lambda c: c.git("rm", "--cached", "-q", "bytes"), "bytes", id="removed"),
        pytest.param(_conflict, "pkg/b.py", id="in-conflict"),
    ],
)
def test_no_dirty_checkout(stage: Stage, spoil: Callable[[Repository], object], path: str) -> None:
    checkout = stage.clone()
    spoil(checkout)
    message = refuses(stage, checkout)
    assert path in message
    assert "not committed" in message
    refuses(stage, checkout, "--commit")


def _file(path: str) -> Callable[[Path], object]:
    def make(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("mine\n")

    return make


def _link_outside(root: Path) -> None:
    (root.parent / "outside").mkdir()
    (root / "new").symlink_to(root.parent / "outside")


def _ignored(root: Path) -> None:
    _file("new-link")(root)
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("new-link\n")


@pytest.mark.parametrize(
    ("spoil", "words", "mode"),
    crossed(
        [
            (_file("new-link"), "new-link is untracked in"),
            (_ignored, "new-link is untracked in"),
            (_file("new/deep/file.txt/x"), "new/deep/file.txt/x is in"),
            (lambda root: (root / "new-link/sub").mkdir(parents=True), "new-link/sub is in"),
            (_file("new"), "leads through new"),
            (_link_outside, "leads through new"),
        ],
        ["", "--commit", "--dry-run"],
    ),
)
def test_in_the_way(stage: Stage, spoil: Callable[[Path], object], words: str, mode: str) -> None:
    checkout = stage.clone()
    spoil(checkout.root)
    assert words in refuses(stage, checkout, *mode.split())
    assert not list(stage.folder.glob("outside/*"))


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_that_git_was_told_to_overlook_is_not_lost(stage: Stage, flag: str) -> None:
    checkout = stage.clone()
    checkout.git("update-index", flag, "pkg/a.py")
    apply(stage, checkout)
    unapply(stage, checkout)
    record(checkout).unlink(missing_ok=True)
    (checkout.root / "pkg/a.py").write_text("mine\n")
    assert "is marked skip-worktree" in refuses(stage, checkout)


@pytest.mark.parametrize("mode", MODES[:2], ids=["files", "commit"])
def test_a_sparse_checkout_stays_one(stage: Stage, mode: tuple[str, ...]) -> None:
    checkout = stage.clone()
    checkout.git("sparse-checkout", "set", "--no-cone", "/run.sh", "/bytes")
    before, flags = picture(checkout.root), checkout.git("ls-files", "-t")
    assert "pkg/a.py" not in before
    apply(stage, checkout, *mode)
    assert (checkout.root / "pkg/a.py").read_text() == text(l30="ours\n")
    verify(stage, checkout)
    checkout.git("status")  # git clears what it was told of files that it finds
    unapply(stage, checkout)
    assert picture(checkout.root) == before
    assert checkout.git("ls-files", "-t") == flags
    assert checkout.git("status", "--porcelain") == ""


@pytest.mark.parametrize("mode", MODES[:2], ids=["files", "commit"])
def test_once_more_changes_nothing(stage: Stage, mode: tuple[str, ...]) -> None:
    checkout = stage.clone()
    first = apply(stage, checkout, *mode, "--json").json
    before, head = picture(checkout.root, without=WITH_GIT), checkout.head()
    answer = apply(stage, checkout, *mode)
    assert answer.out == f"s is already applied in {checkout.root} (8 files).\n"
    again = apply(stage, checkout, *mode, "--json").json
    assert (again["changed"], again["applied"], again["paths"]) == (False, True, first["paths"])
    assert again["head"] == first["head"]
    assert changed(before, picture(checkout.root, without=WITH_GIT)) <= {".git/patchmgr/lock"}
    assert checkout.head() == head


@pytest.mark.parametrize(
    ("old", "new"),
    [((), ("--commit",)), (("--commit",), ()), *([((), ()), (("--commit",),) * 2] if LONG else [])],
)
def test_an_old_series_makes_way(stage: Stage, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    checkout = stage.clone()
    before = picture(checkout.root)
    apply(stage, checkout, *old)
    stage.series(stage.upstream.patches("main..fork~1"))
    edit_series(stage, b"+ours\n", b"+other\n")
    verify(stage, checkout, code=4)
    dry = apply(stage, checkout, *new, "--dry-run", "--json").json
    assert (checkout.root / "pkg/a.py").read_text() == text(l30="ours\n")
    answer = apply(stage, checkout, *new, "--json").json
    assert {**dry, "dry_run": False, "applied": True} == answer
    assert (checkout.root / "pkg/a.py").read_text() == text(l30="other\n")
    differing = {path for path in changed(before, picture(checkout.root)) if "/" in path}
    assert differing == {"pkg/a.py", "gone/only.txt", "new/deep", "new/deep/file.txt"}
    assert (checkout.root / "run.sh").read_bytes() == before["run.sh"][2]
    if new:
        assert checkout.git("status", "--porcelain") == ""
        assert checkout.git("rev-list", "--count", f"{stage.base}..") == "1"
    else:
        assert checkout.head() == stage.base
        assert "run.sh" not in checkout.git("status", "--porcelain")
    verify(stage, checkout)
    unapply(stage, checkout)
    assert picture(checkout.root) == before
    assert checkout.git("status", "--porcelain") == ""
    assert checkout.head() == stage.base


@pytest.mark.parametrize("mode", MODES[:2], ids=["files", "commit"])
def test_a_series_that_conflicts_leaves_the_old_one_in(stage: Stage, mode: tuple[str, ...]) -> None:
    checkout = stage.clone(commit=stage.upstream.git("rev-parse", "later"))
    apply(stage, checkout, *mode)
    before, head = picture(checkout.root), checkout.head()
    with stage.upstream.at("--detach", "main"):
        plant(stage.upstream, {"pkg/a.py": text(l2="mine\n")}, "clash")
        stage.series(stage.upstream.patches("main..HEAD"))
    apply(stage, checkout, *mode, code=3)
    assert (picture(checkout.root), checkout.head()) == (before, head)
    verify(stage, checkout, code=4)
    unapply(stage, checkout)


def test_another_series_is_refused_until_the_first_is_out(stage: Stage) -> None:
    stage.run("series", "new", "t", "--upstream", "up", "--base", stage.base)
    checkout = stage.clone("my checkout")
    apply(stage, checkout)
    answer = stage.run("apply", "t", "--to", checkout.root, code=2)
    assert one_line(answer) == f"the series s is applied in {checkout.root}"
    stage.run("unapply", "t", "--to", checkout.root, code=2)
    stage.run(*shlex.split(answer.err.partition("remove it with: patchmgr ")[2]))
    stage.run("apply", "t", "--to", checkout.root)


def _folder_there(_: Stage, checkout: Repository) -> None:
    (checkout.root / "pkg/a.py").unlink()
    (checkout.root / "pkg/a.py").mkdir()


def _change(stage: Stage, _: Repository) -> None:
    edit_series(stage, b"+ours\n", b"+other\n")


@pytest.mark.parametrize(
    ("act", "words", "state"),
    [
        pytest.param(lambda s, c: None, "s is applied in", None, id="patched"),
        pytest.param(lambda s, c: (c.root / "pkg/a.py").write_text("mine\n"),
                     "edited  pkg/a.py", "edited", id="edited"),
        pytest.param(lambda s, c: c.git("checkout", "--", "pkg/a.py"),
                     "original  pkg/a.py", "original", id="original"),
        pytest.param(lambda s, c: (c.root / "plain.sh").chmod(0o644),
                     "original  plain.sh", "original", id="mode"),
        pytest.param(_folder_there, "edited  pkg/a.py", "edited", id="folder"),
        pytest.param(_change, "s has changed since", None, id="changed-series"),
        pytest.param(unapply, "s is not applied", None, id="not-applied"),
    ],
)  # fmt: skip
def test_verify_says_what_is_in(
    stage: Stage, act: Callable[[Stage, Repository], object], words: str, state: str | None
) -> None:
    checkout = stage.clone()
    apply(stage, checkout)
    act(stage, checkout)
    code = 0 if words == "s is applied in" else 4
    states = {words.split()[1]: state} if state else {}
    assert words in verify(stage, checkout, code=code).out
    document = verify(stage, checkout, "--json", code=code).json
    assert document["sound"] is (code == 0)
    found = {file["path"]: file["state"] for file in document["files"]}
    assert {path: state for path, state in found.items() if state != "patched"} == states


def test_guards_that_were_selected_count_for_verify(stage: Stage) -> None:
    series = stage.root / "series/s/series"
    series.write_text("fork-one.patch\nfork-two.patch #+more\n")
    checkout = stage.clone()
    apply(stage, checkout, "--select", "more")
    assert (checkout.root / "run.sh").read_text().endswith("echo\n")
    verify(stage, checkout)
    verify(stage, checkout, "--select", "more")
    verify(stage, checkout, "--select", "less", code=4)
    apply(stage, checkout)
    assert not (checkout.root / "run.sh").read_text().endswith("echo\n")
    verify(stage, checkout)


def test_unapply_refuses_what_was_edited_since(stage: Stage) -> None:
    checkout = stage.clone()
    apply(stage, checkout)
    (checkout.root / "pkg/a.py").write_text(text(l30="ours and mine\n"))
    before = picture(checkout.root)
    for command in ("unapply", "apply"):
        edit_series(stage, b"index", b"index")
        if command == "apply":
            edit_series(stage, b"+ours", b"+others")
        answer = stage.run(command, "s", "--to", checkout.root, code=1)
        told = f"pkg/a.py in {checkout.root} was edited after the series was applied"
        assert one_line(answer) == told
        assert picture(checkout.root) == before
    (checkout.root / "pkg/a.py").write_text(text(l30="ours\n"))
    (checkout.root / "pkg/b.py").write_text("an edit elsewhere is in nobody's way\n")
    unapply(stage, checkout)
    assert checkout.git("status", "--porcelain") == "M pkg/b.py"


ONE_FILE = """--- a/pkg/a.py
+++ b/pkg/a.py
@@ -30,3 +30,3 @@
 line 29
-line 30
+ours
 line 31
"""


@pytest.mark.parametrize("is_back", [False, True])
def test_a_series_whose_every_file_was_edited_is_still_applied(stage: Stage, is_back: bool) -> None:
    (stage.root / "series/s/only.patch").write_text(ONE_FILE)
    (stage.root / "series/s/series").write_text("only.patch\n")
    checkout = stage.clone()
    apply(stage, checkout)
    if is_back:
        checkout.git("checkout", "--quiet", ".")
    place = checkout.root / "pkg/a.py"
    place.write_text(place.read_text().replace("line 9\n", "mine\n"))
    if is_back:
        assert f"git -C {checkout.root} stash" in apply(stage, checkout, code=1).err
        unapply(stage, checkout, "--force", code=2)
        return
    for act in (apply, unapply):
        assert f"unapply s --to {checkout.root} --force" in act(stage, checkout, code=1).err
    unapply(stage, checkout, "--force")
    assert checkout.git("status", "--porcelain") == ""
    apply(stage, checkout)
    checkout.git("apply", str(stage.root / ".patchmgr/s-edits.patch"))
    assert place.read_text() == text(l30="ours\n", l9="mine\n")


def test_commits_below_a_staged_edit_are_taken_out_and_the_edit_is_kept(stage: Stage) -> None:
    stage.upstream.git("checkout", "--quiet", "main")
    checkout = stage.clone()
    checkout.git("config", "core.autocrlf", "true")
    apply(stage, checkout, "--commit")
    edited = text(l30="ours\n", l9="mine\n")
    (checkout.root / "pkg/a.py").write_bytes(edited.replace("\n", "\r\n").encode())
    checkout.git("add", "--all")
    unapply(stage, checkout, code=1)
    unapply(stage, checkout, "--force")
    assert checkout.git("rev-parse", "HEAD") == stage.base
    assert checkout.git("status", "--porcelain") == ""
    kept = (stage.root / ".patchmgr/s-edits.patch").read_bytes()
    assert diff_of(kept) == [b"-line 9", b"+mine"]


def test_a_mode_that_a_series_changed_counts_in_an_edited_file(stage: Stage) -> None:
    modes = "diff --git a/pkg/a.py b/pkg/a.py\nold mode 100644\nnew mode 100755\n"
    (stage.root / "series/s/only.patch").write_text(modes)
    (stage.root / "series/s/series").write_text("only.patch\n")
    checkout = stage.clone()
    apply(stage, checkout)
    place = checkout.root / "pkg/a.py"
    place.write_text(text(l9="mine\n"))
    assert f"unapply s --to {checkout.root} --force" in unapply(stage, checkout, code=1).err
    unapply(stage, checkout, "--force")
    assert checkout.git("status", "--porcelain") == ""
    place.chmod(0o644)
    place.write_text(text(l9="mine\n"))
    unapply(stage, checkout, code=2)


@pytest.mark.parametrize("mark", ["--skip-worktree", "--assume-unchanged"])
def test_unapply_sees_an_edit_that_git_was_told_to_ignore(stage: Stage, mark: str) -> None:
    checkout = stage.clone()
    place = checkout.root / "pkg/a.py"
    original = place.read_bytes()
    apply(stage, checkout)
    checkout.git("update-index", mark, "pkg/a.py")
    place.write_bytes(place.read_bytes() + b"mine\n")
    assert f"unapply s --to {checkout.root} --force" in unapply(stage, checkout, code=1).err
    unapply(stage, checkout, "--force")
    assert place.read_bytes() == original
    assert b"+mine" in (stage.root / ".patchmgr/s-edits.patch").read_bytes()


def test_unapply_refuses_to_bury_commits_on_top(stage: Stage) -> None:
    checkout = stage.clone()
    head = apply(stage, checkout, "--commit", "--json").json["head"]
    plant(checkout, {"mine.txt": "mine\n"}, "mine")
    answer = unapply(stage, checkout, code=2)
    assert one_line(answer) == f"{checkout.root} has commits on top of those of s"
    assert f"rebase --onto {stage.base[:12]} {head[:12]}" in answer.err
    assert "already" in apply(stage, checkout, "--commit").out
    checkout.git("rebase", "--quiet", "--onto", stage.base, head)
    assert not (checkout.root / "new").exists()
    unapply(stage, checkout, code=2)
    apply(stage, checkout, "--commit")
    assert (checkout.root / "mine.txt").exists()


def test_what_git_took_out_or_over_is_not_in_the_way(stage: Stage) -> None:
    checkout = stage.clone()
    apply(stage, checkout)
    checkout.git("reset", "--quiet", "--hard")
    checkout.git("clean", "-fdq")
    unapply(stage, checkout, code=2)
    apply(stage, checkout)
    checkout.git("add", "--all")
    checkout.git("commit", "--quiet", "-m", "taken over")
    verify(stage, checkout)
    unapply(stage, checkout, code=2)
    assert "The checkout already has 2 patches." in apply(stage, checkout).out
    checkout.git("checkout", "--quiet", "-B", "work", "origin/later")
    apply(stage, checkout, "--commit")
    checkout.git("checkout", "--quiet", "-B", "again", stage.base)
    apply(stage, checkout, "--commit")
    assert checkout.tree() == stage.upstream.tree("fork")


def test_files_that_were_staged_go_back_too(stage: Stage) -> None:
    checkout = stage.clone()
    apply(stage, checkout)
    checkout.git("add", "--all")
    unapply(stage, checkout)
    assert checkout.git("status", "--porcelain") == ""


def test_commits_wait_for_a_merge_to_be_finished(stage: Stage) -> None:
    checkout = stage.clone()
    checkout.git("merge", "--quiet", "--no-commit", "--no-ff", "-s", "ours", "origin/later")
    assert "a merge in progress" in refuses(stage, checkout, "--commit")
    apply(stage, checkout)


def test_permissions_are_kept_and_come_back(stage: Stage) -> None:
    checkout = stage.clone()
    for path, bits in (("pkg/a.py", 0o600), ("gone/only.txt", 0o640), ("plain.sh", 0o640),
                       ("run.sh", 0o711)):  # fmt: skip
        (checkout.root / path).chmod(bits)
    with unchanged(checkout.root):
        apply(stage, checkout)
        after = picture(checkout.root)
        assert after["pkg/a.py"][1] == 0o600
        assert after["plain.sh"][1] == 0o750
        assert after["run.sh"][1] == 0o711
        unapply(stage, checkout)


def test_a_hard_link_elsewhere_keeps_its_content(stage: Stage) -> None:
    checkout = stage.clone()
    elsewhere = stage.folder / "elsewhere.py"
    os.link(checkout.root / "pkg/a.py", elsewhere)
    apply(stage, checkout)
    assert elsewhere.read_text() == text()
    unapply(stage, checkout)
    assert elsewhere.read_text() == text()


def test_a_tracked_link_to_a_folder_is_not_followed(stage: Stage) -> None:
    checkout = stage.clone()
    outside = stage.folder / "outside"
    outside.mkdir()
    plant(checkout, {}, "link", links={"new": str(outside)})
    before = picture(stage.folder, without=("tmp", ".git", ".patchmgr"))
    answer = apply(stage, checkout, code=3)
    assert "new" in answer.out
    assert changed(before, picture(stage.folder, without=("tmp", ".git", ".patchmgr"))) == set()


def test_each_work_tree_has_its_own_state(stage: Stage) -> None:
    checkout = stage.clone()
    checkout.git("worktree", "add", "--quiet", "-b", "second", "../second", "origin/later")
    second = Repository(stage.folder / "second", is_there=True)
    with unchanged(second.root):
        apply(stage, second, "--commit")
        assert checkout.git("status", "--porcelain") == ""
        assert (checkout.head(), second.git("status", "--porcelain")) == (stage.base, "")
        verify(stage, checkout, code=4)
        apply(stage, checkout)
        unapply(stage, second)
    assert second.git("symbolic-ref", "HEAD") == "refs/heads/second"
    verify(stage, checkout)


@pytest.fixture
def repositories(stage: Stage) -> None:
    stage.upstream.git("clone", "--quiet", "--bare", ".", str(stage.folder / "bare.git"))
    Repository(stage.folder / "unborn")
    stage.clone()


@pytest.mark.usefixtures("repositories")
@table(
    ("place", "words"),
    [
        ("bare.git", "has no work tree"),
        ("unborn", "has no commit checked out"),
        ("checkout/pkg", "must be the top folder of a checkout"),
        ("checkout/.git", "has no work tree"),
        ("workspace", "is not a git repository"),
        ("none", "there is no folder"),
    ],
)
def test_what_is_no_checkout_is_refused(stage: Stage, place: str, words: str) -> None:
    for command in ("apply", "unapply", "verify"):
        if command == "verify" and place == "unborn":
            continue  # it needs no commit to say that nothing is applied
        assert words in one_line(stage.run(command, "s", "--to", stage.folder / place, code=2))


def test_nothing_is_written_into_a_submodule(stage: Stage, tmp_path: Path) -> None:
    inner = Repository(tmp_path / "inner")
    inner.commit({"x": "inner\n"}, "inner")
    checkout = stage.clone()
    checkout.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                 str(inner.root), "new")  # fmt: skip
    checkout.git("commit", "--quiet", "-m", "submodule")
    with unchanged(checkout.root):
        answer = apply(stage, checkout, code=3)
        assert "new" in answer.out
    (checkout.root / "new/x").write_text("an edit in there is nobody's business\n")
    stage.series(stage.upstream.patches("main~0..fork").replace(b"new/deep/file.txt", b"other.txt"))
    apply(stage, checkout)
    assert (checkout.root / "other.txt").exists()


@table("name", ["with space", "ünï-☃", "$HOME %41 'q' \"d\"", "~x"])
def test_a_checkout_may_have_any_name(stage: Stage, name: str) -> None:
    checkout = stage.clone(name)
    with unchanged(checkout.root):
        apply(stage, checkout, "--commit")
        verify(stage, checkout)
        assert str(checkout.root) in stage.run("status").out
        unapply(stage, checkout)


def test_a_checkout_with_a_line_break_in_its_path_is_refused(stage: Stage) -> None:
    checkout = stage.clone("two\nlines")
    assert "line break" in one_line(apply(stage, checkout, code=2))


def own_series(
    stage: Stage, start: Mapping[str, bytes | str | None], *more: Callable[[Repository], object]
) -> Repository:
    """Give upstream a commit with files, and the series what `more` does to them; clone it."""
    upstream = Repository(stage.folder / "own")
    base = plant(upstream, start, "start")
    for number, act in enumerate(more):
        act(upstream)
        upstream.commit({}, f"own: {number}")
    stage.run("upstream", "add", "own", "--git", upstream.root)
    stage.run("series", "new", "own", "--upstream", "own", "--base", base)
    stage.take(upstream.patches(f"{base}..HEAD"), "own")
    upstream.git("tag", "fork")
    upstream.git("reset", "--quiet", "--hard", base)
    return upstream


def comes_and_goes(stage: Stage, checkout: Repository, tree: str) -> None:
    """Check that the series `own` makes a tree of a checkout, and leaves it as it was."""
    before = picture(checkout.root)
    for mode in MODES[:2]:
        stage.run("apply", "own", "--to", checkout.root, *mode)
        assert work_tree(checkout) == tree
        stage.run("verify", "own", "--to", checkout.root, "--json")
        stage.run("unapply", "own", "--to", checkout.root)
        assert picture(checkout.root) == before
        assert checkout.git("status", "--porcelain") == ""


def _bytes_path(root: Path, name: bytes) -> bytes:
    return os.path.join(os.fsencode(root), name)


def test_paths_may_be_any_bytes(stage: Stage) -> None:
    names = [b"with space", "ünï-☃".encode(), b"latin-\xe9", b"quo\"te'", b"back\\slash"]

    def act(upstream: Repository) -> None:
        for name in names:
            Path(os.fsdecode(_bytes_path(upstream.root, name))).write_bytes(b"new\n")
            Path(os.fsdecode(_bytes_path(upstream.root, b"d/" + name))).write_bytes(b"changed\n")

    start: dict[str, bytes | str | None] = {os.fsdecode(b"d/" + name): b"old\n" for name in names}
    checkout = own_series(stage, start, act)
    comes_and_goes(stage, checkout, checkout.tree("fork"))


def test_files_and_folders_change_places(stage: Stage) -> None:
    def prepare(upstream: Repository) -> None:
        (upstream.root / "l").symlink_to("m")

    def change(upstream: Repository) -> None:
        for path in ("a", "l", "d/e/f"):
            (upstream.root / path).unlink()
        for path in ("d/e", "d"):
            (upstream.root / path).rmdir()
        for path in ("a/b", "l/x", "d"):
            (upstream.root / path).parent.mkdir(exist_ok=True)
            (upstream.root / path).write_text("new\n")

    start: Mapping[str, bytes | str | None] = {"a": "file\n", "d/e/f": "file\n", "m/x": "file\n"}
    upstream = own_series(stage, start, prepare, change)
    checkout = stage.clone()
    checkout.git("fetch", "--quiet", str(upstream.root), "main")
    checkout.git("checkout", "--quiet", "-B", "work", "FETCH_HEAD")
    comes_and_goes(stage, checkout, upstream.tree("fork"))


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_submodule_change_is_refused_in_one_line(stage: Stage, is_deleted: bool) -> None:
    def act(upstream: Repository) -> None:
        Repository(upstream.root / "sub").commit({"x": "inner\n"}, "inner")

    def undo(upstream: Repository) -> None:
        shutil.rmtree(upstream.root / "sub")

    if is_deleted:
        act(Repository(stage.folder / "own"))
    checkout = own_series(stage, {"a": "file\n"}, undo if is_deleted else act)
    with unchanged(checkout.root):
        answer = stage.run("apply", "own", "--to", checkout.root, code=1)
        assert one_line(answer) == "sub is a submodule, which `patchmgr apply` does not change"
        assert "patchmgr branch --repo" in answer.err


def test_no_hook_filter_or_setting_counts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = stage.clone()
    hooks = checkout.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-commit", "pre-commit", "post-index-change",
                 "post-checkout"):  # fmt: skip
        (hooks / name).write_text(f"#!/bin/sh\ntouch {stage.folder}/ran-{name}\n")
        (hooks / name).chmod(0o755)
    settings = {
        "core.hooksPath": ".git/hooks",
        "commit.gpgSign": "true",
        "user.name": "Somebody",
        "core.autocrlf": "true",
        "core.fsmonitor": f"touch {stage.folder}/ran-monitor",
    }
    for name, value in settings.items():
        checkout.git("config", name, value)
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_WORK_TREE", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Nobody")
    head = apply(stage, checkout, "--commit", "--json").json["head"]
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name)
    assert stage.run("branch", "s", "--json").json["head"] == head
    unapply(stage, checkout)
    assert not list(stage.folder.glob("ran-*"))


def test_a_checkout_with_crlf_files_gets_them_back(stage: Stage) -> None:
    checkout = stage.clone()
    checkout.git("config", "core.autocrlf", "true")
    checkout.git("rm", "-rq", "--cached", ".")
    checkout.git("reset", "--quiet", "--hard")
    before = picture(checkout.root)
    assert b"\r\n" in before["pkg/a.py"][2]
    apply(stage, checkout)
    verify(stage, checkout)
    unapply(stage, checkout)
    assert picture(checkout.root) == before
    assert checkout.git("status", "--porcelain") == ""


def test_another_git_at_work_is_not_disturbed(stage: Stage) -> None:
    checkout = stage.clone()
    lock = checkout.root / ".git/index.lock"
    lock.write_bytes(b"")
    assert "another git process is running" in refuses(stage, checkout, "--commit")
    lock.unlink()
    apply(stage, checkout, "--commit")


def test_a_strangers_repository_needs_trust(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a repository away")
    checkout = stage.clone()
    stage.run("upstream", "add", "theirs", "--git", checkout.root)
    for place in (checkout.root, *checkout.root.rglob("*")):
        os.chown(place, 12345, 12345, follow_symlinks=False)
    answer = apply(stage, checkout, code=2)
    assert "belongs to another user" in one_line(answer)
    assert "safe.directory" in answer.err
    said = stage.run("upstream", "fetch", "theirs", code=1).err
    trust = "if you trust its owner: git config --global --add safe.directory"
    assert f"hint: {trust} {checkout.root}/.git\n" in said
    config = stage.folder / "gitconfig"
    config.write_text("[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    stage.run("upstream", "fetch", "theirs")
    apply(stage, checkout, "--commit")


def test_a_record_that_nobody_can_read_is_an_error_in_one_line(stage: Stage) -> None:
    checkout = stage.clone()
    apply(stage, checkout)
    for content in (b"{", b"[]", b'{"format": 1}', b'{"format": 99}', b"\xff"):
        record(checkout).write_bytes(content)
        for command in ("apply", "unapply", "verify"):
            one_line(stage.run(command, "s", "--to", checkout.root, code=1))
        stage.run("status")
