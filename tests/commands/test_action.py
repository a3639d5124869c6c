"""The script of action.yml, run as a schedule would: days of an upstream, one pull request."""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.commands.conftest import Scene
from tests.commands.scenes import text
from tests.commands.test_sync import BRANCH, Server, remote, server
from tests.conftest import Repository

__all__ = ["remote", "server"]

ROOT = Path(__file__).parents[2]
HOSTILE = "::error::x ##[add-path]/tmp @someone"

Files = Mapping[str, "bytes | str | None"]
Annotations = list[tuple[str | None, ...]]
Day = tuple[Annotations, str]


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
            "SOURCE": str(ROOT), "RUNNER_TEMP": str(place),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "SERIES": "s", "ONTO": "upstream/main", "WORKSPACE": str(scene.root), "BASE": "",
            "PUSH_BRANCH": "", "DRY_RUN": "false", "PULL_REQUEST": "gh",
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script()],
            env={**os.environ, **given}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr, (place / "summary").read_text()

    return run


def annotated(printed: str) -> Annotations:
    """Return path, line, severity and message of each line that the problem matcher takes."""
    problems = json.loads((ROOT / ".github" / "problem-matcher.json").read_text())
    (matcher,) = problems["problemMatcher"]
    (pattern,) = matcher["pattern"]
    groups = [pattern[name] for name in ("file", "line", "severity", "message")]
    found = (re.match(pattern["regexp"], line) for line in printed.splitlines())
    return [match.group(*groups) for match in found if match]


def test_days_of_all_kinds_are_one_pull_request(
    scene: Scene, server: Server, job: Callable[[], tuple[int, str, str]]
) -> None:
    days = iter(range(1, 5))

    def day(files: Files | None = None, subject: str = "more", code: int = 0) -> Day:
        number = next(days)
        scene.upstream.commit({f"c{number}": "x\n", **(files or {})}, subject)
        found, said, summary = job()
        assert (found, len(server.pulls) <= 1) == (code, True)
        commands = [line for line in said.splitlines() if line.lstrip().startswith("::")]
        matcher = f"::add-matcher::{ROOT}/.github/problem-matcher.json"
        assert commands == [matcher, "::remove-matcher owner=patchmgr::"]
        assert "##[" not in said
        return annotated(said), summary

    server.refuse("gh: Resource not accessible by integration (HTTP 403)")
    ((path, line, severity, message),), _ = day()
    assert (path, line, severity) == (None, None, "warning")
    assert str(message).startswith("the pull") and server.pulls == []
    server.allow()

    (conflict,), summary = day({"a": text(l10="theirs\n")}, HOSTILE)
    assert conflict[:3] == (f"{scene.root}/series/s/fork-change-1.patch", "1", "warning")
    assert "a: upstream changed the same lines" in str(conflict[3]) and "work order" in summary
    assert "1 conflict" in server.pulls[0]["title"]

    server.refuse("error connecting to api.github.com")
    (fault,), _ = day(code=1)
    assert fault[2] == "error" and "gh failed with exit code 1" in str(fault[3])
    server.allow()

    scene.upstream.git("revert", "--no-edit", scene.upstream.git("rev-parse", f":/^{HOSTILE[:7]}"))
    assert day()[0] == []
    refs = server.refs()
    assert refs[BRANCH] == refs["refs/patchmgr/pushed/patchmgr/sync-s"]
    assert [(pull["number"], pull["state"]) for pull in server.pulls] == [(1, "open")]
    synced = server.remote.tree(BRANCH)
    scene.call("rebase", "s", "--onto", "upstream/main")
    own = Repository(scene.root, is_there=True)
    own.git("add", "--all")
    assert own.git("write-tree") == synced
