"""Authoring commands that are killed at a file operation: workspace and checkout, old or new."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.commands.conftest import invoke
from tests.commands.desks import Hands, hands
from tests.commands.scenes import Stage, text
from tests.commands.test_kills import Killed, killing, restorer
from tests.long import LONG

Look = tuple[object, ...]
# How many operations before the first that shows are looked at, and every which of them: all
# where there is time.
READING, STEP = (40, 1) if LONG else (6, 11)


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk with two pushed patches of small files."""
    desk = hands(stage, name="w")
    desk.patch("one", {"pkg/a.py": text(l10="one\n"), "new/file": "new\n"})
    desk.patch("two", {"pkg/a.py": text(l10="one\n", l40="two\n"), "run.sh": None})
    return desk


def look(desk: Hands) -> Look:
    """Return all that a person can see, and what is pushed; this finishes what was begun."""
    applied = desk.applied()
    return (*desk.look(), desk.checkout.git("status", "--porcelain"), applied)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(("pop", "-a"), id="pop"),
        pytest.param(("refresh", "."), id="refresh"),
        pytest.param(("drop", "one"), id="drop"),
        pytest.param(("undo", "-n", "2"), id="undo"),
    ],
)
def test_a_killed_command_leaves_workspace_and_checkout_old_or_new(
    desk: Hands, line: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if line[0] == "refresh":
        desk.write({"pkg/a.py": text(l10="one\n", l40="two\nmore\n"), "stray": "mine\n"})
    monkeypatch.chdir(desk.stage.folder)
    to = () if line[0] == "undo" else ("--to", desk.root)
    resets = [restorer(desk.root), restorer(desk.stage.root)]
    old = look(desk)
    run: Callable[[], object] = lambda: invoke("-C", desk.stage.root, *line, *to)  # noqa: E731
    with killing(10**6) as counter:
        run()
    new = look(desk)
    assert new != old
    seen: list[bool] = []
    for at in range(counter.count, 0, -STEP):
        for reset in resets:
            reset()
        with killing(at) as killer, suppress(Killed):
            run()
        if killer.count >= at:
            seen.append(look(desk) == old)
            assert seen[-1] or look(desk) == new, f"killed at {at}"
        if seen[-READING:] == [True] * READING:  # what is before these only reads
            break
    assert False in seen
