"""Whether a merge that is clean as text can be suspicious at all: a cheap look at its words."""

from __future__ import annotations

import re
from collections import Counter

from patchmgr.engines.structure.sides import Texts

_WORD = re.compile(r"[^\W\d]\w*")
_DEFINED = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)(.*?:)[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE | re.DOTALL,
)
_CALL = re.compile(r"\b(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)")


def is_worth_a_look(texts: Texts, merged: str) -> bool:
    """Say whether a check of names, definitions and statements could find anything.

    It could where the merge has a word that one side wiped out, where both sides bring in the
    same word, where a name is left alone that both sides use, where one side changes the head of
    a definition that the other one names in new lines, or where a line is back that one removed.
    """
    sides = (texts.base, texts.upstream, texts.fork, merged)
    base, upstream, fork, both = (Counter(_WORD.findall(side)) for side in sides)
    for word, count in both.items():
        if base[word]:
            if not upstream[word] or not fork[word]:
                return True
            if count == 1 and upstream[word] > 1 and fork[word] > 1:
                return True
        elif upstream[word] and fork[word]:
            return True
    return _is_called_otherwise(texts) or _is_line_back(texts, merged)


def _is_called_otherwise(texts: Texts) -> bool:
    sides = (texts.base, texts.upstream, texts.fork)
    heads, calls = ([set(found.findall(side)) for side in sides] for found in (_DEFINED, _CALL))
    changed = [{name for name, _ in heads[0] ^ side} for side in heads[1:]]
    called = [{name for name, _ in side - calls[0]} for side in calls[1:]]
    return bool(changed[0] & called[1] or changed[1] & called[0])


def _is_line_back(texts: Texts, merged: str) -> bool:
    base, upstream, fork, both = (
        Counter(line.strip() for line in side.split("\n"))
        for side in (texts.base, texts.upstream, texts.fork, merged)
    )
    return any(
        count > max(upstream[line] + fork[line] - base[line], min(upstream[line], fork[line]))
        for line, count in both.items()
        if line and min(upstream[line], fork[line]) < base[line]
    )
