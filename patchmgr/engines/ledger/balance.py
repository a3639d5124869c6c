"""The ledger: prove what became of every line of the patches, and that upstream's text is kept.

What it proves is in docs/design.md. It shares no code with the engine that made the result, not
even the reader of patches, so that a fault there cannot hide itself here.
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
    FileGroup,
    Part,
    Told,
    fault,
    neighbors,
    number_of,
    quoted,
)
from patchmgr.engines.ledger.claims import CARRIED, Cited, Claimed, Fate, FileClaim, TreeFiles
from patchmgr.engines.ledger.diffs import Diff, RawHunk, read_diffs
from patchmgr.engines.ledger.texts import (
    IMPORT,
    REMARK,
    Lines,
    Pair,
    Words,
    apart,
    contested,
    definitions_of,
    each_squeezed,
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
    patches: Sequence[Claimed], base: TreeFiles, onto: TreeFiles, result: TreeFiles, *, cited: Cited
) -> Ledger:
    """Return the ledger: what became of each line of the patches, and a finding for each error."""
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


def _groups(patches: Sequence[Claimed]) -> list[FileGroup]:
    by_path: dict[str, FileGroup] = {}
    for patch in patches:
        claims = list(patch.claims)
        for diff in _read(patch):
            claim = next((c for c in claims if c.path == diff.path), None)
            if claim is None:
                claim = FileClaim(diff.path, (), (patch.rest,))
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
    """Read a patch, stripping as many leading folders from its paths as its claims require."""
    paths = {claim.path for claim in patch.claims}
    for strip in _STRIPS:
        found = read_diffs(patch.diff, strip=strip, is_reversed=patch.is_reversed)
        if not paths or any(diff.path in paths for diff in found):
            return found
    return read_diffs(patch.diff, is_reversed=patch.is_reversed)


def _joined(by_path: dict[str, FileGroup], paths: Iterable[str]) -> FileGroup:
    paths = tuple(paths)
    found = list({id(by_path[p]): by_path[p] for p in paths if p in by_path}.values())
    group = found[0] if found else FileGroup()
    for other in found[1:]:
        group.parts += other.parts
        group.paths |= other.paths
    group.paths |= dict.fromkeys(paths)
    by_path.update(dict.fromkeys(group.paths, group))
    return group


_TRAILING = re.compile(rb"\s+(?:#|//)\s.*")


class Evidence(Struct, frozen=True):
    """The result of searching upstream for the lines of an absorbed patch."""

    patch: str
    path: str
    numbers: tuple[int, int]  # added and removed lines that were searched for
    lacks: tuple[bytes, ...]  # added lines that upstream does not have
    still: tuple[bytes, ...]  # removed lines that upstream still has


def evidence_of(account: Account) -> Iterator[Evidence]:
    """Search upstream's files and the cited commits; yield the evidence for each absorbed patch."""
    by_patch: dict[str, list[Part]] = {}
    for part in account.parts:
        if Fate.UPSTREAM in part.fates:
            by_patch.setdefault(part.patch.name, []).append(part)
    if not by_patch or account.is_unreadable():
        return
    account.apply_patches()
    written = Counter(squeezed(line) for lines in account.end.values() for line in lines or ())
    here, before = (
        sum((squeezed_counts(side.read(path) or b"") for path in account.paths), Counter[bytes]())
        for side in (account.onto, account.base)
    )
    for name, parts in by_patch.items():
        hunks = [h for part in parts for h, fate in part.hunks() if fate is Fate.UPSTREAM]
        added = _distinctive(line for hunk in hunks for line in hunk.only(b"+"))
        removed = _distinctive(line for hunk in hunks for line in hunk.only(b"-"))
        # Upstream need not have a line that a later patch of the series replaced, or a line of
        # the base that the patch only restores.
        lacks = {
            line for line in added - removed if written[line] > before[line] and not here[line]
        }
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
    """Return the contents of the files before and after each cited commit of a patch."""
    asked = ((commit, path) for commit in part.patch.cited for path in account.paths)
    return [step for commit, path in asked for step in account.cited(commit, path)]


