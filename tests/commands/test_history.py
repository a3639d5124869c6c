"""`log`, `undo`, `redo`: every change of workspace and checkout can be taken back, and repeated."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from patchmgr.plumbing import operation_log
from patchmgr.plumbing.operation_log import OperationLog
from tests.commands.conftest import invoke
from tests.commands.desks import Hands, hands, made
from tests.commands.scenes import Stage, one_line, picture, text, unchanged


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk with two pushed patches and one that is not."""
    one = {"pkg/a.py": text(l10="one\n"), "new": "new\n"}
    two = {"pkg/a.py": text(l10="one\n", l40="two\n"), "run.sh": None}
    three = {"pkg/b.py": text(l1="three\n")}
    desk = made(stage, "history", {"one": one, "two": two, "three": three})
    desk.run("pop")
    (stage.folder / "more.mbox").write_bytes(stage.upstream.patches("main..later~1"))
    return desk


@pytest.fixture
def written(stage: Stage) -> Hands:
    """Return a desk whose log has all that it took to write two patches."""
    desk = hands(stage, name="w")
    desk.patch("one", {"pkg/a.py": text(l10="one\n"), "new": "new\n"})
    desk.patch("two", {"pkg/a.py": text(l10="one\n", l40="two\n"), "run.sh": None})
    desk.run("pop")
    return desk


COMMANDS = {
    "push": ("push",),
    "pop": ("pop", "-a"),
    "goto": ("goto", "one"),
    "new": ("new", "four"),
    "refresh": ("refresh",),
    "refresh-lower": ("refresh", "-p", "one", "pkg/a.py"),
    "refresh-untracked": ("refresh", "."),
    "edit": ("edit", "one", "--subject", "Other"),
    "rename": ("rename", "two", "zwei"),
    "drop-pushed": ("drop", "two"),
    "drop": ("drop", "three"),
    "move": ("move", "two", "--before", "one"),
    "move-in": ("move", "three", "--before", "one"),
    "fold": ("fold", "three", "--into", "one"),
    "split": ("split", "two", "x", "--file", "run.sh"),
    "guard": ("series", "guard", "two", "+sym", "--series", "w"),
    "import": ("import", "../more.mbox", "--series", "w"),
    "series": ("series", "new", "v", "--upstream", "up", "--base", "upstream/main"),
    "rebase": ("rebase", "s", "--onto", "upstream/landed"),
    "rebase-conflict": ("rebase", "s", "--onto", "upstream/collides"),
}


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_every_change_is_taken_back_and_repeated(desk: Hands, line: tuple[str, ...]) -> None:
    if line[0] == "refresh":
        desk.write({"pkg/a.py": text(l10="one\n", l40="two\n", l50="mine\n"), "stray": "mine\n"})
    stands = standing(desk)
    before = desk.look()
    desk.run(*line, code=3 if "upstream/collides" in line else 0)
    after = desk.look(), private(desk), standing(desk)
    desk.run("undo")
    assert (desk.look(), standing(desk)) == (before, stands)
    desk.run("redo")
    assert (desk.look(), private(desk), standing(desk)) == after


def standing(desk: Hands) -> object:
    """Return what is said of pins, checkouts, an unfinished rebase and the pushed patches."""
    status = desk.stage.run("status", "--json").json
    pins = [(row["name"], row["base"], row["patches"]) for row in status["series"]]
    pushed = (desk.root / ".git/patchmgr/applied.json").read_bytes()
    return pins, status["applied"], status["unfinished"], pushed


def private(desk: Hands) -> dict[str, bytes]:
    """Return the files that wait for a person."""
    top = desk.stage.root / ".patchmgr/rebase"
    return {str(p.relative_to(top)): p.read_bytes() for p in top.rglob("*") if p.is_file()}


def test_what_a_person_had_solved_comes_back_after_an_abort(desk: Hands) -> None:
    desk.run("rebase", "s", "--onto", "upstream/collides", code=3)
    place = desk.stage.root / ".patchmgr/rebase/s/fork-one.patch/pkg/a.py"
    place.write_text("solved\n")
    desk.run("rebase", "--abort")
    assert not place.exists()
    desk.run("undo")
    assert place.read_text() == "solved\n"
    assert "rebase of s onto" in desk.stage.run("status").out
    place.write_text("solved again\n")
    refused = one_line(desk.run("undo", code=1))
    assert re.search(r"a.py was edited after entry \d+ of the log: ", refused)
    told = desk.run("redo", code=1)
    assert re.search(r"a.py was edited after entry \d+ of the log was undone: ", one_line(told))
    assert "or do not redo entry" in told.err


