"""`import`: what comes in from where, under which name; and all or nothing."""

from pathlib import Path
from typing import Any

import pytest

from tests.commands.importing import (
    EDIT_A,
    EDIT_B,
    commits,
    mailbox,
    new_file,
    order,
    put,
    refuses,
    take,
)
from tests.commands.scenes import Stage, one_line, own_ref, plant, text
from tests.conftest import Repository
from tests.tables import table


def test_a_mailbox_becomes_a_patch_a_mail_byte_for_byte(empty: Stage) -> None:
    raw = empty.upstream.patches("main..fork")
    answer = take(empty, put(empty, "box.mbox", raw))
    assert answer.out.splitlines() == [
        "Imported 2 patches into s:",
        "  fork-one.patch  fork: one",
        "  fork-two.patch  fork: two",
        "  risk: fork-two.patch: bytes",
    ]
    assert order(empty) == "fork-one.patch\nfork-two.patch\n"
    folder = empty.root / "series/s"
    made = [(folder / f"fork-{number}.patch").read_bytes() for number in ("one", "two")]
    assert b"".join(made) == raw


def test_the_answer_in_json(empty: Stage) -> None:
    box = put(empty, "box.mbox", empty.upstream.patches("main..fork"))
    dry = take(empty, box, "--json", "--dry-run").json
    assert order(empty) == ""
    document = take(empty, box, "--json").json
    assert {**dry, "dry_run": False} == document
    one, two = document["patches"]
    assert one["name"] == "fork-one.patch"
    assert one["author"] == "A. Author <author@example.org>"
    assert (one["added"], one["removed"], one["risks"]) == (3, 2, [])
    assert two["risks"] == ["bytes"]


def test_imports_are_appended_behind_what_is_there(stage: Stage) -> None:
    (stage.root / "series/s/series").write_text("# mine\nfork-one.patch\nfork-two.patch # end")
    take(stage, put(stage, "b.diff", EDIT_B))
    assert order(stage) == "# mine\nfork-one.patch\nfork-two.patch # end\nb.diff\n"


@table(
    ("name", "content", "wanted"),
    {
        "plain-diff": ("fix-it.diff", EDIT_A, "fix-it.diff"),
        "number": ("0007-fix-it.patch", EDIT_A, "fix-it.patch"),
        "short-number-stays": ("07-fix.patch", EDIT_A, "07-fix.patch"),
        "spaces": ("my fix #1.patch", EDIT_A, "my-fix-1.patch"),
        "dash": ("0001--dash.patch", EDIT_A, "dash.patch"),
        "only-a-number": ("0001-.patch", EDIT_A, "patch.patch"),
        "series": ("series.patch", EDIT_A, "series.patch"),
        "unicode": ("f\u00fcr.patch", EDIT_A, "f\u00fcr.patch"),
        "subject": ("mail.eml", f"Subject: [PATCH 1/2] Make it so!\n\n{EDIT_A}",
            "Make-it-so.patch"),
        "no-subject": ("what.txt", EDIT_A, "what.patch"),
    },
)  # fmt: skip
def test_names(empty: Stage, name: str, content: str, wanted: str) -> None:
    source = put(empty, name, content)
    take(empty, source)
    assert order(empty) == f"{wanted}\n"
    assert (empty.root / "series/s" / wanted).read_bytes() == source.read_bytes()
    (empty.root / "series/s" / wanted).unlink()
    (empty.root / "series/s/series").write_bytes(b"")


def test_a_name_that_is_taken_gets_a_number(stage: Stage) -> None:
    left_out = stage.root / "series/s/fork-one-2.patch"
    left_out.write_text("by rebase --skip")
    take(stage, put(stage, "fork-one.patch", EDIT_B))
    third = EDIT_B.replace("line 0", "zero").replace("+zero", "+null")
    take(stage, put(stage, "x/fork-one.patch", third))
    assert order(stage).splitlines()[2:] == ["fork-one-3.patch", "fork-one-4.patch"]
    assert left_out.read_text() == "by rebase --skip"


def test_many_files_in_the_order_given(empty: Stage) -> None:
    take(empty, put(empty, "b.diff", EDIT_B), put(empty, "a.diff", EDIT_A))
    assert order(empty) == "b.diff\na.diff\n"


QUILT = b"""\
# what we carry

first.patch
sub/second.diff -p0 # not upstreamed
third.patch #+extra #-less
"""


def quilt(stage: Stage) -> Path:
    put(stage, "patches/first.patch", f"Description: a first one\n\n{EDIT_A}")
    put(stage, "patches/sub/second.diff", EDIT_B.replace("a/", "").replace("b/", ""))
    put(stage, "patches/third.patch", EDIT_A.replace("line 0", "zero").replace("+zero", "+null"))
    return put(stage, "patches/series", QUILT).parent


