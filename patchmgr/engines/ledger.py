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
- *Solved by a person.* What the patch adds and the result lacks was given up.
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
from difflib import SequenceMatcher
from enum import Enum
from itertools import chain, pairwise
from typing import Any, Protocol

from msgspec import Struct, field

from patchmgr.model.audit import AuditFinding, Ledger, Sums

Lines = list[bytes]
Pair = tuple[bytes, bytes]
Faults = Iterator[tuple[str, AuditFinding]]
Words = Counter[bytes]
_START, _END = b"\n<", b"\n>"  # no line of a file has a line end
_UNKNOWN = b"("
_SHORTEST_ID = 7
_TOLD = 60
_BESIDE = 3
_STRIPS = (1, 0, 2, 3)
_LONGEST = 20_000  # lines of a file that difflib compares in seconds


class Fate(Enum):
    """What the engine says became of a hunk, and so what is to be proved of it."""

    TEXT = "text"
    OTHERWISE = "otherwise"
    PERSON = "person"
    UPSTREAM = "upstream"
    CONFLICT = "conflict"
    GIVEN_UP = "given up"


_CARRIED = frozenset({Fate.TEXT, Fate.OTHERWISE, Fate.PERSON})


class Claim(Struct, frozen=True):
    """What is said of one file of a patch: the paths of the new side, and the fate of each hunk.

    `path` is the path that the patch names. A file without hunks has one fate.
    """

    path: str
    homes: tuple[str, ...]
    fates: tuple[Fate, ...]


class Claimed(Struct, frozen=True):
    """One patch and what is said of it; `rest` is the fate of files without a claim.

    `diff` is the part of the patch file that is no header. A patch that is not `on_base` is no
    part of the side that the others are written against. `cited` are upstream commits, `reworded`
    the texts of the patch that upstream landed in other words, as a person is told.
    """

    name: str
    diff: bytes
    claims: tuple[Claim, ...] = ()
    rest: Fate = Fate.TEXT
    cited: tuple[str, ...] = ()
    on_base: bool = True
    is_reversed: bool = False
    reworded: tuple[bytes, ...] = ()


class State(Protocol):
    """One state of all files."""

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, None where there is no such file."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file."""


Cited = Callable[[str, str], "Iterable[tuple[bytes, bytes]]"]
"""Return what a cited commit made of a path: the contents before and after it."""


def balance(
    patches: Sequence[Claimed], base: State, onto: State, result: State, *, cited: Cited
) -> Ledger:
    """Account for each line of the patches, which are written against base, on onto."""
    groups = _groups(patches)
    added = dict.fromkeys(Fate, 0)
    removed = dict.fromkeys(Fate, 0)
    faults: list[tuple[str, AuditFinding]] = []
    evidence: list[_Evidence] = []
    for group in groups:
        account = _Account(group, base, onto, result, cited)
        faults += account.close()
        evidence += account.evidence()
        for fate in Fate:
            added[fate] += account.added[fate]
            removed[fate] += account.removed[fate]
    faults += _unproved(evidence)
    return Ledger(_sums(added), _sums(removed), tuple(faults))


def _unproved(evidence: Sequence[_Evidence]) -> Faults:
    """Judge what upstream is said to have, patch by patch.

    Upstream lands patches with changes of the review: what it left out of one that it has for the
    most part is told, and no more. Where it lacks most of a patch, that is no absorption.
    """
    for name in dict.fromkeys(one.patch for one in evidence):
        found = [one for one in evidence if one.patch == name]
        first = next((one for one in found if one.lacks or one.still), None)
        if first is None:
            continue
        lacks, still = (
            sum(map(len, sides)) for sides in zip(*((o.lacks, o.still) for o in found), strict=True)
        )
        added, removed = (sum(sides) for sides in zip(*(o.numbers for o in found), strict=True))
        is_certain = 2 * lacks > added or 2 * still > removed
        told = []
        if lacks:
            lines = [line for one in found for line in one.lacks]
            told.append(f"lacks {_number(lacks, 'line')} that the patch adds: {_first(lines)}")
        if still:
            lines = [line for one in found for line in one.still]
            told.append(
                f"still has {_number(still, 'line')} that the patch removes: {_first(lines)}"
            )
        text = f"this counts as absorbed, but upstream {'; it '.join(told)}"
        yield name, _fault(first.path, 0, text, is_certain=is_certain)


def _sums(count: Mapping[Fate, int]) -> Sums:
    carried = sum(count[fate] for fate in _CARRIED)
    return Sums(carried, count[Fate.UPSTREAM], count[Fate.CONFLICT], count[Fate.GIVEN_UP])


# --- the reader of patches ---


class _Hunk(Struct, frozen=True):
    start: int
    lines: tuple[bytes, ...]  # with their kind, without their line end

    def side(self, other: bytes) -> Lines:
        """Return the lines of one side: all but those of the other kind."""
        return [line[1:] for line in self.lines if line[:1] != other]

    def only(self, kind: bytes) -> Lines:
        """Return the lines of one kind."""
        return [line[1:] for line in self.lines if line[:1] == kind]

    def beside(self) -> Lines:
        """Return the lines that stay, next to one that is added."""
        kinds = [b"", *(line[:1] for line in self.lines), b""]
        return [
            line[1:]
            for number, line in enumerate(self.lines)
            if line[:1] == b" " and b"+" in (kinds[number], kinds[number + 2])
        ]


class _Diff(Struct):
    """The change of one file as its diff says; ids may be abbreviated."""

    old: str | None
    new: str | None
    is_copy: bool = False
    new_id: str = ""
    hunks: list[_Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.new if self.new is not None else self.old or ""


_RANGE = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPES = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}
_OPPOSITE = {b"+": b"-", b"-": b"+"}