def _beyond_cited(
    account: Account, part: Part, lacks: set[bytes], still: set[bytes]
) -> tuple[set[bytes], set[bytes]]:
    """Return the lines of `lacks` and `still` that neither upstream nor a cited commit explains."""
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
    account: Account, part: Part, hunks: Sequence[RawHunk], lacks: set[bytes]
) -> set[bytes]:
    """Return the lines of `lacks` whose words all occur in a single new line of upstream."""
    if not lacks:
        return set()
    sides = account.base, account.onto
    ends = [tuple(side.read(path) or b"" for side in sides) for path in account.paths]
    # Upstream may have put a whole set on one line, with the members that the patch adds.
    longer: list[Words] = []
    for old, new in (*ends, *_cited_steps(account, part)):
        known = set(old.split(b"\n"))
        longer += [words_of([line]) for line in new.split(b"\n") if line not in known]
    wanted = {squeezed(line): words_of([line]) for h in hunks for line in h.only(b"+")}
    return {
        line for line in lacks & wanted.keys() if any(not wanted[line] - words for words in longer)
    }


def _distinctive(lines: Iterable[bytes]) -> Counter[bytes]:
    """Count lines, as `squeezed` returns them, except comments, imports and very short lines."""
    # Other statements may import the same names; the audit resolves imports.
    found = (
        squeezed(_TRAILING.sub(b"", line))
        for line in lines
        if not REMARK.match(line) and not IMPORT.match(line)
    )
    return Counter(line for line in found if len(line) > 2)


def _as_written(hunks: Iterable[RawHunk], kind: bytes, wanted: set[bytes]) -> tuple[bytes, ...]:
    """Return the full text of each added (or removed) line whose `squeezed` form is in `wanted`."""
    lines = {squeezed(line): line for hunk in hunks for line in hunk.only(kind)} if wanted else {}
    return tuple(line for key, line in lines.items() if key in wanted)


def unproved(evidence: Sequence[Evidence]) -> Iterator[Told]:
    """Yield a finding for each absorbed patch with lines that were not found upstream."""
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
        # Upstream often changes a patch in review, so a smaller part is only a warning.
        is_certain = 2 * len(lacks) > added or 2 * len(still) > removed
        first = next(one for one in found if one.lacks or one.still)
        text = f"this counts as absorbed, but upstream {'; it '.join(told)}"
        yield name, fault(first.path, 0, text, is_certain=is_certain)


_LONGEST = 20_000  # lines of the longest file that difflib can compare within seconds


class _Text:
    """The lines of a file, with the imports kept separate, because they may be merged as a set."""

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


_Texts = dict[str, _Text]


def _words(lines: Lines) -> Words:
    return words_of(line for line in lines if not REMARK.match(line))


def _remarks(lines: Lines) -> Words:
    return words_of(line for line in lines if REMARK.match(line))


def _pairs(lines: Lines) -> Counter[Pair]:
    return Counter(pairs_of(lines))


class _Sides(Struct, frozen=True):
    """The contents of some files, by path: on the three sides of the merge, and in the result."""

    base: _Texts
    ours: _Texts
    theirs: _Texts
    made: _Texts

    def written(self, count: Callable[[Lines], Counter[Any]]) -> Counter[Any]:
        """Return by how much the patches change the count of each item, such as a word."""
        return _change(self.base, self.theirs, count)

    def carried(self, count: Callable[[Lines], Counter[Any]]) -> Counter[Any]:
        """Return how many more of each item, such as a word, the result has than upstream."""
        return _change(self.ours, self.made, count)


