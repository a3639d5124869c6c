"""Diffs of commits as git writes them, canonical and whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from patchmgr.plumbing import door

_FORM = (
    "--full-index", "--find-renames=50%", "-l0", "--no-ext-diff", "--no-textconv",
    "--no-color", "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
    "--no-relative", "--submodule=short", "--ignore-submodules=none", "--indent-heuristic",
    "--inter-hunk-context=0",
)  # fmt: skip

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def commit_diffs(
    git_dir: Path,
    commits: Sequence[str],
    *,
    finds_renames: bool = True,
    folder: str = "",
    scratch: Path | None = None,
) -> dict[str, bytes]:
    """Return commit id to its diff against its parent, for all commits in one process.

    A `folder` stands before each path, behind `a/` and `b/`. What git prints goes by a file in
    `scratch`, where that is given.
    """
    if not commits:
        return {}
    arguments = ["diff-tree", "--stdin", "-r", "-p", "--root", "--always", "--binary", *_FORM]
    if not finds_renames:
        arguments.append("--no-renames")
    if folder:
        arguments += [f"--src-prefix=a/{folder}/", f"--dst-prefix=b/{folder}/"]
    data = "".join(f"{commit}\n" for commit in commits).encode()
    printed = b"\n" + door.output(arguments, git_dir=git_dir, data=data, scratch=scratch)
    found: dict[str, bytes] = {}
    for commit in reversed(commits):
        printed, end, diff = printed.rpartition(b"\n" + commit.encode() + b"\n")
        printed += end[:1]  # it ends the line before, which may be the id of an empty commit
        found[commit] = diff.removeprefix(b"\n")
    return found


def tree_diff(git_dir: Path, old: str, new: str) -> bytes:
    """Return the diff between two trees or commits."""
    return door.output(["diff-tree", "-r", "-p", "--binary", *_FORM, old, new], git_dir=git_dir)


def numstat(git_dir: Path, old: str, new: str) -> Mapping[str, tuple[int, int] | None]:
    """Return new path to (added, removed) lines between two trees, None for binaries."""
    # Without what asks for the text of the diff, too: --unified does.
    form = [option for option in _FORM if not option.startswith("--unified")]
    arguments = ["diff-tree", "-r", "-z", "--numstat", *form, old, new]
    fields = iter(door.text(door.output(arguments, git_dir=git_dir)).split("\0"))
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


def renamed_paths(git_dir: Path, old: str, new: str) -> Mapping[str, str]:
    """Return new path to old path of the files that move between two trees (50 % alike)."""
    arguments = ["diff-tree", "-r", "-z", "--name-status", "--find-renames=50%", "-l0"]
    printed = door.output([*arguments, "--diff-filter=R", old, new], git_dir=git_dir)
    fields = door.text(printed).split("\0")
    return dict(zip(fields[2::3], fields[1::3], strict=False))


def changed_lines(
    git_dir: Path, old: str, new: str
) -> Mapping[str, tuple[tuple[int, int, int, int], ...]]:
    """Return new path to the hunks between two trees, without context.

    A hunk is its first line and number of lines in the old text, and in the new one.
    """
    form = [option for option in _FORM if not option.startswith("--unified")]
    arguments = ["-c", "core.quotePath=false", "diff-tree", "-r", "-p", "--unified=0", *form, old]
    found: dict[str, list[tuple[int, int, int, int]]] = {}
    path = ""
    for line in door.text(door.output([*arguments, new], git_dir=git_dir)).split("\n"):
        if line.startswith("diff --git "):
            path = ""
        elif line.startswith("+++ b/") and not path:
            path = line[6:].rstrip("\t")
        elif line.startswith("@@ ") and path:
            match = _HUNK.match(line)
            if match is not None:
                a, n, b, m = (1 if part is None else int(part) for part in match.groups())
                found.setdefault(path, []).append((a, n, b, m))
    return {name: tuple(hunks) for name, hunks in found.items()}
