"""Count what a series changes in a group of files, and compare this with the rebased files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, zip_longest
from typing import Any

from msgspec import Struct, field

from patchmgr.engines.ledger.claims import CARRIED, Cited, Claimed, Fate, TreeFiles
from patchmgr.engines.ledger.diffs import Diff, RawHunk
from patchmgr.engines.ledger.texts import (
    END,
    JOINTS,
    START,
    Block,
    Lines,
    Pair,
    Searched,
    apart,
    blocks_of,
    definitions_of,
    is_near,
    is_within,
    lines_of,
    merged,
    pairs_of,
    position,
    strange,
)  # fmt: skip
from patchmgr.model.audit import AuditFinding

Told = tuple[str, AuditFinding]
_UNKNOWN = b"("
_SHORTEST_ID = 7
_TOLD = 60


class Part(Struct, frozen=True):
    """One patch's change to one file, and what became of each hunk according to the rebase."""

    patch: Claimed
    diff: Diff
    fates: tuple[Fate, ...]

    def hunks(self) -> Iterator[tuple[RawHunk, Fate]]:
        """Yield each hunk of the change, and what became of the hunk according to the rebase."""
        for number, hunk in enumerate(self.diff.hunks):
            yield hunk, self.fates[min(number, len(self.fates) - 1)]

    def runs(self) -> Iterator[Lines]:
        """Yield each run of added lines in the hunks that were merged as plain text."""
        for hunk, fate in self.hunks():
            run: Lines = []
            for line in (*hunk.lines, b" ") if fate is Fate.TEXT else ():
                if line[:1] == b"+":
                    run.append(line[1:])
                elif line[:1] == b" " and run:
                    yield run
                    run = []

    @property
    def is_carried(self) -> bool:
        """Whether the rebased file should contain at least a part of the patch's change."""
        return any(fate in CARRIED for fate in self.fates)


class FileGroup(Struct):
    """Files linked by renames or moved code, and the changes that the patches make to them."""

    paths: dict[str, None] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)


class Deltas:
    """How often the patches add and remove each item: a line, a pair of lines, or a word.

    If `is_exact`, the result must not contain what only hunks that were not carried add. If
    `is_netted`, an item that one change both adds and removes is not counted, unless it is
    punctuation such as a dot.
    """

    def __init__(self, *, is_exact: bool = False, is_netted: bool = False) -> None:
        self.is_exact, self.is_netted = is_exact, is_netted
        self.net: Counter[Any] = Counter()  # all changes
        self.left: Counter[Any] = Counter()  # changes of hunks that were not carried
        # One change may undo another, so additions and removals are counted separately, too.
        self.come: Counter[Any] = Counter()
        self.gone: Counter[Any] = Counter()
        self.come_left: Counter[Any] = Counter()
        self.gone_left: Counter[Any] = Counter()
        # Items next to added ones may swap places with them (case fi-0.6.16: a hash moves to a new
        # name, while upstream has another hash for the old name).
        self.beside: Counter[Any] = Counter()

    def take(self, old: Iterable[Any], new: Iterable[Any], *, is_carried: bool) -> None:
        """Count one change, given as the items that it removes and the items that it adds."""
        come, gone = Counter(new), Counter(old)
        delta = Counter(come)
        delta.subtract(gone)
        if self.is_netted:
            come, gone = _joints(come) | +delta, _joints(gone) | -delta
        self.net.update(delta)
        if not is_carried:
            self.left.update(delta)
        (self.come if is_carried else self.come_left).update(come)
        (self.gone if is_carried else self.gone_left).update(gone)


def _joints(counts: Counter[Any]) -> Counter[Any]:
    return Counter({one: number for one, number in counts.items() if one in JOINTS})


