"""What touches the machine has a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(hermetic: Path) -> Path:
    """Give each test a home, and a cache, of its own."""
    return hermetic
