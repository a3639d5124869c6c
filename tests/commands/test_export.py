"""`export`: a series in other tools' forms; the same again gives the same bytes."""

import shutil
from pathlib import Path

from patchmgr.formats.exports import FORMS
from tests.commands.conftest import Answer
from tests.commands.scenes import Stage, changed, one_line, picture, text, unchanged
from tests.conftest import Repository
from tests.tables import table

PLAIN = "--- pkg/b.py\n+++ pkg/b.py\n@@ -1,2 +1,2 @@\n-line 0\n+zero\n line 1\n"
BASE_OF = "# This series applies on GIT commit "


def export(stage: Stage, form: str, *arguments: str | Path, code: int = 0) -> Answer:
    return stage.run("export", "s", "--as", form, *arguments, code=code)


def out(stage: Stage, name: str = "out") -> Path:
    return stage.folder / name


def with_more(stage: Stage) -> None:
    """Give the series a plain -p0 diff and one behind a guard, with a comment between."""
    folder = stage.root / "series/s"
    (folder / "plain.diff").write_text(PLAIN)
    (folder / "extra.patch").write_text(PLAIN.replace("line 0", "zero").replace("+zero", "+null"))
    with (folder / "series").open("a") as file:
        file.write("# plain\nplain.diff -p0 # said\nextra.patch -p0 #+sym\n")


def test_a_quilt_folder_is_the_series_byte_for_byte(stage: Stage) -> None:
    with_more(stage)
    answer = export(stage, "quilt", "--out", out(stage))
    place = out(stage)
    assert answer.out == f"Exported 4 patches of s as quilt to {place} (5 files written)\n"
    assert answer.err.splitlines() == [
        "warning: fork-two.patch has a binary file, which quilt does not apply",
        "warning: extra.patch has guards, which are comments for quilt: it will apply the patch",
    ]
    assert picture(place) == picture(stage.root / "series/s")
    again = export(stage, "quilt", "--out", place)
    assert again.out == f"Exported 4 patches of s as quilt to {place} (nothing to write)\n"


def test_a_mailbox_keeps_mails_and_writes_the_rest_anew(stage: Stage) -> None:
    with_more(stage)
    answer = export(stage, "mbox", "--out", out(stage))
    assert answer.out.splitlines()[1:] == [
        "  rewritten  plain.diff",
        "  left out   extra.patch: its guard is #+sym, and sym is not selected",
    ]
    box = out(stage).read_bytes()
    folder = stage.root / "series/s"
    mails = [(folder / name).read_bytes() for name in ("fork-one.patch", "fork-two.patch")]
    assert box.startswith(b"".join(mails))
    assert b"Subject: plain\n" in box[sum(map(len, mails)) :]
    assert b"diff --git a/pkg/b.py b/pkg/b.py\n" in box[sum(map(len, mails)) :]
    selected = export(stage, "mbox", "--out", out(stage), "--select", "sym", "--json").json
    assert (selected["files"], selected["written"]) == (["out"], ["out"])
    assert selected["skipped"] == []
    assert [p["kept"] for p in selected["patches"]] == [True, True, False, False]


ENVELOPE = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001"
FROM_LINES = {
    ENVELOPE: True, "From a@b.c Sat Jan  1 1:02:03 00091": True,
    "From a@b.c at 10:20:30 +1999, or so": True, "From a@b.c Sat Jan  1 01:02:03 2001 z:": True,
    "From a@b.c Sat Jan  1 01:02:03 0090": False, "From a@b.c Sat Jan  1 01:02:03 PDT 2001": False,
    "From a@b.c Sat Jan  1 01:02:03 2001 z: y": False, "From a@b.c Sat Jan  1 aa:bb:cc 2001": False,
    "From 1:02:03 1999": False, "From now on it is 12:30": False, f" {ENVELOPE}": False,
    f">{ENVELOPE}": False,
}  # fmt: skip


