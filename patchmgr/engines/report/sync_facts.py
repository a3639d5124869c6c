"""Read the facts that earlier rebases saved: which patches were applied, resolved and dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from patchmgr.model.documents import (
    CauseDocument,
    EvidenceDocument,
    HunkDocument,
    PatchDocument,
    SolutionDocument,
    SyncDocument,
)
from patchmgr.model.notes import Arrival, Carried, Dropped, ResolvedFile
from patchmgr.model.outcome import How, Likely, Reliability, Verdict

_PLAIN = frozenset({None, How.IDENTICAL, How.TEXT})
_WORDS = {
    How.STRUCTURAL: "merged by structure; both changes are kept",
    How.FORMAT: "merged in upstream's format",
    How.MOVED: "applied where upstream moved the code",
    How.RECORDED: "resolved as a person did before",
}


def carried_of(syncs: Sequence[SyncDocument]) -> tuple[Carried, ...]:
    """Return each patch once, with one verdict and every way in which its hunks were decided."""
    found: dict[str, Carried] = {}
    for patch in _patches(syncs):
        known = found.get(patch.name)
        if known is None or known.verdict in ("unchanged", "modified", "partial", "skipped"):
            found[patch.name] = _carried(patch, known)
    return tuple(found.values())


def _carried(patch: PatchDocument, known: Carried | None) -> Carried:
    how = {hunk.how.value for hunk in patch.hunks if hunk.how is not None}
    verdict = patch.verdict.value
    if known is not None:
        how |= set(known.how)
        if verdict == "unchanged" and known.verdict in ("modified", "partial"):
            verdict = known.verdict
    hows = tuple(sorted(how))
    return Carried(patch.name, patch.subject, verdict, hows, patch.reason, patch.drop_when)


def dropped_of(syncs: Sequence[SyncDocument]) -> Iterator[Dropped]:
    """Yield the patches that upstream has in whole or in part, with the commits that show it."""
    for patch in _patches(syncs):
        if patch.verdict in (Verdict.ABSORBED, Verdict.PARTIAL):
            absorbed = (h for h in patch.hunks if h.verdict is Verdict.ABSORBED)
            yield Dropped(
                patch.name,
                patch.subject,
                patch.verdict is Verdict.ABSORBED,
                tuple(sorted({h.how.value for h in absorbed if h.how is not None})),
                _arrivals(patch.evidence),
                reliabilities(patch.evidence),
            )


def reliabilities(found: Iterable[EvidenceDocument | Likely]) -> tuple[Reliability, ...]:
    """Return the saved reliability of each kind of evidence or proposal, without duplicates."""
    return tuple(dict.fromkeys(one.reliability for one in found if one.reliability is not None))


def _arrivals(found: Iterable[EvidenceDocument | CauseDocument]) -> tuple[Arrival, ...]:
    return tuple(Arrival(one.commit, one.subject, one.pull, one.paths) for one in found)


def _patches(syncs: Sequence[SyncDocument]) -> list[PatchDocument]:
    return [patch for sync in syncs for patch in sync.outcome.patches]


def solved_of(syncs: Sequence[SyncDocument]) -> Iterator[ResolvedFile]:
    """Yield each file that git's text merge left in conflict, including those still unresolved."""
    for sync in syncs:
        solutions = tuple(sync.solutions.values())
        for patch in sync.outcome.patches:
            yield from _open(patch)
            files: dict[tuple[str, str], list[HunkDocument]] = {}
            for hunk in patch.hunks:
                if hunk.how not in _PLAIN and hunk.verdict is not Verdict.ABSORBED:
                    files.setdefault((hunk.path, hunk.new_path), []).append(hunk)
            for (path, new_path), hunks in files.items():
                seen = f"{sync.outcome.name}/{patch.name}"
                yield ResolvedFile(
                    patch.name,
                    path,
                    new_path,
                    _symbols(hunks),
                    _solution(hunks, seen, solutions, (path, new_path)),
                    is_open=False,
                    collided=_collided(patch, path, new_path),
                )


def _open(patch: PatchDocument) -> Iterator[ResolvedFile]:
    for conflict in patch.conflicts if patch.verdict is Verdict.CONFLICT else ():
        path, new_path = conflict.path or "", conflict.new_path or ""
        words = f"open: {conflict.reason}"
        if conflict.proposal:
            words += f"; proposed: {conflict.proposal}"
        hunks = [h for h in patch.hunks if h.path == path and h.verdict is Verdict.CONFLICT]
        collided = _collided(patch, path, new_path)
        known = reliabilities(patch.likely) if conflict.proposal else ()
        yield ResolvedFile(
            patch.name, path, new_path, _symbols(hunks), words, True, collided,
            next(iter(known), None),
        )  # fmt: skip


def _symbols(hunks: Sequence[HunkDocument]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hunk.symbol for hunk in hunks if hunk.symbol))


def _collided(patch: PatchDocument, path: str, new_path: str) -> tuple[Arrival, ...]:
    return _arrivals(one for one in patch.cause if {path, new_path} & set(one.paths))


def _solution(
    hunks: Sequence[HunkDocument],
    seen: str,
    solutions: Sequence[SolutionDocument],
    paths: tuple[str, str],
) -> str:
    hows = dict.fromkeys(hunk.how for hunk in hunks if hunk.how is not None)
    words = [_WORDS.get(how, how.value) for how in hows]
    if How.RECORDED in hows:
        told = [one.solution for one in solutions if one.path in paths or one.seen.startswith(seen)]
        if told:
            by_hand = ", ".join(dict.fromkeys(told))
            words = [by_hand if word == _WORDS[How.RECORDED] else word for word in words]
    return "; ".join(dict.fromkeys(words))


def touched_by(syncs: Sequence[SyncDocument]) -> tuple[str, ...]:
    """Return the old and new paths of all files that the patches touch."""
    hunks = (hunk for patch in _patches(syncs) for hunk in patch.hunks)
    return tuple(sorted({path for hunk in hunks for path in (hunk.path, hunk.new_path)}))


def files_by_change(syncs: Sequence[SyncDocument]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths of the files that stayed the same byte for byte, and those of the others."""
    hows: dict[str, set[str]] = {}
    gone: set[str] = set()
    for sync in syncs:
        hunks = [(patch, hunk) for patch in sync.outcome.patches for hunk in patch.hunks]
        gone |= {hunk.path for _, hunk in hunks} - {hunk.new_path for _, hunk in hunks}
        for patch, hunk in hunks:
            is_same = hunk.how is How.IDENTICAL and patch.verdict is not Verdict.SKIPPED
            hows.setdefault(hunk.new_path, set()).add("same" if is_same else "other")
    same = tuple(sorted(path for path, found in hows.items() if found == {"same"}))
    other = tuple(sorted(path for path, found in hows.items() if "other" in found))
    return same, tuple(path for path in other if path not in gone)


def warnings_of(syncs: Sequence[SyncDocument]) -> tuple[str, ...]:
    """Return the warnings, one sentence each, that rebases gave about the patches."""
    return tuple(f"{one.name}: {warning}" for one in _patches(syncs) for warning in one.warnings)
