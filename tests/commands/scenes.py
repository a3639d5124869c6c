"""What the tests of commands share: texts, pictures of folders, and a series on an upstream."""

import functools
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.commands.conftest import Answer, checked, invoke
from tests.conftest import Repository, copy_folder

LINES = [f"line {n}\n" for n in range(60)]
PARTS = ("cache", "workspace", "checkout", "out", "remote.git")  # what tests write to
Picture = dict[str, tuple[str, int, bytes]]


def text(**edits: str | None) -> str:
    """Return sixty numbered lines; `l7="x\\n"` replaces one, None deletes it."""
    lines: list[str] = list(LINES)
    for name, new in edits.items():
        lines[int(name[1:])] = "" if new is None else new
    return "".join(lines)


def picture(root: Path, *, without: tuple[str, ...] = (".git", ".patchmgr")) -> Picture:
    """Return kind, permission bits and content of everything below a folder, by path."""
    found: Picture = {}
    for at, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in without]
        for name in (*folders, *files):
            whole = os.path.join(at, name)
            bits = os.lstat(whole).st_mode
            path = os.path.relpath(whole, root)
            if stat.S_ISLNK(bits):
                found[path] = ("link", 0, os.fsencode(os.readlink(whole)))
            elif stat.S_ISDIR(bits):
                found[path] = ("folder", stat.S_IMODE(bits), b"")
            elif name not in without:
                with open(whole, "rb") as file:
                    found[path] = ("file", stat.S_IMODE(bits), file.read())
    return found


@contextmanager
def unchanged(root: Path, *, without: tuple[str, ...] = (".git", ".patchmgr")) -> Iterator[None]:
    """Hold that everything below a folder is afterwards as it was."""
    before = picture(root, without=without)
    yield
    assert picture(root, without=without) == before


def changed(before: Picture, after: Picture) -> set[str]:
    """Return the paths that differ between two pictures."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def own_ref(root: Path, name: str) -> str:
    """Return what a ref of a workspace is called in a store."""
    return name.replace("refs/", f"refs/patchmgr/{(root / '.patchmgr/id').read_text()}/", 1)


def one_line(answer: Answer) -> str:
    """Return the message of an error: one line on stderr, and hints below it."""
    first, *hints = answer.err.splitlines()
    assert first.startswith("patchmgr: "), answer.err
    assert all(hint.startswith("  hint: ") for hint in hints), answer.err
    assert answer.out == ""
    return first.removeprefix("patchmgr: ")


def work_tree(repository: Repository) -> str:
    """Return the tree that git makes of the files as they are, and leave the index alone."""
    index = repository.root.parent / "scratch-index"
    index.unlink(missing_ok=True)
    os.environ["GIT_INDEX_FILE"] = str(index)
    try:
        repository.git("add", "--all", "--force", ".")
        return repository.git("write-tree")
    finally:
        del os.environ["GIT_INDEX_FILE"]
        index.unlink(missing_ok=True)


class Stage(Struct, frozen=True):
    """An upstream, a workspace with the series `s` on one commit of it, and the fork's head."""

    folder: Path
    upstream: Repository
    root: Path
    base: str
    fork: str

    def run(self, *arguments: str | Path, code: int = 0) -> Answer:
        """Run a command in the workspace and check its exit code."""
        return checked("-C", self.root, *arguments, code=code)

    def clone(self, name: str = "checkout", commit: str = "", branch: str = "work") -> Repository:
        """Return a clone with a commit (the pin by default) checked out on a branch, or on none."""
        first = _first_clone(self.upstream.root, commit or self.base, branch)
        copy_folder(first.name, self.folder / name)
        clone = Repository(self.folder / name, is_there=True)
        clone.git("update-index", "--refresh")  # these files have other numbers and dates
        return clone

    def series(self, patches: bytes, *, name: str = "s") -> None:
        """Replace the patches of the series by those of a mailbox."""
        folder = self.root / "series" / name
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "series").write_text("")
        self.take(patches, name)

    def take(self, patches: bytes, name: str) -> None:
        """Import the patches of a mailbox into a series."""
        box = self.folder / f"{name}.mbox"
        box.write_bytes(patches)
        self.run("import", box, "--series", name)


