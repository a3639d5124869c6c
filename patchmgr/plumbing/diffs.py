"""Find differences between states of a repository, and search the files of a state, with git."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.sections import unquote
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.git_process import DIFF_FORM
from patchmgr.plumbing.history import changes_between
from patchmgr.plumbing.renames import present_blobs
from patchmgr.plumbing.scratch_repository import Scratch

Versions = Mapping[str, tuple["Entry | None", Entry]]


def changed_files(git_dir: Path, old: str, new: str) -> Versions:
    """Map each added or changed regular file to its old and new entry (None: no regular file)."""
    found: dict[str, tuple[Entry | None, Entry]] = {}
    for path, (before, after) in changes_between(git_dir, old, new).items():
        if after is not None and after.mode in FILE_MODES:
            is_file = before is not None and before.mode in FILE_MODES
            found[path] = before if is_file else None, after
    return found


def changed_paths(git_dir: Path, old: str, new: str) -> tuple[str, ...]:
    """Return the paths of all files that are added, deleted or changed between two states."""
    options = ("-r", "-z", "--name-only", "--no-renames")
    return tuple(git_process.fields(git_dir, "diff-tree", *options, old, new))


def readable_files(
    scratch: Scratch,
    old: str,
    new: str,
    *,
    is_wanted: Callable[[str], bool],
    bring: Callable[[set[str]], None] = lambda blobs: None,
) -> tuple[Versions, bool]:
    """Return the changed files for which `is_wanted` is true and whose contents can be read.

    Also return whether no file was left out. `bring` fetches blobs that the store lacks.
    """
    files = {p: v for p, v in changed_files(scratch.git_dir, old, new).items() if is_wanted(p)}
    blobs = {entry.blob for versions in files.values() for entry in versions if entry is not None}
    bring(blobs)
    present = present_blobs(scratch, blobs)
    found = {
        path: versions
        for path, versions in files.items()
        if all(entry is None or entry.blob in present for entry in versions)
    }
    return found, len(found) == len(files)


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def importing_files(
    git_dir: Path, commit: str, modules: Sequence[str], names: Sequence[str]
) -> tuple[str, ...] | None:
    """Return a commit's Python files that may import the names, or None if contents are missing."""
    wanted = [[n for n in words if _IDENTIFIER.fullmatch(n)] for words in (modules, names)]
    if not all(wanted):
        return ()
    either = [rf"\b({'|'.join(words)})\b" for words in wanted]
    # Inside a package, the name of the package is often left out: `from . import name`.
    lines = rf"(from|import).*{either[0]}|from +\.+ +import"
    options = ("-l", "-z", "--all-match", "-E")
    printed = _grep(git_dir, options, (lines, either[1]), commit, "*.py", "*.pyi")
    if printed is None:
        return None
    return tuple(path.partition(":")[2] for path in printed.split("\0") if path)


def _grep(
    git_dir: Path, options: Sequence[str], words: Sequence[str], commit: str, *globs: str
) -> str | None:
    """Return what `git grep` prints, or None if contents are missing, as in a partial clone."""
    sought = [part for word in words for part in ("-e", word)]
    arguments = ["grep", "-I", "--no-color", *options, *sought, commit, "--", *globs]
    try:
        return git_process.text(git_process.run(arguments, git_dir=git_dir, good=(0, 1))[1])
    except PatchmgrError:
        return None


def known_words(git_dir: Path, commit: str, words: Sequence[str]) -> frozenset[str]:
    """Return which of the words occur in a commit's files, or none if git cannot search."""
    printed = _grep(git_dir, ("-h", "-o", "-w", "-F"), words, commit) if words else None
    return frozenset((printed or "").split("\n")) & frozenset(words)


def lines_with(
    git_dir: Path, commit: str, words: Sequence[str], suffix: str
) -> tuple[tuple[str, int, str], ...] | None:
    """Return the path, line number (from 1) and text of each line that contains one of the words.

    Only files with this suffix are searched, and at most 20 lines of each are returned. Returns
    None if contents are missing, as in a partial clone.
    """
    options = ("-n", "-z", "-w", "-F", "--max-count=20")
    printed = _grep(git_dir, options, words, commit, f"*{suffix}")
    if printed is None:
        return None
    rows = (line.split("\0", 2) for line in printed.split("\n") if line)
    return tuple((path.partition(":")[2], int(number), text) for path, number, text in rows)


