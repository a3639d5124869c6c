"""Search the files of a commit, without a checkout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import door

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def importing_files(
    git_dir: Path, commit: str, modules: Sequence[str], names: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the Python files of a commit that may import one of the names from a module.

    None where contents are missing, as in a partial clone.
    """
    wanted = [[n for n in words if _IDENTIFIER.fullmatch(n)] for words in (modules, names)]
    if not all(wanted):
        return ()
    either = [rf"\b({'|'.join(words)})\b" for words in wanted]
    # The name of a package is often left out inside of it: `from . import name`.
    lines = rf"(from|import).*{either[0]}|from +\.+ +import"
    arguments = ["grep", "-l", "-z", "-I", "--no-color", "--all-match", "-E", "-e", lines]
    arguments += ["-e", either[1], commit, "--", "*.py", "*.pyi"]
    try:
        _, printed = door.run(arguments, git_dir=git_dir, good=(0, 1))
    except PatchmgrError:
        return None
    return tuple(path.partition(":")[2] for path in door.text(printed).split("\0") if path)


def known_words(git_dir: Path, commit: str, words: Sequence[str]) -> frozenset[str]:
    """Return the words that stand anywhere in a commit's text; none where one cannot look."""
    if not words:
        return frozenset()
    arguments = ["grep", "-h", "-o", "-w", "-I", "-F", "--no-color"]
    for word in words:
        arguments += ["-e", word]
    try:
        _, printed = door.run([*arguments, commit, "--"], git_dir=git_dir, good=(0, 1))
    except PatchmgrError:
        return frozenset()
    return frozenset(door.text(printed).split("\n")) & frozenset(words)
