"""An upstream from a stranger: trees and commits that git itself would not make.

PATCHMGR_LONG=1 asks every command about each; otherwise a rebase and one more command are asked
about a few.
"""

import hashlib
import re
import subprocess
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, invoke
from tests.commands.scenes import Stage, picture, text
from tests.conftest import Repository
from tests.long import LONG

Entries = dict[bytes, tuple[bytes, str]]
FILE, FOLDER, LINK, SUBMODULE = b"100644", b"40000", b"120000", b"160000"
# What may not reach a terminal: controls, and marks that turn or hide text.
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202egnihton\r"


@dataclass(frozen=True)
class Forge:
    """Writes objects of any content into a repository, without git, which would refuse them."""

    root: Path

    def put(self, kind: str, body: bytes) -> str:
        """Write an object and return its id."""
        whole = b"%s %d\0%s" % (kind.encode(), len(body), body)
        name = hashlib.sha1(whole).hexdigest()
        place = self.root / ".git/objects" / name[:2] / name[2:]
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_bytes(zlib.compress(whole))
        return name

    def file(self, content: bytes) -> tuple[bytes, str]:
        """Return the entry of a file."""
        return FILE, self.put("blob", content)

    def link(self, target: bytes) -> tuple[bytes, str]:
        """Return the entry of a symbolic link."""
        return LINK, self.put("blob", target)

    def folder(self, entries: Mapping[bytes, tuple[bytes, str]]) -> tuple[bytes, str]:
        """Return the entry of a folder."""
        return FOLDER, self.put("tree", _tree(entries))


def _tree(entries: Mapping[bytes, tuple[bytes, str]]) -> bytes:
    def place(name: bytes) -> bytes:
        return name + b"/" * (entries[name][0] == FOLDER)

    rows = ((*entries[name], name) for name in sorted(entries, key=place))
    return b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(id)) for mode, id, name in rows)


NEW = text(l2="theirs\n").encode()
Make = Callable[[Forge, Entries], Entries]


def named(name: bytes) -> Make:
    """Return a tree with a file and a folder of that name."""
    return lambda forge, old: {
        **old, name: forge.folder({b"config": forge.file(b"x\n"), name: forge.file(b"y\n")})
    }  # fmt: skip


def moved(name: bytes) -> Make:
    """Return a tree in which the file that the series changes went into a folder of that name."""

    def make(forge: Forge, old: Entries) -> Entries:
        kept = {path: entry for path, entry in old.items() if path != b"pkg"}
        inside = {b"a.py": forge.file(NEW), b"b.py": forge.file(text().encode())}
        return {**kept, name: forge.folder(inside)}

    return make


def _deep(forge: Forge, old: Entries) -> Entries:
    entry = forge.file(b"x\n")
    for _ in range(2000):
        entry = forge.folder({b"d": entry})
    return {**old, b"deep": entry}


def _modules(forge: Forge, old: Entries) -> Entries:
    module = b'[submodule "s"]\n\tpath = sub\n\turl = ext::touch owned\n\tupdate = !touch owned\n'
    sub = (SUBMODULE, "1" * 40)
    return {**old, b".gitmodules": forge.file(module), b"sub": sub, b"pkg": (SUBMODULE, "2" * 40)}


_ATTRIBUTES = (
    b"* filter=x diff=x merge=x working-tree-encoding=UTF-16 ident eol=crlf export-subst text\n"
    b"[attr]binary -diff\n*.py merge=ours -text conflict-marker-size=1000000000\n"
)
TREES: Mapping[str, Make] = {
    **{f"named {name!r}": named(name) for name in (
        b".git", b".GIT", b"git~1", b"..", b".", b"/etc", b"a/b", b"C:", b"-rf", b"\x1b[2J",
        b"new\nline", b".git ", b".git::$INDEX_ALLOCATION", b".g\xe2\x80\x8cit", b".patchmgr",
        b"\xff\xfe", b"PKG", b"x" * 5000,
    )},
    **{f"moved into {name!r}": moved(name) for name in (
        b".git", b".GIT", b"..", b"git~1", b"-rf", b"\x1b[2J", b".patchmgr", b"a/../..",
    )},
    "a link for a folder": lambda forge, old: {**old, b"pkg": forge.link(b"../outside")},
    "a link for a new folder": lambda forge, old: {**old, b"new": forge.link(b"../outside")},
    "a link for .gitmodules": lambda forge, old: {**old, b".gitmodules": forge.link(b"x")},
    "submodules": _modules,
    "attributes": lambda forge, old: {
        **old, b".gitattributes": forge.file(_ATTRIBUTES),
        b"pkg": forge.folder({b"a.py": forge.file(NEW), b"b.py": forge.file(text().encode()),
                              b".gitattributes": forge.file(_ATTRIBUTES)}),
    },
    "deep folders": _deep,
    "odd modes": lambda forge, old: {
        **old, b"suid": (b"104755", forge.put("blob", b"x")), b"pipe": (b"10000", "3" * 40),
        b"zero": (b"0", forge.put("blob", b"x")),
    },
    "a blob for a folder": lambda forge, old: {**old, b"pkg": (FOLDER, forge.put("blob", b"x"))},
    "a folder for a blob": lambda forge, old: {**old, b"run.sh": (FILE, old[b"pkg"][1])},
    "absent objects": lambda forge, old: {**old, b"pkg": (FOLDER, "4" * 40)},
}  # fmt: skip

WHO = b"A. Author <author@example.org> 1700000000 +0000"
COMMITS: Mapping[str, tuple[bytes, bytes, bytes]] = {
    "escapes": (f"Ev{_ESCAPES}il <e{_ESCAPES.strip()}@x> 1700000000 +0000".encode(), b"",
                f"up{_ESCAPES}stream (#12)\n".encode()),
    "a huge number": (WHO, b"", b"take it (#%s)\n" % (b"9" * 5000)),
    "a huge date": (b"A <a@b> 99999999999999999999 +9999", b"", b"x\n"),
    "no author": (b"", b"", b"x\n"),
    "unknown charset": (WHO, b"encoding rot13\n", b"\xff\xfe\n"),
    "no message": (WHO, b"", b""),
    "markers": (WHO, b"gpgsig x\n", b"\x01\0\x01x\n<<<<<<< ours\n| a | b |\n</script>\n"),
}  # fmt: skip


_OURS = ("cache", "workspace", "evil", "checkout", "out")


def ask(stage: Stage, *words: str | Path) -> Answer:
    """Run a command and assert what holds whatever upstream has."""
    before = picture(stage.folder, without=_OURS)
    answer = invoke("-C", stage.root, *words)
    assert answer.code in (0, 1, 2, 3, 4), f"{words}: {answer.err}"
    assert picture(stage.folder, without=_OURS) == before, words
    for line in (answer.out + answer.err).splitlines():
        assert not _UNCLEAN.search(line), f"{words}: {line!r}"
    return answer


def top(root: Repository, commit: str) -> Entries:
    """Return what the top of a commit's tree has."""
    rows = (row.split(None, 3) for row in root.git("ls-tree", commit).splitlines())
    return {name.encode(): (mode.lstrip("0").encode(), blob) for mode, _, blob, name in rows}


def forged(stage: Stage, make: Make, commit: tuple[bytes, bytes, bytes]) -> str:
    """Return a commit on the pin, made by hand in a clone that is an upstream `evil`."""
    (stage.folder / "outside").mkdir()
    (stage.folder / "outside/a.py").write_text(text())
    (stage.folder / "out").mkdir()
    clone = stage.clone("evil", stage.base, "main")
    forge = Forge(clone.root)
    _, tree = forge.folder(make(forge, top(clone, stage.base)))
    who, more, message = commit
    head = b"tree %s\nparent %s\n" % (tree.encode(), stage.base.encode())
    people = b"author %s\ncommitter %s\n" % (who, WHO) if who else b"committer %s\n" % WHO
    made = forge.put("commit", head + people + more + b"\n" + message)
    (clone.root / ".git/refs/heads/main").write_text(f"{made}\n")
    return made


