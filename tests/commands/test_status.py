"""`status` says what the other commands say: of checkouts, of conflicts, of skipped patches."""

import shlex
import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import Scene, invoke
from tests.commands.scenes import Stage, one_line, text
from tests.commands.test_rebase import fork
from tests.tables import table


def where(root: Path) -> list[str]:
    """Return what a workspace says of checkouts."""
    return [
        line for line in invoke("-C", root, "status").out.splitlines() if " is applied in " in line
    ]


def test_a_linked_checkout(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    clone, linked, moved = stage.clone(), stage.folder / "linked", stage.folder / "moved"
    clone.git("worktree", "add", "--quiet", "--detach", str(linked), stage.base)
    stage.run("push", "--to", linked)
    assert where(stage.root) == [f"s is applied in {linked}: 1 patch pushed"]
    monkeypatch.chdir(linked)
    assert invoke("applied").out == "> fork-one.patch\n"
    assert invoke("status").out == stage.run("status").out
    monkeypatch.chdir(stage.folder)
    clone.git("worktree", "move", str(linked), str(moved))
    assert where(stage.root) == [f"s is applied in {moved}: 1 patch pushed"]
    assert stage.run("applied").out == "> fork-one.patch\n"
    stage.run("pop", "--all", "--to", moved)
    assert where(stage.root) == []


def test_a_workspace_behind_a_link(stage: Stage) -> None:
    clone, link = stage.clone(), stage.folder / "link"
    link.symlink_to(stage.root)
    assert invoke("-C", link, "push", "--to", clone.root).code == 0
    for root in (stage.root, link):
        assert where(root) == [f"s is applied in {clone.root}: 1 patch pushed"]
        assert invoke("-C", root, "applied").out == "> fork-one.patch\n"


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "files"])
def test_what_git_took_out_again(stage: Stage, commits: bool) -> None:
    clone = stage.clone()
    stage.run("apply", "s", "--to", clone.root, *(["--commit"] if commits else []))
    assert where(stage.root) == [f"s is applied in {clone.root}: all patches"]
    clone.git("reset", "--quiet", "--hard", stage.base)
    clone.git("clean", "--quiet", "-d", "--force")
    assert where(stage.root) == []
    verified = stage.run("verify", "s", "--to", clone.root, code=4)
    assert verified.out == f"s is not applied in {clone.root}\n"
    assert "is not applied" in stage.run("unapply", "s", "--to", clone.root, code=2).err


def test_what_is_resolved_does_not_wait(scene: Scene) -> None:
    scene.upstream.commit({path: text() for path in "abcd"})
    changes: list[dict[str, bytes | str | None]]
    changes = [{path: text(l10=f"our {path}\n")} for path in "abcd"]
    fork(scene, *changes)
    scene.upstream.commit({path: text(l10=f"their {path}\n") for path in "abcd"}, "all")
    scene.rebase("s", "--onto", "upstream/main", code=3)

    def waiting() -> tuple[list[str], list[str]]:
        told = scene.call("status", "--json").json["unfinished"]
        return told["waiting"], told["resolved"]

    names = [f"s/fork-change-{n}.patch: {path}" for n, path in enumerate("abcd", 1)]
    assert waiting() == (names, [])
    solved = scene.root / ".patchmgr/rebase/s/fork-change-1.patch/a"
    solved.write_text(text(l10="both\n"))
    assert waiting() == (names[1:], names[:1])
    listed = scene.call("conflicts", "list", "--json").json["conflicts"]
    (known,) = (one["id"] for one in listed if one["path"] == "b")
    scene.call("decide", "4", "absorbed")
    assert waiting() == (names[1:3], [names[0], names[3]])
    scene.call("conflicts", "accept", known, "ours")
    assert waiting() == (names[2:3], [*names[:2], names[3]])
    scene.call("decide", "3", "needed")
    gone = solved.parent.parent / "fork-change-2.patch/b"
    gone.rename(scene.root / "kept")
    assert waiting() == (names[1:3], [names[0], names[3]])
    refused = scene.call("rebase", "--continue", code=1).err
    assert "to restore the file: cp .patchmgr/rebase/.marked/s/fork-change-2.patch/b " in refused
    (scene.root / "kept").rename(gone)
    assert "resolved: s/fork-change-1.patch: a" in scene.call("status").out
    patches = scene.rebase("--continue", code=3)["series"][0]["patches"]
    (left,) = (c["path"] for patch in patches for c in patch["conflicts"])
    assert left == "c"


