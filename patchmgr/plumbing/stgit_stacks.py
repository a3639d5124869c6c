"""StGit's stacks in somebody's repository."""

from __future__ import annotations

from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.stgit_stacks import PLACES, Stack, read_stack
from patchmgr.plumbing import door
from patchmgr.plumbing.clones import find_git_dir


def find_stack(repository: Path, branch: str | None) -> tuple[Path, Stack]:
    """Return the repository's git directory and the stack on a branch, or on the one checked out.

    Raises PatchmgrError "usage" where the branch has none.
    """
    git_dir = find_git_dir(repository)
    name = branch or _checked_out(repository)
    for place in reversed(PLACES):
        what = f"refs/{place.format(branch=name)}"
        code, printed = door.run(["cat-file", "blob", what], git_dir=git_dir, good=(0, 128))
        if code == 0:
            return git_dir, read_stack(printed)
    hint = f"stg lists the branches with a stack: stg -C {repository} branch --list"
    message = f"the branch {name} in {repository} has no stack of StGit"
    raise PatchmgrError("usage", message, (hint,))


def _checked_out(repository: Path) -> str:
    code, printed = door.run(
        ["symbolic-ref", "--quiet", "--short", "HEAD"], cwd=repository, good=(0, 1, 128)
    )
    if code:
        message = f"{repository} has no branch checked out"
        raise PatchmgrError("usage", message, ("name the branch behind --stgit REPO",))
    return door.text(printed).strip()
