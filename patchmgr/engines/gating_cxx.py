"""Say of every changed statement of existing C++ and CUDA what guards it, and whom it reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from msgspec import Struct

from patchmgr.engines import gating_reasons as reasons
from patchmgr.engines.gating import Texts
from patchmgr.engines.gating_cxx_off import CxxOff, words_of
from patchmgr.engines.gating_cxx_tests import CxxTests
from patchmgr.engines.gating_names import Kinds
from patchmgr.engines.gating_pieces import Lines, across, hunks
from patchmgr.engines.languages.cxx_symbols import cxx_symbols
from patchmgr.engines.languages.cxx_tokens import UnclearSource
from patchmgr.engines.languages.cxx_words import Branches, Source, Word, read_source
from patchmgr.model.gating import ChangedSite, Gate, Reach

T = TypeVar("T")
_JOINTS = frozenset({"{", "}", "else"})
_LONGEST = 60_000  # words; what is longer is generated


def cxx_sites(texts: Texts, kinds: Kinds) -> tuple[ChangedSite, ...]:
    """Return the changed sites of a C++ or CUDA file that upstream has, in order of their lines."""
    tests = CxxTests(kinds)
    old, new = _Side(texts.old, tests), _Side(texts.new, tests)
    lost, left = _residue(old, new)
    found: list[ChangedSite] = []
    changed = texts.hunks if texts.hunks is not None else tuple(hunks(old.lines, new.lines))
    both = lost | across(left, changed, is_back=True), left | across(lost, changed)
    for hunk in changed:
        found += _Hunk(texts.path, old, new, hunk).sites(*both)
    return tuple(sorted(dict.fromkeys(found), key=lambda site: (site.line, site.is_removal)))


class _Side:
    """One version of a file: its lines, what is left of it with all gates off, and its gates.

    Where brackets do not match, nothing is left out, and no gates are known.
    """

    def __init__(self, content: bytes, tests: CxxTests) -> None:
        self.lines = content.decode("utf-8", "replace").split("\n")
        self.symbols = cxx_symbols(content)
        self.names = frozenset(self.symbols)
        self.gates: dict[int, tuple[Gate, ...]] = {}
        self.extents: dict[int, int] = {}
        self.kept: list[Word] = []
        self.is_read = False
        self.lines_with_words: frozenset[int] = frozenset()
        try:
            source = read_source(content)
            if len(source.words) > _LONGEST:
                raise UnclearSource
            off = CxxOff(source, tests)
            self.kept = off.kept()
            found = _Gates(source, off, tests)
            self.gates, self.extents = found.by_line(), found.extents
            self.is_read = True
            self.lines_with_words = frozenset(
                n for word in source.words for n in range(word.line, word.last + 1)
            )
        except (UnclearSource, RecursionError):
            self.is_read = False

    def is_touched(self, lines: Sequence[int], unlike: frozenset[int]) -> bool:
        """Say whether lines differ, or something does that a condition in them decides about."""
        return any(
            not unlike.isdisjoint(range(line, self.extents.get(line, line) + 1)) for line in lines
        )

    def symbol(self, line: int) -> str | None:
        return self.symbols[line - 1] if line <= len(self.symbols) else None


def _residue(old: _Side, new: _Side) -> tuple[frozenset[int], frozenset[int]]:
    """Return the lines in which two versions differ for those whom no gate lets in."""
    if not old.is_read or not new.is_read:
        return frozenset(range(len(old.lines) + 1)), frozenset(range(len(new.lines) + 1))
    before, after = _statements(old.kept), _statements(new.kept)
    lost: set[int] = set()
    left: set[int] = set()
    for a, b in _unlike(before, after, key=lambda statement: " ".join(w.text for w in statement)):
        words = [w for statement in a for w in statement], [w for statement in b for w in statement]
        for gone, come in _unlike(*words, key=lambda word: word.text):
            lost.update(n for word in gone for n in range(word.line, word.last + 1))
            left.update(n for word in come for n in range(word.line, word.last + 1))
    return frozenset(lost), frozenset(left)


def _unlike(
    old: Sequence[T], new: Sequence[T], *, key: Callable[[T], str]
) -> Iterator[tuple[Sequence[T], Sequence[T]]]:
    """Yield the runs in which two sequences differ."""
    matcher = SequenceMatcher(None, list(map(key, old)), list(map(key, new)), autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag != "equal":
            yield old[a0:a1], new[b0:b1]


def _statements(words: Sequence[Word]) -> list[list[Word]]:
    """Cut words behind each statement, brace and directive."""
    found: list[list[Word]] = [[]]
    for word in words:
        if word.text.startswith("#") and found[-1]:
            found.append([])
        found[-1].append(word)
        if word.text in (";", "{", "}") or word.text.startswith("#"):
            found.append([])
    return [statement for statement in found if statement]


class _Gates:
    """Collects what stands in front of the lines of one file."""

    def __init__(self, source: Source, off: CxxOff, tests: CxxTests) -> None:
        self._source = source
        self._off = off
        self._tests = tests
        self._found: dict[int, list[Gate]] = {}
        self.extents: dict[int, int] = {}

    def by_line(self) -> dict[int, tuple[Gate, ...]]:
        """Return the gates in front of each line, and those that it asks itself."""
        for branches in self._source.branches.values():
            self._preprocessor(branches)
        for at, word in enumerate(self._source.words):
            if word.text == "if" and self._off.head(at) is not None:
                self._if(at)
        return {line: tuple(dict.fromkeys(gates)) for line, gates in self._found.items()}

    def _preprocessor(self, branches: Branches) -> None:
        before: list[Gate] = []
        self._decides(branches.end, branches.end)
        for kind, condition, start, stop in branches.parts:
            self._decides(start - 1, branches.end)
            gates = self._tests.gates(words_of(condition))
            if kind == "ifndef":
                gates = tuple(Gate(g.kind, f"not {g.text}") for g in gates)
            truth = self._off.truth_of_branch(kind, condition)
            self._put(start - 1, start, gates)
            if kind != "else":
                self._put(start, stop, () if truth is True else gates)
                before += [Gate(g.kind, f"not {g.text}") for g in gates] if truth is True else []
            else:
                self._put(start, stop, before)

    def _if(self, at: int) -> None:
        head = self._off.head(at)
        assert head is not None
        test = [word.text for word in self._source.words[head[0] : head[1]]]
        gates = self._tests.gates(test)
        try:
            body, other = self._off.parts(at)
        except UnclearSource:
            self._put(at, head[1], gates)
            return
        end = body[1] if other is None else other[1]
        if CxxOff.jumps(self._source.words[body[0] : body[1]]):
            end = max(end, self._end_of_block(at))
        self._decides(at, end - 1)
        if not gates:
            return
        self._put(at, head[1], gates)
        truth = self._tests.truth(test)
        if truth is not True:
            self._put(*body, gates)
            return
        turned = tuple(Gate(g.kind, f"not {g.text}") for g in gates)
        if other is not None:
            self._put(*other, turned)
        elif CxxOff.jumps(self._source.words[body[0] : body[1]]):
            self._put(body[1], self._end_of_block(at), turned)

    def _decides(self, at: int, end: int) -> None:
        """Note that the line of a word decides about all up to another one."""
        line = self._source.words[at].line
        last = self._source.words[min(end, len(self._source.words) - 1)].last
        self.extents[line] = max(last, self.extents.get(line, line))

    def _end_of_block(self, at: int) -> int:
        ends = [end for start, end in self._source.closing.items() if start < at < end]
        return min(ends, default=at)

    def _put(self, start: int, stop: int, gates: Sequence[Gate]) -> None:
        if not gates or start >= stop:
            return
        first, last = self._source.words[start].line, self._source.words[stop - 1].last
        for line in range(first, last + 1):
            self._found.setdefault(line, []).extend(gates)


class _Hunk(Struct, frozen=True):
    """Changed lines of one place."""

    path: str
    old: _Side
    new: _Side
    at: Lines

    def sites(self, lost: frozenset[int], left: frozenset[int]) -> Iterator[ChangedSite]:
        """Yield the sites of the hunk: where the reach or the gates change, a new one begins."""
        a, a_count, b, b_count = self.at
        gone = [
            n
            for n in range(a, a + a_count)
            if n in self.old.lines_with_words or not self.old.is_read
        ]
        come = [
            n
            for n in range(b, b + b_count)
            if n in self.new.lines_with_words or not self.new.is_read
        ]
        is_lost = self.old.is_touched(gone, lost) or self._said(gone, come)
        if not come:
            if gone:
                yield self._site(self.old, gone, is_left=is_lost, is_removal=True, has_old=True)
            return
        run: list[int] = []
        state: object = None
        for line in come:
            own = (line in left, self.new.gates.get(line, ()), self.new.symbol(line))
            if run and own != state:
                yield self._run(run, left, is_lost=is_lost, has_old=bool(gone))
                run = []
            run.append(line)
            state = own
        yield self._run(run, left, is_lost=is_lost, has_old=bool(gone))

    def _said(self, gone: Sequence[int], come: Sequence[int]) -> bool:
        """Say whether the hunk by itself says other things; texts that repeat match elsewhere."""
        sides = [
            [w.text for w in side.kept if w.text not in _JOINTS and w.line in lines]
            for side, lines in ((self.old, frozenset(gone)), (self.new, frozenset(come)))
        ]
        return sides[0] != sides[1]

    def _run(
        self, run: Sequence[int], left: frozenset[int], *, is_lost: bool, has_old: bool
    ) -> ChangedSite:
        is_left = is_lost or self.new.is_touched(run, left)
        return self._site(self.new, run, is_left=is_left, is_removal=False, has_old=has_old)

    def _site(
        self, side: _Side, lines: Sequence[int], *, is_left: bool, is_removal: bool, has_old: bool
    ) -> ChangedSite:
        gates = tuple(dict.fromkeys(g for n in lines for g in side.gates.get(n, ())))
        symbol = side.symbol(lines[0])
        if not is_left:
            reach, why = Reach.INERT, reasons.OFF if gates else reasons.SAME
        elif not is_removal and self._is_new(symbol, lines, has_old=has_old):
            reach, why = Reach.ADDED, reasons.NEW if symbol else reasons.NAME
        elif gates:
            reach, why = Reach.GATED, reasons.GUARDED
        else:
            reach, why = Reach.SHARED, reasons.NONE if side.is_read else reasons.UNREAD
        text = side.lines[lines[0] - 1].strip()
        place = self.path, symbol, lines[0], lines[-1], is_removal
        return ChangedSite(*place, text, reach, gates, why)

    def _is_new(self, symbol: str | None, lines: Sequence[int], *, has_old: bool) -> bool:
        """Say whether lines are a symbol that was not there, or names that come to a namespace."""
        if symbol is not None:
            return symbol not in self.old.names
        text = "".join(self.new.lines[n - 1].strip() for n in lines)
        return not has_old and self.new.is_read and (text.endswith((";", '"', ">", "}")))
