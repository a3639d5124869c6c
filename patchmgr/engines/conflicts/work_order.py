"""Make the parts of a work order that depend only on texts, and shorten a work order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.conflicts.ids import conflict_id, region_id
from patchmgr.engines.conflicts.memory import fits_region
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.merge.languages import language_of
from patchmgr.engines.merge.statements import read
from patchmgr.engines.merge.tree import Node
from patchmgr.engines.moved.units import Outline
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.distinctive import normal_lines
from patchmgr.engines.text.marked import MarkedText, split_marked
from patchmgr.model.outcome import FileConflict, Suggestion
from patchmgr.model.work_order import (
    OrderedCandidate,
    OrderedRegion,
    SideText,
    SymbolSides,
    WorkOrder,
)

_CAPS = (8000, 4000, 2000, 1000, 500, 250, 120, 60)  # most characters of a text, tried in order
_SIDES = ("regions.base.text", "regions.ours.text", "regions.theirs.text")
_WEIGHT = 8  # how many times as long as other texts the sides of a conflict may be
_LETTERS_AN_ITEM = 50  # a list keeps one item for every 50 characters that a text may have
_WORD = re.compile(r"\w+")
_PROSE = ("diff", "message", "reason", "subject", "why")
_FILE = re.compile(r"(?m)^(?=diff --git )")
_HUNK = re.compile(r"(?m)^(?=@@ )")


def readable(content: bytes | None) -> str | None:
    """Return a file's content as a string, or None if it is missing, binary or not UTF-8."""
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def regions_of(conflict: FileConflict) -> tuple[OrderedRegion, ...]:
    """Return the regions of a file in conflict; a file without markers is one region."""
    written = [None if one is None else one.commit for one in conflict.shown]
    if conflict.marked is None:
        contents = (conflict.base, conflict.ours, conflict.theirs)
        modes = (None if one is None else one.mode for one in conflict.stages)
        base, ours, theirs = map(_side, contents, modes)
        name, writer = conflict_id(*contents, None), next(iter(written), None)
        return (OrderedRegion(name, 0, None, base, ours, theirs, written_by=writer),)
    found, line, regions = split_marked(conflict.marked), 1, list[OrderedRegion]()
    symbols = _symbols(conflict)
    for number, one in enumerate(found.regions):
        line += found.texts[number].count(b"\n")
        base, ours, theirs = map(_side, one.region.sides)
        known = conflict.suggestions[number] if number < len(conflict.suggestions) else ()
        writer = written[number] if number < len(written) else None
        placed = [replace(it, text=in_place(found, number, it.text)) for it in known]
        name, candidates = region_id(*one.region.sides), _candidates(placed)
        regions.append(
            OrderedRegion(
                name, line, symbols[number], base, ours, theirs, candidates, written_by=writer
            )
        )
        line += one.raw.count(b"\n")
    return tuple(regions)


def in_place(marked: MarkedText, number: int, text: bytes) -> bytes:
    """Return a text proposed for a region, without the lines that are already around the region."""
    region = marked.regions[number].region
    if fits_region(region, text, whole=marked.with_each(tuple(r.raw for r in marked.regions))):
        lines = split_lines(text)
        before, behind = (split_lines(marked.texts[n]) for n in (number, number + 1))
        head = _overlap(before, lines)
        lines = lines[head:]
        tail = _overlap(lines, behind)
        text = b"".join(lines[: len(lines) - tail])
    return text


def _overlap(before: list[bytes], behind: list[bytes]) -> int:
    """Return the largest number of lines that end `before` and also start `behind`."""
    sizes = range(min(len(before), len(behind)), 0, -1)
    return next((size for size in sizes if before[-size:] == behind[:size]), 0)


def _side(content: bytes | None, mode: str | None = None) -> SideText | None:
    return None if content is None else SideText(len(content), readable(content), mode)


def _candidates(suggestions: Sequence[Suggestion]) -> tuple[OrderedCandidate, ...]:
    return tuple(
        OrderedCandidate(number, one.text.decode("utf-8", "backslashreplace"), one.reliability)
        for number, one in enumerate(suggestions, 1)
    )


def _symbols(conflict: FileConflict) -> list[str | None]:
    """Return the symbol that contains each region: in ours, or else in theirs, or else in base."""
    assert conflict.marked is not None
    split = split_marked(conflict.marked)
    found: list[str | None] = [None] * len(split.regions)
    for side in ("ours", "theirs", "base"):
        parts = tuple(getattr(one.region, side) for one in split.regions)
        index = SymbolIndex(conflict.new_path, split.with_each(parts))
        line = 1
        for number, part in enumerate(parts):
            line += split.texts[number].count(b"\n")
            lines = range(line, line + max(1, part.count(b"\n")))
            found[number] = found[number] or next(filter(None, map(index.at, lines)), None)
            line += part.count(b"\n")
    return found


