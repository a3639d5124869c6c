"""Find the guards in some lines: a condition with nothing but a way out behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.languages.words import KEYWORDS, code_of, indentation, words_of

LONGEST_CONDITION = 12  # lines

_IF = re.compile(r"(?:\}\s*)?(?:else\s+)?(?:el)?if\b\s*(?:constexpr\b\s*)?")
_EXIT = re.compile(r"(?:continue|break|return|raise|throw|goto)\b")
_CALL = re.compile(r"(?:raise|throw)\s+[\w.:]+")
_CONSTANT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\b\d[\w.]*\b|\b[A-Z][A-Z0-9_]+\b")
_OPEN, _CLOSE = "([{", ")]}"


class Guard(Struct, frozen=True):
    """A guard: its line in the lines that were searched, its way out, what it asks for.

    `constants` are the strings, numbers and names in capital letters of the condition.
    """

    line: int
    end: int
    indentation: int
    way_out: str
    names: frozenset[str]
    constants: frozenset[str]

    def excludes(self, other: Guard) -> bool:
        """Say whether the two guards ask for different constants, as the cases of a choice do."""
        both = self.constants and other.constants
        return bool(both) and self.constants.isdisjoint(other.constants)


def find_guards(lines: Sequence[bytes], language: str) -> Iterator[Guard]:
    """Yield the guards that stand in the lines from `if` to the way out."""
    codes = [code_of(line, language) for line in lines]
    for number, code in enumerate(codes):
        start = _IF.match(code)
        if start is not None:
            guard = _guard(codes, number, start.end())
            if guard is not None:
                end, condition, way_out = guard
                names = frozenset(words_of(condition.encode("utf-8", "surrogateescape"), language))
                yield Guard(
                    number,
                    end,
                    indentation(lines[number]),
                    way_out,
                    frozenset(n for n in names if n[:1].isalpha() or n[:1] == "_") - KEYWORDS,
                    frozenset(_CONSTANT.findall(condition)),
                )


def _guard(codes: Sequence[str], number: int, start: int) -> tuple[int, str, str] | None:
    """Return the last line, the condition and the way out of a guard, None where it is none."""
    rest = codes[number][start:]
    end = _condition_end(rest)
    last = number
    while end is None and last + 1 < min(len(codes), number + LONGEST_CONDITION):
        last += 1
        rest = f"{rest} {codes[last]}"
        end = _condition_end(rest)
    if end is None:
        return None
    condition, body = rest[:end], rest[end:].lstrip(": {")
    while not body and last + 1 < len(codes):
        last += 1
        body = codes[last].lstrip("{ ")
    if not _EXIT.match(body):
        return None
    call = _CALL.match(body)
    return last + 1, condition, call[0] if call is not None else body.rstrip("; }")


def _condition_end(text: str) -> int | None:
    """Return where a condition ends: at its closing bracket, or at a colon outside of brackets."""
    depth = 0
    quote = ""
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth -= 1
            if not depth and text[0] == "(" and _ends_at(text, at):
                return at + 1
        elif sign == ":" and not depth:
            return at
    return None


def _ends_at(text: str, at: int) -> bool:
    """Say whether the bracket closes a condition that is in brackets as a whole."""
    rest = text[at + 1 :].lstrip()
    return not rest or rest[0] in "{;" or bool(_EXIT.match(rest))
