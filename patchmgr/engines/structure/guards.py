"""The guards after a merge of Python: what no merge may lose, double or leave undefined."""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct

from patchmgr.engines.audit.names import name_warnings, new_faults
from patchmgr.engines.merge.tree import likeness
from patchmgr.engines.structure.guards_calls import misfits, misplaced
from patchmgr.engines.structure.guards_flow import (
    doubled_imports,
    doubled_statements,
    flow_of,
    newly_dead,
)
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.guards_text import (
    Facts,
    compiles,
    facts_of,
    line_of,
    unused_imports,
)
from patchmgr.engines.structure.guards_words import is_worth_a_look
from patchmgr.engines.structure.sides import LARGEST, PYTHON_SUFFIXES, Texts

T = TypeVar("T")
SIMILAR = 0.5
_UNDEFINED = "undefined name"
_BUILTINS = frozenset(dir(builtins))
_CONSTANT = re.compile(r"^Constant\(value=(['\"]?)(.*)\1\)$")
_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|value=\w+")


class Breach(Struct, frozen=True):
    """A guard that fails, and its subject; `sentence` is for a person."""

    rule: str
    sentence: str


class _Sides(Struct, frozen=True):
    """The facts of the three texts and of the merged one."""

    base: Facts
    upstream: Facts
    fork: Facts
    merged: Facts


def broken_rules(base: str, upstream: str, fork: str, merged: str) -> tuple[str, ...]:
    """Return the names of the guards that fail for a merge, or none if it passes them all."""
    found = [*_of_text(upstream, fork, merged), *_of_names(base, upstream, fork, merged)]
    sides = _sides(base, upstream, fork, merged)
    if sides is not None:
        found += [
            *_doubled(sides),
            *_returned(sides, merged),
            *_lost(sides),
            *_assigned_twice(sides),
        ]
    found += _of_flow(base, upstream, fork, merged)
    return tuple(dict.fromkeys(breach.rule for breach in found))


def suspect(texts: Texts, merged: str, path: str, names: bool = True) -> tuple[str, ...]:
    """Return what a person should look at in a merge that is clean as text, as sentences.

    Without `names`, unbound names are not reported.
    """
    if not path.endswith(PYTHON_SUFFIXES) or len(merged) > LARGEST:
        return ()
    found = name_warnings(merged, texts.upstream, texts.fork) if names else ()
    if not is_worth_a_look(texts, growths(texts, merged)):
        return found
    more = suspicions(texts.base, texts.upstream, texts.fork, merged)
    return tuple(dict.fromkeys((*found, *more)))


def suspicions(base: str, upstream: str, fork: str, merged: str) -> tuple[str, ...]:
    """Return what a person should look at in a merge that is clean as text, as sentences.

    Unbound names are not included: `audit.names` reports them.
    """
    names = _of_names(base, upstream, fork, merged)
    found = [breach for breach in names if breach.rule != _UNDEFINED]
    sides = _sides(base, upstream, fork, merged)
    if sides is not None:
        found += [
            *_doubled(sides),
            *_returned(sides, merged),
            *_unused(sides, upstream, fork, merged),
        ]
        found += _assigned_twice(sides)
    found += _of_flow(base, upstream, fork, merged)
    return tuple(dict.fromkeys(breach.sentence for breach in found))


def _sides(base: str, upstream: str, fork: str, merged: str) -> _Sides | None:
    facts = [facts_of(text) for text in (base, upstream, fork, merged)]
    if facts[0] is None or facts[1] is None or facts[2] is None or facts[3] is None:
        return None
    return _Sides(facts[0], facts[1], facts[2], facts[3])


def _of_text(upstream: str, fork: str, merged: str) -> Iterator[Breach]:
    if not compiles(merged) and compiles(upstream) and compiles(fork):
        yield Breach("syntax", "The merged file does not compile.")


def _of_names(base: str, upstream: str, fork: str, merged: str) -> Iterator[Breach]:
    for sentence in sorted(misfits(merged) - misfits(upstream) - misfits(fork)):
        yield Breach("misfit call", sentence)
    sides_of = (text.encode("utf-8", "surrogateescape") for text in (merged, upstream, fork))
    faults = [f for f in new_faults(*sides_of) if f.kind == "undefined-name"]
    undefined = {fault.name for fault in faults}
    for fault in faults:
        yield Breach(_UNDEFINED, fault.sentence)
    sides = _sides(base, upstream, fork, merged)
    if sides is None:
        return
    for who, side, other in (
        ("upstream", sides.upstream, sides.fork),
        ("the patch", sides.fork, sides.upstream),
    ):
        wiped = (sides.base.names - side.names - _BUILTINS) & sides.merged.names
        for name in sorted(wiped - undefined):
            is_back = (
                sides.merged.imports[name, ""] > side.imports[name, ""]
            )  # its import came with it
            if name and not is_back and other.bound[name] <= sides.base.bound[name]:
                yield Breach("wiped name", f"`{name}` is used, but {who} removed its last use.")


