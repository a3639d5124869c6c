"""Towards upstream: what it did since to carried backports, and where each patch stands there."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.upstreaming import Upstreamed, next_step
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import Verdict
from patchmgr.model.upstream_status import Stance
from patchmgr.plumbing.pull_requests import pull_state
from tests.commands.scenes import PARTS, Stage, text
from tests.conftest import Repository, once
from tests.tables import table


class Backports(Struct, frozen=True):
    """A series with a backport, on a release that upstream's main line has gone on from."""

    stage: Stage
    commits: dict[str, str]

    def lines(self, *words: str, code: int = 0) -> list[str]:
        """Run a command; return its lines that are about a later commit."""
        out = self.stage.run(*words, code=code).out
        told = (": upstream fixes", ": upstream reverts")
        return [line.strip() for line in out.splitlines() if any(word in line for word in told)]


@pytest.fixture
def backports(stage: Stage) -> Backports:
    """Return a series on v1.0.0 with a commit that v1.1.0 has, fixed and reverted since."""
    up = Repository(stage.folder / "backported")

    def make() -> dict[str, str]:
        found = {"base": up.commit({"pkg/a.py": text()}, "start")}
        up.git("tag", "v1.0.0")
        found["it"] = up.commit({"pkg/a.py": text(l20="new\n")}, "a: be new (#5)")
        up.git("tag", "v1.1.0")
        message = f'a: be right\n\nFixes: {found["it"][:12]} ("a: be new")'
        found["fix"] = up.commit({"pkg/b.py": text()}, message)
        found["revert"] = up.commit({"pkg/a.py": text()}, 'Revert "a: be new (#5)" (#6)')
        up.git("checkout", "--quiet", "-b", "unnumbered", found["fix"])
        found["unnumbered"] = up.commit({"pkg/a.py": text()}, 'Revert "a: be new" (#7)')
        with up.at("-b", "stable", found["base"]):
            found["stable"] = up.commit({"pkg/c.py": text()}, "stable")
        stage.run("upstream", "add", "backported", "--git", up.root)
        stage.run("series", "new", "w", "--upstream", "backported", "--base", "v1.0.0")
        stage.run("import", "--commit", found["it"], "--series", "w")
        return found

    return Backports(stage, once("backports", stage.folder, (*PARTS, "backported"), make))


def test_what_upstream_did_since_is_told_until_it_is_decided(backports: Backports) -> None:
    stage, short = backports.stage, {k: v[:12] for k, v in backports.commits.items()}
    patch = "a-be-new-5.patch"
    fixed = f"upstream fixes {short['it']} in {short['fix']} a: be right"
    told = backports.lines("status")
    assert told[1] == f"{patch}: {fixed}"
    assert told[0].endswith(f' reverts #5 in {short["revert"]} Revert "a: be new (#5)" (#6)')
    taken = f"patchmgr import --commit {short['fix']} --series w"
    known = f"patchmgr decide {patch} needed --by {short['fix']} --series w"
    assert f"answer with: {taken}, or {known}\n" in stage.run("status").out
    rebase = ("rebase", "w", "--onto", backports.commits["stable"], "--dry-run")
    assert any(line.startswith(f"warning: {fixed}") for line in backports.lines(*rebase))
    kept = stage.run("decide", patch, "needed", "--by", short["fix"]).out
    fix = short["fix"]
    assert kept == f"Recorded: w/{patch}  needed  by {fix}  in {fix} a: be right\n"
    assert len(backports.lines("status")) == len(backports.lines(*rebase)) == 1
    stage.run("decide", patch, "needed", "--by", "#6")
    assert backports.lines("status") == backports.lines(*rebase) == []
    (row,) = [s for s in stage.run("status", "--json").json["series"] if s["name"] == "w"]
    assert row["follow_ups"] == []
    stage.run("decide", patch, "--forget")
    assert len(backports.lines("status")) == 2


def test_a_rebase_tells_that_upstream_has_what_a_patch_is_of_and_carries_on(
    backports: Backports,
) -> None:
    stage, it = backports.stage, backports.commits["it"]
    patch = stage.root / "series/w/a-be-new-5.patch"
    head = patch.read_text().partition("\ndiff --git ")[0]
    new = "diff --git a/more b/more\nnew file mode 100644\n--- /dev/null\n+++ b/more\n"
    patch.write_text(f"{head}\n{new}@@ -0,0 +1 @@\n+more\n")
    has = (
        f"this patch comes from {it[:12]} a: be new (#5), which upstream now has;"
        " is the rest of the patch still needed?"
    )
    without = (backports.commits[name] for name in ("stable", "revert", "unnumbered"))
    for onto, is_told in (("v1.1.0", True), *((onto, False) for onto in without)):
        document = stage.run("rebase", "w", "--dry-run", "--onto", onto, "--json").json
        (one,) = document["series"][0]["patches"]
        assert (one["verdict"], has in one["warnings"]) == ("unchanged", is_told)


