"""Find the gates that guard each line of C++ and CUDA, and the code that runs with all gates off.

If the brackets of a file do not match, no code is removed and no gate is reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from msgspec import Struct

from patchmgr.engines.hardware_gates.conditions import GateFinder, Guards
from patchmgr.engines.hardware_gates.sites import PinAndHead, Side, Statement
from patchmgr.engines.languages.cxx_structure import cxx_symbols
from patchmgr.engines.languages.cxx_tokens import UnclearSource, match_brackets
from patchmgr.engines.merge.languages import cxx_tokens
from patchmgr.engines.structure.python_tree import parse_expression
from patchmgr.model.footprint import Gate

_SPACE = re.compile(r"(?:\s|\\\r?\n)+")
_BRANCH = re.compile(r"#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*)", re.DOTALL)


class Word(Struct, frozen=True):
    """A token, directive or macro of C++, with the numbers (from 1) of its first and last line."""

    text: str
    line: int
    last: int


class Branches(Struct, frozen=True):
    """The branches of an `#if`: the directive, condition and range of words of each branch."""

    parts: tuple[tuple[str, str, int, int], ...]
    end: int


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of C++ code, or of the condition of a directive, without comments."""
    found: list[Word] = []
    line = 1
    macro: list[str] = []
    start = 0
    for token in cxx_tokens(text):
        line += token.lead.count("\n")
        first, line = line, line + token.text.count("\n")
        if token.kind in ("eol", "end") and macro:
            found.append(Word(" ".join(macro), start, first))
            macro = []
        if token.kind == "comment" or not token.text:
            continue
        if macro:
            macro.append(token.text)
        elif token.text.startswith("#") and _SPACE.sub("", token.text) == "#define":
            macro, start = ["#define"], first
        else:
            shown = token.text
            if token.kind == "directive":
                shown = _SPACE.sub(" ", shown).strip()
            found.append(Word(shown, first, line))
    return tuple(found)


def branch_of(word: Word) -> tuple[str, str] | None:
    """Return the directive and condition of an `#if`, `#else` or the like; None for other words."""
    found = _BRANCH.match(word.text) if word.text.startswith("#") else None
    return None if found is None else (found[1], found[2].strip())


def _shape(word: Word) -> str:
    """Return a word as bracket matching needs it: without the condition of an `#if` or `#elif`."""
    kind, _ = branch_of(word) or (None, "")
    if kind is None:
        return word.text
    return "#if" if kind.startswith("if") else "#endif" if kind == "endif" else "#else"


def _branches(words: Sequence[Word]) -> dict[int, Branches]:
    found: dict[int, Branches] = {}
    open_: list[tuple[int, list[tuple[str, str, int, int]]]] = []
    for index, word in enumerate(words):
        branch = branch_of(word)
        if branch is None:
            continue
        if branch[0].startswith("if"):
            open_.append((index, []))
        else:
            parts = open_[-1][1]
            parts[-1] = (*parts[-1][:3], index)
        if branch[0] == "endif":
            start, parts = open_.pop()
            found[start] = Branches(tuple(parts), index)
        else:
            open_[-1][1].append((*branch, index + 1, index + 1))
    return found


_LONGEST = 60_000  # most words; a longer file is generated
_JOINTS = frozenset({"{", "}", "else"})
_JUMPS = ("return", "throw", "continue", "break")
_LABELS = frozenset({"case", "default", "goto"})
_ALIKE = {"and": "&&", "or": "||", "not": "!", "not_eq": "!="}
_PYTHON = {
    "->": ".",
    "::": ".",
    "nullptr": "None",
    "NULL": "None",
    "true": "True",
    "false": "False",
}
_SIGNS: tuple[tuple[str, ast.boolop], ...] = (("||", ast.Or()), ("&&", ast.And()))
_SUFFIX = re.compile(r"(\d)[uUlL]+$")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def cxx_sides(texts: PinAndHead, conditions: GateFinder) -> tuple[Side, Side]:
    """Return the old and the new version of a C++ file, as statements with their gates."""
    return _side(texts.old, conditions), _side(texts.new, conditions)


