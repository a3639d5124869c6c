"""`audit`: find faults that a clean merge can hide, in a series or between two trees."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.checks import CHECKS
from patchmgr.engines.audit.rebased import AuditedUpstream, states_of
from patchmgr.engines.audit.states import Files, States, Told, run_checks
from patchmgr.engines.conflicts.decisions import identified
from patchmgr.engines.series.fold import Overlay
from patchmgr.model.snapshot import EMPTY_TREE
from patchmgr.plumbing.clones import private_git_dir
from patchmgr.plumbing.diffs import changed_paths
from patchmgr.plumbing.forks import tree_named
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.services.decisions import reasons_to_accept
from patchmgr.services.load import SeriesAtPin, series_at_pin
from patchmgr.services.session import Session


class Audited(Struct, frozen=True):
    """The findings of an audit, each with its patch ("" in an audit of two trees)."""

    name: str  # of the series, or OLD..NEW for two trees
    findings: tuple[Told, ...]

    @property
    def is_sound(self) -> bool:
        """Return whether every certain finding has been accepted."""
        return not any(f.is_certain and f.accepted is None for _, f in self.findings)


def audit_series(session: Session, name: str) -> Audited:
    """Return the audit findings for a series on its pin, except faults that the pin has, too."""
    with series_at_pin(session, name) as at_pin:
        return Audited(name, audit_at_pin(session, at_pin))


def audit_at_pin(session: Session, at_pin: SeriesAtPin) -> tuple[Told, ...]:
    """Return (patch, finding) for each fault of a series on its pin; certain ones have an id."""
    bring = partial(at_pin.loaded.upstream.try_fetch_objects, seen=at_pin.scratch)
    upstream = AuditedUpstream(at_pin.tree, at_pin.tree, at_pin.scratch, bring=bring)
    states = states_of(at_pin.carried.judged, at_pin.carried.changes, upstream)
    accepted = reasons_to_accept(session.workspace)
    # A fault that `written` has, too, is not reported. Here, `written` would be the result
    # itself, so the pin without the series takes its place.
    told = run_checks(replace(states, written=states.base), CHECKS)
    by_name = {patch.name: patch for patch in at_pin.loaded.patches}
    return tuple(
        (who, identified(f, by_name[who], accepted) if f.is_certain else f) for who, f in told
    )


def audit_trees(repository: Path, old: str, new: str) -> Audited:
    """Audit the change between two trees, each named by a commit, a tag, a branch or its own id.

    Raises PatchmgrError "usage" for a folder without a repository, "unknown-ref" for an unknown
    tree.
    """
    git_dir = private_git_dir(repository)
    before, after = (tree_named(git_dir, name) for name in (old, new))
    with ObjectReader(git_dir) as reader:
        read = lru_cache(256)(reader.blob)
        trees = StoredTree(reader, before), StoredTree(reader, after)
        one, other = (Files(Overlay(tree), read) for tree in trees)
        changed = changed_paths(git_dir, before, after)
        # There is no upstream here: `onto` is empty, so that every line of the new tree is compared
        # with the old tree.
        states = States(
            base=one,
            written=one,
            onto=Files(Overlay(StoredTree(reader, EMPTY_TREE)), read),
            merged=other,
            patches=(),
            carriers=dict.fromkeys(trees[1].files(), new),
            changed_upstream=frozenset(changed),
        )
        told = run_checks(states, CHECKS)
        return Audited(f"{old}..{new}", tuple(("", finding) for _, finding in told))
