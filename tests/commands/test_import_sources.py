"""`import` from other tools: folders of packages, mail programs, gbp pq, StGit, patch-package."""

import email.message
import gzip
import json
import lzma
from codecs import BOM_UTF8

import pytest

from tests.commands.importing import EDIT_A, EDIT_B, commits, mailbox, order, put, refuses, take
from tests.commands.scenes import Stage, picture, plant, text

ONE, TWO = ({"pkg/a.py": text(l1="x\n")}, "one"), ({"pkg/b.py": text(l1="y\n")}, "two")
BACK_A = EDIT_A.replace("-line 0\n+zero\n", "-zero\n+line 0\n")


def test_a_package_root_leads_to_its_patches(empty: Stage) -> None:
    put(empty, "pkg/debian/patches/a.patch", EDIT_A)
    put(empty, "pkg/debian/patches/series", "# why\na.patch\n")
    take(empty, empty.folder / "sources/pkg")
    assert order(empty) == "# why\na.patch\n"
    put(empty, "tree/patches/b.patch", EDIT_B)
    put(empty, "tree/patches/series", "b.patch\n")
    take(empty, empty.folder / "sources/tree")
    assert order(empty) == "# why\na.patch\nb.patch\n"


def test_names_of_a_series_file_stay_without_a_suffix(empty: Stage) -> None:
    put(empty, "q/fix", EDIT_A)
    put(empty, "q/more.dpatch", EDIT_B)
    folder = put(empty, "q/series", "fix\nmore.dpatch\n").parent
    take(empty, folder)
    assert order(empty) == "fix\nmore.dpatch\n"
    (empty.root / "series/s/series").write_text("fix\n")
    third = EDIT_B.replace("b.py", "a.py").replace("line 0", "zero").replace("+zero", "+null")
    (folder / "fix").write_text(third)
    (folder / "series").write_text("fix #+sym\n")
    take(empty, folder)
    assert order(empty) == "fix\nfix.patch #+sym\n"


def test_a_series_file_may_reverse_a_patch(empty: Stage) -> None:
    put(empty, "q/back", BACK_A)
    folder = put(empty, "q/series", "back -p1 -R # taken back\n").parent
    take(empty, folder)
    assert order(empty) == "back -p1 -R # taken back\n"
    assert "is listed in a series file" in refuses(empty, "-R", folder, code=2)


def test_a_reversed_patch_leaves_as_what_it_does(empty: Stage) -> None:
    take(empty, "-R", put(empty, "back.diff", BACK_A))
    for form in ("quilt", "mbox", "git", "gbp", "stgit", "diff"):
        out = empty.folder / form
        empty.run("export", "s", "--as", form, "--out", out)
        if form == "quilt":
            assert (out / "back.diff").read_text() == BACK_A
            assert (out / "series").read_text() == "back.diff -R\n"
            continue
        files = [out] if out.is_file() else sorted(out.iterdir())
        written = "".join(file.read_text() for file in files)
        assert "\n-line 0\n+zero\n" in written, form
        assert "-R" not in written, form


def test_folders_to_take_off_the_paths(empty: Stage) -> None:
    flat = put(empty, "flat.diff", EDIT_A.replace("a/", "").replace("b/", ""))
    take(empty, "-p0", flat)
    take(empty, "--strip", "3", put(empty, "deep.diff", EDIT_B.replace(" ", " x/y/", 2)))
    assert order(empty) == "flat.diff -p0\ndeep.diff -p3\n"


def cover(subject: str) -> str:
    return mailbox("").replace("mail 1", subject)


@pytest.mark.parametrize("subject", ["[PATCH 0/2] a series", "Re: [PATCH 1/2] mail 1"])
def test_letters_without_a_diff_are_left_out_of_a_mailbox(empty: Stage, subject: str) -> None:
    box = put(empty, "box.mbox", cover(subject) + mailbox(EDIT_A, EDIT_B))
    answer = take(empty, box)
    assert order(empty) == "mail-1.patch\nmail-2.patch\n"
    assert answer.err == "Left out box.mbox mail 1: a cover letter or a reply, without a diff.\n"


