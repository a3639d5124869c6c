"""The audit and the ledger of a rebase, or what a run before found of the very same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct

from patchmgr.commands.accounting import claimed, ledger_of
from patchmgr.engines.audit.follow import Move, moves_in
from patchmgr.engines.audit.states import Check, States, Told, run_checks
from patchmgr.engines.rebase import Item, Judged
from patchmgr.model.audit import Ledger
from patchmgr.model.ports import Blobs, Kept
from patchmgr.plumbing.history import GitHistory, KnownHistory, ReleaseHistory
from patchmgr.plumbing.in_parallel import FEW, beside
from patchmgr.plumbing.objects import StoredTree

T = TypeVar("T")
Moves = dict[str, tuple[Move, ...]]


class Auditor(Struct, frozen=True):
    """What the states of an audit are made of, and where answers are kept.

    `checks` are the checks of the audit. Nothing is kept of a run that lacked a file's content:
    another one may have it.
    """

    base: StoredTree
    onto: StoredTree
    history: GitHistory | ReleaseHistory
    steps: KnownHistory
    kept: Kept
    checks: Sequence[Check]

    def moves(self, states: States) -> Mapping[str, Sequence[Move]]:
        """Return the imports of moved names."""
        question = ("moves", self._about(states))
        return self._known(question, states, Moves, lambda: moves_in(states))

    def begin(self, states: States) -> Callable[[], tuple[Told, ...]]:
        """Begin to run the checks on a result; what is returned waits for what they find."""
        question = ("audit", self._about(states))
        known = self._recalled(question, tuple[Told, ...])
        if known is not None:
            return lambda: known
        *shorter, longest = self.checks
        last = partial(_checked, states, [longest])
        running = last if len(states.carriers) < FEW else beside(last)

        def found() -> tuple[Told, ...]:
            told = run_checks(states, shorter)
            more, lacks = running()
            told = tuple(dict.fromkeys((*told, *more)))
            if not lacks and not states.lacks:
                self.kept.put(question, msgspec.to_builtins(told))
            return told

        return found

    def ledger(
        self, merged: States, items: Sequence[Item], judged: Sequence[Judged], blobs: Blobs
    ) -> Ledger:
        """Return the ledger of the merge."""
        claims = [claimed(item, one) for item, one in zip(items, judged, strict=True)]
        return self._known(
            ("ledger", self._about(merged), repr(claims)),
            merged,
            Ledger,
            lambda: ledger_of(claims, merged, self.base, blobs=blobs, history=self.steps),
        )

    def _about(self, states: States) -> str:
        """Return all that the answers depend on, besides the claims, in words."""
        sides = [sorted(one.tree.changes().items()) for one in (states.written, states.merged)]
        about = (self.base.id, self.onto.id, self.history.ends, self.steps.known())
        return repr((about, sides, states.patches, sorted(states.carriers.items())))

    def _known(
        self, question: Sequence[str], states: States, kind: type[T], find: Callable[[], T]
    ) -> T:
        known = self._recalled(question, kind)
        if known is not None:
            return known
        found = find()
        if not states.lacks:
            self.kept.put(question, msgspec.to_builtins(found))
        return found

    def _recalled(self, question: Sequence[str], kind: type[T]) -> T | None:
        known = self.kept.get(question)
        with suppress(msgspec.ValidationError):  # not what this program wrote
            return None if known is None else msgspec.convert(known[0], kind)
        return None


def _checked(states: States, checks: Sequence[Check]) -> tuple[tuple[Told, ...], bool]:
    """Return what the checks find, and whether some content was there for nobody."""
    return run_checks(states, checks), states.lacks
