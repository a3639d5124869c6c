"""The ledger: every line that a patch adds or removes is accounted for, and so is upstream's text.

This module shares no code with the engine that made the result. It has its own small reader of
patches on purpose: a fault in the engine's reader must not be hidden by the same fault here. It
reads the patch files, the two upstream states, the result, and the diffs of the upstream commits
that were cited. What the engine says became of a hunk (`Fate`) only says what to prove:

- *Carried as text.* Let B be the file on the pin, S the series on it, U upstream's file and R the
  result. A merge replaces separate ranges of lines, so for every pair of neighbouring lines its
  numbers must obey R - U = S - B, up to what both sides changed alike. This holds however a diff
  aligns the lines. Lines whose text no patch adds or removes must be in R exactly as they are in
  U, in their order, and lines that were added together are together: so nothing of upstream is
  lost, doubled or reordered either.
- *Carried by other means* (a formatter, a structural merge, a move). Here the layout is free: white
  space, line breaks, commas, parentheses, quotes and backslashes do not count. The words obey the
  same equation, and the lines that both R and U have once are in the same order. What the patch
  defines, R defines. An import that code needs in its new home may come with it.
- *Resolved by a person.* What the patch adds and the result lacks was given up.
- *Upstream has it.* Each added line is in upstream's file, by its words, or a cited commit brought
  it. Each removed line is gone, or a cited commit took it away.
- *Given up*: the result has nothing of it. *In conflict*: there is no result of these files yet,
  and they are held to it in the run that has the person's resolution.

Files are summed together where a patch, or upstream, moves text from one to the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from patchmgr.engines.ledger.account import (
    Account,
    Deltas,
    Group,
    Part,
    Told,
    fault,
    neighbours,
    number_of,
    quoted,
)
from patchmgr.engines.ledger.claims import CARRIED, Cited, Claim, Claimed, Fate, State
from patchmgr.engines.ledger.diffs import Diff, Hunk, read_diffs
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
    squeezed_counts,
    words_of,
)
from patchmgr.model.audit import Ledger, Sums

_STRIPS = (1, 0, 2, 3)


def balance(
    patches: Sequence[Claimed], base: State, onto: State, result: State, *, cited: Cited
) -> Ledger:
    """Account for each line of the patches, from the base to the result on onto."""
    added, removed = Counter[Fate](), Counter[Fate]()
    faults: list[Told] = []
    evidence: list[Evidence] = []
    edited = {path for patch in patches for path in patch.edited}
    for group in _groups(patches):
        account = Account(group, base, onto, result, cited)
        fates = {fate for part in group.parts for fate in part.fates}
        found = account.close()
        if found and (Fate.PERSON in fates or not edited.isdisjoint(group.paths)):
            give_up(account)
        elif found and Fate.OTHERWISE in fates:
            faults += faults_by_words(account)
        else:
            faults += found
        evidence += evidence_of(account)
        added.update(account.added)
        removed.update(account.removed)
    faults += unproved(evidence)
    return Ledger(_sums(added), _sums(removed), tuple(faults))


def _sums(count: Mapping[Fate, int]) -> Sums:
    carried = sum(count[fate] for fate in CARRIED)
    return Sums(carried, count[Fate.UPSTREAM], count[Fate.CONFLICT], count[Fate.GIVEN_UP])


def _groups(patches: Sequence[Claimed]) -> list[Group]:
    by_path: dict[str, Group] = {}
    for patch in patches:
        claims = list(patch.claims)
        for diff in _read(patch):
            claim = next((c for c in claims if c.path == diff.path), None)
            if claim is None:
                claim = Claim(diff.path, (), (patch.rest,))
            else:
                claims.remove(claim)
            paths = dict.fromkeys(p for p in (diff.old, diff.new, *claim.homes) if p)
            group = _joined(by_path, paths)
            group.parts.append(Part(patch, diff, claim.fates or (patch.rest,)))
    order = {id(patch): number for number, patch in enumerate(patches)}
    groups = list({id(group): group for group in by_path.values()}.values())
    for group in groups:
        group.parts.sort(key=lambda part: order[id(part.patch)])
    return groups


def _read(patch: Claimed) -> list[Diff]:
    """Read a patch with as many folders off its paths as its claims say."""
    paths = {claim.path for claim in patch.claims}
    for strip in _STRIPS:
        found = read_diffs(patch.diff, strip=strip, is_reversed=patch.is_reversed)
        if not paths or any(diff.path in paths for diff in found):
            return found
    return read_diffs(patch.diff, is_reversed=patch.is_reversed)


def _joined(by_path: dict[str, Group], paths: Iterable[str]) -> Group:
    paths = tuple(paths)
    found = list({id(by_path[p]): by_path[p] for p in paths if p in by_path}.values())
    group = found[0] if found else Group()
    for other in found[1:]:
        group.parts += other.parts
        group.paths |= other.paths
    group.paths |= dict.fromkeys(paths)
    by_path.update(dict.fromkeys(group.paths, group))
    return group


_TRAILING = re.compile(rb"\s+(?:#|//)\s.*")


class Evidence(Struct, frozen=True):
    """The missing lines of hunks that upstream is said to have; layout and comments aside.

    `numbers` count the added and the removed lines that were looked for. `lacks` are added lines
    that are nowhere, `still` removed ones that still exist.
    """

    patch: str
    path: str
    numbers: tuple[int, int]
    lacks: tuple[bytes, ...]
    still: tuple[bytes, ...]


def evidence_of(account: Account) -> Iterator[Evidence]:
    """Look for lines that are said to be upstream's: in its files, and in the cited commits."""
    by_patch: dict[str, list[Part]] = {}
    for part in account.parts:
        if Fate.UPSTREAM in part.fates:
            by_patch.setdefault(part.patch.name, []).append(part)
    if not by_patch or account.is_unreadable():
        return
    account.written_end()
    written = {squeezed(line) for lines in account.end.values() for line in lines or ()}
    here, before = (
        sum((squeezed_counts(side.read(path) or b"") for path in account.paths), Counter[bytes]())
        for side in (account.onto, account.base)
    )
    for name, parts in by_patch.items():
        hunks = [h for part in parts for h, fate in part.hunks() if fate is Fate.UPSTREAM]
        added = _telling(line for hunk in hunks for line in hunk.only(b"+"))
        removed = _telling(line for hunk in hunks for line in hunk.only(b"-"))
        # What a later patch of the series replaced need not be there.
        lacks = {line for line in added - removed if line in written and not here[line]}
        still = {
            line
            for line in removed - added
            if line not in written and here[line] >= before[line] > 0
        }
        if lacks or still:
            lacks, still = _beyond_cited(account, parts[0], lacks, still)
            lacks -= _within_longer(account, parts[0], hunks, lacks)
        yield Evidence(
            name,
            parts[0].diff.path,
            (len(added), len(removed)),
            _as_written(hunks, b"+", lacks),
            _as_written(hunks, b"-", still),
        )


