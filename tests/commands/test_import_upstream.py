"""Patches from the upstream itself: `import --commit` and `import --pull`."""

import pytest
from msgspec import Struct

from tests.commands.scenes import PARTS, Stage, text
from tests.conftest import Repository, once
from tests.tables import table


class Upstream(Struct, frozen=True):
    """A series without patches on the first commit, and later commits of its upstream by name."""

    stage: Stage
    commits: dict[str, str]

    def headers(self) -> list[str]:
        """Return the lines of the patches' headers that say where they are from."""
        wanted = ("Subject:", "Origin:", "Forwarded:", "Imported-From:", "* ")
        folder = self.stage.root / "series" / "w"
        names = (folder / "series").read_text().split()
        lines = (line for name in names for line in (folder / name).read_text().split("\n"))
        return [line for line in lines if line.startswith(wanted)]


@pytest.fixture
def pulls(stage: Stage) -> Upstream:
    """Return an upstream with pull requests: 5 squashed, 6 merged, 7 open, 8 of GitLab."""
    up = Repository(stage.folder / "pulled")

    def make() -> dict[str, str]:
        found = _pulled(up)
        stage.run("upstream", "add", "pulled", "--git", up.root)
        stage.run("series", "new", "w", "--upstream", "pulled", "--base", found["base"])
        return found

    return Upstream(stage, once("pulls", stage.folder, (*PARTS, "pulled"), make))


def _pulled(up: Repository) -> dict[str, str]:
    found = {"base": up.commit({"pkg/a.py": text()}, "start")}

    def branch(name: str, *steps: tuple[dict[str, str], str]) -> None:
        up.git("checkout", "--quiet", "-B", name, found["base"])
        for files, message in steps:
            found[name] = up.commit(files, message)

    branch("six", ({"six": "6\n"}, "six: begin"), ({"six": "6\n6\n"}, "six: end"))
    branch("seven", ({"seven": "7\n"}, "seven: begin\n\nWhy."), ({"seven": "7\n\n"}, "fixup"))
    branch("eight", ({"eight": "8\n"}, "eight: only one\n\nBecause."))
    for number, name in ((6, "six"), (7, "seven")):
        up.git("update-ref", f"refs/pull/{number}/head", name)
    up.git("update-ref", "refs/merge-requests/8/head", "eight")
    branch("five-itself", ({"five": "5\n"}, "five"))
    up.git("update-ref", "refs/pull/5/head", "five-itself")
    up.git("checkout", "--quiet", "main")
    found["five"] = up.commit({"five": "5\n"}, "five: squashed (#5)")
    up.git("update-ref", "refs/pull/9/head", "main")
    up.git("merge", "--quiet", "--no-ff", "-m", "Merge pull request #6", "six")
    found["merge"] = up.head()
    return {**found, "last": up.commit({"last": "1\n"}, "last")}


@pytest.mark.parametrize(
    ("line", "expected"),
    {
        "--commit {five}": [
            "Subject: five: squashed (#5)", "Imported-From: {five}", "Origin: backport, {five}"
        ],
        "--pull 5": [
            "Subject: five: squashed (#5)", "Imported-From: {five}", "Origin: backport, {five}"
        ],
        "--pull #6": [
            "Subject: six: begin (#6)", "* six: begin", "* six: end", "Origin: other, {six}",
            "Forwarded: #6",
        ],
        "--pull 8": [
            "Subject: eight: only one (#8)", "Origin: other, {eight}", "Forwarded: #8",
        ],
        "--commit {last} --pull 7": [
            "Subject: last", "Imported-From: {last}", "Origin: backport, {last}",
            "Subject: seven: begin (#7)", "* seven: begin", "* fixup", "Origin: other, {seven}",
            "Forwarded: #7",
        ],
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_commit_or_pull_request_comes(pulls: Upstream, line: str, expected: list[str]) -> None:
    words = line.format(**pulls.commits).split()
    dry = pulls.stage.run("import", *words, "--series", "w", "--dry-run").out
    assert pulls.headers() == []
    done = pulls.stage.run("import", *words, "--series", "w").out
    assert dry == done.replace("Imported", "Would import")
    assert pulls.headers() == [each.format(**pulls.commits) for each in expected]


def test_what_upstream_takes_later_is_found(pulls: Upstream) -> None:
    pulls.stage.run("import", "--pull", "5", "--pull", "6", "--pull", "7", "--series", "w")
    found = pulls.stage.run("rebase", "w", "--onto", pulls.commits["last"], "--json").json
    verdicts = [patch["verdict"] for patch in found["series"][0]["patches"]]
    assert verdicts == ["absorbed", "absorbed", "unchanged"]


@table(
    ("line", "code", "said"),
    [
        ("--pull 99", 2, "pulled has no pull request 99"),
        ("--pull 9", 2, "pull request 9 has no commits of its own"),
        ("--pull seven", 2, "seven is not the number or URL of a pull request"),
        ("--pull https://example.org/o/r/pull/7", 2, "does not belong to the repository file://"),
        ("--commit {merge}", 2, "is a merge, which cannot be imported as a patch"),
        ("--commit nope", 2, "pulled has no branch, tag or commit nope"),
        ("", 2, "name a file or a folder"),
    ],
)
def test_what_is_no_patch_is_refused(pulls: Upstream, line: str, code: int, said: str) -> None:
    words = line.format(**pulls.commits).split()
    assert said in pulls.stage.run("import", *words, "--series", "w", code=code).err
    assert pulls.headers() == []


@table(("number", "said"), [("5", ": {five}"), ("6", "")], ids=str)
def test_what_the_pin_has_is_not_taken_again(pulls: Upstream, number: str, said: str) -> None:
    name = f"after-{number}"
    last = pulls.commits["last"]
    pulls.stage.run("series", "new", name, "--upstream", "pulled", "--base", last)
    refused = pulls.stage.run("import", "--pull", number, "--series", name, code=2)
    short = {key: commit[:12] for key, commit in pulls.commits.items()}
    assert f"the pin already contains pull request {number}{said.format(**short)}" in refused.err


def test_an_upstream_without_git_has_no_pull_requests(pulls: Upstream) -> None:
    folder = pulls.stage.folder / "plain"
    folder.mkdir()
    (folder / "a").write_text(text())
    pulls.stage.run("upstream", "add", "plain", "--archive", folder)
    pulls.stage.run("series", "new", "p", "--upstream", "plain", "--base", "upstream/main")
    refused = pulls.stage.run("import", "--pull", "1", "--series", "p", code=2)
    assert "the upstream plain has no git" in refused.err
