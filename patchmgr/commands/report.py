"""`report`: describe what a series changes relative to its pin, and where."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib.resources import files

from msgspec import to_builtins
from msgspec.structs import replace

from patchmgr.engines.hardware_gates.sites import PinAndHead
from patchmgr.engines.hardware_gates.words import Words
from patchmgr.engines.report.footprint import State, compared, footprint
from patchmgr.engines.report.review import (
    Judge,
    find_risks,
    hotspots,
    judge_of,
    part_of_files,
    parts_of,
    parts_of_patches,
    texts_of,
    with_owners,
)
from patchmgr.engines.report.subsystems import folders_of, subsystems
from patchmgr.engines.report.sync_facts import reliabilities
from patchmgr.model.footprint import (
    Area,
    ChangedSite,
    ComparedFootprint,
    FileChange,
    Footprint,
    PatchFootprint,
    RecordedRebase,
    Review,
)
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.plumbing.answer_cache import Answers, recalled
from patchmgr.plumbing.background import FEW, ThreadCall, in_processes
from patchmgr.plumbing.diffs import changed_lines, known_words, numstat
from patchmgr.plumbing.history import renamed_paths
from patchmgr.plumbing.merge_process import MergeProcess
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.services.load import SeriesAtPin, series_at_pin
from patchmgr.services.patch_repository import workspace_at
from patchmgr.services.series import patch_commits
from patchmgr.services.session import Fetching, Session
from patchmgr.services.syncs import read_syncs


def _review(
    session: Session,
    at_pin: SeriesAtPin,
    footprint: Footprint,
    changes: Sequence[FileChange],
    *,
    sites: Callable[[], tuple[ChangedSite, ...]],
    answers: Answers,
) -> Review:
    """Return the part of a report for reviewers; `sites` is called last, because it waits."""
    loaded, scratch, base = at_pin.loaded, at_pin.scratch, at_pin.loaded.base.commit
    settings = session.workspace.settings(loaded.record.name)
    tree, files = scratch.tree(base), Fetching(loaded.upstream, scratch.read)
    paths = [f.path for f in footprint.files if f.area is not Area.THIRD_PARTY]
    rule = subsystems(settings.subsystems, lambda p: files.file(tree, p), folders_of(paths))
    edited = [f.renamed_from or f.path for f in footprint.files if f.kind.value != "new"]
    recent = loaded.upstream.recent(base, edited, scratch=scratch.git_dir) if edited else None
    window, past = recent if recent is not None else (None, ())
    names = {f.renamed_from: f.path for f in footprint.files if f.renamed_from is not None}

    def known(words: Sequence[str]) -> frozenset[str]:
        question = ("words", base, *words)
        kept = answers.get(question)
        found = (
            known_words(loaded.upstream.store, base, words) if kept is None else frozenset(kept[0])
        )
        if kept is None and found:  # an empty result may also mean that git could not search
            answers.put(question, sorted(found))
        return found

    return Review(
        parts_by=rule.source,
        parts=parts_of(footprint.files, rule),
        parts_of_patches=parts_of_patches(footprint.patches, rule),
        hotspots=hotspots(footprint.patches, past, names),
        window=window,
        risks=find_risks(changes, footprint.files, known),
        moments=_moments(session, loaded.record.name),
        sites=sites(),
        part_of_files=part_of_files(footprint.files, rule),
        step=f"upstream {loaded.upstream.step}",
    )


def _moments(session: Session, series: str) -> tuple[RecordedRebase, ...]:
    found = []
    for sync in reversed(read_syncs(session.workspace, series)):
        one = sync.outcome
        verdicts = {patch.name: patch.verdict.value for patch in one.patches}
        sure = ((p.name, reliabilities((*p.evidence, *p.likely))) for p in one.patches)
        known = {name: kinds for name, kinds in sure if kinds}
        moment = RecordedRebase(
            one.onto.ref, one.upstream_commits, sync.is_dry_run, verdicts, known
        )
        found.append(moment)
    return tuple(found)


Sites = tuple[ChangedSite, ...]
_GENERAL = "general"
_MOST_PROCESSES = 4


def words_of(upstream: str, own: Mapping[str, Sequence[str]]) -> Words:
    """Return the names that identify hardware gates in an upstream: `own`, and built-in ones."""
    pages = (page for page in files("patchmgr").joinpath("hardware_gates").iterdir())
    lists = {p.name.removesuffix(".toml"): p for p in pages if p.name.endswith(".toml")}
    # for an upstream without a list of its own, all lists are used
    names = [_GENERAL, upstream] if upstream in lists else sorted(lists)
    return Words.of((lists[name].read_bytes() for name in names), own)


def judging(
    judge: Judge, texts: Sequence[PinAndHead], answers: Answers
) -> Callable[[], list[Sites]]:
    """Start classifying changed sites in the background; the returned function awaits the result.

    `texts` holds each file at the pin and at the head. The function returns the sites of each file.
    """
    rules = repr((to_builtins(judge.words), sorted(judge.defaults.items(), key=repr)))
    questions = [("sites", rules, t.path, t.old, t.new, repr(t.hunks)) for t in texts]
    known = [recalled(answers, question, Sites) for question in questions]
    open_ = [t for t, sites in zip(texts, known, strict=True) if sites is None]
    helpers = min(os.cpu_count() or 1, _MOST_PROCESSES) - 1 if len(open_) >= FEW else 0
    judged = in_processes([partial(judge, one) for one in open_], helpers=helpers)

    def answer() -> list[Sites]:
        found = iter(judged())
        results = [next(found) if sites is None else sites for sites in known]
        for question, sites, was in zip(questions, results, known, strict=True):
            if was is None:
                answers.put(question, to_builtins(sites))
        return results

    return answer


def report(session: Session, name: str) -> Footprint:
    """Return a report (a footprint) on what a series changes relative to its pin."""
    with series_at_pin(session, name, must_apply=False) as at_pin:
        loaded = at_pin.loaded
        scratch, carried, tree, base = at_pin.scratch, at_pin.carried, at_pin.tree, at_pin.base
        draft = Draft(loaded.author, b"footprint\n", carried.changes)
        head = write_commits(scratch, base, [draft])[0]
        renames = {new: old for old, new in renamed_paths(scratch.git_dir, base, head).items()}
        changes = _changes(scratch, tree, carried.changes, renames)
        texts = texts_of(changes, changed_lines(scratch.git_dir, base, head))
        own = session.workspace.settings(name).labels
        words = words_of(loaded.record.upstream, own)
        answers = Answers()
        # Before the thread starts, because a process with two threads is not forked.
        judged = judging(judge_of(changes, words), texts, answers)
        with (
            closing(MergeProcess(answers=answers)) as structure,
            ThreadCall(lambda: [_edits(structure, patch) for patch in at_pin.patches]) as edits,
        ):
            out = [o for o in carried.outcomes if o.verdict is Verdict.SKIPPED]
            skipped = {o.name: o.reason or "" for o in out}
            net = numstat(scratch.git_dir, base, head)
            found = footprint(name, loaded.record.pin, at_pin.patches, changes, net)
            found = replace(found, patches=tuple(map(_with_edits, found.patches, edits.result())))
            looked = _review(
                session,
                at_pin,
                found,
                changes,
                sites=lambda: with_owners(found, judged()),
                answers=answers,
            )
            return replace(found, review=looked, skipped=tuple(skipped.items()))


def compare(
    session: Session, base: str, names: Sequence[str]
) -> tuple[str, tuple[ComparedFootprint, ...]]:
    """Compare the reports on the named series (by default all) at a commit with those of today.

    Returns the id of the commit, and the comparisons.
    """
    commit, then = workspace_at(session.workspace, base)
    both = replace(session, workspace=then), session
    known = [each.workspace.lock().series for each in both]
    for name in names:
        if name not in known[0]:
            session.workspace.series_record(name)

    def state(at: int, name: str) -> State | None:
        if name not in known[at]:
            return None
        found = report(both[at], name)
        return found, patch_commits(both[at].workspace, name)

    chosen = names or sorted({*known[0], *known[1]})
    return commit, tuple(compared(name, state(0, name), state(1, name)) for name in chosen)


def _edits(structure: MergeProcess, patch: Patch) -> dict[str, tuple[str, ...]]:
    """Return descriptions of the edits that a patch makes, by path."""
    told = ((change.path, structure.edits_of_hunks(change)) for change in patch.files)
    return {path: tuple(map(str, edits)) for path, edits in told}


def _with_edits(found: PatchFootprint, edits: Mapping[str, tuple[str, ...]]) -> PatchFootprint:
    files = (replace(file, edits=edits.get(file.path, ())) for file in found.files)
    return replace(found, files=tuple(files))


def _changes(
    scratch: Scratch,
    tree: StoredTree,
    changes: Mapping[str, Entry | None],
    renames: Mapping[str, str],
) -> tuple[FileChange, ...]:
    """Return the net change of each path; `renames` maps new paths to old ones."""

    def content(entry: Entry | None) -> bytes | None:
        if entry is None:
            return None
        return entry.blob.encode() if entry.mode == GITLINK else scratch.read(entry.blob)

    found = []
    moved_away = set(renames.values())
    for path, after in sorted(changes.items()):
        if after is None and path in moved_away:
            continue
        source = renames.get(path)
        before = tree.entry(source or path)
        found.append(
            FileChange(
                path=path,
                renamed_from=source,
                old_mode=before.mode if before else None,
                new_mode=after.mode if after else None,
                before=content(before),
                after=content(after),
            )
        )
    return tuple(found)
