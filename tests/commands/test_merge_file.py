"""`merge-file` and the merge driver: git is the oracle."""

import random
import stat
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, Run, Scene
from tests.commands.test_conflicts import conflicts
from tests.commands.test_rebase import clash, text
from tests.conftest import Make, Repository
from tests.long import LONG
from tests.tables import table

SIDES = ("base", "ours", "theirs")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder outside of any workspace, and go there."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def put(place: Path, *contents: str | bytes) -> None:
    for name, content in zip(SIDES, contents, strict=True):
        raw = content.encode() if isinstance(content, str) else content
        (place / name).write_bytes(raw)


def merge(run: Run, *arguments: str | Path, code: int = 0) -> Answer:
    return run("merge-file", *SIDES, "--path", "pkg/a.py", "-o", "out", *arguments, code=code)


def test_a_clean_merge_works_outside_of_a_workspace(place: Path, run: Run) -> None:
    put(place, text(), text(l5="ours\n"), text(l40="theirs\n"))
    answer = merge(run)
    assert (answer.out, answer.err) == ("", "")
    assert (place / "out").read_text() == text(l5="ours\n", l40="theirs\n")
    assert merge(run, "--json").json["how"] == "text"


def test_an_edit_of_a_file_that_the_other_side_converted_to_cr_lf(place: Path, run: Run) -> None:
    ours, merged = (
        x.replace("\n", "\r\n") for x in (text(l5="ours\n"), text(l5="ours\n", l40="x\n"))
    )
    for sides in ((ours, text(l40="x\n")), (text(l40="x\n"), ours)):
        put(place, text(), *sides)
        assert merge(run, "--json").json["how"] == "format"
        assert (place / "out").read_bytes() == merged.encode()


def test_a_conflict_leaves_markers_and_exits_with_3(place: Path, run: Run) -> None:
    put(place, text(), text(l5="ours\n"), text(l5="theirs\n"))
    assert "conflicts are left" in merge(run, code=3).err
    region = "<<<<<<< ours\nours\n||||||| base\nline 5\n=======\ntheirs\n>>>>>>> theirs\n"
    assert (place / "out").read_text() == text(l5=region)
    document = merge(run, "--upstream", "theirs", "--json", code=3).json
    assert document["solved"] is False
    assert (place / "out").read_text() == text(l5=region)


def test_without_an_output_the_result_goes_to_stdout(place: Path, run: Run) -> None:
    put(place, text(), text(l5="ours\n"), text())
    assert run("merge-file", *SIDES, "--path", "a").out == text(l5="ours\n")
    run("merge-file", *SIDES, "--path", "a", "--json", code=2)
    line = ("merge-file", *SIDES, "--path", "a", "--json", "-o", "missing/out")
    assert run(*line, code=1).json["error"]["kind"] == "unwritable"


def test_a_dry_run_writes_nothing(place: Path, run: Run) -> None:
    put(place, text(), text(l5="ours\n"), text(l5="theirs\n"))
    merge(run, "--dry-run", code=3)
    assert not (place / "out").exists()


@table(
    ("arguments", "code"),
    [
        (["nothing", "ours", "theirs", "--path", "a", "-o", "out"], 2),
        (["base", "ours", "theirs", "-o", "out"], 2),
        (["base", "ours", "--path", "a", "-o", "out"], 2),
        (["base", "ours", "theirs", "--path", "a", "-o", "out", "--upstream", "both"], 2),
        (["base", "ours", "theirs", "--path", "a", "-o", "none/out"], 1),
    ],
)
def test_wrong_use_is_an_error(place: Path, run: Run, arguments: list[str], code: int) -> None:
    put(place, "a\n", "b\n", "a\n")
    run("merge-file", *arguments, code=code)


def test_a_binary_conflict_keeps_ours(place: Path, run: Run) -> None:
    put(place, b"\0b", b"\0o", b"\0t")
    assert "binary" in merge(run, code=3).err
    assert (place / "out").read_bytes() == b"\0o"


def test_the_output_may_be_a_side_and_keeps_its_mode(place: Path, run: Run) -> None:
    put(place, text(), text(l5="ours\n"), text(l40="theirs\n"))
    (place / "ours").chmod(0o750)
    run("merge-file", *SIDES, "--path", "a", "-o", "ours")
    assert (place / "ours").read_text() == text(l5="ours\n", l40="theirs\n")
    assert stat.S_IMODE((place / "ours").stat().st_mode) == 0o750
    (place / "link").symlink_to("target")
    run("merge-file", *SIDES, "--path", "a", "-o", "link")
    assert (place / "target").read_text() == text(l5="ours\n", l40="theirs\n")


