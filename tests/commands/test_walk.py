"""Authoring at random: no line that a person wrote is ever lost, and undo leads to the start."""

import pytest

from tests.commands.desks import hands
from tests.commands.scenes import Stage
from tests.commands.walker import Walker, start
from tests.long import LONG

# Seeds of walks that once found a fault are kept.
SHORT_WALKS = (1, 2)
LONG_WALKS = (1, 2, 3)


def walk(stage: Stage, monkeypatch: pytest.MonkeyPatch, *, seed: int, commands: int) -> Walker:
    monkeypatch.chdir(stage.folder)
    walker, look = start(hands(stage, name="w"), seed)
    while sum(walker.counts.values()) < commands:
        walker.step()
    walker.settle()
    walker.back_to_the_start(look)
    return walker


@pytest.mark.parametrize("seed", SHORT_WALKS if LONG else SHORT_WALKS[1:])
def test_a_short_walk_loses_no_line(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    walk(stage, monkeypatch, seed=seed, commands=30)


@pytest.mark.skipif(not LONG, reason="PATCHMGR_LONG is not set: takes minutes")
@pytest.mark.parametrize("seed", LONG_WALKS)
def test_a_walk_of_two_thousand_commands_loses_no_line(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    walker = walk(stage, monkeypatch, seed=seed, commands=2000)
    verbs = {verb for verb, _ in walker.counts}
    assert all(walker.counts[verb, True] for verb in verbs), walker.counts
