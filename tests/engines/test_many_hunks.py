"""A patch of many hunks takes time in proportion to their number, in every step that reads them."""

import re
import time
from collections.abc import Callable, Mapping

import pytest

from patchmgr.engines.absorption.proposal import Comparison
from patchmgr.engines.absorption.weave import Weave
from patchmgr.engines.audit.outline import altered
from patchmgr.engines.ledger.balance import balance
from patchmgr.engines.ledger.claims import Claimed
from patchmgr.engines.merge.languages import language_of
from patchmgr.engines.merge.statements import read
from patchmgr.engines.series.placement import leads_to
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.outdated_uses import outdated_uses
from patchmgr.engines.structure.sides import Texts
from patchmgr.formats.patch_files import parse_patch
from tests.engines.ledger.test_balance import Files
from tests.engines.series import hunks_between
from tests.long import LONG
from tests.tables import table

pytestmark = pytest.mark.skipif(not LONG, reason="PATCHMGR_LONG is not set: measures time")
_FEW, _TIMES = 200, 8


def texts(hunks: int) -> tuple[str, str, bytes]:
    """Return a file of ten lines a hunk, the file patched, and the patch."""
    old = [f"line {n}\n" for n in range(10 * hunks)]
    new = [f"edit {n}\n" if n % 10 == 5 else line for n, line in enumerate(old)]
    parts = ["diff --git a/f b/f\n--- a/f\n+++ b/f\n"]
    for at in range(5, len(old), 10):
        around = "".join(f" {line}" for line in old[at - 1 : at])
        parts.append(f"@@ -{at},3 +{at},3 @@\n{around}-{old[at]}+{new[at]} {old[at + 1]}")
    return "".join(old), "".join(new), "".join(parts).encode()


def _parse(old: str, new: str, raw: bytes) -> object:
    return parse_patch(raw, name="p")


def _lead(old: str, new: str, raw: bytes) -> bool:
    return leads_to(old.encode(), parse_patch(raw, name="p").files[0].hunks, new.encode())


def _balance(old: str, new: str, raw: bytes) -> object:
    states = (Files({"f": text}) for text in (old, "first\n" + old, "first\n" + new))
    return balance([Claimed("p", raw)], *states, cited=lambda commit, path: ())


def _upstream(old: str) -> str:
    """Return the file with three lines changed between two hunks."""
    return re.sub(r"^line (?=\d*[028]$)", "theirs ", old, flags=re.MULTILINE)


def _likeness(old: str, new: str, raw: bytes) -> object:
    hunks = parse_patch(raw, name="p").files[0].hunks
    comparison = Comparison("f", old.encode(), _upstream(old).encode())
    return [comparison.find_resemblance(hunk, hunk.old_start - 1, is_clean=True) for hunk in hunks]


def _uses(old: str, new: str, raw: bytes) -> object:
    base, fork = (re.sub(r" (\d+)", r"_\1(\1)", text) for text in (old, new))
    texts = Texts(base, base.replace("(", "(1, "), fork)
    return not any(outdated_uses(texts, fork, growths(texts, fork)))


def _meaning(old: str, new: str, raw: bytes) -> object:
    base, theirs = (re.sub(r"(.+) (\d+)", r"name_\2 = '\1'", text) for text in (old, new))
    return altered([(base, theirs)]).suspects_in(base, {*range(1, base.count("\n"), 10)})


def _brackets(old: str, new: str, raw: bytes) -> object:
    depth = old.count("\n") // 10
    return read("a = " + "(1, " * depth + ")" * depth + "\n", language_of("f.py"))


def _weave(old: str, new: str, raw: bytes) -> object:
    text = "".join(old.splitlines(keepends=True)[::10]).encode()
    weave, sides = Weave(b""), [hunks_between(b"", text), hunks_between(text, b"")]
    for patch in range(4):  # there and back, twice
        weave.apply(patch, 0, sides[patch % 2], [0])
    return weave.nodes


STEPS: Mapping[str, Callable[[str, str, bytes], object]] = {
    "read": _parse, "place": _lead, "ledger": _balance, "likeness": _likeness, "uses": _uses,
    "meaning": _meaning, "brackets": _brackets, "weave": _weave,
}  # fmt: skip


@table("step", STEPS)
def test_a_step_takes_time_in_proportion_to_the_hunks(
    step: Callable[[str, str, bytes], object],
) -> None:
    def seconds(hunks: int) -> float:
        given, least = texts(hunks), 60.0
        for _ in range(2):
            start = time.process_time()
            assert step(*given)
            least = min(least, time.process_time() - start)
        return least

    assert seconds(_FEW * _TIMES) < 4 * _TIMES * seconds(_FEW)
