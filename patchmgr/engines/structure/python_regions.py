"""Three texts of a file that differ only where git's text merge leaves conflicts."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.differences import changed_blocks

_OPEN, _BASE, _MIDDLE, _CLOSE = "<<<<<<< ", "||||||| ", "=======", ">>>>>>> "


class Region(Struct, frozen=True):
    """The lines of one conflict on each side."""

    base: tuple[str, ...]
    upstream: tuple[str, ...]
    fork: tuple[str, ...]


Part = tuple[str, ...] | Region
"""Lines without conflict, or a conflict."""


def parts_of_marked(marked: str) -> tuple[Part, ...] | None:
    """Read text with zdiff3 markers, upstream's side first; None where markers do not match."""
    parts: list[Part] = []
    plain: list[str] = []
    sections: list[list[str]] = []
    for line in lines_of(marked):
        opens = (_OPEN, _BASE, _MIDDLE, _CLOSE)[len(sections)]
        if line.startswith(opens) and (opens != _MIDDLE or line.rstrip("\r\n") == _MIDDLE):
            if len(sections) == 3:
                parts.append(Region(tuple(sections[1]), tuple(sections[0]), tuple(sections[2])))
                sections = []
                continue
            if not sections:
                parts.append(tuple(plain))
                plain = []
            sections.append([])
        else:
            (sections[-1] if sections else plain).append(line)
    if sections:
        return None
    return (*parts, tuple(plain))


def virtual_texts(parts: tuple[Part, ...]) -> Texts:
    """Return the three texts that differ only inside of conflicts."""
    base, upstream, fork = (
        "".join(
            line
            for part in parts
            for line in (getattr(part, side) if isinstance(part, Region) else part)
        )
        for side in ("base", "upstream", "fork")
    )
    return Texts(base, upstream, fork)


def with_true_base(parts: tuple[Part, ...], base: str) -> tuple[Part, ...]:
    """Return the conflicts with the lines around them that both sides add.

    zdiff3 takes the lines that both sides have in common out of a conflict; where base has them
    not, base's text around the conflict may be torn.
    """
    virtual = lines_of(virtual_texts(parts).base)
    in_base = _kept(virtual, lines_of(base))
    grown: list[Part] = list(parts)
    at = 0
    for number, part in enumerate(parts):
        lines = part.base if isinstance(part, Region) else part
        start, at = at, at + len(lines)
        if isinstance(part, Region):
            continue
        head, tail = 0, len(part)
        if number > 0:
            while head < tail and start + head not in in_base:
                head += 1
        if number < len(parts) - 1:
            while tail > head and start + tail - 1 not in in_base:
                tail -= 1
        _grow(grown, number, part, head, tail)
    return tuple(grown)


def _grow(parts: list[Part], number: int, part: tuple[str, ...], head: int, tail: int) -> None:
    """Move the first and last lines of a part without conflict into its neighbours."""
    parts[number] = part[head:tail]
    before = parts[number - 1] if number else None
    after = parts[number + 1] if number + 1 < len(parts) else None
    if isinstance(before, Region) and head:
        extra = part[:head]
        parts[number - 1] = Region(before.base, before.upstream + extra, before.fork + extra)
    if isinstance(after, Region) and tail < len(part):
        extra = part[tail:]
        parts[number + 1] = Region(after.base, extra + after.upstream, extra + after.fork)


def has_clean_parts(text: str, parts: tuple[Part, ...]) -> bool:
    """Say whether all that no conflict touches is in the text, in order."""
    at = 0
    for part in parts:
        if isinstance(part, tuple) and part:
            found = text.find("".join(part), at)
            if found < 0 or (part is parts[0] and found > 0):
                return False
            at = found + sum(map(len, part))
    return not parts[-1] or at == len(text)


def parts_of_texts(texts: Texts) -> tuple[Part, ...]:
    """Merge the three texts by lines, as a patience diff sees them."""
    base, upstream, fork = lines_of(texts.base), lines_of(texts.upstream), lines_of(texts.fork)
    in_upstream, in_fork = _kept(base, upstream), _kept(base, fork)
    anchors = [(n, in_upstream[n], in_fork[n]) for n in sorted(in_upstream.keys() & in_fork.keys())]
    ends = (-1, -1, -1), (len(base), len(upstream), len(fork))
    parts: list[Part] = []
    for (b0, u0, f0), (b1, u1, f1) in pairwise((ends[0], *anchors, ends[1])):
        parts.append(_gap(base[b0 + 1 : b1], upstream[u0 + 1 : u1], fork[f0 + 1 : f1]))
        parts.append(base[b1 : b1 + 1])
    return _joined(parts)


def _kept(base: tuple[str, ...], side: tuple[str, ...]) -> dict[int, int]:
    old, new = ([line.encode("utf-8", "surrogateescape") for line in text] for text in (base, side))
    kept: dict[int, int] = {}
    at_old = at_new = 0
    for block in changed_blocks(old, new):
        kept.update(
            zip(range(at_old, block.old_start), range(at_new, block.new_start), strict=True)
        )
        at_old, at_new = block.old_end, block.new_end
    kept.update(zip(range(at_old, len(old)), range(at_new, len(new)), strict=True))
    return kept


def _gap(base: tuple[str, ...], upstream: tuple[str, ...], fork: tuple[str, ...]) -> Part:
    if upstream in (base, fork):
        return fork
    if fork == base:
        return upstream
    return Region(base, upstream, fork)


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Return the parts with neighbouring clean lines as one part."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, tuple) and isinstance(last, tuple):
            joined[-1] = last + part
        else:
            joined.append(part)
    return tuple(joined)
