"""Regular expressions as text: what of Python's syntax a linear machine can run, and no more.

There are no back references and no look-around. `\\d`, `\\w`, `\\s` and `\\b` know ASCII only.
"""

from __future__ import annotations

from patchmgr.model.regex import Fork, Hold, Instruction, Jump, Mark, Place, Regex, Take

LONGEST = 1000
LARGEST = 1000
DEEPEST = 50

_DIGITS = (("0", "9"),)
_WORDS = (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z"))
_SPACES = (("\t", "\r"), (" ", " "))
_CLASSES = {"d": _DIGITS, "w": _WORDS, "s": _SPACES}
_PLACES = {"b": Place.EDGE, "B": Place.NO_EDGE}
_CONTROLS = {"t": "\t", "f": "\f", "v": "\v"}

Program = tuple[Instruction, ...]


class RegexError(ValueError):
    """A regular expression that cannot be read: what is wrong, and at which index."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem


def parse_regex(text: str) -> Regex:
    """Read a regular expression; raise RegexError for what is not supported or too large."""
    if len(text) > LONGEST:
        raise RegexError(LONGEST, f"the regular expression is longer than {LONGEST} characters")
    reader = _Reader(text)
    program = reader.choice()
    if reader.at < len(text):
        raise RegexError(reader.at, "the ) closes nothing")
    return Regex(text, program, reader.groups)


class _Reader:
    """A recursive descent that writes the program as it reads."""

    def __init__(self, text: str) -> None:
        self.at = 0
        self.groups = 0
        self._text = text
        self._depth = 0

    def choice(self) -> Program:
        """Read alternatives up to the end or a closing parenthesis."""
        start = self.at
        branches = [self._branch()]
        while self._has("|"):
            branches.append(self._branch())
        program = branches.pop()
        while branches:
            first = branches.pop()
            program = (Fork(1, len(first) + 2), *first, Jump(len(program) + 1), *program)
        return self._checked(program, len(program), start)

    def _branch(self) -> Program:
        start, parts = self.at, list[Instruction]()
        while self.at < len(self._text) and self._text[self.at] not in "|)":
            parts += self._piece()
            self._checked((), len(parts), start)
        return tuple(parts)

    def _piece(self) -> Program:
        start = self.at
        atom = self._atom()
        bounds = self._bounds()
        if bounds is None:
            return atom
        low, high = bounds
        is_lazy = self._has("?")
        if self.at < len(self._text) and self._starts_repeat():
            raise RegexError(self.at, "nothing that can be repeated is before this")
        count = low + 1 if high is None else high
        self._checked((), (len(atom) + 2) * count, start)
        return _repeated(atom, low, high, is_lazy=is_lazy)

    def _bounds(self) -> tuple[int, int | None] | None:
        """Read how often the atom before is repeated, None where nothing says so."""
        for sign, bounds in {"*": (0, None), "+": (1, None), "?": (0, 1)}.items():
            if self._has(sign):
                return bounds
        if not self._starts_repeat():
            return None
        start = self.at
        self.at += 1
        low = self._number()
        high = low
        if self._has(","):
            high = self._number()
            low = low or 0
        if (low is None and high is None) or not self._has("}"):
            raise RegexError(start, r"a repeat is {n}, {n,} or {n,m}; write \{ for a brace")
        if high is not None and high < (low or 0):
            raise RegexError(start, "the repeat ends before it begins")
        return low or 0, high

    def _starts_repeat(self) -> bool:
        return self._text[self.at : self.at + 1] in ("*", "+", "?", "{")

    def _number(self) -> int | None:
        start = self.at
        while self._text[self.at : self.at + 1] in tuple("0123456789"):
            self.at += 1
        digits = self._text[start : self.at]
        if len(digits) > 4:
            raise self._too_large(start)
        return int(digits) if digits else None

    def _atom(self) -> Program:
        start, char = self.at, self._text[self.at]
        self.at += 1
        if char == "(":
            return self._group(start)
        if char == "[":
            return (self._set(start),)
        if char == ".":
            return (Take((), is_negated=True),)
        if char in "^$":
            return (Hold(Place(char)),)
        if char in "*+?{":
            raise RegexError(start, "nothing that can be repeated is before this")
        if char != "\\":
            return (Take(((char, char),)),)
        if self._text[self.at : self.at + 1] in tuple(_PLACES):
            self.at += 1
            return (Hold(_PLACES[self._text[self.at - 1]]),)
        ranges, is_negated = self._escape(start)
        return (Take(ranges, is_negated),)

    def _group(self, start: int) -> Program:
        self._depth += 1
        if self._depth > DEEPEST:
            raise RegexError(start, f"groups are nested deeper than {DEEPEST}")
        marks: tuple[Program, Program] = ((), ())
        if self._has("?"):
            if not self._has(":"):
                raise RegexError(start, "of the groups that begin with (? only (?: is supported")
        else:
            marks = (Mark(2 * self.groups),), (Mark(2 * self.groups + 1),)
            self.groups += 1
        inner = self.choice()
        if not self._has(")"):
            raise RegexError(start, "the ( is not closed")
        self._depth -= 1
        return (*marks[0], *inner, *marks[1])

    def _escape(self, start: int) -> tuple[tuple[tuple[str, str], ...], bool]:
        """Read what follows a backslash; return the ranges, and whether they are negated."""
        if self.at == len(self._text):
            raise RegexError(start, "the \\ escapes nothing")
        char = self._text[self.at]
        self.at += 1
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], char.isupper()
        char = _CONTROLS.get(char, char)
        if char.isalnum():
            why = " (there are no back references)" if char.isdecimal() else ""
            raise RegexError(start, f"\\{char} is not supported{why}")
        return ((char, char),), False

    def _set(self, start: int) -> Take:
        is_negated = self._has("^")
        ranges: list[tuple[str, str]] = []
        first = self.at
        while not (self.at > first and self._has("]")):
            low = self._member(start)
            if len(low) == 1 and self._text[self.at : self.at + 1] == "-" and not self._is_last():
                self.at += 1
                high = self._member(start)
                if len(high) != 1 or high[0][1] < low[0][0] or high[0][0] != high[0][1]:
                    raise RegexError(start, "a range in the set ends before it begins")
                low = ((low[0][0], high[0][1]),)
            ranges += low
        return Take(tuple(ranges), is_negated)

    def _is_last(self) -> bool:
        """Say whether the dash at the place is the last member of its set."""
        return self._text[self.at + 1 : self.at + 2] == "]"

    def _member(self, start: int) -> tuple[tuple[str, str], ...]:
        if self.at >= len(self._text):
            raise RegexError(start, "the [ is not closed")
        char = self._text[self.at]
        self.at += 1
        if char != "\\":
            return ((char, char),)
        ranges, is_negated = self._escape(self.at - 1)
        if is_negated:
            raise RegexError(self.at - 2, "a set cannot hold the opposite of a class")
        return ranges

    def _has(self, char: str) -> bool:
        """Go past the character if it is next."""
        is_next = self._text.startswith(char, self.at)
        self.at += is_next
        return is_next

    def _checked(self, program: Program, size: int, start: int) -> Program:
        if size > LARGEST:
            raise self._too_large(start)
        return program

    def _too_large(self, start: int) -> RegexError:
        return RegexError(start, f"the regular expression is too large (more than {LARGEST} steps)")


def _repeated(atom: Program, low: int, high: int | None, *, is_lazy: bool) -> Program:
    needed = atom * low
    if high is None:
        size = len(atom)
        return (*needed, _fork(1, size + 2, is_lazy=is_lazy), *atom, Jump(-size - 1))
    more: Program = ()
    for _ in range(high - low):
        more = (_fork(1, len(atom) + len(more) + 1, is_lazy=is_lazy), *atom, *more)
    return (*needed, *more)


def _fork(inner: int, after: int, *, is_lazy: bool) -> Fork:
    return Fork(after, inner) if is_lazy else Fork(inner, after)
