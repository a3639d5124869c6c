"""Audit a rebase: gather the states to compare, and add the findings to the patches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.absorption.series import Folded
from patchmgr.engines.audit.interfaces import imported_blobs, lost_in_series
from patchmgr.engines.audit.places import upstream_path
from patchmgr.engines.audit.states import LACKS, AuditedPatch, Files, Since, States, Told
from patchmgr.engines.conflicts.decisions import identified
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.rebase.rebase import Judged
from patchmgr.engines.rebase.work import FileResult
from patchmgr.engines.series.fold import FileStep, Overlay
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import AuditFinding
from patchmgr.model.outcome import PatchOutcome, Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Blobs, History, Tree
from patchmgr.model.snapshot import Entry, file_content

_MOST_FAILURES = 3  # failed fetches after which no more blobs are requested
_CONTENTS = 256  # contents that are cached, because several checks read the same file


class AuditedUpstream(Struct, frozen=True):
    """The upstream states before and after a rebase, and how to fetch their files."""

    base: Tree
    onto: Tree
    blobs: Blobs
    changed: Collection[str] = ()  # paths that differ
    since: Since = lambda path, holds: None
    bring: Callable[[set[str]], None] = lambda blobs: None  # fetches missing blobs
    kept: dict[object, object] = field(default_factory=dict)  # a cache that the checks share


def states_of(
    judged: Sequence[Judged],
    changes: Mapping[str, Entry | None],
    upstream: AuditedUpstream,
    *,
    unknown: Collection[str] = (),
) -> States:
    """Return the four states of the files that an audit of a rebase compares.

    `changes` is what the series changes in the new upstream state. The content of the `unknown`
    paths is not final.
    """
    base, onto, bring = upstream.base, upstream.onto, upstream.bring
    merged = Overlay(onto)
    for path, entry in changes.items():
        merged.set(path, entry)
    read = lru_cache(_CONTENTS)(_bringing(upstream, lambda: _modules(states)))
    carriers = _carriers(judged, unknown)
    steps = ([result.step for result in patch.files] for patch in judged)
    states = States(
        base=Files(Overlay(base), read, bring),
        written=Files(_written(steps, base), read, bring),
        onto=Files(Overlay(onto), read, bring),
        merged=Files(merged, read, bring),
        patches=tuple(_audited(one) for one in judged),
        carriers={path: carriers[path] for path in sorted(changes) if path in carriers},
        changed_upstream=frozenset(upstream.changed),
        kept=upstream.kept,
    )
    renamed = {p for p in states.carriers if upstream_path(states, p) in states.changed_upstream}
    return replace(
        states,
        changed_upstream=states.changed_upstream | renamed,
        commit_since=lambda path, holds: upstream.since(upstream_path(states, path), holds),
    )


def _bringing(upstream: AuditedUpstream, likely: Callable[[], set[str]]) -> Callable[[str], bytes]:
    """Return a function that reads a blob, after fetching it if needed."""
    failures, has_asked = 0, False

    def read(blob: str) -> bytes:
        nonlocal failures, has_asked
        try:
            return upstream.blobs.read(blob)
        except PatchmgrError:
            upstream.kept[LACKS] = True
            if failures >= _MOST_FAILURES:
                raise
        more = set[str]()
        if not has_asked:
            has_asked = True
            # Each request takes a while.
            more = likely()
        upstream.bring({blob, *more})
        failures += 1
        content = upstream.blobs.read(blob)
        failures -= 1
        return content

    return read


def _modules(states: States) -> set[str]:
    """Return the blob ids of all modules that the series' Python files import."""
    paths = [path for path in states.carriers if path.endswith(PYTHON)]
    files = [(path, states.merged.read(path) or b"") for path in paths]
    return imported_blobs(files, states.merged.tree) | imported_blobs(files, states.written.tree)


def _audited(judged: Judged) -> AuditedPatch:
    changes = [result.step.change for result in judged.files]
    homes = {result.step.change.path: result.home for result in judged.files}
    outcome = judged.outcome
    return AuditedPatch(
        outcome.name, outcome.is_carried, tuple(changes), homes, is_left=outcome.is_left
    )


def _written(series: Iterable[Sequence[FileStep]], base: Tree) -> Overlay:
    files = Overlay(base)
    for steps in series:
        for change in (step.change for step in steps):
            if change.old_path is not None and not change.is_copy:
                files.set(change.old_path, None)
        for step in steps:
            if step.change.new_path is not None:
                files.set(step.change.new_path, step.theirs)
    return files


def known_before(series: Sequence[Folded], upstream: AuditedUpstream) -> dict[object, object]:
    """Return a cache for `States.kept` with the results that depend only on the series."""
    read = lru_cache(_CONTENTS)(_bringing(upstream, set))
    written = Files(_written((one.steps for one in series), upstream.base), read)
    base, kept = Files(Overlay(upstream.base), read), dict[object, object]()
    patches = (AuditedPatch(p.patch.name, True, tuple(s.change for s in p.steps)) for p in series)
    lost_in_series(States(base, written, base, written, tuple(patches), {}, frozenset(), kept=kept))
    return {} if upstream.kept else kept  # the store lacks some content


def _carriers(judged: Sequence[Judged], unknown: Collection[str]) -> dict[str, str]:
    """Map each changed path, unless it is in conflict, to the last patch that changes it."""
    last: dict[str, str] = {}
    stuck = set(unknown)
    for patch in judged:
        if patch.outcome.is_carried:
            last |= dict.fromkeys(patch.outcome.changes or (), patch.outcome.name)
        elif patch.outcome.is_left:
            stuck.update(_places(patch.files))
    return {path: name for path, name in last.items() if path not in stuck}


def _places(results: Sequence[FileResult]) -> Iterator[str]:
    for result in results:
        yield result.home
        if result.conflict is not None:
            yield result.conflict.new_path


def since_in(history: History, blobs: Blobs) -> Since:
    """Return a function that finds the upstream commit that made a file meet a condition."""

    def since(path: str, holds: Callable[[bytes | None], bool]) -> str | None:
        found: str | None = None
        for step in reversed(history.steps((path,))):
            if not holds(file_content(step.changes.get(path), blobs.read)):
                return found
            found = step.commit
        return found

    return since


def with_findings(
    judged: Sequence[Judged],
    told: Sequence[Told],
    patches: Mapping[str, Patch],
    accepted: Mapping[str, str],
) -> tuple[Judged, ...]:
    """Add the audit's findings to the patches. A definite one puts its patch in conflict.

    `accepted` maps the ids of the findings that a person accepted to the reasons for doing so.
    """
    by_patch: dict[str, list[AuditFinding]] = {}
    for name, finding in told:
        if finding.is_certain:
            finding = identified(finding, patches[name], accepted)
        by_patch.setdefault(name, []).append(finding)
    return tuple(
        replace(one, outcome=_with(one.outcome, by_patch.get(one.outcome.name, ())))
        for one in judged
    )


def _with(outcome: PatchOutcome, found: Sequence[AuditFinding]) -> PatchOutcome:
    if not found:
        return outcome
    warnings = (f.sentence() for f in found if not f.is_certain)
    outcome = replace(
        outcome, findings=(*outcome.findings, *found), warnings=(*outcome.warnings, *warnings)
    )
    waiting = outcome.open_findings
    if not waiting or outcome.is_left:
        return outcome
    reason = waiting[0].sentence()
    return replace(outcome, verdict=Verdict.CONFLICT, reason=reason)