def test_a_quilt_directory_comes_with_guards_options_and_comments(empty: Stage) -> None:
    folder = quilt(empty)
    take(empty, folder)
    assert (empty.root / "series/s/series").read_bytes() == QUILT
    for name in ("first.patch", "sub/second.diff", "third.patch"):
        assert (empty.root / "series/s" / name).read_bytes() == (folder / name).read_bytes()
    built = empty.run("branch", "s", "--json").json
    assert built["commits"] == 2
    assert empty.run("branch", "s", "--select", "extra", "--json").json["commits"] == 3


def test_guards_stay_with_a_patch_that_gets_another_name(empty: Stage) -> None:
    take(empty, put(empty, "third.patch", new_file("other")))
    take(empty, quilt(empty))
    lines = order(empty).splitlines()
    assert lines[-1] == "third-2.patch #+extra #-less"


def test_patches_that_guards_keep_apart_may_clash(empty: Stage) -> None:
    put(empty, "p/old.patch", EDIT_A)
    put(empty, "p/new.patch", EDIT_A.replace("+zero", "+null"))
    put(empty, "p/never.patch", EDIT_A.replace("-line 0", "-line x"))
    series = put(empty, "p/series", "old.patch #-new\nnew.patch #+new\n")
    take(empty, series.parent)
    series.write_text("never.patch #+new\n")
    assert "never.patch does not apply" in refuses(empty, series.parent)


def test_a_folder_without_a_series_file_comes_by_name(empty: Stage) -> None:
    for name, content in (("0002-b.patch", EDIT_B), ("0001-a.patch", EDIT_A), ("README", "no")):
        put(empty, f"folder/{name}", content)
    take(empty, empty.folder / "sources/folder")
    assert order(empty) == "a.patch\nb.patch\n"


def test_a_range_comes_without_merges_and_empty_commits(empty: Stage) -> None:
    upstream = empty.upstream
    first = commits(empty, ({"pkg/a.py": text(l1="x\n")}, "range: a"), ({}, "range: nothing"))
    side = commits(empty, ({"pkg/b.py": text(l1="y\n")}, "range: b"))
    with upstream.at("--detach", first):
        upstream.git("merge", "--quiet", "--no-ff", "-m", "range: merge", side)
        head = upstream.head()
    answer = take(empty, f"main..{head}", "--git", upstream.root)
    assert sorted(order(empty).split()) == ["range-a.patch", "range-b.patch"]
    assert "Left out 2 of 4 commits in main.." in answer.err
    assert empty.run("branch", "s", "--json").json["commits"] == 2
    branch = empty.folder / "cache/patchmgr/stores"
    built = Repository(next(branch.glob("upstream-*")), is_there=True)
    assert built.tree(own_ref(empty.root, "refs/heads/patchmgr/s")) == upstream.tree(head)


def test_the_configuration_of_the_repository_changes_no_byte(empty: Stage) -> None:
    head = commits(
        empty,
        ({"pkg/a.py": text(l1="x\n", l20="y\n"), "f\u00fcr": "x\n", "pkg/b.py": text(l3="z\n")},
         "r\u00e4nge: one"),
    )  # fmt: skip
    clone = empty.clone("theirs", commit=head)
    line = (f"{empty.base}..{head}", "--git", clone.root)
    take(empty, *line)
    name = order(empty).strip()
    plain = (empty.root / "series/s" / name).read_bytes()
    order_file = put(empty, "order", "pkg/b.py\n")
    for setting in (
        "diff.noprefix=true", "diff.mnemonicPrefix=true", "format.signature=me",
        "format.subjectPrefix=X", "format.to=a@b", "format.cc=a@b", "format.headers=X-Y: z",
        "format.from=true", "format.attach=true", "format.numbered=true", "format.notes=true",
        "format.encodeEmailHeaders=true", "format.signOff=true", "format.coverLetter=true",
        "diff.context=0", "diff.interHunkContext=99", "diff.algorithm=patience",
        "diff.external=false", "i18n.logOutputEncoding=latin1", "core.quotePath=true",
        "diff.suppressBlankEmpty=true", "diff.renames=false", f"diff.orderFile={order_file}",
        "format.thread=deep", "format.useAutoBase=true", "format.suffix=.txt",
        "diff.ignoreSubmodules=all", "log.mailmap=true", "format.outputDirectory=/nonexistent",
        "diff.indentHeuristic=false", "diff.colorMoved=plain", "color.ui=always",
    ):  # fmt: skip
        clone.git("config", *setting.split("=", 1))
    (clone.root / ".gitattributes").write_text("*.py -diff\n")
    (clone.root / ".git/info").mkdir(exist_ok=True)
    (clone.root / ".git/info/attributes").write_text("*.py -diff\n")
    (clone.root / ".mailmap").write_text("Somebody <else@example.org> <author@example.org>\n")
    (empty.root / "series/s/series").write_text("")
    (empty.root / "series/s" / name).unlink()  # else it is listed again
    take(empty, *line)
    assert (empty.root / "series/s" / name).read_bytes() == plain


