"""Merge comments, blank lines and docstrings by lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.python_sequence import EQUAL, How, merge_sequences, refuse_deletion
from patchmgr.engines.structure.python_tokens import are_alike, is_part_of, likeness
from patchmgr.engines.structure.python_tree import Unsure

SIMILAR = 0.6
_WORDS = re.compile(r"\w+")
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def merge_lead(base: str, upstream: str, fork: str) -> str:
    """Merge the comments and blank lines before a statement."""
    if base == upstream or upstream == fork:
        return fork
    if base == fork:
        return upstream
    said = [_words(text) for text in (base, upstream, fork)]
    if said[0] == said[2] or said[1] == said[2]:
        return upstream
    if said[0] == said[1]:
        return fork
    return merge_lines(base, upstream, fork)


def merge_lines(base: str, upstream: str, fork: str) -> str:
    """Merge by lines; refuse where both change one line."""
    texts = lines_of(base), lines_of(upstream), lines_of(fork)
    if is_part_of(texts[0], texts[2], texts[1]):
        return upstream
    if is_part_of(texts[0], texts[1], texts[2]):
        return fork
    how = How(_likeness, _is_same, _merge_line, _join, _overlap, refuse_deletion)
    return "".join(merge_sequences(*texts, how))


def _words(text: str) -> list[str]:
    return [line.strip() for line in lines_of(text) if line.strip()]


def _likeness(one: str, other: str) -> float:
    if one.strip() == other.strip():
        return EQUAL if one.strip() else EQUAL / 4
    like = likeness(_WORDS.findall(one), _WORDS.findall(other))
    return 1.0 + like if like >= SIMILAR else 0.0


def _is_same(one: str, other: str) -> bool:
    return one.strip() == other.strip()


def _merge_line(base: str, upstream: str, fork: str) -> str:
    if _is_same(base, upstream) or _is_same(upstream, fork):
        return fork
    if _is_same(base, fork):
        return upstream
    words = [_WORD.findall(line) for line in (base, upstream, fork)]
    how = How(_word_likeness, _equal, _one_of, _refuse, _refuse_three, refuse_deletion)
    return "".join(merge_sequences(words[0], words[1], words[2], how))


def _word_likeness(one: str, other: str) -> float:
    return EQUAL if one == other else 0.0


def _equal(one: str, other: str) -> bool:
    return one == other


def _one_of(base: str, upstream: str, fork: str) -> str:
    return fork if base == upstream else upstream


def _join(upstream: Sequence[str], fork: Sequence[str]) -> Sequence[str]:
    """Put lines of both after each other where they do not say the same."""
    said = [[word for line in lines for word in line.split()] for lines in (upstream, fork)]
    heads = [(words or [""])[0] for words in said]
    if likeness(said[0], said[1]) > SIMILAR or are_alike(heads[0], heads[1]):
        raise Unsure
    return [*fork, *upstream]


def _refuse(upstream: Sequence[str], fork: Sequence[str]) -> Sequence[str]:
    raise Unsure


def _refuse_three(
    base: Sequence[str], upstream: Sequence[str], fork: Sequence[str]
) -> Sequence[str]:
    raise Unsure


def _overlap(base: Sequence[str], upstream: Sequence[str], fork: Sequence[str]) -> Sequence[str]:
    if is_part_of(base, fork, upstream):
        return upstream
    if is_part_of(base, upstream, fork):
        return fork
    raise Unsure
