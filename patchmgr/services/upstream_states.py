"""Look up the upstream states for which the conditions of patches are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from patchmgr.engines.series.needs import Views, check_upstreams, has_conditions
from patchmgr.errors import USAGE_KINDS, PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.ports import Contents
from patchmgr.model.predicate import State
from patchmgr.model.snapshot import is_full_id
from patchmgr.plumbing.git_upstream import TAGS, tag_version, tags_of
from patchmgr.plumbing.objects import StoredTree
from patchmgr.services.session import Fetching

if TYPE_CHECKING:
    from patchmgr.model.patch import Patch
    from patchmgr.model.upstream import Resolved, Upstream
    from patchmgr.plumbing.scratch_repository import Scratch
    from patchmgr.plumbing.upstream_kinds import OpenUpstream
    from patchmgr.services.session import Session


class End(Struct, frozen=True):
    """The start or target of a rebase."""

    found: Resolved
    tree: StoredTree
    # the repository whose tags give the version of the state; None for the store
    tags: Path | None = None


class UpstreamStates:
    """A cache of the upstream states that one run looks up."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._states: dict[tuple[str, str], State] = {}

    def views(
        self,
        name: str,
        upstream: OpenUpstream,
        scratch: Scratch,
        *,
        patches: Sequence[Patch],
        base: End,
        onto: End | None = None,
    ) -> Views | None:
        """Return the states for which to evaluate conditions; None if no patch has a condition.

        These are the start and the target of a rebase; the target is by default the start.
        """
        if not has_conditions(patches):
            return None
        check_upstreams(patches, self._session.workspace.lock().upstreams)
        contents = Fetching(upstream, scratch.read)
        there = _state(name, upstream, base, contents)
        if onto is None or onto is base:
            return Views(there, there, self)
        return Views(there, _state(name, upstream, onto, contents), self)

    def state(self, upstream: str, ref: str | None) -> State:
        """Return the state that a ref of an upstream names, by default `upstream/main`."""
        key = (upstream, ref or "upstream/main")
        if key not in self._states:
            try:
                opened, found = self._resolve(self._session.workspace.upstream(upstream), key[1])
                tree = StoredTree(opened.reader, opened.reader.tree_of(found.commit))
                contents = Fetching(opened, opened.reader.blob)
                self._states[key] = _state(upstream, opened, End(found, tree), contents)
            except PatchmgrError as fault:
                kind = "unknown-state" if fault.kind in USAGE_KINDS else fault.kind
                raise PatchmgrError(kind, fault.message, *fault.hints) from fault
        return self._states[key]

    def _resolve(self, entry: Upstream, ref: str) -> tuple[OpenUpstream, Resolved]:
        """Look up a ref in the tracked repository or package, then in the other one."""
        kinds = list(dict.fromkeys((entry.track, "git", "package")))
        kinds = [kind for kind in kinds if getattr(entry, kind) is not None]
        # the commits of releases are patchmgr's own
        if is_full_id(ref) and "git" in kinds:
            kinds = ["git"]
        opened = [self._session.open_upstream(entry, tracks=kind) for kind in kinds]
        for upstream in opened[:-1]:
            try:
                return upstream, upstream.resolve(ref)
            except PatchmgrError as fault:
                if fault.kind != "unknown-ref":
                    raise
        return opened[-1], opened[-1].resolve(ref)


def _state(name: str, upstream: OpenUpstream, end: End, contents: Contents) -> State:
    found = end.found
    version = found.version
    if version is None:
        prefix = "refs/tags/" if end.tags is not None else TAGS
        tags = tags_of(end.tags or upstream.store, prefix, found.commit)
        newest = max(filter(None, map(tag_version, tags)), default=None)
        version = None if newest is None else str(newest)
    return State(name, _label(name, found), end.tree, contents, version)


def _label(upstream: str, found: Resolved) -> str:
    if found.archive is not None:
        return f"{upstream} {found.ref}"
    commit = found.commit[:12]
    if found.commit.startswith(found.ref):
        return f"{upstream} {commit}"
    return f"{upstream} {shown(found.ref)} ({commit})"