def _side(content: bytes, conditions: GateFinder) -> Side:
    lines = content.decode("utf-8", "replace").split("\n")
    symbols = cxx_symbols(content)

    def unit(line: int) -> str | None:
        return symbols[line - 1] if line <= len(symbols) else None

    def names(own: Sequence[int]) -> frozenset[str] | None:
        """Return the text of global declarations, or None if the lines contain anything else."""
        text = "".join(lines[line - 1].strip() for line in own)
        is_complete = text.endswith((";", '"', ">", "}"))
        is_declared = is_complete and all(unit(line) is None for line in own)
        return frozenset({text} if text else ()) if is_declared or not own else None

    known = frozenset(symbols) | {None}
    try:
        words = words_of(content.decode("utf-8", "replace"))
        reader = GateRemover(words, conditions)
        kept = reader.block(0, len(words), ())
    except (UnclearSource, RecursionError):
        return Side(lines, unit, names, symbols=known, is_read=False)
    return Side(
        lines,
        unit,
        names,
        said=_rows(words),
        kept={None: _statements(kept)},
        rows=_rows([word for word in kept if word.text not in _JOINTS]),
        gates={line: tuple(gates) for line, gates in reader.gates.items()},
        ends=reader.ends,
        symbols=known,
    )


def _rows(words: Sequence[Word]) -> list[Statement]:
    """Return one statement for each line, with the words that begin on it."""
    texts: dict[int, list[str]] = {}
    for word in words:
        texts.setdefault(word.line, []).append(word.text)
        for line in range(word.line + 1, word.last + 1):
            texts.setdefault(line, [])
    return [Statement(" ".join(own), line, line, line) for line, own in texts.items()]


def _statements(words: Sequence[Word]) -> list[Statement]:
    """Split words after each statement, brace and directive."""
    found: list[list[Word]] = [[]]
    for word in words:
        if word.text.startswith("#") and found[-1]:
            found.append([])
        found[-1].append(word)
        if word.text in (";", "{", "}") or word.text.startswith("#"):
            found.append([])
    texts = ((own, " ".join(word.text for word in own)) for own in found if own)
    return [Statement(text, own[0].line, own[-1].last, own[-1].last) for own, text in texts]