@table(
    ("commits", "code", "words"),
    [
        ("main", 2, "is not a range"),
        ("main...fork", 2, "is not a range"),
        ("..fork", 2, "is not a range"),
        ("main..", 2, "is not a range"),
        ("--output=x..y", 2, ""),
        ("main..nowhere", 2, "has no commit nowhere"),
        ("-x..main", 2, ""),
        ("main..main", 2, "have no patches"),
    ],
)
def test_what_is_no_range(empty: Stage, commits: str, code: int, words: str) -> None:
    assert words in refuses(empty, "--git", empty.upstream.root, "--", commits, code=code)


def test_a_range_of_no_repository(empty: Stage) -> None:
    assert "is not a git repository" in refuses(empty, "--git", empty.root, "a..b", code=2)
    assert "there is no folder" in refuses(empty, "--git", empty.root / "x", "a..b", code=2)
    clone = empty.upstream.root
    assert f"import --git {clone} A..B" in take(empty, clone, code=2).err
    assert "exactly one range" in refuses(empty, "--git", clone, "a..b", "c..d", code=2)


BAD: list[Any] = [
    pytest.param(EDIT_A.replace("-line 0", "-line x"), "pkg/a.py: hunk 1 at line 1", id="context"),
    pytest.param(EDIT_A.replace("a.py", "no.py"), "pkg/no.py: the file does not exist", id="none"),
    pytest.param(EDIT_A.rsplit("\n", 2)[0] + "\n", "line ", id="truncated-hunk"),
    pytest.param(EDIT_A[:-4], "line ", id="truncated-line"),
    pytest.param(new_file("pkg/a.py"), "the file that it creates already exists", id="exists"),
    pytest.param(new_file("pkg/a.py/x"), "pkg/a.py is in the way", id="below-a-file"),
    pytest.param(new_file("../x"), "../x has a .. component", id="dots"),
    pytest.param(new_file("/etc/x"), "is absolute", id="absolute"),
    pytest.param(new_file(".git/hooks/x"), "contains the reserved name .git", id="reserved"),
    pytest.param(new_file("a\\\\..\\\\b"), "", id="backslashes"),
    pytest.param("nothing here\n", "has no diff", id="no-diff"),
    pytest.param(new_file("x").encode("utf-16"), "is in UTF-16", id="utf-16"),
    pytest.param("", "is empty", id="empty"),
    pytest.param(f"diff --git a/bytes b/bytes\nindex {'1' * 40}..{'2' * 40} 100644\n"
                 "Binary files a/bytes and b/bytes differ\n", "binary", id="binary-notice"),
    pytest.param("*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
                 "context diff", id="context-diff"),
]  # fmt: skip


@table(("diff", "words"), BAD)
def test_a_bad_patch_is_refused_in_one_line(empty: Stage, diff: str | bytes, words: str) -> None:
    source = put(empty, "bad.patch", diff)
    message = refuses(empty, source, code=1 if diff else 2)
    assert words in message
    assert "bad.patch" in message


def test_the_others_come_without_a_patch_of_an_unsafe_path(empty: Stage) -> None:
    for name, content in (("0001-a.patch", EDIT_A), ("0002-b.patch", new_file(".git/x"))):
        put(empty, f"folder/{name}", content)
    source = empty.folder / "sources/folder"
    hint = "to import the others: --without "
    told = empty.run("import", source, "--series", "s", code=1).err
    assert hint in told
    take(empty, source, "--without", told.partition(hint)[2].strip())
    assert order(empty) == "a.patch\n"


@table(("diff", "words"), [row for row in BAD if row.id in ("context", "truncated-line", "dots")])
def test_all_or_nothing(empty: Stage, diff: str, words: str) -> None:
    second = new_file("other")
    box = put(empty, "box.mbox", mailbox(EDIT_A, second, diff))
    message = refuses(empty, box)
    assert words in message
    assert "mail 3" in message or "mail-3.patch" in message
    good = put(empty, "good.diff", EDIT_B)
    refuses(empty, good, box)


