"""How much a command says: what changed, all of it with -v, one line with -q."""

import pytest

from tests.commands.every import make_place
from tests.commands.scenes import Stage, one_line

LINES = [
    ("rebase s --onto {collides} --dry-run", "plain", 3),
    ("apply s --to {checkout} --dry-run", "plain", 0),
    ("verify s --to {checkout}", "applied", 0),
    ("check s", "plain", 4),
    ("diff s --from one --repo {checkout}", "tagged", 0),
    ("status", "collided", 0),
]
WITHOUT_ALL = [
    ("rebase s --onto {later} --onto {collides} --dry-run", "plain", 3),
    ("report s", "plain", 0),
    ("audit s", "plain", 0),
]


@pytest.mark.parametrize(("line", "state", "code"), [*LINES, *WITHOUT_ALL])
def test_quiet_is_one_line_and_verbose_more_than_usual(
    stage: Stage, line: str, state: str, code: int
) -> None:
    words = make_place(stage, state).words(line)
    quiet = stage.run(*words, "-q", code=code)
    assert (quiet.out.count("\n"), quiet.err) == (1, "")
    if (line, state, code) in LINES:
        usual, every = (stage.run(*words, *more, code=code).out for more in ((), ("-v",)))
        assert len(usual) < len(every)
        error = one_line(stage.run(*words, "-v", "-q", code=2))
        assert error == "--verbose and --quiet cannot be used together"
