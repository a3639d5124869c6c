"""Pull requests on GitHub and merge requests on GitLab, through the user's own `gh` or `glab`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.git_process import search_path

_REFUSED = re.compile(r"\(HTTP 4(?!29)\d\d\)")
_SECONDS = 120
_PAGE = 100
_HOME = re.compile(
    r"(?:\w+://)?(?:[^@/\s]*@)?(?P<host>[\w.-]+)(?::\d+)?[:/]"
    r"(?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
_PATHS = ("filename", "previous_filename", "new_path", "old_path")
_QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}

SYNC = "patchmgr/sync-"
"""The prefix of the name of each branch that `patchmgr sync` proposes."""


class RefusedError(Exception):
    """The server does not permit a request with the user's token; the message is the server's."""


class Request(Struct, frozen=True):
    """A pull request as the server describes it; `head` is the id of its last commit."""

    number: int
    url: str
    is_open: bool
    head: str
    body: str


class Forge(Struct, frozen=True):
    """How to talk to a kind of server: program, paths of the API, and names of fields."""

    program: str
    path: str
    query: str
    comments: str
    comment: str
    update: str
    fields: Mapping[str, str]
    closed: tuple[str, str]
    others: str  # query for all open pull requests against a base
    head: str  # the ref of a pull request
    files: str
    checks: str | None  # None: no neutral check runs


class PullRequests(Struct, frozen=True):
    """The pull requests from `branch` to `base`, in the repository that contains `folder`."""

    forge: Forge
    folder: Path
    branch: str
    base: str

    def find(self) -> tuple[Request, ...]:
        """Return the pull requests from the branch, newest first, without those from forks."""
        head, base = (quote(name, safe="") for name in (self.branch, self.base))
        query = self.forge.query.format(head=head, base=base)
        rows = self._ask("GET", f"{self.forge.path}?{query}")
        return tuple(self._read(row) for row in rows if _is_own(row))

    def open(self, title: str, body: str) -> Request:
        """Open a pull request and return it."""
        sent = self._sent(head=self.branch, base=self.base, title=title, body=body)
        return self._read(self._ask("POST", self.forge.path, sent))

    def change(self, number: int, title: str, body: str, *, closes: bool = False) -> None:
        """Change the title and body of a pull request, and close it if `closes` is true."""
        sent = self._sent(title=title, body=body) | dict([self.forge.closed] if closes else [])
        self._ask(self.forge.update, f"{self.forge.path}/{number}", sent)

    def comment(self, number: int, text: str, *, instead: int | None = None) -> None:
        """Add a comment to a pull request; if `instead` is a comment's id, replace that comment."""
        if instead is None:
            self._ask("POST", self.forge.comments.format(number=number), {"body": text})
        else:
            path = self.forge.comment.format(number=number, id=instead)
            self._ask(self.forge.update, path, {"body": text})

    def check(self, commit: str, title: str, text: str, *, is_done: bool) -> None:
        """Create a check run (neutral unless `is_done`), if the token and the server permit it."""
        sent = {
            "name": "patchmgr sync", "head_sha": commit, "status": "completed",
            "conclusion": "success" if is_done else "neutral",
            "output": {"title": title, "summary": text},
        }  # fmt: skip
        with suppress(RefusedError):
            if self.forge.checks is not None:
                self._ask("POST", self.forge.checks, sent)

    def comments(self, number: int) -> Iterator[tuple[int, str]]:
        """Yield the id and text of each comment on a pull request."""
        for row in self._rows(self.forge.comments.format(number=number)):
            yield int(row["id"]), str(row["body"])

    def others(self) -> Iterator[Request]:
        """Yield the open pull requests against the base, except those that `sync` opened."""
        query = self.forge.others.format(base=quote(self.base, safe=""))
        for row in self._rows(f"{self.forge.path}?{query}"):
            branch = row["head"]["ref"] if "head" in row else row["source_branch"]
            if not (_is_own(row) and str(branch).startswith(SYNC)):
                yield self._read(row)

    def head_ref(self, number: int) -> str:
        """Return the ref of a pull request's head; it exists even if the head is in a fork."""
        return self.forge.head.format(number=number)

    def paths(self, number: int) -> Iterator[str]:
        """Yield the paths, old and new, of the files that a pull request changes."""
        for row in self._rows(self.forge.files.format(number=number)):
            yield from (str(row[name]) for name in _PATHS if row.get(name))

    def _rows(self, path: str) -> Iterator[Any]:
        for page in count(1):
            joint = "&" if "?" in path else "?"
            rows = self._ask("GET", f"{path}{joint}per_page={_PAGE}&page={page}")
            yield from rows
            if len(rows) < _PAGE:
                return

    def _sent(self, **values: str) -> dict[str, str]:
        return {self.forge.fields[name]: value for name, value in values.items()}

    def _read(self, row: Any) -> Request:
        try:
            head = row["head"]["sha"] if "head" in row else row["sha"]
            number, url, body = (row[self.forge.fields[name]] for name in ("number", "url", "body"))
            is_open = str(row["state"]).startswith("open")
            return Request(int(number), str(url), is_open, str(head), str(body or ""))
        except (KeyError, TypeError, ValueError) as fault:
            program = self.forge.program
            message = f"{program} did not return a pull request: {fault!r}"
            raise PatchmgrError("pull-request", message) from fault

    def _ask(self, method: str, path: str, sent: object = None) -> Any:
        """Return the server's answer; raise RefusedError, or a "pull-request" error."""
        program = self.forge.program
        line = [program, "api", "--method", method, path]
        if sent is not None:
            line += ["--header", "Content-Type: application/json", "--input", "-"]
        data = b"" if sent is None else json.dumps(sent).encode()
        try:
            done = subprocess.run(
                line, input=data, capture_output=True, cwd=self.folder, check=False, env=_quiet(),
                timeout=_SECONDS,
            )  # fmt: skip
        except FileNotFoundError as fault:
            hint = f"install {program}, then log in: {program} auth login"
            raise PatchmgrError("pull-request", f"{program} is not on PATH", hint) from fault
        except subprocess.TimeoutExpired as fault:
            message = f"{program} did not answer in {_SECONDS} s"
            raise PatchmgrError("pull-request", message, "run the command again") from fault
        said = (done.stderr.decode("utf-8", "replace").strip() or "no message").splitlines()[-1]
        if done.returncode and _REFUSED.search(said):
            raise RefusedError(said)
        if done.returncode:
            message = f"{program} failed with exit code {done.returncode}: {said}"
            hint = f"check that you are logged in: {program} auth status"
            raise PatchmgrError("pull-request", message, hint)
        try:
            return json.loads(done.stdout)
        except ValueError as fault:
            message = f"{program} did not return JSON"
            raise PatchmgrError("pull-request", message) from fault