class GateRemover:
    """Removes the C++ code that runs only with a gate on, and records the gates of each line.

    A branch is removed only if it definitely does not run and its condition has no side effect.
    """

    def __init__(self, words: Sequence[Word], conditions: GateFinder) -> None:
        """Raises UnclearSource if there are too many words, or brackets or `#if`s do not match."""
        if len(words) > _LONGEST:
            raise UnclearSource
        self._words, self._closing = words, match_brackets(map(_shape, words))
        self._branches = _branches(words)
        self._conditions = conditions
        self.gates: dict[int, dict[Gate, None]] = {}
        self.ends: dict[int, int] = {}
        self._front: dict[Guards, list[Gate]] = {}

    def block(self, start: int, stop: int, guards: Guards) -> list[Word]:
        """Return the words of a block that run with all gates off, or raise UnclearSource."""
        out: list[Word] = []
        at, is_done = start, False
        while at < stop:
            word, leaves = self._words[at], False
            if at in self._branches:
                left, at = self._directives(at, guards), self._branches[at].end + 1
            elif word.text == "if" and self._head(at) is not None:
                left, at, guards, leaves = self._if(at, stop, guards)
                if not left and out and out[-1].text in (")", "else", "do"):
                    left = [Word(";", word.line, word.line)]
            elif word.text == "{" and at in self._closing:
                end = self._closing[at]
                left = [word, *self.block(at + 1, end, guards), self._words[end]]
                self._note(at, guards)
                self._note(end, guards)
                at = end + 1
            else:
                self._note(at, guards)
                left, at = [word], at + 1
            out += () if is_done else left
            is_done = is_done or (leaves and self._is_plain(at, stop))
        return out

    def _note(self, at: int, guards: Guards, last: int = 0, test: ast.expr | None = None) -> None:
        """Record the gates that guard the lines of some words, and those that `test` tests."""
        if guards not in self._front:
            self._front[guards] = self._conditions.in_front(guards)
        gates = [*self._front[guards], *(() if test is None else self._conditions.gates(test))]
        if gates:
            for line in range(self._words[at].line, self._words[max(at, last)].last + 1):
                self.gates.setdefault(line, {}).update(dict.fromkeys(gates))

    def _decides(self, at: int, end: int) -> None:
        """Record that the line of the word `at` controls whether the lines up to `end` run."""
        line, last = self._words[at].line, self._words[min(end, len(self._words) - 1)].last
        self.ends[line] = max(last, self.ends.get(line, line))

    def _directives(self, at: int, guards: Guards) -> list[Word]:
        """Return the words of an `#if` without the branches that definitely do not run."""
        branches = self._branches[at]
        outer, is_chosen, is_open = guards, False, False
        out: list[Word] = []
        tests: list[ast.expr] = []
        for number, (kind, condition, start, stop) in enumerate(branches.parts):
            test = parsed(words_of(condition or "true"))
            test = ast.UnaryOp(ast.Not(), test) if kind == "ifndef" else test
            truth = self._conditions.truth(test)
            self._decides(start - 1, branches.end)
            tests += [test]
            for own in tests if kind == "else" else [test]:
                self._note(start - 1, outer, test=own)
            self._note(branches.end, outer, test=test)
            head, is_dead = self._words[start - 1], truth is False or is_chosen
            inner = self.block(start, stop, (*guards, (test, True)))
            guards = (*guards, (test, False))
            if is_dead:
                continue
            is_chosen = truth is True
            if is_chosen and not out:
                out = inner
                continue
            text = f"#if {condition}" if not out and number and kind == "elif" else head.text
            out += [Word(text, head.line, head.last), *inner]
            is_open = True
        return [*out, self._words[branches.end]] if is_open else out

    def _head(self, at: int) -> tuple[int, int] | None:
        """Return where the condition of an `if` begins and ends, or None if it is not clear."""
        start = at + 1
        if start < len(self._words) and self._words[start].text == "constexpr":
            start += 1
        end = self._closing.get(start)
        return None if end is None or self._words[start].text != "(" else (start + 1, end)

    def _parts(self, at: int) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """Return two ranges: the body of an `if`, and its `else` (None if there is no `else`)."""
        head = self._head(at)
        if head is None:
            raise UnclearSource
        start = head[1] + 1
        stop = self._end_of_statement(start)
        if stop < len(self._words) and self._words[stop].text == "else":
            return (start, stop), (stop + 1, self._end_of_statement(stop + 1))
        return (start, stop), None

    def _end_of_statement(self, at: int) -> int:
        text = self._words[at].text if at < len(self._words) else ""
        if text == "{":
            return self._after(at)
        if text == "if":
            body, other = self._parts(at)
            return body[1] if other is None else other[1]
        if text in ("for", "while", "switch"):
            return self._end_of_statement(self._after(at + 1))
        while at < len(self._words):
            text = self._words[at].text
            if branch_of(self._words[at]) is not None or text in (")", "]", "}", "do", "try"):
                break
            if text == ";":
                return at + 1
            at = self._after(at) if text in ("(", "[", "{") else at + 1
        raise UnclearSource

    def _after(self, at: int) -> int:
        if at not in self._closing:
            raise UnclearSource
        return self._closing[at] + 1

    def _if(self, at: int, stop: int, guards: Guards) -> tuple[list[Word], int, Guards, bool]:
        """Simplify an `if`; return its words, end, the guards after it, and whether it jumps."""
        head = self._head(at)
        assert head is not None
        words = self._words[slice(*head)]
        test = parsed(words)
        truth = self._conditions.truth(test)
        self._note(at, guards, head[1], test)
        body, other = self._parts(at)
        end = body[1] if other is None else other[1]
        self._note(body[1] if other else at, guards)
        inner = self.block(*body, (*guards, (test, True)))
        rest = self.block(*(other or (end, end)), (*guards, (test, False)))
        is_leaving = _jumps(self._words[slice(*body)])
        self._decides(at, max(end - 1, stop if is_leaving else 0))
        if is_leaving and other is None:
            guards = (*guards, (test, False))
        if truth is not None:
            left = _unwrapped(inner if truth else rest)
            return left, end, guards, _jumps(left)
        otherwise = [self._words[body[1]], *rest] if rest else []
        return [*self._words[at : body[0]], *inner, *otherwise], end, guards, False

    def _is_plain(self, start: int, stop: int) -> bool:
        """Return whether the words from `start` to `stop` contain neither labels nor branches."""
        rest = self._words[start:stop]
        return all(w.text not in _LABELS and branch_of(w) is None for w in rest)