def read_diffs(diff: bytes, *, strip: int = 1, is_reversed: bool = False) -> list[_Diff]:
    """Read the changes of a patch file; `strip` folders are taken off its paths, as by git -p."""
    lines = diff.split(b"\n")
    found: list[_Diff] = []
    here = 0
    is_git = False
    while here < len(lines):
        line = lines[here].removesuffix(b"\r")
        if line.startswith(b"diff --git "):
            is_git = True
            name = _halves(line[len(b"diff --git ") :], strip)
            found.append(_Diff(name, name))
        elif (
            line.startswith(b"--- ")
            and lines[here + 1 : here + 2][:1]
            and lines[here + 1].startswith(b"+++ ")
        ):
            if not is_git:
                found.append(_Diff(None, None))
            old, new = (_name(li[4:].removesuffix(b"\r"), strip) for li in lines[here : here + 2])
            if not (found[-1].is_copy or (found[-1].old != found[-1].new and is_git)):
                found[-1].old, found[-1].new = old, new
            here += 1
        elif line.startswith(b"@@ ") and found:
            match = _RANGE.match(line)
            if match is not None:
                here = _read_hunk(lines, here, match, found[-1])
                continue
        elif found and is_git:
            _read_header(line, found[-1])
        here += 1
    return [_reverse(one) for one in found] if is_reversed else found


def _read_header(line: bytes, diff: _Diff) -> None:
    word, _, rest = line.partition(b" ")
    if word in (b"rename", b"copy"):
        side, _, name = rest.partition(b" ")
        diff.is_copy = word == b"copy"
        if side == b"from":
            diff.old = _unquoted(name)
        else:
            diff.new = _unquoted(name)
    elif line.startswith(b"new file mode"):
        diff.old = None
    elif line.startswith(b"deleted file mode"):
        diff.new = None
    elif word == b"index":
        diff.new_id = rest.split(b" ")[0].partition(b"..")[2].decode("ascii", "replace")


def _read_hunk(lines: Sequence[bytes], here: int, match: re.Match[bytes], diff: _Diff) -> int:
    """Read a hunk by the counts of its range line; return where the next line is."""
    old, new = (1 if n is None else int(n) for n in (match[2], match[4]))
    found: Lines = []
    here += 1
    while here < len(lines) and (old > 0 or new > 0):
        line = lines[here] or b" "
        here += 1
        kind = line[:1]
        if kind == b"\\":
            continue
        if kind not in (b" ", b"+", b"-"):
            line, kind = b" " + line.lstrip(b"\r"), b" "
        old -= kind != b"+"
        new -= kind != b"-"
        found.append(line.removesuffix(b"\r"))
    start = int(match[1]) - (match[2] != b"0")
    diff.hunks.append(_Hunk(start, tuple(found)))
    return here


def _reverse(diff: _Diff) -> _Diff:
    hunks = [
        _Hunk(h.start, tuple(_OPPOSITE.get(li[:1], b" ") + li[1:] for li in h.lines))
        for h in diff.hunks
    ]
    return _Diff(diff.new, diff.old, diff.is_copy, "", hunks)


def _halves(names: bytes, strip: int) -> str | None:
    """Return the one name of a `diff --git` line whose names are the same."""
    if names.startswith(b'"'):
        first = re.match(rb'"(?:[^"\\]|\\.)*"', names)
        return None if first is None else _name(first[0], strip)
    half = len(names) // 2
    return _name(names[:half], strip) if names[half : half + 1] == b" " else None


def _name(name: bytes, strip: int) -> str | None:
    name = name if name.startswith(b'"') else name.partition(b"\t")[0]
    path = _unquoted(name)
    return None if path == "/dev/null" else path.split("/", strip)[-1]


def _unquoted(name: bytes) -> str:
    if name.startswith(b'"'):
        name = re.sub(rb"\\([0-7]{3}|.)", _unescape, name.strip(b" \t\r")[1:-1])
    return name.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else _ESCAPES.get(code, code)


# --- texts ---


def _lines(content: bytes | None) -> Lines | None:
    """Return the lines of a text without their ends; a missing last end is no difference."""
    if content is None:
        return None
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if b"\r" in content:
        return [line.removesuffix(b"\r") for line in lines]
    return lines


def _pairs(lines: Lines | None) -> Iterable[Pair]:
    """Return the pairs of neighbours, the ends of the file among them."""
    return () if lines is None else pairwise(chain((_START,), lines, (_END,)))


def _ended_pairs(lines: Lines) -> Counter[Pair]:
    return Counter(_pairs(lines))


def _inner_pairs(lines: Lines) -> Counter[Pair]:
    return Counter(pairwise(lines))


_LAYOUT = b" \t\r\n\v\f,()'\"\\"
_WORD = re.compile(rb"\w+|[^\w\s,()'\"\\]")
_IMPORT = re.compile(rb"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|using\b)")
_NAMED = (
    ("test", re.compile(rb"\s*(?:async\s+)?def\s+(test\w*)|\s*TEST(?:_[FP])?\s*\(([^)]*)\)")),
    ("function", re.compile(rb"\s*(?:async\s+)?def\s+(\w+)")),
    ("class", re.compile(rb"\s*(?:class|struct|enum(?:\s+class)?|union|namespace)\s+(\w+)")),
    ("macro", re.compile(rb"\s*#\s*define\s+(\w+)")),
)


def _words(lines: Iterable[bytes]) -> Words:
    return Counter(_WORD.findall(b"\n".join(lines)))


def _squeezed(text: bytes) -> bytes:
    """Return a text without its layout."""
    return text.translate(None, _LAYOUT)


def _definitions(lines: Iterable[bytes]) -> Counter[tuple[str, bytes]]:
    """Count the definitions that lines begin, by kind and name."""
    found: Counter[tuple[str, bytes]] = Counter()
    for line in lines:
        for kind, pattern in _NAMED:
            match = pattern.match(line)
            if match is not None:
                found[kind, next(filter(None, match.groups()), b"")] += 1
                break
    return found


# --- the account of files that belong together ---