class Account:
    """The account of a group of files: what patches add and remove, compared with the result."""

    def __init__(
        self, group: FileGroup, base: TreeFiles, onto: TreeFiles, result: TreeFiles, cited: Cited
    ) -> None:
        self.parts, self.paths, self.cited = group.parts, group.paths, cited
        self.base, self.onto, self.result = base, onto, result
        self.added, self.removed = Counter[Fate](), Counter[Fate]()
        self.lines, self.pairs = Deltas(is_exact=True), Deltas()
        self.end: dict[str, Lines | None] = {}
        self._blocks: dict[tuple[str, bool, bool], list[Block]] = {}  # upstream's changes
        self.sources: dict[str, str] = {}  # the path on the pin of each renamed or copied file

    def close(self) -> list[Told]:
        """Count what the patches change in the files, and return a finding for each wrong count."""
        for hunk, fate in self.hunks():
            self.added[fate] += len(hunk.only(b"+"))
            self.removed[fate] += len(hunk.only(b"-"))
        self.changed = [
            path for path in self.paths if self.onto.blob(path) != self.result.blob(path)
        ]
        # Files in conflict have no result yet. They are checked once the conflict is resolved.
        is_left = any(fate is Fate.CONFLICT for part in self.parts for fate in part.fates)
        if is_left or self._is_as_written():
            return []
        if self.is_unreadable():
            return list(self._by_ids())
        self.apply_patches()
        return list(self._by_lines())

    def _is_as_written(self) -> bool:
        """Return whether upstream left the files alone and the result has the patches' blobs."""
        ends = self._ends()
        if ends is None:
            return False
        hunks = {part.diff.path for part in self.parts if part.diff.hunks}
        return all(
            self._is_named(path, end)
            and (end is None or len(end) >= _SHORTEST_ID or path not in hunks)
            for path, end in ends.items()
        )

    def _ends(self) -> dict[str, str | None] | None:
        """Map each path to the last blob id in the patches ("": not given, None: removed).

        Returns None if upstream changed the files, or if any hunk was not carried as text.
        """
        if any(fate is not Fate.TEXT for part in self.parts for fate in part.fates):
            return None
        if any(self.base.blob(path) != self.onto.blob(path) for path in self.paths):
            return None
        ends: dict[str, str | None] = {}
        for part in self.parts:
            if part.diff.old is not None and not part.diff.is_copy:
                ends[part.diff.old] = None
            if part.diff.new is not None:
                ends[part.diff.new] = part.diff.new_id
        return ends

    def _is_named(self, path: str, end: str | None) -> bool:
        blob = self.result.blob(path)
        return (blob is None) == (end is None) and (blob or "").startswith(end or "")

    def _by_ids(self) -> Iterator[Told]:
        """Yield a fault for each file whose blob id in the result is not the one in the patches."""
        for path, end in (self._ends() or {}).items():
            if not self._is_named(path, end):
                text = "this file in the result differs from the one that the patches make"
                yield self.parts[-1].patch.name, fault(path, 0, text)

    def is_unreadable(self) -> bool:
        """Return whether any of the files is unavailable, binary or a link."""
        for state in (self.base, self.onto, self.result):
            for path in self.paths:
                content = state.read(path)
                is_missing = content is None and state.blob(path) is not None
                if content == _UNKNOWN or is_missing or b"\0" in (content or b""):
                    return True
        return False

    def hunks(self) -> list[tuple[RawHunk, Fate]]:
        """Return all hunks in the patches' changes to these files, each with what became of it."""
        return [each for part in self.parts for each in part.hunks()]

    # What the patches do to the files of the base:

    def apply_patches(self) -> None:
        """Apply the patches to the files of the base, unless this has already been done."""
        if not self.end:
            for part in self.parts:
                self._fold_part(part)

    def _fold_part(self, part: Part) -> None:
        diff = part.diff
        old = None if diff.old is None else self._written(diff.old)
        if diff.is_copy:
            self.pairs.take((), pairs_of(old), is_carried=part.is_carried)
            self.lines.take((), old or (), is_carried=part.is_carried)
        elif diff.old != diff.new and all(p and self.onto.blob(p) for p in (diff.old, diff.new)):
            # Upstream has the file at both paths: both sides add it at the new one.
            self.pairs.take(pairs_of(old), pairs_of(old), is_carried=part.is_carried)
            self.lines.take(old or (), old or (), is_carried=part.is_carried)
        elif not diff.hunks and None in (diff.old, diff.new):  # an empty file is added or removed
            was, now = (() if side is None else pairs_of([]) for side in (diff.old, diff.new))
            self.pairs.take(was, now, is_carried=part.is_carried)
        lines = None if diff.old is None or old is None else list(old)
        drift = 0
        for hunk, fate in part.hunks():
            before, after = hunk.side(b"+"), hunk.side(b"-")
            is_carried = fate in CARRIED
            self.lines.take(hunk.only(b"-"), hunk.only(b"+"), is_carried=is_carried)
            at = None
            if part.patch.on_base:
                at = position(lines or [], before, hunk.start + drift, is_last=hunk.is_last)
            if at is None:
                self.pairs.take(pairwise(before), pairwise(after), is_carried=is_carried)
                continue
            drift = at - hunk.start + len(after) - len(before)
            first = lines[at - 1] if lines and at else START
            last = lines[at + len(before)] if lines and at + len(before) < len(lines) else END
            was = () if lines is None else pairwise((first, *before, last))
            now = () if diff.new is None else pairwise((first, *after, last))
            self.pairs.take(was, now, is_carried=is_carried)
            lines = lines or []
            lines[at : at + len(before)] = after
        if not part.patch.on_base:
            return
        if diff.old is not None and not diff.is_copy:
            self.end[diff.old] = None
        if diff.new is not None:
            self.end[diff.new] = lines or []
            if diff.old is not None:
                self.sources[diff.new] = self.sources.get(diff.old, diff.old)

    def _written(self, path: str) -> Lines | None:
        if path not in self.end:
            self.end[path] = lines_of(self.base.read(path))
        return self.end[path]

    # What the result is:

    def _made(self, count: Callable[[Lines], Counter[Any]]) -> Counter[Any]:
        """Return the counts of items in the result minus the counts in upstream's files."""
        made: Counter[Any] = Counter()
        for path in self.changed:
            ours, lines = (lines_of(state.read(path)) for state in (self.onto, self.result))
            if ours is not None and lines is not None:
                ours, lines = apart(ours, lines)
            made.update({} if lines is None else count(lines))
            made.subtract({} if ours is None else count(ours))
        return made

    def _upstream(
        self, count: Callable[[Lines], Counter[Any]], beside: int, *, is_netted: bool
    ) -> Deltas:
        """Count what upstream changed, including `beside` lines around each change.

        If `is_netted`, only changes near those of the patches count.
        """
        found = Deltas(is_netted=is_netted)
        for path in self.paths:
            if self.base.blob(path) == self.onto.blob(path):
                continue
            texts = (lines_of(state.read(path)) for state in (self.base, self.onto))
            old, new = (
                [] if lines is None and beside else [START, *(lines or ()), END] for lines in texts
            )
            key = path, bool(old), bool(new)
            if key not in self._blocks:  # lines, pairs and words are counted at the same changes
                self._blocks[key] = list(blocks_of(old, new))
            blocks = self._blocks[key]
            # A word that both sides add is the same word only if they add it at the same place.
            for a, b, c, d in self._at_changes(path, old, new, blocks) if is_netted else blocks:
                sides = old[max(0, a - beside) : b + beside], new[max(0, c - beside) : d + beside]
                found.take(count(sides[0]), count(sides[1]), is_carried=True)
        return found

    def _at_changes(
        self, path: str, old: Lines, new: Lines, blocks: Sequence[Block]
    ) -> Sequence[Block]:
        """Return upstream's changes near the patches' changes, and where lines moved from there."""
        theirs = self.end.get(path)
        if theirs is None or None in (self.base.blob(path), self.onto.blob(path)):
            # Lines may have moved between files.
            return blocks
        places = [block[:2] for block in blocks_of(old, [START, *theirs, END])]
        near = {block for block in blocks if is_near(*block[:2], places)}
        counts = Counter(old)
        moved = {line for a, b, _, _ in near for line in old[a:b] if counts[line] == 1}
        return [b for b in blocks if b in near or not moved.isdisjoint(new[b[2] : b[3]])]

    def off(
        self,
        deltas: Deltas,
        made: Counter[Any],
        count: Callable[[Lines], Counter[Any]],
        *,
        beside: int = 0,
        alike: Callable[[int], None] = lambda number: None,
    ) -> dict[Any, int]:
        """Return how many copies of each item the rebased files lack (negative: have too many).

        `alike` is called with the number of copies that both sides added or both sides removed.
        """
        upstream: Deltas | None = None
        off = {}
        for one in dict.fromkeys((*deltas.net, *made)):
            rest = deltas.net[one] - made[one]
            if deltas.is_exact:
                rest -= deltas.left[one]
            if not rest:
                continue
            if upstream is None:
                upstream = self._upstream(count, beside, is_netted=deltas.is_netted)
            come = min(deltas.come[one], upstream.come[one])
            gone = min(deltas.gone[one] + deltas.beside[one], upstream.gone[one])
            if not deltas.is_exact:
                come, gone = come + deltas.come_left[one], gone + deltas.gone_left[one]
            beyond = _beyond(rest, come, gone)
            alike(rest - beyond)
            if beyond:
                off[one] = beyond
        return off

    def _by_lines(self) -> Iterator[Told]:
        off = self.off(self.lines, self._made(Counter), Counter, alike=self._note_alike)
        if off:
            yield from self.told(off, "line", self.lines)
            return
        ended = self._made(lambda lines: Counter(pairs_of(lines)))
        for one in self.off(self.pairs, ended, neighbors, beside=1):
            yield self.disorder(*one)
            return
        yield from self._as_merged()
        yield from self._rest_in_order()

    def _note_alike(self, number: int) -> None:
        """Count lines that both sides added as lines of upstream, not of the patches.

        If `number` is negative, both sides removed the lines.
        """
        counts, lines = (self.added, number) if number > 0 else (self.removed, -number)
        for fate in (Fate.TEXT, Fate.OTHERWISE, Fate.PERSON):
            moved = min(lines, counts[fate])
            counts[fate] -= moved
            counts[Fate.UPSTREAM] += moved
            lines -= moved

    def _rest_in_order(self) -> Iterator[Told]:
        """Yield a fault if unchanged lines are out of order, or if added lines were separated."""
        hunks = [hunk for part in self.parts for hunk in part.diff.hunks]
        touched = {line[1:] for hunk in hunks for line in hunk.lines if line[:1] != b" "}
        for path in self.changed:
            ours, made = lines_of(self.onto.read(path)), lines_of(self.result.read(path))
            if ours is None or made is None:
                continue
            ours = [line for line in ours if line not in touched]
            rest = [line for line in made if line not in touched]
            for one, other in zip_longest(ours, rest):
                if one != other:
                    yield self.disorder(one if other is None else other)
                    return
        results = [lines_of(self.result.read(path)) or [] for path in self.paths]
        made_texts = [Searched(lines) for lines in results]
        base_texts: list[Searched] = []
        ends = {path: Searched(lines or []) for path, lines in self.end.items()}
        for part, run in ((p, lines) for p in self.parts for lines in p.runs()):
            end = ends.get(part.diff.path)
            if end is None or run not in end or any(run in text for text in made_texts):
                continue
            # Upstream may change lines that the patch only restores to what the pin has.
            base_texts = base_texts or [
                Searched(lines_of(self.base.read(path)) or []) for path in self.paths
            ]
            is_back = len(run) == 1 or any(run in text for text in base_texts)
            if not is_back and not any(is_within(run, lines) for lines in results):
                yield self.disorder(*run)
                return

    def _as_merged(self) -> Iterator[Told]:
        """Yield a fault if the result differs from the ledger's own merge of the files."""
        if any({*part.fates} - {Fate.TEXT} or not part.patch.on_base for part in self.parts):
            return
        for path, theirs in self.end.items():
            source = self.sources.get(path, path)
            base, ours = (lines_of(state.read(source)) for state in (self.base, self.onto))
            made = lines_of(self.result.read(path))
            if base is None or ours is None or theirs is None or made is None:
                base = ours = []
                if self.base.blob(source) != self.onto.blob(source) or theirs is None:
                    continue
            made = made or []
            if base == ours and made != theirs:
                yield self.disorder(next(chain(made, theirs), b""))
                return
            # Diffs may align equal lines differently, so any other difference is only a warning.
            three = None if base == ours else next(strange(made, ours, theirs), None)
            if three is not None and merged(base, ours, theirs) not in (None, made):
                yield self.disorder(*three, is_certain=False)
                return

    # The findings:

    def told(self, off: Mapping[Any, int], what: str, counts: Deltas) -> Iterator[Told]:
        """Yield findings about items, such as lines, that are missing or that occur too often."""
        kinds: dict[tuple[bool, bool], list[bytes]] = {}
        for one, number in off.items():
            is_ours = bool((counts.come if number > 0 else counts.gone)[one])
            found = kinds.setdefault((number > 0, is_ours), [])
            found += [one] * abs(number)
        for (is_lacking, is_ours), found in sorted(kinds.items(), reverse=True):
            text = _OFF[is_lacking, is_ours].format(number_of(len(found), what))
            yield self.finding(f"{text}: {quoted(found)}", max(found, key=len))

    def disorder(self, *lines: bytes, is_certain: bool = True) -> Told:
        """Return a finding about lines that are in the wrong order in a rebased file."""
        line = max((line for line in lines if line not in (START, END)), key=len, default=None)
        if line is None:
            text = "the result has, or lacks, an empty file, unlike upstream and the patches"
            return self.finding(text, b"", is_certain=is_certain)
        text = "the result has lines in an order that neither upstream nor the patches have"
        return self.finding(f"{text}: {quoted([line])}", line, is_certain=is_certain)

    def finding(self, text: str, line: bytes, *, is_certain: bool = True) -> Told:
        """Return the patch that a line probably comes from, and a finding about that line."""
        kinds = b"+" + line, b"-" + line
        carriers = [part for part in self.parts if part.is_carried] or self.parts
        named = [p for p in carriers for h in p.diff.hunks if any(k in h.lines for k in kinds)]
        part = (named or carriers)[-1]
        path, at = part.diff.path, 0
        if path not in self.changed:
            path = (*self.changed, path)[0]
        for there in (part.diff.path, *self.changed):
            lines = lines_of(self.result.read(there)) or []
            if line in lines:
                path, at = there, lines.index(line) + 1
                break
        return part.patch.name, fault(path, at, text, is_certain=is_certain)


