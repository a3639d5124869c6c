"""Which hunks of a landed patch the landing proves: the rest is for the ladder to judge."""

from __future__ import annotations

from patchmgr.engines.atoms import HunkAtoms
from patchmgr.engines.landing import FEWEST_LINES, Landing, is_ours
from patchmgr.engines.marked_texts import split_marked
from patchmgr.engines.search import Search
from patchmgr.model.merge import Clean, Conflicted
from patchmgr.model.recorded import Region
from patchmgr.model.snapshot import FILE_MODES, Entry

COMMON = 8
MOST_LEFT_OUT = 2.0
FEWEST_REWORDED = 0.05


def proved_hunks(search: Search, patch: int, landing: Landing) -> frozenset[int]:
    """Return the numbers of the hunks that are in upstream with the landed patch.

    Not proved are: a deletion that upstream did not do; a mode, link, submodule or binary that
    is another one where the patch landed; and, where the landing left something out of the
    file, a hunk of which nothing landed and the target needs something, or one with a line that is
    there less often than in the series.
    """
    return frozenset(
        number
        for number in range(len(search.series[patch].hunks))
        if _is_proved(search, patch, landing, number)
    )


def _is_proved(search: Search, patch: int, landing: Landing, number: int) -> bool:
    hunk = search.series[patch].hunks[number]
    view = landing.view.paths.get(hunk.path)
    states, landed = search.states[hunk.path], search.version(landing.number)[hunk.path]
    before, after, end = states[patch], states[patch + 1], states[landing.last + 1]
    if after is None or end is None:
        return landed == end
    if {after.mode, *([before.mode] if before else [])} - FILE_MODES:
        return landed == end
    is_new_mode = before is not None and before.mode != after.mode == end.mode
    if is_new_mode and landed is not None and landed.mode != end.mode:
        return False
    if view is not None and view.is_settled:
        return True
    if not hunk.added and not hunk.removed:
        return landed == end or _is_small_talk(search, before, after)
    if _is_left_out(search, landing, hunk):
        return _is_done_without(search, landing, hunk)
    if _is_later_wording(search, landing) or search.is_in(patch, number, landed):
        return True
    if _lacks_remarks_alone(search, patch, number, landed):
        return True
    if _has_lost_its_place(search, patch, landing, number):
        return False
    return not is_short(search, hunk, landed, end) or _is_reworded(search, patch, landing, number)


def _is_small_talk(search: Search, before: Entry | None, after: Entry) -> bool:
    """Say whether a text changes in lines that say nothing, or in its mode alone."""
    if before is None:
        return False
    contents = (search.blobs.read(entry.blob) for entry in (before, after))
    return before.blob == after.blob or not any(b"\0" in content[:8000] for content in contents)


def _is_left_out(search: Search, landing: Landing, hunk: HunkAtoms) -> bool:
    """Say whether the landing has nothing of a hunk, and neither has the target.

    What later patches of the series replaced, the target need not have.
    """
    then, now = landing.view.count(hunk), search.view(landing.last, search.end).count(hunk)
    if then.found or not then.needed:
        return False
    last = len(search.series) - 1
    is_lasting = search.view(last, search.end).count(hunk).total > 0
    return now.needed > 0 or (is_lasting and not now.found)


def _has_lost_its_place(search: Search, patch: int, landing: Landing, number: int) -> bool:
    """Say whether a hunk only adds lines, of which none landed and whose place was taken away.

    To take away what stands beside it says nothing of what it adds.
    """
    hunk = search.series[patch].hunks[number]
    count = landing.view.count(hunk)
    if count.found or count.reworded < FEWEST_LINES or hunk.removed:
        return False
    merge = search.alone(patch, number, search.version(landing.number)[hunk.path])
    marked = merge.marked if isinstance(merge, Conflicted) else None
    regions = split_marked(marked or b"").regions
    return bool(regions) and not any(found.region.ours.strip() for found in regions)


def is_touched(search: Search, landing: Landing, hunk: HunkAtoms) -> bool:
    """Say whether the landing commit changed the file of a hunk."""
    before, after = search.version(landing.number - 1), search.version(landing.number)
    return before[hunk.path] != after[hunk.path]


def _is_done_without(search: Search, landing: Landing, hunk: HunkAtoms) -> bool:
    """Say whether a later wording of the patch does without a hunk.

    The commit is mostly this series', changed the file, and has other lines of the patch in
    other words.
    """
    is_reworded = landing.count.needed <= MOST_LEFT_OUT * landing.count.reworded
    is_open = is_touched(search, landing, hunk) and is_reworded
    return is_open and is_ours(search, landing.number)


def _is_later_wording(search: Search, landing: Landing) -> bool:
    """Say whether a good part of the patch landed in other words, in a commit for this series."""
    count = landing.count
    return count.reworded >= FEWEST_REWORDED * count.total and is_ours(search, landing.number)


def _lacks_remarks_alone(search: Search, patch: int, number: int, landed: Entry | None) -> bool:
    """Say whether all that a hunk would still do to a file is to remarks in it."""
    from patchmgr.engines.remarks import has_same_code

    merge = search.alone(patch, number, landed)
    if landed is None or not isinstance(merge, Clean):
        return False
    path = search.series[patch].hunks[number].path
    return has_same_code(path, search.blobs.read(landed.blob), merge.content)


def is_short(search: Search, hunk: HunkAtoms, landed: Entry | None, end: Entry | None) -> bool:
    """Say whether the landing has a line less often than the series, which elsewhere hides."""
    if not hunk.added <= search.lines(landed):
        return False
    there, wanted = search.line_counts(landed), search.line_counts(end)
    return any(there[line] < wanted[line] < COMMON for line in hunk.added)


def _is_reworded(search: Search, patch: int, landing: Landing, number: int) -> bool:
    """Say whether the landing, mostly this series', wrote other words where the hunk belongs."""
    path = search.series[patch].hunks[number].path
    before, after = (search.version(n)[path] for n in (landing.number - 1, landing.number))
    merge = search.alone(patch, number, after)
    if before is None or not isinstance(merge, Conflicted) or merge.marked is None:
        return False
    earlier = search.blobs.read(before.blob)
    regions = split_marked(merge.marked).regions
    is_written = all(_is_written(found.region, earlier) for found in regions)
    return is_written and is_ours(search, landing.number)


def _is_written(region: Region, earlier: bytes) -> bool:
    """Say whether ours of a region is news to the earlier text, or what it left out is not."""
    if region.ours.strip():
        return region.ours not in earlier
    return bool(region.base.strip()) and region.base in earlier
