"""`conflicts pull` and `conflicts push`: what comes from outside is a proposal."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from patchmgr.commands import sharing
from patchmgr.engines.conflicts.ids import conflict_id, region_id
from patchmgr.plumbing.committing import push_refs
from tests.commands.classes import leave
from tests.commands.conftest import Scene
from tests.commands.scenes import picture
from tests.commands.test_conflicts import listed, merged
from tests.commands.test_propose import BASE, BOTH, OURS, THEIRS, collide
from tests.commands.test_rebase import verdicts
from tests.conftest import Repository
from tests.tables import table

SIDES = tuple(
    next(line for line in text.splitlines(keepends=True) if " y = " in line)
    for text in (BASE, OURS, THEIRS, BOTH)
)
REGION, TEXT = SIDES[:3], SIDES[3]
META = 'format = 1\nkind = "region"\norigin = "resolve"\npath = "a.py"\nsource = "t/x.patch"\n'


def entry(*sides: str, text: str = TEXT, meta: str = META, name: str = "") -> dict[str, str]:
    """Return the files of a resolved conflict."""
    name = name or region_id(*(side.encode() for side in sides))
    texts = zip(("base", "ours", "theirs", "resolution"), (*sides, text), strict=True)
    files = {f"conflicts/{name}/{file}": content for file, content in texts}
    return {**files, f"conflicts/{name}/meta.toml": meta}


@pytest.fixture
def other(scene: Scene) -> Repository:
    """Return somebody else's repository of patches, without a commit."""
    found = Repository(scene.root.parent / "other")
    found.git("config", "receive.denyCurrentBranch", "updateInstead")
    return found


def pull(scene: Scene, other: Repository, *more: str) -> Any:
    return scene.call("conflicts", "pull", other.root, *more, "--json").json


def left(scene: Scene, code: int = 3) -> Any:
    """Return the patches of the rebase in progress, as it would go on now."""
    document = scene.rebase("--continue", "--dry-run", code=code)
    return [(p["verdict"], p["hunks"], p["reason"]) for p in document["series"][0]["patches"]]


def candidates(scene: Scene, name: str) -> Any:
    (region,) = scene.call("conflicts", "show", name, "--json").json["work_order"]["regions"]
    return [(one["text"], one["reliability"]["rule"]) for one in region["candidates"]]


def test_what_is_pulled_is_a_proposal_until_it_is_accepted(scene: Scene, other: Repository) -> None:
    name, place = collide(scene), f"file://{other.root}"
    commit = other.commit(entry(*REGION))
    before = left(scene), picture(scene.root, without=("lock", "log"))
    assert pull(scene, other, "--dry-run")["new"] == [name]
    assert (left(scene), picture(scene.root, without=("lock", "log"))) == before
    pulled = pull(scene, other)
    assert (pulled["source"], pulled["commit"], pulled["taken"]) == (place, commit, [name])
    assert left(scene) == before[0]
    assert listed(scene) == {name: "open"}
    assert f"pulled from {place} at {commit[:12]}\n" in scene.call("conflicts", "list").out
    assert candidates(scene, name)[0] == (TEXT, f"pulled from {place}")
    base, ours, theirs = REGION
    assert merged(scene, base, ours, theirs, code=3).startswith("<<<<<<<")
    scene.call("conflicts", "propose", name, "--candidate", "1")
    scene.call("conflicts", "accept", name, "proposed")
    meta = (scene.root / "conflicts" / name / "meta.toml").read_text()
    assert f'proposed_by = "{place}"\n' in meta
    assert 'accepted_by = "C. Committer"\n' in meta
    assert verdicts(scene.rebase("--continue")) == ["modified"]


def test_a_text_that_gives_up_a_side_is_last_and_fails(scene: Scene, other: Repository) -> None:
    name = collide(scene)
    other.commit(entry(*REGION, text=REGION[1]))
    pull(scene, other)
    found = candidates(scene, name)
    assert found[-1] == (REGION[1], f"pulled from file://{other.root}")
    assert len(found) > 1
    line = ("conflicts", "propose", name, "--candidate", str(len(found)))
    assert "ledger: " in scene.call(*line, code=4).out


def trust(scene: Scene, *others: Repository) -> None:
    places = ", ".join(f'"file://{other.root}"' for other in others)
    (scene.root / "series/s/series.toml").write_text(f"trusted = [{places}]\n")


