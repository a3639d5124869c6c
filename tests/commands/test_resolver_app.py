"""The full screen of `resolve`: by textual's own pilot, and in tmux through a whole rebase."""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from patchmgr.cli import conflicts
from patchmgr.commands.resolve import Resolver
from tests.commands.classes import leave
from tests.commands.conftest import Answer, Scene
from tests.commands.test_propose import BOTH, THEIRS, collide
from tests.commands.test_rebase import Files, clash
from tests.commands.test_resolve import content, editor
from tests.long import LONG as IS_LONG

pytest.importorskip("textual", reason="no full screen: textual is missing")

from textual.pilot import Pilot
from textual.widgets import Static

from patchmgr.cli.resolver_app import ResolverApp

NARROW, WIDE = (80, 24), (140, 50)
Look = Callable[[ResolverApp], object]


def shown(app: ResolverApp, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


async def settled(pilot: Pilot[None]) -> None:
    """Wait until the resolver has done what a key says."""
    await pilot.pause()
    while getattr(pilot.app, "_is_busy", False):
        await pilot.pause(0.01)


def driven(
    scene: Scene,
    monkeypatch: pytest.MonkeyPatch,
    keys: str,
    look: Look = lambda app: None,
    *,
    sizes: Sequence[tuple[int, int]] = (NARROW,),
    code: int = 0,
) -> Answer:
    """Press keys on the full screen, and look at it behind each, in the next of the sizes."""

    async def drive(app: ResolverApp) -> None:
        async with app.run_test(size=NARROW) as pilot:
            for key, size in zip(keys.split(), itertools.cycle(sizes)):
                await pilot.press(*(key if key.startswith("'") else [key]))
                await settled(pilot)
                if app.is_running and size != app.size:
                    await pilot.resize_terminal(*size)
                if app.is_running:
                    look(app)

    def run(resolver: Resolver) -> None:
        asyncio.run(drive(ResolverApp(resolver)))

    monkeypatch.setattr(conflicts, "_full_screen", lambda: run)
    return scene.call("resolve", code=code)


def test_every_key_of_a_rebase_has_its_hint(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    collide(scene)
    told: list[str] = []

    def look(app: ResolverApp) -> None:
        keys, hints = app.query_one("#keys"), shown(app, "keys")
        width, height = app.size
        assert all(one.words in hints for one in [*app.resolver.keys()])
        assert max(map(len, hints.split("\n"))) <= width
        assert keys.region.height == len(hints.split("\n")) and keys.region.bottom == height
        assert app.query_one("#work").region.height > 3
        tops = [pane.region.y for pane in app.query(".pane") if pane.display][:3]
        assert (len(set(tops)) == 1) is (width >= 110)
        told.append(shown(app, "told"))

    sizes = (WIDE, (60, 16), NARROW, (300, 100))
    answer = driven(scene, monkeypatch, "t a u x 1 a c", look, sizes=sizes)
    fails = "the text fails these checks:\nledger: it has none of upstream's changes"
    assert told[1].startswith(fails)
    assert told[3] == "x has no effect here"
    assert told[5] == "a.py passes every check; no conflict is left; press c to continue the rebase"
    assert "modified   fork-change-1.patch" in answer.out
    assert content(scene) == BOTH


def test_letters_of_a_reason_are_no_keys(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    name = collide(scene)
    driven(scene, monkeypatch, "t r quit enter q", code=3)
    assert "because" not in (scene.root / "conflicts" / name / "meta.toml").read_text()
    driven(scene, monkeypatch, "r q u i t enter c")
    assert 'because = "quit"\n' in (scene.root / "conflicts" / name / "meta.toml").read_text()
    assert content(scene) == THEIRS


def test_what_patches_say_is_shown_as_it_is(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    on: Files = {"a": "[bold]base[/bold]\n"}
    clash(scene, {"a": "[red]\x1b[2Jmine\u202e\n"}, on=on, then={"a": "[/]ours\n"})

    def look(app: ResolverApp) -> None:
        texts = "".join(str(pane.render()) for pane in app.query(".pane").results(Static))
        assert "[bold]base[/bold]" in texts and "+ [/]ours" in texts
        assert "+ [red]\\u001b[2Jmine\\u202e" in texts

    driven(scene, monkeypatch, "j q", look, code=3)


@pytest.mark.parametrize("name", ["finding", "binary", "deleted by the patch", "moved"])
def test_each_class_has_a_screen(scene: Scene, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    leave(scene, name)
    looks: list[str] = []
    driven(scene, monkeypatch, "z q", lambda app: looks.append(shown(app, "about")), code=3)
    assert "(conflict 1 of 1" in looks[0] and "patch: fork: change 1" in looks[0]


class Screen:
    """A terminal of a size in tmux that runs a command."""

    def __init__(self, place: Path, size: tuple[int, int]) -> None:
        self.size = size
        self._line = ["tmux", "-u", "-S", str(place / "tmux"), "-f", os.devnull]

    def start(self, command: str) -> None:
        width, height = map(str, self.size)
        self._tmux("new-session", "-d", "-x", width, "-y", height, f"{command}; sleep 100")

    def _tmux(self, *words: str) -> str:
        env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        env.pop("COLUMNS", None)  # it would count for more than the terminal's own
        done = subprocess.run([*self._line, *words], env=env, capture_output=True, check=True)
        return done.stdout.decode()

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def wait(self, text: str) -> str:
        """Return the screen as soon as it has a text."""
        end = time.monotonic() + 120
        while text not in (found := self._tmux("capture-pane", "-p")):
            assert time.monotonic() < end, found
            time.sleep(0.05)
        lines = found.split("\n")
        assert len(lines) <= self.size[1] + 1 and max(map(len, lines)) <= self.size[0]
        return found

    def close(self) -> None:
        subprocess.run([*self._line, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def screen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Screen]:
    if shutil.which("tmux") is None:
        pytest.skip("no test in a terminal: tmux is missing")
    made = Screen(tmp_path, request.param)
    yield made
    made.close()


LONG = "the fork says more here than any narrow terminal has room for, and all of it is shown"


# How a wide one is laid out is also seen in `test_every_key_of_a_rebase_has_its_hint`.
@pytest.mark.parametrize("screen", [NARROW, WIDE] if IS_LONG else [NARROW], indirect=True, ids=str)
def test_a_rebase_to_its_end(scene: Scene, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    on: Files = {"a": "one\n", "b": "b\n", "gone": "old\n"}
    first: Files = {"a": f"{LONG}\n"}
    second: Files = {**first, "b": "mine\n"}
    third: Files = {**second, "gone": "new\n"}
    clash(scene, first, second, third, on=on, then={"a": "up\n", "b": "ours\n", "gone": None})
    sed = "/^<<<<<<< /d; /^||||||| /,/^=======/d; /^>>>>>>> /d; s/^mine/mine and ours/; /^ours/d"
    editor(scene, f"sed -i.old -e '{sed}' \"$1\"", monkeypatch)
    screen.start(f"{sys.executable} -m patchmgr -C {scene.root} resolve")
    found = screen.wait("q quit")
    for hint in ("o ours", "t theirs", "b both", "e edit", "a accept", "s skip", "n/p next"):
        assert hint in found
    assert "(conflict 1 of 3" in found.replace("\n", " ")
    words = "".join(found.replace("│", " ").split())
    if screen.size == NARROW:
        assert "".join(LONG.split()) in words
    else:
        assert all(word in words for word in LONG.split())
    screen.press("b")
    screen.wait("u undo")
    screen.press("a")
    screen.wait("a passes every check; 2 left")
    screen.press("e")
    screen.wait("1/1 chosen b")
    screen.press("a")
    screen.wait("b passes every check; 1 left")
    screen.press("t")
    screen.wait("1/1 chosen gone")
    screen.press("a")
    assert "press r to accept it with a reason" in screen.wait("the text fails these checks:")
    screen.press("r")
    screen.wait("Why accept it?")
    screen.press("still needed", "Enter")
    screen.wait("no conflict is left; press c to continue")
    screen.press("c")
    screen.wait("s: head ")
    assert content(scene, "a") == f"up\n{LONG}\n"
    assert content(scene, "b") == "mine and ours\n"
    assert content(scene, "gone") == "new\n"
