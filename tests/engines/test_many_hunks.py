"""A patch of many hunks takes time in proportion to their number, in every step that reads them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from patchmgr.engines.ledger.balance import balance
from patchmgr.engines.ledger.claims import Claimed
from patchmgr.engines.series.placement import leads_to
from patchmgr.formats.patch_files import parse_patch
from tests.engines.ledger.test_balance import Files
from tests.tables import table

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


STEPS: Mapping[str, Callable[[str, str, bytes], object]] = {
    "read": _parse, "place": _lead, "ledger": _balance,
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
