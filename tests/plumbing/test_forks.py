"""What is read from another repository."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from patchmgr.model.patch import Author
from patchmgr.plumbing import forks
from patchmgr.plumbing.clones import private_git_dir
from patchmgr.plumbing.linked_worktree import forget_deleted
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.services.published import read_commits
from tests.conftest import Repository
from tests.tables import table


def _range(folder: Path) -> list[str]:
    return [
        mail.split(b" ", 2)[1].decode() for mail in forks.range_patches(folder, "main..HEAD^1")[0]
    ]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a linked work tree of a repository whose own HEAD is another branch."""
    folder = tmp_path_factory.mktemp("forks")
    made = Repository(folder / "clone")
    made.commit({"f": "1\n"})
    with made.at("-b", "other"):
        made.commit({"g": "1\n"})
    with made.at("-b", "was"):
        made.commit({"h": "1\n", "f": "2\n"}, "side")
    made.git("worktree", "add", "--quiet", "-b", "side", "../linked", "main")
    found = Repository(folder / "linked", is_there=True)
    found.commit({"f": "2\n"}, "side")
    found.git("merge", "--quiet", "--no-ff", "-m", "merge", "other")
    return found


@table(
    "ask, commits",
    {
        "commit": (lambda folder: [forks.commit_named("HEAD", folder)], "HEAD"),
        "tree": (lambda folder: [forks.tree_named(private_git_dir(folder), "HEAD")], "HEAD^{tree}"),
        "range": (_range, "HEAD^1"),
        "merge": (lambda folder: [m.made for m in forks.find_merges(folder, "HEAD")[1]], "HEAD"),
        "merges": (lambda folder: [m.made for m in forks.find_merges(folder, "main..HEAD")[1]],
                   "HEAD"),
        "rebased": (lambda folder: [m.made for m in forks.find_rebased(folder, "main..HEAD", "was")
                                    [1]], "HEAD^1"),
    },
)  # fmt: skip
def test_head_is_that_of_the_work_tree(
    linked: Repository, ask: Callable[[Path], Iterable[str]], commits: str
) -> None:
    assert ask(linked.root) == linked.git("rev-parse", *commits.split()).split()


@table(
    "author, encoding, wanted",
    {
        "usual": (b"A <a@b> 5 +0100", "UTF-8", Author("A", "a@b", "5 +0100")),
        "latin-1": (b"\xc4 <a@b> 5 +0100", "latin-1", Author("Ä", "a@b", "5 +0100")),
        "not-in-its-charset": (b"\xc4 <a@b> 5 +0100", "koi", Author("\udcc4", "a@b", "5 +0100")),
        "no-charset": (b"A <a@b> 5 +0100", "undefined", Author("A", "a@b", "5 +0100")),
        "no-charset-of-texts": (b"A <a@b> 5 +0100", "punycode", Author("A", "a@b", "5 +0100")),
        "no-zone": (b"A <a@b> 5", "UTF-8", Author("A", "a@b", "5 +0000")),
        "too-long-a-zone": (b"A <a@b> 5 +051800", "UTF-8", Author("A", "a@b", "5 +0000")),
        "before-1970": (b"A <a@b> -5 +0100", "UTF-8", Author("A", "a@b", "0 +0000")),
        "no-date": (b"A <a@b>", "UTF-8", Author("A", "a@b", "0 +0000")),
        "no-name": (b"<a@b> 5 +0100", "UTF-8", Author("", "a@b", "5 +0100")),
    },
)
def test_an_author_is_read_as_any_tool_wrote_it(
    linked: Repository, author: bytes, encoding: str, wanted: Author
) -> None:
    head = (
        f"tree {linked.tree()}\n".encode() + b"author " + author + b"\ncommitter C <c@d> 5 +0000\n"
    )
    raw = head + f"encoding {encoding}\n\nmessage\n".encode()
    line = ("hash-object", "-w", "-t", "commit", "--literally", "--stdin")
    commit = linked.git(*line, data=raw)
    with ObjectReader(private_git_dir(linked.root)) as reader:
        assert forks.read_commit_text(reader, commit).author == wanted


def test_a_clone_has_no_program_run(tmp_path: Path) -> None:
    """`log.showSignature` of a clone would run its `gpg.program`, and print among the commits."""
    clone = Repository(tmp_path / "clone")
    start = clone.commit({"f": "1\n"})
    ids = []
    for branch in ("was", "now"):
        clone.git("checkout", "--quiet", "-b", branch, start)
        clone.commit({branch: "1\n"}, "same")
        head, _, rest = clone.git("cat-file", "commit", "HEAD").partition("\n\n")
        signed = f"{head}\ngpgsig signature\n\n{rest}".encode()
        ids.append(clone.git("hash-object", "-w", "-t", "commit", "--stdin", data=signed))
        clone.git("reset", "--quiet", "--hard", ids[-1])
    program = tmp_path / "gpg"
    program.write_text(f"#!/bin/sh\necho ran >{tmp_path}/ran\necho told >&2\n")
    program.chmod(0o755)
    clone.git("config", "gpg.program", str(program))
    clone.git("config", "log.showSignature", "true")
    _, found = forks.find_rebased(clone.root, f"{start}..now", "was")
    assert [(one.theirs, one.made) for one in found] == [tuple(ids)]
    assert not (tmp_path / "ran").exists()


def test_no_attributes_or_settings_change_a_diff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state in a clone would differ from the same state in a store."""
    clone = Repository(tmp_path / "clone")
    clone.commit({"a": "1\n\n1\n", "b": "1\n"})
    head = clone.commit({"a": "1\n\n2\n", "b": "2\n"})
    git_dir = clone.root / ".git"
    with ObjectReader(git_dir) as reader:
        before = read_commits(git_dir, reader, [head])
        clone.git("config", "diff.suppressBlankEmpty", "true")
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info/attributes").write_text("a -diff\n")
        (tmp_path / ".gitattributes").write_text("b -diff\n")
        monkeypatch.chdir(tmp_path)
        assert read_commits(git_dir, reader, [head]) == before


def test_a_work_tree_at_any_path_is_no_obstacle(tmp_path: Path) -> None:
    clone = Repository(tmp_path / "clone")
    clone.commit({"f": "1\n"})
    clone.git("worktree", "add", "--quiet", "--detach", os.fsdecode(b"../\xff \xc2\xa0"))
    forget_deleted(clone.root / ".git", tmp_path / "gone")


def test_where_branches_began_is_read_from_their_commits(tmp_path: Path) -> None:
    clone = Repository(tmp_path / "clone")
    starts = [clone.commit({"f": f"{n}\n"}) for n in range(3)]
    heads = {}
    for name, start in (("new", starts[2]), ("old", starts[0]), ("merged", starts[0])):
        clone.git("checkout", "--quiet", "-b", name, start)
        clone.commit({name: "1\n"})
        heads[name] = clone.commit({name: "2\n"})
    clone.git("merge", "--quiet", "-m", "merge", starts[1])
    heads["merged"], heads["ancestor"] = clone.head(), starts[1]
    tip = starts[2]
    own = forks.own_commits(clone.root / ".git", list(heads.values()), [tip])
    found = {name: forks.own_line(own, head) for name, head in heads.items()}
    assert found["merged"] is found["ancestor"] is None
    for name in ("new", "old"):
        base, commits = forks.own_range(clone.root / ".git", heads[name], tip)
        assert found[name] == (base, commits[0])
