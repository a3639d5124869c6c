"""The tokens of a piece of Python without its layout, and edits that are part of other edits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_TRIPLE = r'"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''"
_TOKEN = re.compile(
    r"[rRbBuUfFtT]{0,2}(?:" + _TRIPLE + r'|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*')"
    r"|\#[^\r\n]*|\w+|[^\s\\]",
    re.DOTALL,
)
_WORDS = re.compile(r"\w+")
LARGEST_DIFF = 4_000_000  # pairs


def tokens_of(text: str) -> tuple[str, ...]:
    """Return names, numbers, strings, signs and comments; no commas that only layout adds."""
    found = [_plain_quotes(token) for token in _TOKEN.findall(text)]
    ends = [*found, ""][1:]
    return tuple(t for t, after in zip(found, ends, strict=True) if t != "," or after not in ")]}")


def is_same_code(one: str, other: str) -> bool:
    """Say whether the two pieces differ in their layout alone."""
    return one == other or tokens_of(one) == tokens_of(other)


def has_comment(text: str) -> bool:
    """Say whether a comment is in the text."""
    return "#" in text and any(comments_of(text))


def comments_of(text: str) -> Iterator[str]:
    """Yield the comments in the text."""
    return (token for token in _TOKEN.findall(text) if token.startswith("#"))


def likeness(one: Sequence[str], other: Sequence[str], least: float = 0.0) -> float:
    """Return how many of the tokens are in both, whatever their order: 0 to 1.

    Where that cannot reach `least`, 0 will do.
    """
    total = len(one) + len(other)
    if 2 * min(len(one), len(other)) < least * total:
        return 0.0
    return 2 * sum((Counter(one) & Counter(other)).values()) / total if total else 1.0


def are_alike(one: str, other: str) -> bool:
    """Say whether two names may be two people's names for one thing."""
    short, long = sorted((one.strip("\"'= "), other.strip("\"'= ")), key=len)
    return bool(_WORDS.fullmatch(short)) and long.startswith(short)


def is_part_of(base: Sequence[str], small: Sequence[str], large: Sequence[str]) -> bool:
    """Say whether all that one side does is in what the other does, something added among it."""
    if len(small) * len(large) > LARGEST_DIFF or len(base) * len(large) > LARGEST_DIFF:
        return False
    added, removed = _edits(base, small)
    if not any(_WORDS.search(small[n]) for n in added):
        return False
    new, gone = _edits(base, large)
    in_large = {m.a + n: m.b + n for m in _blocks(small, large) for n in range(m.size)}
    return removed <= gone and all(in_large.get(n) in new for n in added)


def _edits(base: Sequence[str], side: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return what is new in the side, and what of base is gone, by index."""
    blocks = _blocks(base, side)
    kept = {m.a + n for m in blocks for n in range(m.size)}
    old = {m.b + n for m in blocks for n in range(m.size)}
    return set(range(len(side))) - old, set(range(len(base))) - kept


def _blocks(one: Sequence[str], other: Sequence[str]) -> list[_Match]:
    return [_Match(*m) for m in SequenceMatcher(None, one, other, False).get_matching_blocks()]


class _Match:
    """A run of equal elements."""

    __slots__ = ("a", "b", "size")

    def __init__(self, a: int, b: int, size: int) -> None:
        self.a, self.b, self.size = a, b, size


def _plain_quotes(token: str) -> str:
    """Return a string with double quotes where that says the same."""
    if token.endswith("'") and '"' not in token and "\\" not in token:
        return token.replace("'", '"')
    return token
