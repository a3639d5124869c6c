"""How much is tried by default, and where there is time (PATCHMGR_LONG=1)."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

LONG = bool(os.environ.get("PATCHMGR_LONG"))


def examples(count: int) -> int:
    """Return how many generated examples to try: an eighth by default."""
    return count if LONG else count // 8


def crossed(rows: Iterable[tuple[Any, ...]], ways: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return each row with each way; by default with one, so that all rows and ways are tried."""
    return [
        (*row, way)
        for number, row in enumerate(rows)
        for at, way in enumerate(ways)
        if LONG or number % len(ways) == at
    ]
