"""Apply the patches' changes in another order, or to other files.

A state maps the paths that differ from the pin to files (None: deleted). A layer is the change that
one patch makes: the states before and after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.languages.file_types import CXX, language
from patchmgr.engines.languages.words import CODE_NAME, WORD
from patchmgr.engines.rebase.ladder import Merged, Sides, merge_file
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import changed_blocks
from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Blobs, TextMerge, Tree
from patchmgr.model.series import Need
from patchmgr.model.snapshot import Entry, file_content

State = Mapping[str, "Entry | None"]


class Layer(Struct, frozen=True):
    """The change that one patch makes: each file before and after the patch, keyed by path."""

    name: str
    files: Mapping[str, tuple[Entry | None, Entry | None]]


class Collision(Struct, frozen=True):
    """A conflict: the name of the patch, the path of the file in conflict, and the reason."""

    name: str
    path: str
    reason: str


class Ground(Struct, frozen=True):
    """What all states of a series have in common: the files at the pin, and access to contents."""

    pin: Tree
    blobs: Blobs
    text: TextMerge  # merges a file that two changes touch

    def entry(self, state: State, path: str) -> Entry | None:
        """Return the file at a path in a state of the series, or None if there is no file."""
        return state[path] if path in state else self.pin.entry(path)

    def content(self, entry: Entry | None) -> bytes:
        """Return the content of a regular file, or empty bytes for anything else."""
        return file_content(entry, self.blobs.read) or b""

    def overlay(self, state: State) -> Overlay:
        """Return the tree of all files in a state of the series."""
        side = Overlay(self.pin)
        for path, entry in state.items():
            side.set(path, entry)
        return side

    def between(self, name: str, old: State, new: State) -> Layer:
        """Return the difference between two states of a series, as the change of patch `name`."""
        pairs = {p: (self.entry(old, p), self.entry(new, p)) for p in (*old, *new)}
        return Layer(name, {path: pair for path, pair in pairs.items() if pair[0] != pair[1]})

    def is_same(self, one: State, other: State) -> bool:
        """Return whether all files are the same in two states of a series."""
        return not self.between("", one, other).files


def fold_states(ground: Ground, patches: Sequence[Patch], start: State) -> tuple[State, ...]:
    """Return `start` and the state after each patch; raise "bad-patch" if one does not apply."""
    side = ground.overlay(start)
    states = [dict(start)]
    for patch in patches:
        step_patch(side, patch, ground.blobs)
        states.append(dict(side.changes()))
    return tuple(states)


def lay(ground: Ground, layer: Layer, state: State) -> State | Collision:
    """Apply a patch's change to another state of the files; return the new state or a conflict."""
    new = dict(state)
    for path, (base, theirs) in layer.files.items():
        ours = ground.entry(state, path)
        if ours in (base, theirs):
            new[path] = theirs
            continue
        sides = Sides(base, ours, theirs)
        merged = None if base is None else merge_file(sides, blobs=ground.blobs, text=ground.text)
        if not isinstance(merged, Merged):
            return Collision(layer.name, path, "both change the same lines of the file")
        new[path] = merged.entry
    return _standing(ground, layer, new)


def is_out(ground: Ground, layer: Layer, state: State) -> bool:
    """Return whether reversing a patch's change has no effect, because a state lacks the change."""
    back = Layer(layer.name, {path: (new, old) for path, (old, new) in layer.files.items()})
    found = lay(ground, back, state)
    return not isinstance(found, Collision) and ground.is_same(found, state)


def _standing(ground: Ground, layer: Layer, state: State) -> State | Collision:
    """Return the state, or a conflict if a file or folder is in the way of a file of the layer."""
    side = ground.overlay(state)
    for path, (_, theirs) in layer.files.items():
        obstacle = side.obstacle(path) if theirs is not None else None
        if obstacle is not None:
            return Collision(layer.name, path, f"{obstacle} is in the way")
    return state


def lay_all(ground: Ground, layers: Sequence[Layer], start: State) -> tuple[State, ...] | Collision:
    """Apply changes in order; return `start` and the state after each, or the first conflict."""
    states: list[State] = [start]
    for layer in layers:
        found = lay(ground, layer, states[-1])
        if isinstance(found, Collision):
            return found
        states.append(found)
    return tuple(states)


def layers_of(ground: Ground, names: Sequence[str], states: Sequence[State]) -> tuple[Layer, ...]:
    """Return the change of each patch, given the first state and the state after each patch."""
    pairs = zip(names, pairwise(states), strict=True)
    return tuple(ground.between(name, old, new) for name, (old, new) in pairs)