def _doubled(sides: _Sides) -> Iterator[Breach]:
    for name in _too_many(sides, "definitions"):
        yield Breach("doubled definition", f"`{name}` is defined once more than on either side.")
    for key in _too_many(sides, "keys"):
        shown = _CONSTANT.sub(r"\2", key)
        yield Breach("doubled key", f"A dictionary has the key `{shown}` twice.")


def _returned(sides: _Sides, merged: str) -> Iterator[Breach]:
    """Yield statements that one side takes away, and the merge has as often as the other side."""
    b, u, f, m = (facts.statements for facts in _all(sides))
    for text, count in m.items():
        if min(u[text], f[text]) < b[text] and count > max(
            u[text] + f[text] - b[text], min(u[text], f[text])
        ):
            line = line_of(merged, text)[:60]
            yield Breach("returned statement", f"Code that one side removed is there again: {line}")


def _unused(sides: _Sides, upstream: str, fork: str, merged: str) -> Iterator[Breach]:
    """Yield imports that a side has and uses, and the merge has and does not use."""
    unused = unused_imports(merged) - unused_imports(upstream) - unused_imports(fork)
    for name in sorted(unused):
        yield Breach("unused import", f"`{name}` is imported, but nothing uses it any more.")


def _of_flow(base: str, upstream: str, fork: str, merged: str) -> Iterator[Breach]:
    """Yield what the merge does twice, never does, or says to another parameter."""
    for side in (upstream, fork):
        for sentence in misplaced(side, merged):
            yield Breach("misplaced argument", sentence)
    flows = [flow_of(text) for text in (base, upstream, fork, merged)]
    if flows[0] is None or flows[1] is None or flows[2] is None or flows[3] is None:
        return
    sides = flows[1], flows[2], flows[3]
    for sentence in newly_dead(*sides):
        yield Breach("dead code", sentence)
    for name in doubled_imports(*sides):
        yield Breach("doubled import", f"`{name}` is imported once more than on either side.")
    for text in doubled_statements(flows[0], *sides):
        yield Breach("doubled statement", f"`{text}` is there once more than on either side.")


def _assigned_twice(sides: _Sides) -> Iterator[Breach]:
    """Yield local variables that both sides bring in, each in its own way: one undoes the other."""
    b, u, f, m = (facts.assigned for facts in _all(sides))
    for scope, name in m:
        key = (scope, name)
        if not b[key] and min(u[key], f[key]) and m[key] > max(u[key], f[key]):
            yield Breach("assigned twice", f"Both sides assign to a new `{name}`.")


def _too_many(sides: _Sides, what: str) -> list[str]:
    counts: list[Counter[str]] = [
        getattr(facts, what) for facts in (sides.upstream, sides.fork, sides.merged)
    ]
    return [n for n, count in counts[2].items() if count > max(counts[0][n], counts[1][n])]


def _lost(sides: _Sides) -> Iterator[Breach]:
    """Yield what one side has and neither side takes away, but the merge does not have."""
    for what in ("definitions", "imports"):
        b, u, f, m = (getattr(facts, what) for facts in _all(sides))
        for name in _missing(b, u, f, m):
            yield Breach(f"lost {what[:-1]}", f"The merge loses `{name}`.")
    b, u, f, m = (facts.statements for facts in _all(sides))
    new = [_words(text) for text in m if m[text] > b[text]]
    for text in _missing(b, u, f, m):
        if not _is_edited(text, new):
            yield Breach("lost statement", "The merge loses a statement.")


def _all(sides: _Sides) -> tuple[Facts, Facts, Facts, Facts]:
    return sides.base, sides.upstream, sides.fork, sides.merged


def _missing(
    base: Counter[T], upstream: Counter[T], fork: Counter[T], merged: Counter[T]
) -> Iterator[T]:
    for item in {**upstream, **fork}:
        u, f, b = upstream[item], fork[item], base[item]
        wanted = max(u, f) if min(u, f) >= b else u + f - b
        if merged[item] < min(wanted, max(u, f)):
            yield item


def _is_edited(text: str, new: Iterable[str]) -> bool:
    """Say whether a statement may have become one that is new."""
    words = _words(text)
    return any(likeness(words, other) >= SIMILAR for other in new)


def _words(text: str) -> str:
    """Return the names and constants of a statement, and what it is."""
    return " ".join((text.partition(" ")[0], *_WORD.findall(text)))