class Whole(Struct, frozen=True):
    """The paths of a file, and its content on each side of a conflict and in the result."""

    path: str
    new_path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None = None
    result: bytes | None = None


def symbols_of(names: Sequence[str], file: Whole) -> Iterator[SymbolSides]:
    """Yield each symbol in `names` that any side of a file has, with its text on every side."""
    sides = [
        None if readable(content) is None else Outline(path, content or b"")
        for path, content in (
            (file.path, file.base), (file.new_path, file.ours), (file.path, file.theirs),
            (file.new_path, file.result),
        )
    ]  # fmt: skip
    for name in names:
        texts = [None if side is None else _text_of(side, name) for side in sides]
        if any(text is not None for text in texts):
            yield SymbolSides(name, file.new_path, *texts)


def _text_of(side: Outline, name: str) -> str | None:
    found = [b"".join(side.text_of(unit)) for unit in side.named(name)]
    return b"".join(found).decode() if found else None


def near_hunks(diff: str, texts: Sequence[bytes], names: Collection[str] = ()) -> str:
    """Return a diff's hunks that contain a line of `texts` or one of `names`, or else all hunks."""
    known = {line for text in texts for line in normal_lines(text)} - {b""}

    def is_near(hunk: str) -> bool:
        lines = "\n".join(line[1:] for line in hunk.split("\n")).encode("utf-8", "surrogateescape")
        return not (
            known.isdisjoint(normal_lines(lines)) and {*names}.isdisjoint(_WORD.findall(hunk))
        )

    near = []
    for file in _FILE.split(diff):
        head, *hunks = _HUNK.split(file)
        kept = list(filter(is_near, hunks))
        near += [head, *kept] if kept else []
    return "".join(near) or diff


def shortened(order: WorkOrder, size: Callable[[WorkOrder], int], *, most: int) -> WorkOrder:
    """Cut texts of a work order after statements, to get its `size` down to `most` if possible."""
    shorter = order
    for cap in _CAPS:
        if size(shorter) <= most:
            break
        shorter = _Cut(order, cap).shorter()
    return shorter


class _Cut:
    """A work order to be shortened, so that its texts have at most `cap` characters each."""

    def __init__(self, order: WorkOrder, cap: int) -> None:
        self.order, self.cap, self.cut = order, cap, dict.fromkeys(order.cut)

    def shorter(self) -> WorkOrder:
        """Return the shortened work order; its `cut` says how much of each cut field is left."""
        order = self.order
        made = {
            name: self._value(getattr(order, name), name, order.new_path)
            for name in order.__struct_fields__
            if name not in ("base", "onto", "cut")
        }
        return replace(order, **made, cut=tuple(self.cut))

    def _value(self, value: object, name: str, path: str) -> object:
        cap = self.cap * (_WEIGHT if name in _SIDES else 1)
        if isinstance(value, str) and len(value) > cap and not name.endswith("path"):
            self.cut[f"{name}: at most {cap} of {len(value)} characters"] = None
            is_code = name.rpartition(".")[2] not in _PROSE
            return first_statements(value, path if is_code else "", cap)
        if isinstance(value, tuple) and len(value) > (most := max(2, self.cap // _LETTERS_AN_ITEM)):
            self.cut[f"{name}: {most} of {len(value)}"] = None
            value = value[:most]
        if isinstance(value, tuple):
            return tuple(self._value(one, name, path) for one in value)
        if isinstance(value, Struct) and name != "reliability":
            each = {
                field: self._value(getattr(value, field), f"{name}.{field}", path)
                for field in value.__struct_fields__
            }
            return replace(value, **each)
        return value


def first_statements(text: str, path: str, most: int) -> str:
    """Cut a text after a statement or a line, so that at most `most` characters are left."""
    kept = "".join(_fitting(read(text[: most + 1], language_of(path)), most)[0])
    return kept or text[: text.rfind("\n", 0, most) + 1]


def _fitting(node: Node, left: int) -> tuple[list[str], int]:
    """Return the parts of a node that fit into `left` characters, and the characters left over."""
    kept: list[str] = []
    for part in node.parts:
        if len(part.whole) <= left:
            kept.append(part.whole)
            left -= len(part.whole)
            continue
        inner: list[str] = []
        if part.kind == "block" or any(below.kind == "block" for below in part.parts):
            inner, left = _fitting(part, left - len(part.lead))
        if inner:
            return [*kept, part.lead, *inner], left
        is_head = any(below.kind == "block" for below in node.parts)
        return ([] if is_head else kept), left
    return kept, left
