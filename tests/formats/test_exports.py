"""What each form keeps, how it writes the rest, and what it refuses."""

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.exports import FORMS, DiffShape, ExportedFile, ExportItem, Pinned
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import parse_series
from patchmgr.model.patch import Author
from tests.tables import table

ANN = Author("Ann, \u00dc.", "ann@example.org", "1767242523 -0330")
MAIL = (
    f"From {'0' * 40} Mon Sep 17 00:00:00 2001\nFrom: Joe <joe@example.org>\n"
    "Date: Thu, 14 May 2026 21:22:37 +0200\nSubject: area: it\n\nWhy.\n\n"
)
EDIT = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
FLAT = "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n"
MOVE = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
MODE = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
MODE_TOO = MODE + "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
LINK = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n"
BINARY = (
    f"diff --git a/b b/b\nnew file mode 100644\nindex {'0' * 40}.."
    "f76dd238ade08917e6712764a16a22005a50573d\n"
    "GIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n"
)
DEEP = EDIT.replace("a/x", "a/node_modules/p/x").replace("b/x", "b/node_modules/p/x")
FREE = "Say what.\n\nFrom: Joe <joe@example.org>\n\nWhy.\n---\n\n"
DEP3 = "Description: it\nAuthor: Joe <joe@example.org>\n\n"


def item(line: str, text: str) -> ExportItem:
    read = parse_series(f"{line}\n".encode()).lines[0]
    assert read.name is not None
    return ExportItem(parse_patch(text.encode(), name=read.name, strip=read.strip), read, ANN)


def pinned(*items: ExportItem, ref: str = "v1.2.3", package: str | None = None) -> Pinned:
    return Pinned("c" * 40, ref, tuple(i.line for i in items), package)


KEPT = [
    ("quilt", "a.patch", EDIT, True),
    ("quilt", "a.patch -p0", FLAT, True),
    ("mbox", "a.patch", MAIL + EDIT, True),
    ("mbox", "a.patch", EDIT, False),
    ("mbox", "a.patch -p0", MAIL + FLAT, False),
    ("git", "a.patch", MAIL + EDIT + "-- \n2.39\n", True),
    ("git", "a.patch", FREE + EDIT, False),
    ("git", "a.patch -p0", MAIL + FLAT, False),
    ("gbp", "a.patch", MAIL + EDIT, True),
    ("gbp", "a.patch", DEP3 + EDIT, True),
    ("gbp", "a.patch", EDIT, False),
    ("gbp", "a.patch", MAIL + MOVE, False),
    ("gbp", "a.patch -p0", DEP3 + FLAT, False),
    ("stgit", "a", FREE + EDIT, True),
    ("stgit", "a -p0", FLAT, True),
    ("stgit", "a", MAIL + EDIT, False),
    ("stgit", "a -p2", FLAT.replace(" x", " a/b/x"), False),
    ("patch-package", "p+1.0.0.patch -p3", DEEP, True),
    ("patch-package", "p+1.0.0.patch", EDIT, False),
    ("patch-package", "a.patch -p3", DEEP, False),
    ("diff", "a.diff", EDIT, True),
    ("diff", "a.diff", "\n" + EDIT, True),
    ("diff", "a.diff", "text\n\n" + EDIT, False),
    ("diff", "a.diff -p0", FLAT, False),
    ("yocto", "a.patch", MAIL + EDIT, False),
    ("yocto", "a.patch", MAIL.replace("Why.", "Upstream-Status: Pending [why]") + EDIT, True),
    ("suse", "a.patch", MAIL.replace("Why.", "Patch-mainline: Never, ours") + EDIT, True),
    ("suse", "a.patch", MAIL + EDIT, False),
]


@table(("form", "line", "text", "is_kept"), KEPT)
def test_what_a_form_keeps(form: str, line: str, text: str, is_kept: bool) -> None:
    one = item(line, text)
    assert FORMS[form].kept((one,), pinned(one)) == (is_kept,)


def test_a_diff_of_two_patches_is_none_of_them() -> None:
    two = (item("a.diff", EDIT), item("b.diff", EDIT.replace("x", "y")))
    assert FORMS["diff"].kept(two, pinned(*two)) == (False, False)


def test_patches_of_two_packages_are_written_anew() -> None:
    two = (item("p+1.0.0.patch -p3", DEEP), item("p+2.0.0.patch -p3", DEEP))
    assert FORMS["patch-package"].kept(two, pinned(*two)) == (False, False)
    one = two[:1]
    form = FORMS["patch-package"]
    assert form.kept(one, pinned(*one, package="p@1.0.0")) == (True,)
    assert form.kept(one, pinned(*one, package="p@2.0.0")) == (False,)


LINES = ["# why", "a.patch", "", "b.patch -p0 #+sym  # note", "c.patch # said"]


@table("form", ["quilt", "gbp", "stgit"])
def test_series_files_keep_comments_and_lose_what_does_not_leave(form: str) -> None:
    series = parse_series("".join(f"{line}\n" for line in LINES).encode())
    one, two = item("a.patch", MAIL + EDIT), item("b.patch -p0", FLAT)
    said = Pinned("c" * 40, "v1", series.lines)
    exported_files = (ExportedFile(one, one.patch.raw), ExportedFile(two, b"rewritten"))
    files = FORMS[form].files(exported_files, said)
    assert files["a.patch"] == one.patch.raw
    assert files["b.patch"] == b"rewritten"
    base = f"# This series applies on GIT commit {'c' * 40}\n" if form == "stgit" else ""
    wanted = f"{base}# why\na.patch\n\nb.patch #+sym  # note\n"
    assert files["series"].decode() == wanted


