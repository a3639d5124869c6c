"""Say whether an edit of upstream's and one of the fork's stay clear of each other."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.engines.structure.text_contains import SEPARATORS
from patchmgr.engines.structure.text_renames import names_in
from patchmgr.engines.structure.tokens import Kind, Token, contents
from patchmgr.engines.structure.tokens_align import Edit
from patchmgr.engines.structure.tokens_merge import Meet, is_same
from patchmgr.engines.structure.tokens_sides import Side

_LINE_ENDS = frozenset(";}\n")
_LINE_STARTS = _LINE_ENDS | {"{"}

Sided = tuple[Side, Edit]


def are_apart(base: Sequence[Token], ours: Side, one: Edit, theirs: Side, other: Edit) -> Meet:
    """Say whether two edits stay clear of each other: a separator that both keep is between."""
    if is_same(ours, one, theirs, other):
        return Meet.SAME
    first, second = sorted((one, other), key=lambda edit: (edit.low, edit.high))
    between = base[first.high : second.low]
    if first.high == second.low and _touch(base, (ours, one), (theirs, other)):
        return Meet.APART
    if first.high > second.low or not between:
        return Meet.CLASH
    texts = {id(one): _whole(base, ours, one), id(other): _whole(base, theirs, other)}
    ends = (*texts[id(first)][-1:], *texts[id(second)][:1])
    return Meet.APART if any(_parts(token) for token in (*ends, *between)) else Meet.CLASH


def _touch(base: Sequence[Token], mine: Sided, other: Sided) -> bool:
    """Say whether one edit inserts whole lines just before what the other replaces.

    The other must not insert as well: it leaves at least one line, and no more than there were.
    """
    for (side, inserts), (far, replaces) in ((mine, other), (other, mine)):
        old = contents(base[replaces.start : replaces.end])
        new = contents(far.added(replaces))
        text = contents(side.added(inserts))
        if inserts.start != inserts.end or not old or not new or text[-1] not in _LINE_ENDS:
            continue
        named = {*names_in(side.added(inserts))} & {*names_in(far.added(replaces))}
        if named - {*names_in(base)}:
            continue
        at = inserts.start
        begins = at == 0 or base[at - 1].text in _LINE_STARTS
        is_less = all(new.count(sign) <= old.count(sign) for sign in _LINE_ENDS)
        if begins and at == replaces.start and is_less:
            return True
    return False


def _whole(base: Sequence[Token], side: Side, edit: Edit) -> Sequence[Token]:
    """Return what an edit only inserts, or only removes."""
    if edit.start == edit.end:
        return side.added(edit)
    return base[edit.start : edit.end] if edit.first == edit.last else ()


def _parts(token: Token) -> bool:
    return token.text in SEPARATORS or token.kind in (Kind.COMMENT, Kind.DIRECTIVE)
