"""Find numbers that both sides raise by the same amount, although each side adds its own lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchmgr.engines.audit.places import patch_of_line, versions
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

_NUMBER = late_pattern(rb"(?<![\w.])\d+(?![\w.])")


def check_counts(states: States) -> Iterator[Told]:
    """Find numbers that both sides raise from n to n + k, where each side also adds k other lines.

    Such a number often counts the entries of a table. With the entries of both sides it must be
    n + 2k, but git applies the same change only once.
    """
    for path in states.carriers:
        contents = versions(states, path)
        if contents is None:
            continue
        base, ours, theirs, merged = (content.split(b"\n") for content in contents)
        alike = ({*ours} & {*theirs} & {*merged}) - {*base}
        if not any(_NUMBER.search(line) for line in alike):
            continue
        raised, added = [], []
        for side, other in ((ours, theirs), (theirs, ours)):
            blocks = changed_blocks(base, side)
            raised.append({*_raised(base, side, blocks)})
            added.append({*_added(side, blocks, {*other})})
        for line, old, new in sorted(set.intersection(*raised)):
            if line in alike and all(new - old in amounts for amounts in added):
                number = merged.index(line) + 1
                text = (
                    f"both sides raise this number from {old} to {new}, and each of them also "
                    f"adds {new - old} other line{'s'[: new - old - 1]}"
                )
                finding = AuditFinding("meaning", False, path, number, None, text)
                yield patch_of_line(states, path, number), finding


def _raised(
    base: Sequence[bytes], side: Sequence[bytes], blocks: Sequence[Block]
) -> Iterator[tuple[bytes, int, int]]:
    """Yield (new line, old number, new number) for each line in which only a number is raised."""
    for block in blocks:
        pairs = base[block.old_start : block.old_end], side[block.new_start : block.new_end]
        for before, after in zip(*pairs, strict=False):
            old, new = ([int(n) for n in _NUMBER.findall(line)] for line in (before, after))
            if _NUMBER.sub(b"", before) == _NUMBER.sub(b"", after):
                changed = [(m, n) for m, n in zip(old, new, strict=True) if m != n]
                if len(changed) == 1 and changed[0][0] < changed[0][1]:
                    yield after, *changed[0]


def _added(side: Sequence[bytes], blocks: Sequence[Block], other: set[bytes]) -> Iterator[int]:
    """Yield how many lines longer each block gets that has a line which the other side lacks."""
    for block in blocks:
        if not other.issuperset(side[block.new_start : block.new_end]):
            yield block.new_end - block.new_start - (block.old_end - block.old_start)