def test_a_reply_with_a_diff_is_a_patch(empty: Stage) -> None:
    box = mailbox(EDIT_A, EDIT_B).replace("Subject: mail 2", "Subject: Re: better")
    take(empty, put(empty, "box.mbox", box))
    assert order(empty).splitlines()[0] == "mail-1.patch"
    assert len(order(empty).splitlines()) == 2


def test_a_mailbox_of_a_mail_program(empty: Stage) -> None:
    head = "From: A <a@b>\nDate: Thu, 1 Jan 1970 00:00:01 +0000\n"
    first = f"From a@b Thu Jan  1 00:00:01 1970\n{head}Subject: one\n\n---\n{EDIT_A}\n"
    second = f"From a@b Thu Jan  1 00:00:01 1970\n{head}Subject: two\n\n---\n{EDIT_B}\n"
    take(empty, put(empty, "inbox", first + second))
    folder = empty.root / "series/s"
    assert (folder / "one.patch").read_text() == first
    assert (folder / "two.patch").read_text() == second


IN_NODE = EDIT_A.replace("a/pkg", "a/node_modules/@s/p/pkg").replace(
    "b/pkg", "b/node_modules/@s/p/pkg"
)
TITLE = "diff --git a/node_modules/@s/p/pkg/a.py b/node_modules/@s/p/pkg/a.py\n"


def test_patches_of_patch_package(empty: Stage) -> None:
    second = IN_NODE.replace("-line 0\n+zero", "-zero\n+null")
    put(empty, "app/patches/@s+p+1.0.0+002+then.patch", TITLE + second)
    put(empty, "app/patches/@s+p+1.0.0+001+first.patch", TITLE + IN_NODE)
    take(empty, empty.folder / "sources/app")
    assert order(empty) == "@s+p+1.0.0+001+first.patch -p4\n@s+p+1.0.0+002+then.patch -p4\n"
    other = put(empty, "app/patches/left-pad+1.3.0.patch", TITLE + IN_NODE)
    message = refuses(empty, other.parent, code=2)
    assert message.endswith("has patches for 2 npm packages: @s/p, left-pad")


def test_a_name_like_patch_packages_alone_says_nothing(empty: Stage) -> None:
    take(empty, put(empty, "p+1.0.0.patch", EDIT_A))
    assert order(empty) == "p+1.0.0.patch\n"


def test_a_branch_of_gbp_pq_gives_its_names(empty: Stage) -> None:
    head = commits(
        empty,
        ({"pkg/a.py": text(l1="x\n")}, "one\n\nWhy.\n\nGbp-Pq: Topic net\nGbp-Pq: Name fix.diff"),
        ({"debian/rules": "x\n"}, "packaging\n\nGbp-Pq: Ignore"),
        ({"pkg/b.py": text(l1="y\n")}, "two"),
    )
    answer = take(empty, "--git", empty.upstream.root, f"main..{head}")
    assert order(empty) == "net/fix.diff\ntwo.patch\n"
    raw = (empty.root / "series/s/net/fix.diff").read_text()
    assert "Gbp" not in raw
    assert "\n\nWhy.\n\nImported-From: " in raw
    assert "Gbp-Pq: Ignore" in answer.err


def stack(stage: Stage, document: str, *, place: str = "stacks/work") -> None:
    """Let upstream have a stack of StGit's, as its releases since 1.0 or before keep it."""
    name = "stack.json" if place.startswith("stacks") else "meta"
    blob = stage.upstream.git("hash-object", "-w", "--stdin", data=document.encode())
    tree = stage.upstream.git("mktree", data=f"100644 blob {blob}\t{name}\n".encode())
    commit = stage.upstream.git("commit-tree", "-m", "stack", tree)
    stage.upstream.git("update-ref", f"refs/{place}", commit)


