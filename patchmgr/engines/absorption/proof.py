"""Prove that upstream still lacks a hunk, although it was found to be absorbed.

A hunk is dropped only if no proof shows that it is still needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from operator import lt

from msgspec.structs import replace

from patchmgr.engines.absorption.proposal import marked_spots
from patchmgr.engines.absorption.superset import PIECE
from patchmgr.engines.absorption.thresholds import ALIKE, MOST_LEFT
from patchmgr.engines.languages.file_types import OTHER, language
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.languages.words import indentation, is_import
from patchmgr.engines.rebase.ladder import CONFLICT, DECIDED, SAME_LINES, Collided, Merged, Sides
from patchmgr.engines.series.placement import PatchedFile, split_lines
from patchmgr.engines.text.differences import (
    Alignment,
    Block,
    Run,
    aligned,
    is_within,
    matched_lines,
    runs_of,
)
from patchmgr.engines.text.distinctive import bare
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.formats.shown import cut
from patchmgr.model.outcome import Verdict
from patchmgr.model.ports import Blobs, TextMerge

_WORD = re.compile(rb"\w")
# One without an end goes to the end of the text. Otherwise, each beginning would search all of it.
_QUOTED = late_pattern(rb"\*/|(\"{3}|'{3}).*?(?:\1|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)
# Lines that begin a block or section at any indentation, lines that end one, and decorators.
_OPENS = late_pattern(
    rb"\s*(?:\[[^\]]*\]\s*$|#\s*(?:if|el)|<!--|```|(?:case|default|public|private|protected)\b)"
    rb"|.*(?:[{(\[]|\b(?:then|do)|<<-?\s*\S+)\s*$"
)
_CLOSES = late_pattern(
    rb"\s*(?:[)\]}]|(?:fi|done|esac|end\w*)\b|#\s*endif|[A-Z_]{3,}\s*$)|.*-->\s*$"
)
_ATTRIBUTE = late_pattern(rb"\s*(?:@\w|#!?\[)")
_NAMED = late_pattern(rb"\s*(?:\w+\s*=(?!=)|\*\*)")


def key_of(line: bytes) -> bytes:
    """Return a line without its white space, or empty bytes if it contains no word."""
    return bare(line) if _WORD.search(line) else b""


class Text:
    """A text, split into lines (from 0), and the blocks, comments and strings around each line.

    `keys` are the lines without white space; a line without a word has an empty key.
    """

    def __init__(self, content: bytes) -> None:
        self.content, self.lines = content, split_lines(content)
        self.keys = [*map(key_of, self.lines)]
        self.counts = Counter(filter(None, self.keys))

    @cached_property
    def quoted(self) -> Mapping[int, bytes]:
        """Map each line that begins inside a comment or long string to the mark that ends it."""
        found, line, at = dict[int, bytes](), 0, 0
        for mark in _QUOTED.finditer(self.content):
            first = line + self.content.count(b"\n", at, mark.start())
            line, at = first + mark[0].count(b"\n"), mark.end()
            found |= dict.fromkeys(range(first + 1, line + 1), mark[1] or b"*/")
        return found

    def around(self, line: int) -> Iterator[bytes]:
        """Yield the keys of the lines that begin the blocks around a line, innermost first."""
        level = indentation(self.lines[line])
        while level and line:
            line -= 1
            text, key = self.lines[line], self.keys[line]
            if key and key[-1:] != b";" and text[:1] not in b"#/" and indentation(text) < level:
                level = indentation(text)
                yield key


text_of = lru_cache(maxsize=16)(Text)


class Drop:
    """A hunk that may be dropped, by its index in the patched file, and upstream's file.

    `is_state` says that upstream's lines there are those of some state of the series.
    """

    def __init__(
        self, file: PatchedFile, upstream: bytes, number: int, *, is_state: bool = False
    ) -> None:
        self.file, self.upstream, self.number = file, upstream, number
        self.hunk = file.hunks[number]
        self.base, self.mine, self.there = map(text_of, (file.base, file.theirs, upstream))
        # Whether the hunk adds lines, and upstream's file has the hunk's new text unchanged.
        new = b"".join(self.hunk.new())
        self.is_there = self.hunk.added() > 0 and (is_state or new in upstream)
        self.alignment = _alignment(file.theirs, upstream)

    @cached_property
    def runs(self) -> tuple[tuple[Run, range], ...]:
        """The hunk's runs of changed lines, each with the range of its added lines in theirs."""
        earlier = self.file.hunks[: self.number]
        shift, found = sum(hunk.added() - hunk.removed() for hunk in earlier), []
        for run in runs_of(self.hunk, self.file.positions[self.number]):
            start = run.start + shift
            found.append((run, range(start, start + len(run.added))))
            shift += len(run.added) - len(run.removed)
        return tuple(found)

    def is_same_block(self, line: int, place: int) -> bool:
        """Return whether a line of theirs and a line of upstream are in the same block."""
        if language(self.file.path) in ("Text", OTHER):
            return True
        old, new = [*self.mine.around(line)], [*self.there.around(place)]
        mine, there = self.mine.counts, self.there.counts
        # Only block openings that are unique in both files count.
        same = [[key for key in keys if mine[key] == there[key] == 1] for keys in (old, new)]
        pairs = (self.file.theirs, line), (self.upstream, place)
        is_decorator = _ATTRIBUTE.match(self.mine.lines[line]) is not None
        names = (SymbolIndex(self.file.path, text).at(n + 1) for text, n in pairs if is_decorator)
        return same[0] == same[1] and len(new) <= len(old) and len({*names}) < 2