def test_a_rebase_names_the_checkout_that_has_the_old_patches(stage: Stage) -> None:
    desk = hands(stage, name="w")
    desk.patch("one", {"pkg/b.py": text(l10="one\n")})
    told = desk.run("rebase", "w", "--onto", "upstream/later").err
    command = f"patchmgr unapply w --to {desk.root}"
    assert f"{desk.root} still has w as it was before. To remove it there: {command}\n" in told
    desk.run(*command.split(" ")[1:])
    desk.run("push", "-a", "--series", "w")
    assert "still has" not in desk.run("rebase", "w", "--onto", "upstream/later").err


def test_a_rebase_is_told_and_undone_after_the_cache_was_deleted(stage: Stage) -> None:
    before = picture(stage.root)
    stage.run("branch", "s")
    stage.run("rebase", "s", "--onto", "upstream/landed")
    told = stage.run("notes", "s").out
    shutil.rmtree(stage.folder / "cache")
    assert stage.run("notes", "s").out == told  # fetches what it reads
    stage.run("branch", "s")  # makes the branch again, without the head before the rebase
    stage.run("undo")
    assert picture(stage.root) == before


@pytest.mark.parametrize("resolved", ["12\n", None], ids=["edited", "deleted"])
def test_undo_goes_back_past_a_rebase_that_a_person_resolved(
    desk: Hands, resolved: str | None
) -> None:
    before = desk.look()
    desk.run("rebase", "s", "--onto", "upstream/collides", code=3)
    place = desk.stage.root / ".patchmgr/rebase/s/fork-one.patch/pkg/a.py"
    marked = place.read_bytes()
    accepting = () if resolved else ("--accept", "pkg/a.py")
    place.write_text(resolved) if resolved else place.unlink()
    desk.run("rebase", "--continue", *accepting)
    assert desk.look() != before
    desk.run("undo", "-n", "2")  # --continue, and the edit by hand
    assert place.read_bytes() == marked
    desk.run("undo")
    assert desk.look() == before
    desk.run("redo", "-n", "2")
    assert (place.read_text() if place.exists() else None) == resolved
    desk.run("rebase", "--abort")
    desk.run("undo", "-n", "3")
    assert desk.look() == before


def test_undo_goes_on_where_the_last_one_stopped(desk: Hands) -> None:
    states = [desk.look()]
    for name in ("four", "five", "six"):
        desk.run("new", name)
        states.append(desk.look())
    desk.run("undo", "-n", "2")
    assert desk.look() == states[1]
    desk.run("undo")
    assert desk.look() == states[0]
    desk.run("redo", "-n", "3")
    assert desk.look() == states[3]
    desk.run("undo")
    desk.run("new", "seven")
    assert one_line(desk.run("redo", code=1)) == "there is nothing to redo"
    desk.run("undo", "-n", "2")
    assert desk.look() == states[1]


def test_undo_to_an_entry_can_be_redone(desk: Hands) -> None:
    start = desk.look()
    number = desk.run("log", "--json").json["operations"][-1]["number"]
    desk.run("new", "four")
    desk.run("undo")
    desk.run("redo")
    four = desk.look()
    desk.run("new", "five")
    five = desk.look()
    desk.run("undo", "--to", str(number))
    assert desk.look() == start
    desk.run("redo")
    assert desk.look() == four
    desk.run("redo")
    assert desk.look() == five
    assert one_line(desk.run("redo", code=1)) == "there is nothing to redo"


def test_a_state_that_no_undo_reaches_any_more_is_in_the_log(desk: Hands) -> None:
    desk.run("new", "four")
    lost = desk.look()
    number = desk.run("log", "--json").json["operations"][-1]["number"]
    newest = desk.run("log", "-n", "2", "--json").json["operations"]
    assert [one["number"] for one in newest] == [number - 1, number]
    desk.run("undo")
    desk.run("new", "five")
    now = desk.look()
    desk.run("undo", "--to", str(number))
    assert desk.look() == lost
    desk.run("undo")
    assert desk.look() == now
    assert one_line(desk.run("undo", "--to", "99", code=2)) == "the log has no entry 99"