class _Part(Struct, frozen=True):
    """The change of one file by one patch, with the fate of each hunk."""

    patch: Claimed
    diff: _Diff
    fates: tuple[Fate, ...]

    def hunks(self) -> Iterator[tuple[_Hunk, Fate]]:
        """Yield the hunks, each with its fate."""
        for number, hunk in enumerate(self.diff.hunks):
            yield hunk, self.fates[min(number, len(self.fates) - 1)]

    def runs(self) -> Iterator[Lines]:
        """Yield the added lines that are together, of hunks that were carried as text."""
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
        """Say whether the result has some of it."""
        return any(fate in _CARRIED for fate in self.fates)


class _Group(Struct):
    """The changes of files between which text may move, in the order of the series."""

    paths: dict[str, None] = field(default_factory=dict)
    parts: list[_Part] = field(default_factory=list)


def _groups(patches: Sequence[Claimed]) -> list[_Group]:
    by_path: dict[str, _Group] = {}
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
            group.parts.append(_Part(patch, diff, claim.fates or (patch.rest,)))
    order = {id(patch): number for number, patch in enumerate(patches)}
    groups = list({id(group): group for group in by_path.values()}.values())
    for group in groups:
        group.parts.sort(key=lambda part: order[id(part.patch)])
    return groups


def _read(patch: Claimed) -> list[_Diff]:
    """Read a patch with as many folders off its paths as its claims say."""
    paths = {claim.path for claim in patch.claims}
    for strip in _STRIPS:
        found = read_diffs(patch.diff, strip=strip, is_reversed=patch.is_reversed)
        if not paths or any(diff.path in paths for diff in found):
            return found
    return read_diffs(patch.diff, is_reversed=patch.is_reversed)


def _joined(by_path: dict[str, _Group], paths: Iterable[str]) -> _Group:
    paths = tuple(paths)
    found = list({id(by_path[p]): by_path[p] for p in paths if p in by_path}.values())
    group = found[0] if found else _Group()
    for other in found[1:]:
        group.parts += other.parts
        group.paths |= other.paths
    group.paths |= dict.fromkeys(paths)
    by_path.update(dict.fromkeys(group.paths, group))
    return group


class _Evidence(Struct, frozen=True):
    """What nobody has of hunks that upstream is said to have, without layout and remarks.

    `numbers` count the added and the removed lines that were looked for. `lacks` are added
    lines that are nowhere, `still` removed ones that are there as before.
    """

    patch: str
    path: str
    numbers: tuple[int, int]
    lacks: tuple[bytes, ...]
    still: tuple[bytes, ...]


class _Deltas:
    """What the series makes of the numbers of things (lines, pairs, words), and by what fate.

    `net` is of all changes and `left` of those that the result should have nothing of. The others
    count what comes and what goes apart: one change may take back what another one adds. Where the
    deltas are exact, the result has nothing of what is left; else it may have some. Where they are
    netted, what one change both adds and removes does not come or go. What is `beside` an added
    line may be what is added, and the other one what was there (fi-0.6.16: a hash that moves to a
    new name, while upstream has another one for the old name).
    """

    def __init__(self, *, is_exact: bool = False, is_netted: bool = False) -> None:
        self.is_exact, self.is_netted = is_exact, is_netted
        self.net: Counter[Any] = Counter()
        self.left: Counter[Any] = Counter()
        self.come: Counter[Any] = Counter()
        self.gone: Counter[Any] = Counter()
        self.come_left: Counter[Any] = Counter()
        self.gone_left: Counter[Any] = Counter()
        self.beside: Counter[Any] = Counter()

    def take(self, old: Iterable[Any], new: Iterable[Any], *, is_carried: bool) -> None:
        """Add one change."""
        come, gone = Counter(new), Counter(old)
        delta = Counter(come)
        delta.subtract(gone)
        if self.is_netted:
            come, gone = +delta, -delta
        self.net.update(delta)
        if not is_carried:
            self.left.update(delta)
        (self.come if is_carried else self.come_left).update(come)
        (self.gone if is_carried else self.gone_left).update(gone)


class _Text:
    """The lines of a file, its imports apart: they may be merged as a set of names."""

    def __init__(self, lines: Lines) -> None:
        self.rest: Lines = []
        self.imports: Lines = []
        is_open = False
        for line in lines:
            if is_open or _IMPORT.match(line):
                self.imports.append(line)
                is_open = b")" not in line and (is_open or b"(" in line)
            else:
                self.rest.append(line)

    def words(self) -> Words:
        """Count the words of code."""
        return _words(line for line in self.rest if not _REMARK.match(line))

    def remarks(self) -> Words:
        """Count the words of remarks."""
        return _words(line for line in self.rest if _REMARK.match(line))

    def pairs(self) -> Counter[Pair]:
        """Count the pairs of neighbours."""
        return Counter(_pairs(self.rest))

    def definitions(self) -> Counter[tuple[str, bytes]]:
        """Count the definitions."""
        return _definitions(self.rest)


_Texts = dict[str, _Text]


def _change(old: _Texts, new: _Texts, count: Callable[[_Text], Counter[Any]]) -> Counter[Any]:
    """Return how the numbers of things differ between two states of the same files."""
    found: Counter[Any] = Counter()
    for path, text in new.items():
        if text.rest != old[path].rest:
            found.update(count(text))
            found.subtract(count(old[path]))
    return found


class _Written(Struct, frozen=True):
    """The end of the side that the series is written against."""

    files: Mapping[str, Lines | None]

    def blob(self, path: str) -> str | None:
        return None

    def read(self, path: str) -> bytes | None:
        lines = self.files.get(path)
        return None if lines is None else b"\n".join((*lines, b""))


