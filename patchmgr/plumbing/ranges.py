"""The commits of a range in somebody's repository, as mailbox patches."""

from __future__ import annotations

import re
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.mboxes import split_mbox
from patchmgr.formats.shown import shown
from patchmgr.plumbing import door
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.forks import commit_named

# All that the repository's own configuration (format.*, diff.*, i18n.*) could change.
_FORM = (
    "--stdout", "--keep-subject", "--no-stat", "--no-signature", "--no-zero-commit", "--full-index",
    "--binary", "--no-encode-email-headers", "--find-renames=50%", "-l0", "--no-thread",
    "--no-attach", "--no-cover-letter", "--no-base", "--no-ext-diff", "--no-textconv", "--no-color",
    "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
    "--no-relative", "--submodule=short", "--ignore-submodules=none", "--topo-order",
    "--no-notes", "--no-from", "--no-to", "--no-cc", "--no-add-header",
    "--no-signoff", "--encoding=UTF-8", "--inter-hunk-context=0", "--indent-heuristic",
    "-O/dev/null", "--suffix=.patch", "--pretty=mboxrd",
)  # fmt: skip
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)  # no line of a diff begins so


def range_patches(repository: Path, commits: str) -> tuple[list[bytes], dict[str, str]]:
    """Return the commits of `A..B`, oldest first, as mails, and the dates of all of them.

    Raises PatchmgrError "usage" where the repository or the range is none, and "unknown-ref" where
    an end of it is none.
    """
    git_dir = find_git_dir(repository)
    for end in range_ends(commits):
        commit_named(git_dir, end, repository)
    return range_mails(git_dir, commits), commit_dates(git_dir, commits)


def range_mails(git_dir: Path, *revisions: str) -> list[bytes]:
    """Return commits, oldest first, as mails, without merges and what changes nothing.

    Each mail's first line names its commit.
    """
    # Away from the current directory, which git would take for the work tree, attributes and all.
    line = ["format-patch", *_FORM, *revisions, "--"]
    box = door.output(line, git_dir=git_dir, cwd=git_dir)
    return [_QUOTED.sub(rb"\1", mail) for mail in split_mbox(box) if mail.strip()]


def range_ends(commits: str) -> tuple[str, str]:
    """Return both ends of a range; raise PatchmgrError "usage" where it is none."""
    first, dots, last = commits.partition("..")
    if not dots or not first or not last or commits.startswith("-") or last.startswith("."):
        raise PatchmgrError("usage", f"{commits} is no range A..B")
    return first, last


def commit_dates(git_dir: Path, *revisions: str) -> dict[str, str]:
    """Return the committer date of each commit, as `2024-01-31 12:00:00 +0100`."""
    # --no-walk is for single commits: git walks a range all the same.
    arguments = ["rev-list", "--no-walk", "--no-commit-header", "--format=%H %ci", "--stdin"]
    data = door.raw("".join(f"{revision}\n" for revision in revisions))
    printed = door.output(arguments, git_dir=git_dir, data=data).decode()
    rows = (line.partition(" ") for line in printed.splitlines())
    return {commit: date for commit, _, date in rows}


def tree_named(git_dir: Path, name: str) -> str:
    """Return the tree of a commit, tag, branch or tree id; raise PatchmgrError "unknown-ref"."""
    arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}"]
    code, printed = door.run(arguments, git_dir=git_dir, good=(0, 1, 128))
    if code:
        raise PatchmgrError("unknown-ref", f"{git_dir} has no tree {shown(name)}")
    return printed.decode().strip()
