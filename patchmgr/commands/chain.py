"""The whole series as a chain of layers, and what becomes of it when patches change places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from patchmgr.commands.desk import Desk
from patchmgr.commands.revising import Revision
from patchmgr.commands.rewriting import rewritten
from patchmgr.engines.layers import (
    Collision,
    Ground,
    Layer,
    State,
    fold_states,
    lay_all,
    layers_of,
    sharers,
)
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesFile


class Chain(Struct, frozen=True):
    """The patches that are not hidden in series order, and the states that they make.

    It ends before the first patch that does not apply, which is the `fault`.
    """

    names: tuple[str, ...]
    states: tuple[State, ...]
    layers: tuple[Layer, ...]
    fault: PatchmgrError | None = None

    def position(self, name: str) -> int:
        """Return the place of a patch (from 0); raise the fault where the chain ends before it."""
        if self.fault is not None and name not in self.names:
            raise self.fault
        return self.names.index(name)


def chain_of(desk: Desk) -> Chain:
    """Return the chain of a desk.

    Raises PatchmgrError "rejects" where the top patch was forced: what stands on it is not known.
    """
    _refuse_forced(desk)
    names, states = list(desk.names), list(desk.states)
    fault: PatchmgrError | None = None
    for name in desk.unpushed():
        try:
            states.append(fold_states(desk.ground, desk.series([name]), states[-1])[1])
        except PatchmgrError as found:
            fault = found
            break
        names.append(name)
    return Chain(tuple(names), tuple(states), layers_of(desk.ground, names, states), fault)


def pushed_chain(desk: Desk) -> Chain:
    """Return the chain of the pushed patches alone: what a refresh of one may change."""
    _refuse_forced(desk)
    return Chain(desk.names, desk.states, layers_of(desk.ground, desk.names, desk.states))


def _refuse_forced(desk: Desk) -> None:
    if desk.forced is not None:
        hint = "put its rejects in by hand and refresh it, or: patchmgr pop --force"
        raise PatchmgrError("rejects", f"not all hunks of {desk.top} have a place yet", (hint,))


def restacked(
    desk: Desk, chain: Chain, layers: Sequence[Layer], *, same_end: bool
) -> tuple[State, ...]:
    """Return the states of other layers in the place of the chain's.

    Raises PatchmgrError "depends" where one needs what is not below it any more, or where the
    end must be the same and is not.
    """
    found = lay_all(desk.ground, layers, {})
    if isinstance(found, Collision):
        raise _depends(desk.ground, chain, layers, found)
    if same_end and not desk.ground.is_same(found[-1], chain.states[-1]):
        path = next(iter(desk.ground.between("", found[-1], chain.states[-1]).files))
        message = f"in that order the series makes another {shown(path)}"
        raise PatchmgrError("depends", message, ("nothing was changed",))
    _refuse_emptied(desk.ground, layers, found)
    return found


def _refuse_emptied(ground: Ground, layers: Sequence[Layer], states: Sequence[State]) -> None:
    """Refuse where nothing would be left of a patch that nobody asked to change."""
    for layer, (old, new) in zip(layers, pairwise(states), strict=True):
        if layer.files and ground.is_same(old, new):
            message = f"nothing would be left of {layer.name}"
            hints = (f"take it away first: patchmgr drop {layer.name}", "nothing was changed")
            raise PatchmgrError("empty", message, hints)


def _depends(
    ground: Ground, chain: Chain, layers: Sequence[Layer], collision: Collision
) -> PatchmgrError:
    """Tell of which patches a layer needs the lines: those that were below it, or are now."""
    name, at = collision.name, chain.position(collision.name)
    order = [layer.name for layer in layers]
    sharing = sharers(chain.layers, collision.path, but=name)
    below = {each: chain.position(each) < at for each in sharing}
    moved = [
        each
        for each in sharing
        if below[each] != (each in order and order.index(each) < order.index(name))
    ]
    needed = [each for each in moved if below[each] and _is_needed(ground, chain, each, name)]
    others = ", ".join(needed or moved or sharing) or "the pin"
    message = f"{name} depends on {others}: {shown(collision.path)}: {collision.reason}"
    return PatchmgrError("depends", message, ("nothing was changed",))


def _is_needed(ground: Ground, chain: Chain, lower: str, upper: str) -> bool:
    """Say whether a patch has no place where one below it alone is missing."""
    layers = chain.layers[: chain.position(upper) + 1]
    found = lay_all(ground, [layer for layer in layers if layer.name != lower], {})
    return isinstance(found, Collision)


def revision_of(
    desk: Desk,
    patches: Sequence[Patch],
    states: Sequence[State],
    *,
    file: SeriesFile,
    pushed: Sequence[str],
    fresh: Sequence[str] = (),
) -> Revision:
    """Return the revision that makes these patches the chain, the first ones of them pushed.

    The files of patches that are not in `file` go; the diffs of those of `fresh` are made anew.
    """
    gone = sorted(set(desk.file.names()) - set(file.names()))
    files: dict[str, bytes | None] = dict.fromkeys(gone)
    files.update(rewritten(desk, patches, states, fresh=fresh))
    assert tuple(patch.name for patch in patches[: len(pushed)]) == tuple(pushed)
    return Revision(tuple(pushed), states[len(pushed)], files, file)