# What is asked about a commit, after a rebase onto it was tried.
LINES = (
    "branch e", "report e", "export e --as mbox --out {out}/e.mbox", "show 1 --series e",
    "notes e --from {base} --to {tip}", "why pkg/a.py:31 --series e", "apply e --to {checkout}",
    "unapply e --to {checkout}", "check e", "upstream list", "rebase e --onto {base}",
    "series new f --upstream evil --base {tip}", "import {box} --series f",
    "rebase f --onto {base}", "diff e --from {base} --repo {checkout}",
)  # fmt: skip


def confront(stage: Stage, tip: str, number: int) -> int:
    """Fetch, rebase onto the commit, and ask more about it; return how the rebase ended."""
    box = stage.folder / "box.mbox"
    box.write_bytes(stage.upstream.patches("main..fork"))
    evil = stage.folder / "evil"
    for line in (
        f"upstream add evil --git {evil}",
        "upstream fetch evil",
        f"series new e --upstream evil --base {stage.base}",
        f"import {box} --series e",
    ):
        ask(stage, *line.split())
    rebased = ask(stage, "rebase", "e", "--onto", tip)
    checkout = stage.clone().root
    names = {"out": stage.folder / "out", "base": stage.base, "tip": tip, "box": box}
    for line in LINES if LONG else LINES[number % len(LINES) :][:1]:
        ask(stage, *line.format(**names, checkout=checkout).split())
    for line in ("status", "series list", "series show e"):
        assert ask(stage, *line.split()).code == 0, "the workspace can be read"
    return rebased.code


def some(names: Iterable[str]) -> list[tuple[str, int]]:
    """Return names with their numbers, or a few of them."""
    return list(zip(names, count(), strict=False))[:: 1 if LONG else 9]


@pytest.mark.parametrize(("name", "number"), some(TREES))
def test_a_tree_git_would_not_make_reaches_nothing(stage: Stage, name: str, number: int) -> None:
    code = confront(stage, forged(stage, TREES[name], (WHO, b"", b"x\n")), number)
    assert code == 3 or "moved" not in name, "no patch follows a file to such a path"


@pytest.mark.parametrize(("name", "number"), some(COMMITS))
def test_a_commit_git_would_not_make_does_no_harm(stage: Stage, name: str, number: int) -> None:
    def changed(forge: Forge, old: Entries) -> Entries:
        files = {b"a.py": forge.file(NEW), b"b.py": forge.file(text().encode())}
        return {**old, b"pkg": forge.folder(files)}

    confront(stage, forged(stage, changed, COMMITS[name]), number)


def test_an_upstream_with_other_object_ids_is_refused_by_name(stage: Stage) -> None:
    other = stage.folder / "sha256"
    line = ("git", "init", "--quiet", "--object-format=sha256", str(other))
    subprocess.run(line, check=True, capture_output=True)
    Repository(other, is_there=True).commit({"a": "a\n"}, "one")
    stage.run("upstream", "add", "wide", "--git", other)
    answer = invoke("-C", stage.root, "upstream", "fetch", "wide")
    assert answer.code == 1
    assert "wide uses SHA-256 object ids" in answer.err
    for words in (
        ("apply", "s", "--to", other),
        ("branch", "s", "--repo", other),
        ("import", "--git", other, "HEAD..HEAD", "--series", "s"),
    ):
        assert "sha256 uses SHA-256 object ids" in stage.run(*words, code=1).err


def test_an_upstream_on_no_branch_says_where_to_name_one(stage: Stage) -> None:
    other = stage.clone()
    other.git("checkout", "--quiet", "--detach")
    stage.run("upstream", "add", "other", "--git", other.root)
    refused = stage.run("upstream", "fetch", "other", code=2)
    assert "in upstream.lock: [upstream.other], key `branch`" in refused.err
    lock = stage.root / "upstream.lock"
    lock.write_text(
        lock.read_text().replace("[upstream.other]", '[upstream.other]\nbranch = "main"')
    )
    stage.run("upstream", "fetch", "other")
