"""Patches as layers over a pin, and how they apply in another order or on other files.

A state has the files that differ from the pin, by path; None is a deleted file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.rebase.ladder import Merged, Sides, merge_file
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Blobs, TextMerge, Tree
from patchmgr.model.snapshot import FILE_MODES, Entry

State = Mapping[str, "Entry | None"]


class Layer(Struct, frozen=True):
    """The change of one patch: by path, the file before and after."""

    name: str
    files: Mapping[str, tuple[Entry | None, Entry | None]]


class Collision(Struct, frozen=True):
    """A layer that does not fit a state: the patch, the file, and why."""

    name: str
    path: str
    reason: str


class Ground(Struct, frozen=True):
    """The ground on which layers are applied: the files of the pin, contents, and git's merge."""

    pin: Tree
    blobs: Blobs
    text: TextMerge

    def entry(self, state: State, path: str) -> Entry | None:
        """Return a file of a state."""
        return state[path] if path in state else self.pin.entry(path)

    def content(self, entry: Entry | None) -> bytes:
        """Return the content of a file; empty if it does not exist or is not a file."""
        is_file = entry is not None and entry.mode in FILE_MODES
        return self.blobs.read(entry.blob) if entry is not None and is_file else b""

    def overlay(self, state: State) -> Overlay:
        """Return a state as a tree."""
        side = Overlay(self.pin)
        for path, entry in state.items():
            side.set(path, entry)
        return side

    def between(self, name: str, old: State, new: State) -> Layer:
        """Return the layer that leads from one state to another."""
        pairs = {p: (self.entry(old, p), self.entry(new, p)) for p in (*old, *new)}
        return Layer(name, {path: pair for path, pair in pairs.items() if pair[0] != pair[1]})

    def is_same(self, one: State, other: State) -> bool:
        """Return whether two states have the same files."""
        return not self.between("", one, other).files


def fold_states(ground: Ground, patches: Sequence[Patch], start: State) -> tuple[State, ...]:
    """Return the state before the first patch and after each, exactly as the patches say.

    Raises PatchmgrError "bad-patch" if one does not apply.
    """
    side = ground.overlay(start)
    states = [dict(start)]
    for patch in patches:
        step_patch(side, patch, ground.blobs)
        states.append(dict(side.changes()))
    return tuple(states)


def lay(ground: Ground, layer: Layer, state: State) -> State | Collision:
    """Apply a layer to another state, file by file, with git's merge where both differ."""
    new = dict(state)
    for path, (base, theirs) in layer.files.items():
        ours = ground.entry(state, path)
        if ours in (base, theirs):
            new[path] = theirs
            continue
        sides = Sides(base, ours, theirs)
        merged = None if base is None else merge_file(sides, blobs=ground.blobs, text=ground.text)
        if not isinstance(merged, Merged):
            return Collision(layer.name, path, "both change the same lines of it")
        new[path] = merged.entry
    return _standing(ground, layer, new)


def is_out(ground: Ground, layer: Layer, state: State) -> bool:
    """Return whether a state does not contain a layer: removing it changes nothing."""
    back = Layer(layer.name, {path: (new, old) for path, (old, new) in layer.files.items()})
    found = lay(ground, back, state)
    return not isinstance(found, Collision) and ground.is_same(found, state)


def _standing(ground: Ground, layer: Layer, state: State) -> State | Collision:
    """Return the state, or why a file of the layer cannot be there: a folder, or a file above."""
    side = ground.overlay(state)
    for path, (_, theirs) in layer.files.items():
        obstacle = side.obstacle(path) if theirs is not None else None
        if obstacle is not None:
            return Collision(layer.name, path, f"{obstacle} is in the way")
    return state


def lay_all(ground: Ground, layers: Sequence[Layer], start: State) -> tuple[State, ...] | Collision:
    """Apply layers in order; return the start and the state after each."""
    states: list[State] = [start]
    for layer in layers:
        found = lay(ground, layer, states[-1])
        if isinstance(found, Collision):
            return found
        states.append(found)
    return tuple(states)


def layers_of(ground: Ground, names: Sequence[str], states: Sequence[State]) -> tuple[Layer, ...]:
    """Return the layer of each patch, from the states before the first and after each."""
    pairs = zip(names, pairwise(states), strict=True)
    return tuple(ground.between(name, old, new) for name, (old, new) in pairs)


def sharers(layers: Sequence[Layer], path: str, *, but: str) -> tuple[str, ...]:
    """Return the names of the layers that touch a path, without one of them."""
    return tuple(layer.name for layer in layers if path in layer.files and layer.name != but)


def is_exact(ground: Ground, patch: Patch, old: State, new: State) -> bool:
    """Return whether a patch as written leads from one state to another."""
    side = ground.overlay(old)
    try:
        step_patch(side, patch, ground.blobs)
    except PatchmgrError:
        return False
    return ground.is_same(side.changes(), new)
