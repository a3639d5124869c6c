"""`check --ledger`, and the ledger of a rebase."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from patchmgr.model.merge import Clean, Merge
from patchmgr.plumbing.text_merge import GitTextMerge
from tests.commands.conftest import Scene

FILE = "".join(f"line {number}\n" for number in range(20))
PATCHED = FILE.replace("line 3\n", "line 3\nmore\n").replace("line 9\n", "")


def begin(scene: Scene) -> str:
    """Make the series `s` of a fork's one commit, and return its pin."""
    base = scene.upstream.commit({"f": FILE, "other": "x\n"}, "base")
    scene.upstream.git("checkout", "--quiet", "-b", "fork")
    scene.upstream.commit({"f": PATCHED}, "patched")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    return base


WRONG = {
    "a line is lost": PATCHED.replace("more\n", ""),
    "a removed line is back": FILE.replace("line 3\n", "line 3\nmore\n"),
    "a line is double": PATCHED.replace("more\n", "more\nmore\n"),
    "two lines change places": PATCHED.replace("line 5\nline 6\n", "line 6\nline 5\n"),
    "the pin": FILE,
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_a_checkout_that_is_not_the_series_is_told(scene: Scene, content: str) -> None:
    begin(scene)
    place = scene.upstream.root
    scene.call("check", "s", "--ledger", "--to", place)
    (place / "f").write_text(content)
    answer = scene.call("check", "s", "--ledger", "--to", place, "--json", code=4)
    (gate,) = answer.json["series"][0]["gates"]
    assert (gate["name"], gate["standing"], gate["looked_at"]) == ("ledger", "failed", 2)
    assert gate["problems"][0]["path"] == "f"


def test_a_branch_is_held_to_the_series_and_what_else_it_has_is_free(scene: Scene) -> None:
    begin(scene)
    scene.upstream.commit({"other": "y\n"}, "another file")
    place = scene.upstream.root
    scene.call("check", "--ledger", "--to", place, "--branch", "fork")
    scene.call("check", "--ledger", "--to", place, "--branch", "main", code=4)
    scene.call("check", "--ledger", "--to", place, "--branch", "none", code=2)
    scene.call("check", "--to", place, code=2)


def test_a_rebase_prints_its_sums(scene: Scene) -> None:
    begin(scene)
    scene.upstream.git("checkout", "--quiet", "main")
    onto = scene.upstream.commit({"f": FILE.replace("line 17\n", "line 17 too\n")}, "upstream")
    arguments = ("-C", scene.root, "rebase", "s", "--onto", onto, "--dry-run")
    sums = {"carried": 1, "upstream": 0, "conflict": 0, "given_up": 0}
    assert scene.run(*arguments, "--json").json["series"][0]["ledger"] == {
        "added": sums, "removed": sums, "balanced": True,
    }  # fmt: skip
    assert "lines 1 added: 1 carried; 1 removed: 1 carried" in scene.run(*arguments).out


def test_what_does_not_add_up_is_a_conflict(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(scene)
    scene.upstream.git("checkout", "--quiet", "main")
    onto = scene.upstream.commit({"f": FILE.replace("line 17\n", "line 17 too\n")}, "upstream")
    merge = GitTextMerge.merge

    def lossy(self: GitTextMerge, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        found = merge(self, base, ours, theirs)
        assert isinstance(found, Clean)
        return replace(found, content=found.content.replace(b"line 5\n", b""))

    monkeypatch.setattr(GitTextMerge, "merge", lossy)
    answer = scene.call("rebase", "s", "--onto", onto, "--json", code=3)
    (series,) = answer.json["series"]
    assert series["ledger"]["balanced"] is False
    assert series["head"] is None
    (patch,) = series["patches"]
    assert patch["verdict"] == "conflict"
    assert "lacks 1 line of upstream that no patch removes: `line 5`" in patch["reason"]
