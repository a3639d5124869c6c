"""What is passed to git as a URL is one, and runs no program."""

from patchmgr.formats.git_urls import is_same_repository, url_problem
from tests.tables import table


@table(
    ("url", "problem"),
    {
        "https": ("https://example.org/x.git", None),
        "ssh": ("git@example.org:x.git", None),
        "path": ("/srv/x::y.git", None),
        "option": ("--upload-pack=x", "is not a URL of a git repository"),
        "two lines": ("https://example.org/x\ny", "is not a URL of a git repository"),
        "NUL": ("https://example.org/x\0y", "is not a URL of a git repository"),
        "command": ("ext::sh -c x", "names a transport that runs a command"),
        "helper": ("foo://example.org", "has a scheme that is not supported"),
    },
)
def test_a_url_that_git_may_get(url: str, problem: str | None) -> None:
    assert url_problem(url) == problem


@table(
    ("one", "other", "is_same"),
    {
        "ssh": ("https://example.org/o/r.git", "git@example.org:o/r", True),
        "user": ("ssh://git@example.org/o/r/", "https://me@example.org/o/r", True),
        "file": ("file:///srv/r.git", "/srv/r", True),
        "other owner": ("https://example.org/o/r", "https://example.org/p/r", False),
        "other host": ("git@example.org:o/r", "git@example.com:o/r", False),
        "none": ("", "https://example.org/o/r", False),
    },
)
def test_urls_of_one_repository(one: str, other: str, is_same: bool) -> None:
    assert is_same_repository(one, other) is is_same
