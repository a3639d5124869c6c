"""Towards upstream: what it did since to carried backports, and where each patch stands there."""

from __future__ import annotations

import json

import pytest
from msgspec import Struct

from tests.commands.scenes import PARTS, Stage, text
from tests.conftest import Repository, once


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
    up, found = Repository(stage.folder / "backported"), dict[str, str]()

    def make() -> None:
        found["base"] = up.commit({"pkg/a.py": text()}, "start")
        up.git("tag", "v1.0.0")
        found["it"] = up.commit({"pkg/a.py": text(l20="new\n")}, "a: be new (#5)")
        up.git("tag", "v1.1.0")
        message = f'a: be right\n\nFixes: {found["it"][:12]} ("a: be new")'
        found["fix"] = up.commit({"pkg/b.py": text()}, message)
        found["revert"] = up.commit({"pkg/a.py": text()}, 'Revert "a: be new (#5)" (#6)')
        up.git("checkout", "--quiet", "-b", "stable", found["base"])
        found["stable"] = up.commit({"pkg/c.py": text()}, "stable")
        up.git("checkout", "--quiet", "main")
        stage.run("upstream", "add", "backported", "--git", up.root)
        stage.run("series", "new", "w", "--upstream", "backported", "--base", "v1.0.0")
        stage.run("import", "--commit", found["it"], "--series", "w")
        (up.root / ".git/found").write_text(json.dumps(found))

    once("backports", stage.folder, (*PARTS, "backported"), make)
    return Backports(stage, json.loads((up.root / ".git/found").read_text()))


def test_what_upstream_did_since_is_told_until_it_is_decided(backports: Backports) -> None:
    stage, short = backports.stage, {k: v[:12] for k, v in backports.commits.items()}
    patch = "a-be-new-5.patch"
    fixed = f"upstream fixes {short['it']} in {short['fix']} a: be right"
    told = backports.lines("status")
    assert told[1] == f"{patch}: {fixed}"
    assert told[0].endswith(f' reverts #5 in {short["revert"]} Revert "a: be new (#5)" (#6)')
    answer = f"decide {patch} needed --by {short['fix']}"
    assert (
        f"patchmgr import --commit {short['fix']}, or patchmgr {answer}" in stage.run("status").out
    )
    rebase = ("rebase", "w", "--onto", backports.commits["stable"], "--dry-run")
    assert any(line.startswith(f"warning: {fixed}") for line in backports.lines(*rebase))
    kept = stage.run("decide", patch, "needed", "--by", short["fix"]).out
    assert kept == f"Kept: w/{patch}  needed  by {short['fix']}  in {short['fix']} a: be right\n"
    assert len(backports.lines("status")) == len(backports.lines(*rebase)) == 1
    stage.run("decide", patch, "needed", "--by", "#6")
    assert backports.lines("status") == backports.lines(*rebase) == []
    (row,) = [s for s in stage.run("status", "--json").json["series"] if s["name"] == "w"]
    assert row["follow_ups"] == []
    stage.run("decide", patch, "--forget")
    assert len(backports.lines("status")) == 2
