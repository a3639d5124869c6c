"""Select the patches that an upstream state needs, by the conditions in their headers.

A patch that the target does not need is left out. A patch that only the target needs is applied to
the pin or to the file versions that its diff names; later patches are not based on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.fold import FileStep, Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.audit import AuditFinding
from patchmgr.model.outcome import Verdict
from patchmgr.model.predicate import claims
from patchmgr.model.snapshot import REGULAR, Entry, is_full_id

if TYPE_CHECKING:
    from patchmgr.engines.audit.states import Told
    from patchmgr.engines.rebase.rebase import Item
    from patchmgr.model.patch import Patch
    from patchmgr.model.ports import Blobs, Tree
    from patchmgr.model.predicate import Conditions, State, StateFinder


Question = Literal["refusal", "failure", "broken_promise"]
"""The name of a function in `predicates` that evaluates one condition of a patch."""


class Views(Struct, frozen=True):
    """The old and the new upstream state of a rebase, on which conditions are evaluated."""

    base: State
    onto: State
    states: StateFinder  # finds other states that conditions name


def has_conditions(patches: Sequence[Patch]) -> bool:
    """Return whether any patch has a condition; raise "bad-predicate" if one is malformed."""
    conditions = [_conditions(patch) for patch in patches if patch.conditions]
    return not all(found.are_empty for found in conditions)


def _conditions(patch: Patch) -> Conditions:
    from patchmgr.formats.predicates import read_conditions

    return read_conditions(patch)


def check_upstreams(patches: Sequence[Patch], known: Collection[str]) -> None:
    """Raise PatchmgrError "bad-predicate" if a patch's header names an unknown upstream."""
    for patch in patches:
        conditions = _conditions(patch)
        for predicate in conditions.predicates():
            for claim in claims(predicate) if predicate is not None else ():
                name = claim.where.upstream
                if name is not None and name not in known:
                    problem = f"patch {shown(patch.name)} names an unknown upstream: {shown(name)}"
                    hint = "to see the upstreams: patchmgr upstream list"
                    raise PatchmgrError("bad-predicate", problem, hint)


def missing_on(patches: Sequence[Patch], state: State, states: StateFinder) -> dict[str, str]:
    """Map the name of each patch that an upstream state does not need to the reason."""
    found = {patch.name: _refusal(patch, state, states) for patch in patches}
    return {name: reason for name, reason in found.items() if reason is not None}


def _refusal(patch: Patch, state: State, states: StateFinder) -> str | None:
    return _asked(patch, "refusal", state, states)


def _asked(patch: Patch, question: Question, state: State, states: StateFinder) -> str | None:
    """Call a function of predicates.py, such as "refusal", on the conditions of a patch.

    Errors name the patch.
    """
    from patchmgr.engines.series import predicates  # most patches have no conditions

    conditions = _conditions(patch)
    try:
        found: str | None = getattr(predicates, question)(conditions, state, states)
    except PatchmgrError as fault:
        problem = f"patch {shown(patch.name)}: {fault.message}"
        raise PatchmgrError(fault.kind, problem, *fault.hints) from fault
    return found


def check_promise(patch: Patch, tree: Tree, views: Views) -> None:
    """Raise PatchmgrError "bad-predicate" if `Ensures` is false after the patch is applied."""
    broken = _broken(patch, views, tree)
    if broken is not None:
        hint = "correct the patch or its Ensures field"
        raise PatchmgrError("bad-predicate", f"patch {shown(patch.name)} {broken}", hint)


def invalid_patches(items: Sequence[Item], views: Views | None) -> Iterator[Told]:
    """Yield a finding for each needed patch whose `Valid-While` is false on the target."""
    if views is None or views.onto is views.base:
        return
    for item in items:
        if item.refusal is not None or not item.patch.conditions:
            continue
        reason = _asked(item.patch, "failure", views.onto, views.states)
        if reason is not None:
            yield item.patch.name, AuditFinding("condition", True, "", 0, None, reason)


def place_items(items: Sequence[Item], views: Views, blobs: Blobs) -> tuple[Item, ...]:
    """Return the patches of a rebase, and mark those that their conditions leave out.

    If any patch has a condition, the changes of each patch are computed, too. Raises PatchmgrError
    if a predicate cannot be evaluated.
    """
    if not has_conditions([item.patch for item in items if item.refusal is None]):
        return tuple(items)
    old = Overlay(views.base.tree)
    return tuple(
        item if item.refusal is not None else _placed(item, views, old, blobs) for item in items
    )


def _placed(item: Item, views: Views, old: Overlay, blobs: Blobs) -> Item:
    patch, conditions = item.patch, _conditions(item.patch)
    missing = _refusal(patch, views.base, views.states)
    needless = missing
    if views.onto is not views.base:
        needless = _refusal(patch, views.onto, views.states)
    if missing is None:
        item = replace(item, steps=step_patch(old, patch, blobs))
    else:
        item = replace(item, is_on_base=False)
    if needless is not None:
        return replace(item, refusal=needless)
    if missing is not None:
        item = _for_target(item, missing, views.base, old, blobs)
    if conditions.ensures is None:
        return item
    return replace(item, promise=partial(_broken, patch, views))


def _broken(patch: Patch, views: Views, tree: Tree) -> str | None:
    return _asked(patch, "broken_promise", replace(views.onto, tree=tree), views.states)


def _for_target(item: Item, missing: str, base: State, old: Overlay, blobs: Blobs) -> Item:
    """Return a patch that only the target needs with its changes, or as a conflict if it fails."""
    try:
        return replace(item, steps=step_patch(Overlay(old), item.patch, blobs))
    except PatchmgrError as fault:
        problem = fault
    try:
        return replace(item, steps=_steps_on_named(item.patch, old, blobs))
    except PatchmgrError:
        reason = f"{problem.message}; on {base.label} the patch is {missing}"
        return replace(item, refusal=reason, refused_as=Verdict.CONFLICT)


def _steps_on_named(patch: Patch, old: Overlay, blobs: Blobs) -> tuple[FileStep, ...]:
    """Apply a patch to the file versions that its index lines name, as `git am -3` does."""
    named = Overlay(old)
    for change in patch.files:
        if change.old_path is None:
            named.set(change.path, None)
        elif change.old_id is not None and is_full_id(change.old_id):
            blobs.read(change.old_id)
            there = old.entry(change.old_path)
            mode = change.old_mode or (there.mode if there is not None else REGULAR)
            named.set(change.old_path, Entry(mode, change.old_id))
    return step_patch(named, patch, blobs)