@functools.cache
def _first_clone(upstream: Path, commit: str, branch: str) -> tempfile.TemporaryDirectory[str]:
    """Return the clone that others are copies of: git needs four processes to make one."""
    folder = tempfile.TemporaryDirectory(prefix="patchmgr-clone-")
    line = ["git", "clone", "--quiet", "--no-checkout", "--template=", str(upstream), folder.name]
    subprocess.run(line, check=True, capture_output=True)
    how = ["-B", branch] if branch else ["--detach"]
    Repository(Path(folder.name), is_there=True).git("checkout", "--quiet", *how, commit)
    return folder


def plant(
    repository: Repository,
    files: Mapping[str, bytes | str | None],
    message: str,
    links: Mapping[str, str] | None = None,
    runs: tuple[str, ...] = (),
) -> str:
    """Commit files, symbolic links, and files that are made executable."""
    for path, target in (links or {}).items():
        place = repository.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(target)
    for path, content in files.items():
        if content is not None:
            (repository.root / path).parent.mkdir(parents=True, exist_ok=True)
            (repository.root / path).write_bytes(
                content.encode() if isinstance(content, str) else content
            )
    for path in runs:
        (repository.root / path).chmod(0o755)
    return repository.commit(files, message)


def build(folder: Path) -> Stage:
    """Build the stage: two patches that do all that a patch can do to a file.

    Of the branches of upstream, `later` has moved lines and one half of a patch, `landed` the
    whole of both, and `collides` another text where the first patch has one.
    """
    upstream = Repository(folder / "upstream")
    base = plant(
        upstream,
        {
            "pkg/a.py": text(),
            "pkg/b.py": text(),
            "run.sh": "#!/bin/sh\n",
            "plain.sh": "#!/bin/sh\n",
            "gone/only.txt": "only\n",
            "bytes": b"\x00\x01\xff" * 50,
        },
        "start",
        links={"link": "pkg/a.py"},
        runs=("run.sh",),
    )
    with upstream.at("-b", "fork"):
        plant(
            upstream,
            {"pkg/a.py": text(l30="ours\n"), "new/deep/file.txt": "new\n", "gone/only.txt": None},
            "fork: one\n\nWhy it is so.",
            links={"new-link": "nowhere"},
        )
        fork = plant(
            upstream,
            {"run.sh": "#!/bin/sh\necho\n", "bytes": b"\x00\x01\xfe" * 50},
            "fork: two",
            links={"link": "pkg/b.py"},
            runs=("plain.sh",),
        )
        for name, commit, new in (
            ("landed", fork, text(l2="theirs\n", l30="ours\n")),
            ("collides", base, text(l30="theirs\n")),
            ("later", base, text(l2="theirs\n")),
        ):
            upstream.git("checkout", "--quiet", "-b", name, commit)
            plant(upstream, {"pkg/a.py": new, f"{name}.txt": "x\n"}, f"upstream: {name}")
        plant(upstream, {"new/deep/file.txt": "new\n"}, "upstream: has a half")
    upstream.git("repack", "-a", "-d", "--quiet")  # two files for each copy, and not a hundred
    root = folder / "workspace"
    stage = Stage(folder, upstream, root, base, fork)
    invoke("init", root)
    stage.run("upstream", "add", "up", "--git", upstream.root, "--reference", upstream.root)
    stage.run("series", "new", "s", "--upstream", "up", "--base", base)
    stage.take(upstream.patches("main..fork"), "s")
    return stage


def copied(built: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Return a stage of one's own on the same upstream: another workspace, another cache."""
    cache = folder / "cache"
    copy_folder(built.folder / "home" / "cache", cache)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    copy_folder(built.root, folder / "workspace")
    return replace(built, folder=folder, root=folder / "workspace")
