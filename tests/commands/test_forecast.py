"""`forecast`: what open pull requests would do to a series."""

from typing import Any

import pytest

from patchmgr import commands
from patchmgr.errors import PatchmgrError
from tests.commands.conftest import SCENE, Scene
from tests.commands.test_rebase import fork, text
from tests.conftest import once

CODE = "".join(
    f"def f{n}():\n    a = {n}\n    b = {n}\n    c = {n}\n    d = {n}\n\n\n" for n in range(9)
)
MINE = CODE.replace("    b = 4\n", "    b = 40\n")


@pytest.fixture
def pulls(scene: Scene) -> Scene:
    """Return a series of two patches, and seven pull requests; an eighth has landed."""

    def make() -> None:
        up = scene.upstream
        fork(scene, {"a": text(l10="one\n")}, {"m.py": MINE}, on={"a": text(), "m.py": CODE})
        start = up.head()
        heads = {
            1: {"a": text(l10="theirs\n")},
            2: {"a": text(l10="one\n")},
            3: {"m.py": CODE.replace("    d = 4\n", "    d = 44\n")},
            4: {"m.py": CODE.replace("    d = 1\n", "    d = 11\n")},
            5: {"other": "x\n"},
            6: {"a": text(l50="in conflict\n")},
            7: {"a": text(l10="old\n")},
            8: {"a": text(l10="landed\n")},
        }
        for number, files in heads.items():
            up.git("checkout", "--quiet", "-B", "pull", start)
            up.commit(files, f"pull {number}")
            kind = "merge-requests" if number == 3 else "pull"  # as GitLab calls them
            for end in ("head", "merge") if number != 7 else ("head",):
                up.git("update-ref", f"refs/{kind}/{number}/{end}", "HEAD")
        up.git("checkout", "--quiet", "main")
        up.git("branch", "-D", "pull")
        up.commit({"a": text(l50="upstream\n")}, "upstream: eight (#8)")

    once("forecast", scene.root.parent, SCENE, make)
    return scene


def forecast(scene: Scene, *words: str) -> Any:
    return scene.call("forecast", "s", *words, "--json").json


def test_what_pull_requests_would_do(pulls: Scene) -> None:
    found = forecast(pulls)
    told = [(pull["number"], pull["effect"]) for pull in found["pulls"]]
    assert told == [(1, "breaks"), (2, "absorbs"), (3, "touches"), (6, "unknown")]
    assert found["open"] == 6
    breaks, absorbs, touches = (pull["patches"] for pull in found["pulls"][:3])
    assert [(p["name"], p["verdict"]) for p in breaks] == [("fork-change-1.patch", "conflict")]
    assert [place["line"] for place in breaks[0]["places"]] == [11]
    assert [(p["name"], p["verdict"]) for p in absorbs] == [("fork-change-1.patch", "absorbed")]
    assert [place["symbol"] for place in touches[0]["places"]] == ["f4"]


def test_what_gh_says_is_closed_is_left_out(pulls: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    states = {1: "CLOSED", 2: "OPEN", 3: "unknown: gh printed nothing", 6: "MERGED"}
    monkeypatch.setattr(commands.forecast, "pull_state", lambda url, number: states[number])
    found = pulls.call("forecast", "s", "--gh", "--json")
    assert [pull["number"] for pull in found.json["pulls"]] == [2, 3]
    assert "pull request 3 may be closed; its state is unknown: gh printed nothing" in found.err


def test_the_newest_so_many_are_looked_at(pulls: Scene) -> None:
    told = pulls.call("forecast", "s", "--watch", "3", "--json")
    assert (told.json["open"], [pull["number"] for pull in told.json["pulls"]]) == (3, [6])
    assert "Only the 3 newest open pull requests count" in told.err


def test_what_was_found_is_kept_and_a_new_tip_asks_again(pulls: Scene) -> None:
    once_more = [forecast(pulls) for _ in range(2)]
    assert once_more[0] == once_more[1]
    pulls.upstream.commit({"a": text(l50="upstream\n", l10="one\n")}, "upstream: has it")
    found = forecast(pulls)
    told = [(pull["number"], pull["effect"]) for pull in found["pulls"]]
    assert told == [(3, "touches")]  # the first patch is absorbed there, and its file upstream's


def test_what_cannot_be_merged_now_is_asked_again(
    pulls: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def merge(*_: object) -> None:
        raise PatchmgrError("missing-object", "a blob is missing")

    with monkeypatch.context() as patched:
        patched.setattr(commands.forecast, "merged_tree", merge)
        assert {pull["effect"] for pull in forecast(pulls)["pulls"]} == {"unknown"}
    assert {pull["effect"] for pull in forecast(pulls)["pulls"]} != {"unknown"}


def test_a_resolution_that_is_recorded_since_counts(pulls: Scene) -> None:
    pulls.upstream.commit({"a": text(l10="clash\n")}, "upstream: clash")
    (assumed,) = forecast(pulls)["assuming"]
    assert assumed["patch"] == "fork-change-1.patch"
    pulls.call("rebase", "s", "--onto", "upstream/main", code=3)
    (row,) = pulls.call("conflicts", "list", "--json").json["conflicts"]
    pulls.call("conflicts", "accept", row["id"], "theirs")
    pulls.call("rebase", "--abort")
    assert forecast(pulls)["assuming"] == []


def test_files_that_upstream_moved_are_known_by_their_new_names(pulls: Scene) -> None:
    up = pulls.upstream
    up.git("mv", "m.py", "moved.py")
    start = up.commit({"else": "x\n"}, "moved")
    up.commit({"moved.py": CODE.replace("    b = 4\n", "    b = 5\n")}, "theirs")
    up.git("update-ref", "refs/pull/9/head", "HEAD")
    up.git("update-ref", "refs/pull/9/merge", "HEAD")
    up.git("reset", "--quiet", "--hard", start)
    found = forecast(pulls, "--watch", "1")
    (pull,) = found["pulls"]
    assert (pull["effect"], pull["paths"]) == ("breaks", ["moved.py"])


def test_what_goes_into_another_branch_is_left_out(pulls: Scene) -> None:
    up = pulls.upstream
    up.git("checkout", "--quiet", "-b", "stable", "main~1")
    stable = up.commit({"a": text(l50="stable\n")}, "only in stable")
    head = up.commit({"a": text(l50="stable\n", l10="theirs\n")}, "into stable")
    up.git("update-ref", "refs/pull/9/head", head)
    up.git("reset", "--quiet", "--hard", stable)
    up.git("merge", "--quiet", "--no-ff", "-m", "merge 9", head)
    up.git("update-ref", "refs/pull/9/merge", "HEAD")
    up.git("checkout", "--quiet", "main")
    found = forecast(pulls)
    assert (found["open"], found["pulls"][0]["number"]) == (6, 1)
    assert 9 not in [pull["number"] for pull in found["pulls"]]


def test_text(pulls: Scene) -> None:
    out = pulls.call("forecast", "s").out
    assert "6 open pull requests: 1 breaks, 1 absorbs, 1 touches, 1 unknown" in out
    assert "  breaks   #1 pull 1\n" in out
    assert "does not merge into upstream; changes a\n" in out
