"""The audit and the ledger of a rebase, or what a run before found of the very same one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct

from patchmgr.engines.audit.follow import Move, moves_in
from patchmgr.engines.audit.states import Check, States, Told, run_checks
from patchmgr.engines.ledger.balance import balance
from patchmgr.engines.ledger.claims import Claim, Claimed, Fate
from patchmgr.engines.rebase.rebase import Item, Judged
from patchmgr.engines.rebase.work import FileResult
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import Ledger
from patchmgr.model.outcome import How, Verdict
from patchmgr.model.ports import Blobs, History, Kept, Tree
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing.history import GitHistory, KnownHistory, ReleaseHistory
from patchmgr.plumbing.in_parallel import FEW, beside
from patchmgr.plumbing.objects import StoredTree

_BY_TEXT = frozenset({How.IDENTICAL, How.TEXT})
_BY_PERSON = frozenset({How.RECORDED, How.DECIDED})


def ledger_of(
    patches: Sequence[Claimed],
    states: States,
    base: Tree,
    *,
    blobs: Blobs,
    history: History,
) -> Ledger:
    """Return the ledger of a rebase, of what it says of its patches."""

    def cited(commit: str, path: str) -> Iterator[tuple[bytes, bytes]]:
        before = base.entry(path)
        for step in history.steps((path,)):
            after = step.changes.get(path)
            if step.commit == commit and path in step.changes:
                yield _content(before, blobs), _content(after, blobs)
            before = after

    return balance(patches, states.base, states.onto, states.merged, cited=cited)


def claimed(item: Item, judged: Judged) -> Claimed:
    """Return what a rebase says of one patch."""
    outcome = judged.outcome
    rest = Fate.CONFLICT if outcome.is_left else Fate.GIVEN_UP
    cited = [sighting.commit for sighting in outcome.evidence]
    cited += [hunk.evidence for hunk in outcome.hunks if hunk.evidence is not None]
    cited += [commit for commit, _ in outcome.history]
    return Claimed(
        outcome.name,
        item.patch.diff,
        tuple(_claim(result) for result in judged.files),
        rest,
        tuple(dict.fromkeys(cited)),
        on_base=item.is_on_base and (item.refusal is None or item.steps is not None),
        is_reversed=item.patch.is_reversed,
        reworded=tuple(wording.patch for wording in outcome.superseded),
        edited=judged.edited,
    )


def _claim(result: FileResult) -> Claim:
    change = result.step.change
    places = (place.path for place in result.places.values())
    homes = tuple(dict.fromkeys((result.home, *result.changes, *places)))
    if result.conflict is not None:
        return Claim(change.path, homes, (Fate.CONFLICT,) * max(1, len(result.answers)))
    return Claim(change.path, homes, tuple(_fate(*answer) for answer in result.answers))


def _fate(verdict: Verdict, how: How | None) -> Fate:
    if verdict is Verdict.ABSORBED:
        return Fate.GIVEN_UP if how in _BY_PERSON else Fate.UPSTREAM
    if verdict is Verdict.CONFLICT:
        return Fate.CONFLICT
    if how in _BY_PERSON:
        return Fate.PERSON
    return Fate.TEXT if how in _BY_TEXT else Fate.OTHERWISE


def _content(entry: Entry | None, blobs: Blobs) -> bytes:
    if entry is None or entry.mode not in FILE_MODES:
        return b""
    try:
        return blobs.read(entry.blob)
    except PatchmgrError:
        return b""


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
