"""Read JSON that anybody may have written."""

from __future__ import annotations

import json
from typing import Any


def parse_json(raw: bytes | str) -> Any:
    """Return what a JSON text says; raise ValueError where it is none, or nested too deeply."""
    try:
        return json.loads(raw)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault
