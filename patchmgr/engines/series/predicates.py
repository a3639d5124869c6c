"""Evaluate predicates on an upstream state, and give the reason for each answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from patchmgr.engines.languages.file_types import language
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.moved.units import leaf_of
from patchmgr.errors import PatchmgrError
from patchmgr.formats.regexes import compile_regex
from patchmgr.formats.shown import shown
from patchmgr.model.predicate import (
    AllOf,
    AnyOf,
    Conditions,
    Not,
    PatternFound,
    Predicate,
    ReleaseIn,
    State,
    StateFinder,
    WrittenRef,
)
from patchmgr.model.snapshot import file_content


class Evaluation(Struct, frozen=True):
    """Whether a predicate holds on an upstream state, and the facts that prove the answer."""

    holds: bool
    why: str


def evaluate(predicate: Predicate, own: State, states: StateFinder) -> Evaluation:
    """Return whether a predicate holds on a state of the series' own upstream.

    Parts are evaluated from left to right until the answer is known. Raises PatchmgrError if a part
    cannot be evaluated.
    """
    if isinstance(predicate, Not):
        found = evaluate(predicate.part, own, states)
        return Evaluation(not found.holds, found.why)
    if isinstance(predicate, AllOf | AnyOf):
        return _joined(predicate, own, states)
    where, ref, state = predicate.where, predicate.where.ref, own
    if ref is not None or where.upstream not in (None, own.upstream):
        name = None
        if ref is not None:
            name = _written(ref, own) if isinstance(ref, WrittenRef) else ref.ref
        state = states.state(where.upstream or own.upstream, name)
    if isinstance(predicate, PatternFound):
        return _pattern(predicate, state)
    if isinstance(predicate, ReleaseIn):
        return _release(predicate, state)
    holds = state.tree.entry(predicate.path) is not None or state.tree.is_directory(predicate.path)
    there_is = "there is" if holds else "there is no"
    return Evaluation(holds, f"{there_is} {shown(predicate.path)} in {state.label}")


def _joined(predicate: AllOf | AnyOf, own: State, states: StateFinder) -> Evaluation:
    stops_at = isinstance(predicate, AnyOf)
    facts: list[str] = []
    for part in predicate.parts:
        found = evaluate(part, own, states)
        if found.holds is stops_at:
            return found
        facts.append(found.why)
    return Evaluation(not stops_at, "; ".join(facts))


def refusal(conditions: Conditions, own: State, states: StateFinder) -> str | None:
    """Return the reason why an upstream state does not need a patch, or None if it does."""
    if conditions.needed_when is not None:
        found = evaluate(conditions.needed_when, own, states)
        if not found.holds:
            return f"not needed: {found.why}"
    if conditions.ensures is not None:
        found = evaluate(conditions.ensures, own, states)
        if found.holds:
            return f"{own.label} already satisfies Ensures: {found.why}"
    return None


def broken_promise(conditions: Conditions, own: State, states: StateFinder) -> str | None:
    """Return why `Ensures` is false on a state that contains the patch, or None if it is not."""
    if conditions.ensures is None:
        return None
    found = evaluate(conditions.ensures, replace(own, label=f"{own.label} with the patch"), states)
    return None if found.holds else f"does not satisfy Ensures: {found.why}"


def failure(conditions: Conditions, own: State, states: StateFinder) -> str | None:
    """Return why `Valid-While` is false on an upstream state, or None if it is true.

    The reason does not name the state.
    """
    if conditions.valid_while is None:
        return None
    found = evaluate(conditions.valid_while, replace(own, label=own.upstream), states)
    return None if found.holds else f"Valid-While fails: {found.why}"


def _written(ref: WrittenRef, own: State) -> str:
    """Return the ref in the matching lines of a file, which must all name the same ref."""
    text = _text(ref.path, own)
    problem = f"cannot read a ref from {shown(ref.path)}: in {own.label}, "
    if text is None:
        raise _unknown(f"{problem}there is no such file")
    found = (compile_regex(ref.regex).search(_searched(line)) for line in text.split("\n"))
    names = sorted({match[1] for match in found if match is not None and match[1]})
    if not names:
        raise _unknown(f"{problem}no line that matches {_quoted(ref.regex)} names a ref")
    if len(names) > 1:
        raise _unknown(f"{problem}lines that match {_quoted(ref.regex)} name different refs")
    return names[0]


def _release(claim: ReleaseIn, state: State) -> Evaluation:
    if state.version is None:
        asked = shown(claim.specifier)
        raise _unknown(f"{state.label} is not a release, so release {asked} cannot be evaluated")
    specifier = SpecifierSet(claim.specifier)
    holds = specifier.contains(Version(state.version), prereleases=True)
    verb = "is" if holds else "is not"
    return Evaluation(holds, f"{state.label} {verb} release {shown(claim.specifier)}")


def _pattern(claim: PatternFound, state: State) -> Evaluation:
    path, text = shown(claim.path), _text(claim.path, state)
    if text is None:
        return Evaluation(False, f"there is no file {path} in {state.label}")
    lines: list[tuple[int, str]] = list(enumerate(text.split("\n"), 1))
    place = path
    if claim.symbol is not None:
        place = f"{path}:{shown(claim.symbol)}"
        numbers = _lines_of(claim.symbol, claim.path, text, state)
        if not numbers:
            return Evaluation(False, f"there is no {place} in {state.label}")
        lines = [lines[number - 1] for number in numbers]
    regex = compile_regex(claim.regex)
    number = next((number for number, line in lines if regex.search(_searched(line))), None)
    found = f"no line of {place}" if number is None else f"line {number} of {path}"
    why = f"{found} in {state.label} matches {_quoted(claim.regex)}"
    return Evaluation(number is not None, why)


def _lines_of(symbol: str, path: str, text: str, state: State) -> list[int]:
    """Return the lines (from 1) of a symbol. Raises PatchmgrError if the file cannot be parsed."""
    index = SymbolIndex(path, text.encode("utf-8", "surrogateescape"))
    found = index.lines_of(symbol)
    if not found:
        lines = text.split("\n")
        known = max((n for n in range(1, len(lines) + 1) if index.at(n)), default=0)
        # After code that cannot be parsed, a file has no symbols: see cxx_symbols.
        if _may_define(symbol, path, lines[known:]):
            raise _unknown(f"the symbols of {shown(path)} in {state.label} cannot be determined")
    return found


def _may_define(symbol: str, path: str, lines: Sequence[str]) -> bool:
    """Return whether a line outside of all known symbols may define the symbol after all."""
    name = re.escape(leaf_of(symbol))
    before = r"\b(?:class|def)\s+" if language(path) == "Python" else r"\b"
    word = re.compile(rf"{before}{name}\b")
    return any(word.search(line) for line in lines)


def _text(path: str, state: State) -> str | None:
    raw = file_content(state.tree.entry(path), state.blobs.read)
    return None if raw is None else raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _searched(line: str) -> str:
    """Return a line as RE2 can read it, with a question mark for each byte that is not UTF-8."""
    return line.encode("utf-8", "replace").decode()


def _quoted(regex: str) -> str:
    return f'"{shown(regex)}"'


def _unknown(problem: str) -> PatchmgrError:
    hint = "handle that state in the predicate, with `and`, `or` and `not`"
    return PatchmgrError("unknown-state", problem, hint)
