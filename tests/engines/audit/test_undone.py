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
NOTED = LANDED.replace(b"clamped 3\n", b"# sorry\nclamped 3\n")
MORE = LANDED.replace(b"line 6\n", b"line 6\nmore\n")


@table(
    ("patched", "upstream", "told"),
    [
        pytest.param((LANDED, BASE), LANDED, "q", id="absorbed"),
        pytest.param((LANDED, BASE), OTHER, "q", id="absorbed-beside-more"),
        pytest.param((NOTED, LANDED, BASE), NOTED, "r", id="in-two-steps"),
        pytest.param((MORE, LANDED), LANDED, "", id="what-upstream-has-not"),
        pytest.param((NOTED, LANDED), NOTED, "", id="in-part"),
        pytest.param((LANDED, BASE), BASE, "", id="upstream-without-it"),
        pytest.param((LANDED, OTHER), LANDED, "", id="no-revert"),
        pytest.param((LANDED, LANDED.replace(b"clamped 3", b"kept 3")), LANDED, "", id="refined"),
        pytest.param((MORE, MORE.replace(b"more", b"most")), MORE, "", id="refined-addition"),
    ],
)
def test_a_revert_of_what_upstream_has_is_told(
    patched: tuple[bytes, ...], upstream: bytes, told: str
) -> None:
    base, ours, onto, *later = (
        {"f.py": content} for content in (BASE, patched[0], upstream, *patched[1:])
    )
    _, states = audited(base, ours, onto, later=later)
    findings = run_checks(states, [undone_patches])
    assert [(name, one.is_certain) for name, one in findings] == [(name, False) for name in told]
