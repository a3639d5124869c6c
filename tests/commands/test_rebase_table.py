"""`rebase --dry-run` onto several states: a table patch by target."""

from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import SCENE, Run, Scene, invoke
from tests.commands.index import Index
from tests.commands.test_rebase import fork, same_files, text
from tests.conftest import Repository, once
from tests.tables import table

RELEASES = ("--every", "release", "--dry-run")
NEEDS_DRY_RUN = "several --onto, a range A..B, --every and --format need --dry-run"


def verdict_table(document: Any, series: str = "s") -> dict[str, list[str]]:
    """Return target to verdicts."""
    return {
        target["onto"]: [patch["verdict"] for patch in found["patches"]]
        for target in document["targets"]
        for found in target["series"]
        if found["name"] == series
    }


@pytest.fixture
def tagged(scene: Scene) -> Scene:
    """Return a series of two patches on v1.0, of which v1.1 has the first and v2.0 another.

    v2.0rc1 is before it; v1.2 is on a branch of its own; a last commit has no tag.
    """

    def make() -> None:
        scene.upstream.commit({"a": text()})
        scene.upstream.git("tag", "v1.0")
        fork(scene, {"a": text(l10="one\n")}, {"a": text(l10="one\n", l40="two\n")})
        for tag, edits in {
            "v1.1": {"l10": "one\n"},
            "v2.0rc1": {"l10": "one\n", "l40": "other\n"},
            "v2.0": {"l10": "one\n", "l40": "other\n", "l1": "x\n"},
            "sometag": {"l10": "one\n", "l40": "two\n"},
        }.items():
            scene.upstream.commit({"a": text(**edits)}, f"upstream: {tag}")
            scene.upstream.git("tag", "-a", "-m", tag, tag)
            if tag == "v1.1":
                with scene.upstream.at("-b", "releases"):
                    scene.upstream.commit({"b": "x\n"}, "upstream: v1.2")
                    scene.upstream.git("tag", "v1.2")
        scene.call("upstream", "fetch")

    once("tagged", scene.root.parent, SCENE, make)
    return scene


def test_several_targets_give_one_document(tagged: Scene) -> None:
    with same_files(tagged.root):
        both = ("--onto", "v1.1", "--onto", "v2.0")
        answer = tagged.rebase("s", *both, "--dry-run", code=3)
        assert {name: answer[name] for name in ("format", "command", "dry_run")} == {
            "format": 1, "command": "rebase", "dry_run": True,
        }  # fmt: skip
        assert verdict_table(answer) == {
            "v1.1": ["absorbed", "unchanged"],
            "v2.0": ["absorbed", "conflict"],
        }
        alone = [
            tagged.rebase("s", "--onto", onto, "--dry-run", code=code)
            for onto, code in (("v1.1", 0), ("v2.0", 3))
        ]
        found = [target["series"] for target in answer["targets"]]
        assert found == [one["series"] for one in alone]
        assert not any("targets" in one for one in alone)


@table(
    ("span", "targets"),
    [
        ("v1.0..v2.0", ["v1.1", "v1.2", "v2.0"]),
        ("1.0..2.0", ["v1.1", "v1.2", "2.0"]),
        ("v1.1..v2.0", ["v1.2", "v2.0"]),
        ("v1.0..v1.1", ["v1.1"]),
        ("v1.0..v2.0rc1", ["v1.1", "v1.2", "v2.0rc1"]),
        ("v1.0..upstream/main", ["v1.1", "v1.2", "v2.0", "upstream/main"]),
        ("v1.0..", ["v1.1", "v1.2", "v2.0", "upstream/main"]),
        ("..v1.2", ["v1.1", "v1.2"]),
        ("sometag..upstream/main", None),
        ("v2.0..upstream/main", ["upstream/main"]),
    ],
)
def test_a_release_is_a_final_tag(tagged: Scene, span: str, targets: list[str] | None) -> None:
    whole = ("s", "--onto", span, *RELEASES)
    if targets is None:
        error = tagged.rebase(*whole, code=2)["error"]
        assert error["message"] == "sometag and upstream/main are the same upstream commit"
        return
    answer = invoke("-C", tagged.root, "rebase", *whole, "--json").json
    assert [target["onto"] for target in answer["targets"]] == targets


