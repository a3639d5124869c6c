"""C++ and CUDA source as words with their lines, and what belongs together: brackets, `#if`s."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.languages.cxx_tokens import match_brackets
from patchmgr.engines.structure.tokens import Grammar, Kind, tokens_of

_SPACE = re.compile(r"(?:\s|\\\r?\n)+")
_BRANCH = re.compile(r"#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*)", re.DOTALL)


class Word(Struct, frozen=True):
    """A token, a directive or a whole macro, with its first and last line from 1."""

    text: str
    line: int
    last: int


class Branches(Struct, frozen=True):
    """The parts of an `#if`: for each its kind and condition, and where its words begin and end."""

    parts: tuple[tuple[str, str, int, int], ...]
    end: int


class Source(Struct, frozen=True):
    """The words of a file. `closing` has the end of each bracket, `branches` that of each `#if`."""

    words: tuple[Word, ...]
    closing: Mapping[int, int]
    branches: Mapping[int, Branches]


def read_source(content: bytes) -> Source:
    """Read a file; raise UnclearSource where brackets or `#if`s do not match."""
    words = _words(content.decode("utf-8", "replace"))
    return Source(words, match_brackets(map(_shape, words)), _branches(words))


def _words(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    line = 1
    macro: list[str] = []
    start = 0
    for token in tokens_of(text, Grammar.C):
        line += token.gap.count("\n")
        first, line = line, line + token.text.count("\n")
        if token.kind in (Kind.EOL, Kind.END) and macro:
            found.append(Word(" ".join(macro), start, first))
            macro = []
        if token.kind in (Kind.COMMENT, Kind.EOL, Kind.END) or not token.text:
            continue
        if macro:
            macro.append(token.text)
        elif token.text.startswith("#") and _SPACE.sub("", token.text) == "#define":
            macro, start = ["#define"], first
        else:
            shown = token.text
            if token.kind is Kind.DIRECTIVE:
                shown = _SPACE.sub(" ", shown).strip()
            found.append(Word(shown, first, line))
    return tuple(found)


def branch_of(word: Word) -> tuple[str, str] | None:
    """Return the kind and the condition of a directive that is part of an `#if`."""
    found = _BRANCH.match(word.text) if word.text.startswith("#") else None
    return None if found is None else (found[1], found[2].strip())


def _shape(word: Word) -> str:
    """Return a word as it matters to brackets: of a branch only whether it begins or ends."""
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
