"""What is passed to git as a URL is one, and runs no program."""

from patchmgr.formats.git_urls import url_problem
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
