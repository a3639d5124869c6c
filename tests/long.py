"""How much is tried by default, and where there is time (PATCHMGR_LONG=1)."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("PATCHMGR_LONG"))


def examples(count: int) -> int:
    """Return how many generated examples to try: a quarter by default."""
    return count if LONG else count // 4
