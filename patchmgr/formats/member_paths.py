"""Which paths an archive member may have."""

from __future__ import annotations

import re

_DRIVE = re.compile(r"[A-Za-z]:")
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_LONGEST = 4096
_DISGUISES = frozenset({".git", "git~1"})


def safe_path(name: str) -> str:
    """Return the member's path without empty and `.` parts.

    Raises ValueError, saying what is wrong, for a path that could leave the tree or be taken
    for git's own directory by any file system.
    """
    if len(name) > _LONGEST:
        raise ValueError("has too long a name")
    if "\0" in name or "\\" in name:
        raise ValueError("has a NUL or a backslash in its name")
    if name.startswith("/") or _DRIVE.match(name):
        raise ValueError("has an absolute path")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError("leaves the archive")
    if any(is_git_directory(part) for part in parts):
        raise ValueError("is inside a .git directory")
    return "/".join(parts)


def is_git_directory(part: str) -> bool:
    """Say whether some file system takes this path component for `.git`."""
    visible = _IGNORED_BY_HFS.sub("", part).lower()
    return visible in _DISGUISES or visible.split(":")[0].rstrip(" .") in _DISGUISES


def is_inside(link: str, target: str) -> bool:
    """Say whether a symbolic link at the path `link` stays in the tree, whatever else is in it.

    `..` may only lead the target: behind a name it would climb from wherever that name leads.
    """
    if not target or target.startswith("/") or _DRIVE.match(target):
        return False
    if "\0" in target or "\\" in target:
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    climbs = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
    down = parts[climbs:]
    return climbs <= link.count("/") and ".." not in down and not any(map(is_git_directory, down))
