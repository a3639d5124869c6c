"""Authoring commands that are killed at a file operation: workspace and checkout, old or new."""

from __future__ import annotations

import pytest

from tests.commands.conftest import invoke
from tests.commands.desks import Hands, hands
from tests.commands.every import restorer
from tests.commands.scenes import Stage, text
from tests.commands.test_kills import old_or_new
from tests.long import LONG


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk with two pushed patches of small files."""
    desk = hands(stage, name="w")
    desk.patch("one", {"pkg/a.py": text(l10="one\n"), "new/file": "new\n"})
    desk.patch("two", {"pkg/a.py": text(l10="one\n", l40="two\n"), "run.sh": None})
    return desk


def look(desk: Hands) -> object:
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
    seen = old_or_new(
        lambda: invoke("-C", desk.stage.root, *line, *to),
        look=lambda: look(desk),
        reset=restorer(desk.root, desk.stage.root),
        step=1 if LONG else 11,
    )
    assert seen == {"old", "new"}
