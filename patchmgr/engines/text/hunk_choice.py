"""Let a person choose hunks one by one, as `git add --patch` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import CONTEXT, Block, changed_blocks
from patchmgr.model.snapshot import FILE_MODES, Entry

Line = bytes


class Offer(Struct, frozen=True):
    """A hunk that a person can choose: the old and new text of its file, and the changed lines."""

    path: str
    old: tuple[Line, ...]
    new: tuple[Line, ...]
    blocks: tuple[Block, ...]
    whole: str = ""  # why only the whole file can be chosen, if so

    def parts(self) -> tuple[Offer, ...]:
        """Return the smaller hunks into which a hunk can be split, or just the hunk itself."""
        if self.whole or len(self.blocks) < 2:
            return (self,)
        return tuple(replace(self, blocks=(block,)) for block in self.blocks)

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the hunk as in a diff, starting with its `@@` line."""
        if self.whole:
            yield self.whole.encode() + b"\n"
        if not self.blocks:
            return
        first, last = self.blocks[0], self.blocks[-1]
        before = min(CONTEXT, first.old_start)
        start, end = first.old_start - before, min(last.old_end + CONTEXT, len(self.old))
        added = sum(block.new_end - block.new_start for block in self.blocks)
        removed = sum(block.old_end - block.old_start for block in self.blocks)
        size = end - start
        places = (start + 1, size, first.new_start - before + 1, size - removed + added)
        yield b"@@ -%d,%d +%d,%d @@\n" % places
        for block in self.blocks:
            yield from (b" " + line for line in self.old[start : block.old_start])
            yield from (b"-" + line for line in self.old[block.old_start : block.old_end])
            yield from (b"+" + line for line in self.new[block.new_start : block.new_end])
            start = block.old_end
        yield from (b" " + line for line in self.old[start:end])


Chooser = Callable[[Sequence[Offer]], Sequence[Offer]]
"""A function that lets a person choose hunks or parts of them, and returns those chosen."""


def offers_of(path: str, old: bytes | None, new: bytes | None, *, whole: str = "") -> list[Offer]:
    """Return a file's hunks, or one for the whole file if it is new, deleted or binary.

    If `whole` is not "", there is only one for the whole file, and `whole` is the reason.
    """
    lines = tuple(split_lines(old or b"")), tuple(split_lines(new or b""))
    if old is None or new is None:
        whole = whole or ("new file" if old is None else "deleted file")
    if b"\0" in (old or b"") + (new or b""):
        return [Offer(path, (), (), (), whole or "binary file")]
    blocks = changed_blocks(*lines)
    if whole:
        return [Offer(path, *lines, blocks, whole)]
    found: list[list[Block]] = []
    for block in blocks:
        if found and block.old_start - found[-1][-1].old_end <= 2 * CONTEXT:
            found[-1].append(block)
        else:
            found.append([block])
    return [Offer(path, *lines, tuple(group)) for group in found]


def mode_words(before: Entry | None, after: Entry | None) -> str:
    """Describe a change of mode, such as "mode 100644 to 100755", or return "" if there is none."""
    if before is None or after is None:
        return ""
    if before.mode == after.mode and before.mode in FILE_MODES:
        return ""
    is_same = before.mode == after.mode
    return "not a plain file" if is_same else f"mode {before.mode} to {after.mode}"


class Chosen(Struct, frozen=True):
    """A file with only the hunks that a person chose (`taken`), and with only the rest (`left`)."""

    is_whole: bool  # it could be chosen only as a whole
    taken: bytes  # with only the chosen hunks
    left: bytes  # with only the other hunks


def choices(offers: Sequence[Offer], choose: Chooser) -> dict[str, Chosen]:
    """Let a person choose hunks, and return a `Chosen` for each file with a chosen hunk."""
    found: dict[str, list[Offer]] = {}
    for offer in choose(offers):
        found.setdefault(offer.path, []).append(offer)
    return {path: _choice(own) for path, own in found.items()}


def _choice(own: Sequence[Offer]) -> Chosen:
    old, new = own[0].old, own[0].new
    taken = {block for offer in own for block in offer.blocks}
    left = (block for block in changed_blocks(old, new) if block not in taken)
    return Chosen(bool(own[0].whole), with_taken(old, new, taken), with_taken(old, new, left))


def with_taken(old: Sequence[Line], new: Sequence[Line], taken: Iterable[Block]) -> bytes:
    """Return the old text of a file with the chosen blocks of lines replaced by the new lines."""
    lines = list(old)
    for block in sorted(taken, key=lambda each: each.old_start, reverse=True):
        lines[block.old_start : block.old_end] = new[block.new_start : block.new_end]
    return b"".join(lines)


Ask = Callable[[Offer, int, int, str], str]
"""A function that shows a hunk, its number, the number of hunks and the keys, and returns a key."""


def choose(offers: Sequence[Offer], ask: Ask) -> list[Offer]:
    """Ask about each hunk, with the keys of `git add --patch`, and return the chosen hunks."""
    rest, taken, number = list(offers), list[Offer](), 0
    while number < len(rest):
        offer = rest[number]
        parts = offer.parts()
        key = ask(offer, number + 1, len(rest), "ynadqs" if len(parts) > 1 else "ynadq")
        if key == "q":
            break
        if key == "s":
            rest[number : number + 1] = parts
            continue
        end = number + 1
        while key in "ad" and end < len(rest) and rest[end].path == offer.path:
            end += 1
        taken += rest[number:end] if key in "ya" else []
        number = end
    return taken
