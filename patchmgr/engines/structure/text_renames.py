"""Find names and expressions that one side did away with while the other put them to new use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.structure.tokens import Kind, Token, contents, tokens_of
from patchmgr.engines.structure.tokens_align import edits_between

_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_LONGEST = 6  # tokens of an expression that was replaced by another
_OFTEN = 3  # times that make a replacement a system


def has_stale_use(texts: Texts) -> bool:
    """Say whether one side adds uses of what the other wiped out or replaced all over the file."""
    base, upstream, fork = (tokens_of(text) for text in (texts.base, texts.upstream, texts.fork))
    return any(
        _revives(base, mine, other) or _misses(base, mine, other)
        for mine, other in ((upstream, fork), (fork, upstream))
    )


def _revives(base: Sequence[Token], remover: Sequence[Token], other: Sequence[Token]) -> bool:
    """Say whether a word that is gone from one side is used more often by the other."""
    old, now, more = (Counter(names_in(tokens)) for tokens in (base, remover, other))
    return any(not now[word] and more[word] > count for word, count in old.items())


def names_in(tokens: Sequence[Token]) -> list[str]:
    """Return the names among some tokens, and the variables of a shell within strings."""
    names: list[str] = []
    for token in tokens:
        if token.kind is Kind.WORD and not token.text[0].isdigit():
            names.append(token.text)
        elif token.kind is Kind.STRING:
            names += _VARIABLE.findall(token.text)
    return names


def _misses(base: Sequence[Token], replacer: Sequence[Token], other: Sequence[Token]) -> bool:
    """Say whether the other side adds to the uses of an expression replaced at several places."""
    old, new, more = contents(base), contents(replacer), contents(other)
    replaced = Counter(
        (old[edit.start : edit.end], new[edit.first : edit.last])
        for edit in edits_between(old, new)
        if 0 < edit.end - edit.start <= _LONGEST and 0 < edit.last - edit.first <= _LONGEST
    )
    for (before, after), times in replaced.items():
        is_name = any(text[0].isalpha() or text[0] == "_" for text in before)
        if times < _OFTEN or not is_name or set(before) <= set(after):
            continue
        in_base = _times(old, before)
        if times * 2 >= in_base and _times(more, before) > in_base:
            return True
    return False


def _times(tokens: Sequence[str], part: Sequence[str]) -> int:
    size = len(part)
    return sum(
        tokens[at] == part[0] and tokens[at : at + size] == part for at in range(len(tokens))
    )
