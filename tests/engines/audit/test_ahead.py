"""What the audit compares before the patches are carried."""

from __future__ import annotations

from patchmgr.engines.audit.interfaces import check_interfaces
from patchmgr.engines.audit.rebased import AuditedUpstream, compare_ahead
from patchmgr.engines.audit.states import run_checks
from patchmgr.errors import PatchmgrError
from tests.engines.audit.audited import audited
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Files, Upstream

BASE: Files = {
    "m.py": b"def f(a):\n    return a\n",
    "u.py": b"x = 1\n",
}
OURS: Files = {"u.py": b"from m import f\n\nx = 1\ny = f(1)\n"}
UPSTREAM: Files = {"m.py": b"def g(a):\n    return a\n"}


class _Lacking(MemoryBlobs):
    def read(self, blob: str) -> bytes:
        raise PatchmgrError("missing-object", blob)


def test_all_but_merged_files_is_compared_ahead() -> None:
    blobs = MemoryBlobs()
    base, ours, upstream = BASE, {**BASE, **OURS}, {**BASE, **UPSTREAM}
    judged, states = audited(base, ours, upstream, blobs=blobs)
    told = run_checks(states, [check_interfaces])
    assert {finding.symbol for _, finding in told} == {"m.f"}
    steps = [(one.outcome.name, [file.step for file in one.files]) for one in judged]
    sides = Upstream(blobs, base), Upstream(blobs, upstream)
    ahead = compare_ahead(steps, AuditedUpstream(*sides, blobs, [*UPSTREAM]))
    own = {states.merged.blob(path) for path in OURS}
    assert {key[:1] for key in ahead} == {("altered",)}
    assert [key for key in states.compared if key not in ahead and own.isdisjoint(key)] == []


def test_what_lacks_a_content_is_not_compared_ahead() -> None:
    blobs = MemoryBlobs()
    judged, _ = audited(BASE, {**BASE, **OURS}, {**BASE, **UPSTREAM}, blobs=blobs)
    steps = [(one.outcome.name, [file.step for file in one.files]) for one in judged]
    sides = Upstream(blobs, BASE), Upstream(blobs, {**BASE, **UPSTREAM})
    assert compare_ahead(steps, AuditedUpstream(*sides, _Lacking(), [*UPSTREAM])) == {}
