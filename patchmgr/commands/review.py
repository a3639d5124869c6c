"""The part of `report` for reviewers: looks up what the engines need to know of upstream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from patchmgr.commands.prepared import Ready
from patchmgr.commands.session import Session
from patchmgr.commands.settings import read_settings
from patchmgr.commands.syncs import read_syncs
from patchmgr.engines.hotspots import hotspots
from patchmgr.engines.review import part_of_files, parts_of, parts_of_patches
from patchmgr.engines.risks import find_risks
from patchmgr.engines.subsystems import Subsystems, folders_of, subsystems
from patchmgr.engines.sync_facts import reliabilities
from patchmgr.model.footprint import Area, FileChange, Footprint
from patchmgr.model.gating import ChangedSite
from patchmgr.model.review import Moment, Review
from patchmgr.plumbing.answers import Answers
from patchmgr.plumbing.diffs import known_words
from patchmgr.plumbing.workbench import Workbench


def review(
    session: Session,
    ready: Ready,
    bench: Workbench,
    footprint: Footprint,
    changes: Sequence[FileChange],
    *,
    sites: Callable[[], tuple[ChangedSite, ...]],
    answers: Answers,
) -> Review:
    """Return what a reviewer asks for of a series; `sites` are asked for last."""
    settings = read_settings(session.workspace, ready.record.name)
    base = ready.base.commit
    rule = _rule(ready, bench, settings.subsystems, footprint)
    edited = [f.renamed_from or f.path for f in footprint.files if f.kind.value != "new"]
    recent = ready.side.recent(base, edited, scratch=bench.git_dir) if edited else None
    window, past = recent if recent is not None else (None, ())
    names = {f.renamed_from: f.path for f in footprint.files if f.renamed_from is not None}

    def known(words: Sequence[str]) -> frozenset[str]:
        question = ("words", base, *words)
        kept = answers.get(question)
        found = known_words(ready.side.store, base, words) if kept is None else frozenset(kept[0])
        if kept is None and found:  # nothing may also mean that one cannot look
            answers.put(question, sorted(found))
        return found

    return Review(
        parts_by=rule.source,
        parts=parts_of(footprint.files, rule),
        parts_of_patches=parts_of_patches(footprint.patches, rule),
        hotspots=hotspots(footprint.patches, past, names),
        window=window,
        risks=find_risks(changes, footprint.files, known),
        moments=_moments(session, ready.record.name),
        sites=sites(),
        part_of_files=part_of_files(footprint.files, rule),
        step=f"upstream {ready.side.step}",
    )


def _rule(
    ready: Ready, bench: Workbench, own: Mapping[str, Sequence[str]], footprint: Footprint
) -> Subsystems:
    tree = bench.tree(ready.base.commit)

    def read(path: str) -> bytes | None:
        entry = tree.entry(path)
        if entry is None:
            return None
        ready.side.try_fetch_objects([entry.blob], bench.reader)
        return bench.read(entry.blob)

    paths = [f.path for f in footprint.files if f.area is not Area.THIRD_PARTY]
    return subsystems(own, read, folders_of(paths))


def _moments(session: Session, series: str) -> tuple[Moment, ...]:
    """Return the rebases on record, the oldest first."""
    found = []
    for row in reversed(read_syncs(session.workspace, series)):
        outcome = row["outcome"]
        verdicts = tuple((str(p["name"]), str(p["verdict"])) for p in outcome["patches"])
        ref, is_dry = str(outcome["onto"]["ref"]), bool(row["dry_run"])
        sure = tuple(
            (str(p["name"]), reliabilities([*p["evidence"], *p.get("likely", ())]))
            for p in outcome["patches"]
        )
        known = tuple((name, kinds) for name, kinds in sure if kinds)
        found.append(Moment(ref, int(outcome["upstream_commits"]), is_dry, verdicts, known))
    return tuple(found)