def test_a_trusted_source_is_replayed_unless_disputed(scene: Scene, other: Repository) -> None:
    collide(scene)
    other.commit(entry(*REGION))
    third = Repository(scene.root.parent / "third")
    third.commit(entry(*REGION, text=REGION[1] + REGION[2]))
    trust(scene, other)
    assert pull(scene, other)["trusted_by"] == ["s"]
    pull(scene, third)
    dry = scene.rebase("--continue", "--dry-run")
    assert verdicts(dry) == ["modified"]
    assert dry["replayed"][0]["source"] == f"file://{other.root}: t/x.patch"
    trust(scene, other, third)
    assert [verdict for verdict, _, _ in left(scene)] == ["conflict"]


def test_ones_own_resolution_stays_whatever_a_source_has(scene: Scene, other: Repository) -> None:
    name = collide(scene)
    scene.call("conflicts", "accept", name, "theirs")
    other.commit(entry(*REGION))
    trust(scene, other)
    before = left(scene, code=0), picture(scene.root / "conflicts")
    pulled = pull(scene, other)
    assert (pulled["otherwise"], pulled["taken"]) == ([name], [])
    assert (left(scene, code=0), picture(scene.root / "conflicts")) == before
    scene.call("conflicts", "forget", name)
    assert pull(scene, other)["new"] == [name]
    scene.call("conflicts", "accept", name, "theirs")
    again = pull(scene, other)
    assert (again["otherwise"], again["gone"]) == ([name], [])
    assert not list((scene.root / "conflicts/pulled").glob(f"*/{name}"))


def test_pulling_again_replaces_what_was_pulled_from_there(scene: Scene, other: Repository) -> None:
    name = collide(scene)
    other.commit(entry(*REGION))
    pull(scene, other)
    again = pull(scene, other)
    assert (again["taken"], again["new"], again["gone"]) == ([name], [], [])
    second = entry("a\n", "b\n", "c\n", text="bc\n")
    other.commit({**dict.fromkeys(entry(*REGION)), **second})
    replaced = pull(scene, other)
    assert (len(replaced["new"]), replaced["gone"]) == (1, [name])
    scene.call("undo")
    assert pull(scene, other)["gone"] == [name]


LONG = "x = 1\n" * 2_000_000
WHOLE = (b"a\n", None, b"b\n")


def forged() -> dict[str, str]:
    """Return 101 entries of somebody who means harm."""
    files: dict[str, str] = {}
    for n in range(10):
        a, b, c = f"a{n}\n", f"b{n}\n", f"c{n}\n"
        good = region_id(a.encode(), b.encode(), c.encode())
        files |= entry(a, b, c, text="x\n", name=f"{n:012x}")  # another's id
        files |= entry(*REGION, name=f"1{n:011x}")  # the very sides, under a wrong id
        files |= entry(a, b + "1\n", c, text="<<<<<<< ours\n=======\n>>>>>>> theirs\n")
        files |= entry(a, b + "2\n", c, text="line\n" * 500)  # not of that conflict
        files |= entry(a, b + "3\n", c, meta=META.replace("a.py", f"../../{n}/etc/passwd"))
        files |= entry(a, b + "4\n", c, meta=META.replace("resolve", "accepted"))
        files |= entry(a, b + "5\n", c, text="\0binary\n")
        files |= entry(a, b + "6\n", c, text="no line feed")
        files |= entry(a, b + "7\n", c, meta=f"{META}path = 7\n")
        files |= {f"conflicts/{good}/meta.toml": META, f"conflicts/{good}/base": a}
    whole = {
        "base": "a\n",
        "theirs": "b\n",
        "resolution": "<<<<<<< ours\n=======\n>>>>>>> theirs\n",
    }
    name = f"conflicts/{conflict_id(*WHOLE, None)}"
    files |= {f"{name}/{file}": content for file, content in whole.items()}
    return {**files, f"{name}/meta.toml": META.replace("region", "file")}


def test_a_hostile_memory_changes_nothing_alone(scene: Scene, other: Repository) -> None:
    collide(scene)
    large = entry("a\n", "b\n", "c\n", text=LONG)
    other.commit({**forged(), **large, "conflicts/notes": "no conflict"})
    folder = other.root / "conflicts/ffffffffffff"
    folder.mkdir()
    (folder / "meta.toml").symlink_to("/etc/passwd")
    (other.root / "conflicts/eeeeeeeeeeee").symlink_to("../../..")
    other.git("add", ".")
    other.git("commit", "-qm", "links")
    before = left(scene), picture(scene.root, without=("lock", "log"))
    pulled = pull(scene, other)
    assert pulled["taken"] == []
    assert len(pulled["refused"]) == 103
    assert (left(scene), picture(scene.root, without=("lock", "log"))) == before


