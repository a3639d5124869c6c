"""Give a blocked patch the cause of the patch that blocks it, and tell what stays blocked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.rebase import Judged
from patchmgr.model.outcome import Sighting, Verdict
from patchmgr.model.patch import FilePatch, Patch

Causes = dict[str, tuple[Sighting, ...]]


def pass_on_causes(
    judged: Sequence[Judged],
    patches: Sequence[Patch],
    before: Mapping[str, tuple[Sighting, ...]] | None = None,
) -> tuple[tuple[Judged, ...], Causes]:
    """Add to each blocked patch why the first conflict in its way is one.

    `patches` are those that were judged, in the same order; `before` has the paths that were
    blocked before the first of them. Returns also the paths that are blocked behind the last,
    each with its causes.
    """
    blocked: Causes = dict(before or {})
    found: list[Judged] = []
    for one, patch in zip(judged, patches, strict=True):
        if one.outcome.verdict is Verdict.BLOCKED:
            found.append(_with_causes(one, patch, blocked))
            continue
        for result in one.files:
            conflict = result.conflict
            if conflict is not None:
                causes = _causes_of(one, {result.home, conflict.new_path})
                _block(blocked, result.step.change, causes)
                blocked.setdefault(conflict.new_path, causes)
        found.append(one)
    return tuple(found), blocked


def _causes_of(one: Judged, homes: Collection[str]) -> tuple[Sighting, ...]:
    """Return the causes in one file of a patch, all of them where none names it."""
    every = one.outcome.cause
    return tuple(cause for cause in every if not set(homes).isdisjoint(cause.paths)) or every


def _with_causes(one: Judged, patch: Patch, blocked: Causes) -> Judged:
    causes: dict[str, Sighting] = {}
    for change in patch.files:
        waiting = [path for path in _paths(change) if path in blocked]
        here = [cause for path in waiting for cause in blocked[path]]
        if waiting:
            _block(blocked, change, tuple(here))
        for cause in here:
            causes.setdefault(cause.commit, cause)
    return replace(one, outcome=replace(one.outcome, cause=tuple(causes.values())))


def _block(blocked: Causes, change: FilePatch, causes: tuple[Sighting, ...]) -> None:
    for path in _paths(change):
        blocked.setdefault(path, causes)


def _paths(change: FilePatch) -> tuple[str, ...]:
    paths = (change.old_path, change.new_path)
    return tuple(path for path in paths if path is not None)
