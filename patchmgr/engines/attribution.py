"""What of a landed patch only another patch of the series accounts for: that is not its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption
from patchmgr.engines.landing import Landing
from patchmgr.engines.marked_texts import split_marked
from patchmgr.engines.replaced import undoing
from patchmgr.engines.search import Search
from patchmgr.model.merge import Conflicted

Found = Mapping[int, Absorption]


def without_others(
    search: Search, landings: Mapping[int, Sequence[Landing]], found: Found
) -> dict[int, Absorption]:
    """Return what is found, less what other patches of the series account for.

    Where later patches replaced more of a patch than landed, little shows that it is in: it is
    left out if one of these is not in whole, and if it undoes one that is not in. A hunk of
    which the landing has nothing is not in by other words that another patch brought there.
    """
    own: dict[int, Absorption] = {}
    for patch, absorption in found.items():
        landing = _landing_of(search, landings.get(patch, ()), absorption)
        if landing is None or not absorption.hunks:
            own[patch] = absorption
            continue
        if absorption.is_whole and _hangs_on_others(search, patch, landing, found):
            continue
        hunks = absorption.hunks.difference(_foreign_hunks(search, patch, landing, found))
        is_whole = absorption.is_whole and hunks == absorption.hunks
        own[patch] = replace(absorption, hunks=hunks, is_whole=is_whole)
    return own


def _landing_of(
    search: Search, landings: Sequence[Landing], absorption: Absorption
) -> Landing | None:
    steps = search.timelines.steps
    return next((found for found in landings if steps[found.number] == absorption.step), None)


def _hangs_on_others(search: Search, patch: int, landing: Landing, found: Found) -> bool:
    """Say whether later patches, not in whole, replaced more of a patch than landed.

    And whether it undoes an earlier one that is not in.
    """
    if landing.count.superseded <= landing.count.found:
        return False
    pairs = [(earlier, patch) for earlier in range(patch) if earlier not in found]
    later = range(patch + 1, landing.last + 1)
    others = [(patch, n) for n in later if n not in found or not found[n].is_whole]
    return all(
        any(next(undoing(search, *pair), None) is not None for pair in each)
        for each in (pairs, others)
    )


def _foreign_hunks(search: Search, patch: int, landing: Landing, found: Found) -> Iterator[int]:
    """Yield the hunks whose place has other words, which another patch of the series brought.

    Patches that replaced the hunk in the series are none of these, unless it undoes one itself that
    is not in.
    """
    open_ones = [earlier for earlier in range(patch) if earlier not in found]
    undone = {hunk for earlier in open_ones for hunk in undoing(search, earlier, patch)}
    for number, hunk in enumerate(search.series[patch].hunks):
        count = landing.view.count(hunk)
        if count.found or not count.needed:
            continue
        brought = _bringer(search, patch, number)
        step = None if brought is None else search.timelines.steps[brought]
        others = [p for p, absorption in found.items() if p != patch and absorption.step == step]
        if any(
            hunk.path in search.series[other].paths
            and (number in undone or not _replaces(search, patch, number, other))
            for other in others
        ):
            yield number


def _replaces(search: Search, patch: int, number: int, other: int) -> bool:
    """Say whether a later patch takes away, or gives back, lines of a hunk."""
    old = search.series[patch].hunks[number]
    hunks = (search.series[other].hunks[n] for n in undoing(search, patch, other))
    return other > patch and any(old.added & h.removed or old.removed & h.added for h in hunks)


def _bringer(search: Search, patch: int, number: int) -> int | None:
    """Return the step that wrote the words that stand where a hunk belongs, None where none do."""
    path = search.series[patch].hunks[number].path
    merge = search.alone(patch, number, search.target[path])
    if not isinstance(merge, Conflicted) or merge.marked is None:
        return None
    words = [found.region.ours for found in split_marked(merge.marked).regions]
    has = [text for text in words if text.strip()]
    for step in reversed(search.timelines.touching(path)):
        before = search.version(step - 1)[path]
        earlier = b"" if before is None else search.blobs.read(before.blob)
        if has and not all(text in earlier for text in has):
            return step
    return None
