"""Describe a conflict region and a candidate resolution by features from a fixed vocabulary."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

from msgspec import Struct

from patchmgr.engines.merge.languages import C, Language, tokens_of
from patchmgr.engines.merge.node_edits import NodeEdit, token_edits
from patchmgr.engines.merge.region import Region
from patchmgr.engines.merge.replay import Place
from patchmgr.engines.merge.tree import Node, likeness, normalized, words_of

_SHARES = ((0.001, 0.3, 1 - 1e-9), ("none", "some", "most", "all"))
_SIZES = ((0, 3, 10, 40), ("0", "1-3", "4-10", "11-40", "41+"))
_GAPS = ((-1, 0, 3, 12), ("meet", "touch", "1-3", "4-12", "13+"))
_LIKE = ((0.2, 0.5, 0.8, 0.999), ("0-0.2", "0.2-0.5", "0.5-0.8", "0.8-1", "1"))
COUNTS = ((0, 1, 2), ("0", "1", "2", "3+"))
CANDIDATES = ((1, 2, 3, 4, 5, 6, 7), ("0-1", "2", "3", "4", "5", "6", "7", "8+"))
REGIONS = ((1, 2, 5), ("1", "2", "3-5", "6+"))
_WEIGHT = ("delete", "delete, replace", "kind", "edit", "replace", "same key", "insert")

Words = Counter[str]
_NAME = re.compile(r"(?<=from )\.+|[^\W\d]\w*")  # the dots of a relative import count as a name
_INCLUDE = re.compile(r"#\s*include\b")


def bucket(value: float, buckets: tuple[Sequence[float], Sequence[str]]) -> str:
    """Return the name, such as "4-10", of the range that contains a number."""
    limits, names = buckets
    return names[bisect_left(limits, value)]


class Subject(Struct, frozen=True):
    """The words and features of a conflict region, for judging its candidates."""

    base: Words
    ours: Words
    theirs: Words
    names: tuple[Words, ...]  # of each side; leading dots of a relative import count as a name
    features: dict[str, str]

    def is_undone(self, text: str) -> bool:
        """Return whether a candidate `text` still has words that only one side removed.

        Punctuation counts only if that side removed no words and the text has the words of the
        other side.
        """
        # Upstream of elements replaces `uint256S("1ebb")` with `"1ebb"`, and the patch changes the
        # string (1fd44e5dfc).
        words = Counter(words_of(normalized(text)))
        if self.features["layout"] != "no":
            return False
        for one, other in ((self.ours, self.theirs), (self.theirs, self.ours)):
            removed, added = (self.base - one) - (self.base - other), other - self.base
            still = [word for word in removed if words[word] > one[word] + added[word]]
            is_other = words == other and not _has_words(self.base - one)
            if _has_words(still) or (still and is_other):
                return True
        return False


def _has_words(words: Iterable[str]) -> bool:
    return any(word[0].isalnum() or word[0] == "_" for word in words)


def subject_of(
    region: Region, language: Language, sides: Sequence[Node], flat: Sequence[Node]
) -> Subject:
    """Return the words and features of a region, given its sides as trees and as tokens."""
    base, ours, theirs = (Counter(words_of(normalized("".join(lines)))) for lines in region.sides)
    features = {
        "language": language.family,
        "what": _what(sides),
        "edits": _edits(region),
        "alike": bucket(likeness(sides[1].normalized, sides[2].normalized), _LIKE),
        "layout": _layout(sides),
        **_geometry(flat),
        "both add": _shared(ours - base, theirs - base),
    }
    names = tuple(names_in("".join(lines)) for lines in region.sides)
    return Subject(base, ours, theirs, names, features)


def _what(sides: Sequence[Node]) -> str:
    """Return the kind of the changed statements: "mixed" for several, "comment" for none."""
    known = {part.normalized for part in sides[0].parts}
    changed = [p for side in sides[1:] for p in side.parts if p.normalized not in known]
    changed += [
        p
        for p in sides[0].parts
        if all(p.normalized not in _normalized_parts(s) for s in sides[1:])
    ]
    kinds = {part.kind for part in changed} - {"blank"}
    if not kinds:
        return "comment"
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _geometry(flat: Sequence[Node]) -> dict[str, str]:
    """Return the kinds, sizes and distance of both sides' edits, as features."""
    changes = [token_edits(flat[0], side) for side in flat[1:]]
    sizes = [sum(max(e.end - e.start, e.last - e.first) for e in edits) for edits in changes]
    return {
        "ours does": _does(changes[0]),
        "theirs does": _does(changes[1]),
        "ours changes": bucket(sizes[0], _SIZES),
        "theirs changes": bucket(sizes[1], _SIZES),
        "apart": bucket(_distance(*changes), _GAPS),
    }


