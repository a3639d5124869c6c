"""Find names, and forms in which they are used, that come back after a side replaced them all."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from patchmgr.engines.merge.languages import Language, code_lines, lex

_LEAST = 2  # uses in base; one may be gone by chance
_LEAST_PAIRS = 4  # the same for a name beside a sign that says little, such as a comma
_NAME = re.compile(r"[^\W\d]\w+")
_NO_NAME = frozenset({*keyword.kwlist, "NULL", "false", "null", "nullptr", "self", "this", "true"})
_MEMBER = frozenset({".", "->", "::", "?."})
_CALL = frozenset({"(", "["})
_Use = tuple[str, str, str]  # the sign before a name, the name, the sign after it; one sign is ""


def brings_back(text: str, sides: Sequence[str], language: Language) -> bool:
    """Return whether a merge has a use of a name that one side replaced everywhere in its file.

    `sides` are the file in base, ours and theirs. The other side added the use, or changed it.
    """
    # Upstream of rsyslog makes `cs.szBinary` of `szBinary` in all uses, and the patch adds one
    # more (24bfc0c848d4). Of 1,800 merged files of 17 projects, 84 were plainly wrong: 15 of them
    # are found, and 10 that a person had left as they were.
    merged, base, *both = (Counter(code_lines((one,), language)) for one in (text, *sides))
    for side in both:
        old = Counter(_uses((base - side).elements(), language))
        new = {use for use in _uses(merged - side, language) if old[use] >= _least(use)}
        names = {name for _, name, _ in new}
        rest = (line for line in side if not names.isdisjoint(_NAME.findall(line)))
        if names and new.difference(_uses(rest, language)):
            return True
    return False


def _least(use: _Use) -> int:
    before, _, after = use
    is_form = (not before or before in _MEMBER) and (not after or after in _CALL)
    return _LEAST if is_form else _LEAST_PAIRS


def _uses(lines: Iterable[str], language: Language) -> Iterator[_Use]:
    """Yield each name in some lines of code by itself, with what is before it, and after it."""
    for line in lines:
        words = ["", *(t.text for t in lex(line, language) if t.kind in ("word", "sign")), ""]
        for before, name, after in zip(words, words[1:], words[2:], strict=False):
            if _NAME.fullmatch(name) and name not in _NO_NAME:
                yield "", name, ""
                if before and not before[-1].isalnum():
                    yield before, name, ""
                if after and not after[0].isalnum():
                    yield "", name, after
