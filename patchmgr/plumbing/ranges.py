"""The commits of a range in somebody's repository, as mailbox patches."""

from __future__ import annotations

from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import door

_FORM = (
    "--stdout", "--keep-subject", "--no-stat", "--no-signature", "--zero-commit", "--full-index",
    "--binary", "--no-encode-email-headers", "--find-renames=50%", "-l0", "--no-thread",
    "--no-attach", "--no-cover-letter", "--no-base", "--no-ext-diff", "--no-textconv", "--no-color",
    "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
    "--no-relative", "--submodule=short", "--ignore-submodules=none", "--topo-order",
)  # fmt: skip


def range_patches(repository: Path, commits: str) -> bytes:
    """Return the commits of `A..B` without merges, oldest first, as one mailbox.

    Raises PatchmgrError "usage" where the repository or the range is none.
    """
    import git

    first, dots, last = commits.partition("..")
    if not dots or not first or not last or commits.startswith("-") or last.startswith("."):
        raise PatchmgrError("usage", f"{commits} is no range A..B")
    try:
        with git.Repo(repository) as found:
            git_dir = Path(found.git_dir)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError) as fault:
        raise PatchmgrError("usage", f"{repository} is no git repository") from fault
    for end in (first, last):
        code, _ = door.run(
            ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{end}^{{commit}}"],
            git_dir=git_dir,
            good=(0, 1, 128),
        )
        if code:
            raise PatchmgrError("unknown-ref", f"{repository} has no commit {end}")
    return door.output(["format-patch", *_FORM, commits], git_dir=git_dir)