def test_a_stack_of_stgit_gives_its_applied_patches(empty: Stage) -> None:
    one, two = empty.upstream.git("rev-list", "--reverse", "main..fork").split()
    none = commits(empty, ({}, "nothing"), at="fork")
    hidden = commits(empty, ({"f": "x\n"}, "hidden"))
    document = {
        "applied": ["first", "second.diff", "empty"], "unapplied": ["later"], "hidden": ["old"],
        "patches": {"first": {"oid": one}, "second.diff": {"oid": two}, "empty": {"oid": none},
                    "later": {"oid": hidden}, "old": {"oid": hidden}},
    }  # fmt: skip
    stack(empty, json.dumps(document))
    answer = take(empty, "--stgit", empty.upstream.root, "work")
    assert order(empty) == "first.patch\nsecond.diff\n"
    assert answer.err.splitlines() == [
        "These unapplied patches of the stack were left out: later",
        "These hidden patches of the stack were left out: old",
        "Left out a patch of the stack that changes nothing: empty",
    ]
    built = empty.run("branch", "s", "--json").json
    assert built["commits"] == 2


def test_a_stack_of_an_old_stgit_on_the_branch_that_is_checked_out(empty: Stage) -> None:
    one = empty.upstream.git("rev-parse", "fork~1")
    document = f"Version: 1\nApplied:\n  first: {one}\nUnapplied:\nHidden:\n"
    clone = empty.clone("stacked", empty.fork)
    shadow = Stage(empty.folder, clone, empty.root, empty.base, empty.fork)
    stack(shadow, document, place="heads/work.stgit")
    take(empty, "--stgit", clone.root)
    assert order(empty) == "first.patch\n"
    clone.git("checkout", "--quiet", "--detach")
    assert "no branch checked out" in refuses(empty, "--stgit", clone.root, code=2)
    assert "has no StGit stack" in refuses(empty, "--stgit", clone.root, "main", code=2)
    assert "at most one branch" in refuses(empty, "--stgit", clone.root, "a", "b", code=2)
    line = ("--stgit", clone.root, "--git", clone.root, "a")
    assert "cannot be used together" in refuses(empty, *line, code=2)


@pytest.mark.parametrize("name", ["../../x", "-x", "a b", "..", ".x", "\x1b[2J"])
def test_a_hostile_stack(empty: Stage, name: str) -> None:
    one = empty.upstream.git("rev-parse", "fork~1")
    document = {
        "applied": [name], "unapplied": ["\x1b[2J"], "hidden": [],
        "patches": {name: {"oid": one}, "\x1b[2J": {"oid": one}},
    }  # fmt: skip
    stack(empty, json.dumps(document), place="stacks/hostile")
    is_refused = "/" in name or "\x1b" in name
    answer = take(empty, "--stgit", empty.upstream.root, "hostile", code=int(is_refused))
    assert "\x1b" not in answer.err + answer.out
    assert all(".." not in path for path in picture(empty.root))
    left = [p for p in (empty.root / "series/s").iterdir() if p.name != "series"]
    assert len(left) == (0 if is_refused else 1)
    assert not left or (left[0].name.endswith(".patch") and left[0].name[0] not in "-.")