def test_a_line_of_a_message_that_begins_a_mail_for_git_is_quoted(stage: Stage) -> None:
    clone, place = stage.clone(), stage.root / "series/s/fork-one.patch"
    raw = place.read_text()
    for line, is_quoted in FROM_LINES.items():
        why = f"Why it is so.\n\n{line}\nSubject: more\n"
        place.write_text(raw.replace("Why it is so.\n", why))
        assert (len(split(clone, place.read_bytes())) == 2) is is_quoted, line
        others = {"git": 1, "yocto": 1} if line in (ENVELOPE, f">{ENVELOPE}") else {}
        for form, count in {"mbox": 2, **others}.items():  # all quote in the same way
            answer = export(stage, form, "--out", out(stage, form))
            says = "has a line that would begin another mail" in answer.err
            file = out(stage, form)
            if file.is_dir():
                file = next(path for path in file.iterdir() if "one" in path.name)
            mails = split(clone, file.read_bytes())
            assert len(mails) == count, line
            assert (f"\n>{line}\n".encode() in mails[0]) is is_quoted, line
            assert says is is_quoted
    clone.git("am", "--quiet", "--patch-format=mboxrd", str(out(stage, "mbox")))
    assert clone.git("log", "-1", "--format=%B", "HEAD~1").endswith("Subject: more")


def split(clone: Repository, mails: bytes) -> list[bytes]:
    """Return what git mailsplit splits a mailbox into."""
    folder = clone.root.with_name("mails")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    clone.git("mailsplit", f"-o{folder}", data=mails)
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def test_the_answer_in_json(stage: Stage) -> None:
    arguments = ("--out", out(stage), "--json")
    dry = export(stage, "git", *arguments, "--dry-run").json
    assert "(2 files to write)" in export(stage, "git", *arguments[:-1], "--dry-run").out
    assert not out(stage).exists()
    done = export(stage, "git", *arguments).json
    assert {**dry, "dry_run": False} == done
    names = ["0001-fork-one.patch", "0002-fork-two.patch"]
    assert done == {
        "format": 1, "command": "export", "dry_run": False, "series": "s", "form": "git",
        "out": str(out(stage)), "files": names, "written": names, "deleted": [], "left": [],
        "patches": [{"name": "fork-one.patch", "kept": True},
                    {"name": "fork-two.patch", "kept": True}],
        "skipped": [],
    }  # fmt: skip


def test_a_patch_that_left_the_series_leaves_the_export(stage: Stage) -> None:
    export(stage, "git", "--out", out(stage))
    (out(stage) / "README").write_text("mine\n")
    (stage.root / "series/s/series").write_text("fork-one.patch\n")
    answer = export(stage, "git", "--out", out(stage))
    assert "(nothing to write, 1 deleted)" in answer.out
    assert sorted(p.name for p in out(stage).iterdir()) == ["0001-fork-one.patch", "README"]


def test_what_somebody_else_wrote_is_not_replaced(stage: Stage) -> None:
    out(stage).mkdir()
    (out(stage) / "series").write_text("mine\n")
    before = picture(stage.folder)
    for more in ((), ("--dry-run",)):
        message = one_line(export(stage, "quilt", "--out", out(stage), *more, code=1))
        told = f"series in {out(stage)} was not written by an export of s, or has been edited"
        assert message == told
        assert changed(before, picture(stage.folder)) == set()
    export(stage, "quilt", "--out", out(stage), "--force")
    assert (out(stage) / "series").read_text() == "fork-one.patch\nfork-two.patch\n"


def test_patches_that_were_in_the_folder_before_are_named_once(stage: Stage) -> None:
    out(stage).mkdir()
    for name in ("0007-old.patch", "b.diff", "README"):
        (out(stage) / name).write_text("old\n")
    answer = export(stage, "git", "--out", out(stage))
    assert answer.err == (
        f"Other patches stay in {out(stage)}; delete those that are obsolete:"
        " 0007-old.patch, b.diff\n"
    )
    assert export(stage, "git", "--out", out(stage)).err == ""


def test_two_series_can_share_a_folder(stage: Stage) -> None:
    stage.run("series", "new", "other", "--upstream", "up", "--base", "upstream/main")
    with_prefixes = PLAIN.replace("pkg/", "a/pkg/", 1).replace("++ pkg/", "++ b/pkg/")
    (stage.folder / "one.patch").write_text(with_prefixes)
    stage.run("import", stage.folder / "one.patch", "--series", "other")
    export(stage, "git", "--out", out(stage))
    files = {path.name for path in out(stage).iterdir()}
    answer = stage.run("export", "other", "--as", "git", "--out", out(stage))
    assert "deleted" not in answer.out
    assert {path.name for path in out(stage).iterdir()} == {*files, "0001-one.patch"}
    export(stage, "quilt", "--out", out(stage, "quilt"))
    answer = stage.run("export", "other", "--as", "quilt", "--out", out(stage, "quilt"), code=1)
    assert "series in " in one_line(answer)
    assert (out(stage, "quilt") / "series").read_text() == "fork-one.patch\nfork-two.patch\n"