def _unwrapped(words: list[Word]) -> list[Word]:
    """Remove the braces of a block that has only one statement or ends with a jump."""
    if len(words) < 2 or words[0].text != "{" or words[-1].text != "}":
        return words
    inner = words[1:-1]
    ends = sum(word.text == ";" for word in inner)
    is_nested = any(word.text in ("{", "}") for word in inner)
    return inner if (ends <= 1 and not is_nested) or _jumps(inner) else words


def _jumps(words: Sequence[Word]) -> bool:
    """Return whether the last statement of a block is a jump such as `return`."""
    own = words[1:-1] if words and words[-1].text == "}" and words[0].text == "{" else words
    starts = [0, *(i + 1 for i, w in enumerate(own[:-1]) if w.text in (";", "{", "}"))]
    return bool(own) and own[-1].text == ";" and own[starts[-1]].text in _JUMPS


def parsed(words: Sequence[Word]) -> ast.expr:
    """Translate a C++ condition to Python; a part that is not valid Python becomes a name."""
    for sign, op in _SIGNS:
        parts = _split(words, sign)
        if len(parts) > 1:
            return ast.BoolOp(op, list(map(parsed, parts)))
    texts = [_ALIKE.get(word.text, word.text) for word in words]
    if texts[:1] == ["!"]:
        return ast.UnaryOp(ast.Not(), parsed(words[1:]))
    if texts[:1] == ["("] and _end(texts) == len(texts) - 1:
        return parsed(words[1:-1])
    asked = [text for text in texts[1:] if text not in "()"] if texts[:1] == ["defined"] else texts
    text = "".join(_SUFFIX.sub(r"\1", _PYTHON.get(text, text)) for text in asked)
    found = parse_expression(text.lstrip(".")) or ast.Name(" ".join(asked), ast.Load())
    vars(found)["text"] = _shown(texts)
    return found


def _end(texts: Sequence[str]) -> int:
    """Return the index of the bracket that closes the first bracket."""
    depth = 0
    for index, text in enumerate(texts):
        depth += _DEPTH.get(text, 0)
        if depth == 0:
            return index
    return len(texts)


def _split(words: Sequence[Word], sign: str) -> list[Sequence[Word]]:
    """Split words at an operator outside of brackets."""
    ends, depth = [-1], 0
    for index, word in enumerate(words):
        depth += _DEPTH.get(word.text, 0)
        if depth == 0 and _ALIKE.get(word.text, word.text) == sign:
            ends.append(index)
    return [words[a + 1 : b] for a, b in zip(ends, [*ends[1:], len(words)], strict=True)]


def _shown(texts: Sequence[str]) -> str:
    text = " ".join(texts)
    for spaced, tight in ((" ( ", "("), (" )", ")"), (" :: ", "::"), (" -> ", "->"), (" . ", ".")):
        text = text.replace(spaced, tight)
    return text.replace("( ", "(").replace(" ()", "()")