def sharers(layers: Sequence[Layer], path: str, *, but: str) -> tuple[str, ...]:
    """Return the names of all patches, except the patch `but`, that change the file at `path`."""
    return tuple(layer.name for layer in layers if path in layer.files and layer.name != but)


def is_exact(ground: Ground, patch: Patch, old: State, new: State) -> bool:
    """Return whether a patch, applied exactly as it is written, turns `old` into `new`."""
    side = ground.overlay(old)
    try:
        step_patch(side, patch, ground.blobs)
    except PatchmgrError:
        return False
    return ground.is_same(side.changes(), new)


# Only at the start of a line: a method's name alone does not tell which class is meant.
_DEFINED = re.compile(
    rb"^(?:(?:async )?def|class|struct|enum(?: class)?|union|#[ \t]*define|(?:pub )?fn|func)"
    rb"\s+(\w+)",
    re.MULTILINE,
)


def dependencies(
    ground: Ground, layers: Sequence[Layer], states: Sequence[State]
) -> dict[str, tuple[Need, ...]]:
    """Map each patch to the patches that it directly depends on, nearest first.

    `states` are the states before the first patch and after each patch.
    """
    names = [_Names.of(ground, layer) for layer in layers]
    every: dict[str, set[str]] = {}
    found: dict[str, tuple[Need, ...]] = {}
    for at, layer in enumerate(layers):
        needs = {need.patch: need for need in _by_lines(ground, layers[: at + 1], states)}
        for other, said in zip(reversed(layers[:at]), reversed(names[:at]), strict=True):
            symbol = names[at].uses(said)
            if symbol is not None:
                needs.setdefault(other.name, Need(other.name, symbol=symbol))
        further = {name for need in needs for name in every[need]}
        every[layer.name] = further | needs.keys()
        order = [other.name for other in reversed(layers[:at])]
        found[layer.name] = tuple(needs[n] for n in order if n in needs and n not in further)
    return found


def _by_lines(ground: Ground, layers: Sequence[Layer], states: Sequence[State]) -> Iterator[Need]:
    """Yield the patches that must stay before the last layer's patch, nearest first."""
    carried = [layers[-1]]
    for at in range(len(layers) - 2, -1, -1):
        other = layers[at]
        if not any(_meet(other, layer) for layer in carried):
            continue
        path = _obstacle(ground, other, carried, states[at])
        if path is not None:
            yield Need(other.name, path)
            carried.insert(0, other)


def _meet(one: Layer, other: Layer) -> bool:
    """Return whether two layers change the same path, or paths of which one contains the other."""
    if not one.files.keys().isdisjoint(other.files):
        return True
    places = [{f"{path}/" for path in layer.files} for layer in (one, other)]
    return any(a.startswith(b) or b.startswith(a) for a in places[0] for b in places[1])


def _obstacle(ground: Ground, other: Layer, carried: Sequence[Layer], start: State) -> str | None:
    """Return a file that prevents `other` from being moved behind `carried`, or None."""
    above = lay_all(ground, [other, *carried], start)
    below = lay_all(ground, [*carried, other], start)
    for end in (above, below):
        if isinstance(end, Collision):
            return end.path
    assert not isinstance(above, Collision) and not isinstance(below, Collision)
    return next(iter(ground.between("", above[-1], below[-1]).files), None)


class _Names(Struct, frozen=True):
    """The names that a layer newly defines and the words that it newly uses, by language."""

    defined: frozenset[tuple[str, bytes]]
    written: frozenset[tuple[str, bytes]]

    @classmethod
    def of(cls, ground: Ground, layer: Layer) -> _Names:
        defined: set[tuple[str, bytes]] = set()
        written: set[tuple[str, bytes]] = set()
        for path, (before, after) in layer.files.items():
            spoken = "C++" if path.endswith(CXX) else language(path)
            sides = [ground.content(entry) for entry in (before, after)]
            old, new = (split_lines(side) for side in sides)
            known = {(spoken, word) for word in WORD.findall(sides[0])}
            for block in changed_blocks(old, new):
                text = b"".join(new[block.new_start : block.new_end])
                defined.update((spoken, n) for n in _DEFINED.findall(text) if CODE_NAME.match(n))
                written.update({(spoken, word) for word in WORD.findall(text)} - known)
            defined -= known
        return cls(frozenset(defined), frozenset(written))

    def uses(self, other: _Names) -> str | None:
        """Return a name that this patch newly uses and `other` newly defines, or None."""
        shared = (self.written - self.defined) & other.defined
        return min(shared)[1].decode("utf-8", "replace") if shared else None
