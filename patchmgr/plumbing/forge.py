"""The state of a GitHub pull request, according to the user's own `gh`."""

from __future__ import annotations

import os
import re
import subprocess

from patchmgr.errors import PatchmgrError

_SECONDS = 60
_HOME = re.compile(
    r"(?:\w+://)?(?:[^@/\s]*@)?(?P<host>[\w.-]+)(?::\d+)?[:/]"
    r"(?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


def pull_state(repository: str, number: int) -> str:
    """Return the state of a pull request: OPEN, CLOSED, MERGED, or "unknown: " and gh's reason.

    Raises PatchmgrError "gh" if gh is not installed or does not answer in time.
    """
    home = _HOME.fullmatch(repository)
    if home is None:
        return f"unknown: {repository} is not the URL of a repository that gh can find"
    where = f"{home['host']}/{home['name']}"
    words = ["gh", "pr", "view", str(number), "--repo", where, "--json", "state", "--jq", ".state"]
    env = {**os.environ, "GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        hint = "install gh and log in: https://cli.github.com, then gh auth login"
        raise PatchmgrError("gh", f"gh does not answer: {fault}", hint) from fault
    state = done.stdout.strip()
    if done.returncode == 0 and state in ("OPEN", "CLOSED", "MERGED"):
        return state
    return f"unknown: {' '.join(done.stderr.split()) or state or 'gh says nothing'}"