class _Account:
    """The account of one group."""

    def __init__(
        self, group: _Group, base: State, onto: State, result: State, cited: Cited
    ) -> None:
        self._group, self._cited = group, cited
        self._base, self._onto, self._result = base, onto, result
        self._parts = group.parts
        self.added = dict.fromkeys(Fate, 0)
        self.removed = dict.fromkeys(Fate, 0)
        self._lines, self._pairs = _Deltas(is_exact=True), _Deltas()
        self._words = _Deltas()
        self._end: dict[str, Lines | None] = {}

    def close(self) -> list[tuple[str, AuditFinding]]:
        """Count the lines, and return what does not add up."""
        for part in self._parts:
            for hunk, fate in part.hunks():
                kinds = Counter(line[:1] for line in hunk.lines)
                self.added[fate] += kinds[b"+"]
                self.removed[fate] += kinds[b"-"]
        self._changed = [
            path for path in self._group.paths if self._onto.blob(path) != self._result.blob(path)
        ]
        # What is left in conflict is no result yet: the lines are held to it once it is resolved.
        is_left = any(fate is Fate.CONFLICT for part in self._parts for fate in part.fates)
        if is_left or self._is_as_written():
            return []
        if self._is_unreadable():
            return list(self._by_ids())
        self._written_end()
        faults = list(self._by_lines())
        if faults and any(f in (Fate.OTHERWISE, Fate.PERSON) for p in self._parts for f in p.fates):
            faults = list(self._by_words())
        return faults

    def _is_as_written(self) -> bool:
        """Say by ids alone whether upstream changed nothing, and the series is on it as written."""
        ends = self._ends()
        if ends is None:
            return False
        hunks = {part.diff.path for part in self._parts if part.diff.hunks}
        return all(
            self._is_named(path, end)
            and (end is None or len(end) >= _SHORTEST_ID or path not in hunks)
            for path, end in ends.items()
        )

    def _ends(self) -> dict[str, str | None] | None:
        """Return by path the id that the patches name in the end, empty where they name none.

        None is returned where upstream changed the files, or not everything is carried as text.
        """
        if any(fate is not Fate.TEXT for part in self._parts for fate in part.fates):
            return None
        if any(self._base.blob(path) != self._onto.blob(path) for path in self._group.paths):
            return None
        ends: dict[str, str | None] = {}
        for part in self._parts:
            if part.diff.old is not None and not part.diff.is_copy:
                ends[part.diff.old] = None
            if part.diff.new is not None:
                ends[part.diff.new] = part.diff.new_id
        return ends

    def _is_named(self, path: str, end: str | None) -> bool:
        blob = self._result.blob(path)
        return (blob is None) == (end is None) and (blob or "").startswith(end or "")

    def _by_ids(self) -> Faults:
        """Compare files whose lines cannot be counted with the ids that the patches name."""
        for path, end in (self._ends() or {}).items():
            if not self._is_named(path, end):
                text = "the result does not have this file as the patches leave it"
                yield self._parts[-1].patch.name, _fault(path, 0, text)

    def _is_unreadable(self) -> bool:
        """Say whether a content is missing, or is none that lines are counted in (a symlink)."""
        states = self._base, self._onto, self._result
        for state in states:
            for path in self._group.paths:
                content = state.read(path)
                if content == _UNKNOWN or (content is None and state.blob(path) is not None):
                    return True
                if content is not None and b"\0" in content:
                    return True
        return False

    # what the series does on its own side

    def _written_end(self) -> None:
        """Fold the patches over the files on the pin, once."""
        if not self._end:
            for part in self._parts:
                self._fold_part(part)

    def _fold_part(self, part: _Part) -> None:
        diff = part.diff
        old = None if diff.old is None else self._written(diff.old)
        if diff.is_copy:
            self._take((), _pairs(old), part.is_carried)
        lines = None if diff.old is None or old is None else list(old)
        drift = 0
        for hunk, fate in part.hunks():
            before, after = hunk.side(b"+"), hunk.side(b"-")
            is_carried = fate in _CARRIED
            self._lines.take(hunk.only(b"-"), hunk.only(b"+"), is_carried=is_carried)
            at = (
                None
                if not part.patch.on_base
                else _position(lines or [], before, hunk.start + drift)
            )
            if at is None:
                self._pairs.take(pairwise(before), pairwise(after), is_carried=is_carried)
                continue
            drift = at - hunk.start + len(after) - len(before)
            first = lines[at - 1] if lines and at else _START
            last = lines[at + len(before)] if lines and at + len(before) < len(lines) else _END
            was = () if lines is None else pairwise((first, *before, last))
            now = () if diff.new is None else pairwise((first, *after, last))
            self._pairs.take(was, now, is_carried=is_carried)
            lines = lines or []
            lines[at : at + len(before)] = after
        if not part.patch.on_base:
            return
        if diff.old is not None and not diff.is_copy:
            self._end[diff.old] = None
        if diff.new is not None:
            self._end[diff.new] = lines or []

    def _take(self, old: Iterable[Pair], new: Iterable[Pair], is_carried: bool) -> None:
        new = list(new)
        self._pairs.take(old, new, is_carried=is_carried)
        self._lines.take((), [after for _, after in new[:-1]], is_carried=is_carried)

    def _written(self, path: str) -> Lines | None:
        if path not in self._end:
            self._end[path] = _lines(self._base.read(path))
        return self._end[path]

    # what the result is

    def _made(self, count: Callable[[Lines], Counter[Any]]) -> Counter[Any]:
        """Return how the numbers of things differ between upstream and the result."""
        made: Counter[Any] = Counter()
        for path in self._changed:
            for state, times in ((self._result, 1), (self._onto, -1)):
                lines = _lines(state.read(path))
                for one, number in count(lines).items() if lines is not None else ():
                    made[one] += times * number
        return made

    def _upstream(
        self, count: Callable[[Lines], Counter[Any]], beside: int, *, is_netted: bool
    ) -> _Deltas:
        """Return what upstream changed, with so many lines beside each place."""
        found = _Deltas(is_netted=is_netted)
        for path in self._group.paths:
            if self._base.blob(path) == self._onto.blob(path):
                continue
            old, new = (
                [_START, *(_lines(state.read(path)) or ()), _END]
                for state in (self._base, self._onto)
            )
            for a, b, c, d in _blocks(old, new):
                sides = old[max(0, a - beside) : b + beside], new[max(0, c - beside) : d + beside]
                found.take(count(sides[0]), count(sides[1]), is_carried=True)
        return found

    def _off(
        self,
        deltas: _Deltas,
        made: Counter[Any],
        count: Callable[[Lines], Counter[Any]],
        *,
        beside: int = 0,
        alike: Callable[[int], None] = lambda number: None,
    ) -> dict[Any, int]:
        """Return what the result has too few of, or too many (below 0)."""
        upstream: _Deltas | None = None
        off = {}
        for one in deltas.net.keys() | made.keys():
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

    def _by_lines(self) -> Faults:
        lines, pairs = self._lines, self._pairs
        off = self._off(lines, self._made(Counter), Counter, alike=self._note_alike)
        if off:
            yield from self._told(off, "line")
            return
        off = self._off(pairs, self._made(_ended_pairs), _inner_pairs, beside=1)
        for one in off:
            yield self._disorder(max(one, key=len))
            return
        yield from self._as_merged()
        yield from self._rest_in_order()

    def _note_alike(self, number: int) -> None:
        """Count lines that both sides changed alike as upstream's."""
        counts, lines = (self.added, number) if number > 0 else (self.removed, -number)
        for fate in (Fate.TEXT, Fate.OTHERWISE, Fate.PERSON):
            moved = min(lines, counts[fate])
            counts[fate] -= moved
            counts[Fate.UPSTREAM] += moved
            lines -= moved

    def _touched(self) -> set[bytes]:
        """Return the lines that patches add or remove."""
        return {
            line[1:]
            for part in self._parts
            for hunk in part.diff.hunks
            for line in hunk.lines
            if line[:1] != b" "
        }

    def _rest_in_order(self) -> Faults:
        """Compare the lines that no patch touches, and where added lines are together."""
        touched = self._touched()
        for path in self._changed:
            ours, made = _lines(self._onto.read(path)), _lines(self._result.read(path))
            if ours is None or made is None:
                continue
            ours = [line for line in ours if line not in touched]
            rest = [line for line in made if line not in touched]
            if ours != rest:
                at = next(
                    (i for i, (a, b) in enumerate(zip(ours, rest, strict=False)) if a != b),
                    min(len(ours), len(rest)),
                )
                yield self._disorder((rest if at < len(rest) else ours)[at])
                return
        results = [_lines(self._result.read(path)) or [] for path in self._group.paths]
        texts = [_joined_lines(lines) for lines in results]
        ends = {path: _joined_lines(lines or []) for path, lines in self._end.items()}
        before = [_joined_lines(_lines(self._base.read(p)) or []) for p in self._group.paths]
        found = [_Found(text) for text in texts]
        found_at_end = {path: _Found(text) for path, text in ends.items()}
        for part in self._parts:
            for run in part.runs():
                text = _joined_lines(run)
                end = found_at_end.get(part.diff.path)
                if end is None or text not in end or any(text in one for one in found):
                    continue
                # What only brings back what the pin has is upstream's to change.
                if len(run) == 1 or any(text in one for one in before):
                    continue
                if not any(_is_within(run, lines) for lines in results):
                    yield self._disorder(max(run, key=len))
                    return

    def _as_merged(self) -> Faults:
        """Compare files with a merge of our own, where no place was changed by both sides.

        Diffs may place a change differently among lines that are alike. So what differs from our
        merges is told, and no more, where three lines are together that are so on neither side,
        unless they join the two.
        """
        if any(f is not Fate.TEXT for p in self._parts for f in p.fates):
            return
        if not all(part.patch.on_base for part in self._parts):
            return
        for path, theirs in self._end.items():
            base, ours, made = (
                _lines(state.read(path)) for state in (self._base, self._onto, self._result)
            )
            if base is None or ours is None or theirs is None or made is None:
                base = ours = []
                if self._base.blob(path) != self._onto.blob(path) or theirs is None:
                    continue
            made = made or []
            if base == ours and made != theirs:
                yield self._disorder(next(chain(made, theirs), b""))
                return
            if base == ours or _merged(base, ours, theirs) in (None, made):
                continue
            three = next(_strange(made, ours, theirs), None)
            if three is not None:
                yield self._disorder(max(three, key=len, default=b""), is_certain=False)
                return

    # where layout is free

    def _by_words(self) -> Faults:
        fates = {fate for part in self._parts for fate in part.fates}
        if Fate.PERSON in fates:
            self._give_up()
            return
        base, ours, theirs, made = (
            {path: _Text(_lines(state.read(path)) or []) for path in self._group.paths}
            for state in (self._base, self._onto, self._written_state(), self._result)
        )
        yield from self._outside(base, ours, theirs, made)
        yield from self._out_of_order(ours, theirs, made)
        words = self._words = _Deltas(is_netted=True)
        for part in self._parts:
            for hunk, fate in part.hunks():
                old, new = _words(hunk.only(b"-")), _words(hunk.only(b"+"))
                words.take(old, new, is_carried=fate in _CARRIED)
                if fate is Fate.OTHERWISE:
                    words.beside.update(_words(hunk.beside()) + (old & new))
        words.net = _change(base, theirs, _Text.words)
        off = self._off(words, _change(ours, made, _Text.words), _words)
        yield from self._told(off, "word")
        # Of remarks that both sides wrote, one text may stand for both.
        words.net = _change(base, theirs, _Text.remarks)
        off = self._off(words, _change(ours, made, _Text.remarks), _words)
        lost = [one for one, number in off.items() if number > 0 and words.come[one]]
        if lost:
            text = f"the result lacks words of remarks that the patches add: {_first(lost)}"
            yield self._finding(text, lost[0], is_certain=False)
        yield from self._lost_names(base, ours, theirs, made)

    def _written_state(self) -> State:
        return _Written(self._end)

    def _outside(self, base: _Texts, ours: _Texts, theirs: _Texts, made: _Texts) -> Faults:
        """Hold what is not near a hunk that was merged by other means to the law of neighbours."""
        near = self._near()
        if near is None:
            return
        known = {line for texts in (ours, theirs) for text in texts.values() for line in text.rest}
        pairs = self._pairs
        pairs.net = _change(base, theirs, _Text.pairs)
        off = self._off(pairs, _change(ours, made, _Text.pairs), _inner_pairs, beside=1)
        for one in off:
            # A place that is laid out anew may get a line that stands elsewhere (fi-3543).
            if near.isdisjoint(one) and not known.isdisjoint(one):
                yield self._disorder(max(one, key=len))
                return

    def _lost_names(self, base: _Texts, ours: _Texts, theirs: _Texts, made: _Texts) -> Faults:
        """Look for what the patches import and define, by name, and for imports that are double."""
        fates = [(h, f) for part in self._parts for h, f in part.hunks()]
        gone = _words(li for h, f in fates for li in h.only(b"+") if f not in _CARRIED)
        imported = Counter(w for t in theirs.values() for w in _words(t.imports))
        imported -= Counter(w for t in base.values() for w in _words(t.imports))
        there = {w for text in made.values() for w in _words([*text.imports, *text.rest])}
        for name in imported:
            if name not in there and not gone[name]:
                text = f"the result lacks the import of {name.decode(errors='replace')}"
                yield self._finding(f"{text} that the patches add", name)
        removed = _words(li for h, _ in fates for li in h.only(b"-"))
        for name in {w for text in ours.values() for w in _words(text.imports)} - there:
            if not removed[name]:
                text = f"the result lacks the import of {name.decode(errors='replace')}"
                yield self._finding(f"{text} that upstream has", name)
        for path, file in made.items():
            before = Counter(ours[path].imports)
            most = before + Counter(theirs[path].imports) - Counter(base[path].imports)
            for line, number in Counter(file.imports).items():
                if number > max(before[line], most[line]) > 0 and _IMPORT.match(line):
                    yield self._finding(f"the result has an import twice: {_first([line])}", line)
        left = _Deltas(is_netted=True)
        for hunk, fate in fates:
            old, new = _definitions(hunk.only(b"-")), _definitions(hunk.only(b"+"))
            left.take(old, new, is_carried=fate in _CARRIED)
        left.net = _change(base, theirs, _Text.definitions)
        has = _change(ours, made, _Text.definitions)
        for (kind, name), number in self._off(left, has, _definitions).items():
            if number > 0:
                text = f"the result lacks the {kind} {name.decode(errors='replace')}"
                yield self._finding(text, name)

    def _near(self) -> set[bytes] | None:
        """Return the lines of places that both sides changed, and of hunks not merged as text.

        None is returned where a file is too long to compare.
        """
        near = {
            line[1:]
            for part in self._parts
            for hunk, fate in part.hunks()
            if fate is not Fate.TEXT
            for line in hunk.lines
        }
        for path in self._group.paths:
            base = _lines(self._base.read(path)) or []
            ours, theirs = _lines(self._onto.read(path)) or [], self._end.get(path) or []
            if max(len(base), len(ours), len(theirs)) > _LONGEST:
                return None
            near |= _contested(base, ours, theirs)
        return near

    def _out_of_order(self, ours: _Texts, theirs: _Texts, made: _Texts) -> Faults:
        """Compare the order of lines that are there once with upstream's and with the patches'.

        What one side alone has keeps its order. What both have keeps it where they agree.
        """
        for path, text in made.items():
            places = _once(text.rest)
            sides = _once(ours[path].rest), _once(theirs[path].rest)
            every = [set(map(_squeezed, texts[path].rest)) for texts in (ours, theirs)]
            for number, (side, other) in enumerate((sides, sides[::-1])):
                alone = [li for li in places if li in side and li not in every[1 - number]]
                both = [line for line in places if line in side and line in other]
                for lines, orders in ((alone, (side,)), (both, (side, other))):
                    for before, after in pairwise(lines):
                        if all(order[before] > order[after] for order in orders):
                            yield self._disorder(places[after][1])
                            return

    def _give_up(self) -> None:
        """Count lines that a person did not take."""
        has = Counter(
            _squeezed(line)
            for path in self._group.paths
            for line in _lines(self._result.read(path)) or ()
        )
        for part in self._parts:
            for hunk, fate in part.hunks():
                if fate is not Fate.PERSON:
                    continue
                lost = sum(not has[_squeezed(line)] for line in hunk.only(b"+"))
                self.added[Fate.PERSON] -= lost
                self.added[Fate.GIVEN_UP] += lost

    # what upstream has

    def evidence(self) -> Iterator[_Evidence]:
        """Look for what upstream is said to have: in its files, and in the cited commits."""
        by_patch: dict[str, list[_Part]] = {}
        for part in self._parts:
            if Fate.UPSTREAM in part.fates:
                by_patch.setdefault(part.patch.name, []).append(part)
        if not by_patch or self._is_unreadable():
            return
        self._written_end()
        written = {_squeezed(line) for lines in self._end.values() for line in lines or ()}
        here, before = (self._squeezed_lines(state) for state in (self._onto, self._base))
        for name, parts in by_patch.items():
            hunks = [h for part in parts for h, fate in part.hunks() if fate is Fate.UPSTREAM]
            added = _telling(line for hunk in hunks for line in hunk.only(b"+"))
            removed = _telling(line for hunk in hunks for line in hunk.only(b"-"))
            # What a later patch of the series replaced need not be there.
            lacks = {line for line in added - removed if line in written and not here[line]}
            still = {
                line for line in removed - added
                if line not in written and here[line] >= before[line] > 0
            }  # fmt: skip
            if lacks or still:
                lacks, still = self._beyond_cited(parts, lacks, still)
                lacks -= self._within_longer(parts, hunks, lacks)
            yield _Evidence(
                name,
                parts[0].diff.path,
                (len(added), len(removed)),
                _as_written(hunks, b"+", lacks),
                _as_written(hunks, b"-", still),
            )

    def _beyond_cited(
        self, parts: Sequence[_Part], lacks: set[bytes], still: set[bytes]
    ) -> tuple[set[bytes], set[bytes]]:
        """Take away what upstream has in another layout, and what a cited commit did."""
        patch = parts[0].patch
        told = {_squeezed(line) for text in patch.reworded for line in text.split(b"\n")}
        texts = [_squeezed(self._onto.read(path) or b"") for path in self._group.paths]
        gone: set[bytes] = set()
        for commit, path in ((c, p) for c in patch.cited for p in self._group.paths):
            for old, new in self._cited(commit, path):
                texts.append(_squeezed(new))
                if still:
                    gone |= (_squeezed_counts(old) - _squeezed_counts(new)).keys()
        lacks = {line for line in lacks - told if not any(line in text for text in texts)}
        return lacks, still - told - gone

    def _within_longer(
        self, parts: Sequence[_Part], hunks: Sequence[_Hunk], lacks: set[bytes]
    ) -> set[bytes]:
        """Return the lines of which a new line of upstream has every word, and more.

        A set on one line, to which upstream added ours and others, is such a one.
        """
        if not lacks:
            return set()
        steps = [
            (self._base.read(path) or b"", self._onto.read(path) or b"")
            for path in self._group.paths
        ]
        cited = parts[0].patch.cited
        steps += [s for c in cited for path in self._group.paths for s in self._cited(c, path)]
        longer: list[Words] = []
        for old, new in steps:
            known = set(old.split(b"\n"))
            longer += [_words([line]) for line in new.split(b"\n") if line not in known]
        wanted = {_squeezed(line): _words([line]) for h in hunks for line in h.only(b"+")}
        return {
            line
            for line in lacks
            if line in wanted and any(not wanted[line] - words for words in longer)
        }

    def _squeezed_lines(self, state: State) -> Counter[bytes]:
        count: Counter[bytes] = Counter()
        for path in self._group.paths:
            count.update(_squeezed_counts(state.read(path) or b""))
        return count

    # telling

    def _told(self, off: Mapping[object, int], what: str) -> Faults:
        """Tell of lines or words that are too few or too many in the result, a sentence a kind."""
        kinds: dict[tuple[bool, bool], list[bytes]] = {}
        counts = self._words if what == "word" else self._lines
        for one, number in off.items():
            is_ours = bool((counts.come if number > 0 else counts.gone)[one])
            found = kinds.setdefault((number > 0, is_ours), [])
            found += [one] * abs(number)  # type: ignore[list-item]  # lines and words are bytes
        for (is_lacking, is_ours), found in sorted(kinds.items(), reverse=True):
            text = _OFF[is_lacking, is_ours].format(_number(len(found), what))
            yield self._finding(f"{text}: {_first(found)}", max(found, key=len))

    def _disorder(self, line: bytes, *, is_certain: bool = True) -> tuple[str, AuditFinding]:
        text = "the result has lines in an order that neither upstream nor the patches have"
        return self._finding(f"{text}: {_first([line])}", line, is_certain=is_certain)

    def _finding(
        self, text: str, line: bytes, *, is_certain: bool = True
    ) -> tuple[str, AuditFinding]:
        """Return a fault, with the patch and the place that it is likely about."""
        kinds = b"+" + line, b"-" + line
        carriers = [part for part in self._parts if part.is_carried] or self._parts
        named = [p for p in carriers for h in p.diff.hunks if any(k in h.lines for k in kinds)]
        part = (named or carriers)[-1]
        for path in (part.diff.path, *self._changed):
            lines = _lines(self._result.read(path)) or []
            if line in lines:
                at = lines.index(line) + 1
                return part.patch.name, _fault(path, at, text, is_certain=is_certain)
        path = part.diff.path
        if path not in self._changed:
            path = (*self._changed, path)[0]
        return part.patch.name, _fault(path, 0, text, is_certain=is_certain)


