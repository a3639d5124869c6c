"""`new` and `refresh`: what a person edited becomes a patch's change, and nothing else changes."""

import os
import shutil

import pytest

from tests.commands.desks import Hands, hands, made
from tests.commands.scenes import Stage, one_line, picture, text, work_tree
from tests.conftest import Repository
from tests.tables import table


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk without patches."""
    return hands(stage, name="w")


TWO = {"pkg/a.py": text(l10="one\n", l40="two\n")}


@pytest.fixture
def two(stage: Stage) -> Hands:
    """Return a desk with two pushed patches of one file."""
    one = {"pkg/a.py": text(l10="one\n")}
    return made(stage, "refreshing", {"one": one, "two": TWO})


def diff_of(raw: bytes) -> list[bytes]:
    """Return the lines that a patch adds and removes."""
    at = raw.index(b"diff --git ")
    lines = raw[at:].split(b"\n")
    return [x for x in lines if x[:1] in (b"+", b"-") and x[:3] not in (b"+++", b"---")]


def test_a_new_patch_says_who_wrote_it_and_stands_on_the_top(two: Hands) -> None:
    two.run("goto", "one")
    two.run("new", "between", "--subject", "In between", "-m", "Because.\n\nReally.")
    assert two.order() == ["one.patch", "between.patch", "two.patch"]
    assert two.raw("between.patch") == (
        b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
        b'From: "A. Author" <author@example.org>\n'
        b"Date: Tue, 14 Nov 2023 22:13:20 +0000\n"
        b"Subject: In between\n\nBecause.\n\nReally.\n\n"
    )
    assert two.run("top").out == "between.patch\n"
    two.run("new", "umlaut", "--subject", "Größer", "--author", "Ü <u@example.org>")
    raw = two.raw("umlaut.patch").decode()
    assert "From: Ü <u@example.org>\n" in raw
    assert "Subject: Größer\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n" in raw
    two.run("pop", "-a")
    two.run("new", "first")
    assert two.order()[0] == "first.patch"


@pytest.mark.parametrize("options", [(), ("--auto",)])
def test_a_later_patch_that_stops_applying_is_named(two: Hands, options: tuple[str, ...]) -> None:
    two.patch("three", {"pkg/a.py": text(l10="one\n", l40="three\n")})
    two.patch("four", {"pkg/b.py": text(l5="four\n")})
    two.run("goto", "two")
    two.write({"pkg/a.py": text(l10="one\n", l40="two\n", l41="beside\n")})
    assert "From now on" not in two.run("refresh", "--dry-run", "pkg/b.py").err
    two.write({"pkg/a.py": text(l10="one\n", l40="other\n")})
    found = two.run("refresh", *options, "--dry-run", "--json").json
    assert found["stopped"] == "three.patch"
    for dry in (("--dry-run",), ()):
        said = two.run("refresh", *options, *dry).err
        assert said.startswith("From now on, three.patch does not apply: pkg/a.py: hunk 1 at line")
        hint = said.strip().partition("\nTo correct it: patchmgr ")[2]
    two.write({"pkg/a.py": text(l10="one\n", l40="another\n")})
    assert two.run("refresh", *options).err == ""  # it did not apply before
    two.stage.run(*hint.split(), code=1)  # also outside the checkout
    assert "three.patch" in two.applied()


def test_a_file_whose_name_no_patch_may_have_is_left_out_and_named(two: Hands) -> None:
    two.write({"pkg/a.py": two.text("pkg/a.py") + "mine\n", "-x": "x\n", "pkg/a\tb": "x\n"})
    two.checkout.git("add", "--", "-x", "pkg/a\tb")
    left = "Left out, because a patch cannot have such names: -x, pkg/a\\tb\n"
    for line in (("changes",), ("refresh", "--dry-run", "."), ("refresh",)):
        assert two.run(*line).err == left
    assert diff_of(two.raw("two.patch"))[-1] == b"+mine"
    two.run("pop", "-a")
    assert one_line(two.run("refresh", "--", "-x", code=1)) == "no patch of w is pushed"
    two.run("push")
    assert one_line(two.run("refresh", "--", "-x", code=1)) == "The path -x begins with a dash"


def test_a_submodule_that_is_named_is_refused(stage: Stage) -> None:
    stage.upstream.git("update-index", "--add", "--cacheinfo", f"160000,{stage.base},sub")
    tree = stage.upstream.git("write-tree")
    stage.upstream.git("reset", "--quiet", "--hard")
    base = stage.upstream.git("commit-tree", "-m", "with a submodule", tree)
    desk = Hands(stage, stage.clone(commit=base), "m")
    stage.run("upstream", "fetch", "--ref", base)
    stage.run("series", "new", "m", "--upstream", "up", "--base", base)
    desk.run("new", "one", "--series", "m")
    refused = one_line(desk.run("refresh", "sub", code=1))
    assert refused == "sub is a submodule; patchmgr does not change submodules in a checkout"


@pytest.fixture
def popped(two: Hands) -> Hands:
    """Return the desk with a third patch, which is popped, and a file that is not a patch."""
    two.patch("three", {"new": "x\n"})
    two.run("pop")
    (two.folder / "stray.patch").write_text("mine\n")
    return two


@table(
    ("line", "code", "message"),
    [
        (("new", "one"), 1, "the series already has a patch one.patch"),
        (("new", "../one"), 1, "The patch name ../one.patch has a .. component"),
        (("new", "stray"), 2, "the file stray.patch already exists"),
        (("split", "two", "stray", "--hunk", "a:1"), 2, "the file stray.patch already exists"),
        (
            ("new", "x", "--author", "nobody"),
            2,
            "--author must be written as: Name <name@example.org>",
        ),
        (("refresh", "nowhere"), 2, "there is no file nowhere in {root}"),
        (("refresh", ""), 2, "the empty string is not a path; for the current folder, use ."),
        (("refresh", ".."), 2, ".. is not a path below {root}"),
        (("refresh", "-p", "three"), 1, "three.patch is not pushed"),
    ],
)
def test_what_is_refused(popped: Hands, line: tuple[str, ...], code: int, message: str) -> None:
    before = popped.look()
    assert one_line(popped.run(*line, code=code)) == message.format(root=popped.root)
    assert popped.look() == before


def test_an_unknown_user_must_be_named(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_AUTHOR_EMAIL")
    monkeypatch.delenv("GIT_AUTHOR_NAME")
    assert one_line(desk.run("new", "x", code=2)) == "git does not know who you are"
    desk.run("new", "x", "--author", "A <a@example.org>")
    assert b"From: A <a@example.org>\n" in desk.raw("x.patch")


MAIL = (
    b"From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001\n"
    b"From: A <a@example.org>\nDate: Thu, 1 Jan 2026 12:00:00 +0000\n"
    b"X-Unknown:   kept\n  folded\nSubject: [PATCH 3/9] s\n\nText.\nForwarded: no\n"
)


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        pytest.param(b"", b"", id="none"),
        pytest.param(b"Only words.\n\n", b"Only words.\n\n", id="words"),
        pytest.param(
            b"Description: d\r\nOrigin: o\r\n", b"Description: d\r\nOrigin: o\r\n", id="crlf"
        ),
        pytest.param(b"Description: caf\xe9\n", b"Description: caf\xe9\n", id="latin-1"),
        pytest.param(MAIL + b"\n", MAIL + b"\n", id="mail"),
        pytest.param(MAIL + b"---\n", MAIL + b"---\n", id="mail-with-its-end"),
        pytest.param(MAIL + b"---\nA note.\n\n", MAIL + b"---\nA note.\n\n", id="note"),
        pytest.param(
            MAIL + b"---\n pkg/a.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n",
            MAIL + b"\n",
            id="a-diffstat-of-the-old-change-goes",
        ),
    ],
)
def test_a_header_survives_a_refresh_byte_for_byte(two: Hands, header: bytes, kept: bytes) -> None:
    raw = two.raw("two.patch")
    diff = raw[raw.index(b"diff --git") :]
    (two.folder / "two.patch").write_bytes(header + diff + b"-- \n2.39.5\n\n")
    two.write({"pkg/a.py": text(l10="one\n", l40="other\n")})
    two.run("refresh")
    new = two.raw("two.patch")
    assert new[: new.index(b"diff --git")] == kept
    assert diff_of(new) == [b"-line 40", b"+other"]
    assert b"2.39.5" not in new


def test_a_refresh_without_edits_changes_no_byte(two: Hands) -> None:
    raw = two.raw("two.patch")
    plain = raw[raw.index(b"--- a/") :]
    (two.folder / "two.patch").write_bytes(b"Only words.\n\n" + plain)
    two.run("pop", "--force", code=1)
    two.stage.run("unapply", "w", "--to", two.root)
    two.run("push", "-a", "--series", "w")
    before = two.look()
    assert two.run("refresh").out == "two.patch: nothing to refresh\n"
    assert two.look() == before


def test_only_positions_are_told_apart_from_a_change(two: Hands) -> None:
    raw = two.raw("two.patch")
    (two.folder / "two.patch").write_bytes(raw.replace(b"@@ -38,7 +38,7 @@", b"@@ -30,7 +30,7 @@"))
    two.stage.run("unapply", "w", "--to", two.root)
    two.run("push", "-a", "--series", "w")
    assert two.run("refresh").out == "Refreshed two.patch: only line numbers changed\n"
    assert two.raw("two.patch") == raw


def test_paths_that_were_stripped_otherwise_are_written_as_git_does(two: Hands) -> None:
    raw = two.raw("two.patch").replace(b"a/pkg", b"pkg").replace(b"b/pkg", b"pkg")
    plain = raw[raw.index(b"--- pkg") :]
    (two.folder / "two.patch").write_bytes(plain)
    (two.folder / "series").write_text("one.patch\ntwo.patch -p0 #+sym # why\n")
    two.stage.run("unapply", "w", "--to", two.root)
    two.run("push", "-a", "--select", "sym", "--series", "w")
    two.write({"pkg/a.py": text(l10="one\n", l40="other\n")})
    two.run("refresh")
    assert (two.folder / "series").read_text() == "one.patch\ntwo.patch #+sym # why\n"
    two.run("pop")
    two.run("push")
    assert "other\n" in two.text("pkg/a.py")


def test_edits_go_in_whole_or_by_path(desk: Hands) -> None:
    desk.run("new", "one")
    files: dict[str, str | bytes | None] = {
        "pkg/a.py": text(l3="x\n"), "pkg/b.py": text(l3="y\n"), "run.sh": None,
    }  # fmt: skip
    desk.write({**files, "untracked": "z\n", "pkg/known": "k\n"})
    desk.checkout.git("add", "-N", "pkg/known")
    said = desk.run("refresh", "pkg/a.py", "run.sh").out.splitlines()
    assert said[:3] == ["Refreshed one.patch: content changed", "  pkg/a.py", "  run.sh"]
    assert said[3] == "Left out, because git does not track them: untracked"
    assert diff_of(desk.raw("one.patch")) == [b"-line 3", b"+x", b"-#!/bin/sh"]
    answer = desk.run("refresh", "--json").json
    assert answer["paths"] == ["pkg/b.py", "pkg/known"]
    assert answer["untracked"] == ["untracked"]
    assert answer["change"] == "changed"
    Repository(desk.root / "nested")
    said = desk.run("refresh", ".").out.splitlines()
    assert "Left out, because git does not track them: nested/" in said
    shutil.rmtree(desk.root / "nested")
    assert b"+++ b/untracked\n" in desk.raw("one.patch")
    after = work_tree(desk.checkout)
    desk.run("pop", code=0)
    assert not (desk.root / "untracked").exists()
    desk.run("push")
    assert work_tree(desk.checkout) == after


def test_every_kind_of_change_comes_back_out_and_in(desk: Hands) -> None:
    before = picture(desk.root)
    desk.run("new", "all")
    desk.write(
        {
            "bytes": b"\x00\x02" * 40,
            "pkg/crlf": b"one\r\ntwo\r\n",
            "pkg/no-end": "no line feed",
            "empty": "",
            "gone/only.txt": None,
            "gr\u00f6\u00dfe x": "odd\n",
        }
    )
    os.rename(desk.root / "pkg/a.py", desk.root / "pkg/moved.py")
    (desk.root / "plain.sh").chmod(0o755)
    (desk.root / "link").unlink()
    (desk.root / "link").symlink_to("elsewhere")
    desk.run("refresh", ".")
    raw, after = desk.raw("all.patch"), work_tree(desk.checkout)
    assert b"rename from pkg/a.py\nrename to pkg/moved.py\n" in raw
    assert b"GIT binary patch\n" in raw
    desk.run("pop")
    assert picture(desk.root) == before
    desk.run("push")
    assert work_tree(desk.checkout) == after
    desk.run("refresh")
    assert desk.raw("all.patch") == raw


def test_a_patch_that_would_be_empty_is_kept(two: Hands) -> None:
    raw = two.raw("two.patch")
    two.write({"pkg/a.py": text(l10="one\n")})
    assert one_line(two.run("refresh", code=1)) == "two.patch would become empty"
    assert two.raw("two.patch") == raw
    two.run("refresh", "--allow-empty")
    assert b"diff" not in two.raw("two.patch")
    two.run("pop")
    two.run("push")


def test_a_patch_without_a_header_gets_one_before_nothing_is_left_of_it(desk: Hands) -> None:
    desk.patch("one", {"pkg/a.py": text(l10="one\n")})
    file = desk.stage.folder / "plain.patch"
    file.write_text("--- a/plain.sh\n+++ b/plain.sh\n@@ -1 +1 @@\n-#!/bin/sh\n+#!/bin/bash\n")
    desk.run("import", file, "--series", "w")
    desk.run("push", "--series", "w")
    desk.write({"plain.sh": "#!/bin/sh\n"})
    desk.run("refresh", "--allow-empty")
    assert b"Subject: plain\n" in desk.raw("plain.patch")
    desk.run("pop")


def test_a_lower_patch_takes_an_edit_and_those_above_keep_their_bytes(two: Hands) -> None:
    above = two.raw("two.patch")
    two.write({"pkg/a.py": text(l10="one\nmore\n", l40="two\n")})
    said = two.run("refresh", "-p", "one").out.splitlines()
    assert said[0] == "Refreshed one.patch: content changed"
    assert diff_of(two.raw("one.patch")) == [b"-line 10", b"+one", b"+more"]
    assert two.raw("two.patch") == above  # it applies one line further down
    after = work_tree(two.checkout)
    two.run("pop", "-a")
    two.run("push", "-a")
    assert work_tree(two.checkout) == after


def test_a_patch_above_is_rewritten_where_its_context_changed(two: Hands) -> None:
    two.write({"pkg/a.py": text(l10="one\n", l38="near\n", l40="two\n")})
    said = two.run("refresh", "-p", "one").out.splitlines()
    assert said == [
        "Refreshed one.patch: content changed",
        "  pkg/a.py",
        "  later patch two.patch: only context changed",
    ]  # fmt: skip
    assert diff_of(two.raw("two.patch")) == [b"-line 40", b"+two"]
    after = work_tree(two.checkout)
    two.run("pop", "-a")
    two.run("push", "-a")
    assert work_tree(two.checkout) == after


@table("edit", {"same": {"l40": "other\n"}, "beside": {"l40": "two\n", "l41": "next\n"}})
def test_an_edit_of_lines_of_a_patch_above_is_refused(two: Hands, edit: dict[str, str]) -> None:
    two.write({"pkg/a.py": text(l10="one\n", **edit)})
    before = two.look()
    message = one_line(two.run("refresh", "-p", "one", code=1))
    expected = "the edit to pkg/a.py changes lines of two.patch, which is above one.patch"
    assert message == expected
    assert two.look() == before


def test_an_edit_of_a_file_that_the_commit_changed_is_refused(two: Hands) -> None:
    two.write({"pkg/b.py": "mine\n"})
    two.checkout.git("commit", "--quiet", "-m", "mine", "--", "pkg/b.py")
    assert two.run("refresh").out == "two.patch: nothing to refresh\n"
    two.write({"pkg/b.py": "other\n"})
    message = one_line(two.run("refresh", code=1))
    assert message.startswith(f"pkg/b.py in {two.root} differs from the pin")


@pytest.mark.parametrize(
    "put_back",
    [
        pytest.param(("reset", "--hard", "--quiet"), id="what-git-tracks"),
        pytest.param(("stash", "--quiet"), id="stashed"),
        pytest.param(("clean", "-fdq"), id="what-git-does-not-know"),
    ],
)
def test_what_git_put_back_is_in_no_other_patch(stage: Stage, put_back: tuple[str, ...]) -> None:
    one = {"pkg/a.py": text(l10="one\n"), "pkg/b.py": None, "new": "new\n"}
    desk = made(stage, "put back", {"one": one, "two": TWO})
    before = desk.raw("one.patch"), desk.raw("two.patch")
    desk.checkout.git(*put_back)
    file = desk.root / "pkg/a.py"
    file.write_text(file.read_text() + "more\n")
    for line in (("refresh",), ("refresh", "pkg/a.py")):
        message = one_line(desk.run(*line, code=1))
        assert "lacks the change of one.patch" in message
    assert (desk.raw("one.patch"), desk.raw("two.patch")) == before
    desk.run("pop", "--all", "--force")
    desk.run("push", "--all")
    assert desk.text("new") == "new\n"


def test_a_patch_may_take_back_all_that_is_below_it(desk: Hands) -> None:
    desk.patch("one", {"new": "new\n"})
    desk.run("new", "back")
    desk.write({"new": None})
    assert desk.applied() == ["one.patch", "back.patch"]
    desk.run("refresh", "new")
    assert b"deleted file mode" in desk.raw("back.patch")
    desk.run("goto", "0")
    desk.run("push", "-a")
    assert not (desk.root / "new").exists()


def test_a_file_that_a_patch_deleted_may_be_named(desk: Hands) -> None:
    desk.patch("gone", {"pkg/b.py": None})
    done = desk.run("refresh", "pkg/b.py")
    assert done.out == "gone.patch: nothing to refresh\n"
    desk.write({"pkg/b.py": "back\n"})
    desk.run("refresh", "pkg/b.py")
    assert b"+back\n" in desk.raw("gone.patch")


def test_a_file_that_comes_and_goes_among_the_pushed_patches_may_be_named(desk: Hands) -> None:
    desk.patch("makes", {"new": "new\n", "pkg/a.py": text(l10="one\n")})
    desk.patch("deletes", {"new": None})
    desk.write({"pkg/a.py": text(l10="two\n")})
    desk.run("refresh", "--patch", "makes", "new", "pkg/a.py")
    assert b"+two\n" in desk.raw("makes.patch")
    assert b"+new\n" in desk.raw("makes.patch")


def test_a_patch_of_another_form_is_written_anew_only_where_that_is_asked_for(desk: Hands) -> None:
    hunk = "@@ -1,4 +1,4 @@\n-line 0\n+zero\n line 1\n line 2\n line 3\n"
    source = desk.stage.folder / "plain.diff"
    source.write_text(f"Why it is so.\n\nIndex: pkg/a.py\n--- pkg/a.py.orig\n+++ pkg/a.py\n{hunk}")
    desk.run("import", source, "-p", "0", "--series", "w")
    desk.run("push")
    before = desk.raw("plain.diff")
    assert desk.run("refresh").out == "plain.diff: nothing to refresh\n"
    assert desk.raw("plain.diff") == before
    done = desk.run("refresh", "--rewrite")
    assert done.out == "Refreshed plain.diff: different form, same change\n"
    assert desk.raw("plain.diff").startswith(b"Why it is so.\n\ndiff --git a/pkg/a.py b/pkg/a.py\n")
    assert (desk.folder / "series").read_text() == "plain.diff\n"
    assert desk.run("refresh", "--rewrite", "--json").json["rewritten"] is False


def test_a_reversed_patch_is_pushed_and_written_the_right_way_round(desk: Hands) -> None:
    source = desk.stage.folder / "back.diff"
    hunk = "@@ -1,4 +1,4 @@\n-zero\n+line 0\n line 1\n line 2\n line 3\n"
    source.write_text(f"--- a/pkg/a.py\n+++ b/pkg/a.py\n{hunk}")
    desk.run("import", "-R", source, "--series", "w")
    assert (desk.folder / "series").read_text() == "back.diff -R\n"
    assert desk.raw("back.diff") == source.read_bytes()
    desk.run("push")
    assert desk.text("pkg/a.py").startswith("zero\n")
    assert desk.run("files").out == "~ pkg/a.py\n"
    assert desk.run("refresh").out == "back.diff: nothing to refresh\n"
    desk.write({"pkg/a.py": desk.text("pkg/a.py").replace("line 1\n", "one\n")})
    desk.run("refresh")
    assert diff_of(desk.raw("back.diff")) == [b"-line 0", b"-line 1", b"+zero", b"+one"]
    assert (desk.folder / "series").read_text() == "back.diff\n"
    desk.run("pop")
    assert desk.text("pkg/a.py") == text()


def test_a_pushed_patch_that_is_reversed_by_hand_is_another_one(desk: Hands) -> None:
    desk.patch("one", {"pkg/a.py": text(l10="one\n")})
    (desk.folder / "series").write_text("one.patch -R\n")
    assert "one.patch has changed since it was pushed" in desk.run("refresh", code=1).err


def test_a_file_becomes_a_folder_and_a_folder_a_file(desk: Hands) -> None:
    desk.patch("one", {"pkg/a.py": "one\n"})
    desk.write({"pkg/a.py": None, "pkg/a.py/b": "two\n"})
    assert "put the edit into a patch: patchmgr refresh" in desk.run("pop", code=1).err
    desk.run("refresh", "pkg")
    before = picture(desk.root)
    desk.run("pop")
    assert (desk.root / "pkg/a.py").is_file()
    desk.run("undo")
    assert picture(desk.root) == before
    shutil.rmtree(desk.root / "pkg")
    desk.write({"pkg": "file\n"})
    desk.run("refresh", "pkg")
    before = picture(desk.root)
    desk.run("pop", "-a")
    assert (desk.root / "pkg/a.py").is_file()
    desk.run("undo")
    assert picture(desk.root) == before


@pytest.mark.parametrize("below", ["mine", ""], ids=["file", "no-file"])
def test_a_folder_where_a_patch_has_a_file_is_in_the_way(desk: Hands, below: str) -> None:
    desk.patch("one", {"new": "one\n"})
    desk.run("pop")
    (desk.root / "new").mkdir()
    if below:
        (desk.root / "new/mine").write_text("mine\n")
    before = picture(desk.root)
    for command in (("push",), ("undo",), ("apply", "w", "--to", str(desk.root))):
        assert "is in the way in" in desk.run(*command, code=1).err
        assert picture(desk.root) == before
