"""A workspace from a stranger, before every command: refused in a line, and nothing outside moves.

PATCHMGR_LONG=1 puts every hostile patch and every spoiled file before every command.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import FrameType

import pytest

from tests.commands.conftest import Answer
from tests.commands.every import ROWS, Place, Row, make_place
from tests.commands.hostile import PATCHES, SPOILS
from tests.commands.scenes import Picture, Stage, picture
from tests.long import LONG
from tests.tables import table

PATIENCE = 30
PLAIN = [row for row in ROWS if row.state == "plain"]
SECRET = "the secret of somebody else"


def outside(place: Place) -> tuple[Picture, bytes]:
    """Return all that no command may change: what is beside the places named, and git's own."""
    private = ("cache", "workspace", "out", "other", "checkout")
    config = (place.checkout.root / ".git/config").read_bytes()
    return picture(place.stage.folder, without=private), config


@contextmanager
def in_time() -> Iterator[None]:
    """Fail what hangs."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it took longer than {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(place: Place, row: Row) -> Answer:
    """Run a row in time and assert what holds of every run."""
    words = place.words(row.line)
    before = outside(place)
    with in_time():
        answer = place.run(Row(" ".join(words)))
    assert answer.code in (0, 1, 2, 3, 4), f"{row.line}: {answer.err}"
    if row.line.split()[0] != "merge-driver":
        assert outside(place) == before, row.line
    assert SECRET not in answer.out + answer.err, row.line
    return answer


def some(rows: Sequence[Row], number: int) -> Sequence[Row]:
    """Return all rows, or where time is short one that is another for each number."""
    return rows if LONG else [rows[number % len(rows)]]


@pytest.fixture
def guarded(stage: Stage) -> Stage:
    """Return a stage beside a folder that is nobody's business."""
    (stage.folder / "outside").mkdir()
    (stage.folder / "outside/secret").write_text(SECRET)
    return stage


# What reads patches, and so must refuse a hostile one.
_READS = ("export", "rebase", "apply", "branch", "report", "check", "push", "goto", "show")


@table(("name", "number"), {name: (name, n) for n, name in enumerate(PATCHES)})
def test_a_hostile_patch_in_a_series_gets_nowhere(guarded: Stage, name: str, number: int) -> None:
    place = make_place(guarded, "plain")
    (guarded.root / "series/s/fork-one.patch").write_bytes(PATCHES[name])
    files = picture(guarded.root), picture(place.checkout.root)
    for row in some(PLAIN, number):
        answer = attempt(place, row)
        if row.line.split()[0] in _READS and "show s" not in row.line:
            assert answer.code == 1, f"{row.line}: {answer.out}"
        if answer.code == 1:
            assert (picture(guarded.root), picture(place.checkout.root)) == files, row.line
        elif row.writes:
            make_place(guarded, "plain")
            (guarded.root / "series/s/fork-one.patch").write_bytes(PATCHES[name])


FILES: Sequence[tuple[str, str]] = (
    ("upstream.lock", "plain"),
    ("series/s/series", "plain"),
    ("series/s/fork-one.patch", "plain"),
    ("series/s/series.toml", "plain"),
    ("conflicts/decisions.toml", "plain"),
    ("conflicts/accepted.toml", "plain"),
    (".patchmgr/audit.json", "plain"),
    ("conflicts/{conflict}/meta.toml", "collided"),
    ("conflicts/{conflict}/ours", "collided"),
    (".patchmgr/rebase/state.json", "collided"),
    (".patchmgr/journal.json", "plain"),
    (".patchmgr/log/00000001.json", "renamed"),
    (".patchmgr/syncs/s.json", "plain"),
    (".patchmgr/checks/s.json", "plain"),
)


@pytest.mark.parametrize("at", range(len(FILES)), ids=[file for file, _ in FILES])
@table(("name", "number"), {name: (name, n) for n, name in enumerate(SPOILS)})
def test_a_spoiled_file_is_not_our_fault(guarded: Stage, at: int, name: str, number: int) -> None:
    file, state = FILES[at]
    number += at
    if not LONG and number % 4:
        return
    place = make_place(guarded, state)
    (path,) = place.words(file)
    spoil(guarded.root / path, SPOILS[name])
    for row in some([row for row in ROWS if row.state in ("plain", state)], number):
        if "{conflict}" not in row.line:
            attempt(place, row)
            if row.writes:
                make_place(guarded, state)
                spoil(guarded.root / path, SPOILS[name])


def spoil(file: Path, how: Callable[[Path], None]) -> None:
    """Spoil a file that is there, or that a stranger could have put there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_bytes(b"format = 1\n")
    how(file)


REBASE = "rebase s --onto {collides} --dry-run"
LINKS = {
    "findings.json.new": REBASE,
    "syncs": REBASE,
    "syncs/s.json.new": REBASE,
    "checks": "check s --run",
    "checks/s-build.log": "check s --run",
    "header.txt": "edit fork-one --field Needed-When=no",
    "header.txt.new": "edit fork-one --field Needed-When=no",
    "plans": "plan s --onto {collides}",
    "exports": "export s --as mbox --out {out}/s.mbox",
    "log/contents/{start}/{sha}.new": "drop fork-two",
}


@table(("link", "line"), LINKS.items())
def test_a_link_among_private_files_leads_nowhere(guarded: Stage, link: str, line: str) -> None:
    place = make_place(guarded, "plain")
    settings = guarded.root / "series/s/series.toml"
    settings.write_text('[check.commands.build]\nrun = ["true"]\n')
    sha = sha256(b"fork-one.patch\n").hexdigest()  # of the series file without the other patch
    at = guarded.root / ".patchmgr" / link.format(start=sha[:2], sha=sha)
    at.parent.mkdir(parents=True, exist_ok=True)
    outside = guarded.folder / "outside"
    at.symlink_to(outside / "secret" if at.suffix else outside)
    attempt(place, Row(line))


def test_a_link_in_the_work_area_resolves_nothing(guarded: Stage) -> None:
    place = make_place(guarded, "collided")
    work = guarded.root / ".patchmgr/rebase/s/fork-one.patch/pkg/a.py"
    work.unlink()
    work.symlink_to(guarded.folder / "outside/secret")
    for line in ("rebase --continue --accept pkg/a.py", "mergetool --tool vimdiff", "status"):
        assert attempt(place, Row(line)).code == 1, line
    files = (path for path in guarded.root.rglob("*") if path.is_file() and path != work)
    assert not any(SECRET.encode() in path.read_bytes() for path in files)