_OFF = {
    (True, True): "the result lacks {} that the patches add",
    (True, False): "the result lacks {} of upstream that no patch removes",
    (False, True): "the result still has {} that the patches remove",
    (False, False): "the result has {} more than upstream and the patches together",
}


def _fault(path: str, line: int, text: str, *, is_certain: bool = True) -> AuditFinding:
    return AuditFinding("ledger", is_certain, path, line, None, text)


def _number(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _first(lines: Iterable[bytes]) -> str:
    """Quote the most telling of some lines, with what they define."""
    lines = list(lines)
    named = [f"{kind} {name.decode(errors='replace')}" for kind, name in _definitions(lines)]
    text = max(lines, key=lambda line: len(line.strip())).strip().decode(errors="replace")
    text = text if len(text) <= _TOLD else f"{text[: _TOLD - 3]}..."
    quoted = f"`{text}`" if text else "blank"
    return f"{quoted} ({', '.join(named)})" if named else quoted


def _beyond(number: int, most: int, least: int) -> int:
    """Return by how much a number is above `most` or below minus `least`; 0 within."""
    if number > 0:
        return max(0, number - max(0, most))
    return min(0, number + max(0, least))


def _position(lines: Lines, old: Lines, at: int) -> int | None:
    """Return where lines are in a file: at the place named, or nearest to it."""
    if not old:
        return min(at, len(lines))
    places = (
        i for i, line in enumerate(lines) if line == old[0] and lines[i : i + len(old)] == old
    )
    if lines[max(0, at) : max(0, at) + len(old)] == old:
        return max(0, at)
    return min(places, key=lambda place: abs(place - at), default=None)


def _contested(base: Lines, ours: Lines, theirs: Lines) -> set[bytes]:
    """Return the lines of the places that both sides changed, and the lines beside them."""
    blocks = [(a, b, _beside(ours, c, d), 0) for a, b, c, d in _blocks(base, ours)]
    blocks += [(a, b, _beside(theirs, c, d), 1) for a, b, c, d in _blocks(base, theirs)]
    found: set[bytes] = set()
    cluster: list[tuple[int, int, Lines, int]] = []
    end = 0
    for block in (*sorted(blocks, key=lambda one: one[:2]), (len(base) + 9, 0, [], 0)):
        if cluster and block[0] > end + _BESIDE:
            if len({side for *_, side in cluster}) == 2:
                found.update(_beside(base, cluster[0][0], end), *(one[2] for one in cluster))
            cluster = []
        cluster.append(block)
        end = max(end, block[1])
    return found


def _beside(lines: Lines, start: int, end: int) -> Lines:
    """Return a range of lines with those beside it; diffs place a change differently."""
    return lines[max(0, start - _BESIDE) : end + _BESIDE]


class _Found:
    """A text that is asked for parts of it, most often in their order."""

    def __init__(self, text: bytes) -> None:
        self._text, self._at = text, 0

    def __contains__(self, part: bytes) -> bool:
        at = self._text.find(part, self._at)
        at = at if at >= 0 else self._text.find(part, 0, self._at + len(part))
        self._at = max(at, 0)
        return at >= 0


def _blocks(old: Lines, new: Lines) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges in which two texts differ."""
    at_old = at_new = 0
    for end_old, end_new in (*_in_both(old, new), (len(old), len(new))):
        if at_old < end_old or at_new < end_new:
            some = old[at_old:end_old], new[at_new:end_new]
            matcher = SequenceMatcher(None, *some, autojunk=False)
            for tag, a, b, c, d in matcher.get_opcodes():
                if tag != "equal":
                    yield a + at_old, b + at_old, c + at_new, d + at_new
        at_old, at_new = end_old + 1, end_new + 1


def _in_both(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Return where lines are that both texts have once, and that all the others keep aside of.

    Between them there is little to compare: difflib's time grows with the square of it.
    """
    counts = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(new) if counts[1][line] == 1 == counts[0][line]}
    pairs = [(at, places[line]) for at, line in enumerate(old) if line in places]
    kept, least = set[tuple[int, int]](), len(new)
    for at, place in reversed(pairs):
        if place < least:
            kept.add((at, place))
        least = min(least, place)
    most, found = -1, list[tuple[int, int]]()
    for at, place in pairs:
        if place > most and (at, place) in kept:
            found.append((at, place))
        most = max(most, place)
    return found


