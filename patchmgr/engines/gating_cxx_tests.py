"""Conditions of C++ and of its preprocessor: what they ask, and what they are when off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from patchmgr.engines.gating_names import (
    BROAD,
    CAPABILITY,
    PLATFORM,
    PROBE,
    QUANTISATION,
    Kinds,
    is_flag,
)
from patchmgr.model.gating import Gate

T = TypeVar("T")
BUILD = "build flag"

_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"[A-Za-z_]\w*$")
_ARCH = re.compile(
    r"\w*(?:SM|sm)_?\d{2,3}\w*|__gfx\w+__|__CUDA_ARCH_FEAT_\w+|__(?:aarch64|arm|powerpc|s390x?|riscv)\w*__"
    r"|__AVX512\w+__|__ARM_\w+"
)
_PLATFORM = re.compile(
    r"USE_ROCM|USE_CUDA|USE_XPU|__HIP\w*|__CUDACC__|__CUDA_ARCH__|_WIN32|__linux__"
)
_FLAG = re.compile(
    r"(?:\w+_)?(?:ENABLE|USE|WITH|HAS|HAVE|BUILD|SUPPORTS?)_\w+|\w+_(?:ENABLED|SUPPORTED|AVAILABLE)"
)
_ASKED = re.compile(
    r"get_sm_version\w*|version_num|get_arch\w*|arch_id|(?:get)?SMVersion|getSMVersion|sm_?count_arch"
)
_LOW = re.compile(r"k?(?:Is|is|Use|use|Has|has)_?\w*(?:FP4|Fp4|fp4|FP8|Fp8|fp8|INT4|Int4|int4)\w*")
_ALIKE = {"and": "&&", "or": "||", "not": "!", "not_eq": "!="}
_PLAIN = frozenset({".", "->", "::", "==", "!=", "<", ">", "<=", ">=", "!", "&&", "||", "(", ")"})


class CxxTests:
    """Looks at conditions of one file."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def gates(self, test: Sequence[str]) -> tuple[Gate, ...]:
        """Return every gate in a condition, by its words."""
        found: list[Gate] = []
        for sign, atom in _atoms(_plain(test)):
            kind = next(filter(None, map(self._kind, _names(atom))), None)
            if kind is not None and (kind != PROBE or atom[-1:] == [")"]):
                found.append(Gate(kind, f"{'not ' if sign else ''}{_shown(atom)}"))
        return tuple(dict.fromkeys(found))

    def _kind(self, name: str) -> str | None:
        if _ARCH.fullmatch(name) or _ASKED.fullmatch(name):
            return CAPABILITY
        if _PLATFORM.fullmatch(name):
            return CAPABILITY if name == "__CUDA_ARCH__" else PLATFORM
        if _FLAG.fullmatch(name) and name.isupper():
            return BUILD
        return QUANTISATION if _LOW.fullmatch(name) else self._kinds.of_name(name)

    def truth(self, test: Sequence[str]) -> bool | None:
        """Return whether a condition holds with every gate off, None where that is not sure."""
        words = _plain(test)
        for sign in ("||", "&&"):
            parts = _split(words, sign)
            if len(parts) > 1:
                return self._truth_of_several(parts, is_or=sign == "||")
        if words[:1] == ["!"]:
            inner = self.truth(words[1:])
            return None if inner is None else not inner
        if words[:1] == ["("] and _end_of(words, 0) == len(words) - 1:
            return self.truth(words[1:-1])
        return self._truth_of_atom(words)

    def without_dead(self, test: Sequence[T], told: Callable[[T], str]) -> list[T]:
        """Return a condition without the operands of its outermost sign that change nothing."""
        words = _plain([told(part) for part in test])
        for sign, truth in (("||", False), ("&&", True)):
            ends = _places(words, sign)
            if not ends:
                continue
            bounds = zip([-1, *ends], [*ends, len(words)], strict=True)
            live = [
                (start, stop)
                for start, stop in bounds
                if self.truth(words[start + 1 : stop]) is not truth
            ]
            kept: list[T] = []
            for start, stop in live:  # a sign goes with what stands behind it
                kept += test[start + (1 if not kept else 0) : stop]
            return kept
        return list(test)

    def _truth_of_several(self, parts: Sequence[Sequence[str]], *, is_or: bool) -> bool | None:
        is_sure = True
        for part in parts:
            truth = self.truth(part)
            if truth is is_or:
                return is_or
            is_sure = is_sure and truth is not None
            if truth is None and not is_harmless(part):
                return None
        return not is_or if is_sure else None

    def _truth_of_atom(self, words: Sequence[str]) -> bool | None:
        """Return the truth of one question; a lower bound is no proof: too many people are in."""
        for sign in ("==", "!="):
            parts = _split(words, sign)
            if len(parts) == 2:
                return self._truth_of_comparison(parts[0], parts[1], is_equal=sign == "==")
        if any(word in ("<", ">", "<=", ">=") for word in words):
            return None
        if words[:1] == ["defined"]:
            return self._truth_of_atom([w for w in words[1:] if w not in "()"])
        if _is_getenv(words):
            return False
        name = _called(words)
        if name is None:
            return None
        if _ARCH.fullmatch(name):
            return False
        kind = self._kind(name)
        is_off = kind not in (None, BUILD, PROBE, *BROAD) and bool(
            is_flag(name) or _LOW.fullmatch(name)
        )
        return False if is_off or self._kinds.is_named(name) else None

    def _truth_of_comparison(
        self, left: Sequence[str], right: Sequence[str], *, is_equal: bool
    ) -> bool | None:
        if _is_getenv(left) and right in (["nullptr"], ["NULL"]):
            return is_equal
        name = _called(left)
        if name is None or len(right) != 1 or not right[0].isdigit() or int(right[0]) < 1:
            return None
        return (not is_equal) if self._kind(name) == CAPABILITY else None


