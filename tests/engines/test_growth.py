"""Twice the input takes about twice the work, which is counted in calls and lines, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from patchmgr.engines.text.distinctive import is_telling
from tests.engines.moved.relocations import play
from tests.engines.series import difference
from tests.engines.tales import Tale

MOST = 2.6


def lines(count: int, *changed: int, by: str = "changed") -> bytes:
    """Return a text in which the lines with the given numbers are changed."""
    texts = (f"line_{n} {by if n in changed else 'as it was'} here" for n in range(count))
    return "\n".join((*texts, "")).encode()


def by_patches(size: int) -> Tale:
    """Return patches of a file each, half of which landed."""
    base = {f"file_{n}": lines(20) for n in range(size)}
    ours = [{path: lines(20, 10)} for path in base]
    return Tale(base, ours, [("Work", change) for change in ours[::2]])


def by_commits(size: int) -> Tale:
    """Return many upstream commits to the file of a patch, the last of which lands it."""
    texts = [lines(200, n % 100, by=f"step_{n}") for n in range(size)]
    last = lines(200, 150, by="ours")
    upstream = [("Work", {"a": text}) for text in (*texts, last)]
    return Tale({"a": lines(200)}, [{"a": last}], upstream)


def by_hunks(size: int) -> Tale:
    """Return a patch of many hunks that landed."""
    texts = {"a": lines(20 * size)}, {"a": lines(20 * size, *range(9, 20 * size, 20))}
    return Tale(texts[0], [difference("p", *texts)], [("Work", texts[1])])


def calls(work: Callable[[], object]) -> int:
    """Count the calls of functions of patchmgr, and of other functions by them."""
    count = 0

    def noted(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        is_own = frame.f_globals.get("__name__", "").startswith("patchmgr.")
        count += is_own and event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(noted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("made", [by_patches, by_commits, by_hunks])
def test_the_search_for_what_landed_grows_with_its_input(made: Callable[[int], Tale]) -> None:
    small, large = (calls(made(size).verdicts) for size in (60, 120))
    assert large < MOST * small


def test_each_line_is_looked_at_once_however_many_hunks_have_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[bytes] = []

    def noted(line: bytes) -> bool:
        looked.append(line)
        return is_telling(line)

    monkeypatch.setattr("patchmgr.engines.moved.units.is_telling", noted)
    size = 40
    base, ours, theirs = (
        "".join(
            f"int function_{n}(int value) {{\n    int {by}_{n} = value;\n    return {n};\n}}\n\n"
            for n in range(size)
        ).encode()
        for by in ("base", "ours", "theirs")
    )
    play({"a.cpp": base}, theirs, {"a.cpp": ours}, path="a.cpp")
    assert 0 < len(looked) <= 4 * base.count(b"\n")
