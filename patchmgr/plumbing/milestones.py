"""States of a git upstream on the way from one commit to another, for tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from patchmgr.plumbing import door
from patchmgr.plumbing.git_upstream import TAGS
from patchmgr.plumbing.stores import references

if TYPE_CHECKING:
    from packaging.version import Version


def tagged_releases(store: Path, start: str, end: str) -> tuple[tuple[str, str], ...]:
    """Return tag and commit of the final releases after one commit up to another, in order.

    Order and bounds are those of the versions: a release is often tagged on a branch of its
    own. A commit without such a tag counts as the highest version that it contains.
    """
    tags = {name: commit for name, commit in references(store, TAGS).items() if _version(name)}
    low, high = _bound(store, start, tags), _bound(store, end, tags)
    found: dict[Version, tuple[str, str]] = {}
    for name, commit in sorted(tags.items()):
        version = _version(name)
        if version is None or version.is_prerelease or high is None:
            continue
        if (low is None or low < version) and version <= high:
            found.setdefault(version, (name, commit))
    return tuple(found[version] for version in sorted(found))


def _bound(store: Path, commit: str, tags: dict[str, str]) -> Version | None:
    names = [name for name, tagged in tags.items() if tagged == commit]
    names = names or _names(store, TAGS, f"--merged={commit}")
    return max(filter(None, map(_version, names)), default=None)


def tags_of(repository: Path, prefix: str, commit: str) -> list[str]:
    """Return the names below the prefix of the tags on a commit, annotated ones too."""
    return _names(repository, prefix, f"--points-at={commit}")


def _names(repository: Path, prefix: str, which: str) -> list[str]:
    arguments = ["for-each-ref", "--format=%(refname)", which, prefix]
    printed = door.text(door.output(arguments, git_dir=repository))
    return [name.removeprefix(prefix) for name in printed.splitlines()]


def _version(name: str) -> Version | None:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(name)
    except InvalidVersion:
        return None


def every_commit(store: Path, start: str, end: str, step: int) -> tuple[str, ...]:
    """Return every so manieth commit after one up to another, by first parents, oldest first."""
    arguments = ["rev-list", "--first-parent", "--reverse", f"^{start}", end, "--"]
    commits = door.output(arguments, git_dir=store).decode().split()
    return tuple(commits[step - 1 :: step])