def test_the_log_says_what_was_done_and_what_was_taken_back(desk: Hands) -> None:
    desk.run("pop")
    desk.run("undo")
    lines = desk.run("log", "-n", "3").out.splitlines()
    words = [line.split("Z  ")[-1].split("  ")[-1] for line in lines]
    root = desk.stage.root
    assert words == [f"-C {root} undo", f"-C {root} pop", f"-C {root} pop"]
    assert [line[0] for line in lines] == [" ", "x", " "]
    last = desk.run("log", "--json").json["operations"][-1]
    assert last["kind"] == "undo"
    told = desk.run("log", str(last["number"])).out.splitlines()
    assert told[1:] == [
        f"  undoes {last['of'][0]}", f"  in {desk.root}", "    M pkg/a.py", "    D run.sh",
    ]  # fmt: skip
    assert one_line(desk.run("log", "0", code=2)) == "the log has no entry 0"


def test_an_edit_since_is_not_overwritten(written: Hands) -> None:
    desk = written
    desk.write({"pkg/a.py": "mine\n"})
    before = desk.look()
    desk.run("new", "three")
    desk.run("undo")
    message = one_line(desk.run("undo", code=1))
    assert message.startswith(f"pkg/a.py in {desk.root} has been edited since")
    assert desk.look() == before


@pytest.mark.parametrize("path", ["one.patch", "series"])
def test_a_patch_file_that_was_edited_since_is_not_overwritten(desk: Hands, path: str) -> None:
    desk.run("pop", "-a")
    desk.run("drop", "one")
    desk.run("new", "one")
    place = desk.folder / path
    place.write_bytes(place.read_bytes() + b"\n")
    before = desk.look()
    message = one_line(desk.run("undo", code=1))
    assert message.startswith(f"series/w/{path} was edited after entry ")
    assert desk.look() == before


def test_edits_that_a_refresh_took_in_are_a_step_of_their_own(desk: Hands) -> None:
    pushed = desk.look()
    desk.write({"pkg/a.py": text(l10="one\n", l40="two\n", l50="mine\n")})
    edited = desk.look()
    desk.run("refresh")
    desk.run("undo")
    assert desk.look() == edited
    desk.run("undo")
    assert desk.look() == pushed
    desk.run("redo", "-n", "2")
    desk.run("undo")
    desk.run("refresh", "-p", "one")  # what the log knows is not noted twice
    desk.run("undo")
    assert desk.look() == edited
    desk.run("undo")
    assert desk.look() == pushed


def test_back_to_the_start_and_forth(written: Hands) -> None:
    desk = written
    first = picture(desk.checkout.root)
    end = desk.look()
    count = len(desk.run("log", "--json").json["operations"])
    desk.run("undo", "-n", str(count))
    assert one_line(desk.run("undo", code=1)) == "there is nothing to undo"
    desk.checkout.git("status", "--porcelain")
    assert picture(desk.root) != first
    assert desk.checkout.git("status", "--porcelain") == ""
    files = {path for path, file in picture(desk.stage.root).items() if file[0] == "file"}
    assert files == {".gitattributes", ".gitignore", "upstream.lock"}
    desk.run("redo", "-n", str(count))
    assert desk.look() == end


def test_a_checkout_that_is_gone_is_left_out(desk: Hands) -> None:
    shutil.rmtree(desk.root)
    answer = desk.stage.run("undo")
    assert f"{desk.root} no longer exists; nothing is changed there." in answer.err


def test_a_checkout_where_others_pushed_since_is_not_touched(desk: Hands) -> None:
    desk.stage.run("unapply", "w", "--to", desk.root)
    message = one_line(desk.stage.run("undo", code=1))
    assert message == f"other patches have been pushed or popped in {desk.root} since that change"


