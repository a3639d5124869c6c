"""What may surprise somebody who takes a series over."""

from __future__ import annotations

import pytest

from patchmgr.engines.risks import find_risks
from patchmgr.model.footprint import Area, Build, FileChange, FileFootprint, Kind
from patchmgr.model.review import RiskKind


def pins(language: str, after: bytes) -> list[str]:
    file = FileFootprint(
        "x", None, Kind.NEW, False, language, Area.CODE, Build.NEITHER, 1, 0, ("a.patch",)
    )
    change = FileChange(
        path="x", renamed_from=None, old_mode=None, new_mode="100644", before=None, after=after
    )
    found = find_risks([change], [file], lambda words: frozenset())
    return [risk.what for risk in found if risk.kind is RiskKind.PIN]


@pytest.mark.parametrize(
    ("language", "line", "is_pin"),
    [
        ("Dockerfile", "FROM base:1.2", True),
        ("Dockerfile", "RUN make", False),
        ("Shell", "from pathlib import Path", False),
        ("Shell", "git clone --branch v1 url", True),
        ("CMake", "  GIT_TAG abc", True),
        ("CMake", "# GIT_TAG abc", False),
    ],
    ids=lambda value: str(value),
)
def test_a_line_that_pins_a_build_is_named(language: str, line: str, is_pin: bool) -> None:
    assert pins(language, line.encode()) == ([line.strip()] if is_pin else [])