def _cited_steps(account: Account, part: Part) -> list[tuple[bytes, bytes]]:
    """Return what the cited commits of a patch made of the files."""
    asked = ((commit, path) for commit in part.patch.cited for path in account.paths)
    return [step for commit, path in asked for step in account.cited(commit, path)]


def _beyond_cited(
    account: Account, part: Part, lacks: set[bytes], still: set[bytes]
) -> tuple[set[bytes], set[bytes]]:
    """Take away what upstream has in another layout, and what a cited commit did."""
    told = {squeezed(line) for text in part.patch.reworded for line in text.split(b"\n")}
    steps = _cited_steps(account, part)
    texts = [squeezed(account.onto.read(path) or b"") for path in account.paths]
    texts += [squeezed(new) for _, new in steps]
    gone = {
        line
        for old, new in (steps if still else ())
        for line in squeezed_counts(old) - squeezed_counts(new)
    }
    lacks = {line for line in lacks - told if not any(line in text for text in texts)}
    return lacks, still - told - gone


def _within_longer(
    account: Account, part: Part, hunks: Sequence[Hunk], lacks: set[bytes]
) -> set[bytes]:
    """Return the lines of which a new line of upstream has every word, and more.

    A set on one line, to which upstream added ours and others, is such a one.
    """
    if not lacks:
        return set()
    sides = account.base, account.onto
    ends = [tuple(side.read(path) or b"" for side in sides) for path in account.paths]
    longer: list[Words] = []
    for old, new in (*ends, *_cited_steps(account, part)):
        known = set(old.split(b"\n"))
        longer += [words_of([line]) for line in new.split(b"\n") if line not in known]
    wanted = {squeezed(line): words_of([line]) for h in hunks for line in h.only(b"+")}
    return {
        line for line in lacks & wanted.keys() if any(not wanted[line] - words for words in longer)
    }


