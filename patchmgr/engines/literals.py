"""Whether both sides rewrote the same string of the same statement, to something alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from patchmgr.engines.languages.words import code_of, words_of

LIKE_LITERAL = 0.5  # of the words that one side put in, how many the other did, too
FEWEST_WORDS = 4

_LITERAL = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")


def alike_literals(
    old: Sequence[bytes], mine: Sequence[bytes], theirs: Sequence[bytes], language: str
) -> tuple[float, int] | None:
    """Return how alike, and the line of theirs, where one line of old differs in one string only.

    The lines of old and mine go in pairs; theirs may have other lines as well.
    """
    if len(old) != len(mine):
        return None
    for before, after in zip(old, mine, strict=True):
        if not _is_rewritten(before, after, language):
            continue
        for number, line in enumerate(theirs):
            if _is_rewritten(before, line, language):
                likeness = _likeness(before, after, line, language)
                if likeness >= LIKE_LITERAL:
                    return likeness, number
    return None


def _is_rewritten(before: bytes, after: bytes, language: str) -> bool:
    """Say whether two lines are the same but for the inside of exactly one string."""
    old, new = code_of(before, language), code_of(after, language)
    if _LITERAL.sub('""', old) != _LITERAL.sub('""', new):
        return False
    pairs = zip(_LITERAL.findall(old), _LITERAL.findall(new), strict=True)
    return [a == b for a, b in pairs].count(False) == 1


def _likeness(before: bytes, mine: bytes, theirs: bytes, language: str) -> float:
    old = words_of(before, language)
    put = [_put_in(old, words_of(line, language)) for line in (mine, theirs)]
    fewest = min(sum(counter.values()) for counter in put)
    return sum((put[0] & put[1]).values()) / fewest if fewest >= FEWEST_WORDS else 0.0


def _put_in(old: Sequence[str], new: Sequence[str]) -> Counter[str]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    codes = matcher.get_opcodes()
    return Counter(w for tag, _, _, j1, j2 in codes if tag != "equal" for w in new[j1:j2])
