"""Uses of a name as they were before the other side changed every use of it, in any language.

Who writes a use once more has not seen that it is written in another way by now: a call has one
argument more, an attribute is called. None of 662 merges that people took as they were has such a
use, five of 107 that they corrected do; it was built for nm-vllm f19ddfb1 (`ops.gptq_shuffle`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from patchmgr.engines.structure.guards_lines import LONGEST_SHOWN, Growths
from patchmgr.engines.structure.sides import Texts

_NAME = r"[^\W\d]\w*(?:\.\w+)*"
_ARGUMENT = re.compile(
    r"#[^\n]*|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|(?:None|True|False|nullptr)\b"
    r"|\w+[ \t]*=(?!=)|\w+|\*+|[^\s\w]"
)
_PLAIN = frozenset({"None", "True", "False", "nullptr"})
_FEWEST = 2  # uses other than calls that a side changed

Use = tuple[str, str]
"""A name with its dots, and what is behind it: `.`, `[`, or the kinds of a call's arguments."""


def outdated_uses(texts: Texts, merged: str, counted: Growths) -> tuple[str, ...]:
    """Return what is to be said of new uses like those that the other side changed everywhere."""
    told: list[str] = []
    for who, other, gone, new in (
        ("upstream", texts.upstream, counted.upstream, counted.fork),
        ("the patch", texts.fork, counted.fork, counted.upstream),
    ):
        lost = {use for line, count in gone.items() if count < 0 for use in _uses(line)}
        fresh = [(use, line) for line, count in new.items() if count > 0 for use in _uses(line)]
        found = {
            use[0]: line
            for use, line in reversed(fresh)
            if use in lost and _is_outdated(use, texts.base, other, merged)
        }
        for name, line in sorted(found.items()):
            shown = line.strip()[:LONGEST_SHOWN]
            told.append(f"`{shown}` uses `{name}` as it was before {who} changed each use of it.")
    return tuple(told)


def _is_outdated(use: Use, base: str, other: str, merged: str) -> bool:
    """Say whether a side has a name still, but no such use of it, and the merge has one."""
    name, how = use
    if name not in other or (how in (".", "[") and f"{name}{how}" in other):
        return False
    was, now, here = (Counter(_uses(text, re.escape(name))) for text in (base, other, merged))
    has_other_uses = any(now[each] > was[each] for each in now)
    fewest = _FEWEST if how in (".", "[") else 1
    return was[use] >= fewest and not now[use] and here[use] > 0 and has_other_uses


def _uses(text: str, name: str = _NAME) -> Iterator[Use]:
    """Yield the uses of all names, or of those that a pattern matches."""
    for match in re.finditer(rf"(?<![\w.])({name})(?!\w)[ \t]*([.(\[]?)", text):
        parts = match[1].split(".")
        if name == _NAME:
            yield from ((".".join(parts[:end]), ".") for end in range(1, len(parts)))
        if match[2] == "(":
            kinds = _kinds(text, match.end())
            if kinds is not None:
                yield match[1], kinds
        elif match[2]:
            yield match[1], match[2]


def _kinds(text: str, start: int) -> str | None:
    """Return the kinds of a call's arguments, None where the call has no end."""
    kinds: list[str] = []
    depth, is_first = 0, True
    for match in _ARGUMENT.finditer(text, start):
        token = match[0]
        if token[0] == "#":
            continue
        if depth == 0 and token == ")":
            return f"({', '.join(sorted(kinds))})"
        if is_first and token != ",":
            is_kind = token in _PLAIN or token[-1] == "=" or token[0] == "*"
            kinds.append(token.replace(" ", "") if is_kind else "_")
        is_first = depth == 0 and token == ","
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
    return None
