"""How often each rule of the structural merge was right: measured on merges that people made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from patchmgr.model.outcome import Reliability

FILE = Path(__file__).with_name("reliability.json")
PYTHON, CXX, OTHER = "python", "c++", "other"
PYTHON_SUFFIXES = (".py", ".pyi")
CXX_SUFFIXES = (
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".cu", ".cuh", ".inl", ".metal",
)  # fmt: skip

Counts = Mapping[str, Mapping[str, tuple[int, int]]]
"""By family of languages and rule: how many files were right, of how many."""


@cache
def measured() -> Counts:
    """Return what was measured, as the package has it."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, dict[str, tuple[int, int]]])


def family_of(path: str) -> str:
    """Return the family of languages of the file at a path, by its name."""
    if path.endswith(PYTHON_SUFFIXES):
        return PYTHON
    return CXX if path.endswith(CXX_SUFFIXES) else OTHER


def reliability_of(rule: str, path: str, counts: Counts | None = None) -> Reliability:
    """Return how often a rule was right in files like the one at a path.

    Right means the person's text, or that text but for white space, a harmless order, or what the
    person dropped or wrote beside it. A rule that nobody measured has no numbers.
    """
    known = (measured() if counts is None else counts).get(family_of(path), {}).get(rule)
    return Reliability(rule) if known is None else Reliability(rule, *known)
