"""What a person edited in a checkout since patches were pushed, and what git does not track."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os.path import normpath
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path
from patchmgr.formats.shown import shown
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.checkout_changes import found_file
from patchmgr.services.open_series import OpenSeries


def edited_files(opened: OpenSeries, only: Sequence[str] = ()) -> dict[str, Entry | None]:
    """Return by path how the files are that differ from what the pushed patches make of them.

    Without names, those are files that git tracks, was told of (`git add`), or that a patch
    made; with names, these files or what is below these folders. An empty name is the top.
    """
    checkout = opened.need_checkout()
    candidates = {*checkout.clone.changed_paths(), *opened.state}
    if only:
        named = {path for path in only if path and not checkout.tree.is_folder(path)}
        below = {p for folder in set(only) - named for p in _files_below(opened, folder)}
        candidates = {p for p in candidates if is_in(p, only)} | named | below
    found = _entries_now(opened, sorted(candidates - set(opened.rejects)))
    found = {p: e for p, e in found.items() if e != opened.ground.entry(opened.state, p)}
    for path in filter(None, only):
        is_known = path in found or opened.ground.pin.entry(path) is not None
        is_known = is_known or any(path in state for state in opened.states)
        if not is_known and not any(is_in(p, (path,)) for p in candidates - {path}):
            raise PatchmgrError("usage", f"there is no file {shown(path)} in {checkout.root}")
    return found


def _entries_now(opened: OpenSeries, paths: Sequence[str]) -> dict[str, Entry | None]:
    """Return how files are now, as git has them; their contents are in the bench."""
    checkout = opened.need_checkout()
    files = {
        check_path(path, what="The path"): (
            None if checkout.tree.is_folder(path) else found_file(checkout, path)
        )
        for path in paths
    }
    now = checkout.clone.conversion.as_git(
        files,
        lambda: {path: opened.content(path, opened.state) for path in (*paths, *opened.state)},
        opened.applied,
    )
    for content in now.values():
        if content is not None:
            opened.bench.add(content.content)
    return {path: content.entry if content else None for path, content in now.items()}


def _files_below(opened: OpenSeries, folder: str) -> set[str]:
    """Return the files below a folder that git does not ignore."""
    return {path for path in opened.need_checkout().clone.untracked() if is_in(path, (folder,))}


def is_in(path: str, places: Collection[str]) -> bool:
    """Say whether a path is one of the places, or below one."""
    return any(not place or path == place or path.startswith(place + "/") for place in places)


def untracked_files(opened: OpenSeries, but: Collection[str] = ()) -> tuple[str, ...]:
    """Return the files that git neither tracks nor ignores and that no pushed patch made."""
    known = {*opened.state, *opened.rejects, *but}
    return tuple(p for p in opened.need_checkout().clone.untracked() if p not in known)


def paths_of(opened: OpenSeries, given: Sequence[str], cwd: Path) -> tuple[str, ...]:
    """Return paths below the checkout: as seen from a folder in it, else from its top.

    The top itself is empty.
    """
    root = opened.need_checkout().root
    start = cwd if cwd.is_relative_to(root) else root
    found = []
    for name in given:
        whole = Path(normpath(start / name))
        if not whole.is_relative_to(root):
            raise PatchmgrError("usage", f"{shown(name)} is no path below {root}")
        path = "" if whole == root else whole.relative_to(root).as_posix()
        found.append(path and check_path(path, what="The path"))
    return tuple(found)
