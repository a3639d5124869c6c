"""What came through without a conflict, and yet a person should look at.

A file that both sides changed, and whose merge has names that are bound nowhere, or defines
something twice; an import that resolves on the side that a patch is written against, or upstream,
and not in the merged tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from patchmgr.engines.fold import Overlay
from patchmgr.engines.rebase import Judged
from patchmgr.engines.solving import Suspect
from patchmgr.engines.structure.guards_imports import unresolved_imports
from patchmgr.engines.structure.sides import Texts
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import Verdict
from patchmgr.model.ports import Blobs, Tree
from patchmgr.model.snapshot import FILE_MODES, Entry

_UNKNOWN = b"("
_PYTHON = (".py", ".pyi")


@dataclass(frozen=True, slots=True)
class _Files:
    """One state of all files, as the check of imports asks for it."""

    tree: Overlay
    blobs: Blobs

    def exists(self, path: str) -> bool:
        """Say whether the path is a file or a folder."""
        return self.tree.entry(path) is not None or self.tree.is_directory(path)

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file.

        What nobody has (a mirror may lack large files) is no Python: it may hold anything.
        """
        entry = self.tree.entry(path)
        if entry is None or entry.mode not in FILE_MODES:
            return None
        try:
            return self.blobs.read(entry.blob)
        except PatchmgrError:
            return _UNKNOWN


def check_merged(
    judged: Sequence[Judged],
    changes: Mapping[str, Entry | None],
    base: Tree,
    onto: Tree,
    *,
    blobs: Blobs,
    suspect: Suspect,
) -> tuple[Judged, ...]:
    """Warn, at the last patch that carries a file, of what is suspicious in it.

    `changes` is what the series makes of `onto`. Files that a conflict is left in are not looked
    at.
    """
    merged = Overlay(onto)
    for path, entry in changes.items():
        merged.set(path, entry)
    sides = [Overlay(base), Overlay(onto), _written_against(judged, base), merged]
    old, upstream, fork, after = (_Files(side, blobs) for side in sides)
    last = _last_patches(judged)
    found = list(judged)
    for path in sorted(path for path in changes if path.endswith(_PYTHON) and path in last):
        content = after.read(path)
        if content is None:
            continue
        text = _decoded(content)
        before = [side.read(path) for side in (old, upstream, fork)]
        lost = unresolved_imports(
            path,
            text,
            after,
            sides=[fork, upstream],
            before=_decoded(before[1] or b""),
            changed=changes,
        )
        told = [f"`{statement}` finds nothing any more" for statement in lost]
        if None not in before and len({*before, content}) == 4:
            texts = Texts(*(_decoded(side or b"") for side in before))
            told += suspect(texts, text, path)
        outcome = found[last[path]].outcome
        warnings = (*outcome.warnings, *(f"{path}: {sentence}" for sentence in told))
        found[last[path]] = replace(found[last[path]], outcome=replace(outcome, warnings=warnings))
    return tuple(found)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _written_against(judged: Sequence[Judged], base: Tree) -> Overlay:
    """Return the end of the side that the series is written against."""
    files = Overlay(base)
    for patch in judged:
        for result in patch.files:
            change = result.step.change
            if change.old_path is not None and not change.is_copy:
                files.set(change.old_path, None)
        for result in patch.files:
            if result.step.change.new_path is not None:
                files.set(result.step.change.new_path, result.step.theirs)
    return files


def _last_patches(judged: Sequence[Judged]) -> dict[str, int]:
    """Return by path of the new side the last patch that carries it, where none is in conflict."""
    last: dict[str, int] = {}
    stuck: set[str] = set()
    for number, patch in enumerate(judged):
        if patch.outcome.is_carried:
            last |= dict.fromkeys(patch.outcome.changes or (), number)
        elif patch.outcome.verdict in (Verdict.CONFLICT, Verdict.BLOCKED):
            stuck |= {result.home for result in patch.files}
    return {path: number for path, number in last.items() if path not in stuck}
