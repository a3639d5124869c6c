"""Nothing that fails a check is accepted: random conflicts of every class, hostile solutions."""

import ast
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from tests.commands.classes import CLASSES, WITHOUT_TEXT, Class, leave
from tests.commands.conftest import Scene, invoke
from tests.commands.scenes import picture
from tests.commands.test_rebase import Files
from tests.long import LONG

MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
WORDS = ("basin", "valve", "gauge", "rotor", "flask", "sieve", "spool", "hinge", "crate", "wedge")


NAMES = ("used", "first", "ours", "theirs")


class Hostile(Struct, frozen=True):
    """A solution, None to delete the file; `is_never` says that it fails whatever stands around."""

    label: str
    content: bytes | None
    is_never: bool


def varied(made: Class, random: Random) -> Class:
    """Return a class with other names, and with other text before what it is about."""
    names = dict(zip(NAMES, random.sample(WORDS, len(NAMES)), strict=True))
    functions = "".join(
        f"def {word}_{word}(n):\n    return n * {random.randrange(9)}\n\n\n"
        for word in random.sample(WORDS, random.randrange(4))
    )
    lines = "".join(f"{word} {random.random()}\n" for word in random.sample(WORDS, 3))
    lines = "" if made.kind == "add/add" else lines  # else upstream has most of the patch
    noise = random.randbytes(random.randrange(1, 90))

    def other(files: Files) -> Files:
        found: dict[str, str | bytes | None] = {}
        for path, content in files.items():
            if isinstance(content, bytes):
                found[path] = content + noise
            elif content is None:
                found[path] = None
            else:
                renamed = re.sub("|".join(NAMES), lambda word: names[word[0]], content)
                found[path] = (functions if path.endswith(".py") else lines) + renamed
        return found

    return replace(made, on=other(made.on), ours=other(made.ours), then=other(made.then))


def hostile(region: Any, marked: bytes, random: Random) -> Iterator[Hostile]:
    """Yield solutions for a region; `marked` is the file as the rebase left it."""
    sides = [region[side] for side in ("base", "ours", "theirs")]
    texts = [(side or {}).get("text") or "" for side in sides]
    lines = [line for side in texts for line in side.splitlines(keepends=True)]
    mixed = [random.sample(lines, random.randint(0, min(len(lines), 12))) for _ in range(3)]
    yield from (Hostile(f"mixed {n}", "".join(one).encode(), False) for n, one in enumerate(mixed))
    marker = f"{random.choice(MARKERS)} {random.choice(WORDS)}\n"
    at = random.randint(0, len(mixed[0]))
    text = "".join([*mixed[0][:at], marker, *mixed[0][at:]])
    for label, content in {
        "the file with its markers": marked,
        "a marker": text.encode(),
        "10 MB": b"x = 1\n" * 1_700_000,
        "17 MiB": b"\n" * (17 << 20),
        "code outside of the region": b"import sys\n" + marked,
        "another file": b"--- a/other\n+++ b/other\n@@ -0,0 +1 @@\n+x\n" + marked,
        "nothing": b"",
        "bytes": b"\0" + random.randbytes(random.randrange(40)),
        "deleted": None,
        **{f"side {number}": text.encode() for number, text in enumerate(texts)},
    }.items():
        yield Hostile(label, content, True)


def propose(scene: Scene, name: str, given: Hostile) -> bool:
    """Propose a solution, and say whether it passes; one that does not leaves no trace."""
    before = picture(scene.root, without=("lock", "log"))
    how = ["--delete"]
    if given.content is not None:
        file = scene.root.parent / "solution"
        file.write_bytes(given.content)
        how = ["--file", str(file)]
    words = ("conflicts", "propose", name, *how, "--by", "agent", "--json")
    answer = invoke("-C", scene.root, *words)
    made = answer.json
    assert (answer.code, made["passed"]) == ((4, False) if made["failures"] else (0, True))
    if not made["passed"]:
        assert picture(scene.root, without=("lock", "log")) == before
        scene.call("conflicts", "accept", name, "proposed", code=1)
    return bool(made["passed"])


def check_program(scene: Scene, answer: Hostile, random: Random) -> None:
    """Let a program give a solution, and write other files, fail, or never end."""
    before, file = picture(scene.root), scene.root.parent / "answer"
    said = {"content": (answer.content or b"").decode("utf-8", "replace")}
    file.write_text(json.dumps({"delete": True} if answer.content is None else said))
    end = random.choice(["", "; exit 1", "; sleep 600", "; yes"])
    command = f"echo x > a.py; cat {file}{end}"
    ask = ("--continue", "--resolver", command, "--resolver-timeout", "1")
    (asked,) = scene.rebase(*ask, code=3)["resolver"]
    assert not asked["taken"] and (asked["failures"] or asked["error"])
    assert picture(scene.root) == before


def check_taken(scene: Scene, name: str, place: tuple[str, bytes], paths: set[str]) -> None:
    """Accept what passed, and hold what comes of it against what anybody asks of a merge.

    `place` is the file, as the rebase left it; `paths` are those of the patch.
    """
    path, marked = place
    scene.call("conflicts", "accept", name, "proposed")
    scene.rebase("--continue")
    scene.call("branch", "s", "--repo", scene.upstream.root, "--name", "made")
    content = scene.upstream.git("show", f"made:{path}")
    assert not [line for line in content.split("\n") if line.startswith(MARKERS)]
    if path.endswith(".py"):
        ast.parse(content)
    before, *_, behind = re.split("^(?:<<<<<<<|>>>>>>>).*\n", marked.decode(), flags=re.M)
    assert content.startswith(before.strip()) and content.endswith(behind.strip())
    for side in ("main", "fork-s"):
        known = scene.upstream.git("ls-tree", "--name-only", side, path)
        assert not known or scene.upstream.git("show", f"{side}:{path}") != content
    changed = scene.upstream.git("diff", "--name-only", "--no-renames", "main", "made").split()
    assert {*changed} <= {path, *paths}


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in WITHOUT_TEXT])
@settings(
    max_examples=63 if LONG else 1,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(random=st.randoms(use_true_random=True))
def test_nothing_that_fails_a_check_is_accepted(scene: Scene, name: str, random: Random) -> None:
    scene.once("hostile solutions", lambda: None)
    found = leave(scene, name, varied(CLASSES[name], random))
    order = scene.call("conflicts", "show", found, "--json", "--full").json["work_order"]
    waiting = next(p for p in (scene.root / ".patchmgr/rebase/s").rglob("*") if p.is_file())
    (region,), marked = order["regions"], waiting.read_bytes()
    solutions = list(hostile(region, marked, random))
    random.shuffle(solutions)
    if LONG:
        check_program(scene, next(one for one in solutions if one.is_never), random)
    for one in solutions[: 5 if LONG else 3]:
        if propose(scene, found, one):
            event("one passed")
            assert not one.is_never, one.label
            check_taken(scene, found, (order["new_path"], marked), {*CLASSES[name].ours})
            return
