"""How often each rule of the merge of Python was right: measured on merges that people made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from patchmgr.model.outcome import Reliability

FILE = Path(__file__).with_name("reliability.json")


@cache
def measured() -> Mapping[str, tuple[int, int]]:
    """Return by rule how many files were right, of how many."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, tuple[int, int]])


def reliability_of(rule: str) -> Reliability:
    """Return how often a rule was right; one that nobody measured has no numbers.

    Right means the person's text, or that text but for white space, a harmless order, or what the
    person dropped or wrote beside it.
    """
    return Reliability(rule, *measured().get(rule, ()))
