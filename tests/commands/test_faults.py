"""Every writing command while one operation of it fails, or kills it: old or new.

PATCHMGR_LONG=1 lets each of the operations fail in each way; otherwise one of every other command
fails, and one of the others kills.
"""

import random
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.clones import find_clone
from tests.commands.conftest import Answer, invoke
from tests.commands.every import ROWS, Place, Row, make_place, restorer
from tests.commands.faults import KINDS, Fault, Killed, failing
from tests.commands.scenes import PARTS, Picture, Stage, one_line, picture
from tests.conftest import once
from tests.long import LONG

# What an operation may come on top of, or begin with, beside what is in the table of all commands.
MORE = (
    Row("init {out}/fresh", "ignoring"),
    Row("unapply s --to {checkout}", "committed"),
    Row("apply s --to {checkout} --commit", "exchanged"),
    Row("pop --all --to {checkout}", "all pushed"),
    Row("refresh . --to {checkout}", "edited"),
    Row("drop fork-one --to {checkout}", "all pushed"),
    Row("undo -n 2", "renamed"),
)
WRITING = [*(row for row in ROWS if row.writes), *MORE]


@dataclass(frozen=True)
class Look:
    """All that a person can see: files of the workspace, the checkout and beside, and refs."""

    files: Picture
    refs: str
    status: str


def look(place: Place) -> Look:
    """Finish what was begun and look."""
    root, checkout, fresh = place.stage.root, place.checkout, place.out / "fresh"
    held = invoke("-C", root, "verify", "s", "--to", checkout.root)
    assert held.code in (0, 1, 4), held.err
    settled = invoke("-C", root, "status")
    assert settled.code == 0, settled.err
    is_made = fresh.exists() and invoke("-C", fresh, "status").code == 0
    refs = [checkout.git("for-each-ref")]
    for store in sorted((place.stage.folder / "cache/patchmgr/stores").glob("*.git")):
        refs.append(checkout.git(f"--git-dir={store}", "for-each-ref", "refs/patchmgr"))
    remote = place.stage.folder / "remote.git"
    if remote.exists():  # a commit there has the time of its push, and the badge comes after it
        form = "--format=%(refname) %(tree)", "refs/heads/patchmgr/sync-*"
        refs.append(checkout.git(f"--git-dir={remote}", "for-each-ref", *form))
    named = re.sub(r"refs/patchmgr/[0-9a-f]{16}/", "refs/patchmgr/ID/", "\n".join(refs))
    kept = (f".{name}-kept" for name in PARTS)
    unseen = (".git", ".patchmgr", "cache", "other", "remote.git", *kept)
    files = picture(place.stage.folder, without=unseen)
    seen = {
        path: file
        for path, file in files.items()
        if file[0] != "folder" and (is_made or not path.startswith("out/fresh/"))
    }
    return Look(seen, named, checkout.git("status", "--porcelain"))


def run_with(place: Place, row: Row, fault: Fault) -> Answer | None:
    """Run a row while an operation of it fails; return None where that was its death."""
    words = place.words(row.line)
    with failing(fault), suppress(Killed):
        return invoke("-C", place.stage.root, *words)
    return None


def check(row: Row, kind: str, answer: Answer) -> None:
    """Assert that a run that failed says so in one line, and never claims a fault of ours."""
    if kind == "interrupted" and answer.code == 130:
        return
    assert answer.code in (row.code, 1), answer.err
    if answer.code == 1 and row.code != 1:
        one_line(answer)


@pytest.mark.parametrize("at", range(len(WRITING)), ids=[f"{r.line} ({r.state})" for r in WRITING])
def test_a_command_that_fails_or_is_killed_leaves_old_or_new(
    stage: Stage, at: int, record_property: Callable[[str, object], None]
) -> None:
    row, others = WRITING[at], [kind for kind in KINDS if kind != "killed"]
    place = make_place(stage, row.state)
    place.words(row.line)
    restore = restorer(*(stage.folder / name for name in PARTS))
    old = once(f"look of {row.state}", stage.folder, (), lambda: look(place))
    tried = KINDS if LONG else ["killed" if at % 2 else others[at // 2 % len(others)]]
    counters = {kind: KINDS[kind](10**6) for kind in tried}
    with ExitStack() as stack:
        for counter in counters.values():
            stack.enter_context(failing(counter))
        assert place.run(row).code == row.code
    looks = old, look(place)
    restore()
    for kind, counter in counters.items():
        points = chosen(counter.count, f"{row.line} {kind}")
        fail_at(place, row, kind, points, looks, restore)
        record_property(kind, len(points))


def fail_at(
    place: Place,
    row: Row,
    kind: str,
    points: Sequence[int],
    looks: tuple[Look, Look],
    restore: Callable[[], None],
) -> None:
    """Let operations of a command fail, and see what was there or what it makes."""
    old, new = looks
    for at in points:
        answer = run_with(place, row, KINDS[kind](at))
        found = look(place)
        assert found in (old, new), f"{kind} at {at}: {answer and answer.err}"
        if answer is None and found == old:
            again = place.run(row)
            assert again.code == row.code, f"{kind} at {at}, and again: {again.err}"
            assert look(place) == new, f"{kind} at {at}, and again"
        elif answer is not None:
            check(row, kind, answer)
            is_done = answer.code == row.code
            assert found == new or not is_done, f"{kind} at {at} ended well, and nothing was done"
        if answer is None or found != old:
            restore()


def chosen(count: int, name: str) -> list[int]:
    """Return which operations fail: all, or one that is another for each command and way."""
    places = list(range(1, count + 1))
    return places if LONG else random.Random(name).sample(places, min(1, count))


@pytest.mark.parametrize(("kind", "said"), [("no space", "no-space"), ("git killed", "system")])
def test_a_clone_git_could_not_look_for_may_be_there(stage: Stage, kind: str, said: str) -> None:
    with failing(KINDS[kind](1)), pytest.raises(PatchmgrError) as raised:
        find_clone(stage.root)
    assert raised.value.kind == said