def is_harmless(words: Sequence[str]) -> bool:
    """Say whether a condition only looks: names, members, numbers and comparisons."""
    for index, word in enumerate(words):
        if word in _PLAIN or _WORD.fullmatch(word) or word[:1].isdigit():
            is_call = word == "(" and index > 0 and _WORD.fullmatch(words[index - 1])
            if is_call and words[index - 1] != "defined" and words[index + 1 : index + 2] != [")"]:
                return False
        else:
            return False
    return True


def _plain(words: Sequence[str]) -> list[str]:
    return [_ALIKE.get(word, word) for word in words]


def _end_of(words: Sequence[str], start: int) -> int:
    depth = 0
    for index in range(start, len(words)):
        depth += {"(": 1, ")": -1}.get(words[index], 0)
        if depth == 0:
            return index
    return len(words)


def _split(words: Sequence[str], sign: str) -> list[list[str]]:
    """Split at a sign outside of brackets."""
    ends = _places(words, sign)
    bounds = zip([-1, *ends], [*ends, len(words)], strict=True)
    return [list(words[start + 1 : stop]) for start, stop in bounds]


def _places(words: Sequence[str], sign: str) -> list[int]:
    found = []
    depth = 0
    for index, word in enumerate(words):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word, 0)
        if word == sign and depth == 0:
            found.append(index)
    return found


def _atoms(words: Sequence[str], *, is_not: bool = False) -> Iterator[tuple[bool, Sequence[str]]]:
    """Yield the questions that a condition is made of, each with whether it is negated."""
    for sign in ("||", "&&"):
        parts = _split(words, sign)
        if len(parts) > 1:
            for part in parts:
                yield from _atoms(part, is_not=is_not)
            return
    if words[:1] == ["!"]:
        yield from _atoms(words[1:], is_not=not is_not)
    elif words[:1] == ["("] and _end_of(words, 0) == len(words) - 1:
        yield from _atoms(words[1:-1], is_not=is_not)
    elif words:
        yield is_not, words


def _names(words: Sequence[str]) -> Iterator[str]:
    """Yield the names of a question; those in the arguments of a call say nothing of the answer."""
    if words[:1] == ["defined"]:
        words = words[1:]
    elif "getenv" in words:
        words = ["getenv"]
    depth = 0
    for index, word in enumerate(words):
        if word == "(" and index and _WORD.fullmatch(words[index - 1]):
            depth += 1
        elif word == ")" and depth:
            depth -= 1
        elif not depth and _WORD.fullmatch(word):
            yield word


def _called(words: Sequence[str]) -> str | None:
    """Return the last name of a name, a member, or a call without arguments; else None."""
    own = list(words)
    if own[-2:] == ["(", ")"]:
        own = own[:-2]
    is_chain = bool(own) and all(
        (_NAME.match(word) is not None) == (index % 2 == 0) for index, word in enumerate(own)
    )
    is_chain = is_chain and all(word in (".", "->", "::") for word in own[1::2])
    return own[-1] if is_chain else None


def _is_getenv(words: Sequence[str]) -> bool:
    own = [word for word in words if word not in ("std", "::")]
    return own[:2] == ["getenv", "("] and _end_of(own, 1) == len(own) - 1


def _shown(words: Sequence[str]) -> str:
    text = " ".join(words)
    for spaced, tight in ((" ( ", "("), (" )", ")"), (" :: ", "::"), (" -> ", "->"), (" . ", ".")):
        text = text.replace(spaced, tight)
    text = text.replace("( ", "(").replace(" ()", "()")
    return text if len(text) <= 120 else f"{text[:119]}…"