def _is_own(row: Any) -> bool:
    """Return whether the branch of a pull request is in the repository itself, not in a fork."""
    if "source_project_id" in row:
        return bool(row["source_project_id"] == row["target_project_id"])
    head, base = row["head"]["repo"], row["base"]["repo"]
    return bool(head and head["id"] == base["id"])


def _quiet() -> Mapping[str, str]:
    return {**os.environ, **_QUIET, "PATH": search_path()}


def pull_state(repository: str, number: int) -> str:
    """Return the state of a pull request: OPEN, CLOSED, MERGED, or "unknown: " and the reason.

    Raises PatchmgrError "gh" if gh is not installed or does not answer in time.
    """
    home = _HOME.fullmatch(repository)
    if home is None:
        return f"unknown: {repository} is not the URL of a repository that gh can find"
    where = f"{home['host']}/{home['name']}"
    words = ["gh", "pr", "view", str(number), "--repo", where, "--json", "state", "--jq", ".state"]
    try:
        done = subprocess.run(
            words, env=_quiet(), capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        hint = "install gh and log in: https://cli.github.com, then gh auth login"
        raise PatchmgrError("gh", f"gh is not responding: {fault}", hint) from fault
    state = done.stdout.strip()
    if done.returncode == 0 and state in ("OPEN", "CLOSED", "MERGED"):
        return state
    return f"unknown: {' '.join(done.stderr.split()) or state or 'gh printed nothing'}"


FORGES = {
    "gh": Forge(
        "gh",
        "repos/{owner}/{repo}/pulls",
        "state=all&head={{owner}}:{head}&base={base}&per_page=50",
        "repos/{{owner}}/{{repo}}/issues/{number}/comments",
        "repos/{{owner}}/{{repo}}/issues/comments/{id}",
        "PATCH",
        {name: name for name in ("head", "base", "title", "body", "number")} | {"url": "html_url"},
        ("state", "closed"),
        "state=open&base={base}",
        "refs/pull/{number}/head",
        "repos/{{owner}}/{{repo}}/pulls/{number}/files",
        "repos/{owner}/{repo}/check-runs",
    ),
    "glab": Forge(
        "glab",
        "projects/:id/merge_requests",
        "state=all&source_branch={head}&target_branch={base}&per_page=50",
        "projects/:id/merge_requests/{number}/notes",
        "projects/:id/merge_requests/{number}/notes/{id}",
        "PUT",
        {
            "head": "source_branch", "base": "target_branch", "title": "title",
            "body": "description", "number": "iid", "url": "web_url",
        },
        ("state_event", "close"),
        "state=opened&target_branch={base}",
        "refs/merge-requests/{number}/head",
        "projects/:id/merge_requests/{number}/diffs",
        None,
    ),
}  # fmt: skip
