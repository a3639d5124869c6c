"""Parse JSON from sources that may not be trusted."""

from __future__ import annotations

import json
from typing import Any


def parse_json(raw: bytes | str) -> Any:
    """Parse JSON; raise ValueError if it is malformed or nested too deeply."""
    try:
        return json.loads(raw)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault
