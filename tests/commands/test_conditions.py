"""`Needed-When` and `Ensures` in the commands, over tags of git and releases of a package."""

from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Run, Scene
from tests.commands.index import Index
from tests.commands.test_rebase import Files, fork, same_files, text, verdicts, workspace_files
from tests.conftest import Make, Repository, once
from tests.tables import table

MORE = ("s", "--onto", "upstream/main", "--dry-run")


def say(scene: Scene, patch: str, *fields: str) -> None:
    """Write fields into the header of a patch, above its diff."""
    path = scene.root / "series/s" / patch
    head, mark, diff = path.read_text().partition("\ndiff --git ")
    path.write_text(head + "".join(f"\n{field}" for field in fields) + "\n" + mark + diff)


def reasons(document: Any) -> list[str | None]:
    return [patch["reason"] for patch in document["series"][0]["patches"]]


def two_patches(scene: Scene) -> None:
    """Make a series of two patches on one file and say nothing yet."""
    one, two = text(l10="one\n"), text(l10="one\n", l40="two\n")
    start: Files = {"a": text(), "old": "x\n"}
    make = lambda: fork(scene, {"a": one}, {"a": two}, on=start)  # noqa: E731
    scene.once("two patches", make)


def test_a_patch_is_skipped_where_it_is_not_needed_and_comes_back(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-1.patch", "Needed-When: path old or path again")
    onto = scene.upstream.commit({"a": text(l2="x\n"), "old": None}, "upstream: without")
    answer = scene.rebase("s", "--onto", "upstream/main")
    assert verdicts(answer) == ["skipped", "unchanged"]
    where = f"up upstream/main ({onto[:12]})"
    why = f"not needed: there is no old in {where}; there is no again in {where}"
    assert reasons(answer) == [why, None]
    head = answer["series"][0]["head"]
    assert scene.call("branch", "s", "--json").json["head"] == head
    assert (scene.root / "series/s/fork-change-1.patch").exists()
    scene.upstream.commit({"again": "x\n"}, "upstream: again")
    scene.call("upstream", "fetch")
    back = scene.rebase("s", "--onto", "upstream/main")
    assert verdicts(back) == ["unchanged", "unchanged"]
    assert back["series"][0]["patches"][0]["commit"] is not None
    built = scene.call("branch", "s", "--json").json
    assert built["head"] == back["series"][0]["head"]
    report = scene.call("report", "s", "--json").json
    assert "fork-change-1.patch" in str(report)


def test_a_report_leaves_out_what_the_pin_does_not_need(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-2.patch", "Needed-When: path nowhere")
    (report,) = scene.call("report", "s", "--json").json["series"]
    assert [patch["name"] for patch in report["patches"]] == ["fork-change-1.patch"]
    assert [patch["name"] for patch in report["skipped"]] == ["fork-change-2.patch"]


def test_what_upstream_ensures_is_skipped_and_a_broken_promise_is_a_conflict(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-1.patch", 'Ensures: pattern "^(one|eins)$" in a')
    say(scene, "fork-change-2.patch", "Ensures: path b")
    onto = scene.upstream.commit({"a": text(l10="eins\n")}, "upstream: in other words")
    answer = scene.rebase(*MORE, code=3)
    assert verdicts(answer) == ["skipped", "conflict"]
    where = f"up upstream/main ({onto[:12]})"
    assert reasons(answer) == [
        f'{where} already satisfies Ensures: line 11 of a in {where} matches "^(one|eins)$"',
        f"does not satisfy Ensures: there is no b in {where} with the patch",
    ]
    failed = scene.call("branch", "s", code=1)
    assert "patch fork-change-2.patch does not satisfy Ensures" in failed.err


def test_a_broken_promise_waits_for_a_person_and_continue_asks_again(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-1.patch", "Ensures: path b")
    scene.upstream.commit({"a": text(l2="x\n")}, "upstream: more")
    with same_files(scene.root):
        shown = scene.call("rebase", "s", "--onto", "upstream/main", code=3)
        assert "does not satisfy Ensures: there is no b" in shown.out
    assert verdicts(scene.rebase("--continue", code=3))[0] == "conflict"
    patch = scene.root / "series/s/fork-change-1.patch"
    patch.write_text(patch.read_text().replace("path b", "path a and no path b"))
    assert verdicts(scene.rebase("--continue")) == ["skipped", "unchanged"]


@table(
    ("field", "kind", "message"),
    [
        (
            "Needed-When: pathe x",
            "bad-predicate",
            "patch fork-change-2.patch Needed-When column 1: "
            "expected `not`, `path`, `no path`, `pattern` or `release`, not pathe",
        ),
        ("Ensures: path x of down", "bad-predicate",
            "patch fork-change-2.patch names an unknown upstream: down"),
        ("Needed-When: path x of up at v9", "unknown-state",
            "patch fork-change-2.patch: up has no branch, tag or commit v9"),
        ("Needed-When: release >1", "unknown-state", None),
    ],
)  # fmt: skip
def test_no_answer_is_an_error(scene: Scene, field: str, kind: str, message: str | None) -> None:
    two_patches(scene)
    before = workspace_files(scene.root)
    say(scene, "fork-change-2.patch", field)
    scene.upstream.commit({"a": text(l2="x\n")}, "upstream: more")
    error = scene.rebase("s", "--onto", "upstream/main", code=1)["error"]
    assert error["kind"] == kind
    assert message in (None, error["message"])
    assert workspace_files(scene.root).keys() == before.keys()


def test_a_tag_makes_a_release_of_a_commit(scene: Scene) -> None:
    two_patches(scene)
    scene.upstream.git("tag", "v1.0")
    say(scene, "fork-change-1.patch", "Needed-When: release <1.1,!=1.1rc1")
    for tag, files in {
        "v1.0.1": {"a": text(l2="x\n")},
        "v1.1rc1": {"a": text(l2="y\n")},
        "not-a-version": {"a": text(l2="y\n"), "b": "b\n"},
    }.items():
        scene.upstream.commit(dict(files), tag)
        scene.upstream.git("tag", "-a", "-m", tag, tag)
    scene.upstream.git("tag", "v1.2", "not-a-version")
    scene.call("upstream", "fetch")
    expected = {"v1.0": "unchanged", "v1.0.1": "unchanged", "v1.1rc1": "skipped",
                "not-a-version": "skipped"}  # fmt: skip
    targets = [word for onto in expected for word in ("--onto", onto)]
    answer = scene.rebase("s", *targets, "--dry-run")
    assert {target["onto"]: verdicts(target)[0] for target in answer["targets"]} == expected


def other_upstream(scene: Scene, make_repository: Make) -> Repository:
    """Follow a second project, of whose commits the first names one in a file."""
    other = make_repository("other")
    other.commit({"kernels/90.h": "x\n"}, "old")
    scene.call("upstream", "add", "lib", "--git", other.root)
    return other


def test_need_depends_on_the_pin_of_another(scene: Scene, make_repository: Make) -> None:
    other = other_upstream(scene, make_repository)
    old, new = other.head(), other.commit({"kernels/120.h": "y\n"}, "new")
    with other.at("-b", "side", old):
        side = other.commit({"kernels/120.h": "none\n"}, "side")
    fork(scene, {"a": text(l10="one\n")}, on={"a": text(), "pin.cmake": f"set(TAG {old})\n"})
    say(
        scene,
        "fork-change-1.patch",
        "Needed-When: no path kernels/120.h of lib",
        ' at "TAG ([0-9a-f]{40})" in pin.cmake',
        ' or pattern "none" in kernels/120.h of lib at "TAG ([0-9a-f]{40})" in pin.cmake',
    )
    found = {}
    for commit in (old, new, side):
        onto = scene.upstream.commit({"pin.cmake": f"set(TAG {commit})\n"}, "pin")
        answer = scene.rebase("s", "--onto", onto, "--dry-run")
        found[commit] = verdicts(answer)[0]
    assert found == {old: "unchanged", new: "skipped", side: "unchanged"}
    onto = scene.upstream.commit({"pin.cmake": f"set(TAG {'d' * 40})\n"}, "no such commit")
    error = scene.rebase("s", "--onto", onto, "--dry-run", code=1)["error"]
    told = f"patch fork-change-1.patch: lib has no branch, tag or commit {'d' * 40}"
    assert error["message"] == told
    assert error["kind"] == "unknown-state"


def test_another_upstream_is_read_where_it_is_tracked(scene: Scene, make_repository: Make) -> None:
    two_patches(scene)
    other = other_upstream(scene, make_repository)
    say(scene, "fork-change-1.patch", 'Needed-When: no pattern "y" in kernels/120.h of lib')
    scene.upstream.commit({"a": text(l2="x\n")}, "upstream: more")
    assert verdicts(scene.rebase(*MORE)) == ["unchanged", "unchanged"]
    tip = other.commit({"kernels/120.h": "y\n"}, "new")
    scene.call("upstream", "fetch", "lib")
    answer = scene.rebase(*MORE)
    assert verdicts(answer) == ["skipped", "unchanged"]
    where = f"lib upstream/main ({tip[:12]})"
    assert reasons(answer)[0] == f'not needed: line 1 of kernels/120.h in {where} matches "y"'


def test_a_lost_content_fails(scene: Scene, make_repository: Make) -> None:
    two_patches(scene)
    other = other_upstream(scene, make_repository)
    blob = other.git("rev-parse", "HEAD:kernels/90.h")
    say(scene, "fork-change-1.patch", 'Needed-When: no pattern "y" in kernels/90.h of lib')
    scene.call("upstream", "fetch", "lib")
    (other.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    error = scene.rebase(*MORE, code=1)["error"]
    assert error["kind"] == "missing-object"
    assert error["message"] == (f"patch fork-change-1.patch: blob {blob} is not in the store")


@pytest.fixture
def packaged(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return a workspace with a series on the first of three releases of a package."""
    root, upstream = tmp_path / "packages", Repository(tmp_path / "unused")
    index = Index(tmp_path / "index")
    monkeypatch.setenv("PIP_INDEX_URL", index.root.as_uri())

    def make() -> None:
        for version in ("1.0", "1.1", "2.0"):
            edits = {} if version == "1.0" else {"l2": "x\n"}
            edits |= {"l10": "one\n"} if version == "2.0" else {}
            pin = "aaaa" if version != "1.1" else "bbbb"
            index.release("p", version, {"a": text(**edits), "pin": f"TAG {pin}\n"})
        index.release("lib", "3.0", {"new": "x\n"})
        run("init", root)
        for name in ("p", "lib"):
            run("-C", root, "upstream", "add", name, "--package", name)
        base = upstream.commit({"a": text(), "pin": "TAG aaaa\n"})
        upstream.git("checkout", "--quiet", "-b", "fork")
        upstream.commit({"a": text(l40="ours\n")}, "ours")
        box = tmp_path / "box.mbox"
        box.write_bytes(upstream.patches(f"{base}..fork"))
        run("-C", root, "series", "new", "s", "--upstream", "p", "--base", "1.0")
        run("-C", root, "import", box, "--series", "s")

    once("test_conditions.py", tmp_path, ("home", "index", "packages", "unused"), make)
    return Scene(upstream, root, run)


@table(
    ("field", "expected"),
    [
        ("Needed-When: release >=1.1,<2", ["skipped", "unchanged", "skipped"]),
        ('Needed-When: pattern "TAG aaaa" in pin of p', ["unchanged", "skipped", "unchanged"]),
        ('Needed-When: pattern "TAG aaaa" in pin of p at 1.0', ["unchanged"] * 3),
        ('Ensures: pattern "^(one|ours)$" in a', ["unchanged", "unchanged", "skipped"]),
        ("Needed-When: release ==3.* of lib and path new of lib", ["unchanged"] * 3),
        ("Needed-When: path new of lib at v3.0", ["unchanged"] * 3),
    ],
)
def test_releases_have_versions_and_trees(packaged: Scene, field: str, expected: list[str]) -> None:
    patch = packaged.root / "series/s/ours.patch"
    before = patch.read_bytes()
    say(packaged, "ours.patch", field)
    targets = ("--onto", "1.0", "--onto", "1.1", "--onto", "2.0")
    answer = packaged.rebase("s", *targets, "--dry-run")
    assert [verdicts(target)[0] for target in answer["targets"]] == expected
    patch.write_bytes(before)


def test_a_reason_names_the_release(packaged: Scene) -> None:
    say(packaged, "ours.patch", "Needed-When: release <1.1 or path q")
    answer = packaged.rebase("s", "--onto", "1.1", "--dry-run")
    assert reasons(answer) == ["not needed: p v1.1 is not release <1.1; there is no q in p v1.1"]


def test_a_ref_is_looked_for_on_both_sides_of_an_upstream(
    packaged: Scene, make_repository: Make
) -> None:
    git = make_repository("both")
    commit = git.commit({"kernels": "x\n"}, "start")
    git.git("tag", "nightly")
    git.commit({"kernels": None}, "without")
    packaged.call("upstream", "add", "both",
        "--git", git.root, "--package", "lib", "--track", "package",
    )  # fmt: skip
    for ref in (commit, "nightly"):
        say(packaged, "ours.patch", f"Needed-When: path kernels of both at {ref} and path a")
        answer = packaged.rebase("s", "--onto", "1.1", "--dry-run")
        assert verdicts(answer) == ["unchanged"]
        patch = packaged.root / "series/s/ours.patch"
        patch.write_text(patch.read_text().replace("Needed-When:", "Formerly:"))
    say(packaged, "ours.patch", "Needed-When: path kernels of both at v7")
    error = packaged.rebase("s", "--onto", "1.1", "--dry-run", code=1)["error"]
    assert error["message"] == "patch ours.patch: both has no branch, tag or commit v7"


def bring(scene: Scene, *fields: str, code: int = 0) -> Any:
    """Import one more patch with fields in its header."""
    with scene.upstream.at("-B", "more", "main"):
        scene.upstream.commit({"a": text(l30="more\n")}, "more\n\n" + "\n".join(fields))
    return scene.take(scene.upstream.patches("main..more"), code=code)


@table(
    ("fields", "message"),
    [
        ("Ensures: path x path", "patch more.patch Ensures column 8: "),
        ("Needed-When: path x of down", "patch more.patch names an unknown upstream: down"),
        ("Needed-When: release >1", "patch more.patch: up "),
        ("Ensures: path b", "patch more.patch does not satisfy Ensures: there is no b in up "),
    ],
)
def test_import_refuses_absurd_conditions(scene: Scene, fields: str, message: str) -> None:
    two_patches(scene)
    with same_files(scene.root):
        failed = bring(scene, fields, code=1)
        assert failed.err.startswith(f"patchmgr: {message}")


def test_import_says_what_the_pin_does_not_need(scene: Scene) -> None:
    two_patches(scene)
    done = bring(scene, "Needed-When: path b")
    said = "in the series, but left out on the series' pin: not needed: there is no b in"
    assert f"more.patch is {said}" in done.err
    again = bring(scene, 'Ensures: pattern "more" in a')
    assert "left out on" not in again.err


def test_what_fell_behind_the_pin_does_not_keep_others_out(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-1.patch", "Needed-When: path old")
    scene.upstream.commit({"a": text(l11="x\n"), "old": None}, "upstream: near")
    patch = scene.root / "series/s/fork-change-2.patch"
    assert verdicts(scene.rebase("s", "--onto", "upstream/main")) == ["skipped", "unchanged"]
    assert b"one" not in patch.read_bytes()
    scene.upstream.git("checkout", "--quiet", "-B", "more", "main")
    scene.upstream.commit({"a": text(l11="x\n", l30="more\n")}, "more")
    scene.take(scene.upstream.patches("main..more"))


def test_a_patch_that_is_no_longer_valid_waits_for_a_person_whatever_merged(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-1.patch", 'Valid-While: pattern "^old" in a')
    say(scene, "fork-change-2.patch", "Valid-While: path a")
    scene.upstream.commit({"a": text(l2="x\n")}, "upstream: more")
    with same_files(scene.root):
        answer = scene.rebase("s", "--onto", "upstream/main", code=3)
        assert verdicts(answer) == ["conflict", "unchanged"]
        reason = 'Valid-While fails: no line of a in up matches "^old"'
        assert reasons(answer) == [reason, None]
    (conflict,) = answer["series"][0]["patches"][0]["conflicts"]
    assert conflict["reason"] == reason
    shown = scene.call("rebase", "--continue", code=3)
    assert f"patchmgr conflicts accept {conflict['id']} --because TEXT" in shown.out
    assert "have markers" not in shown.err


def test_what_a_person_accepts_is_not_asked_again(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-1.patch", "Valid-While: path gone")
    scene.upstream.commit({"a": text(l2="x\n")}, "upstream: more")
    answer = scene.rebase(*MORE, code=3)
    (conflict,) = answer["series"][0]["patches"][0]["conflicts"]

    def run(*words: str, code: int = 0) -> Any:
        return scene.call(*words, code=code)

    assert "open" in run("conflicts", "list").out
    run("conflicts", "accept", conflict["id"], code=2)
    run("conflicts", "accept", conflict["id"], "ours", "--because", "x", code=2)
    run("conflicts", "accept", "ffffffffffff", "--because", "x", code=2)
    accepted = run("conflicts", "accept", conflict["id"][:6], "--because", "read it").out
    assert "because: read it" in accepted
    for _ in range(2):
        again = scene.rebase(*MORE)
        (finding,) = again["series"][0]["patches"][0]["findings"]
        assert (finding["kind"], finding["accepted"]) == ("condition", "read it")
        assert verdicts(again) == ["unchanged", "unchanged"]
    assert "because: read it" in run("rebase", *MORE).out
    assert "accepted" in run("conflicts", "show", conflict["id"]).out
    run("conflicts", "forget", conflict["id"])
    scene.rebase(*MORE, code=3)


def test_a_valid_patch_is_not_mentioned(scene: Scene) -> None:
    two_patches(scene)
    say(scene, "fork-change-1.patch", "Valid-While: no path gone")
    scene.upstream.commit({"a": text(l2="x\n")}, "upstream: more")
    answer = scene.rebase(*MORE)
    assert answer["series"][0]["patches"][0]["findings"] == []
