"""Find uses of a name in a form that the other side of a merge has changed everywhere."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from patchmgr.engines.structure.sides import Texts

_USE = re.compile(r"(->|\.|::)?\b([^\W\d]\w+)\s*(?=(\(|\[|->|\.(?=\w)))")
_SIGN = re.compile(r"[()\[\]{},]")
_LONGEST = 2000  # characters of a call

_Form = tuple[str, str, str]  # the name, "." before a member, and what follows


def is_of_a_changed_form(base: str, one: str, other: str, texts: Texts) -> bool:
    """Return whether one side of a region uses a name as only base does.

    Upstream of mpv gives `mp_input_queue_cmd` another argument in each call, and the patch adds a
    call with the old ones (9e990e9031db); or `ai[i]` is `ctx->ai[i]` now (e6faec5fb781). `base`,
    `one` and `other` are a region's lines, and `texts` are the file's.
    """
    old = _forms(base)
    return any(
        _forms(texts.base)[form] and not there[form] and _has_new(there, form[0], texts)
        for side, there in ((one, _forms(texts.fork)), (other, _forms(texts.upstream)))
        for form in _forms(side) - old
    )


def _has_new(there: Counter[_Form], name: str, texts: Texts) -> bool:
    before = _forms(texts.base)
    return any(form[0] == name and n > before[form] for form, n in there.items())


@lru_cache(maxsize=64)
def _forms(text: str) -> Counter[_Form]:
    """Count the forms in which a text uses each name."""
    found = Counter[_Form]()
    for use in _USE.finditer(text):
        after = _arguments(text, use.end(3)) if use[3] == "(" else use[3]
        found[use[2], "." if use[1] else "", after] += 1
    return found


def _arguments(text: str, at: int) -> str:
    """Return the number of arguments of the call whose bracket opens just before `at`."""
    depth = commas = 0
    for found in _SIGN.finditer(text, at, at + _LONGEST):
        if found[0] in "([{":
            depth += 1
        elif found[0] == ",":
            commas += depth == 0
        elif depth:
            depth -= 1
        else:
            return str(commas + bool(text[at : found.start()].strip()))
    return "?"
