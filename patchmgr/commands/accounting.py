"""What the ledger of a rebase is given: the patches with what is said of them, and the states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchmgr.engines.audit.states import States
from patchmgr.engines.ledger import Claim, Claimed, Fate, balance
from patchmgr.engines.rebase import FileResult, Item, Judged
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import Ledger
from patchmgr.model.outcome import How, Verdict
from patchmgr.model.ports import Blobs, History, Tree
from patchmgr.model.snapshot import FILE_MODES, Entry

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
