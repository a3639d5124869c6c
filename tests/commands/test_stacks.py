"""Series that stand on each other: rebased together, reported apart."""

from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import SCENE, Scene
from tests.commands.scenes import one_line, picture, text, unchanged
from tests.conftest import once
from tests.tables import table

LOW = {"l3": "low one\n", "l4": "low two\n"}


class Stack:
    """A fork of three commits: the first is the series `low`, the others `high` on it."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.upstream = scene, scene.upstream
        once("stack", scene.root.parent, SCENE, self._make)
        self.base = self.upstream.tip("refs/heads/main")
        self.high = scene.root.parent / "high.mbox"
        self.high.write_bytes(self.upstream.patches("fork~2..fork"))

    def _make(self) -> None:
        base = self.upstream.commit({"a.py": text(), "b.py": text()}, "base")
        self.upstream.git("checkout", "--quiet", "-b", "fork")
        self.upstream.commit({"a.py": text(**LOW)}, "low")
        self.upstream.commit({"a.py": text(l3="high\n", l4="low two\n")}, "high on low")
        self.upstream.commit({"b.py": text(l9="other\n")}, "high elsewhere")
        self.scene.series("low", base, self.upstream.patches("main..fork~2"))
        self.run("series", "new", "high", "--on", "low")
        self.scene.take(self.upstream.patches("fork~2..fork"), "high")
        self.upstream.git("checkout", "--quiet", "main")

    def run(self, *arguments: str | Path, code: int = 0) -> Any:
        return self.scene.call(*arguments, code=code)

    def moves_on(self, **files: str) -> str:
        """Commit to upstream's main."""
        contents = {f"{name}.py": content for name, content in files.items()}
        return self.upstream.commit(contents, "Upstream (#7)")

    def rebase(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        told = self.scene.rebase(*arguments, "--onto", "upstream/main", code=code)
        return {series["name"]: series for series in told["series"]}

    def git_rebased(self, end: str) -> str:
        """Return the tree that git makes of the fork up to a commit."""
        with self.upstream.at("--detach", end):
            self.upstream.git("rebase", "--quiet", "main")
            return self.upstream.tree("HEAD")


@pytest.fixture
def stack(scene: Scene) -> Stack:
    return Stack(scene)


def verdicts(*series: Any) -> list[str]:
    """Return the verdicts of the patches of each series, in words."""
    return [" ".join(patch["verdict"] for patch in one["patches"]) for one in series]


def test_the_branch_of_the_upper_series_has_the_lower_one_too(stack: Stack) -> None:
    built = stack.run("branch", "high", "--repo", stack.upstream.root, "--json").json
    assert stack.upstream.tree(built["head"]) == stack.upstream.tree("fork")
    low = stack.run("branch", "low", "--repo", stack.upstream.root, "--json").json
    assert stack.upstream.git("rev-parse", f"{built['head']}~2") == low["head"]


def test_a_series_on_a_changed_one_is_named(stack: Stack) -> None:
    clone = stack.scene.root.parent / "checkout"
    stack.upstream.git("clone", "--quiet", ".", str(clone))
    stack.upstream.git("-C", str(clone), "checkout", "--quiet", stack.base)
    told = "high is based on low. To see whether its patches still apply: patchmgr check high\n"
    patch = next((stack.scene.root / "series/low").glob("*.patch")).name
    stack.run("rename", patch, "first", "--series", "low", "--to", clone)
    assert told in stack.run("drop", "first", "--series", "low", "--to", clone).err


def test_a_stack_is_rebased_together_and_reported_apart(stack: Stack) -> None:
    stack.moves_on(a=text(l30="theirs\n"), b=text(l0="theirs\n"))
    dry = [stack.rebase(*named, "--dry-run") for named in (["low"], ["high"], ["high", "low"])]
    told = stack.rebase()
    assert dry == [told] * 3
    assert list(told) == ["low", "high"]
    assert verdicts(*told.values()) == ["unchanged", "unchanged unchanged"]
    assert told["low"]["tree"] == stack.git_rebased("fork~2")
    assert told["high"]["tree"] == stack.git_rebased("fork")
    again = stack.run("branch", "high", "--json").json
    assert again["head"] == told["high"]["head"]
    assert stack.rebase("high", "--dry-run")["high"]["head"] == told["high"]["head"]


def test_who_is_rebased_as_well_is_said(stack: Stack) -> None:
    answer = stack.run("rebase", "high", "--onto", "upstream/main", "--dry-run")
    assert "Also included, as part of the same stack: low" in answer.err


def test_what_upstream_took_of_the_lower_series_is_below_the_upper_one(stack: Stack) -> None:
    commit = stack.moves_on(a=text(**LOW), b=text(l0="theirs\n"))
    told = stack.rebase()
    assert verdicts(*told.values()) == ["absorbed", "unchanged unchanged"]
    assert told["low"]["head"] == commit
    assert told["high"]["tree"] == stack.git_rebased("fork")


def test_what_upstream_took_of_both_is_absorbed_in_both(stack: Stack) -> None:
    stack.moves_on(a=text(l3="high\n", l4="low two\n"), b=text(l0="theirs\n"))
    told = stack.rebase()
    assert verdicts(*told.values()) == ["absorbed", "absorbed unchanged"]


def test_what_upstream_took_of_the_upper_series_is_split_off(stack: Stack) -> None:
    stack.run("fold", "high-elsewhere", "--into", "high-on-low", "--series", "high")
    stack.moves_on(b=text(l9="other\n"))
    stack.run("split", "1", "took", "--absorbed", "upstream/main", "--series", "high")
    assert stack.run("files", "took", "--series", "high").out.split()[1:] == ["b.py"]


def test_a_conflict_below_blocks_what_is_on_it_and_is_solved_for_both(stack: Stack) -> None:
    commit = stack.moves_on(a=text(l3="theirs\n", l4="theirs too\n"))
    before = (stack.scene.root / "upstream.lock").read_bytes()
    told = stack.rebase(code=3)
    assert verdicts(*told.values()) == ["conflict", "blocked unchanged"]
    blocked = told["high"]["patches"][0]
    assert [cause["commit"] for cause in blocked["cause"]] == [commit]
    assert (stack.scene.root / "upstream.lock").read_bytes() == before
    (waiting,) = (stack.scene.root / ".patchmgr/rebase/low").glob("*.patch/a.py")
    waiting.write_text(text(**LOW))
    told = {s["name"]: s for s in stack.run("rebase", "--continue", "--json").json["series"]}
    assert verdicts(told["high"]) == ["unchanged unchanged"]
    head = stack.run("branch", "high", "--repo", stack.upstream.root, "--json").json["head"]
    assert stack.upstream.git("show", f"{head}:a.py") + "\n" == text(l3="high\n", l4="low two\n")


def test_what_touches_another_place_than_the_conflict_below_is_carried(stack: Stack) -> None:
    with stack.upstream.at("fork"):
        again = text(l3="high\n", l4="low two\n", l30="more\n")
        stack.upstream.commit({"a.py": again}, "high again")
        stack.scene.take(stack.upstream.patches("fork~1..fork"), "high")
    stack.moves_on(a=text(l3="theirs\n", l4="theirs too\n"))
    told = stack.rebase(code=3)
    assert verdicts(told["high"]) == ["blocked unchanged unchanged"]


def test_many_targets_tell_of_the_whole_stack(stack: Stack) -> None:
    first = stack.moves_on(a=text(l30="theirs\n"))
    stack.moves_on(a=text(**LOW))
    onto = ["--onto", first, "--onto", "upstream/main"]
    told = stack.run("rebase", "high", *onto, "--dry-run", "--json").json
    found = [verdicts(*target["series"]) for target in told["targets"]]
    assert found == [[low, "unchanged unchanged"] for low in ("unchanged", "absorbed")]


def test_a_report_is_about_one_series(stack: Stack) -> None:
    (told,) = stack.run("report", "high", "--json").json["series"]
    total = told["total"]
    assert (total["files"], total["added"], total["removed"]) == (2, 2, 2)


def test_the_upper_series_is_applied_with_the_lower_one(stack: Stack) -> None:
    clone = stack.upstream.root
    stack.run("apply", "high", "--to", clone)
    assert (clone / "a.py").read_text() == text(l3="high\n", l4="low two\n")
    assert (clone / "b.py").read_text() == text(l9="other\n")
    assert stack.run("verify", "high", "--to", clone).code == 0
    (stack.scene.root / "series/low/low.patch").unlink()
    (stack.scene.root / "series/low/series").write_bytes(b"")
    assert "has changed since" in stack.run("verify", "high", "--to", clone, code=4).out
    stack.run("unapply", "high", "--to", clone)
    assert stack.upstream.git("status", "--porcelain") == ""


def test_the_upper_series_is_written_on_a_checkout_of_the_lower_one(stack: Stack) -> None:
    clone = stack.upstream.root
    refused = stack.run("push", "--series", "high", "--to", clone, code=1)
    assert one_line(refused).endswith("the series low, which high is based on")
    stack.run("branch", "low", "--repo", clone)
    stack.upstream.git("checkout", "--quiet", "patchmgr/low")
    stack.run("push", "--series", "high", "--to", clone)
    assert (clone / "a.py").read_text() == text(l3="high\n", l4="low two\n")
    (clone / "a.py").write_text(text(l3="higher\n", l4="low two\n"))
    stack.run("refresh", "--to", clone)
    patch = (stack.scene.root / "series/high/high-on-low.patch").read_text()
    assert "\n-low one\n+higher\n" in patch
    head = stack.run("branch", "high", "--repo", clone, "--json").json["head"]
    assert stack.upstream.git("show", f"{head}:a.py").splitlines()[3] == "higher"


def test_a_patch_goes_to_the_series_below_and_back(stack: Stack) -> None:
    head = stack.run("branch", "high", "--json").json["head"]
    before = picture(stack.scene.root)
    dry = stack.run("move", "high-on-low", "--into", "low", "--dry-run")
    assert dry.out == "Would move high-on-low.patch from high to low\n"
    assert picture(stack.scene.root) == before
    stack.run("move", "high-on-low", "--into", "low")
    assert stack.run("branch", "high", "--json").json["head"] == head
    assert stack.run("branch", "low", "--json").json["commits"] == 2
    told = stack.run("move", "high-on-low", "--into", "high", "--json").json
    assert (told["source"], told["target"]) == ("low", "high")
    assert picture(stack.scene.root) == before


def test_a_pushed_patch_stays_in_its_series_until_it_is_popped(stack: Stack) -> None:
    stack.run("branch", "low", "--repo", stack.upstream.root)
    stack.upstream.git("checkout", "--quiet", "patchmgr/low")
    checkout = ("--to", stack.upstream.root, "--series", "high")
    stack.run("push", "-a", *checkout)
    refused = stack.run("move", "high-on-low", "--into", "low", code=1).err
    assert "cannot be moved while high is pushed in" in refused
    hint = refused.splitlines()[1].partition("patchmgr ")[2]
    stack.run(*hint.split())
    stack.run("move", "high-on-low", "--into", "low")


def test_what_people_said_of_a_patch_moves_with_it(stack: Stack) -> None:
    stack.moves_on(a=text(l3="theirs\n"))
    stack.rebase(code=3)
    stack.run("decide", "low", "needed", "--series", "low")
    (stack.scene.root / "conflicts/accepted.toml").write_text(
        'format = 1\n\n[[accepted]]\nid = "91c0d2aa37e5"\nseries = "low"\npatch = "low.patch"\n'
        'text = "lost"\nbecause = "fine"\n'
    )
    refused = one_line(stack.run("move", "low", "--into", "high", "--series", "low", code=1))
    assert refused == "the rebase in progress still needs low.patch"
    stack.run("rebase", "--abort")
    stack.run("move", "low", "--into", "high", "--series", "low")
    for name in ("decisions", "accepted"):
        said = (stack.scene.root / f"conflicts/{name}.toml").read_text()
        assert 'series = "high"' in said and 'series = "low"' not in said, name


def test_what_is_selected_is_pushed_on_what_is_selected_below(stack: Stack) -> None:
    stack.run("series", "guard", "low", "+sym", "--series", "low")
    line = ("push", "-a", "--to", stack.upstream.root, "--series", "high", "--select", "sym")
    hint = stack.run(*line, code=1).err.partition("first: patchmgr ")[2].partition(", ")[0]
    stack.run(*hint.split())
    stack.upstream.git("checkout", "--quiet", "patchmgr/low")
    stack.run(*line)
    assert (stack.upstream.root / "a.py").read_text() == text(l3="high\n", l4="low two\n")


def test_a_patch_goes_over_no_file_that_is_not_listed(stack: Stack) -> None:
    (stack.scene.root / "series/low/high-on-low.patch").write_text("left out by rebase --skip\n")
    with unchanged(stack.scene.root):
        refused = stack.run("move", "high-on-low", "--into", "low", code=2)
        assert one_line(refused) == "the file high-on-low.patch already exists"


def test_a_patch_that_is_off_stays_so_in_another_series(stack: Stack) -> None:
    folder = stack.scene.root / "series"
    settings = '[groups]\nexperimental = ["high-on-low"]\n'
    (folder / "high/series.toml").write_text(settings)
    refused = stack.run("move", "high-on-low", "--into", "low", code=2)
    assert one_line(refused) == "high-on-low.patch is in high's group experimental, which is off"
    (folder / "low/series.toml").write_text(settings)
    stack.run("move", "high-on-low", "--into", "low")


@table(
    ("arguments", "problem"),
    [
        (["high-elsewhere", "--into", "low"],
            "high-on-low.patch is before high-elsewhere.patch in high"),
        (["low", "--into", "low", "--series", "low"], "neither low nor low is based on the other"),
        (["low", "--into", "nobody"], "there is no series nobody"),
    ],
)  # fmt: skip
def test_what_cannot_go_over_stays(stack: Stack, arguments: list[str], problem: str) -> None:
    with unchanged(stack.scene.root):
        assert one_line(stack.run("move", *arguments, code=2)) == problem


def test_two_patches_of_one_name_cannot_be_applied_together(stack: Stack) -> None:
    folder = stack.scene.root / "series"
    (folder / "high/high-on-low.patch").rename(folder / "high/low.patch")
    (folder / "high/series").write_bytes(b"low.patch\nhigh-elsewhere.patch\n")
    refused = stack.run("apply", "high", "--to", stack.upstream.root, code=1)
    assert one_line(refused) == "high and low both have a patch named low.patch"


@pytest.mark.parametrize(("into", "other"), [("high", "low"), ("low", "high")])
def test_a_new_patch_gets_a_name_new_to_its_stack(stack: Stack, into: str, other: str) -> None:
    folder = stack.scene.root / "series" / other
    (name,) = (path.name for path in folder.glob("*.patch") if path.name != "high-elsewhere.patch")
    diff = "--- a/b.py\n+++ b/b.py\n@@ -51,2 +51,2 @@\n-line 50\n+mine\n line 51\n"
    (stack.scene.root.parent / name).write_text(diff)
    stack.run("import", stack.scene.root.parent / name, "--series", into)
    new = name.replace(".patch", "-2.patch")
    assert (stack.scene.root / "series" / into / new).read_text() == diff
    clone = stack.scene.root.parent / "checkout"
    stack.upstream.git("clone", "--quiet", ".", str(clone))
    for line in (["rename", new, name], ["new", name], ["split", new, name]):
        refused = one_line(stack.run(*line, "--series", into, "--to", clone, code=2))
        assert refused == f"{other} already has a patch {name}, and is in the same stack"
    stack.run("apply", "high", "--to", clone)


def test_a_patch_does_not_move_below_one_of_its_name(stack: Stack) -> None:
    stack.run("series", "new", "side", "--on", "low")
    low, side = stack.scene.root / "series/low", stack.scene.root / "series/side"
    stack.run("move", "low", "--into", "side", "--series", "low")
    (low / "series").write_text("")
    (side / "low.patch").rename(side / "high-on-low.patch")
    (side / "series").write_text("high-on-low.patch\n")
    with unchanged(stack.scene.root):
        line = ("move", "high-on-low", "--into", "low", "--series", "side")
        refused = one_line(stack.run(*line, code=2))
    assert refused.startswith("high already has a patch high-on-low.patch")


def test_a_patch_that_needs_the_lower_series_is_refused_without_it(stack: Stack) -> None:
    stack.run("series", "new", "alone", "--upstream", "up", "--base", stack.base)
    refused = stack.run("import", stack.high, "--series", "alone", code=1)
    assert "high on low" in refused.err or "high-on-low" in refused.err


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        pytest.param(["--on", "low", "--base", "upstream/main"], 2,
            "new is based on low, so it must have the same pin: {base}", id="another-pin"),
        pytest.param(["--on", "nobody"], 2, "there is no series nobody", id="no-such-series"),
        pytest.param([], 2, "a new series needs an upstream and the state to pin", id="on-nothing"),
    ],
)  # fmt: skip
def test_what_it_can_stand_on(stack: Stack, arguments: list[str], code: int, problem: str) -> None:
    stack.moves_on(a=text(l30="theirs\n"))
    answer = stack.scene.call("series", "new", "new", *arguments, code=code)
    assert one_line(answer) == problem.format(base=stack.base)