def test_the_commit_and_date_are_kept(empty: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@1800000000 +0100")
    head = commits(empty, ONE, (TWO[0], "two\n\nWhy.\n\nSigned-off-by: A <a@b>"))
    one = empty.upstream.git("rev-parse", f"{head}~1")
    line = ("--git", empty.upstream.root, f"main..{head}")
    take(empty, *line)
    folder = empty.root / "series/s"
    date = "Commit-Date: 2027-01-15 09:00:00 +0100"
    for name, commit, above in (
        ("one", one, "Subject: one\n\n"),
        ("two", head, "Why.\n\nSigned-off-by: A <a@b>\n"),
    ):
        told = f"{above}Imported-From: {commit}\n{date}\n\ndiff --git"
        assert told in (folder / f"{name}.patch").read_text()
    # Taken from the branch that the series makes, the origin is still the first one.
    empty.run("branch", "s", "--repo", empty.upstream.root, "--name", "ours")
    kept = {name: (folder / name).read_bytes() for name in order(empty).split()}
    (folder / "series").write_text("")
    for name in kept:
        (folder / name).unlink()
    take(empty, "--git", empty.upstream.root, "main..ours")
    assert {name: (folder / name).read_bytes() for name in order(empty).split()} == kept


def test_a_range_that_grew_brings_what_is_new(empty: Stage) -> None:
    head = commits(empty, ONE, TWO)
    clone = ("--git", empty.upstream.root)
    take(empty, *clone, f"main..{head}~1")
    answer = take(empty, *clone, f"main..{head}")
    assert order(empty) == "one.patch\ntwo.patch\n"
    one = empty.upstream.git("rev-parse", f"{head}~1")
    assert f"Left out commit 1 of main..{head}: {one[:12]} is already in one.patch." in answer.err
    again = take(empty, *clone, f"main..{head}", code=2)
    assert "s already has all of these patches" in again.err


def test_a_published_branch_that_grew_brings_what_is_new(empty: Stage) -> None:
    up, head = empty.upstream, commits(empty, ONE, TWO)
    take(empty, "--git", up.root, f"main..{head}")
    empty.run("branch", "s", "--repo", up.root, "--name", "published")
    with up.at("published"):
        plant(up, {"new": "x\n"}, "three")
        grown = up.head()
    take(empty, "--git", up.root, f"main..{grown}")
    assert order(empty) == "one.patch\ntwo.patch\nthree.patch\n"


def test_an_edited_commit_of_the_published_branch_is_not_left_out(empty: Stage) -> None:
    up = empty.upstream
    head = commits(empty, ONE)
    take(empty, "--git", up.root, f"main..{head}")
    empty.run("branch", "s", "--repo", up.root, "--name", "ours")
    with up.at("ours"):
        (up.root / "pkg/a.py").write_text(text(l1="edited\n"))
        up.git("commit", "--quiet", "--all", "--amend", "--no-edit")
        edited = up.head()
    message = refuses(empty, "--git", up.root, f"main..{edited}")
    assert f"and one.patch are both from {head[:12]}, but they differ" in message


@pytest.mark.parametrize("quote", ["", ">"])
def test_a_message_that_looks_like_a_mail(empty: Stage, quote: str) -> None:
    line = f"{quote}From {'1' * 40} Mon Sep 17 00:00:00 2001"
    head = commits(empty, ({"pkg/a.py": text(l1="x\n")}, f"one\n\nWhy.\n\n{line}\n\nmore"))
    empty.run("import", "--git", empty.upstream.root, f"main..{head}", "--series", "s")
    raw = (empty.root / "series/s/one.patch").read_text()
    assert f"\n\nWhy.\n\n{line}\n\nmore\n\nImported-From: {head}\n" in raw
    empty.run("branch", "--repo", empty.upstream.root, "--name", "built")
    assert f"\n{line}\n" in empty.upstream.git("log", "-1", "--format=%B", "built")


def test_a_message_with_a_rule_and_a_diff(empty: Stage) -> None:
    lines = ["", "---", "@@ -1,2 +1,2 @@", "-x", "", "diff --git a/g b/g", "--- a/g", "+++ b/g"]
    text_of = "\n".join([*lines, "", "Signed-off-by: A <a@b>"])
    head = commits(empty, ({"pkg/a.py": text(l1="x\n")}, f"one\n{text_of}"))
    empty.run("import", "--git", empty.upstream.root, f"main..{head}", "--series", "s")
    empty.run("branch", "--repo", empty.upstream.root, "--name", "built")
    built = empty.upstream.git("log", "-1", "--format=%b", "built").splitlines()
    assert [line.removeprefix("> ") for line in built[:9]] == [*lines[1:], "", built[8]]
    assert [at for at, line in enumerate(built[:9]) if line[:2] == "> "] == [0, 1, 4, 5]
    assert built[8] == "Signed-off-by: A <a@b>"


@pytest.mark.parametrize("line", ["From: other <o@x>", "subject: other", "[PATCH] other"])
def test_a_message_that_begins_like_a_mail(empty: Stage, line: str) -> None:
    head = commits(empty, ({"pkg/a.py": text(l1="x\n")}, f"one\n\n{line}\nDate: then"))
    empty.run("import", "--git", empty.upstream.root, f"main..{head}", "--series", "s")
    empty.run("branch", "--repo", empty.upstream.root, "--name", "built")
    form, log = "--format=%an %ad%n%s%n%b", empty.upstream.git
    built = log("log", "-1", form, "built").partition("\nImported-From")[0].rstrip()
    assert built.replace("> ", "") == log("log", "-1", form, head).rstrip()


def test_a_file_that_the_series_no_longer_lists_is_listed_again(empty: Stage) -> None:
    up = empty.upstream
    head = commits(empty, ({"pkg/a.py": text(l1="x\n")}, "one"), ({"pkg/b.py": "y\n"}, "two"))
    folder = empty.root / "series/s"
    take(empty, "--git", up.root, f"main..{head}")
    (folder / "series").write_text("")
    (folder / "two.patch").write_text("notes\n")
    take(empty, "--git", up.root, f"main..{head}")
    assert (folder / "series").read_text() == "one.patch\ntwo-2.patch\n"
    assert (folder / "two.patch").read_text() == "notes\n"


def test_a_patch_without_prefixes_is_read_with_p0(empty: Stage) -> None:
    flat = EDIT_A.replace("a/pkg", "pkg").replace("b/pkg", "pkg")
    answer = take(empty, put(empty, "flat.diff", flat))
    assert order(empty) == "flat.diff -p0\n"
    assert (empty.root / "series/s/flat.diff").read_text() == flat
    assert answer.err == "flat.diff was read with -p0, as its paths require.\n"
    top = "--- new.txt\n+++ new.txt\n@@ -0,0 +1 @@\n+x\n"
    assert "with -p0" in take(empty, put(empty, "top.diff", top)).err
    assert order(empty) == "flat.diff -p0\ntop.diff -p0\n"


def test_a_folder_too_many_is_stripped_where_the_names_ask_for_it(empty: Stage) -> None:
    deep = EDIT_A.replace("a/pkg", "a/a/pkg").replace("b/pkg", "b/b/pkg")
    assert "read with -p2" in take(empty, put(empty, "deep.diff", deep)).err
    assert order(empty) == "deep.diff -p2\n"
    other = EDIT_B.replace("a/pkg", "a/pkg/pkg").replace("b/pkg", "b/pkg/pkg")
    assert "pkg/pkg/b.py: the file does not exist" in refuses(empty, put(empty, "o.diff", other))


def test_a_patch_of_another_form_is_written_anew_and_that_is_said(empty: Stage) -> None:
    raw = "Why.\n\n" + EDIT_A.replace("--- a/pkg", "--- ../pkg-1.0/pkg") + "Only in x: y\n" + EDIT_B
    folder = put(empty, "q/odd", raw).parent
    put(empty, "q/series", "# why\nodd #+sym\n")
    answer = take(empty, folder)
    assert order(empty) == "# why\nodd #+sym\n"
    assert (empty.root / "series/s/odd").read_text() == "Why.\n\n" + EDIT_A + EDIT_B
    assert answer.err == (
        "odd was rewritten without changing its effect: the names of these files were rewritten:"
        " pkg/a.py; text that changes nothing was left out: line 9.\n"
    )
    assert (folder / "odd").read_text() == raw


def test_nothing_is_said_of_a_patch_that_is_refused_in_the_end(empty: Stage) -> None:
    gone = EDIT_A.replace("-line 0", "-gone").replace("a/pkg", "../pkg")
    assert "hunk 1 at line 1" in refuses(empty, put(empty, "gone.diff", gone))


def test_a_file_of_several_mails_in_a_folder_becomes_several_patches(empty: Stage) -> None:
    box = mailbox(EDIT_A, EDIT_B)
    put(empty, "plain/0001-both.patch", "Backport of two.\n\n" + box)
    answer = take(empty, empty.folder / "sources/plain")
    assert answer.err == "0001-both.patch has 2 mails; each becomes a separate patch.\n"
    assert order(empty) == "mail-1.patch\nmail-2.patch\n"
    first, second = ((empty.root / f"series/s/mail-{n}.patch").read_text() for n in (1, 2))
    assert first + second == "Backport of two.\n\n" + box
    assert "mail-1.patch  +1 -1\n    mail 1\n\n    Backport" in empty.run("series", "show", "s").out
    empty.run("undo")
    put(empty, "q/both", box)
    put(empty, "q/series", "both -p1 #+sym\n")
    take(empty, empty.folder / "sources/q")
    assert order(empty) == "mail-1.patch -p1 #+sym\nmail-2.patch -p1 #+sym\n"


def encoded(diff: str, form: str) -> str:
    """Return a mail with a patch, as mail programs send it."""
    head = "From: Ann <ann@x.org>\nDate: Thu, 1 Jan 1970 00:00:01 +0000\n"
    head += "Subject: [PATCH] =?utf-8?q?sch=C3=B6n?=\nMIME-Version: 1.0\n"
    message = email.message.EmailMessage()
    if form == "attached":
        message.set_content("Why.\n")
        message.add_attachment(diff.encode(), "text", "x-patch", filename="a.patch")
    else:
        message.set_content("Schön.\n---\n\n" + diff, cte=form)
    del message["MIME-Version"]
    return head + message.as_string()


@pytest.mark.parametrize("form", ["base64", "quoted-printable", "attached"])
def test_an_encoded_mail_is_decoded_as_git_am_does(empty: Stage, form: str) -> None:
    mail = put(empty, "box.mbox", encoded(EDIT_A, form))
    answer = take(empty, mail)
    assert answer.err == "Decoded box.mbox, as git am does.\n"
    assert order(empty) == "sch-n.patch\n"
    upstream = empty.upstream
    upstream.git("checkout", "--quiet", "--detach", empty.base)
    upstream.git("am", "--quiet", str(mail))
    told = upstream.git("log", "-1", "--format=%an %ae %at %B")
    made = empty.run("branch", "s", "--name", "made", "--repo", upstream.root)
    assert made.code == 0
    assert upstream.git("log", "-1", "--format=%an %ae %at %B", "made") == told
    assert upstream.git("rev-parse", "made^{tree}") == upstream.git("rev-parse", "HEAD^{tree}")
    upstream.git("checkout", "--quiet", "main")


def test_a_byte_order_mark_hides_no_title(empty: Stage) -> None:
    """Below it, `diff --git` was text, and the modes and the rename of that file were lost."""
    title = "diff --git a/pkg/a.py b/pkg/c.py\nold mode 100644\nnew mode 100755\n"
    moved = f"{title}similarity index 100%\nrename from pkg/a.py\nrename to pkg/c.py\n"
    moved += "diff --git a/pkg/b.py b/pkg/b.py\n" + EDIT_B
    answer = take(empty, put(empty, "x.patch", BOM_UTF8 + moved.encode()))
    assert answer.err == "Left out the byte order mark of x.patch, as git am does.\n"
    assert (empty.root / "series/s/x.patch").read_text() == moved


def test_compressed_patches_are_read(empty: Stage) -> None:
    put(empty, "q/a.patch.gz", gzip.compress(EDIT_A.encode()))
    put(empty, "q/b.diff.xz", lzma.compress(EDIT_B.encode()))
    folder = put(empty, "q/series", "a.patch.gz\nb.diff.xz -p1\n").parent
    take(empty, folder)
    assert order(empty) == "a.patch\nb.diff -p1\n"
    assert (empty.root / "series/s/a.patch").read_text() == EDIT_A
    bad = put(empty, "bad.patch.gz", b"\x1f\x8b no")
    assert "bad.patch.gz cannot be decompressed" in refuses(empty, bad)


def test_of_several_places_that_of_git_apply_and_patch_is_written_down(empty: Stage) -> None:
    body = "{\n  x\n}\n"
    text = "".join(f"def {n}\n{body}" for n in range(6))
    base = commits(empty, ({"many.txt": text}, "many"), at=empty.base)
    empty.upstream.git("branch", "many", base)
    empty.run("series", "new", "many", "--upstream", "up", "--base", "upstream/many")
    hunk = "@@ -{},3 +{},3 @@ def\n {{\n-  x\n+  y\n }}\n"
    diff = "--- a/many.txt\n+++ b/many.txt\n" + hunk.format(7, 7) + hunk.format(15, 15)
    source = put(empty, "fix.patch", "Why.\n\n" + diff)
    answer = empty.run("import", source, "--series", "many")
    assert answer.err.startswith("fix.patch has hunks that fit in several places")
    wanted = "Why.\n\n" + diff.replace("-7,3 +7,3", "-6,3 +6,3").replace("-15,3 +15", "-14,3 +14")
    assert (empty.root / "series/many/fix.patch").read_text() == wanted
    empty.upstream.git("checkout", "--quiet", base)
    empty.upstream.git("apply", str(source))
    by_git = empty.upstream.git("hash-object", "many.txt")
    empty.upstream.git("checkout", "--quiet", "--force", "main")
    empty.run("branch", "many", "--name", "made", "--repo", empty.upstream.root)
    assert empty.upstream.git("rev-parse", "made:many.txt") == by_git
    apart = diff.replace("-7,3 +7,3", "-7,3 +19,3")
    refused = empty.run("import", put(empty, "apart.patch", apart), "--series", "many", code=1)
    assert "its lines occur" in refused.err


def test_all_patches_that_do_not_apply_are_named_and_can_be_left_out(empty: Stage) -> None:
    put(empty, "q/gone.patch", EDIT_A.replace("a.py", "gone.py"))
    put(empty, "q/a.patch", EDIT_A)
    put(empty, "q/again.patch", EDIT_A)
    folder = put(empty, "q/series", "gone.patch\na.patch\nagain.patch\n").parent
    answer = take(empty, folder, code=1)
    assert answer.err == (
        "patchmgr: gone.patch does not apply: pkg/gone.py: the file does not exist\n"
        "  hint: check that the series is written against its pin, and that no earlier patch is"
        " missing\n"
        "  hint: these do not apply either:\n"
        "  hint:   again.patch: pkg/a.py: hunk 1 at line 1: its lines were not found\n"
        "  hint: to import the others: --without NAME (repeatable)\n"
    )
    take(empty, "--without", "gone.patch", "--without", "again.patch", folder)
    assert order(empty) == "a.patch\n"
    assert "have no patch other" in refuses(empty, "--without", "other", folder, code=2)


def test_empty_files_of_a_folder_are_left_out(empty: Stage) -> None:
    put(empty, "q/none.patch", "\ufeff\n")
    folder = put(empty, "q/a.patch", EDIT_A).parent
    answer = take(empty, folder)
    assert answer.err == "Left out none.patch, which is empty.\n"
    assert order(empty) == "a.patch\n"
    empty.run("undo")
    put(empty, "q/series", "none.patch\na.patch -p1\n")
    assert take(empty, folder).err == answer.err
    assert order(empty) == "a.patch -p1\n"
    named = refuses(empty, folder / "a.patch", folder / "none.patch", code=2)
    assert named == f"{folder}/none.patch is empty"
    put(empty, "q/series", "none.patch\n")
    said = empty.run("import", folder, "--series", "s", code=2).err
    assert said.startswith("patchmgr: the named sources have no patches\n")
    assert answer.err in said


def test_a_refusal_says_what_to_do_next(empty: Stage) -> None:
    wrong = take(empty, put(empty, "x.diff", EDIT_A.replace("-1,2", "-1,9")), code=1)
    assert "hint: if `patch` applies it to a checkout of the pin, import the output of" in wrong.err
    fuzzy = take(empty, put(empty, "x.diff", EDIT_A.replace(" line 1", " line one")), code=1)
    hint = "hint: if `patch` applies it with fuzz: commit the result, then patchmgr import --git"
    assert hint in fuzzy.err


def test_patches_that_are_left_out_of_a_folder_are_named(empty: Stage) -> None:
    put(empty, "q/a.patch", EDIT_A)
    put(empty, "q/old/b.patch", EDIT_B)
    put(empty, "q/README", "text")
    folder = put(empty, "q/docs/text", "text").parents[1]
    assert take(empty, "--dry-run", folder).err == "Left out these folders of patches: old\n"
    put(empty, "q/c.diff", EDIT_B)
    put(empty, "q/series", "a.patch\n# old/b.patch\n")
    unlisted = "Left out, because the series file does not list them: c.diff\n"
    assert take(empty, folder).err == unlisted
