"""Search lines for a regular expression in time that grows with the text, whatever it says.

All ways through a program are followed at once, so none is tried again: there is no
expression and no text that makes a search hang. What the ways are after a character is
remembered, which makes most characters one look-up.
"""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.model.regex import Fork, Hold, Jump, Mark, Place, Regex, Take

MOST_VISITS = 1_000_000
_MOST_STATES = 500
_WORD = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")

_Marks = tuple[int, int]


class TooCostly(Exception):
    """A search that needs more steps than one is given."""


class _State:
    """Where the ways are before a character: places in the program, and the character before."""

    __slots__ = ("before", "following", "places")

    def __init__(self, places: frozenset[int], before: str) -> None:
        self.places = places
        self.before = before
        self.following: dict[str, _State | None] = {}


class Searcher:
    """A regular expression that looks at lines, one after the other.

    Raises TooCostly where all searches together take more than `MOST_VISITS` steps.
    """

    def __init__(self, regex: Regex) -> None:
        self._program = regex.program
        self._left = MOST_VISITS
        self._states: dict[tuple[frozenset[int], str], _State] = {}

    def matches(self, line: str) -> bool:
        """Say whether a part of the line matches; `^` and `$` are its ends."""
        state = self._state(frozenset((0,)), "")
        for char in (*line, ""):
            try:
                after = state.following[char]
            except KeyError:
                after = self._follow(state, char)
            if after is None:
                return True
            state = after
        return False

    def _state(self, places: frozenset[int], kind: str) -> _State:
        if len(self._states) >= _MOST_STATES:
            self._states.clear()
        return self._states.setdefault((places, kind), _State(places, kind))

    def _follow(self, state: _State, char: str) -> _State | None:
        """Return the state after the character ("" is the line's end), None at a match."""
        reached = self._reach(sorted(state.places), state.before, char)
        if len(self._program) in reached:
            state.following[char] = None
            return None
        after = frozenset((0, *(place + 1 for place in reached if self._takes(place, char))))
        found = state.following[char] = self._state(after, _kind(char))
        return found

    def _takes(self, place: int, char: str) -> bool:
        step = self._program[place]
        return isinstance(step, Take) and char != "" and step.accepts(char)

    def _reach(self, places: Sequence[int], before: str, char: str) -> dict[int, None]:
        """Return every place that is reached without taking a character."""
        reached: dict[int, None] = {}
        waiting = list(reversed(places))
        while waiting:
            place = waiting.pop()
            if place not in reached:
                reached[place] = None
                waiting += [place + by for by in self._ways(place, before, char)]
        self._left -= len(reached)
        if self._left < 0:
            raise TooCostly
        return reached

    def _ways(self, place: int, before: str, char: str) -> tuple[int, ...]:
        """Return where a step leads without taking a character, the preferred way last."""
        step = self._program[place] if place < len(self._program) else None
        match step:
            case Fork():
                return (step.second, step.first)
            case Jump():
                return (step.by,)
            case Mark():
                return (1,)
            case Hold():
                return (1,) if _holds(step.place, before, char) else ()
            case _:
                return ()

    def group(self, line: str) -> str | None:
        """Return what the first group has in the line's first match, None where there is none.

        As in Python, the match that starts first counts, and of those the preferred way.
        """
        found: _Marks | None = None
        threads: dict[int, _Marks] = {}
        before = ""
        for at, char in enumerate((*line, "")):
            if found is None:
                threads.setdefault(0, (-1, -1))
            following: dict[int, _Marks] = {}
            for place, marks in self._spread(threads, at, before, char).items():
                if place == len(self._program):
                    found = marks
                    break
                if self._takes(place, char):
                    following.setdefault(place + 1, marks)
            threads, before = following, _kind(char)
        return None if found is None or min(found) < 0 else line[found[0] : found[1]]

    def _spread(
        self, threads: dict[int, _Marks], at: int, before: str, char: str
    ) -> dict[int, _Marks]:
        """Return every place that the threads reach, each by its preferred way, in order."""
        reached: dict[int, _Marks] = {}
        waiting = list(reversed(threads.items()))
        while waiting:
            place, marks = waiting.pop()
            if place in reached:
                continue
            reached[place] = marks
            step = self._program[place] if place < len(self._program) else None
            if isinstance(step, Mark) and step.slot < 2:
                marks = (at, marks[1]) if step.slot == 0 else (marks[0], at)
            waiting += [(place + by, marks) for by in self._ways(place, before, char)]
        self._left -= len(reached)
        if self._left < 0:
            raise TooCostly
        return reached


def _kind(char: str) -> str:
    """Return a character that stands for all that make the same edges of words."""
    return "w" if char in _WORD else "-"


def _holds(place: Place, before: str, char: str) -> bool:
    match place:
        case Place.START:
            return before == ""
        case Place.END:
            return char == ""
        case _:
            is_edge = (before in _WORD) != (char in _WORD)
            return is_edge is (place is Place.EDGE)
