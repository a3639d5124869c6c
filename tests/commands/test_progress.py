"""What is said while a command works: bars on a terminal, a line elsewhere, color on request."""

import io
import sys
import time
from pathlib import Path

import pytest

from patchmgr.cli.root import StderrProgress, say, stderr_progress, wants_color
from tests.commands.conftest import Run


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second go by whenever somebody asks for the time."""
    times = iter(range(1, 99))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(times)))


EMPTY = "." * 24


def drawn(*bars: str) -> str:
    """Return what is written to show these bars one after the other, and none at the end."""
    return "".join(f"\r\x1b[K{bar}" for bar in (*bars, ""))


@pytest.mark.usefixtures("ticks")
@pytest.mark.parametrize(
    ("shows_bar", "total", "said"),
    [
        pytest.param(
            True, 200, drawn(f"work [{EMPTY}]   0%", "work [############............]  50%"),
            id="known",
        ),
        pytest.param(True, None, drawn("work ", "work 100"), id="unknown"),
        pytest.param(
            True, 50, drawn(f"work [{EMPTY}]   0%", "work [########################] 100%"),
            id="too-much",
        ),
        pytest.param(False, 2_500_000, "work (2.5 MB)\n", id="large"),
        pytest.param(False, 999, "", id="small"),
        pytest.param(False, None, "", id="unknown-elsewhere"),
    ],
)  # fmt: skip
def test_a_bar_is_drawn_over_itself_and_goes_and_elsewhere_large_work_is_announced(
    capsys: pytest.CaptureFixture[str], shows_bar: bool, total: int | None, said: str
) -> None:
    progress = StderrProgress(shows_bar=shows_bar)
    progress.start("work", total)
    progress.advance(100)
    progress.done()
    assert capsys.readouterr().err == said


def test_drawn_rarely(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    progress = StderrProgress(shows_bar=True)
    progress.start("work", 9)
    for _ in range(9):
        progress.advance(1)
    assert capsys.readouterr().err.count("work") == 1


@pytest.mark.usefixtures("ticks")
def test_a_task_within_a_task_and_what_is_told_meanwhile_stand_beside_each_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = StderrProgress(shows_bar=True)
    progress.start("all", 2)
    progress.start("part", None)
    progress.tell("a line")
    progress.done()
    progress.done()
    outer = f"all [{EMPTY}]   0%"
    both = f"all [{EMPTY[:12]}]   0%, part "
    told = drawn(outer, both) + "a line\n" + drawn(both) + drawn(outer)
    assert capsys.readouterr().err == told


def test_messages_are_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\x1b[2Jb")
    assert "\x1b" not in capsys.readouterr().err


def test_the_name_of_a_folder_is_cleaned(tmp_path: Path, run: Run) -> None:
    assert "/a\\u001b[2Jb" in run("init", tmp_path / "a\x1b[2Jb").err


@pytest.mark.parametrize(
    ("stream", "variables", "shows_bar", "is_colored"),
    [
        pytest.param(Screen(), {}, True, True, id="terminal"),
        pytest.param(
            Screen(), {"TERM": "dumb", "NO_COLOR": "1"}, False, False, id="plain-terminal"
        ),
        pytest.param(io.StringIO(), {}, False, False, id="pipe"),
    ],
)
def test_bars_and_color_are_for_terminals(
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO,
    variables: dict[str, str],
    shows_bar: bool,
    is_colored: bool,
) -> None:
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdout", stream)
    assert wants_color() is is_colored
    progress = stderr_progress()
    progress.start("work", 9)
    progress.done()
    assert ("\r\x1b[K" in stream.getvalue()) is shows_bar
