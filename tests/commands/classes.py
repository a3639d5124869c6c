"""A conflict of each class, as a series and an upstream make it."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from tests.commands.conftest import Scene
from tests.commands.test_conditions import say
from tests.commands.test_moved import G_OURS, G_THEIRS, F, G, H, K
from tests.commands.test_rebase import Files, fork, text

PATCH = "fork-change-1.patch"


class Class(Struct, frozen=True):
    """What is there, what the patch makes of it, and what upstream does.

    `before` may change the patch, and `link` is a path that becomes a link upstream.
    """

    kind: str
    on: Files
    ours: Files
    then: Files
    before: Callable[[Scene], None] = lambda scene: None
    link: str = ""


def _a(said: str) -> str:
    return (
        f"import os\n\n\ndef first():\n    return 1\n\n\ndef used(x):\n    {said}\n    return x\n"
    )


CALL = "from a import used\n\nused(1)\n"
CLASSES = {
    "text": Class(
        "text", {"a.py": _a("x += 1"), "b.py": CALL}, {"a.py": _a("x += 2")},
        {"a.py": _a("x += 3")},
    ),
    "add/add": Class("add/add", {"x": "x\n"}, {"new": "ours\n"}, {"new": "theirs\n"}),
    "deleted upstream": Class(
        "modify/delete", {"a.py": _a("x += 1")}, {"a.py": _a("x += 2")}, {"a.py": None}
    ),
    "deleted by the patch": Class(
        "modify/delete", {"a.py": _a("x += 1")}, {"a.py": None}, {"a.py": _a("x -= 1")}
    ),
    "rename": Class(
        "rename", {"a": text()}, {"a": None, "b": text()}, {"a": None, "c": text()}
    ),
    "binary": Class("binary", {"a": b"\0a" * 99}, {"a": b"\0b" * 99}, {"a": b"\0c" * 99}),
    "mode": Class("mode", {"a": "a\n"}, {"a": "b\n"}, {}, link="a"),
    "moved": Class(
        "moved", {"a.py": F + G + H, "b.py": K}, {"a.py": F + G_OURS + H},
        {"a.py": H, "b.py": K + F, "c.py": G_THEIRS},
    ),
    "condition": Class(
        "condition", {"a": text(), "old": "x\n"}, {"a": text(l10="x\n")}, {"old": None},
        before=lambda scene: say(scene, PATCH, "Valid-While: path old"),
    ),
    "not ensured": Class(
        "condition", {"a": text(), "old": "x\n"}, {"a": text(l10="x\n")}, {"old": None},
        before=lambda scene: say(scene, PATCH, 'Ensures: path old and pattern "^x$" in a'),
    ),
    "finding": Class(
        "finding", {"a.py": _a("x += 1")}, {"c.py": CALL},
        {"a.py": _a("x += 1").replace("used", "renamed")},
    ),
}  # fmt: skip

WITHOUT_TEXT = [name for name, of in CLASSES.items() if of.kind in ("condition", "finding")]


def leave(scene: Scene, name: str, made: Class | None = None) -> str:
    """Leave a conflict of a class behind a rebase, or of another one like it; return its id."""
    of = made or CLASSES[name]

    def make() -> str:
        fork(scene, of.ours, on=of.on)
        of.before(scene)
        if of.link:
            (scene.upstream.root / of.link).unlink()
            (Path(scene.upstream.root) / of.link).symlink_to("nowhere")
        scene.upstream.commit(of.then, "upstream: goes on (#7)\n\nBecause it must.")
        document = scene.rebase("s", "--onto", "upstream/main", code=3)
        (conflict,) = document["series"][0]["patches"][0]["conflicts"]
        return str(conflict["id"])

    return make() if made else scene.once(f"a conflict: {name}", make)
