"""Find the changed site that a labelled case is about."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.model.gating import ChangedSite
from tests.engines.gating_cases import Case


def site_at(case: Case, sites: Sequence[ChangedSite]) -> ChangedSite:
    """Return the site around the line with the case's mark."""
    is_old = case.mark.startswith("-")
    text, mark = (case.before, case.mark[1:]) if is_old else (case.after, case.mark)
    line = next(n for n, t in enumerate(text.split("\n"), 1) if mark in t)
    own = [s for s in sites if s.is_removal is is_old and s.line <= line <= s.last]
    assert own, (case.name, sites)
    return max(own, key=lambda site: site.line)
