"""Which hunks of a landed patch the landing proves: the rest is for the ladder to judge."""

from __future__ import annotations

from patchmgr.engines.atoms import HunkAtoms
from patchmgr.engines.landing import Landing, is_ours
from patchmgr.engines.languages.names import language
from patchmgr.engines.marked_texts import split_marked
from patchmgr.engines.presence import Fate
from patchmgr.engines.search import Search
from patchmgr.model.merge import Conflicted
from patchmgr.model.recorded import Region
from patchmgr.model.snapshot import FILE_MODES, Entry

COMMON = 8
MOST_LEFT_OUT = 2.0
FEWEST_REWORDED = 0.05

_REMARKS = {"Python": b"#"} | dict.fromkeys(("C", "C++", "C++ header", "CUDA", "HIP"), b"//")


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
    if _lacks_remarks_alone(landing, hunk):
        return True
    return not is_short(search, hunk, landed, end) or _is_reworded(search, patch, landing, number)


def _is_small_talk(search: Search, before: Entry | None, after: Entry) -> bool:
    """Say whether a text changes in lines that say nothing, or in its mode alone."""
    if before is None:
        return False
    contents = (search.blobs.read(entry.blob) for entry in (before, after))
    return before.blob == after.blob or not any(b"\0" in content[:8000] for content in contents)


def _is_left_out(search: Search, landing: Landing, hunk: HunkAtoms) -> bool:
    """Say whether the landing has nothing of a hunk, and the target would take it."""
    then, now = landing.view.count(hunk), search.view(landing.last, search.end).count(hunk)
    return not then.found and then.needed > 0 and now.needed > 0


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


def _lacks_remarks_alone(landing: Landing, hunk: HunkAtoms) -> bool:
    """Say whether what the landing left out of a hunk is remarks behind code that is there."""
    mark = _REMARKS.get(language(hunk.path))
    fates = landing.view.fates(hunk)
    if mark is None or any(fate is Fate.REWORDED for fate in fates.values()):
        return False
    left_out = [key for key, fate in fates.items() if fate is Fate.NEEDED]
    added, removed = ({_code(line, mark) for line in side} for side in (hunk.added, hunk.removed))
    return bool(left_out) and all(
        _code(line, mark) in (removed if is_added else added) for is_added, line in left_out
    )


def _code(line: bytes, mark: bytes) -> bytes:
    """Return a line without the remark behind its code; one with a string stays as it is."""
    code, _, _ = line.partition(mark)
    return line if not code or any(quote in code for quote in (b'"', b"'", b"\\")) else code


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
