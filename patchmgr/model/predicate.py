"""Predicates about an upstream state. The header of a patch uses them as conditions."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from patchmgr.model.ports import Contents, Tree


class NamedRef(Struct, frozen=True):
    """A state that the predicate itself names, such as a tag."""

    ref: str


class WrittenRef(Struct, frozen=True):
    """A state whose name is in a line of the file `path` of the series' own upstream."""

    regex: str  # its capturing group matches the name
    path: str


class Where(Struct, frozen=True):
    """The upstream and the state about which a predicate says something."""

    upstream: str | None = None  # None for the series' own
    # None: the current state of the series' own upstream, or the tracked state of another
    ref: NamedRef | WrittenRef | None = None


class PathExists(Struct, frozen=True):
    """True if there is a file or a directory at the path."""

    path: str
    where: Where = Where()


class PatternFound(Struct, frozen=True):
    """True if a line of the file, or of the symbol if one is given, matches the expression."""

    regex: str
    path: str
    symbol: str | None = None
    where: Where = Where()


class ReleaseIn(Struct, frozen=True):
    """True if the state is a release whose version matches a PEP 440 specifier."""

    specifier: str
    where: Where = Where()


class Not(Struct, frozen=True):
    """True if the predicate `part` is false."""

    part: Predicate


class AllOf(Struct, frozen=True):
    """True if every predicate in `parts` is true."""

    parts: tuple[Predicate, ...]


class AnyOf(Struct, frozen=True):
    """True if at least one predicate in `parts` is true."""

    parts: tuple[Predicate, ...]


Claim = PathExists | PatternFound | ReleaseIn
Predicate = Claim | Not | AllOf | AnyOf


class Conditions(Struct, frozen=True):
    """The conditions of a patch: when it is needed, what it ensures, how long it is valid."""

    needed_when: Predicate | None = None
    ensures: Predicate | None = None
    valid_while: Predicate | None = None

    def predicates(self) -> tuple[Predicate | None, ...]:
        """Return the predicates of Needed-When, Ensures and Valid-While, each None if missing."""
        return (self.needed_when, self.ensures, self.valid_while)

    @property
    def are_empty(self) -> bool:
        """Return whether the patch has no condition at all."""
        return not any(self.predicates())


def claims(predicate: Predicate) -> tuple[Claim, ...]:
    """Return the predicates in a predicate that have no parts, from left to right."""
    if isinstance(predicate, Not):
        return claims(predicate.part)
    if isinstance(predicate, AllOf | AnyOf):
        return tuple(claim for part in predicate.parts for claim in claims(part))
    return (predicate,)


class State(Struct, frozen=True):
    """An upstream state for which conditions can be evaluated."""

    upstream: str
    label: str  # its name in messages
    tree: Tree
    blobs: Contents
    version: str | None = None  # of a release


class StateFinder(Protocol):
    """Access to the states that predicates name."""

    def state(self, upstream: str, ref: str | None) -> State:
        """Return a state of an upstream, or the tracked state if `ref` is None.

        Raises PatchmgrError if the upstream or the state does not exist, or cannot be read.
        """
