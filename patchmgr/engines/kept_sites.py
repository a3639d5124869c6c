"""Changed sites as plain values, and back: judged once, they are kept as such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patchmgr.model.gating import ChangedSite, Gate, Reach


def sites_value(sites: Sequence[ChangedSite]) -> list[list[Any]]:
    """Return sites that no patch is named for yet as lists of texts and numbers."""
    return [
        [
            site.symbol,
            site.line,
            site.last,
            site.is_removal,
            site.text,
            site.reach.value,
            [[gate.kind, gate.text] for gate in site.gates],
            site.why,
        ]
        for site in sites
    ]


def sites_of_value(path: str, value: Any) -> tuple[ChangedSite, ...] | None:
    """Return the sites of a file again, None where the value is nothing of the kind."""
    try:
        return tuple(_site(path, *row) for row in value)
    except (TypeError, ValueError):
        return None


def _site(path: str, symbol: Any, line: int, last: int, *rest: Any) -> ChangedSite:
    is_removal, text, reach, gates, why = rest
    asked = tuple(Gate(str(kind), str(words)) for kind, words in gates)
    name = None if symbol is None else str(symbol)
    place = path, name, int(line), int(last), bool(is_removal)
    return ChangedSite(*place, str(text), Reach(reach), asked, str(why))
