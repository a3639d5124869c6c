"""Files that git left in conflict in merges which people made, from public histories.

Ours is upstream, theirs is the branch that has the patches: a merge of a main, development or
release branch takes upstream in, any other merge brings a topic to upstream.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from random import Random

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import git_process
from patchmgr.plumbing.scratch_repository import Scratch

LANGUAGES = {
    "python": (".py", ".pyi"),
    "c++": (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".cu", ".cuh", ".inl"),
    "other": (
        ".rst", ".md", ".txt", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".sh", ".cmake", ".json",
        ".am", ".mk", ".in", ".ac",
    ),
}  # fmt: skip
LARGEST = 1 << 20  # bytes of a text
MOST_OF_A_MERGE = {"python": 12, "c++": 12, "other": 4}  # files; one merge is one person's taste
AT_ONCE = 100  # merges in one process
MAIN = re.compile(
    r"(?:[\w.-]+/)*(?:master|main|devel|develop|development|trunk|default|next|upstream|bitcoin"
    r"|merged_master|auxpow|release\S*|stable\S*|maint\S*|v?\d+(?:[._-](?:\d+|x|rc\d*))+\S*"
    r"|bitcoin-\S+|auxpow-\S+|bugfixes|features)"
)
_SOURCE = re.compile(
    r"Merge (?:remote-tracking |remote )?(?:branch(?:es)?|tag|commit) '?([^\s']+)'?", re.IGNORECASE
)
_PULL = re.compile(r"Merge (?:remote-tracking branch \S+/|)pull request #\d+ ", re.IGNORECASE)
_OF_BITCOIN = re.compile(r"Merge [0-9a-f]{7,40} into merged_master|.*\(Bitcoin PR ")
_MADE_BY_A_MACHINE = re.compile(r"Merge [0-9a-f]{40} into [0-9a-f]{40}\s*\Z")
_LEFT = re.compile(rb"^(?:<{7,}|>{7,}|\|{7,})(?: |$)", re.MULTILINE)
_BEGINS = re.compile(rb"^<{7} ours\r?$", re.MULTILINE)
_TABLE = """
create table if not exists cases (
  id text primary key, repo text, path text, language text, made_at integer, merge_commit text,
  base blob, ours blob, theirs blob, expected blob, marked blob, has_base integer, regions integer
)
"""


class MergeCommit(Struct, frozen=True):
    """A merge of two commits, upstream's first, and what a person made of it."""

    id: str
    ours: str
    theirs: str
    made_at: int


class Case(Struct, frozen=True):
    """One file in conflict; `marked` has zdiff3 markers, `expected` is the person's."""

    id: str
    repo: str
    path: str
    language: str
    made_at: int
    merge_commit: str
    base: str
    ours: str
    theirs: str
    expected: str
    marked: str
    has_base: bool
    regions: int


class Stages(Struct, frozen=True):
    """The blobs of a path that a merge left in conflict."""

    path: str
    base: str | None
    ours: str
    theirs: str


def language_of(path: str) -> str | None:
    """Return the family of languages of a path, None where it is none of these."""
    return next((name for name, ends in LANGUAGES.items() if path.endswith(ends)), None)


def takes_in(subject: str) -> bool:
    """Say whether a merge took its upstream in: the second parent is upstream then."""
    if _OF_BITCOIN.match(subject):
        return True
    if _PULL.match(subject):
        return False
    source = _SOURCE.match(subject)
    return source is not None and MAIN.fullmatch(source[1]) is not None


def merges_of(git_dir: Path) -> list[MergeCommit]:
    """Return a history's merges of two commits, those that say that they conflicted first.

    Left out are merges that machines tried, and those that took one side whole.
    """
    every = ["log", "--all", "--format=%H %T"]
    trees = dict(line.split() for line in _text(every, git_dir).splitlines())
    line = ["log", "--all", "--min-parents=2", "--max-parents=2", "-z"]
    rows = _text([*line, "--format=%H%x1f%P%x1f%T%x1f%ct%x1f%B"], git_dir).split("\0")
    named: list[MergeCommit] = []
    merges: list[MergeCommit] = []
    for commit, parents, tree, made_at, message in (row.split("\x1f", 4) for row in rows if row):
        first, second = parents.split()
        if _MADE_BY_A_MACHINE.match(message) or tree in (trees.get(first), trees.get(second)):
            continue
        ours, theirs = (second, first) if takes_in(message.split("\n")[0]) else (first, second)
        found = named if "onflicts:" in message else merges
        found.append(MergeCommit(commit, ours, theirs, int(made_at)))
    for some in (named, merges):
        Random(0).shuffle(some)
    return [*named, *merges]


def cases_of(mirror: Path, repo: str, *, most: int) -> Iterator[Case]:
    """Yield the files in conflict of so many merges of a history, each conflict once."""
    seen = set[bytes]()
    conflicted = 0
    with (
        tempfile.TemporaryDirectory(prefix="patchmgr-merges-") as folder,
        closing(Scratch([mirror], folder=Path(folder))) as scratch,
    ):
        merges = merges_of(mirror)
        for start in range(0, len(merges), AT_ONCE):
            for merge, tree, stages in merged_by_git(scratch, merges[start : start + AT_ONCE]):
                found = [c for c in _cases(scratch, merge, tree, stages, repo) if c is not None]
                fresh = [c for c in found if not _known(c, seen)]
                conflicted += bool(fresh)
                yield from fresh
            if conflicted >= most:
                return