def _change(old: _Texts, new: _Texts, count: Callable[[Lines], Counter[Any]]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for path, text in new.items():
        if text.rest != old[path].rest:
            before, after = apart(old[path].rest, text.rest)
            if count is not _pairs:  # otherwise equal lines count the same wherever they are
                lines = Counter(after)
                lines.subtract(before)
                before, after = [*(-lines).elements()], [*(+lines).elements()]
            found.update(count(after))
            found.subtract(count(before))
    return found


def faults_by_words(account: Account) -> Iterator[Told]:
    """Yield faults, found by counting words, in files that were not merged as plain text."""

    def texts(state: TreeFiles) -> _Texts:
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
    words.net = sides.written(_words)
    yield from account.told(account.off(words, sides.carried(_words), words_of), "word", words)
    # If both sides wrote a comment, the result may have only one of the two.
    words.net = sides.written(_remarks)
    off = account.off(words, sides.carried(_remarks), words_of)
    if lost := [one for one, number in off.items() if number > 0 and words.come[one]]:
        text = f"the result lacks words from comments that the patches add: {quoted(lost)}"
        yield account.finding(text, lost[0], is_certain=False)
    yield from _lost_imports(account, sides)
    yield from _lost_definitions(account, sides)


def _outside(account: Account, sides: _Sides) -> Iterator[Told]:
    """Yield a fault if lines are out of order in the parts that were merged as plain text."""
    near = _near(account)
    if near is None:
        return
    texts = (*sides.ours.values(), *sides.theirs.values())
    known = {line for text in texts for line in text.rest}
    account.pairs.net = sides.written(_pairs)
    for one in account.off(account.pairs, sides.carried(_pairs), neighbors, beside=1):
        # Reformatting may make a line equal to another line of the file (case fi-3543).
        if near.isdisjoint(one) and not known.isdisjoint(one):
            yield account.disorder(*one)
            return


def _near(account: Account) -> set[bytes] | None:
    """Return the lines around changes of both sides, and the lines of hunks not merged as text.

    Returns None if a file is too long to compare.
    """
    others = (hunk for hunk, fate in account.hunks() if fate is not Fate.TEXT)
    near = {line[1:] for hunk in others for line in hunk.lines}
    for sides in _sides_by_path(account):
        if max(map(len, sides)) > _LONGEST:
            return None
        near |= contested(*sides)
    return near


def _sides_by_path(account: Account) -> Iterator[tuple[Lines, Lines, Lines]]:
    """Yield (base, ours, theirs) for each file, at its new path if upstream moved it."""
    gone = [path for path in account.paths if account.onto.blob(path) is None]
    for path in account.paths:
        was = [path] if account.base.blob(path) or path in account.end else gone
        base = [line for old in was for line in lines_of(account.base.read(old)) or ()]
        theirs = [line for old in was for line in account.end.get(old) or ()]
        yield base, lines_of(account.onto.read(path)) or [], theirs


def _out_of_order(account: Account, sides: _Sides) -> Iterator[Told]:
    """Yield a fault if unique lines are not in the order of the side or sides that have them."""
    # If upstream renamed a file, the patches have it at its old path (KeyDB 48d92c534c, where a
    # patch moves lines in one).
    for path, (_, _, theirs) in zip(account.paths, _sides_by_path(account), strict=True):
        files = sides.ours[path], sides.theirs[path] if account.end.get(path) else _Text(theirs)
        places = once(sides.made[path].rest)
        orders = [once(file.rest) for file in files]
        every = [{*each_squeezed(file.rest)} for file in files]
        for side, other in ((0, 1), (1, 0)):
            alone = [one for one in places if one in orders[side] and one not in every[other]]
            both = [one for one in places if one in orders[side] and one in orders[other]]
            for lines, held_to in ((alone, [orders[side]]), (both, orders)):
                for before, after in pairwise(lines):
                    if all(order[before] > order[after] for order in held_to):
                        yield account.disorder(places[after][1])
                        return


def _lost_imports(account: Account, sides: _Sides) -> Iterator[Told]:
    """Yield a fault for each imported name that the result lacks, and for each repeated import."""

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
    """Yield a fault for each definition that the patches add and the result lacks."""
    defined = Deltas(is_netted=True)
    for hunk, fate in account.hunks():
        old, new = definitions_of(hunk.only(b"-")), definitions_of(hunk.only(b"+"))
        defined.take(old, new, is_carried=fate in CARRIED)
    defined.net = sides.written(definitions_of)
    off = account.off(defined, sides.carried(definitions_of), definitions_of)
    for (kind, name), number in off.items():
        if number > 0:
            text = f"the result lacks the {kind} {name.decode(errors='replace')}"
            yield account.finding(text, name)


def give_up(account: Account) -> None:
    """Count the added lines that a person's resolution leaves out as given up."""
    results = (lines_of(account.result.read(path)) or () for path in account.paths)
    has = {squeezed(line) for lines in results for line in lines}
    for hunk, fate in account.hunks():
        if fate is Fate.PERSON:
            lost = sum(squeezed(line) not in has for line in hunk.only(b"+"))
            account.added[Fate.PERSON] -= lost
            account.added[Fate.GIVEN_UP] += lost