@lru_cache(maxsize=4)  # shared by all hunks of a file; a generated file has hundreds
def _alignment(mine: bytes, there: bytes) -> Alignment:
    """Align two texts by their equal lines, ignoring lines without a word."""
    texts = text_of(mine).keys, text_of(there).keys
    old, new = ([n for n, key in enumerate(keys) if key] for keys in texts)
    pairs = matched_lines([texts[0][n] for n in old], [texts[1][n] for n in new])
    return aligned([(old[i], new[j]) for i, j in pairs], *texts)


def rewritten_deletion(drop: Drop) -> str | None:
    """Return a reason to keep a hunk if upstream still has, or rewrote, lines that it deletes."""
    closest = partial(get_close_matches, n=1, cutoff=ALIKE)
    for run, at in () if drop.is_there else drop.runs:
        lines = [n.strip() for n in run.removed if key_of(n)]
        if run.added or not lines:
            continue
        mine, there = drop.alignment.around(at)
        gone = [drop.mine.lines[n].strip() for n in mine]
        news = [drop.there.lines[n].strip() for n in there]
        pairs = [(line, new) for line in lines for new in closest(line, news)]
        # A new line that is more like another removed line is a rewrite of that other line.
        left = [new for line, new in pairs if closest(new, [line, *gone]) == [line]]
        counts = [(drop.base.counts[key], drop.there.counts[key]) for key in map(bare, lines)]
        is_moved = all(old <= new for old, new in counts) and any(old == 1 for old, _ in counts)
        if len(left) > MOST_LEFT * len(lines) or is_moved:
            rewritten = set(left).difference(lines)
            did, shown = "rewrote" if rewritten else "still has", _shown(min(rewritten or lines))
            return f"upstream {did} the lines that the patch deletes: {shown}"
    return None


def other_place(drop: Drop) -> str | None:
    """Return a reason to keep a hunk if upstream lacks a line that it adds, or has it elsewhere."""
    keys, base, there = drop.mine.keys, drop.base.counts, drop.there.counts
    added = [line for _, lines in drop.runs for line in lines if keys[line]]
    old, new = b"".join(drop.hunk.old()), b"".join(drop.hunk.new())
    # If a new function ends like the one before it, the old text is still there (T-fi-3051).
    is_told = added and drop.file.base.count(old) == 1 and old not in drop.file.theirs
    if is_told and old in drop.upstream and new not in drop.upstream:
        return f"upstream has {_shown(drop.mine.lines[added[0]])} in another place"
    for line in added[:1] if drop.is_there else added:
        text, place, difference = drop.mine.lines[line], drop.alignment.place(line), None
        if place is not None:
            difference = _difference(drop, line, place)
        elif not drop.is_there and there[keys[line]] > base[keys[line]]:
            difference = None if _is_unordered(drop, line) else "in another order"
        elif not drop.is_there and not there[keys[line]] and not is_import(text):
            # Upstream may have all its words, and more, at the same position.
            _, beside = drop.alignment.around(range(line, line + 1))
            ours = b"".join(drop.there.lines[n] for n in beside)
            if not is_within(PIECE.findall(text), PIECE.findall(ours)):
                return f"upstream lacks {_shown(text)}"
        if difference is not None:
            return f"upstream has {_shown(text)} {difference}"
    return None


