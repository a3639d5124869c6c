"""Strings that both sides rewrote."""

from __future__ import annotations

import pytest

from patchmgr.engines.literals import alike_literals

OLD = 'pattern = re.compile(r"<call>(.*?)</call>", re.DOTALL)\n'
MINE = r'pattern = re.compile(r"<call>\s*([^\s<]+)[^<]*</call>", re.DOTALL)' + "\n"
THEIRS = r'pattern = re.compile(r"<call>\s*(\S+?)\s*</call>", re.DOTALL)' + "\n"


def alike(old: str, mine: str, theirs: str) -> tuple[float, int] | None:
    before, ours, upstream = (s.encode().splitlines(keepends=True) for s in (old, mine, theirs))
    return alike_literals(before, ours, upstream, "Python")


def test_two_patterns_for_the_same_thing_are_alike() -> None:
    found = alike(OLD, MINE, "other\n" + THEIRS)
    assert found is not None
    assert found[0] >= 0.5
    assert found[1] == 1


@pytest.mark.parametrize(
    ("old", "mine", "theirs"),
    [
        pytest.param(OLD, MINE, OLD.replace("(.*?)", "{1,9}@#!~"), id="other"),
        pytest.param(OLD, MINE, "pattern = None\n", id="no-string"),
        pytest.param(OLD, MINE, THEIRS.replace("DOTALL", "I"), id="other-code"),
        pytest.param(OLD, MINE, OLD, id="as-it-was"),
        pytest.param(OLD, MINE.replace("DOTALL", "I"), THEIRS, id="we-changed-code"),
        pytest.param(OLD, MINE + "x\n", THEIRS, id="we-added-a-line"),
        pytest.param('f("t==2.9")\n', 'f("t==2.10")\n', 'f("t==2.11")\n', id="version"),
        pytest.param(
            'f("a", "b")\n',
            'f("one two three four", "c")\n',
            'f("one two three four", "b")\n',
            id="two-strings",
        ),
    ],
)
def test_other_changes_are_not_alike(old: str, mine: str, theirs: str) -> None:
    assert alike(old, mine, theirs) is None