@pytest.mark.parametrize(
    ("name", "diff"),
    [
        pytest.param("latin.patch", EDIT_A.encode().replace(b"zero", b"z\xe9ro"), id="latin-1"),
        pytest.param("crlf.patch", EDIT_A.encode().replace(b"+zero\n", b"+zero\r\n"), id="cr"),
        pytest.param("end.patch", EDIT_A.encode().replace(b"1,2 +1,2", b"1 +1").replace(
            b" line 1\n", b""), id="no-context"),
        pytest.param("new.patch", new_file("n").encode() + b"\\ No newline at end of file\n",
                     id="no-newline"),
        pytest.param("head.patch", b"X-Odd: \xff\n\nwords\n" + EDIT_A.encode(), id="odd-header"),
    ],
)  # fmt: skip
def test_bytes_are_kept(empty: Stage, name: str, diff: bytes) -> None:
    if name == "end.patch":
        diff = b"--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1 +1 @@\n-line 0\n+zero\n"
    source = put(empty, name, diff)
    take(empty, source)
    assert (empty.root / "series/s" / name).read_bytes() == diff
    empty.run("branch", "s")


def test_a_crlf_mail_on_crlf_files(stage: Stage) -> None:
    upstream = Repository(stage.folder / "crlf")
    base = plant(upstream, {"a": "one\r\ntwo\r\n"}, "start")
    plant(upstream, {"a": "one\r\n2\r\n"}, "change")
    stage.run("upstream", "add", "crlf", "--git", upstream.root)
    stage.run("series", "new", "c", "--upstream", "crlf", "--base", base)
    raw = upstream.patches(f"{base}..HEAD")
    assert b"\r\n" in raw
    stage.run("import", put(stage, "c.patch", raw), "--series", "c")
    built = stage.run("branch", "c", "--repo", upstream.root, "--json").json
    assert upstream.tree(built["head"]) == upstream.tree("main")


def test_risks_are_named(empty: Stage) -> None:
    risky = ("conftest.py", "pkg/sitecustomize.py", "x.pth", ".gitattributes", "Makefile",
             "sub/setup.py", ".gitmodules")  # fmt: skip
    for number, path in enumerate((*risky, "plain/file.py")):
        put(empty, f"folder/p{number}.patch", new_file(path))
    lines = take(empty, empty.folder / "sources/folder").out.splitlines()
    named = [f"  risk: p{number}.patch: {path}" for number, path in enumerate(risky)]
    assert [line for line in lines if "risk" in line] == named


def test_what_cannot_be_read(empty: Stage) -> None:
    assert "cannot be read" in refuses(empty, empty.folder / "none.patch", code=2)
    put(empty, "q/series", "none.patch\n")
    assert "cannot be read" in refuses(empty, empty.folder / "sources/q", code=2)
    (empty.folder / "sources/empty").mkdir()
    assert "no patch" in refuses(empty, empty.folder / "sources/empty", code=2)
    assert "name a file" in refuses(empty, code=2)


@table("name", ["../x.patch", "/etc/passwd", "a\x1b[2J.patch"])
def test_a_hostile_series_file(empty: Stage, name: str) -> None:
    series = put(empty, "q/series", f"{name}\n")
    message = refuses(empty, series.parent)
    assert "\x1b" not in message
    assert "line 1" in message


def test_links_in_the_workspace_are_not_followed(empty: Stage) -> None:
    outside = empty.folder / "outside"
    outside.mkdir()
    (outside / "series").write_text("")
    folder = empty.root / "series/s"
    (folder / "series").unlink()
    folder.rmdir()
    folder.symlink_to(outside)
    source = put(empty, "a.diff", EDIT_A)
    message = one_line(take(empty, source, code=1))
    assert "symbolic link" in message
    assert [path.name for path in outside.iterdir()] == ["series"]
    assert (outside / "series").read_text() == ""


def test_many_patches_are_counted_and_listed_only_with_verbose(empty: Stage) -> None:
    for number in range(13):
        put(empty, f"many/p{number:02}.diff", new_file(f"at-{number}/setup.py"))
    folder = empty.folder / "sources/many"
    short = take(empty, folder, "--dry-run").out.splitlines()
    assert short[0] == "Would import 13 patches into s; to list them: --verbose"
    assert len([line for line in short if line.startswith("  risk: ")]) == 12
    assert short[-1] == "  and 1 more like these; to list them: --verbose"
    assert take(empty, folder, "--dry-run", "-q").out == "Would import 13 patches into s\n"
    whole = take(empty, folder, "-v").out.splitlines()
    assert whole[:2] == ["Imported 13 patches into s:", "  p00.diff  p00"] and len(whole) == 27
