"""Every writing command while one operation of it fails: old or new, said in one line.

PATCHMGR_LONG=1 lets each of the operations fail in each way; otherwise a few of them do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.commands.conftest import Answer, invoke
from tests.commands.every import ROWS, Place, Row, make_place, restorer
from tests.commands.faults import KINDS, Fault, failing
from tests.commands.scenes import Picture, Stage, one_line, picture
from tests.long import LONG

WRITING = [row for row in ROWS if row.writes]


@dataclass(frozen=True)
class Look:
    """All that a person can see: files of the workspace, the checkout and beside, and refs."""

    files: Picture
    refs: str
    status: str


def look(place: Place) -> Look:
    """Finish what was begun and look."""
    root, checkout = place.stage.root, place.checkout
    settled = invoke("-C", root, "status")
    assert settled.code == 0, settled.err
    is_made = invoke("-C", place.out / "fresh", "status").code == 0
    held = invoke("-C", root, "verify", "s", "--to", checkout.root)
    assert held.code in (0, 1, 4), held.err
    refs = [checkout.git("for-each-ref")]
    for store in sorted((place.stage.folder / "cache/patchmgr/stores").glob("*.git")):
        refs.append(checkout.git(f"--git-dir={store}", "for-each-ref", "refs/patchmgr"))
    named = re.sub(r"refs/patchmgr/[0-9a-f]{16}/", "refs/patchmgr/ID/", "\n".join(refs))
    files = picture(place.stage.folder, without=(".git", ".patchmgr", "cache", "other"))
    seen = {
        path: file
        for path, file in files.items()
        if file[0] != "folder" and (is_made or not path.startswith("out/fresh/"))
    }
    return Look(seen, named, checkout.git("status", "--porcelain"))


def run_with(place: Place, row: Row, fault: Fault) -> Answer:
    """Run a row while an operation of it fails."""
    words = place.words(row.line)
    with failing(fault):
        return invoke("-C", place.stage.root, *words)


def check(place: Place, row: Row, kind: str, answer: Answer) -> None:
    """Assert that a run that failed says so in one line, and never claims a fault of ours."""
    if kind == "interrupted" and answer.code == 130:
        return
    assert answer.code in (row.code, 1), answer.err
    if answer.code == 1 and row.code != 1:
        one_line(answer)


def cases() -> Iterator[Any]:
    """Yield each command with each way to fail, or with one of them where time is short."""
    names = list(KINDS)
    for number, row in enumerate(WRITING):
        for kind in names if LONG else (names[number % len(names)],):
            yield pytest.param(row, kind, id=f"{row.line}: {kind}")


@pytest.mark.parametrize(("row", "kind"), list(cases()))
def test_a_command_that_fails_leaves_old_or_new(
    stage: Stage, row: Row, kind: str, record_property: Callable[[str, object], None]
) -> None:
    place = make_place(stage, row.state)
    place.words(row.line)
    restore = restorer(stage.root, place.checkout.root, place.out, stage.folder / "cache")
    old = look(place)
    counter = KINDS[kind](10**6)
    assert run_with(place, row, counter).code == row.code
    new = look(place)
    is_old = False
    places = _places(counter.count, f"{row.line} {kind}")
    record_property("points", len(places))
    for at in places:
        if not is_old:
            restore()
        answer = run_with(place, row, KINDS[kind](at))
        check(place, row, kind, answer)
        found = look(place)
        is_old = found == old
        assert is_old or found == new, f"{kind} at {at}: {answer.err}"
        if answer.code == row.code:
            assert found == new, f"{kind} at {at} ended well, and nothing was done"


def _places(count: int, name: str) -> list[int]:
    """Return which operations fail: all, or two that are others for each command and way."""
    places = list(range(1, count + 1))
    return places if LONG else random.Random(name).sample(places, min(2, count))
