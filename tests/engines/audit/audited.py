"""A series of one patch on an upstream that moved, as the audit looks at it: all in memory."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from patchmgr.engines.absorption.series import Folded
from patchmgr.engines.audit.rebased import AuditedUpstream, known_before, states_of
from patchmgr.engines.audit.states import Check, States, run_checks
from patchmgr.engines.rebase.rebase import Item, Judged, rebase_series
from patchmgr.engines.rebase.work import Tools, UpstreamRange
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.model.audit import AuditFinding
from patchmgr.model.patch import Author
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import Files, Upstream, difference, moved, patch_of

NOBODY = Author("P", "p@localhost", "0 +0000")


def audited(
    base: Files,
    ours: Files,
    upstream: Files,
    *,
    blobs: MemoryBlobs | None = None,
    renames: Mapping[str, str] | None = None,
    later: Sequence[Files] = (),
    last_renames: Mapping[str, str] | None = None,
) -> tuple[tuple[Judged, ...], States]:
    """Carry the patch from base to ours onto upstream; return the verdict and the states.

    Files that one of the three leaves out are not there; `renames` are upstream's. Further
    patches make of ours what is `later`, one after the other. A last patch makes `last_renames`.
    What is computed for the audit before a rebase is there, too.
    """
    blobs = blobs or MemoryBlobs()
    old, new = Upstream(blobs, base), Upstream(blobs, upstream)
    tools = Tools(blobs, lambda *_: None, NOBODY, text=PlainMerge())
    states = [*pairwise((base, ours, *later))]
    items = [Item(difference(name, *sides)) for name, sides in zip("pqr", states, strict=False)]
    if last_renames:
        moves = ((old, new, states[-1][1][old]) for old, new in last_renames.items())
        patch = patch_of("z", *(moved(old, new, file, file) for old, new, file in moves))
        items.append(Item(patch))
    side = Overlay(old)
    series = [Folded(item.patch, step_patch(side, item.patch, blobs)) for item in items]
    judged, changes = rebase_series(items, UpstreamRange(old, new, renames or {}), tools)
    paths = {*base, *upstream}
    changed = {path for path in paths if base.get(path) != upstream.get(path)}
    before, there = (AuditedUpstream(old, new, blobs, changed) for _ in range(2))
    there.kept.update(known_before(series, before))
    return judged, states_of(judged, changes, there)


def found(
    checks: Sequence[Check], base: Files, ours: Files, upstream: Files
) -> tuple[AuditFinding, ...]:
    """Return what checks find in the result of carrying a patch."""
    _, states = audited(base, ours, upstream)
    told = run_checks(states, checks)
    states.kept.clear()
    assert run_checks(states, checks) == told
    return tuple(finding for _, finding in told)