def neighbors(lines: Lines) -> Counter[Pair]:
    """Count how often each pair of consecutive lines occurs in a file."""
    return Counter(pairwise(lines))


_OFF = {
    (True, True): "the result lacks {} that the patches add",
    (True, False): "the result lacks {} from upstream that no patch removes",
    (False, True): "the result still has {} that the patches remove",
    (False, False): "the result has {} more than upstream and the patches together",
}


def fault(path: str, line: int, text: str, *, is_certain: bool = True) -> AuditFinding:
    """Return a finding of the ledger about the file at `path`."""
    return AuditFinding("ledger", is_certain, path, line, None, text)


def number_of(number: int, what: str) -> str:
    """Return a number with its noun, which gets a plural "s" where needed."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def quoted(lines: Iterable[bytes]) -> str:
    """Return the longest line in backquotes, and the names of the definitions in all the lines."""
    lines = list(lines)
    named = [f"{kind} {name.decode(errors='replace')}" for kind, name in definitions_of(lines)]
    text = max(lines, key=lambda line: len(line.strip())).strip().decode(errors="replace")
    text = text if len(text) <= _TOLD else f"{text[: _TOLD - 3]}..."
    shown = f"`{text}`" if text else "blank"
    return f"{shown} ({', '.join(named)})" if named else shown


def _beyond(number: int, most: int, least: int) -> int:
    """Return how far `number` is above `most`, or (as a negative number) below -`least`, or 0."""
    if number > 0:
        return max(0, number - max(0, most))
    return min(0, number + max(0, least))
