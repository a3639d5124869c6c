"""Two processes at once: the second is told so at once, and a dead one is in nobody's way."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from patchmgr.model.patch import Patch
from patchmgr.workspace import Workspace
from tests.commands.every import ROWS, Place, Row, make_place
from tests.commands.scenes import Stage, one_line, picture

# A process without site-packages is there in a moment.
_HOLDER = """
import fcntl, sys
files = [open(name, "w") for name in sys.argv[1:]]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
# It ends where a command has just moved its entry into the log, before the other files.
_HALF = """
import os
from patchmgr.cli import main
from patchmgr.plumbing.journal import Journal
def first(journal, plan, finish_step):
    path, staged = plan.files[0]
    os.replace(journal._root / staged, journal._root / path)
    os._exit(0)
Journal._finish = first
main()
"""
# These change neither the workspace nor the checkout's files: refs move by compare-and-swap.
FREE = ("init", "export", "branch", "merge-driver", "upstream fetch", "conflicts push")
WRITING = [row for row in ROWS if row.writes and not row.line.startswith(FREE)]


@contextmanager
def holder(place: Place) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds workspace and checkout until it ends."""
    folders = (place.stage.root / ".patchmgr", place.checkout.root / ".git/patchmgr")
    for folder in folders:
        folder.mkdir(exist_ok=True)
    line = [sys.executable, "-S", "-c", _HOLDER, *(str(folder / "lock") for folder in folders)]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("state", [*dict.fromkeys(row.state for row in WRITING)])
def test_every_writing_command_is_told_who_is_at_work(stage: Stage, state: str) -> None:
    place = make_place(stage, state)
    rows = [row for row in WRITING if row.state == state]
    lines = [" ".join(place.words(row.line)) for row in rows]
    with holder(place):
        before = picture(stage.root), picture(place.checkout.root)
        for line in lines:
            answer = place.run(Row(line))
            assert answer.code == 1, f"{line}: {answer.out}"
            assert "is running in" in one_line(answer), line
            assert (picture(stage.root), picture(place.checkout.root)) == before, line


@pytest.mark.parametrize(
    "row", [Row("series guard fork-two.patch +sym"), Row("push --to {checkout}")]
)
def test_a_holder_that_was_killed_is_in_nobody_s_way(stage: Stage, row: Row) -> None:
    place = make_place(stage, "plain")
    with holder(place) as process:
        assert place.run(row).code == 1
        process.kill()
        process.wait()
        assert place.run(row).code == 0


def test_what_only_reads_does_not_wait(stage: Stage) -> None:
    place = make_place(stage, "pushed")
    rows = [row for row in ROWS if row.state == "pushed" and not row.writes]
    assert len(rows) > 3
    with holder(place):
        for row in (*rows, Row("status"), Row("series show s")):
            assert place.run(row).code == row.code, row.line


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("branch s --json", 0),
        ("export s --as quilt --out {out} --json", 0),
        ("apply s --to {checkout} --json", 1),
    ],
)
def test_what_is_read_while_another_writes_is_one_state(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, line: str, code: int
) -> None:
    place, read, ran = make_place(stage, "plain"), Workspace.patches, list[int]()
    rebase = ("-C", str(stage.root), "rebase", "s", "--onto", "upstream/later")

    def patches(self: Workspace, name: str) -> tuple[Patch, ...]:
        if not ran:
            ran.append(0)
            subprocess.run([sys.executable, "-m", "patchmgr", *rebase], check=True)
        return read(self, name)

    monkeypatch.setattr(Workspace, "patches", patches)
    answer = place.run(Row(line))
    assert (answer.code, ran) == (code, [0])
    if code:
        assert answer.json["error"]["message"] == "s was changed while the command ran"
    elif "base" in answer.json:
        now = stage.run("series", "show", "s", "--json").json["series"]["base"]["commit"]
        assert answer.json["base"] == now
    else:
        written = {path.name: path.read_bytes() for path in place.out.glob("*.patch")}
        assert written == {p.name: p.read_bytes() for p in stage.root.glob("series/s/*.patch")}


def test_a_tag_names_no_checks_of_a_state_that_came_later(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, read, file = (
        make_place(stage, "plain"),
        Workspace.patches,
        stage.root / "series/s/series",
    )
    before = file.read_text()
    file.write_text(f"{before}# later\n")
    stage.run("check", "s", code=4)
    file.write_text(before)

    def patches(self: Workspace, name: str) -> tuple[Patch, ...]:
        found = read(self, name)
        file.write_text(f"{before}# later\n")
        return found

    monkeypatch.setattr(Workspace, "patches", patches)
    assert place.run(Row("branch s --repo {checkout} --tag one")).code == 0
    assert "Gates: not run on this state" in place.checkout.git("cat-file", "tag", "one")


def test_what_is_read_meanwhile_is_one_state(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    place, last_change, read = make_place(stage, "plain"), Workspace._last_change, Workspace.patches
    rebase, ran = ("-C", str(stage.root), "rebase", "s", "--onto", "upstream/later"), list[int]()

    def begun(self: Workspace) -> int:
        if not ran:
            ran.append(0)
            subprocess.run([sys.executable, "-c", _HALF, *rebase], check=True)
        return last_change(self)

    def ended(self: Workspace, name: str) -> tuple[Patch, ...]:
        self.settle()
        return read(self, name)

    monkeypatch.setattr(Workspace, "_last_change", begun)
    monkeypatch.setattr(Workspace, "patches", ended)
    answer = place.run(Row("branch s --json"))
    assert (answer.code, ran) == (0, [0])
    now = stage.run("series", "show", "s", "--json").json["series"]["base"]["commit"]
    assert answer.json["base"] == now
