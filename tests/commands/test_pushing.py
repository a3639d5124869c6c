"""`push`, `pop`, `goto`, and the lists: patches in a checkout, and a person's work beside them."""

from collections.abc import Callable

import pytest

from tests.commands.desks import Hands, hands, made
from tests.commands.scenes import Stage, one_line, picture, plant, text, unchanged, work_tree
from tests.tables import table


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk at the two patches of the stage."""
    return hands(stage)


@pytest.fixture
def three(stage: Stage) -> Hands:
    """Return a desk with three pushed patches of which the last two are about one file."""
    one, two = {"pkg/a.py": text(l3="one\n")}, {"pkg/b.py": text(l10="two\n")}
    three = {"pkg/b.py": text(l10="two\n", l40="three\n")}
    return made(stage, "pushing", {"one": one, "two": two, "three": three})


def test_patches_go_in_and_out_one_by_one_and_leave_head_and_index_alone(desk: Hands) -> None:
    before, head = picture(desk.root), desk.checkout.head()
    index = desk.checkout.git("ls-files", "--stage")
    trees = []
    for top in ("fork-one.patch", "fork-two.patch"):
        assert desk.run("push").out == f"Pushed {top}\nTop is {top}\n"
        trees.append(work_tree(desk.checkout))
        assert desk.run("top").out == f"{top}\n"
    fork = desk.stage.upstream
    assert trees == [fork.tree("fork~1"), fork.tree("fork")]
    assert one_line(desk.run("push", code=1)) == "no patch of s is left to push"
    assert desk.run("pop").out == "Popped fork-two.patch\nTop is fork-one.patch\n"
    assert work_tree(desk.checkout) == trees[0]
    assert desk.run("pop").out == "Popped fork-one.patch\nNo patch is pushed\n"
    assert picture(desk.root) == before
    assert desk.checkout.head() == head
    assert desk.checkout.git("ls-files", "--stage") == index
    assert one_line(desk.run("pop", code=1)) == "no patch of s is pushed"


@table(
    ("start", "line", "applied"),
    [
        ("0", "push", ["one"]),
        ("0", "push 2", ["one", "two"]),
        ("0", "push 9", ["one", "two", "three"]),
        ("0", "push two", ["one", "two"]),
        ("0", "push tw", ["one", "two"]),
        ("0", "push -a", ["one", "two", "three"]),
        ("0", "goto 2", ["one", "two"]),
        ("0", "goto three.patch", ["one", "two", "three"]),
        ("0", "goto 0", []),
        ("three", "pop", ["one", "two"]),
        ("three", "pop 2", ["one"]),
        ("three", "pop 9", []),
        ("three", "pop one", ["one"]),
        ("three", "pop -a", []),
        ("three", "goto 1", ["one"]),
        ("three", "goto three", ["one", "two", "three"]),
    ],
)
def test_counts_and_places(three: Hands, start: str, line: str, applied: list[str]) -> None:
    three.run("goto", start)
    three.run(*line.split())
    assert three.applied() == [f"{name}.patch" for name in applied]


@table(
    ("line", "code", "message"),
    [
        (("push", "two"), 1, "two.patch is already pushed"),
        (("pop", "three"), 1, "three.patch is not pushed"),
        (("pop", "two"), 1, "two.patch is already the top patch"),
        (("goto", "nine"), 2, "there is no patch nine"),
        (("goto", "9"), 2, "there is no patch number 9: the series has 3"),
        (("goto", "t"), 2, "t is ambiguous: several names start with it"),
        (("push", "one", "-a"), 2, "name a patch or give --all, not both"),
        (("push", "\u00b2"), 2, "there is no patch \u00b2"),
        (("prev", "one"), 1, "w has no patch before one.patch"),
        (("next", "three"), 1, "w has no patch after three.patch"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_refused(three: Hands, line: tuple[str, ...], code: int, message: str) -> None:
    three.run("goto", "two")
    before = three.look()
    assert one_line(three.run(*line, code=code)) == message
    assert three.look() == before


def test_lists_have_the_signs_of_stgit(three: Hands) -> None:
    three.stage.run("series", "guard", "three", "+sym", "--series", "w")
    three.run("goto", "two")
    three.run("pop")
    assert three.run("applied").out == "> one.patch\n"
    hidden = "! three.patch  #+sym  (its guard is #+sym, and sym is not selected)\n"
    assert three.run("unapplied").out == f"- two.patch\n{hidden}"
    assert three.run("unapplied", "--select", "sym").out == "- two.patch\n- three.patch  #+sym\n"
    names = [three.run(verb).out for verb in ("top", "next")]
    assert names == ["one.patch\n", "two.patch\n"]
    assert three.run("prev", code=1).out == ""
    rows = three.run("unapplied", "--json").json["patches"]
    assert [(row["mark"], row["number"]) for row in rows] == [("-", 2), ("!", 3)]


def test_a_hidden_patch_is_passed_over_unless_its_symbol_is_selected(three: Hands) -> None:
    three.run("pop", "-a")
    (three.folder / "series.toml").write_text('[groups]\nexperimental = ["two"]\n')
    three.stage.run("series", "guard", "one", "+sym", "--series", "w")
    answer = three.run("push", "two", code=1)
    assert one_line(answer) == "two.patch is hidden: its group experimental is off and not selected"
    assert "--select SYM" in answer.err
    answer = three.run("push", "-a", "--select", "experimental", "--select", "sim")
    assert answer.err == "warning: no guard or group is named sim\n"
    said = answer.out
    assert "  left out one.patch: its guard is #+sym, and sym is not selected\n" in said
    assert three.applied() == ["two.patch", "three.patch"]
    three.run("pop")
    assert three.run("push").out.startswith("Pushed three.patch")  # the selection is remembered


def test_a_condition_that_hides_a_patch_is_no_symbol_to_select(three: Hands) -> None:
    three.run("pop", "-a")
    three.run("edit", "one", "--field", "Needed-When=path nowhere")
    answer = three.run("push", "one", code=1)
    assert "patchmgr edit one.patch" in answer.err and "--select" not in answer.err


def test_a_pushed_patch_that_gets_a_guard_is_pushed_until_it_is_popped(three: Hands) -> None:
    three.stage.run("series", "guard", "three", "+sym", "--series", "w")
    assert three.run("applied").out.endswith("> three.patch  #+sym\n")
    verified = three.stage.run("verify", "w", "--to", three.root, code=4)
    assert "w has changed" in verified.out
    told = one_line(three.run("fold", "three", "--into", "two", code=2))
    assert told == "three.patch and two.patch have different guards, groups or conditions"
    three.run("drop", "three")
    assert three.text("pkg/b.py") == text(l10="two\n")
    three.run("undo")
    three.run("pop")
    assert three.run("unapplied").out.startswith("! three.patch")


def test_modes_on_disk_say_nothing_where_git_ignores_them(desk: Hands) -> None:
    desk.checkout.git("config", "core.fileMode", "false")

    def turn() -> None:
        for path in ("run.sh", "plain.sh", "pkg/a.py"):
            place = desk.root / path
            place.chmod(place.stat().st_mode ^ 0o111)

    turn()
    before = desk.raw("fork-two.patch")
    desk.run("push", "-a")
    for _ in range(2):
        assert desk.run("changes").out == ""
        desk.stage.run("verify", "s", "--to", desk.root)
        turn()
    assert b"old mode 100644\nnew mode 100755" in before
    desk.write({"run.sh": "#!/bin/sh\necho\nmine\n"})
    desk.run("refresh")
    modes = [line for line in desk.raw("fork-two.patch").splitlines() if b"mode" in line]
    assert modes == [line for line in before.splitlines() if b"mode" in line]
    desk.run("pop", "-a")
    for command in ("apply", "unapply"):
        turn()
        desk.stage.run(command, "s", "--to", desk.root)
    assert desk.checkout.git("status", "--porcelain") == ""


def test_an_edit_beside_what_is_pushed_stays(three: Hands) -> None:
    edited = text(l3="one\n", l50="mine\n")
    three.run("goto", "one")
    three.write({"pkg/a.py": edited})
    three.run("push", "-a")
    three.run("goto", "one")
    assert three.text("pkg/a.py") == edited
    message = one_line(three.run("pop", code=1))
    assert message == f"pkg/a.py in {three.root} was edited since the last refresh"
    assert three.text("pkg/a.py") == edited


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("pkg/b.py", "mine\n", "differs from the pin"),
        ("pkg/b.py", None, "differs from the pin"),
        ("new", "mine\n", "is in the way: a patch creates a file there"),
    ],
    ids=["edited", "deleted", "untracked"],
)
def test_somebodys_file_is_kept(stage: Stage, path: str, content: str | None, message: str) -> None:
    desk = hands(stage, name="w")
    desk.patch("one", {"pkg/b.py": text(l3="one\n"), "new": "new\n"})
    desk.run("pop")
    desk.write({path: content})
    before = desk.look()
    assert one_line(desk.run("push", code=1)) == f"{path} in {desk.root} {message}"
    assert one_line(desk.run("push", "--force", code=1)).endswith(message)
    assert desk.look() == before


def test_a_forced_pop_gives_an_edit_up_and_undo_brings_it_back(three: Hands) -> None:
    three.write({"pkg/b.py": text(l10="two\n", l40="mine\n")})
    with unchanged(three.root):
        three.run("pop", code=1)
        three.run("pop", "--force")
        assert three.text("pkg/b.py") == text(l10="two\n")
        three.run("undo")


def test_what_was_pushed_before_a_patch_that_fails_stays(three: Hands) -> None:
    three.run("pop", "-a")
    two = three.folder / "two.patch"
    two.write_bytes(two.read_bytes().replace(b" line 9\n", b" line nine\n"))
    answer = three.run("push", "-a", code=1)
    assert answer.out.splitlines()[0] == "Pushed one.patch"
    assert answer.out.splitlines()[1].startswith("Stopped: two.patch does not apply: pkg/b.py")
    assert three.applied() == ["one.patch"]


def forced(three: Hands) -> None:
    """Push `two` over a pin that one of its two hunks is not for."""
    three.run("goto", "two")
    three.write({"pkg/b.py": text(l10="two\n", l30="more\n")})
    three.run("refresh")
    three.run("pop", "-a")
    two = three.folder / "two.patch"
    two.write_bytes(two.read_bytes().replace(b" line 9\n", b" line nine\n"))
    three.run("push")
    answer = three.run("push", "--force", code=1)
    assert "  rejected hunks are in pkg/b.py.rej\n" in answer.out


def test_a_forced_push_leaves_rejects_and_refresh_waits_for_them(three: Hands) -> None:
    forced(three)
    raw = three.raw("two.patch")
    assert three.text("pkg/b.py") == text(l30="more\n")
    assert "-line 10\n+two\n" in three.text("pkg/b.py.rej")
    assert "hunks that do not apply: pkg/b.py.rej" in one_line(three.run("refresh", code=1))
    for verb in ("push", "fold", "drop"):
        arguments = {"fold": ["one"], "drop": ["one"]}.get(verb, [])
        assert "not apply yet" in one_line(three.run(verb, *arguments, code=1))
    assert three.raw("two.patch") == raw
    three.write({"pkg/b.py.rej": None, "pkg/b.py": text(l10="two\n", l30="more\n")})
    assert three.run("refresh").out.startswith("Refreshed two.patch: only context changed\n")
    three.run("push")


@pytest.mark.parametrize("verb", ["refresh", "pop"])
def test_rejects_deleted_by_hand_are_no_hindrance_for_undo(three: Hands, verb: str) -> None:
    forced(three)
    three.run("undo")
    before = three.look()
    three.run("redo")
    three.write({"pkg/b.py.rej": None})
    three.run(verb)
    three.run("undo", "-n", "3")  # the command, the deletion by hand, the forced push
    assert three.look() == before


def test_a_forced_patch_goes_out_with_its_rejects(three: Hands) -> None:
    forced(three)
    three.run("pop")
    assert three.text("pkg/b.py") == text()
    assert not (three.root / "pkg/b.py.rej").exists()
    three.run("undo")
    assert (three.root / "pkg/b.py.rej").exists()


def test_a_checkout_of_another_commit_is_refused(stage: Stage) -> None:
    desk = hands(stage)
    desk.checkout.git("checkout", "--quiet", "--detach", "origin/later")
    desk.checkout.git("commit", "--quiet", "--allow-empty", "-m", "mine")
    (desk.folder / "series").write_text("fork-two.patch\nfork-one.patch\n")
    desk.run("push")
    desk.run("pop")
    desk.checkout.commit({"run.sh": "mine\n"})
    before = desk.look()
    message = one_line(desk.run("push", code=1))
    assert message == f"run.sh in {desk.root} differs from the pin {stage.base}"
    assert desk.look() == before


def test_a_commit_beside_what_the_patches_touch_is_no_hindrance(stage: Stage) -> None:
    desk = hands(stage)
    desk.checkout.commit({"mine.txt": "mine\n"})
    desk.run("push", "-a")
    desk.run("pop", "-a")
    assert desk.checkout.git("status", "--porcelain") == ""


def test_what_apply_put_in_can_be_popped_and_what_was_pushed_unapplied(desk: Hands) -> None:
    desk.stage.run("apply", "s", "--to", desk.root)
    assert desk.run("pop").out == "Popped fork-two.patch\nTop is fork-one.patch\n"
    verified = desk.stage.run("verify", "s", "--to", desk.root, code=4)
    assert verified.out == f"1 patch of s pushed in {desk.root}\n"
    assert f"s is applied in {desk.root}: 1 patch pushed" in desk.stage.run("status").out
    desk.run("push")
    desk.stage.run("verify", "s", "--to", desk.root)
    desk.stage.run("unapply", "s", "--to", desk.root)
    assert desk.checkout.git("status", "--porcelain") == ""


def test_a_series_in_commits_is_not_popped(desk: Hands) -> None:
    desk.stage.run("apply", "s", "--to", desk.root, "--commit")
    told = f"the series s is applied in {desk.root} as commits"
    assert one_line(desk.run("pop", "--to", desk.root, code=1)) == told


def test_another_series_is_not_pushed_over_one(desk: Hands) -> None:
    desk.run("push")
    desk.stage.run("series", "new", "w", "--upstream", "up", "--base", desk.stage.base)
    message = one_line(desk.run("push", "--series", "w", code=1))
    assert message == f"the series s is applied in {desk.root}"
    desk.run("pop", "-a")
    desk.stage.run("apply", "w", "--to", desk.root, "--dry-run")
    desk.run("goto", "0", "--series", "w")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: raw.replace(b"+ours", b"+other"), "fork-one.patch has changed"),
        (None, "fork-one.patch has been removed from the series"),
    ],
    ids=["changed", "gone"],
)
def test_a_pushed_patch_that_changed_since_is_told(
    desk: Hands, change: Callable[[bytes], bytes] | None, message: str
) -> None:
    desk.run("push")
    patch = desk.folder / "fork-one.patch"
    if change is not None:
        patch.write_bytes(change(patch.read_bytes()))
    else:
        (desk.folder / "series").write_text("fork-two.patch\n")
    for verb in ("push", "pop", "refresh", "applied"):
        assert one_line(desk.run(verb, code=1)) == f"{message} since it was pushed"
    desk.stage.run("unapply", "s", "--to", desk.root)
    assert desk.checkout.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("change", "command", "left"),
    [
        ("content", "push", ["one", "two", "three"]),
        ("gone", "refresh", ["two", "three"]),
        ("order", "refresh", ["two", "one", "three"]),
    ],
)
@pytest.mark.parametrize("is_in_every_file", [False, True])
def test_an_edit_is_kept_when_its_series_has_changed_since_it_was_pushed(
    three: Hands, change: str, command: str, left: list[str], is_in_every_file: bool
) -> None:
    if change == "content":
        (three.folder / "three.patch").write_bytes(three.raw("three.patch").replace(b"+t", b"+T"))
    else:
        (three.folder / "series").write_text("".join(f"{name}.patch\n" for name in left))
    edited = {"pkg/b.py": text(l10="two\n", l40="three\n", l25="mine\n")}
    if is_in_every_file:  # then none is as it was pushed
        edited["pkg/a.py"] = text(l3="one\n", l25="mine\n")
    three.write(edited)
    three.checkout.git("add", "--all")
    three.run(command, "--series", "w", code=1)
    says = f"patchmgr unapply w --to {three.root}"
    refused = three.stage.run(*says.split()[1:], code=1).err
    assert refused.strip().endswith(f"keep the edits in a patch file: {says} --force")
    before = picture(three.root)
    with unchanged(three.stage.root, without=()):
        three.stage.run(*says.split()[1:], "--force", "--dry-run")
    assert picture(three.root) == before
    told = three.stage.run(*says.split()[1:], "--force").err
    assert three.checkout.git("status", "--porcelain") == ""
    three.stage.run("push", "-a", "--series", "w", "--to", three.root)
    again = told.partition("To make your edits again: git ")[2].split()
    three.checkout.git(*again)
    diff = three.run("changes").out.splitlines()
    lines = [line for line in diff if line[:1] in ("+", "-") and line[:2] not in ("++", "--")]
    assert lines == ["-line 25", "+mine"] * len(edited)
    three.run("refresh")
    assert three.applied() == [f"{name}.patch" for name in left]


def test_a_checkout_that_went_on_to_another_commit_has_no_pushed_patches(three: Hands) -> None:
    (three.folder / "one.patch").write_bytes(three.raw("one.patch").replace(b"+one", b"+other"))
    three.checkout.git("stash", "--quiet")
    theirs = {"pkg/a.py": text(l2="theirs\n\n"), "pkg/b.py": text(l2="theirs\n\n")}
    plant(three.checkout, theirs, "theirs")
    assert three.run("applied", "--series", "w").err == "No patches of w are pushed.\n"


def test_a_patch_that_was_put_below_pushed_ones_is_told(desk: Hands) -> None:
    desk.run("push")
    (desk.folder / "series").write_text("fork-two.patch\nfork-one.patch\n")
    told = "fork-two.patch is not pushed, but a later patch is"
    for verb in ("push", "refresh", "unapplied"):
        assert one_line(desk.run(verb, code=1)) == told
    assert desk.run("applied").out.startswith("> fork-one.patch")
    assert desk.run("pop").out == "Popped fork-one.patch\nNo patch is pushed\n"
    assert desk.checkout.git("status", "--porcelain") == ""


def test_patches_that_were_put_in_another_order_can_be_popped(desk: Hands) -> None:
    desk.run("push", "-a")
    (desk.folder / "series").write_text("fork-two.patch\nfork-one.patch\n")
    told = "the order of the series has changed since its patches were pushed"
    assert one_line(desk.run("unapplied", code=1)) == told
    assert [row["name"] for row in desk.run("applied", "--json").json["patches"]] == [
        "fork-one.patch", "fork-two.patch",
    ]  # fmt: skip
    assert desk.run("pop").out == "Popped fork-two.patch\nTop is fork-one.patch\n"
    assert desk.run("pop").out == "Popped fork-one.patch\nNo patch is pushed\n"
    assert desk.checkout.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("content", "what"), [(None, "is missing"), (b"", "is empty"), (b" \n\n", "is empty")]
)
def test_a_missing_patch_file_has_a_way_out(desk: Hands, content: bytes | None, what: str) -> None:
    desk.write({str(desk.folder / "fork-two.patch"): content})
    said = desk.run("push", code=1).err
    assert f"series/s/fork-two.patch, which the series lists, {what}" in said
    assert "delete its line in series/s/series" in said
    (desk.folder / "series").write_text("fork-one.patch\n")
    desk.run("push")


def test_a_header_may_change_under_a_pushed_patch(desk: Hands) -> None:
    desk.run("push")
    patch = desk.folder / "fork-one.patch"
    patch.write_bytes(patch.read_bytes().replace(b"Why it is so.", b"Why it is not."))
    desk.run("pop")


def test_git_took_the_patches_out(desk: Hands) -> None:
    desk.run("push")
    desk.checkout.git("checkout", "--quiet", "--", ".")
    desk.checkout.git("clean", "-fdq")
    assert desk.run("applied", "--json").json["patches"] == []
    desk.run("push")


def test_the_two_folders_know_each_other(three: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.commands.conftest import invoke

    monkeypatch.chdir(three.root / "pkg")
    assert invoke("top").out == "three.patch\n"
    three.write({"pkg/b.py": text(l10="two\n", l40="four\n")})
    assert invoke("refresh", "b.py").out == "Refreshed three.patch: content changed\n  pkg/b.py\n"
    monkeypatch.chdir(three.stage.root)
    assert invoke("top", "--series", "w").out == "three.patch\n"
    monkeypatch.chdir(three.stage.folder)
    assert invoke("top").code == 1


def test_a_push_without_a_checkout_asks_for_one(stage: Stage) -> None:
    assert one_line(stage.run("push", code=2)).startswith("name a checkout with --to CHECKOUT")


def test_a_folder_becomes_a_file_and_back(stage: Stage) -> None:
    stage.upstream.git("checkout", "--quiet", "--detach", "main")
    plant(stage.upstream, {"gone/only.txt": None}, "away")
    (stage.upstream.root / "gone").rmdir()
    plant(stage.upstream, {"gone": "now a file\n", "pkg/a.py": None}, "file")
    plant(stage.upstream, {"pkg/a.py/deep": "now a folder\n"}, "folder")
    stage.series(stage.upstream.patches("main..HEAD"))
    stage.upstream.git("checkout", "--quiet", "main")
    desk = hands(stage)
    with unchanged(desk.root):
        desk.run("push", "-a")
        assert desk.text("pkg/a.py/deep") == "now a folder\n"
        desk.run("pop", "-a")


@pytest.mark.parametrize(
    "line",
    [("edit", "two", "--subject", "x"), ("rename", "two", "zwei"), ("goto", "two")],
    ids=lambda line: line[0],
)
def test_a_forced_patch_stays_one_with_another_header(three: Hands, line: tuple[str, ...]) -> None:
    forced(three)
    three.run(*line)
    assert "hunks that do not apply" in one_line(three.run("refresh", code=1))
    three.write({"pkg/b.py.rej": None})
    for verb in (("refresh", "-p", "one"), ("new", "x")):
        assert "do not apply yet" in one_line(three.run(*verb, code=1))
    three.run("pop")
    assert three.text("pkg/b.py") == text()
