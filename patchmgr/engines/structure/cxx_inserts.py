"""Say whether two insertions of C++ in one place are whole, distinct and free of order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from patchmgr.engines.structure.cxx_items import Item, Write, items_of, joined_text
from patchmgr.engines.structure.text_rules import Insertions
from patchmgr.engines.structure.tokens import Kind, Token

_SIMILAR = 0.75
_FEW_WORDS = 3  # below which two statements are too short to be called similar
_MOST_PAIRS = 10_000
_SHORT_REMARK = 3  # words, the slashes among them
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_UNORDERED = frozenset({"set", "unordered_set", "map", "unordered_map"})
_STARTS = frozenset({";", "{", "}", ")", "else"})  # of a statement
_BOUNDARIES = frozenset({";", "{", "}", "\n", ":"})


def commute_in_cxx(inserted: Insertions) -> bool:
    """Say whether both insertions can stand in one place, in either order."""
    if _are_members(inserted):
        return True
    if not _is_boundary(inserted.before):
        return False
    if _remarks(inserted.fork) & _remarks(inserted.upstream):
        return False
    mine, other = items_of(inserted.fork), items_of(inserted.upstream)
    if not mine or not other or len(mine) * len(other) > _MOST_PAIRS:
        return False
    return not any(_collide(one, two) for one in mine for two in other)


def _are_members(inserted: Insertions) -> bool:
    """Say whether both sides add other members to a container that has no order."""
    opener = _open_brace(inserted.before)
    if opener is None:
        return False
    declared = [t.text for t in inserted.before[:opener] if t.kind is not Kind.COMMENT]
    start = max((n for n, text in enumerate(declared) if text in (";", "{", "}")), default=-1)
    kind = [a for a, b in pairwise(declared[start + 1 :]) if b == "<"][:1]
    if not kind or kind[0] not in _UNORDERED:
        return False
    mine, other = _members(inserted.fork), _members(inserted.upstream)
    return bool(mine and other) and not mine & other


def _open_brace(before: Sequence[Token]) -> int | None:
    """Return where the innermost brace is opened that is not closed, None where there is none."""
    depth = 0
    for number in range(len(before) - 1, -1, -1):
        text = before[number].text
        depth += (text in _OPEN) - (text in _CLOSE)
        if depth > 0:
            return number if text == "{" else None
    return None


def _members(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the members between commas, none where brackets are open or it is more than that."""
    code = [t.text for t in tokens if t.kind is not Kind.COMMENT and t.text.strip()]
    if sum((text in _OPEN) - (text in _CLOSE) for text in code) or ";" in code:
        return frozenset()
    members: list[list[str]] = [[]]
    depth = 0
    for text in code:
        depth += (text in _OPEN) - (text in _CLOSE)
        if text == "," and not depth:
            members.append([])
        else:
            members[-1].append(text)
    return frozenset(" ".join(member) for member in members if member)


def _remarks(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the comments that say something: more than the name of what a brace closes."""
    comments = (" ".join(t.text.split()) for t in tokens if t.kind is Kind.COMMENT)
    return frozenset(comment for comment in comments if len(comment.split()) > _SHORT_REMARK)


def _is_boundary(before: Sequence[Token]) -> bool:
    code = next((t for t in reversed(before) if t.kind is not Kind.COMMENT), None)
    return code is None or code.kind is Kind.DIRECTIVE or code.text in _BOUNDARIES


def _collide(one: Item, two: Item) -> bool:
    """Say whether two items declare the same, depend on each other, or are much alike."""
    mine, other = one.words(), two.words()
    if one.names & two.names or one.names & other or two.names & mine:
        return True
    if (
        _disturb(one, two)
        or _touches(one.writes, two)
        or _touches(two.writes, one)
        or _interact(one, two)
    ):
        return True
    least = min(len(mine), len(other))
    return least >= _FEW_WORDS and len(mine & other) > _SIMILAR * least


def _disturb(one: Item, two: Item) -> bool:
    """Say whether both act on one variable by different methods; the same one registers things."""
    mine, other = _acted_on(one), _acted_on(two)
    return any(len(mine[name] | other[name]) > 1 for name in mine.keys() & other.keys())


def _acted_on(item: Item) -> Mapping[str, frozenset[str]]:
    """Return by variable the methods that are called on it for their effect alone."""
    code = [t.text for t in item.tokens if t.kind is not Kind.COMMENT and t.text.strip()]
    found: dict[str, frozenset[str]] = {}
    for at in range(len(code) - 3):
        before = code[at - 1] if at else ";"
        name, dot, method, opener = code[at : at + 4]
        if before in _STARTS and dot in (".", "->") and opener == "(":
            found[name] = found.get(name, frozenset()) | {method}
    return found


def _touches(writes: Sequence[Write], item: Item) -> bool:
    """Say whether an item has to do with what another writes."""
    text = joined_text(item.tokens)
    return any(
        write.target in text if write.is_part and not _is_bare(write.root, item) else True
        for write in writes
        if write.root in item.words()
    )


def _is_bare(root: str, item: Item) -> bool:
    """Say whether a variable is used as a whole, not one of its parts."""
    tokens = item.tokens
    return any(
        token.text == root and after.text not in (".", "->", "[")
        for token, after in pairwise(tokens)
    )


def _interact(one: Item, two: Item) -> bool:
    """Say whether two calls of different functions get at the same variables."""
    if not one.callee or not two.callee or one.callee == two.callee:
        return False
    if one.callee.isupper() or two.callee.isupper():
        return False
    shared = one.words() & two.words()
    return any(name[0].islower() and _is_bare(name, one) for name in shared)
