"""C++ and CUDA as those compile and run it whom no gate lets in: dead branches are left out.

What is equal in this form for the old and the new text is inert for everyone else. A branch is
only left out where its condition is surely false with all gates off and does nothing but look.
"""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.engines.gating_cxx_tests import CxxTests
from patchmgr.engines.languages.cxx_tokens import UnclearSource
from patchmgr.engines.languages.cxx_words import Source, Word, branch_of

_JUMPS = ("return", "throw", "continue", "break")
_LABELS = frozenset({"case", "default", "goto"})


class CxxOff:
    """Simplifies one file."""

    def __init__(self, source: Source, tests: CxxTests) -> None:
        self._source = source
        self._words = source.words
        self._tests = tests

    def kept(self) -> list[Word]:
        """Return the words that are left; raise UnclearSource where statements are not clear."""
        return self._block(0, len(self._words))

    def _block(self, start: int, stop: int) -> list[Word]:
        out: list[Word] = []
        at = start
        while at < stop:
            word = self._words[at]
            if at in self._source.branches:
                out += self._chosen(at)
                at = self._source.branches[at].end + 1
            elif word.text == "if" and self.head(at) is not None:
                kept, at, is_done = self._if(at)
                out += kept
                if not kept and out and out[-1].text in (")", "else", "do"):
                    out.append(Word(";", word.line, word.line))
                if is_done and self._is_plain(at, stop):
                    break
            elif word.text == "{" and at in self._source.closing:
                end = self._source.closing[at]
                out += [word, *self._block(at + 1, end), self._words[end]]
                at = end + 1
            else:
                out.append(word)
                at += 1
        return out

    def _chosen(self, at: int) -> list[Word]:
        """Return what is left of an `#if`; parts whose conditions are surely false are gone."""
        branches = self._source.branches[at]
        out: list[Word] = []
        for number, (kind, condition, start, stop) in enumerate(branches.parts):
            truth = self.truth_of_branch(kind, condition)
            if truth is False:
                continue
            inner = self._block(start, stop)
            if truth is True and not out:
                return inner
            is_first = not out
            head = self._words[start - 1]
            text = head.text
            if is_first and number and kind == "elif":
                text = f"#if {condition}"
            out += [Word(text, head.line, head.last), *inner]
            if truth is True:
                break
        if out:
            out.append(self._words[branches.end])
        return out

    def truth_of_branch(self, kind: str, condition: str) -> bool | None:
        """Return whether a part of an `#if` is compiled with all gates off."""
        if kind == "else":
            return True
        truth = self._tests.truth(words_of(condition))
        if kind == "ifndef" and truth is not None:
            return not truth
        return truth

    def head(self, at: int) -> tuple[int, int] | None:
        """Return where the condition of an `if` begins and ends, None where it is not clear."""
        start = at + 1
        if start < len(self._words) and self._words[start].text == "constexpr":
            start += 1
        end = self._source.closing.get(start)
        return None if end is None or self._words[start].text != "(" else (start + 1, end)

    def parts(self, at: int) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """Return where the body of an `if` is, and its `else`, without that word."""
        head = self.head(at)
        if head is None:
            raise UnclearSource
        start = head[1] + 1
        stop = self.end_of_statement(start)
        if stop < len(self._words) and self._words[stop].text == "else":
            return (start, stop), (stop + 1, self.end_of_statement(stop + 1))
        return (start, stop), None

    def end_of_statement(self, at: int) -> int:
        """Return where a statement ends."""
        if at >= len(self._words):
            raise UnclearSource
        text = self._words[at].text
        if text == "{":
            return self._closing(at) + 1
        if text == "if":
            body, other = self.parts(at)
            return body[1] if other is None else other[1]
        if text in ("for", "while", "switch"):
            return self.end_of_statement(self._closing(at + 1) + 1)
        while at < len(self._words):
            text = self._words[at].text
            if branch_of(self._words[at]) is not None or text in (")", "]", "}", "do", "try"):
                raise UnclearSource
            if text == ";":
                return at + 1
            at = self._closing(at) + 1 if text in ("(", "[", "{") else at + 1
        raise UnclearSource

    def _closing(self, at: int) -> int:
        if at not in self._source.closing:
            raise UnclearSource
        return self._source.closing[at]

    def _if(self, at: int) -> tuple[list[Word], int, bool]:
        """Return what is left of an `if`, where it ends, and whether nothing behind it runs."""
        head = self.head(at)
        assert head is not None
        body, other = self.parts(at)
        end = body[1] if other is None else other[1]
        truth = self._tests.truth([word.text for word in self._words[head[0] : head[1]]])
        if truth is None:
            test = self._tests.without_dead(self._words[slice(*head)], lambda word: word.text)
            out = [*self._words[at : head[0]], *test, *self._words[head[1] : body[0]]]
            out += self._block(*body)
            if other is not None:
                rest = self._block(*other)
                out += [self._words[other[0] - 1], *rest] if rest else []
            return out, end, False
        chosen = body if truth else other
        if chosen is None:
            return [], end, False
        left = self._unwrapped(self._block(*chosen))
        return left, end, self.jumps(left)

    @staticmethod
    def _unwrapped(words: list[Word]) -> list[Word]:
        """Take the braces off a block whose end nobody notices: one statement, or it leaves."""
        if len(words) < 2 or words[0].text != "{" or words[-1].text != "}":
            return words
        inner = words[1:-1]
        ends = sum(word.text == ";" for word in inner)
        is_nested = any(word.text in ("{", "}") for word in inner)
        return inner if (ends <= 1 and not is_nested) or CxxOff.jumps(inner) else words

    @staticmethod
    def jumps(words: Sequence[Word]) -> bool:
        """Say whether the last statement of a block leaves it."""
        own = words[1:-1] if words and words[-1].text == "}" and words[0].text == "{" else words
        starts = [0, *(i + 1 for i, w in enumerate(own[:-1]) if w.text in (";", "{", "}"))]
        return bool(own) and own[-1].text == ";" and own[starts[-1]].text in _JUMPS

    def _is_plain(self, start: int, stop: int) -> bool:
        """Say whether nothing jumps into the rest of a block."""
        rest = self._words[start:stop]
        return all(w.text not in _LABELS and branch_of(w) is None for w in rest)


def words_of(text: str) -> list[str]:
    """Split a condition of the preprocessor into words."""
    from patchmgr.engines.structure.tokens import Grammar, Kind, tokens_of

    found = tokens_of(text, Grammar.C)
    return [t.text for t in found if t.text and t.kind not in (Kind.COMMENT, Kind.EOL, Kind.END)]
