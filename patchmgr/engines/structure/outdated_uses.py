"""Find uses of names in a merge in a form that one side replaced everywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from keyword import kwlist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchmgr.engines.structure.guards_lines import Growths
    from patchmgr.engines.structure.sides import Texts

_STRING = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
_COMMENT = re.compile(rf"({_STRING})|(?://|/\*|#(?!(?:define|elif|if|ifn?def|include|undef)\b)).*")
_TOKEN = re.compile(rf"{_STRING}|->|::|\?\.|\w+|\S")
_NAME = re.compile(r"[^\W\d]\w+")
_NO_NAMES = frozenset(
    {*kwlist, "NULL", "case", "catch", "delete", "false", "new", "null", "nullptr"}
    | {"self", "sizeof", "switch", "this", "throw", "true"}
)
_MEMBER = frozenset({".", "->", "::", "?."})
_ARGUMENT = re.compile(
    r"#[^\n]*|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|(?:None|True|False|nullptr)\b"
    r"|\w+[ \t]*=(?!=)|\w+|\*+|[^\s\w]"
)
_PLAIN = frozenset({"None", "True", "False", "nullptr"})
_FEWEST = 3  # uses in base that are evidence if all of them changed
_FEWEST_PAIRS = 4  # the same for a name beside another sign, such as a comma
_LONGEST = 2000  # most tokens read of a call: an unbalanced bracket in a comment can hide its end

_Use = tuple[str, str, str]
"""What is before a name, the name, and what is after it, or the kinds of its call's arguments."""


def outdated_uses(texts: Texts, merged: str, counted: Growths) -> Iterator[tuple[str, str, str]]:
    """Yield (line, name, side) for each line with a use of the name that the side replaced.

    The side has no such use left, and the other side added or changed the line. A use is the name
    itself, or the name with what is before it, with what is after it, or with its arguments: after
    upstream changes every `f(a)` to `f(a, b)`, a new `f(a)` is found.
    """
    # Of 2,056 files in 17 projects that git merged, people corrected 27: 4 of them have such a use,
    # and 9 of the others (in some of these, people missed it). Of 84 wrong structural merges, 13
    # have one, and 9 of 1,282 right ones.
    for who, side, gone in (
        ("upstream", texts.upstream, counted.upstream),
        ("the patch", texts.fork, counted.fork),
    ):
        lost = Counter(use for x, n in gone.items() if n < 0 for use in [*_uses(x)] * -n)
        likely = {use for use, n in lost.items() if n >= _fewest(use)}
        new = (x for x, n in sorted(counted.merged.items()) if n > max(0, gone.get(x, 0)))
        again = [(use, line) for line in new for use in _uses(line) if use in likely]
        kept = {use for use in {use for use, _ in again} if _is_kept(use, texts.base, side)}
        found: dict[str, str] = {}
        for use, line in again:
            if use not in kept:
                found.setdefault(use[1], line)
        yield from ((line.strip(), name, who) for name, line in sorted(found.items()))


def _fewest(use: _Use) -> int:
    before, _, after = use
    if _is_call(use):
        return 1  # the same arguments are no accident
    is_form = (not before or before in _MEMBER) and after in ("", "(")
    return _FEWEST if is_form else _FEWEST_PAIRS


def _is_call(use: _Use) -> bool:
    return use[2].startswith("(") and use[2] != "("


def _is_kept(use: _Use, base: str, side: str) -> bool:
    """Return whether a side still has a use.

    A call also counts as kept if the side makes no other call of the name instead.
    """
    before, name, after = use
    if not _is_call(use):
        lines = (line for line in _lines_with(name, side) if before in line and after in line)
        return any(use in _forms(line) for line in lines)
    was, now = (Counter(_calls(text, name)) for text in (base, side))
    return use in now or (use in was and now <= was)


def _lines_with(name: str, text: str) -> Iterator[str]:
    """Yield the lines of a text that contain a name."""
    at = text.find(name)
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[text.rfind("\n", 0, at) + 1 : end]
        at = text.find(name, end)


def _uses(line: str) -> Iterator[_Use]:
    """Yield the uses of each name in a line without its comments."""
    text = _COMMENT.sub(r"\1", line)
    yield from _forms(text)
    yield from _calls(text)


def _forms(text: str) -> Iterator[_Use]:
    """Yield each name of a line: alone, with the token before it, and with the token after it."""
    tokens = ["", *_TOKEN.findall(text), ""]
    for before, name, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if _NAME.fullmatch(name) and name not in _NO_NAMES:
            yield "", name, ""
            if before and not _NAME.fullmatch(before):
                yield before, name, ""
            if after and not _NAME.fullmatch(after):
                yield "", name, after


def _calls(text: str, name: str = "") -> Iterator[_Use]:
    """Yield the calls of a name in a text, or all calls, with the kinds of their arguments."""
    # The search for a name is fast because its pattern begins with the name itself.
    plain = re.escape(name)
    pattern = rf"({plain})(?<!\w{plain})[ \t]*\(" if name else r"(?<!\w)([^\W\d]\w*)[ \t]*\("
    for match in re.finditer(pattern, text):
        kinds = None if match[1] in _NO_NAMES else _kinds(text, match.end())
        if kinds is not None:
            before = text[max(0, match.start() - 2) : match.start()]
            yield next((sign for sign in _MEMBER if before.endswith(sign)), ""), match[1], kinds


def _kinds(text: str, start: int) -> str | None:
    """Return the kinds of a call's arguments, or None if the end of the call is not found."""
    kinds: list[str] = []
    depth, is_first = 0, True
    for match in islice(_ARGUMENT.finditer(text, start), _LONGEST):
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