def test_every_so_many_commits(tagged: Scene) -> None:
    log = tagged.upstream.git("rev-list", "--first-parent", "--reverse", "v1.0..main").split()
    for step, expected in {
        "1": [*log[:3], "main"],
        "2": [log[1], "main"],
        "3": [log[2], "main"],
        "9": ["main"],
    }.items():
        whole = ("s", "--onto", "..upstream/main", "--every", step, "--dry-run")
        answer = invoke("-C", tagged.root, "rebase", *whole, "--json").json
        found = [target["onto"].removeprefix("upstream/") for target in answer["targets"]]
        assert found == expected


def test_the_table_on_a_terminal(tagged: Scene) -> None:
    whole = ("s", "--onto", "v1.0..v2.0", "--every", "release", "--dry-run")
    shown = tagged.call("rebase", *whole, code=3)
    heads = [
        tagged.rebase("s", "--onto", onto, "--dry-run")["series"][0]["head"]
        for onto in ("v1.1", "v1.2")
    ]
    assert shown.out == (
        f"s: {tagged.upstream.git('rev-parse', 'v1.0')[:12]} -> 3 targets  (2 patches)\n"
        "  patch                v1.1      v1.2      v2.0\n"
        "  fork-change-1.patch  absorbed  absorbed  absorbed\n"
        "  fork-change-2.patch  same      same      conflict\n"
        "\n"
        f"  v1.1  head {heads[0]}  1 unchanged, 1 absorbed\n"
        f"  v1.2  head {heads[1]}  1 unchanged, 1 absorbed\n"
        "  v2.0  1 conflict\n"
    )
    assert shown.err == "Conflicts on 1 of 3 targets. Nothing was written: this was a dry run.\n"


def test_the_table_as_markdown(tagged: Scene) -> None:
    whole = ("s", "--onto", "v2.0", "--dry-run", "--format", "markdown")
    shown = tagged.call("rebase", *whole, code=3)
    assert "| patch | v2.0 |\n|---|---|\n" in shown.out
    assert "| `fork-change-2.patch` | **conflict** |\n" in shown.out


EVERY = "--every must be 'release' or a number of commits"


@table(
    ("options", "message"),
    [
        (["--onto", "v1.1", "--onto", "v2.0"], NEEDS_DRY_RUN),
        (["--onto", "v1.0..", "--every", "release"], NEEDS_DRY_RUN),
        (["--onto", "v1.0..v2.0", "--dry-run"], "--onto A..B needs --every release or --every N"),
        (["--onto", "v1.1", *RELEASES], "--every needs a range: --onto A..B"),
        ([*RELEASES], "give exactly one of --onto REF, --continue, --skip and --abort"),
        (["--continue", *RELEASES], "--every needs --onto"),
        (["--onto", "v1.1", "--format", "html"], "--format must be terminal or markdown, not html"),
        (["--onto", "..v1.1", "--every", "0"], f"{EVERY}, not 0"),
        (["--onto", "..v1.1", "--every", "x"], f"{EVERY}, not x"),
        (
            ["--onto", "..v1", "--continue"],
            "give exactly one of --onto REF, --continue, --skip and --abort",
        ),
        (["--onto", "..v7", *RELEASES], "up has no branch, tag or commit v7"),
        (["--onto", "v7..", *RELEASES], "up has no branch, tag or commit v7"),
        (["--onto", "v1.1", "--onto", "v7", "--dry-run"], "up has no branch, tag or commit v7"),
    ],
)  # fmt: skip
def test_what_makes_no_table_is_refused(tagged: Scene, options: list[str], message: str) -> None:
    error = tagged.rebase(*(["s"] if "--onto" in options else []), *options, code=2)["error"]
    assert error["message"] == message


