"""What upstream moved, or took back, of a patch that landed in other words."""

from __future__ import annotations

import pytest

from tests.commands.conftest import Scene
from tests.commands.test_rebase import fork, verdicts

OTHER = "def other(plant):\n    stop(plant)\n"
HELPERS = "".join(f"    helper_{n}(plant)\n" for n in range(3))
PIECES = "".join(f"    piece_{n:02}(plant)\n" for n in range(20))


def steps(*more: tuple[int, str]) -> str:
    """Return a function of sixty lines, with other lines behind some of them."""
    lines = [f"    step_{n:02}(plant)\n" for n in range(60)]
    for at, text in more:
        lines[at] += text
    return "".join(["def main(plant):\n", *lines])


def pieces(words: str) -> tuple[int, str]:
    return 6, PIECES + "".join(f"    {words}_{n}(plant)\n" for n in range(3))


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        pytest.param(OTHER + HELPERS, "absorbed", id="moved-to-a-file-of-its-own"),
        pytest.param(OTHER, "absorbed", id="taken-away-later"),
    ],
)
def test_what_landed_is_in_whatever_became_of_it_later(
    scene: Scene, other: str, verdict: str
) -> None:
    """Found by a reader: moved lines were carried, and stood in the result twice."""
    helpers = (21, HELPERS)
    fork(scene, {"a.py": steps(pieces("ours"), helpers)}, on={"a.py": steps(), "b.py": OTHER})
    scene.upstream.commit({"a.py": steps(pieces("theirs"), helpers)}, "Land (#7)")
    scene.upstream.commit({"a.py": steps(pieces("theirs")), "b.py": other}, "Move (#8)")
    assert verdicts(scene.rebase("--onto", "upstream/main")) == [verdict]
