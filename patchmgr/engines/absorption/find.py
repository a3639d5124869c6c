from __future__ import annotations

import re

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.absorption.effect import Count, Fate
from patchmgr.engines.absorption.series import Series
from patchmgr.model.outcome import How

DUMP = None
_REVERT = re.compile(r"\brevert", re.IGNORECASE)


def find_absorbed(folded, start, target, homes, steps, *, blobs, text=None, elsewhere=None):
    s = Series(folded, start, target, homes, steps, blobs)
    came, left = s.traffic()
    n = len(s.folded)
    related = _related(s)
    candidates = set()
    for p in range(n):
        size = s.distinct(p)
        for k, c in sorted(came[p].items(), key=lambda x: (-x[1], x[0]))[:4]:
            if c >= 0.2 * size:
                candidates.add(k)
    landings: dict[int, list] = {}
    for k in sorted(candidates):
        ours = s.is_ours(k)
        here = {}
        for p in range(n):
            count = s.patch_count(p, k)
            before = s.patch_count(p, k - 1)
            if DUMP is not None and (count.total or count.replaced):
                DUMP.append((p, k, [count.found, count.open, count.taken, count.replaced], before.found, ours))
            if _is_landed(s, p, k, count, ours) and not _is_landed(s, p, k - 1, before, ours):
                here[p] = count
        for p in _along(s, here, k, related):
            here[p] = s.patch_count(p, k)
        for p, count in here.items():
            landings.setdefault(p, []).append((k, count))
    found = {}
    for p in range(n):
        if p not in landings:
            one = _in_target(s, p)
            if one is not None:
                found[p] = one
            continue
        ls = landings[p]
        best = max(c.found for _, c in ls)
        back = -1
        chosen = None
        for k, count in ls:
            if count.found < 0.5 * best or k <= back:
                continue
            together = [q for q, other in landings.items() if any(x[0] == k for x in other)]
            chosen = k
            r = _reversal(s, left, together, p, k)
            if r is None:
                back = None
                break
            back = r
        k = chosen
        if back is not None:
            found[p] = Absorption(frozenset(), s.timelines.steps[k], Event.REVERTED, is_whole=False, since=s.timelines.steps[back])
            continue
        hunks = frozenset(h[1] for h in s.hunks(p) if _is_in(s, h, k))
        if hunks:
            found[p] = Absorption(hunks, s.timelines.steps[k], Event.LANDED, is_whole=len(hunks) == s.size[p], how=How.HISTORY)
    return found


def _in_target(s, p):
    """Judge a patch that no step landed by the target alone: hunks all of whose lines are there."""
    def there(number):
        return frozenset(h[1] for h in s.hunks(p) if _is_done(s, h, number))
    here = there(s.end)
    if not here or here <= there(-1):
        return None
    touching = sorted({k for path in s.paths_of[p] for k in s.timelines.touching(path)})
    lo, hi = 0, len(touching) - 1
    while lo < hi:
        mid = (lo + hi) // 2
        if here <= there(touching[mid]): hi = mid
        else: lo = mid + 1
    return Absorption(here, s.timelines.steps[touching[lo]], Event.LANDED, is_whole=len(here) == s.size[p], how=How.EXACT)


def _is_done(s, h, number):
    if h in s.plain:
        path, entry = s.plain[h]
        return s.version(path, number) == entry
    c = s.count(h, number)
    return c.found > 0 and not c.open and not c.taken


def _is_landed(s, p, k, count, ours):
    fewest = 0.5 if ours else 0.85
    return count.total and count.found >= fewest * count.total and (ours or count.open <= 0.15 * count.total)


def _related(s):
    by = {}
    for weave in s.weaves.values():
        for node in weave.nodes:
            for (p, h), (q, g) in zip(node.events, node.events[1:]):
                by.setdefault(p, set()).add(q)
                by.setdefault(q, set()).add(p)
    return by


def _along(s, here, k, related):
    """patches in with landed ones though nothing of their own says so."""
    n = len(s.folded)
    if not here: return []
    neutral = set()
    for p in range(n):
        if p in here: continue
        c = s.patch_count(p, k)
        if c.total == 0:
            neutral.add(p)
    while True:
        out = {p for p in neutral if any(q not in neutral and q not in here for q in related.get(p, ()))}
        if not out: break
        neutral -= out
    found = []
    for p in sorted(neutral):
        sides = []
        for way in (range(p - 1, -1, -1), range(p + 1, n)):
            stop = next((q for q in way if q not in neutral), None)
            sides.append(None if stop is None else stop in here)
        if any(q in here for q in related.get(p, ())) or (True in sides and False not in sides):
            found.append(p)
    return found


def _reversal(s, left, together, p, k):
    """step that took landed patches back."""
    for group in (together, [p]):
        later = {}
        for q in group:
            for j, c in left[q].items():
                if j > k: later[j] = later.get(j, 0) + c
        for j, c in sorted(later.items(), key=lambda x: (-x[1], x[0]))[:2]:
            was = back = 0
            for q in group:
                for path in s.paths_of[q]:
                    if path not in s.weaves: continue
                    then, now = s.effect(path, k).fates, s.effect(path, j).fates
                    for (at, num), fate in then.items():
                        if s.weaves[path].nodes[at].events[num][0] == q and fate is Fate.FOUND:
                            was += 1
                            back += now[at, num] is Fate.OPEN
            if was and back >= 0.5 * was:
                subject = s.timelines.steps[j].subject
                if _REVERT.search(subject) or _is_reverse(s, k, j):
                    return j
    return None


def _is_reverse(s, k, j):
    added, removed = s.news(k)
    back, away = s.news(j)
    undone = len(added & away) + len(removed & back)
    done = len(added) + len(removed)
    other = len(back - removed) + len(away - added)
    restores = bool(removed) and len(removed & back) >= 0.7 * len(removed)
    if restores:
        return undone >= 0.8 * done and other <= 0.25 * (undone + other)
    return undone >= 0.95 * done and other <= 0.05 * (undone + other)


def _is_in(s, h, k):
    if h in s.plain:
        path, entry = s.plain[h]
        return s.version(path, k) == entry
    c = s.count(h, k)
    path = s.hunk_paths[h]
    whole = s.patch_count(h[0], k)
    return not c.open or (s.is_ours(k) and s.version(path, k) != s.version(path, k - 1) and whole.open <= 0.15 * whole.total)