def test_a_forged_entry_for_the_conflict_is_only_shown(scene: Scene, other: Repository) -> None:
    name = collide(scene)
    other.commit(entry(*REGION, text="    import os\n    os.remove(x)\n"))
    before = left(scene)
    pull(scene, other)
    assert left(scene) == before
    assert listed(scene) == {name: "open"}
    assert candidates(scene, name)[-1][0].startswith("    import os")


def test_a_folder_spoiled_after_the_pull_offers_nothing(scene: Scene, other: Repository) -> None:
    name = collide(scene)
    other.commit(entry(*REGION))
    pull(scene, other)
    trust(scene, other)
    (text,) = (scene.root / "conflicts/pulled").glob(f"*/{name}/ours")
    text.write_text("something else\n")
    assert [verdict for verdict, _, _ in left(scene)] == ["conflict"]


def push(scene: Scene, other: Repository, *more: str, code: int = 0) -> Any:
    return scene.call("conflicts", "push", other.root, *more, "--json", code=code).json


def test_what_was_resolved_here_is_one_more_commit_there(scene: Scene, other: Repository) -> None:
    name = collide(scene)
    assert push(scene, other)["pushed"] == []  # open ones are nobody's
    scene.call("conflicts", "accept", name, "theirs")
    old = other.commit({**entry("a\n", "b\n", "c\n", text="bc\n"), "README": "shared\n"})
    assert push(scene, other, "--dry-run")["pushed"] == [name]
    assert other.git("rev-parse", "HEAD") == old
    pushed = push(scene, other)
    assert other.git("rev-parse", "HEAD", "HEAD^") == f"{pushed['commit']}\n{old}"
    assert (other.root / "README").read_text() == "shared\n"
    assert (other.root / "conflicts" / name / "resolution").read_text() == REGION[2]
    assert len(list((other.root / "conflicts").iterdir())) == 2
    again = push(scene, other)
    assert (again["commit"], again["pushed"], again["known"]) == (None, [], [name])
    scene.call("conflicts", "forget", name)
    scene.call("conflicts", "accept", name, "ours")
    assert push(scene, other)["otherwise"] == [name]
    assert (other.root / "conflicts" / name / "resolution").read_text() == REGION[2]


@pytest.mark.parametrize("sides", [("ours", "theirs"), ("theirs", "ours")])
def test_a_deletion_is_a_resolution_like_any_other(
    scene: Scene, other: Repository, sides: tuple[str, str]
) -> None:
    name = leave(scene, "deleted upstream")
    there = other.root / "conflicts" / name
    shutil.copytree(scene.root / "conflicts" / name, there)
    other.commit({"README": "with an open conflict\n"})
    for side, key in zip(sides, ("pushed", "otherwise"), strict=True):
        scene.call("conflicts", "accept", name, side)
        assert push(scene, other)[key] == [name]
        assert push(scene, other)["known" if key == "pushed" else key] == [name]
        assert f'source = "{sides[0]}"\n' in (there / "meta.toml").read_text()
        scene.call("conflicts", "forget", name)


def test_who_pushes_first_wins_and_the_other_one_is_told(
    scene: Scene, other: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.call("conflicts", "accept", collide(scene), "theirs")
    other.commit({"README": "1\n"})

    def late(*arguments: Any) -> None:
        other.commit({"README": "2\n"})
        push_refs(*arguments)

    monkeypatch.setattr(sharing, "push_refs", late)
    error = push(scene, other, code=1)["error"]
    assert error["kind"] == "push"
    assert "run the command again" in error["hints"][0]
    assert not (other.root / "conflicts").exists()


def test_what_was_pushed_where_head_is_unborn_is_pulled(scene: Scene, other: Repository) -> None:
    name = collide(scene)
    scene.call("conflicts", "accept", name, "theirs")
    other.git("symbolic-ref", "HEAD", "refs/heads/nothing")
    assert push(scene, other)["branch"] == "main"
    scene.call("conflicts", "forget", name)
    assert pull(scene, other)["taken"] == [name]
    answer = scene.call("conflicts", "pull", other.root, "--branch", "mian", code=2)
    assert "nearest names: main" in answer.err and "upstream.lock" not in answer.err


@table("verb", ["pull", "push"])
def test_what_is_no_repository_or_runs_a_command_is_refused(scene: Scene, verb: str) -> None:
    for where in ("ext::sh -c true", "--upload-pack=x", str(Path("nowhere").absolute())):
        scene.call("conflicts", verb, "--", where, code=2)
    answer = scene.call("conflicts", verb, scene.root, code=1)
    assert f"file://{scene.root} does not answer" in answer.err
