"""`drop`, `move`, `fold`, `split`: patches go, change places, become one or two."""

import subprocess
import sys

import pytest

from tests.commands.desks import Hands, hands, made
from tests.commands.scenes import Stage, changed, one_line, picture, text, work_tree
from tests.commands.test_refreshing import diff_of
from tests.long import crossed
from tests.tables import table

ONE = text(l10="one\n")
TWO = text(l10="one\n", l40="two\n")
FOUR = text(l10="one\n", l11="four\n", l40="two\n")


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk with four patches: two and three go their own way, four stands on one."""
    three = {"new": "three\n", "pkg/b.py": text(l5="three\n", l50="more\n")}
    files = {"one": {"pkg/a.py": ONE}, "two": {"pkg/a.py": TWO}, "three": three}
    return made(stage, "arranging", {**files, "four": {"pkg/a.py": FOUR}}, first="Why one.")


def proved(desk: Hands, tree: str) -> None:
    """Assert that the series as it is makes a tree, from the pin up."""
    desk.run("goto", "0")
    desk.run("push", "-a")
    assert work_tree(desk.checkout) == tree


def test_a_branch_of_one_patch_has_what_it_needs(desk: Hands) -> None:
    done = desk.run("branch", "w", "--only", "four", "--name", "upstream-this", "--json")
    assert done.json["commits"] == 2
    assert done.err == "Including one.patch, which four.patch needs for pkg/a.py\n"
    assert desk.run("branch", "w", "--only", "three", "--name", "b", "--json").json["commits"] == 1
    both = desk.run("branch", "w", "--only", "four", "--without", "four", "--name", "c", code=2)
    assert "--only and --without leave no patch" in both.err
    refused = desk.run("branch", "w", "--only", "four", "--without", "one", "--name", "c", code=3)
    assert "four.patch does not apply" in refused.err


def test_the_graph_says_which_patch_needs_which(desk: Hands) -> None:
    listed = "one.patch\ntwo.patch\nthree.patch\nfour.patch\n  needs one.patch  (pkg/a.py)\n"
    assert desk.run("series", "graph", "w").out == listed
    assert desk.run("series", "graph", "w", "--format", "mermaid").out == (
        'flowchart BT\n  p1["one.patch"]\n  p2["two.patch"]\n  p3["three.patch"]\n'
        '  p4["four.patch"]\n  p4 -->|"pkg/a.py"| p1\n'
    )
    found = desk.run("series", "graph", "w", "--json").json
    assert found["patches"][3] == {
        "name": "four.patch",
        "needs": [{"patch": "one.patch", "path": "pkg/a.py", "symbol": None}],
    }
    refused = desk.run("series", "graph", "w", "--format", "svg", code=2).err
    assert refused.startswith("patchmgr: --format")


@pytest.mark.parametrize(
    ("line", "order", "goes"),
    crossed(
        [
            (("three", "--before", "one"), "three one two four"),
            (("one", "--after", "three"), "two three one four"),
            (("4", "--before", "3"), "one two four three"),
            (("two", "--after", "four"), "one three four two"),
            (("two", "--before", "1"), "two one three four"),
        ],
        ["one", "four"],
    ),
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_patches_change_places(desk: Hands, line: tuple[str, ...], order: str, goes: str) -> None:
    tree = work_tree(desk.checkout)
    desk.run("goto", goes)
    was = set(desk.applied())
    desk.run("move", *line)
    assert desk.order() == [f"{name}.patch" for name in order.split()]
    now = desk.applied()
    assert now == desk.order()[: len(now)]
    moved = {"1": "one", "3": "three", "4": "four"}.get(line[0], line[0]) + ".patch"
    assert set(now) - {moved} == was - {moved}
    proved(desk, tree)


@table(
    ("line", "code", "message"),
    [
        (("move", "one"), 2, "give the new position: --before PATCH or --after PATCH"),
        (("move", "four", "--before", "one"), 1, "four.patch depends on one.patch: {how}"),
        (("move", "one", "--after", "four"), 1, "four.patch depends on one.patch: {how}"),
        (("move", "one", "--after", "1"), 2, "one.patch cannot be moved next to itself"),
        (("drop", "nine"), 2, "there is no patch nine"),
        (("drop", "one"), 1, "four.patch depends on one.patch: {how}"),
        (("fold", "four"), 2, "name other patches to fold into four.patch"),
        (("fold",), 2, "name other patches to fold into four.patch"),
        (("fold", "two", "--diff", "x"), 2, "name the patches to fold, or a diff with --diff"),
        (("fold", "--diff", "nowhere"), 2, "nowhere cannot be read: No such file or directory"),
        (("split", "three", "x"), 2, "nothing to split: none of three.patch was chosen"),
        (("split", "three", "x", "--file", "nine"), 2, "three.patch does not touch nine"),
        (("split", "three", "x", "--hunk", "new"), 2, "new is not written as PATH:N or PATH:N,N"),
        (
            ("split", "three", "x", "--hunk", "pkg/b.py:3"), 2,
            "pkg/b.py has hunks 1 to 2 in three.patch",
        ),
        (
            ("split", "three", "one", "--file", "new"), 1,
            "the series already has a patch one.patch",
        ),
        (
            ("split", "three", "x", "--file", "new", "--file", "pkg"), 2,
            "nothing to split: all of three.patch was chosen",
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)  # fmt: skip
def test_what_is_refused(desk: Hands, line: tuple[str, ...], code: int, message: str) -> None:
    before = desk.look()
    how = "pkg/a.py: both change the same lines of the file"
    assert one_line(desk.run(*line, code=code)) == message.format(how=how)
    assert desk.look() == before


@pytest.mark.parametrize("goes", ["0", "two", "four"])
def test_a_dropped_patch_goes_with_its_effect(desk: Hands, goes: str) -> None:
    desk.run("goto", goes)
    desk.run("drop", "two", "three")
    assert desk.order() == ["one.patch", "four.patch"]
    assert not (desk.folder / "two.patch").exists()
    assert set(desk.applied()) == {"0": set(), "two": {"one.patch"}}.get(goes, set(desk.order()))
    desk.run("push", "-a", code=1 if goes == "four" else 0)
    assert desk.text("pkg/a.py") == text(l10="one\n", l11="four\n")
    assert not (desk.root / "new").exists()
    assert desk.text("pkg/b.py") == text()


def test_a_patch_that_nothing_can_prove_is_dropped_while_it_is_hidden(desk: Hands) -> None:
    desk.run("pop")
    desk.stage.run("series", "guard", "four", "+sym", "--series", "w")
    broken = desk.raw("four.patch").replace(b" line 9\n", b" line nine\n")
    (desk.folder / "four.patch").write_bytes(broken)
    desk.run("drop", "four")
    assert desk.order() == ["one.patch", "two.patch", "three.patch"]


@pytest.mark.parametrize(
    ("others", "into", "order", "goes"),
    crossed(
        [
            (("two",), "one", "one three four"),
            (("four",), "one", "one two three"),
            (("one",), "four", "two three four"),
            (("three", "four"), "two", "one two"),
        ],
        ["0", "two", "four"],
    ),
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_patches_become_one(
    desk: Hands, others: tuple[str, ...], into: str, order: str, goes: str
) -> None:
    tree = work_tree(desk.checkout)
    subjects = [f"\n{name}\n".encode() for name in others]
    desk.run("goto", goes)
    desk.run("fold", *others, "--into", into)
    assert desk.order() == [f"{name}.patch" for name in order.split()]
    raw = desk.raw(f"{into}.patch")
    assert [raw.index(subject) for subject in subjects]
    now = desk.applied()
    assert now == desk.order()[: len(now)]
    proved(desk, tree)


def test_a_series_with_a_patch_that_does_not_apply_is_arranged_up_to_it(desk: Hands) -> None:
    desk.run("goto", "two")
    broken = desk.folder / "four.patch"
    broken.write_bytes(broken.read_bytes().replace(b" line 9\n", b" line nine\n"))
    desk.run("move", "two", "--before", "one")
    desk.run("split", "three", "x", "--file", "new")
    desk.run("fold", "x", "--into", "three")
    for line in (("move", "four", "--before", "three"), ("fold", "four"), ("split", "4", "y")):
        part = ("--file", "pkg") if line[0] == "split" else ()
        assert "four.patch does not apply" in one_line(desk.run(*line, *part, code=1))
    desk.run("drop", "four")
    assert desk.order() == ["two.patch", "one.patch", "three.patch"]


def test_a_folded_patch_keeps_both_texts_and_one_author(desk: Hands) -> None:
    desk.run("edit", "two", "-m", "Why two: größer.", "--author", "B <b@example.org>")
    desk.run("fold", "two", "--into", "one")
    raw = desk.raw("one.patch").decode()
    text_ = "\n\nWhy one.\n\ntwo\n\nWhy two: größer.\n\ndiff --git "
    assert text_ in raw
    assert "Content-Type: text/plain; charset=UTF-8\n" in raw
    assert "b@example.org" not in raw
    assert diff_of(desk.raw("one.patch")) == [b"-line 10", b"+one", b"-line 40", b"+two"]


@pytest.mark.parametrize(("into", "strip"), [("four", 1), ("two", 1), ("three", 0)])
def test_a_diff_becomes_a_part_of_a_patch(desk: Hands, into: str, strip: int) -> None:
    before = picture(desk.root)
    names = ("a/pkg/b.py", "b/pkg/b.py") if strip else ("pkg/b.py.orig", "pkg/b.py")
    hunk = "@@ -20,3 +20,3 @@\n line 19\n-line 20\n+folded\n line 21\n"
    diff = desk.stage.folder / "x.diff"
    diff.write_text(f"Some words.\n\n--- {names[0]}\n+++ {names[1]}\n{hunk}")
    desk.run("fold", "--diff", diff, "--into", into, "-p", str(strip))
    assert changed(before, picture(desk.root)) == {"pkg/b.py"}
    assert b"-line 20\n+folded\n" in desk.raw(f"{into}.patch")
    assert b"Some words." not in desk.raw(f"{into}.patch")
    proved(desk, work_tree(desk.checkout))
    assert "does not apply" in one_line(desk.run("fold", "--diff", diff, "-p", str(strip), code=1))


def test_a_fold_leaves_patches_alone_that_are_not_pushed(desk: Hands) -> None:
    desk.run("goto", "two")
    before = desk.raw("three.patch")
    desk.run("fold", "--diff", desk.folder / "three.patch")
    assert desk.raw("three.patch") == before
    assert b"+three\n" in desk.raw("two.patch")


def test_a_diff_that_a_pushed_patch_has_is_not_folded_in_below_it(desk: Hands) -> None:
    before = desk.look()
    refused = desk.run("fold", "--diff", desk.folder / "three.patch", "--into", "two", code=1)
    assert "three.patch would become empty" in refused.err
    assert "patchmgr drop three.patch" in refused.err
    assert desk.look() == before


def test_a_diff_of_standard_input_has_the_paths_of_the_current_folder(desk: Hands) -> None:
    diff = b"--- a/b.py\n+++ b/b.py\n@@ -20,3 +20,3 @@\n line 19\n-line 20\n+folded\n line 21\n"
    done = subprocess.run(
        [sys.executable, "-m", "patchmgr", "fold", "--diff", "-"],
        input=diff, cwd=desk.root / "pkg", check=True, capture_output=True,
    )  # fmt: skip
    assert done.stdout.startswith(b"Rewrote four.patch\n")
    assert b"+++ b/pkg/b.py\n" in desk.raw("four.patch")
    assert "folded\n" in desk.text("pkg/b.py")


@pytest.mark.parametrize(
    ("part", "first", "second", "goes"),
    crossed(
        [
            (("--file", "new"), [b"-line 5", b"+three", b"-line 50", b"+more"], [b"+three"]),
            (("--file", "pkg"), [b"+three"], [b"-line 5", b"+three", b"-line 50", b"+more"]),
            (("--hunk", "pkg/b.py:2"), [b"+three", b"-line 5", b"+three"], [b"-line 50", b"+more"]),
            (
                ("--hunk", "pkg/b.py:1", "--file", "new"),
                [b"-line 50", b"+more"],
                [b"+three", b"-line 5", b"+three"],
            ),
        ],
        ["0", "four"],
    ),
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_a_part_becomes_a_patch_of_its_own(
    desk: Hands, part: tuple[str, ...], first: list[bytes], second: list[bytes], goes: str
) -> None:
    tree = work_tree(desk.checkout)
    desk.run("goto", goes)
    count = len(desk.applied())
    desk.run("split", "three", "part", *part, "-m", "Why.")
    names = ["one", "two", "three", "part", "four"]
    assert desk.order() == [f"{name}.patch" for name in names]
    assert len(desk.applied()) == count + (goes != "0")
    assert diff_of(desk.raw("three.patch")) == first
    assert diff_of(desk.raw("part.patch")) == second
    assert b"\nSubject: three (split)\n\nWhy.\n\ndiff" in desk.raw("part.patch")
    proved(desk, tree)
    desk.run("fold", "part", "--into", "three")
    proved(desk, tree)


def test_hunks_of_a_moved_file_are_split_as_a_file_only(stage: Stage) -> None:
    desk = hands(stage, name="w")
    desk.run("new", "one")
    (desk.root / "pkg/a.py").rename(desk.root / "pkg/m.py")
    desk.write({"pkg/m.py": text(l3="x\n", l40="y\n"), "z": "z\n"})
    desk.run("refresh", ".")
    message = one_line(desk.run("split", "one", "two", "--hunk", "pkg/m.py:1", code=2))
    assert message.startswith("pkg/m.py is added, moved, copied or deleted")
    desk.run("split", "one", "two", "--file", "pkg/m.py")
    assert b"rename from pkg/a.py" in desk.raw("two.patch")


def test_a_split_patch_stays_where_its_whole_would_be(desk: Hands) -> None:
    desk.run("edit", "three", "--field", "Needed-When=path pkg")
    desk.run("series", "guard", "--series", "w", "three", "#-sym")
    desk.run("split", "three", "five", "--file", "new")
    assert "five.patch  #-sym\n" in desk.run("applied").out
    assert desk.run("show", "five", "--json").json["fields"]["Needed-When"] == "path pkg"
    told = one_line(desk.run("fold", "five", "--into", "two", code=2))
    assert told == "five.patch and two.patch have different guards, groups or conditions"
    desk.run("fold", "five", "--into", "three")


def test_git_am_takes_what_was_exported_below_an_insertion(stage: Stage) -> None:
    """git looks nowhere else for a hunk that its header puts at the start of a file."""
    desk = hands(stage, name="w")
    desk.patch("one", {"pkg/b.py": text(l40="one\n")})
    desk.patch("two", {"pkg/b.py": text(l3="two\n", l40="one\n")})
    desk.run("goto", "one")
    desk.write({"pkg/b.py": "import os\n" + text(l40="one\n")})
    desk.run("refresh")
    desk.run("push")
    desk.run("new", "nothing")
    built = desk.run("branch", "w", "--repo", stage.upstream.root, "--json").json
    tree = stage.upstream.tree(built["head"])
    for form in ("git", "mbox"):
        place = stage.folder / f"exported-{form}"
        told = desk.run("export", "w", "--as", form, "--out", place).err
        assert told.startswith("warning: nothing.patch has no changes, and `git am` stops at it")
        mails = sorted(place.glob("*.patch")) if form == "git" else [place]
        clone = stage.clone(form)
        clone.git("am", "--quiet", "--keep-cr", "--empty=keep", *map(str, mails))
        assert clone.tree("HEAD") == tree


def test_what_upstream_has_by_now_is_split_off(stage: Stage) -> None:
    """The verdict of a rebase says which hunks go."""
    desk = hands(stage, name="w")
    desk.patch("one", {"pkg/a.py": text(l2="theirs\n", l40="ours\n")})
    later = stage.upstream.git("rev-parse", "later")
    desk.run("pop")
    desk.run("series", "guard", "--series", "w", "one", "+sym")
    hidden = desk.run("split", "one", "landed", "--absorbed", later, code=1).err
    desk.run(*hidden.partition("first: patchmgr ")[2].replace("SYM", "sym").split())
    desk.run("split", "one", "landed", "--absorbed", later)
    assert diff_of(desk.raw("one.patch")) == [b"-line 40", b"+ours"]
    assert diff_of(desk.raw("landed.patch")) == [b"-line 2", b"+theirs"]
    message = one_line(desk.run("split", "one", "more", "--absorbed", later, code=2))
    assert message == f"upstream at {later} contains no hunk of one.patch"


def test_comments_and_guards_stay_with_their_lines(desk: Hands) -> None:
    lines = "# top\none.patch\n# about two\ntwo.patch #-sym # why\n\nthree.patch\nfour.patch"
    (desk.folder / "series").write_text(lines)
    desk.run("move", "two", "--after", "three")
    moved = "# top\none.patch\n# about two\nthree.patch\n\ntwo.patch #-sym # why\nfour.patch"
    assert (desk.folder / "series").read_text() == moved
    desk.run("drop", "three")
    assert (desk.folder / "series").read_text() == moved.replace("three.patch\n", "")


def test_a_series_without_a_checkout_is_arranged_all_the_same(stage: Stage) -> None:
    stage.run("move", "fork-two", "--before", "fork-one", "--series", "s")
    stage.run("split", "fork-one", "part", "--file", "pkg", "--series", "s")
    names = (stage.root / "series/s/series").read_text().split()
    assert names == ["fork-two.patch", "fork-one.patch", "part.patch"]
    checkout = stage.clone()
    stage.run("apply", "s", "--to", checkout.root)
    assert work_tree(checkout) == stage.upstream.tree("fork")
