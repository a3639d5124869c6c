"""A revert of a patch that upstream has by now does not take upstream's away in silence."""

from patchmgr.engines.audit.states import run_checks
from patchmgr.engines.audit.undone import undone_patches
from tests.engines.audit.audited import audited
from tests.tables import table

CLOSE = b"".join(b"line %d\n" % number for number in range(12))
BASE = CLOSE.replace(b"line 6\n", b"line 6\n\n")
LANDED = BASE.replace(b"line 3\n", b"clamped 3\n")
OTHER = LANDED.replace(b"line 9\n", b"clamped 9\n")
NOTED = LANDED.replace(b"clamped 3\n", b"# sorry\nclamped 3\n")
SPACED, ELSEWHERE = (BASE.replace(b"line %d\n" % n, b"line %d\n\n" % n) for n in (2, 10))
MORE = LANDED.replace(b"line 6\n\n", b"line 6\nmore\n\n")


@table(
    ("patched", "upstream", "told"),
    {
        "absorbed": ((LANDED, BASE), LANDED, "q"),
        "absorbed-beside-more": ((LANDED, BASE), OTHER, "q"),
        "in-two-steps": ((NOTED, LANDED, BASE), NOTED, "r"),
        "what-upstream-has-not": ((MORE, LANDED), LANDED, ""),
        "in-part": ((NOTED, LANDED), NOTED, ""),
        "upstream-without-it": ((LANDED, BASE), BASE, ""),
        "no-revert": ((LANDED, OTHER), LANDED, ""),
        "a-blank-line-elsewhere": ((SPACED, BASE, CLOSE), ELSEWHERE, ""),
        "refined": ((LANDED, LANDED.replace(b"clamped 3", b"kept 3")), LANDED, ""),
        "refined-addition": ((MORE, MORE.replace(b"more", b"most")), MORE, ""),
    },
)
def test_a_revert_of_upstream(patched: tuple[bytes, ...], upstream: bytes, told: str) -> None:
    base, ours, onto, *later = (
        {"f.py": content} for content in (BASE, patched[0], upstream, *patched[1:])
    )
    _, states = audited(base, ours, onto, later=later)
    findings = run_checks(states, [undone_patches])
    assert [(name, one.is_certain) for name, one in findings] == [(name, False) for name in told]
