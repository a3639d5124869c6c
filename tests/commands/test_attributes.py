"""A checkout is as git would have it: line ends, encodings, idents as upstream's attributes say."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import SCENE, Answer, Scene, checked
from tests.commands.scenes import one_line, picture
from tests.conftest import Repository, once
from tests.long import LONG

TEXT = "".join(f"line {number} ü\n" for number in range(9))


@dataclass(frozen=True)
class Case:
    """What upstream, or the user, says of a file; `encoding` and `ends` are those on disk."""

    attributes: str = ""
    setting: str = ""
    encoding: str = "utf-8"
    ends: str = "\r\n"
    text: str = TEXT

    def on_disk(self, text: str) -> bytes:
        """Return a text as git checks it out."""
        return text.replace("\r", "").replace("\n", self.ends).encode(self.encoding)


CASES = {
    "eol": Case("*.x text eol=crlf\n"),
    "auto": Case("* text=auto\n", "core.autocrlf=true"),
    "encoding": Case("*.x text working-tree-encoding=UTF-16LE eol=crlf\n", encoding="utf-16-le"),
    "ident": Case("*.x ident\n", ends="\n", text="$Id$\n" + TEXT),
    "user": Case("", "core.autocrlf=true"),
    "none": Case("", ends="\n"),
    "CRLF in git": Case("* text=auto\n", text=TEXT.replace("\n", "\r\n")),
}


@dataclass(frozen=True)
class Place:
    """A checkout of an upstream whose file `f.x` is a case's, and a series without patches."""

    scene: Scene
    case: Case
    checkout: Repository

    def run(self, *arguments: str | Path, code: int = 0) -> Answer:
        """Run a command on the checkout, and check its exit code."""
        return checked("-C", self.scene.root, *arguments, code=code, at=self.checkout.root)

    def edit(self, old: str, new: str) -> None:
        """Edit `f.x` as an editor does that keeps the encoding and the line ends."""
        place = self.checkout.root / "f.x"
        raw, (was, now) = place.read_bytes(), map(self.case.on_disk, (old, new))
        assert was in raw
        place.write_bytes(raw.replace(was, now))

    def patch(self, name: str, old: str, new: str) -> bytes:
        """Make a patch of an edit, and return its diff."""
        self.run("new", name)
        self.edit(old, new)
        self.run("refresh")
        raw = (self.scene.root / f"series/s/{name}.patch").read_bytes()
        return raw[raw.index(b"diff --git") :]

    def diff(self) -> bytes:
        """Return git's own diff of the checkout."""
        line = ["git", "diff", "--full-index"]
        return subprocess.run(line, cwd=self.checkout.root, capture_output=True, check=True).stdout

    def content(self) -> bytes:
        """Return `f.x` without what git writes into `$Id$` when it checks a file out."""
        return re.sub(rb"\$Id: \w+ \$", b"$Id$", (self.checkout.root / "f.x").read_bytes())

    def status(self) -> str:
        """Return git's own status of the checkout."""
        return self.checkout.git("status", "--porcelain")


def begin(scene: Scene, case: Case) -> Place:
    scene.upstream.commit({"f.x": case.text}, "file")
    (scene.upstream.root / ".gitattributes").write_text(case.attributes)
    scene.upstream.git("add", ".gitattributes")
    scene.upstream.git("commit", "--quiet", "-m", "attributes")
    base = scene.upstream.head()
    scene.call("series", "new", "s", "--upstream", "up", "--base", base)
    return Place(scene, case, clone_of(scene, case))


def clone_of(scene: Scene, case: Case, name: str = "checkout") -> Repository:
    settings = ["-c", case.setting] if case.setting else []
    scene.upstream.git("clone", "--quiet", *settings, ".", str(scene.root.parent / name))
    return Repository(scene.root.parent / name)


# `auto` and `user` differ in upstream's attributes alone, `encoding` has the line ends of `eol`.
FEW = ["encoding", "ident", "user", "CRLF in git"]


@pytest.fixture(params=CASES if LONG else FEW)
def place(request: Any, scene: Scene) -> Place:
    """Return a place for each case, with the pushed patch `one`, which says what git says."""
    case, root = CASES[request.param], scene.root.parent

    def make() -> None:
        made = begin(scene, case)
        assert made.status() == ""
        made.run("goto", "0", "--to", made.checkout.root)
        assert made.patch("one", "line 2 ü\n", "line two\n") == made.diff()

    once(f"attributes {request.param}", root, (*SCENE, "checkout"), make)
    return Place(scene, case, Repository(root / "checkout", is_there=True))


def test_a_patch_says_what_git_diff_says_and_comes_and_goes(place: Place) -> None:
    one, patched = place.diff(), place.content()
    place.patch("two", "line 7 ü\n", "")
    assert [place.run("refresh", "--json").json["paths"] for _ in "xx"] == [[], []]
    both = place.content()
    assert place.case.on_disk("line two\n") in both
    place.run("verify", "s", "--to", place.checkout.root)
    place.run("pop", "-a")
    assert place.status() == ""
    assert place.content() == place.case.on_disk(place.case.text)
    place.run("push")
    assert (place.diff(), place.content()) == (one, patched)
    place.run("push")
    place.run("goto", "one")
    assert place.run("changes", "--until", "one", "--since", "one").out.encode() == one
    place.run("undo")
    assert place.content() == both