def test_a_workspace_without_series_has_no_table(scene: Scene) -> None:
    error = scene.rebase("--onto", "v1", "--onto", "v2", "--dry-run", code=2)["error"]
    assert error["message"] == "this workspace has no series yet"


def test_a_table_does_not_mind_an_unfinished_rebase(tagged: Scene) -> None:
    tagged.call("rebase", "s", "--onto", "v2.0", code=3)
    with same_files(tagged.root):
        tagged.rebase("s", "--onto", "v1.1", "--onto", "v1.2", "--dry-run")


@pytest.fixture
def packaged(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return two series on releases of a package, and one on those of another."""
    root, upstream = tmp_path / "packages", Repository(tmp_path / "unused")
    index = Index(tmp_path / "index")
    monkeypatch.setenv("PIP_INDEX_URL", index.root.as_uri())

    def make() -> None:
        for version in ("1.0", "1.1", "1.2rc1", "1.2", "1.10", "2.0"):
            edits = {"l10": "one\n"} if version in ("1.10", "2.0") else {"l2": f"{version}\n"}
            index.release("p", version, {"a": text(**edits)})
        for version in ("1.0", "1.1", "3.0"):
            index.release("q", version, {"a": text(l5=f"{version}\n")})
        run("init", root)
        base = upstream.commit({"a": text()})
        upstream.git("checkout", "--quiet", "-b", "fork")
        upstream.commit({"a": text(l10="one\n")}, "ours")
        box = tmp_path / "box.mbox"
        box.write_bytes(upstream.patches(f"{base}..fork"))
        for name, package in {"s": "p", "t": "p", "u": "q"}.items():
            if name != "t":
                run("-C", root, "upstream", "add", package, "--package", package)
            run("-C", root, "series", "new", name, "--upstream", package, "--base", "1.0")
            if name != "t":
                run("-C", root, "import", box, "--series", name)

    once("test_rebase_table.py", tmp_path, ("home", "index", "packages", "unused"), make)
    return Scene(upstream, root, run)


def test_every_final_release_of_a_package(packaged: Scene) -> None:
    shown = packaged.call("rebase", "s", "--onto", "1.0..2.0", *RELEASES, "--json")
    assert verdict_table(shown.json) == {
        "v1.1": ["unchanged"], "v1.2": ["unchanged"], "v1.10": ["absorbed"], "v2.0": ["absorbed"],
    }  # fmt: skip
    assert "3 releases to download first: v1.1, v1.2, v1.10\n" in shown.err
    again = packaged.call("rebase", "s", "--onto", "1.0..2.0", *RELEASES)
    assert "to download first" not in again.err
    one = packaged.call("rebase", "s", "--onto", "1.0..upstream/main", *RELEASES)
    assert one.out == again.out


def test_series_of_other_upstreams_have_their_own_targets(packaged: Scene) -> None:
    answer = packaged.rebase("--onto", "1.0..", *RELEASES)
    assert list(verdict_table(answer, "s")) == ["v1.1", "v1.2", "v1.10", "v2.0"]
    assert list(verdict_table(answer, "t")) == ["v1.1", "v1.2", "v1.10", "v2.0"]
    assert list(verdict_table(answer, "u")) == ["v1.1", "v3.0"]
    first = answer["targets"][0]
    assert first["onto"] == "v1.1"
    assert [series["name"] for series in first["series"]] == ["s", "t", "u"]
    shown = packaged.call("rebase", "--onto", "1.0..", *RELEASES).out
    assert "t: v1.0 -> 4 targets  (0 patches)\n  v1.1" in shown
    assert "  v2.0   head " in shown
    assert "  no patches\n\nu: v1.0 -> 2 targets  (1 patch)\n" in shown


def test_a_package_has_no_commits_to_count(packaged: Scene) -> None:
    error = packaged.rebase("s", "--onto", "1.0..2.0", "--every", "5", "--dry-run", code=2)["error"]
    assert error["message"] == "--every N counts commits, but a package has only releases"