def test_a_series_whose_only_patch_is_skipped(scene: Scene) -> None:
    fork(scene, {"a": text(l10="ours\n")}, on={"a": text()})
    series = scene.root / "series/s/series"
    series.write_text("fork-change-1.patch #+never\n")
    report = scene.call("report", "s")
    assert report.out.startswith("s  0 patches, 1 skipped\n")
    assert "skipped   fork-change-1.patch: " in report.out
    value = scene.call("report", "s", "--json").json["series"][0]
    assert [one["name"] for one in value["skipped"]] == ["fork-change-1.patch"]
    page = scene.call("report", "s", "--format", "markdown").out
    assert "Skipped: `fork-change-1.patch` (" in page


def build_env(stage: Stage) -> dict[str, str]:
    """Return the variables, as a shell reads them."""
    lines = stage.run("status", "--build-env").out.splitlines()
    told = dict(line.split("=", 1) for line in lines)
    found = stage.run("status", "--build-env", "--json").json["build_env"]
    assert found == {name: "".join(shlex.split(text)) for name, text in told.items()}
    return told


def test_the_pins_as_a_build_needs_them(stage: Stage) -> None:
    stage.run("branch", "s", "--name", "built")
    head = stage.run("status", "--of", "built", "--json").json["of"]["commit"]
    assert build_env(stage) == {"S_HEAD": head, "S_COMMIT": stage.base}
    clone = stage.clone("a checkout")
    stage.run("apply", "s", "--to", clone.root)
    assert build_env(stage)["S_SRC_DIR"] == f"'{clone.root}'"
    stage.run("apply", "s", "--to", stage.clone("second").root)
    assert "S_SRC_DIR" not in build_env(stage)


def test_a_series_names_variables_of_its_own(stage: Stage) -> None:
    stage.upstream.git("tag", "v1.2", stage.base)
    stage.run("upstream", "fetch")
    stage.upstream.git("tag", "-d", "v1.2")  # later tests share the repository
    stage.run("series", "new", "3d-x", "--upstream", "up", "--base", "v1.2")
    settings = stage.root / "series/3d-x/series.toml"
    settings.write_text('[build-env]\nWHEEL = "w=={version}+{commit}"\nDIR = "{src_dir}"\n')
    answer = stage.run("status", "--build-env")
    assert f"_3D_X_VERSION=1.2\nWHEEL=w==1.2+{stage.base}\nS_COMMIT=" in answer.out
    assert answer.err == "DIR is left out: 3d-x is not completely applied in exactly one checkout\n"


@table(
    ("line", "problem"),
    {
        "no place": ('X = "{path}"', "the variable X has the unknown placeholder {path}"),
        "a field of a place": (
            'X = "{head.x}"',
            "the variable X has the unknown placeholder {head.x}",
        ),
        "a name of another series": ('S_HEAD = "x"', "the variable S_HEAD is set by two series"),
    },
)
def test_variables_that_cannot_be_told(stage: Stage, line: str, problem: str) -> None:
    if not (stage.root / "series/t").exists():
        stage.run("series", "new", "t", "--upstream", "up", "--base", stage.base)
    (stage.root / "series/t/series.toml").write_text(f"[build-env]\n{line}\n")
    answer = stage.run("status", "--build-env", code=1)
    assert problem in answer.err and "placeholders of [build-env]" in answer.err and not answer.out


def test_a_series_that_does_not_apply_has_no_head(stage: Stage) -> None:
    paths = stage.upstream.git("ls-files").splitlines()
    other = stage.upstream.commit(dict.fromkeys(paths, "another text\n"))
    stage.run("upstream", "fetch")
    stage.upstream.git("reset", "--quiet", "--hard", stage.base)
    stage.run("series", "new", "t", "--upstream", "up", "--base", other)
    for name in ("series", "fork-one.patch", "fork-two.patch"):
        shutil.copy(stage.root / "series/s" / name, stage.root / "series/t" / name)
    assert "fork-one.patch" in one_line(stage.run("status", "--build-env", code=1))
