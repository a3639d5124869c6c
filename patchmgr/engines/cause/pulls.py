"""The pull request that a subject names, as GitHub writes it."""

from __future__ import annotations

import re

_PULL = re.compile(r"\(#([0-9]{1,18})\)\s*$")


def pull_number(subject: str) -> int | None:
    """Return N of a subject that ends in `(#N)`."""
    match = _PULL.search(subject)
    return int(match[1]) if match else None