def _merged(base: Lines, ours: Lines, theirs: Lines) -> Lines | None:
    """Merge two texts over their base; None where they changed one place differently."""
    blocks = [(a, b, tuple(ours[c:d])) for a, b, c, d in _blocks(base, ours)]
    blocks += [(a, b, tuple(theirs[c:d])) for a, b, c, d in _blocks(base, theirs)]
    found: Lines = []
    at = -1
    for start, end, lines in sorted(set(blocks), key=lambda block: block[:2]):
        if start <= at:
            return None
        found += base[max(at, 0) : start]
        found += lines
        at = end
    return found + base[max(at, 0) :]


def _strange(made: Lines, ours: Lines, theirs: Lines) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield lines of a merge that are together on neither side, unless one joins the two sides."""
    pairs = [set(_pairs(lines)) for lines in (ours, theirs)]
    threes = {three for lines in (ours, theirs) for three in _threes(lines)}
    for three in _threes(made):
        if three in threes:
            continue
        sides = [[pair in side for side in pairs] for pair in (three[:2], three[1:])]
        if sides not in ([[True, False], [False, True]], [[False, True], [True, False]]):
            yield three


def _threes(lines: Lines) -> Iterator[tuple[bytes, bytes, bytes]]:
    ended = [_START, *lines, _END]
    return zip(ended, ended[1:], ended[2:], strict=False)


def _once(lines: Lines) -> dict[bytes, tuple[int, bytes]]:
    """Return the lines that are there once, without their layout, with where and how they are."""
    found: dict[bytes, tuple[int, bytes]] = {}
    double: set[bytes] = set()
    for place, line in enumerate(lines):
        key = _squeezed(line)
        if key in found:
            double.add(key)
        found[key] = (place, line)
    return {key: at for key, at in found.items() if key not in double and len(key) > 2}


_TRAILING = re.compile(rb"\s+(?:#|//)\s.*")
_REMARK = re.compile(rb"\s*(?:#(?!\s*(?:include|define|if|el|end|pragma|undef))|//|/?\*)")


def _telling(lines: Iterable[bytes]) -> Counter[bytes]:
    """Count lines without their layout; remarks and lines of hardly a word are left out.

    So are imports: the same names may be imported in other statements, and the audit resolves them.
    """
    squeezed = (
        _squeezed(_TRAILING.sub(b"", line))
        for line in lines
        if not _REMARK.match(line) and not _IMPORT.match(line)
    )
    return Counter(line for line in squeezed if len(line) > 2)


def _as_written(hunks: Iterable[_Hunk], kind: bytes, squeezed: set[bytes]) -> tuple[bytes, ...]:
    """Return the lines of a kind whose text without layout is among some."""
    if not squeezed:
        return ()
    lines = {_squeezed(line): line for hunk in hunks for line in hunk.only(kind)}
    return tuple(line for key, line in lines.items() if key in squeezed)


def _squeezed_counts(content: bytes) -> Counter[bytes]:
    """Count the lines of a text, without their layout."""
    return Counter(content.translate(None, _LAYOUT.replace(b"\n", b"")).split(b"\n"))


def _joined_lines(lines: Lines) -> bytes:
    return b"\n%s\n" % b"\n".join(lines)


def _is_within(lines: Lines, text: Lines) -> bool:
    """Say whether a text has the lines in their order."""
    rest = iter(text)
    return all(line in rest for line in lines)