def _does(edits: Sequence[NodeEdit]) -> str:
    kinds = {
        "insert" if e.start == e.end else "delete" if e.first == e.last else "replace"
        for e in edits
    }
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "nothing"


def _distance(ours: Sequence[NodeEdit], theirs: Sequence[NodeEdit]) -> int:
    """Return how many tokens lie between the sides' nearest edits, or -1 if two edits overlap."""
    gaps = [max(a.start - b.end, b.start - a.end) for a in ours for b in theirs]
    return max(-1, min(gaps, default=1000))


def names_in(text: str) -> Words:
    """Count how often each name occurs in a text."""
    return Counter(_NAME.findall(text))


def removed_names(base: Words, side: Words) -> Words:
    """Count the names that a side removes from a file; `base` and `side` count the file's lines."""
    # No name spans two lines, so only the lines that differ are read.
    gone, come = ("\n".join(lines.elements()) for lines in (base - side, side - base))
    return names_in(gone) - names_in(come)


def stale(
    region: Subject, sides: Sequence[str], removed: Sequence[Words], language: Language
) -> str:
    """Return whether names that one side adds to a region are still used by the other side.

    Only names count that the other side removes from lines of its file. Returns "gone" if its file
    no longer uses one of them, "fewer" if it still uses all of them, or "no" if there are none.
    `sides` are the file's texts in ours and theirs, and `removed` the names that each removes.
    """
    base, *both = region.names
    rows = zip(both[::-1], removed, sides, sides[::-1], strict=True)
    left = [
        word in _names(text, language) or word not in _names(other, language)
        for words, gone, text, other in rows
        for word in words - base
        if gone[word]
    ]
    return "no" if not left else "fewer" if all(left) else "gone"


@lru_cache(maxsize=4)
def _names(text: str, language: Language) -> Set[str]:
    """Return the names in a text; in C, without those in comments, strings and includes."""
    if language is not C:
        return {*_NAME.findall(text)}
    # KeyDB replaces each `server.` (67b7d512cb).
    code = (t.text for t in tokens_of(text, C) if t.kind in ("word", "directive"))
    return {name for part in code if not _INCLUDE.match(part) for name in _NAME.findall(part)}


def _shared(ours: Words, theirs: Words) -> str:
    """Return how much of what the sides add is the same, as the name of a range."""
    least = min(ours.total(), theirs.total())
    return "nothing" if not least else bucket((ours & theirs).total() / least, _SHARES)


def _normalized_parts(side: Node) -> set[str]:
    return {part.normalized for part in side.parts}


def _edits(region: Region) -> str:
    size = region.before + region.after
    base, ours, theirs = (len(side) > size for side in region.sides)
    if not base:
        return "both insert"
    if not ours or not theirs:
        return "ours deletes" if not ours else "theirs deletes"
    return "both edit"


def _layout(sides: Sequence[Node]) -> str:
    if sides[1].normalized == sides[2].normalized:
        return "both"
    if sides[0].normalized == sides[1].normalized:
        return "ours"
    return "theirs" if sides[0].normalized == sides[2].normalized else "no"


def features_of(subject: Subject, text: str, places: Sequence[Place]) -> dict[str, str]:
    """Return the features of a candidate `text`; `places` are the nodes that both sides changed."""
    words = Counter(words_of(normalized(text)))
    base, ours, theirs = subject.base, subject.ours, subject.theirs
    gone = (base - ours) | (base - theirs)
    rest = words - (base - gone)
    most = (ours | theirs) + ((ours - base) & (theirs - base)) if not base else ours + theirs
    worst = min(places, key=lambda place: _rank(place.how), default=None)
    return {
        **subject.features,
        "open how": worst.how if worst else "none",
        "open at": worst.kind if worst else "none",
        "keeps ours": _share(ours - base, rest),
        "keeps theirs": _share(theirs - base, rest),
        "returns": bucket(((words & gone) - (most - base)).total(), COUNTS) if gone else "0",
        "is": "ours" if words == ours else "theirs" if words == theirs else "neither",
    }


def _rank(how: str) -> int:
    return _WEIGHT.index(how) if how in _WEIGHT else len(_WEIGHT)


def _share(needed: Words, words: Words) -> str:
    """Return what share of the needed words is in `words`, as the name of a range."""
    if not needed:
        return "nothing"
    return bucket((needed & words).total() / needed.total(), _SHARES)