def test_the_base_of_a_stack_is_the_pin() -> None:
    old = f"# This series applies on GIT commit {'a' * 40}\n"
    one = item("a", FREE + EDIT)
    said = Pinned("c" * 40, "v1", (*parse_series(old.encode()).lines, one.line))
    files = FORMS["stgit"].files((ExportedFile(one, one.patch.raw),), said)
    assert files["series"].decode() == old.replace("a" * 40, "c" * 40) + "a\n"


def test_a_patch_in_stgits_words() -> None:
    one = item("a", MAIL + EDIT)
    written = FORMS["stgit"].rewritten(one, b"diff\n", pinned(one)).decode()
    assert written == (
        'area: it\n\nFrom: "Ann, \u00dc." <ann@example.org>\n'
        "Date: Thu, 1 Jan 2026 01:12:03 -0330\n\nWhy.\n\n---\n\ndiff\n"
    )
    bare = FORMS["stgit"].rewritten(item("b.patch", EDIT), b"diff\n", pinned()).decode()
    assert bare.startswith("b\n\nFrom: ")
    assert "\n\n\n" not in bare


def test_numbered_mails_sort() -> None:
    names = ["0042-old.patch", "sub/b.diff", "c", "0001-.patch"]
    exported_files = [ExportedFile(item(name, EDIT), b"") for name in names]
    assert list(FORMS["git"].files(exported_files, pinned())) == [
        "0001-old.patch", "0002-b.patch", "0003-c.patch", "0004-patch.patch",
    ]  # fmt: skip


def test_files_of_patch_package() -> None:
    form = FORMS["patch-package"]
    one = ExportedFile(item("sub/a b.patch".replace(" ", "+"), EDIT), b"new")
    two = ExportedFile(item("q+0.1.0+003+why.patch", EDIT), b"new")
    said = pinned(package="@s/p")
    assert list(form.files((one,), said)) == ["@s+p+1.2.3.patch"]
    names = ["@s+p+1.2.3+001+a-b.patch", "@s+p+1.2.3+002+why.patch"]
    assert list(form.files((one, two), said)) == names
    assert form.shape(said) == DiffShape(finds_renames=False, folder="node_modules/@s/p")


def test_a_header_has_nothing_that_patch_package_takes_for_a_diff() -> None:
    text = MAIL + "@@ here\nindex of things\n" + EDIT
    other = item("a.patch", text.replace("@@ here\n", "x @@ here\n"))
    written = FORMS["patch-package"].rewritten(other, b"diff\n", pinned())
    assert b"\nx @@ here\n index of things\n" in written


REFUSED = [
    ("gbp", BINARY, None, "not-exportable", "binary file b"),
    ("patch-package", BINARY, "p@1.0.0", "not-exportable", "binary file b"),
    ("patch-package", LINK, "p@1.0.0", "not-exportable", "link l"),
    ("patch-package", EDIT, None, "usage", "needs the name and version"),
    ("patch-package", EDIT, "p", "usage", "is not a version"),
    ("patch-package", EDIT, "../p@1.0.0", "usage", "is not an npm package"),
    ("patch-package", EDIT, "p@1", "usage", "is not an npm package"),
    ("patch-package", EDIT, "@1.0.0", "usage", "is not "),
    ("patch-package", EDIT, "", "usage", "is not "),
]


@table(("form", "text", "package", "kind", "words"), REFUSED)
def test_what_is_refused(form: str, text: str, package: str | None, kind: str, words: str) -> None:
    one = item("a.patch", text)
    said = pinned(one, ref="upstream/main", package=package)
    with pytest.raises(PatchmgrError, match=words) as caught:
        FORMS[form].check((one,), said)
    assert caught.value.kind == kind


def test_patch_package_refuses_bytes_that_it_would_spoil() -> None:
    read = parse_series(b"a.patch\n").lines[0]
    patch = parse_patch(EDIT.encode().replace(b"+b", b"+\xe9"), name="a.patch")
    with pytest.raises(PatchmgrError, match="not UTF-8"):
        FORMS["patch-package"].check((ExportItem(patch, read, ANN),), pinned(package="p@1.0.0"))


@table("form", ["quilt", "mbox", "git", "stgit", "diff"])
@table("text", [BINARY, LINK, MODE, MOVE])
def test_other_forms_take_everything(form: str, text: str) -> None:
    one = item("a.patch", text)
    FORMS[form].check((one,), pinned(one))


LOSSES = [
    ("quilt", "a.patch", EDIT, ()),
    ("quilt", "a.patch #+sym", EDIT, ("has guards",)),
    ("quilt", "a.patch", BINARY, ("has a binary file",)),
    ("gbp", "a.patch", EDIT, ()),
    ("gbp", "a.patch", MOVE, ()),
    ("gbp", "a.patch", MODE, ("changes more than the lines of x",)),
    ("gbp", "a.patch", MODE_TOO, ("changes more than the lines of x",)),
    ("mbox", "a.patch", BINARY, ()),
    ("yocto", "a.patch", MAIL.replace("Why.", "Upstream-Status: Denied") + EDIT, ()),
    ("yocto", "a.patch", MAIL.replace("Why.", "Upstream-Status: Inappropriate") + EDIT,
        ("may be rejected: Upstream-Status is Inappropriate without a reason",)),
]  # fmt: skip


@table(("form", "line", "text", "words"), LOSSES)
def test_what_readers_pass_over(form: str, line: str, text: str, words: tuple[str, ...]) -> None:
    one = item(line, text)
    found = FORMS[form].losses(ExportedFile(one, one.patch.raw))
    assert len(found) == len(words)
    assert all(clause.startswith(word) for clause, word in zip(found, words, strict=True))
