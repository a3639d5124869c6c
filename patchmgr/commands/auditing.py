"""The audit and the ledger of a rebase, or what a run before found of the very same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from patchmgr.plumbing.objects import StoredTree

T = TypeVar("T")
Moves = dict[str, tuple[Move, ...]]


class _Found(Struct, frozen=True):
    told: tuple[Told, ...]
    ledger: Ledger


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

    def found(
        self,
        states: States,
        merged: States,
        items: Sequence[Item],
        judged: Sequence[Judged],
        blobs: Blobs,
    ) -> tuple[tuple[Told, ...], Ledger]:
        """Return what the checks find of a result, and the ledger of the merge."""
        claims = [claimed(item, one) for item, one in zip(items, judged, strict=True)]
        ends = () if merged is states else (self._about(merged),)
        question = ("audit", self._about(states), *ends, repr(claims))

        def find() -> _Found:
            ledger = ledger_of(claims, merged, self.base, blobs=blobs, history=self.steps)
            return _Found(run_checks(states, self.checks), ledger)

        found = self._known(question, states, _Found, find)
        return found.told, found.ledger

    def _about(self, states: States) -> str:
        """Return all that the answers depend on, besides the claims, in words."""
        sides = [sorted(one.tree.changes().items()) for one in (states.written, states.merged)]
        about = (self.base.id, self.onto.id, self.history.ends, self.steps.known())
        return repr((about, sides, states.patches, sorted(states.carriers.items())))

    def _known(
        self, question: Sequence[str], states: States, kind: type[T], find: Callable[[], T]
    ) -> T:
        known = self.kept.get(question)
        if known is not None:
            try:
                return msgspec.convert(known[0], kind)
            except msgspec.ValidationError:  # not what this program wrote
                pass
        found = find()
        if not states.lacks:
            self.kept.put(question, msgspec.to_builtins(found))
        return found
