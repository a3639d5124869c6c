"""Find new files in folders that upstream removed, and uses of removed files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import normpath

from patchmgr.engines.audit.places import all_added_lines
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.model.audit import AuditFinding

_PATH = re.compile(rb"(?<![\w.+/-])[\w.+/-]*\w\.\w+")  # once for each run: a line may be long
_QUOTED = re.compile(rb"""(?<=["'])%b(?=["'])""" % _PATH.pattern)
_NUMBER = re.compile(r"V?(\d{2,}|(?<=V)\d)(?=[_.-])")
_FEWEST_NUMBERED = 2  # files that show that a folder numbers its files


def _new_files(states: States) -> Iterator[tuple[str, str]]:
    for patch in states.patches:
        for change in patch.files if patch.is_carried else ():
            home = patch.homes.get(change.path, change.path)
            if change.old_path is None and states.carriers.get(home) == patch.name:
                yield patch.name, home


def files_in_removed_folders(states: States) -> Iterator[Told]:
    """Find new files of the series in folders that upstream has removed."""
    told: set[tuple[str, str]] = set()
    for name, path in _new_files(states):
        folder = _gone_folder(path, states)
        if folder and (name, folder) not in told:
            told.add((name, folder))
            first = min(states.base.tree.files_below(folder), default=None)
            commit = first and states.commit_since(first, lambda content: content is None)
            text = f"upstream no longer has the folder {folder}, where the patch puts this new file"
            yield name, AuditFinding("folder-gone", False, path, 0, None, text, commit)


def _gone_folder(path: str, states: States) -> str:
    """Return the innermost folder of a path that exists in the base, or "" if upstream kept it."""
    folder = path.rpartition("/")[0]
    while folder and not states.base.tree.is_directory(folder):
        folder = folder.rpartition("/")[0]
    return "" if states.onto.tree.is_directory(folder) else folder


def numbers_taken(states: States) -> Iterator[Told]:
    """Find new files of the series that have the same number as a new file of upstream.

    Only folders in which each number occurs once are checked, such as those of database migrations.
    """
    for name, path in _new_files(states):
        folder, _, number = _numbered(path)
        if not number or states.base.blob(path) is not None:
            continue
        every = [other for other in states.onto.tree.files_below(folder) if other != path]
        same = [other for other in every if _numbered(other)[:2] == _numbered(path)[:2]]
        old = [_numbered(o)[2] for o in same if _numbered(o)[2] and states.base.blob(o) is not None]
        taken = [other for other in same if _numbered(other)[2] == number]
        is_unique = len(set(old)) == len(old) >= _FEWEST_NUMBERED
        if taken and is_unique and number not in old:
            text = f"upstream has a new file with the number {number} as well: {taken[0]}"
            yield name, AuditFinding("defined-twice", False, path, 0, number, text)


def _numbered(path: str) -> tuple[str, str, str]:
    """Return a path's folder and suffix, and the number with which its file name begins."""
    folder, _, name = path.rpartition("/")
    number = _NUMBER.match(name)
    return folder, name.rpartition(".")[2], number[1] if number else ""


def gone_paths(states: States) -> Iterator[Told]:
    """Find lines of the series that contain the path of a file which upstream removed or moved."""
    gone = {
        path
        for path in states.changed_upstream
        if states.merged.blob(path) is None and states.written.blob(path) is not None
    }
    # Translations can name a path hundreds of times.
    told: set[tuple[str, str]] = set()
    for line in all_added_lines(states) if gone else ():
        # In Python, an unquoted path is in a comment.
        said = _QUOTED if line.path.endswith(PYTHON) else _PATH
        for word in (found.decode() for found in said.findall(line.text)):
            named = gone.intersection((word, normpath(f"{line.path}/../{word}")))
            for old in sorted(name for name in named if (line.patch, name) not in told):
                told.add((line.patch, old))
                commit = states.commit_since(old, lambda content: content is None)
                text = f"`{word}` is mentioned here, but upstream no longer has {old}."
                place = line.path, line.number, old
                yield line.patch, AuditFinding("path-gone", False, *place, text, commit)