def _difference(drop: Drop, line: int, place: int) -> str | None:
    """Return how the meaning of the line differs in upstream's file, or None if it does not."""
    if drop.is_there:
        return None if drop.is_same_block(line, place) else "in another block"
    texts = drop.mine.lines[line], drop.there.lines[place]
    quoted = drop.mine.quoted.get(line), drop.there.quoted.get(place)
    pieces, is_literal = [*map(PIECE.findall, texts)], quoted[0] not in (None, b"*/")
    if pieces[0] != pieces[1] or (is_literal and texts[0].rstrip() != texts[1].rstrip()):
        return "with different white space, which matters here"
    mine, there = drop.alignment.around(range(line, line))
    own = [drop.mine.lines[n] for n in mine], [drop.there.lines[n] for n in there]
    begun = [_begun(lines, indentation(text)) for lines, text in zip(own, texts, strict=True)]
    is_further = not _CLOSES.match(texts[0]) and any(map(lt, *begun))
    if is_further or (quoted[1] and not quoted[0]) or not drop.is_same_block(line, place):
        return "in another block"
    sizes = [sum(map(bool, map(key_of, lines))) for lines in own]
    around = next(drop.mine.around(line), b"")
    is_list = around.startswith((b"enum", b"typedef"))
    is_numbered = is_list or around.count(b"(") > around.count(b")")
    is_behind = sizes[1] > sizes[0] and is_numbered and not _is_unordered(drop, line)
    return "in another order" if is_behind else None


def _is_unordered(drop: Drop, line: int) -> bool:
    """Return whether a line's order among its neighbors does not matter, as for imports."""
    text, around = drop.mine.lines[line], next(drop.mine.around(line), b"")
    if is_import(text) or language(drop.file.path) != "Python":
        return is_import(text)
    if around.endswith(b"{"):
        return b":" not in text
    is_named = _NAMED.match(text) is not None and not around.startswith(b"def")
    return is_named or around.endswith(b"import(") or around.startswith(b"__all__")


def _begun(lines: Sequence[bytes], level: int) -> tuple[int, int]:
    """Return how many lines are indented less than `level`, and how many blocks the rest begin."""
    code = [line for line in lines if line.strip()]
    rest = [line for line in code if indentation(line) >= level or line[:1] == b"#"]
    opened = sum(bool(_OPENS.match(line)) - bool(_CLOSES.match(line)) for line in rest)
    return len(code) - len(rest), opened + any(map(_ATTRIBUTE.match, code[-1:]))


def _shown(line: bytes) -> str:
    return cut(" ".join(line.decode("utf-8", "replace").split()), 60)


PROOFS = {"deletion": rewritten_deletion, "place": other_place}


def why_needed(drop: Drop) -> str | None:
    """Return the first reason that proves a hunk is still needed, or None if nothing proves it."""
    return next(filter(None, (proof(drop) for proof in PROOFS.values())), None)


def checked(
    sides: Sides, merged: Merged | Collided, *, blobs: Blobs, text: TextMerge
) -> Merged | Collided:
    """Return the merge, with a conflict for each absorbed hunk that a proof shows to be needed."""
    is_asked = any(verdict in (Verdict.ABSORBED, Verdict.CONFLICT) for verdict, _ in merged.answers)
    texts = sides.texts(blobs) if is_asked and sides.ours != sides.theirs else None
    if texts is None:
        return merged
    file = PatchedFile(sides.path, texts[0], texts[2], sides.hunks, sides.positions)
    answers, whys, spots = list(merged.answers), list[str](), list[Block]()
    for number, (hunk, answer) in enumerate(zip(sides.hunks, merged.answers, strict=False)):
        is_dropped = answer[0] is Verdict.ABSORBED and answer != DECIDED
        if not is_dropped and (answer != CONFLICT or hunk.added()):
            continue
        drop = Drop(file, texts[1], number)
        why = why_needed(drop) if is_dropped else rewritten_deletion(drop)
        if why is not None:
            answers[number] = CONFLICT
            whys.append(why)
            (first, start), (last, end) = drop.runs[0], drop.runs[-1]
            _, there = drop.alignment.around(range(start.start, end.stop))
            block = Block(first.start, last.end, there.start, there.stop)
            spots += [block] if is_dropped else []
    if not whys:
        return merged
    if isinstance(merged, Collided) and merged.reason != SAME_LINES:
        whys.insert(0, merged.reason)
    reason = "; ".join(dict.fromkeys(whys))
    if isinstance(merged, Collided) and (not spots or merged.marked is None):
        return replace(merged, reason=reason, answers=tuple(answers))
    return Collided(reason, marked_spots(texts, spots, text), tuple(answers))
