"""The script of action.yml, run as a schedule would: days of an upstream, one pull request."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Scene
from tests.commands.scenes import text
from tests.commands.test_sync import BRANCH, Server, refs, remote, server
from tests.conftest import Repository

__all__ = ["remote", "server"]

ROOT = Path(__file__).parents[2]
HOSTILE = "::error::x ##[add-path]/tmp @someone"


def script() -> str:
    """Return what the step `Sync` of the action runs."""
    step = (ROOT / "action.yml").read_text().partition("- name: Sync\n")[2]
    lines = step.partition("run: |\n")[2].partition("    - uses:")[0]
    return textwrap.dedent(lines)


@pytest.fixture
def job(scene: Scene, tmp_path: Path) -> Callable[[], tuple[int, str, str]]:
    """Return what runs the script: its exit code, what it printed, and the summary."""
    tools, place = tmp_path / "tools", tmp_path / "runner"
    tools.mkdir()
    (tools / "patchmgr").write_text(f'#!/bin/sh\nexec {sys.executable} -m patchmgr "$@"\n')
    (tools / "patchmgr").chmod(0o755)

    def run() -> tuple[int, str, str]:
        place.mkdir(exist_ok=True)
        (place / "summary").write_text("")
        given = {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(place), "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "SERIES": "s", "ONTO": "upstream/main", "WORKSPACE": str(scene.root), "BASE": "",
            "PUSH_BRANCH": "", "DRY_RUN": "false", "PULL_REQUEST": "gh",
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script()],
            env={**os.environ, **given}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr, (place / "summary").read_text()

    return run


def test_days_are_one_pull_request(
    scene: Scene,
    remote: Repository,
    server: Server,
    job: Callable[[], tuple[int, str, str]],
    tmp_path: Path,
) -> None:
    def day(files: dict[str, bytes | str | None], subject: str = "more") -> tuple[int, str, str]:
        scene.upstream.commit(files, subject)
        found = job()
        assert len(server.pulls) <= 1
        commands = [line for line in found[1].splitlines() if line.lstrip().startswith("::")]
        assert all(line.startswith(("::warning title=", "::error title=")) for line in commands)
        assert "##[" not in found[1]
        return found

    server.refuse("gh: Resource not accessible by integration (HTTP 403)")
    code, said, _ = day({"c1": "x\n"})
    assert (code, server.pulls) == (0, []) and "::warning title=patchmgr sync::the pull" in said
    server.allow()
    code, said, summary = day({"a": text(l10="theirs\n")}, HOSTILE)
    assert code == 0 and "::warning title=conflict " in said and "work order" in summary
    assert "1 conflict" in server.pulls[0]["title"]

    server.refuse("error connecting to api.github.com")
    code, said, _ = day({"c4": "x\n"})
    assert code == 1 and "::error title=patchmgr sync::patchmgr: gh: exit 1" in said
    server.allow()

    ours = refs(remote)[BRANCH]
    person = Repository(tmp_path / "person", is_there=True)
    remote.git("clone", "--quiet", "--branch", "patchmgr/sync-s", ".", str(person.root))
    theirs = person.commit({"note": "mine\n"}, "a person's")
    person.git("push", "--quiet")
    code, said, _ = day({"c7": "x\n"})
    assert code == 0 and f"at {theirs[:12]}, which patchmgr did not push" in said
    assert refs(remote)[BRANCH] == theirs
    remote.git("update-ref", BRANCH, ours)
    scene.upstream.git("revert", "--no-edit", scene.upstream.git("rev-parse", f":/^{HOSTILE[:7]}"))
    code, said, _ = day({"c9": "x\n"})
    assert (code, refs(remote)[BRANCH] == ours) == (0, False)
    assert refs(remote)[BRANCH] == refs(remote)["refs/patchmgr/pushed/patchmgr/sync-s"]
    assert [pull["state"] for pull in server.pulls] == ["open"]