def test_an_export_into_the_workspace_itself_is_refused(stage: Stage) -> None:
    with unchanged(stage.root):
        for place in (stage.root, stage.root / "series/s", stage.root / "series/t"):
            message = one_line(export(stage, "quilt", "--out", place, code=2))
            assert "is where the workspace keeps its own files" in message
    export(stage, "mbox", "--out", stage.root / "s.mbox")


@table(
    ("arguments", "words"),
    [
        (("--as", "quilt"), "--out PATH"),
        (("--out", "x"), "--as must be one of quilt, mbox, git"),
        (("--as", "qilt", "--out", "x"), "not qilt"),
        (("--as", "quilt", "--out", "x", "--npm", "a@1.0.0"), "--npm needs"),
        (("--as", "patch-package", "--out", "x", "--npm", "a"), "is not a version"),
    ],
)
def test_usage(stage: Stage, arguments: tuple[str, ...], words: str) -> None:
    assert words in one_line(stage.run("export", "s", *arguments, code=2))


def test_a_patch_that_does_not_apply_stops_the_export(stage: Stage) -> None:
    path = stage.root / "series/s/fork-one.patch"
    path.write_bytes(path.read_bytes().replace(b"-line 30", b"-line x"))
    message = one_line(export(stage, "mbox", "--out", out(stage), code=1))
    assert "fork-one.patch" in message
    assert not out(stage).exists()


def test_binary_files_do_not_fit_everywhere(stage: Stage) -> None:
    for form, more in (("gbp", ()), ("patch-package", ("--npm", "p@1.0.0"))):
        message = one_line(export(stage, form, "--out", out(stage), *more, code=1))
        assert "fork-two.patch changes the binary file bytes" in message or "link" in message
        assert not out(stage).exists()


def test_one_diff_of_all(stage: Stage) -> None:
    export(stage, "diff", "--out", out(stage, "all.diff"))
    clone = stage.clone()
    clone.git("apply", str(out(stage, "all.diff")))
    clone.git("add", "--all")
    assert clone.git("write-tree") == stage.upstream.tree("fork")


def test_a_series_without_patches(stage: Stage) -> None:
    (stage.root / "series/s/series").write_text("# none\n")
    for form in FORMS:
        place = out(stage, form)
        export(stage, form, "--out", place)
        left = sorted(p.read_text() for p in place.iterdir()) if place.is_dir() else []
        base = f"{BASE_OF}{stage.base}\n# none\n"
        assert left in ([], ["# none\n"], [base])


def test_a_patch_that_a_rebase_rewrites_needs_no_strip_option(stage: Stage) -> None:
    """It was left behind -p0, and then named no file that is there."""
    folder = stage.root / "series/s"
    lines = " line 28\n line 29\n-line 30\n+thirty\n line 31\n"
    head = PLAIN.partition("@@")[0]
    (folder / "plain.diff").write_text(f"{head}@@ -29,4 +29,4 @@\n{lines}")
    (folder / "extra.patch").write_text(PLAIN)
    with (folder / "series").open("a") as file:
        file.write("# plain\nplain.diff -p0 # said\nextra.patch -p0 #+sym\n")
    moved = {"pkg/b.py": text(l28="above\n")}
    with stage.upstream.at("--detach", "main"):
        head = stage.upstream.commit(moved, "upstream: a line above")
    stage.upstream.git("branch", "above", head)
    stage.run("upstream", "fetch", "up")
    stage.run("rebase", "s", "--onto", "upstream/above")
    order = (stage.root / "series/s/series").read_text().splitlines()
    assert order[2:] == ["# plain", "plain.diff # said", "extra.patch -p0 #+sym"]
    export(stage, "mbox", "--out", out(stage))


def test_a_series_on_another_is_exported_from_the_head_of_that(stage: Stage) -> None:
    stage.run("series", "new", "upper", "--upstream", "up", "--on", "s")
    with stage.upstream.at("--detach", "fork"):
        stage.upstream.commit({"pkg/a.py": text(l30="ours\n", l31="more\n")}, "upper: one")
        diff = stage.upstream.patches("fork..HEAD")
    (stage.folder / "upper.mbox").write_bytes(diff)
    stage.run("import", stage.folder / "upper.mbox", "--series", "upper")
    stage.run("export", "upper", "--as", "diff", "--out", out(stage))
    assert out(stage).read_bytes().count(b"diff --git") == 1
    clone = stage.clone(commit=stage.fork)
    clone.git("apply", str(out(stage)))
    assert (clone.root / "pkg/a.py").read_text() == text(l30="ours\n", l31="more\n")
