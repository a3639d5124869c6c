"""Which patch of a series needs which: found by applying each without the ones before it.

As in darcs, a patch is commuted down through the series, past one patch after the other, together
with the patches it was found to need. It also needs each patch that it cannot pass, or after which
the files would be different.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.languages.names import CXX, language
from patchmgr.engines.series.layers import Collision, Ground, Layer, State, lay_all
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import changed_blocks
from patchmgr.model.series import Need

# At the beginning of a line: what is within a class is called by any name that has it.
_DEFINED = re.compile(
    rb"^(?:(?:async )?def|class|struct|enum(?: class)?|union|#[ \t]*define|(?:pub )?fn|func)"
    rb"\s+(\w+)",
    re.MULTILINE,
)
_WORD = re.compile(rb"[^\W\d]\w*")
# Names rather than words of a sentence: with an underscore, a digit or a capital inside.
_NAME = re.compile(rb"[^\W\d]\w*[_0-9A-Z]\w*$")


def dependencies(
    ground: Ground, layers: Sequence[Layer], states: Sequence[State]
) -> dict[str, tuple[Need, ...]]:
    """Return by patch what it needs directly, nearest first; `states` lie between the layers."""
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
    """Yield what the last layer cannot pass on its way down, nearest first."""
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
    """Return whether two layers have a file in common, or one a file in the other's folder."""
    if not one.files.keys().isdisjoint(other.files):
        return True
    places = [{f"{path}/" for path in layer.files} for layer in (one, other)]
    return any(a.startswith(b) or b.startswith(a) for a in places[0] for b in places[1])


def _obstacle(ground: Ground, other: Layer, carried: Sequence[Layer], start: State) -> str | None:
    """Return the file for which the carried layers cannot go below another, or None if they can.

    They can where they have a place without it, and it has one on them that makes the same files.
    """
    above = lay_all(ground, [other, *carried], start)
    below = lay_all(ground, [*carried, other], start)
    for end in (above, below):
        if isinstance(end, Collision):
            return end.path
    assert not isinstance(above, Collision) and not isinstance(below, Collision)
    return next(iter(ground.between("", above[-1], below[-1]).files), None)


class _Names(Struct, frozen=True):
    """The names that a layer defines anew, and the words that it writes, each with its language."""

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
            known = {(spoken, word) for word in _WORD.findall(sides[0])}
            for block in changed_blocks(old, new):
                text = b"".join(new[block.new_start : block.new_end])
                defined.update((spoken, n) for n in _DEFINED.findall(text) if _NAME.match(n))
                written.update({(spoken, word) for word in _WORD.findall(text)} - known)
            defined -= known
        return cls(frozenset(defined), frozenset(written))

    def uses(self, other: _Names) -> str | None:
        """Return a name that this layer uses but does not define, and another one defines."""
        shared = (self.written - self.defined) & other.defined
        return min(shared)[1].decode("utf-8", "replace") if shared else None
