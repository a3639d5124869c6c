"""Read the number of the pull request from a commit's subject, as GitHub writes it."""

from __future__ import annotations

import re

_MERGED = re.compile(r"Merge (?:pull request |[\w.-]+/[\w.-]+)?#([0-9]{1,18})\b")
_PULL = re.compile(r"\(#([0-9]{1,18})\)\s*$")


def pull_number(subject: str) -> int | None:
    """Return the number of the pull request if a commit's subject ends in `(#N)`, or else None."""
    match = _PULL.search(subject)
    return int(match[1]) if match else None


def merged_pull(subject: str) -> int | None:
    """Return the number of the pull request that a merge commit's subject names, or None."""
    match = _MERGED.match(subject)
    return int(match[1]) if match else None