WINDOW = 300
RELEASES = 20

_DRIVERS = (
    "*.py diff=python\n*.pyi diff=python\n"
    + "".join(f"*.{end} diff=cpp\n" for end in ("c", "cc", "cpp", "cu", "cuh", "cxx", "h", "hpp"))
)  # fmt: skip
_RECORD = "\x01"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")

Changes = Sequence[tuple[str, str, str]]
"""The changed hunks, each as (commit, path, heading of the hunk)."""


_LOOK = (
    "-p", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv",
    "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


def release_changes(
    git_dir: Path, commits: Sequence[str], paths: Sequence[str], *, scratch: Path
) -> tuple[int, Changes] | None:
    """Return how many pairs of successive releases were compared, and the hunks between them.

    `commits` are the releases, oldest first; only the last 20 pairs are compared. Returns None if
    there are fewer than two releases.
    """
    last = commits[-RELEASES - 1 :]
    if len(last) < 2:
        return None
    printed = ""
    for old, new in pairwise(last):
        arguments = ["--literal-pathspecs", *_with_drivers(scratch), "diff", *_LOOK, old, new]
        diff = git_process.ask(git_dir, *arguments, "--", *paths)
        printed += f"{_RECORD}{new}\n{diff}"
    return len(last) - 1, _headed(printed)


def _with_drivers(scratch: Path) -> tuple[str, str]:
    attributes = scratch / "attributes"
    attributes.write_text(_DRIVERS)
    return "-c", f"core.attributesFile={attributes}"


def recent_changes(
    git_dir: Path, commit: str, paths: Sequence[str], *, scratch: Path
) -> tuple[int, Changes] | None:
    """Return how many commits were examined (at most 300), and the commits' hunks in the paths.

    Only first parents are followed. Returns None if history or contents are missing.
    """
    try:
        line = ["rev-list", "--first-parent", "--count", f"--max-count={WINDOW + 1}", commit, "--"]
        window = int(git_process.ask(git_dir, *line)) - 1
        if window < 1:
            return None
        arguments = [
            "--literal-pathspecs", *_with_drivers(scratch), "log", "--first-parent", "-m", *_LOOK,
            f"--format=tformat:{_RECORD}%H", f"{commit}~{window}..{commit}", "--", *paths,
        ]  # fmt: skip
        return window, _headed(git_process.ask(git_dir, *arguments))
    except PatchmgrError:
        return None


def _headed(printed: str) -> Changes:
    return [(commit, path, match[5]) for commit, path, match in _hunks(printed)]


def _hunks(printed: str) -> Iterator[tuple[str, str, re.Match[str]]]:
    """Yield (commit or "", new path, match of the hunk header) for each hunk."""
    commit = path = ""
    for line in printed.split("\n"):
        if line.startswith(_RECORD):
            commit, path = line[1:], ""
        elif line.startswith("diff --git "):
            path = ""
        elif line.startswith(("+++ b/", '+++ "b/')) and not path:
            quoted = unquote(git_process.raw(line[4:]))
            name = line[4:].rstrip("\t") if quoted is None else git_process.text(quoted[0])
            path = name.removeprefix("b/")
        elif line.startswith("@@ ") and path and (match := _HUNK.match(line)):
            yield commit, path, match


# --unified would make git print the text of the diff as well.
_WITHOUT_TEXT = [option for option in DIFF_FORM if not option.startswith("--unified")]


def commit_diffs(
    git_dir: Path,
    commits: Sequence[str],
    *,
    finds_renames: bool = True,
    folder: str = "",
    scratch: Path | None = None,
) -> dict[str, bytes]:
    """Map each commit id to the diff of that commit against its parent.

    `folder` is inserted before each path. With `scratch`, git writes to a file in that folder.
    """
    if not commits:
        return {}
    arguments = ["diff-tree", "--stdin", "-r", "-p", "--root", "--always", "--binary", *DIFF_FORM]
    if not finds_renames:
        arguments.append("--no-renames")
    if folder:
        arguments += [f"--src-prefix=a/{folder}/", f"--dst-prefix=b/{folder}/"]
    data = git_process.words(commits)
    if scratch is None:
        printed = git_process.output(arguments, git_dir=git_dir, data=data)
    else:
        with tempfile.TemporaryFile(dir=scratch) as asked:
            asked.write(data)
            asked.seek(0)
            printed = git_process.output_by_files(
                arguments, git_dir=git_dir, data=asked, scratch=scratch
            )
    return _diffs_in(b"\n" + printed, commits)


def _diffs_in(printed: bytes, commits: Sequence[str]) -> dict[str, bytes]:
    found, end = dict[str, bytes](), len(printed)
    for commit in reversed(commits):
        head = b"\n" + commit.encode() + b"\n"
        at = printed.rindex(head, 0, end)
        found[commit] = printed[at + len(head) : end].removeprefix(b"\n")
        end = at + 1  # the newline of the line before, which may be an empty commit's id
    return found


def tree_diff(git_dir: Path, old: str, new: str) -> bytes:
    """Return the diff between two trees or commits, with binary files as git binary patches."""
    arguments = ["diff-tree", "-r", "-p", "--binary", *DIFF_FORM, old, new]
    return git_process.output(arguments, git_dir=git_dir)


def diff_of_paths(git_dir: Path, old: str, new: str, paths: Sequence[str]) -> str:
    """Return the diff of some paths between two commits, or "" if contents are missing."""
    arguments = ["--literal-pathspecs", "diff-tree", "-r", "-p", *DIFF_FORM, old, new, "--", *paths]
    try:
        return git_process.ask(git_dir, *arguments)
    except PatchmgrError:
        return ""


def numstat(git_dir: Path, old: str, new: str) -> Mapping[str, tuple[int, int] | None]:
    """Map the new path of each changed file to its added and removed lines (None: if binary)."""
    arguments = ["diff-tree", "-r", "-z", "--numstat", *_WITHOUT_TEXT, "--no-rename-empty"]
    fields = iter(git_process.ask(git_dir, *arguments, old, new).split("\0"))
    found: dict[str, tuple[int, int] | None] = {}
    for field in fields:
        if not field:
            continue
        added, removed, path = field.split("\t")
        if not path:
            next(fields)
            path = next(fields)
        found[path] = None if added == "-" else (int(added), int(removed))
    return found


def changed_lines(
    git_dir: Path, old: str, new: str
) -> Mapping[str, tuple[tuple[int, int, int, int], ...]]:
    """Map the new path of each changed file to its hunks.

    A hunk is the first line and the number of lines in the old text, then the same in the new text.
    """
    arguments = ["diff-tree", "-r", "-p", "--unified=0", *_WITHOUT_TEXT, old, new]
    found: dict[str, list[tuple[int, int, int, int]]] = {}
    for _, path, match in _hunks(git_process.ask(git_dir, *arguments)):
        a, n, b, m = (1 if part is None else int(part) for part in match.groups()[:4])
        found.setdefault(path, []).append((a, n, b, m))
    return {name: tuple(hunks) for name, hunks in found.items()}


def last_authors(git_dir: Path, old: str, new: str, paths: Collection[str]) -> tuple[str, ...]:
    """Return the last authors of the lines that differ, the author of the most lines first.

    Raises PatchmgrError if contents are missing, as in a partial clone.
    """
    names: Counter[str] = Counter()
    for path, hunks in changed_lines(git_dir, old, new).items():
        spans = [f"-L{max(first, 1)},+{max(count, 1)}" for first, count, _, _ in hunks]
        if path in paths:
            arguments = ["blame", "--line-porcelain", *spans, old, "--", path]
            lines = (git_process.answer(git_dir, *arguments, good=(0, 128)) or "").split("\n")
            names.update(x.removeprefix("author ") for x in lines if x.startswith("author "))
    return tuple(name for name, _ in names.most_common())
