"""Files that were carried by other means than a text merge: layout is free, words are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from msgspec import Struct

from patchmgr.engines.ledger.account import Account, Deltas, Told, neighbours, quoted
from patchmgr.engines.ledger.claims import CARRIED, Fate, State
from patchmgr.engines.ledger.texts import (
    IMPORT,
    REMARK,
    Lines,
    Pair,
    Words,
    contested,
    definitions_of,
    lines_of,
    once,
    pairs_of,
    squeezed,
    words_of,
)

_LONGEST = 20_000  # lines of a file that difflib compares in seconds


class _Text:
    """The lines of a file, its imports apart: they may be merged as a set of names."""

    def __init__(self, lines: Lines | None) -> None:
        self.rest: Lines = []
        self.imports: Lines = []
        is_open = False
        for line in lines or ():
            if is_open or IMPORT.match(line):
                self.imports.append(line)
                is_open = b")" not in line and (is_open or b"(" in line)
            else:
                self.rest.append(line)

    def words(self) -> Words:
        """Count the words of code."""
        return words_of(line for line in self.rest if not REMARK.match(line))

    def remarks(self) -> Words:
        """Count the words of remarks."""
        return words_of(line for line in self.rest if REMARK.match(line))

    def pairs(self) -> Counter[Pair]:
        """Count the pairs of neighbours."""
        return Counter(pairs_of(self.rest))

    def definitions(self) -> Counter[tuple[str, bytes]]:
        """Count the definitions."""
        return definitions_of(self.rest)


_Texts = dict[str, _Text]


class _Sides(Struct, frozen=True):
    """All states of some files, by path: on the pin, upstream, the series, and the result."""

    base: _Texts
    ours: _Texts
    theirs: _Texts
    made: _Texts

    def written(self, count: Callable[[_Text], Counter[Any]]) -> Counter[Any]:
        """Return how the series changes the numbers of things."""
        return _change(self.base, self.theirs, count)

    def carried(self, count: Callable[[_Text], Counter[Any]]) -> Counter[Any]:
        """Return how the result differs from upstream in the numbers of things."""
        return _change(self.ours, self.made, count)


def _change(old: _Texts, new: _Texts, count: Callable[[_Text], Counter[Any]]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for path, text in new.items():
        if text.rest != old[path].rest:
            found.update(count(text))
            found.subtract(count(old[path]))
    return found


def faults_by_words(account: Account) -> Iterator[Told]:
    """Yield what does not add up where layout is free."""

    def texts(state: State) -> _Texts:
        return {path: _Text(lines_of(state.read(path))) for path in account.paths}

    base, ours, made = map(texts, (account.base, account.onto, account.result))
    theirs = {path: _Text(account.end.get(path)) for path in account.paths}
    sides = _Sides(base, ours, theirs, made)
    yield from _outside(account, sides)
    yield from _out_of_order(account, sides)
    words = Deltas(is_netted=True)
    for hunk, fate in account.hunks():
        old, new = words_of(hunk.only(b"-")), words_of(hunk.only(b"+"))
        words.take(old, new, is_carried=fate in CARRIED)
        if fate is Fate.OTHERWISE:
            words.beside.update(words_of(hunk.beside()) + (old & new))
    words.net = sides.written(_Text.words)
    yield from account.told(account.off(words, sides.carried(_Text.words), words_of), "word", words)
    # Of remarks that both sides wrote, one text may stand for both.
    words.net = sides.written(_Text.remarks)
    off = account.off(words, sides.carried(_Text.remarks), words_of)
    if lost := [one for one, number in off.items() if number > 0 and words.come[one]]:
        text = f"the result lacks words of remarks that the patches add: {quoted(lost)}"
        yield account.finding(text, lost[0], is_certain=False)
    yield from _lost_imports(account, sides)
    yield from _lost_definitions(account, sides)


def _outside(account: Account, sides: _Sides) -> Iterator[Told]:
    """Hold what is not near a hunk that was merged by other means to the law of neighbours."""
    near = _near(account)
    if near is None:
        return
    texts = (*sides.ours.values(), *sides.theirs.values())
    known = {line for text in texts for line in text.rest}
    account.pairs.net = sides.written(_Text.pairs)
    for one in account.off(account.pairs, sides.carried(_Text.pairs), neighbours, beside=1):
        # A place that is laid out anew may get a line that stands elsewhere (fi-3543).
        if near.isdisjoint(one) and not known.isdisjoint(one):
            yield account.disorder(max(one, key=len))
            return


def _near(account: Account) -> set[bytes] | None:
    """Return the lines of places that both sides changed, and of hunks not merged as text.

    None is returned where a file is too long to compare.
    """
    others = (hunk for hunk, fate in account.hunks() if fate is not Fate.TEXT)
    near = {line[1:] for hunk in others for line in hunk.lines}
    for path in account.paths:
        base, ours = (lines_of(s.read(path)) or [] for s in (account.base, account.onto))
        theirs = account.end.get(path) or []
        if max(len(base), len(ours), len(theirs)) > _LONGEST:
            return None
        near |= contested(base, ours, theirs)
    return near


def _out_of_order(account: Account, sides: _Sides) -> Iterator[Told]:
    """Compare the order of lines that are there once with upstream's and with the patches'.

    What one side alone has keeps its order. What both have keeps it where they agree.
    """
    for path, text in sides.made.items():
        places, files = once(text.rest), (sides.ours[path], sides.theirs[path])
        orders = [once(file.rest) for file in files]
        every = [set(map(squeezed, file.rest)) for file in files]
        for side, other in ((0, 1), (1, 0)):
            alone = [one for one in places if one in orders[side] and one not in every[other]]
            both = [one for one in places if one in orders[side] and one in orders[other]]
            for lines, held_to in ((alone, [orders[side]]), (both, orders)):
                for before, after in pairwise(lines):
                    if all(order[before] > order[after] for order in held_to):
                        yield account.disorder(places[after][1])
                        return


def _lost_imports(account: Account, sides: _Sides) -> Iterator[Told]:
    """Look for the names that either side imports, and for imports that are double."""

    def imported(texts: _Texts) -> Words:
        return Counter(name for text in texts.values() for name in words_of(text.imports))

    hunks = account.hunks()
    left = words_of(line for h, f in hunks if f not in CARRIED for line in h.only(b"+"))
    removed = words_of(line for h, _ in hunks for line in h.only(b"-"))
    there = words_of(line for t in sides.made.values() for line in (*t.imports, *t.rest))
    added = imported(sides.theirs) - imported(sides.base)
    for names, known, who in (
        (added, left, "the patches add"),
        (imported(sides.ours), removed, "upstream has"),
    ):
        for name in names:
            if not there[name] and not known[name]:
                text = f"the result lacks the import of {name.decode(errors='replace')}"
                yield account.finding(f"{text} that {who}", name)
    for path, file in sides.made.items():
        base, before, theirs = (
            Counter(texts[path].imports) for texts in (sides.base, sides.ours, sides.theirs)
        )
        most = before + theirs - base
        for line, number in Counter(file.imports).items():
            if number > max(before[line], most[line]) > 0 and IMPORT.match(line):
                yield account.finding(f"the result has an import twice: {quoted([line])}", line)


def _lost_definitions(account: Account, sides: _Sides) -> Iterator[Told]:
    """Look for what the patches define, by name."""
    defined = Deltas(is_netted=True)
    for hunk, fate in account.hunks():
        old, new = definitions_of(hunk.only(b"-")), definitions_of(hunk.only(b"+"))
        defined.take(old, new, is_carried=fate in CARRIED)
    defined.net = sides.written(_Text.definitions)
    off = account.off(defined, sides.carried(_Text.definitions), definitions_of)
    for (kind, name), number in off.items():
        if number > 0:
            text = f"the result lacks the {kind} {name.decode(errors='replace')}"
            yield account.finding(text, name)


def give_up(account: Account) -> None:
    """Count the lines that a person did not take."""
    results = (lines_of(account.result.read(path)) or () for path in account.paths)
    has = {squeezed(line) for lines in results for line in lines}
    for hunk, fate in account.hunks():
        if fate is Fate.PERSON:
            lost = sum(squeezed(line) not in has for line in hunk.only(b"+"))
            account.added[Fate.PERSON] -= lost
            account.added[Fate.GIVEN_UP] += lost
