"""Find the operators that compete for an operand, as `+` and `*` do for the `b` of `a + b * c`."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from patchmgr.engines.merge.conflict import Conflict, Made
from patchmgr.engines.merge.languages import CLOSERS, GO, PYTHON, C, Language, Token, tokens_of

_LEVELS = (  # by precedence, the loosest first; languages differ only in the place of `&` and `|`
    ("if", "unless", "else", "?", ":"),
    ("||", "or"),
    ("&&", "and"),
    ("not",),
    ("==", "!=", "<", ">", "<=", ">=", "in", "is", "instanceof"),
    ("|", "^"),
    ("&",),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%", "//", "**"),
    ("as",),
)
_LEVEL = {word: n for n, words in enumerate(_LEVELS) for word in words}
_GROUP = "()"
_CONDITIONS = {*_LEVELS[4], _GROUP}  # these do not compete with a logical operator
_LOGICAL = {*_LEVELS[1], *_LEVELS[2]}
_ASSOCIATIVE = {*_LOGICAL, "+", "*", "|", "^", "&"}
_PREFIXES = {"-", "+", "*", "&", "!", "~", "not", "await", "**"}
_ENDS = {*",;:", "return", "if", "elif", "while", "else", "for", "assert"}
_NO_OPERAND = {*_LEVEL, *_PREFIXES, *_ENDS}


def is_regrouped(conflict: Conflict, made: Made) -> bool:
    """Return whether more operators compete for an operand in the candidate than on the sides.

    Upstream changes `flags` to `flags == 3`, and the patch changes it to `mask & flags`; or they
    change `file.isImage()` to `file != null && file.isImage()` and `file.isImage() ||
    file.isVideo()` (nextcloud/android 62c918f59a). Nobody decided which operator is applied first.

    A missing comma and adjacent strings count, too. Both sides of a merge in torchao (7ca78ec6dc2a)
    add a call, and the merge joined the two calls into one that has the strings of both. A lost
    prefix counts as well: `-v1` and `v2 - v1` would give `v2 - v1`. So does an operator
    that gets into brackets of the other side: of `not a or not b` and `not (a or b)`, evennia
    a6ee445f93 would become `not (a or not b)`.
    """
    texts = (made.text, *map("".join, conflict.region.sides))
    merged, base, ours, theirs = (competing(text, conflict.around.language) for text in texts)
    every = ours + theirs - base
    return any(
        merged[pair] < min(every[pair], max(ours[pair], theirs[pair]))
        if pair[1] and not pair[0]
        else merged[pair] > max(every[pair], min(ours[pair], theirs[pair]))
        for pair in (*merged, *every)
    )


@lru_cache(maxsize=64)
def competing(text: str, language: Language) -> Counter[tuple[str, str]]:
    """Count the pairs of operators that compete for an operand; each pair is in text order.

    Brackets around an operand count as an operator, and so does a cast. A pair does not count if
    either operator may be applied first, as in `a + b + c`, or if one is a comparison and the other
    is `and` or `or`. An operator within brackets counts with the one before them. These also count
    as pairs: two adjacent strings; `*` and what follows its operand, as in `*p[0]`; an `else` and
    all `if`s that it could belong to. Two operands with only a line end between them count as
    `("", "")`, and a prefix operator as `("", prefix)`. In C, an operand before a `}` counts as
    `("}", "")`: a `;` or `,` may be missing.
    """
    reader = _Reader(language)
    for token, after in pairwise(t for t in tokens_of(text, language) if t.kind != "comment"):
        reader.read(token, after)
    return reader.found


class _Reader:
    """Reads tokens from left to right, and counts the operators that compete for an operand.

    `waiting` holds the operators whose right operand has not ended. For each open bracket, `outer`
    holds the operators that wait outside it, and whether it groups operands. `is_value` says
    whether an operand has just ended, and `ifs` counts the `if`s that an `else` could belong to.
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        self.found = Counter[tuple[str, str]]()
        self.waiting: list[str] = []
        self.outer: list[tuple[list[str], bool]] = []
        self.before = ""
        self.is_value = False
        self.ifs = 0

    def read(self, token: Token, after: Token) -> None:
        """Read the next token. `after` is the one that follows it."""
        word, before, self.before = token.text, self.before, token.text
        is_operand = token.kind in ("word", "string") and word not in _NO_OPERAND
        is_value, self.is_value = self._is_value(token, before, is_operand=is_operand), is_operand
        if self.language is C:
            self._nest(word, after)
            self.found[word, ""] += is_value and word == "}"
        if is_value and word in (".", "->", "[") and self.waiting[-1:] == ["* "]:
            self.found["* ", word] += 1
        if word in CLOSERS:
            self.outer.append((self.waiting, word == "(" and not is_value))
            self.waiting = []
        elif word in CLOSERS.values():
            self.waiting, is_group = self.outer.pop() if self.outer else ([], False)
            if is_group:
                self._count(self.waiting[-1:], _GROUP)
                self.waiting.append(_GROUP)
            self.is_value = word != "}"
            if word == "}":
                self.waiting.clear()
        elif word in _LEVEL and is_value and (word != ":" or "?" in self.waiting):
            self.is_value = self._between(token, after)
        elif word in _PREFIXES and not is_value:
            prefix = word if word.isalpha() else f"{word} "
            self._count(self.waiting[-1:], prefix)
            self.found["", prefix] += 1
            self.waiting.append(prefix)
        elif word == "=" and not token.lead and before in ("==", "!="):
            pass  # the end of JavaScript's `===`
        elif word in _ENDS or token.kind == "directive" or word.endswith("="):
            self.waiting.clear()
            if word == "," and self.outer:
                self.outer[-1] = self.outer[-1][0], False  # a tuple; `(a)` is none
        elif word == "." and before == ")" and self.waiting and self.waiting[-1] not in _LEVEL:
            self.found[self.waiting[-1], word] += 1  # `await f().g`
        else:
            self.is_value = is_operand or (is_value and word in _PREFIXES)

    def _nest(self, word: str, after: Token) -> None:
        """Count an `else` as one pair with all `if`s without braces that it could belong to."""
        if word == "if":
            self.ifs += 1
        elif word == "else" and self.ifs:
            self.found["if " * self.ifs, word] += 1
            self.ifs -= 1
        elif word in ("{", "}") or (word == ";" and after.text != "else"):
            self.ifs = 0

    def _is_value(self, token: Token, before: str, *, is_operand: bool) -> bool:
        """Return whether an operand of the same statement is directly before a token."""
        if not self.is_value:
            return False
        continues, is_broken = self.language.continues, "\n" in token.lead
        if token.kind == "string" and before[-1:] in "'\"`":
            if not (is_broken and self.language is GO):  # an import of Go has one on each line
                self.found[before, token.text] += 1
        elif is_operand and is_broken and not continues and before != ")":  # not a type or a macro
            self.found["", ""] += 1
        is_new = is_operand or (continues and not re.match(continues, token.text))
        is_end = self.language.layout == "signs" and is_broken and is_new
        if token.kind == "eol" or is_end:
            self.waiting.clear()
            return False
        return True

    def _between(self, token: Token, after: Token) -> bool:
        """Read a token that may be an operator; return true if it ends an operand instead."""
        word = token.text
        if word == "not" or (word == "?" and (not token.lead or after.text == ".")):
            return True  # `x not in y`, `name?: str`, `f()?`
        if word in "<>" and not token.lead and self.language is not PYTHON:
            return word == ">"  # `Vec<int>`
        if word not in "*&" or bool(token.lead) == bool(after.lead):  # `char *name` has a type
            left = [""]
            while self.waiting and _LEVEL.get(self.waiting[-1], len(_LEVELS)) >= _LEVEL[word]:
                left = [self.waiting.pop()]
            self._count([*left, *self.waiting[-1:]], word)
            self.waiting.append(word)
        return False

    def _count(self, others: list[str], word: str) -> None:
        """Count a pair for each operator before this one, if it matters which is applied first."""
        if self.outer and self.outer[-1][1] and self.outer[-1][0] and word != _GROUP:
            self.found[f"{self.outer[-1][0][-1]} (", word] += 1
        for one in others:
            pair = {one, word}
            is_same = one == word and one in _ASSOCIATIVE
            is_one = pair in ({"?", ":"}, {"if", "else"})
            is_refined = bool(pair & _LOGICAL and pair & _CONDITIONS)
            if one and not (is_same or is_one or is_refined):
                self.found[one, word] += 1