def test_user_settings_are_ignored(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    put(place, text(), text(l5="ours\n"), text(l5="theirs\n"))
    merge(run, code=3)
    before = (place / "out").read_bytes()
    config = place / "config"
    config.write_text("[merge]\nconflictStyle=merge\n[diff]\nalgorithm=minimal\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    merge(run, code=3)
    assert (place / "out").read_bytes() == before


def _varied(dice: random.Random, lines: list[str]) -> list[str]:
    found = list(lines)
    for _ in range(dice.randrange(1, 5)):
        at = dice.randrange(len(found))
        found[at : at + dice.randrange(3)] = [
            dice.choice(["x\n", "}\n", "\n", "y = 1\n"]) for _ in range(dice.randrange(3))
        ]
    return found


@pytest.mark.parametrize("seed", range(12 if LONG else 5))
def test_any_merge_has_the_bytes_of_git_merge(
    place: Path, run: Run, make_repository: Make, seed: int
) -> None:
    dice = random.Random(seed)
    base = [dice.choice(["x\n", "}\n", "\n", "a\n", "b\n", f"{n}\n"]) for n in range(40)]
    base, ours, theirs = base, _varied(dice, base), _varied(dice, base)
    contents = ["".join(lines) for lines in (base, ours, theirs)]
    clone = make_repository("clone")
    start = clone.commit({"f": contents[0]}, "base")
    with clone.at("-b", "theirs", start):
        clone.commit({"f": contents[2]}, "theirs")
    clone.commit({"f": contents[1]}, "ours")
    clone.git("-c", "merge.conflictStyle=zdiff3", "merge", "--quiet", "theirs", good=(0, 1))
    git = (clone.root / "f").read_bytes()
    put(place, *contents)
    code = 3 if b"<<<<<<< " in git else 0
    merge(run, "--confidence", "100", code=code)
    expected = git
    for old, new in ((b"HEAD", b"ours"), (b"theirs", b"theirs"), (start[:7].encode(), b"base")):
        for sign in (b"<<<<<<< ", b"||||||| ", b">>>>>>> "):
            expected = expected.replace(sign + old + b"\n", sign + new + b"\n")
    assert (place / "out").read_bytes() == expected


@pytest.fixture
def clone(make_repository: Make, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a clone with two branches that collide in a.py and b.bin; go there."""
    clone = make_repository("clone")
    start = clone.commit({"pkg/a.py": text(), "b.bin": "b\n", "c.py": "c\n"}, "base")
    with clone.at("-b", "theirs", start):
        clone.commit({"pkg/a.py": text(l10="ours\n"), "b.bin": "t\n"}, "theirs")
    clone.commit({"pkg/a.py": text(l10="theirs\n")}, "ours")
    monkeypatch.chdir(clone.root)
    return clone


def driver(run: Run, *arguments: str | Path, code: int = 0) -> Answer:
    return run("merge-driver", *arguments, code=code)


def state(clone: Repository) -> tuple[str, str | None]:
    attributes = clone.root / ".git/info/attributes"
    lines = attributes.read_text() if attributes.exists() else None
    return (clone.root / ".git/config").read_text(), lines


def test_the_driver_is_installed_once_and_taken_out_whole(clone: Repository, run: Run) -> None:
    info = clone.root / ".git/info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("*.x text")
    before = state(clone)
    assert "Would write" in driver(run, "install", "--dry-run").out
    assert state(clone) == before
    assert "Wrote" in driver(run, "install").out
    after = state(clone)
    assert "\n*.py merge=patchmgr\n" in str(after[1])
    assert after[1] is not None
    assert after[1].startswith("*.x text\n# patchmgr")
    assert "already" in driver(run, "install").out
    assert state(clone) == after
    driver(run, "install", "--pattern", "*.foo", "--upstream", "theirs")
    assert "*.py" not in str(state(clone)[1])
    assert "--upstream theirs" in state(clone)[0]
    driver(run, "uninstall", "--dry-run")
    driver(run, "uninstall")
    assert state(clone) == (before[0], "*.x text\n")
    assert "driver is not installed" in driver(run, "uninstall").out


def test_a_repository_without_attributes_has_none_afterwards(clone: Repository, run: Run) -> None:
    driver(run, "install", "--git", clone.root)
    driver(run, "uninstall", "--git", clone.root)
    assert state(clone)[1] is None


@table("arguments", [["--pattern", "a b"], ["--pattern", "!x"], ["--upstream", "x"]])
def test_what_no_attributes_file_holds(clone: Repository, run: Run, arguments: list[str]) -> None:
    before = state(clone)
    driver(run, "install", *arguments, code=2)
    driver(run, "install", "--git", clone.root / "pkg/a.py", code=2)
    assert state(clone) == before


def test_git_merges_with_the_driver_and_its_memory(scene: Scene, clone: Repository) -> None:
    clash(scene, {"a": text(l10="ours\n")}, on={"a": text()}, then={"a": text(l10="theirs\n")})
    (one,) = conflicts(scene, "list", "--json").json["conflicts"]
    scene.call("merge-driver", "install", "--git", clone.root)
    (clone.root / "patchmgr.py").write_text("raise SystemExit(99)\n")
    (clone.root / "typing.py").write_text("raise SystemExit(99)\n")
    clone.git("merge", "--quiet", "theirs", good=(1,))
    region = "<<<<<<< ours\ntheirs\n||||||| base\nline 10\n=======\nours\n>>>>>>> theirs\n"
    assert (clone.root / "pkg/a.py").read_text() == text(l10=region)
    clone.git("merge", "--abort")
    conflicts(scene, "accept", one["id"], "theirs")
    clone.git("merge", "--quiet", "theirs")
    assert (clone.root / "pkg/a.py").read_text() == text(l10="ours\n")
    assert (clone.root / "b.bin").read_text() == "t\n"


def test_without_its_python_the_driver_leaves_markers(clone: Repository, run: Run) -> None:
    driver(run, "install")
    command = clone.git("config", "merge.patchmgr.driver").strip()
    for instead in ("/gone/python", "sh -c 'exit 70' --", "sh -c 'exit 130' --"):
        clone.git("config", "merge.patchmgr.driver", command.replace(sys.executable, instead))
        clone.git("merge", "--quiet", "theirs", good=(1,))
        assert "\n=======\nours\n>>>>>>> " in (clone.root / "pkg/a.py").read_text()
        clone.git("merge", "--abort")


def test_a_broken_memory_does_not_stop_git(scene: Scene, clone: Repository) -> None:
    clash(scene, {"a": text(l10="ours\n")}, on={"a": text()}, then={"a": text(l10="theirs\n")})
    (one,) = conflicts(scene, "list", "--json").json["conflicts"]
    (scene.root / "conflicts" / one["id"] / "meta.toml").write_text("x")
    texts = text(), text(l10="theirs\n"), text(l10="ours\n")
    for name, content in zip(SIDES, texts, strict=True):
        (clone.root / name).write_text(content)
    sides = [clone.root / name for name in SIDES]
    answer = scene.call("merge-driver", "run", "--", *sides, "a", code=1)
    assert "warning: recorded resolutions are not used" in answer.err
    assert "<<<<<<< ours\n" in (clone.root / "ours").read_text()
    (scene.root / "upstream.lock").unlink()
    scene.call("merge-driver", "run", "--", *sides, "a", code=1)


def test_the_driver_starts_for_what_git_cannot_merge_alone(clone: Repository, run: Run) -> None:
    driver(run, "install")
    command = clone.git("config", "merge.patchmgr.driver").strip()
    started = command.replace(sys.executable, "touch started; false ")
    # This option came with git 2.44; without it git fails, and patchmgr starts for every file.
    is_new = "diff-algorithm" in clone.git("merge-file", "-h", good=(129,))
    if not is_new:
        started = started.replace(" --diff-algorithm=histogram", "")
    clone.git("config", "merge.patchmgr.driver", started)
    with clone.at("-b", "far"):
        clone.commit({"pkg/a.py": text(l10="theirs\n", l25="far\n")}, "far")
    clone.commit({"pkg/a.py": text(l10="theirs\n", l2="near\n")}, "near")
    clone.git("merge", "--quiet", "far")
    assert (clone.root / "pkg/a.py").read_text() == text(l10="theirs\n", l2="near\n", l25="far\n")
    assert not (clone.root / "started").exists()
    clone.git("merge", "--quiet", "theirs", good=(1,))
    assert (clone.root / "started").exists()
    assert not list(clone.root.glob(".merge_file*"))


def test_what_is_sure_is_merged_before_the_program_is_loaded(clone: Repository, run: Run) -> None:
    driver(run, "install")
    command = clone.git("config", "merge.patchmgr.driver").strip()
    unloaded = command.replace("patchmgr.cli import main; main()", "os import _exit; _exit(1)")
    clone.git("config", "merge.patchmgr.driver", unloaded.replace("git merge-file", "false"))
    with clone.at("-b", "far"):
        clone.commit({"pkg/a.py": text(l10="theirs\n", l25="far\n")}, "far")
    clone.commit({"pkg/a.py": text(l10="theirs\n", l2="near\n")}, "near")
    clone.git("merge", "--quiet", "far")
    assert (clone.root / "pkg/a.py").read_text() == text(l10="theirs\n", l2="near\n", l25="far\n")
    clone.git("merge", "--quiet", "theirs", good=(1,))


def test_a_driver_that_cannot_merge_says_so_to_git(clone: Repository, run: Run) -> None:
    driver(run, "run", "--", "none", "none", "none", "a", code=129)
    assert (clone.root / "pkg/a.py").read_text() == text(l10="theirs\n")


def test_a_structural_merge_is_named(place: Path, run: Run) -> None:
    put(
        place,
        "import a\nimport m\n\nx = a, m\n",
        "import a\nimport b\nimport m\n\nx = a, m, b\n",
        "import a\nimport c\nimport m\n\nx = a, m\ny = c\n",
    )
    document = merge(run, "--json").json
    assert document["how"] == "structural"
    assert "structural:" in merge(run).err
    united = "import a\nimport b\nimport c\nimport m\n\nx = a, m, b\ny = c\n"
    assert (place / "out").read_text() == united


def test_a_structural_merge_warns_of_a_name_that_its_clean_part_lost(place: Path, run: Run) -> None:
    """As in HabanaAI/vllm-fork (vllm/utils.py): upstream gave up an import that the fork uses."""
    between = "# one\n# two\n# three\n\n"
    rest = "\n# one\n# two\n\n\ndef f(x: list) -> None: ...\n"
    put(
        place,
        f"from typing import List\n{between}import m\n\nx = m\n{rest}",
        f"{between}import b\nimport m\n\nx = m, b\n{rest}",
        f"from typing import List\n{between}import c\nimport m\n\nx = m\ny = c\n{rest}\n"
        "def g(x: List) -> None: ...\n",
    )
    answer = merge(run)
    assert "structural:" in answer.err
    assert "warning: pkg/a.py: `List` is used, but nothing defines it any more." in answer.err


@pytest.mark.parametrize("command", ["rebase", "cherry-pick"])
def test_git_rebases_and_picks_with_the_driver(
    scene: Scene, clone: Repository, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("GIT_EDITOR", "true")
    path = "pkg/it's a file.py"
    clone.commit({path: text()}, "more")
    with clone.at("-b", "topic"):
        picked = clone.commit({path: text(l10="mine\n")}, "topic")
    clone.commit({path: text(l10="yours\n")}, "upstream")
    solved = clone.commit({}, "solved")
    tree = {"a": text(l10="both\n")}
    other = Repository(clone.root.parent / "other")
    start = other.commit({"a": text()}, "base")
    with other.at("-b", "side", start):
        other.commit({"a": text(l10="mine\n")}, "mine")
    other.commit({"a": text(l10="yours\n")}, "yours")
    other.git("merge", "--quiet", "--no-commit", "side", good=(0, 1))
    other.commit({**tree}, "merge")
    conflicts(scene, "learn", "--git", other.root, "HEAD")
    scene.call("merge-driver", "install", "--git", clone.root)
    if command == "rebase":
        clone.git("rebase", "--quiet", "main", "topic")
    else:
        clone.git("cherry-pick", picked)
    assert (clone.root / path).read_text() == text(l10="both\n")
    assert clone.git("rev-parse", "HEAD~1") == solved


def test_a_clean_merge_that_cannot_parse_keeps_gits_bytes_and_warns(place: Path, run: Run) -> None:
    rest = "\n# one\n# two\n# three\n# four\n\n    # rest\n"
    base = f"if FAST:\n    import a\n{rest}"
    put(place, base, f"{base}    import c\n", f"import a\n{rest}")
    answer = merge(run)
    assert "warning: " in answer.err
    assert "both sides parse, but their merge does not: line 9, unexpected indent." in answer.err
    assert (place / "out").read_text() == f"import a\n{rest}    import c\n"
    put(place, base, f"{base}import c\n", f"import a\n{rest}")
    assert merge(run).err == ""