@pytest.mark.parametrize("place", CASES if LONG else FEW[::2], indirect=True)
def test_git_may_take_the_files_and_bring_them_back(place: Place) -> None:
    root, patched = place.checkout.root, place.content()
    for _ in range(2):
        place.checkout.git("stash")
        assert place.status() == ""
        place.checkout.git("stash", "pop")
        assert place.content() == patched
        place.run("verify", "s", "--to", root)
    place.run("unapply", "s", "--to", root)
    assert place.status() == ""
    place.run("apply", "s", "--to", root)
    assert place.content() == patched
    place.checkout.git("reset", "--hard")
    place.run("verify", "s", "--to", root, code=4)
    place.run("apply", "s", "--to", root)
    place.run("refresh")
    place.run("check", "s", "--ledger", "--to", root)
    place.run("pop", "--force")
    assert place.status() == ""


@pytest.mark.parametrize("place", CASES if LONG else FEW[1::2], indirect=True)
def test_a_series_is_applied_as_git_checks_it_out(place: Place) -> None:
    other = clone_of(place.scene, place.case, "other")
    before = picture(other.root)
    there = Place(place.scene, place.case, other)
    for mode in ((), ("--commit",)):
        place.run("apply", "s", "--to", other.root, *mode)
        written = (other.root / "f.x").read_bytes()
        assert there.diff() == (b"" if mode else place.diff())
        other.git("add", "f.x")
        (other.root / "f.x").unlink()
        other.git("checkout", "f.x")
        assert (other.root / "f.x").read_bytes() == written
        place.run("verify", "s", "--to", other.root)
        place.run("unapply", "s", "--to", other.root)
        assert there.status() == ""
        assert picture(other.root).keys() == before.keys()


def test_what_another_form_on_disk_has_is_the_same_file(scene: Scene) -> None:
    place = begin(scene, CASES["eol"])
    file, root = place.checkout.root / "f.x", place.checkout.root
    file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n"))
    place.run("goto", "0", "--to", root)
    place.run("new", "one")
    file.write_bytes(file.read_bytes().replace(b"line 2 ", b"line two "))
    place.run("refresh")
    assert (scene.root / "series/s/one.patch").read_bytes().count(b"\n-line") == 1
    place.checkout.git("stash")
    place.checkout.git("stash", "pop")
    assert b"\r\n" in file.read_bytes()
    place.run("verify", "s", "--to", root)
    place.run("pop")
    assert place.status() == ""


def test_a_patch_may_change_the_attributes_themselves(scene: Scene) -> None:
    place = begin(scene, Case("*.y text eol=crlf\n", ends="\n"))
    root, rules = place.checkout.root, place.checkout.root / ".gitattributes"
    place.run("goto", "0", "--to", root)
    place.run("new", "one")
    rules.write_text("*.y text eol=crlf\n*.x text eol=crlf\n")
    (root / "f.x").write_bytes((root / "f.x").read_bytes().replace(b"\n", b"\r\n") + b"end\r\n")
    place.run("refresh")
    patch = (scene.root / "series/s/one.patch").read_bytes()
    assert b"\n+end\n" in patch
    assert patch.count(b"\n-") == 2  # the names of the files
    patched = (root / "f.x").read_bytes()
    place.run("pop")
    assert (place.status(), (root / "f.x").read_bytes()) == ("", TEXT.encode())
    place.run("push")
    assert (root / "f.x").read_bytes() == patched
    place.run("unapply", "s", "--to", root)
    assert (place.status(), (root / "f.x").read_bytes()) == ("", TEXT.encode())
    place.run("apply", "s", "--to", root)
    assert (root / "f.x").read_bytes() == patched
    place.run("pop")
    assert place.status() == ""


def test_a_file_that_needs_a_filter_is_refused_by_name(scene: Scene, tmp_path: Path) -> None:
    place = begin(scene, Case("*.x filter=lfs\n*.bin filter=lfs\n", ends="\n"))
    for name in ("clean", "smudge", "process"):
        place.checkout.git("config", f"filter.lfs.{name}", f"touch {tmp_path}/ran; cat")
    root, raw = place.checkout.root, scene.upstream.root / "f.x"
    raw.write_text(TEXT + "more\n")
    diff = scene.upstream.git("diff") + "\n"
    (tmp_path / "p.patch").write_text(diff)
    place.run("import", tmp_path / "p.patch", "--series", "s")
    before = picture(root)
    for words in (("apply", "s"), ("push",), ("goto", "p")):
        answer = place.run(*words, "--to", root, code=1)
        assert one_line(answer) == "f.x needs the filter lfs, but patchmgr runs no filters"
        assert picture(root, without=("patchmgr",)).keys() >= before.keys()
    assert (root / "f.x").read_text() == TEXT
    assert not (tmp_path / "ran").exists()


def test_a_file_that_later_attributes_would_convert_is_not_edited(scene: Scene) -> None:
    place = begin(scene, Case(ends="\n", text=TEXT.replace("1 ü\n", "1 ü\r\n")))
    place.run("goto", "0", "--to", place.checkout.root)
    place.patch("one", "line 4", "ours")
    written = place.content()
    place.run("new", "two")
    (place.checkout.root / ".gitattributes").write_text("*.x text eol=crlf\n")
    place.run("refresh", ".gitattributes")
    raw = (scene.root / "series/s/two.patch").read_bytes()
    assert place.run("refresh").out == "two.patch: nothing to refresh\n"
    place.run("pop")
    place.run("push")
    assert place.content() == written
    assert (scene.root / "series/s/two.patch").read_bytes() == raw
    place.run("pop", "--all")
    assert place.content() == written.replace(b"ours", b"line 4")