def _telling(lines: Iterable[bytes]) -> Counter[bytes]:
    """Count lines without their layout; remarks and lines of hardly a word are left out.

    So are imports: the same names may be imported in other statements, and the audit resolves them.
    """
    found = (
        squeezed(_TRAILING.sub(b"", line))
        for line in lines
        if not REMARK.match(line) and not IMPORT.match(line)
    )
    return Counter(line for line in found if len(line) > 2)


def _as_written(hunks: Iterable[Hunk], kind: bytes, wanted: set[bytes]) -> tuple[bytes, ...]:
    """Return the lines of a kind whose text without layout is among some."""
    lines = {squeezed(line): line for hunk in hunks for line in hunk.only(kind)} if wanted else {}
    return tuple(line for key, line in lines.items() if key in wanted)


def unproved(evidence: Sequence[Evidence]) -> Iterator[Told]:
    """Judge, patch by patch, the lines that are said to be upstream's.

    Upstream lands patches with changes from review. If it has most of a patch, the missing lines
    are only reported. If it lacks most of it, the patch is not absorbed.
    """
    for name in dict.fromkeys(one.patch for one in evidence):
        found = [one for one in evidence if one.patch == name]
        lacks = [line for one in found for line in one.lacks]
        still = [line for one in found for line in one.still]
        if not lacks and not still:
            continue
        added, removed = (sum(sides) for sides in zip(*(o.numbers for o in found), strict=True))
        told = [
            f"{verb} {number_of(len(lines), 'line')} that the patch {did}: {quoted(lines)}"
            for verb, lines, did in (("lacks", lacks, "adds"), ("still has", still, "removes"))
            if lines
        ]
        is_certain = 2 * len(lacks) > added or 2 * len(still) > removed
        first = next(one for one in found if one.lacks or one.still)
        text = f"this counts as absorbed, but upstream {'; it '.join(told)}"
        yield name, fault(first.path, 0, text, is_certain=is_certain)


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
    """Yield the words whose counts do not add up, for results whose layout is free."""

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
    for sides in _sides_by_path(account):
        if max(map(len, sides)) > _LONGEST:
            return None
        near |= contested(*sides)
    return near


def _sides_by_path(account: Account) -> Iterator[tuple[Lines, Lines, Lines]]:
    """Yield base, ours and theirs of each file; one that upstream moved is compared where it is."""
    gone = [path for path in account.paths if account.onto.blob(path) is None]
    for path in account.paths:
        was = [path] if account.base.blob(path) or path in account.end else gone
        base = [line for old in was for line in lines_of(account.base.read(old)) or ()]
        theirs = [line for old in was for line in account.end.get(old) or ()]
        yield base, lines_of(account.onto.read(path)) or [], theirs


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
    """Count the lines that a person gave up."""
    results = (lines_of(account.result.read(path)) or () for path in account.paths)
    has = {squeezed(line) for lines in results for line in lines}
    for hunk, fate in account.hunks():
        if fate is Fate.PERSON:
            lost = sum(squeezed(line) not in has for line in hunk.only(b"+"))
            account.added[Fate.PERSON] -= lost
            account.added[Fate.GIVEN_UP] += lost