def test_where_each_patch_stands_upstream(backports: Backports) -> None:
    stage, it = backports.stage, backports.commits["it"]
    stage.run("import", "--commit", backports.commits["fix"], "--series", "w")
    fix = "a-be-right.patch"
    fields = ("--field", "Forwarded=https://forge.example/1, 2026-01-02", "--field", "Origin=")
    stage.run("edit", fix, "--series", "w", *fields)
    answer = stage.run("status", "--upstreaming", "--json")
    told = "it has not been fetched; run: patchmgr upstream fetch"
    assert answer.err == f"s cannot be tried on upstream's tip: {told}\n"
    rows = answer.json["upstreaming"]
    by_name = {row["patch"]: row for row in rows}
    ours = by_name["fork-one.patch"]
    assert (ours["stance"], ours["verdict"]) == ("Pending", None)
    assert ours["next"].startswith("send it: patchmgr branch s --only fork-one.patch --repo CLONE")
    backport = by_name["a-be-new-5.patch"]
    assert (backport["stance"], backport["detail"]) == ("Backport", it)
    assert (backport["commit"], backport["release"]) == (it, "v1.1.0")
    assert backport["next"].startswith(f"backport of {it[:12]} (v1.1.0), but upstream's tip lacks")
    sent = by_name[fix]
    assert (sent["stance"], sent["since"], sent["verdict"]) == (
        "Submitted", "2026-01-02", "absorbed",
    )  # fmt: skip
    assert sent["next"] == (
        f"landed in {backports.commits['fix'][:12]} (no release yet); to drop it:"
        " patchmgr rebase w --onto upstream/main"
    )
    told = stage.run("status", "--upstreaming").out
    assert f"    {sent['next']}\n" in told
    assert told.endswith("4 patches: 2 Pending, 1 Backport, 1 landed\n")
    assert stage.run("status", "--upstreaming", "-q").out == told.splitlines(True)[-1]


def fake_gh(folder: Path, monkeypatch: pytest.MonkeyPatch, says: str) -> Path:
    """Put a gh first on the path that notes its arguments and says something."""
    gh = folder / "bin/gh"
    gh.parent.mkdir()
    gh.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\n{says}\n')
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{gh.parent}:{os.environ['PATH']}")
    return folder / "asked"


SAID = [
    ("echo CLOSED", "CLOSED"),
    ("echo MERGED", "MERGED"),
    ("echo never heard of it >&2; exit 1", "unknown: never heard of it"),
    ("true", "unknown: gh printed nothing"),
]


@pytest.mark.parametrize(("says", "state"), SAID, ids=[state for _, state in SAID])
def test_gh_is_asked_for_a_number_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, state: str
) -> None:
    asked = fake_gh(tmp_path, monkeypatch, says)
    assert pull_state("git@forge.example:o/r.git", 7) == state
    assert asked.read_text() == "pr view 7 --repo forge.example/o/r --json state --jq .state\n"


def test_gh_is_asked_only_where_a_person_wants_it(
    backports: Backports, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = fake_gh(tmp_path, monkeypatch, "echo CLOSED")
    backports.stage.run("edit", "a-be-new-5", "--series", "w", "--field", "Forwarded=#5")
    backports.stage.run("status", "--upstreaming")
    assert not asked.exists()
    found = backports.stage.run("status", "--upstreaming", "--gh", "--json").json["upstreaming"]
    assert not asked.exists()  # a file:// upstream is on no forge
    states = [row["state"] for row in found if row["series"] == "w"]
    assert states[0].startswith("unknown: file://")


def test_a_missing_gh_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PatchmgrError, match="gh is not responding") as caught:
        pull_state("https://forge.example/o/r", 7)
    assert "gh auth login" in caught.value.hints[0]


def test_a_gh_in_this_folder_is_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = fake_gh(tmp_path, monkeypatch, "echo CLOSED")
    monkeypatch.setenv("PATH", "bin")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PatchmgrError, match="gh is not responding"):
        pull_state("https://forge.example/o/r", 7)
    assert not asked.exists()


ROW = Upstreamed("s", "p.patch", Stance.SUBMITTED, "", None, Verdict.UNCHANGED, "a1" * 20)
STEPS = [
    ({}, "wait for upstream; to see whether it is closed: patchmgr status --upstreaming --gh"),
    ({"state": "OPEN"}, "wait for upstream"),
    ({"state": "CLOSED"}, "closed without being merged; to say why: patchmgr edit p.patch"),
    ({"state": "MERGED"}, "merged, but not found on upstream's tip; to look again: patchmgr"),
    ({"state": "MERGED", "verdict": Verdict.ABSORBED}, "landed in a1a1a1a1a1a1 (no release yet)"),
    ({"verdict": Verdict.PARTIAL, "release": "v2"}, "landed in part in a1a1a1a1a1a1 (v2); to drop"),
    ({"verdict": Verdict.BLOCKED}, "in conflict on upstream's tip; to see it: patchmgr rebase s"),
    ({"stance": Stance.PENDING, "verdict": Verdict.CONFLICT}, "in conflict on upstream's tip"),
    (
        {"stance": Stance.BACKPORT, "verdict": None},
        "backport of a1a1a1a1a1a1 (no release yet); to compare",
    ),
    ({"stance": Stance.BACKPORT, "commit": None}, "the header names no commit, but"),
    ({"stance": Stance.DENIED}, ""),
    ({"stance": Stance.INAPPROPRIATE}, ""),
]


@table(("facts", "words"), STEPS)
def test_what_is_next(facts: Mapping[str, Any], words: str) -> None:
    step = next_step(replace(ROW, **facts))
    assert step.startswith(words)
    assert bool(step) is bool(words)