def merged_by_git(
    scratch: Scratch, merges: Sequence[MergeCommit]
) -> Iterator[tuple[MergeCommit, str, tuple[Stages, ...]]]:
    """Yield each merge in which git leaves conflicts, with the tree and what is in conflict."""
    line = ["-c", "merge.renames=false", "merge-tree", "--write-tree", "--stdin", "-z"]
    asked = "".join(f"{one.ours} {one.theirs}\n" for one in merges).encode()
    try:
        _, printed = git_process.run(
            [*line, "--no-messages", "--allow-unrelated-histories"],
            git_dir=scratch.git_dir,
            data=asked,
        )
    except PatchmgrError:  # a mirror may lack large blobs
        half = len(merges) // 2
        if half:
            yield from merged_by_git(scratch, merges[:half])
            yield from merged_by_git(scratch, merges[half:])
        return
    words = iter(printed.decode("utf-8", "surrogateescape").split("\0"))
    for merge in merges:
        is_clean, tree = next(words) == "1", next(words)
        entries = list(iter(lambda: next(words), ""))
        if not is_clean:
            yield merge, tree, _stages(entries)


def _stages(entries: Iterable[str]) -> tuple[Stages, ...]:
    paths: dict[str, dict[str, str]] = {}
    for entry in entries:
        facts, _, path = entry.partition("\t")
        mode, blob, stage = facts.split()
        if mode.startswith("100"):
            paths.setdefault(path, {})[stage] = blob
    return tuple(
        Stages(path, found.get("1"), found["2"], found["3"])
        for path, found in paths.items()
        if {"2", "3"} <= found.keys() and language_of(path)
    )


def _cases(
    scratch: Scratch, merge: MergeCommit, tree: str, stages: Sequence[Stages], repo: str
) -> Iterator[Case | None]:
    left = dict(MOST_OF_A_MERGE)
    for one in Random(merge.id).sample(stages, len(stages)):
        language = language_of(one.path) or ""
        if left[language]:
            case = _case(scratch, merge, tree, one, repo)
            left[language] -= case is not None
            yield case


def _case(
    scratch: Scratch, merge: MergeCommit, tree: str, stages: Stages, repo: str
) -> Case | None:
    names = (f"{merge.id}:{stages.path}", f"{tree}:{stages.path}")
    texts = [b""] if stages.base is None else []
    for name in filter(None, (stages.base, stages.ours, stages.theirs, *names)):
        found = scratch.reader.find(name)
        if found is None or found.kind != "blob" or len(found.content) > LARGEST:
            return None
        texts.append(found.content)
    if any(b"\0" in text for text in texts) or any(map(_LEFT.search, texts[:-1])):
        return None
    texts[-1] = relabelled(texts[-1], merge)
    regions = len(_BEGINS.findall(texts[-1]))
    key = sha256("\0".join((repo, merge.id, stages.path)).encode()).hexdigest()[:12]
    language = language_of(stages.path) or ""
    facts = (key, repo, stages.path, language, merge.made_at, merge.id)
    try:
        return _read(facts, texts, stages.base is not None, regions) if regions else None
    except UnicodeDecodeError:
        return None


def _read(
    facts: tuple[str, str, str, str, int, str], texts: Iterable[bytes], has_base: bool, regions: int
) -> Case:
    base, ours, theirs, expected, marked = (text.decode() for text in texts)
    return Case(*facts, base, ours, theirs, expected, marked, has_base, regions)


def relabelled(marked: bytes, merge: MergeCommit) -> bytes:
    """Return git's marked text with the labels that a text merge of the program has."""
    for sign, name, label in (
        (b"<", merge.ours.encode() + rb"(?::[^\r\n]*)?", b"ours"),
        (rb"\|", rb"[^\r\n]*", b"base"),
        (b">", merge.theirs.encode() + rb"(?::[^\r\n]*)?", b"theirs"),
    ):
        pattern = rb"^(" + sign + rb"{7}) " + name + rb"(?=\r?$)"
        marked = re.sub(pattern, rb"\1 " + label, marked, flags=re.MULTILINE)
    return marked


def _known(case: Case, seen: set[bytes]) -> bool:
    """Say whether the same regions of the same path were seen: merges are made again and again."""
    found = re.findall(r"^<{7} ours$.*?^>{7} theirs$", case.marked, re.MULTILINE | re.DOTALL)
    key = sha256("\0".join((case.path, *found)).encode()).digest()
    is_known = key in seen
    seen.add(key)
    return is_known


class Corpus:
    """Cases in one SQLite file, the texts compressed."""

    def __init__(self, path: Path) -> None:
        self._base = sqlite3.connect(path, timeout=120)
        self._base.execute("pragma journal_mode=wal")
        self._base.execute(_TABLE)

    def add(self, case: Case) -> None:
        """Keep a case; one with the same id is replaced."""
        texts = (case.base, case.ours, case.theirs, case.expected, case.marked)
        row = (case.id, case.repo, case.path, case.language, case.made_at, case.merge_commit)
        packed = tuple(zlib.compress(text.encode(), 3) for text in texts)
        values = (*row, *packed, case.has_base, case.regions)
        self._base.execute(f"insert or replace into cases values ({','.join('?' * 13)})", values)

    def commit(self) -> None:
        """Write what was added."""
        self._base.commit()

    def repositories(self) -> dict[str, int]:
        """Return the names of the repositories, each with its number of cases."""
        return dict(self._base.execute("select repo, count(*) from cases group by repo"))

    def cases(self, repo: str, language: str | None = None) -> Iterator[Case]:
        """Yield the cases of a repository, oldest first."""
        line = "select * from cases where repo = ? and (? is null or language = ?)"
        for row in self._base.execute(f"{line} order by made_at, id", (repo, language, language)):
            yield _read(row[:6], map(zlib.decompress, row[6:11]), bool(row[11]), row[12])


def _text(arguments: Sequence[str], git_dir: Path) -> str:
    _, printed = git_process.run(arguments, git_dir=git_dir)
    return printed.decode("utf-8", "replace")
