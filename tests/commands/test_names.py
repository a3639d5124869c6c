"""Names that people type: every command takes those of patches and of series in the same ways."""

from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.commands.scenes import Stage, one_line
from tests.commands.test_manual import RUNNABLE
from tests.tables import table

FULL, SHORT = "fork-two.patch", "series/s/fork-tw"

# By command, a line that names the second of the patches fork-one and fork-two.
PATCH_LINES = {
    "branch": ("--without", FULL, "--dry-run"),
    "changes": ("--until", FULL, "--to", "CHECKOUT"),
    "decide": (FULL, "--forget"),
    "drop": (FULL, "--dry-run"),
    "edit": (FULL, "--subject", "x", "--dry-run"),
    "files": (FULL,),
    "fold": ("fork-one", "--into", FULL, "--dry-run"),
    "goto": (FULL, "--to", "CHECKOUT", "--dry-run"),
    "move": (FULL, "--before", "1", "--dry-run"),
    "next": (FULL,),
    "pop": (FULL, "--to", "CHECKOUT", "--dry-run"),
    "prev": (FULL,),
    "push": (FULL, "--to", "CHECKOUT", "--dry-run"),
    "refresh": ("--patch", FULL, "--to", "CHECKOUT", "--dry-run"),
    "rename": (FULL, "new-name", "--dry-run"),
    "series guard": (FULL, "+sym", "--dry-run"),
    "show": (FULL,),
    "split": (FULL, "new-name", "--file", "bytes", "--dry-run"),
}


def test_the_table_has_every_command_that_takes_a_patch() -> None:
    named = {
        " ".join(words)
        for words, command in RUNNABLE.items()
        for parameter in command.params
        if "PATCH" in str(parameter.metavar or "") or parameter.name in ("patch", "patches")
    }
    assert named == set(PATCH_LINES)


@pytest.fixture
def checkout(stage: Stage) -> Path:
    """Return a checkout with all patches pushed; each line only looks, or is a dry run."""
    stage.run("push", "--all", "--to", stage.clone().root)
    return stage.folder / "checkout"


@table("command", list(PATCH_LINES))
def test_a_patch_by_the_start_of_its_path(stage: Stage, checkout: Path, command: str) -> None:
    places = {"CHECKOUT": checkout}

    def end(name: str) -> tuple[int, str, str]:
        words = [places.get(w, name if w == FULL else w) for w in PATCH_LINES[command]]
        answer = invoke("-C", stage.root, *command.split(), *words)
        return answer.code, answer.out.replace(name, FULL), answer.err.replace(name, FULL)

    code, out, err = end(FULL)
    assert "there is no patch" not in err.replace("there is no patch after", "")
    assert end(SHORT) == (code, out, err)


# What commands need beside an unknown series, before they look for it.
WITH_SERIES = {
    "import": ("FILE",),
    "export": ("--out", "OUT"),
    "rebase": ("--onto", "upstream/main"),
    "decide": ("x", "absorbed"),
    "apply": ("--to", "CHECKOUT"),
    "unapply": ("--to", "CHECKOUT"),
    "verify": ("--to", "CHECKOUT"),
    "overlay": ("--out", "OUT", "--site", "OUT"),
    "wheel": ("--from", "FILE", "--out", "OUT"),
    "diff": ("--from", "x"),
    "sync": ("--dry-run",),
    "why": ("x:1",),
    "new": ("x",),
    "goto": ("x",),
    "rename": ("x", "y"),
    "drop": ("x",),
    "move": ("x", "--before", "y"),
    "move --into": ("x",),
    "split": ("x", "y"),
    "series new": ("x",),
}


def test_a_series_that_is_none(stage: Stage) -> None:
    """Every command that takes a series says the same of an unknown one."""
    places = {"CHECKOUT": stage.clone().root, "OUT": stage.folder, "FILE": Path(__file__)}
    said = {}
    for words, command in RUNNABLE.items():
        for parameter in command.params:
            if parameter.name != "series" and "SERIES" not in str(parameter.metavar or ""):
                continue
            option = [name for name in parameter.opts[:1] if name.startswith("-")]
            more = WITH_SERIES.get(" ".join(words), ())
            more = WITH_SERIES.get(" ".join((*words, *option)), more)
            rest = (places.get(word, word) for word in more)
            answer = invoke("-C", stage.root, *words, *option, "nope", *rest)
            said[(*words, *option)] = answer.code, one_line(answer)
    assert len(said) > 30
    assert said == dict.fromkeys(said, (2, "there is no series nope"))