def test_old_operations_are_forgotten_whole(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation_log, "MOST_OPERATIONS", 6)
    monkeypatch.setattr(operation_log, "_EVERY", 1)
    contents = desk.stage.root / ".patchmgr/log/contents"
    for number in range(4):
        desk.write({"pkg/a.py": text(l10="one\n", l40=f"two {number}\n")})
        desk.run("refresh")
    numbers = [o["number"] for o in desk.run("log", "--json").json["operations"]]
    assert len(numbers) == 6
    assert numbers == sorted(numbers)
    size = sum(1 for path in contents.rglob("*") if path.is_file())
    state = desk.look()
    desk.run("undo", "-n", "6")
    assert desk.text("pkg/a.py") == text(l10="one\n", l40="two 0\n")
    desk.run("redo", "-n", "3", code=1)  # the undo itself is one, and took the place of another
    assert size < 40
    assert state != desk.look()


def test_too_much_to_keep_goes_by_halves(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(desk.run("log", "--json").json["operations"])
    monkeypatch.setattr(operation_log, "MOST_BYTES", 1)
    monkeypatch.setattr(operation_log, "_EVERY", 1)
    desk.run("push")
    assert len(desk.run("log", "--json").json["operations"]) == before + 1 - (before + 1) // 2


def test_what_cannot_be_read_does_not_stop_the_forgetting(
    desk: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command failed after its change, and nothing but operations was deleted each time."""
    log = OperationLog(desk.stage.root)
    log.contents.keep(b"no operation has this")
    log.contents.save()
    for name in log.read(log.numbers()[-1]).contents():
        (desk.stage.root / ".patchmgr/log/contents" / name[:2] / name).unlink()
    desk.write({"new": b'{"digest": "of something else"}'})
    monkeypatch.setattr(operation_log, "MOST_BYTES", 1)
    monkeypatch.setattr(operation_log, "_EVERY", 1)
    desk.run("refresh")
    assert not log.contents.has(sha256(b"no operation has this").hexdigest())


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"files": [["../x", None, None]]}, 1, "cannot be read"),
        ({"files": [["series/w/../../x", None, None]]}, 1, "cannot be read"),
        ({"format": 2}, 1, "cannot be read"),
        ({"targets": [{"root": "/", "files": [], "before": "x", "after": None}]}, 1, "cannot be"),
        ({"refs": [["/store", "refs/heads/main", None, "1" * 40]]}, 1, "cannot be read"),
        (
            {"files": [["series/w/one.patch", "0" * 64, "{one}"]], "targets": []}, 1,
            "the log no longer has the earlier content of a file (000000000000)",
        ),
        (
            {"targets": [{"root": "{other}", "files": [], "before": None, "after": None}]}, 1,
            "this workspace has never applied patches to {other}",
        ),
    ],
    ids=["path", "deep-path", "format", "digest", "ref", "content", "target"],
)  # fmt: skip
def test_a_strangers_log(desk: Hands, change: dict[str, object], code: int, message: str) -> None:
    other = desk.stage.clone("other")
    path = sorted((desk.stage.root / ".patchmgr/log").glob("*.json"))[-1]
    entry = json.loads(path.read_text())
    one = sha256((desk.folder / "one.patch").read_bytes()).hexdigest()
    words = json.dumps(change).replace("{other}", str(other.root)).replace("{one}", one)
    path.write_text(json.dumps({**entry, **json.loads(words)}))
    with unchanged(desk.stage.folder, without=("cache", ".git", ".patchmgr")):
        answer = desk.run("undo", code=code)
        assert message.replace("{other}", str(other.root)) in one_line(answer)


def test_a_content_that_was_changed_is_not_put_back(desk: Hands) -> None:
    import zlib

    desk.run("drop", "three")
    folder = desk.stage.root / ".patchmgr/log/contents"
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(zlib.compress(b"other"))
    refused = one_line(desk.run("undo", code=1))
    assert "the log no longer has the earlier content of a file" in refused


def test_nothing_is_undone_in_a_new_workspace(tmp_path: Path) -> None:
    invoke("init", tmp_path / "ws")
    answer = invoke("-C", tmp_path / "ws", "undo")
    assert (answer.code, one_line(answer)) == (1, "there is nothing to undo")
    assert invoke("-C", tmp_path / "ws", "log").out == "no operations yet\n"
