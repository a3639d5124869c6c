"""Authoring at random: no line that a person wrote is ever lost, and undo leads to the start."""

import json
import os
import random
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, invoke
from tests.commands.desks import Hands, hands
from tests.commands.scenes import Picture, Stage
from tests.long import LONG

FILES = ("pkg/a.py", "pkg/b.py", "run.sh", "fresh/one", "fresh/two")
GOOD = (0, 1, 2, 3)


@dataclass
class Walker:
    """One walk: its luck, and the lines that were written and that nobody took away again.

    Every line is written once only, so that it can be looked for.
    """

    desk: Hands
    luck: random.Random
    number: int
    lines: set[bytes] = field(default_factory=set)
    written: int = 0
    named: int = 0
    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    _kept: set[Path] = field(default_factory=set)
    _known: set[bytes] = field(default_factory=set)

    def step(self) -> None:
        """Edit something, or run a command; then look whether every line is still somewhere."""
        if self.luck.random() < 0.3:
            self.edit()
            return
        line = ("refresh", ".") if self.luck.random() < 0.2 else self.command()
        if line == ("refresh", "."):
            self.clear_rejects()
        if line[0] == "undo" and len(self.done()) < int(line[2] if line[2:] else 1):
            return  # that would take back what was there before the walk
        answer = self.run(*line)
        self.counts[line[0], answer.code == 0] += 1
        lost = self.lines - self.found()
        assert not lost, f"{' '.join(line)} lost {sorted(lost)[:3]}"

    def run(self, *line: str) -> Answer:
        """Run a command in the checkout."""
        os.chdir(self.desk.root)
        answer = invoke("-C", self.desk.stage.root, *line)
        assert answer.code in GOOD, f"{line} exit {answer.code}\n{answer.out}\n{answer.err}"
        return answer

    def edit(self) -> None:
        """Insert a line that nobody has written before; now and then delete a line of upstream."""
        path = self.desk.root / self.luck.choice(FILES)
        old = path.read_bytes().split(b"\n") if path.is_file() else [b""]
        self.written += 1
        line = b"written %06d" % self.written
        self.lines.add(line)
        old.insert(self.luck.randrange(len(old)), line)
        upstreams = [at for at, text in enumerate(old) if text.startswith(b"line ")]
        if upstreams and self.luck.random() < 0.3:
            del old[self.luck.choice(upstreams)]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\n".join(old))

    def command(self) -> tuple[str, ...]:
        """Return a command line that a person may think of, sensible or not."""
        order = self.desk.order()
        if not order:
            return ("new", f"p{self.named}")
        if self.luck.random() < 0.5 and not self.pushed():
            return self.luck.choice((("push",), ("push", "-a"), ("goto", "1"), ("new", "top")))
        pick = [self.luck.choice(order) if order else "none" for _ in range(3)]
        self.named += 1
        name, path = f"p{self.named}", self.luck.choice(FILES)
        return self.luck.choice(
            (
                ("new", name),
                ("new", name, "-m", f"written {name}"),
                ("push",), ("push", "-a"), ("push", "2"),
                ("push", "--force") if self.luck.random() < 0.3 else ("push",),
                ("pop",), ("pop", "-a"), ("pop", "2"), ("pop", "--force"),
                ("goto", pick[0]), ("goto", str(self.luck.randrange(5))),
                ("refresh",), ("refresh", path),
                ("refresh", "--patch", pick[0]), ("refresh", ".", "-p", pick[0]),
                ("refresh", "--allow-empty"),
                ("edit", pick[0], "--subject", f"Subject {name}"),
                ("edit", pick[0], "--field", f"Bug={name}"),
                ("rename", pick[0], name),
                ("drop", pick[0]), ("drop", pick[0], pick[1]),
                ("move", pick[0], "--before", pick[1]), ("move", pick[0], "--after", pick[1]),
                ("fold", pick[0]), ("fold", pick[0], "--into", pick[1]),
                ("split", pick[0], name, "--file", path),
                ("split", pick[0], name, "--hunk", f"{path}:1"),
                ("series", "guard", pick[0], "+sym", "--series", "w"),
                ("series", "guard", pick[0], "--none", "--series", "w"),
                ("undo",), ("undo",), ("undo", "-n", "3"), ("redo",), ("redo", "-n", "2"),
            )
        )  # fmt: skip

    def pushed(self) -> bool:
        """Say whether a patch is pushed."""
        record = self.desk.root / ".git/patchmgr/applied.json"
        return record.exists() and bool(json.loads(record.read_bytes()).get("pushed"))

    def found(self) -> set[bytes]:
        """Return all lines that are in the checkout, in a patch, or kept by the log."""
        places = [self.desk.root / path for path in FILES]
        places += [Path(f"{path}.rej") for path in places]
        places += list(self.desk.folder.glob("*.patch"))
        now = set[bytes]()
        for place in places:
            if place.is_file():
                now.update(_lines(place.read_bytes()))
        for path in (self.desk.stage.root / ".patchmgr/log/contents").glob("*/*"):
            if path not in self._kept:
                self._kept.add(path)
                self._known.update(_lines(zlib.decompress(path.read_bytes())))
        return now | self._known

    def clear_rejects(self) -> None:
        """Delete the files with rejects, as a person does who has put the hunks in by hand."""
        for path in self.desk.root.rglob("*.rej"):
            path.unlink()

    def settle(self) -> None:
        """Take what is edited into a patch, so that the log has all of it."""
        self.clear_rejects()
        if self.run("refresh", ".").code:
            self.run("new", "the-last")
            last = self.run("refresh", ".")
            assert last.code == 0, last.err

    def done(self) -> list[int]:
        """Return the numbers of what can be undone of the walk."""
        done: list[int] = []
        for row in self.run("log", "--json").json["operations"]:
            if row["kind"] == "done":
                done.append(row["number"])
            elif row["kind"] == "undo":
                del done[-len(row["of"]) :]
            else:
                done += row["of"]
        return [each for each in done if each > self.number]

    def back_to_the_start(self, look: tuple[Picture, Picture]) -> None:
        """Undo everything that was done since the number, and see that it is as it was."""
        left = len(self.done())
        while left:
            count = min(left, self.luck.randrange(1, 40))
            answer = self.run("undo", "-n", str(count))
            assert answer.code == 0, answer.err
            left -= count
        assert self.desk.look() == look


def _lines(content: bytes) -> set[bytes]:
    """Return the written lines of a text, in a diff too."""
    lines = content.split(b"\n")
    return {line.lstrip(b"+- ") for line in lines if b"written " in line}


def start(desk: Hands, seed: int) -> tuple[Walker, tuple[Picture, Picture]]:
    """Return a walker, and what there was before it."""
    number = max(row["number"] for row in desk.run("log", "--json").json["operations"])
    return Walker(desk, random.Random(seed), number), desk.look()


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
def test_a_short_walk_keeps_lines(stage: Stage, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    walk(stage, monkeypatch, seed=seed, commands=30)


@pytest.mark.skipif(not LONG, reason="PATCHMGR_LONG is not set: takes minutes")
@pytest.mark.parametrize("seed", LONG_WALKS)
def test_a_long_walk_keeps_lines(stage: Stage, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    walker = walk(stage, monkeypatch, seed=seed, commands=2000)
    verbs = {verb for verb, _ in walker.counts}
    assert all(walker.counts[verb, True] for verb in verbs), walker.counts
