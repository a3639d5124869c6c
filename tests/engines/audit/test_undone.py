"""A revert of a patch that upstream has by now does not take upstream's away in silence."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.states import run_checks
from patchmgr.engines.audit.undone import undone_patches
from tests.engines.audit.audited import audited
from tests.tables import table

BASE = b"".join(b"line %d\n" % number for number in range(12))
LANDED = BASE.replace(b"line 3\n", b"clamped 3\n")
OTHER = LANDED.replace(b"line 9\n", b"clamped 9\n")
MORE = LANDED.replace(b"line 6\n", b"line 6\nmore\n")


@table(
    ("patched", "later", "upstream", "told"),
    [
        pytest.param(LANDED, BASE, LANDED, True, id="absorbed"),
        pytest.param(LANDED, BASE, OTHER, True, id="absorbed-beside-more"),
        pytest.param(MORE, LANDED, LANDED, False, id="what-upstream-has-not"),
        pytest.param(LANDED, BASE, BASE, False, id="upstream-without-it"),
        pytest.param(LANDED, OTHER, LANDED, False, id="no-revert"),
        pytest.param(LANDED, LANDED.replace(b"clamped 3", b"kept 3"), LANDED, False, id="refined"),
    ],
)
def test_a_revert_of_what_upstream_has_is_told(
    patched: bytes, later: bytes, upstream: bytes, told: bool
) -> None:
    files = ({"f.py": content} for content in (BASE, patched, upstream))
    _, states = audited(*files, later={"f.py": later})
    findings = run_checks(states, [undone_patches])
    assert [(name, one.is_certain) for name, one in findings] == [("q", False)] * told
