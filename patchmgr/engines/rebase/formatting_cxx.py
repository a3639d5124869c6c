"""Check by counting that a merged C++ text neither lost nor doubled anything of its sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from patchmgr.engines.languages.cxx_symbols import cxx_symbols
from patchmgr.engines.merge.languages import Token, cxx_tokens
from patchmgr.engines.structure.sides import Texts

_OPENERS = {"(": ")", "[": "]", "{": "}"}
_DECLARATIVE = ("include", "define", "pragma", "import")


def is_sound(merged: str, texts: Texts) -> bool:
    """Return whether a merged C++ text neither lost nor doubled anything of its sides.

    Brackets and `#if`s must close as they do in the sides. Each token, include, macro and
    definition must occur as often as the edits of both sides imply. None may occur twice if it
    occurs once in each side.
    """
    sides = (texts.base, texts.upstream, texts.fork)
    split = [tuple(cxx_tokens(text)) for text in sides]
    now = tuple(cxx_tokens(merged))
    for is_closed in (brackets_close, directives_close):
        if all(is_closed(tokens) for tokens in split[1:]) and not is_closed(now):
            return False
    if not is_possible(_counted(now), [_counted(tokens) for tokens in split]):
        return False
    counters: tuple[Callable[[str, Sequence[Token]], Counter[str] | None], ...] = (
        _directives,
        _definitions,
    )
    for count in counters:
        counts = [count(text, tokens) for text, tokens in zip(sides, split, strict=True)]
        known = [found for found in counts if found is not None]
        if len(known) == len(sides):
            found = count(merged, now)
            if found is None or not _is_exact(found, known):
                return False
    return True


def _counted(tokens: Sequence[Token]) -> Counter[str]:
    return Counter(token.text for token in tokens)


def is_possible(now: Counter[str], sides: Sequence[Counter[str]]) -> bool:
    """Return whether each token occurs as often in a merge (`now`) as both sides' edits allow.

    If one side left a count of the base unchanged, the merge must have the other side's count. If
    both sides changed a count, their edits may be the same or may add up.
    """
    base, upstream, fork = sides
    for thing in now | base | upstream | fork:
        old, mine, other = base[thing], upstream[thing], fork[thing]
        both = mine + other - old
        if old in (mine, other):
            if now[thing] != both:
                return False
        elif not min(mine, other, both) <= now[thing] <= max(mine, other, both):
            return False
    return True


def brackets_close(tokens: Sequence[Token]) -> bool:
    """Return whether every bracket is closed. No two branches of an `#if` may share a bracket."""
    due: list[str] = []
    for token in tokens:
        if token.kind != "sign":
            continue
        if token.text in _OPENERS:
            due.append(_OPENERS[token.text])
        elif token.text in ")]}" and (not due or due.pop() != token.text):
            return False
    return not due


def directives_close(tokens: Sequence[Token]) -> bool:
    """Return whether every `#if` has an `#endif`, with its `#else` and `#elif` between the two."""
    depth = 0
    for word in _directive_words(tokens):
        if word.startswith("el") and not depth:
            return False
        depth += word.startswith("if") - (word == "endif")
        if depth < 0:
            return False
    return not depth


def _directive_words(tokens: Sequence[Token]) -> list[str]:
    texts = (token.text[1:].split() for token in tokens if token.kind == "directive")
    return [words[0] for words in texts if words]


def _is_exact(now: Counter[str], sides: Sequence[Counter[str]]) -> bool:
    base, upstream, fork = sides
    for text in now | upstream | fork:
        mine, other = upstream[text], fork[text]
        wanted = {mine} if mine == other else {mine + other - base[text], max(mine, other)}
        if now[text] not in wanted:
            return False
    return True


def _directives(_: str, tokens: Sequence[Token]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for n, token in enumerate(tokens):
        words = token.text.lstrip("#").split()
        if token.kind == "directive" and words and words[0] in _DECLARATIVE:
            counts[" ".join(words)] += 1
        elif token.kind == "word" and token.text[0] == "#" and n + 1 < len(tokens):
            counts["define " + tokens[n + 1].text] += 1
    return counts


def _definitions(text: str, _: Sequence[Token]) -> Counter[str] | None:
    """Count the ranges of lines in one symbol, or return None if symbols are not clear.

    A symbol with others inside is split by each of them, and not counted.
    """
    names = cxx_symbols(text.encode("utf-8", "surrogateescape"))
    if not any(names) and "{" in text:
        return None
    known = {name for name in names if name is not None}
    outer = {name.rpartition("::")[0] for name in known}
    return Counter(name for name, _ in groupby(names) if name is not None and name not in outer)
