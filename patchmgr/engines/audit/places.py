"""Find out where a file of the result comes from, and which patch added each new line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from patchmgr.engines.audit.states import UNKNOWN, AuditedPatch, States
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import changed_blocks
from patchmgr.model.patch import FilePatch


def written_path(states: States, path: str) -> str:
    """Return the path that a file of the rebased series had in the series before the rebase."""
    if states.written.blob(path) is not None:
        return path
    for patch in reversed(states.patches):
        for old, home in patch.homes.items():
            if home == path and states.written.blob(old) is not None:
                return old
    return path


def upstream_path(states: States, path: str) -> str:
    """Return the path that upstream has for a file of the result; a patch may rename the file."""
    names = _names(states, path)
    return next((name for name in names if states.onto.blob(name) is not None), path)


def base_path(states: States, path: str) -> str:
    """Return the path that a file of the result has in base; either side may rename it."""
    path = written_path(states, path)
    names = _names(states, path)
    return next((name for name in names if states.base.blob(name) is not None), path)


def _names(states: States, path: str) -> tuple[str, ...]:
    """Return the path of a file, and then the paths that it had before patches renamed it."""
    renamed = states.once("renamed", lambda: dict(_renamed(states)))
    names = {path: None}
    while (old := renamed.get(path)) is not None and old not in names:
        names[path := old] = None
    return tuple(names)


def _renamed(states: States) -> Iterator[tuple[str, str]]:
    """Yield (new path, old path) for each file that a carried patch renames.

    If upstream moved the file, the paths that it has in the result are yielded as a second pair.
    """
    homes: dict[str, str] = {}
    for patch in states.patches:
        for change in patch.files if patch.is_carried else ():
            if change.is_rename and change.old_path is not None:
                yield change.path, change.old_path
                home = patch.homes.get(change.path, change.path)
                if home != change.path:
                    yield home, homes.get(change.old_path, change.old_path)
        homes |= patch.homes


def merged_files(
    states: States, suffixes: str | tuple[str, ...] = ""
) -> Iterator[tuple[str, tuple[bytes, bytes, bytes, bytes]]]:
    """Yield the path and contents of each file of the series that both sides changed.

    The contents (base, series, upstream's new state, result) are all known, and all differ.
    """
    for path in states.carriers:
        files = (
            (states.base, base_path(states, path)),
            (states.written, written_path(states, path)),
            (states.onto, upstream_path(states, path)),
            (states.merged, path),
        )
        blobs = {side.blob(at) for side, at in files if path.endswith(suffixes)} - {None}
        if len(blobs) == len(files):
            base, written, onto, merged = (side.read(at) or b"" for side, at in files)
            if UNKNOWN not in (base, written, onto, merged):
                yield path, (base, written, onto, merged)


def source_path(states: States, path: str) -> str:
    """Return the path that a file of the rebased series, or its code, had before the rebase."""
    old = written_path(states, path)
    if old != path or path not in states.carriers:
        return old
    if path in states.once("patched paths", lambda: _paths_of(states.patches)):
        return path
    known = set((states.onto.read(upstream_path(states, path)) or b"").split(b"\n"))
    own = {line.strip() for line in (states.merged.read(path) or b"").split(b"\n")}
    own -= {line.strip() for line in known}
    for change in (change for p in states.patches if p.is_carried for change in p.files):
        added = {line[1:].strip() for h in change.hunks for line in h.lines if line[:1] == b"+"}
        if added & own and states.written.blob(change.path) is not None:
            return change.path
    return path


def _paths_of(patches: Iterable[AuditedPatch]) -> frozenset[str]:
    """Return the old and new paths in some patches, and the paths of their files in the result."""
    return frozenset(
        path
        for patch in patches
        for change in patch.files
        for path in (change.old_path, change.new_path, patch.homes.get(change.path))
        if path is not None
    )


def waiting_paths(states: States) -> frozenset[str]:
    """Return the paths of all files that a patch in conflict, or a blocked patch, changes."""
    return _paths_of(patch for patch in states.patches if patch.is_left)


def patch_of_line(states: States, path: str, number: int, *, is_removed: bool = False) -> str:
    """Return the last patch that adds a line of the result, or else that changes the file.

    Lines are numbered from 1. If `is_removed`, the line is one of upstream's file that the patch
    removes.
    """
    there = upstream_path(states, path)
    lines = states.onto.lines(there) if is_removed else states.merged.lines(path)
    line = lines[number - 1].strip() if number else b""
    authors = _authors(states, path, b"-" if is_removed else b"+")
    return authors.get(line, states.carriers.get(path, ""))


def patch_of_texts(states: States, path: str, texts: Iterable[str]) -> str:
    """Return the last patch that adds or removes a line with the first of these texts.

    If no patch does, the next text is tried. If no text is found, returns the last patch that
    changes the file.
    """
    for text in texts:
        for sign in (b"+", b"-"):
            for line, name in reversed(_authors(states, path, sign).items()):
                if text.encode("utf-8", "surrogateescape") in line:
                    return name
    return states.carriers.get(path, "")


def added_lines(states: States, path: str) -> dict[int, str]:
    """Map the number of each line that upstream lacks to the patch that adds the line."""
    blobs = states.merged.blob(path), states.onto.blob(upstream_path(states, path))
    if blobs[0] == blobs[1]:
        return {}
    return states.once(f"added lines {path} {blobs}", lambda: _added_lines(states, path))


class AddedLine(Struct, frozen=True):
    """A line that the series adds, with its path, line number and patch."""

    path: str
    number: int
    patch: str
    text: bytes


def all_added_lines(states: States, suffixes: tuple[str, ...] = ("",)) -> Iterator[AddedLine]:
    """Yield each line that upstream lacks, in the files of the result with one of the suffixes."""
    for path in states.carriers:
        added = added_lines(states, path) if path.endswith(suffixes) else {}
        texts = states.merged.lines(path) if added else []
        yield from (AddedLine(path, n, patch, texts[n - 1]) for n, patch in added.items())


def _added_lines(states: States, path: str) -> dict[int, str]:
    merged = split_lines(states.merged.read(path) or b"")
    onto = split_lines(states.onto.read(upstream_path(states, path)) or b"")
    last, authors = states.carriers.get(path, ""), _authors(states, path, b"+")
    return {
        number + 1: authors.get(merged[number].strip(), last)
        for block in changed_blocks(onto, merged)
        for number in range(block.new_start, block.new_end)
    }


def _authors(states: States, path: str, sign: bytes) -> dict[bytes, str]:
    """Map each added (or removed) line to the last patch that adds (or removes) it."""
    changes = states.once("changes", lambda: _changes(states))
    return {
        line[1:].strip(): name
        for each in reversed(_names(states, path))
        for name, change in changes.get(each, ())
        for hunk in change.hunks
        for line in hunk.lines
        if line[:1] == sign
    }


def _changes(states: States) -> dict[str, list[tuple[str, FilePatch]]]:
    """Map each path to the changes that carried patches make to its file, as (patch, change)."""
    found = defaultdict[str, list[tuple[str, FilePatch]]](list)
    for patch in states.patches:
        for change in patch.files if patch.is_carried else ():
            for path in {patch.homes.get(change.path, change.path), change.path, change.old_path}:
                if path is not None:
                    found[path].append((patch.name, change))
    return found
