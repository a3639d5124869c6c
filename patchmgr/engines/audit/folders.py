"""New files in a folder that upstream has no more."""

from __future__ import annotations

from collections.abc import Iterator

from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.model.audit import AuditFinding


def lonely_files(states: States) -> Iterator[Told]:
    """Yield the new files whose folder was there before the series, and is gone upstream.

    What followed its folder is none of these.
    """
    for patch in states.patches:
        told: set[str] = set()
        for change in patch.files if patch.is_carried else ():
            home = patch.homes.get(change.path, change.path)
            folder = None if change.old_path is not None else _gone_folder(home, states)
            if folder not in (None, *told) and states.carriers.get(home) == patch.name:
                assert folder is not None
                told.add(folder)
                yield patch.name, _finding(home, folder, states)


def _gone_folder(path: str, states: States) -> str | None:
    """Return the innermost folder of base around a path, if upstream has it no more."""
    folder = path.rpartition("/")[0]
    while folder and not _is_folder(states.base, folder):
        folder = folder.rpartition("/")[0]
    return folder if folder and not _is_folder(states.onto, folder) else None


def _is_folder(side: Files, path: str) -> bool:
    return side.tree.is_directory(path)


def _finding(path: str, folder: str, states: States) -> AuditFinding:
    files = sorted(states.base.tree.files_below(folder))
    steps = [states.since(file, lambda content: content is None) for file in files[:1]]
    commit = next((step.commit for step in steps if step is not None), None)
    text = f"upstream has no folder {folder} any more, in which the patch puts this new file"
    return AuditFinding("folder-gone", False, path, 0, None, text, commit)
