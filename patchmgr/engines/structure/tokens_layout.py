"""Lay out merged tokens: the white space of whoever changed it, new lines as those about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from patchmgr.engines.structure.tokens import Kind, Token
from patchmgr.engines.structure.tokens_align import Edit
from patchmgr.engines.structure.tokens_sides import Side

_REACH = 40  # tokens about an edit among which a line is looked for to indent it by
_SEGMENT_ENDS = frozenset({";", "{", "}"})


class Layout:
    """The white space of the tokens that both sides keep."""

    def __init__(self, base: Sequence[Token], upstream: Side, fork: Side) -> None:
        """Find, for each stretch of code that both sides wrapped anew, which one did more."""
        self._base, self._upstream, self._fork = base, upstream, fork
        self._hosts = tuple(self._wrappers())

    def _wrappers(self) -> Iterator[Side | None]:
        """Yield, for each base token, the side whose layout its stretch takes as a whole."""
        start = 0
        for at, token in enumerate(self._base):
            is_last = at + 1 == len(self._base)
            if is_last or token.text in _SEGMENT_ENDS or token.kind is Kind.DIRECTIVE:
                mine, other = (self._rewraps(s, start, at) for s in (self._upstream, self._fork))
                host = self._upstream if mine >= other else self._fork
                yield from [host if mine and other else None] * (at + 1 - start)
                start = at + 1

    def _rewraps(self, side: Side, start: int, end: int) -> int:
        """Count the lines that a side begins or joins at tokens that it keeps."""
        count = 0
        for at in range(start, end + 1):
            token = side.token(at)
            count += token is not None and ("\n" in token.gap) != ("\n" in self._base[at].gap)
        return count

    def kept(self, at: int) -> Token | None:
        """Return a token that at least one side keeps, None where both removed it."""
        base, upstream, fork = self._base[at], self._upstream.token(at), self._fork.token(at)
        if upstream is None or fork is None:
            return upstream or fork
        host = self._hosts[at]
        if host is not None:
            return host.token(at)
        return replace(base, gap=fork.gap if upstream.gap in (base.gap, fork.gap) else upstream.gap)


def indent_of(gap: str) -> str:
    """Return what a line begins with, of the white space in front of its first token."""
    return gap.rpartition("\n")[2]


def reindented(edit: Edit, side: Side, layout: Layout) -> list[Token]:
    """Return an edit's new tokens, indented as the merged lines about them."""
    old, now = _indents_about(edit, side, layout)
    if old == now:
        return list(side.added(edit))
    numbers = range(edit.first, edit.last)
    return [replace(side.tokens[n], gap=_shifted(side, n, old, now)) for n in numbers]


def _indents_about(edit: Edit, side: Side, layout: Layout) -> tuple[str, str]:
    """Find the nearest line that is kept; how the side and the merged text indent it."""
    near = range(edit.start - _REACH, edit.end + _REACH)
    for at in sorted(near, key=lambda n: edit.start - n if n < edit.start else n - edit.end + 1):
        mine = side.token(at)
        if mine is None or mine.kind in (Kind.END, Kind.DIRECTIVE):
            continue
        merged = layout.kept(at)
        if merged is None or ("\n" in mine.gap) != ("\n" in merged.gap):
            continue
        if _begins_line(side, side.kept[at]):
            return indent_of(mine.gap), indent_of(merged.gap)
    return "", ""


def _begins_line(side: Side, at: int) -> bool:
    before = side.before(at)
    return "\n" in side.tokens[at].gap or (bool(before) and before[0].kind is Kind.EOL)


def _shifted(side: Side, at: int, old: str, now: str) -> str:
    token = side.tokens[at]
    lines, newline, indent = token.gap.rpartition("\n")
    if not _begins_line(side, at) or (token.kind is Kind.DIRECTIVE and not indent):
        return token.gap
    if indent.startswith(old):
        return lines + newline + now + indent[len(old) :]
    return lines + newline + now[: max(0, len(now) - len(old) + len(indent))]


def beside(new: Sequence[Token], after: str) -> list[Token]:
    """Part an insertion from the one before it as that one is parted from what follows."""
    if not new or new[0].text == "," or after.count("\n") <= new[0].gap.count("\n"):
        return list(new)
    indent = indent_of(new[0].gap) if "\n" in new[0].gap else ""
    return [replace(new[0], gap=after.rpartition("\n")[0] + "\n" + indent), *new[1:]]


def on_own_line(
    new: Sequence[Token], before: Sequence[Token], was_before: Sequence[Token]
) -> list[Token]:
    """Adapt the white space of new tokens where the token before them now ends its line."""
    ends, ended = (bool(t) and t[0].kind is Kind.EOL for t in (before, was_before))
    if not new or ends == ended:
        return list(new)
    gap = new[0].gap
    gap = gap.removeprefix("\r").removeprefix("\n") if ends else "\n" + gap
    return [replace(new[0], gap=gap), *new[1:]]


def on_lines(tokens: Sequence[Token]) -> Iterator[Token]:
    """Begin a line before a directive, and after it or a comment that ends with its line."""
    before: Token | None = None
    indent = ""
    for token in tokens:
        gap = token.gap
        if "\n" in gap:
            indent = indent_of(gap)
        elif before is not None and _needs_line(before, token):
            gap = "\n" + ("" if token.kind is Kind.DIRECTIVE else indent)
        yield replace(token, gap=gap)
        before = token


def _needs_line(before: Token, token: Token) -> bool:
    if before.kind is Kind.EOL or token.kind is Kind.EOL:
        return False
    ends = before.kind is Kind.COMMENT and before.text.startswith("//")
    if ends or before.kind is Kind.DIRECTIVE:
        return ends or token.kind is not Kind.COMMENT
    return token.kind is Kind.DIRECTIVE
